"""Figure of a measure that draws: each word's mean over the runs, with its standard deviation as an error bar."""

import html
from collections.abc import Sequence

import numpy as np

from core.figures.figures import axis, figure
from core.figures.palette import hue
from core.wording import shortened

# So many words stand beside each other, those with the largest means.
MOST = 40


def runs_with_spread(measure: str, unit: str, words: Sequence[str], mean: np.ndarray, sd: np.ndarray) -> dict:
    """A bar a word, its mean over the runs ± one standard deviation, float64[F']; the largest means of many words.
    Source: glossary, Stability.
    """
    shown = np.sort(np.argsort(-np.abs(mean), kind="stable")[:MOST])
    places = list(range(len(shown)))
    bars = {
        "type": "bar",
        "x": places,
        "y": mean[shown].tolist(),
        "error_y": {"type": "data", "array": sd[shown].tolist(), "thickness": 1.5},
        "marker": {"color": hue(measure)},
        "customdata": sd[shown].tolist(),
        "hovertemplate": "%{y:.3g} ± %{customdata:.2g}<extra></extra>",
    }
    names = [html.escape(shortened(words[i], 16)) for i in shown]
    return figure(
        [bars],
        260,
        xaxis=axis(tickvals=places, ticktext=names, tickangle=-40),
        yaxis=axis(f"mean ± SD{'' if unit == 'none' else f', {html.escape(unit)}'}", zeroline=True),
    )
