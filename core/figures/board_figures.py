"""Figure of a scoreboard: how faithful each measure is against what it costs."""

import html
import itertools
from collections.abc import Sequence
from math import log10
from typing import Any

import numpy as np

from core.evaluation.studies.board_report import RANDOM, BoardReport, arrow
from core.evaluation.studies.board_tables import cell_text, cost_texts, front
from core.evaluation.studies.scoreboard import Scoreboard
from core.figures.catalogue import register_figure
from core.figures.figures import INK, axis, entry, error_bar, figure, legend, level, note, trace
from core.figures.label_places import label_places
from core.figures.palette import OUT_OF_DISTRIBUTION, hue
from core.figures.palette import RANDOM as GREY
from core.validity.marks import with_sign

# Dots of a part of the line that names keep off, and half the side of one, as a share of the plot.
_DOTS, _DOT = 24, 0.008
HEIGHT = 420
# What the legend says of the line and of points.
_LINE, _BETTER, _NOT_BETTER = "none as cheap is as good", "better than random", "not significantly better"


@register_figure(Scoreboard.name)
def draw_front(reports: Sequence[BoardReport]) -> dict | None:
    """The figure that the first report compares measures by against forward passes (log), None where no measure has it.

    A point a measure with its interval, hollow where not better than random; a line through the best for their cost.
    """
    report, by = reports[0], reports[0].board.by
    named = [name for name in report.names if name != RANDOM and report.cells[name, by].n]
    if not named:
        return None
    best = front(report)
    at = {name: max(1.0, report.passes[name]) for name in named}
    mean = {name: report.cells[name, by].interval.mean for name in report.names}
    line: dict[str, Any] = {"line": {"color": INK, "width": 1.5, "dash": "dot"}, "name": _LINE, "showlegend": True}
    traces = [trace("lines", [at[name] for name in best], [mean[name] for name in best], None, **line)]
    chance = mean[RANDOM]
    ends = [value for name in named for value in _ends(report, name)]
    ends += [value for value in (chance,) if value == value]
    shapes = [level(chance, GREY)] if chance == chance else []
    said = [note(0.002, chance, RANDOM, 12, xref="paper", yshift=9, xanchor="left")] if shapes else []
    # What is level but for the last bit is drawn level.
    room = 0.12 * max(max(ends) - min(ends), 0.01)
    ticks, heights = _ticks([*at.values()]), (min(ends) - room, max(ends) + room)
    places = _places(report, named, best, at, chance, (ticks["range"], heights))
    traces += [_point(report, name, at[name], place) for name, place in zip(named, places)]
    traces += [entry(_BETTER, "circle", 11), entry(_NOT_BETTER, "circle-open", 11)]
    return figure(
        traces,
        HEIGHT,
        said,
        xaxis=axis("forward passes ↓ cheaper", type="log", **ticks),
        yaxis=axis(f"{arrow(by)} better", range=[*heights]),
        shapes=shapes,
        legend=legend(1.0, itemclick=False, itemdoubleclick=False),
    )


def _places(
    report: BoardReport, named: list[str], best: list[str], at: dict[str, float], chance: float, ranges
) -> list[str]:
    """Where each name stands, off the line through the best, "" for nowhere; random order is named at its level, at the
    left.
    """
    (left, right), (low, high) = ranges
    mean = {name: report.cells[name, report.board.by].interval.mean for name in named}
    places = {n: ((log10(at[n]) - left) / (right - left), (mean[n] - low) / (high - low)) for n in named}
    level = ((chance - low) / (high - low), RANDOM) if chance == chance else None
    # Its bar, which a name would be struck through by.
    bars = ((x, [(end - low) / (high - low) for end in _ends(report, name)]) for name, (x, _) in places.items())
    taken = [(x - _DOT, min(ends), x + _DOT, max(ends)) for x, ends in bars if len(ends) > 1]
    for (x, y), (to_x, to_y) in itertools.pairwise(places[name] for name in best):
        for share in np.linspace(0, 1, _DOTS):
            dot = x + share * (to_x - x), y + share * (to_y - y)
            taken.append((dot[0] - _DOT, dot[1] - _DOT, dot[0] + _DOT, dot[1] + _DOT))
    return label_places([places[name] for name in named], [_label(report, name) for name in named], taken, level)


def _label(report: BoardReport, name: str) -> str:
    return with_sign(name, report.cells[name, report.board.by].marked)


def _point(report: BoardReport, name: str, x: float, place: str) -> dict:
    by, colour = report.board.by, hue(name)
    cell = report.cells[name, by]
    told = f"{html.escape(cell_text(report, name, by))}<br>{cost_texts(report, name)[0]} forward passes"
    hollow = cell.marked or report.not_better(name)
    look: dict[str, Any] = {"color": colour, "size": 11, "symbol": "circle-open" if hollow else "circle"}
    if hollow:
        told += f"<br>{_NOT_BETTER}" if report.not_better(name) else ""
        look |= {"line": {"color": colour, "width": 2}}
    if cell.marked:
        look |= {"line": {"color": OUT_OF_DISTRIBUTION, "width": 2}}
    label = html.escape(_label(report, name)) if place else ""
    bars: dict[str, Any] = {}
    if cell.error == cell.error:
        bars["error_y"] = {"type": "data", "array": [cell.error], "color": colour, "thickness": 1.5, "width": 4}
    elif cell.interval.known:
        bars["error_y"] = error_bar(cell.interval, colour, thickness=1.5, width=4)
    written = {"text": [label], "textposition": place or "top center", "textfont": {"color": INK, "size": 12}}
    more: dict[str, Any] = {"showlegend": False} | written
    y = [cell.interval.mean]
    return trace("markers+text", [x], y, told, html.escape(name), marker=look, cliponaxis=False, **more, **bars)


def _ends(report: BoardReport, name: str) -> list[float]:
    cell = report.cells[name, report.board.by]
    one, error = cell.interval, cell.error
    ends = (one.low, one.mean, one.high, one.mean - error, one.mean + error)
    return [value for value in ends if value == value]


def _ticks(passes: list[float]) -> dict:
    """Marks at 1, 3, 10, 30 …, and room at both ends for names."""
    low, high = log10(min(passes)) - 0.25, log10(max(passes)) + 0.35
    ticks = [step * 10**power for power in range(6) for step in (1, 3)]
    shown = [tick for tick in ticks if low <= log10(tick) <= high]
    return {"range": [low, high], "tickvals": shown, "ticktext": [f"{tick:,}" for tick in shown]}
