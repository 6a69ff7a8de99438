"""Figures of AOPC between its limits: gauges, ranks before and after normalising, and limits by the beam's width."""

import html
from dataclasses import dataclass

from core.figures.figures import INK, figure
from core.figures.palette import LIMIT, OUT_OF_DISTRIBUTION, RANDOM
from core.mathematics.search.limits import BeamStudy, Limits
from core.validity.marks import with_sign

_ROW, _ABOVE, _BELOW = 58, 44, 104
# Marks of the two directions; their shape tells them apart without colour.
_MARKS = (("comprehensiveness", "triangle-right", "↑ better"), ("sufficiency", "triangle-left-open", "↓ better"))


@dataclass(frozen=True)
class Gauge:
    """One row: a measure's hue, its AOPC and the text of its NAOPC with its mark, of comprehensiveness and sufficiency;
    marked: whether either AOPC
    rests on rejected inputs."""

    name: str
    hue: str
    comprehensiveness: float
    sufficiency: float
    normal: tuple[str, str]
    marked: tuple[bool, bool]


@dataclass(frozen=True)
class Range:
    """The random orders: their mean and the middle 95 %, and the text of the mean's NAOPC."""

    mean: float
    low: float
    high: float
    normal: str
    orders: int


def gauges(
    rows: list[Gauge],
    chance: Range | None,
    limits: Limits,
    tag: str,
    score: str,
    span: tuple[float, float] | None = None,
) -> dict:
    """Every measure between the limits: a shaded band from the lower to the upper one, a mark for each direction, NAOPC
    beside it.

    Args:
        tag: "exact" or "beam 5".
        score: name of the score, "probability of positive".
        span: what the axis must hold, so that two models' gauges compare.
    Source: NAOPC Eq. 8.
    """
    names = [row.name for row in rows] + (["random"] if chance is not None else [])
    traces = [_marks(rows, i) for i in range(len(_MARKS))] if rows else []
    notes = [_beside(row, i) for i, row in enumerate(rows)]
    if chance is not None:
        traces += _range(chance, len(rows))
        notes.append(_at_right(len(rows), f"{chance.normal}"))
    reach = [
        *(span or ()),
        limits.lower,
        limits.upper,
        *(value for row in rows for value in (row.comprehensiveness, row.sufficiency)),
    ]
    room = 0.06 * max(max(reach) - min(reach), 1e-3)
    band = {
        "type": "rect",
        "x0": limits.lower,
        "x1": limits.upper,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "fillcolor": "rgba(125,133,144,0.13)",
        "line": {"width": 0},
        "layer": "below",
    }
    edges = [
        {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": {"color": LIMIT, "width": 2.5}}
        for x in (limits.lower, limits.upper)
    ]
    # Their texts stand apart however close the limits are.
    notes += [
        _edge(limits.lower, f"lower limit {limits.lower:.3g} ({tag})", "right" if limits.narrow else "left"),
        _edge(limits.upper, f"upper limit {limits.upper:.3g} ({tag})", "left" if limits.narrow else "right"),
    ]
    notes.append(
        {
            "x": 1.01,
            "y": 1,
            "xref": "paper",
            "yref": "paper",
            "yanchor": "bottom",
            "xanchor": "left",
            "yshift": 6,
            "showarrow": False,
            "text": "<b>NAOPC</b>",
            "align": "left",
            "font": {"color": INK},
        }
    )
    tall = _ROW * len(names) + 24
    drawn = figure(
        traces,
        tall + _ABOVE + _BELOW,
        annotations=notes,
        xaxis={
            "title": {"text": f"AOPC: mean fall of the {html.escape(score)}"},
            "range": [min(reach) - room, max(reach) + room],
        },
        yaxis={
            "tickvals": list(range(len(names))),
            "ticktext": names,
            "range": [len(names) - 0.4, -0.75],
            "showgrid": False,
        },
    )
    layout = drawn["layout"] | {
        "shapes": [band, *edges],
        "margin": {"l": 10, "r": 150, "t": _ABOVE, "b": _BELOW},
        "showlegend": bool(traces),
        # Below the axis and its title, whatever the number of rows.
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": -70 / tall, "yanchor": "top"},
    }
    return drawn | {"layout": layout}


def slope(before: list[tuple[str, str, bool, int, float]], after: list[tuple[int, float]], title: str) -> dict:
    """Ranks before and after normalising, a line each; the first model's are full, the second's dashed.

    Args:
        before: (label, hue, whether it is of the second model, rank by AOPC, AOPC); after: (rank by NAOPC, NAOPC), in
            the same order.
        title: the direction with its arrow.
    Source: NAOPC §5 compares ranks before and after normalising.
    """
    traces, notes = [], []
    # Those that share a place are written under each other.
    shifts = [_shifts([row[3] for row in before]), _shifts([rank for rank, _ in after])]
    for i, ((label, hue, second, rank, raw), (place, normal)) in enumerate(zip(before, after)):
        label = html.escape(label)
        y = [rank + 0.32 * shifts[0][i], place + 0.32 * shifts[1][i]]
        dash, symbol = ("dash", "square") if second else ("solid", "circle")
        traces.append(
            {
                "type": "scatter",
                "x": [0, 1],
                "y": y,
                "mode": "lines+markers",
                "name": label,
                "line": {"color": hue, "width": 3, "dash": dash},
                "marker": {"size": 9, "color": hue, "symbol": symbol},
                "customdata": [raw, normal],
                "hovertemplate": "place %{y:.0f}: %{customdata:.3g}<extra>" + label + "</extra>",
            }
        )
        notes += [
            _side(0, y[0], f"{rank}. {label}  {raw:.3g}", "right"),
            _side(1, y[1], f"{place}. {label}  {normal:.3g}", "left"),
        ]
    most = max([row[3] for row in before] + [rank for rank, _ in after], default=1)
    heads = {
        "tickvals": [0, 1],
        "ticktext": ["by AOPC", "by NAOPC"],
        "side": "top",
        "range": [-1.25, 2.25],
        "showgrid": False,
        "title": {"text": html.escape(title)},
    }
    return figure(
        traces,
        120 + 42 * len(before),
        annotations=notes,
        xaxis=heads,
        yaxis={"range": [most + 0.7, 0.5], "visible": False},
    )


def widths(study: BeamStudy, exact: Limits | None, score: str) -> dict:
    """Mean limits by the beam's width, the recommended one marked; exact limits as lines where they are known.

    Source: NAOPC §3.
    """
    traces = []
    names = [str(width) for width in study.widths]
    for name, values, symbol in (
        ("upper limit", study.upper, "triangle-up"),
        ("lower limit", study.lower, "triangle-down"),
    ):
        traces.append(
            {
                "type": "scatter",
                "x": names,
                "y": values.mean(axis=0).tolist(),
                "mode": "lines+markers",
                "name": name,
                "line": {"color": LIMIT, "width": 2.5},
                "marker": {"symbol": symbol, "size": 10},
                "hovertemplate": "beam %{x}: %{y:.4g}<extra>" + name + "</extra>",
            }
        )
    shapes = []
    if exact is not None:
        shapes = [
            {
                "type": "line",
                "x0": 0,
                "x1": 1,
                "xref": "paper",
                "y0": y,
                "y1": y,
                "line": {"color": RANDOM, "dash": "dash"},
            }
            for y in (exact.lower, exact.upper)
        ]
    mean = study.upper.mean(axis=0)
    at = study.widths.index(study.recommended)
    notes = (
        [
            {
                "x": names[at],
                "y": float(mean[at]),
                "text": "enough" if study.settled else "not settled",
                "showarrow": True,
                "arrowcolor": INK,
                "ay": -32,
                "ax": 0,
                "font": {"color": INK},
            }
        ]
        if len(names) > 2
        else []
    )
    drawn = figure(
        traces,
        320,
        annotations=notes,
        xaxis={"title": {"text": "width of the beam, B"}, "type": "category"},
        yaxis={"title": {"text": f"AOPC of the {html.escape(score)}"}},
    )
    return drawn | {
        "layout": drawn["layout"]
        | {"shapes": shapes, "showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}}
    }


def _marks(rows: list[Gauge], i: int) -> dict:
    direction, symbol, better = _MARKS[i]
    values = [(row.comprehensiveness, row.sufficiency)[i] for row in rows]
    hues = [row.hue for row in rows]
    edges = [OUT_OF_DISTRIBUTION if row.marked[i] else row.hue for row in rows]
    marks = {
        "size": 15,
        "color": edges if symbol.endswith("open") else hues,
        "symbol": symbol,
        "line": {"width": 2.5, "color": edges},
    }
    texts = [with_sign(f"{value:.3g}", row.marked[i]) for row, value in zip(rows, values)]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": values,
        "y": list(range(len(rows))),
        "name": f"{direction} ({better})",
        "marker": marks,
        "text": texts,
        "textposition": f"{('top', 'bottom')[i]} center",
        "textfont": {"color": INK},
        "hovertemplate": f"%{{text}}<extra>{direction}, {better}</extra>",
    }


def _range(chance: Range, y: int) -> list[dict]:
    bar = {
        "type": "scatter",
        "mode": "lines",
        "x": [chance.low, chance.high],
        "y": [y, y],
        "line": {"color": RANDOM, "width": 8},
        "opacity": 0.55,
        "showlegend": False,
        "hoverinfo": "skip",
    }
    mean = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [chance.mean],
        "y": [y],
        "marker": {"color": RANDOM, "size": 12, "symbol": "diamond"},
        "name": f"random order (mean, 95 % of {chance.orders})",
        "text": [f"{chance.mean:.3g}"],
        "textposition": "top center",
        "textfont": {"color": INK},
        "hovertemplate": f"mean %{{x:.3g}}, 95 % of {chance.orders} orders from {chance.low:.3g} to "
        f"{chance.high:.3g}<extra>random</extra>",
    }
    return [bar, mean]


def _beside(row: Gauge, y: int) -> dict:
    return _at_right(y, f"↑ {row.normal[0]}   ↓ {row.normal[1]}")


def _at_right(y: int, text: str) -> dict:
    return {
        "x": 1.01,
        "xref": "paper",
        "y": y,
        "text": text,
        "showarrow": False,
        "xanchor": "left",
        "align": "left",
        "font": {"color": INK, "size": 14},
    }


def _edge(x: float, text: str, anchor: str) -> dict:
    return {
        "x": x,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": anchor,
        "yshift": 6,
        "showarrow": False,
        "text": text,
        "font": {"color": INK},
    }


def _side(x: float, y: float, text: str, anchor: str) -> dict:
    return {
        "x": x,
        "y": y,
        "text": text,
        "showarrow": False,
        "xanchor": anchor,
        "xshift": -14 if anchor == "right" else 14,
        "font": {"color": INK},
    }


def _shifts(places: list[int]) -> list[int]:
    seen: dict[int, int] = {}
    shifts = []
    for place in places:
        shifts.append(seen.get(place, 0))
        seen[place] = shifts[-1] + 1
    return shifts
