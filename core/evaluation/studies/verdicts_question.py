"""How often is each measure better than chance? The verdict of each measure on every text, counted."""

from dataclasses import dataclass, field, replace

import numpy as np

from core.evaluation.findings import FEW
from core.evaluation.questions import Answers, Question, Table, register
from core.evaluation.studies.check_report import told_left_out
from core.evaluation.studies.scoring import interval_text
from core.evaluation.studies.verdicts import WORDS, VerdictsOfTexts
from core.explanation.rows import SIGNS, values_taken
from core.mathematics.statistics import Interval, share_interval
from core.measures.catalogue import default_measures
from core.network.features import UNITS
from core.network.model import Model
from core.oracle.erasing import MASK
from core.verdicts.deciding import Word
from core.verdicts.telling import ERROR_RATE
from core.wording import Tally, amount, as_json, cut_sentence, joined, refuse_unknown


@dataclass(frozen=True, eq=False)
class VerdictsReport:
    """The verdicts of M measures on n texts, counted.

    counts: int64[M, 4], texts by measure and word, in the order of `Word`; better: of each measure the share of texts
    on which it is better than chance, with an exact 95 % interval, ↑; none: on how many texts no measure is, though at
    least one could be told; erasure: what masking did; tally: how far it is; notes: on texts that were left out or cut.
    """

    measures: tuple[str, ...]
    counts: np.ndarray
    better: tuple[Interval, ...]
    none: int
    n: int
    erasure: str
    tally: Tally
    notes: tuple[str, ...] = ()


@register
@dataclass(frozen=True)
class Verdicts(Question[VerdictsReport]):
    """How often each measure's order is better than chance, no better, worse, or cannot be told, over these measures by
    Holm on each text; the class that is predicted is explained, and labels are not asked for.

    Source: glossary, Verdict.
    """

    name, order, done = "verdicts", 5, "judged"
    asks = "How often is each measure better than chance?"

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
        better = tuple(share_interval(int(one), n) for one in counts[:, [*Word].index(Word.BETTER)])
        notes = told_left_out(answers.left_out) + [cut_sentence(rows.cut, len(rows))] * bool(rows.cut)
        return VerdictsReport(self.measures, counts, better, none, n, self.erasure, answers.tally(), tuple(notes))

    def sentences(self, report: VerdictsReport) -> list[str]:
        """How often each is better than chance, on how many texts none is, and how often a verdict is wrong."""
        shares = joined([f"{name} on {_percent(share)}" for name, share in zip(report.measures, report.better)])
        by = "" if report.erasure == MASK else f" under {report.erasure}"
        if report.n < FEW:
            few = replace(report.tally, fewest=FEW)
            answer = f"Not enough to say how often: {amount(report.n, 'text')}, and answers begin at {FEW}."
            return [few.tell(answer), ERROR_RATE, *report.notes]
        answer = (
            f"The order by {shares} of {report.n:,} texts is better than chance{by}; on {report.none:,} of them that "
            "is so of no measure here."
        )
        untold = report.counts[:, [*Word].index(Word.UNTOLD)]
        most = int(untold.argmax())
        why = (
            "Where inputs are rejected, or the text allows no difference, it cannot be told: of "
            f"{report.measures[most]} on {untold[most]:,} of {report.n:,} texts."
        )
        return [report.tally.tell(answer), *[why] * bool(untold.any()), ERROR_RATE, *report.notes]

    def tables(self, report: VerdictsReport) -> list[Table]:
        """Texts by measure and word."""
        header = ["measure", "better than chance ↑ (share)", *[f"{word} (texts)" for word in Word], "texts"]
        return [
            (
                header,
                [
                    [name, interval_text(share), *(f"{count:,}" for count in counts), f"{report.n:,}"]
                    for name, share, counts in zip(report.measures, report.better, report.counts)
                ],
            )
        ]

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example and measure.

        Columns: measure, values (its variant), verdict, p_better and p_worse (at most, where drawing ended early), AOPC
        comprehensiveness ↑ (of its order), erasure.
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
                    | {"p_better": as_json(told["p"]), "p_worse": as_json(told["worse"])}
                    | {"AOPC comprehensiveness ↑": as_json(told["reached"]), "erasure": self.erasure}
                )
        return lines


def _percent(share: Interval) -> str:
    return f"{100 * share.mean:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]"
