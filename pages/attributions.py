"""Attributions: which words count, and which measures to believe?"""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.explanation.explainer import Attribution
from core.explanation.row_scores import parted_sentence
from core.explanation.row_sentences import strongest_sentence
from core.explanation.rows import WordRow, build_row
from core.measures.catalogue import measures
from core.results.verdicts import verdicts_result
from core.wording import number, plain
from pages.parts.attributions.attributing import Attributing
from pages.parts.attributions.believing import choose_believed, say_believed, say_standing
from pages.parts.attributions.beside import versions_section
from pages.parts.attributions.comparing import show_agreement, show_completeness, show_costs, show_sparsity
from pages.parts.attributions.operators import known_erasures, operators_section
from pages.parts.attributions.pairing import Pairings, pairs_section
from pages.parts.attributions.scoring import ScoredRows
from pages.parts.attributions.setting_against import rather_than
from pages.parts.attributions.steadying import stability_section
from pages.parts.attributions.two_models import second_model
from pages.parts.attributions.word_rows import draw_words
from pages.parts.frame.links import choose, folded
from pages.parts.frame.picking import text_box
from pages.parts.frame.sidebar import MOST_BUTTONS, View, open_page
from pages.parts.frame.texts import prediction_line, show_notes
from pages.parts.sections.asking import choose_measures, choose_sign
from pages.parts.sections.evidence import evidence_section, evidence_sentence
from pages.parts.sections.saving import save_attributions
from pages.parts.sections.streaming import stream


def attributions() -> None:
    """Draw the page."""
    view = open_page("Attributions", above=True)
    chosen, sign = _settings(view)
    beside = st.container()
    # Drawn on request only: a box that is filled anew takes a third of the way to the next example.
    with st.container(horizontal=True, vertical_alignment="center"):
        edits, believed = st.toggle("Type or edit a text", key="editing"), choose_believed()
        _class_buttons(view)
    if edits:
        text_box(view.example.text, view.example.second or "")
    picture, asking, evidence, pairs = (st.container() for _ in range(4))
    st.header("Do the measures agree?", anchor=False)
    agreement = st.empty()
    agreement.caption("The measures are being computed …")
    works = [Attributing(view, name) for name in chosen]
    with asking:
        found = _computed(works, asking)
    rows = [build_row(measures()[name], one, sign, view.encoded.premasked) for name, one in found.items()]
    said = strongest_sentence(rows, view.encoded, view.class_name, len(rows) == len(chosen))
    scoring = ScoredRows.of(view, list(found), sign, len(chosen))
    if not believed:
        with view.places.answer:
            prediction_line(view, said, say_standing(scoring))
    with beside:
        other = versions_section(view, chosen, sign)
    with picture:
        _stream_words(view, works, rows, sign, scoring, said if believed else "")
        report, unstable, erased = scoring.report, scoring.unstable, known_erasures(scoring)
        save_attributions(
            view, rows, verdicts_result(report, len(chosen)), other, Pairings(view).report, report, unstable, erased
        )
        if believed:
            operators_section(scoring)
        show_notes(view)
    with evidence:
        evidence_section(view, rows)
    with agreement.container():
        show_agreement(rows, view.encoded.unit)
        with st.expander("How concentrated is each, and what did it cost?"):
            show_sparsity(view, rows)
            show_completeness(view, found)
            show_costs(view, chosen, found)
    with pairs:
        pairs_section(view)
    stability_section(view, list(found), sign)
    second_model(view, chosen, sign)


def _stream_words(
    view: View, works: list[Attributing], rows: list[WordRow], sign: str, scoring: ScoredRows, words: str
) -> None:
    """The coloured words with what is known beside them; words: the end of the answer, where it says which measures to
    believe, else "".
    """
    # Known evidence says more of them than a word.
    found, parted = evidence_sentence(view, rows), parted_sentence(rows, view.encoded, view.class_name)
    seen = found or (parted and f"{parted} Verdicts are on whole orders, not on one {view.encoded.unit}.")
    stream(
        lambda: [*(work for work in works if work.runs), *scoring.works],
        st.container(),
        partial(draw_words, view, works, rows, sign, scoring, bool(words)),
        view.places.answer if words else None,
        partial(say_believed, view, scoring, words, seen),
        name="scores",
        # Where it is the answer, the page is for it.
        aside=not words,
    )


def _settings(view: View) -> tuple[list[str], str]:
    with view.places.measures:
        chosen = choose_measures(
            "Cheap ones are computed at once; dear ones say what they cost and wait to be asked.", baselines=True
        )
    with folded(view.places.example):
        if len(view.model.labels) <= MOST_BUTTONS:
            rather_than(view)
        sign = choose_sign(
            f"Signed: does the {view.encoded.unit} support (+) or oppose (−) the class? Absolute: how much it matters, "
            "either way. Measures without the chosen kind show their own."
        )
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
            help="Probability of the class; press to explain it instead.",
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
    if waiting:
        stream(waiting, place, name="measures", together=True)
    return found


attributions()
