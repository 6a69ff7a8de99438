"""Leave-pair-out, an example: this file alone would be the whole of it in `core/measures`."""

import numpy as np

from core.measures.registry import ORACLE, Explained, Measure, register, with_absolute


def leave_pair_out(explained: Explained) -> dict[str, np.ndarray]:
    """v(∅) − v({i, i + 1}) on the logit, for every feature that is not masked already; the last one alone.

    Returns:
        {"signed", "absolute"}: float64[F]; higher is more important.
    Source: made up, after FMM App. E.
    """
    free = np.flatnonzero(~explained.masked)
    masks = np.zeros((len(free) + 1, explained.F), dtype=bool)
    masks[1:] = [np.isin(np.arange(explained.F), (i, i + 1)) for i in free] or masks[1:]
    values = explained.value(masks)
    scores = np.zeros(explained.F)
    scores[free] = values[0] - values[1:]
    return with_absolute(scores, np.abs(scores), explained.masked)


register(
    Measure(
        name="leave-pair-out",
        definition="How much the logit of the class falls when this feature and the next one are masked.",
        cost="F + 1",
        passes=lambda F: F + 1,
        needs=ORACLE,
        source="FMM App. E, in pairs",
        unit="logits",
        compute=leave_pair_out,
        hue="#6b7a1f",
        order=15,
        default=True,
    )
)
