"""A word edited in place: what is put in its place makes a text of one's own."""

import streamlit as st

from core.explanation.edits import replaced
from core.network.features import NoFeatures
from core.settings import SettingError
from core.wording import plain
from pages.parts.frame.picking import keep_own_text
from pages.parts.frame.sidebar import View

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
        puts = st.form_submit_button("Replace", type="primary")
        takes = st.form_submit_button("Take it out")
    if takes or puts:
        _edit(view, word, "" if takes else new.strip(), takes)


def _edit(view: View, word: int, new: str, takes: bool) -> None:
    second = view.example.second
    try:
        if not new and not takes:
            raise ValueError(f"Type what stands in its place, or take the {view.encoded.unit} out.")
        text = replaced(view.encoded, word, new)
        # What cannot be read is said here, where the text still stands.
        view.explainer.encode(text, second, view.encoded.unit)
        keep_own_text(text, second, (view.example.text, second))
    except (ValueError, NoFeatures, SettingError) as error:
        st.warning(plain(str(error)))
    else:
        st.rerun()
