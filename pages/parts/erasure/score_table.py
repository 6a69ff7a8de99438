"""The scores of all measures under all metrics as a table, and what its columns mean."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from core.judging.metric_report import DIRECTIONS, HEADER, MetricReport
from core.judging.metric_table import mean_and_spread
from core.metrics.catalogue import metrics
from core.metrics.registry import NEITHER
from core.stability.known import COLUMN, labelled, unstable_cell
from core.validity.marks import SIGN, with_sign
from core.wording import safe_name
from pages.parts.components.tables import data_table
from pages.parts.erasure.judging import KnownRatings
from pages.parts.frame.sidebar import View
from pages.parts.sections.saving import save_table

WHOLE, IN_PART, NEITHER_WAY = "hard: words erased whole", "soft: words erased in part", "nothing is erased"
SCORES = {
    "measure": "The importance measure whose ranking is scored.",
    "metric": "Metric, and the direction that is better",
    "erasure": "Hard metrics erase words whole, soft ones in part.",
    "score": "Score under the metric",
    "±": "Standard error over random draws",
    SIGN: "Out-of-distribution inputs, so no rank",
    "place": "1 is best; scores within 0.01 or two standard errors tie.",
    "opposed": "Ordered differently by another metric",
    "random as good": "Of 30 random attributions, as good",
    "random mean": "Mean score of random attributions",
    "random sd": "Standard deviation over random attributions.",
    f"random {SIGN}": "Out-of-distribution inputs",
    "shuffled mean": "Mean score of shuffles",
    "shuffled sd": "Standard deviation over these shuffles.",
    f"shuffled {SIGN}": "Out-of-distribution inputs",
    COLUMN: "Another seed or harmless edit changes the top word.",
    "note": "What to know of this score.",
}


def kind_of(name: str) -> str:
    """How a metric erases."""
    metric = metrics()[name]
    if metric.direction == NEITHER:
        return NEITHER_WAY
    return IN_PART if metric.soft else WHOLE


def draw_score_table(view: View, known: KnownRatings) -> None:
    """Every score with what random and shuffled attributions reach, and a button that saves all of it."""
    report, unstable = known.report, known.unstable
    data_table(list(SCORES), score_table_rows(report, unstable), "score-table", help=SCORES)
    if not report.rated:
        return
    whose = [view.model.name, view.model.digest]
    save_table(
        "Table (CSV)",
        [*HEADER, "model", "weights (SHA-256)", COLUMN],
        lambda: [[*row, *whose, unstable_cell(row[0], unstable)] for row in report.rows()],
        safe_name(["erasure", view.example.id, view.model.name], "csv"),
        key="metrics-csv",
    )


def score_table_rows(report: MetricReport, unstable: Mapping[str, str]) -> list[list[Any]]:
    """A row for each measure and metric, see SCORES; those under way without places."""
    return [*_rated_rows(report, unstable), *_coming_rows(report, unstable)]


def draw_metric_definitions(report: MetricReport) -> None:
    """What each metric is."""
    header = ["metric", "what it measures", "direction", "lowest", "highest", "source"]
    every = [metrics()[name] for name in report.names]
    rows = [
        [one.name, one.definition, DIRECTIONS[one.direction], float(one.low), float(one.high), one.source]
        for one in every
    ]
    data_table(header, rows, "metric-definitions")


def _rated_rows(report: MetricReport, unstable: Mapping[str, str]) -> Iterator[list[Any]]:
    table, board = report.table, report.trusted
    for i, measure in enumerate(table.measures):
        for k, name in enumerate(table.metrics):
            metric, count = metrics()[name], int(report.as_good[i, k])
            yield [
                labelled(measure, unstable),
                f"{name} {metric.arrow}".strip(),
                kind_of(name).partition(":")[0],
                float(table.values[i, k]),
                float(table.errors[i, k]),
                with_sign("", bool(report.marked[i, k])).strip(),
                int(board.places[i, k]) or None,
                ", ".join(other for other, _ in board.flipped_with(i, k)),
                None if count < 0 else count,
                *_beside(report, report.chance, name),
                *_beside(report, report.shuffles.get(measure, {}), name),
                unstable_cell(measure, unstable),
                table.notes[i][k],
            ]


def _coming_rows(report: MetricReport, unstable: Mapping[str, str]) -> Iterator[list[Any]]:
    for measure, rated in report.coming.items():
        for name, score in rated.found.items():
            gate = report.coming_gates.get((measure, name))
            marked = with_sign("", gate is not None and gate.marked).strip()
            head = [labelled(measure, unstable), f"{name} {metrics()[name].arrow}".strip()]
            known = [*head, kind_of(name).partition(":")[0], float(score.value), float(score.error), marked]
            yield known + [None] * (len(SCORES) - len(known))


def _beside(report: MetricReport, drawn: Mapping, name: str) -> list[Any]:
    """Mean, standard deviation and sign of random or of shuffled attributions."""
    if name not in drawn:
        return [np.nan, np.nan, ""]
    mean, spread, _ = mean_and_spread(drawn[name].values)
    return [mean, spread, with_sign("", report.together(drawn[name]).marked).strip()]
