"""The validity gate: from which masking step on do numbers rest on out-of-distribution inputs?"""

from dataclasses import dataclass

import numpy as np

from core.mathematics.statistics import ALPHA, holm

HOLM, PLAIN = "Holm", "plain"
RULES = (HOLM, PLAIN)
OPEN, NO_REFERENCE, FLOOR, TOO_FEW = "open", "no reference", "floor", "too few"


@dataclass(frozen=True, eq=False)
class Gate:
    """What the tests of K steps say.

    state: "open" where the test can reject, else why it says nothing: "no reference", "floor" (its
    smallest p is 0.05 or more) or "too few" (its smallest p is not below what Holm asks of so many steps).
    rejected: bool[K]; first: the first rejected step, from which on every number is marked, or None;
    threshold: what the smallest p must be below; steps: distinct inputs that are planned; below: how many
    distinct inputs have a p below alpha by itself.
    """

    state: str
    rejected: np.ndarray
    first: int | None
    rule: str
    threshold: float
    steps: int
    below: int

    @property
    def available(self) -> bool:
        return self.state == OPEN

    def beyond(self, step: int) -> bool:
        """Whether a number of this step rests on an input at or after the first rejected one."""
        return self.first is not None and step >= self.first


def decide(
    p: np.ndarray, inputs: np.ndarray, planned: int, floor: float | None, rule: str = HOLM, alpha: float = ALPHA
) -> Gate:
    """Decide over the steps of one masking path.

    Steps that mask the same features are one input and one test. Inputs that are not computed yet
    count as not rejected, and what is rejected stays rejected when they come. The test can only
    reject: a step that is not rejected may be out-of-distribution all the same.

    Args:
        p: float[K], p-values of the steps computed so far, in order.
        inputs: int[K], equal for steps that mask the same features.
        planned: distinct inputs of the whole path.
        floor: the smallest p that the reference can give; None without a reference.
        rule: "Holm" over the planned inputs, or "plain": each p against alpha by itself.
    Returns:
        Gate.
    Raises:
        ValueError: an unknown rule, or not one input for each p-value.
    Source: DESIGN §1, MaSF; FMM §3.3 tests each masking ratio by itself, the plain rule.
    """
    if rule not in RULES:
        raise ValueError(f"the rule must be one of {RULES}, got {rule!r}")
    if len(p) != len(inputs):
        raise ValueError(f"each step has a p-value and an input, got {len(p)} and {len(inputs)}")
    p, threshold = np.asarray(p, dtype=np.float64), alpha / planned if rule == HOLM else alpha
    state = _state(floor, threshold, alpha)
    _, place, back = np.unique(np.asarray(inputs), return_index=True, return_inverse=True)
    distinct = p[place]
    below = int((distinct < alpha).sum())
    if state != OPEN:
        return Gate(state, np.zeros(len(p), dtype=bool), None, rule, threshold, planned, below)
    rejected = (holm(distinct, planned, alpha) if rule == HOLM else distinct < alpha)[back.reshape(-1)]
    return Gate(
        OPEN, rejected, int(np.flatnonzero(rejected)[0]) if rejected.any() else None, rule, threshold, planned, below
    )


def _state(floor: float | None, threshold: float, alpha: float) -> str:
    if floor is None:
        return NO_REFERENCE
    if floor >= alpha:
        return FLOOR
    return TOO_FEW if floor >= threshold else OPEN
