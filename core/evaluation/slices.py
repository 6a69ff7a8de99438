"""Slices of a data set: how often a model is right on some examples, and whether that differs on the others."""

from dataclasses import dataclass

import numpy as np

from core.data.browsing import Index, Predicted, each_text_once
from core.evaluation.findings import FEW
from core.mathematics.statistics import Interval, share_interval, shares_difference
from core.wording import percent

TOO_FEW, UNSURE, HIGHER, LOWER = "too few to compare", "not significant", "higher", "lower"
COMING = "not all predicted"
# Facets of which every value is a slice, in this order.
BY = ("tag", "label")
HEADER = ("slice", "examples", "right ↑", "accuracy ↑ [95 %]", "against the others, points [95 %]", "accuracy is")


@dataclass(frozen=True)
class Slice:
    """Part of a data set's examples: how many, how many of them can be judged, and on how many the model is right.

    against: how much higher the accuracy is than on the others that can be judged, with its 95 % interval; None where
    there are none on either side; enough: whether both sides have the fewest texts of which anything is told; rejected:
    of those whose path of masking is known, (how many have a rejected step, how many there are).
    """

    examples: int
    judged: int
    right: int
    against: Interval | None
    enough: bool
    rejected: tuple[int, int] = (0, 0)

    @property
    def accuracy(self) -> Interval:
        """Share of right ones among the judged, ↑, with its exact 95 % interval; NaN without any."""
        return share_interval(self.right, self.judged) if self.judged else Interval(np.nan, np.nan, np.nan)

    @property
    def said(self) -> str:
        """Whether accuracy differs from that of the others: by the whole interval, and of enough texts only."""
        if self.against is None or not self.enough:
            return TOO_FEW
        return UNSURE if self.against.holds(0.0) else HIGHER if self.against.mean > 0 else LOWER


def slice_of(judged: Predicted, rows: np.ndarray, texts: np.ndarray | None = None) -> Slice:
    """A slice of a data set. rows: int64[n], distinct places; texts: as of `Index`, so that each text is judged once,
    and one that stands on both sides is none of the others.
    """
    inside = np.zeros(len(judged.right), dtype=bool)
    inside[rows] = True
    told = judged.right >= 0
    mine, others = each_text_once(told & inside, texts), each_text_once(told & ~inside, texts)
    if texts is not None:
        others &= ~np.isin(texts, texts[mine])
    (n, right), (m, rest) = ((int(side.sum()), int((judged.right[side] == 1).sum())) for side in (mine, others))
    against = shares_difference(right, n, rest, m) if n and m else None
    return Slice(int(inside.sum()), n, right, against, min(n, m) >= FEW, _rejected(judged, inside, texts))


def _rejected(judged: Predicted, inside: np.ndarray, texts: np.ndarray | None) -> tuple[int, int]:
    trait = judged.traits.get("rejected")
    if trait is None:
        return 0, 0
    tested = each_text_once(inside & trait.known & ~np.isnan(trait.values), texts)
    return int((tested & (trait.values <= 1)).sum()), int(tested.sum())


def slices_by(index: Index, judged: Predicted, facet: str) -> dict[str, Slice]:
    """Every value of a facet of BY that an example has, in the order of a menu; an example may have several tags."""
    names, members = index.groups[facet]
    # −1 is the last value.
    there = members if members.ndim == 2 else np.arange(len(names))[:, None] == members % len(names)
    return {name: slice_of(judged, np.flatnonzero(some), index.texts) for name, some in zip(names, there) if some.any()}


def rejected_cell(one: Slice) -> str:
    """On how many of the examples whose path is known a step is rejected, "3 of 40 (7.5 %)"."""
    count, tested = one.rejected
    return f"{count:,} of {tested:,} ({percent(count / tested)})" if tested else "not computed"


def slice_cells(one: Slice, complete: bool = True) -> list[str]:
    """A slice in the columns of HEADER, behind its name; complete: whether every example is predicted."""
    accuracy, against = one.accuracy, one.against if complete else None
    return [
        f"{one.examples:,}",
        f"{one.right:,} of {one.judged:,}" if one.judged else "—",
        f"{percent(accuracy.mean)} [{_points(accuracy.low)}, {_points(accuracy.high)}]" if one.judged else "—",
        _difference(against) if against is not None and one.enough else "—",
        one.said if complete else COMING,
    ]


def count_compared(by_facet: dict[str, dict[str, Slice]]) -> int:
    """How many comparisons slices come to: two labels that share all examples between them are one."""
    told = {facet: sum(one.said != TOO_FEW for one in found.values()) for facet, found in by_facet.items()}
    return sum(min(n, 1) if facet == "label" and len(by_facet[facet]) == 2 else n for facet, n in told.items())


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def _difference(one: Interval) -> str:
    mean, low, high = (f"{100 * value:+.1f}".replace("-", "−") for value in (one.mean, one.low, one.high))
    return f"{mean} [{low}, {high}]"
