"""Evidence on the pages, without a browser: what is marked, what the tables say, and that nothing changes
where none is known.
"""

import csv
import io
import json

import pytest

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.explanation.plausibility import ALIKE, MEANING, evidence_of
from core.wording import number
from pages.parts.sections.evidence import COLUMN, PRECISION
from tests.app_session import ATTRIBUTIONS, EXAMPLES, HOME, App, complete

pytestmark = pytest.mark.usefixtures("server")
RECURSIVE, AOPC = "pages/recursive_masking.py", "pages/aopc_and_naopc.py"
STORY = read_bundled("stories 1")[0]
ASKED = {"data": "stories 1", "example": STORY.id}
HEADING = "Does it find the evidence?"


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)


def overlined(pieces: list[dict]) -> list[str]:
    return [piece["text"] for piece in pieces if piece.get("evidence")]


def table_with(app: App, column: str) -> list[list[str]]:
    (found,) = [table for table in app.tables if column in table[0]]
    return found


@pytest.fixture
def mine(bundled):
    explainer = Explainer(bundled)
    return explainer, lambda unit: explainer.encode(STORY.text, STORY.second, unit)


def test_attributions_says_how_well_each_measure_finds_the_evidence(mine):
    explainer, encode = mine
    app, encoded = App(ATTRIBUTIONS, **ASKED), encode("word")
    evidence = evidence_of(encoded, STORY.evidence)
    assert overlined(app.words["pieces"]) == [STORY.text[a:b] for a, b in STORY.evidence]
    header, *rows = table_with(app, "average precision ↑")
    assert (
        header[:2] == ["measure", COLUMN]
        and f"top {evidence.m}" in header[2]
        and rows[-1][0].startswith("random order")
    )
    assert rows[-1][1:] == [number(evidence.chance_precision), number(evidence.chance_recall)]
    target = int(explainer.logits(encoded).argmax())
    for name, precision, recall in rows[:-1]:
        scores = explainer.attribute(encoded, name, target).scores
        scores = scores.get("signed", next(iter(scores.values())))
        assert [precision, recall] == [number(evidence.precision(scores)), number(evidence.recall(scores))]
    found = {name: float(precision) for name, precision, _ in rows[:-1]}
    best = max(found, key=found.__getitem__)
    alike = [name for name, value in found.items() if value > found[best] - ALIKE]
    ((_, outcome, said),) = [one for one in app.findings if one[0] == "evidence"]
    assert outcome == ("about alike" if len(alike) > 1 else "highest") and all(name in said for name in alike)
    assert not any(name in said for name in set(found) - set(alike)) and found[best] > evidence.chance_precision
    assert HEADING in app.said and f"Evidence: {evidence.m} of {encoded.F} words." in app.said and MEANING in app.said
    read = list(csv.reader(io.StringIO(app.download("Table (CSV)"))))
    marked = {row[2] for row in read[1:] if row[read[0].index("evidence")] == "true"}
    assert {word.partition(" (")[0] for word in marked} == set(overlined(app.words["pieces"]))
    assert all(word.endswith("(2nd of 2)") for word in marked)


def test_random_is_never_called_the_best():
    app = App(ATTRIBUTIONS, **ASKED, measures=["random"])
    assert [one[1] for one in app.findings if one[0] == "evidence"] == ["not ranked"]
    assert [row[0].split(",")[0] for row in table_with(app, COLUMN)[1:]] == ["random", "random order"]


@pytest.mark.parametrize("unit", ["clause", "sentence", "token"])
def test_other_units_are_evidence_where_they_share_a_character(unit, mine):
    app = App(ATTRIBUTIONS, **ASKED, unit=unit, measures=["gradient"])
    shared = [
        feature.text
        for feature in mine[1](unit).features
        if any(feature.start < b and a < feature.end for a, b in STORY.evidence)
    ]
    assert overlined(app.words["pieces"]) == shared and shared


def test_where_no_evidence_is_known_nothing_is_said_of_it():
    for page in (HOME, ATTRIBUTIONS, RECURSIVE, AOPC, EXAMPLES):
        app = complete(App(page, example="s040", measures=["gradient"]))
        assert "evidence" not in app.said.lower() and not any("average precision ↑" in table[0] for table in app.tables)
        assert not any(overlined(data["pieces"]) for data in app.drawn("pieces"))
    own = App(ATTRIBUTIONS, **ASKED).type(STORY.text)
    assert HEADING not in own.said and not overlined(own.words["pieces"])


def test_recursive_masking_sets_it_beside_racu(mine):
    explainer, encode = mine
    app = complete(App(RECURSIVE, **ASKED, unit="clause", beside="sst2-plain"))
    evidence = evidence_of(encode("clause"), STORY.evidence)
    header, *cells = table_with(app, PRECISION)
    assert header[-1] == PRECISION and "RACU ↑" in header
    rows = [dict(zip(header, row)) for row in cells]
    target = int(explainer.logits(encode("clause")).argmax())
    for row in (row for row in rows if row["model"] == "sst2-fmm"):
        scores = explainer.attribute(encode("clause"), row["measure"], target).scores
        found = evidence.precision(scores.get("signed", next(iter(scores.values()))))
        assert float(row[PRECISION]) == pytest.approx(found, rel=6e-3)
    assert {row["model"] for row in rows} == {"sst2-fmm", "sst2-plain"}
    assert all(0 < float(row[PRECISION]) <= 1 for row in rows)
    shown = list(app.drawn("panes"))
    assert len(shown) == 2 and all(len(overlined(data["pieces"])) == 1 for data in shown)


def test_aopc_sets_it_beside_naopc(mine):
    app, evidence = complete(App(AOPC, **ASKED, unit="clause")), evidence_of(mine[1]("clause"), STORY.evidence)
    header, *rows = table_with(app, "NAOPC ↑")
    assert header[-1] == PRECISION and float(rows[-1][-1]) == pytest.approx(evidence.chance_precision, rel=6e-3)
    assert all(0 < float(row[-1]) <= 1 and row[header.index("validity")].startswith("not rejected") for row in rows)
    read = list(csv.reader(io.StringIO(app.download("Scores (CSV)"))))
    assert read[0][-1].startswith("average precision")
    assert [float(row[-1]) for row in read[1:]] == pytest.approx([float(row[-1]) for row in rows[:-1]], rel=6e-3)
    assert PRECISION in app.download("Page (HTML)")


def test_home_and_examples_mark_it():
    assert overlined(App(HOME, **ASKED).words["pieces"]) and "Overlined: the evidence" in App(EXAMPLES, **ASKED).said


def test_evidence_of_a_file_is_read_and_hostile_evidence_is_counted(nothing_added):
    text = "A <b>dull</b> evening."
    cells = [
        ["dull"],
        [[2, 5]],
        [[0, 10**30]],
        [[-5, 3]],
        [[9, 2]],
        ["<script>"],
        "no list",
        {"a": [1]},
        [[0, 99]] * 5_000,
        None,
    ]
    content = "".join(
        json.dumps({"text": f"{text} {i}", "evidence": cell}) + "\n" for i, cell in enumerate(cells)
    ).encode()
    app = App(EXAMPLES)
    app.at.get("file_uploader")[0].set_value(("mine.jsonl", content, "text/plain"))
    app.run()
    assert app.widget("selectbox", "Evidence (what the label rests on)").value == "evidence"
    assert "neither [start, end] pairs" in app.said and "7 rows (3, 4, 5, 6, 7" in app.said
    assert [row[-1] for row in table_with(app, "evidence")[1:]] == ["dull", "<b>", "—"]
    app.press("Add this data")
    assert (
        not app.errors
        and "Overlined: the evidence" in app.said
        and not any("<b>dull" in html.value for html in app.at.html)
    )
    app.go(ATTRIBUTIONS)
    assert overlined(app.words["pieces"]) == ["<b>dull</b>"] and HEADING in app.said
    app.set("selectbox", "Example", "3")
    assert not overlined(app.words["pieces"]) and HEADING not in app.said and not app.errors
