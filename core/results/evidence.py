"""Which measures rank highest what people call the evidence of one text."""

from collections.abc import Sequence

from core.explanation.plausibility import ALIKE, Evidence, leaders
from core.explanation.rows import WordRow
from core.results.result import Fact, Outcome, Result


class EvidenceOutcome(Outcome):
    """How well measures find the evidence of one text."""

    HIGHEST = "highest"
    ALIKE = "about alike"
    NOT_BETTER = "not better than random"
    EVERYTHING = "everything is evidence"
    NOT_RANKED = "not ranked"
    NOT_READ = "not read"


def evidence_result(evidence: Evidence | None, rows: Sequence[WordRow], unit: str) -> Result:
    """How well the rows find the evidence; None for evidence that is not read, or masked in the text."""
    if evidence is None:
        return Result.of(EvidenceOutcome.NOT_READ)
    if evidence.everything:
        return Result.of(EvidenceOutcome.EVERYTHING, unit=unit)
    found = {row.measure: evidence.precision(row.scores) for row in rows}
    best, chance = leaders(found), evidence.chance_precision
    if not best:
        return Result.of(EvidenceOutcome.NOT_RANKED, unit=unit)
    facts = [
        Fact("precision", f"average precision, {best[0]}", found[best[0]], better="↑", about="plausible, faithful"),
        Fact("chance", "average precision, random", chance, better="↑", about="plausible, faithful"),
    ]
    if found[best[0]] <= chance:
        return Result.of(EvidenceOutcome.NOT_BETTER, facts)
    # None is called the best by a hair.
    alike = leaders(found, within=ALIKE)
    if len(alike) > len(best):
        return Result.of(EvidenceOutcome.ALIKE, facts, measures=list(alike))
    return Result.of(EvidenceOutcome.HIGHEST, facts, measures=list(best))
