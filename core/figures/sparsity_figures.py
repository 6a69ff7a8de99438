"""Figure of how concentrated attributions are: the share of their total importance in the top k."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.explanation.rows import WordRow
from core.figures.figures import SHARE_AXIS, axis, figure, legend, stroke, trace
from core.figures.palette import RANDOM, hue
from core.mathematics.curves import importance_shares
from core.wording import share_text

_HOVER = "top %{x}: %{customdata} of the importance"
_EQUAL = "all equally important"
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "hexagon")


def sparsity_curves(rows: Sequence[WordRow], unit: str) -> dict | None:
    """A line a measure: the share of Σ|a| in its top k features, dotted for equal scores; None without magnitudes.
    Source: ROAR §6.1.
    """
    curves = [(row.measure, importance_shares(row.free)) for row in rows if row.kind != "rank" and len(row.free)]
    curves = [(name, shares) for name, shares in curves if not np.isnan(shares[0])]
    if not curves:
        return None
    F = max(len(shares) for _, shares in curves)
    traces = []
    for i, (name, shares) in enumerate(curves):
        look = stroke(hue(name), 2.5, None, _SYMBOLS[i % len(_SYMBOLS)]) | {"name": name}
        x = list(range(1, len(shares) + 1))
        custom = [share_text(share, 1) for share in shares]
        traces.append(trace("lines+markers", x, shares.tolist(), _HOVER, name, customdata=custom, **look))
    equal: dict[str, Any] = {"name": _EQUAL, "line": {"color": RANDOM, "width": 2, "dash": "dot"}}
    traces.append(trace("lines", [0, F], [0, 1], None, **equal))
    return figure(
        traces,
        300,
        xaxis=axis(f"the k most important {unit}s", range=[0, F + 0.4], tickformat="d"),
        yaxis=axis("share of Σ|a|", range=[0, 1.04], **SHARE_AXIS),
        legend=legend(1.02),
    )
