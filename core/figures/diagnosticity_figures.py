"""Figures of diagnosticity: against the rationale's length, soft metrics as level lines, by both rules for ties."""

import html

from core.evaluation.studies.diagnosticity_report import ALL, BASELINE_WORDS, DiagnosticityReport
from core.figures.figures import INK, figure
from core.figures.palette import OPPOSES, RANDOM, SUPPORTS
from core.mathematics.diagnosticity import CHANCE, HALF, STRICT, Diagnosticity
from core.mathematics.erasure import LENGTHS
from core.metrics.catalogue import HARD_AND_SOFT

_HUES = (SUPPORTS, OPPOSES)
_SYMBOLS = ("circle", "diamond", "square", "triangle-up")
_DOMAINS = {STRICT: [0, 0.47], HALF: [0.53, 1]}
_TITLES = {STRICT: "a tie counts 0 (the paper’s rule)", HALF: "a tie counts one half"}


def draw_diagnosticity_by_length(found: DiagnosticityReport) -> dict:
    """Diagnosticity over all measures against the rationale's length, with 95 % bands; a panel for each rule for ties.

    Where a tie counts one half, ½ is marked: neither is preferred.

    Source: SoftFaith Fig. 3.
    """
    traces = []
    for number, rule in enumerate((STRICT, HALF), start=1):
        axes = {} if number == 1 else {"xaxis": "x2", "yaxis": "y2"}
        for place, (name, cells) in enumerate(
            (name, cells) for name, cells in found.lengths.items() if name in found.told
        ):
            traces += _hard(name, cells, rule, _hue(name, place), _SYMBOLS[place % len(_SYMBOLS)], axes, number == 1)
        for place, name in enumerate(name for name in found.told if name not in found.lengths):
            traces += _level(name, found.cells[name, ALL], rule, _hue(name, place), axes, number == 1)
    drawn = figure(traces, 400, xaxis={}, yaxis={})
    style, layout = drawn["layout"]["xaxis"], drawn["layout"]
    share = {
        "tickvals": list(range(len(LENGTHS))),
        "ticktext": [f"{length:.0%}" for length in LENGTHS],
        "range": [-0.3, len(LENGTHS) - 0.7],
    }
    for number, rule in enumerate((STRICT, HALF), start=1):
        end = "" if number == 1 else "2"
        layout[f"xaxis{end}"] = (
            style
            | share
            | {
                "domain": _DOMAINS[rule],
                "anchor": f"y{end}",
                "title": {"text": f"length of the rationale; {_TITLES[rule]}"},
            }
        )
        title = f"diagnosticity ↑ better, against<br>{BASELINE_WORDS[found.study.baseline]}" if number == 1 else ""
        layout[f"yaxis{end}"] = style | {"range": [-0.03, 1.03], "anchor": f"x{end}", "title": {"text": title}}
    chance = {
        "type": "line",
        "x0": 0,
        "x1": 1,
        "xref": "x2 domain",
        "y0": CHANCE[HALF],
        "y1": CHANCE[HALF],
        "yref": "y2",
        "line": {"color": RANDOM, "dash": "dash"},
    }
    note = {
        "x": len(LENGTHS) - 0.75,
        "y": CHANCE[HALF],
        "xref": "x2",
        "yref": "y2",
        "text": "neither preferred",
        "showarrow": False,
        "yshift": 9,
        "xanchor": "right",
        "font": {"color": INK, "size": 12},
    }
    legend = {"orientation": "h", "y": 1.03, "yanchor": "bottom", "x": 0}
    return drawn | {
        "layout": layout | {"showlegend": True, "legend": legend, "shapes": [chance], "annotations": [note]}
    }


def _hue(name: str, place: int) -> str:
    """One hue for a hard metric and its soft one."""
    for hue, pair in zip(_HUES, HARD_AND_SOFT):
        if name in pair:
            return hue
    return ("#009e73", "#7a5195", "#8c564b", "#b8860b", "#56b4e9")[place % 5]


def _hard(
    name: str, cells: tuple[Diagnosticity, ...], rule: str, hue: str, symbol: str, axes: dict, legend: bool
) -> list[dict]:
    spans = [cell.by(rule) for cell in cells]
    x = list(range(len(spans)))
    told = {
        "x": x,
        "y": [span.mean for span in spans],
        "customdata": [[f"{length:.0%}", span.low, span.high] for length, span in zip(LENGTHS, spans)],
        "hovertemplate": "%{customdata[0]}: %{y:.3f} [%{customdata[1]:.3f}, %{customdata[2]:.3f}]<extra>"
        + html.escape(name)
        + "</extra>",
    }
    return [
        *_band(x, [span.low for span in spans], [span.high for span in spans], hue, name, axes),
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": html.escape(name),
            "legendgroup": name,
            "showlegend": legend,
            "line": {"color": hue, "width": 2.5},
            "marker": {"size": 9, "color": hue, "symbol": symbol},
        }
        | told
        | axes,
    ]


def _level(name: str, cell: Diagnosticity, rule: str, hue: str, axes: dict, legend: bool) -> list[dict]:
    span, x = cell.by(rule), [-0.3, len(LENGTHS) - 0.7]
    return [
        *_band(x, [span.low] * 2, [span.high] * 2, hue, name, axes, 0.10),
        {
            "type": "scatter",
            "mode": "lines",
            "name": html.escape(name),
            "legendgroup": name,
            "showlegend": legend,
            "x": x,
            "y": [span.mean] * 2,
            "line": {"color": hue, "width": 2.5, "dash": "dash"},
            "hovertemplate": f"%{{y:.3f}} [{span.low:.3f}, {span.high:.3f}]<extra>{html.escape(name)}</extra>",
        }
        | axes,
    ]


def _band(x: list, low: list, high: list, hue: str, name: str, axes: dict, share: float = 0.16) -> list[dict]:
    red, green, blue = (int(hue[i : i + 2], 16) for i in (1, 3, 5))
    edge = {
        "type": "scatter",
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": name,
        "x": x,
    } | axes
    return [
        edge | {"y": low},
        edge | {"y": high, "fill": "tonexty", "fillcolor": f"rgba({red},{green},{blue},{share})"},
    ]
