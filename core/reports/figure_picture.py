"""A figure of Plotly's as shapes of a picture without script: bars, lines, marks, intervals and levels."""

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.wording import number, shortened

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 640, 170, 16, 26, 44
_LOW, _HIGH = 220, 480
_DASHES = {"dash": "7 4", "dot": "2 3", "longdash": "11 4", "dashdot": "7 3 2 3", "longdashdot": "11 3 2 3"}
# Marks of one pixel's radius, to be scaled.
_MARKS = {
    "circle": "M-1,0 a1,1 0 1,0 2,0 a1,1 0 1,0 -2,0",
    "square": "M-.9,-.9 h1.8 v1.8 h-1.8 z",
    "diamond": "M0,-1.2 L1.2,0 L0,1.2 L-1.2,0 z",
    "triangle-up": "M0,-1.1 L1.1,.9 L-1.1,.9 z",
    "triangle-down": "M0,1.1 L1.1,-.9 L-1.1,-.9 z",
    "x": "M-1,-.6 L-.6,-1 L0,-.4 L.6,-1 L1,-.6 L.4,0 L1,.6 L.6,1 L0,.4 L-.6,1 L-1,.6 L-.4,0 z",
}


@dataclass(frozen=True, eq=False)
class Scale:
    """One axis in pixels. names: of its categories, none of numbers; low, high: its ends, logarithms where it is
    logarithmic; start, end: pixels of these; about: as Plotly has it.
    """

    names: Sequence[str]
    low: float
    high: float
    start: float
    end: float
    about: Mapping[str, Any]

    def at(self, value: Any) -> float | None:
        """The pixel of a value; None where it has none."""
        if isinstance(value, str):
            place: float | None = float(self.names.index(value)) if value in self.names else None
        else:
            place = _plain(value, self.about)
        if place is None:
            return None
        return self.start + (place - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Pixels and texts of its ticks."""
        values = self.about.get("tickvals") or list(self.names) or _round_values(self.low, self.high, self.about)
        texts = self.about.get("ticktext") or [one if isinstance(one, str) else number(one) for one in values]
        found = [(self.at(value), bare_text(text, 24)) for value, text in zip(values, texts)]
        inside = sorted((self.start, self.end))
        return [(place, text) for place, text in found if place is not None and inside[0] - 1 <= place <= inside[1] + 1]


@dataclass(eq=False)
class FigurePicture:
    """Shapes as a template draws them: {kind, its attributes …} each, and {name: colour} of the legend."""

    height: float
    shapes: list[dict[str, Any]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)


def draw_picture(figure: Mapping[str, Any]) -> FigurePicture:
    """The shapes of a figure; what it has besides bars, lines, marks, intervals and levels is left out."""
    layout, traces = figure["layout"], [one for one in figure["data"] if one.get("visible", True) is True]
    height = min(max(float(layout.get("height", _LOW)), _LOW), _HIGH)
    made, scales = FigurePicture(height), {}
    for end in sorted({str(one.get("xaxis", "x"))[1:] for one in traces}):
        own = [one for one in traces if str(one.get("xaxis", "x"))[1:] == end]
        across = _scale("x", own, layout.get(f"xaxis{end}", {}), LEFT, WIDTH - RIGHT)
        down = _scale("y", own, layout.get(f"yaxis{end}", {}), height - BOTTOM, TOP)
        scales[end] = across, down
        _draw_axes(made, across, down)
    below: dict[tuple, float] = {}
    groups = [one for one in traces if one["type"] == "bar"] if layout.get("barmode") != "stack" else []
    for one in traces:
        across, down = scales[str(one.get("xaxis", "x"))[1:]]
        if one["type"] == "bar":
            slot = (groups.index(one), len(groups)) if len(groups) > 1 else (0, 1)
            _draw_bars(made, one, across, down, below, slot)
        else:
            _draw_points(made, one, across, down)
        if one.get("name") and one.get("showlegend", True):
            made.names.setdefault(bare_text(one["name"], 60), _colour(one))
    for one in layout.get("shapes", ()):
        _draw_level(made, one, scales)
    return made


def bare_text(text: Any, most: int) -> str:
    """A label as text: without Plotly's markup."""
    return shortened(html.unescape(re.sub(r"<br ?/?>", " ", re.sub(r"</?(?:b|i|span)[^>]*>", "", str(text)))), most)


def _scale(which: str, traces: Sequence[dict], about: Mapping[str, Any], start: float, end: float) -> Scale:
    low_share, high_share = about.get("domain", (0, 1))
    start, end = start + low_share * (end - start), start + high_share * (end - start)
    values = [value for one in traces for value in _values(one, which)]
    names = list(dict.fromkeys(value for value in values if isinstance(value, str)))
    if names:
        low, high = -0.5, len(names) - 0.5
    elif "range" in about:
        low, high = map(float, about["range"])
    else:
        places = [place for value in values if (place := _plain(value, about)) is not None] or [0.0, 1.0]
        room = 0.05 * (max(places) - min(places) or 1.0)
        low, high = min(places) - room, max(places) + room
    if about.get("autorange") == "reversed":
        low, high = high, low
    return Scale(names, low, high, start, end, about)


def _values(one: Mapping[str, Any], which: str) -> Iterable[Any]:
    """What an axis has to hold of a trace: values, ends of intervals, and where bars begin."""
    values = list(one.get(which) or ())
    if one["type"] == "bar" and (one.get("orientation") == "h") == (which == "x"):
        return [*values, 0.0]
    for i, (below, above) in _errors(one, which).items():
        if isinstance(values[i], (int, float)):
            values += [values[i] - below, values[i] + above]
    return values


def _errors(one: Mapping[str, Any], which: str) -> dict[int, tuple[float, float]]:
    about = one.get(f"error_{which}") or {}
    above = about.get("array") or []
    below = about.get("arrayminus") or above
    return {i: (low, high) for i, (low, high) in enumerate(zip(below, above)) if low is not None and high is not None}


def _plain(value: Any, about: Mapping[str, Any]) -> float | None:
    if value is None or isinstance(value, str) or not math.isfinite(value):
        return None
    if about.get("type") == "log":
        return math.log10(value) if value > 0 else None
    return float(value)


def _round_values(low: float, high: float, about: Mapping[str, Any]) -> list[float]:
    """Round numbers between two ends."""
    low, high = sorted((low, high))
    if about.get("type") == "log":
        return [10.0**power for power in range(math.ceil(low), math.floor(high) + 1)]
    size = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(size * many for many in (1, 2, 5, 10) if (high - low) / (size * many) <= 5)
    return [float(f"{i * step:.6g}") for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _draw_axes(made: FigurePicture, across: Scale, down: Scale) -> None:
    for place, text in across.ticks:
        made.shapes.append(_line(place, down.start, place, down.end, "currentColor", 0.15))
        made.shapes.append(_text(place, down.start + 15, text, "middle"))
    for place, text in down.ticks:
        made.shapes.append(_line(across.start, place, across.end, place, "currentColor", 0.15))
        made.shapes.append(_text(across.start - 6, place + 4, text, "end"))
    titles = [bare_text((one.about.get("title") or {}).get("text", ""), 60) for one in (across, down)]
    if titles[0]:
        made.shapes.append(_text((across.start + across.end) / 2, made.height - 8, f"{titles[0]} →", "middle"))
    if titles[1]:
        made.shapes.append(
            _text(across.start, down.end - 10, f"{titles[1]} ↓" if down.low > down.high else titles[1], "start")
        )


def _draw_bars(
    made: FigurePicture, one: Mapping[str, Any], across: Scale, down: Scale, below: dict, slot: tuple[int, int]
) -> None:
    """slot: which of how many bars side by side; below: where stacked ones begin, by category and axis."""
    flat = one.get("orientation") == "h"
    along, by = (across, down) if flat else (down, across)
    texts = one.get("text") or [""] * len(one["x"])
    places, values = (one["y"], one["x"]) if flat else (one["x"], one["y"])
    step = abs(by.end - by.start) / max(1, len(by.names) or len(places))
    thick = 0.7 * step / slot[1]
    for place, value, text in zip(places, values, texts):
        middle = by.at(place)
        if middle is None or value is None:
            continue
        base = below.get((place, id(along)), 0.0) if slot[1] == 1 else 0.0
        below[place, id(along)] = base + value
        ends = sorted((along.at(base) or along.start, along.at(base + value) or along.start))
        side = middle + (slot[0] - (slot[1] - 1) / 2) * thick - thick / 2
        box = (ends[0], side, ends[1] - ends[0], thick) if flat else (side, ends[0], thick, ends[1] - ends[0])
        made.shapes.append({"kind": "rect", "box": box, "colour": _colour(one, list(places).index(place))})
        if text and ends[1] - ends[0] > 14:
            at = (sum(ends) / 2, middle + 4) if flat else (middle, sum(ends) / 2)
            made.shapes.append(_text(*at, bare_text(text, 12), "middle", "#000000"))


def _draw_points(made: FigurePicture, one: Mapping[str, Any], across: Scale, down: Scale) -> None:
    mode, points = str(one.get("mode", "lines")), []
    for x, y in zip(one["x"], one["y"]):
        places = across.at(x), down.at(y)
        points.append(None if None in places else places)
    if "lines" in mode:
        line, run = one.get("line", {}), []
        for point in [*points, None]:
            if point is None and len(run) > 1 and line.get("width", 2):
                drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in run)
                dash = _DASHES.get(line.get("dash", ""), "")
                made.shapes.append({"kind": "polyline", "points": drawn, "colour": _colour(one), "dash": dash})
            run = [*run, point] if point is not None else []
    for i, point in enumerate(points):
        if point is None:
            continue
        for which, scale in (("x", across), ("y", down)):
            if i in _errors(one, which):
                ends = [scale.at(one[which][i] + by) for by in (-_errors(one, which)[i][0], _errors(one, which)[i][1])]
                if None not in ends:
                    box = (
                        (ends[0], point[1], ends[1], point[1])
                        if which == "x"
                        else (point[0], ends[0], point[0], ends[1])
                    )
                    made.shapes.append(_line(*box, _colour(one, i), 1.0))
        if "markers" in mode:
            made.shapes.append(_mark(one, i, point))
        if "text" in mode and one.get("text"):
            made.shapes.append(_text(point[0], point[1] - 7, bare_text(one["text"][i], 20), "middle"))


def _mark(one: Mapping[str, Any], i: int, point: Sequence[float]) -> dict[str, Any]:
    marker = one.get("marker", {})
    symbol, size = str(_each(marker.get("symbol", "circle"), i)), _each(marker.get("size", 7), i)
    path = _MARKS.get(symbol.removesuffix("-open").removesuffix("-thin"), _MARKS["circle"])
    return {
        "kind": "path",
        "path": path,
        "at": (point[0], point[1]),
        "size": float(size or 7) / 2,
        "colour": _colour(one, i),
        "open": symbol.endswith("-open"),
    }


def _draw_level(made: FigurePicture, one: Mapping[str, Any], scales: Mapping[str, tuple[Scale, Scale]]) -> None:
    """A line across or up, where it is given in values of one axis and shares of the other."""
    if one.get("type") != "line":
        return
    refs = [str(one.get(f"{which}ref", which)) for which in "xy"]
    panel = next(
        (ref[1:].split()[0] if ref[1:].strip() else "" for ref in refs if ref[0] in "xy" and "domain" not in ref), ""
    )
    if panel not in scales:
        return
    ends = []
    for which, ref, scale in zip("xy", refs, scales[panel]):
        given = [one.get(f"{which}0"), one.get(f"{which}1")]
        shares = ref == "paper" or "domain" in ref
        span = scale.end - scale.start
        ends.append([scale.start + float(end or 0) * span if shares else scale.at(end) for end in given])
    if all(place is not None for pair in ends for place in pair):
        (x0, x1), (y0, y1) = ends
        made.shapes.append(_line(x0, y0, x1, y1, one.get("line", {}).get("color", "currentColor"), 1.0, "5 4"))


def _line(x0, y0, x1, y1, colour: str, share: float, dash: str = "") -> dict[str, Any]:
    return {"kind": "line", "ends": (x0, y0, x1, y1), "colour": _safe(colour), "share": share, "dash": dash}


def _text(x: float, y: float, text: str, anchor: str, colour: str = "currentColor") -> dict[str, Any]:
    return {"kind": "text", "at": (x, y), "text": text, "anchor": anchor, "colour": colour}


def _colour(one: Mapping[str, Any], i: int = 0) -> str:
    marker, line = one.get("marker", {}), one.get("line", {})
    return _safe(_each(marker.get("color") or line.get("color") or "currentColor", i))


def _each(value: Any, i: int) -> Any:
    """A value that is one for all points, or one for each."""
    return value[min(i, len(value) - 1)] if isinstance(value, (list, tuple)) and value else value


def _safe(colour: Any) -> str:
    """A colour, and nothing else."""
    return (
        colour
        if isinstance(colour, str) and re.fullmatch(r"#[0-9a-fA-F]{3,8}|rgba?\([\d., ]+\)", colour)
        else "currentColor"
    )
