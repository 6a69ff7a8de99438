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
