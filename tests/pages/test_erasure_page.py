"""The page Hard and soft erasure without a browser: numbers of the library, what is said of them, and what happens
where something is missing.
"""

import csv
import io
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.judging.baselines import BASELINES, Baseline, judge_random
from core.judging.hand_set import Pair, judge_pair, top_words
from core.judging.judging import How, Inputs, Judge, judge_by_metric, judge_measure
from core.judging.metric_report import HEADER, MetricReport, WholeWords
from core.judging.metric_sentences import advice, leaving_sentence, metrics_answer, notes, validity_sentence
from core.judging.metric_table import MetricTable, count_as_good, count_rejected, gate_together
from core.judging.pair_sentences import pairs_sentences
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures
from core.metrics.catalogue import default_metrics, of_examples
from core.metrics.registry import Score
from core.network.scheduler import NonFinite
from core.oracle import erasing
from core.oracle.erasing import ERASURES, MASK, REMOVAL, ZERO, erasures_of
from core.oracle.oracle import Oracle
from core.validity.marks import HOLM
from core.validity.references import CALIBRATED, find_reference
from core.wording import WHOLE, Tally, ordinal, without_markup
from pages.parts.erasure import drawing
from pages.parts.erasure.hand_setting import pair_line
from pages.parts.erasure.metric_cells import draw_metric_table
from tests.app_session import App, complete

pytestmark = pytest.mark.usefixtures("server")
DEFAULT, METRICS = default_measures(), default_metrics()
PAGE = "pages/hard_and_soft_erasure.py"
REVIEWS = {example.id: example for example in read_bundled("reviews")}
SMALL = REVIEWS["s040"]
FEW = {"draws": "8"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Whatever this machine's speed, what the tests do not hold back starts at once; few random attributions are enough
    here.
    """
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)


@pytest.fixture
def few(monkeypatch):
    """Two random attributions instead of thirty, where they are not what is asked about."""
    monkeypatch.setattr(
        "pages.parts.erasure.judging.judge_random", lambda *given, **more: judge_random(*given, count=2, **more)
    )


def told(**query) -> App:
    return complete(App(PAGE, **({"example": SMALL.id} | FEW | query)))


def typed(text: str, **query) -> App:
    app = App("pages/attributions.py", **({"measures": ["gradient"]} | FEW | query)).type(text)
    return complete(app.go(PAGE))


@pytest.fixture(scope="module")
def mine(bundled):
    explainer = Explainer(bundled, None, find_reference(bundled))
    return explainer, explainer.encode(SMALL.text, None, "word")


@pytest.fixture(scope="module")
def by_hand(mine):
    return {name: judge_measure(*mine, name, "signed", METRICS, How(draws=8)) for name in DEFAULT}


def metric_table(app: App) -> list[list[str]]:
    """The heads of the metrics, without what each does to the text, and a row for each measure."""
    (found,) = [table for table in app.tables if table[0][0] == "measure"]
    return [["measure", *(re.match(r"[^↑↓\n]*[↑↓]?", head).group().strip() for head in found[1])], *found[2:]]


def has_table(app: App) -> bool:
    return any(table[0][0] == "measure" for table in app.tables)


def value_of(cell: str) -> float:
    return float(re.match(r"((level )?\d+[a-z]{2} |level: )?([\d.e-]+?)(?=[ +−]|$)", cell).group(3))


def rows_of(app: App) -> list[dict]:
    return list(csv.DictReader(io.StringIO(app.download("Table (CSV)").lstrip("\ufeff"))))


def charts(app: App) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.at.get("plotly_chart")]


def report_of(rated: dict, explainer: Explainer, encoded) -> MetricReport:
    """What the page should know of measures that are judged."""
    settings = "signed", How(draws=8), "Holm", "calibrated", explainer.reference.floor("calibrated")
    return MetricReport("", "word", encoded.F, METRICS, *settings, rated, {}, {})


def test_every_number_is_what_the_library_says(by_hand, mine):
    app = told()
    header, *rows = metric_table(app)
    assert header == ["measure", "NS ↑", "NC ↑", "Soft-NS ↑", "Soft-NC ↑"] and [row[0] for row in rows[:-1]] == list(
        DEFAULT
    )
    known = report_of(by_hand, *mine)
    mine_board = known.trusted
    assert known.marked.any() and not known.marked.all()
    for i, row in enumerate(rows[:-1]):
        for k, cell in enumerate(row[1:]):
            place = int(mine_board.places[i, k])
            alone = f"{ordinal(place)} " if (mine_board.places[:, k] == place).sum() == 1 else "level"
            assert value_of(cell) == pytest.approx(known.table.values[i, k], abs=6e-3)
            assert ("⚠" in cell) == bool(known.marked[i, k])
            assert cell.startswith(alone) if place else re.match(r"[\d.e-]+([ +−]|$)", cell)
            assert ("⇅" in cell) == bool(mine_board.flips[i, k]) and ("±" in cell) == (k > 1)
    # What a sign means is told where it stands, and only there.
    assert ("⇅: another metric orders it" in app.said) == bool(mine_board.flips.any())
    chance = finish(judge_random(*mine, METRICS[:2], How(draws=8)))
    assert rows[-1][0] == f"random baseline{BASELINES} attributions, mean (sd)"
    trusted, marked = {}, {}
    for k, name in enumerate(METRICS[:2], start=1):
        mean, spread, sign = re.fullmatch(r"([\d.e-]+) \(sd ([\d.e-]+)\)\s*(⚠?)", rows[-1][k]).groups()
        marked[name] = gate_together(chance[name].p, known.floor).marked
        assert bool(sign) == marked[name]
        assert float(mean) == pytest.approx(chance[name].values.mean(), abs=6e-3)
        assert float(spread) == pytest.approx(chance[name].values.std(ddof=1), abs=6e-3)
        trusted |= {} if marked[name] else {name: chance[name].values}
    as_good = count_as_good(mine_board, trusted)
    for i, row in enumerate(rows[:-1]):
        said = [re.search(rf"(\d+) of {BASELINES} random as good$", cell) for cell in row[1:3]]
        assert [int(one.group(1)) if one else -1 for one in said] == as_good[i, :2].tolist()
        # Which of them do as well is counted one by one; NS and NC are better where they are higher.
        for one, name in zip(said, METRICS[:2]):
            value = known.table.values[i, METRICS.index(name)]
            assert one is None or int(one.group(1)) == sum(drawn >= value - 1e-6 for drawn in chance[name].values)


def test_random_attributions_are_tested_together_and_their_row_says_so(mine, by_hand, monkeypatch):
    """30 of 150 inputs at p 0.001: by Simes 0.005, which is rejected; 5 of them are 0.03, and one is 0.15."""
    drawn = []
    monkeypatch.setattr("pages.parts.erasure.metric_cells.st.html", drawn.append)

    def beside(rejected: int) -> MetricReport:
        p = {"calibrated": np.where(np.arange(150) < rejected, 0.001, 0.9)}
        made = {"NS": Baseline(np.linspace(0, 1, 30), p)}
        shuffles = {"gradient": {"NS": Baseline(np.linspace(0, 1, 10), p)}}
        fine = replace(by_hand["gradient"], inputs={"NS": Inputs({"calibrated": np.array([0.9])})})
        known = replace(report_of({"gradient": fine}, *mine), names=("NS",), drawn=("NS",))
        return replace(known, chance=made, shuffles=shuffles, floor=0.001)

    for rejected, marked in ((30, True), (5, True), (1, False)):
        report = beside(rejected)
        draw_metric_table(report, {})
        told = "The means of random attributions under NS and shuffled scores under NS carry ⚠: all inputs of one are"
        said = validity_sentence(report)
        assert said.startswith("None of the inputs behind the numbers of measures is rejected")
        assert (told in said) == marked == ("carry" in said)
        row = without_markup(drawn[-1].partition("random baseline")[2])
        assert ("⚠" in row) == marked and "0.5 (sd 0.304)" in row.replace("  ", " "), rejected
        own = without_markup(drawn[-1].partition("shuffled")[2].partition("</td>")[0])
        assert ("⚠" in own) == marked
        # What is told of being better than they are rests on them.
        assert np.isnan(report.better[0, 0]) == (report.as_good[0, 0] == -1) == marked
        line = dict(zip(HEADER, report.rows()[0]))
        assert line["random: rests on rejected inputs"] == line["shuffled: rests on rejected inputs"]
        assert line["random: rests on rejected inputs"] == ("yes" if marked else "no")


def test_what_is_there_of_a_measure_under_way_is_drawn_without_a_place(mine, by_hand, monkeypatch):
    parts, drawn = list(judge_by_metric(*mine, "gradient", "signed", METRICS, How(draws=8))), []
    assert [tuple(part.found) for part in parts] == [METRICS[: k + 1] for k in range(len(METRICS))]
    for name in METRICS:
        assert parts[-1].found[name].value == pytest.approx(by_hand["gradient"].found[name].value, abs=1e-6)
    monkeypatch.setattr("pages.parts.erasure.metric_cells.st.html", drawn.append)
    how, free = How(draws=8), mine[1].F
    draw_metric_table(
        MetricReport(
            "a", "word", free, METRICS, "signed", how, "Holm", "calibrated", 0.01, {}, {}, {}, {"gradient": parts[0]}
        ),
        {},
    )
    row = without_markup(drawn[0].partition("gradient")[2])
    assert f"{parts[0].found['NS'].value:.3g}" in row and row.count("…") == len(METRICS) - 1 and "1st" not in row


NAMES = ("NS", "NC", "AOPC sufficiency", "Soft-NS", "Soft-NC")


def board_of(values, names=NAMES, error=np.nan) -> MetricTable:
    """Measures a, b, … with these values under the first of these metrics; error: of each draw's mean."""
    values, letters = np.array(values, dtype=float), "abcde"
    notes, measures = (("",) * values.shape[1],) * len(values), tuple(letters[: len(values)])
    return MetricTable(measures, names[: values.shape[1]], values, np.full_like(values, error), notes)


def answer_to(values: list[list[float]], free: int = 5, tally: Tally = WHOLE, marked=None, **more) -> str:
    """The answer for such measures; marked: which numbers rest on rejected inputs."""
    marked = None if marked is None else np.array(marked, dtype=bool)
    return without_markup(metrics_answer(board_of(values, **more), "word", free, tally, marked))


def test_the_answer_in_words_of_each_kind():
    assert answer_to([[0.9, 0.8], [0.5, 0.4]]) == "The metrics agree: all put a first by 0.4 or more."
    # AOPC sufficiency is better where it is lower.
    assert answer_to([[0.9, 0.8, 0.1], [0.5, 0.4, 0.2]]) == "The metrics agree: all put a first by 0.1 or more."
    assert answer_to([[0.9, 0.8, 0.3], [0.5, 0.4, 0.2]]) == (
        "The metrics do not agree: NS and NC put a first by 0.4 or more; AOPC sufficiency puts b first by 0.1."
    )
    assert answer_to([[0.9, 0.9], [0.5, 0.1], [0.1, 0.5]]) == (
        "The metrics do not agree: all put a first by 0.4 or more, and differ on the rest."
    )
    assert answer_to([[0.9, 0.9], [0.5, 0.9], [0.1, 0.5]]) == (
        "The metrics do not contradict each other: NS puts a first by 0.4; NC puts a and b first, level."
    )
    assert answer_to([[0.9, 0.1, 0.9, 0.1, 0.9], [0.5, 0.9, 0.1, 0.2, 0.9], [0.1, 0.5, 0.3, 0.9, 0.1]]) == (
        "Here it does: hard and soft erasure do not agree: of 5 metrics, first is b under 3, a under 2, c under 1 "
        "(level ones counted for each)."
    )


def test_metrics_that_find_the_same_measures_level_agree():
    assert answer_to([[0.9, 0.8], [0.9, 0.8], [0.5, 0.4]]) == "The metrics agree: all put a and b first, level."
    assert answer_to([[0.9, 0.8, 1], [0.9, 0.8, 1], [0.5, 0.4, 1]], names=("NS", "NC", "Soft-NC")).startswith(
        "Soft erasure"
    )


def test_a_kind_of_metrics_that_is_undefined_agrees_with_nobody():
    gone = [[0.9, 0.8, np.nan], [0.5, 0.4, np.nan]]
    assert answer_to(gone, names=("NS", "NC", "Soft-NS")) == (
        "Whether it changes the order of the measures cannot be told here: Soft-NS is undefined on this text. By hard erasure alone, NS and NC put a first by "
        "0.4 or more."
    )
    assert (
        answer_to([[0.9, np.nan], [np.nan, np.nan]])
        == "Whether it changes the order of the measures cannot be told here: too few numbers are defined."
    )


def test_a_lead_of_less_than_a_hundredth_crowns_nobody():
    assert answer_to([[0.954, 0.146], [0.956, 0.101], [0.172, 0.007]]) == (
        "The metrics do not contradict each other: NS puts a and b first, level; NC puts a first by 0.045."
    )


def test_a_lead_by_means_over_draws_has_its_standard_error():
    """Of .03 and .04 each: .0424 and .0566; the least lead of several brings its own."""
    assert answer_to([[0.9], [0.5]], names=("Soft-NS",), error=0.03).startswith(
        "Soft-NS puts a first by 0.4 ± 0.0424. "
    )
    several = answer_to([[0.9, 0.8], [0.5, 0.3]], names=("Soft-NS", "Soft-NC"), error=0.04)
    assert several == "The metrics agree: all put a first by 0.4 ± 0.0566 or more."


def test_a_square_of_agreement_is_drawn_where_two_metrics_order_measures_and_lines_are_named(monkeypatch):
    squares, figures = [], []
    monkeypatch.setattr(drawing, "square", lambda values, _: squares.append(values))
    monkeypatch.setattr(drawing, "draw_figure", lambda figure, *_: figures.append(figure))
    monkeypatch.setattr(drawing, "about_view", lambda _: "")
    view = SimpleNamespace(example=SimpleNamespace(id="e"), model=SimpleNamespace(name="m"))
    four = [[0.9, 0.8], [0.5, 0.4], [0.3, 0.2], [0.1, 0.3]]
    # All places the same: a sentence says it; of three measures no τ; of four whose second metric is level, none either.
    cases = [(four[:3], 0, 0), (four[:2] + four[3:], 0, 0), (four[1:], 1, 0), (four, 2, 1)]
    for values, drawn, many in [*cases, ([[one, 0.5] for one, _ in four], 3, 1)]:
        board = board_of(values)
        shape = (len(values), 2)
        report = SimpleNamespace(trusted=board, table=board, marked=np.zeros(shape, bool), unit="word")
        drawing.draw_agreement(view, report, "Which?")
        assert (len(figures), len(squares)) == (drawn, many)
    assert figures[-1]["layout"]["showlegend"] and [one["name"] for one in figures[-1]["data"]] == list("abcd")
    # Where rejected inputs leave nothing to compare, the part that shows them is named.
    told, marked = [], np.array([[True, False]] * 4)
    monkeypatch.setattr(drawing.st, "caption", told.append)
    report = SimpleNamespace(trusted=board.without(marked), table=board, marked=marked, unit="word")
    drawing.draw_agreement(view, report, "Which?")
    assert told == [
        "Numbers with ⚠ are not ranked. That leaves no two metrics to compare. *Which?* shows where inputs are rejected."
    ]


def test_several_at_the_end_of_a_scale_are_said_not_to_be_told_apart():
    told = "Under NC several measures reach 1, where the scale ends: it does not tell them apart"
    assert [one for one in notes(board_of([[0.9, 1.0], [1.0, 1.0]])) if one.startswith(told)]
    assert notes(board_of([[0.9, 1.0], [1.0, 0.99]])) == []


def test_the_answer_says_which_kinds_of_metrics_do_not_agree_and_nothing_of_what_draws_alone_may_order():
    both = ("NS", "Soft-NS")
    assert answer_to([[0.9, 0.8], [0.5, 0.4]], names=both) == (
        "Not here: hard and soft erasure agree: all put a first by 0.4 or more."
    )
    assert answer_to([[0.9, 0.4], [0.5, 0.8]], names=both).startswith(
        "Here it does: hard and soft erasure do not agree: "
    )
    three = ("NS", "NC", "Soft-NS")
    # The two hard ones order a and b oppositely, about which the soft one says nothing.
    assert answer_to([[0.9, 0.2, 0.5], [0.5, 0.4, 0.5], [0.1, 0.1, 0.2]], names=three).startswith(
        "Not here: hard metrics do not contradict soft ones, but hard ones do not agree among themselves: "
    )
    # 0.4 apart: more than twice √2 · 0.1, and less than twice √2 · 0.2.
    soft = ("Soft-NS", "Soft-NC")
    assert "do not agree" in answer_to([[0.9, 0.4], [0.5, 0.8]], names=soft, error=0.1)
    assert answer_to([[0.9, 0.4], [0.5, 0.8]], names=soft, error=0.2) == (
        "The metrics cannot disagree here: none tells these measures apart."
    )
    # Where one kind is silent nothing says whether it would agree.
    assert answer_to([[0.9, 0.8, 0.5], [0.5, 0.4, 0.5]], names=three) == (
        "Soft erasure tells none of these measures apart here: NS and NC put a first by 0.4 or more."
    )
    assert answer_to([[0.9, 0.4, 0.5], [0.5, 0.8, 0.5]], names=three).startswith(
        "Soft erasure tells none of these measures apart here, and hard metrics do not agree: "
    )


def test_no_verdict_rests_on_rejected_inputs():
    both, soft = ("NS", "NC", "Soft-NS", "Soft-NC"), [[0, 0, 1, 1]] * 2
    values = [[0.9, 0.8, 0.2, 0.3], [0.5, 0.4, 0.6, 0.7]]
    assert answer_to(values, names=both).startswith("Here it does")
    assert answer_to(values, names=both, marked=soft) == (
        "Words erased in part make inputs that the model does not know ⚠; erased whole by the mask token, none is rejected (whether for "
        "being erased in part or for zeroed embeddings is not told apart). For the measures it cannot be told: Soft-NS and Soft-NC say nothing here. By hard erasure alone, NS and NC put a first by 0.4 or more."
    )
    # The noise of one and the attention mask of the other zero no part of an embedding.
    for kind in ("noise", "attention mask"):
        other = ("NS", "NC", f"Soft-NS ({kind})", "Soft-NC")
        assert "zeroed" not in answer_to(values, names=other, marked=soft)
    # One number of each soft metric leaves nothing to compare, either; of the hard ones NC alone is left.
    assert answer_to(values, names=both, marked=[[1, 0, 1, 1], [0, 0, 0, 0]]) == (
        "Whether it changes the order of the measures cannot be told here: erasing words in part (soft) makes inputs that the model does not know ⚠, and so "
        "does hard erasure by NS. By hard numbers without ⚠, NC puts a first by 0.4."
    )
    assert answer_to(values, names=both, marked=[[1, 1, 0, 0]] * 2) == (
        "Words erased whole by the mask token make inputs that the model does not know ⚠; erased in part, none is "
        "rejected. For the measures it cannot be told: NS and NC say nothing here. By "
        "soft erasure alone, Soft-NS and Soft-NC put b first by 0.4 or more."
    )
    assert answer_to(values, names=both, marked=[[1] * 4] * 2) == (
        "Whether it changes the order of the measures cannot be told here: all numbers rest on inputs that the model does not know ⚠."
    )
    # A number that stands alone compares nothing.
    assert answer_to(values, names=both, marked=[[0] * 4, [1] * 4]) == (
        "Whether it changes the order of the measures cannot be told here: too many numbers rest on inputs that the model does not know ⚠."
    )
    # The third measure's marks leave the others' order as it is.
    third = [*values, [0.95, 0.95, 0.1, 0.1]]
    assert answer_to(third, names=both, marked=[[0] * 4, [0] * 4, [1, 1, 0, 0]]) == (
        "Here it does: hard and soft erasure do not agree: NS and NC put a first by 0.4 or more; Soft-NS and Soft-NC "
        "put b first by 0.4 or more. Numbers with ⚠ do not count."
    )


def test_erasing_is_called_not_rejected_only_where_its_inputs_could_be():
    both = ("NS", "NC", "Soft-NS", "Soft-NC")
    board = board_of([[0.9, 0.8, 0.2, 0.3], [0.5, 0.4, 0.6, 0.7]], names=both)
    marked, tested = np.array([[0, 0, 1, 1]] * 2, dtype=bool), np.array([[1, 0, 1, 1]] * 2, dtype=bool)
    said = without_markup(metrics_answer(board, "word", 5, WHOLE, marked, tested))
    assert said.startswith(
        "Whether it changes the order of the measures cannot be told here: erasing words in part (soft) makes inputs that the model does not know ⚠, and whether "
        "hard erasure does cannot be tested. By hard erasure alone, NS and NC put a first"
    )
    assert "none is rejected" in without_markup(metrics_answer(board, "word", 5, WHOLE, marked, tested | True))


def test_why_words_erased_in_part_are_rejected_is_told_as_far_as_zeroing_whole_words_tells():
    both, eight = ("NS", "NC", "Soft-NS", "Soft-NC"), (0, 8)
    board = board_of([[0.9, 0.8, 0.2, 0.3], [0.5, 0.4, 0.6, 0.7]], names=both)

    def said(whole: WholeWords, names=both, marked=(0, 0, 1, 1)) -> str:
        table = replace(board, metrics=names)
        told = metrics_answer(table, "word", 5, WHOLE, np.array([marked] * 2, dtype=bool), None, whole)
        return without_markup(told).partition(" For the measures")[0]

    begins = "Words erased in part make inputs that the model does not know ⚠; erased whole by the mask token, none is rejected"
    assert said(WholeWords(MASK, (eight, eight), ((3, 8), (3, 8)))) == (
        f"{begins}. Zeroing whole words is rejected too (3 of 8 inputs of each measure), so zeroing alone may be why."
    )
    assert "(0 to 4 of 8 inputs of each measure)" in said(WholeWords(MASK, (), ((4, 8), eight)))
    none = "(none of 8 inputs of each measure): as far as that tells, erasing in part is why."
    assert said(WholeWords(MASK, (eight,) * 2, (eight,) * 2)) == f"{begins}, nor with whole words zeroed {none}"
    assert said(WholeWords(MASK, (eight,), ())).endswith("or for zeroed embeddings is not told apart).")
    # Where whole words are zeroed already, that is said once; removal is no thing.
    assert said(WholeWords(ZERO, (eight,) * 2, (eight,) * 2)).endswith(
        "erased whole by the zero embedding, none is rejected: as far as that tells, erasing in part is why."
    )
    assert "erased whole by removal, none is" in said(WholeWords(REMOVAL, (eight,) * 2, ()))
    # Other inputs of whole words are rejected, of which these metrics ask none.
    assert "by the mask token for NS and NC, none is" in said(WholeWords(MASK, ((1, 8), eight), ()))
    noise = ("NS", "NC", "Soft-NS (noise)", "Soft-NC (noise)")
    assert said(WholeWords(MASK, (), ((3, 8), (3, 8))), noise) == f"{begins}."
    assert said(WholeWords(REMOVAL, (), ((3, 8),) * 2), marked=(1, 1, 0, 0)) == (
        "Words erased whole by removal make inputs that the model does not know ⚠; erased in part, none is rejected."
    )


def test_what_is_known_of_whole_words_is_what_the_tests_of_rationales_say(first, mine):
    """Of the first review; not of a measure whose rationales are not tested, nor of what is perturbed otherwise."""
    leaves = [first.leaves(name) for name in first.rated]
    own, zeroed = (tuple(count_rejected(one[erasure][1], first.sizes) for one in leaves) for erasure in (MASK, ZERO))
    assert first.whole == WholeWords(MASK, own, zeroed) and len(own) == len(DEFAULT)
    for (rejected, inputs), name in zip(zeroed, first.rated):
        many = f"{rejected} of {inputs} inputs rejected ⚠" if rejected else f"none of {inputs} inputs rejected"
        assert f"zero embedding: {many}" in without_markup(leaving_sentence(first, name))
    removed = replace(first, how=How(REMOVAL, draws=8)).whole
    assert removed.own == tuple(count_rejected(one[REMOVAL][1], first.sizes) for one in leaves) != own
    name, rated = next(iter(first.rated.items()))
    untested = replace(first, rated=first.rated | {name: replace(rated, leaves={})}).whole
    assert untested == WholeWords(MASK, own[1:], ())
    assert replace(first, how=How(draws=8, placement="after normalisation")).whole.zeroed == ()


def test_the_answer_where_nothing_can_be_compared():
    assert answer_to([[1, 1], [1, 1]]) == "The metrics cannot disagree here: none tells these measures apart."
    assert (
        answer_to([[1, 0.9], [1, 0.8]])
        == "The metrics cannot disagree here: none but NC, which puts a first by 0.1, tells these measures apart."
    )
    assert (
        answer_to([[0.9], [0.2]])
        == "NS puts a first by 0.7. Choose at least two metrics with a direction to see whether they agree."
    )
    assert answer_to([[0.9, 0.4]]).startswith("Choose at least two measures") and answer_to(
        [[0.9, 0.4], [0.1, 0.2]], free=1
    ).startswith("There is a single word")
    assert answer_to([[np.nan, np.nan], [np.nan, np.nan]]).startswith("No metric is defined here")


def test_whether_they_agree_is_not_told_before_every_measure_is_judged():
    coming = Tally(2, 3, coming=True, what="measure")
    assert answer_to([[0.9, 0.8], [0.5, 0.4]], tally=coming) == (
        "2 of 3 measures so far; the answer comes with the last."
    )


def advised(values, chance=None, marked=None, rejected=(), **more) -> str:
    """What is advised where random attributions come to these {metric: (mean, standard deviation)}; rejected: metrics
    under which these rest on rejected inputs.
    """
    board, ends = board_of(values, **more), np.array([-1, 1]) / np.sqrt(2)
    marked = np.zeros(board.values.shape, bool) if marked is None else np.array(marked, dtype=bool)
    drawn = {name: mean + spread * ends for name, (mean, spread) in (chance or {}).items()}
    trusted = board.without(marked)
    known = {name: values for name, values in drawn.items() if name not in rejected}
    as_good = count_as_good(trusted, known)
    better = np.where(as_good < 0, np.nan, np.maximum(0, 1 - as_good))
    chance = {
        name: Baseline(values, {"calibrated": np.full(9, 0.001 if name in rejected else 0.5)})
        for name, values in drawn.items()
    }
    report = SimpleNamespace(
        table=board, marked=marked, trusted=trusted, better=better, drawn=tuple(drawn), chance=chance
    )
    report.together = lambda one: gate_together(one.p, 0.001)
    said = without_markup(advice(report, "Data set"))
    ends = (
        " One text decides little: Data set asks many.",
        "whom to prefer: Data set asks many.",
        "before anything is masked.",
    )
    assert said.endswith(ends)
    return said.removesuffix(ends[0])


def test_what_to_do_follows_from_first_places_and_from_random_attributions():
    agreed, chance = [[0.9, 0.8], [0.5, 0.4]], {"NS": (0.3, 0.2), "NC": (0.1, 0.2)}
    assert advised(agreed, chance) == "So on this text prefer a."
    assert advised(agreed, {"NS": (0.3, 0.2)}) == "Whether a beats random attributions is not known yet."
    assert advised(agreed, {"NS": (0.3, 0.2), "NC": (0.85, 0.2)}) == (
        "a comes first, but under NC it is no better than random attributions."
    )
    assert advised([[0.9, 0.4], [0.5, 0.8]], chance) == "So no measure is the one to prefer on this text."
    # Level under both.
    assert advised([[0.9, 0.8], [0.905, 0.8], [0.1, 0.1]], chance) == "So on this text prefer a or b."
    assert advised(agreed, chance, [[1, 1]] * 2).startswith("So choose no measure by them;")
    # AOPC sufficiency is better where it is lower.
    down = ("NS", "AOPC sufficiency")
    assert advised([[0.9, 0.1], [0.5, 0.4]], {"NS": (0.3, 0.2), "AOPC sufficiency": (0.05, 0.2)}, names=down) == (
        "a comes first, but under AOPC sufficiency it is no better than random attributions."
    )


def test_nothing_is_said_of_beating_random_attributions_that_rest_on_rejected_inputs():
    agreed, chance = [[0.9, 0.8], [0.5, 0.4]], {"NS": (0.3, 0.2), "NC": (0.1, 0.2)}
    assert advised(agreed, chance, rejected=("NC",)) == (
        "Whether a beats random attributions cannot be told: what these score under NC rests on rejected inputs (⚠)."
    )
    # Nor that it does not.
    assert advised(agreed, {"NS": (0.3, 0.2), "NC": (0.85, 0.2)}, rejected=("NC",)).startswith(
        "Whether a beats random attributions cannot be told"
    )


UNDECIDED = "One text does not decide whom to prefer: Data set asks many."


def test_nobody_is_preferred_where_a_number_is_marked_or_undefined():
    agreed, chance = [[0.9, 0.8], [0.5, 0.4]], {"NS": (0.3, 0.2), "NC": (0.1, 0.2)}
    assert advised(agreed, {"NS": (0.3, 0.2)}, [[0, 1]] * 2) == UNDECIDED
    assert advised([*agreed, [0.1, 0.1]], chance, [[0, 0], [0, 0], [0, 1]]) == UNDECIDED, "be it of a third measure"
    assert advised([[0.9, np.nan], [0.5, np.nan]], {"NS": (0.3, 0.2)}) == UNDECIDED
    # What speaks against it is told all the same.
    assert advised(agreed, {"NS": (0.95, 0.2)}, [[0, 1]] * 2).startswith("a comes first, by NS alone, but under NS it")


def test_nobody_is_preferred_for_a_lead_within_the_spread_of_random_attributions():
    """a leads by 0.4 under both; random attributions spread by what is given, as standard deviations."""
    agreed = [[0.9, 0.8], [0.5, 0.4]]
    assert advised(agreed, {"NS": (0.3, 0.39), "NC": (0.1, 0.39)}) == "So on this text prefer a."
    assert advised(agreed, {"NS": (0.3, 0.39), "NC": (0.1, 0.41)}) == UNDECIDED
    # A number that is marked leaves the others' lead as slight as it is.
    assert advised([*agreed, [0.1, 0.1]], {"NS": (0.3, 0.39), "NC": (0.1, 0.41)}, [[0, 0], [0, 0], [0, 1]]) == UNDECIDED
    # Of those that are level, the lead is that of the last of them over the next.
    level = [[0.9, 0.8], [0.905, 0.8], [0.6, 0.1]]
    assert advised(level, {"NS": (0.3, 0.29), "NC": (0.1, 0.29)}) == "So on this text prefer a or b."
    assert advised(level, {"NS": (0.3, 0.31), "NC": (0.1, 0.29)}) == UNDECIDED


def test_measures_that_are_ordered_oppositely_are_named_with_who_says_so():
    assert pairs_sentences(board_of([[0.9, 0.5, 0.3], [0.5, 0.9, 0.4], [0.1, 0.1, 0.9]])) == [
        "a or b? NS and AOPC sufficiency say a, NC b."
    ]
    assert pairs_sentences(board_of([[0.9, 0.9], [0.5, 0.9]])) == [
        "NC tells none of these measures apart: all are level."
    ]
    assert pairs_sentences(board_of([[0.9, 0.9], [0.5, 0.7]])) == [
        "No two metrics put two of these measures in opposite orders by 0.01 or more."
    ]
    reverse = board_of([[0.9, 0.1], [0.7, 0.3], [0.5, 0.5], [0.3, 0.7]])
    said = pairs_sentences(reverse)
    assert said[0] == "a or b? NS says a, NC b." and said[3:] == [
        "3 more pairs are ordered oppositely by some two metrics."
    ]


def test_measures_that_printed_numbers_alone_order_oppositely_are_named_with_what_they_are_ahead_by():
    """0.32911 and 0.31933 are printed 0.329 and 0.319, a hundredth apart, and are level; 0.3294 and 0.3186 are not."""
    rule = "No two metrics put two of these measures in opposite orders by 0.01 or more"
    close = board_of([[0.72, 0.83], [0.32911, 0.18178], [0.31933, 0.18668]])
    assert pairs_sentences(close) == [
        f"{rule}.",
        "Opposite in the numbers, but too close on one side or both to count: ahead is b by NS (0.00978), c by NC (0.0049).",
    ]
    assert pairs_sentences(board_of([[0.3294, 0.1], [0.3186, 0.2]])) == ["a or b? NS says a, NC b."]
    # One side may be a clear lead.
    clear = pairs_sentences(board_of([[0.9, 0.181], [0.3, 0.185], [0.1, 0.1]]))
    assert clear[1].endswith("on one side or both to count: ahead is a by NS (0.6), b by NC (0.004).")
    # What is printed alike is seen by nobody; nor is one way alone the opposite of anything.
    assert pairs_sentences(board_of([[0.72, 0.83], [0.32911, 0.18178], [0.31933, 0.18182]])) == [f"{rule}."]
    # Soft scores 0.1 apart, each ± 0.04, lie within 2·√2·0.04 = 0.113 of each other.
    soft = board_of([[0.9, 0.2], [0.8, 0.3], [0.5, 0.1]], names=("Soft-NS", "Soft-NC"), error=0.04)
    assert pairs_sentences(soft) == [
        f"{rule}, for soft metrics also beyond two standard errors of the difference.",
        "Opposite in the numbers, but too close on one side or both to count: ahead is a by Soft-NS (0.1 ± 0.0566), b by Soft-NC (0.1 ± 0.0566).",
    ]
    # Of four that are close, six pairs; the last is behind all, which is an order.
    close = [[0.504, 0.5], [0.503, 0.501], [0.502, 0.502], [0.501, 0.503]]
    assert pairs_sentences(board_of([*close, [0.2, 0.1]]))[1].endswith(
        "a by NS (0.003), d by NC (0.003); and 3 other pairs."
    )
    # Where all are level there is no order that another could oppose.
    assert pairs_sentences(board_of(close)) == ["NS and NC tell none of these measures apart: all are level."]


@pytest.fixture(scope="module")
def first(mine):
    """What is known of the first of the reviews, of which soft metrics alone make inputs that are rejected."""
    encoded = mine[0].encode(REVIEWS["s001"].text, None, "word")
    rated = {name: judge_measure(mine[0], encoded, name, "signed", METRICS, How(draws=8)) for name in DEFAULT}
    found = report_of(rated, mine[0], encoded)
    assert found.marked.all(axis=0).tolist() == found.marked.any(axis=0).tolist() == [False, False, True, True]
    return found


def test_the_page_answers_by_the_numbers_that_are_not_marked(few, first):
    app = told(example="s001")
    told_of = first.table, "word", first.features, WHOLE, first.marked, first.tested, first.whole
    assert without_markup(metrics_answer(*told_of)) in app.said
    assert "Words erased in part make inputs that the model does not know" in app.said
    assert UNDECIDED in app.said
    link, proof = re.findall(r'href="([^"]+)"', " ".join(html.value for html in app.at.html))
    assert link.startswith("data_set?") and "section=scores" in link
    # A cell far above random attributions is no verdict.
    assert proof.startswith("aopc_and_naopc?") and "more than luck is tested on AOPC and NAOPC, not here." in app.said
    cells = [row[1:] for row in metric_table(app)[1:-1]]
    assert not any(re.search(r"\d(st|nd|rd|th) |level| as good", cell) for row in cells for cell in row[2:])
    # The file gives no place either, and every number.
    rows = rows_of(app)
    assert {row["place (1 is best)"] for row in rows if row["metric"].startswith("Soft")} == {""}
    assert all(row["value"] for row in rows) and "1" in {row["place (1 is best)"] for row in rows}
    assert "Numbers with ⚠ are not ranked." in app.said
    assert all(one in app.said for one in pairs_sentences(first.trusted))
    (places,) = charts(app)
    assert {trace["name"] for trace in places["data"]} == set(DEFAULT)
    assert not app.agreement and "How far two metrics agree is told from 4 measures on" in app.said
    # Hard metrics erase words as the measure does that they put first.
    assert any("leave-one-out" in led for led in first.trusted.leaders())
    assert "leave-one-out masks words to score them, as hard metrics erase them: that favours it" in app.said


def test_metrics_and_measures_are_chosen_and_a_link_holds_the_choice(few):
    app = told(
        metrics=["AOPC sufficiency", "sparsity", "NS"],
        measures=["gradient", "beam"],
        erasure="removal",
        scaling="sigmoid",
        values="absolute",
        rule="plain",
    )
    header, *rows = metric_table(app)
    # In the order of the registry; neither direction of sparsity is better.
    assert header == ["measure", "NS ↑", "AOPC sufficiency ↓", "sparsity"] and [row[0] for row in rows[:-1]] == [
        "gradient",
        "beam",
    ]
    assert (
        rows[1][3] == "—"
        and "beam under sparsity: This measure gives places only, and no magnitudes." in app.said
        and "1 of 6 values are undefined" in app.said
    )
    assert not re.match(r"\d+\. ", rows[0][3])
    assert (
        app.widget("button_group", "Erasure").value == "removal"
        and app.widget("button_group", "Scaling").value == "sigmoid"
    )
    assert "AOPC sufficiency ↓" in app.said or any(
        "AOPC sufficiency ↓" in row[0] for table in app.tables for row in table
    )


def test_what_is_perturbed_and_how_loudly_is_chosen_where_soft_metrics_are(few, mine):
    names, how = ("Soft-NS", "Soft-NC (noise)"), How(draws=8, placement="after normalisation", sigma=0.5)
    app = told(metrics=list(names), measures=["gradient"], placement=how.placement, sigma="0.5")
    expected = judge_measure(*mine, "gradient", "signed", names, how).found
    plain = judge_measure(*mine, "gradient", "signed", names, How(draws=8)).found
    for row in rows_of(app):
        assert (row["placement"], row["sigma"]) == (how.placement, "0.5")
        assert float(row["value"]) == pytest.approx(expected[row["metric"]].value, abs=1e-4)
        assert abs(float(row["value"]) - plain[row["metric"]].value) > 1e-3
    app.set("multiselect", "Metrics", ["Soft-NS"])
    assert "Noise σ" not in {one.label for one in app.at.get("button_group")}
    app.set("multiselect", "Metrics", ["NS"])
    assert "Soft metrics perturb" not in {one.label for one in app.at.get("button_group")}


def test_every_metric_of_the_registry_can_be_shown(few):
    app = told(metrics=list(of_examples()), measures=[*DEFAULT, "attention"])
    assert len(metric_table(app)[0]) == 1 + len(of_examples()) and not app.errors
    assert app.agreement


def test_numbers_that_rest_on_rejected_inputs_are_marked_and_counted(few):
    app = told(erasure="removal", measures=["gradient"])
    row = metric_table(app)[1]
    assert all("⚠" in cell for cell in row[1:])
    assert (
        "⚠ 4 of 4 numbers of measures rest on inputs that are rejected as out-of-distribution: of NS, NC, Soft-NS and Soft-NC"
        in app.said
    )
    assert re.search(r"Holm over the \d+( to \d+)? inputs of each number", app.said)
    assert {(line["metric"], line["rests on rejected inputs"]) for line in rows_of(app)} == {
        ("NS", "yes"),
        ("NC", "yes"),
        ("Soft-NS", "yes"),
        ("Soft-NC", "yes"),
    }


def test_where_the_mask_token_is_familiar_nothing_is_marked_and_the_rule_is_named(few):
    app = told(example="s001", measures=["gradient"], metrics=["NS", "NC", "sparsity"], rule="plain")
    assert (
        "None of the inputs behind the numbers of measures is rejected" in app.said
        and "each input by itself at 5 %" in app.said
    )
    assert not any("⚠" in cell for cell in metric_table(app)[1])
    assert {line["rests on rejected inputs"] for line in rows_of(app)} == {"no", "not tested"}, (
        "sparsity asks for no input"
    )


def test_a_gate_that_says_nothing_is_called_unavailable(few, monkeypatch, fresh):
    assert "Validity unavailable" in told(model="sst2-plain", measures=["gradient"], form="literal").said
    monkeypatch.setattr("core.explanation.explainer.find_reference", lambda *_: None)
    st.cache_resource.clear()
    app = told(measures=["gradient"], closer="validity")
    assert (
        "Validity unavailable: this model has no MaSF reference" in app.said
        and "no reference to test erased inputs against" in app.said
    )
    assert {line["rests on rejected inputs"] for line in rows_of(app)} == {"unavailable"}


def test_scores_by_length_are_drawn(few, by_hand):
    app = told(closer="length")
    (lengths,) = charts(app)
    assert len(lengths["data"]) == 3 * 2 * 2 and not app.agreement
    assert lengths["data"][0]["y"] == pytest.approx(by_hand["leave-one-out"].found["NS"].by_length.tolist())
    assert "1 % and 5 % and 10 % are the same 1 word" in app.said


def test_which_erasure_leaves_the_distribution_is_said_for_the_chosen_measure(few, by_hand):
    app = told(rationales="gradient", closer="validity")
    p = by_hand["gradient"].leaves["removal"]["calibrated"]
    assert app.widget("selectbox", "Rationales of").value == "gradient" and re.search(
        r"removal: \d of 6 inputs rejected ⚠", app.said
    )
    (leaving,) = charts(app)
    assert leaving["data"][0]["name"] == "mask token" and len(leaving["data"]) == 6 + 1
    assert [trace["customdata"] for trace in leaving["data"] if trace["name"] == "removal"] == [
        pytest.approx(row.tolist()) for row in p
    ]
    assert "x" in leaving["data"][2]["marker"]["symbol"] and "in-distribution (" not in app.said


# Two attributions by hand


def test_the_same_order_is_the_same_for_hard_metrics_and_not_for_soft_ones(few, mine, by_hand):
    app = told(closer="weights")
    assert "NS and NC are exactly the same for both" in app.said
    (table,) = [table for table in app.tables if table[0][0] == "" and "attribution A" in table[1][0]]
    judge = Judge(*mine, How(draws=8))
    pair = judge_pair(
        judge, top_words(by_hand["leave-one-out"].scores, mine[1].premasked), (1, 0.3, 0.1), (1, 0.9, 0.8)
    )
    for row, found in zip(table[1:], pair.found):
        assert [float(cell.split(" ")[0]) for cell in row[1:]] == pytest.approx(
            [found[name].value for name in METRICS], abs=6e-3
        )
    assert table[3][1] == table[3][2] == "no, level" and bool(re.search("tells? them apart: ", app.said)) == any(
        pair.differ(name) for name in METRICS[2:]
    )


def test_two_by_hand_are_told_apart_by_the_rule_of_places_and_marked_as_in_the_table():
    names = ("NS", "NC", "Soft-NS", "Soft-NC")

    def pair(*both):
        found = tuple(
            {name: Score(*one) for name, one in zip(names, [(value,) for value in hard] + soft)} for hard, soft in both
        )
        rejected, fine = ({name: Inputs({CALIBRATED: np.array([p])}) for name in names} for p in (0.001, 0.5))
        return Pair((np.ones(2), np.ones(2)), found, False, (rejected, fine))

    close = pair(([0.5, 0.5], [(0.5, 0.1), (0.5, 0.01)]), ([0.505, 0.52], [(0.7, 0.1), (0.6, 0.01)]))
    assert [close.differ(name) for name in names] == [False, True, False, True]
    assert close.differ("Soft-NS") is False, "0.2 apart, less than twice √2 · 0.1"
    undefined = pair(([np.nan, 0.5], [(0.5, 0.1)] * 2), ([0.5, 0.5], [(0.5, 0.1)] * 2))
    assert undefined.differ("NS") is None and (0, "NS") not in undefined.gates(0.001, HOLM, CALIBRATED)
    marked = {at for at, gate in close.gates(0.001, HOLM, CALIBRATED).items() if gate.marked}
    assert marked == {(0, name) for name in names}
    assert "Soft-NC ↑ gives A 0.5 ⚠ and B 0.6, on inputs that are rejected" in pair_line(close, marked)
    # To move weights is advised only where some soft metric could tell something.
    level = pair(([0.5, 0.5], [(0.5, 0.1)] * 2), ([0.5, 0.5], [(0.5, 0.1)] * 2))
    advice = "Soft-NS and Soft-NC do not tell them apart; move the weights further apart"
    assert advice in pair_line(level) and advice in pair_line(level, {(0, "NS"), (1, "NC"), (0, "Soft-NS")})
    rejected = pair_line(level, {(0, "Soft-NS"), (1, "Soft-NC")})
    assert "move" not in rejected and "apart, on inputs that are rejected as out-of-distribution, which" in rejected


def test_a_slider_that_changes_the_order_is_noticed_by_hard_metrics_too(few):
    app = told(closer="weights")
    first = next(slider for slider in app.at.get("select_slider") if slider.label.startswith("A · "))
    first.set_value("0")
    app.run()
    assert "no longer rank the words alike" in app.said and app.at.query_params["weight-a1"] in ("0", ["0"])
    assert "exactly the same" not in app.said


def test_the_shuffled_baseline_waits_to_be_asked_and_stands_beside_its_measure(few):
    app = told(measures=["gradient"], metrics=["NS", "Soft-NS"])
    assert "shuffled" not in " ".join(metric_table(app)[1]) and "forward passes" in app.said
    assert app.has("button", "Compute shuffled baseline \\(each measure’s own scores in other places")
    complete(app.press("Compute shuffled baseline", exact=False))
    row = metric_table(app)[1]
    assert "shuffled" in row[2] and "shuffled" not in row[1] and not app.has("button", "Compute shuffled baseline")
    assert [line["shuffles"] for line in rows_of(app)] == ["", "10"]


def test_the_file_holds_every_value_with_its_settings(few, by_hand):
    lines = rows_of(told())
    assert len(lines) == len(DEFAULT) * len(METRICS)
    for line in lines:
        score = by_hand[line["measure"]].found[line["metric"]]
        assert float(line["value"]) == pytest.approx(score.value, abs=1e-6) and (
            line["standard error of its draws"] == ""
        ) == np.isnan(score.error)
        assert (
            line["erasure"] == "mask token"
            and line["draws"] == "8"
            and line["explained class"] == "positive"
            and line["direction"] == "higher is better"
        )
        if score.by_length is not None:
            assert float(line["value at 50 %"]) == pytest.approx(score.by_length[-1], abs=1e-6)
    assert {line["random: attributions"] for line in lines} == {"2"}


# Bad input


def test_another_class_than_the_predicted_one_is_said_and_not_explained(few):
    app = told(**{"class": "negative"}, measures=["gradient"])
    assert (
        "The sidebar asks for negative; hard and soft erasure always judge the prediction, so positive is explained "
        "here." in app.said
    )
    assert "Explained here: negative" not in app.said and rows_of(app)[0]["explained class"] == "positive"


def test_where_erasing_costs_nothing_the_values_are_undefined_and_that_is_said(few, monkeypatch, fresh):
    monkeypatch.setattr("core.mathematics.erasure.UNDEFINED", 2.0)
    app = told(measures=["gradient"], closer="weights")
    assert (
        metric_table(app)[1][1:] == ["—"] * 4
        and "No metric is defined here: erasing everything costs the predicted class nothing" in app.said
    )
    assert (
        "4 of 4 values are undefined" in app.said
        and "None of the metrics is defined here" in app.said
        and not app.errors
    )


def test_an_attribution_without_an_order_is_kept_by_half(few, monkeypatch, fresh):
    monkeypatch.setattr(Judge, "attribution", lambda self, *_: (np.zeros(self.encoded.F), True))
    app = told(measures=["gradient"])
    assert "All features score the same, so each is kept by half." in app.said and not app.errors


def test_an_attribution_of_nan_is_undefined_everywhere_and_has_no_rationales(few, monkeypatch, fresh):
    monkeypatch.setattr(Judge, "attribution", lambda self, *_: (np.full(self.encoded.F, np.nan), True))
    app = told(measures=["gradient"], closer="weights")
    assert (
        metric_table(app)[1][1:] == ["—"] * 4
        and "The measure gave NaN or infinity." in app.said
        and "gave no numbers here" in app.said
    )
    app.set("button_group", "A closer look", "validity")
    assert "gave no numbers, so it has no rationales" in app.said and not app.errors


def test_a_text_of_one_word_has_nothing_to_agree_on(few):
    app = typed("Dull", metrics=["NS", "CORR"], closer="weights")
    assert (
        "There is a single word" in app.said
        and "nothing to weigh against it" in app.said
        and metric_table(app)[1][2] == "—"
        and not app.errors
    )
    # Nor is anything ranked.
    app = typed("Dull", measures=["gradient", "leave-one-out"], metrics=["NS", "Soft-NS"])
    assert all(re.match(r"[\d.]+( |$)", cell) for row in metric_table(app)[1:3] for cell in row[1:])
    assert (
        "nothing to rank" in app.said
        and not app.agreement
        and {row["place (1 is best)"] for row in rows_of(app)} == {""}
    )


def test_every_word_may_be_masked_already(few):
    app = typed("[MASK] [MASK]")
    assert (
        "nothing to erase and no metric to compare" in app.said
        and not app.errors
        and not has_table(app)
        and not charts(app)
    )


def test_removal_that_leaves_nothing_is_a_sentence(few, monkeypatch, fresh):
    really = erasing._without

    def nothing(encoded, whole, gone):
        # As with a tokenizer that adds no special tokens.
        if gone[encoded.feature_of >= 0].all():
            raise erasing.NothingLeft("With every word removed this model’s input is empty.")
        return really(encoded, whole, gone)

    monkeypatch.setattr(erasing, "_without", nothing)
    app = told(measures=["gradient"], erasure="removal")
    cells = metric_table(app)[1][1:]
    assert cells[:2] == ["—"] * 2 and "—" not in cells[2:] and "input is empty" in app.said and not app.errors


def test_a_model_that_answers_nan_is_a_sentence_and_nothing_else_is_lost(few, monkeypatch, fresh):
    really = Oracle.logits

    def logits(self, masks, **more):
        if masks.sum() > 8:
            raise NonFinite("The model returned NaN or infinity for 3 of 9 inputs.")
        return really(self, masks, **more)

    monkeypatch.setattr(Oracle, "logits", logits)
    app = told(measures=["gradient"])
    assert any("stopped" in error and "NaN" in error for error in app.errors) and app.has("multiselect", "Measures")


def test_a_tokenizer_without_an_unknown_token_does_not_offer_it(few):
    for unknown in (None, 103):
        assert erasures_of(SimpleNamespace(unknown_id=unknown, mask_id=103)) == (
            "mask token",
            "removal",
            "zero embedding",
        )
    assert erasures_of(SimpleNamespace(unknown_id=100, mask_id=103)) == ERASURES
    app = told(measures=["gradient"], erasure="unknown token")
    assert (
        app.widget("button_group", "Erasure").value == "unknown token"
        and has_table(app)
        and rows_of(app)[0]["erasure"] == "unknown token"
    )


@pytest.mark.parametrize(
    "query",
    [
        {"metrics": ["fidelity"]},
        {"erasure": "fire"},
        {"draws": "9"},
        {"scaling": ""},
        {"closer": "look"},
        {"closer": "validity", "rationales": "nobody"},
        {"closer": "weights", "weight-a1": "2"},
    ],
)
def test_a_link_that_asks_for_what_is_not_there_says_so(few, query):
    app = told(**({"measures": ["gradient"]} | query))
    # What a fragment draws may put nothing on the page around it, so that the next run says it.
    app = app.run() if "weight-a1" in query else app
    assert has_table(app) and "which is not here" in app.said and not app.errors
    # It stays until it is dismissed.
    assert "which is not here" in app.run().said and "which is not here" not in app.press("Dismiss").said


def test_nothing_chosen_is_a_sentence(few):
    app = told(measures=["gradient"])
    app.set("multiselect", "Metrics", [])
    assert "Choose a metric" in app.said and not has_table(app) and "begins with the first measure" in app.said
    app.set("multiselect", "Metrics", ["NS"])
    assert "Choose at least two measures" in complete(app).said
    app.set("multiselect", "Measures", [])
    assert "Choose measures" in complete(app).said and not app.errors


def test_dear_work_waits_to_be_asked(few, monkeypatch, fresh):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    app = App(PAGE, example=SMALL.id, measures=["gradient"], closer="weights", **FEW)
    assert "Ask for a measure below" in app.said and not has_table(app) and "waits for that measure" in app.said
    complete(app.press("Compute scores of gradient"))
    assert len(metric_table(app)) == 2 and app.has("button", "Compute random baseline")
