"""Figure of scores over many texts: of each metric the mean that every measure reaches, beside the baseline."""

import html
from collections.abc import Sequence
from typing import Any

from core.evaluation.studies.scoring import ScoresReport, Scoring, interval_text
from core.figures.catalogue import register_figure
from core.figures.figures import INK, axis, figure, note, trace
from core.figures.palette import RANDOM as GREY
from core.figures.palette import hue
from core.mathematics.statistics import Interval
from core.metrics.catalogue import metrics

# Panels beside each other: two are as wide as a telephone bears. Pixels of a line, and of what stands around a panel.
_ACROSS, _LINE, _AROUND = 2, 26, 62
_GAP = 0.06


@register_figure(Scoring.name)
def draw_scores(reports: Sequence[ScoresReport]) -> dict | None:
    """The first report's means over texts with their 95 % intervals, a panel a metric; a diamond, and a dotted line
    through it, is the baseline. None where no metric has a mean.
    """
    found = reports[0]
    study: Scoring = found.found.study
    named = [name for name in study.metrics if any(found.counts[name, one] for one in study.measures)]
    if not named:
        return None
    lines = [*study.measures, *[study.baseline] * bool(study.count)]
    down = -(-len(named) // _ACROSS)
    traces, said, shapes, axes = [], [], [], {}
    for place, name in enumerate(named):
        end = str(place + 1) if place else ""
        row, column = divmod(place, _ACROSS)
        high = 1 - row / down
        low = 1 - (row + 1) / down + _GAP * 2.2
        sides = [0, 0.5 - _GAP / 2] if column == 0 else [0.5 + _GAP / 2, 1]
        axes[f"xaxis{end}"] = axis(domain=sides, anchor=f"y{end}", **_range(name))
        named_lines = [html.escape(one) for one in lines] if column == 0 else [""] * len(lines)
        ticks = {"tickvals": [*range(len(lines))], "ticktext": named_lines, "range": [len(lines) - 0.5, -0.5]}
        axes[f"yaxis{end}"] = axis(domain=[low, high - _GAP], anchor=f"x{end}", showgrid=False, **ticks)
        panel = {"xaxis": f"x{end}", "yaxis": f"y{end}"}
        for y, one in enumerate(lines):
            traces += _mean(found.means[name, one], y, one, one == study.baseline, panel)
        chance = found.means[name, study.baseline].mean if study.count else float("nan")
        if chance == chance:
            shapes.append(_through(chance, end))
        arrow = f" {metrics()[name].arrow} better" if metrics()[name].arrow else ""
        at = {"xref": f"x{end} domain", "yref": f"y{end} domain", "xanchor": "left", "yanchor": "bottom"}
        said.append(note(0, 1, f"<b>{html.escape(name)}</b>{arrow}", 13, **at))
    height = down * (len(lines) * _LINE + _AROUND)
    return figure(traces, height, said, **axes, shapes=shapes, showlegend=False)


def _range(name: str) -> dict[str, Any]:
    """All that a share can be, so that panels compare; of others what is there."""
    metric = metrics()[name]
    return {"range": [-0.02, 1.02]} if (metric.low, metric.high) == (0, 1) else {}


def _mean(span: Interval, y: int, name: str, baseline: bool, panel: dict) -> list[dict]:
    if span.mean != span.mean:
        return []
    colour = GREY if baseline else hue(name)
    bars: dict[str, Any] = {}
    if span.known:
        ends = {"array": [span.high - span.mean], "arrayminus": [span.mean - span.low]}
        bars["error_x"] = {"type": "data", "symmetric": False, "color": colour, "thickness": 2} | ends
    look = {"color": colour, "size": 10, "symbol": "diamond" if baseline else "circle"}
    return [trace("markers", [span.mean], [y], interval_text(span), html.escape(name), marker=look, **bars, **panel)]


def _through(x: float, end: str) -> dict:
    line = {"color": INK, "width": 1, "dash": "dot"}
    return {
        "type": "line",
        "x0": x,
        "x1": x,
        "y0": 0,
        "y1": 1,
        "xref": f"x{end}",
        "yref": f"y{end} domain",
        "line": line,
    }
