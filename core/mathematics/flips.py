"""Where an order changes the prediction: decision flip, fidelity, non-perturbed frequency."""

from collections.abc import Callable

import numpy as np


def flip_share(predicted: np.ndarray) -> float:
    """Share of the features that are erased at the first change of prediction, C/F; 1 where it never changes.

    Args:
        predicted: int[F + 1], the prediction along an order, with nothing erased first and all of it last.
    Returns:
        float in [1/F, 1]; lower is better. `1 − flip_share` is one example's fidelity.
    Raises:
        ValueError: nothing is erased.
    Source: SoftFaith §2.2, decision flip; RobustInf Eq. 1.
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
    """Fidelity between that of random orders (0) and the largest that any order of the same inputs has (1).

    Args:
        found: a fidelity; chance: that of random orders on the same examples and model.
        best: 1 − mean(C*/F) with C* the fewest features whose erasing changes the prediction, F where none does.
    Returns:
        float, at most 1, below 0 where worse than chance; higher is better. NaN where chance reaches the best within
        1e-12.
    Source: ours, in the spirit of NAOPC Eq. 8: between limits of the same inputs.
    """
    return (found - chance) / (best - chance) if best - chance > 1e-12 else float("nan")


def first_flip(predict: Callable[[np.ndarray], np.ndarray], masks: np.ndarray, chunk: int = 8) -> int:
    """How many features of an order are erased at the first change of prediction; 0 where it never changes.

    Asks for some prefixes at a time and for none after the change: `flip_share` without the predictions that nobody
    needs.

    Args:
        predict: bool[M, F] → int[M], the class predicted with these features erased.
        masks: bool[F' + 1, F], prefixes of an order: nothing erased first, then one feature more each.
        chunk: how many are asked for at a time.
    Returns:
        int in 0..F'.
    Raises:
        ValueError: nothing is erased.
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
