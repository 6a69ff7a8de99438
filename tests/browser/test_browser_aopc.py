"""AOPC and NAOPC in a real browser: limits arrive, are cancelled in the middle, go on, and are saved; two models side
by side.
"""

import re

import pytest
from playwright import sync_api as playwright

from core.data.examples import read_bundled
from tests import browsing
from tests.browsing import contrasts

REVIEWS = {example.id: example for example in read_bundled("reviews")}
SMALL, NEXT = "s040", "s041"
# A wide beam on it takes long enough to be cancelled.
LONG = min(REVIEWS.values(), key=lambda example: abs(len(example.text) - 170)).id
browser, server, visit = browsing.browser, browsing.server, browsing.visit
ASKS = re.compile("^(Compute|Go on with) (?!exact|beam sizes)")


def come(visit, theme="light", /, **query):
    """The page as it first stands there."""
    person = visit(theme)
    person.page.goto(f"{person.server}/aopc_and_naopc?{browsing.urlencode({'example': SMALL} | query, doseq=True)}")
    playwright.expect(person.page.get_by_text("The model predicts")).to_be_visible()
    return person


def opened(visit, theme="light", /, **query):
    """The page with all that is cheap, whatever the machine calls so at the moment."""
    person = come(visit, theme, **query)
    all_there(person)
    return person


def all_there(person) -> None:
    asks = person.page.get_by_role("button", name=ASKS)
    person.rest()
    nothing_runs(person)
    for _ in range(asks.count()):
        asks.first.click()
        nothing_runs(person)


def nothing_runs(person) -> None:
    playwright.expect(person.page.get_by_role("button", name="Cancel")).to_have_count(0)
    person.rest()
    playwright.expect(person.page.locator("[data-testid=stProgress]")).to_have_count(0)


def gauge(person, i: int = 0):
    return person.page.locator(f".st-key-gauges-{i} .js-plotly-plot").first


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_two_models_are_set_between_their_limits(visit, theme):
    person = opened(visit, theme, beside="sst2-plain")
    for i in range(2):
        playwright.expect(gauge(person, i)).to_contain_text(re.compile(r"lower limit.*\(exact\)"))
        playwright.expect(gauge(person, i)).to_contain_text("NAOPC")
        assert {"leave-one-out", "gradient", "input × gradient", "random"} <= set(
            gauge(person, i).locator(".ytick").all_text_contents()
        )
    said = person.said
    assert (
        "comes closest to what this model allows" in said
        and "Normalising" in said
        and "exact, over all orders (256 sets)" in said
    )
    slope = person.page.locator(".st-key-slope .js-plotly-plot").first
    assert len(re.findall(r"\d\. leave-one-out · sst2-(?:fmm|plain)", slope.text_content())) == 4
    assert len(contrasts(person, "td, th, [data-testid=stHtml] p")) > 40
    person.picture(f"aopc_and_naopc-{theme}")


def test_the_figures_are_saved_as_the_page_shows_them(visit):
    person = opened(visit, measures=["leave-one-out"])
    buttons = person.page.locator(".st-key-save-gauges-0").get_by_role("button")
    name, content = person.saved(buttons.filter(has_text="SVG").first)
    assert name.startswith("naopc-s040") and name.endswith(".svg") and b"upper limit" in content
    name, content = person.saved(buttons.filter(has_text="PNG").first)
    assert name.endswith(".png") and content.startswith(b"\x89PNG")
    name, content = person.saved("Orders (CSV)")
    assert name.endswith(".csv") and content.decode("utf-8-sig").count("upper limit") == 9


def test_a_search_is_not_lost_on_leaving_can_be_cancelled_and_goes_on(visit):
    person = come(visit, example=LONG, beam="50", measures=["gradient"])
    ask = person.page.get_by_role("button", name=re.compile("^(Compute|Go on with) beam 50 limits"))
    bar = person.page.locator("[data-testid=stProgress]")
    playwright.expect(ask.or_(bar.filter(has_text="beam 50 limits")).first).to_be_visible()
    if ask.count():
        ask.click()
    # The first limits are those of a beam of one, while the wide one is searched.
    playwright.expect(bar).to_contain_text(re.compile(r"beam 50 limits \(sst2-fmm\), [\d,]+ of at most [\d,]+ sets"))
    playwright.expect(person.page.get_by_text("this is the best so far")).to_be_visible()
    person.page.get_by_role("link", name="Attributions", exact=True).click()
    playwright.expect(person.page.get_by_role("heading", level=2)).to_have_text(re.compile("Which words"))
    person.page.get_by_role("link", name="AOPC and NAOPC", exact=True).click()
    playwright.expect(bar).to_contain_text("beam 50 limits")
    person.press("Cancel")
    playwright.expect(person.page.get_by_text("Cancelled; what was computed is kept").first).to_be_visible()
    playwright.expect(person.page.get_by_text(re.compile("a beam of 50 stopped"))).to_be_visible()
    playwright.expect(gauge(person)).to_contain_text("(beam 1)")
    person.page.get_by_role("button", name=re.compile("^Go on with beam 50 limits")).click()
    playwright.expect(bar).to_contain_text(re.compile(r"beam 50 limits \(sst2-fmm\), [\d,]+ of at most"))
    person.press("Cancel")
    nothing_runs(person)


def test_the_other_direction_and_another_example_are_one_click_away(visit):
    person = opened(visit, measures=["leave-one-out"])
    person.page.get_by_role("radio", name=re.compile("sufficiency")).click()
    person.until("() => location.search.includes('curves=sufficiency')")
    playwright.expect(person.page.get_by_text("where 0 is the best possible")).to_be_visible()
    person.page.get_by_role("button", name=re.compile("^Next")).click()
    person.has_chosen(NEXT)
    all_there(person)
    assert "where 0 is the best possible" in person.said


def test_the_beams_size_is_studied_when_asked(visit):
    person = opened(visit, measures=["gradient"])
    person.page.get_by_role("button", name=re.compile("^Compute beam sizes on this text")).click()
    playwright.expect(person.page.get_by_text(re.compile(r"On this text a beam of \d+ is enough"))).to_be_visible()
    nothing_runs(person)
    playwright.expect(person.page.locator(".st-key-widths-0 .js-plotly-plot").first).to_contain_text(
        "width of the beam"
    )


def test_a_narrow_window_needs_no_sideways_scrolling(visit):
    person = opened(visit, measures=["gradient"])
    person.page.set_viewport_size({"width": 400, "height": 800})
    person.rest()
    assert person.page.evaluate(
        "() => [...document.querySelectorAll('[data-testid=stMain]')].every(n => n.scrollWidth <= n.clientWidth + 1)"
    )
