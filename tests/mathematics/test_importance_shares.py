"""How much of an attribution lies in its largest scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.mathematics.curves import importance_shares


def test_by_hand():
    assert importance_shares(np.array([-3.0, 1.0, 0.0, 4.0])) == pytest.approx([0.5, 0.875, 1, 1])
    assert importance_shares(np.full(4, -2.0)) == pytest.approx([0.25, 0.5, 0.75, 1])
    assert importance_shares(np.array([7.0])) == pytest.approx([1])
    assert np.isnan(importance_shares(np.zeros(3))).all()


@given(arrays(float, st.integers(1, 12), elements=st.floats(-1e300, 1e300)), st.randoms())
def test_shares_rise_ever_more_slowly_to_one_and_know_no_order_sign_or_scale(scores, random):
    shares = importance_shares(scores)
    if not np.any(scores):
        assert np.isnan(shares).all()
        return
    steps = np.diff(shares, prepend=0)
    assert shares[-1] == 1 and (steps >= -1e-12).all() and (np.diff(steps) <= 1e-12).all()
    other = [-one for one in scores]
    random.shuffle(other)
    assert importance_shares(np.array(other)) == pytest.approx(shares)
    assert (shares >= np.arange(1, len(scores) + 1) / len(scores) - 1e-12).all()
