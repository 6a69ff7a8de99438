"""Figures of hard and soft erasure: scores and places, scores by rationale length and over texts, p-values."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.evaluation.studies.scoring import ScoresReport, Scoring, interval_text
from core.figures.catalogue import register_figure
from core.figures.figures import (
    DASHES,
    INK,
    LOWEST_P,
    P_AXIS,
    REJECTED,
    axis,
    deciding,
    entry,
    error_bar,
    figure,
    legend,
    named_level,
    note,
    stroke,
    trace,
    upright,
)
from core.figures.palette import OPPOSES, SUPPORTS, hue
from core.figures.palette import RANDOM as GREY
from core.mathematics.erasure import LENGTHS
from core.mathematics.statistics import Interval
from core.metrics.catalogue import metrics
from core.terms import MASF_P
from core.validity.marks import Gate, with_sign
from core.wording import as_json

# Panels beside each other: two are as wide as a telephone bears. Pixels of a line, and of what stands around a panel.
_ACROSS, _LINE, _AROUND = 2, 26, 62
_GAP = 0.06
# As many metrics have names in one line.
_FEW = 6

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star", "hexagon", "cross-thin-open")
_LEGEND = legend(1.03, xanchor="left")
_X, _SHARES = list(range(len(LENGTHS))), [f"{100 * length:g} %" for length in LENGTHS]
_LEFT, _RIGHT = [0, 0.46], [0.54, 1]


@dataclass(frozen=True, eq=False)
class ByLength:
    """A measure under a hard metric: values float64[R] at each of LENGTHS, and the soft metric's value or NaN."""

    measure: str
    values: np.ndarray
    soft: float


@dataclass(frozen=True, eq=False)
class AcrossMetrics:
    """Scores in the columns of K metrics: values float64[K], NaN where there is none; errors float64[K], half of a bar,
    NaN for none; marked bool[K], which rest on rejected inputs; baseline: whether it is no measure.
    """

    name: str
    values: np.ndarray
    errors: np.ndarray
    marked: np.ndarray
    baseline: bool = False


def scores_across(lines: Sequence[AcrossMetrics], heads: Sequence[str], kinds: Sequence[tuple[str, int]]) -> dict:
    """Scores of measures in a column a metric (heads); a cross rests on rejected inputs; kinds: what is erased."""
    width = min(0.12, 0.7 / max(1, len(lines)))
    traces = []
    for i, line in enumerate(lines):
        x = (np.arange(len(heads)) + (i - (len(lines) - 1) / 2) * width).tolist()
        symbol = "circle-open" if line.baseline else _SYMBOLS[i % len(_SYMBOLS)]
        look: dict[str, Any] = {
            "marker": {
                "color": GREY if line.baseline else hue(line.name),
                "size": 11,
                "symbol": ["x" if out else symbol for out in line.marked],
                "opacity": np.where(line.marked, 0.55, 1.0).tolist(),
            }
        }
        if not np.isnan(line.errors).all():
            look["error_y"] = {"type": "data", "array": as_json(line.errors), "thickness": 1.5, "width": 3}
        name = html.escape(line.name)
        traces.append(trace("markers", x, as_json(line.values), "%{y:.3g}", name, name=name, **look))
    if any(line.marked.any() for line in lines):
        traces.append(entry(REJECTED, "x", 10))
    starts = np.cumsum([0, *(count for _, count in kinds)])
    # In two lines, which leave each other room on a telephone.
    heights = {"yref": "paper", "yanchor": "bottom"}
    named = [
        note(float(start + (count - 1) / 2), 1.02, f"<b>{kind.replace(': ', '<br>')}</b>", 14, **heights)
        for start, (kind, count) in zip(starts, kinds)
    ]
    between = [upright(float(start) - 0.5, INK, 1) for start in starts[1:-1]]
    many = len(heads) > _FEW
    columns = _columns(heads, 14, range=[-0.5, len(heads) - 0.5])
    below = legend(-0.14 - 0.12 * many, yanchor="top", xanchor="left")
    known = np.concatenate([line.values for line in lines])
    known = known[~np.isnan(known)]
    # All that a share can be, also before a score is there.
    ends = {"range": [-0.04, 1.04]} if ((known >= 0) & (known <= 1)).all() else {}
    scale = axis("score", **ends)
    drawn = figure(traces, 380 + 60 * many, named, xaxis=columns, yaxis=scale, legend=below, shapes=between)
    drawn["layout"]["margin"] = {"l": 10, "r": 10, "t": 52, "b": 10}
    return drawn


def places_across(
    names: Sequence[str], heads: Sequence[str], places: np.ndarray, texts: Sequence[Sequence[str]]
) -> dict:
    """Places of M measures across K metrics, a line each; those that share a place stand side by side.

    places: int[M, K], 1 is on top, 0 where there is none; texts: M times K values for the hover.
    """
    most, many = int(places.max(initial=1)), len(heads) > _FEW
    traces = []
    for i, (name, shifts) in enumerate(zip(names, _apart(places))):
        label, y = html.escape(name), [place or None for place in places[i].tolist()]
        x = [k + shift for k, shift in enumerate(shifts.tolist())]
        told = list(map(list, zip(map(html.escape, heads), texts[i])))
        look = _stroke(i, hue(name), 3, 11) | {"connectgaps": True, "customdata": told}
        said = "%{customdata[0]}: place %{y}, %{customdata[1]}"
        traces.append(trace("lines+markers", x, y, said, label, name=label, **look))
    columns = _columns(heads, 13, range=[-0.35, len(heads) - 0.9], side="top")
    ranks = axis("place, 1 is best", range=[most + 0.6, 0.5], tickvals=list(range(1, most + 1)), showgrid=False)
    # Below, since the metrics' names are above; lines may end anywhere, and together.
    below = legend(-0.04, yanchor="top", xanchor="left")
    return figure(traces, 140 + 46 * max(most, 2) + 40 * many, xaxis=columns, yaxis=ranks, legend=below)


def _columns(heads: Sequence[str], size: int, **more: Any) -> dict:
    """An axis of metrics: long names in lines, each arrow beside its last word; of many, every second stands higher."""
    many = len(heads) > _FEW
    broken = [html.escape("\u00a0".join(head.rsplit(" ", 1))).replace(" ", "<br>") for head in heads]
    names = [head + "<br>\u00a0<br>\u00a0" * (many and k % 2) for k, head in enumerate(broken)]
    font = {"size": 11 if many else size}
    places = list(range(len(heads)))
    return axis(tickvals=places, ticktext=names, tickangle=0, tickfont=font, showgrid=False, **more)


def draw_scores_by_length(panels: Sequence[tuple[str, str, Sequence[ByLength]]], sizes: np.ndarray, unit: str) -> dict:
    """Hard scores against the rationale's length, a panel a metric, the soft value dotted. Source: SoftFaith Fig. 2.

    panels: (title, soft metric or "", lines), one or two; sizes: int[R], features of the rationale.
    """
    two, traces, axes = len(panels) > 1, [], {}
    for end, domain, (title, soft, lines) in zip(("", "2"), (_LEFT, _RIGHT), panels):
        ticks = _length_ticks(sizes, unit)
        axes[f"xaxis{end}"] = axis(**ticks, domain=domain if two else [0, 1], anchor=f"y{end}")
        axes[f"yaxis{end}"] = axis(html.escape(title), range=[-0.04, 1.04], anchor=f"x{end}")
        for i, line in enumerate(lines):
            traces += _length_line(line, i, ticks["range"], end, html.escape(soft))
    return figure(traces, 380, **axes, legend=_LEGEND)


def _length_ticks(sizes: np.ndarray, unit: str) -> dict:
    """An axis of the rationale's lengths."""
    told = [f"{share}<br>{size} {unit}{'' if size == 1 else 's'}" for share, size in zip(_SHARES, sizes)]
    return {"tickvals": _X, "ticktext": told, "range": [-0.3, len(_X) - 0.7]}


def _length_line(line: ByLength, i: int, ends: list[float], end: str, soft: str) -> list[dict]:
    name, colour = html.escape(line.measure), hue(line.measure)
    common = {"legendgroup": name, "xaxis": f"x{end}", "yaxis": f"y{end}"}
    hard = _stroke(i, colour, 2.5, 9) | {"name": name, "text": _SHARES, "showlegend": not end}
    traces = [trace("lines+markers", _X, as_json(line.values), "%{text}: %{y:.3g}", name, **common, **hard)]
    if soft and not np.isnan(line.soft):
        flat = {"name": f"{name}, soft", "line": {"color": colour, "width": 1.5, "dash": "dot"}, "showlegend": False}
        traces.append(trace("lines", ends, [line.soft] * 2, f"{soft}: %{{y:.3g}}", name, **common, **flat))
    return traces


def leaving(found: dict[str, tuple[np.ndarray, Gate]], sizes: np.ndarray, unit: str) -> dict:
    """p-values of rationales kept (left) and erased (right) by erasure; a cross where the input is rejected.

    found: {erasure: (p float64[2, R], its gate)}, at least one, as of `MetricReport.leaves`; sizes: int[R], features of
    the rationale.
    """
    traces = []
    for i, (erasure, (p, gate)) in enumerate(found.items()):
        name, rejected = html.escape(erasure), gate.rejected.reshape(2, -1)
        for half, end in enumerate(("", "2")):
            look = _stroke(i, (SUPPORTS, OPPOSES, INK)[i % 3], 2.5, 10)
            look["marker"]["symbol"] = ["x" if out else look["marker"]["symbol"] for out in rejected[half]]
            panel = {"xaxis": f"x{end}", "yaxis": f"y{end}", "showlegend": not end, "legendgroup": erasure}
            look |= {"name": name, "customdata": p[half].tolist()}
            y = np.maximum(p[half], LOWEST_P).tolist()
            traces.append(trace("lines+markers", _X, y, f"{MASF_P} = %{{customdata:.3g}}", name, **look, **panel))
    ticks = _length_ticks(sizes, unit)
    axes: dict[str, Any] = {
        "xaxis": axis("rationale kept", **ticks, domain=_LEFT),
        "yaxis": axis(f"{MASF_P} ↑", **P_AXIS),
        "xaxis2": axis("rationale erased", **ticks, domain=_RIGHT, anchor="y2"),
        "yaxis2": axis("", **P_AXIS, anchor="x2"),
    }
    _, gate = next(iter(found.values()))
    shapes = [shape for end in ("", "2") for shape in deciding(gate, f"x{end} domain", f"y{end}")]
    return figure([*traces, named_level(gate)], 400, **axes, shapes=shapes, legend=_LEGEND)


def _stroke(i: int, hue: str, width: float, size: int) -> dict:
    """How the line of the i-th of several looks, told apart without colour."""
    return stroke(hue, width, DASHES[i % len(DASHES)], _SYMBOLS[i % len(_SYMBOLS)], size)


def _apart(places: np.ndarray) -> np.ndarray:
    """How far to the right each point is drawn, so that those that share a place stand side by side; float64[M, K]."""
    found = np.zeros(places.shape)
    for k, column in enumerate(places.T):
        for place in set(column[column > 0].tolist()):
            shared = np.flatnonzero(column == place)
            found[shared, k] = 0.09 * np.arange(len(shared))
    return found


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
    lines = study.compared
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
        ticks: dict[str, Any] = {
            "tickvals": [*range(len(lines))],
            "ticktext": named_lines,
            "range": [len(lines) - 0.5, -0.5],
        }
        axes[f"yaxis{end}"] = axis(domain=[low, high - _GAP], anchor=f"x{end}", showgrid=False, **ticks)
        panel = {"xaxis": f"x{end}", "yaxis": f"y{end}"}
        for y, one in enumerate(lines):
            traces += _mean(found.means[name, one], y, one, one == study.baseline, panel)
        chance = found.means[name, study.baseline].mean if study.count else float("nan")
        if chance == chance:
            shapes.append(upright(chance, INK, 1, "dot", xref=f"x{end}", yref=f"y{end} domain"))
        arrow = f" {metrics()[name].arrow} better" if metrics()[name].arrow else ""
        at = {"xref": f"x{end} domain", "yref": f"y{end} domain", "xanchor": "left", "yanchor": "bottom"}
        said.append(note(0, 1, with_sign(f"<b>{html.escape(name)}</b>{arrow}", name in found.marked), 13, **at))
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
    bars = {"error_x": error_bar(span, colour, thickness=2)} if span.known else {}
    look = {"color": colour, "size": 10, "symbol": "diamond" if baseline else "circle"}
    return [trace("markers", [span.mean], [y], interval_text(span), html.escape(name), marker=look, **bars, **panel)]
