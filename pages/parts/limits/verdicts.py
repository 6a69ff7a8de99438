"""Draw whether measures do better than random: their orders among random ones, p, and the verdicts."""

from collections.abc import Iterable, Sequence

import streamlit as st

from core.explanation.standings import ARROWS
from core.figures.verdict_figures import among_random_orders
from core.verdicts.deciding import Reasons, VerdictReport
from core.verdicts.reasons import find_unstable, known_pairs
from core.verdicts.telling import p_text
from core.wording import plain
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import data_table
from pages.parts.face.headline import Badge, Colour
from pages.parts.frame.sidebar import View
from pages.parts.sections.saving import about_shown
from pages.parts.sections.standings import KnownLimits

# A verdict as a badge, by the name of its word.
_BADGES: dict[str, tuple[str, Colour]] = {
    "BETTER": ("✓ better than random", "green"),
    "NO_BETTER": ("not significant", "gray"),
    "WORSE": ("✗ worse than random", "red"),
}
_BADGE_HELP = "Whether the measure that comes closest scores better than random orders of the same words."


def draw_verdicts(view: View, known: Sequence[KnownLimits]) -> None:
    """Each model's verdicts, as far as they are known."""
    reports = verdict_reports(known)
    if not reports:
        st.skeleton(240)
        return
    for i, (one, report) in enumerate(reports.items()):
        if len(known) > 1:
            st.markdown(f"**{plain(one.side.model.name)}**")
        if report.reached:
            drawn = among_random_orders(report.null.reached, report.reached, one.score_name, report.null.every)
            name = ["verdicts", view.example.id, one.side.model.name]
            words = f"AOPC: {report.orders}"
            draw_figure(drawn, f"verdicts-{i}", words, name, about_shown(view, one.side), "the random orders")
        data_table(*verdict_table(report), f"verdicts-table-{i}")


def verdict_table(report: VerdictReport) -> tuple[list[str], list[list]]:
    """Header and rows of a model's verdicts."""
    header = ["measure", "verdict", "p ↓", "adjusted p ↓", f"AOPC {ARROWS[report.direction]}"]
    rows = [
        [one.measure, str(one.word), p_text(one.p), p_text(one.adjusted), report.reached.get(one.measure)]
        for one in report.verdicts
    ]
    return header, rows


def verdict_badge(known: KnownLimits, measure: str) -> list[Badge]:
    """The verdict of a measure as a badge; none before it is there, or where it cannot be given."""
    report = verdicts_of(known)
    found = None if report is None else report.of(measure)
    if found is None or found.word.name not in _BADGES:
        return []
    text, colour = _BADGES[found.word.name]
    return [Badge(text, _BADGE_HELP, colour)]


def verdict_reports(known: Iterable[KnownLimits]) -> dict[KnownLimits, VerdictReport]:
    """The verdicts of each side, of those that are known."""
    return {one: report for one in known if (report := verdicts_of(one)) is not None}


def verdicts_of(known: KnownLimits) -> VerdictReport | None:
    """The verdicts of one side, None before they are known; with the measures that draw again, and the pairs of words,
    where the store has them.
    """
    if known.verdicts is None or not known.verdicts.complete:
        return None
    side, names = known.side, known.choice.measures
    about = side.explainer, side.encoded, side.explained
    reasons = Reasons(None, None, find_unstable(*about, names, known.choice.sign), known_pairs(*about))
    return known.report(reasons)
