"""Where the names of points stand in a picture, so that none lies on another, or on another's point."""

import itertools
from collections.abc import Sequence

import numpy as np

# Pixels: of a letter of 12 px and a line of it, of a point and the gap beside it, and of plots, wide and on a phone.
_LETTER, _LINE, _POINT, _GAP = 6.6, 15.0, 11.0, 4.0
# Of a name's ends: a bar that only touches one does not strike it through.
_ENDS = np.array([3.0, 0.0, -3.0, 0.0])
WIDTHS, HEIGHT = (640.0, 280.0), 290.0
# How much what is covered counts on either: a board is looked at on a wide screen more often than on a phone.
_COUNTS = (3.0, 1.0)
# Plotly's words for a place, the most usual first, with the way from the point: right, and up.
PLACES = {
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top right": (1, 1),
    "bottom right": (1, -1),
    "top left": (-1, 1),
    "bottom left": (-1, -1),
}
# What a less usual place costs, in pixels that are covered twice, how many are seen as two names on each other, and
# what a name costs that would have to go for it.
_UNUSUAL, _SEEN, _GONE = 0.5, 20.0, 500.0


def label_places(
    at: Sequence[tuple[float, float]],
    names: Sequence[str],
    taken: Sequence[tuple[float, float, float, float]] = (),
    level: tuple[float, str] | None = None,
) -> list[str]:
    """The place of each name beside its point, one of PLACES, so that it lies on little else, two names moved at a
    time; "" for a name that would still lie on another, or beyond the plot, in a wide window or on a phone.

    at: points as shares of width and height, from the left and from below; taken: boxes of what is no name, likewise;
    level: how high a line is that is named at its left end, and its name.
    """
    n, P = len(at), len(PLACES)
    own, between = np.tile(_UNUSUAL * np.arange(P), (n, 1)), np.zeros((n, P, n, P))
    # Pixels of other names, and beyond the plot, in one window alone.
    alone, apart = np.zeros((n, P)), np.zeros((n, P, n, P))
    for width, counts in zip(WIDTHS, _COUNTS):
        boxes = np.array([[label_box(one, name, place, width) for place in PLACES] for one, name in zip(at, names)])
        points = [_around((x * width, y * HEIGHT), _POINT, _POINT) for x, y in at]
        bars = [np.array(one) * (width, HEIGHT, width, HEIGHT) for one in taken]
        words = _beyond(boxes, width) + (0.0 if level is None else _overlap(boxes, level_box(*level)))
        over = _overlap(boxes[:, :, None, None], boxes[None, None])
        covered = sum(_overlap(boxes, one) for one in points) + sum(_overlap(boxes + _ENDS, one) for one in bars)
        own += counts * (words + covered)
        between += counts * over
        alone, apart = np.maximum(alone, words), np.maximum(apart, over)
    own, between = own + _GONE * (alone > _SEEN), between + _GONE * (apart > _SEEN)
    chosen = _chosen(own, between)
    rows = np.arange(n)
    pixels = apart[rows, chosen][:, rows, chosen]
    np.fill_diagonal(pixels, alone[rows, chosen])
    gone = _in_the_way(pixels)
    return ["" if i in gone else list(PLACES)[k] for i, k in enumerate(chosen)]


def _chosen(own: np.ndarray, between: np.ndarray) -> np.ndarray:
    """The cheapest place of each name, int64[n]; what each costs by itself, [n, P], and each two, [n, P, n, P]."""
    n = len(own)
    chosen = np.zeros(n, dtype=int)
    for _ in range(n):
        before = chosen.copy()
        for i, j in itertools.product(range(n), repeat=2):
            rest = [k for k in range(n) if k not in (i, j)]
            first, second = (own[k] + between[k][:, rest, chosen[rest]].sum(axis=1) for k in (i, j))
            if i == j:
                chosen[i] = int(first.argmin())
                continue
            both = np.add.outer(first, second) + between[i][:, j]
            chosen[i], chosen[j] = np.unravel_index(int(both.argmin()), both.shape)
        if (chosen == before).all():
            break
    return chosen


def _in_the_way(pixels: np.ndarray) -> set[int]:
    """Names to leave out, those on most others first, until none is seen on another; pixels of each two, [n, n]."""
    gone = set()
    while pixels.max(initial=0.0) > _SEEN:
        most = int(np.where(pixels > _SEEN, pixels, 0.0).sum(axis=1).argmax())
        pixels[most], pixels[:, most] = 0.0, 0.0
        gone.add(most)
    return gone


def label_box(at: tuple[float, float], name: str, place: str, width: float) -> np.ndarray:
    """(left, bottom, right, top) of a name in a plot of so many pixels, y upwards."""
    (right, up), wide = PLACES[place], _LETTER * len(name)
    # At a corner the name begins at the point's middle, as Plotly has it.
    x = at[0] * width + right * (wide / 2 + (0 if up else _POINT / 2 + _GAP))
    return _around((x, at[1] * HEIGHT + up * (_POINT / 2 + _LINE / 2)), wide, _LINE)


def _beyond(boxes: np.ndarray, width: float) -> np.ndarray:
    """Pixels of boxes [..., 4] that are beyond the plot."""
    plot = np.array([0.0, -_LINE, width, HEIGHT + _LINE])
    return np.prod(boxes[..., 2:] - boxes[..., :2], axis=-1) - _overlap(boxes, plot)


def level_box(height: float, name: str) -> np.ndarray:
    """The same of the name of a line across the plot, above its left end."""
    wide = _LETTER * len(name)
    return _around((wide / 2, height * HEIGHT + 1.5 + _LINE / 2), wide, _LINE)


def _around(middle: tuple[float, float], wide: float, high: float) -> np.ndarray:
    (x, y) = middle
    return np.array([x - wide / 2, y - high / 2, x + wide / 2, y + high / 2])


def _overlap(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Pixels that boxes [..., 4] cover together."""
    low, high = np.maximum(one[..., :2], other[..., :2]), np.minimum(one[..., 2:], other[..., 2:])
    return np.prod(np.clip(high - low, 0.0, None), axis=-1)
