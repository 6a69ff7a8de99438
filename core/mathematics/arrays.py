"""Kinds of arrays and callables that many rooms speak of, named once, each with its shape and meaning."""

from collections.abc import Callable

import numpy as np

# bool[M, F], True = masked.
Masks = np.ndarray
# int64[K], distinct features, the one that is masked first comes first.
Order = np.ndarray
# v of masks → float[M]: the masking oracle for one class.
Value = Callable[[Masks], np.ndarray]
