"""Models on the same texts side by side: what masking does to each, verdicts of measures, and limits of AOPC."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.evaluation.findings import of_enough
from core.evaluation.studies.board_rows import BoardLimits
from core.evaluation.studies.check_report import CheckReport, X
from core.evaluation.studies.check_tables import STRATEGIES, Values
from core.evaluation.studies.verdicts import VALUES, VerdictsOfTexts
from core.evaluation.study import Answers, Question
from core.mathematics.statistics import Interval, mean_intervals, share_interval
from core.measures.catalogue import default_measures
from core.network.model import CALIBRATION
from core.validity.references import CALIBRATED
from core.verdicts.deciding import Word
from core.wording import share_text

# Masking ratios of the table: none, half, all.
_PLACES = (0, 5, 10)


@dataclass(frozen=True)
class FaithfulnessFigures:
    """A model over n texts with verdicts and m with limits.

    better: of each measure the share of the n texts on which it is better than random; lower, upper: mean limits of
    AOPC comprehensiveness; rejected: the share of the m whose limits rest on rejected inputs. NaN where nothing is
    known.
    """

    better: tuple[Interval, ...]
    lower: Interval
    upper: Interval
    rejected: float
    n: int
    m: int


@dataclass(frozen=True)
class SideBySide(Question[FaithfulnessFigures]):
    """Verdicts and limits of one of several models; asked where they stand beside each other, not by name."""

    name = "beside"

    measures: tuple[str, ...] = field(default_factory=default_measures)
    sign: str = "signed"
    unit: str = "word"

    @property
    def verdicts(self) -> VerdictsOfTexts:
        """As *Data set* asks for them."""
        return VerdictsOfTexts(self.measures, self.sign, self.unit)

    @property
    def limits(self) -> BoardLimits:
        """As the scoreboard asks for them."""
        return BoardLimits(self.unit)

    @property
    def studies(self) -> tuple:
        """Both."""
        return self.verdicts, self.limits

    def conclude(self, answers: Answers) -> FaithfulnessFigures | None:
        """Shares and means over the texts that each is known of; None before the first."""
        words, limits = answers.found[self.verdicts], answers.found[self.limits]
        n, m = int(words.there.sum()), int(limits.there.sum())
        if not n + m:
            return None
        nothing = Interval(np.nan, np.nan, np.nan)
        better: tuple[Interval, ...] = (nothing,) * len(self.measures)
        if n:
            counts = (words.columns["word"][words.there] == VALUES[Word.BETTER]).sum(axis=0)
            better = tuple(of_enough(share_interval(int(count), n), n) for count in counts)
        lower, upper, rejected = nothing, nothing, np.nan
        if m:
            rejected = float(limits.columns["marks"][limits.there].mean())
            ends = np.stack([limits.columns[end][limits.there] for end in ("lower", "upper")], axis=1)
            lower, upper = (of_enough(one, m) for one in mean_intervals(ends, answers.resamples))
        return FaithfulnessFigures(better, lower, upper, rejected, n, m)

    def records(self, answers: Answers) -> list[dict]:
        """Those of both studies."""
        return [line for study in self.studies for line in study.records(answers)]


def side_by_side_table(
    measures: tuple[str, ...], found: list[tuple[CheckReport, str, FaithfulnessFigures | None]]
) -> Values:
    """A line for each model: performance and log loss by ratio, rejected texts, verdicts and limits.

    found: what random order comes to, how the model was made, and its faithfulness, each None or NaN where unknown.
    """
    header = [
        "model",
        "trained",
        *(f"{name} at {share_text(X[k])} masked {way}" for name, way in _names(found[0][0]) for k in _PLACES),
        *(f"{name}: better than random" for name in measures),
        "lowest AOPC",
        "highest AOPC",
        "limits rejected",
        "texts",
    ]
    rows = []
    for report, method, figures in found:
        random = report.random
        rejected = random.share(CALIBRATED) if CALIBRATED in random.rejected else [None] * len(X)
        shown: list[Any] = [None] * (len(measures) + 3)
        if figures is not None:
            limits = figures.lower.mean, figures.upper.mean, figures.rejected
            shown = [*(one.mean for one in figures.better), *limits]
        by_ratio = [_cell(one[k]) for one in (random.performance, random.loss, rejected) for k in _PLACES]
        trained = CALIBRATION if method == CALIBRATION else STRATEGIES[report.training]
        rows.append([report.model, trained, *by_ratio, *shown, report.n])
    return header, rows


def _names(report: CheckReport) -> tuple[tuple[str, str], ...]:
    return (report.metric, "↑"), ("log loss", "↓"), ("rejected", "↓")


def _cell(value: Any) -> float | None:
    return None if value is None else float(value)
