"""Hard and soft erasure of measures and random attributions (SoftFaith §4)."""

from typing import TYPE_CHECKING

from core.evaluation.studies.scoring import Scoring
from core.evaluation.study import Question
from core.metrics.catalogue import metrics
from core.sweeps.registry import DOTS, Line, Reply, SweepTable, interval_columns, register

if TYPE_CHECKING:
    from core.sweeps.configuration import Sweep


def ask_scores(choices: "Sweep") -> dict[int | None, Question]:
    """Scores by each seed, which measures and soft metrics draw by."""
    chosen = {"measures": choices.measures, "metrics": choices.metrics, "sign": choices.values, "unit": choices.unit}
    return {seed: Scoring.asked(chosen | {"seed": seed}) for seed in choices.seeds}


def erasure_lines(reply: Reply) -> list[Line]:
    """A line for each measure, or all random attributions, and metric; undefined: texts without a value."""
    report, lines = reply.conclude(), []
    for (metric, measure), mean in () if report is None else report.means.items():
        n = report.counts[metric, measure]
        about = {"measure": measure, "seed": reply.seed, "metric": metric, "direction": metrics()[metric].direction}
        lines.append(reply.about | about | interval_columns("mean", mean) | {"n": n, "undefined": report.n - n})
    return lines


register(
    SweepTable(
        "erasure",
        "SoftFaith §4",
        ask_scores,
        erasure_lines,
        ("model", "data", "measure", "seed"),
        {"mean": ""},
        across="metric",
        drawn=DOTS,
    )
)
