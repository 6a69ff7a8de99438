"""Sentences about the text that is shown: what the model predicts, what it does not read."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.explanation.row_sentences import unknown_sentence
from core.network.features import Encoded
from core.oracle.target import logit_of
from core.results.caveats import Caveat
from core.results.inputs import text_caveats
from core.wording import escaped, number, plain, shortened, unbroken
from pages.parts.face.headline import Badge, Colour
from pages.parts.frame.links import just_opened
from pages.parts.frame.sidebar import View
from pages.parts.frame.tour import touring

# What a text of one's own has besides: nobody chose it among texts like the reference's.
_OWN = (
    "A text of your own: the test finds inputs unlike those of the model’s reference, not every strange text. “Not "
    "rejected” is no proof that the model knows it."
)


def show_answer(*said: str, after: str = "", seen: str = "") -> None:
    """The page's answer, a paragraph each, and what stands `after` it; HTML of ours, in which all text is escaped. On a
    tour, whose line says what it is about, all but its first paragraph, and what has to be `seen`, is folded, so that
    the picture is in view.
    """
    style = " style='font-size:1.12rem'" * (not touring())
    first, *more = *(f"<p{style}>{one}</p>" for one in said if one), ""
    rest = "".join(more) + after
    if first and rest and touring():
        rest = folded_text("More on this answer", rest)
    if first or rest or seen:
        st.html(unbroken(first + rest + seen))


def folded_text(name: str, inside: str) -> str:
    """What is shown once its name, text, is opened; inside: HTML of ours."""
    return f"<details><summary style='cursor:pointer'>{escaped(name, 200)}</summary>{inside}</details>"


@contextmanager
def coming(said: DeltaGenerator, stage: DeltaGenerator, answer: str = "") -> Generator[None]:
    """Say in the answer's place that it is coming, for seconds in which nothing else would stand there; on a page that
    has just been opened the picture's place is kept free, so that the answer is no settings away. answer: what it will
    be, a sentence; HTML of ours.
    """
    place, told = stage.empty(), said.empty()
    if answer:
        told.html(f"<p style='font-size:1.12rem'>{answer}</p>")
    if just_opened():
        place.html("<div style='height:60vh'></div>")
    with said, st.spinner("Computing: the model and what is known of these texts are read first …"):
        yield
    told.empty()
    place.empty()


def prediction_line(view: View, rest: str, *more: str, after: str = "", first: str = "", named: bool = False) -> None:
    """The page's answer beside what the model predicts, as in `show_answer`, and the second text of a pair, without
    which it says little; first: an answer that says enough without the prediction, which follows it then; named:
    whether another model stands beside it, so that "the model" would not tell which.
    """
    share = number(float(view.probabilities[view.predicted]))
    chosen = "" if view.explained == view.predicted else f" Explained here: <b>{escaped(view.class_name)}</b>."
    if view.than is not None:
        apart = number(float(logit_of(view.explainer.logits(view.encoded), view.explained)))
        chosen += f" The score is the logit of the one less that of the other: {apart} here."
    which = f"<b>{escaped(view.model.name)}</b>" if named else "The model"
    predicts = f"{which} predicts <b>{escaped(view.model.labels[view.predicted])}</b> (probability {share})."
    predicted = f"{predicts}{_verdict(view)}{chosen} {rest}".rstrip()
    if first:
        show_answer(first, *more, after=f"<p>{predicted}</p>{after}", seen=second_text(view))
    else:
        show_answer(predicted, *more, after=after, seen=second_text(view))


def captions(told: Iterable[str]) -> None:
    """What a reader must know besides, a line of text each."""
    for one in told:
        st.caption(unbroken(plain(one)))


def second_text(view: View) -> str:
    """The second text of a pair as a paragraph of HTML; "" where there is none."""
    second = view.example.second
    if second is None:
        return ""
    asks = second.rstrip().endswith(("?", "？", "؟"))
    name = (
        "<b>Question</b> (the second text: read, never masked)" if asks else "<b>Second text</b> (read, never masked)"
    )
    return f"<p>{name}: {_long(second)}</p>"


def show_notes(view: View) -> None:
    """What a reader must know of the model and of this text."""
    captions(view.model.notes)
    show_text_notes(view)


def show_text_notes(view: View) -> None:
    """What a reader must know of this text: truncation, a single feature, its note and tags."""
    encoded = view.encoded
    if encoded.truncation.cut:
        st.warning(truncation(view))
    if encoded.F == 1:
        st.info("This text has a single feature, so there is no ranking to judge.")
    own = view.browsed is None and view.explainer.reference is not None
    captions(filter(None, [unknown_sentence(encoded), _OWN * own]))
    about = [f"Note: {view.example.note}"] if view.example.note else []
    about += [f"Tags: {', '.join(view.example.tags)}."] if view.example.tags else []
    if about:
        st.html(f"<p style='opacity:.75'>{escaped(view.example.id)} · {' '.join(_long(a) for a in about)}</p>")


def unread(encoded: Encoded) -> str:
    """What stands after the last word that is read; "" where all are."""
    cut = encoded.truncation
    return f"… {cut.words - cut.words_read:,} more words" if cut.words_read < cut.words else ""


# How a prediction is marked, by whether the label agrees; None where no label is known.
_RIGHT: dict[bool | None, tuple[str, Colour]] = {True: (" ✓", "green"), False: (" ✗ wrong", "red"), None: ("", "gray")}


def prediction_badge(label: str, share: float, right: bool | None = None) -> Badge:
    """The predicted class with its probability, and whether it is that of the label, None where none is known."""
    signs: dict[bool | None, tuple[str, Colour]] = {
        True: (" ✓", "green"),
        False: (" ✗ wrong", "red"),
        None: ("", "gray"),
    }
    sign, colour = signs[right]
    about = "Predicted class and its probability, and whether the label agrees."
    return Badge(f"{shortened(label, 24)} {number(share)}{sign}", about, colour)


def view_badges(view: View) -> list[Badge]:
    """The prediction on what is shown, and the class that is explained where it is another."""
    right = None if view.label_class is None else view.label_class == view.predicted
    drawn = [prediction_badge(view.model.labels[view.predicted], float(view.probabilities[view.predicted]), right)]
    if view.explained != view.predicted:
        drawn.append(Badge(f"explains {shortened(view.class_name, 40)}", "The class whose score is explained."))
    return drawn


def view_caveats(view: View) -> tuple[Caveat, ...]:
    """What limits every result on the text that is shown."""
    own = view.browsed is None and view.explainer.reference is not None
    return text_caveats(view.encoded, own)


def about_text(view: View) -> None:
    """The second text of a pair, the note and the tags of the example, and notes on the model, in small print."""
    if view.example.second is not None:
        st.html(second_text(view))
    facts = [view.example.note, *view.example.tags, *view.model.notes]
    if any(facts):
        st.caption(plain(" · ".join([view.example.id, *filter(None, facts)])))


def truncation(view: View) -> str:
    """What the model does not read of a text that is cut, in a sentence; "" where it reads all."""
    cut = view.encoded.truncation
    beyond = (
        f" {cut.words - cut.words_read:,} of {cut.words:,} words are not read." if cut.words_read < cut.words else ""
    )
    beyond += " Of the last word that it reads it reads the beginning only." if cut.word_cut else ""
    return (
        f"The model reads {view.model.max_tokens:,} tokens at "
        f"most.{beyond}{' The second text is cut.' if cut.second_cut else ''}"
        if cut.cut
        else ""
    )


def _verdict(view: View) -> str:
    if view.label_class is None:
        return ""
    word = "right" if view.label_class == view.predicted else "<b>wrong</b>"
    return f" That is {word}: the label is {escaped(view.model.labels[view.label_class])}."


def _long(text: str) -> str:
    return escaped(text, 400)
