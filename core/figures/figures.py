"""Figures: Plotly's own JSON as plain dictionaries, with a fixed palette and a transparent ground for both themes.

Dictionaries, since building the same figure through `plotly.graph_objects` takes longer than the attribution it shows.
"""

import html
from dataclasses import dataclass

import numpy as np

from core.figures.palette import OUT_OF_DISTRIBUTION, RANDOM, SUPPORTS
from core.mathematics.statistics import ALPHA

# For texts and axes, readable on both grounds.
INK = "#7d8590"
# Dots stand for what rests on rejected inputs.
_DASHES = ("solid", "dash", "longdash", "dashdot", "longdashdot")
# The lowest p-value that is drawn; what is smaller stands there, and says its number.
LOWEST_P = 6e-4


@dataclass(frozen=True, eq=False)
class FigureLine:
    """One measure's path: x float64[K'] in [0, 1], values float64[K'], p float64[K'] (NaN: none), rejected bool[K'];
    first: the step from which on the inputs count as out-of-distribution, or None."""

    name: str
    hue: str
    x: np.ndarray
    values: np.ndarray
    p: np.ndarray
    rejected: np.ndarray
    first: int | None


@dataclass(frozen=True, eq=False)
class RandomLine:
    """Random orders: x, mean, lower and upper float64[K]; p float64[K], their median p-value, or None; first: as of a
    `Line`.
    """

    x: np.ndarray
    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    p: np.ndarray | None
    orders: int
    first: int | None


def performance_by_masking(card: dict) -> dict:
    """Performance against the share of tokens masked at random, with the class majority as a line.

    Args:
        card: a model's card; its figures come from `core.training.cards.build_card`.
    Source: FMM Figs. 2 and 3.
    """
    shown = card["performance"]
    values, majority = shown["masked"], shown["class_majority"]
    lines = [
        {
            "type": "scatter",
            "x": [100 * r for r in shown["ratios"]],
            "y": values,
            "mode": "lines+markers",
            "name": "this model",
            "line": {"color": SUPPORTS, "width": 3},
            "hovertemplate": "%{x:.0f} % masked: %{y:.3f}<extra></extra>",
        },
        {
            "type": "scatter",
            "x": [0, 100],
            "y": [majority, majority],
            "mode": "lines",
            "name": "class majority",
            "line": {"color": RANDOM, "dash": "dash"},
            "hovertemplate": "class majority: %{y:.3f}<extra></extra>",
        },
    ]
    # Both lines are named where they are, so that colour is not the only sign.
    notes = [
        _note(0, values[0], f"{values[0]:.3f}", 14, 14),
        _note(100, values[-1], f"{values[-1]:.3f}", 14),
        _note(12, majority, "class majority", 12),
    ]
    return figure(
        lines,
        300,
        annotations=notes,
        xaxis={"title": {"text": "tokens masked at random (%)"}, "range": [-4, 106]},
        yaxis={"title": {"text": f"{shown['metric']} ↑ better"}},
    )


def masking_paths(
    lines: list[FigureLine], band: RandomLine | None, score: str, unit: str, at: float | None = None
) -> dict:
    """The score against the share masked, for several measures and random order; below it the p-values, with the 5 %
    line.

    What rests on rejected steps is drawn thin and dotted, rejected inputs have a cross: colour is never the only sign.

    Args:
        score: name of the score, "probability of positive".
        unit: what is masked as one piece, see `core.network.features.UNITS`.
        at: where a vertical line marks the step that is shown, in [0, 1].
    Source: FMM Fig. 4.
    """
    tested = any(np.isfinite(line.p).any() for line in lines)
    traces = _band(band, tested) if band is not None else []
    for i, line in enumerate(lines):
        traces += _path(line, _DASHES[i % len(_DASHES)], tested)
    # Plotly reads markup in its texts.
    score = html.escape(score)
    share = {"title": {"text": f"{unit}s masked (%)"}, "range": [-3, 103], "anchor": "y2" if tested else "y"}
    drawn = figure(
        traces,
        470 if tested else 320,
        xaxis=share,
        yaxis={"title": {"text": score}, "range": [-0.03, 1.03], "domain": [0.42, 1] if tested else [0, 1]},
    )
    layout = drawn["layout"] | {
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    }
    layout["shapes"] = (
        []
        if at is None
        else [
            {
                "type": "line",
                "x0": 100 * at,
                "x1": 100 * at,
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "line": {"color": INK, "width": 1},
            }
        ]
    )
    if tested:
        layout["yaxis2"] = layout["yaxis"] | {
            "title": {"text": "p-value"},
            "type": "log",
            "range": [-3.3, 0.1],
            "domain": [0, 0.32],
            "tickvals": [0.001, 0.01, ALPHA, 0.2, 1],
        }
        limit = {"color": OUT_OF_DISTRIBUTION, "dash": "dash"}
        layout["shapes"].append(
            {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": ALPHA, "y1": ALPHA, "yref": "y2", "line": limit}
        )
    return drawn | {"layout": layout}


def _path(line: FigureLine, dash: str, tested: bool) -> list[dict]:
    cut = len(line.x) if line.first is None else line.first
    percent = 100 * line.x
    symbols = ["x" if rejected else "circle" for rejected in line.rejected]
    common = {"type": "scatter", "mode": "lines+markers", "name": line.name, "legendgroup": line.name}
    dots = {"size": 7, "color": line.hue}
    parts = [
        (slice(0, cut + 1), {"width": 2.5, "dash": dash}, True),
        (slice(cut, None), {"width": 1.2, "dash": "dot"}, False),
    ]
    traces = []
    for part, style, legend in parts:
        if len(percent[part]) > (0 if legend else 1):
            traces.append(
                common
                | {
                    "x": percent[part].tolist(),
                    "y": line.values[part].tolist(),
                    "line": style | {"color": line.hue},
                    "showlegend": legend,
                    "marker": dots | {"symbol": symbols[part]},
                    "hovertemplate": "%{x:.0f} % masked: %{y:.3g}<extra>" + line.name + "</extra>",
                }
            )
    if tested:
        p = [None if np.isnan(value) else max(value, LOWEST_P) for value in line.p.tolist()]
        told = [None if value is None else float(exact) for value, exact in zip(p, line.p)]
        style = {"color": line.hue, "width": 1.5, "dash": dash}
        traces.append(
            common
            | {
                "x": percent.tolist(),
                "y": p,
                "customdata": told,
                "yaxis": "y2",
                "showlegend": False,
                "line": style,
                "marker": dots | {"symbol": symbols},
                "hovertemplate": "%{x:.0f} % masked: p = %{customdata:.3g}<extra>" + line.name + "</extra>",
            }
        )
    return traces


def _band(band: RandomLine, tested: bool) -> list[dict]:
    x, name = (100 * band.x).tolist(), f"random order (mean, 95 % of {band.orders})"
    edge = {
        "type": "scatter",
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": "random",
    }
    mean = {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "legendgroup": "random",
        "line": {"color": RANDOM, "width": 2},
    }
    told = {"hovertemplate": "%{x:.0f} % masked at random: %{y:.3g}<extra></extra>"}
    cut = len(x) if band.first is None else band.first
    traces = [
        edge | {"x": x, "y": band.lower.tolist()},
        edge | {"x": x, "y": band.upper.tolist(), "fill": "tonexty", "fillcolor": "rgba(138,138,138,0.22)"},
        mean | told | {"x": x[: cut + 1], "y": band.mean.tolist()[: cut + 1]},
    ]
    if cut < len(x) - 1:
        traces.append(
            mean
            | told
            | {
                "x": x[cut:],
                "y": band.mean.tolist()[cut:],
                "showlegend": False,
                "line": {"color": RANDOM, "width": 1.2, "dash": "dot"},
            }
        )
    if tested and band.p is not None:
        said = "%{x:.0f} % masked at random: median p = %{y:.3g}<extra></extra>"
        traces.append(
            mean
            | {
                "x": x,
                "y": np.maximum(band.p, LOWEST_P).tolist(),
                "yaxis": "y2",
                "showlegend": False,
                "hovertemplate": said,
            }
        )
    return traces


def _note(x: float, y: float, text: str, up: int, right: int = 0) -> dict:
    return {"x": x, "y": y, "text": text, "showarrow": False, "yshift": up, "xshift": right, "font": {"color": INK}}


def figure(traces: list[dict], height: int, xaxis: dict, yaxis: dict, annotations: list[dict] | None = None) -> dict:
    """Traces in the house's layout, on a transparent ground."""
    axis = {"automargin": True, "gridcolor": "rgba(125,133,144,0.25)", "zeroline": False}
    layout = {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 20, "b": 10},
        "showlegend": False,
        "hoverlabel": {"font": {"size": 13}},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "annotations": annotations or [],
        "font": {"color": INK, "size": 13, "family": "'Source Sans', 'Source Sans Pro', sans-serif"},
        "xaxis": axis | xaxis,
        "yaxis": axis | yaxis,
    }
    return {"data": traces, "layout": layout}
