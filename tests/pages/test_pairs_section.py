"""Pairs of words on Attributions: computed last and unasked where short, asked for where dear, with links to the masks
that they rest on, in files and in the saved page.
"""

import csv
import io
import json
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.interactions.finding import find_interactions
from core.interactions.pairs import LISTED, check_pairs, every_pair
from core.interactions.telling import PairReport, signed
from core.mathematics.stepwise import finish
from core.network.features import find_words
from core.results.word_pairs import pairs_result
from core.texts.rendering import headline
from core.validity.references import find_reference
from core.wording import number
from pages.parts.frame import resources
from tests.app_session import ATTRIBUTIONS, App, complete, wait

pytestmark = pytest.mark.usefixtures("server", "stands_aside")
# Seven words, the first two of which make the sentence.
SHORT = next(example for example in read_bundled("reviews") if example.id == "s139")
EXACT, SAMPLED = (f"Compute pairs of words, {how}" for how in ("exact", "sampled"))
LONG = next(example for example in read_bundled("reviews") if len(find_words(example.text)) == 14)


def paired(**query) -> App:
    """The page once pairs of words stand there; what starts by itself shows no progress."""
    app = App(ATTRIBUTIONS, example=SHORT.id, measures=["gradient"], **query)
    wait(app, lambda: any("both masked" in table[0] for table in app.tables), rest=60.0)
    return complete(app)


def links(app: App) -> list[str]:
    """Addresses in the table of pairs, row by row."""
    (found,) = [element.value for element in app.at.html if "both masked" in element.value]
    table = ElementTree.fromstring(found[found.index("<table") : found.rindex("</div>")])
    return [link.attrib["href"] for link in table.iter("a")]


def test_pairs_are_the_librarys_and_lead_to_the_inputs_that_mask_them(bundled, fresh):
    app = paired(rule="plain")
    explainer = Explainer(bundled, None, find_reference(bundled))
    encoded = explainer.encode(SHORT.text, None, "word")
    found = finish(find_interactions(explainer, encoded, int(explainer.logits(encoded).argmax())))
    report = PairReport(check_pairs(explainer, encoded, found), encoded, explainer.reference, "plain", "calibrated")
    head, *rows = next(table for table in app.tables if "both masked" in table[0])
    assert len(head) == 8 and LISTED <= len(rows) <= LISTED + 2
    for row, one in zip(rows, report.paired.tests, strict=True):
        assert row == report.cells(one) + report.inputs(one)
    asked = [parse_qs(urlsplit(link).query) for link in links(app)]
    first = report.paired.tests[0].pair
    places = f"{first.first}", f"{first.second}", f"{first.first}.{first.second}"
    assert [one["masked"] for one in asked[:3]] == [[place] for place in places]
    assert all(one["example"] == [SHORT.id] and one["rule"] == ["plain"] for one in asked)
    assert {urlsplit(link).path for link in links(app)} == {"recursive_masking"}
    (joins,) = app.drawn("joins")
    assert [join["text"] for join in joins["joins"]] == [signed(one.pair.value) for one in report.paired.tests]
    assert all(join["text"][0] == "+-"[join["against"]] for join in joins["joins"])
    assert len(joins["words"]) == encoded.F == 8
    assert ("word_pairs", pairs_result(report).name, headline(pairs_result(report))) in app.findings
    files = {name.rpartition(".")[2]: text for name, text in app.downloads.items() if name.startswith("pairs")}
    rows = list(csv.reader(io.StringIO(files["csv"])))
    assert len(rows) == 1 + len(every_pair(found)) and rows[0][4] == "interaction"
    assert float(rows[1][4]) == pytest.approx(every_pair(found)[0].value, abs=1e-5)
    whole = json.loads(files["json"])
    assert whole["example"] == SHORT.id and len(whole["interactions"]) == len(rows) - 1
    page = app.download("Page (HTML)")
    assert number(report.paired.tests[0].pair.value) in page


def test_the_link_masks_by_hand_what_it_says(fresh):
    app = paired()
    link = urlsplit(links(app)[2])
    asked = {key: values if len(values) > 1 else values[0] for key, values in parse_qs(link.query).items()}
    there = App("pages/recursive_masking.py", **asked)
    masked = set(map(int, asked["masked"].split(".")))
    (hand,) = [one for one in there.drawn("panes") if one.get("mode") == "what-if"]
    assert len(masked) == 2 and "2 of 8 words masked" in json.dumps(hand)


def test_what_is_dear_is_asked_for_and_a_single_word_has_none(fresh):
    app = App(ATTRIBUTIONS, example=LONG.id, measures=["gradient"])
    assert not [table for table in app.tables if "both masked" in table[0]]
    assert app.has("button", EXACT) and app.has("button", SAMPLED)
    app.press(SAMPLED)
    wait(app, lambda: "2,048 of the 2^14" in " ".join(one.value for one in app.at.caption).replace("\\", ""), rest=60.0)
    app = App(ATTRIBUTIONS).type("superb")
    assert any("2 to 20 words" in one.value for one in app.at.caption) and not app.errors


def test_they_come_after_everything_else_and_keep_nobody_waiting(fresh, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    app = App(ATTRIBUTIONS, example=SHORT.id, measures=["gradient"])
    assert list(app.rows) == ["gradient"] and not resources.jobs().active()
    assert app.has("button", EXACT) and np.isfinite(app.words["free"])
