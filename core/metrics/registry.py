"""The register of faithfulness metrics: what menus, tables, the README, diagnosticity and the contract tests read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.mathematics.erasure import MIN_MAX

HIGHER, LOWER, NEITHER = 1, -1, 0
ARROWS = {HIGHER: "↑", LOWER: "↓", NEITHER: ""}
# Probabilities of the same input differ by less than this with the batch that it is in.
ROUNDING = 1e-6
# Place in menus of a metric that asks for none: behind those that do, by name.
LAST = 1000
# Why a metric has no value.
NO_ROOM = "Erasing everything does not lower the probability: nothing to normalise by."
NO_FEATURES = "All features are masked already."
NOT_FINITE = "The measure gave NaN or infinity."
PLACES_ONLY = "This measure has no magnitudes."
NOT_PERTURBED = "The embeddings cannot be perturbed here."


@dataclass(eq=False)
class Case:
    """One attribution of one example, and how the model can be asked about it.

    Attributes:
        scores: float[F], higher is more important.
        erased: bool[M, F], True = erased → probabilities, float[M, C].
        target: the class predicted on the full text.
        masked: bool[F], features that the text itself masks; no metric counts them.
        perturbed: (retain float[F] in [0, 1], kind) → the target's probability in K seeded draws, float[K]; None where
            embeddings cannot be reached.
        scaling: how scores become retain.
        magnitudes: False where scores are places only.
        everything: what is no feature (special tokens, a second text) may be perturbed too; retain is float[F + 1],
            its share last.
        single: (retains, draws int, kind) → the target's probability in one draw of each, float[W], in shared batches;
            draws count from 0 and may exceed K. None where `perturbed` knows all that is drawn.
    """

    scores: np.ndarray
    erased: Callable[[np.ndarray], np.ndarray]
    target: int
    masked: np.ndarray
    perturbed: Callable[[np.ndarray, str], np.ndarray] | None = None
    scaling: str = MIN_MAX
    magnitudes: bool = True
    everything: bool = False
    single: Callable[[Sequence[np.ndarray], Sequence[int], str], np.ndarray] | None = None

    @property
    def free(self) -> np.ndarray:
        """Features that can be erased, int64[F']."""
        return np.flatnonzero(~self.masked)

    def value(self, masks: np.ndarray) -> np.ndarray:
        """v of bool[M, F]: the target's probability, float64[M]."""
        return np.asarray(self.erased(masks), dtype=np.float64)[:, self.target]

    def drawn(self, retains: Sequence[np.ndarray], draws: Sequence[int], kind: str) -> np.ndarray:
        """The target's probability in one draw alone of each of several retains, float64[W]."""
        if self.single is not None:
            return np.asarray(self.single(retains, draws, kind), dtype=np.float64)
        assert self.perturbed is not None
        rows = [np.asarray(self.perturbed(retain, kind), dtype=np.float64) for retain in retains]
        return np.array([row[k % len(row)] for row, k in zip(rows, draws)])


@dataclass(frozen=True, eq=False)
class Score:
    """What a metric says: value, NaN where it is undefined; error: standard error of its draws, NaN without draws;
    by_length: float64[R] at each of LENGTHS, or None; note: why it is undefined, or what to know, a sentence."""

    value: float
    error: float = float("nan")
    by_length: np.ndarray | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One faithfulness metric.

    Attributes:
        direction: HIGHER, LOWER or NEITHER is better.
        low, high: its range.
        unit: of its values.
        definition: one sentence.
        cost, passes: forward passes at most, as text and as a function of (F, draws).
        lengths: it has a value at each rationale length.
        perturbation: how it perturbs the embeddings; "" of one that does not (see `soft`).
        magnitudes: it reads more than the order of the scores.
        whole: it describes a data set, as the mean over examples.
        order: place in menus, ascending; those of a data set come last.
        default: shown unasked.
        hard: of a soft metric, the hard one of the same formula.
        fixes: of one at a fixed share, the soft metric whose share it fixes.
        amounts: how much it keeps or erases depends on the sum of the scores.
        version: raised when results change.
    """

    name: str
    direction: int
    low: float = 0
    high: float = 1
    unit: str = "share"
    definition: str
    cost: str
    passes: Callable[[int, int], int]
    source: str
    compute: Callable[[Case], Score] = field(repr=False)
    lengths: bool = False
    perturbation: str = ""
    magnitudes: bool = False
    whole: bool = False
    order: int = LAST
    default: bool = False
    hard: str = ""
    fixes: str = ""
    amounts: bool = False
    version: int = 1

    @property
    def soft(self) -> bool:
        return bool(self.perturbation)

    @property
    def arrow(self) -> str:
        return ARROWS[self.direction]

    def allows(self, values: np.ndarray) -> bool:
        """Whether all of these are in its range, or undefined."""
        return not ((values < self.low - ROUNDING) | (values > self.high + ROUNDING)).any()

    def __call__(self, case: Case) -> Score:
        """Judge an attribution; the case and its arrays stay as they are."""
        if len(case.free) == 0:
            return Score(float("nan"), note=NO_FEATURES)
        if not np.isfinite(case.scores).all():
            return Score(float("nan"), note=NOT_FINITE)
        if self.magnitudes and not case.magnitudes:
            return Score(float("nan"), note=PLACES_ONLY)
        if self.soft and case.perturbed is None:
            return Score(float("nan"), note=NOT_PERTURBED)
        return self.compute(case)


# Those registered so far, by name; `core.metrics.catalogue.metrics` loads them all.
REGISTERED: dict[str, Metric] = {}


def register(metric: Metric) -> Metric:
    """Add a metric; ValueError if its name is taken or its range is none."""
    if metric.name in REGISTERED:
        raise ValueError(f"{metric.name!r} is registered already")
    if not metric.low < metric.high or metric.direction not in ARROWS:
        raise ValueError(f"{metric.name!r}: range [{metric.low}, {metric.high}], direction {metric.direction}")
    REGISTERED[metric.name] = metric
    return metric
