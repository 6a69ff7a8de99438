"""Figures of behaviour under masking: predictions not changed yet, drift of the embeddings, and their map in the
plane.
"""

import html

import numpy as np

from core.evaluation.studies.behaviour_report import BehaviourReport, CourseLine, X
from core.evaluation.studies.embedding_map import SHOWN
from core.figures.check_figures import DASHES, SYMBOLS
from core.figures.figures import INK, figure
from core.figures.palette import RANDOM, class_hue, hue, share_hue
from core.mathematics.masking import RATIOS

MASKED, LABEL, PREDICTION = "share masked", "label", "prediction"
COLOURS = (MASKED, LABEL, PREDICTION)
_MARKS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "triangle-down")
_LEFT, _RIGHT, _UPPER, _LOWER = [0, 0.45], [0.55, 1], [0.58, 1], [0, 0.42]


def behaviour_panels(reports: list[BehaviourReport]) -> dict:
    """Predictions not changed yet, change of the centroid, and change of the mean standard deviation, against the share
    masked.

    The area above a line of the first panel is the fidelity. Models are told apart by dash and mark, orders by hue;
    random order is grey.

    Source: RobustInf Eq. 1, §5.
    """
    traces = [
        trace
        for place, one in enumerate(reports)
        for line in one.lines
        for trace in _line(one, line, place, len(reports) > 1)
    ]
    drawn = figure(traces, 640, xaxis={}, yaxis={})
    style = drawn["layout"]["xaxis"]
    layout = drawn["layout"] | {
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.03, "yanchor": "bottom", "x": 0},
    }
    share = {"range": [-3, 103], "title": {"text": "masked (%)"}}
    for number, domain in ((1, [0, 1]), (2, _LEFT), (3, _RIGHT)):
        name = "" if number == 1 else str(number)
        layout[f"xaxis{name}"] = style | share | {"domain": domain, "anchor": f"y{name}"}
    layout["yaxis"] = style | {
        "title": {"text": "predictions not changed yet (%)"},
        "domain": _UPPER,
        "range": [-3, 103],
    }
    layout["yaxis2"] = style | {
        "title": {"text": "centroid change (1 − cosine)"},
        "domain": _LOWER,
        "anchor": "x2",
        "rangemode": "tozero",
    }
    layout["yaxis3"] = style | {
        "title": {"text": "change of mean σ (%)"},
        "domain": _LOWER,
        "anchor": "x3",
        "zeroline": True,
        "zerolinecolor": INK,
    }
    return drawn | {"layout": layout}


def _line(one: BehaviourReport, line: CourseLine, place: int, several: bool) -> list[dict]:
    colour = RANDOM if line.course.random else hue(line.course.measure)
    name = html.escape(f"{line.course.measure}{f', {one.model}' if several else ''}")
    common = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "legendgroup": name,
        "x": (100 * X).tolist(),
        "line": {
            "color": colour,
            "width": 3 if line.course.random and place == 0 else 2,
            "dash": DASHES[place % len(DASHES)],
        },
        "marker": {"size": 7, "color": colour, "symbol": SYMBOLS[place % len(SYMBOLS)]},
    }
    panels = (
        (line.unflipped, 100, "", "%{y:.1f} % of predictions not changed yet"),
        (line.centroid, 1, "2", "centroid change %{y:.3g}"),
        (line.spread, 100, "3", "mean σ %{y:+.3g} %"),
    )
    return [
        common
        | {
            "y": _values(scale * values),
            "xaxis": f"x{number}",
            "yaxis": f"y{number}",
            "showlegend": not number,
            "hovertemplate": "%{x:.0f} % masked: " + told + "<extra>" + name + "</extra>",
        }
        for values, scale, number, told in panels
    ]


def _values(values: np.ndarray) -> list:
    return [None if np.isnan(value) else float(value) for value in values]


def map_figure(
    places: np.ndarray,
    groups: list[tuple[str, str, int, np.ndarray]],
    told: list[tuple[str, int, str]],
    ratio: np.ndarray,
    path: np.ndarray | None = None,
) -> dict:
    """Embeddings in the plane, one kind of mark and one colour for each group.

    Args:
        places: float[P, 2]; groups: (name, colour, mark, bool[P]) from `groups_of`.
        told: for each point its example's id, its place in the sample, and the class predicted; they stand in
            `customdata`.
        ratio: int[P], places in RATIOS.
        path: points of the example that is chosen, in order of what is masked; joined by a line.
    Source: RobustInf §5; distances on a UMAP mean little.
    """
    custom = [
        [html.escape(name), place, html.escape(predicted), round(100 * RATIOS[k])]
        for (name, place, predicted), k in zip(told, ratio)
    ]
    said = "%{customdata[0]}<br>%{customdata[3]} % masked<br>predicted: %{customdata[2]}<extra></extra>"
    traces = []
    if path is not None and len(path):
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": places[path, 0].tolist(),
                "y": places[path, 1].tolist(),
                "line": {"color": INK, "width": 2},
                "hoverinfo": "skip",
                "name": "the chosen example",
                "showlegend": True,
            }
        )
    for name, colour, mark, members in groups:
        at = np.flatnonzero(members)
        size = [13 if path is not None and i in set(path.tolist()) else 7 for i in at] if path is not None else 7
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": html.escape(name),
                "x": places[at, 0].tolist(),
                "y": places[at, 1].tolist(),
                "customdata": [custom[i] for i in at],
                "hovertemplate": said,
                "marker": {
                    "size": size,
                    "color": colour,
                    "symbol": _MARKS[mark % len(_MARKS)],
                    "opacity": 0.8,
                    "line": {"width": 0},
                },
            }
        )
    drawn = figure(traces, 460, xaxis={}, yaxis={})
    bare = {
        "showticklabels": False,
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "showline": True,
        "linecolor": "rgba(125,133,144,0.4)",
        "mirror": True,
    }
    layout = drawn["layout"] | {
        "showlegend": True,
        "legend": {"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0},
        "hovermode": "closest",
        "xaxis": drawn["layout"]["xaxis"] | bare,
        "yaxis": drawn["layout"]["yaxis"] | bare,
        "clickmode": "event+select",
    }
    return drawn | {"layout": layout}


def groups_of(
    colour: str, ratio: np.ndarray, labels: np.ndarray, predicted: np.ndarray, names: tuple[str, ...]
) -> list[tuple[str, str, int, np.ndarray]]:
    """Points by share masked, by label or by prediction: (name, colour, number of the mark, bool[P]); only groups that
    have points.

    Args:
        colour: one of COLOURS; ratio: int[P], places in RATIOS; labels, predicted: int[P], classes; names: of the
            model's classes.
    Raises:
        ValueError: another colour.
    """
    if colour not in COLOURS:
        raise ValueError(f"points are coloured by one of {COLOURS}, got {colour!r}")
    if colour == MASKED:
        found = [(f"{RATIOS[k]:.0%} masked", share_hue(RATIOS[k]), mark, ratio == k) for mark, k in enumerate(SHOWN)]
    else:
        kind = labels if colour == LABEL else predicted
        found = [(f"{colour}: {name}", class_hue(c), c, kind == c) for c, name in enumerate(names)]
    return [group for group in found if group[3].any()]
