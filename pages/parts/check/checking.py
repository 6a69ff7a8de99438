"""A question to the model of the page, and to those beside it, on one sample."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data.parsed import BadData
from core.evaluation.questions import Question
from core.evaluation.sampling import draw_sample, same_examples
from core.network.architectures import UnsupportedModel
from core.oracle.erasing import MASK
from core.wording import plain
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.asking import other_model
from pages.parts.sections.studying import Asking


def models_on_sample(
    frame: DataView, question: Question, size: int, beside: Sequence[str], said: DeltaGenerator, erasure: str = MASK
) -> list[Asking]:
    """The model of the page, and of those beside it the ones that can be loaded and erase so; `said` is where it stands
    why others cannot, or why there is no sample, in which case nothing is given.
    """
    data = frame.browsed.index.data
    with said:
        try:
            sample = draw_sample(data, frame.explainer.model.labels, size)
        except BadData as error:
            st.error(plain(str(error)), icon=":material/error:")
            return []
        found = [Asking(frame.explainer, sample, question)]
        for name in beside:
            try:
                other = other_model(name, [one.model for one in found], erasure)
                same = same_examples(sample, data, other.model.labels)
                found.append(Asking(other, same, question.beside(), False))
            except (UnsupportedModel, BadData) as error:
                st.warning(f"{plain(name)} cannot stand beside it: {plain(str(error))}")
    return found
