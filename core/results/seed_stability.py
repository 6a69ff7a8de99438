"""How far attributions of one text move from seed to seed: which words matter to every seed."""

from collections.abc import Sequence

from core.results.caveats import Caveat
from core.results.result import Fact, Kind, Outcome, Result
from core.stability.seeds import SeedsOfText


class SeedStabilityOutcome(Outcome):
    """What the seeds of a family say of a text."""

    EVERY = "steady words"
    NO_WORD = "none steady"
    FEW_SEEDS = "few seeds"


def seed_stability_result(found: Sequence[SeedsOfText]) -> Result:
    """What the seeds say by these measures, one or more."""
    compared = [one for one in found if len(one.seeds) > 1]
    known = [one for one in compared if one.correlation == one.correlation]
    least = min(known, key=lambda one: one.correlation, default=None)
    words = [word for word in compared[0].steady if all(word in one.steady for one in compared)] if compared else []
    facts = [Fact("steady", "steady words", len(words), Kind.COUNT, "↑")]
    if least is not None:
        facts.append(Fact("spearman", f"least Spearman, {least.measure}", least.correlation, better="↑"))
        facts.append(Fact("overlap", f"top-3 overlap, {least.measure}", least.overlap, Kind.SHARE, "↑"))
    caveats = [] if all(one.complete for one in found) else [Caveat.PARTIAL]
    if not compared:
        return Result.of(SeedStabilityOutcome.FEW_SEEDS, facts, caveats)
    outcome = SeedStabilityOutcome.EVERY if words else SeedStabilityOutcome.NO_WORD
    return Result.of(outcome, facts, caveats, words=words)
