"""Attributions: which words matter, and which explanation is faithful?"""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.explanation.explainer import Attribution
from core.explanation.rows import WordRow, build_row
from core.figures.verdicts_figures import among_random_orders
from core.measures.catalogue import measure
from core.results.verdicts import HELP
from core.texts.rendering import headline
from core.verdicts.deciding import VerdictReport
from core.wording import number, plain
from pages.parts.attributions.attributing import Attributing
from pages.parts.attributions.beside import second_model, versions_section
from pages.parts.attributions.comparing import show_agreement, show_completeness, show_costs, show_sparsity
from pages.parts.attributions.keeping import keep_button, kept_section
from pages.parts.attributions.operators import known_erasures, operators_section
from pages.parts.attributions.pairing import pairs_report, pairs_section, rather_than
from pages.parts.attributions.scoring import ALL_NUMBERS, ScoredRows
from pages.parts.attributions.seeding import draw_seeds
from pages.parts.attributions.smallest import sets_report, smallest_section
from pages.parts.attributions.steadying import stability_section
from pages.parts.attributions.word_rows import draw_words
from pages.parts.components.tables import data_table
from pages.parts.face.body import draw_body
from pages.parts.face.headline import draw_headline
from pages.parts.frame.links import choose, folded, held
from pages.parts.frame.picking import text_box
from pages.parts.frame.sidebar import MOST_BUTTONS, View, open_page
from pages.parts.frame.texts import about_text, view_badges, view_caveats
from pages.parts.sections.asking import choose_measures, choose_sign
from pages.parts.sections.evidence import evidence_section
from pages.parts.sections.reporting import report_of_view
from pages.parts.sections.saving import draw_on_text, save_attributions
from pages.parts.sections.sides import ALONE, side_caveats
from pages.parts.sections.streaming import start, stream

VALUES_HELP = "Signed: support or oppose the class. Absolute: either way."
CLASS_HELP = "Probability of the class; press to explain it instead."
TERMS = (
    "importance measure",
    "supports, opposes",
    "verdict",
    "chance p",
    "random order",
    "RACU",
    "AOPC",
    "per unit of input",
    "MaSF p",
    "rejected (out-of-distribution)",
)
_TABS = "parts-of-attributions"


def attributions() -> None:
    """Draw the page."""
    view = open_page("Attributions", above=True)
    chosen, sign = _settings(view)
    with st.container(horizontal=True, vertical_alignment="center"):
        edits = st.toggle("Type or edit a text", key="editing")
        _class_buttons(view)
        keep_button(view)
    if edits:
        text_box(view.example.text, view.example.second or "")
    beside, picture, sets, asking = (st.container() for _ in range(4))
    works = [Attributing(view, name) for name in chosen]
    with asking:
        found = _computed(works, asking)
    rows = [build_row(measure(name), one, sign, view.encoded.premasked) for name, one in found.items()]
    scoring = ScoredRows.of(view, list(found), sign, len(chosen))
    with beside:
        other = versions_section(view, chosen, sign)
        kept_section(view, chosen, sign)

    # Before what follows it: what is known already is there by then.
    _stream_words(view, works, rows, sign, scoring, picture)
    with sets:
        smallest_section(view)
    with picture:
        known = pairs_report(view), scoring.report, scoring.unstable, known_erasures(scoring)
        save_attributions(view, rows, scoring.result, other, *known, sets=sets_report(view))
    _open_linked_tab()
    tabs = _tabs(view, chosen, sign, rows, found, scoring)
    draw_body(scoring.result, lambda: None, tabs, _TABS, terms=TERMS)
    about_text(view)


def _stream_words(
    view: View, works: list[Attributing], rows: list[WordRow], sign: str, scoring: ScoredRows, place: DeltaGenerator
) -> None:
    """The headline and the coloured words, with what is known beside them."""
    stream(
        lambda: [*(work for work in works if work.runs), *scoring.works],
        (place, partial(draw_words, view, works, rows, sign, scoring)),
        (view.places.answer, partial(_say, view, works, scoring)),
        name="scores",
    )


def _say(view: View, works: list[Attributing], scoring: ScoredRows) -> None:
    if not works:
        st.info("Choose a measure to see which words it calls important.")
        return
    more = *view_caveats(view), *side_caveats([view], view)
    draw_headline(scoring.result, *view_badges(view), more=more)


def _tabs(
    view: View, chosen: list[str], sign: str, rows: list[WordRow], found: dict[str, Attribution], scoring: ScoredRows
) -> dict[str, Callable[[], None]]:
    """What stands behind the picture."""
    report = scoring.report
    tabs: dict[str, Callable[[], None]] = {"Verdicts": partial(_verdicts_tab, view, scoring, report)}
    if view.example.evidence:
        tabs["Evidence"] = partial(evidence_section, view, rows)
    tabs |= {
        "Agreement": partial(_agreement_tab, view, chosen, rows, found),
        "Pairs": partial(pairs_section, view),
        "Stability": partial(_stability_tab, view, list(found), sign),
        "Two models": partial(second_model, view, chosen, sign),
    }
    if report is not None:
        tabs["Erasures"] = partial(operators_section, scoring)
    if rows:
        tabs["Report"] = partial(report_of_view, view, [row.measure for row in rows], sign)
    return tabs


def _stability_tab(view: View, names: list[str], sign: str) -> None:
    """By what should not matter, and by seeds of the training."""
    stability_section(view, names, sign)
    draw_seeds(view, names, sign)


def _verdicts_tab(view: View, scoring: ScoredRows, report: VerdictReport | None) -> None:
    """Every number of the verdicts, and each measure's order among the random ones; their shape before they are
    there.
    """
    if report is None:
        st.skeleton(160)
        return
    data_table(ALL_NUMBERS, scoring.rows(report), "verdicts-table", help=HELP)
    if scoring.limits is None or not report.reached:
        return
    null, kind = report.null, scoring.limits.side.score_name
    drawn = among_random_orders(null.reached, report.reached, kind, null.every)
    draw_on_text(view, view, drawn, "verdicts", headline(scoring.result), "verdicts", "the random orders")


def _agreement_tab(view: View, chosen: list[str], rows: list[WordRow], found: dict[str, Attribution]) -> None:
    show_agreement(rows, view.encoded.unit)
    show_sparsity(view, rows)
    show_completeness(view, found)
    show_costs(view, chosen, found)


def _open_linked_tab() -> None:
    """A link to how stable rankings are, or with a second model, opens that tab, once."""
    if held("unfolded") in ("stability", "seeds"):
        st.session_state.setdefault(_TABS, "Stability")
    elif held("beside") not in (None, ALONE):
        st.session_state.setdefault(_TABS, "Two models")


def _settings(view: View) -> tuple[list[str], str]:
    with view.places.measures:
        chosen = choose_measures(baselines=True)
    with folded(view.places.example):
        if len(view.model.labels) <= MOST_BUTTONS:
            rather_than(view)
        sign = choose_sign(VALUES_HELP)
    return chosen, sign


def _class_buttons(view: View) -> None:
    """A button for each class, to explain it. Many would push the words down, and stand in the select box alone."""
    if len(view.model.labels) > MOST_BUTTONS:
        return
    for i, label in enumerate(view.model.labels):
        st.button(
            f"{plain(label)} · {number(float(view.probabilities[i]))}",
            key=f"explain-{i}",
            on_click=choose,
            args=("class", label),
            type="primary" if i == view.target else "secondary",
            help=CLASS_HELP,
        )


def _computed(works: list[Attributing], place: DeltaGenerator) -> dict[str, Attribution]:
    """What is there, computed now where that is cheap; of the rest each streams, or waits to be asked for."""
    found, waiting = {}, []
    for work in works:
        one = work.found
        if one is None and not work.prompt:
            waiting.append(work)
        elif (one := one or work.compute()) is not None:
            found[work.measure] = one
    start(waiting)
    # How far the others are stands below the words, with what goes on besides.
    offered = [work for work in waiting if not work.runs]
    if offered:
        with place:
            stream(offered, name="measures", together=True)
    return found


attributions()
