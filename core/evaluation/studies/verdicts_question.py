"""How often is each measure better than chance? The verdict of each measure on every text, counted."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from core.evaluation.findings import FEW, LOOKS, look_share, of_enough
from core.evaluation.questions import Answers, Question, Table, register
from core.evaluation.studies.check_report import told_left_out
from core.evaluation.studies.verdicts import WORDS, VerdictsOfTexts
from core.explanation.rows import SIGNS, values_taken
from core.mathematics.statistics import Interval, lead_p, leads, share_interval
from core.measures.catalogue import default_measures
from core.network.features import UNITS
from core.network.model import Model
from core.oracle.erasing import MASK
from core.validity.marks import PERCENT
from core.verdicts.chance import DRAWS, EVERY_SET, MOST_DRAWS
from core.verdicts.deciding import Word
from core.verdicts.telling import ERROR_RATE, suits_sentence, unsigned_sentence
from core.wording import Tally, amount, as_json, cut_sentence, joined, p_value, refuse_unknown

# Where a verdict cannot be told, on how many texts it is for what.
UNTOLD = ("random orders rejected, or no order differs", "its scores are all equal", "its own inputs are rejected")
# How it is told which measure is better on most texts.
LED = (
    "Which measure is better on more texts is told by exact sign tests on the same texts against each other one, by "
    f"Holm, {LOOKS}."
)
# What orders are set against, over many texts.
AGAINST = (
    f"A text of up to {EVERY_SET} words (or other units) is judged against all orders of them, or {MOST_DRAWS:,} "
    f"random ones; a longer one against {DRAWS} random ones, or more for over four measures. Drawing ends once no "
    "verdict can change, so that p in a file may be an upper bound."
)
# What a verdict means, in a sentence.
MEANS = (
    "Better than chance: masked one by one in the measure’s order, words take the score down further on average than "
    "in random orders of the same text, by a test on each text."
)


@dataclass(frozen=True, eq=False)
class VerdictsReport:
    """The verdicts of M measures on n texts, counted.

    counts: int64[M, 4], texts by measure and word, in the order of `Word`; better: of each measure the share of texts
    on which it is better than chance ↑, with an exact 95 % interval from 20 texts on; none: on how many texts no
    measure is, though at least one could be told; untold: int64[M, 3], of the texts on which it cannot be told those on
    which that is so of every measure, those on which the measure has no order, and the others; ahead: whether the one
    that is better most often is so more often than each other, see `leads`; erasure: what masking did; tally: how far
    it is; notes: on texts that were left out or cut.
    """

    measures: tuple[str, ...]
    counts: np.ndarray
    better: tuple[Interval, ...]
    none: int
    untold: np.ndarray
    ahead: bool
    n: int
    erasure: str
    tally: Tally
    notes: tuple[str, ...] = ()
    lead_p: tuple[float, ...] = ()


@register
@dataclass(frozen=True)
class Verdicts(Question[VerdictsReport]):
    """How often each measure's order is better than chance, not shown better, worse, or cannot be told, over these
    measures by Holm on each text; the class that is predicted is explained, and labels are not asked for.

    Source: glossary, Verdict.
    """

    name, order, done = "verdicts", 5, "judged"
    asks, stand = "How often is each measure better than chance?", 2

    measures: tuple[str, ...] = field(default_factory=default_measures)
    sign: str = "signed"
    unit: str = "word"
    erasure: str = MASK

    @property
    def study(self) -> VerdictsOfTexts:
        """The verdicts of each text, as *Examples* has them."""
        return VerdictsOfTexts(self.measures, self.sign, self.unit, self.erasure)

    @property
    def studies(self) -> tuple:
        """The one study there is."""
        return (self.study,)

    def check(self, model: Model | None = None) -> None:
        """As the study; a unit or a kind of values that there is not."""
        refuse_unknown(("unit", (self.unit,), UNITS), ("kind of values", (self.sign,), SIGNS))
        self.study.check(model)

    def conclude(self, answers: Answers) -> VerdictsReport | None:
        """The verdicts counted; None before the first text."""
        rows = answers.found[self.study]
        if not rows.there.any():
            return None
        values = rows.columns["word"][rows.there]
        texts = np.array([[WORDS.get(value, str(Word.UNTOLD)) for value in one] for one in values])
        counts = np.stack([(texts == str(word)).sum(axis=0) for word in Word], axis=1)
        n, told = len(texts), (texts != str(Word.UNTOLD)).any(axis=1)
        none = int((told & ~(texts == str(Word.BETTER)).any(axis=1)).sum())
        better = tuple(of_enough(share_interval(int(one), n), n) for one in counts[:, [*Word].index(Word.BETTER)])
        notes = told_left_out(answers.left_out) + [cut_sentence(rows.cut, len(rows))] * bool(rows.cut)
        best = texts == str(Word.BETTER)
        ahead, against = leads(best, look_share(n)), tuple(lead_p(best).tolist())
        untold = _why_untold(texts == str(Word.UNTOLD), np.isnan(rows.columns["reached"][rows.there]))
        return VerdictsReport(
            self.measures, counts, better, none, untold, ahead, n, self.erasure, answers.tally(), tuple(notes), against
        )

    def sentences(self, report: VerdictsReport) -> list[str]:
        """Which measures are better than chance on how many texts, on how many none is, and how often a verdict is
        wrong.
        """
        if report.n < FEW:
            few = replace(report.tally, fewest=FEW)
            answer = f"Not enough to say how often: {amount(report.n, 'text')}, and answers begin at {FEW}."
            return [few.tell(answer), ERROR_RATE, *report.notes]
        shares = [f"{name} {_percent(share)}" for name, share in zip(report.measures, report.better)]
        sure = f"Better than chance ↑, with 95 % intervals over texts: {joined(shares)}."
        answer = report.tally.tell(_answer(report, self.sign), sure)
        return [
            answer,
            MEANS,
            AGAINST,
            *_untold_sentence(report),
            ERROR_RATE,
            *[" ".join(filter(None, [LED, _sign_tests(report)]))] * (len(report.measures) > 1),
            *report.notes,
        ]

    def tables(self, report: VerdictsReport) -> list[Table]:
        """Texts by measure and word, and why it cannot be told where it cannot."""
        # Of few texts no interval is shown.
        interval = " [95 % interval]" * any(share.known for share in report.better)
        header = ["measure", f"better than chance ↑{interval}", *[f"{word} (texts)" for word in Word], "texts"]
        rows = [
            [name, _percent(share), *(f"{count:,}" for count in counts), f"{report.n:,}"]
            for name, share, counts in zip(report.measures, report.better, report.counts)
        ]
        why = [[name, *(f"{count:,}" for count in counts)] for name, counts in zip(report.measures, report.untold)]
        return [(header, rows), *[(["cannot be told (texts)", *UNTOLD], why)] * bool(report.untold.any())]

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example and measure.

        Columns: measure, values (its variant), verdict, p_better_at_most and p_worse_at_most (p itself, or a bound
        where drawing ended early), AOPC comprehensiveness ↑ (of its order), erasure.
        """
        rows, lines = answers.found[self.study], []
        for i, example in enumerate(answers.sample.examples):
            about = {"example": example.id, "problem": rows.problems.get(i), "cut": i in rows.cut}
            lines += [] if rows.there[i] else [about]
            for k, name in enumerate(self.measures) if rows.there[i] else ():
                told = {column: float(rows.columns[column][i, k]) for column in self.study.columns}
                lines.append(
                    about
                    | {"measure": name, "values": values_taken(name, self.sign)}
                    | {"verdict": WORDS.get(told["word"], str(Word.UNTOLD))}
                    | {"p_better_at_most": as_json(told["p"]), "p_worse_at_most": as_json(told["worse"])}
                    | {"AOPC comprehensiveness ↑": as_json(told["reached"]), "erasure": self.erasure}
                )
        return lines


def _answer(report: VerdictsReport, sign: str) -> str:
    """The answer, its first sentence whether what one text shows of a measure holds over these; of no fewer texts than
    answers begin at.
    """
    n, counts = report.n, _better(report)
    begins, led = _led(report)
    if not max(counts):
        return f"{begins}: {led}"
    name = report.measures[counts.index(max(counts))]
    # Named before the colon already.
    led = f"it{led.removeprefix(name)}" if begins.startswith(f"For {name} ") else led
    if len(counts) == 1:
        return f"{begins}: {led}"
    none = (
        f"On {_some(report.none, n)} not one of the {len(counts):,} measures is shown to be"
        if report.none
        else "On no text do all of them fail"
    )
    silent = int(report.untold[:, 0].max())
    # None of these is among those on which all fail.
    none += f", on {silent:,}{' more' * bool(report.none)} ({_share(silent, n)}) nothing can be told of any" * bool(
        silent
    )
    # Table and picture count each by itself, which comes to other numbers.
    none += " (the table counts each measure by itself)" * bool(report.none or silent)
    about = [f"{begins}: {led}", f"{none}{', so ask of each text anew' * (max(counts) < n)}.", _suits(report)]
    return " ".join(filter(None, [*about, unsigned_sentence(report.measures, sign)]))


def judged_sentence(report: VerdictsReport, sign: str) -> str:
    """Which of the measures that are judged to believe first, for a page that asks that and judges none, in one
    sentence; then how it is told, and what favours one and counts against another; "" of fewer texts than answers begin
    at, and while more are to come.
    """
    if report.n < FEW or not report.tally.settled:
        return ""
    tests = f"{_against(report)}, exact sign tests by Holm"
    how = f"It is so more often than every other one ({tests}); {_if_random(report)}."
    about = [how if report.ahead else "", _suits(report), unsigned_sentence(report.measures, sign)]
    # Where none is believed nothing is favoured.
    return " ".join(filter(None, [_believed(report), *(about if max(_better(report)) else ())]))


def _believed(report: VerdictsReport) -> str:
    counts, n, names = _better(report), report.n, report.measures
    most, M, better = max(counts), len(names), _better_words(report)
    best = counts.index(most)
    texts = "these texts" if report.tally.complete else f"{report.n:,} of these texts"
    judged = f"Of the {M:,} measures that Data set has judged on {texts}"
    shares = [f"{name} on {_share(k, n)}" for name, k in zip(names, counts)]
    if M == 1:
        return f"Data set has judged {names[0]} alone on {texts}: it is {better} on {_share(most, n)} of {n:,}."
    if not most:
        return f"{judged}, believe none: on none of the {n:,} is any of them {better}."
    if not report.ahead:
        which = f"which is {better} most often cannot be told"
        return f"{judged}, believe none before the others: {which} ({joined(shares)} of {n:,} texts)."
    few = ", though on fewer than half of the texts" if report.better[best].high < 0.5 else ""
    others = joined([one for k, one in enumerate(shares) if k != best])
    first = f"{judged}, believe {names[best]} first{few}"
    return f"{first}: it is {better} on {_share(most, n)} of the {n:,}, {others}."


def _against(report: VerdictsReport) -> str:
    """The p of the measure that is better most often against each other one."""
    counts = _better(report)
    best = counts.index(max(counts))
    others = [name for k, name in enumerate(report.measures) if k != best]
    return joined([f"against {name} {p_value(p)}" for name, p in zip(others, report.lead_p)])


def _sign_tests(report: VerdictsReport) -> str:
    """What these tests come to, a sentence; "" before that may be told."""
    counts = _better(report)
    if not max(counts) or not report.tally.settled:
        return ""
    return f"Here, of {report.measures[counts.index(max(counts))]}: {_against(report)}."


def shares_sentence(report: VerdictsReport, names: tuple[str, ...], page: str) -> str:
    """On how many texts each of some measures is better than chance, the most often first, and which of them nobody
    judged, for pages that take it for granted; "" of fewer texts than answers begin at, and where none is judged.

    Args:
        page: what tells more, as it is to stand in the sentence.
    """
    shares = dict(zip(report.measures, _better(report)))
    judged = sorted((name for name in names if name in shares), key=lambda name: -shares[name])
    told = [
        f"{name}{' better than chance' * (name == judged[0])} on {_share(shares[name], report.n)}" for name in judged
    ]
    if report.n < FEW or not told:
        return ""
    left = [name for name in names if name not in shares]
    rest = f"; {joined(left)} {'is' if len(left) == 1 else 'are'} not judged there yet" if left else ""
    return f"{page} finds {joined(told)} of {report.n:,} texts{rest}."


def otherwise(report: VerdictsReport, believed: Collection[str]) -> list[str]:
    """Those of these measures that are not better than chance on most texts, and the others that are."""
    most = {name: 2 * count > report.n for name, count in zip(report.measures, _better(report))}
    return [name for name in most if most[name] != (name in believed)]


def _suits(report: VerdictsReport) -> str:
    # Who masks to score is suited by masking alone.
    return suits_sentence(report.measures) if report.erasure == MASK else ""


def _better(report: VerdictsReport) -> list[int]:
    """On how many texts each measure is better than chance."""
    return report.counts[:, [*Word].index(Word.BETTER)].tolist()


def _led(report: VerdictsReport) -> tuple[str, str]:
    """Whether one measure is better than chance most often, in a word or two, and on how many texts each is, which is
    read without those, too.
    """
    counts, n, names = _better(report), report.n, report.measures
    better = _better_words(report)
    best, most = max(range(len(counts)), key=counts.__getitem__), max(counts)
    name = names[best]
    if not most:
        return "No", f"on none of the {n:,} texts is {joined(names, 'or')} {better}."
    told = [f"{one} on {_some(count, n)}" for one, count in zip(names, counts)]
    others = told[:best] + told[best + 1 :]
    if most == n:
        rest = f" The other{'s' * (len(others) > 1)}: {joined(others)}." if others else ""
        return "Yes", f"{name} is {better} on every one of the {n:,} texts.{rest}"
    so = f"{name} is {better} on {most:,} of {n:,} texts ({_share(most, n)})"
    if not others:
        return _holds(report.better[best]), f"{so}."
    if report.ahead:
        # How often each of the others is so stands here, and not again.
        behind = [f"{one} ({k:,}, {_share(k, n)})" for one, k in zip(names, counts) if one != name]
        holds = f"For {name} {_holds(report.better[best]).lower()}"
        return holds, f"{so}, more often than {joined(behind)}; {_if_random(report)}."
    which = f"which measure is {better} most often cannot be told"
    return "No measure stands out", f"{which}. By measure, of {n:,} texts: {joined(told)}."


def _better_words(report: VerdictsReport) -> str:
    return "better than chance" + (f" under {report.erasure}" if report.erasure != MASK else "")


def _if_random(report: VerdictsReport) -> str:
    many = len(report.measures)
    return f"were all {many:,} random, at most {PERCENT} of texts would be expected to show one of them so"


def _holds(share: Interval) -> str:
    """Whether the measure that is better than chance most often is so on most such texts, by its 95 % interval."""
    if share.low > 0.5:
        return "Yes, on most texts"
    return "On few texts" if share.high < 0.5 else "On about half of the texts"


def _some(count: int, n: int) -> str:
    return f"{count:,} ({_share(count, n)})"


def _share(count: int, n: int) -> str:
    # Halves go up: 33 and 47 of 200 are 17 % and 24 %.
    return f"{(200 * count + n) // (2 * n)} %"


def _why_untold(untold: np.ndarray, orderless: np.ndarray) -> np.ndarray:
    """int64[M, 3], see UNTOLD, from what cannot be told and what has no order, bool[n, M]."""
    every = untold.all(axis=1, keepdims=True)
    alone = untold & ~every
    return np.stack([one.sum(axis=0) for one in (untold & every, alone & orderless, alone & ~orderless)], axis=1)


def _untold_sentence(report: VerdictsReport) -> list[str]:
    """Of how many texts it cannot be told, and why; [] where it always can."""
    told = [f"{name} on {one.sum():,}" for name, one in zip(report.measures, report.untold) if one.any()]
    if not told:
        return []
    of = f"Cannot be told: of {joined(told)} of {report.n:,} texts"
    why = "where masked inputs are rejected or no order differs. Attributions says of each text why."
    # On the same texts the two pages come to other numbers.
    other = (
        "Model check counts otherwise: of each text one randomly masked input at a ratio, by itself at "
        f"{PERCENT}; here all inputs of an order together."
    )
    return [f"{of}, {why} {other}"]


def _percent(share: Interval) -> str:
    ends = f" [{100 * share.low:.0f}, {100 * share.high:.0f}]" if share.known else ""
    return f"{math.floor(100 * share.mean + 0.5 + 1e-9)} %{ends}"
