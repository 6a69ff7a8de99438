"""Where an order changes the prediction: decision flip, fidelity, non-perturbed frequency."""

from collections.abc import Callable

import numpy as np


def flip_share(predicted: np.ndarray) -> float:
    """Share of the features erased at the first change of prediction, C/F in [1/F, 1] ↓; 1 without a change.

    predicted: int[F + 1], along an order, nothing erased first. `1 − flip_share` is one example's fidelity. ValueError:
    nothing is erased. Source: SoftFaith §2.2, decision flip; RobustInf Eq. 1.
    """
    predicted = np.asarray(predicted)
    if predicted.ndim != 1 or len(predicted) < 2:
        raise ValueError(
            f"a flip needs the prediction with nothing and with something erased, got shape {predicted.shape}"
        )
    changed = np.flatnonzero(predicted != predicted[0])
    return float(changed[0] / (len(predicted) - 1)) if len(changed) else 1.0


def never_flips(predicted: np.ndarray) -> bool:
    """Whether the prediction never changes along an order; `flip_share` is 1 then."""
    predicted = np.asarray(predicted)
    return bool((predicted == predicted[0]).all())


def normalised_fidelity(found: float, chance: float, best: float) -> float:
    """A fidelity between that of random orders (0) and the largest of any order of the same inputs (1), at most 1 ↑.

    best: 1 − mean(C*/F), C* the fewest features whose erasing changes the prediction, F where none does. NaN where
    chance reaches the best within 1e-12. Source: ours, in the spirit of NAOPC Eq. 8.
    """
    return (found - chance) / (best - chance) if best - chance > 1e-12 else float("nan")


def first_flip(predict: Callable[[np.ndarray], np.ndarray], masks: np.ndarray, chunk: int = 8) -> int:
    """How many features of an order are erased at the first change of prediction, in 0..F'; 0 where it never changes.

    Args:
        predict: bool[M, F] → int[M]; asked for `chunk` prefixes at a time, and for none after the change.
        masks: bool[F' + 1, F], prefixes of an order: nothing erased first. ValueError: nothing is erased.
    Source: RobustInf Eq. 1.
    """
    if len(masks) < 2:
        raise ValueError(f"a flip needs prefixes with nothing and with something erased, got shape {np.shape(masks)}")
    first = None
    for start in range(0, len(masks), chunk):
        predicted = np.asarray(predict(masks[start : start + chunk]))
        first = predicted[0] if first is None else first
        changed = np.flatnonzero(predicted != first)
        if len(changed):
            return start + int(changed[0])
    return 0
