"""Model check in a real browser: it streams, and is read in both themes and saved."""

import re

from playwright import sync_api as playwright

from tests import browsing
from tests.browsing import contrasts

PAGE = "model_check"
OFTEN = "class majority of its training data"
ASKS = re.compile("^(Compute|Go on with) ")


def opened(visit, **query):
    person = visit()
    person.page.goto(f"{person.server}/{PAGE}?{browsing.urlencode({'sample': '50'} | query, doseq=True)}")
    playwright.expect(
        person.page.locator(".st-key-curves").or_(person.page.get_by_role("button", name=ASKS).first).first
    ).to_be_visible()
    return person


def test_a_model_and_its_plain_twin_are_checked_on_the_same_examples(visit, short):
    person = opened(visit, data=short, measures=["gradient"]).computed()
    playwright.expect(person.page.locator(".headline").first).to_have_attribute("data-outcome", "not known")
    # Behaviour, which begins once its tab is opened, has not.
    first = person.page.get_by_role("tab", name="With and without masking")
    playwright.expect(first).to_have_attribute("aria-selected", "true")
    playwright.expect(person.page.locator(".headline[data-question=behaviour]")).to_have_count(0)
    playwright.expect(person.page.locator("[data-testid=stMetric]")).to_have_count(4)
    playwright.expect(person.page.locator("[data-testid=stDataFrame]").first).to_be_visible()
    legend = person.page.locator(".st-key-curves .js-plotly-plot").first.locator(".legendtext")
    # The figure is drawn a moment after the words around it.
    playwright.expect(legend).to_have_count(5)
    curves = (("random order", "sst2-fmm"), ("gradient", "sst2-fmm"), ("random order", "sst2-plain"))
    assert {OFTEN, "5 % expected by chance", *(f"{order}, {model}" for order, model in curves)} == set(
        legend.all_text_contents()
    )
    for theme in ("light", "dark"):
        person.turn(theme)
        assert len(contrasts(person, "[data-testid=stHtml] p, [data-testid=stMetric] *, button p")) > 10
        person.picture(f"model_check-{theme}")
    name, content = person.saved("Table (CSV)")
    # Two curves of the model and one of its twin, eleven ratios each, below the header.
    assert name.endswith(".csv") and len(content.decode("utf-8-sig").strip().splitlines()) == 1 + 3 * 11
    # What stands behind a tab is drawn once it is opened.
    playwright.expect(person.page.locator(".st-key-p-values .js-plotly-plot")).to_have_count(0)
    person.open_tab("p-values")
    playwright.expect(person.page.locator(".st-key-p-values .js-plotly-plot").first).to_be_visible()
