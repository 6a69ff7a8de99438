"""How often is each measure better than random? The verdict of each measure on every text, counted."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from core.evaluation.findings import look_share, of_enough
from core.evaluation.studies.verdicts import WORDS, VerdictsOfTexts
from core.evaluation.study import Answers, Question, Table, register
from core.explanation.rows import SIGNS, values_taken
from core.mathematics.statistics import Interval, lead_p, leads, share_interval
from core.measures.catalogue import default_measures
from core.network.features import UNITS
from core.network.model import Model
from core.oracle.erasing import MASK
from core.verdicts.deciding import Word
from core.wording import Tally, as_json, refuse_unknown

BETTER = "better than chance ↑"
# Where a verdict cannot be told, on how many texts it is for what.
UNTOLD = ("random orders rejected, or no order differs", "its scores are all equal", "its own inputs are rejected")


@dataclass(frozen=True, eq=False)
class VerdictsReport:
    """The verdicts of M measures on n texts, counted.

    counts: int64[M, 4], texts by measure and word, in the order of `Word`; better: of each measure the share of texts
    on which it is better than random ↑, with an exact 95 % interval from 20 texts on; none: on how many texts no
    measure is, though at least one could be told; untold: int64[M, 3], of the texts on which it cannot be told those on
    which that is so of every measure, those on which the measure has no order, and the others; ahead: whether the one
    that is better most often is so more often than each other, see `leads`; erasure: what masking did; tally: how far
    it is; left_out: {sentence: examples}; cut: texts that are longer than the model reads; lead_p: of the measure that
    is better most often against each other one, see `core.mathematics.statistics.lead_p`; picked: as of `Sample`.
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
    sign: str = "signed"
    left_out: Mapping[str, int] = field(default_factory=dict)
    cut: int = 0
    lead_p: tuple[float, ...] = ()
    picked: str = ""

    @property
    def better_counts(self) -> list[int]:
        """On how many texts each measure is better than random."""
        return self.counts[:, [*Word].index(Word.BETTER)].tolist()

    @property
    def judged(self) -> int:
        """On how many texts at least one measure has a verdict."""
        return self.n - int(self.untold[:, 0].max(initial=0))


@register
@dataclass(frozen=True)
class Verdicts(Question[VerdictsReport]):
    """How often each measure's order is better than chance, by Holm on each text. Source: glossary, Verdict."""

    name, order, done = "verdicts", 5, "judged"
    asks = "How often is each measure better than random?"

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
        best = texts == str(Word.BETTER)
        ahead, against = leads(best, look_share(n)), tuple(lead_p(best).tolist())
        untold = _why_untold(texts == str(Word.UNTOLD), np.isnan(rows.columns["reached"][rows.there]))
        return VerdictsReport(
            self.measures,
            counts,
            better,
            none,
            untold,
            ahead,
            n,
            self.erasure,
            answers.tally(),
            self.sign,
            answers.left_out,
            len(rows.cut),
            against,
            answers.sample.picked,
        )

    def tables(self, report: VerdictsReport) -> list[Table]:
        """Texts by measure and word, and why it cannot be told where it cannot."""
        header = ["measure", BETTER, *[f"{word} (texts)" for word in Word], "texts"]
        if any(share.known for share in report.better):
            header[1] += " [95 % interval]"
        rows = [
            [name, _percent(share), *(f"{count:,}" for count in counts), f"{report.n:,}"]
            for name, share, counts in zip(report.measures, report.better, report.counts)
        ]
        if not report.untold.any():
            return [(header, rows)]
        why = [[name, *(f"{count:,}" for count in counts)] for name, counts in zip(report.measures, report.untold)]
        return [(header, rows), (["cannot be told (texts)", *UNTOLD], why)]

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example and measure: values, verdict, p_better_at_most, p_worse_at_most, AOPC ↑, erasure."""
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


def _why_untold(untold: np.ndarray, orderless: np.ndarray) -> np.ndarray:
    """int64[M, 3], see UNTOLD, from what cannot be told and what has no order, bool[n, M]."""
    every = untold.all(axis=1, keepdims=True)
    alone = untold & ~every
    return np.stack([one.sum(axis=0) for one in (untold & every, alone & orderless, alone & ~orderless)], axis=1)


def _percent(share: Interval) -> str:
    ends = f" [{100 * share.low:.0f}, {100 * share.high:.0f}]" if share.known else ""
    return f"{math.floor(100 * share.mean + 0.5 + 1e-9)} %{ends}"
