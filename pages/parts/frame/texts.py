"""Sentences about the text that is shown: what the model predicts, what it does not read."""

from collections.abc import Iterable

import streamlit as st

from core.network.features import FIRST, Encoded
from core.results.caveats import Caveat
from core.results.inputs import model_caveats, text_caveats
from core.wording import escaped, number, plain, shortened, unbroken
from pages.parts.face.headline import Badge, Colour
from pages.parts.frame.sidebar import View

# How a prediction is marked, by whether the label agrees; None where no label is known.
_RIGHT: dict[bool | None, tuple[str, Colour]] = {True: (" ✓", "green"), False: (" ✗ wrong", "red"), None: ("", "gray")}


def captions(told: Iterable[str]) -> None:
    """What a reader must know besides, a line of text each."""
    for one in told:
        st.caption(unbroken(plain(one)))


def unread(encoded: Encoded) -> str:
    """What stands after the last word that is read; "" where all are."""
    cut = encoded.truncation
    return f"… {cut.words - cut.words_read:,} more words" if cut.words_read < cut.words else ""


def prediction_badge(label: str, share: float, right: bool | None = None) -> Badge:
    """The predicted class with its probability, and whether it is that of the label, None where none is known."""
    sign, colour = _RIGHT[right]
    about = "Predicted class and its probability, and whether the label agrees."
    return Badge(f"{shortened(label, 24)} {number(share)}{sign}", about, colour)


def view_badges(view: View) -> list[Badge]:
    """The prediction on what is shown, the class that is explained where it is another, and the second text."""
    right = None if view.label_class is None else view.label_class == view.predicted
    drawn = [prediction_badge(view.model.labels[view.predicted], float(view.probabilities[view.predicted]), right)]
    if view.explained != view.predicted:
        drawn.append(Badge(f"explains {shortened(view.class_name, 40)}", "The class whose score is explained."))
    if view.example.second is not None:
        about = "The second text" + (": read, never masked." if view.encoded.maskable == FIRST else ".")
        drawn.append(Badge(f"“{shortened(view.example.second, 60)}”", about))
    return drawn


def view_caveats(view: View) -> tuple[Caveat, ...]:
    """What limits every result on the text that is shown."""
    own = view.browsed is None and view.explainer.reference is not None
    return (*text_caveats(view.encoded, own), *model_caveats(view.model))


def about_text(view: View) -> None:
    """The second text of a pair, the note and the tags of the example, and notes on the model, in small print."""
    if view.example.second is not None and view.encoded.maskable == FIRST:
        st.html(f"<p><b>Second text</b> (read, never masked): {escaped(view.example.second, 400)}</p>")
    facts = [view.example.note, *view.example.tags, *view.model.notes]
    if any(facts):
        st.caption(plain(" · ".join([view.example.id, *filter(None, facts)])))
