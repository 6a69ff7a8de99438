"""Figures of AOPC between its limits: gauges, ranks before and after normalising, and means over texts."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.evaluation.studies.limits_of_texts import LimitsOfTexts, LimitsReport
from core.evaluation.studies.scoring import interval_text
from core.explanation.standings import ARROWS, Comparison
from core.figures.catalogue import register_figure
from core.figures.figures import INK, axis, error_bar, figure, legend, note, score_title, stroke, trace, upright
from core.figures.palette import LIMIT, OUT_OF_DISTRIBUTION, RANDOM, hue
from core.mathematics.search.limits import EXACT, Limits
from core.validity.marks import with_sign
from core.wording import shortened

_ROW, _ABOVE, _BELOW = 58, 44, 138
_OVER: dict[str, Any] = {"y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 6}
# Marks of the two directions; their shape tells them apart without colour.
_MARKS = (
    ("comprehensiveness", "triangle-right", "most important first: right is better"),
    ("sufficiency", "triangle-left-open", "least important first: left is better"),
)


@dataclass(frozen=True)
class Gauge:
    """One row: a measure's hue, its AOPC and the text of its NAOPC with its mark, of comprehensiveness and sufficiency;
    marked: whether either AOPC rests on rejected inputs."""

    name: str
    hue: str
    comprehensiveness: float
    sufficiency: float
    normal: tuple[str, str]
    marked: tuple[bool, bool]


@dataclass(frozen=True)
class Range:
    """The random orders: their mean and the middle 95 %, the text of the mean's NAOPC with its mark, and which orders
    they are, "30 random orders"; marked: whether their AOPC rests on rejected inputs.
    """

    mean: float
    low: float
    high: float
    normal: str
    orders: str
    marked: bool = False


def gauges(
    rows: list[Gauge], chance: Range | None, limits: Limits, tag: str, score: str, direction: str = "comprehensiveness"
) -> dict:
    """Every measure between the limits, a shaded band: a mark for its AOPC in one direction, NAOPC under its name.

    tag: "exact" or the search; score: "probability of positive"; direction: of `_MARKS`. Source: NAOPC Eq. 8.
    """
    at = [name for name, *_ in _MARKS].index(direction)
    names = [f"{html.escape(row.name)}<br>NAOPC {'↑↓'[at]} {row.normal[at]}" for row in rows]
    traces = [_marks(rows, at, limits)] if rows else []
    if chance is not None:
        traces += _range(chance, len(rows))
        names.append("<br>".join(["random", f"NAOPC {chance.normal}"]))
    reach = [limits.lower, limits.upper]
    reach += [(row.comprehensiveness, row.sufficiency)[at] for row in rows]
    low, high = min(reach), max(reach)
    room, tall = 0.06 * max(high - low, 1e-3), _ROW * len(names) + 24
    # In one line and from the right, so that its halves stand apart however close the limits are.
    kind = "order" if tag == EXACT else "found"
    left, right = ("worst", "best")[:: 1 - 2 * at]
    ends = f"{left} {kind} {limits.lower:.3g}, {right} {kind} {limits.upper:.3g} ({tag})"
    notes = [note(1, text=ends, xref="paper", xanchor="right", **_OVER)]
    ground = _ground(limits, y0=0, y1=1, yref="paper", line={"width": 0})
    return figure(
        traces,
        tall + _ABOVE + _BELOW,
        notes,
        xaxis=axis(f"AOPC: mean fall of the<br>{score_title(score)}", range=[low - room, high + room]),
        yaxis=axis(tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.4, -0.75], showgrid=False),
        shapes=[ground, *(upright(x, LIMIT, 2.5) for x in (limits.lower, limits.upper))],
        # As wide for two models of different classes, so that their axes are equally long.
        margin={"l": 8 * max(16, *(len(row.name) for row in rows), 0), "r": 24, "t": _ABOVE, "b": _BELOW},
        # Below the axis and its title, whatever the number of rows.
        legend=legend(-104 / tall, xanchor="left", yanchor="top"),
        showlegend=bool(traces),
    )


# Of two models: a row in pixels; what the name of a measure above its rows takes, and how far measures stand apart, in
# rows; and characters of a model's name that stand beside its rows.
_PAIRED, _HEAD, _APART, _LONGEST_NAMES = 30, 0.8, 0.35, (24, 48)


@dataclass(frozen=True)
class ModelGauges:
    """What `gauges` draws of one model: its measures, random orders, and limits with how they were found."""

    model: str
    rows: list[Gauge]
    chance: Range | None
    limits: Limits
    tag: str


def gauges_of_models(models: list[ModelGauges], score: str, direction: str = "comprehensiveness") -> dict:
    """Every measure between the limits of each model (two or more, of the same class) on one axis, with NAOPC.
    Source: NAOPC Eq. 8, §5.
    """
    at, names = [name for name, *_ in _MARKS].index(direction), _told_apart([one.model for one in models])
    traces, notes, shapes, ticks, end = _blocks(models, names, at)
    lines = _band_in_words(models, names, at)
    over: dict[str, Any] = {"xref": "paper", "xanchor": "left", **_OVER}
    notes += [
        note(0, text="<br>".join(lines), align="left", **over),
        note(1, text=f"NAOPC {'↑↓'[at]}", **over, xshift=10),
    ]
    reach = [end for one in models for end in (one.limits.lower, one.limits.upper)]
    reach += [(row.comprehensiveness, row.sufficiency)[at] for one in models for row in one.rows]
    reach += [end for one in models if one.chance is not None for end in (one.chance.low, one.chance.high)]
    low, high = min(reach), max(reach)
    room, tall, above = 0.04 * max(high - low, 1e-3), int(_PAIRED * (end + 0.6)), _ABOVE + 18 * (len(lines) - 2)
    named: dict[str, Any] = {"tickvals": [place for place, _ in ticks], "ticktext": [name for _, name in ticks]}
    return figure(
        traces,
        tall + above + _BELOW,
        notes,
        xaxis=axis(f"AOPC: mean fall of the<br>{score_title(score)}", range=[low - room, high + room]),
        yaxis=axis(**named, range=[end, -0.6], showgrid=False),
        shapes=shapes,
        margin={"l": 8 * max(map(len, names)), "r": 84, "t": above, "b": _BELOW},
        legend=legend(-104 / tall, xanchor="left", yanchor="top"),
        showlegend=bool(traces),
    )


def _told_apart(models: list[str]) -> list[str]:
    """Names cut as far as they still differ, since nothing else tells the rows apart."""
    cut = ([shortened(name, most) for name in models] for most in _LONGEST_NAMES)
    return next((names for names in cut if len(set(names)) == len(set(models))), models)


def _band_in_words(models: list[ModelGauges], names: list[str], at: int) -> list[str]:
    """What the band of a row is, and how its ends were found, lines of markup."""
    left, right = ("worst", "best")[:: 1 - 2 * at]
    tags = {one.tag for one in models}
    found = "" if tags == {EXACT} else " found"
    each = [f"{html.escape(name)}: {one.tag}" for name, one in zip(names, models)]
    how = [f"({tags.pop()})"] if len(tags) == 1 else [f"({'; '.join(each[:-1])};", f"{each[-1]})"]
    return [f"band: {left} to {right} order{found}", *how]


def _blocks(
    models: list[ModelGauges], names: list[str], at: int
) -> tuple[list[dict], list[dict], list[dict], list[tuple], float]:
    """A block a measure, and random order: traces, notes, shapes, (place, name) of rows; and where they end."""
    traces, notes, shapes, ticks, y = [], [], [], [], 0.0
    kinds = {one.chance.orders for one in models if one.chance is not None}
    for measure in [*dict.fromkeys(row.name for one in models for row in one.rows), None]:
        found = [(one, name, _row_of(one, measure)) for one, name in zip(models, names)]
        drawn = [(one, name, row) for one, name, row in found if row is not None]
        if not drawn:
            continue
        notes.append(note(0, y, f"<b>{html.escape(measure or 'random')}</b>", xref="paper", xanchor="left"))
        for place, (one, name, row) in enumerate(drawn):
            at_y = y + _HEAD + place
            ticks.append((at_y, html.escape(name)))
            edge = {"color": LIMIT, "width": 1.5}
            shapes.append(_ground(one.limits, y0=at_y - 0.4, y1=at_y + 0.4, line=edge))
            if isinstance(row, Gauge):
                traces.append(_marks([row], at, one.limits, at_y))
            else:
                whose = f"{row.orders} ({html.escape(name)})" if len(kinds) > 1 else row.orders
                traces += _range(replace(row, orders=whose), at_y, beside=True)
            normal = row.normal[at] if isinstance(row, Gauge) else row.normal
            notes.append(note(1, at_y, f"<b>{normal}</b>", xref="paper", xanchor="left", xshift=10))
        y += _HEAD + len(drawn) + _APART
    _named_once(traces)
    return traces, notes, shapes, ticks, y - _APART


def _row_of(one: ModelGauges, measure: str | None) -> Gauge | Range | None:
    """What a model has of a measure, None for random order; None where it has nothing."""
    return one.chance if measure is None else next((row for row in one.rows if row.name == measure), None)


def _ground(limits: Limits, **more: Any) -> dict:
    ends = {"x0": limits.lower, "x1": limits.upper}
    return {"type": "rect", "fillcolor": "rgba(125,133,144,0.13)", "layer": "below"} | ends | more


def _named_once(traces: list[dict]) -> None:
    """What has one name stands in the legend once, and is hidden there together."""
    seen: set[str] = set()
    for one in traces:
        one["showlegend"] = one.get("showlegend", True) and one.get("name", "") not in seen
        seen.add(one.get("name", ""))
        one |= {"legendgroup": one["name"]} if "name" in one else {}


def slope(found: Comparison) -> dict:
    """Places of two models' measures before and after normalising, a line each, full for the first model, dashed for
    the second. Source: NAOPC §5.
    """
    traces, notes = [], []
    ranks = [one.place for one in found.placed], [one.place_normalised for one in found.placed]
    # Those that share a place are written under each other.
    shifts = [[places[:i].count(place) for i, place in enumerate(places)] for places in ranks]
    for i, one in enumerate(found.placed):
        label = html.escape(with_sign(f"{one.measure} · {one.model}", one.marked))
        y = [places[i] + 0.32 * shift[i] for places, shift in zip(ranks, shifts)]
        dash, symbol = ("solid", "circle") if one.model == found.placed[0].model else ("dash", "square")
        look = stroke(hue(one.measure), 3, dash, symbol, 9) | {"name": label, "customdata": [one.aopc, one.naopc]}
        traces.append(trace("lines+markers", [0, 1], y, "place %{y:.0f}: %{customdata:.3g}", label, **look))
        notes += [
            note(0, y[0], f"{one.place}. {label}  {one.aopc:.3g}", xanchor="right", xshift=-14),
            note(1, y[1], f"{one.place_normalised}. {label}  {one.naopc:.3g}", xanchor="left", xshift=14),
        ]
    heads = {"tickvals": [0, 1], "ticktext": ["by AOPC", "by NAOPC"], "side": "top", "showgrid": False}
    title = f"place by {found.direction} {ARROWS[found.direction]}, 1 is best"
    columns = axis(title, **heads, range=[-1.25, 2.25])
    rows = axis(range=[max(ranks[0] + ranks[1]) + 0.7, 0.5], visible=False)
    return figure(traces, 120 + 42 * len(found.placed), notes, xaxis=columns, yaxis=rows)


def _marks(rows: list[Gauge], i: int, limits: Limits, y: float | None = None) -> dict:
    """Their marks, a row each; y: of one row alone, beside whose mark its value is written."""
    direction, symbol, better = _MARKS[i]
    values = [(row.comprehensiveness, row.sufficiency)[i] for row in rows]
    edges = [OUT_OF_DISTRIBUTION if row.marked[i] else row.hue for row in rows]
    marks = {
        "size": 15,
        "color": edges if symbol.endswith("open") else [row.hue for row in rows],
        "symbol": symbol,
        "line": {"width": 2.5, "color": edges},
    }
    texts = [with_sign(f"{value:.3g}", row.marked[i]) for row, value in zip(rows, values)]
    if y is None:
        sides, places = [f"{('top', 'bottom')[i]} {_clear_of(limits, value)}" for value in values], range(len(rows))
    else:
        sides, places = [f"middle {_inside(limits, value)}" for value in values], [y]
    more = {"name": better, "marker": marks} | _written(texts, sides)
    return trace("markers+text", values, list(places), "%{text}", f"{direction}, {better}", **more)


def _range(chance: Range, y: float, beside: bool = False) -> list[dict]:
    """Random orders in a row; beside: their mean is written beside the bar and not above it."""
    bar: dict[str, Any] = {"line": {"color": RANDOM, "width": 8}, "opacity": 0.55, "showlegend": False}
    told = f"mean %{{x:.3g}}, 95 % of {chance.orders} from {chance.low:.3g} to {chance.high:.3g}"
    mean = with_sign(f"{chance.mean:.3g}", chance.marked)
    more: dict[str, Any] = {
        "name": f"mean and 95 % of<br>{chance.orders}",
        "marker": {"color": RANDOM, "size": 12, "symbol": "diamond"},
    } | _written([mean * (not beside)], "top center")
    return [
        trace("lines", [chance.low, chance.high], [y, y], **bar),
        trace("markers+text", [chance.mean], [y], told, "random", **more),
        *[trace("text", [chance.high], [y], showlegend=False, **_written([f" mean {mean}"], "middle right"))] * beside,
    ]


def _written(texts: list[str], places: str | list[str]) -> dict:
    return {"text": texts, "textposition": places, "textfont": {"color": INK}}


def _clear_of(limits: Limits, value: float) -> str:
    """To which side of its mark a value is written, so that no limit's line goes through it."""
    near = 0.15 * (limits.upper - limits.lower)
    return "right" if value - limits.lower < near else "left" if limits.upper - value < near else "center"


def _inside(limits: Limits, value: float) -> str:
    """On which side of its mark a value has the more room between the limits."""
    return "right" if value - limits.lower <= limits.upper - value else "left"


@register_figure(LimitsOfTexts.name)
def naopc_over_texts(reports: Sequence[LimitsReport]) -> dict | None:
    """The mean NAOPC comprehensiveness of each measure (and model) with its 95 % interval, between the worst order, 0,
    and the best, 1. None where no measure has one.
    """
    rows = [(name, k, one.means[name][0]) for k, one in enumerate(reports) for name in one.measures]
    if not rows:
        return None
    traces = []
    for place, (name, _, mean) in enumerate(rows):
        bar = {"error_x": error_bar(mean, hue(name), thickness=2)} if mean.known else {}
        told = interval_text(mean), html.escape(name)
        traces.append(trace("markers", [mean.mean], [place], *told, marker={"color": hue(name), "size": 12}, **bar))
    names = [html.escape(f"{name} · {k + 1}" if len(reports) > 1 else name) for name, k, _ in rows]
    y = axis(tickvals=[*range(len(rows))], ticktext=names, range=[len(rows) - 0.5, -0.5], showgrid=False)
    ends = ["0<br>worst order", "0.25", "0.5", "0.75", "1<br>best order"]
    title = "mean NAOPC comprehensiveness ↑"
    x = axis(title, range=[-0.08, 1.08], tickvals=[0, 0.25, 0.5, 0.75, 1], ticktext=ends)
    shapes = [upright(at, INK, 1, dash) for at, dash in ((0, "solid"), (0.5, "dot"), (1, "solid"))]
    return figure(traces, 130 + 44 * len(rows), xaxis=x, yaxis=y, shapes=shapes)
