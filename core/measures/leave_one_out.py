"""Leave-one-out (occlusion)."""

import numpy as np

from core.measures.registry import ORACLE, Explained, Measure, register, with_absolute

# Features that are masked before whoever watches is told.
_PART = 16


def leave_one_out(explained: Explained) -> dict[str, np.ndarray]:
    """v(∅) − v({i}) on the logit, for every feature that is not masked already.

    Args:
        explained: F features; one pass for v(∅) and one a feature.
    Returns:
        {"signed", "absolute"}: float64[F]; higher is more important.
    Source: FMM App. E; NAOPC §4.
    """
    free = np.flatnonzero(~explained.masked)
    masks = _each_alone(explained.masked)
    values, scores = np.full(len(masks), np.nan), np.zeros(explained.F)
    part = len(masks) if explained.watcher is None else _PART
    for start in range(0, len(masks), part):
        values[start : start + part] = explained.value(masks[start : start + part])
        scores[free] = values[0] - values[1:]
        found = with_absolute(scores, np.abs(scores), explained.masked)
        if explained.watcher is not None:
            explained.watcher(found)
    return found


def _each_alone(masked: np.ndarray) -> np.ndarray:
    """Nothing, then each feature that is not masked already by itself: bool[M, F]."""
    free = np.flatnonzero(~masked)
    masks = np.zeros((len(free) + 1, len(masked)), dtype=bool)
    masks[np.arange(1, len(free) + 1), free] = True
    return masks


register(
    Measure(
        name="leave-one-out",
        definition="Fall of the class’s logit when this feature alone is masked.",
        cost="F + 1",
        passes=lambda F: F + 1,
        needs=ORACLE,
        alone=True,
        source="FMM App. E; NAOPC §4",
        unit="logits",
        compute=leave_one_out,
        ahead=lambda together: together.ask(_each_alone),
        hue="#0072b2",
        order=10,
        default=True,
    )
)
