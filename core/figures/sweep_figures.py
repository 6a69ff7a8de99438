"""Figures of a sweep: a number by masking ratio or by measure, a panel for each model."""

import html
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from core.figures.check_figures import model_stroke
from core.figures.figures import REJECTED, axis, entry, error_bar, figure, heading, legend, level, trace, upright
from core.figures.palette import RANDOM, hue
from core.mathematics.statistics import Interval
from core.measures.catalogue import is_measure

# A line of a table: {column: plain value}.
_Line = Mapping[str, Any]
_GAP = 0.04


def draw_curves_of_sweep(lines: Sequence[_Line], value: str, title: str, reference: float | None) -> dict:
    """A value by masking ratio: a line for each measure, and for random order by each seed. Each point has its place
    among lines as customdata.
    """
    models, traces, named = _models(lines), [], set()
    curves: dict[tuple, list[int]] = {}
    for i, one in enumerate(lines):
        curves.setdefault((one["measure"], one.get("seed"), one["model"]), []).append(i)
    for (name, _, model), of in curves.items():
        look = model_stroke(name, not is_measure(name), 0) | {"legendgroup": name, "name": html.escape(name)}
        x, y = ([scale * lines[i][column] for i in of] for column, scale in (("ratio", 100), (value, 1)))
        line = trace("lines+markers", x, y, "%{x:.0f} % masked: %{y:.3f}", look["name"], **look, customdata=of)
        traces.append(line | _panel(models.index(model)) | {"showlegend": name not in named})
        named.add(name)
    marked = None if reference is None else partial(_level, reference)
    return _panels(traces, models, title, marked, range=[-3, 103])


def draw_dots_of_sweep(lines: Sequence[_Line], value: str, title: str, reference: float | None) -> dict:
    """A value of each measure with its interval, the first line at the top; a cross rests on rejected inputs; points as
    of `draw_curves_of_sweep`.
    """
    models, traces = _models(lines), []
    for i, one in enumerate(lines):
        colour = hue(one["measure"]) if is_measure(one["measure"]) else RANDOM
        name, low, high = html.escape(one["measure"]), one.get(f"{value}_low"), one.get(f"{value}_high")
        out = {"symbol": "x", "opacity": 0.55} if one.get("marked") else {}
        look: dict[str, Any] = {"marker": {"size": 11, "color": colour} | out, "customdata": [i], "showlegend": False}
        if low is not None and high is not None:
            look["error_x"] = error_bar(Interval(one[value], low, high), colour)
        mark = trace("markers", [one[value]], [name], "%{y}: %{x:.3f}", name, **look)
        traces.append(mark | _panel(models.index(one["model"])))
    traces += [entry(REJECTED, "x", 10)] if any(one.get("marked") for one in lines) else []
    marked = None if reference is None else partial(_upright, reference)
    found = _panels(traces, models, title, marked, nticks=6)
    found["layout"]["yaxis"]["autorange"] = "reversed"
    return found


def _level(y: float, end: str) -> dict:
    return level(y, RANDOM, f"x{end} domain") | {"yref": f"y{end}"}


def _upright(x: float, end: str) -> dict:
    return upright(x, RANDOM, 2, "dash", xref=f"x{end}")


def _models(lines: Sequence[_Line]) -> list[str]:
    return list(dict.fromkeys(one["model"] for one in lines))


def _panel(place: int) -> dict[str, str]:
    end = str(place + 1) if place else ""
    return {"xaxis": f"x{end}", "yaxis": f"y{end}"}


def _panels(
    traces: list[dict], models: Sequence[str], title: str, marked: Callable[[str], dict] | None, **across: Any
) -> dict:
    """Panels beside each other with the same scales, each named after its model; marked: a line of a panel."""
    axes, notes, shapes, width = {}, [], [], (1 + _GAP) / len(models)
    for place, model in enumerate(models):
        end = str(place + 1) if place else ""
        domain = [place * width, (place + 1) * width - _GAP]
        same: dict[str, Any] = {"matches": "x"} if place else {}
        axes[f"xaxis{end}"] = axis(None, domain=domain, anchor=f"y{end}", **same, **across)
        same = {"matches": "y", "showticklabels": False} if place else {}
        axes[f"yaxis{end}"] = axis(anchor=f"x{end}", **same)
        # On a phone the title reaches across panels.
        above = "" if place else f"{html.escape(title)}<br>"
        notes.append(heading(f"{above}<b>{html.escape(model)}</b>", end))
        shapes += [] if marked is None else [marked(end)]
    below = {"legend": legend(-0.2) | {"yanchor": "top"}, "margin": {"l": 10, "r": 10, "t": 48, "b": 10}}
    return figure(traces, 370, notes, **axes, **below, shapes=shapes)
