"""Behaviour under masking: when do predictions change as words are erased, and how far do embeddings drift?"""

from collections.abc import Iterable

from core.evaluation.findings import FEW
from core.evaluation.studies.behaviour_question import Behaviour
from core.evaluation.studies.behaviour_report import ALL, HALF, BehaviourReport, CourseLine
from core.results.catalogue import register_result
from core.results.caveats import Caveat, holding
from core.results.inputs import cut_facts
from core.results.result import Fact, Kind, Outcome, Result


class BehaviourOutcome(Outcome):
    """Which order changes predictions earliest, set against random order."""

    EARLIER = "earlier than random"
    NOT_EARLIER = "not earlier than random"
    NEVER = "never changes"
    RANDOM_ALONE = "random order alone"
    NOT_KNOWN = "not known"
    RUNNING = "running"


@register_result(Behaviour.name)
def behaviour_result(found: BehaviourReport) -> Result:
    """What erasing along each order says; of few texts, and of picked ones, no order is set above another."""
    chance, ranked = _chance(found), found.ranked
    # None is named of few texts or of picked ones.
    first = ranked[0] if ranked and ranked[0].judged >= FEW and not found.sample.picked else None
    line = first or chance
    slots: dict[str, str | int | float] = {"model": found.model}
    if line is not None:
        slots |= {"count": line.judged, "measure": line.course.measure, "share": 1 - line.fidelity.mean}
    facts = [*_facts(first, chance), *cut_facts(found.cut, len(found.sample))]
    return Result.of(_outcome(found, first, chance), facts, _caveats(found), **slots)


def nothing_erased(model: str, coming: bool) -> Result:
    """The same where no text has an answer; coming: whether one may still get it."""
    if coming:
        return Result.of(BehaviourOutcome.RUNNING, caveats=[Caveat.PARTIAL], model=model)
    return Result.of(BehaviourOutcome.NOT_KNOWN, caveats=[Caveat.FEW_TEXTS], model=model)


def _chance(found: BehaviourReport) -> CourseLine | None:
    """Random order, where it went through the texts that measures did."""
    chance, ranked = found.random, found.ranked
    if chance is None or not chance.judged or (ranked and chance.n != ranked[0].n):
        return None
    return chance


def _outcome(found: BehaviourReport, first: CourseLine | None, chance: CourseLine | None) -> BehaviourOutcome:
    if found.tally.coming and not found.tally.settled:
        return BehaviourOutcome.RUNNING
    line = first or chance
    if line is None:
        return BehaviourOutcome.NOT_KNOWN
    if all(one.never == 1 for one in found.lines if one.judged):
        return BehaviourOutcome.NEVER
    if first is None:
        return BehaviourOutcome.RANDOM_ALONE
    if chance is not None and first.fidelity.mean <= chance.fidelity.mean:
        return BehaviourOutcome.NOT_EARLIER
    return BehaviourOutcome.EARLIER


def _caveats(found: BehaviourReport) -> Iterable[Caveat]:
    judged = max((one.judged for one in found.lines), default=0)
    holds = {
        # Changes on rejected inputs count, too.
        Caveat.NOT_TESTED: True,
        Caveat.PARTIAL: not found.tally.complete,
        Caveat.FEW_TEXTS: judged < FEW,
        Caveat.SELECTED: bool(found.sample.picked),
        Caveat.TRUNCATED: found.cut > 0,
        Caveat.SINGLE_FEATURE: not judged,
        Caveat.LIMITS_SEARCHED: found.beam > 0,
    }
    return holding(holds)


def _facts(first: CourseLine | None, chance: CourseLine | None) -> list[Fact]:
    facts = []
    for key, line in (("", first), ("_random", chance)):
        if line is not None:
            name = line.course.measure
            about = line.fidelity
            facts.append(
                Fact(f"fidelity{key}", f"fidelity, {name}", about.mean, Kind.NUMBER, "↑", about.low, about.high)
            )
            facts.append(Fact(f"never{key}", f"never changes, {name}", line.never, Kind.SHARE))
    return [*facts, *_drift(chance or first)]


def _drift(line: CourseLine | None) -> list[Fact]:
    """How far the embeddings move; one embedding has no spread."""
    if line is None or line.n < 2:
        return []
    return [
        Fact("centroid_half", "centroid change at 50 %", float(line.centroid[HALF])),
        Fact("centroid_all", "centroid change at 100 %", float(line.centroid[ALL])),
        Fact("spread_all", "change of mean σ at 100 %", float(line.spread[ALL]), Kind.SHARE),
    ]
