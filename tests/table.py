"""A model that is a table: v of each of the 2^F sets of masked features, looked up and counted."""

from collections import Counter
from itertools import combinations

import numpy as np

from core.mathematics.search.limits import beam_search, exact_search
from core.mathematics.stepwise import finish
from core.measures.registry import Explained


class Table:
    """v by lookup. `asked` counts how often each set was asked for, across all calls.

    Args:
        values: float[2^F]; the set S stands at Σ_{i∈S} 2^i. Or {sorted tuple: v} with all 2^F sets.
    """

    def __init__(self, values):
        if isinstance(values, dict):
            F = max(map(len, values))
            values = [values[members(code, F)] for code in range(2**F)]
        self.values = np.asarray(values, dtype=np.float64)
        self.F = len(self.values).bit_length() - 1
        assert len(self.values) == 2**self.F, "a table has one value for each set"
        self.asked = Counter()

    def value(self, masks: np.ndarray) -> np.ndarray:
        """v of bool[M, F] → float64[M]."""
        assert masks.dtype == bool and masks.ndim == 2 and masks.shape[1] == self.F
        codes = masks @ (1 << np.arange(self.F))
        self.asked.update(codes.tolist())
        return self.values[codes]

    def logits(self, masks: np.ndarray) -> np.ndarray:
        """float64[M, 3]: v is class 1; the others are numbers that would be noticed."""
        v = self.value(masks)
        return np.column_stack([1000 - 3 * v, v, np.full(len(v), -77.0)])

    def explained(self, masked=(), **more) -> Explained:
        """Explain class 1 with the features `masked` masked already."""
        start = np.zeros(self.F, dtype=bool)
        start[list(masked)] = True
        return Explained(self.logits, self.F, 1, start, **more)

    def gain(self, *features) -> float:
        """v(∅) − v(S)."""
        return float(self.values[0] - self.values[sum(1 << i for i in features)])


def members(code: int, F: int) -> tuple[int, ...]:
    """The features of a set from its place in the table."""
    return tuple(i for i in range(F) if code >> i & 1)


def from_gains(F: int, gains: dict[str, float], otherwise: float = 0.0, whole: float = 100.0) -> Table:
    """The table with v(∅) = `whole` and v(S) = whole − gain; sets are spelled "013"."""
    spelled = {tuple(map(int, name)): gain for name, gain in gains.items()}
    sets = [s for k in range(F + 1) for s in combinations(range(F), k)]
    assert set(spelled) <= set(sets), "a set is spelled in ascending order"
    return Table({s: whole - (spelled.get(s, otherwise) if s else 0.0) for s in sets})


def beam_limits(value, F, width, masked=None, rescore=None):
    """`beam_search`, run to its end."""
    return finish(beam_search(value, F, width, masked, rescore))


def exact_limits(*asked, **more):
    """A search for exact limits, run to its end."""
    return finish(exact_search(*asked, **more))
