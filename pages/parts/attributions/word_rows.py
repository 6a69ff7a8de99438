"""The coloured words, with what streams in: words as they are answered, and beside each row its badge and its RACU."""

from collections.abc import Callable

import streamlit as st

from core.explanation.rows import WordRow, build_row, value_text
from core.measures.catalogue import measures
from core.wording import escaped
from pages.parts.attributions.attributing import Attributing
from pages.parts.attributions.editing import edit_word
from pages.parts.attributions.scoring import ScoredRows
from pages.parts.components.tables import data_table
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import unread
from pages.parts.frame.working import price_of
from pages.parts.sections.coloured import coloured_words
from pages.parts.sections.streaming import show_progress

PLACE_HELP = "1 is masked first. With a sign, the last opposes the class most; without one, 1 matters most either way."


def draw_words(
    view: View, works: list[Attributing], rows: list[WordRow], sign: str, scoring: ScoredRows, _asks: Callable[[], None]
) -> None:
    """Draw the rows that are there, and of measures under way what is answered so far; of the word that is clicked its
    numbers.
    """
    known = {row.measure: row for row in rows}
    for work in works:
        if work.measure not in known and (one := work.so_far) is not None:
            known[work.measure] = build_row(measures()[work.measure], one, sign, view.encoded.premasked)
    drawn = [known[work.measure] for work in works if work.measure in known]
    word = coloured_words(view, drawn, unread(view.encoded) if drawn else "", scoring.cells)
    show_progress([*works, *scoring.works], "scores")
    _offer_verdicts(scoring)
    if word is not None and drawn:
        _show_word(view, word, drawn)


def _offer_verdicts(scoring: ScoredRows) -> None:
    """A button that asks for the verdicts, where they wait for that; nothing elsewhere."""
    waiting = scoring.offered
    if not waiting:
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        if st.button("Compute verdicts", key="ask-verdicts"):
            for work in waiting:
                work.ask()
            # What looks for it begins with the page.
            st.rerun()
        st.markdown(price_of(waiting))


def _show_word(view: View, word: int, drawn: list[WordRow]) -> None:
    """What each measure says of one word, and a field that edits it."""
    encoded = view.encoded
    st.html(f"<b>{escaped(encoded.features[word].text)}</b>, {encoded.unit} {word + 1} of {encoded.F}")
    data_table(
        ["measure", "variant", "value", "unit", "place"],
        [[row.measure, row.variant, value_text(row, word), row.unit, int(row.places[word]) or None] for row in drawn],
        "clicked-word",
        help={"place": PLACE_HELP},
    )
    edit_word(view, word)
