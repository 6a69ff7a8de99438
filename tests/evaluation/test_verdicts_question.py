"""Verdicts over many texts, counted: against the verdict of each text, and by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.data.examples import Example
from core.evaluation.asking import ask
from core.evaluation.sampling import without_labels
from core.evaluation.studies.verdicts import Verdicts, VerdictsOfTexts, report_of_row
from core.evaluation.study import Rows
from core.explanation.explainer import Explainer
from core.explanation.standings import StandingGates
from core.figures.catalogue import question_figure
from core.figures.palette import blend
from core.mathematics.stepwise import finish
from core.oracle.erasing import MASK, REMOVAL
from core.results.asked import AskedOutcome
from core.results.catalogue import question_result
from core.results.caveats import Caveat
from core.results.verdicts_of_texts import VerdictsOfTextsOutcome, verdicts_of_texts
from core.storage.store import Store, canonical_key
from core.verdicts.deciding import decide_verdicts
from core.verdicts.finding import find_chance
from core.verdicts.records import NOTED, verdict_record
from core.wording import Tally
from tests import tiny
from tests.colours import contrast

NAMES = ("leave-one-out", "gradient")
NAN = np.nan
FAVOURS = {Caveat.MEASURE_USES_MASKING, Caveat.UNSIGNED_MEASURE}
COMING, STOPPED = Tally(20, 55, coming=True, fewest=20), Tally(20, 55, fewest=20)


@pytest.fixture(scope="module")
def explainer(tiny_model):
    return Explainer(tiny_model("bert"))


@pytest.fixture(scope="module")
def answers(explainer, tmp_path_factory):
    sample = without_labels("toy", "0" * 64, [Example(f"e{i}", text) for i, text in enumerate(tiny.SENTENCES[:3])])
    return ask(explainer, sample, Verdicts(NAMES, erasure=REMOVAL), Store(tmp_path_factory.mktemp("asked")))


def test_each_text_has_the_verdict_that_it_has_alone(explainer, answers):
    lines = Verdicts(NAMES, erasure=REMOVAL).records(answers)
    assert [(line["example"], line["measure"]) for line in lines] == [
        (f"e{i}", name) for i in range(3) for name in NAMES
    ]
    for i, text in enumerate(tiny.SENTENCES[:3]):
        encoded = explainer.encode(text, None, "word")
        target = int(explainer.probabilities(encoded).argmax())
        alone = finish(find_chance(explainer, encoded, target, NAMES, erasure=REMOVAL))
        report = decide_verdicts(alone, StandingGates(encoded, None))
        for line in lines[2 * i : 2 * i + 2]:
            one = report.of(line["measure"])
            assert line["verdict"] == str(one.word) and (line["p_better_at_most"], line["p_worse_at_most"]) == (
                one.p[1],
                one.worse[1],
            )
            assert line["erasure"] == REMOVAL


def told(answers, words):
    """The report of texts with these verdicts, float[n, 2]."""
    question = Verdicts(NAMES)
    n, (rows,) = len(words), answers.found.values()
    columns = {name: np.zeros((n, 2)) for name in rows.columns} | {"word": np.array(words, dtype=float)}
    more = replace(rows, columns=columns, there=np.ones(n, dtype=bool), problems={})
    sample = replace(answers.sample, examples=answers.sample.examples[:1] * n)
    return question, question.conclude(replace(answers, sample=sample, found={question.study: more}))


def test_rows_whose_null_may_have_been_another_are_looked_for_under_another_name():
    """Up to nine words it never was; up to 20 it hung on what was known; beyond 12 there were other numbers of orders."""

    def key(F: int, M: int) -> str:
        subject = SimpleNamespace(encoded=SimpleNamespace(premasked=np.zeros(F, dtype=bool), digest="d"))
        return VerdictsOfTexts(("leave-one-out", "gradient", "LIME", "beam", "attention")[:M]).row_keys(subject)[0]

    versions = {canonical_key("verdicts/row", version, example="d"): version for version in (1, 2, 3)}
    found = {(F, M): versions[key(F, M)] for F in (9, 10, 12, 13, 21) for M in (4, 5)}
    assert found == {(F, M): 1 if F == 9 else 3 if F > 12 and M == 4 else 2 for F, M in found}


def test_verdicts_are_counted_by_hand(answers):
    question, report = told(answers, [[1, 0]] * 12 + [[0, -1]] * 5 + [[NAN, 0]] * 2 + [[NAN, NAN]])
    assert report.counts.tolist() == [[12, 5, 0, 3], [0, 14, 5, 1]]
    # Texts of which nothing can be told are not among those on which no measure is better.
    assert (report.n, report.none) == (20, 7)
    # Clopper and Pearson by R's binom.test(12, 20) and binom.test(0, 20).
    assert report.better[0].low == pytest.approx(0.3605426, abs=1e-6)
    assert report.better[0].high == pytest.approx(0.8088099, abs=1e-6)
    assert (report.better[1].mean, report.better[1].high) == pytest.approx((0, 0.1684335), abs=1e-6)
    result = verdicts_of_texts(report)
    assert result.outcome is VerdictsOfTextsOutcome.ONE_LEADS and set(result.caveats) == FAVOURS
    assert result.slots["measure"] == "leave-one-out" and result.slots["count"] == 20
    share, texts, none, p = (result.fact(key) for key in ("share", "texts", "none", "lead_p"))
    assert (share.value, share.low, share.high) == pytest.approx((0.6, 0.3605426, 0.8088099), abs=1e-6)
    assert (texts.value, none.value, none.of) == (20, 7, 20) and report.judged == 19
    # Of 12 texts on which one alone is better the exact p is 2 / 2^12.
    assert p.value == pytest.approx(2 / 2**12)
    words, why = question.tables(report)
    assert [row[1] for row in words[1]] == ["60 % [36, 81]", "0 % [0, 17]"]
    assert words[0][1] == "better than chance ↑ [95 % interval]"
    assert words[1][1][2:] == ["0", "14", "5", "1", "20"]
    # One text of neither; of the first measure alone two more, whose orders are there.
    assert [row[1:] for row in why[1]] == [["1", "0", "2"], ["1", "0", "0"]]
    drawn = question_figure("verdicts", [report])
    assert [bar["x"] for bar in drawn["data"]] == [[0.6, 0], [0.25, 0.7], [0, 0.25], [0.15, 0.05]]
    # Bars are opaque, so that this holds in both themes; on the lines of their patterns, too.
    for bar in drawn["data"]:
        marker = bar["marker"]
        lines = blend(marker["pattern"]["fgcolor"], marker["color"], marker["pattern"]["fgopacity"])
        assert all(contrast(bar["textfont"]["color"], one) >= 4.5 for one in (marker["color"], lines))


def test_a_count_is_written_on_its_part_of_a_bar_where_it_has_room(answers):
    _, report = told(answers, [[1, 1]] * 150 + [[0, 1]] * 41 + [[-1, 0]] * 9)
    drawn = question_figure("verdicts", [report])["data"]
    assert [bar["text"] for bar in drawn] == [["150", "191"], ["41", "9"], ["9", ""], ["", ""]]
    _, report = told(answers, [[1, 1]] * 150 + [[0, 1]] * 42 + [[-1, 0]] * 8)
    drawn = question_figure("verdicts", [report])["data"]
    assert [bar["text"] for bar in drawn] == [["150", "192"], ["42", ""], ["", ""], ["", ""]]
    # What has no room is read by pointing at it, and in the table.
    assert [bar["customdata"][0] for bar in drawn][2] == "8 of 200 texts (4 %)"


def test_texts_of_which_nothing_can_be_told_are_not_among_those_on_which_all_fail(answers):
    _, report = told(answers, [[1, 0]] * 19 + [[NAN, NAN]])
    assert verdicts_of_texts(report).fact("none").value == 0 and report.judged == 19


def test_that_a_measure_masks_as_the_test_does_is_a_caveat_where_it_does(answers):
    _, report = told(answers, [[1, 0]] * 15 + [[0, 0]] * 5)
    assert report.erasure == MASK and FAVOURS <= set(verdicts_of_texts(report).caveats)
    assert not verdicts_of_texts(replace(report, erasure=REMOVAL)).has(Caveat.MEASURE_USES_MASKING)
    # In absolute values nobody has a sign.
    assert not verdicts_of_texts(replace(report, sign="absolute")).has(Caveat.UNSIGNED_MEASURE)


@pytest.mark.parametrize("alone, ahead", [(5, False), (6, True)])
def test_a_measure_leads_by_a_sign_test_that_is_paired_over_texts(answers, alone, ahead):
    """Intervals of the two shares would meet; of 6 texts on which they differ one way has p = 2 / 2^6, of 5 2 / 2^5."""
    _, report = told(answers, [[1, 1]] * 8 + [[1, 0]] * alone + [[0, 0]] * 12)
    assert report.better[0].low < report.better[1].high and report.ahead == ahead
    assert (verdicts_of_texts(report).outcome is VerdictsOfTextsOutcome.ONE_LEADS) == ahead


@pytest.mark.parametrize(
    "words, outcome, measure, share",
    [
        ([[1, 0]] * 20, VerdictsOfTextsOutcome.ONE_LEADS, "leave-one-out", 1.0),
        ([[1, 0]] * 15 + [[0, 0]] * 5, VerdictsOfTextsOutcome.ONE_LEADS, "leave-one-out", 0.75),
        ([[1, 0]] * 6 + [[0, 0]] * 34, VerdictsOfTextsOutcome.ONE_LEADS, "leave-one-out", 0.15),
        ([[0, 1]] * 8 + [[1, 1]] * 2 + [[0, 0]] * 40, VerdictsOfTextsOutcome.ONE_LEADS, "gradient", 0.2),
        ([[1, 0]] * 11 + [[0, 1]] * 9, VerdictsOfTextsOutcome.SEVERAL_TIED, "leave-one-out", 0.55),
        ([[1, 0]] * 5 + [[0, 0]] * 15, VerdictsOfTextsOutcome.SEVERAL_TIED, "leave-one-out", 0.25),
        ([[1, 1]] * 20, VerdictsOfTextsOutcome.SEVERAL_TIED, "leave-one-out", 1.0),
        ([[0, -1]] * 20, VerdictsOfTextsOutcome.NONE, "leave-one-out", 0.0),
        ([[NAN, NAN]] * 20, VerdictsOfTextsOutcome.CANNOT_BE_TESTED, "leave-one-out", 0.0),
    ],
)
def test_the_outcome_ranks_no_measure_that_the_tests_do_not_tell_apart(answers, words, outcome, measure, share):
    _, report = told(answers, words)
    result = question_result("verdicts", report)
    assert (result.outcome, result.slots["measure"], result.slots["share"]) == (outcome, measure, share)
    assert result.fact("share").value == share and not result.has(Caveat.PARTIAL)
    # Where no measure is better nothing is favoured.
    assert result.has(Caveat.MEASURE_USES_MASKING) == (share > 0)
    # What the next text may refute is no outcome; where the work was stopped it is, of so many.
    coming = verdicts_of_texts(replace(report, tally=COMING))
    assert coming.outcome is AskedOutcome.UNFINISHED and coming.has(Caveat.PARTIAL)
    assert coming.fact("lead_p") is None and (coming.slots["count"], coming.slots["total"]) == (20, 55)
    stopped = verdicts_of_texts(replace(report, tally=STOPPED))
    assert stopped.outcome is outcome and stopped.has(Caveat.PARTIAL)


def test_of_one_measure_its_share_is_the_outcome(answers):
    _, report = told(answers, [[1, 0]] * 15 + [[0, 0]] * 5)
    alone = replace(
        report, measures=NAMES[:1], counts=report.counts[:1], better=report.better[:1], ahead=False, lead_p=()
    )
    result = verdicts_of_texts(alone)
    assert result.outcome is VerdictsOfTextsOutcome.ALONE and result.fact("share").value == 0.75
    assert result.fact("lead_p") is None


def test_the_p_by_which_a_measure_leads_is_a_fact(answers):
    """On 9 texts the first alone is better, on 1 the second: p = 22 / 2^10."""
    _, report = told(answers, [[1, 0]] * 9 + [[0, 1]] + [[0, 0]] * 10)
    assert verdicts_of_texts(report).fact("lead_p").value == pytest.approx(22 / 2**10)
    assert verdicts_of_texts(told(answers, [[0, 0]] * 20)[1]).fact("lead_p") is None


def test_of_few_texts_nothing_is_concluded(answers):
    question, report = told(answers, [[1, 1]] * 19)
    result = verdicts_of_texts(report)
    assert result.outcome is AskedOutcome.FEW_TEXTS and result.has(Caveat.FEW_TEXTS)
    assert (result.slots["count"], result.slots["fewest"]) == (19, 20)
    # A share without an interval, as other means of so few.
    assert not any(share.known for share in report.better)
    header, rows = question.tables(report)[0]
    assert [row[1] for row in rows] == ["100 %", "100 %"] and header[1] == "better than chance ↑"


def test_cut_and_picked_texts_are_caveats_and_counted(answers):
    _, report = told(answers, [[1, 0]] * 20)
    assert not {Caveat.TRUNCATED, Caveat.SELECTED} & set(verdicts_of_texts(report).caveats)
    result = verdicts_of_texts(replace(report, cut=3, picked="by hand"))
    assert {Caveat.TRUNCATED, Caveat.SELECTED} <= set(result.caveats)
    assert (result.fact("cut").value, result.fact("cut").of) == (3, 20)


def test_the_mask_token_keeps_its_place_in_the_store_and_others_have_their_own(explainer):
    keys = {VerdictsOfTexts(NAMES, erasure=one).key(explainer) for one in ("mask token", REMOVAL)}
    assert len(keys) == 2 and VerdictsOfTexts(NAMES).key(explainer) in keys
    with pytest.raises(ValueError, match="erasure"):
        Verdicts(NAMES, erasure="white paint").check()


def test_a_line_of_a_file_has_p_by_itself_beside_the_adjusted_one_and_nothing_where_there_is_no_order():
    """Two of three measures have an order: .01 and .04 by themselves; by Holm over three .03 and .08."""
    study = VerdictsOfTexts(("leave-one-out", "gradient", "attention"))
    kept = {"word": [1.0, 0.0, NAN], "p": [0.01, 0.04, NAN], "worse": [1.0, 0.97, NAN], "reached": [0.5, 0.2, NAN]}
    columns = {name: np.array([kept.get(name, [0.0] * 3)]) for name in study.columns}
    report = report_of_row(Rows(np.array([True]), {}, np.array([True]), columns, ("",), {}), study)
    first, second, third = (verdict_record(one, report.planned) for one in report.verdicts)
    assert list(first) == list(third) == NOTED
    assert [first[name] for name in NOTED if name.endswith("_to")] == pytest.approx([0.01, 1.0, 0.03])
    assert [second[name] for name in NOTED if name.endswith("_to")] == pytest.approx([0.04, 0.97, 0.08])
    assert [third[name] for name in NOTED[1:5]] == [None] * 4 and first["measures_tested"] == 3
