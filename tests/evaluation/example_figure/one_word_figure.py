"""How far the probability falls, example by example."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.figures.catalogue import register_figure
from core.figures.figures import axis, figure, trace
from core.figures.palette import SUPPORTS
from core.wording import as_json


@register_figure("one word")
def falls(reports: Sequence[Any]) -> dict:
    """The falls of each report, the largest first; reports: of `OneWord`."""
    traces = [
        trace(
            "lines+markers",
            list(range(1, len(one.drops) + 1)),
            as_json(np.sort(one.drops)[::-1]),
            "%{y:.3f}",
            line={"color": SUPPORTS},
        )
        for one in reports
    ]
    axes = {"xaxis": axis("texts"), "yaxis": axis("fall of the probability", rangemode="tozero")}
    return figure(traces, 320, **axes)
