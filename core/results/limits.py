"""Limits: how close does each measure come to the best order of masking, on one text?"""

from collections.abc import Collection

from core.explanation.standings import ARROWS, COMPREHENSIVENESS, Standing, StandingTable
from core.mathematics.search.limits import EXACT
from core.network.features import Encoded
from core.results.caveats import Caveat
from core.results.inputs import gate_caveats
from core.results.result import Fact, Kind, Outcome, Result
from core.results.verdicts import uses_masking

# Below half of the way from the worst order to the best a measure is nearer to the worst.
HALF_WAY = 0.5


class LimitsOutcome(Outcome):
    """What setting measures between the best and the worst order of one text comes to."""

    CLOSEST = "closest"
    NEARER_WORST = "nearer the worst"
    OUT_OF_DISTRIBUTION = "out-of-distribution"
    TIED = "tied"
    NO_ORDERS = "no orders"
    RUNNING = "running"


def limits_result(
    board: StandingTable | None,
    direction: str,
    encoded: Encoded,
    *,
    complete: bool = True,
    unstable: Collection[str] = (),
) -> Result:
    """What a text's limits and scores say.

    Args:
        board: as far as it is known; None before there are limits.
        complete: whether nothing that was chosen is still to come.
        unstable: measures whose ranking is known to be unstable.
    """
    if encoded.premasked.all():
        return Result.of(LimitsOutcome.NO_ORDERS, unit=encoded.unit)
    first = None if board is None else board.best(direction)
    partial = [] if complete else [Caveat.PARTIAL]
    if board is None:
        return Result.of(LimitsOutcome.RUNNING, caveats=[Caveat.PARTIAL])
    if board.limits.coincide:
        return Result.of(LimitsOutcome.TIED, _limits_facts(board), [*_limits_caveats(board), *partial])
    if first is None:
        return Result.of(LimitsOutcome.RUNNING, _limits_facts(board), [*_limits_caveats(board), Caveat.PARTIAL])
    gates = [first.gates[direction], *board.gates, *([] if board.chance is None else [board.chance.gate])]
    caveats = [*_limits_caveats(board), *gate_caveats(gates), *partial]
    caveats += [Caveat.UNSTABLE] if first.measure in unstable else []
    favoured = uses_masking(one.measure for one in board.standings)
    caveats += [Caveat.MEASURE_USES_MASKING] if first.measure in favoured else []
    facts = [*_measure_facts(board, first, direction), *_limits_facts(board)]
    way = way_to_best(first.naopc[direction], direction)
    outcome = LimitsOutcome.CLOSEST if way >= HALF_WAY else LimitsOutcome.NEARER_WORST
    if first.marked(direction, True):
        outcome = LimitsOutcome.OUT_OF_DISTRIBUTION
    return Result.of(outcome, facts, caveats, measure=first.measure, way=way)


def way_to_best(naopc: float, direction: str) -> float:
    """How far an order goes from the worst to the best of its direction, in [0, 1], from its NAOPC."""
    return naopc if direction == COMPREHENSIVENESS else 1 - naopc


def _limits_caveats(board: StandingTable) -> list[Caveat]:
    found = [Caveat.NARROW_LIMITS] if board.limits.narrow and not board.limits.coincide else []
    return found + ([] if board.limits.method == EXACT else [Caveat.LIMITS_SEARCHED])


def _measure_facts(board: StandingTable, first: Standing, direction: str) -> list[Fact]:
    better, chance = ARROWS[direction], board.chance
    best = board.limits.upper if direction == COMPREHENSIVENESS else board.limits.lower
    marked = first.marked(direction, True)
    reached = first.naopc[direction], first.aopc[direction]
    facts = [
        Fact("naopc", "NAOPC", reached[0], Kind.NUMBER, better, marked=marked),
        Fact("aopc", "AOPC", reached[1], Kind.NUMBER, better, marked=first.marked(direction)),
        Fact("left", "AOPC to gain", abs(best - reached[1]), Kind.NUMBER, "↓", marked=marked, about="limits"),
    ]
    if chance is None:
        return facts
    random = Fact("random_naopc", "NAOPC, random orders", chance.naopc, marked=board.chance_marked(True))
    return [*facts, random]


def _limits_facts(board: StandingTable) -> list[Fact]:
    limits, (low, high) = board.limits, board.gates
    return [
        Fact("lower", "lower limit of AOPC", limits.lower, marked=low.marked, about="limits"),
        Fact("upper", "upper limit of AOPC", limits.upper, marked=high.marked, about="limits"),
        Fact("scores", "sets scored", limits.scores, Kind.COUNT, about="limits"),
    ]
