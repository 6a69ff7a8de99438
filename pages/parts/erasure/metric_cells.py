"""The measures under the metrics as a table, with a row of random attributions."""

import numpy as np
import streamlit as st

from core.explanation.metric_report import DIRECTIONS, MetricReport
from core.explanation.metric_sentences import flip_sentence
from core.explanation.metric_table import mean_and_spread
from core.metrics.catalogue import metrics
from core.metrics.registry import Metric
from core.wording import number, ordinal
from pages.parts.components.tables import macros


def draw_metric_table(report: MetricReport) -> None:
    """Draw it; all text is escaped."""
    told = {"metric": _metric, "flip": flip_sentence, "spread": _spread, "place": ordinal}
    st.html(macros("erasure/metric_cells.html").table(report, metrics(), told))


def _metric(metric: Metric) -> str:
    return f"{metric.title}, {DIRECTIONS[metric.direction]}. {metric.definition}"


def _spread(values: np.ndarray) -> str:
    mean, spread, known = mean_and_spread(values)
    undefined = f" ({len(values) - known} undefined)" if known < len(values) and known else ""
    return number(mean) + (f" ± {number(spread)}" if spread == spread else "") + undefined
