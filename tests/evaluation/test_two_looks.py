"""Who looks at the first twenty texts and then at all of them concludes wrongly on at most one sample in twenty."""

import numpy as np
import pytest
from scipy import stats

from core.evaluation.findings import FEW, look_share
from core.mathematics.statistics import ALPHA, leads, signed_rank_p, significant

pytestmark = pytest.mark.simulation


def test_the_shares_of_both_looks_add_up():
    assert look_share(FEW) + look_share(FEW + 1) == pytest.approx(1)
    assert significant(0.03) and significant(0.03, look_share(200)) and not significant(0.03, look_share(20))


def test_a_difference_is_found_where_there_is_none_on_at_most_five_percent_of_samples_over_both_looks():
    """Differences that lie around 0; tested at 5 % at each look they would err on nearly twice as many samples."""
    rng, samples = np.random.default_rng(4), 900
    p = np.array([[signed_rank_p(one[:n]) for n in (FEW, len(one))] for one in rng.normal(0, 1, (samples, 150))])
    most = stats.binom.ppf(0.999, samples, ALPHA)
    assert (
        (p < ALPHA * np.array([look_share(FEW), look_share(150)])).any(axis=1).sum()
        <= most
        < (p < ALPHA).any(axis=1).sum()
    )


@pytest.mark.parametrize("M", [2, 3])
def test_of_measures_that_are_alike_one_leads_on_at_most_five_percent_of_samples_over_both_looks(M):
    rng, samples = np.random.default_rng(M), 500
    better = rng.random((samples, 100, M)) < rng.uniform(0.1, 0.9, size=(samples, 100, 1))
    found = sum(any(leads(one[:n], look_share(n)) for n in (FEW, 100)) for one in better)
    assert found <= stats.binom.ppf(0.999, samples, ALPHA)
    # It is found where there is one: better on three texts of four, the others on one.
    ahead = rng.random((100, 100, M)) < [0.75, *[0.25] * (M - 1)]
    assert sum(leads(one, look_share(100)) for one in ahead) > 95
