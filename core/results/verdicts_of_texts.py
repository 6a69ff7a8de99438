"""How often is each measure better than random? The verdicts on many texts."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from core.evaluation.studies.verdicts import Verdicts, VerdictsReport
from core.oracle.erasing import MASK
from core.results.asked import sample_caveats, unanswered
from core.results.catalogue import register_result
from core.results.caveats import Caveat
from core.results.result import Fact, Kind, Outcome, Result
from core.results.verdicts import caveat_measures, measure_caveats


class VerdictsOfTextsOutcome(Outcome):
    """What the verdicts on many texts come to."""

    ONE_LEADS = "one measure leads"
    SEVERAL_TIED = "several tied"
    ALONE = "one measure alone"
    NONE = "none better than random"
    CANNOT_BE_TESTED = "cannot be tested"


@register_result(Verdicts.name)
def verdicts_of_texts(report: VerdictsReport) -> Result:
    """What the verdicts on the texts of a sample come to."""
    counts = report.better_counts
    best = int(np.argmax(counts))
    facts = _facts(report, best)
    caveats = sample_caveats(report.tally, report.n, report.cut, report.picked)
    favours = set(measure_caveats(report.measures, report.sign))
    if report.erasure != MASK or not max(counts):
        # Other ways of erasing favour nobody, and where no measure is better nothing is favoured.
        favours.discard(Caveat.MEASURE_USES_MASKING)
    caveats += favours
    slots = {"measure": report.measures[best], "share": counts[best] / report.n, "count": report.n}
    early = unanswered(report.tally, report.n, facts, caveats)
    result = early or Result.of(_outcome(report, counts), facts, caveats, **slots)
    return replace(result, whose=caveat_measures(report.measures, report.sign))


def why_untested(report: VerdictsReport | None, known: Callable[[], list[Caveat]]) -> list[Caveat]:
    """What is known of the masked texts of these data, where no measure can be tested; [] where one can."""
    return [] if report is None or report.judged else known()


def _outcome(report: VerdictsReport, counts: list[int]) -> VerdictsOfTextsOutcome:
    if not report.judged:
        return VerdictsOfTextsOutcome.CANNOT_BE_TESTED
    if not max(counts):
        return VerdictsOfTextsOutcome.NONE
    if len(counts) == 1:
        return VerdictsOfTextsOutcome.ALONE
    return VerdictsOfTextsOutcome.ONE_LEADS if report.ahead else VerdictsOfTextsOutcome.SEVERAL_TIED


def _facts(report: VerdictsReport, best: int) -> list[Fact]:
    share, n = report.better[best], report.n
    return [
        Fact("share", report.measures[best], share.mean, Kind.SHARE, "↑", share.low, share.high, about="verdict"),
        Fact("texts", "texts", n, Kind.COUNT, of=report.tally.total),
        *_lead_facts(report),
        Fact("none", "no measure better", report.none, Kind.COUNT, "↓", of=n),
        Fact("cut", "texts cut", report.cut, Kind.COUNT, of=n),
    ]


def _lead_facts(report: VerdictsReport) -> list[Fact]:
    """The p of the best measure against the next; nothing where there is no next, or nothing to lead by."""
    if len(report.measures) < 2 or not max(report.better_counts) or not report.tally.settled or not report.n:
        return []
    p = max(report.lead_p)
    return [Fact("lead_p", "p against the next", p, Kind.P, "↓", about="Holm-adjusted sign test")]
