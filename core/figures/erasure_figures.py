"""Figures of hard and soft erasure: places across metrics, scores by the rationale's length, and p-values of what is
erased.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.figures.figures import INK, LOWEST_P, figure
from core.figures.palette import OPPOSES, OUT_OF_DISTRIBUTION, SUPPORTS
from core.mathematics.erasure import LENGTHS
from core.mathematics.statistics import ALPHA

_DASHES = ("solid", "dash", "longdash", "dashdot", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star", "hexagon", "cross-thin-open")
_LEGEND = {"orientation": "h", "x": 0, "xanchor": "left", "yanchor": "bottom"}
_LEFT, _RIGHT = [0, 0.46], [0.54, 1]


@dataclass(frozen=True, eq=False)
class ByLength:
    """One measure under one hard metric: values float64[R] at each of LENGTHS, and the soft metric's value, NaN where
    there is none.
    """

    measure: str
    hue: str
    values: np.ndarray
    soft: float


def places_across(
    names: Sequence[str], hues: Sequence[str], heads: Sequence[str], places: np.ndarray, texts: Sequence[Sequence[str]]
) -> dict:
    """Places of measures across metrics, a line each; 1 is on top.

    Args:
        names, hues: of M measures; heads: of K metrics, with their arrows.
        places: int[M, K], 0 where there is none; texts: M times K values for the hover.
    """
    traces, notes = [], []
    most = int(places.max(initial=1))
    shifts = _apart(places)
    for i, (name, hue) in enumerate(zip(names, hues)):
        y = [float(place) + shift if place else None for place, shift in zip(places[i], shifts[i])]
        label = html.escape(name)
        line = {"color": hue, "width": 3, "dash": _DASHES[i % len(_DASHES)]}
        told = "%{x}: place %{customdata[0]}, %{customdata[1]}<extra>" + label + "</extra>"
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": label,
                "x": list(range(len(heads))),
                "y": y,
                "connectgaps": True,
                "line": line,
                "marker": {"size": 11, "color": hue, "symbol": _SYMBOLS[i % len(_SYMBOLS)]},
                "hovertemplate": told,
                "customdata": [[int(place), text] for place, text in zip(places[i], texts[i])],
            }
        )
        last = max((k for k, place in enumerate(places[i]) if place), default=None)
        if last is not None:
            notes.append(
                {
                    "x": last,
                    "y": y[last],
                    "text": label,
                    "showarrow": False,
                    "xanchor": "left",
                    "xshift": 12,
                    "font": {"color": INK},
                }
            )
    # Long names stand in lines of their own, each arrow beside its last word.
    many = len(heads) > 6
    heads = [html.escape("\u00a0".join(head.rsplit(" ", 1))).replace(" ", "<br>") for head in heads]
    # Where there are many, every second one stands higher.
    heads = [head + "<br>\u00a0<br>\u00a0" * (many and k % 2) for k, head in enumerate(heads)]
    marks = {
        "tickvals": list(range(len(heads))),
        "ticktext": heads,
        "tickangle": 0,
        "tickfont": {"size": 11 if many else 13},
    }
    drawn = figure(
        traces,
        96 + 46 * max(most, 2) + 40 * many,
        annotations=notes,
        xaxis=marks | {"side": "top", "range": [-0.35, len(heads) - 0.9], "showgrid": False},
        yaxis={
            "range": [most + 0.6, 0.5],
            "tickvals": list(range(1, most + 1)),
            "title": {"text": "place, 1 is best"},
            "showgrid": False,
        },
    )
    # Room for the names at the right, however narrow the window is.
    return drawn | {
        "layout": drawn["layout"]
        | {"margin": drawn["layout"]["margin"] | {"r": 20 + 7 * max(map(len, names), default=0)}}
    }


def draw_scores_by_length(panels: Sequence[tuple[str, str, Sequence[ByLength]]], sizes: np.ndarray, unit: str) -> dict:
    """Hard scores against the rationale's length, a panel a metric, with the soft value as a flat dotted line.

    Args:
        panels: (title, name of the soft metric or "", lines), one or two of them.
        sizes: int[R], features of the rationale at each length.
    Source: SoftFaith Fig. 2.
    """
    x = list(range(len(LENGTHS)))
    ticks = {
        "tickvals": x,
        "ticktext": [
            f"{100 * length:g} %<br>{size} {unit}{'' if size == 1 else 's'}" for length, size in zip(LENGTHS, sizes)
        ],
        "range": [-0.3, len(x) - 0.7],
    }
    drawn = figure([], 380, xaxis=ticks, yaxis={"range": [-0.04, 1.04]})
    layout, two = drawn["layout"], len(panels) > 1
    for place, (title, soft, lines) in enumerate(panels):
        end = "" if place == 0 else "2"
        layout |= {
            f"xaxis{end}": layout["xaxis"] | {"domain": (_LEFT, _RIGHT)[place] if two else [0, 1], "anchor": f"y{end}"},
            f"yaxis{end}": layout["yaxis"] | {"title": {"text": html.escape(title)}, "anchor": f"x{end}"},
        }
        for i, line in enumerate(lines):
            drawn["data"] += _length_line(line, i, x, end, html.escape(soft), place == 0)
    return drawn | {"layout": layout | {"showlegend": True, "legend": _LEGEND | {"y": 1.03}}}


def _length_line(line: ByLength, i: int, x: list[int], end: str, soft: str, legend: bool) -> list[dict]:
    name = html.escape(line.measure)
    common = {"type": "scatter", "legendgroup": name, "xaxis": f"x{end}", "yaxis": f"y{end}"}
    dash = _DASHES[i % len(_DASHES)]
    found = [
        common
        | {
            "mode": "lines+markers",
            "name": name,
            "x": x,
            "y": _holes(line.values),
            "line": {"color": line.hue, "width": 2.5, "dash": dash},
            "marker": {"size": 9, "color": line.hue, "symbol": _SYMBOLS[i % len(_SYMBOLS)]},
            "showlegend": legend,
            "hovertemplate": "%{text}: %{y:.3g}<extra>" + name + "</extra>",
            "text": [f"{100 * length:g} %" for length in LENGTHS],
        }
    ]
    if soft and not np.isnan(line.soft):
        ends = [x[0] - 0.3, x[-1] + 0.3]
        found.append(
            common
            | {
                "mode": "lines",
                "name": f"{name}, soft",
                "x": ends,
                "y": [line.soft, line.soft],
                "line": {"color": line.hue, "width": 1.5, "dash": "dot"},
                "showlegend": False,
                "hovertemplate": f"{soft}: %{{y:.3g}}<extra>{name}</extra>",
            }
        )
    return found


def leaving(found: dict[str, np.ndarray], rejected: dict[str, np.ndarray], sizes: np.ndarray, unit: str) -> dict:
    """p-values of rationales kept (left) and erased (right) by erasure, with the 5 % line; a cross where the input is
    rejected.

    Args:
        found: {erasure: float64[2, R]}; rejected: {erasure: bool[2, R]}.
        sizes: int[R], features of the rationale at each length.
    """
    x = list(range(len(LENGTHS)))
    ticks = {
        "tickvals": x,
        "ticktext": [
            f"{100 * length:g} %<br>{size} {unit}{'' if size == 1 else 's'}" for length, size in zip(LENGTHS, sizes)
        ],
        "range": [-0.3, len(x) - 0.7],
    }
    traces = []
    for i, (erasure, p) in enumerate(found.items()):
        hue = (SUPPORTS, OPPOSES, INK)[i % 3]
        for half, end in enumerate(("", "2")):
            crosses = ["x" if out else _SYMBOLS[i % len(_SYMBOLS)] for out in rejected[erasure][half]]
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": html.escape(erasure),
                    "legendgroup": erasure,
                    "showlegend": half == 0,
                    "x": x,
                    "y": np.maximum(p[half], LOWEST_P).tolist(),
                    "customdata": p[half].tolist(),
                    "xaxis": f"x{end}",
                    "yaxis": f"y{end}",
                    "line": {"color": hue, "width": 2.5, "dash": _DASHES[i % len(_DASHES)]},
                    "marker": {"size": 10, "color": hue, "symbol": crosses},
                    "hovertemplate": "p = %{customdata:.3g}<extra>" + html.escape(erasure) + "</extra>",
                }
            )
    p_axis = {"type": "log", "range": [-3.3, 0.1], "tickvals": [0.001, 0.01, ALPHA, 0.2, 1]}
    drawn = figure(traces, 400, xaxis=ticks | {"domain": _LEFT}, yaxis=p_axis | {"title": {"text": "p-value ↑"}})
    layout = drawn["layout"]
    layout |= {
        "xaxis": layout["xaxis"] | {"title": {"text": "only the rationale is kept"}},
        "xaxis2": layout["xaxis"] | {"domain": _RIGHT, "anchor": "y2", "title": {"text": "the rationale is erased"}},
        "yaxis2": layout["yaxis"] | {"anchor": "x2", "title": {"text": ""}},
    }
    limit = {
        "type": "line",
        "x0": 0,
        "x1": 1,
        "y0": ALPHA,
        "y1": ALPHA,
        "line": {"color": OUT_OF_DISTRIBUTION, "dash": "dash"},
    }
    layout["shapes"] = [limit | {"xref": f"x{end} domain", "yref": f"y{end}"} for end in ("", "2")]
    return drawn | {"layout": layout | {"showlegend": True, "legend": _LEGEND | {"y": 1.03}}}


def _apart(places: np.ndarray) -> np.ndarray:
    """How far down each point is drawn, so that those that share a place stand under each other; float64[M, K]."""
    found = np.zeros(places.shape)
    for k, column in enumerate(places.T):
        for place in set(column[column > 0].tolist()):
            shared = np.flatnonzero(column == place)
            found[shared, k] = 0.34 * np.arange(len(shared))
    return found


def _holes(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
