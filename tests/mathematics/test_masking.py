"""At which ratio of a reference a masked input is compared, by hand."""

import numpy as np

from core.mathematics.masking import RATIOS, masked_count, nearest_ratio, path_ratios


def test_the_nearest_tenth_is_half_up_and_never_none_or_all_by_rounding():
    # Of 20: 1 is 0.05 and goes up to 0.1, 3 is 0.15 and goes up to 0.2, 19 is 0.95 and stays at 0.9.
    assert nearest_ratio(np.array([0, 1, 2, 3, 10, 18, 19, 20]), 20).tolist() == [0, 1, 1, 2, 5, 9, 9, 10]
    # Of 100 one is nearer to none, and 99 nearer to all.
    assert nearest_ratio(np.array([0, 1, 99, 100]), 100).tolist() == [0, 1, 9, 10]
    assert nearest_ratio(np.array([0, 1]), 1).tolist() == [0, 10]
    # Shares that are kept, as soft perturbations take them away.
    assert nearest_ratio(np.array([0.0, 1e-12, 0.02, 0.25, 0.34, 1 - 1e-12]), 1).tolist() == [0, 0, 1, 3, 3, 10]


def test_a_step_of_a_path_is_compared_at_its_own_ratio():
    for F in (1, 3, 7, 10, 29):
        counts = np.array([masked_count(ratio, F) for ratio in RATIOS])
        assert path_ratios(counts, F).tolist() == list(range(11)), "also where a ratio masks nothing yet"
    # Of ten, three that the text itself masks: at 0, 0.1 and 0.2 it is as masked as others at 0.3.
    assert path_ratios(np.maximum(np.arange(11), 3), 10).tolist() == [3, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10]
