"""Diagnosticity of metrics by measure and over all (SoftFaith Tables 2 and 3)."""

from core.evaluation.studies.diagnosticity_report import build_diagnosticity_report
from core.mathematics.diagnosticity import CHANCE, STRICT
from core.sweeps.erasure import ask_scores
from core.sweeps.registry import DOTS, Line, Reply, SweepTable, interval_columns, register


def diagnosticity_lines(reply: Reply) -> list[Line]:
    """A line for each metric with a direction and measure, "all" over measures, by both rules for ties."""
    answers = reply.answers
    found, labels = answers.found[reply.question], answers.model.labels
    about = reply.about["model"], reply.about["data"], labels
    report = build_diagnosticity_report(found, *about, answers.resamples) if reply.question.measures else None
    return [
        reply.about
        | {"measure": measure, "seed": reply.seed, "metric": metric}
        | interval_columns("strict", one.strict)
        | interval_columns("half", one.half)
        | {"ties": None if one.ties != one.ties else float(one.ties), "n": one.n, "undefined": one.undefined}
        for (metric, measure), one in ({} if report is None else report.cells).items()
    ]


register(
    SweepTable(
        "diagnosticity",
        "SoftFaith Tables 2 and 3",
        ask_scores,
        diagnosticity_lines,
        ("model", "data", "measure", "seed"),
        {"strict": ""},
        across="metric",
        drawn=DOTS,
        reference=CHANCE[STRICT],
    )
)
