"""Measures between the limits of AOPC, drawn with plain HTML for pages that are saved."""

from collections.abc import Sequence
from math import ceil, floor, log10

from core.figures.limit_figures import Gauge, Range
from core.figures.palette import RANDOM
from core.reports.page_parts import number, typed
from core.validity.marks import KEY, with_sign

# Where there is no number there is nothing to mark.
# Shapes tell the directions apart without colour; a cross instead of either: rejected inputs look the same in every
# figure.
_SHAPES = {
    "full": "M3 2L14 8L3 14Z",
    "open": "M13 2L2 8L13 14Z",
    "cross": "M3 3L13 13M13 3L3 13",
    "middle": "M8 1L15 8L8 15L1 8Z",
}


def drawn_gauge(
    rows: Sequence[Gauge],
    chance: Range | None,
    limits: tuple[float, float],
    tag: str,
    score: str,
    span: tuple[float, float],
    closest: str = "",
) -> str:
    """HTML of measures between (lower, upper): a band, a mark and a number for each direction, NAOPC beside them,
    random orders below.

    Args:
        tag: "exact" or "beam 5".
        score: name of the score, "probability of positive".
        span: what the axis must hold, so that two models' gauges compare.
        closest: the measure that comes closest to the best limit, to be marked.
    Source: NAOPC Eq. 8.
    """
    reach = [*span, *limits, *(value for row in rows for value in (row.comprehensiveness, row.sufficiency))]
    room = 0.07 * max(max(reach) - min(reach), 1e-3)
    axis = min(reach) - room, max(reach) + room
    band = f'<span class="band" style="left:{_at(limits[0], axis)};width:{_wide(*limits, axis)}"></span>'
    ends = _edge(limits[1], axis, f"upper limit {number(limits[1])} ({typed(tag)})", "first")
    ends += _edge(limits[0], axis, f"lower limit {number(limits[0])} ({typed(tag)})", "")
    lines = [_line("", ends, "<b>NAOPC</b>", "line ends")]
    lines += [_measure(row, axis, band, row.name == closest) for row in rows] or [
        _line("no measure", band, "—", "line")
    ]
    lines += [_chance(chance, axis, band)] if chance is not None else []
    ticks = "".join(
        f'<span class="tick" style="left:{_at(value, axis)}">{number(value)}</span>' for value in _ticks(*axis)
    )
    lines += [_line("", ticks, "", "line axis"), _line("", f"AOPC: mean fall of the {typed(score)}", "", "line name")]
    return f'<div class="gauge">\n{"".join(lines)}</div>\n{_legend(rows, chance)}'


def _line(name: str, lane: str, beside: str, kind: str) -> str:
    return (
        f'<div class="{kind}"><div class="who">{name}</div><div class="lane">{lane}</div><div '
        f'class="normal">{beside}</div></div>\n'
    )


def _measure(row: Gauge, axis: tuple[float, float], band: str, closest: bool) -> str:
    marks = ""
    for value, arrow, shape, place, marked in (
        (row.comprehensiveness, "↑", "full", "up", row.marked[0]),
        (row.sufficiency, "↓", "open", "down", row.marked[1]),
    ):
        marks += _mark(value, axis, "cross" if marked else shape, place, row.hue)
        marks += (
            f'<span class="value {place}" style="left:{_at(value, axis)}">{arrow} '
            f"{with_sign(number(value), marked)}</span>"
        )
    normal = ""
    for arrow, text in zip("↑↓", row.normal):
        normal += f"<span>{arrow} <b>{typed(text.replace('-', '−'))}</b></span>"
    best = '<span class="mark">comes closest</span>' if closest else ""
    return _line(
        f'<span class="swatch" style="background:{row.hue}"></span><span>{typed(row.name)}{best}</span>',
        band + marks,
        normal,
        "line",
    )


def _chance(chance: Range, axis: tuple[float, float], band: str) -> str:
    reach = (
        f'<span class="reach" style="left:{_at(chance.low, axis)};width:{_wide(chance.low, chance.high, axis)}"></span>'
    )
    text = f'<span class="value up" style="left:{_at(chance.mean, axis)}">{number(chance.mean)}</span>'
    text += (
        f'<span class="value down" style="left:{_at(chance.mean, axis)}">{number(chance.low)} to '
        f"{number(chance.high)}</span>"
    )
    name = f'<span class="swatch" style="background:{RANDOM}"></span>random order'
    return _line(
        name,
        band + reach + _mark(chance.mean, axis, "middle", "", RANDOM) + text,
        f"<span><b>{typed(chance.normal.replace('-', '−'))}</b></span>",
        "line",
    )


def _mark(value: float, axis: tuple[float, float], shape: str, place: str, hue: str) -> str:
    kind = " ".join(part for part in ("tip", shape, place) if part)
    return (
        f'<svg class="{kind}" viewBox="0 0 16 16" aria-hidden="true" '
        f'style="left:{_at(value, axis)};color:{hue}"><path d="{_SHAPES[shape]}"></path></svg>'
    )


def _edge(value: float, axis: tuple[float, float], text: str, line: str) -> str:
    """The name of a limit: it reaches from its line to the middle, and never out of the figure."""
    share = float(_at(value, axis)[:-1])
    side = f"left:{share:.2f}%" if share < 50 else f"right:{100 - share:.2f}%"
    kind = " ".join(part for part in ("edge", line, "" if share < 50 else "back") if part)
    return f'<span class="{kind}" style="{side}">{text}</span>'


def _legend(rows: Sequence[Gauge], chance: Range | None) -> str:
    keys = []
    if rows:
        keys += [
            _key("full", "comprehensiveness (↑ higher is better)"),
            _key("open", "sufficiency (↓ lower is better)"),
        ]
    if any(any(row.marked) for row in rows):
        keys.append(_key("cross", KEY))
    if chance is not None:
        keys.append(_key("middle", f"random orders: mean, and middle 95 % of {chance.orders}"))
    keys.append('<span class="key"><span class="sample"></span>what this model allows</span>')
    note = "NAOPC is the place in the band, 0 at the lower and 1 at the upper limit: ↑ 1 is best, ↓ 0 is best."
    return f'<p class="legend">{"".join(keys)}</p>\n<p class="quiet">{note}</p>\n'


def _key(shape: str, text: str) -> str:
    return (
        f'<span class="key"><svg class="tip {shape}" viewBox="0 0 16 16" aria-hidden="true"><path '
        f'd="{_SHAPES[shape]}"></path></svg>{text}</span>'
    )


def _at(value: float, axis: tuple[float, float]) -> str:
    return f"{100 * (value - axis[0]) / (axis[1] - axis[0]):.2f}%"


def _wide(low: float, high: float, axis: tuple[float, float]) -> str:
    return f"{100 * (high - low) / (axis[1] - axis[0]):.2f}%"


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers on the axis, at most seven."""
    size = 10.0 ** floor(log10((high - low) / 6))
    step = next(size * many for many in (1, 2, 5, 10) if (high - low) / (size * many) <= 6)
    # Not i · step: 3 · 0.1 is no round number, and −0 none at all.
    return [float(f"{i * step:.6g}") + 0.0 for i in range(ceil(low / step), floor(high / step) + 1)]
