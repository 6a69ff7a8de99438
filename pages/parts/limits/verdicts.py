"""Draw whether measures do better than random: their orders among random ones, p, and the verdicts."""

from collections.abc import Iterable, Sequence

import streamlit as st

from core.figures.verdict_figures import among_random_orders
from core.results.verdict_tables import HELP, TABLE, verdict_rows
from core.results.verdicts import Status, verdict_status
from core.verdicts.deciding import Reasons, VerdictReport
from core.verdicts.reasons import find_unstable, known_pairs
from core.wording import plain
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import data_table
from pages.parts.face.headline import Badge, Colour
from pages.parts.frame.sidebar import View
from pages.parts.sections.saving import about_shown
from pages.parts.sections.standings import KnownLimits

# The verdicts that stand beside the headline; why one is not tested, or tied, other badges say.
_COLOURS: dict[Status, Colour] = {Status.BETTER: "green", Status.NOT_SIGNIFICANT: "gray", Status.WORSE: "red"}
_BADGE_HELP = "Whether the closest measure beats random orders"


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
            drawn = among_random_orders(report.null.reached, report.reached, one.side.score_name, report.null.every)
            name = ["verdicts", view.example.id, one.side.model.name]
            words = f"AOPC: {report.orders}"
            draw_figure(drawn, f"verdicts-{i}", words, name, about_shown(view, one.side), "the random orders")
        data_table(TABLE, verdict_rows(report), f"verdicts-table-{i}", help=HELP)


def measure_badges(known: KnownLimits, measure: str) -> list[Badge]:
    """The verdict of a measure as a badge; none before it is there, or where it cannot be given."""
    report = verdicts_of(known)
    found = None if report is None else report.of(measure)
    status = None if found is None else verdict_status(found)
    return [Badge(str(status), _BADGE_HELP, _COLOURS[status])] if status in _COLOURS else []


def verdict_reports(known: Iterable[KnownLimits]) -> dict[KnownLimits, VerdictReport]:
    """The verdicts of each side, of those that are known."""
    return {one: report for one in known if (report := verdicts_of(one)) is not None}


def verdicts_of(known: KnownLimits) -> VerdictReport | None:
    """The verdicts of one side with what the store knows of why measures fail; None before they are known."""
    if known.verdicts is None or not known.verdicts.complete:
        return None
    side, names = known.side, known.choice.measures
    about = side.explainer, side.encoded, side.explained
    reasons = Reasons(None, None, find_unstable(*about, names, known.choice.sign), known_pairs(*about))
    return known.report(reasons)
