"""A question to the model of the page, and to those beside it, on one sample."""

from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data.browsing import Index
from core.data.parsed import BadData
from core.evaluation.sampling import SAMPLE, Sample, draw_sample, same_examples
from core.evaluation.studies.behaviour_question import Behaviour
from core.evaluation.studies.check_question import EACH_STEP, ONCE, SEEDS, MaskingCheck
from core.evaluation.studies.check_report import CheckReport, metric_of
from core.evaluation.studies.orders import RANDOM
from core.evaluation.study import Question
from core.explanation.explainer import Explainer
from core.mathematics.search.fewest import EXACT_FEATURES
from core.network.architectures import UnsupportedModel
from core.oracle.erasing import MASK, erasures_of
from core.wording import amount, plain
from pages.parts.frame.links import choose_one, folded, held, linked
from pages.parts.frame.picking import NOT_PREDICTED
from pages.parts.frame.sidebar import DataView, chosen_method
from pages.parts.sections.asking import choose_measures, choose_models, choose_sign, choose_size, other_model
from pages.parts.sections.filtered import choose_which, count_kept, kept_examples, narrows, say_none, told_of
from pages.parts.sections.sides import RECURSIVE, choose_order
from pages.parts.sections.studying import Asking, masked_as_chosen

UNSEARCHED, SEARCHED = "not searched", "searched"
_MEASURES_HELP = "Each masks by its ranking, step by step."
_SEEDS_HELP = "Of each text; measures are compared with their mean, and more of them lessen chance in ACU and RACU."
_ERASURE_HELP = "Of Behaviour: what stands where a word was."
_MAPPED_HELP = "The order in which words were erased."
_SEARCH_HELP = f"Searched: the fewest words that change each prediction, exact up to {EXACT_FEATURES} words."


@dataclass(frozen=True)
class CheckChoice:
    """What is chosen on the page; filtered, size: which texts and how many; beside: models on the same texts; form: of
    the test; mapped: the order of the embedding map.
    """

    filtered: bool
    size: int
    beside: tuple[str, ...]
    check: MaskingCheck
    behaviour: Behaviour
    form: str
    mapped: str


def choose_check(frame: DataView) -> CheckChoice:
    """Draw the choices in a line: measures and models, the others in a popover."""
    model, row = frame.explainer.model, st.container(horizontal=True, vertical_alignment="bottom")
    with row.container(width=430):
        chosen = tuple(choose_measures(_MEASURES_HELP))
    with row.container():
        beside = tuple(choose_models(model))
    with folded(row.popover("More settings", icon=":material/tune:", width="content")):
        filtered = choose_which()
        size = choose_size(count_kept(frame, filtered))
        sign = choose_sign()
        computed = EACH_STEP if choose_order() == RECURSIVE else ONCE
        seeds = choose_one("Random orders", [str(count) for count in SEEDS], str(SEEDS[0]), "seeds", _SEEDS_HELP)
        erasure = linked(st.selectbox, "Erase by", erasures_of(model), MASK, "erasure", help=_ERASURE_HELP)
        offered = [RANDOM, *chosen]
        mapped = linked(st.selectbox, "Map of the embeddings along", offered, RANDOM, "mapped", help=_MAPPED_HELP)
        fewest = choose_one("Fewest words", (UNSEARCHED, SEARCHED), UNSEARCHED, "fewest", _SEARCH_HELP) == SEARCHED
    # Of the sidebar and not of its example, which may be one that cannot be shown.
    unit = held("unit")
    check = MaskingCheck(chosen, sign, unit, computed, int(seeds), metric=metric_of(model))
    behaviour = Behaviour(chosen, sign, unit, erasure, fewest=fewest)
    return CheckChoice(filtered, size, beside, check, behaviour, chosen_method().form, mapped)


def models_on_sample(
    frame: DataView, choice: CheckChoice, question: Question, said: DeltaGenerator, erasure: str = MASK
) -> list[Asking]:
    """The model of the page and those beside it that can be asked; `said` is where it stands why others cannot."""
    data = frame.browsed.index.data
    with said:
        try:
            sample = _sample(frame, choice.size, choice.filtered)
        except BadData as error:
            st.error(plain(str(error)), icon=":material/error:")
            return []
        if sample is None:
            return []
        found = [Asking(frame.explainer, sample, question)]
        for name in choice.beside:
            try:
                other = other_model(name, [one.model for one in found], erasure)
                same = same_examples(sample, data, other.model.labels)
                found.append(Asking(other, same, question.beside(), False))
            except (UnsupportedModel, BadData) as error:
                st.warning(f"{plain(name)} cannot stand beside it: {plain(str(error))}")
        for one in found:
            _ = one.report  # kept from here on
    return found


def _sample(frame: DataView, size: int, filtered: bool) -> Sample | None:
    """The sample; None, after a sentence, where there is no text. BadData as `draw_sample`."""
    browsed, data, kept = frame.browsed, frame.browsed.index.data, kept_examples(frame, filtered)
    if filtered and browsed.query.asks_model and browsed.known is not None and not browsed.known.complete:
        # There may be more.
        st.caption(NOT_PREDICTED)
    if not kept:
        say_none()
        return None
    whole = not narrows(frame, filtered)
    examples = data if whole else replace(data, examples=kept)
    sample = masked_as_chosen(draw_sample(examples, frame.explainer.model.labels, size))
    if whole:
        return sample
    about = f"Asked of {amount(len(sample), 'text')}: {told_of(frame, filtered, kept)}."
    picked = browsed.query.picked_by
    return replace(sample, name=f"{data.name}, filtered", notes=(about, *sample.notes), picked=picked)


def known_check(explainer: Explainer, index: Index, unit: str) -> CheckReport | None:
    """The report that *Model check* opens with; None where a text of its sample is not computed or has no label."""
    try:
        sample = masked_as_chosen(draw_sample(index.data, explainer.model.labels, SAMPLE))
    except BadData:
        return None
    one = Asking(explainer, sample, MaskingCheck(unit=unit, metric=metric_of(explainer.model)))
    return one.report if one.works[0].found.complete else None
