"""Draw whether measures do better than chance: their orders among random ones, p, and the verdicts."""

from collections.abc import Iterable, Sequence

import streamlit as st

from core.explanation.standings import ARROWS
from core.figures.verdict_figures import among_random_orders
from core.validity.marks import MEANING, SIGN
from core.verdicts.deciding import Reasons, VerdictReport
from core.verdicts.reasons import find_unstable, known_pairs
from core.verdicts.telling import (
    COLUMNS,
    HANGS,
    as_good_sentence,
    believe_sentence,
    beside_sentence,
    chance_sentence,
    verdict_cells,
    why_sentence,
)
from core.wording import plain, without_markup
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import captions, show_answer
from pages.parts.sections.saving import about_shown
from pages.parts.sections.standings import KnownLimits


def draw_verdicts(view: View, known: Sequence[KnownLimits]) -> None:
    """Each model's verdicts, as far as they are known."""
    reports = verdict_reports(known)
    if not reports:
        st.caption("This begins with the verdicts, which come after the limits.")
        return
    direction = known[0].choice.direction
    st.caption(HANGS)
    for i, (one, report) in enumerate(reports.items()):
        if len(known) > 1:
            st.markdown(f"**{plain(one.side.model.name)}**")
        said = believe_sentence(report, one.side.encoded)
        # Of one model it stands above the tabs already, but for what is known of why measures part.
        show_answer(said if len(known) > 1 else why_sentence(report, one.side.encoded))
        as_good = " ".join(filter(None, (as_good_sentence(report, one.measure) for one in report.verdicts)))
        captions(filter(None, [as_good]))
        if report.reached:
            drawn = among_random_orders(report.null.reached, report.reached, one.score_name, report.null.every)
            name = ["verdicts", view.example.id, one.side.model.name]
            told = without_markup(said)
            draw_figure(drawn, f"verdicts-{i}", told, name, about_shown(view, one.side), "the random orders")
        rows = [verdict_cells(report, found) for found in report.verdicts]
        header = [f"{name} {ARROWS[direction]}" if name == "AOPC" else name for name in COLUMNS]
        # Where nothing is known of why, a column of dashes says nothing.
        width = len(header) - all(row[-1] == "—" for row in rows)
        table(header[:width], [row[:width] for row in rows], most=400)
        captions(
            [chance_sentence(report) + (f" {MEANING}" if any(SIGN in cell for row in rows for cell in row) else "")]
        )


def verdict_reports(known: Iterable[KnownLimits]) -> dict[KnownLimits, VerdictReport]:
    """The verdicts of each side, of those that are known."""
    return {one: report for one in known if (report := verdicts_of(one)) is not None}


def beside_line(known: Sequence[KnownLimits]) -> str:
    """Whom to believe under all models but the first, as far as that is known, HTML; "" for one."""
    reports = verdict_reports(known[1:])
    return " ".join(beside_sentence(report, one.side.model.name) for one, report in reports.items())


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
