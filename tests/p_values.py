"""p-values to try, and Holm's test as he tells it."""

from hypothesis import settings
from hypothesis import strategies as st

PROPERTY = settings(deadline=None, max_examples=150, derandomize=True)
p_values = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.01, 0.05, 0.05 / 2, 0.05 / 3, 0.05 / 4])
several = st.lists(p_values, min_size=1, max_size=9)


def slow_holm(p, planned, alpha):
    """As Holm tells it: reject the smallest p left, as long as it is below alpha over how many hypotheses are left."""
    rejected, left = [False] * len(p), list(range(len(p)))
    while left:
        smallest = min(left, key=lambda i: p[i])
        if not p[smallest] < alpha / (planned - sum(rejected)):
            break
        rejected[smallest] = True
        left.remove(smallest)
    return rejected
