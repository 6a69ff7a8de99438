"""The ordinary question: one number for each text, and their mean over a sample."""

import abc
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np

from core.evaluation.findings import of_enough
from core.evaluation.study import Answers, Column, Row, Rows, Study, Subject, Table
from core.explanation.explainer import Cost, Explainer
from core.mathematics.statistics import Interval, mean_interval
from core.network.features import Encoded
from core.wording import Tally, number


@dataclass(frozen=True, eq=False)
class MeanReport:
    """A number of n texts.

    called: what it is; better: "↑", "↓", or "" where neither direction is better; values: float64[n], NaN of texts that
    have none; examples: their ids; mean: with a 95 % interval from 20 values on; tally: how far it is; cut: texts that
    are longer than the model reads; picked: as of `Sample`.
    """

    called: str
    better: str
    values: np.ndarray
    examples: tuple[str, ...]
    mean: Interval
    tally: Tally
    cut: int = 0
    picked: str = ""

    @property
    def known(self) -> np.ndarray:
        """The values that there are, float64[m]."""
        return self.values[~np.isnan(self.values)]


@dataclass(frozen=True)
class MeanOf(Study[Rows]):
    """A question of one number a text, registered by whoever says its `name`, `asks`, `called`, `value` and `passes`;
    every choice is a part of what its rows are kept under, as is `version`, raised when its values change.

    called: what the number is; better: as of `MeanReport`; unit: what can be masked as one piece.
    """

    columns: ClassVar = {"value": Column()}
    called: ClassVar[str] = "value"
    better: ClassVar[str] = ""

    unit: str = field(default="word", kw_only=True)

    @abc.abstractmethod
    def value(self, subject: Subject) -> float:
        """The number of one text, NaN where it has none; raises one of `leaves_out` where it cannot be asked."""

    @abc.abstractmethod
    def passes(self, encoded: Encoded) -> int:
        """Forward passes that this takes at most."""

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On every choice."""
        return {name: value for name, value in asdict(self).items() if name != "unit"}

    def row(self, subject: Subject) -> Row:
        """The number of one text."""
        return {"value": self.value(subject)}

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """As many passes as it says."""
        passes = self.passes(encoded)
        return Cost.of(passes, passes * encoded.T, explainer.model.scheduler.counters)

    def conclude(self, answers: Answers) -> MeanReport | None:
        """The mean; None before the first text."""
        rows: Rows = answers.found[self]
        there = np.flatnonzero(rows.there)
        if not len(there):
            return None
        values, ids = rows.columns["value"][there], tuple(answers.sample.examples[i].id for i in there)
        mean = of_enough(mean_interval(values, answers.resamples), int((~np.isnan(values)).sum()))
        about = answers.tally(), len(rows.cut), answers.sample.picked
        return MeanReport(self.called, self.better, values, ids, mean, *about)

    def tables(self, report: MeanReport) -> list[Table]:
        """The texts of the ten largest numbers."""
        largest = sorted(zip(report.known.tolist(), np.array(report.examples)[~np.isnan(report.values)]), reverse=True)
        return [
            (["text", f"{self.called} {self.better}".rstrip()], [[one, number(value)] for value, one in largest[:10]])
        ]
