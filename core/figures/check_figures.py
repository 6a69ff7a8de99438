"""Figures of a model check: what masking does to performance, to the share rejected, and to the data set's p-values."""

import html
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from core.evaluation.findings import FEW
from core.evaluation.studies.check_findings import LengthSplit, known_split
from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import CheckReport, CurveFigures, X
from core.figures.catalogue import register_figure
from core.figures.figures import INK, LOWEST_P, P_AXIS, axis, band, figure, heading, legend, level, stroke, trace
from core.figures.palette import OUT_OF_DISTRIBUTION, RANDOM, SUPPORTS, hue
from core.mathematics.statistics import ALPHA
from core.validity.references import CALIBRATED, FORMS, LITERAL

# Each model beside another has a dash and a mark of its own.
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_BELOW_AXIS = "triangle-down"
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")
# What is masked at 100 % on a card, by whether it reads pairs.
_WHOLE = {False: "everything masked", True: "both texts masked"}
_REJECTED = "% of single texts rejected"
# How strong the ground of an interval is: several lie over each other.
_BAND = 0.1
# Two panels, side by side.
_LEFT, _RIGHT = [0, 0.45], [0.55, 1]
# Above the panels stand their headings, of two lines, which name both axes: below stands the legend.
_BELOW: dict[str, Any] = {"legend": legend(-0.2) | {"yanchor": "top"}, "margin": {"l": 10, "r": 10, "t": 42, "b": 10}}


@register_figure(MaskingCheck.name)
def panels(reports: Sequence[CheckReport], form: str = CALIBRATED) -> dict:
    """Performance and, with a reference, the share of single examples rejected, against the masking ratio.

    The first model has a line a measure, grey for random order, the others random order alone, in a dash and a mark of
    their own; of unusual lengths, texts of usual length have a line. Source: FMM Fig. 4, above.
    """
    first, tested = reports[0], any(one.floor for one in reports)
    axes: dict[str, Any] = {"xaxis": _share("", _LEFT if tested else [0, 1]), "yaxis": axis()}
    # Named in the legend: wherever its words stood, curves would cross them.
    majority = {"name": f"class majority of {first.majority_of}", "showlegend": True}
    shapes = [_level(first.majority, "", RANDOM) | majority]
    headings = {"": f"{html.escape(first.metric)} ↑ better<br>{_against(first)})"}
    traces = _traces(reports, form, ("", "2"))
    if tested:
        axes |= {"xaxis2": _share("2", _RIGHT), "yaxis2": axis(anchor="x2", rangemode="tozero")}
        headings["2"] = f"{_REJECTED}<br>{_against(first)}, {form})"
        expected = {"name": f"{100 * ALPHA:g} % expected by chance", "showlegend": True}
        shapes.append(_level(100 * ALPHA, "2", OUT_OF_DISTRIBUTION) | expected)
        traces += _usual(first, form)
    notes = [heading(said, end) for end, said in headings.items()]
    return figure(traces, 370, notes, **axes, shapes=shapes, **_BELOW)


def p_panels(reports: Sequence[CheckReport]) -> dict:
    """p of the data set against the masking ratio: by count, literal by Simes. Source: FMM Fig. 4, below."""
    axes: dict[str, Any] = {}
    shapes, notes = [], []
    left = "more texts rejected than by chance?", f"{CALIBRATED}, by count"
    right = "all texts too unlike?", f"{LITERAL}, by Simes"
    for end, domain, (asks, how) in (("3", _LEFT, left), ("4", _RIGHT, right)):
        axes[f"xaxis{end}"] = _share(end, domain)
        axes[f"yaxis{end}"] = axis(None, **P_AXIS, anchor=f"x{end}")
        shapes.append(_level(ALPHA, end, OUT_OF_DISTRIBUTION))
        notes.append(heading(f"p: {asks}<br>{_against(reports[0])}; {how})", end))
    usual = _usual_p(reports[0])
    return figure([*_traces(reports, CALIBRATED, ("3", "4")), *usual], 370, notes, **axes, shapes=shapes, **_BELOW)


def _traces(reports: Sequence[CheckReport], form: str, ends: tuple[str, str]) -> list[dict]:
    """The lines of these panels, named in the legend by those of the first, over the bands of their intervals."""
    lines = [
        (line, form, place, html.escape(f"{line.curve.label}{f', {report.model}' if len(reports) > 1 else ''}"), ends)
        for place, report in enumerate(reports)
        for line in report.shown
        if place == 0 or line is report.random
    ]
    return [one for draw in (_bands, _line) for line in lines for one in draw(*line)]


def _usual_look(split: LengthSplit) -> tuple[str, dict[str, Any]]:
    """What texts of usual length are called, and how their line looks."""
    name = f"random order, texts of {split.low:,} to {split.high:,} tokens"
    return name, stroke(INK, 2, "dot", "diamond") | {"name": name, "legendgroup": name}


def _usual_p(found: CheckReport) -> list[dict]:
    """Their line of p-values by count, where a table tells of them."""
    split = known_split(found)
    if split is None or split.p is None:
        return []
    name, look = _usual_look(split)
    told, p = "%{x:.0f} % masked: p = %{customdata:.3g}", split.p
    drawn = np.maximum(p, LOWEST_P).tolist()
    line = trace("lines+markers", (100 * X).tolist(), drawn, told, name, **look | {"customdata": p.tolist()})
    return [line | {"xaxis": "x3", "yaxis": "y3"}]


def _usual(found: CheckReport, form: str) -> list[dict]:
    """The line of texts of usual length, masked at random, where a table tells of them; none of fewer than 20."""
    split = known_split(found) if form == CALIBRATED else None
    if split is None or split.rejected is None or split.alike[1] < FEW:
        return []
    counts, n = split.rejected[0], split.alike[1]
    name, look = _usual_look(split)
    look |= {"customdata": counts.tolist()}
    told = f"%{{x:.0f}} % masked: %{{customdata}} of {n:,} texts of usual length rejected, 5 % expected"
    line = trace("lines+markers", (100 * X).tolist(), (100 * counts / n).tolist(), told, name, **look)
    return [line | {"xaxis": "x2", "yaxis": "y2"}]


def _bands(line: CurveFigures, form: str, place: int, name: str, ends: tuple[str, str]) -> list[dict]:
    """The 95 % intervals of a line's performance and rejected share, where it has enough texts; p-values have none."""
    colour = model_stroke(line.curve.measure, line.curve.random, place)["line"]["color"]
    rejected = line.share_ends(form) if form in line.rejected else None
    known = {"": line.ends, "2": None if rejected is None else 100 * rejected}
    return [
        one | {"hoverinfo": "skip"} | ({"xaxis": f"x{end}", "yaxis": f"y{end}"} if end else {})
        for end, both in known.items()
        if end in ends and both is not None
        for one in band((100 * X).tolist(), both[0].tolist(), both[1].tolist(), colour, _BAND, legendgroup=name)
    ]


def _line(line: CurveFigures, form: str, place: int, name: str, ends: tuple[str, str]) -> list[dict]:
    look = model_stroke(line.curve.measure, line.curve.random, place) | {"name": name, "legendgroup": name}
    spans = [""] * len(X) if line.ends is None else [f" [{low:.3f}, {high:.3f}]" for low, high in line.ends.T]
    panels: list[tuple] = [("", line.performance, "%{y:.3f}%{customdata}", {"customdata": spans})]
    if form in line.rejected:
        shares = line.share_ends(form)
        spread = [""] * len(X) if shares is None else [f" [{low:.1f}, {high:.1f}] %" for low, high in 100 * shares.T]
        told = f"%{{customdata[0]}} of {line.n:,} rejected%{{customdata[1]}}, 5 % expected"
        exact = {"customdata": list(map(list, zip(line.rejected[form].tolist(), spread)))}
        panels.append(("2", 100 * line.share(form), told, exact))
    for end, of_form in zip("34", FORMS):
        if of_form in line.p:
            # What the axis does not reach stands on its edge as an arrow.
            low, mark = line.p[of_form] < LOWEST_P, cast(dict[str, Any], look["marker"])
            marks = (
                {"marker": mark | {"symbol": np.where(low, _BELOW_AXIS, mark["symbol"]).tolist()}} if low.any() else {}
            )
            exact = {"customdata": line.p[of_form].tolist(), **marks}
            panels.append((end, np.maximum(line.p[of_form], LOWEST_P), "p = %{customdata:.3g}", exact))
    return [
        trace("lines+markers", (100 * X).tolist(), y.tolist(), f"%{{x:.0f}} % masked: {told}", name, **(look | more))
        | ({"xaxis": f"x{end}", "yaxis": f"y{end}"} if end else {})
        | ({"showlegend": False} if end != ends[0] else {})
        for end, y, told, more in panels
        if end in ends
    ]


def model_stroke(measure: str, random: bool, place: int) -> dict:
    """The line of an order for the model at a place: hue by measure, grey for random order, dash and mark by model."""
    colour, width = RANDOM if random else hue(measure), 3 if random and place == 0 else 2
    return stroke(colour, width, _DASHES[place % len(_DASHES)], _SYMBOLS[place % len(_SYMBOLS)])


def _against(found: CheckReport) -> str:
    return f"(by % masked{found.sample.of_part}"


def _share(end: str, domain: list[float]) -> dict:
    return axis(None, range=[-3, 103], domain=domain, anchor=f"y{end}")


def spans(rows: list[tuple[str, float, float, float]], metric: str, paired: bool = False) -> dict:
    """Unmasked and fully masked performance of each model on one axis, with the class majority as a tick.

    rows: (name, unmasked, masked, majority), from the top; paired: both texts are masked. Source: FMM Figs. 2 and 3.
    """
    places = list(range(len(rows)))
    bar: dict[str, Any] = {"line": {"color": "rgba(125,133,144,0.5)", "width": 6}, "showlegend": False}
    traces = [trace("lines", [masked, full], [i, i], **bar) for i, (_, full, masked, _) in enumerate(rows)]
    for name, at, symbol, colour, size in (
        ("unmasked", 1, "circle", SUPPORTS, 13),
        (_WHOLE[paired], 2, "circle-open", SUPPORTS, 13),
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
