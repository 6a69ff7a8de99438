"""Limits: how close does each measure come to the best order of masking, on one text and over a file of texts?"""

from collections.abc import Collection, Sequence
from operator import itemgetter

import numpy as np

from core.evaluation.findings import FEW
from core.explanation.standings import ARROWS, COMPREHENSIVENESS, Standing, StandingTable
from core.mathematics.search.limits import EXACT
from core.network.features import Encoded
from core.results.caveats import Caveat, holding
from core.results.inputs import count_caveats, gate_caveats
from core.results.result import Fact, Kind, Outcome, Result
from core.results.verdicts import uses_masking
from core.wording import number

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


class LimitsOfTextsOutcome(Outcome):
    """What limits of the texts of a file come to, under one model."""

    CLOSEST = "closest on average"
    NEARER_WORST = "nearer the worst on average"
    TIED = "tied"
    NO_TEXTS = "no texts"


def limits_of_texts_result(rows: Sequence[dict]) -> Result:
    """What one model's rows of `python -m core evaluate --what limits` say, by comprehensiveness."""
    found = [row for row in rows if not row["problem"]]
    exact = sum(row["method"] == EXACT for row in found)
    cut = sum(bool(row["cut"]) for row in found)
    typed = sum(bool(row.get("typed_special")) for row in found)
    flat = sum(row.get("lower") == row.get("upper") == 0 for row in found)
    apart = sum(row.get("same_class") is False for row in found)
    more, facts = count_caveats(len(found), {Caveat.TYPED_SPECIAL: typed, Caveat.FLAT: flat})
    facts = [
        Fact("texts", "texts with limits", len(found), Kind.COUNT, of=len(rows)),
        Fact("exact", "exact limits", exact, Kind.COUNT, of=len(found), about="limits"),
        Fact("cut", "truncated texts", cut, Kind.COUNT, of=len(found)),
        *facts,
    ]
    caveats = {
        Caveat.FEW_TEXTS: 0 < len(found) < FEW,
        Caveat.LIMITS_SEARCHED: exact < len(found),
        Caveat.TRUNCATED: cut > 0,
        Caveat.OTHER_CLASSES: apart > 0,
    } | dict.fromkeys(more, True)
    if not found:
        return Result.of(LimitsOfTextsOutcome.NO_TEXTS, facts, holding(caveats))
    best, measure, texts = max(_means(found), key=itemgetter(0), default=(None, "", 0))
    if best is None:
        return Result.of(LimitsOfTextsOutcome.TIED, facts, holding(caveats))
    mean = Fact("naopc", "mean NAOPC", best, Kind.NUMBER, "↑", about="NAOPC")
    outcome = LimitsOfTextsOutcome.CLOSEST if best >= HALF_WAY else LimitsOfTextsOutcome.NEARER_WORST
    return Result.of(outcome, [mean, *facts], holding(caveats), measure=measure, way=best, count=texts)


def naopc_table(rows: Sequence[dict]) -> tuple[list[str], list[list[str]]]:
    """Each measure's mean NAOPC over one model's rows, best first, as a table of text."""
    means = sorted(_means([row for row in rows if not row["problem"]]), reverse=True)
    return ["measure", "mean NAOPC ↑", "texts"], [[name, number(mean), f"{texts:,}"] for mean, name, texts in means]


def _means(rows: Sequence[dict]) -> list[tuple[float, str, int]]:
    """(mean NAOPC, measure, texts) of each measure over the texts on which its NAOPC is defined."""
    end = ": comprehensiveness NAOPC"
    names = dict.fromkeys(key.removesuffix(end) for row in rows for key in row if key.endswith(end))
    known = {name: [row[name + end] for row in rows if row.get(name + end) is not None] for name in names}
    return [(float(np.mean(values)), name, len(values)) for name, values in known.items() if values]
