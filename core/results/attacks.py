"""How often does an attack change the prediction, and does MaSF notice?"""

from core.attacks.victim import AttackOutcome
from core.evaluation.findings import FEW
from core.evaluation.studies.attacks import Attacking
from core.evaluation.studies.attacks_report import AttacksReport
from core.results.asked import sample_caveats, unanswered
from core.results.catalogue import register_result
from core.results.caveats import Caveat, holding
from core.results.result import Fact, Kind, Outcome, Result


class AttacksOutcome(Outcome):
    """Whether MaSF rejects attacked texts more often than originals, where enough of them are known."""

    NOTICED = "rejected more often"
    NOT_NOTICED = "not rejected more often"
    SUCCESS = "success rate alone"
    NO_SUCCESS = "no attack succeeded"


@register_result(Attacking.name)
def attacks_result(found: AttacksReport) -> Result:
    """What an attack on a sample comes to."""
    caveats = [*sample_caveats(found.tally, found.n, found.cut, found.picked), *_caveats(found)]
    facts = _facts(found)
    slots = {"attack": found.attack, "share": found.success.mean, "count": found.n, "model": found.model}
    return unanswered(found.tally, found.n, facts, caveats) or Result.of(_outcome(found), facts, caveats, **slots)


def _outcome(found: AttacksReport) -> AttacksOutcome:
    if not found.pairs:
        return AttacksOutcome.NO_SUCCESS
    if not found.rejected.difference.known or found.pairs < FEW:
        return AttacksOutcome.SUCCESS
    return AttacksOutcome.NOTICED if found.rejected.difference.low > 0 else AttacksOutcome.NOT_NOTICED


def _caveats(found: AttacksReport) -> list[Caveat]:
    holds = {
        Caveat.NOT_TESTED: found.pairs > 0 and not found.rejected.original.known,
        Caveat.MEANING: found.attack != "DeepWordBug",
    }
    return holding(holds)


def _facts(found: AttacksReport) -> list[Fact]:
    difference, success = found.rejected.difference, found.success
    wrong, whole = found.ended[AttackOutcome.ALREADY_WRONG], sum(found.ended.values())
    return [
        Fact("success", "success rate", success.mean, Kind.SHARE, "", success.low, success.high),
        Fact("mean_queries", "queries a text", found.queries.mean, low=found.queries.low, high=found.queries.high),
        Fact("wrong", "already wrong", wrong, Kind.COUNT, of=whole),
        Fact("rejected", "rejected more", difference.mean, Kind.NUMBER, "", difference.low, difference.high),
    ]
