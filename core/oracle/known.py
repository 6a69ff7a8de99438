"""What an oracle can say without asking the network."""

import numpy as np

from core.mathematics.arrays import Value
from core.oracle.oracle import Oracle


class Unknown(Exception):
    """A score that is not known yet."""


def known_value(oracle: Oracle, value: Value) -> Value:
    """A value, bool[M, F] → float[M], that raises Unknown instead of asking the network; it waits for nobody.

    Args:
        oracle: of the masks; value: what asks it, as `core.explanation.limiting.value_by_mask`.
    """

    def known(masks: np.ndarray) -> np.ndarray:
        if not oracle.known(masks).all():
            raise Unknown
        return value(masks)

    return known


def known_predictions(oracle: Oracle, masks: np.ndarray) -> np.ndarray:
    """The class predicted under bool[M, F] masks → int[M], −1 where nobody asked yet; it asks the network nothing."""
    known = oracle.known(masks)
    found = np.full(len(masks), -1)
    found[known] = oracle.logits(masks[known]).argmax(axis=1)
    return found
