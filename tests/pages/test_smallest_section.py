"""Smallest sets on Attributions: two lines unasked where the text is short, one button where it is long."""

import pytest

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.explanation.smallest import find_sets
from core.mathematics.stepwise import finish
from core.network.features import find_words
from core.results.smallest_sets import SetsReport, sets_results
from core.texts.rendering import fact_text, headline
from core.validity.references import find_reference
from tests.app_session import ATTRIBUTIONS, App, wait
from tests.saved_page import Page

pytestmark = pytest.mark.usefixtures("server", "stands_aside")
LONG = next(example for example in read_bundled("reviews") if len(find_words(example.text)) == 14)


def sets(app: App) -> list:
    return [one for one in app.findings if one[0] == "smallest_sets"]


def test_both_lines_stand_below_the_words_of_a_short_text(bundled, fresh):
    app = App(ATTRIBUTIONS, example="s139", measures=["gradient"])
    wait(app, lambda: len(sets(app)) == 2, rest=60.0)
    explainer = Explainer(bundled, None, find_reference(bundled))
    encoded = explainer.encode(next(one.text for one in read_bundled("reviews") if one.id == "s139"), None, "word")
    found = finish(find_sets(explainer, encoded))
    expected = sets_results(SetsReport(found, encoded, "", explainer.reference, "Holm", "calibrated")).values()
    assert sets(app) == [("smallest_sets", one.name, headline(one)) for one in expected]
    saved = Page(app.download("Page (HTML)")).said
    assert all(headline(one) in saved for one in expected)
    p = [one.fact("p") for one in expected]
    assert all(fact_text(one) in saved for one in p if one is not None and one.value is not None)


def test_a_long_text_offers_them(fresh):
    app = App(ATTRIBUTIONS, example=LONG.id, measures=["gradient"])
    assert not sets(app) and app.has("button", "Compute smallest sets")
    assert "Smallest set" not in Page(app.download("Page (HTML)")).said
