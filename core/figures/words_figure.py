"""Figure of words over the data: how important each is against how often it occurs."""

import html
from collections.abc import Sequence

import numpy as np

from core.evaluation.findings import FEW
from core.evaluation.studies.word_lines import WordLine
from core.evaluation.studies.words_question import WordsReport
from core.figures.catalogue import register_figure
from core.figures.figures import axis, entry, figure, legend, trace
from core.figures.label_places import label_places
from core.figures.palette import class_hue
from core.wording import number

_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")
_MARKS = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]
# Words of a class that are drawn and, of these, named.
_DRAWN, _NAMED = 40, 5


@register_figure("words")
def words_against_frequency(reports: Sequence[WordsReport]) -> dict | None:
    """A point a word and class by the measure of the leading word, else by the first that has words; that word and the
    first of each class are named. None without.
    """
    report, lead = reports[0], reports[0].leading
    heard = [name for name in report.measures if any(one.measure == name for one in report.lines)]
    shown = lead.measure if lead is not None else next(iter(heard), None)
    if shown is None:
        return None
    # Words of fewer texts may lie above the one that leads.
    of_class = {label: sorted(report.of(shown, label), key=lambda one: one is not lead) for label in report.labels}
    classes = {label: lines[:_DRAWN] for label, lines in of_class.items()}
    named = [one for lines in classes.values() for one in lines[:_NAMED]]
    found = label_places(_at(named, _lines(classes)), [one.word for one in named])
    # For some there may be no room.
    places = {one: place for one, place in zip(named, found) if place}
    drawn = [_points(label, lines, places, i) for i, (label, lines) in enumerate(classes.items()) if lines]
    traces = [one for each in drawn for one in each]
    texts = [one.texts for one in _lines(classes)]
    ends = [float(np.log10(min(texts))) - 0.08, float(np.log10(max(texts))) + 0.08]
    marks = [mark for mark in _MARKS if min(texts) <= mark <= max(texts)] or [min(texts)]
    x = axis("texts (log)", type="log", range=ends, tickvals=marks, ticktext=[f"{mark:,}" for mark in marks])
    traces += [entry(f"< {FEW} texts", "circle-open", 8)] if min(texts) < FEW else []
    return figure(traces, 420, xaxis=x, yaxis=axis(f"mean attribution, {html.escape(shown)} ↑"), legend=legend(1.02))


def _lines(classes: dict[str, list[WordLine]]) -> list[WordLine]:
    return [one for lines in classes.values() for one in lines]


def _at(named: Sequence[WordLine], drawn: Sequence[WordLine]) -> list[tuple[float, float]]:
    """Where points lie, as shares of width and height."""
    x, y = (np.array([get(one) for one in drawn]) for get in (_right, _up))
    width, height = max(float(np.ptp(x)), 1e-9), max(float(np.ptp(y)), 1e-9)
    return [((_right(one) - x.min()) / width, (_up(one) - y.min()) / height) for one in named]


def _right(one: WordLine) -> float:
    return float(np.log10(one.texts))


def _up(one: WordLine) -> float:
    return one.mean.mean


def _points(label: str, lines: Sequence[WordLine], places: dict[WordLine, str], i: int) -> list[dict]:
    """The points of a class, hollow where no conclusion is drawn of so few texts, and its entry of the legend."""
    colour, symbol = class_hue(i), _SYMBOLS[i % len(_SYMBOLS)]
    points = trace(
        "markers+text",
        [one.texts for one in lines],
        [one.mean.mean for one in lines],
        "%{customdata[0]}: %{customdata[1]}, %{x} texts",
        html.escape(label),
        customdata=[[html.escape(one.word), number(one.mean.mean)] for one in lines],
        text=[html.escape(one.word) if one in places else "" for one in lines],
        textposition=[places.get(one, "top center") for one in lines],
        marker={
            "color": colour,
            "symbol": [symbol if one.texts >= FEW else f"{symbol}-open" for one in lines],
            "size": 8,
        },
        showlegend=False,
        legendgroup=label,
    )
    return [points, entry(html.escape(label), symbol, 8, colour, legendgroup=label)]
