"""Recursive masking: does masking what a measure ranks first change the prediction?"""

import numpy as np

from core.explanation.recursive import Summary
from core.network.features import Encoded
from core.results.caveats import Caveat
from core.results.inputs import gate_caveats
from core.results.result import Fact, Kind, Outcome, Result


class RecursiveMaskingOutcome(Outcome):
    """What following one measure on one text comes to."""

    FLIPS = "flips"
    FLIPS_OUT_OF_DISTRIBUTION = "flips out-of-distribution"
    NOT_TESTED = "not tested"
    NEVER = "never flips"
    RUNNING = "running"


def masking_result(measure: str, summary: Summary | None, encoded: Encoded, labels: tuple[str, ...]) -> Result:
    """What a masking path says.

    Args:
        summary: of the steps so far; None before the first.
        labels: names of the model's C classes.
    """
    if summary is None:
        return Result.of(RecursiveMaskingOutcome.RUNNING, caveats=[Caveat.PARTIAL], measure=measure)
    outcome, flips = _outcome(summary), summary.flips
    slots: dict[str, str | int] = {"measure": measure, "unit": encoded.unit}
    if flips is not None:
        step = summary.steps[flips]
        slots |= {"count": step.count, "label": labels[int(step.logits.argmax())]}
    caveats = [*gate_caveats([summary.gate, summary.random_gate])]
    caveats += [Caveat.PARTIAL] if not summary.complete else []
    caveats += [Caveat.UNSTABLE] if summary.areas.unstable else []
    return Result.of(outcome, _facts(summary), caveats, **slots)


def _outcome(summary: Summary) -> RecursiveMaskingOutcome:
    if summary.flips is None:
        return RecursiveMaskingOutcome.NEVER if summary.complete else RecursiveMaskingOutcome.RUNNING
    if not summary.gate.available:
        return RecursiveMaskingOutcome.NOT_TESTED
    if summary.gate.beyond(summary.flips):
        return RecursiveMaskingOutcome.FLIPS_OUT_OF_DISTRIBUTION
    return RecursiveMaskingOutcome.FLIPS


def _facts(summary: Summary) -> list[Fact]:
    racu, marked, flips = summary.areas.racu, summary.marked, summary.flips
    share = None if flips is None else float(summary.x[flips])
    shown = np.nan if summary.areas.unstable else racu.mean
    beyond = flips is not None and summary.gate.beyond(flips)
    early, orders, about = summary.as_early, summary.orders, "random order"
    return [
        Fact("flips_at", "masked at the flip", share, Kind.SHARE, "↓", marked=beyond, about="masking ratio"),
        Fact("racu", "RACU", shown, Kind.NUMBER, "↑", racu.low, racu.high, marked=marked),
        Fact("as_early", "random orders as early", early, Kind.COUNT, "↓", of=orders, marked=marked, about=about),
        Fact("smallest_p", "smallest MaSF p", summary.smallest, Kind.NUMBER, "↑", about="MaSF p"),
    ]
