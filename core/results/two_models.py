"""Two models of a sweep: under which measures come closer to the best order."""

from collections.abc import Sequence
from dataclasses import replace

from core.evaluation.findings import FEW
from core.evaluation.studies.board_report import NAOPC_C
from core.mathematics.statistics import Interval
from core.results.caveats import Caveat, holding
from core.results.result import Fact, Kind, Outcome, Result


class TwoModelsOutcome(Outcome):
    """Whether two models differ in NAOPC, averaged over measures."""

    HIGHER = "higher"
    UNDECIDED = "undecided"
    REJECTED = "not comparable"
    SINGLE = "single"


def two_models_result(models: tuple[str, ...], difference: Interval, n: int, marked: Sequence[str] = ()) -> Result:
    """What a paired difference in NAOPC comes to, positive where the first is better; models: both, or the only one;
    n: texts that both have; marked: models whose values rest on rejected inputs.
    """
    if len(models) < 2 or not n:
        return Result.of(TwoModelsOutcome.SINGLE, model=models[0])
    caveats = holding({Caveat.OUT_OF_DISTRIBUTION: bool(marked), Caveat.FEW_TEXTS: n < FEW})
    facts = [
        Fact(
            "difference",
            f"difference in {NAOPC_C}",
            difference.mean,
            low=difference.low,
            high=difference.high,
            about="NAOPC",
        ),
        Fact("texts", "texts", n, Kind.COUNT),
    ]
    first, second = models if difference.mean >= 0 else models[::-1]
    decided = n >= FEW and difference.known and not difference.holds(0.0)
    outcome = TwoModelsOutcome.HIGHER if decided else TwoModelsOutcome.UNDECIDED
    if marked:
        outcome = TwoModelsOutcome.REJECTED
    result = Result.of(outcome, facts, caveats, model=first, other=second, rejected=[*marked])
    return replace(result, whose={Caveat.OUT_OF_DISTRIBUTION: [*marked]})
