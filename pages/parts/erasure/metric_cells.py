"""The measures under the metrics as a table, with a row of random attributions."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby

import numpy as np
import streamlit as st

from core.judging.metric_report import DIRECTIONS, MetricReport
from core.judging.metric_table import MetricTable, mean_and_spread
from core.judging.pair_sentences import flip_sentence
from core.metrics.catalogue import metrics
from core.metrics.registry import NEITHER, Metric
from core.stability.known import labelled
from core.wording import amount, number, ordinal
from pages.parts.components.tables import macros

_KINDS = {True: "Soft: a share of every word, by its score", False: "Hard: a measure’s top words, whole", None: ""}


def draw_metric_table(report: MetricReport, unstable: Mapping[str, str]) -> None:
    """Draw it; all text is escaped. unstable: as of `core.stability.known.known_unstable`."""
    told = {
        "named": partial(labelled, unstable=unstable),
        "metric": _metric,
        "flip": flip_sentence,
        "spread": _spread,
        "place": _place,
        "as_good": partial(_as_good, report),
        "drawn": max((len(one.values) for one in report.chance.values()), default=0),
        "amount": amount,
    }
    st.html(macros("erasure/metric_cells.html").table(report, metrics(), told, _kinds(report.names)))


def _kinds(names: Sequence[str]) -> list[tuple[str, int]]:
    """What is erased by neighbouring metrics of these names: (words, columns)."""
    every = metrics()
    kinds = (every[name].soft if every[name].direction != NEITHER else None for name in names)
    return [(_KINDS[kind], len(list(same))) for kind, same in groupby(kinds)]


def _metric(metric: Metric) -> str:
    return f"{metric.title}, {DIRECTIONS[metric.direction]}. {metric.definition}"


def _place(board: MetricTable, i: int, k: int) -> str:
    """The place of a measure under a metric: "1st", "level 1st" where others share it, "all level:" where all do."""
    if board.metrics[k] in board.silent():
        return "all level:"
    place = int(board.places[i, k])
    return "level " * bool((board.places[:, k] == place).sum() > 1) + ordinal(place)


def _as_good(report: MetricReport, i: int, k: int) -> str:
    """How many random attributions score at least as well: "1 of 30 random as good"."""
    drawn = int((~np.isnan(report.chance[report.table.metrics[k]].values)).sum())
    return f"{report.as_good[i, k]} of {drawn} random as good"


def _spread(values: np.ndarray) -> str:
    mean, spread, known = mean_and_spread(values)
    undefined = f" ({len(values) - known} undefined)" if known < len(values) and known else ""
    return number(mean) + (f" (sd {number(spread)})" if spread == spread else "") + undefined
