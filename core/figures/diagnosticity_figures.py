"""Figures of diagnosticity: against the rationale's length, soft metrics as level lines, by both rules for ties."""

import html
from collections.abc import Sequence

from core.evaluation.studies.diagnosticity_question import Diagnosing
from core.evaluation.studies.diagnosticity_report import ALL, BASELINE_WORDS, DiagnosticityReport
from core.evaluation.studies.scoring import interval_text
from core.figures.catalogue import register_figure
from core.figures.figures import INK, axis, band, error_bar, figure, legend, level, note, stroke, trace, upright
from core.figures.palette import OPPOSES, RANDOM, SUPPORTS, hue
from core.mathematics.diagnosticity import CHANCE, HALF, STRICT
from core.mathematics.erasure import LENGTHS
from core.mathematics.statistics import Interval
from core.metrics.catalogue import hard_and_soft
from core.wording import share_text

_HUES = (SUPPORTS, OPPOSES)
# Of single measures, below their metric: their marks, how far apart in rows, and a row in pixels.
_SMALL = ("circle-open", "diamond-open", "square-open", "triangle-up-open", "x-thin-open", "star-open")
_STEP, _APART, _UNIT = 0.36, 0.15, 34
_SYMBOLS = ("circle", "diamond", "square", "triangle-up")
_DOMAINS = {STRICT: [0, 0.47], HALF: [0.53, 1]}
_ENDS = [-0.3, len(LENGTHS) - 0.7]
_LENGTHS = {
    "tickvals": list(range(len(LENGTHS))),
    "ticktext": [share_text(length) for length in LENGTHS],
    "range": _ENDS,
}
_NEITHER, _TOGETHER = "neither preferred", "all measures together"
_TITLES = {STRICT: "a tie counts 0 (the paper’s rule)", HALF: "a tie counts one half"}


@register_figure(Diagnosing.name)
def draw_diagnosticity_by_length(reports: Sequence[DiagnosticityReport]) -> dict | None:
    """Diagnosticity over all measures against the rationale's length with 95 % bands, a panel for each rule for ties;
    None without metrics of lengths. Source: SoftFaith Fig. 3.
    """
    found, traces, axes = reports[0], [], {}
    hard = [name for name in found.lengths if name in found.told]
    if not hard:
        return None
    soft = [name for name in found.told if name not in found.lengths]
    for end, rule in zip(("", "2"), (STRICT, HALF)):
        panel = {"xaxis": "x2", "yaxis": "y2"} if end else {}
        for place, name in enumerate(hard):
            look = stroke(_hue(name, place), 2.5, None, _SYMBOLS[place % len(_SYMBOLS)], 9)
            traces += _hard(name, [cell.by(rule) for cell in found.lengths[name]], look, panel)
        for place, name in enumerate(soft):
            traces += _level(name, found.cells[name, ALL].by(rule), _hue(name, place), panel)
        title = f"rationale length; {_TITLES[rule]}"
        axes[f"xaxis{end}"] = axis(title, **_LENGTHS, domain=_DOMAINS[rule], anchor=f"y{end}")
        title = "" if end else f"diagnosticity ↑ better, against<br>{BASELINE_WORDS[found.study.baseline]}"
        axes[f"yaxis{end}"] = axis(title, range=[-0.03, 1.03], anchor=f"x{end}")
    chance, at = CHANCE[HALF], {"xref": "x2", "yref": "y2", "yshift": 9, "xanchor": "right"}
    said = note(len(LENGTHS) - 0.75, chance, _NEITHER, 12, **at)
    shapes = [level(chance, RANDOM, "x2 domain", yref="y2")]
    return figure(traces, 400, [said], **axes, legend=legend(1.03), shapes=shapes)


def draw_preferences(found: DiagnosticityReport) -> dict:
    """How often each metric prefers measures to the baseline: all measures together, and small below them each by
    itself, a tie counting one half, with 95 % intervals over texts; ½, marked, is chance.
    """
    measures = [name for name in found.study.measures if len(found.study.measures) > 1]
    tall, traces, places = 1 + _STEP * len(measures) + (_APART if measures else 0), [], []
    named = set()
    for place, name in enumerate(found.told):
        y, symbol = place * tall, _SYMBOLS[place % len(_SYMBOLS)]
        look = {"color": INK, "size": 12, "symbol": symbol}
        whole = {"name": _TOGETHER, "legendgroup": ALL, "showlegend": bool(measures) and not place}
        traces.append(_preferred(found.cells[name, ALL].half, y, look, f"{html.escape(name)}, all measures") | whole)
        places.append(y)
        for i, measure in enumerate(measures):
            cell = found.cells[name, measure]
            if cell.n:
                small = {"color": hue(measure), "size": 7, "symbol": _SMALL[i % len(_SMALL)]}
                extra = f"{html.escape(measure)} by {html.escape(name)}"
                more = {"name": html.escape(measure), "legendgroup": measure, "showlegend": measure not in named}
                named.add(measure)
                traces.append(_preferred(cell.half, y + _APART + _STEP * (i + 1), small, extra) | more)
    names = [f"<b>{html.escape(name)}</b>" for name in found.told]
    title = f"share of pairs (↑ better) in which it prefers<br>measures to {BASELINE_WORDS[found.study.baseline]}"
    end = tall * len(names) - 0.4
    axes = {
        "xaxis": axis(title, range=[0, 1.02]),
        "yaxis": axis(tickvals=places, ticktext=names, range=[end, -0.6], showgrid=False),
    }
    said = note(CHANCE[HALF], 1, _NEITHER, 12, yref="paper", yanchor="bottom")
    drawn = int(_UNIT * (end + 0.6))
    # Below the axis and its title, whatever the number of rows.
    below = {"legend": legend(-96 / drawn, yanchor="top"), "margin": {"l": 10, "r": 10, "t": 24, "b": 164}}
    room = below if measures else {}
    return figure(
        traces, drawn + (188 if measures else 86), [said], **axes, **room, shapes=[upright(CHANCE[HALF], RANDOM, 1.5)]
    )


def _preferred(span: Interval, y: float, look: dict, extra: str) -> dict:
    """A share with its interval, none below the fewest texts."""
    ends = span if span.known else Interval(span.mean, span.mean, span.mean)
    bar = error_bar(ends, look["color"], thickness=2 if look["size"] > 7 else 1.2, width=3)
    shown = {"marker": look, "error_x": bar, "showlegend": False}
    return trace("markers", [span.mean], [y], interval_text(span), extra, **shown)


def _hue(name: str, place: int) -> str:
    """One hue for a hard metric and its soft one."""
    for shared, pair in zip(_HUES, hard_and_soft()):
        if name in pair:
            return shared
    return ("#009e73", "#7a5195", "#8c564b", "#b8860b", "#56b4e9")[place % 5]


def _hard(name: str, spans: list[Interval], look: dict, panel: dict) -> list[dict]:
    x, label = list(range(len(spans))), html.escape(name)
    told = "%{customdata[0]}: %{customdata[1]}"
    custom = [[share_text(length), interval_text(span)] for length, span in zip(LENGTHS, spans)]
    common = {"legendgroup": name} | panel
    mean = trace("lines+markers", x, [span.mean for span in spans], told, label, customdata=custom)
    return [
        *band(x, [span.low for span in spans], [span.high for span in spans], look["line"]["color"], 0.16, **common),
        mean | look | common | {"name": label, "showlegend": not panel},
    ]


def _level(name: str, span: Interval, hue: str, panel: dict) -> list[dict]:
    label, common = html.escape(name), {"legendgroup": name} | panel
    mean = trace("lines", _ENDS, [span.mean] * 2, interval_text(span), label)
    return [
        *band(_ENDS, [span.low] * 2, [span.high] * 2, hue, 0.1, **common),
        mean | common | {"name": label, "showlegend": not panel, "line": {"color": hue, "width": 2.5, "dash": "dash"}},
    ]
