"""Figure of retraining: ROAR's curves beside the FMM's, in two panels of one scale."""

import html
from collections.abc import Sequence
from typing import Any

from core.evaluation.studies.retraining import Retraining, RetrainingReport
from core.figures.catalogue import register_figure
from core.figures.check_figures import model_stroke
from core.figures.figures import REJECTED, axis, band, entry, figure, heading, legend, trace
from core.mathematics.masking import RATIOS
from core.mathematics.performance import lowest
from core.mathematics.statistics import seeds_interval
from core.wording import as_json, with_ends

_PANELS = {"": [0, 0.47], "2": [0.53, 1]}
_BELOW: dict[str, Any] = {"legend": legend(-0.2) | {"yanchor": "top"}, "margin": {"l": 10, "r": 10, "t": 42, "b": 10}}


@register_figure(Retraining.name)
def retrained_beside(reports: Sequence[RetrainingReport]) -> dict:
    """A line a measure, grey for random order; on the left the mean over seeds with its interval, on the right crosses
    where masked texts are rejected.
    """
    report = reports[0]
    found, traces = report.retrained, []
    for m, name in enumerate(found.names):
        look: dict[str, Any] = model_stroke(name, m == 0, 0) | {"legendgroup": name, "name": html.escape(name)}
        traces += _retrained(report, m, look)
        beside = as_json(report.curves[m])
        marks = {"marker": look["marker"] | {"symbol": _symbols(report, name, look["marker"]["symbol"])}}
        said = "%{x:.0f} % masked: %{y:.3f}"
        line = trace("lines+markers", _percent(report), beside, said, look["name"], **look | marks)
        traces.append(line | {"xaxis": "x2", "yaxis": "y2", "showlegend": False})
    if any(gate.marked for gate in report.gates.values()):
        traces.append(entry(REJECTED, "x", 8))
    axes = {
        f"xaxis{end}": axis(None, range=[-3, 103], domain=domain, anchor=f"y{end}") for end, domain in _PANELS.items()
    }
    axes |= {"yaxis": axis(), "yaxis2": axis(anchor="x2", matches="y")}
    metric = html.escape(found.metric)
    notes = [
        heading(f"ROAR: {metric} ↑<br>(by % masked)", ""),
        heading(f"{html.escape(report.model)}: {metric} ↑<br>(by % masked)", "2"),
    ]
    return figure(traces, 370, notes, **axes, **_BELOW)


def _retrained(report: RetrainingReport, m: int, look: dict[str, Any]) -> list[dict]:
    """ROAR's line of an order over the band of its intervals over seeds."""
    found = report.retrained
    spans = [seeds_interval(one, lowest(found.metric)) for one in found.performance[:, m].T]
    said = [with_ends(one.mean, one.low, one.high) for one in spans]
    line = trace(
        "lines+markers",
        _percent(report),
        [None if one.mean != one.mean else one.mean for one in spans],
        "%{x:.0f} % masked: %{customdata}",
        look["name"],
        **look,
        customdata=said,
    )
    known = [(x, one) for x, one in zip(_percent(report), spans) if one.known]
    low, high = [one.low for _, one in known], [one.high for _, one in known]
    ground = band([x for x, _ in known], low, high, look["line"]["color"], 0.1, hoverinfo="skip")
    return [*(ground if known else ()), line]


def _symbols(report: RetrainingReport, name: str, symbol: str) -> list[str]:
    """A mark for each ratio of ROAR's, a cross where texts masked by that order are rejected together."""
    if name not in report.gates:
        return [symbol] * len(report.retrained.ratios)
    rejected = report.gates[name].rejected
    return ["x" if rejected[RATIOS.index(ratio)] else symbol for ratio in report.retrained.ratios]


def _percent(report: RetrainingReport) -> list[float]:
    return [100 * ratio for ratio in report.retrained.ratios]
