"""Which of a data set's texts a page is about: all of them, or what the filter on Examples shows."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.data.examples import Example
from core.evaluation.sampling import SAMPLE, draw_examples, once
from core.wording import amount, shortened
from pages.parts.frame.links import choose_one
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.asking import choose_size

_NO_TEXT = "No text is left. Remove a filter on Examples, or choose all under Settings."
WHOLE, FILTERED = "all of the data", "what the filter on Examples shows"


def choose_which(about: str | None = None) -> bool:
    """Draw the choice, which holds on every page; whether it is what the filter shows."""
    return choose_one("Texts", (WHOLE, FILTERED), WHOLE, "texts", about) == FILTERED


def choose_texts(frame: DataView, first: int = SAMPLE) -> tuple[bool, int]:
    """Draw the choice of unlabelled texts: whether they are those of the filter, and how many are drawn."""
    filtered = choose_which("Labels are not needed: the prediction is explained.")
    return filtered, choose_size(count_kept(frame, filtered), "Texts drawn at random", first)


def drawn_texts(frame: DataView, filtered: bool, size: int) -> tuple[tuple[Example, ...], str, str]:
    """The texts that are drawn, how a filter picks them, and which they are: "200 texts drawn at random of …"."""
    kept = kept_examples(frame, filtered)
    if not kept:
        return (), "", ""
    drawn, narrowed = draw_examples(kept, size), narrows(frame, filtered)
    about = told_of(frame, filtered, kept)
    if len(drawn) < len(kept):
        about = f"{amount(len(drawn), 'text')} drawn at random of {about}"
    return drawn, frame.browsed.query.picked_by if narrowed else "", about


def kept_examples(frame: DataView, filtered: bool) -> tuple[Example, ...]:
    """The texts, each once, in the order of the file, so that another order of the table draws the same ones."""
    data, rows = frame.browsed.index.data, np.sort(frame.browsed.rows)
    return once([data.examples[i] for i in rows] if filtered else data.examples)


def say_none() -> None:
    """Say that there are no texts, and where the filter is."""
    st.info(_NO_TEXT)
    st.page_link("pages/examples.py", label="Examples", icon=":material/table_rows:")


def count_kept(frame: DataView, filtered: bool) -> int:
    """How many texts that is."""
    return len(kept_examples(frame, True)) if filtered else frame.browsed.index.different


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
    return f"the {of}"
