"""Attributions: which words does each importance measure call important?"""

import streamlit as st

from core.explanation.row_sentences import agreement_sentence
from core.explanation.rows import WordRow, build_row, value_text
from core.measures.catalogue import measures
from core.wording import escaped, number, plain
from pages.parts.attributions.attributing import Attributing
from pages.parts.attributions.beside import versions_section
from pages.parts.attributions.comparing import show_agreement, show_completeness, show_costs
from pages.parts.attributions.editing import edit_word
from pages.parts.attributions.setting_against import rather_than
from pages.parts.components.tables import table
from pages.parts.frame.links import choose
from pages.parts.frame.sidebar import View, open_page, text_box
from pages.parts.frame.texts import prediction_line, show_notes, unread
from pages.parts.sections.asking import choose_measures, choose_sign
from pages.parts.sections.coloured import coloured_words
from pages.parts.sections.evidence import evidence_section
from pages.parts.sections.saving import save_attributions
from pages.parts.sections.streaming import stream


def attributions() -> None:
    """Draw the page."""
    view = open_page("Attributions")
    answer = st.container()
    _class_buttons(view)
    beside = st.container()
    # Drawn on request only: a box that is filled anew takes a third of the way to the next example.
    if st.toggle("Type or edit a text", key="editing"):
        text_box(view.example.text, view.example.second or "")
    picture, asking, evidence = (st.container() for _ in range(3))
    st.subheader("Do the measures agree?", anchor=False)
    agreement = st.container()
    st.subheader("Settings", anchor=False)
    chosen = choose_measures(
        "Cheap ones are computed at once; dear ones say what they cost and wait to be asked.", baselines=True
    )
    sign = choose_sign(
        f"Signed: does the {view.encoded.unit} support (+) or oppose (−) the class? Absolute: how much it matters, "
        "either way. Measures without the chosen kind show their own."
    )
    with asking:
        computed = {name: _computed(view, name, asking) for name in chosen}
    found = {name: attribution for name, attribution in computed.items() if attribution is not None}
    rows = [build_row(measures()[name], one, sign, view.encoded.premasked) for name, one in found.items()]
    said = agreement_sentence(rows, view.encoded, len(rows) == len(chosen))
    with answer:
        prediction_line(view, said)
    with beside:
        versions_section(view, chosen, sign)
    with picture:
        _words(view, rows)
        save_attributions(view, rows, said)
        show_notes(view)
    with evidence:
        evidence_section(view, rows)
    with agreement:
        show_agreement(rows, view.encoded.unit)
        show_completeness(view, found)
        show_costs(view, chosen, found)


def _class_buttons(view: View) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Explain", width="content")
        for i, label in enumerate(view.model.labels):
            st.button(
                f"{plain(label)} · {number(float(view.probabilities[i]))}",
                key=f"explain-{i}",
                on_click=choose,
                args=("class", label),
                type="primary" if i == view.target else "secondary",
                help="Probability of the class; press to explain it instead.",
            )
        rather_than(view)


def _computed(view: View, name: str, asking):
    """The attribution of a measure; None where it waits to be asked for, or where there is none."""
    work = Attributing(view, name)
    if work.found is not None:
        return work.found
    if work.cost.cheap:
        return work.compute()
    stream([work], asking, name=name)
    return None


@st.fragment
def _words(view: View, rows: list[WordRow]) -> None:
    word = coloured_words(view, rows, unread(view.encoded) if rows else "")
    if word is None or not rows:
        return
    encoded = view.encoded
    st.html(f"<b>{escaped(encoded.features[word].text)}</b>, {encoded.unit} {word + 1} of {encoded.F}")
    table(
        ["measure", "variant", "value", "unit", "place (1 matters most)"],
        [[row.measure, row.variant, value_text(row, word), row.unit, str(row.places[word] or "—")] for row in rows],
    )
    edit_word(view, word)


attributions()
