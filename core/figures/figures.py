"""Figures as Plotly’s JSON in plain dictionaries, which are fast to build, with one palette for both themes."""

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.figures.palette import OUT_OF_DISTRIBUTION, RANDOM, rgb
from core.mathematics.statistics import ALPHA, Interval
from core.terms import MASF_P
from core.validity.marks import Gate, level_text
from core.wording import as_json, share_text, shortened

# For texts and axes, readable on both grounds.
INK = "#7d8590"
# What the legend says of marks that rest on rejected inputs.
REJECTED = "out-of-distribution"
# Lines beside each other; dots stand for what rests on rejected inputs.
DASHES = ("solid", "dash", "longdash", "dashdot", "longdashdot")
# The lowest p-value that is drawn; what is smaller stands there, and says its number.
LOWEST_P = 6e-4
# An axis of shares.
_SHARES = 0.0, 0.2, 0.4, 0.6, 0.8, 1.0
SHARE_AXIS = {"tickvals": list(_SHARES), "ticktext": [share_text(share) for share in _SHARES]}
# An axis of p-values.
P_AXIS = {"type": "log", "range": [-3.3, 0.1], "tickvals": [0.001, 0.01, ALPHA, 0.2, 1]}


@dataclass(frozen=True, eq=False)
class FigureLine:
    """One measure's path: x float64[K'] in [0, 1], values float64[K'], p float64[K'] (NaN: none), rejected bool[K'];
    first: the step from which on the inputs count as out-of-distribution, or None; symbol: of its marks, where they are
    not rejected."""

    name: str
    hue: str
    x: np.ndarray
    values: np.ndarray
    p: np.ndarray
    rejected: np.ndarray
    first: int | None
    symbol: str = "circle"


@dataclass(frozen=True, eq=False)
class RandomLine:
    """Random orders: x, mean, lower, upper, median p (or None) float64[K]; first: as of a `FigureLine`."""

    x: np.ndarray
    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    p: np.ndarray | None
    orders: int
    first: int | None


def figure(traces: list[dict], height: int, annotations: list[dict] | None = None, **layout: Any) -> dict:
    """Traces in the house's layout, on a transparent ground; layout: axes from `axis`, and what else the figure has."""
    common = {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 20, "b": 10},
        "showlegend": "legend" in layout,
        "hoverlabel": {"font": {"size": 13}},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "annotations": annotations or [],
        "font": {"color": INK, "size": 13, "family": "'Source Sans', 'Source Sans Pro', sans-serif"},
    }
    return {"data": traces, "layout": common | layout}


def axis(title: str | None = None, **more: Any) -> dict:
    """An axis in the house's style; title: as Plotly reads it, names of others escaped."""
    more = more if title is None else {"title": {"text": title}} | more
    return {"automargin": True, "gridcolor": "rgba(125,133,144,0.25)", "zeroline": False} | more


def score_title(score: str) -> str:
    """A score of an axis, "probability of positive", as long as fits a phone."""
    return html.escape(shortened(score, 40))


def legend(y: float, **more: Any) -> dict:
    """A legend in one line, its lower edge at a height of the figure, in shares of its axes."""
    return {"orientation": "h", "x": 0, "y": y, "yanchor": "bottom"} | more


def trace(mode: str, x: list, y: list, told: str | None = None, extra: str = "", **more: Any) -> dict:
    """Points or a line; told: what hovering says, nothing where it is None; extra: whose point it is, escaped."""
    hover = {"hoverinfo": "skip"} if told is None else {"hovertemplate": f"{told}<extra>{extra}</extra>"}
    return {"type": "scatter", "mode": mode, "x": x, "y": y} | hover | more


def entry(name: str, symbol: str, size: int, colour: str | None = None, **more: Any) -> dict:
    """A mark that the legend alone shows, in the colour of text without one; name: escaped."""
    mark = {"color": colour or INK, "symbol": symbol, "size": size}
    return trace("markers", [None], [None], name=name, showlegend=True, marker=mark, **more)


def stroke(colour: str, width: float, dash: str | None, symbol: str | list[str], size: int = 7) -> dict:
    """How a line with marks looks, for `trace`; each mark may have a symbol of its own."""
    line = {"color": colour, "width": width} | ({} if dash is None else {"dash": dash})
    return {"line": line, "marker": {"size": size, "color": colour, "symbol": symbol}}


def band(x: list, low: list, high: list, colour: str, share: float, **more: Any) -> list[dict]:
    """The ground between two lines, filled with a share of a colour "#rrggbb"."""
    red, green, blue = rgb(colour)
    common: dict[str, Any] = {"line": {"width": 0}, "showlegend": False} | more
    filled: dict[str, Any] = {"fill": "tonexty", "fillcolor": f"rgba({red},{green},{blue},{share})"}
    return [trace("lines", x, low, **common), trace("lines", x, high, **common, **filled)]


def level(y: float, colour: str, xref: str = "paper", **more: Any) -> dict:
    """A dashed line across the axes at a value."""
    dashed = {"color": colour, "dash": "dash"}
    return {"type": "line", "x0": 0, "x1": 1, "xref": xref, "y0": y, "y1": y, "line": dashed} | more


def upright(x: float, colour: str, width: float, dash: str = "solid", **more: Any) -> dict:
    """A line from the lower to the upper end of the figure, or of a panel, at a value."""
    line = {"color": colour, "width": width} | ({} if dash == "solid" else {"dash": dash})
    return {"type": "line", "line": line, "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"} | more


def error_bar(span: Interval, colour: str, **more: Any) -> dict:
    """The 95 % interval of a mean that has one, around its mark."""
    ends = {"array": [span.high - span.mean], "arrayminus": [span.mean - span.low]}
    return {"type": "data", "symmetric": False, "color": colour} | ends | more


def note(x: float | str, y: float, text: str, size: int | None = None, **more: Any) -> dict:
    """Words at a place."""
    font = {"color": INK} | ({} if size is None else {"size": size})
    return {"x": x, "y": y, "text": text, "showarrow": False, "font": font} | more


def heading(text: str, end: str) -> dict:
    """What a panel's values are, over it: along its axis they would cover the panel beside it in a narrow window."""
    panel = {"xref": f"x{end} domain", "yref": f"y{end} domain", "xanchor": "left", "yanchor": "bottom"}
    return note(0, 1, text, 12, **panel, align="left")


def masking_paths(
    lines: list[FigureLine],
    chance: RandomLine | None,
    score: str,
    unit: str,
    gate: Gate,
    at: float | None = None,
    bounded: bool = True,
) -> dict:
    """The score against the share masked, for measures and random order; below it the p-values with the line that
    decides.

    What rests on rejected steps is thin and dotted, rejected inputs have a cross: colour is never the only sign.

    score: "probability of positive"; bounded: whether it lies in [0, 1]; unit: what is masked; at: where the step shown
    is marked, in [0, 1]; gate: whose threshold the line is. Source: FMM Fig. 4.
    """
    tested = any(np.isfinite(line.p).any() for line in lines)
    traces = _chance(chance, tested) if chance is not None else []
    for i, line in enumerate(lines):
        traces += _path(line, DASHES[i % len(DASHES)], tested)
    shapes = [] if at is None else [upright(100 * at, INK, 1)]
    axes: dict[str, Any] = {
        "xaxis": axis(f"{unit}s masked (%)", range=[-3, 103], anchor="y2" if tested else "y"),
        # Plotly reads markup in its texts.
        "yaxis": axis(
            score_title(score), domain=[0.42, 1] if tested else [0, 1], **({"range": [-0.03, 1.03]} if bounded else {})
        ),
    }
    if tested:
        axes["yaxis2"] = axis(f"{MASF_P} ↑", **P_AXIS, domain=[0, 0.32])
        shapes += deciding(gate)
        traces.append(named_level(gate))
    return figure(traces, 470 if tested else 320, **axes, legend=legend(1.02), shapes=shapes)


def deciding(gate: Gate, xref: str = "paper", yref: str = "y2") -> list[dict]:
    """The line on an axis of p-values that decides, as shapes; beside it 5 %, thin and grey."""
    each = level(ALPHA, RANDOM, xref, yref=yref)
    each["line"] |= {"width": 1, "dash": "dot"}
    return [each, level(max(gate.threshold, LOWEST_P), OUT_OF_DISTRIBUTION, xref, yref=yref)]


def named_level(gate: Gate) -> dict:
    """The name of that line for the legend, as a trace without points: beside the line it would stand over marks."""
    line, name = {"color": OUT_OF_DISTRIBUTION, "dash": "dash"}, f"rejected below, and ✕ ({level_text(gate)})"
    return trace("lines", [None], [None], name=name, line=line, showlegend=True)


def _path(line: FigureLine, dash: str, tested: bool) -> list[dict]:
    cut = len(line.x) if line.first is None else line.first
    percent = (100 * line.x).tolist()
    symbols = ["x" if rejected else line.symbol for rejected in line.rejected]
    common = {"name": line.name, "legendgroup": line.name, "extra": line.name}
    traces = []
    for part, width, style, before in ((slice(cut + 1), 2.5, dash, True), (slice(cut, None), 1.2, "dot", False)):
        if len(percent[part]) > (0 if before else 1):
            look = stroke(line.hue, width, style, symbols[part]) | {"showlegend": before}
            y, told = line.values[part].tolist(), "%{x:.0f} % masked: %{y:.3g}"
            traces.append(trace("lines+markers", percent[part], y, told, **common, **look))
    if tested:
        below = {"yaxis": "y2", "showlegend": False, "customdata": as_json(line.p)}
        look, told = stroke(line.hue, 1.5, dash, symbols), "%{x:.0f} % masked: " + MASF_P + " = %{customdata:.3g}"
        p = as_json(np.maximum(line.p, LOWEST_P))
        traces.append(trace("lines+markers", percent, p, told, **common, **look, **below))
    return traces


_MEDIAN = "%{x:.0f} % masked at random: median " + MASF_P + " = %{y:.3g}"


def _chance(chance: RandomLine, tested: bool) -> list[dict]:
    x, mean = (100 * chance.x).tolist(), chance.mean.tolist()
    cut = len(x) if chance.first is None else chance.first
    common = {"name": f"random order (mean, 95 % of {chance.orders})", "legendgroup": "random"}
    full, dotted = {"color": RANDOM, "width": 2}, {"color": RANDOM, "width": 1.2, "dash": "dot"}
    told = "%{x:.0f} % masked at random: %{y:.3g}"
    traces = [
        *band(x, chance.lower.tolist(), chance.upper.tolist(), RANDOM, 0.22, legendgroup="random"),
        trace("lines", x[: cut + 1], mean[: cut + 1], told, **common, line=full),
    ]
    if cut < len(x) - 1:
        traces.append(trace("lines", x[cut:], mean[cut:], told, **common, line=dotted, showlegend=False))
    if tested and chance.p is not None:
        p = np.maximum(chance.p, LOWEST_P).tolist()
        traces.append(trace("lines", x, p, _MEDIAN, **common, line=full, showlegend=False, yaxis="y2"))
    return traces
