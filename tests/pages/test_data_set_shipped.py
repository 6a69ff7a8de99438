"""The page Data set on what ships: nothing is computed, and each question has its outcome and numbers."""

import pytest
import streamlit as st
from scipy.stats import kendalltau

from core.data.stories import TASKS
from core.evaluation.studies.retrained import read_retrained
from core.results.caveats import Caveat
from core.results.limits_of_texts import LimitsOfTextsOutcome
from core.results.retraining import RetrainingOutcome
from core.results.verdicts_of_texts import VerdictsOfTextsOutcome
from core.results.words import WordsOutcome
from core.validity.marks import SIGN
from tests.app_session import App
from tests.shipped_work import SWEEP

AGREES, DISAGREES, UNDECIDED = (RetrainingOutcome[one].value for one in ("AGREES", "DISAGREES", "UNDECIDED"))
PAGE, MASKED = "pages/data_set.py", {"model": "sst2-fmm", "data": "reviews"}


@pytest.fixture(autouse=True)
def ships(monkeypatch, fresh):
    """What ships is shown, as in the app, and no job computes it once more."""
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "yes")
    monkeypatch.setattr("pages.parts.sections.studying.StudyWork.run", lambda *_: pytest.fail("nothing is left to do"))
    monkeypatch.setattr("pages.parts.frame.working.Work.ask", lambda *_, **__: pytest.fail("nothing is asked for"))
    # Explainers too: those of other tests hold a store without it.
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def table(app: App, column: str) -> tuple[list[str], list[list[str]]]:
    header, *rows = next(found for found in app.tables if column in found[0])
    return header, rows


def test_one_measure_is_better_than_random_on_most_texts_and_the_others_on_few():
    app = App(PAGE, **MASKED)
    assert app.outcomes == ["one measure leads"] and app.badges[0] == "200 of 264 texts"
    header, rows = table(app, "95 % low")
    low, high = header.index("95 % low"), header.index("95 % high")
    shares = {row[0]: (float(row[low]), float(row[high])) for row in rows}
    assert shares.pop("leave-one-out")[0] > 50 and shares and all(top < 50 for _, top in shares.values())
    assert any(Caveat.MEASURE_USES_MASKING.badge in one for one in app.badges)


def test_that_no_measure_can_be_tested_has_its_reason():
    app = App(PAGE, model="sst2-plain", data="ordinary reviews")
    assert app.outcomes == [VerdictsOfTextsOutcome.CANNOT_BE_TESTED.value] and not app.errors
    assert any(Caveat.OUT_OF_DISTRIBUTION.badge in one for one in app.badges)
    assert not any(Caveat.OUT_OF_DISTRIBUTION.badge in one for one in App(PAGE, **MASKED).badges)


def test_scores_have_the_sign_where_scoreboard_knows_their_inputs_to_be_rejected():
    """Of every text of soft metrics; nothing is known of metrics that erase otherwise."""
    app = App(PAGE, section="scores", **MASKED)
    assert app.outcomes == ["intervals overlap"] and len(app.facts) == 4
    header, rows = table(app, "beside baseline")
    assert {row[1]: row[header.index(SIGN)] for row in rows} == {
        "NS ↑": SIGN,
        "NC ↑": "",
        "Soft-NS ↑": SIGN,
        "Soft-NC ↑": SIGN,
    }
    assert {"better", "overlaps"} <= {row[header.index("beside baseline")] for row in rows}
    assert any(Caveat.OUT_OF_DISTRIBUTION.badge in one for one in app.badges)
    _, rows = table(app, "rejected texts, most")
    found = {row[0]: row[1:] for row in rows}
    assert found["Soft-NS"] == found["Soft-NC"] == ["100", "100", "100", SIGN]
    # As on *Scoreboard*, where it has no sign.
    assert found["NC"][3] == "" and float(found["NC"][1]) < 10


@pytest.mark.parametrize("section, outcome", [("scores", "intervals overlap"), ("diagnosticity", "hard metrics ahead")])
def test_the_first_texts_of_the_data_that_pages_open_on_are_there(section, outcome):
    app = App(PAGE, section=section, model="sst2-fmm", data="ordinary reviews")
    assert app.outcomes == [outcome] and len(app.facts) == 4 and not app.errors
    assert app.badges[0] == "first 20 of 200 texts" and not any(Caveat.PARTIAL.badge in one for one in app.badges)


def test_hard_metrics_are_more_diagnostic_and_soft_ones_tell_not_every_measure():
    app = App(PAGE, section="diagnosticity", **MASKED)
    assert app.outcomes == ["hard metrics ahead"]
    header, rows = table(app, "interval, a tie as 0")
    sides = {(row[0], row[1]): row[header.index("interval")] for row in rows}
    assert {sides[one, "Soft-NS"] for one in ("gradient", "attention")} == {"holds 0.5"} and len(sides) == 24
    assert all("rejected texts, most" in found[0] for found in app.tables if found[0][-1] == "more than chance")


def test_retraining_leads_from_other_models_to_where_it_ships():
    app = App(PAGE, section="retraining", model="sst2-fmm", data="ordinary reviews")
    assert not app.outcomes
    app.press("Open stories-1-fmm")
    assert app.outcomes == [RetrainingOutcome.DISAGREES.value]


def test_words_of_the_first_model_are_full():
    app = App(PAGE, section="words", model="sst2-fmm", data="ordinary reviews")
    assert app.outcomes == [WordsOutcome.LEADING.value]


def test_leave_one_out_is_closest_to_the_best_order_at_a_first_visit():
    app = App(PAGE, section="limits", model="sst2-fmm", data="ordinary reviews")
    assert app.outcomes == [LimitsOfTextsOutcome.CLOSEST.value] and app.badges[0] == "first 20 of 200 texts"
    header, rows = table(app, "NAOPC")
    mean, low, high = (float(rows[0][header.index(name)]) for name in ("mean", "95 % low", "95 % high"))
    assert rows[0][:2] == ["leave-one-out", "comprehensiveness ↑"] and 0.5 < low < mean < high < 1 and len(rows) == 6
    assert app.facts["texts with limits"] == "20 of 20"
    assert any(f"{Caveat.MEASURE_USES_MASKING.badge}: leave-one-out" in one for one in app.badges)


def test_retraining_ranks_in_reverse_of_the_measurable_model():
    app = App(PAGE, section="retraining", model="stories-1-fmm", data="stories 1")
    assert app.outcomes == [RetrainingOutcome.DISAGREES.value] and len(app.facts) == 4
    header, rows = table(app, "FMM RACU ↑")
    leaking = {row[0] for row in rows if row[header.index("class leakage")] == "yes"}
    assert any(Caveat.CLASS_LEAKAGE.badge in one for one in app.badges)
    assert leaking == {"integrated gradients", "leave-one-out"}
    # Masks that measures choose are rejected where random ones are not.
    assert any(Caveat.OUT_OF_DISTRIBUTION.badge in one for one in app.badges)
    ours, theirs = ([float(row[header.index(f"{by} RACU ↑")]) for row in rows] for by in ("FMM", "ROAR"))
    assert len(rows) == 5 and kendalltau(ours, theirs).statistic == pytest.approx(-1)


@pytest.mark.parametrize("task", TASKS)
def test_retraining_ships_for_all_stories(task):
    """Without a word about it the study is that of the data, whose texts ROAR was tested on."""
    app = App(PAGE, section="retraining", model=f"stories-{task}-fmm", data=f"stories {task}")
    found = read_retrained(f"stories {task}")
    assert app.widget("text_input", "ROAR").placeholder == f"stories {task}" and not app.errors
    assert app.outcomes[0] in {AGREES, DISAGREES, UNDECIDED} and app.facts["ROAR’s test texts"] == "200 of 200"
    assert app.facts["trainings"] == f"{found.trainings}"


def test_a_sweep_opens_on_the_faithfulness_of_measures_under_two_models():
    app = App(PAGE, section="sweep")
    assert app.badges[0] == f"{SWEEP.sample} texts" and app.outcomes == ["not comparable"] and not app.errors
    assert app.widget("selectbox", "Figure").value == "NAOPC comprehensiveness"
    assert any(f"{Caveat.OUT_OF_DISTRIBUTION.badge}: {SWEEP.models[1]}" in one for one in app.badges)
    header, rows = table(app, "difference")
    assert header[2:4] == list(SWEEP.models) and {row[0] for row in rows} >= set(SWEEP.measures)
