"""Figures of a model check: what masking does to performance, to the share rejected, and to the data set's p-values."""

import html

import numpy as np

from core.evaluation.studies.check_report import CheckReport, X, name_of
from core.figures.figures import INK, LOWEST_P, figure
from core.figures.palette import OUT_OF_DISTRIBUTION, RANDOM, SUPPORTS, hue
from core.mathematics.statistics import ALPHA
from core.validity.references import CALIBRATED, FORMS, LITERAL

# Each model beside another has a dash and a mark of its own.
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")
# Four panels: performance, share rejected; p calibrated, p literal.
_LEFT, _RIGHT, _UPPER, _LOWER = [0, 0.45], [0.55, 1], [0.57, 1], [0, 0.41]


def panels(reports: list[CheckReport], form: str) -> dict:
    """Performance, share of single examples rejected, and data-set p-values of both forms against the masking ratio.

    The model that is checked is drawn full, one line for each measure and grey for random order; the models beside it
    in
    random order, each in a dash and a mark of its own.

    Source: FMM Fig. 4.
    """
    first, tested = reports[0], [one for one in reports if one.floor]
    traces = []
    for place, one in enumerate(reports):
        for line in one.lines if place == 0 else one.lines[:1]:
            traces += _line(one, line, form, place, len(reports) > 1)
    axes = {"xaxis": _LEFT, "xaxis2": _RIGHT, "xaxis3": _LEFT, "xaxis4": _RIGHT}
    top, metric = (_UPPER if tested else [0, 1]), html.escape(first.metric)
    drawn = figure(traces, 620 if tested else 360, xaxis={}, yaxis={})
    style = drawn["layout"]["xaxis"]
    layout = drawn["layout"] | {
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.03, "yanchor": "bottom", "x": 0},
    }
    share = {"range": [-3, 103], "title": {"text": "masked (%)"}}
    for number, (name, domain) in enumerate(axes.items(), start=1):
        layout[name] = (
            style | share | {"domain": domain if tested else [0, 1], "anchor": f"y{number if number > 1 else ''}"}
        )
    layout["yaxis"] = style | {"title": {"text": f"{metric} ↑ better"}, "domain": top}
    shapes = [_level(first.majority, "x", "y", RANDOM)]
    notes = [_at(97, first.majority, "class majority", "x", "y")]
    if tested:
        layout["yaxis2"] = style | {
            "title": {"text": f"% of single texts rejected ({form})"},
            "domain": top,
            "anchor": "x2",
            "rangemode": "tozero",
        }
        shapes.append(_level(100 * ALPHA, "x2", "y2", OUT_OF_DISTRIBUTION))
        for number, of in ((3, CALIBRATED), (4, LITERAL)):
            layout[f"yaxis{number}"] = style | {
                "title": {"text": f"data-set p, {of}"},
                "type": "log",
                "range": [-3.3, 0.1],
                "domain": _LOWER,
                "anchor": f"x{number}",
                "tickvals": [0.001, 0.01, ALPHA, 0.2, 1],
            }
            shapes.append(_level(ALPHA, f"x{number}", f"y{number}", OUT_OF_DISTRIBUTION))
        notes.append(_at(99, np.log10(ALPHA), "5 %", "x3", "y3"))
        notes.append(_at(99, np.log10(ALPHA), "5 %", "x4", "y4"))
    else:
        for name in ("xaxis2", "xaxis3", "xaxis4"):
            del layout[name]
    return drawn | {"layout": layout | {"shapes": shapes, "annotations": notes}}


def _line(one: CheckReport, line, form: str, place: int, several: bool) -> list[dict]:
    chance = line.curve.random
    colour = RANDOM if chance else hue(line.curve.measure)
    name = html.escape(f"{name_of(line.curve)}{f', {one.model}' if several else ''}")
    common = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "legendgroup": name,
        "x": (100 * X).tolist(),
        "line": {"color": colour, "width": 3 if chance and place == 0 else 2, "dash": DASHES[place % len(DASHES)]},
        "marker": {"size": 7, "color": colour, "symbol": SYMBOLS[place % len(SYMBOLS)]},
    }
    traces = [
        common
        | {"y": line.performance.tolist(), "hovertemplate": "%{x:.0f} % masked: %{y:.3f}<extra>" + name + "</extra>"}
    ]
    if form in line.rejected:
        traces.append(
            common
            | {
                "xaxis": "x2",
                "yaxis": "y2",
                "showlegend": False,
                "y": (100 * line.rejected[form]).tolist(),
                "hovertemplate": "%{x:.0f} % masked: %{y:.1f} % rejected<extra>" + name + "</extra>",
            }
        )
    for number, of in zip((3, 4), FORMS):
        if of in line.p:
            traces.append(
                common
                | {
                    "xaxis": f"x{number}",
                    "yaxis": f"y{number}",
                    "showlegend": False,
                    "y": np.maximum(line.p[of], LOWEST_P).tolist(),
                    "customdata": line.p[of].tolist(),
                    "hovertemplate": "%{x:.0f} % masked: p = %{customdata:.3g}<extra>" + name + "</extra>",
                }
            )
    return traces


def spans(rows: list[tuple[str, float, float, float]], metric: str) -> dict:
    """Unmasked and fully masked performance of each model on one axis, with the class majority as a tick.

    Args:
        rows: (name, unmasked, everything masked, class majority), from top to bottom.
    Source: FMM Figs. 2 and 3.
    """
    names = [html.escape(name) for name, *_ in rows]
    places = list(range(len(rows)))
    bars = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [masked, unmasked],
            "y": [i, i],
            "line": {"color": "rgba(125,133,144,0.5)", "width": 6},
            "hoverinfo": "skip",
            "showlegend": False,
        }
        for i, (_, unmasked, masked, _) in enumerate(rows)
    ]
    told = "%{y}: %{x:.3f}<extra></extra>"
    marks = [
        ("unmasked", 1, "circle", SUPPORTS, 13),
        ("everything masked", 2, "circle-open", SUPPORTS, 13),
        ("class majority", 3, "line-ns-open", INK, 20),
    ]
    points = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": [row[at] for row in rows],
            "y": places,
            "hovertemplate": told,
            "marker": {"symbol": symbol, "color": colour, "size": size, "line": {"width": 3, "color": colour}},
        }
        for name, at, symbol, colour, size in marks
    ]
    drawn = figure(
        [*bars, *points],
        110 + 44 * len(rows),
        xaxis={"title": {"text": f"{html.escape(metric)} ↑ better"}},
        yaxis={"tickvals": places, "ticktext": names, "range": [len(rows) - 0.4, -0.6], "showgrid": False},
    )
    return drawn | {
        "layout": drawn["layout"]
        | {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}}
    }


def _level(y: float, xaxis: str, yaxis: str, colour: str) -> dict:
    return {
        "type": "line",
        "x0": 0,
        "x1": 1,
        "xref": f"{xaxis} domain",
        "y0": y,
        "y1": y,
        "yref": yaxis,
        "line": {"color": colour, "dash": "dash"},
    }


def _at(x: float, y: float, text: str, xaxis: str, yaxis: str) -> dict:
    return {
        "x": x,
        "y": float(y),
        "xref": xaxis,
        "yref": yaxis,
        "text": text,
        "showarrow": False,
        "yshift": 9,
        "xanchor": "right",
        "font": {"color": INK, "size": 12},
    }
