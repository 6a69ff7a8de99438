"""What SoftFaith found of diagnosticity, beside what is found here."""

import itertools
from collections.abc import Mapping
from typing import NamedTuple

from core.evaluation.findings import FEW, look_share
from core.evaluation.studies.diagnosticity_report import ALL, NC_OVER_NS, DiagnosticityReport
from core.evaluation.studies.scoring import RANDOM
from core.mathematics.diagnosticity import HALF, STRICT, Compared
from core.mathematics.statistics import significant

# SoftFaith Table 2: by measure, mean over its tasks; DeepLift is in its average.
PAPER_MEASURES = ("attention", "scaled attention", "input × gradient", "integrated gradients", ALL)
PAPER = {
    "NC": (0.404, 0.405, 0.358, 0.428, 0.394),
    "Soft-NC": (0.525, 0.514, 0.526, 0.516, 0.529),
    "NS": (0.400, 0.383, 0.300, 0.368, 0.349),
    "Soft-NS": (0.479, 0.480, 0.444, 0.467, 0.462),
}
RULES = (STRICT, HALF)
_MORE, _SHORTER = "{} is more diagnostic than {}.", "The longer the rationale, the less diagnostic is {}."


class PaperFinding(NamedTuple):
    """A finding of the paper, its figure, the figure here and the p of its paired test; whether the two agree by the
    paper's rule for ties and with a tie as one half, None where that is not significant.
    """

    claim: str
    paper: str
    ours: str
    p: float
    agrees: bool | None
    agrees_half: bool | None


def paper_findings(found: DiagnosticityReport) -> list[PaperFinding]:
    """SoftFaith's findings by their sign, none under another baseline; open while more examples are to come."""
    if found.study.baseline != RANDOM:
        return []
    rules = {(one.soft, one.rule): one.found for one in found.tests}
    told = []
    for hard, soft in dict.fromkeys((one.hard, one.soft) for one in found.tests):
        claim, by = _MORE.format(soft, hard), {rule: rules[soft, rule] for rule in RULES}
        told.append(_finding(claim, _averages(soft, hard), by, {rule: _rises(by[rule]) for rule in RULES}))
    if NC_OVER_NS in found.trends:
        by = found.trends[NC_OVER_NS]
        claim = _MORE.format("NC", "NS")
        told.append(_finding(claim, _averages("NC", "NS"), by, {rule: _rises(by[rule]) for rule in RULES}))
    for name in found.lengths:
        if name in PAPER and name in found.trends:
            claim = _SHORTER.format(name)
            agrees = {rule: _shorter(found, name, rule) for rule in RULES}
            told.append(_finding(claim, "falls", found.trends[name], agrees))
    told = [one for one in told if one.ours]
    if found.tally.complete or not found.tally.coming:
        return told
    return [one._replace(ours="…", p=float("nan"), agrees=None, agrees_half=None) for one in told]


def _finding(claim: str, paper: str, by: Mapping[str, Compared], agrees: Mapping[str, bool | None]) -> PaperFinding:
    one = by[STRICT]
    ours = "" if one.first != one.first else f"{one.second:.3f} against {one.first:.3f}"
    p = one.paired if one.n >= FEW else float("nan")
    return PaperFinding(claim, paper, ours, p, agrees[STRICT], agrees[HALF])


def _averages(first: str, second: str) -> str:
    return f"{PAPER[first][-1]:.3f} against {PAPER[second][-1]:.3f}"


def _shorter(found: DiagnosticityReport, name: str, rule: str) -> bool | None:
    """Whether diagnosticity is less at the longest rationale than at the shortest, and rises nowhere in between; None
    where it rises there, or the ends do not differ significantly.
    """
    rises = _rises(found.trends[name][rule])
    if rises is not False:
        return None if rises is None else False
    means = [cell.by(rule).mean for cell in found.lengths[name]]
    return True if all(later <= earlier for earlier, later in itertools.pairwise(means)) else None


def _rises(one: Compared) -> bool | None:
    """Whether the second is above the first; None where the paired test is not significant."""
    sure = one.n >= FEW and significant(one.paired, look_share(one.n))
    return one.difference > 0 if sure else None
