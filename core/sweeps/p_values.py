"""The p-value of a data set by masking ratio (FMM Fig. 4)."""

from core.evaluation.studies.check_report import X
from core.sweeps.checking import ask_check, curve_figures, curve_name
from core.sweeps.registry import CURVES, Line, Reply, SweepTable, register
from core.validity.references import CALIBRATED, LITERAL


def p_lines(reply: Reply) -> list[Line]:
    """A line for each curve and ratio: calibrated by count, literal by Simes, and how many texts are rejected alone."""
    lines = []
    for report, line in curve_figures(reply):
        for k, ratio in enumerate(X):
            told = {
                "p": float(line.p[CALIBRATED][k]) if CALIBRATED in line.p else None,
                "p_literal": float(line.p[LITERAL][k]) if LITERAL in line.p else None,
                "rejected": int(line.rejected[CALIBRATED][k]) if CALIBRATED in line.rejected else None,
            }
            lines.append(reply.about | curve_name(line) | {"ratio": float(ratio)} | told | {"n": line.n})
    return lines


register(
    SweepTable(
        "p_values",
        "FMM Fig. 4",
        ask_check,
        p_lines,
        ("model", "data", "measure", "seed"),
        {"p": "p"},
        across="ratio",
        drawn=CURVES,
        labelled=True,
        reference=0.05,
        averaged=False,
    )
)
