"""Draw what metrics make of the measures: their scores and places, scores by length, and p-values of rationales."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np
import streamlit as st

from core.figures.erasure_figures import (
    AcrossMetrics,
    ByLength,
    draw_scores_by_length,
    leaving,
    places_across,
    scores_across,
)
from core.judging.metric_report import DIRECTIONS, HEADER, MetricReport, head
from core.judging.metric_table import count_rejected, mean_and_spread
from core.metrics.catalogue import hard_and_soft, metrics
from core.metrics.registry import NEITHER
from core.stability.known import COLUMN, labelled, unstable_cell
from core.validity.marks import SIGN, with_sign
from core.wording import number, safe_name
from pages.parts.components.tables import data_table, square
from pages.parts.erasure.judging import ErasureChoice, KnownRatings, choose_rationale
from pages.parts.frame.sidebar import View
from pages.parts.sections.saving import draw_on_text, save_table

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
    report, unstable = known.report, known.side.unstable(known.choice.measures, known.choice.sign)
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
            count = int(report.as_good[i, k])
            yield [
                labelled(measure, unstable),
                head(name),
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
            named = [labelled(measure, unstable), head(name)]
            known = [*named, kind_of(name).partition(":")[0], float(score.value), float(score.error), marked]
            yield known + [None] * (len(SCORES) - len(known))


def _beside(report: MetricReport, drawn: Mapping, name: str) -> list[Any]:
    """Mean, standard deviation and sign of random or of shuffled attributions."""
    if name not in drawn:
        return [np.nan, np.nan, ""]
    mean, spread, _ = mean_and_spread(drawn[name].values)
    return [mean, spread, with_sign("", report.together(drawn[name]).marked).strip()]


# Of fewer measures a correlation of two orders takes few values and says little.
FEWEST_RANKED = 4
_LEADERS = ["metric", "first", "lead", "± of the lead"]
_OPPOSED = ["measure", "or", "the first by", "the other by"]
_LEAVING = ["measure", "erasure", "inputs rejected", "inputs", "smallest MaSF p"]
_NO_LENGTHS = "Only NS and NC have scores by length."
_NO_P = "No p-values: no reference, or no ranking yet."
_LENGTHS_KEY = "Lines: hard metrics. Dotted: soft, which need no length."


def draw_metric_scores(view: View, report: MetricReport) -> None:
    """The page's picture: every score, and what random attributions reach."""
    kinds = [(kind, len(list(same))) for kind, same in groupby(map(kind_of, report.names))]
    drawn = scores_across(_lines(report), [head(name) for name in report.names], kinds)
    draw_on_text(view, view, drawn, "scores", _in_words(report), "metric-scores", "the scores")


def draw_agreement(view: View, report: MetricReport) -> None:
    """Places of the measures under each metric, who is first by which and by how much, and how far metrics agree."""
    board = report.trusted
    able = board.comparable()
    shown = [k for k in range(len(board.metrics)) if able[k]]
    heads = [head(board.metrics[k]) for k in shown]
    if len(shown) > 1:
        texts = [[number(float(value)) for value in row] for row in board.values[:, shown]]
        places = places_across(board.measures, heads, board.places[:, shown], texts)
        draw_on_text(view, view, places, "places", _in_words(report), "metric-places", "the places")
    leads = {name: board.lead(board.metrics.index(name)) for led in board.leaders().values() for name in led}
    rows = [
        [head(name), ", ".join(first), *(leads[name] if len(first) == 1 else (np.nan, np.nan))]
        for first, named in board.leaders().items()
        for name in named
    ]
    data_table(_LEADERS, rows, "leaders")
    if opposed := board.contrary_pairs():
        pairs = [[one, other, ", ".join(mine), ", ".join(others)] for one, other, mine, others in opposed]
        data_table(_OPPOSED, pairs, "opposed-pairs")
    agreement = board.agreement[shown][:, shown]
    # Of a metric with itself it says nothing.
    if len(board.measures) >= FEWEST_RANKED and not np.isnan(agreement[~np.eye(len(shown), dtype=bool)]).all():
        st.caption("Kendall’s τ-b of two metrics over the measures.")
        square(agreement, heads)


def draw_lengths(view: View, report: MetricReport) -> None:
    """Scores of the hard metrics against the rationale's length, beside the soft metric of the same measure."""
    panels = _length_panels(report)
    if not panels:
        st.info(_NO_LENGTHS)
        return
    drawn = draw_scores_by_length(panels, report.sizes, report.unit)
    draw_on_text(view, view, drawn, "lengths", _LENGTHS_KEY, "erasure-by-length", "the scores by length")
    st.caption(_LENGTHS_KEY)


def _length_panels(report: MetricReport) -> list[tuple[str, str, list[ByLength]]]:
    panels = []
    for hard, soft in hard_and_soft():
        scored = [(measure, one.found) for measure, one in report.rated.items() if hard in one.found]
        lines = [
            ByLength(measure, by_length, found[soft].value if soft in found else float("nan"))
            for measure, found in scored
            if (by_length := found[hard].by_length) is not None
        ]
        if lines:
            panels.append((head(hard), soft if soft in report.names else "", lines))
    return panels


def draw_leaves(view: View, report: MetricReport, choice: ErasureChoice) -> None:
    """Which erasure of rationales leaves the distribution: of one measure as a figure, of all as a table."""
    measure = choose_rationale(choice)
    leaves = report.leaves(measure) if measure in report.rated else {}
    if not leaves:
        st.info(_NO_P)
        return
    drawn, alt = leaving(leaves, report.sizes, report.unit), f"p-values of rationales of {measure}"
    draw_on_text(view, view, drawn, "leaving", alt, "erasure-p-values", "the p-values")
    data_table(_LEAVING, leaving_rows(report), "leaving-table")


def leaving_rows(report: MetricReport) -> list[list]:
    """[measure, erasure, rejected inputs, inputs, smallest p] of the rationales of each, kept and erased."""
    return [
        [measure, erasure, *count_rejected(gate, report.sizes), float(p.min())]
        for measure in report.rated
        for erasure, (p, gate) in report.leaves(measure).items()
    ]


def _lines(report: MetricReport) -> list[AcrossMetrics]:
    """A line for each measure, those under way too, and one for random attributions."""
    lines = []
    for measure, rated in (report.rated | report.coming).items():
        found = [rated.found.get(name) for name in report.names]
        gates = report.gates | report.coming_gates
        lines.append(
            AcrossMetrics(
                measure,
                np.array([np.nan if score is None else score.value for score in found]),
                np.array([np.nan if score is None else score.error for score in found]),
                np.array([(at := (measure, name)) in gates and gates[at].marked for name in report.names]),
            )
        )
    if report.chance:
        drawn = [report.chance.get(name) for name in report.names]
        means = np.array([(np.nan, np.nan) if one is None else mean_and_spread(one.values)[:2] for one in drawn])
        marked = np.array([one is not None and report.together(one).marked for one in drawn])
        lines.append(AcrossMetrics("random attributions", means[:, 0], means[:, 1], marked, baseline=True))
    return lines


def _in_words(report: MetricReport) -> str:
    table = report.table
    return ". ".join(
        f"{name}: "
        + ", ".join(f"{measure} {number(score)}" for measure, score in zip(table.measures, table.values[:, k]))
        for k, name in enumerate(table.metrics)
    )
