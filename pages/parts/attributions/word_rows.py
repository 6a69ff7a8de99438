"""The coloured words, with what streams in: words as they are answered, and beside each row its badge and its RACU."""

from collections.abc import Callable

import streamlit as st

from core.attacks.candidates import candidates
from core.explanation.edits import replaced
from core.explanation.rows import WordRow, build_row, pieces, value_text
from core.measures.catalogue import measure, measures
from core.network.features import NoFeatures
from core.settings import SettingError
from core.wording import escaped, plain
from pages.parts.attributions.attributing import Attributing
from pages.parts.attributions.scoring import ScoredRows
from pages.parts.components.presses import pressed
from pages.parts.components.tables import data_table
from pages.parts.components.words import words
from pages.parts.frame.picking import keep_own_text
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import unread
from pages.parts.frame.working import in_turn, price_of
from pages.parts.sections.saving import about_shown, attributions_name
from pages.parts.sections.streaming import show_progress

# Longer ones are texts of their own, for the box.
_LONGEST = 200


def edit_word(view: View, word: int) -> None:
    """Draw a field that puts another word in the place of the one that is clicked, and a button that takes it out."""
    text, unit = view.encoded.features[word].text, view.encoded.unit
    key = f"{view.encoded.digest[:12]}-{word}"
    with st.form(f"edit-{key}", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        new = st.text_input(
            f"Put in the place of this {unit}",
            text if len(text) <= _LONGEST else "",
            max_chars=_LONGEST,
            key=f"edit-to-{key}",
            help="Becomes a text of your own, shown beside this one.",
        )
        put = pressed(st.form_submit_button, "Replace", f"put {key}", type="primary")
        take = pressed(st.form_submit_button, "Take it out", f"take {key}")
    offered = _candidate(view, word, key)
    if put or take or offered:
        _edit(view, word, offered or ("" if take else new.strip()), take)


def _candidate(view: View, word: int, key: str) -> str:
    """Draw words that may stand there, a button each, and give the one that was pressed; "" for none."""
    if view.encoded.unit != "word":
        return ""
    with in_turn(view.model):
        found = candidates(view.model, view.encoded, word)
    if not found.words:
        return ""
    with st.container(horizontal=True, vertical_alignment="center", key="candidates"):
        st.caption(f"By {found.by}:", width="content")
        taken = [one for one in found.words if pressed(st.button, plain(one), f"candidate {key} {one}")]
    return taken[0] if taken else ""


def _edit(view: View, word: int, new: str, takes: bool) -> None:
    try:
        if not new and not takes:
            raise ValueError(f"Type what stands in its place, or take the {view.encoded.unit} out.")
        text, second = replaced(view.encoded, word, new)
        # What cannot be read is said here, where the text still stands.
        view.explainer.encode(text, second, view.encoded.unit, view.encoded.maskable)
        keep_own_text(text, second, (view.example.text, view.example.second))
    except (ValueError, NoFeatures, SettingError) as error:
        st.warning(plain(str(error)))
    else:
        st.rerun()


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
            known[work.measure] = build_row(measure(work.measure), one, sign, view.encoded.premasked)
    drawn = [known[work.measure] for work in works if work.measure in known]
    # Without a measure there is the text itself.
    word = words(
        drawn,
        pieces(view.encoded, view.example.evidence),
        view.class_name,
        {measure.name: measure.definition for measure in measures().values()},
        rest=unread(view.encoded) if drawn else "",
        name=attributions_name(view),
        about=about_shown(view, view),
        unit=view.encoded.unit,
        scores=scoring.cells,
    )
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
        if pressed(st.button, "Compute verdicts", "verdicts"):
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
