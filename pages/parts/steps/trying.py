"""What if? Words masked by hand, and what the model and the test say of it."""

import numpy as np
import streamlit as st

from core.explanation.recursive import BY_RATIO, planned_counts
from core.explanation.rows import build_row, pieces
from core.measures.catalogue import default_measures, measure
from core.network.scheduler import NonFinite, OutOfMemory
from core.oracle.target import target_key
from core.storage.store import canonical_key
from core.validity.marks import UNAVAILABLE, Gate, decide, decide_path, level_text
from core.validity.mask_tests import MaskTest
from core.wording import plain
from pages.parts.components.player import hand_set, what_if
from pages.parts.frame.sidebar import View
from pages.parts.frame.working import in_turn
from pages.parts.sections.paths import Choice
from pages.parts.steps.stepping import by_hand, frame

_KEPT = "masked by hand"


@st.fragment
def what_if_section(view: View, sides: list[View], choice: Choice) -> None:
    """Draw the words to click, and each model's prediction and p-value for the mask that they make."""
    encoded = view.encoded
    identity = canonical_key(
        "what if",
        1,
        example=encoded.digest,
        models=[side.model.digest for side in sides],
        target=target_key(view.explained),
    )[:16]
    chosen = hand_set(identity, encoded.F)
    mask = _held(encoded) if chosen is None else np.array(chosen) | encoded.premasked
    shades, colours = _shades(sides[0], mask)
    try:
        panes = [_pane(side, mask, shades, colours, choice) for side in sides]
    except (NonFinite, OutOfMemory) as error:
        st.error(plain(str(error)))
        return
    names = [{"name": "masked by hand", "count": f"{int(mask.sum())} of {encoded.F} {encoded.unit}s masked"}]
    what_if(
        frame(
            identity,
            encoded,
            pieces(encoded, view.example.evidence),
            names,
            0,
            panes,
            title=f"{encoded.unit.capitalize()}s masked by hand",
        )
    )
    written = ".".join(map(str, np.flatnonzero(mask & ~encoded.premasked)))
    # A mask belongs to its text: another one begins unmasked.
    st.session_state[_KEPT] = {encoded.digest: written}
    if written:
        st.query_params["masked"] = written
    else:
        st.query_params.pop("masked", None)


def _pane(side: View, mask: np.ndarray, shades: list[float], colours: str, choice: Choice) -> dict:
    tested = side.explainer.tested(side.encoded)
    with in_turn(side.model):
        # One pass for both, where neither is known.
        both = tested.judge(np.stack([mask, side.encoded.premasked]))
        judged, whole = both.one(0), both.one(1)
    tested.flush()
    gate = _gate(side, judged, choice)
    text = level_text(gate) if gate.available else UNAVAILABLE
    return by_hand(side, mask, judged, whole, shades, colours, choice.form, gate, text)


def _gate(side: View, judged: MaskTest, choice: Choice) -> Gate:
    """By the rule of the page, as one of as many tests as a path has, so that a mask that is a step is judged alike."""
    encoded, nothing = side.encoded, np.zeros(0, dtype=np.int64)
    planned = planned_counts(encoded.F, choice.step, int(encoded.premasked.sum()))
    ratios = choice.step == BY_RATIO
    path = decide_path(np.zeros(0), nothing, planned, side.reference, choice.rule, choice.form, ratios)
    floor = None if side.reference is None else side.reference.floor(choice.form)
    p = judged.p.get(choice.form, np.ones(1))
    return decide(p, np.zeros(1, dtype=np.int64), path.steps, floor, choice.rule)


def _shades(side: View, mask: np.ndarray) -> tuple[list[float], str]:
    """Colours of the unmasked text's attribution and what they are, if somebody asked for it before."""
    found = side.explainer.stored(side.encoded, default_measures()[0], side.explained)
    if found is None:
        return [0.0] * len(mask), ""
    row = build_row(measure(found.measure), found, "signed", side.encoded.premasked)
    return [
        0.0 if masked else round(float(shade), 3) for masked, shade in zip(mask, row.shades)
    ], f"coloured by {found.measure} on the unmasked text"


def _held(encoded) -> np.ndarray:
    """The mask that was made of this text before, else, for the first text of a session, the one that its address
    names.
    """
    kept, mask = st.session_state.get(_KEPT), encoded.premasked.copy()
    written = st.query_params.get("masked", "") if kept is None else kept.get(encoded.digest, "")
    # As "3.7.12"; what is no feature of this text is left out.
    for place in written.split(".")[:10_000]:
        if place.isascii() and place.isdigit() and len(place) < 7 and int(place) < len(mask):
            mask[int(place)] = True
    return mask
