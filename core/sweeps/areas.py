"""ACU and RACU with BCa intervals (FMM Tables 1, 11 and 12)."""

from core.sweeps.checking import ask_check
from core.sweeps.registry import DOTS, Line, Reply, SweepTable, interval_columns, register
from core.validity.references import CALIBRATED


def area_lines(reply: Reply) -> list[Line]:
    """A line for each measure, against the mean of the random orders of all seeds; unstable: see `areas_between`."""
    report = reply.conclude()
    return [
        reply.about
        | {"measure": line.curve.measure}
        | interval_columns("racu", line.areas.racu)
        | interval_columns("acu", line.areas.acu)
        | {
            "unstable": line.areas.unstable,
            "marked": report.marked(line, CALIBRATED),
            "n": line.n,
            "undefined": line.lost,
        }
        for line in (() if report is None else report.lines)
        if not line.curve.random
    ]


register(
    SweepTable(
        "areas",
        "FMM Tables 1, 11 and 12",
        ask_check,
        area_lines,
        ("model", "data", "measure"),
        {"racu": "RACU ↑", "acu": "ACU ↑", "n": "n"},
        drawn=DOTS,
        labelled=True,
        reference=0.0,
    )
)
