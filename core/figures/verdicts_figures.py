"""Figures of verdicts: the orders of one text among random ones, and how often a measure is better on many."""

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.figures.catalogue import register_figure
from core.figures.figures import DASHES, SHARE_AXIS, axis, figure, legend, score_title, trace
from core.figures.palette import OPPOSES, RANDOM, SUPPORTS, hue
from core.results.verdicts import word_status
from core.verdicts.deciding import Word
from core.wording import share_text

# Colour, pattern and the pattern's colour.
_LOOK = {
    Word.BETTER: (SUPPORTS, "", "#ffffff"),
    Word.NO_BETTER: (RANDOM, ".", "#ffffff"),
    Word.WORSE: (OPPOSES, "\\", "#ffffff"),
    Word.UNTOLD: ("#d0d0d0", "x", "#444444"),
}
# Pixels of a bar, and of what is around them; shares of a bar that a digit takes on a phone, and that stay clear.
_BAR, _AROUND, _DIGIT, _CLEAR = 56, 130, 0.03, 0.015
# On each of these, patterned or not, at least 4.5:1 in both themes: the bars are opaque.
ON_BARS, PATTERNED = "#000000", 0.25


@register_figure("verdicts")
def verdict_shares(reports: Sequence[Any]) -> dict:
    """A bar a measure (and model), parted by verdict, with patterns and numbers; reports: `VerdictsReport`s."""
    several, bars = len(reports) > 1, []
    lines = [
        (f"{name} · {k + 1}" if several else name, one.counts[m], one.n)
        for k, one in enumerate(reports)
        for m, name in enumerate(one.measures)
    ]
    for w, word in enumerate(Word):
        name, (colour, pattern, lines_of) = str(word_status(word)), _LOOK[word]
        shares = [float(counts[w]) / n for _, counts, n in lines]
        bars.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "y": [name for name, _, _ in lines],
                "x": shares,
                "text": [_written(int(counts[w]), n) for _, counts, n in lines],
                "marker": {
                    "color": colour,
                    "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": lines_of, "fgopacity": PATTERNED},
                },
                "textfont": {"color": ON_BARS},
                "textangle": 0,
                "textposition": "inside",
                "insidetextanchor": "middle",
                "constraintext": "none",
                "customdata": [
                    f"{counts[w]:,} of {n:,} texts ({share_text(one)})" for (_, counts, n), one in zip(lines, shares)
                ],
                "hovertemplate": f"%{{y}}: {name} on %{{customdata}}<extra></extra>",
            }
        )
    return figure(
        bars,
        _AROUND + _BAR * len(lines),
        barmode="stack",
        xaxis=axis("share of texts", range=[0, 1.01], **SHARE_AXIS),
        yaxis=axis("", autorange="reversed"),
        legend=legend(1.02) | {"traceorder": "normal"},
    )


def _written(count: int, n: int) -> str:
    """A count on its part of a bar, where that is wide enough."""
    text = f"{count:,}"
    return text if count / n >= _CLEAR + _DIGIT * len(text) else ""


_BINS = 24


def among_random_orders(reached: np.ndarray, measures: dict[str, float], score: str, every: bool) -> dict:
    """How many orders reach which AOPC, float[R], as bars, and a line a measure, {name: AOPC}, by dashes too.

    score: its name, "probability of positive"; every: whether these are all orders. Source: glossary, Verdict.
    """
    reach = np.array([*measures.values(), reached.min(), reached.max()])
    room = 0.04 * max(float(np.ptp(reach)), 1e-3)
    counts, edges = np.histogram(reached, _BINS, (float(reached.min()) - 1e-9, float(reached.max()) + 1e-9))
    middle, tall = (edges[1:] + edges[:-1]) / 2, float(counts.max())
    bars: dict[str, Any] = {
        "type": "bar",
        "x": middle.tolist(),
        "y": counts.tolist(),
        "width": float(edges[1] - edges[0]),
        "marker": {"color": RANDOM},
        "name": f"{'all' if every else 'random'} orders ({len(reached):,})",
        "hovertemplate": "AOPC about %{x:.3f}: %{y} orders<extra></extra>",
    }
    lines = [
        trace("lines", [value, value], [0, tall], f"AOPC {value:.3g}", html.escape(name), name=html.escape(name))
        | {"line": {"color": hue(name), "width": 3, "dash": DASHES[i % len(DASHES)]}}
        for i, (name, value) in enumerate(measures.items())
    ]
    return figure(
        [bars, *lines],
        300,
        xaxis=axis(f"AOPC: mean fall of the<br>{score_title(score)}", range=[reach.min() - room, reach.max() + room]),
        yaxis=axis("orders"),
        legend=legend(1.02),
        bargap=0,
    )
