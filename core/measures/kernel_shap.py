"""KernelSHAP: Shapley values, estimated by a linear model of sampled sets."""

from collections.abc import Callable, Mapping
from functools import partial
from math import comb

import numpy as np

from core.measures.registry import ORACLE, Explained, Measure, read_count, register, with_absolute

LEAST, EACH = 200, 3
# v of sets, bool[M, F'] with True = present: float64[M].
Value = Callable[[np.ndarray], np.ndarray]
MOST_SAMPLES = 1_000_000
# Reads a number of sets as it is asked for in brackets.
read_samples = partial(read_count, "samples", 2, MOST_SAMPLES)


def samples(F: int, asked: int | None = None) -> int:
    """How many sets of F features are drawn, the whole and the empty one among them, unless a number is asked for."""
    return max(LEAST, EACH * F) if asked is None else asked


def all_sets(free: int) -> np.ndarray:
    """Every set of `free` features, bool[2^free, free]: the set S at Σ_{i∈S} 2^i."""
    return (np.arange(1 << free)[:, None] >> np.arange(free) & 1).astype(bool)


def drawn_sets(free: int, rng: np.random.Generator, asked: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The sets that are asked of `free` features: all, none, and others; every set where there are no more than those.

    A size k comes with probability ∝ 1/(k(free − k)), 0 < k < free, then each set of that size alike, so that a set
    comes as often as the Shapley kernel weighs it. The kernel's own weights, which leave the range of floating point
    beyond a thousand features, are used where every set comes once.

    Args:
        asked: how many, at least 2; None: `samples` of them.
    Returns:
        bool[M, free], True = present, the first two all and none; float64[M − 2], how much each of the others counts.
    Source: Lundberg and Lee (2017), Theorem 2, drawn as Captum's KernelShap draws.
    """
    count = samples(free, asked)
    if count >= 1 << min(free, 64):
        present = all_sets(free)
        present = np.concatenate([present[[-1, 0]], present[1:-1]])
        k = present[2:].sum(axis=1)
        return present, np.array([1 / (comb(free, size) * size * (free - size)) for size in k.tolist()])
    sizes = np.arange(1, free)
    present = np.zeros((count, free), dtype=bool)
    present[0] = True
    odds = 1 / (sizes * (free - sizes))
    k = rng.choice(sizes, size=count - 2, p=odds / odds.sum())
    places = rng.random((count - 2, free)).argsort(axis=1).argsort(axis=1)
    present[2:] = places < k[:, None]
    return present, np.ones(count - 2)


def shapley_by_kernel(present: np.ndarray, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Least squares of v on which features are present, bool[M, F], exact for all and none, which come first.

    Args:
        values: v, float64[M]; weights: how much each of the others counts, float64[M − 2].
    Returns:
        float64[F], sum v(all) − v(none). Where the sets leave values open, the ones nearest to each other.
    Source: Lundberg and Lee (2017), Eq. 8. Captum weighs all and none by 1e6, here they hold exactly.
    """
    even = (values[0] - values[1]) / present.shape[1]
    sets = present[2:].astype(np.float64)
    sizes, root = sets.sum(axis=1), np.sqrt(weights)
    # What differs from an even share adds up to 0, and so does the shortest solution over centred rows.
    centred = sets - sizes[:, None] / present.shape[1]
    left = values[2:] - values[1] - even * sizes
    return even + np.linalg.lstsq(root[:, None] * centred, root * left, rcond=None)[0]


def kernel_shap(explained: Explained, asked: int | None = None) -> dict[str, np.ndarray]:
    """Estimated Shapley values of the logit on top of what is masked already; a feature that is absent is masked.

    Of F' features not masked yet `asked`, or max(200, 3·F'), sets are drawn by seed and example; all of them, and the
    values exact, where there are no more (F' ≤ 7).

    Returns:
        {"signed", "absolute"}: float64[F]; signed ones add up to v(∅) − v(all masked).
    Source: Lundberg and Lee (2017), A Unified Approach to Interpreting Model Predictions; NAOPC §4.
    """

    def fit(free: int, rng: np.random.Generator, value: Value) -> np.ndarray:
        present, weights = drawn_sets(free, rng, asked)
        return shapley_by_kernel(present, value(present), weights)

    return fitted(explained, fit)


def fitted(explained: Explained, fit: Callable[[int, np.random.Generator, Value], np.ndarray]) -> dict[str, np.ndarray]:
    """Scores of a model that is fitted to sampled sets, {"signed", "absolute"}: float64[F].

    Args:
        fit: from how many features are not masked yet, what draws by seed and example, and v of sets of them, bool[M,
            F'] with True = present, to their scores, float64[F'].
    """
    free = np.flatnonzero(~explained.masked)
    scores = np.zeros(explained.F)
    if len(free):
        rng = np.random.default_rng([explained.seed, explained.example])
        scores[free] = fit(len(free), rng, lambda present: explained.value(absent(present, free, explained.F)))
    return with_absolute(scores, np.abs(scores), explained.masked)


def absent(present: np.ndarray, free: np.ndarray, F: int) -> np.ndarray:
    """The masks bool[M, F] under which only those of the features `free` stay that are present, bool[M, len(free)]."""
    masks = np.zeros((len(present), F), dtype=bool)
    masks[:, free] = ~present
    return masks


def by_samples(definition: str, compute: Callable[..., Mapping], asked: int | None) -> dict:
    """What of a measure's registration depends on how many sets are asked for; {said} in its definition: how many."""
    said = f"max({LEAST}, {EACH}·F)" if asked is None else str(asked)
    return {
        "definition": definition.format(said=said),
        "cost": f"at most {said}",
        "passes": lambda F: min(2**F, samples(F, asked)),
        "compute": lambda explained: compute(explained, asked),
    }


def _varied(samples: int | None = None) -> dict:
    said = "Shapley value on the logit, estimated from {said} sampled sets of unmasked words."
    return by_samples(said, kernel_shap, samples)


register(
    Measure(
        name="KernelSHAP",
        needs=ORACLE,
        source="NAOPC §4; Lundberg and Lee (2017)",
        unit="logits",
        hue="#4a7a00",
        order=65,
        seeded=True,
        counted="samples",
        swept=False,
        complete=True,
        # 1 drew sets also where it could have asked for every one.
        version=2,
        options={"samples": (None, read_samples)},
        varied=_varied,
        **_varied(),
    )
)
