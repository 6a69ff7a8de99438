"""Which explanations are faithful on one text: each measure's order beside random orders of the same words."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from core.explanation.standings import COMPREHENSIVENESS
from core.measures.catalogue import measure, measures
from core.measures.registry import ORACLE
from core.results.caveats import Caveat
from core.results.result import Fact, Kind, Outcome, Result
from core.validity.marks import with_sign
from core.verdicts.deciding import Cause, Untold, Verdict, VerdictReport, Word
from core.verdicts.finding import SIGNS
from core.verdicts.records import orders_as_good, p_text
from core.wording import number


class VerdictsOutcome(Outcome):
    """What the verdicts on the measures of one text come to."""

    SOME_BETTER = "some better than random"
    NONE_SIGNIFICANT = "none better than random"
    CANNOT_BE_TESTED = "cannot be tested"
    NOT_ASKED = "not computed"
    RUNNING = "running"


class Status(StrEnum):
    """The badge of one measure on one text.

    TIED: it gives every word the same score, or every order of these words reaches almost the same.
    """

    BETTER = "better than random"
    NOT_SIGNIFICANT = "not significant"
    WORSE = "worse than random"
    TIED = "tied"
    NOT_TESTED = "not tested"


_STATUS = {Word.BETTER: Status.BETTER, Word.NO_BETTER: Status.NOT_SIGNIFICANT, Word.WORSE: Status.WORSE}
_TIED = frozenset((Untold.NO_ORDER, Untold.NARROW, Untold.EQUAL))
# What limits a result for which no verdict is given for a reason.
_CAVEATS = {
    Untold.OWN_REJECTED: Caveat.OUT_OF_DISTRIBUTION,
    Untold.RANDOM_REJECTED: Caveat.OUT_OF_DISTRIBUTION,
    Untold.FEW_ORDERS: Caveat.FEW_ORDERS,
    Untold.NOT_DRAWN: Caveat.FEW_ORDERS,
    Untold.NARROW: Caveat.NARROW_LIMITS,
    Untold.EQUAL: Caveat.NARROW_LIMITS,
}


def word_status(word: Word) -> Status:
    """The badge of a verdict of which the word alone is known."""
    return _STATUS.get(word, Status.NOT_TESTED)


def verdict_status(one: Verdict) -> Status:
    """The badge of a verdict."""
    return Status.TIED if one.why in _TIED else word_status(one.word)


def statuses(report: VerdictReport) -> dict[str, Status]:
    """{measure: its badge}."""
    return {one.measure: verdict_status(one) for one in report.verdicts}


def verdicts_result(report: VerdictReport | None, planned: int = 0, asked: bool = True) -> Result:
    """What the verdicts on one text come to; planned: measures to be compared; asked: whether that was started."""
    if report is None:
        outcome = VerdictsOutcome.RUNNING if asked else VerdictsOutcome.NOT_ASKED
        return Result.of(outcome, caveats=[Caveat.PARTIAL] if asked else [], count=planned)
    found = statuses(report)
    result = _concluded(found, _facts(report), report_caveats(report))
    return replace(result, whose=caveat_measures(found, report.sign))


def words_result(words: Mapping[str, Word]) -> Result:
    """The same where only each measure's word is known, as a study over texts keeps it."""
    return _concluded({name: word_status(word) for name, word in words.items()})


def _concluded(found: Mapping[str, Status], facts: Iterable[Fact] = (), caveats: Iterable[Caveat] = ()) -> Result:
    better = [name for name, status in found.items() if status == Status.BETTER]
    if better:
        outcome = VerdictsOutcome.SOME_BETTER
    elif Status.NOT_SIGNIFICANT in found.values() or Status.WORSE in found.values():
        outcome = VerdictsOutcome.NONE_SIGNIFICANT
    else:
        outcome = VerdictsOutcome.CANNOT_BE_TESTED
    return Result.of(outcome, facts, caveats, measures=better, count=len(found))


def _facts(report: VerdictReport) -> list[Fact]:
    better = len(report.those(Word.BETTER))
    upward = SIGNS[report.direction] > 0
    reached = sorted(report.reached.values(), reverse=upward)
    return [
        Fact("better", "better than random", better, Kind.COUNT, "↑", of=report.planned, about="verdict"),
        _smallest_p(report),
        Fact("best_aopc", "best AOPC", reached[0] if reached else None, better="↑" if upward else "↓", about="AOPC"),
        Fact("orders", "orders compared", len(report.null.reached), Kind.COUNT, about="random order"),
    ]


def _smallest_p(report: VerdictReport) -> Fact:
    """The smallest adjusted p; text where drawing stopped before it was known to its end."""
    known = [one.adjusted for one in report.verdicts if one.told]
    ends = min(known, default=None)
    if ends is None or ends[0] == ends[1]:
        return Fact("smallest_p", "smallest adjusted p", ends and ends[0], Kind.P, "↓", about="chance p")
    return Fact("smallest_p", "smallest adjusted p", p_text(ends), Kind.TEXT, "↓", about="chance p")


def report_caveats(report: VerdictReport) -> list[Caveat]:
    """What limits the verdicts: why some are not given, and what favours or harms a measure."""
    found = [_CAVEATS[one.why] for one in report.verdicts if one.why in _CAVEATS]
    if len(report.null.reached) and not any(report.null.reached):
        found.append(Caveat.FLAT)
    if any(Cause.UNSTABLE in one.causes for one in report.verdicts):
        found.append(Caveat.UNSTABLE)
    if report.untested:
        found.append(Caveat.NOT_TESTED)
    better = [one.measure for one in report.those(Word.BETTER)]
    names = [one.measure for one in report.verdicts]
    if set(uses_masking(names)) & set(better):
        found.append(Caveat.MEASURE_USES_MASKING)
    if better and report.direction == COMPREHENSIVENESS and set(without_sign(names, report.sign)) - set(better):
        found.append(Caveat.UNSIGNED_MEASURE)
    return found


def caveat_measures(names: Iterable[str], sign: str = "signed") -> dict[Caveat, list[str]]:
    """The measures that are favoured or harmed, by the caveat that says so."""
    names = list(names)
    return {Caveat.MEASURE_USES_MASKING: uses_masking(names), Caveat.UNSIGNED_MEASURE: without_sign(names, sign)}


def measure_caveats(names: Iterable[str], sign: str = "signed") -> list[Caveat]:
    """What favours or harms some of these measures and not the others, whatever the texts."""
    return [caveat for caveat, whose in caveat_measures(names, sign).items() if whose]


def uses_masking(names: Iterable[str]) -> list[str]:
    """The measures that mask words to score them, as the test does; none where all of them do, but for baselines.

    Source: FMM §6, on leave-one-out and RACU.
    """
    known = [measure(name) for name in names if name in measures()]
    own = [one.name for one in known if one.needs == ORACLE]
    return [] if len(own) == sum(not one.baseline for one in known) else own


def without_sign(names: Iterable[str], sign: str = "signed") -> list[str]:
    """The measures that cannot tell what supports the class from what opposes it; none where all are such, but for
    baselines, or where absolute values are asked for.
    """
    known = [one for name in names if name in measures() and not (one := measure(name)).baseline]
    found = [one.name for one in known if not one.signed and not one.rank_only]
    return found if sign == "signed" and len(found) < len(known) else []


TABLE = ["measure", "verdict", "adjusted p ↓", "p of better ↓", "p of worse ↓", "AOPC", "orders as good ↓", "reason"]
HELP = {
    "adjusted p ↓": "Holm-adjusted; of being worse where the verdict is worse, else of being better.",
    "p of better ↓": "Unadjusted share of random orders that reach at least as much.",
    "p of worse ↓": "Unadjusted share of random orders that reach at most as much.",
    "orders as good ↓": "Random orders that are at least as good.",
    "reason": "Why there is no verdict, or a hint at why the measure fails.",
}


def verdict_rows(report: VerdictReport) -> list[list[Any]]:
    """A row a measure under TABLE; p-values are numbers where all of them were drawn to their end, else text."""
    ends = [p for one in report.verdicts for p in (one.adjusted, one.p, one.worse) if p[0] == p[0]]
    exact = all(low == high for low, high in ends)
    return [_row(report, one, exact) for one in report.verdicts]


def verdict_cells(report: VerdictReport, one: Verdict) -> list[str]:
    """The same row as text."""
    measure, status, *ps, aopc, as_good, reason = _row(report, one, False)
    count = "—" if as_good is None else f"{as_good:,}"
    return [measure, status, *ps, "—" if aopc is None else number(aopc), count, reason or "—"]


def verdict_badge(one: Verdict) -> str:
    """A measure's badge with its adjusted p, text: "better than random, p = 0.02"."""
    return f"{_status(one)}, {p_text(one.adjusted)}" if one.told else _status(one)


def _row(report: VerdictReport, one: Verdict, exact: bool) -> list[Any]:
    ps = [p[0] if exact else p_text(p) for p in (one.adjusted, one.p, one.worse)]
    reached, as_good = report.reached.get(one.measure), orders_as_good(report, one.measure)
    return [one.measure, _status(one), *ps, reached, as_good, reason_text(report, one) or None]


def _status(one: Verdict) -> str:
    return with_sign(str(verdict_status(one)), Cause.REJECTED in one.causes)


def reason_text(report: VerdictReport, one: Verdict) -> str:
    """Why no verdict is given, or what is known of why a measure fails, with its p; "" for neither."""
    p = {Cause.REDUNDANCY: report.stepwise.get(one.measure), Cause.SIGN: report.turned.get(one.measure)}
    found = [f"{cause} ({p_text((known, known))})" if (known := p.get(cause)) else str(cause) for cause in one.causes]
    return str(one.why) if one.why else ", ".join(found)


def erasure_table(reports: Mapping[str, VerdictReport]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: of each measure its verdict under each way of erasing words, with its adjusted p."""
    names = dict.fromkeys(one.measure for report in reports.values() for one in report.verdicts)
    verdicts = [[report.of(name) for report in reports.values()] for name in names]
    return ["measure", *reports], [
        [name, *("—" if one is None else verdict_badge(one) for one in found)] for name, found in zip(names, verdicts)
    ]
