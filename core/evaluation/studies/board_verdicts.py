"""What a scoreboard says of verdicts by the chance test: a column of them, on one text or over texts, and sentences."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from core.evaluation.findings import FEW
from core.evaluation.studies.verdicts_question import VerdictsReport, judged_sentence
from core.mathematics.statistics import share_interval, significant
from core.measures.catalogue import default_measures
from core.terms import CHANCE
from core.verdicts.chance import draws_needed
from core.verdicts.deciding import Verdict, VerdictReport, Word
from core.verdicts.records import least_p, p_text, verdict_record
from core.verdicts.telling import as_good_text, verdict_text
from core.wording import amount, joined, number, share_text

_ON = "better than chance ↑ (texts)"
ALONE = f"random orders as good (raw {CHANCE} ↓)"

VerdictLines = dict[tuple[int, str], dict]


class VerdictColumn(NamedTuple):
    """Verdicts by another test: the column's header, the cell of each measure, what to know of it, a sentence; lines:
    gives what a file says of them, {(which text, measure): as of `core.verdicts.telling.verdict_record`}; better: as of
    `BoardReport`; alone: of each measure how many random orders do as well and p by itself, a column under ALONE; None
    for no such column; over: what it comes to over texts, where that is told.
    """

    header: str
    of: Mapping[str, str]
    about: str = ""
    lines: Callable[[], VerdictLines] = dict
    better: frozenset[str] | None = None
    alone: Mapping[str, str] | None = None
    over: VerdictsReport | None = None


def verdicts_of_text(report: VerdictReport | None, chosen: Sequence[str] = ()) -> VerdictColumn:
    """The columns of one text: whether each measure's order is better than random ones, and how many of these do as
    well.

    Args:
        report: None where none is judged yet; chosen: the measures that there are, of which fewer may be judged so far.
    """
    verdicts = () if report is None else report.verdicts
    if report is None or not verdicts:
        return VerdictColumn("against chance", {})
    least = least_p(report)
    told = {one.measure: _short(one, least) for one in verdicts}
    without = [name for name in chosen if name not in told]
    about = f"Against chance: judged together are {joined(list(told))}"
    if without:
        about += f"; of {joined(without)} it is not computed yet, which can change the others’ verdicts (Holm)"
    lines = {(0, one.measure): verdict_record(one, len(verdicts)) for one in verdicts}
    by = " by Holm" * (len(told) > 1)
    header = f"against chance, of {len(told)} (chance p{by} ↓)"
    better = frozenset(one.measure for one in verdicts if one.word == Word.BETTER)
    alone = {one.measure: _by_itself(report, one) for one in verdicts}
    return VerdictColumn(header, told, f"{about}.", lambda: lines, None if without else better, alone)


def _by_itself(report: VerdictReport, one: Verdict) -> str:
    """How many random orders do as well as a measure's, of how many, and p by itself: "1 of 120, p = 0.0165"."""
    told = [as_good_text(report, one.measure, named=False), p_text(one.p)]
    return ", ".join(filter(None, told)) if one.told else "—"


def _short(one: Verdict, least: float) -> str:
    """A verdict as a cell under a header that names chance and its p: "✓ better, p = 0.013"."""
    if not one.told:
        return verdict_text(one)
    # No order is better by how far it exceeds every random one.
    lowest = " (least possible by Holm)" if math.isclose(*one.adjusted) and math.isclose(one.adjusted[1], least) else ""
    return f"{one.word.chip.replace(' than chance', '')}, {p_text(one.adjusted)}{lowest}"


def orders_sentence(report: VerdictReport) -> str:
    """Against how many orders verdicts are told, and what few of them allow, a sentence of text; "" where none is."""
    if not any(one.told for one in report.verdicts):
        return ""
    said, least = f"Set against {report.orders}", least_p(report)
    if math.isnan(least) or report.null.every or significant(2 * least):
        return f"{said}."
    many = f" for {report.planned} measures" * (report.planned > 1)
    return f"{said}, which allow no {CHANCE} below {number(least)}{many}: other random orders may turn a verdict."


def elsewhere_sentence(report: VerdictReport) -> str:
    """Why p may be smaller on pages that judge the usual measures alone, and against how many orders, text; "" where
    these are no more.
    """
    usual = len(default_measures())
    if report.planned <= usual:
        return ""
    fewer = draws_needed(usual)
    drawn = report.null.planned == draws_needed(report.planned) != fewer and not report.null.free
    orders = f", against {fewer} random orders, since more measures take more orders," if drawn else ""
    return f"Other pages begin with {usual} measures{orders} and adjust p for these alone: there it may be smaller."


def verdicts_of_texts(
    counts: Mapping[str, tuple[int, int]],
    family: Sequence[str],
    lines: Callable[[], VerdictLines] = dict,
    chosen: Sequence[str] = (),
) -> VerdictColumn:
    """The column over texts: on how many of those that are known each measure is better than chance, from as many on
    as answers begin at with the share and its exact 95 % interval.

    Args:
        counts: as of `core.evaluation.studies.verdicts.better_counts`; family: the measures that were judged together;
            lines: as of `VerdictColumn`; chosen: the measures that there are, of which fewer may be judged.
    """
    there = "Data set, under Measures against chance"
    if not counts:
        return VerdictColumn(_ON, {}, f"On how many texts a measure is better than chance can be asked for on {there}.")
    n = max(of for _, of in counts.values())
    judged = joined(family) + (" together (Holm)" if len(family) > 1 else "")
    about = f"Better than chance: by a test on each of {amount(n, 'text')}, which judges {judged}; more on {there}."
    told = {one: _counted(k, of) for one, (k, of) in counts.items()}
    others = [name for name in chosen if name not in counts]
    if others:
        about += (
            f" {joined(others)} {'is' if len(others) == 1 else 'are'} not judged yet; judged together with "
            f"{'it' if len(others) == 1 else 'them'}, a measure may lose its verdict on a text (Holm over more), so "
            "that these shares may change."
        )
    return VerdictColumn(_ON, told | dict.fromkeys(others, "not judged yet"), about, lines)


def _counted(k: int, n: int) -> str:
    """On how many texts, and from as many on as answers begin at the share: "on 164 of 200, 82 % [76, 87]"."""
    if n < FEW:
        return f"on {k:,} of {n:,}"
    span = share_interval(k, n)
    return f"on {k:,} of {n:,}, {share_text(k / n)} [{share_text(span.low)[:-2]}, {share_text(span.high)[:-2]}]"


def judged_already(found: VerdictsReport | None, sign: str, caution: str) -> str:
    """Whom to believe as far as *Data set* knows, for where there are no figures yet: first in a sentence, then what
    speaks against these texts; plain text, "" of few texts.
    """
    judged = "" if found is None else judged_sentence(found, sign)
    return " ".join(filter(None, [judged, caution])) if judged else ""
