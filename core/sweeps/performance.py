"""Performance by masking ratio, of random order and each measure (FMM Fig. 5)."""

from core.evaluation.studies.check_report import X
from core.sweeps.checking import ask_check, curve_figures, curve_name
from core.sweeps.registry import CURVES, Line, Reply, SweepTable, register


def performance_lines(reply: Reply) -> list[Line]:
    """A line for each curve and ratio, with its 95 % interval and on how many examples it has none."""
    return [
        reply.about
        | curve_name(line)
        | {
            "ratio": float(ratio),
            "performance": float(line.performance[k]),
            "performance_low": None if line.ends is None else float(line.ends[0, k]),
            "performance_high": None if line.ends is None else float(line.ends[1, k]),
            "metric": report.metric,
            "majority": float(report.majority),
            "n": line.n,
            "undefined": line.lost,
        }
        for report, line in curve_figures(reply)
        for k, ratio in enumerate(X)
    ]


register(
    SweepTable(
        "performance",
        "FMM Fig. 5",
        ask_check,
        performance_lines,
        ("model", "data", "measure", "seed"),
        {"performance": "↑"},
        across="ratio",
        drawn=CURVES,
        labelled=True,
    )
)
