"""A collection of examples: pins with notes, kept from one start to the next, and what saves them as one page."""

from functools import partial

import streamlit as st

from core.analysis.notes import merge_notes, notes_file, read_notes
from core.data.parsed import BadData
from core.evaluation.predicting import label_text
from core.evaluation.studies.traits import trait_text
from core.reports.collection_page import Card, collection_page
from core.reports.exports import model_identity
from core.storage.library import NOTE_MOST
from core.wording import amount, listed, plain, safe_name, shortened
from pages.parts.components.presses import pressed
from pages.parts.components.tables import table
from pages.parts.examples.finding import trait_facts, trait_name
from pages.parts.frame import data, resources
from pages.parts.frame.links import FILTERED, current, remark
from pages.parts.frame.picking import Browsed, sought_traits
from pages.parts.frame.sidebar import Frame
from pages.parts.sections.saving import save_page, save_plain

_MISSING = "Not in this data: {} ({})."
_CONFLICTS = ["example", "note here", "note in the file"]


def toggle_pin(example: str) -> None:
    """Pin an example of the data that is shown, or take its pin off."""
    index = _shown()
    pins = None if index is None else data.pins_of(index)
    if index is None or pins is None or example not in index.rows:
        return
    digest = index.data.digest
    if example in pins:
        resources.library().unpin(digest, example)
    else:
        _keep(digest, example, "")


def pin_section(frame: Frame, browsed: Browsed) -> None:
    """Draw the pin of the chosen example and its note, and what saves all that are pinned of this data."""
    pins = data.pins_of(browsed.index)
    if frame.example is None or pins is None:
        return
    _keep_note(browsed.index.data.digest, frame.example.id, pins)
    if not browsed.index.rows.keys().isdisjoint(pins):
        _save_pinned(frame, browsed, pins)


def _keep_note(digest: str, example: str, pins: dict[str, str]) -> None:
    with st.form("pin", border=False):
        kept, key, asks = pins.get(example, ""), f"note {digest[:12]} {example}", "What is worth remembering of it"
        note = st.text_input("Note", kept, max_chars=NOTE_MOST, key=key, placeholder=asks)
        if pressed(st.form_submit_button, "Pin ★ with this note", key, icon=":material/keep:"):
            _keep(digest, example, note)
            st.rerun()


def _save_pinned(frame: Frame, browsed: Browsed, pins: dict[str, str]) -> None:
    model, of, asked = None if frame.explainer is None else frame.explainer.model, browsed.index.data, sought_traits()
    origin = {} if model is None else model_identity(model)
    origin |= {"data": of.name, "data_sha256": of.digest} | trait_facts(browsed.judged.traits, asked, frame.explainer)
    drawn = cards(browsed, pins, asked.unit)
    save_page(
        f"Save the {len(drawn):,} pinned (HTML)",
        partial(collection_page, of.name, drawn, origin),
        safe_name(["pinned", of.name, *([model.name] if model else [])], "html"),
        "save-collection",
    )


def cards(browsed: Browsed, pins: dict[str, str], unit: str) -> list[Card]:
    """What the saved page holds of each pinned example of this data, in the order of pinning."""
    index, judged, match = browsed.index, browsed.judged, browsed.match
    return [
        Card(
            index.data.examples[i],
            label_text(judged, match, index.data.examples[i].label),
            judged.labels[judged.predicted[i]] if judged.predicted[i] >= 0 else "",
            float(judged.confidence[i]),
            {1: True, 0: False}.get(int(judged.right[i])),
            note,
            {trait_name(name, unit): trait_text(name, trait, i) for name, trait in judged.traits.items()},
        )
        for example, note in pins.items()
        if (i := index.rows.get(example, -1)) >= 0
    ]


def notes_section(browsed: Browsed) -> None:
    """Draw what saves the notes on this data, and what takes in those of a file."""
    pins, index = data.pins_of(browsed.index), browsed.index
    if pins is None:
        return
    if not index.rows.keys().isdisjoint(pins):
        save_plain("Save notes (JSON)", partial(notes_file, index, pins), ["notes", index.data.name], "save-notes")
    file = st.file_uploader("Import notes", type="json", key="notes-file", max_upload_size=10)
    if file is None:
        return
    try:
        found = merge_notes(index, pins, read_notes(file.getvalue()))
    except BadData as error:
        st.error(plain(str(error)))
        return
    about = {"new": len(found.added), "same": found.same, "in conflict": len(found.conflicts)}
    st.caption(" · ".join(f"{name}: {count:,}" for name, count in about.items()))
    if found.missing:
        st.warning(plain(_MISSING.format(amount(len(found.missing), "text"), listed(map(shortened, found.missing)))))
    if found.conflicts:
        table(_CONFLICTS, [[*one] for one in found.conflicts], NOTE_MOST)
    named = f"Add {amount(len(found.added), 'note')}"
    if found.added and pressed(st.button, named, "import-notes", icon=":material/keep:"):
        for example, note in found.added.items():
            if not _keep(index.data.digest, example, note):
                break
        st.rerun()


def _keep(digest: str, example: str, note: str) -> bool:
    """Pin an example with its note; whether there was room for it."""
    try:
        # Half an emoji can stand in no file.
        resources.library().pin(digest, example, note.encode("utf-8", "replace").decode())
    except ValueError as error:
        remark(str(error))
        return False
    return True


def _shown():
    """The data that is shown, prepared for browsing; None where it is a text of one's own, or is gone."""
    key = st.session_state.get(FILTERED, current("data"))
    return data.index(key) if key in data.data_sets() else None
