"""KernelSHAP: Shapley values, estimated by a linear model of sampled sets."""

import numpy as np

from core.measures.registry import ORACLE, Explained, Measure, register, with_absolute

LEAST, EACH = 200, 3


def samples(F: int) -> int:
    """How many sets of F features are drawn, the whole and the empty one among them."""
    return max(LEAST, EACH * F)


def drawn_sets(free: int, rng: np.random.Generator) -> np.ndarray:
    """The sets that are asked of `free` features: all, none, and what is drawn.

    A size k comes with probability ∝ 1/(k(free − k)), 0 < k < free, then each set of that size alike, so that a set
    comes as often as the Shapley kernel weighs it.

    Returns:
        bool[M, free], True = present; the first two are all and none; M = 2 for one feature.
    Source: Lundberg and Lee (2017), Theorem 2, drawn as Captum's KernelShap draws.
    """
    sizes = np.arange(1, free)
    count = samples(free) - 2 if free > 1 else 0
    present = np.zeros((count + 2, free), dtype=bool)
    present[0] = True
    if count:
        odds = 1 / (sizes * (free - sizes))
        k = rng.choice(sizes, size=count, p=odds / odds.sum())
        places = rng.random((count, free)).argsort(axis=1).argsort(axis=1)
        present[2:] = places < k[:, None]
    return present


def shapley_by_kernel(present: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Least squares of v on which features are present, exact for all and for none.

    Args:
        present: bool[M, F], the first two all and none.
        values: v of them, float64[M].
    Returns:
        float64[F], sum v(all) − v(none). Where the sets leave values open, the ones nearest to each other.
    Source: Lundberg and Lee (2017), Eq. 8. Captum weighs all and none by 1e6, here they hold exactly.
    """
    even = (values[0] - values[1]) / present.shape[1]
    sets = present[2:].astype(np.float64)
    sizes = sets.sum(axis=1)
    # What differs from an even share adds up to 0, and so does the shortest solution over centred rows.
    centred = sets - sizes[:, None] / present.shape[1]
    return even + np.linalg.lstsq(centred, values[2:] - values[1] - even * sizes, rcond=None)[0]


def kernel_shap(explained: Explained) -> dict[str, np.ndarray]:
    """Estimated Shapley values of the logit on top of what is masked already; a feature that is absent is masked.

    Args:
        explained: F features, of which max(200, 3·F') sets are drawn by seed and example, F' those not masked yet.
    Returns:
        {"signed", "absolute"}: float64[F]; signed ones add up to v(∅) − v(all masked).
    Source: Lundberg and Lee (2017), A Unified Approach to Interpreting Model Predictions; NAOPC §4.
    """
    free = np.flatnonzero(~explained.masked)
    scores = np.zeros(explained.F)
    if len(free):
        present = drawn_sets(len(free), np.random.default_rng([explained.seed, explained.example]))
        masks = np.zeros((len(present), explained.F), dtype=bool)
        masks[:, free] = ~present
        scores[free] = shapley_by_kernel(present, explained.value(masks))
    return with_absolute(scores, np.abs(scores), explained.masked)


register(
    Measure(
        name="KernelSHAP",
        variants=("signed", "absolute"),
        signed=frozenset({"signed"}),
        definition=f"The word's Shapley value on the logit, estimated from max({LEAST}, {EACH}·F) sampled sets that "
        f"are left unmasked.",
        cost=f"at most max({LEAST}, {EACH}·F)",
        passes=lambda F: min(2**F, samples(F)),
        needs=ORACLE,
        source="NAOPC §4; Lundberg and Lee (2017)",
        unit="logits",
        compute=kernel_shap,
        hue="#4a7a00",
        order=65,
        seeded=True,
        swept=False,
    )
)
