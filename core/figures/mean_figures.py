"""Figure of a question of one number a text: the numbers in their order, and their mean."""

from collections.abc import Sequence

import numpy as np

from core.evaluation.mean_of import MeanReport
from core.figures.catalogue import register_figure
from core.figures.figures import axis, figure, level, trace
from core.figures.palette import RANDOM, SUPPORTS
from core.wording import number


@register_figure(MeanReport)
def numbers(reports: Sequence[MeanReport]) -> dict | None:
    """A point a text, the largest first, and a line at the mean; of the first report, None without a number."""
    (first, *_) = reports
    known = ~np.isnan(first.values)
    if not known.any():
        return None
    order = np.flatnonzero(known)[np.argsort(-first.values[known], kind="stable")]
    names, places = [first.examples[i] for i in order], list(range(1, len(order) + 1))
    points = trace(
        "markers", places, first.values[order].tolist(), "%{customdata}: %{y:.3g}", first.called, customdata=names
    )
    mean = level(first.mean.mean, RANDOM) | {"name": f"mean {number(first.mean.mean)}", "showlegend": True}
    x, y = axis("texts, the largest first"), axis(f"{first.called} {first.better}".rstrip())
    return figure([points | {"marker": {"color": SUPPORTS, "size": 8}}], 320, xaxis=x, yaxis=y, shapes=[mean])
