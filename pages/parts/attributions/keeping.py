"""An example that stays above those that follow: its coloured words beside those of the chosen one."""

from dataclasses import replace

import streamlit as st

from core.data.examples import Example
from core.explanation.explainer import read_alike
from core.explanation.rows import pieces
from core.measures.catalogue import measures
from core.network.features import NoFeatures
from core.network.scheduler import NonFinite, OutOfMemory
from core.wording import plain
from pages.parts.attributions.attributing import Attributing, row_of
from pages.parts.components.words import words
from pages.parts.face.headline import Badge, draw_badges
from pages.parts.frame.links import choose, forget, held, hold, say_missing
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import unread, view_badges, view_caveats
from pages.parts.frame.working import in_turn
from pages.parts.sections.evidence import show_text

# What the address calls the example that stays.
KEPT = "kept"


def keep_button(view: View) -> None:
    """The button that keeps the chosen example above those that follow, and takes it away again."""
    if view.browsed is None:
        return
    here, icon = held(KEPT) == view.example.id, ":material/push_pin:"
    about = "Stays above the examples that follow"
    act, args = (forget, (KEPT,)) if here else (hold, (KEPT, view.example.id))
    kind = "primary" if here else "secondary"
    st.button("Keep beside", key="keep", on_click=act, args=args, icon=icon, type=kind, help=about)


def kept_section(view: View, chosen: list[str], sign: str) -> None:
    """Draw the example that stays, for the class that is explained, without measures its text alone; nothing where it
    is the chosen one, or none is.
    """
    example = _kept(view)
    if example is None or view.browsed is None or example.id == view.example.id:
        return
    with st.container(border=True, key="kept-example"):
        try:
            with in_turn(view.model):
                encoded = read_alike(view.explainer, example, view.encoded)
                likely = view.explainer.probabilities(encoded)
            _draw(replace(view, encoded=encoded, example=example, probabilities=likely), chosen, sign)
        except (NoFeatures, NonFinite, OutOfMemory) as error:
            st.warning(plain(f"{example.id}: {error}"))
        with st.container(horizontal=True):
            st.button(f"Go to {plain(example.id)}", on_click=choose, args=("example", example.id), key="go-to-kept")
            st.button("Close", key="close-kept", on_click=forget, args=(KEPT,))


def _draw(side: View, chosen: list[str], sign: str) -> None:
    """Its id, its prediction and its words, a row a measure."""
    draw_badges([Badge(side.example.id), *view_badges(side)], view_caveats(side))
    if not chosen:
        show_text(side)
        return
    place, waiting = st.container(), st.container()
    found = [row_of(Attributing(side, name, f" for {side.example.id}"), sign, waiting) for name in chosen]
    with place:
        words(
            [row for row in found if row is not None],
            pieces(side.encoded, side.example.evidence),
            side.class_name,
            {one.name: one.definition for one in measures().values()},
            rest=unread(side.encoded),
            key="kept-words",
            unit=side.encoded.unit,
            brief=True,
        )


def _kept(view: View) -> Example | None:
    """The example that is asked to stay; None where none is, or where it is not in this data."""
    asked = held(KEPT)
    if asked is None or view.browsed is None:
        return None
    index = view.browsed.index
    if asked not in index.rows:
        # Other data was chosen since, unless a link asked for it.
        if f"held {KEPT}" not in st.session_state:
            say_missing("example", [asked])
        forget(KEPT)
        return None
    hold(KEPT, asked)
    st.query_params[KEPT] = asked
    return index.data.examples[index.rows[asked]]
