"""Whether something grows is read from its last half, and not from chance."""

import numpy as np
import pytest

from tests.growth import row, slope


@pytest.mark.parametrize("seed", range(5))
def test_what_grows_is_told_from_what_only_varies(seed):
    steps, chance = np.arange(400), np.random.default_rng(seed).normal(0, 3, 400)
    # Filled in the first half, level in the last.
    filled = 600.0 + np.minimum(steps, 200)
    found, low, high = slope(filled + 0.1 * steps + chance)
    assert 0 < low < found < high and found == pytest.approx(10, abs=3)
    assert slope(filled) == pytest.approx((0, 0, 0), abs=1e-9)
    assert row("steps", "files", filled + 0.1 * steps)[2:6] == ["600", "820", "840", "+10.00"]
    assert [row("steps", "files", filled + more)[-1] for more in (0.1 * steps + chance, 0 * steps)] == ["no", "yes"]
