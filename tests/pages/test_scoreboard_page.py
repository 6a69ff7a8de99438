"""The page Scoreboard without a browser: one example and a sample, with nothing computed and with everything; its
numbers are the library's, and so are its files.
"""

import csv
import io
import re
from types import SimpleNamespace

import pytest
import streamlit as st

from core.data.examples import read_bundled
from core.evaluation.engine import run_study
from core.evaluation.sampling import without_labels
from core.evaluation.studies.board_rows import board_metrics
from core.evaluation.studies.board_verdicts import ALONE
from core.evaluation.studies.verdicts import VerdictsOfTexts, report_of_row
from core.explanation.explainer import Explainer
from core.explanation.limiting import score
from core.explanation.standings import StandingGates
from core.judging.judging import How, judge_measure
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures
from core.metrics.catalogue import metrics
from core.validity.marks import SIGN
from core.verdicts.deciding import decide_verdicts
from core.verdicts.finding import find_chance
from core.verdicts.telling import believe_sentence
from core.wording import without_markup
from pages.parts.frame import resources
from pages.parts.frame.pages import PAGES
from pages.parts.scoreboard.one_text import _report_of
from pages.parts.sections.studying import Studying
from tests.app_session import App, complete, wait
from tests.hostile import lines

pytestmark = pytest.mark.usefixtures("fresh")
PAGE = "pages/scoreboard.py"
SHORT = [example for example in read_bundled("reviews") if example.id in ("s041", "s068")]
AT_ONCE = Studying.at_once
PASSES = re.compile("at most ([0-9,]+) forward passes, about ")
CHOSEN = {"measures": ["gradient", "attention"], "draws-of-data": "1", "draws": "8"}


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """`opened(seconds)`: a session whose data is two sentences; what takes no longer than that starts at once."""

    def session(seconds: float, **query) -> App:
        (tmp_path / "mine.jsonl").write_bytes(lines(*({"id": one.id, "text": one.text} for one in SHORT)))
        monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "mine.jsonl"))
        monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", seconds)
        monkeypatch.setattr(Studying, "at_once", AT_ONCE)
        st.cache_resource.clear()
        return App(PAGE, **CHOSEN | query)

    return session


def verdict_word(cell: str) -> str:
    """The verdict of a file that a cell of the page says."""
    return "cannot be told" if ", p" not in cell else f"{cell.partition(', p')[0][2:]} than chance"


def test_it_is_the_last_page():
    assert PAGES[-1].path == PAGE


def test_one_example_has_a_verdict_of_each_measure_and_the_librarys_numbers(opened, bundled):
    app = opened(1e9, example="s041", on="this example")
    wait(app, lambda: "Each order is set against" in app.said and "attention" in str(app.tables), rest=3.0)
    complete(app)
    explainer = Explainer(bundled)
    encoded = explainer.encode(SHORT[0].text, None, "word")
    target = int(explainer.logits(encoded).argmax())
    first, second = app.tables[:2]
    assert first[0][:2] == ["measure", "against chance, of 2 (chance p by Holm ↓)"]
    assert first[0][2:4] == [ALONE, "comprehensiveness ↑"]
    assert (
        second[0][:2] == ["measure", "NS ↑"]
        and "by AOPC comprehensiveness (higher is better), and chance p (lower is better), adjusted for 2" in app.said
    )
    assert [row[0] for row in first[1:]] == ["gradient", "attention", "random order"]
    for row in first[1:3]:
        own = score(explainer, encoded, row[0], target)
        assert row[3].startswith(f"{own.comprehensiveness:.3f}") and row[4].startswith(f"{own.sufficiency:.3f}")
        assert "p = " in row[1] or "cannot be told" in row[1]
        assert re.search(r"of [\d,]+, p [=≥] |^—$", row[2])
    # On one text nobody beats anybody.
    assert not any(one.label == "Who beats whom" for one in app.at.expander)
    # What Hard and soft erasure says of the same text.
    for row in second[1:3]:
        found = judge_measure(explainer, encoded, row[0], "signed", board_metrics(), How(draws=8)).found
        for name, cell in zip(board_metrics(), row[1:]):
            error = f" ± {found[name].error:.3f}" if metrics()[name].soft else ""
            assert cell.removesuffix(f" {SIGN}") == f"{found[name].value:.3f}{error}"
    assert "Each order is set against" in app.said and "NAOPC comprehensiveness ↑" in first[0]
    assert len(app.at.get("plotly_chart")) == 1 and not app.errors
    saved = list(csv.DictReader(io.StringIO(app.download("Lines (CSV)"))))
    assert [row["measure"] for row in saved] == ["gradient", "attention", "random order"]
    assert [row["verdict"] for row in saved[:2]] == [verdict_word(row[1]) for row in first[1:3]] and not saved[2][
        "verdict"
    ]
    assert all(row["measures_tested"] == "2" and float(row["p_holm_to"]) <= 1 for row in saved[:2])
    # p by itself, beside the adjusted one that the page says.
    assert all(
        0 < float(row["p_better_from"]) <= float(row["p_better_to"]) <= float(row["p_holm_to"]) for row in saved[:2]
    )
    assert all(float(row["p_better_to"]) + float(row["p_worse_to"]) >= 1 for row in saved[:2])
    assert not any(saved[2][name] for name in saved[2] if name.startswith("p_"))
    assert float(saved[1]["comprehensiveness ↑"]) == pytest.approx(own.comprehensiveness, abs=1e-6)
    assert r"\toprule" in app.download("Tables (LaTeX)") and app.has("download_button", "Lines (Parquet)")
    app.set("selectbox", "Order of the table", "comprehensiveness")
    reached = [float(row[3].split()[0]) for row in app.tables[0][1:]]
    assert reached == sorted(reached, reverse=True)


def test_a_sample_with_nothing_computed_and_with_everything(opened, bundled):
    app = opened(-1.0, on="a sample of the data", measures="gradient")
    assert "Not known yet" in app.said and "forward passes, about" in app.said and not app.tables
    # The verdicts on both texts, as Data set asks for them: of measures that are judged unasked.
    study, texts = VerdictsOfTexts(default_measures()), without_labels("d", "0" * 64, SHORT)
    rows = finish(run_study(resources.explainer(bundled.name), texts, study, resources.store()))
    better = int((rows.columns["word"][:, default_measures().index("gradient")] == 1).sum())
    st.cache_resource.clear()
    app.run()
    told = f"on {better} of 2"
    assert app.tables[0][0] == ["measure", "better than chance ↑ (texts)"] and ["gradient", told] in app.tables[0]
    # Of few texts that is no headline.
    assert "Not known yet" in app.said and "beats which" not in app.said
    wait(app.press("Compute all 3 of these"), lambda: "Not enough to say" in app.said, rest=3.0)
    assert "Not enough to say which measure to believe: 2 texts, and verdicts begin at 20." in app.said
    assert [row[1] for row in app.tables[0][1:]] == [told, "—"] and "[" not in app.tables[0][1][2]
    assert "by a test on each of 2 texts" in app.said


def test_a_sample_begins_with_a_hundred_texts_and_what_was_chosen_on_another_page_stays(monkeypatch, opened):
    """Every measure under every metric is dearer than what *Data set* asks."""
    opened(-1.0)
    monkeypatch.delenv("FAITHSCOPE_DATA")
    app = App("pages/data_set.py", data="reviews", on="a sample of the data")
    for page, size in (("pages/data_set.py", "200"), (PAGE, "100"), ("pages/data_set.py", "200")):
        assert app.go(page).widget("button_group", "Sample").value == size
    app.set("button_group", "Sample", "50")
    assert app.go(PAGE).widget("button_group", "Sample").value == "50"


def test_verdicts_whose_job_is_forgotten_while_they_are_drawn_are_not_there_and_nothing_fails():
    """Others' jobs that end push it out between two looks at it."""
    forgotten = SimpleNamespace(
        key="forgotten", complete=True, side=SimpleNamespace(encoded=None, reference=None), report=lambda *_: None
    )
    assert _report_of(forgotten) is None
    there = SimpleNamespace(**vars(forgotten) | {"report": lambda *_: "verdicts"})
    assert _report_of(there) == "verdicts" == _report_of(forgotten), "what it came to is kept"
    assert _report_of(SimpleNamespace(**vars(there) | {"complete": False})) is None


def test_verdicts_that_other_pages_know_are_shown_unasked(opened, bundled):
    """First those that *Data set* keeps of the text, then those that were computed of it, on whatever page; and nothing
    is said to be under way that is not.
    """
    query = {
        "on": "this example",
        "example": "s041",
        "measures": ["leave-one-out", "gradient", "input × gradient", "attention"],
    }
    app = opened(-1.0, **query)
    assert "Which measures to believe is not computed yet: ask for it below" in app.said
    assert "being set against" not in app.said
    explainer, usual = resources.explainer(bundled.name), default_measures()
    # Of several texts the rows alone are kept, and no forward pass.
    study, texts = VerdictsOfTexts(usual), without_labels("d", "0" * 64, SHORT)
    rows = finish(run_study(explainer, texts, study, resources.store()))
    said = believe_sentence(report_of_row(rows, study), explainer.encode(SHORT[0].text, None, "word"), chances=False)
    st.cache_resource.clear()
    assert f"{without_markup(said)} Not judged yet: attention." in app.run().said and app.has(
        "button", "Compute which of 4 measures to believe"
    )
    # On another page they were asked for, with all that they rest on.
    explainer = resources.explainer(bundled.name)
    encoded = explainer.encode(SHORT[0].text, None, "word")
    test = finish(find_chance(explainer, encoded, int(explainer.logits(encoded).argmax()), usual))
    explainer.flush(encoded)
    st.cache_resource.clear()
    app = opened(-1.0, **query)
    wait(app, lambda: "Each order is set against" in app.said, rest=3.0)
    report = decide_verdicts(test, StandingGates(encoded, explainer.reference))
    assert without_markup(believe_sentence(report, encoded, chances=False)) in app.said


def test_of_many_parts_one_button_asks_for_all_and_a_menu_for_each(opened):
    app = opened(-1.0, on="a sample of the data", measures=["gradient", "attention"])
    labels = [one.label for one in app.at.get("button") if one.label.startswith("Compute")]
    assert labels[0] == "Compute all 4 parts" and len(labels) == 5
    passes = [int(found[1].replace(",", "")) for one in app.at.markdown if (found := PASSES.match(one.value))]
    assert len(passes) == 5 and passes[0] == sum(passes[1:]) > 0
