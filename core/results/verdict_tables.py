"""Tables of verdicts: each measure on one text, and under several ways of erasing words."""

from collections.abc import Mapping
from typing import Any

from core.results.verdicts import verdict_status
from core.validity.marks import with_sign
from core.verdicts.deciding import Cause, Verdict, VerdictReport
from core.verdicts.records import orders_as_good, p_text
from core.wording import number

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
