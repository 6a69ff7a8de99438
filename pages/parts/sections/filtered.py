"""Which of a data set's texts a page is about: all of them, or what the filter on Examples shows."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.data.examples import Example
from core.evaluation.sampling import SAMPLE, draw_examples, once
from core.wording import amount, plain, shortened
from pages.parts.frame.links import choose_one
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.asking import choose_size

WHOLE, FILTERED = "all of the data", "what the filter on Examples shows"


def choose_which(about: str | None = None) -> bool:
    """Draw the choice, which holds on every page; whether it is what the filter shows."""
    return choose_one("Texts", (WHOLE, FILTERED), WHOLE, "texts", about) == FILTERED


def choose_drawn(frame: DataView, first: int = SAMPLE) -> tuple[tuple[Example, ...] | None, str, str]:
    """Draw the choice of texts whose labels nobody asks for; those that are drawn, None, and a sentence, where there
    are none; how a filter picks them, as of `core.evaluation.sampling.Sample`; and which they are, "200 texts drawn at
    random of the 264 texts of reviews". first: how many unasked.
    """
    left, right = st.columns([5, 4])
    with left:
        filtered = choose_which("Labels are not needed: the prediction is explained.")
    with right:
        size = choose_size(count_kept(frame, filtered), "Texts drawn at random", first)
    kept = examples_kept(frame, filtered)
    if not kept:
        return None, "", ""
    drawn = draw_examples(kept, size)
    part = "" if len(drawn) == len(kept) else f"{amount(len(drawn), 'text')} drawn at random of "
    about = f"{part}{told_of(frame, filtered, kept)}"
    return drawn, frame.browsed.query.picked_by if narrows(frame, filtered) else "", about


def examples_kept(frame: DataView, filtered: bool) -> tuple[Example, ...]:
    """The texts, each once, in the order of the file, so that another order of the table draws the same ones; where
    there are none, or may be more, a sentence says so.
    """
    browsed = frame.browsed
    data = browsed.index.data
    if filtered and browsed.query.asks_model and browsed.known is not None and not browsed.known.complete:
        st.caption(
            "The filter asks what the model predicts, which is not known for all texts yet; the page Examples computes "
            "it."
        )
    kept = once([data.examples[i] for i in np.sort(browsed.rows)] if filtered else data.examples)
    if not kept and filtered:
        st.info("The filter on Examples leaves no text. Take a filter away there, or choose all of the data here.")
        st.page_link("pages/examples.py", label="Examples", icon=":material/table_rows:")
    elif not kept:
        st.info(f"{plain(data.name)} holds no examples.")
    return kept


def count_kept(frame: DataView, filtered: bool) -> int:
    """How many texts that is."""
    index = frame.browsed.index
    return len(once([index.data.examples[i] for i in frame.browsed.rows])) if filtered else index.different


def narrows(frame: DataView, filtered: bool) -> bool:
    """Whether the texts are fewer than all for a filter."""
    return filtered and frame.browsed.query.narrows


def told_of(frame: DataView, filtered: bool, kept: Sequence[Example]) -> str:
    """Which texts these are, in words: "the 34 that the filter leaves of 216 texts of reviews (tag negation)"."""
    index, query = frame.browsed.index, frame.browsed.query
    data = index.data
    of = f"{amount(len(data), 'text')} of {data.name}"
    if index.different < len(data):
        of = f"{amount(index.different, 'different text')} in the {len(data):,} examples of {data.name}"
    if narrows(frame, filtered):
        return f"the {len(kept):,} that the filter leaves of {of} ({shortened(query.in_words, 200)})"
    return f"the {of}" + ("; no filter is set on Examples" if filtered else "")
