"""What an entry of the store holds, declared by whoever asks for it; a whole entry that holds anything else is none."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

# The length that the arrays of a segment have in common.
ROWS = "rows"
# Beyond a range: rounding, and no other number.
_ROUNDING = 1e-9


class Numbers(NamedTuple):
    """One array.

    dtype: its name; shape: None where any length will do, a name for a length that arrays of the entry share; low,
    high: the range of its numbers, one bound or some that broadcast against the array; nan: whether NaN may stand for
    what is undefined. Infinity is never held.
    """

    dtype: str
    shape: tuple[int | str | None, ...]
    low: float | tuple[float, ...] = -math.inf
    high: float | tuple[float, ...] = math.inf
    nan: bool = False

    def hold(self, array: np.ndarray, lengths: dict[str, int]) -> bool:
        """Whether an array is such; lengths: those that are shared, by name, filled in."""
        if array.dtype.name != self.dtype or array.ndim != len(self.shape):
            return False
        for wanted, length in zip(self.shape, array.shape):
            wanted = lengths.setdefault(wanted, length) if isinstance(wanted, str) else wanted
            if wanted not in (None, length):
                return False
        fine = np.isfinite(array)
        for beyond, bound in ((np.less, np.subtract(self.low, _ROUNDING)), (np.greater, np.add(self.high, _ROUNDING))):
            if np.isfinite(bound).any():
                fine &= ~beyond(array, bound)
        return bool((fine | np.isnan(array) if self.nan else fine).all())

    def rows(self) -> "Numbers":
        """As many of them as a segment has rows."""
        return self._replace(shape=(ROWS, *self.shape))


@dataclass(frozen=True)
class Content:
    """Arrays by name; those that may be missing; what is said in the metadata, by name, and whether a value is such;
    agrees: whether arrays and metadata that are such by themselves go together.
    """

    arrays: Mapping[str, Numbers]
    meta: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict)
    optional: Collection[str] = ()
    agrees: Callable[[Mapping[str, np.ndarray], Mapping[str, Any]], bool] = lambda arrays, meta: True

    def fits(self, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> bool:
        """Whether an entry holds this and nothing else."""
        lengths: dict[str, int] = {}
        return (
            isinstance(meta, Mapping)
            and arrays.keys() <= self.arrays.keys() <= {*arrays, *self.optional}
            and all(self.arrays[name].hold(array, lengths) for name, array in arrays.items())
            and all(name in meta and fine(meta[name]) for name, fine in self.meta.items())
            and self.agrees(arrays, meta)
        )


def is_text(value: Any) -> bool:
    """Whether a value is text."""
    return isinstance(value, str)


def is_count(value: Any) -> bool:
    """Whether a value is a whole number, at least 0."""
    return type(value) is int and value >= 0


def is_amount(value: Any) -> bool:
    """Whether a value is a finite number, at least 0."""
    return type(value) in (int, float) and 0 <= value < math.inf
