"""Verdicts over many texts, counted: against the verdict of each text, and by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.data.examples import Example
from core.evaluation.engine import Rows, ask
from core.evaluation.sampling import without_labels
from core.evaluation.studies.verdicts import VerdictsOfTexts, report_of_row
from core.evaluation.studies.verdicts_question import LED, Verdicts, judged_sentence, otherwise, shares_sentence
from core.explanation.explainer import Explainer
from core.explanation.standings import StandingGates
from core.figures.catalogue import question_figure
from core.figures.palette import blend
from core.mathematics.stepwise import finish
from core.oracle.erasing import MASK, REMOVAL
from core.storage.store import Store, canonical_key
from core.verdicts.deciding import decide_verdicts
from core.verdicts.finding import find_chance
from core.verdicts.records import NOTED, verdict_record
from core.verdicts.telling import suits_sentence, unsigned_sentence
from core.wording import Tally
from tests import tiny
from tests.colours import contrast

NAMES = ("leave-one-out", "gradient")
NAN = np.nan
SUITS = f"{suits_sentence(NAMES)} {unsigned_sentence(NAMES, 'signed')}"


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
    """Up to nine words it never was; up to 20 it hung on what was known; of five measures there were more orders."""

    def key(F: int, M: int) -> str:
        subject = SimpleNamespace(encoded=SimpleNamespace(premasked=np.zeros(F, dtype=bool), digest="d"))
        return VerdictsOfTexts(("leave-one-out", "gradient", "LIME", "beam", "attention")[:M]).row_keys(subject)[0]

    old = {(F, M): canonical_key("verdicts/row", 1, example="d") == key(F, M) for F in (9, 10, 20, 21) for M in (4, 5)}
    assert old == {at: at[0] == 9 or at == (21, 4) for at in old}


def test_verdicts_are_counted_by_hand(answers):
    question, report = told(answers, [[1, 0]] * 12 + [[0, -1]] * 5 + [[NAN, 0]] * 2 + [[NAN, NAN]])
    assert report.counts.tolist() == [[12, 5, 0, 3], [0, 14, 5, 1]]
    # Texts of which nothing can be told are not among those on which no measure is better.
    assert (report.n, report.none) == (20, 7)
    # Clopper and Pearson by R's binom.test(12, 20) and binom.test(0, 20).
    assert report.better[0].low == pytest.approx(0.3605426, abs=1e-6)
    assert report.better[0].high == pytest.approx(0.8088099, abs=1e-6)
    assert (report.better[1].mean, report.better[1].high) == pytest.approx((0, 0.1684335), abs=1e-6)
    answer, _, _, untold, *_ = question.sentences(report)
    assert answer == (
        "For leave-one-out on about half of the texts: it is better than chance on 12 of 20 texts (60 %), more often than "
        f"gradient (0, 0 %); were all 2 random, at most 5 % of texts would be expected to show one of them so. On 7 (35 %) not one of the 2 measures is shown to be, on 1 more (5 %) nothing can be told of any (the table counts each measure by itself), so ask of each text anew. {SUITS}"
    )
    assert "leave-one-out on 3 and gradient on 1 of 20 texts" in untold and "Model check counts otherwise" in untold
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


def test_texts_of_which_nothing_can_be_told_are_counted_beside_those_on_which_all_fail(answers):
    question, report = told(answers, [[1, 0]] * 19 + [[NAN, NAN]])
    assert "On no text do all of them fail, on 1 (5 %) nothing can be told of any" in question.sentences(report)[0]


def test_that_a_measure_masks_as_the_test_does_stands_with_the_answer_where_it_does(answers):
    question, report = told(answers, [[1, 0]] * 15 + [[0, 0]] * 5)
    assert report.erasure == MASK
    answer, *rest = question.sentences(report)
    assert answer.endswith(f"so ask of each text anew. {SUITS}") and SUITS not in rest
    assert suits_sentence(NAMES) not in question.sentences(replace(report, erasure=REMOVAL))[0]
    # In absolute values nobody has a sign.
    assert "has no sign" not in replace(question, sign="absolute").sentences(report)[0]


@pytest.mark.parametrize("alone, ahead", [(5, False), (6, True)])
def test_a_measure_leads_by_a_sign_test_that_is_paired_over_texts(answers, alone, ahead):
    """Intervals of the two shares would meet; of 6 texts on which they differ one way has p = 2 / 2^6, of 5 2 / 2^5."""
    question, report = told(answers, [[1, 1]] * 8 + [[1, 0]] * alone + [[0, 0]] * 12)
    assert report.better[0].low < report.better[1].high and report.ahead == ahead
    assert ("more often than" in question.sentences(report)[0]) == ahead


@pytest.mark.parametrize(
    "words, begins, ends",
    [
        (
            [[1, 0]] * 20,
            "Yes: leave-one-out is better than chance on every one of the 20 texts. The other: gradient on 0",
            "fail.",
        ),
        (
            [[1, 0]] * 11 + [[0, 1]] * 9,
            "No measure stands out: which measure is better than chance most often cannot be told. By measure, of 20 texts",
            "anew.",
        ),
        # R's binom.test: 15 of 20 are 51 to 91 %, 5 of 20 are 9 to 49 %.
        (
            [[1, 0]] * 15 + [[0, 0]] * 5,
            "For leave-one-out yes, on most texts: it is better than chance on 15 of 20",
            "anew.",
        ),
        ([[1, 0]] * 5 + [[0, 0]] * 15, "No measure stands out", "anew."),
        ([[1, 0]] * 6 + [[0, 0]] * 34, "For leave-one-out on few texts: it is better than chance on 6 of 40", "anew."),
        ([[0, -1]] * 20, "No: on none of the 20 texts is leave-one-out or gradient better than chance.", "chance."),
    ],
)
def test_the_answer_ranks_no_measure_that_the_intervals_do_not_tell_apart(answers, words, begins, ends):
    question, report = told(answers, words)
    said = question.sentences(report)[0]
    assert said.startswith(begins) and said.removesuffix(f" {SUITS}").endswith(ends), said
    coming = replace(report, tally=Tally(20, 55, coming=True, fewest=20))
    said = question.sentences(coming)[0]
    assert said.startswith("20 of 55 examples so far") and "more often" not in said and "none" not in said


@pytest.mark.parametrize(
    "words, said, how",
    [
        # Of 15 texts on which one alone is better the exact p is 2 / 2^15.
        (
            [[1, 0]] * 15 + [[0, 0]] * 5,
            "believe leave-one-out first: it is better than chance on 75 % of the 20, gradient on 0 %.",
            "It is so more often than every other one (against gradient p < 0.0001, exact sign tests by Holm); were all 2 random, at most 5 % of texts would be expected to show one of them so. ",
        ),
        (
            [[0, 1]] * 8 + [[1, 1]] * 2 + [[0, 0]] * 40,
            "believe gradient first, though on fewer than half of the texts: it is better than chance on 20 % of the 50, leave-one-out on 4 %.",
            "It is so more often than every other one (against leave-one-out p = 0.00781, exact sign tests by Holm); were all 2 random, at most 5 % of texts would be expected to show one of them so. ",
        ),
        (
            [[1, 1]] * 20,
            "believe none before the others: which is better than chance most often cannot be told (leave-one-out on 100 % and gradient on 100 % of 20 texts).",
            "",
        ),
        (
            [[1, 0]] * 11 + [[0, 1]] * 9,
            "believe none before the others: which is better than chance most often cannot be told (leave-one-out on 55 % and gradient on 45 % of 20 texts).",
            "",
        ),
        ([[0, -1]] * 20, "believe none: on none of the 20 is any of them better than chance.", ""),
    ],
)
def test_whom_to_believe_first_is_told_in_a_sentence_and_only_where_one_is_better_more_often_than_each(
    answers, words, said, how
):
    _, report = told(answers, words)
    # Where none is believed nothing is favoured.
    rest = "" if "believe none: " in said else f" {how}{SUITS}"
    judged = f"Of the 2 measures that Data set has judged on these texts, {said}{rest}"
    assert judged_sentence(report, "signed") == judged
    # Nothing before it may be told; where the work was stopped, of how many of the texts.
    assert judged_sentence(replace(report, tally=Tally(20, 55, coming=True, fewest=20)), "signed") == ""
    stopped = judged_sentence(replace(report, tally=Tally(report.n, 55, fewest=20)), "signed")
    assert stopped == judged.replace("on these texts", f"on {report.n} of these texts")
    # Who masks to score is not suited by other ways of erasing, and in absolute values nobody has a sign.
    erased = judged_sentence(replace(report, erasure=REMOVAL), "absolute")
    assert "masks words" not in erased and "no sign" not in erased and "chance under removal" in erased


def test_of_one_measure_that_is_judged_it_is_said_how_often_it_is_better(answers):
    _, report = told(answers, [[1, 0]] * 15 + [[0, 0]] * 5)
    alone = replace(
        report, measures=NAMES[:1], counts=report.counts[:1], better=report.better[:1], ahead=False, lead_p=()
    )
    assert judged_sentence(alone, "signed") == (
        "Data set has judged leave-one-out alone on these texts: it is better than chance on 75 % of 20."
    )


def test_the_p_by_which_a_measure_leads_stands_in_what_is_folded_once_it_may_be_told(answers):
    """On 9 texts the first alone is better, on 1 the second: p = 22 / 2^10."""
    question, report = told(answers, [[1, 0]] * 9 + [[0, 1]] + [[0, 0]] * 10)
    (led,) = [one for one in question.sentences(report) if one.startswith(LED)]
    assert led == f"{LED} Here, of leave-one-out: against gradient p = 0.0215."
    coming = question.sentences(replace(report, tally=Tally(20, 55, coming=True, fewest=20)))
    assert LED in coming and not any("p = " in one for one in coming)
    assert LED in question.sentences(told(answers, [[0, 0]] * 20)[1])


def test_shares_are_told_of_those_that_are_asked_about_and_the_others_are_named(answers):
    _, report = told(answers, [[1, 1]] * 5 + [[1, 0]] * 10 + [[0, 0]] * 5)
    both = "There finds leave-one-out better than chance on 75 % and gradient on 25 % of 20 texts"
    assert shares_sentence(report, NAMES, "There") == f"{both}."
    # The most often first, however they were asked for.
    assert shares_sentence(report, NAMES[::-1], "There") == f"{both}."
    # Whether a text that believes the one and not the other says otherwise than these do.
    assert otherwise(report, ["gradient"]) == ["leave-one-out", "gradient"]
    assert otherwise(report, ["leave-one-out"]) == [] and otherwise(report, NAMES) == ["gradient"]
    assert shares_sentence(report, (*NAMES, "attention"), "There") == f"{both}; attention is not judged there yet."
    assert (
        shares_sentence(report, ("gradient",), "There")
        == "There finds gradient better than chance on 25 % of 20 texts."
    )
    assert shares_sentence(report, ("beam",), "There") == shares_sentence(replace(report, n=19), NAMES, "There") == ""


def test_of_few_texts_nothing_is_told(answers):
    question, report = told(answers, [[1, 1]] * 19)
    assert question.sentences(report)[0] == "Not enough to say how often: 19 texts, and answers begin at 20."
    assert judged_sentence(report, "signed") == ""
    # A share without an interval, as other means of so few.
    assert not any(share.known for share in report.better)
    header, rows = question.tables(report)[0]
    assert [row[1] for row in rows] == ["100 %", "100 %"] and header[1] == "better than chance ↑"


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
