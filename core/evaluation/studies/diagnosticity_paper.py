"""What SoftFaith found of diagnosticity, its figures, and whether they hold on the data here, in words."""

import itertools
from collections.abc import Mapping

from core.evaluation.findings import FEW, NOT_ENOUGH, Finding, look_share, once_counted, too_few
from core.evaluation.studies.diagnosticity_report import ALL, NC_OVER_NS, DiagnosticityReport
from core.evaluation.studies.scoring import RANDOM
from core.mathematics.diagnosticity import HALF, STRICT, Compared
from core.mathematics.erasure import LENGTHS
from core.mathematics.statistics import significant
from core.wording import fixed_number, p_value, share_text

# SoftFaith Table 2 (by measure, mean over its tasks; DeepLift is in its average) and Table 3 (by task, mean over its
# measures).
PAPER_MEASURES = ("attention", "scaled attention", "input × gradient", "integrated gradients", ALL)
PAPER = {
    "NC": (0.404, 0.405, 0.358, 0.428, 0.394),
    "Soft-NC": (0.525, 0.514, 0.526, 0.516, 0.529),
    "NS": (0.400, 0.383, 0.300, 0.368, 0.349),
    "Soft-NS": (0.479, 0.480, 0.444, 0.467, 0.462),
}
PAPER_TASKS = ("SST", "Evidence Inference", "AG", "MultiRC")
PAPER_BY_TASK = {
    "NC": (0.409, 0.315, 0.416, 0.434),
    "Soft-NC": (0.431, 0.628, 0.649, 0.406),
    "NS": (0.384, 0.344, 0.385, 0.282),
    "Soft-NS": (0.467, 0.560, 0.294, 0.527),
}
_APART = "the paired test does not tell them apart"


def diagnosticity_findings(found: DiagnosticityReport) -> list[Finding]:
    """What SoftFaith found, beside what is found here; another model and other data, so the same sign is what counts,
    by its rule for ties; where the other rule says otherwise, that stands behind. Nothing under another baseline than
    its own.
    """
    told: list[Finding] = []
    if found.study.baseline != RANDOM:
        return told
    rules = {(one.soft, one.rule): one.found for one in found.tests}
    for one in found.tests:
        if one.rule == STRICT and one.found.first == one.found.first:
            claim = (
                f"{one.soft} is more diagnostic than {one.hard} ({PAPER[one.soft][-1]:.3f} against "
                f"{PAPER[one.hard][-1]:.3f} on average)."
            )
            told.append(_finding(claim, {rule: rules[one.soft, rule] for rule in (STRICT, HALF)}))
    trends = {name: by for name, by in found.trends.items() if by[STRICT].first == by[STRICT].first}
    if NC_OVER_NS in trends:
        told.append(_finding("NC is more diagnostic than NS.", trends[NC_OVER_NS]))
    told += [_shorter(found, name) for name in found.lengths if name in PAPER and name in trends]
    return once_counted(told, found.tally)


def _finding(claim: str, by: Mapping[str, Compared]) -> Finding:
    """A finding that is told by the sign of a difference, where the paired test is certain of it; by: each rule for
    ties.
    """
    one, half = by[STRICT], _rises(by[HALF])
    here = f"{one.second:.3f} against {one.first:.3f}{_p(one)}"
    other = {True: "it agrees", False: "it departs", None: _APART}[half]
    but = "" if half == _rises(one) else f"; with a tie as one half {other}"
    return Finding(claim, here, _rises(one), _unsure(one), but)


def _shorter(found: DiagnosticityReport, name: str) -> Finding:
    """SoftFaith's finding on lengths of the rationale: tested at both ends, so that it agrees only where diagnosticity
    rises nowhere in between.
    """
    one, ends = found.trends[name][STRICT], (share_text(LENGTHS[0]), share_text(LENGTHS[-1]))
    cells = found.lengths[name]
    between = [cell.strict.mean for cell in cells]
    top = max(range(len(between)), key=between.__getitem__)
    half = [fixed_number(cells[k].half.mean) for k in (0, -1)]
    most = f", most at {share_text(LENGTHS[top])}: {between[top]:.3f}" * (0 < top < len(between) - 1)
    here = f"{one.first:.3f} at {ends[0]}, {one.second:.3f} at {ends[1]}{_p(one)}{most}; a tie as ½: {', '.join(half)}"
    told = {rule: _course(found, name, rule, ends) for rule in (STRICT, HALF)}
    agrees = {None: None, True: False, False: True if _falls(found, name, STRICT) else None}[_rises(one)]
    unsure = _unsure(one) if _rises(one) is None else told[STRICT]
    but = "" if told[HALF] == told[STRICT] else f"; with a tie as one half {told[HALF]}"
    return Finding(f"The longer the rationale, the less diagnostic is {name}.", here, agrees, unsure, but)


def _course(found: DiagnosticityReport, name: str, rule: str, ends: tuple[str, str]) -> str:
    """How the longest rationale stands beside the shortest, by a rule for ties, in words."""
    rises = _rises(found.trends[name][rule])
    if rises is None:
        return _APART
    through = "" if rises or _falls(found, name, rule) else ", but it does not fall throughout"
    return f"{'more' if rises else 'less'} at {ends[1]} than at {ends[0]}{through}"


def _falls(found: DiagnosticityReport, name: str, rule: str) -> bool:
    means = [cell.by(rule).mean for cell in found.lengths[name]]
    return all(later <= earlier for earlier, later in itertools.pairwise(means))


def _rises(one: Compared) -> bool | None:
    """Whether the second is above the first; None where the paired test is not certain of either."""
    sure = one.n >= FEW and significant(one.paired, look_share(one.n))
    return one.difference > 0 if sure else None


def _p(one: Compared) -> str:
    return f", {p_value(one.paired)}" if one.paired == one.paired and one.n >= FEW else ""


def _unsure(one: Compared) -> str:
    return too_few(one.n) if one.n < FEW else f"{NOT_ENOUGH}: {_APART}"
