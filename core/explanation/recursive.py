"""Recursive masking: mask what a measure calls most important, compute it again on what is left, and go on."""

import functools
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

import numpy as np

from core.explanation.explainer import Attribution, Cost, Explainer, softmax, value_of
from core.explanation.rows import choose_variant
from core.mathematics.curves import UNKNOWN, Areas, areas_between, no_larger_area
from core.mathematics.masking import RATIOS, masked_count, path_ratios
from core.mathematics.ranking import ranking
from core.mathematics.statistics import simes
from core.measures.catalogue import measure
from core.network.features import Encoded
from core.network.scheduler import NonFinite
from core.oracle.erasing import MASK
from core.oracle.target import Target
from core.validity.marks import HOLM, Gate, decide_path, with_sign
from core.validity.mask_tests import MaskTest
from core.validity.references import CALIBRATED, Reference
from core.wording import number, with_ends

BY_RATIO, BY_FEATURE = "ratio", "feature"
STEPS = (BY_RATIO, BY_FEATURE)
ORDERS = 30
UNSTABLE = "unstable"
_TURN = 64  # inputs of random orders a turn
# What a step holds until it is judged.
_UNJUDGED = MaskTest(np.full((1, 1), np.nan, dtype=np.float32), {}, {})


@dataclass(frozen=True, eq=False)
class Step:
    """One masking step: what is masked, what the model says of it, and what the measure says of the rest.

    count: features masked; mask: bool[F]; scores: float64[F], 0 at masked features; logits: float32[C];
    p: {form: p-value} and layers: {form: float64[L]}, {} without a reference.
    """

    count: int
    mask: np.ndarray
    scores: np.ndarray
    logits: np.ndarray
    p: dict[str, float]
    layers: dict[str, np.ndarray]

    @classmethod
    def of(cls, mask: np.ndarray, scores: np.ndarray, judged: MaskTest) -> "Step":
        """The step of a mask, from what was judged of it alone (M = 1)."""
        return cls(
            int(mask.sum()),
            mask,
            scores,
            judged.logits[0],
            {form: float(p[0]) for form, p in judged.p.items()},
            {form: layers[0] for form, layers in judged.layers.items()},
        )

    @property
    def probabilities(self) -> np.ndarray:
        """Softmax of the logits, float64[C]."""
        return softmax(self.logits)


@dataclass(frozen=True, eq=False)
class Band:
    """R seeded random orders of one example, K steps each: logits float32[R, K, C]; p {form: float64[R, K]}."""

    logits: np.ndarray
    p: dict[str, np.ndarray]

    def values(self, target: Target) -> np.ndarray:
        """v of each step, see `core.explanation.explainer.value_of`, float64[R, K]."""
        return value_of(self.logits, target)


@dataclass(frozen=True, eq=False)
class Summary:
    """A path in numbers: its steps so far; values float64[K'], v at each of them; p float64[K'],
    NaN without a reference; x float64[K] of the whole path.

    first_predicted: the class predicted at the first step; flips: the first step that predicts another, or None;
    random_gate: the gate of the random orders, one p-value a step by Simes; areas: ACU and RACU, ↑ more faithful, 0 is
    random, NaN before path and band are complete; their intervals are over the random orders, so they say how well the
    mean of these is known; again: later steps that predict another class than the one before; orders: how many random
    orders the path is set against, 0 without; as_good: how many of them have no larger area under their curve, ↓, None
    before the path is complete; as_early: how many predict another class no later, ↓, None where the path does not.
    """

    steps: tuple[Step, ...]
    x: np.ndarray
    values: np.ndarray
    p: np.ndarray
    first_predicted: int
    flips: int | None
    gate: Gate
    random_gate: Gate | None
    areas: Areas
    again: tuple[int, ...] = ()
    orders: int = 0
    as_good: int | None = None
    as_early: int | None = None

    @property
    def acu(self) -> float:
        return self.areas.acu.mean

    @property
    def racu(self) -> float:
        return self.areas.racu.mean

    @property
    def complete(self) -> bool:
        """Whether the path has reached its end."""
        return len(self.steps) == len(self.x)

    @property
    def smallest(self) -> float:
        """The smallest p-value so far; NaN without a reference."""
        return float(self.p.min())

    @property
    def marked(self) -> bool:
        """Whether areas rest on rejected inputs: the path's own, or those of the random orders that it is set
        against.
        """
        return any(gate is not None and gate.marked for gate in (self.gate, self.random_gate))


# Why there is no RACU where there is none, as a sentence goes on.
NO_AREA = "masking everything lowers the score no more than random orders"


def area_cells(found: Areas, marked: bool, as_text: Callable[[float], str] = number) -> tuple[str, str]:
    """RACU and ACU as drawn, each with its interval, none where its ends read alike; an unstable RACU is called so in
    its stead, and what is marked has the sign.
    """
    racu, acu = (
        with_sign(
            as_text(one.mean)
            if as_text(one.low) == as_text(one.high)
            else with_ends(one.mean, one.low, one.high, as_text),
            marked and one.mean == one.mean,
        )
        for one in (found.racu, found.acu)
    )
    return (UNSTABLE if found.unstable else racu), acu


def planned_counts(F: int, step: str, premasked: int = 0) -> np.ndarray:
    """How many of F features each step masks, int64[K], ascending from those masked already to F.

    Args:
        step: "ratio": at 0, 0.1 … 1; "feature": one more each time.
        premasked: features that the text itself masks; they count as masked.
    Raises:
        ValueError: an unknown step, or no features.
    Source: FMM Alg. 3; glossary, Recursive masking.
    """
    if step not in STEPS:
        raise ValueError(f"the step must be one of {STEPS}, got {step!r}")
    if F < 1:
        raise ValueError("there are no features to mask")
    counts = [masked_count(ratio, F) for ratio in RATIOS] if step == BY_RATIO else range(premasked, F + 1)
    return np.maximum(np.array(counts, dtype=np.int64), premasked)


def compared_at(counts: np.ndarray, F: int, step: str) -> np.ndarray | None:
    """At which ratio of the reference each step is tested, see `MaskTests.judge`: its own, where a step is a ratio."""
    return path_ratios(counts, F) if step == BY_RATIO else None


def shares(counts: np.ndarray, F: int, step: str) -> np.ndarray:
    """The x axis of a path, float64[K] in [0, 1]: the masking ratios, or the share of features masked."""
    return np.array(RATIOS) if step == BY_RATIO else counts / F


def masked_steps(
    start: np.ndarray,
    counts: np.ndarray,
    attribute: Callable[[np.ndarray], np.ndarray],
    judge: Callable[[np.ndarray, int], MaskTest],
    recompute: bool = True,
) -> Iterator[Step]:
    """Walk one masking path; pure but for the two callables.

    At each step the input is judged first, then the measure is computed on it, and the features that it
    ranks first are masked next; what is masked stays masked. For steps that mask the same the measure is computed once.

    Args:
        start: bool[F], features masked from the start.
        counts: int[K], ascending, from `planned_counts`.
        attribute: bool[F], what is masked → float[F]; not asked where nothing is left.
        judge: (bool[1, F], place of the step) → MaskTest.
        recompute: False keeps the order of the first step (one-shot ranking, and beam).
    Raises:
        ValueError: a score is NaN; the steps before were yielded.
    Source: FMM §3.4, Alg. 3; ROAR §4 for the two kinds.
    """
    mask, scores, last = np.array(start, dtype=bool), np.empty(0), None
    for place, count in enumerate(counts):
        if last is not None and count > last.count:
            mask = mask.copy()
            mask[ranking(scores, mask)[:count]] = True
        judged = judge(mask[None], place)
        if last is None or count > last.count:
            if mask.all():
                shown = np.zeros(len(mask))
            else:
                scores = attribute(mask) if not scores.size or recompute else scores
                shown = np.where(mask, 0.0, scores)
        last = Step.of(mask, shown, judged)
        yield last


def follow(
    explainer: Explainer,
    encoded: Encoded,
    name: str,
    target: Target,
    sign: str,
    step: str = BY_RATIO,
    recompute: bool = True,
    *,
    together: bool = False,
    first: Attribution | None = None,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[tuple[Step, ...], None, tuple[Step, ...]]:
    """Walk a path with a registered measure; yields the steps so far after each, and returns them all.

    The explained class stays fixed. Whatever is in the store is read and not computed.

    Args:
        name: the measure; sign: "signed" or "absolute", its default where it has no such variant.
        step: "ratio" or "feature".
        recompute: compute the measure again at each step; beam is not, its order is recursive already.
        together: judge all steps in one batch, once their masks are there, for whoever looks at none before, and at no
            scores but `first`: those of a step behind which all is masked, whatever they are, are 0 and not computed.
        first: what the measure says of the text as it stands, where that is known.
        progress: called with (steps done, steps in all).
    Raises:
        Cancelled, OutOfMemory: as the oracle.
        NonFinite: the model or the measure gave NaN; the message names the step.
    Source: FMM Alg. 3.
    """
    named, tested = measure(name), explainer.tested(encoded)
    variant = choose_variant(named, sign)
    counts = planned_counts(encoded.F, step, int(encoded.premasked.sum()))
    ratios = compared_at(counts, encoded.F, step)
    steps: list[Step] = []

    def judge(masks: np.ndarray, place: int) -> MaskTest:
        at = None if ratios is None else ratios[place : place + 1]
        return _UNJUDGED if together else tested.judge(masks, at, cancelled=cancelled)

    def attribute(mask: np.ndarray) -> np.ndarray:
        if first is not None and np.array_equal(mask, encoded.premasked):
            return _an_order(first.scores[variant], name, mask, encoded.unit)
        if together and counts[counts > mask.sum()].min(initial=encoded.F) == encoded.F:
            return np.zeros(encoded.F)
        found = explainer.attribute(encoded, name, target, mask, cancelled=cancelled)
        return _an_order(found.scores[variant], name, mask, encoded.unit)

    try:
        for done in masked_steps(encoded.premasked, counts, attribute, judge, recompute and not named.recursive):
            steps.append(done)
            if progress is not None:
                progress(len(steps), len(counts))
            if not together:
                yield tuple(steps)
        if together:
            judged = tested.judge(np.stack([one.mask for one in steps]), ratios, cancelled=cancelled)
            steps = [Step.of(one.mask, one.scores, judged.one(k)) for k, one in enumerate(steps)]
    finally:
        tested.flush()
    return tuple(steps)


def _an_order(scores: np.ndarray, name: str, mask: np.ndarray, unit: str) -> np.ndarray:
    """Scores as they are; NonFinite where they give no order."""
    if np.isnan(scores).any():
        raise NonFinite(f"{name} gave NaN with {int(mask.sum())} of {len(mask)} {unit}s masked.")
    return scores


def path_cost(explainer: Explainer, encoded: Encoded, name: str, step: str = BY_RATIO, recompute: bool = True) -> Cost:
    """What a path takes at most; what is known already is not counted off."""
    named = measure(name)
    counts = np.unique(planned_counts(encoded.F, step, int(encoded.premasked.sum())))
    asked = [encoded.F - int(count) for count in counts if count < encoded.F]
    asked = asked if recompute and not named.recursive else asked[:1]
    inside = sum(named.passes(left) for left in asked)
    tokens = (inside * named.weight + len(counts)) * encoded.T
    return Cost.of(inside + len(counts), tokens, explainer.model.scheduler.counters)


def random_masks(encoded: Encoded, counts: np.ndarray, orders: int = ORDERS, seed: int = 0) -> np.ndarray:
    """Masks of seeded random orders, bool[R, K, F]; what the text masks comes first in each."""
    masks = np.zeros((orders, len(counts), encoded.F), dtype=bool)
    for r in range(orders):
        order = random_order(encoded, r, seed)
        for k, count in enumerate(counts):
            masks[r, k, order[:count]] = True
    return masks


def random_order(encoded: Encoded, r: int, seed: int = 0) -> np.ndarray:
    """The r-th seeded random order of an example, int64[F]; what the text masks comes first."""
    rng = np.random.default_rng([seed, r, int(encoded.digest[:8], 16)])
    return ranking(rng.random(encoded.F), encoded.premasked)


def random_band(
    explainer: Explainer,
    encoded: Encoded,
    step: str = BY_RATIO,
    orders: int = ORDERS,
    seed: int = 0,
    erasure: str = MASK,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[None, None, Band]:
    """Judge seeded random orders; yields between batches, returns the Band. erasure: what masking a feature does.

    Source: FMM §3.4, the baseline of RACU; glossary, ACU and RACU: the mean of 30 orders for one example.
    """
    counts = planned_counts(encoded.F, step, int(encoded.premasked.sum()))
    tested = explainer.tested(encoded, erasure)
    masks = random_masks(encoded, counts, orders, seed)
    flat = np.unique(masks.reshape(-1, encoded.F), axis=0)
    try:
        for start in range(0, len(flat), _TURN):
            tested.judge(flat[start : start + _TURN], cancelled=cancelled)
            if progress is not None:
                progress(min(start + _TURN, len(flat)), len(flat))
            yield None
        ratios = compared_at(counts, encoded.F, step)
        every = None if ratios is None else np.tile(ratios, orders)
        judged = tested.judge(masks.reshape(-1, encoded.F), every, cancelled=cancelled)
    finally:
        tested.flush()
    shape = masks.shape[:2]
    return Band(judged.logits.reshape(*shape, -1), {form: p.reshape(shape) for form, p in judged.p.items()})


def band_cost(explainer: Explainer, encoded: Encoded, step: str = BY_RATIO, orders: int = ORDERS) -> Cost:
    """What the random orders take at most: one pass for each distinct input."""
    counts = np.unique(planned_counts(encoded.F, step, int(encoded.premasked.sum())))
    passes = 2 + orders * max(0, len(counts) - 2)
    return Cost.of(passes, passes * encoded.T, explainer.model.scheduler.counters)


def summarise(
    steps: tuple[Step, ...],
    F: int,
    step: str,
    target: Target,
    band: Band | None,
    reference: Reference | None,
    rule: str = HOLM,
    form: str = CALIBRATED,
) -> Summary:
    """A path's curve, its change of prediction, its validity gate, and ACU and RACU against the mean random order.

    Departure from FMM for one example: the performance is v (the class's probability, or the difference of two logits),
    and the baseline the mean of the random orders.

    Args:
        steps: at least one, complete or not.
    Source: FMM Eq. 3; glossary, ACU and RACU.
    """
    planned = planned_counts(F, step, steps[0].count)
    x = shares(planned, F, step)
    logits = np.stack([s.logits for s in steps])
    values, predicted = value_of(logits, target), logits.argmax(axis=1)
    flipped = np.flatnonzero(predicted != predicted[0])
    p = np.array([s.p.get(form, np.nan) for s in steps])
    by_ratio = step == BY_RATIO
    gate = decide_path(p, np.array([s.count for s in steps]), planned, reference, rule, form, by_ratio)
    between, random_gate, as_good, as_early = UNKNOWN, None, None, None
    if band is not None and form in band.p:
        random_gate = decide_path(simes(band.p[form], axis=0), planned, planned, reference, rule, form, by_ratio)
    if band is not None and len(steps) == len(planned):
        between = _areas(x.tobytes(), values.tobytes(), band.values(target).tobytes())
        as_good = no_larger_area(x, values, band.values(target))
    if band is not None and len(flipped):
        turned = band.logits[:, : flipped[0] + 1].argmax(axis=2) != predicted[0]
        as_early = int(turned.any(axis=1).sum())
    return Summary(
        steps,
        x,
        values,
        p,
        int(predicted[0]),
        int(flipped[0]) if len(flipped) else None,
        gate,
        random_gate,
        between,
        tuple(int(i) for i in np.flatnonzero(np.diff(predicted)) + 1)[1:],
        0 if band is None else len(band.logits),
        as_good,
        as_early,
    )


@functools.lru_cache(maxsize=256)
def _areas(x: bytes, path: bytes, orders: bytes) -> Areas:
    """Areas of a path float64[K] against the mean of random orders float64[R, K]. Resampling takes a moment, and a page
    asks again whenever it is drawn.
    """
    ratios, values = np.frombuffer(x), np.frombuffer(path)
    each = np.frombuffer(orders).reshape(-1, len(ratios))

    def curves(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return values[None], weights @ each / weights.sum(axis=1, keepdims=True)

    return areas_between(ratios, curves, len(each))
