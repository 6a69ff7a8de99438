"""How stable rankings are, on Attributions: asked for, as the library says, beside the row and in files."""

import csv
import io
import re

import pytest

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.mathematics.stepwise import finish
from core.results.stability import stability_result
from core.stability.finding import find_stability
from core.stability.known import COLUMN, labelled
from core.stability.telling import COLUMNS, FRONT, NOT_SHOWN, Stability, front_cells, unstable_text
from core.texts.rendering import headline
from pages.parts.attributions.steadying import TITLE
from tests.app_session import ATTRIBUTIONS, App, complete, unescaped

pytestmark = pytest.mark.usefixtures("server", "stands_aside")
SMALL = next(example for example in read_bundled("reviews") if example.id == "s206")
# The runs of the second one part.
NAMES = ["gradient", "random"]
ASK = "Compute how stable these are"


@pytest.fixture(scope="module")
def found(bundled):
    """What the library says of it."""
    explainer = Explainer(bundled)
    encoded = explainer.encode(SMALL.text, None, "word")
    target = int(explainer.logits(encoded).argmax())
    runs = [finish(find_stability(explainer, encoded, name, target)) for name in NAMES]
    return [Stability(one, encoded, "signed") for one in runs]


def test_it_is_asked_for_is_the_librarys_and_labels_what_is_unstable(found, fresh, monkeypatch):
    monkeypatch.setattr("pages.parts.attributions.pairing.AT_ONCE", 0)
    # However busy the machine is, all else starts unasked.
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e6)
    assert [one.unstable for one in found] == [False, True]
    app = complete(App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES))
    assert [one.label for one in app.at.expander].count(TITLE) == 1
    assert not any(table[0] == COLUMNS for table in app.tables) and app.has("button", ASK)
    complete(app.press(ASK))
    table = next(table for table in app.tables if table[0] == COLUMNS)
    assert table[1:] == [one.cells() for one in found]
    result = stability_result(found)
    assert ("stability", "unstable", headline(result)) in app.findings and result.slots["measures"] == NAMES[1:]
    front = next(table for table in app.tables if table[0] == FRONT)
    assert front[1:] == front_cells(found[1]) and not app.errors
    # The files say it, too, and the next visit knows it.
    files = app.downloads
    text = next(text for name, text in files.items() if name.startswith("attributions") and name.endswith("csv"))
    told = {row["measure"]: row["unstable"] for row in csv.DictReader(io.StringIO(text))}
    assert told["gradient"] == NOT_SHOWN and "ranking is unstable" in told[NAMES[1]]
    assert "ranking is unstable" in next(text for name, text in files.items() if name.endswith("html"))
    rows = list(csv.DictReader(io.StringIO(next(text for name, text in files.items() if name.startswith("stability")))))
    (agree,) = [row["value"] for row in rows if row["what"] == "agreement on the top word"]
    assert float(agree) == pytest.approx(found[1].agrees)
    again = complete(App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES))
    assert not again.has("button", ASK)
    why = unstable_text(found[1])
    _is_labelled(complete(App("pages/hard_and_soft_erasure.py", example=SMALL.id, measures=NAMES)), why)
    for page in ("pages/recursive_masking.py", "pages/aopc_and_naopc.py"):
        app = complete(App(page, example=SMALL.id, measures=NAMES))
        ((header, *rows),) = [table for table in app.tables if "order" in table[0]]
        orders = {row[header.index("measure")]: row[header.index("order")] for row in rows}
        assert (orders[NAMES[0]], orders[NAMES[1]]) == (NOT_SHOWN, why)
        _files_say(app, why)


def _is_labelled(app: App, why: str) -> None:
    """Wherever the measure's ranking is shown it is labelled, with why, and files say so; the other one's is not."""
    html = " ".join(one.proto.body for one in app.at.get("html"))
    drawn = [cell for table in app.tables for row in table for cell in row] + re.findall(r">([^<>]+)</th>", html)
    assert labelled(NAMES[1], {NAMES[1]: why}) in drawn and NAMES[0] in drawn
    shown = [*drawn, *(unescaped(one.value) for one in app.at.caption)]
    assert any(why in one for one in shown) and not app.errors
    _files_say(app, why)


def _files_say(app: App, why: str) -> None:
    lines = [line for text in app.downloads.values() for line in csv.DictReader(io.StringIO(text)) if COLUMN in line]
    assert {(line["measure"], line[COLUMN]) for line in lines} == {(NAMES[0], NOT_SHOWN), (NAMES[1], why)}


def test_a_single_word_has_nothing_to_rank(fresh):
    app = App(ATTRIBUTIONS, measures=["gradient"]).type("superb")
    assert not app.has("button", ASK) and not app.errors
