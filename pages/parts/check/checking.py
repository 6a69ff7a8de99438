"""A question to the model of the page, and to those beside it, on one sample."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data.parsed import BadData
from core.evaluation.questions import Question
from core.evaluation.sampling import Sample, draw_sample, same_examples
from core.network.architectures import UnsupportedModel
from core.oracle.erasing import MASK
from core.wording import amount, plain
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.asking import choose_size, other_model
from pages.parts.sections.filtered import choose_which, count_kept, examples_kept, narrows, told_of
from pages.parts.sections.studying import Asking


def models_on_sample(
    frame: DataView,
    question: Question,
    size: int,
    filtered: bool,
    beside: Sequence[str],
    said: DeltaGenerator,
    erasure: str = MASK,
) -> list[Asking]:
    """The model of the page, and of those beside it the ones that can be loaded and erase so; `said` is where it stands
    why others cannot, or why there is no sample, in which case nothing is given. filtered: whether it is drawn of what
    the filter on Examples shows.
    """
    data = frame.browsed.index.data
    with said:
        try:
            sample = _sample(frame, size, filtered)
        except BadData as error:
            st.error(plain(str(error)), icon=":material/error:")
            return []
        if sample is None:
            return []
        found = [Asking(frame.explainer, sample, question)]
        for name in beside:
            try:
                other = other_model(name, [one.model for one in found], erasure)
                same = same_examples(sample, data, other.model.labels)
                found.append(Asking(other, same, question.beside(), False))
            except (UnsupportedModel, BadData) as error:
                st.warning(f"{plain(name)} cannot stand beside it: {plain(str(error))}")
        for one in found:
            _ = one.report  # kept from here on
    return found


def choose_texts(frame: DataView) -> tuple[bool, int]:
    """Draw the choice of texts, in a row of its own: in a third of one its words are cut. Whether they are what the
    filter on Examples shows, and how many are drawn.
    """
    left, right = st.columns([5, 4])
    with left:
        filtered = choose_which()
    with right:
        return filtered, choose_size(count_kept(frame, filtered))


def _sample(frame: DataView, size: int, filtered: bool) -> Sample | None:
    """The sample; None, after a sentence, where there is no text. BadData as `draw_sample`."""
    data, kept = frame.browsed.index.data, examples_kept(frame, filtered)
    if not kept:
        return None
    whole = not narrows(frame, filtered)
    sample = draw_sample(data if whole else replace(data, examples=kept), frame.explainer.model.labels, size)
    if whole:
        return sample
    part = "" if len(sample) == len(kept) else f"{amount(len(sample), 'text')} drawn at random of "
    about = f"Asked of {part}{told_of(frame, filtered, kept)}."
    picked = frame.browsed.query.picked_by
    return replace(sample, name=f"{data.name}, filtered", notes=(about, *sample.notes), picked=picked)
