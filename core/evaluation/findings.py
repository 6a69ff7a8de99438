"""What papers found beside what is found here: when the two agree, differ, or cannot be compared."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.mathematics.statistics import ALPHA, Interval
from core.wording import Tally

# Of fewer texts nothing is told.
FEW = 20
# A difference in performance, or in the share of texts rejected, of no more than this is none.
MARGIN = 0.05
NOT_ENOUGH = "not enough to say"


def look_share(n: int) -> float:
    """Of 5 % the share that a test over n texts may spend: a fifth over the first 20, four fifths over more, so that
    who looks at the first 20 and then at all errs on at most 5 % of samples.

    Error rate over both looks, `tests/evaluation/test_two_looks.py`: at most 5 %, where 5 % at each would err on 9 %.
    Texts that are added a few at a time, looked at in between, are not covered.
    Source: Bonferroni over the two looks.
    """
    return 0.2 if n <= FEW else 0.8


# What is found as long as more examples are to come.
_COUNTING = "…"


@dataclass(frozen=True)
class Finding:
    """A finding of a paper with its figure, what is found here, the tests behind it, and whether the two agree."""

    claim: str
    here: str
    agrees: bool | None
    more: str = ""
    paper: str = ""

    @property
    def word(self) -> str:
        """Whether the two agree: "yes", "no" or "not tested"."""
        return {True: "yes", False: "no", None: "not tested"}[self.agrees]


def once_counted(findings: Iterable[Finding], tally: Tally) -> list[Finding]:
    """The findings; while more examples are to come, none agrees or departs yet."""
    if tally.complete or not tally.coming:
        return list(findings)
    return [replace(one, here=_COUNTING, agrees=None, more="") for one in findings]


def of_enough(interval: Interval, n: int) -> Interval:
    """A mean over n texts with its interval, and of fewer than 20 without one."""
    return interval if n >= FEW else Interval(interval.mean, float("nan"), float("nan"))


def not_lower(difference: Interval, n: int) -> bool | None:
    """Whether a difference over n texts is above −5 points: by its whole 95 % interval, True, or not, False; None while
    the interval spans that margin, and of fewer than 20 texts. Not to be told apart from 0 is no proof of being 0.
    """
    if n < FEW or not difference.known:
        return None
    return True if difference.low > -MARGIN else False if difference.high < -MARGIN else None


def not_more(share: Interval, n: int) -> bool | None:
    """The same of a share that should not be more than 5 points above the 5 % that are expected."""
    return not_lower(Interval(ALPHA - share.mean, ALPHA - share.high, ALPHA - share.low), n)


def points_text(difference: Interval, metric: str = "accuracy") -> str:
    """A difference of performance with its interval and the margin: "−20.0 points [−38.1, +2.0], margin 5"."""
    if difference.mean != difference.mean:
        return "—"
    many, unit, digits = (1, "", 2) if metric == "Matthews" else (100, " points", 1)
    told, low, high = (
        f"{many * value:+.{digits}f}".replace("-", "−") for value in (difference.mean, difference.low, difference.high)
    )
    return f"{told}{unit}{f' [{low}, {high}]' if difference.known else ''}, margin {many * MARGIN:g}"
