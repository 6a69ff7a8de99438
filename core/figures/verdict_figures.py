"""Figure of a verdict: AOPC of random orders as bars, and each measure's own order among them."""

import html
from typing import Any

import numpy as np

from core.figures.figures import DASHES, axis, figure, legend, trace
from core.figures.palette import RANDOM, hue

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
        xaxis=axis(f"AOPC: mean fall of the {html.escape(score)}", range=[reach.min() - room, reach.max() + room]),
        yaxis=axis("orders"),
        legend=legend(1.02),
        bargap=0,
    )
