"""AOPC and NAOPC in a real browser: limits arrive, are cancelled in the middle, go on, and are saved; two models side
by side.
"""

import re

from playwright import sync_api as playwright

from core.data.examples import read_bundled
from tests import browsing
from tests.browsing import contrasts

REVIEWS = {example.id: example for example in read_bundled("reviews")}
SMALL, NEXT = "s040", "s041"
# A search on it takes long enough to be cancelled.
LONG = max(REVIEWS.values(), key=lambda example: len(example.text)).id
# Dear everywhere, and asked for where they are looked at.
ASKED_FOR = "exact"


def come(visit, **query):
    """The page as it first stands there."""
    person = visit()
    person.page.goto(f"{person.server}/aopc_and_naopc?{browsing.urlencode({'example': SMALL} | query, doseq=True)}")
    playwright.expect(person.page.locator(".headline").first).to_be_visible()
    return person


def gauge(person, i: int = 0):
    return person.page.locator(f".st-key-gauges-{i} .js-plotly-plot").first


def test_two_models_are_set_between_their_limits(visit):
    person = come(visit, beside="sst2-plain").computed(ASKED_FOR)
    # On one axis: what one model allows and the other does not is seen at once.
    playwright.expect(gauge(person)).to_contain_text(re.compile(r"band: worst to best order\s*\(exact\)"))
    playwright.expect(gauge(person)).to_contain_text("NAOPC ↑")
    # Random order may be drawn a moment after the measures.
    for name in ("leave-one-out", "gradient", "input × gradient", "random"):
        named = gauge(person).locator(".annotation-text").get_by_text(name, exact=True)
        playwright.expect(named).to_have_count(1)
    for name in ("sst2-fmm", "sst2-plain"):
        playwright.expect(gauge(person).locator(".ytick").get_by_text(name, exact=True)).to_have_count(4)
    assert not gauge(person, 1).count()
    outcomes = person.page.locator(".headline").evaluate_all("all => all.map(one => one.dataset.outcome)")
    assert len(outcomes) == 2 and "running" not in outcomes
    # What stands behind a tab is drawn once it is opened.
    slope = person.page.locator(".st-key-slope .js-plotly-plot").first
    assert not slope.count()
    person.open_tab("Before and after normalising")
    playwright.expect(slope).to_contain_text("leave-one-out · sst2-plain")
    assert len(re.findall(r"\d\. leave-one-out · sst2-(?:fmm|plain)", slope.text_content())) == 4
    person.open_tab("Which words first?")
    playwright.expect(slope).to_have_count(0)
    for theme in ("light", "dark"):
        person.turn(theme)
        # Words of the best and the worst order have a ground of their own.
        found = contrasts(person, "td, th, [data-testid=stCaptionContainer] p, [data-testid=stHtml] *")
        assert len(found) > 40 and len({part["under"] for part in found}) > 4
        person.picture(f"aopc_and_naopc-{theme}")
    person.narrow()
    # On a phone the rows keep room between their names and NAOPC.
    band = gauge(person).locator(".bglayer .bg").bounding_box()
    for i in range(gauge(person).locator(".annotation-text").count()):
        box = gauge(person).locator(".annotation-text").nth(i).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 400
    assert band["width"] > 100


def test_one_model_is_saved_and_the_other_direction_and_example_are_one_click_away(visit):
    person = come(visit, measures=["leave-one-out"]).computed(ASKED_FOR)
    buttons = person.page.locator(".st-key-save-gauges-0").get_by_role("button")
    name, content = person.saved(buttons.filter(has_text="SVG").first)
    assert name.startswith("naopc-s040") and name.endswith(".svg") and b"best order" in content
    name, content = person.saved(buttons.filter(has_text="PNG").first)
    assert name.endswith(".png") and content.startswith(b"\x89PNG")
    person.open_tab("All scores")
    name, content = person.saved("Orders (CSV)")
    assert name.endswith(".csv") and content.decode("utf-8-sig").count("upper limit") == 9
    person.unfold().page.get_by_role("radio", name=re.compile("sufficiency")).click()
    person.until("() => location.search.includes('curves=sufficiency')")
    playwright.expect(gauge(person)).to_contain_text("NAOPC ↓")
    person.page.get_by_role("button", name=re.compile("^Next")).click()
    person.has_chosen(NEXT)
    person.computed(ASKED_FOR)
    # The search begins anew there, and is waited for.
    playwright.expect(gauge(person)).to_contain_text("NAOPC ↓")
    person.narrow()


def test_a_search_can_be_cancelled_and_goes_on(visit):
    person = come(visit, example=LONG, measures=["gradient"])
    ask = person.page.get_by_role("button", name=re.compile("^(Compute|Go on with) insertion search limits"))
    bar = person.page.locator("[data-testid=stProgress]")
    playwright.expect(ask.or_(bar.filter(has_text="insertion search limits")).first).to_be_visible()
    if ask.count():
        ask.press("Enter")
    # The first limits are those of a narrow beam, while the search goes on; a narrower one may go beside it.
    counted = re.compile(r"insertion search limits( \(sst2-fmm\))?, [\d,]+ of at most")
    playwright.expect(bar).to_contain_text(counted)
    partial = person.page.get_by_text("partial", exact=False).first
    playwright.expect(partial).to_be_visible()
    # The measure is scored: cancelling stops all that is under way. On a slow machine it waits to be asked for.
    measure = person.page.get_by_role("button", name=re.compile("^Compute gradient"))
    playwright.expect(gauge(person).or_(measure).first).to_be_visible(timeout=600_000)
    if measure.count():
        measure.press("Enter")
    # Its first limits are a while in coming on a machine that is busy.
    playwright.expect(gauge(person)).to_be_visible(timeout=600_000)
    person.press("Cancel")
    playwright.expect(person.page.get_by_text("Cancelled; what was computed is kept").first).to_be_visible()
    playwright.expect(partial).to_be_visible()
    playwright.expect(gauge(person)).to_contain_text(re.compile(r"\(beam [12]\)"))
    person.page.get_by_role("button", name=re.compile("^Go on with insertion search limits")).press("Enter")
    playwright.expect(bar).to_contain_text(counted)
    person.press("Cancel")
    person.idle()
