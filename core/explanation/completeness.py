"""Whether scores add up to what they should: to what masking everything takes, or to the fall along a path."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

import numpy as np
from cachetools import LRUCache, cached

from core.explanation.explainer import Attribution, Explainer
from core.measures.catalogue import measure
from core.measures.registry import Explained, Measure
from core.network.features import Encoded
from core.oracle.inside import Inside
from core.oracle.target import Target, logit_of
from core.wording import number

Cancelled: TypeAlias = Callable[[], bool] | None
SUMMED = "sum", "due", "error", "large"


@dataclass(frozen=True)
class Completeness:
    """What a measure's signed scores add up to, and what is due: v(∅) − v(all masked), or of a path, whose scores are
    those of all tokens, f(x) − f(baseline); in logits.
    """

    measure: str
    total: float
    due: float

    @property
    def error(self) -> float:
        """total − due, in logits; 0, also where only rounding is left, is complete."""
        return round(self.total - self.due, 6) + 0.0

    @property
    def large(self) -> bool:
        """Whether the error is more than a tenth of what is due."""
        return abs(self.error) > 0.1 * abs(self.due)

    @property
    def cells(self) -> list[str]:
        """Of a table, under SUMMED."""
        return [*(f"{number(one)} logits" for one in (self.total, self.due, self.error)), "yes" if self.large else "no"]


def _key(explainer: Explainer, encoded: Encoded, found: Attribution) -> tuple:
    signed, model = found.scores.get("signed", np.empty(0)), explainer.model
    return model.digest, model.precision, encoded.digest, found.measure, found.target, signed.tobytes()


# A page that is drawn again asks for the same.
@cached(LRUCache(64), key=_key, lock=Lock())
def completeness(explainer: Explainer, encoded: Encoded, found: Attribution) -> Completeness | None:
    """Compare the sum of scores with what is due: at most two forward passes, but of a path all of its own once more.

    Returns:
        None for a measure whose scores are not meant to add up to anything.
    Raises:
        Cancelled, OutOfMemory, NonFinite: as the oracle.
    Source: Sundararajan et al. (2017), the axiom of completeness; for Shapley values, efficiency.
    """
    named = measure(found.measure)
    if named.path is not None:
        return Completeness(found.measure, *path_of(explainer, encoded, named, found.target, named.passes(encoded.F)))
    if not named.complete:
        return None
    ends = np.array([encoded.premasked, np.ones(encoded.F, dtype=bool)])
    whole, empty = logit_of(explainer.oracles.of(encoded).logits(ends).astype(np.float64), found.target)
    return Completeness(found.measure, float(found.scores["signed"].sum()), float(whole - empty))


def path_of(
    explainer: Explainer, encoded: Encoded, measure: Measure, target: Target, steps: int, cancelled: Cancelled = None
) -> tuple[float, float]:
    """Sum and due of a measure's path in so many steps, see `Measure.path`; cancelled: asked before each batch."""
    inside = Inside(explainer.model, encoded, encoded.premasked, target)
    logits, features = explainer.oracles.of(encoded).logits, encoded.features
    explained = Explained(logits, encoded.F, target, encoded.premasked, inside=inside, features=features)
    assert measure.path is not None
    with inside.watched(None, cancelled):
        return measure.path(explained, steps)
