"""Curves over the share of masked words as a picture without script, for saved pages and notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

WIDTH, HEIGHT = 640, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 10, 24
# Colour is not the only sign.
_DASHES = ("", "7 3", "2 3", "9 3 2 3")


@dataclass(frozen=True, eq=False)
class CurvePicture:
    """Lines over one axis from 0 to 1.

    x: float[K] in [0, 1]; lines: (name, colour "#rrggbb", values float[K]) each; score: name of the values; low, high:
    ends of their axis.
    """

    x: np.ndarray
    lines: Sequence[tuple[str, str, np.ndarray]]
    score: str
    low: float = 0.0
    high: float = 1.0

    @property
    def drawn(self) -> list[dict[str, str]]:
        """Each line with its dashes and the points of a polyline."""
        return [
            {
                "name": name,
                "colour": colour,
                "dash": _DASHES[i % len(_DASHES)],
                "points": " ".join(f"{self.across(x):.1f},{self.down(v):.1f}" for x, v in zip(self.x, values)),
            }
            for i, (name, colour, values) in enumerate(self.lines)
        ]

    @property
    def ticks(self) -> list[float]:
        """Where lines are drawn across, values."""
        return np.linspace(self.low, self.high, 5).tolist()

    def across(self, x: float) -> float:
        """The place of a share, in pixels from the left."""
        return LEFT + x * (WIDTH - LEFT - RIGHT)

    def down(self, value: float) -> float:
        """The place of a value, in pixels from the top."""
        return TOP + (self.high - value) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)
