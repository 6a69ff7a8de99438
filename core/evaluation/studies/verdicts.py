"""Verdicts over many texts: of each measure whether its order of the unmasked text is better than chance."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.evaluation.study import Column, Rows, Study, Subject
from core.explanation.explainer import Cost, Explainer
from core.explanation.limiting import left_over
from core.explanation.rows import measured
from core.explanation.standings import COMPREHENSIVENESS, StandingGates
from core.mathematics.search.limits import MOST_EXACT
from core.mathematics.statistics import holm_adjusted
from core.mathematics.stepwise import finish
from core.measures.catalogue import measures
from core.network.features import Encoded, NoFeatures
from core.network.model import Model
from core.oracle.erasing import ERASURES, MASK, require_erasure
from core.storage.content import Content, Numbers
from core.storage.store import canonical_key
from core.verdicts.chance import NullOrders
from core.verdicts.deciding import Verdict, VerdictReport, Word, decide_verdicts
from core.verdicts.finding import NoVerdict, Untold, find_chance, verdict_cost
from core.wording import refuse_unknown

# As a column holds them; NaN where it cannot be told.
VALUES = {Word.WORSE: -1.0, Word.NO_BETTER: 0.0, Word.BETTER: 1.0, Word.UNTOLD: np.nan}
# Of so many, 99 random orders are enough.
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

    def key(self, explainer: Explainer) -> str:
        """Where the store keeps it, for all examples of whatever data."""
        reference, known = explainer.reference, measures()
        return canonical_key(
            "verdicts",
            1,
            model=explainer.model.digest,
            precision=explainer.model.precision,
            reference=None if reference is None else reference.digest,
            unit=self.unit,
            measures=[
                measured(explainer, name, self.sign) | {"seed": 0 if known[name].seeded else None}
                for name in self.measures
            ],
            **({} if self.erasure == MASK else {"erasure": self.erasure}),
        )

    def check(self, model: Model | None = None) -> None:
        """As everywhere: a measure that there is not, or none at all, or an erasure that the model has not."""
        refuse_unknown(("measure", self.measures, measures()), ("erasure", (self.erasure,), ERASURES))
        if model is not None:
            require_erasure(model, self.erasure)
        if not self.measures:
            raise ValueError("name at least one measure whose verdict is asked for")

    def row_keys(self, subject: Subject) -> list[str]:
        """The example as the model reads it; its label changes nothing."""
        F, M = left_over(subject.encoded), len(self.measures)
        # Up to nine features the null never was another. Up to 20 it hung on what was known before, and of more than
        # four measures there were more random orders.
        anew = F > 9 and (F <= MOST_EXACT or M > _FEW_MEASURES)
        return [canonical_key("verdicts/row", 2 if anew else 1, example=subject.encoded.digest)]

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


def better_counts(rows: Rows, measures: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """{measure: on how many texts it is better than chance ↑, of how many that are known}; {} where none is."""
    if not rows.there.any():
        return {}
    better = rows.columns["word"][rows.there] == VALUES[Word.BETTER]
    return {name: (int(one.sum()), len(one)) for name, one in zip(measures, better.T)}


def first_verdict(rows: Rows) -> np.ndarray:
    """The verdict of the first measure on N texts, float64[N], as of `VALUES`; NaN where it is not computed."""
    words = rows.columns["word"]
    return words[:, 0] if words.shape[1] else np.full(len(rows), np.nan)
