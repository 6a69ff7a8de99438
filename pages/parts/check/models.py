"""The model of the page and those beside it, on one sample."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.data.parsed import BadData
from core.evaluation.sampling import Sample, draw_sample, same_examples
from core.network.architectures import UnsupportedModel
from core.oracle.erasing import MASK
from core.wording import plain
from pages.parts.frame.sidebar import Frame
from pages.parts.sections.asking import other_model


@dataclass(frozen=True, eq=False)
class OnSample:
    """One model on a sample: its works, random order first. A kind of it says `work`, the class of these, and `beside`,
    through how many of the orders asked for a model beside the page's own goes.
    """

    works: tuple

    @property
    def explainer(self):
        return self.works[0].explainer

    @property
    def model(self):
        return self.explainer.model

    @property
    def sample(self) -> Sample:
        return self.works[0].sample


def models_on_sample(
    kind, frame: Frame, orders: Sequence, size: int, beside: Sequence[str], said, erasure: str = MASK
) -> list:
    """The model of the page, and of those beside it the ones that can be loaded and erase so; `said` is where it stands
    why others cannot, or why there is no sample, in which case nothing is given.
    """
    data, found = frame.browsed.index.data, []

    def add(explainer, sample: Sample, asked: Sequence) -> None:
        found.append(kind(tuple(kind.work(explainer, sample, order, not found) for order in asked)))

    with said:
        try:
            sample = draw_sample(data, frame.explainer.model.labels, size)
        except BadData as error:
            st.error(plain(str(error)), icon=":material/error:")
            return []
        add(frame.explainer, sample, orders)
        for name in beside:
            try:
                other = other_model(name, [one.model for one in found], erasure)
                add(other, same_examples(sample, data, other.model.labels), orders[: kind.beside])
            except (UnsupportedModel, BadData) as error:
                st.warning(f"{plain(name)} cannot stand beside it: {plain(str(error))}")
    return found
