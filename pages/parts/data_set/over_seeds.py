"""What a question comes to over the seeds of a family, behind a tab: means over seeds, and whether they order alike."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import streamlit as st

from core.evaluation.over_seeds import means_over_seeds, ranks_over_seeds
from core.explanation.explainer import Explainer
from core.loading.locating import member_names
from core.network.architectures import UnsupportedModel
from core.results.catalogue import answer_result
from core.texts.over_seeds import facts_over_seeds, seeds_tables
from pages.parts.components.tables import data_table
from pages.parts.frame import resources
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking


def seeds_of_question(asked: Asking) -> Callable[[], None] | None:
    """What draws a question over the seeds of the family that its model is of; None where it is of none."""
    family = asked.model.origin.rpartition("/")[0]
    try:
        members = member_names(family)
    except UnsupportedModel:
        return None
    return partial(_draw, asked, tuple(members)) if asked.model.origin in members else None


def _draw(asked: Asking, members: Sequence[str]) -> None:
    alike = [one for one in _opened(tuple(members)) if one.model.labels == asked.model.labels]
    every = [replace(asked, explainer=one, first=False) for one in alike]

    def draw(asks: Callable[[], None]) -> None:
        known = [(one.question, one.answers, one.report) for one in every if one.answers.complete]
        known = [one for one in known if one[-1] is not None]
        if len(known) > 1:
            results = [result for one in known if (result := answer_result(*one)) is not None]
            means = means_over_seeds([question.records(answers) for question, answers, _ in known])
            tables = seeds_tables([*facts_over_seeds(results), *means], ranks_over_seeds(means))
            for i, (header, rows) in enumerate(tables):
                data_table(header, rows, f"over-seeds-{i}")
        st.caption(f"{len(known)} of {len(members)} seeds")
        asks()

    stream(lambda: list(chain.from_iterable(one.offered for one in every)), (st.container(), draw), name="seeds")


@st.cache_resource(show_spinner=False, max_entries=1)
def _opened(members: tuple[str, ...]) -> list[Explainer]:
    from core.explanation.explainer import with_reference
    from core.loading.loading import load

    chosen = resources.chosen_settings()
    models = [load(name, chosen.device, chosen.precision) for name in members]
    for name, one in zip(members, models):
        one.name = resources.model_title(name)
    return [with_reference(one, resources.store(), resources.library().references) for one in models]
