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
from core.evaluation.asking import run_study
from core.evaluation.sampling import without_labels
from core.evaluation.studies.board_rows import board_metrics
from core.evaluation.studies.verdicts import VerdictsOfTexts, report_of_row
from core.explanation.explainer import Explainer
from core.explanation.limiting import score
from core.explanation.standings import StandingGates
from core.judging.judging import How, judge_measure
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures
from core.metrics.catalogue import metrics
from core.results.verdicts import Status, statuses, verdicts_result, word_status
from core.texts.rendering import headline
from core.validity.marks import SIGN
from core.verdicts.deciding import Word, decide_verdicts
from core.verdicts.finding import find_chance
from pages.parts.frame import resources
from pages.parts.frame.pages import PAGES
from pages.parts.scoreboard.one_text import _report_of
from pages.parts.sections.studying import StudyWork
from tests.app_session import App, complete, wait
from tests.hostile import lines

pytestmark = pytest.mark.usefixtures("fresh")
PAGE = "pages/scoreboard.py"
SAMPLE, LOO = "a sample of the data", "leave-one-out"
SHORT = [example for example in read_bundled("reviews") if example.id in ("s041", "s068")]
AT_ONCE = StudyWork.at_once
PASSES = re.compile("at most ([0-9,]+) forward passes, about ")
ASKS = "Compute which of 4 measures"
CHOSEN = {"measures": ["gradient", "attention"], "draws-of-data": "1", "draws": "8"}


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """`opened(seconds)`: a session whose data is two sentences; what takes no longer than that starts at once."""

    def session(seconds: float, **query) -> App:
        (tmp_path / "mine.jsonl").write_bytes(lines(*({"id": one.id, "text": one.text} for one in SHORT)))
        monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "mine.jsonl"))
        monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", seconds)
        monkeypatch.setattr(StudyWork, "at_once", AT_ONCE)
        st.cache_resource.clear()
        return App(PAGE, **CHOSEN | query)

    return session


def columns(app: App, *names: str) -> list[dict[str, str]]:
    """The lines of the table that has these columns, by its header."""
    header, *rows = next(table for table in app.tables if set(names) <= {*table[0]})
    return [dict(zip(header, row)) for row in rows]


def test_it_is_the_last_page():
    assert PAGES[-1].path == PAGE


def test_one_example_has_a_verdict_of_each_measure_and_the_librarys_numbers(opened, bundled):
    app = opened(1e9, example="s041", on="this example")
    wait(app, lambda: "verdict" in str(app.tables) and "attention" in str(app.tables), rest=3.0)
    complete(app)
    explainer = Explainer(bundled)
    encoded = explainer.encode(SHORT[0].text, None, "word")
    target = int(explainer.logits(encoded).argmax())
    lines = {line["measure"]: line for line in columns(app, "measure", "comprehensiveness ↑")}
    assert set(lines) == {"gradient", "attention", "random order"} and "NAOPC comprehensiveness ↑" in lines["gradient"]
    verdicts = {line["measure"]: line for line in columns(app, "verdict")}
    assert set(verdicts) == {"gradient", "attention"}
    errors = {(line["metric"], line["measure"]): line["±"] for line in columns(app, "metric", "measure", "±")}
    status = set(map(str, Status))
    for name in verdicts:
        own = score(explainer, encoded, name, target)
        assert lines[name]["comprehensiveness ↑"] == f"{own.aopc['comprehensiveness']:.3g}"
        assert lines[name]["sufficiency ↓"] == f"{own.aopc['sufficiency']:.3g}"
        line = verdicts[name]
        assert line["verdict"].removesuffix(f" {SIGN}") in status
        assert (line["adjusted p ↓"] == "—") == (line["verdict"] in (Status.TIED, Status.NOT_TESTED))
        assert line["orders as good ↓"] == "—" or float(line["orders as good ↓"]) >= 0
        # What Hard and soft erasure says of the same text.
        found = judge_measure(explainer, encoded, name, "signed", board_metrics(), How(draws=8)).found
        for metric in board_metrics():
            assert lines[name][f"{metric} ↑"] == f"{found[metric].value:.3g}"
            if metrics()[metric].soft:
                assert errors[f"{metric} ↑", name] == f"{found[metric].error:.3g}"
    # On one text nobody beats anybody.
    assert not any("against" in table[0] for table in app.tables)
    assert len(app.at.get("plotly_chart")) == 1 and not app.errors
    saved = list(csv.DictReader(io.StringIO(app.download("Lines (CSV)"))))
    assert [row["measure"] for row in saved] == ["gradient", "attention", "random order"]
    assert [str(word_status(row["verdict"])) for row in saved[:2]] == [
        verdicts[row["measure"]]["verdict"] for row in saved[:2]
    ]
    assert saved[2]["verdict"] == ""
    assert {row["outcome"] for row in saved} == {"few texts"} and all("FEW_TEXTS" in row["caveats"] for row in saved)
    assert all(row["measures_tested"] == "2" and float(row["p_holm_to"]) <= 1 for row in saved[:2])
    # The unadjusted p, beside the adjusted one that the page shows.
    assert all(
        0 < float(row["p_better_from"]) <= float(row["p_better_to"]) <= float(row["p_holm_to"]) for row in saved[:2]
    )
    assert all(float(row["p_better_to"]) + float(row["p_worse_to"]) >= 1 for row in saved[:2])
    assert not any(saved[2][name] for name in saved[2] if name.startswith("p_"))
    own = score(explainer, encoded, "attention", target)
    assert float(saved[1]["comprehensiveness ↑"]) == pytest.approx(own.aopc["comprehensiveness"], abs=1e-6)
    written = app.download("Tables (LaTeX)")
    assert r"\toprule" in written and written.startswith("% ") and app.has("download_button", "Lines (Parquet)")
    # The best first, and as an old link asks for it.
    reached = [line["comprehensiveness ↑"] for line in lines.values()]
    assert [*map(float, reached)] == sorted(map(float, reached), reverse=True)
    ranked = opened(1e9, example="s041", on="this example", ranked="forward passes")
    wait(ranked, lambda: "attention" in str(ranked.tables), rest=3.0)
    costs = [line["forward passes ↓"] for line in columns(ranked, "measure", "comprehensiveness ↑")]
    assert [*map(float, costs[:-1])] == sorted(map(float, costs[:-1]))


def test_a_sample_with_nothing_computed_and_with_everything(opened, bundled):
    app = opened(-1.0, measures="gradient")
    assert app.outcomes == ["running"] and "⚠ partial" in app.badges and not app.facts
    assert PASSES.search(" ".join(one.value for one in app.at.markdown)) and not app.tables
    # The verdicts on both texts, as Data set asks for them: of measures that are judged unasked.
    study, texts = VerdictsOfTexts(default_measures()), without_labels("d", "0" * 64, SHORT)
    rows = finish(run_study(resources.explainer(bundled.name), texts, study, resources.store()))
    better = int((rows.columns["word"][:, default_measures().index("gradient")] == 1).sum())
    st.cache_resource.clear()
    app.run()
    found = {line["measure"]: line for line in columns(app, f"{Word.BETTER} (texts)")}
    assert (found["gradient"][f"{Word.BETTER} (texts)"], found["gradient"]["texts"]) == (str(better), "2")
    # Of few texts that is no headline, and no picture.
    assert app.outcomes == ["running"] and not app.at.get("plotly_chart")
    wait(app.press("Compute all 3 parts"), lambda: app.outcomes == ["few texts"], rest=3.0)
    complete(app)
    assert app.outcomes == ["few texts"] and app.facts["texts scored"] == "2 of 2" and "⚠ few texts" in app.badges
    assert len(app.at.get("plotly_chart")) == 1
    assert {line["95 % from"] for line in columns(app, "metric", "measure", "95 % from")} == {"—"}
    assert f"{Word.BETTER} (texts)" in app.download("Tables (LaTeX)")


def test_it_opens_on_a_sample_and_one_text_is_a_click_or_an_old_link_away(opened):
    app = opened(-1.0)
    scored = app.widget("button_group", "Scored on")
    assert scored.value == SAMPLE and app.badges[0].startswith("2 texts")
    for link in ({"on": "this example"}, {"on": "a sample of the data"}):
        assert opened(-1.0, **link).widget("button_group", "Scored on").value == link["on"]
    app.set("button_group", "Scored on", "this example")
    assert app.at.query_params["on"] in ("this example", ["this example"])
    assert app.outcomes == ["not computed"] and not any("texts of" in badge for badge in app.badges)


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


@pytest.mark.parametrize("explained", [{}, {"class": "positive"}, {"class": "negative", "than": "positive"}])
def test_verdicts_that_other_pages_know_are_shown_unasked(opened, bundled, explained):
    """First those that *Data set* keeps of the text, then those that were computed of it, on whatever page; and nothing
    is said to be under way that is not. They are of the predicted class, whichever other pages explain.
    """
    query = {"example": "s041", "measures": ["leave-one-out", "gradient", "input × gradient", "attention"]}
    query |= {"on": "this example"} | explained
    app = opened(-1.0, **query)
    assert app.outcomes == ["not computed"] and not app.tables and app.has("button", ASKS)
    explainer, usual = resources.explainer(bundled.name), default_measures()
    # Of several texts the rows alone are kept, and no forward pass.
    study, texts = VerdictsOfTexts(usual), without_labels("d", "0" * 64, SHORT)
    rows = finish(run_study(explainer, texts, study, resources.store()))
    words = {name: str(status) for name, status in statuses(report_of_row(rows, study)).items()}
    st.cache_resource.clear()
    assert {line["measure"]: line["verdict"] for line in columns(app.run(), "verdict")} == words
    # Compared with one more, a measure may lose its verdict.
    assert "⚠ partial" in app.badges and app.has("button", ASKS)
    # On another page they were asked for, with all that they rest on.
    explainer = resources.explainer(bundled.name)
    encoded = explainer.encode(SHORT[0].text, None, "word")
    test = finish(find_chance(explainer, encoded, int(explainer.logits(encoded).argmax()), usual))
    explainer.flush(encoded)
    st.cache_resource.clear()
    app = opened(-1.0, **query)
    wait(app, lambda: {line["orders as good ↓"] for line in columns(app, "verdict")} != {"—"}, rest=3.0)
    assert "—" not in {line["orders as good ↓"] for line in columns(app, "verdict")}
    report = decide_verdicts(test, StandingGates(encoded, explainer.reference))
    assert {line["measure"]: line["verdict"] for line in columns(app, "verdict")} == {
        name: str(status) for name, status in statuses(report).items()
    }
    assert app.headlines[0][1:] == (verdicts_result(report).name, headline(verdicts_result(report)))


def test_of_many_parts_one_button_asks_for_all_and_a_menu_for_each(opened):
    app = opened(-1.0, on="a sample of the data", measures=["gradient", "attention"])
    labels = [one.label for one in app.at.get("button") if one.label.startswith("Compute")]
    assert labels[0] == "Compute all 4 parts" and len(labels) == 5
    passes = [int(found[1].replace(",", "")) for one in app.at.markdown if (found := PASSES.match(one.value))]
    assert len(passes) == 5 and passes[0] == sum(passes[1:]) > 0


@pytest.fixture
def ships(monkeypatch):
    """What ships computed is shown, as in the app, and nothing else is computed or asked for."""
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "yes")
    st.cache_resource.clear()
    monkeypatch.setattr(StudyWork, "run", lambda *_: pytest.fail("nothing is left to do"))
    monkeypatch.setattr("pages.parts.frame.working.Work.ask", lambda *_, **__: pytest.fail("nothing is asked for"))
    yield
    st.cache_resource.clear()


def test_what_ships_of_the_hard_reviews_is_shown_by_no_job(ships):
    app = App(PAGE, model="sst2-fmm", data="reviews")
    assert app.outcomes == ["several measures unbeaten"] and app.facts["texts scored"] == "100 of 100"
    assert app.facts["best comprehensiveness ↑"] == "0.612" and app.facts["forward passes, cheapest ↓"] == "3"
    assert app.facts[f"metrics for {LOO}"] == "4 of 4" and app.badges[0].startswith("100 texts")
    first = {line["metric"]: line["first"] for line in columns(app, "metric", "first")}
    assert {metric for metric, name in first.items() if name == "leave-one-out"} == {"sufficiency ↓", "RACU ↑", "NC ↑"}
    verdicts = {line["measure"]: [*line.values()][1:] for line in columns(app, f"{Word.BETTER} (texts)")}
    told = verdicts["leave-one-out"]
    assert (told[0], told[1 + [*Word].index(Word.BETTER)], told[-1], len(verdicts)) == ("80 % [71, 87]", "80", "100", 6)
    # Every text of soft metrics rests on rejected inputs.
    rejected = [line for line in columns(app, "rejected", "tested") if line["metric"] in ("Soft-NS ↑", "Soft-NC ↑")]
    assert {(line["rejected"], line["tested"]) for line in rejected if line["measure"] != "random order"} == {
        ("100", "100")
    }
    pairs = {(line["measure"], line["against"]): line for line in columns(app, "against", "beats it")}
    assert len(pairs) == 21 and pairs["leave-one-out", "gradient"]["beats it"] == "yes"
    assert len(app.at.get("plotly_chart")) == 1


def test_what_is_known_of_verdicts_alone_is_the_picture_until_texts_are_scored(ships, monkeypatch):
    """Of rows of another version nothing is known; on more texts than six measures are judged on three are."""
    monkeypatch.setattr("core.evaluation.studies.board_rows._Part.version", 99)
    monkeypatch.setattr("pages.parts.sections.studying._BEGINNING_SECONDS", 0.0)
    app = App(PAGE, model="sst2-fmm", data="reviews", sample="200")
    assert app.outcomes == ["running"] and len(app.at.get("plotly_chart")) == 1
    verdicts = {line["measure"]: line["texts"] for line in columns(app, f"{Word.BETTER} (texts)")}
    assert verdicts["leave-one-out"] == "200" and "attention" not in verdicts
