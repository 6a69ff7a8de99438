"""Verdicts by the chance test beside a scoreboard: of each measure on one text, or counted over texts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.evaluation.findings import FEW
from core.mathematics.statistics import share_interval
from core.measures.catalogue import measures
from core.terms import CHANCE
from core.verdicts.deciding import Verdict, VerdictReport, Word
from core.verdicts.records import orders_as_good, p_text, verdict_record
from core.wording import share_text

ON_TEXTS = "better than chance ↑ (texts)"
ALONE = f"random orders as good (raw {CHANCE} ↓)"
OVER_TEXTS = ["measure", "better than random ↑", "texts", "% ↑", "95 % from", "95 % to"]
_LATER = "not judged yet"

VerdictLines = dict[tuple[int, str], dict]


@dataclass(frozen=True)
class VerdictColumn:
    """Verdicts by another test: the column's header and the cell of each measure.

    table: the same for the page, (header, rows); lines: gives what a file says of them, {(which text, measure): as of
    `core.verdicts.records.verdict_record`}; better: as of `BoardReport`; alone: of each measure how many random orders
    do as well and the unadjusted p, a column under ALONE; None for no such column.
    """

    header: str
    of: Mapping[str, str]
    table: tuple[list[str], list[list[Any]]] = field(default_factory=lambda: ([], []))
    lines: Callable[[], VerdictLines] = dict
    better: frozenset[str] | None = None
    alone: Mapping[str, str] | None = None


def verdicts_of_text(report: VerdictReport | None, chosen: tuple[str, ...] = ()) -> VerdictColumn:
    """The columns of one text: whether each measure beats random orders, and how many of these do as well; report: None
    where none is judged yet; chosen: all measures.
    """
    if report is None or not report.verdicts:
        return VerdictColumn("against chance", {})
    verdicts = {one.measure: one for one in report.verdicts}
    lines = {(0, name): verdict_record(one, len(verdicts)) for name, one in verdicts.items()}
    adjusted = f"{CHANCE} by Holm ↓" if len(verdicts) > 1 else f"{CHANCE} ↓"
    better = frozenset(name for name, one in verdicts.items() if one.word == Word.BETTER)
    return VerdictColumn(
        f"against chance, of {len(verdicts)} ({adjusted})",
        {name: _short(one) for name, one in verdicts.items()},
        lines=lambda: lines,
        better=better if set(chosen) <= set(verdicts) else None,
        alone={name: _alone(one, _as_good(report, one)) for name, one in verdicts.items()},
    )


def _as_good(report: VerdictReport, one: Verdict) -> str | None:
    """How many of how many random orders do as well as a measure's own: "1 of 120"; None where no order was drawn."""
    count = orders_as_good(report, one.measure)
    # Of all orders that there are one is the measure's own.
    return None if count is None else f"{count:,} of {len(report.null.reached) - report.null.every:,}"


def _alone(one: Verdict, as_good: str | None) -> str:
    """How many random orders do as well as a measure's, of how many, and the unadjusted p: "1 of 120, p = 0.0165"."""
    return ", ".join(filter(None, [as_good, p_text(one.p)])) if one.told else "—"


def _short(one: Verdict) -> str:
    """A verdict as a cell under a header that names chance and its p: "✓ better, p = 0.013"."""
    return f"{one.word.chip.replace(' than chance', '')}, {p_text(one.adjusted)}" if one.told else one.word.chip


def texts_column(
    counts: Mapping[str, tuple[int, int]], lines: Callable[[], VerdictLines] = dict, chosen: tuple[str, ...] = ()
) -> VerdictColumn:
    """On how many texts each measure is better than chance, with its share and exact 95 % interval; counts: as of
    `better_counts`; lines: as of `VerdictColumn`; chosen: all measures.
    """
    of = {one: _counted(k, n) for one, (k, n) in counts.items()}
    rows: list[list[Any]] = []
    for name, (k, n) in counts.items():
        span = share_interval(k, n)
        known = n >= FEW
        rows.append([name, k, n, *((100 * one if known else None) for one in (k / n, span.low, span.high))])
    if counts:
        others = [name for name in chosen if name not in counts and name in measures()]
        of |= dict.fromkeys(others, _LATER)
        rows += [[name, *[None] * 5] for name in others]
    return VerdictColumn(ON_TEXTS, of, (OVER_TEXTS, rows), lines)


def _counted(k: int, n: int) -> str:
    """On how many texts, and from as many on as answers begin at the share: "on 164 of 200, 82 % [76, 87]"."""
    if n < FEW:
        return f"on {k:,} of {n:,}"
    span = share_interval(k, n)
    return f"on {k:,} of {n:,}, {share_text(k / n)} [{share_text(span.low)[:-2]}, {share_text(span.high)[:-2]}]"
