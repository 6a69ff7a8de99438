"""Figures of a model check: what masking does to performance, to the share rejected, and to the data set's p-values."""

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import CheckReport, CurveFigures, X
from core.figures.catalogue import register_figure
from core.figures.figures import INK, LOWEST_P, P_AXIS, axis, figure, heading, legend, level, stroke, trace
from core.figures.palette import OUT_OF_DISTRIBUTION, RANDOM, SUPPORTS, hue
from core.mathematics.statistics import ALPHA
from core.validity.references import CALIBRATED, FORMS, LITERAL

# Each model beside another has a dash and a mark of its own.
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")
# Four panels: performance, share rejected; p calibrated, p literal.
_LEFT, _RIGHT, _UPPER, _LOWER = [0, 0.45], [0.55, 1], [0.6, 1], [0, 0.38]


@register_figure(MaskingCheck.name)
def panels(reports: Sequence[CheckReport], form: str = CALIBRATED) -> dict:
    """Performance, share of single examples rejected, and data-set p-values of both forms against the masking ratio.

    The model that is checked is drawn full, one line for each measure and grey for random order; the models beside it
    in
    random order, each in a dash and a mark of its own.

    Source: FMM Fig. 4.
    """
    first, tested = reports[0], any(one.floor for one in reports)
    traces = []
    for place, one in enumerate(reports):
        for line in one.lines if place == 0 else one.lines[:1]:
            traces += _line(one, line, form, place, len(reports) > 1)
    top = _UPPER if tested else [0, 1]
    # Below the upper panels the title of their axis would stand over the lower ones' headings.
    titled = not tested
    axes: dict[str, Any] = {"xaxis": _share("", _LEFT if tested else top, first, titled), "yaxis": axis(domain=top)}
    # Named in the legend: wherever its words stood, curves would cross them.
    shapes = [_level(first.majority, "", RANDOM) | {"name": "class majority", "showlegend": True}]
    notes = [heading(f"{html.escape(first.metric)} ↑ better", "")]
    if tested:
        rejected = axis(domain=top, anchor="x2", rangemode="tozero")
        axes |= {"xaxis2": _share("2", _RIGHT, first, titled), "yaxis2": rejected}
        notes.append(heading(f"% of single texts rejected<br>({form})", "2"))
        shapes.append(_level(100 * ALPHA, "2", OUT_OF_DISTRIBUTION))
        for end, of, domain in (("3", CALIBRATED, _LEFT), ("4", LITERAL, _RIGHT)):
            axes[f"xaxis{end}"] = _share(end, domain, first)
            by = "by count" if of == CALIBRATED else "by Simes"
            axes[f"yaxis{end}"] = axis(None, **P_AXIS, domain=_LOWER, anchor=f"x{end}")
            shapes.append(_level(ALPHA, end, OUT_OF_DISTRIBUTION))
            notes.append(heading(f"data-set p, {of},<br>{by}", end))
    return figure(traces, 660 if tested else 360, notes, **axes, shapes=shapes, legend=legend(1.08))


def _line(one: CheckReport, line: CurveFigures, form: str, place: int, several: bool) -> list[dict]:
    name = html.escape(f"{line.curve.label}{f', {one.model}' if several else ''}")
    look = model_stroke(line.curve.measure, line.curve.random, place) | {"name": name, "legendgroup": name}
    panels = [("", line.performance, "%{y:.3f}", {})]
    if form in line.rejected:
        counts = {"customdata": line.rejected[form].tolist()}
        panels.append(("2", 100 * line.share(form), f"%{{customdata}} of {line.n:,} rejected, 5 % expected", counts))
    for end, of in zip("34", FORMS):
        if of in line.p:
            exact = {"customdata": line.p[of].tolist()}
            panels.append((end, np.maximum(line.p[of], LOWEST_P), "p = %{customdata:.3g}", exact))
    return [
        trace("lines+markers", (100 * X).tolist(), y.tolist(), f"%{{x:.0f}} % masked: {told}", name, **look, **more)
        | ({"xaxis": f"x{end}", "yaxis": f"y{end}", "showlegend": False} if end else {})
        for end, y, told, more in panels
    ]


def model_stroke(measure: str, random: bool, place: int) -> dict:
    """How the line of an order looks for the model at a place: hue by measure, grey for random order, a dash and a mark
    by model.
    """
    colour, width = RANDOM if random else hue(measure), 3 if random and place == 0 else 2
    return stroke(colour, width, _DASHES[place % len(_DASHES)], _SYMBOLS[place % len(_SYMBOLS)])


def _share(end: str, domain: list[float], found: CheckReport, titled: bool = True) -> dict:
    title = f"masked (%{found.sample.of_first})" if titled else None
    return axis(title, range=[-3, 103], domain=domain, anchor=f"y{end}")


def spans(rows: list[tuple[str, float, float, float]], metric: str, paired: bool = False) -> dict:
    """Unmasked and fully masked performance of each model on one axis, with the class majority as a tick.

    Args:
        rows: (name, unmasked, everything masked, class majority), from top to bottom; paired: everything is both texts.
    Source: FMM Figs. 2 and 3.
    """
    places = list(range(len(rows)))
    bar: dict[str, Any] = {"line": {"color": "rgba(125,133,144,0.5)", "width": 6}, "showlegend": False}
    traces = [trace("lines", [masked, full], [i, i], **bar) for i, (_, full, masked, _) in enumerate(rows)]
    for name, at, symbol, colour, size in (
        ("unmasked", 1, "circle", SUPPORTS, 13),
        ("both texts masked" if paired else "everything masked", 2, "circle-open", SUPPORTS, 13),
        ("class majority", 3, "line-ns-open", INK, 20),
    ):
        look = {"symbol": symbol, "color": colour, "size": size, "line": {"width": 3, "color": colour}}
        x = [row[at] for row in rows]
        traces.append(trace("markers", x, places, "%{y}: %{x:.3f}", name=name, marker=look))
    names = [html.escape(name) for name, *_ in rows]
    axes: dict[str, Any] = {
        "xaxis": axis(f"{html.escape(metric)} ↑ better"),
        "yaxis": axis(tickvals=places, ticktext=names, range=[len(rows) - 0.4, -0.6], showgrid=False),
    }
    return figure(traces, 110 + 44 * len(rows), **axes, legend=legend(1.02))


def _level(y: float, end: str, colour: str) -> dict:
    return level(y, colour, f"x{end} domain", yref=f"y{end}")
