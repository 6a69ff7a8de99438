"""Fidelity beside what the model allows, predictions that never change, and the drift of the embeddings."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from core.evaluation.findings import of_enough
from core.evaluation.sampling import Sample
from core.evaluation.studies.behaviour import Course, Walked
from core.evaluation.studies.check_report import strategy, told_left_out
from core.evaluation.studies.fewest import Searched
from core.mathematics.drift import centroid_change, spread_change
from core.mathematics.flips import normalised_fidelity
from core.mathematics.masking import RATIOS
from core.mathematics.statistics import Interval, mean_interval
from core.network.model import Model
from core.wording import WHOLE, Tally

X = np.array(RATIOS)
HALF, ALL = 5, 10


@dataclass(frozen=True, eq=False)
class CourseLine:
    """One course in numbers.

    n: examples; judged: those of them with more than one feature, by which fidelity and flips go; fidelity: 1 −
    mean(C/F) with its interval, ↑ more faithful; normalised: 0 is random order, 1 the largest that any order of these
    inputs has, NaN without random order or where the fewest features are not searched; never: share of predictions that
    never change; unflipped: float64[K], share of predictions that have not changed yet at each share of the features;
    centroid: float64[K], 1 − cosine, and spread: float64[K], change of the mean standard deviation as a share, and
    sigma: float64[K] as a difference, of the embeddings at each ratio against the unmasked ones.
    """

    course: Course
    n: int
    judged: int
    fidelity: Interval
    normalised: float
    never: float
    unflipped: np.ndarray
    centroid: np.ndarray
    spread: np.ndarray
    sigma: np.ndarray


@dataclass(frozen=True, eq=False)
class BehaviourReport:
    """A model on a sample: its lines, random order first; best: the largest fidelity of any order, NaN if not searched;
    notes: sentences on the examples; explained: {example: predicted class}; cut: texts that are longer than the model
    reads; beam: in how many examples the fewest features are of a beam search.
    """

    model: str
    digest: str
    training: str
    sample: Sample
    best: float
    lines: tuple[CourseLine, ...]
    left_out: dict[str, int]
    notes: tuple[str, ...]
    explained: dict[int, str] = field(default_factory=dict)
    tally: Tally = WHOLE
    cut: int = 0
    beam: int = 0

    @property
    def random(self) -> CourseLine | None:
        return next((line for line in self.lines if line.course.random), None)

    @property
    def ranked(self) -> list[CourseLine]:
        """The measures whose fidelity is known on as many examples as any order's, the most faithful first."""
        most = max((line.n for line in self.lines), default=0)
        told = [line for line in self.lines if not line.course.random and line.judged and line.n == most]
        return sorted(told, key=lambda line: -line.fidelity.mean)


def behaviour_report(
    model: Model, sample: Sample, walked: dict[Course, Walked], searched: Searched | None = None
) -> BehaviourReport | None:
    """Put what is computed so far into numbers; None while nothing is.

    A measure's normalised fidelity compares it with random order on the examples that have both and are searched. Over
    a random order's repetitions an example counts once.

    Source: RobustInf Eq. 1, Tables 1 and 2; glossary, Fidelity; glossary, Embedding drift.
    """
    known = {course: one for course, one in walked.items() if one.there.any()}
    if not known:
        return None
    baseline = next((one for course, one in known.items() if course.random), None)
    first = baseline or next(iter(known.values()))
    shares = None if searched is None else _fewest_shares(searched, known)
    lines = sorted(
        (_line(course, one, baseline, shares) for course, one in known.items()), key=lambda line: not line.course.random
    )
    left_out, predicted = dict(Counter(first.problems.values())), first.predicted[:, 0]
    return BehaviourReport(
        model.name,
        model.digest,
        strategy(model),
        sample,
        _best(shares, first.judged),
        tuple(lines),
        left_out,
        (*sample.notes, *told_left_out(left_out)),
        {int(i): model.labels[predicted[i]] for i in np.flatnonzero(first.there)},
        cut=len(first.cut),
        beam=0 if searched is None else int((searched.there & ~searched.exact).sum()),
    )


def _fewest_shares(searched: Searched, known: dict[Course, Walked]) -> np.ndarray:
    """C*/F of each example by the search or a shorter order, float64[N]; 1 without a change, NaN if not searched."""
    followed = [
        np.where(one.there[:, None] & (one.flips > 0), one.flips, np.inf).min(axis=1)
        for one in known.values()
        if one.flips.size
    ]
    fewest = np.min([np.where(searched.fewest > 0, searched.fewest, np.inf), *followed], axis=0)
    shares = np.where(np.isinf(fewest), 1.0, fewest / np.maximum(searched.free, 1))
    return np.where(searched.there, shares, np.nan)


def _line(course: Course, one: Walked, baseline: Walked | None, fewest: np.ndarray | None) -> CourseLine:
    shares, states = one.shares[one.judged], one.states[one.there]
    spreads = np.array([spread_change(states[:, k], states[:, 0]) for k in range(len(X))])
    return CourseLine(
        course,
        int(one.there.sum()),
        len(shares),
        of_enough(mean_interval(1 - shares), len(shares)),
        _normalised(course, one, baseline, fewest),
        float(one.never[one.judged].mean()) if len(shares) else np.nan,
        _unflipped(one),
        np.array([centroid_change(states[:, k], states[:, 0]) for k in range(len(X))]),
        spreads[:, 1],
        spreads[:, 0],
    )


def _unflipped(one: Walked) -> np.ndarray:
    """Share of (example, order) pairs whose prediction has not changed yet at each ratio, float64[K]."""
    if not one.judged.any():
        return np.full(len(X), np.nan)
    flips, free = one.flips[one.judged], one.free[one.judged, None]
    # A hair of rounding may lie between 0.3 and 3/10.
    return np.array([((flips == 0) | (flips / free > x + 1e-9)).mean() for x in X])


def _normalised(course: Course, one: Walked, baseline: Walked | None, fewest: np.ndarray | None) -> float:
    if course.random or baseline is None or fewest is None:
        return float("nan")
    both = one.judged & baseline.judged & ~np.isnan(fewest)
    if not both.any():
        return float("nan")
    return normalised_fidelity(
        float(1 - one.shares[both].mean()), float(1 - baseline.shares[both].mean()), _best(fewest, both)
    )


def _best(fewest: np.ndarray | None, judged: np.ndarray) -> float:
    """1 − mean(C*/F) over the examples that are judged and searched."""
    known = np.empty(0) if fewest is None else fewest[judged & ~np.isnan(fewest)]
    return float(1 - known.mean()) if len(known) else float("nan")
