"""Where measures stand between the limits of AOPC, as shares of a line that a saved page draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from core.figures.limit_figures import Gauge
from core.mathematics.search.limits import Limits


@dataclass(frozen=True)
class Axis:
    """A line from one AOPC to another; places on it are CSS lengths, "12.34%"."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """How far along the line a value lies, in percent."""
        return 100 * (value - self.low) / (self.high - self.low)

    def at(self, value: float) -> str:
        """Where a value lies."""
        return f"{self.share(value):.2f}%"

    def wide(self, low: float, high: float) -> str:
        """How wide it is from one value to another."""
        return f"{100 * (high - low) / (self.high - self.low):.2f}%"

    def ticks(self) -> list[float]:
        """Round numbers on the line, at most seven."""
        size = 10.0 ** floor(log10((self.high - self.low) / 6))
        step = next(size * many for many in (1, 2, 5, 10) if (self.high - self.low) / (size * many) <= 6)
        # Not i · step: 3 · 0.1 is no round number, and −0 none at all.
        places = range(ceil(self.low / step), floor(self.high / step) + 1)
        return [float(f"{i * step:.6g}") + 0.0 for i in places]


def lay_axis(rows: Sequence[Gauge], limits: Limits, span: tuple[float, float]) -> Axis:
    """The line that holds measures and limits, and `span`, so that two models' gauges compare; a little longer."""
    reach = [*span, limits.lower, limits.upper]
    reach += [value for row in rows for value in (row.comprehensiveness, row.sufficiency)]
    room = 0.07 * max(max(reach) - min(reach), 1e-3)
    return Axis(min(reach) - room, max(reach) + room)
