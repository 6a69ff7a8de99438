"""NAOPC of measures and random order (NAOPC Table 4 ranks them)."""

from functools import partial

from core.evaluation.studies.board_report import COMPREHENSIVENESS, NAOPC_C, NAOPC_S, SUFFICIENCY
from core.sweeps.aopc import aopc_lines, ask_aopc
from core.sweeps.registry import DOTS, SweepTable, register

# Each AOPC with the one that is normalised.
NORMALISED = {COMPREHENSIVENESS: NAOPC_C, SUFFICIENCY: NAOPC_S}
ask_limits = partial(ask_aopc, limited=True)

register(
    SweepTable(
        "naopc",
        "NAOPC §5",
        ask_limits,
        partial(aopc_lines, figures=(NAOPC_C, NAOPC_S)),
        ("model", "data", "measure"),
        {"mean": ""},
        across="figure",
        drawn=DOTS,
    )
)
