"""Verdicts over many texts: of each measure whether its order of the unmasked text is better than chance."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from core.evaluation.findings import look_share, of_enough
from core.evaluation.study import Answers, Column, Question, Rows, Study, Subject, Table, register
from core.explanation.explainer import Cost, Explainer
from core.explanation.limiting import left_over
from core.explanation.rows import SIGNS, measured_each, values_taken
from core.explanation.standings import COMPREHENSIVENESS, StandingGates
from core.mathematics.statistics import Interval, holm_adjusted, lead_p, leads, share_interval
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures, measure, offered_measures
from core.measures.registry import GRADIENTS, ORACLE
from core.network.features import UNITS, Encoded, NoFeatures
from core.network.model import Model
from core.oracle.erasing import ERASURES, MASK, require_erasure
from core.storage.content import Content, Numbers
from core.storage.store import canonical_key
from core.verdicts.chance import EVERY_SET, NullOrders
from core.verdicts.deciding import Verdict, VerdictReport, Word, decide_verdicts
from core.verdicts.finding import NoVerdict, Untold, find_chance, verdict_cost
from core.wording import Tally, as_json, refuse_unknown

# As a column holds them; NaN where it cannot be told.
VALUES = {Word.WORSE: -1.0, Word.NO_BETTER: 0.0, Word.BETTER: 1.0, Word.UNTOLD: np.nan}
# Of so many measures there once were more random orders, and of more there once were fewer.
_FEW_MEASURES = 4
WORDS = {value: str(word) for word, value in VALUES.items() if value == value}


@dataclass(frozen=True)
class VerdictsOfTexts(Study[Rows]):
    """The verdict of each of M measures on each text for the predicted class, over these measures by Holm.

    Columns, float64[M]: word, −1 worse than chance, 0 not shown better, 1 better, NaN where it cannot be told; better
    and worse, p at most; reached, AOPC comprehensiveness ↑, NaN without an order.

    sign: which values; unit: what is scored as one piece; erasure: what masking does along an order. Source: glossary,
    Verdict.
    """

    name = "verdicts"
    columns: ClassVar = {"word": Column((0,)), "p": Column((0,)), "worse": Column((0,)), "reached": Column((0,))}
    label = "verdicts of measures"
    # Most texts are decided by few of the random orders.
    seldom_all = True

    measures: tuple[str, ...]
    sign: str = "signed"
    unit: str = "word"
    erasure: str = MASK

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On each measure, the reference, and the erasure."""
        about = {"measures": measured_each(explainer, self.measures, self.sign), "reference": explainer.tests_by}
        return about if self.erasure == MASK else about | {"erasure": self.erasure}

    def check(self, model: Model | None = None) -> None:
        """As everywhere: a measure that there is not, or none at all, or an erasure that the model has not."""
        refuse_unknown(
            ("measure", self.measures, offered_measures(self.measures)), ("erasure", (self.erasure,), ERASURES)
        )
        if model is not None:
            require_erasure(model, self.erasure)
        if not self.measures:
            raise ValueError("name at least one measure whose verdict is asked for")

    def row_keys(self, subject: Subject) -> list[str]:
        """The example as the model reads it; its label changes nothing."""
        F, M = left_over(subject.encoded), len(self.measures)
        # Up to nine features the null never was another.
        version = 3 if F > EVERY_SET and M <= _FEW_MEASURES else 2 if F > 9 else 1
        return [canonical_key("verdicts/row", version, example=subject.encoded.digest)]

    def row(self, subject: Subject) -> dict[str, Any]:
        """What is said of each measure."""
        explainer, encoded, cancelled = subject.explainer, subject.encoded, subject.cancelled
        target = int(explainer.probabilities(encoded).argmax())
        try:
            test = finish(
                find_chance(
                    explainer, encoded, target, self.measures, self.sign, erasure=self.erasure, cancelled=cancelled
                )
            )
        except NoVerdict as error:
            raise NoFeatures(str(error)) from error
        report = decide_verdicts(test, StandingGates(encoded, explainer.reference))
        return {name: np.array(values) for name, values in _columns(report, self.measures).items()}

    def content(self, explainer: Explainer) -> Content:
        """A verdict of each measure."""
        M = len(self.measures)
        share = Numbers("float64", (M,), 0, 1, nan=True)
        signs = Numbers("float64", (M,), -1, 1, nan=True)
        return Content({"word": signs, "p": share, "worse": share, "reached": signs})

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """What an example takes at most: many random orders end early."""
        return verdict_cost(explainer, encoded, self.measures)


def _columns(report: VerdictReport, names: tuple[str, ...]) -> dict[str, list[float]]:
    nobody = Verdict("", Word.UNTOLD, (np.nan, np.nan), (np.nan, np.nan))
    found = [report.of(name) or nobody for name in names]
    return {
        "word": [VALUES[one.word] for one in found],
        "p": [one.p[1] for one in found],
        "worse": [one.worse[1] for one in found],
        "reached": [report.reached.get(name, np.nan) for name in names],
    }


def report_of_row(rows: Rows, study: VerdictsOfTexts, i: int = 0) -> VerdictReport:
    """What is kept of the i-th text as a verdict report, without the random orders and the reasons."""
    kept = {name: rows.columns[name][i] for name in study.columns}
    by_value = {value: word for word, value in VALUES.items()}
    found, adjusted = [], {tail: holm_adjusted(np.nan_to_num(kept[tail], nan=1.0)) for tail in ("p", "worse")}
    for k, name in enumerate(study.measures):
        word = by_value.get(float(kept["word"][k]), Word.UNTOLD)
        why = Untold.NOT_STORED if word == Word.UNTOLD else None
        # Where drawing ended early, p is known to be no more.
        tops = (float(kept[column][k]) for column in ("p", "worse"))
        p, worse = ((0.0 if top == top else top, top) for top in tops)
        ends = 0.0, float(adjusted["worse" if word == Word.WORSE else "p"][k])
        found.append(Verdict(name, word, p, worse, why, adjusted=ends))
    reached = dict(zip(study.measures, kept["reached"].tolist()))
    nobody = NullOrders(np.empty(0), 0)
    return VerdictReport(
        tuple(found), COMPREHENSIVENESS, study.sign, study.erasure, nobody, len(found), None, reached, None
    )


def first_verdict(rows: Rows) -> np.ndarray:
    """The verdict of the first measure on N texts, float64[N], as of `VALUES`; NaN where it is not computed."""
    words = rows.columns["word"]
    return words[:, 0] if words.shape[1] else np.full(len(rows), np.nan)


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
    it is; cut: texts that are longer than the model reads; lead_p: of the measure that
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
        n, best, untold = len(texts), texts == str(Word.BETTER), texts == str(Word.UNTOLD)
        none = int((~untold.all(axis=1) & ~best.any(axis=1)).sum())
        better = tuple(of_enough(share_interval(int(one), n), n) for one in best.sum(axis=0))
        return VerdictsReport(
            self.measures,
            counts,
            better,
            none,
            _why_untold(untold, np.isnan(rows.columns["reached"][rows.there])),
            leads(best, look_share(n)),
            n,
            self.erasure,
            answers.tally(),
            self.sign,
            len(rows.cut),
            tuple(lead_p(best).tolist()),
            answers.sample.picked,
        )

    def without_effect(self, answers: Answers) -> int:
        """Those on which every measure that asks the model, and any model, gives all features the same score."""
        rows = answers.found[self.study]
        every = [measure(name) for name in self.measures]
        asks = [one.needs in (ORACLE, GRADIENTS) and not one.families and one.most is None for one in every]
        orderless = np.isnan(rows.columns["reached"][rows.there])[:, asks]
        return int(orderless.all(axis=1).sum()) if any(asks) else 0

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
