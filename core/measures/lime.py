"""LIME: a sparse linear model of how the logit depends on which features are left, near the text as it stands."""

import numpy as np

from core.measures.kernel_shap import Value, all_sets, by_samples, fitted, read_samples, samples
from core.measures.registry import ORACLE, Explained, Measure, register

# Captum's: what a unit of coefficients costs, and the width of the kernel of distances.
PENALTY, WIDTH = 0.01, 1.0
_SWEEPS, _STILL = 2_000, 1e-9


def drawn_alike(free: int, rng: np.random.Generator, asked: int | None = None) -> np.ndarray:
    """Sets of `free` features, each as likely as any other; every set once where there are no more.

    Returns:
        bool[M, free], True = present.
    Source: Captum's Lime, which leaves each feature with probability 1/2.
    """
    count = samples(free, asked)
    return all_sets(free) if count >= 1 << min(free, 64) else rng.random((count, free)) < 0.5


def nearness(present: np.ndarray) -> np.ndarray:
    """How near sets are to all features, float64[M] in (0, 1]: exp(−d²/2w²), d the cosine distance, w = 1.

    The cosine of a set with all of F is √(size/F), that of none is taken as 0.
    Source: Ribeiro et al. (2016), §3.4, with Captum's distance and width.
    """
    distance = 1 - np.sqrt(present.mean(axis=1))
    return np.exp(-(distance**2) / (2 * WIDTH**2))


def lasso(present: np.ndarray, values: np.ndarray, weights: np.ndarray, penalty: float = PENALTY) -> np.ndarray:
    """Coefficients that minimise ½ · weighted mean of (v − c − present · b)² + penalty · Σ|b|, by coordinate descent.

    Args:
        present: bool[M, F]; values, weights: float64[M].
    Returns:
        float64[F]; 0 for a feature that is in all sets or in none.
    Source: Tibshirani (1996), which LIME takes by default in Captum.
    """
    weights = weights / weights.sum()
    sets = present - weights @ present
    products = (sets * weights[:, None]).T @ sets
    aims = (sets * weights[:, None]).T @ (values - weights @ values)
    found, spread = np.zeros(present.shape[1]), np.diag(products)
    varied = np.flatnonzero(spread > 1e-12)
    for _ in range(_SWEEPS):
        before = found.copy()
        for i in varied:
            left = aims[i] - products[i] @ found + spread[i] * found[i]
            found[i] = (max(left - penalty, 0.0) + min(left + penalty, 0.0)) / spread[i]
        if np.abs(found - before).max(initial=0.0) <= _STILL * max(1.0, np.abs(found).max(initial=0.0)):
            break
    return found


def lime(explained: Explained, asked: int | None = None) -> dict[str, np.ndarray]:
    """Coefficients of the linear model on top of what is masked already; a feature that is absent is masked.

    Many are exactly 0: the penalty takes up to about 0.04 logits off each. Of F' features not masked yet `asked`, or
    max(200, 3·F'), sets are drawn by seed and example; all of them where there are no more.

    Returns:
        {"signed", "absolute"}: float64[F].
    Source: Ribeiro et al. (2016), "Why Should I Trust You?"; NAOPC §4.
    """

    def fit(free: int, rng: np.random.Generator, value: Value) -> np.ndarray:
        present = drawn_alike(free, rng, asked)
        return lasso(present, value(present), nearness(present))

    return fitted(explained, fit)


def _varied(samples: int | None = None) -> dict:
    said = "Weight in a sparse linear model of the logit, fitted on {said} sampled sets of unmasked words."
    return by_samples(said, lime, samples)


register(
    Measure(
        name="LIME",
        needs=ORACLE,
        source="NAOPC §4; Ribeiro et al. (2016)",
        unit="logits",
        hue="#a6611a",
        order=64,
        seeded=True,
        counted="samples",
        swept=False,
        options={"samples": (None, read_samples)},
        varied=_varied,
        **_varied(),
    )
)
