"""Behaviour under masking, a part of Model check: when predictions change, how far embeddings drift, and a map of
them.
"""

import streamlit as st

from core.evaluation.findings import FEW
from core.evaluation.studies.behaviour import ORDERS
from core.evaluation.studies.behaviour_question import Behaviour
from core.evaluation.studies.behaviour_report import BehaviourReport
from core.evaluation.studies.behaviour_sentences import (
    HEADER,
    REJECTED_COUNT,
    behaviour_answer,
    behaviour_in_words,
    behaviour_json,
    behaviour_rows,
    behaviour_table,
)
from core.evaluation.studies.orders import RANDOM
from core.figures.behaviour_figures import behaviour_panels
from core.mathematics.search.fewest import EXACT_FEATURES
from core.oracle.erasing import MASK, erasures_of
from core.wording import escaped, none_of
from pages.parts.check.checking import choose_texts, models_on_sample
from pages.parts.check.embedding_map import map_section, maps_of
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.frame.links import choose_one, held, linked
from pages.parts.frame.sidebar import DataView
from pages.parts.frame.texts import captions, coming, show_answer
from pages.parts.sections.asking import choose_measures, choose_models, choose_sign
from pages.parts.sections.saving import about_models, save_report
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking, Growing

UNSEARCHED, SEARCHED = "not searched", "searched"
_SEARCH_HELP = (
    f"Searched: the fewest words whose erasing changes each prediction, in any order, to normalise fidelity by. Exact "
    f"up to {EXACT_FEATURES} words, by beam search above; dear where predictions seldom change."
)


def behaviour(frame: DataView) -> None:
    """Draw this part of the page."""
    said, stage, below = (st.container() for _ in range(3))
    with coming(said, stage):
        with below:
            st.header("Settings", anchor=False)
            question, size, filtered, beside, mapped = _settings(frame)
        behaved = models_on_sample(frame, question, size, filtered, beside, said, question.erasure)
    if behaved:
        # Of many texts the first come unasked.
        grown = [Growing.of(one) for one in behaved]
        stream(
            lambda: [*(work for one in grown for work in one.works), *maps_of(_shown(grown), mapped)],
            stage,
            lambda asks: _draw(frame, _shown(grown), mapped, asks),
            said,
            lambda: _say(_shown(grown), grown[0].whole),
            every=1.0,
            together=True,
        )


def _shown(grown: list[Growing]) -> list[Asking]:
    """What answers now, of all models on as many texts."""
    begins = all(one.shown is one.first for one in grown)
    return [one.shown if begins or one.first is None else one.whole for one in grown]


def _settings(frame: DataView) -> tuple[Behaviour, int, bool, list[str], str]:
    model = frame.explainer.model
    filtered, size = choose_texts(frame)
    left, right = st.columns(2)
    with left:
        beside = choose_models(model, "Erased on the same examples, in random order and in that of the first measure")
    with right:
        chosen = choose_measures(
            "Each ranks the words of the unmasked text once, for the class predicted; they are erased in that order, "
            "on every example."
        )
    with left:
        erasure = linked(
            st.selectbox,
            "Erase by",
            erasures_of(model),
            MASK,
            "erasure",
            help="What stands where a word was: the mask token, nothing (removal), the zero embedding, or the unknown "
            "token, as RobustInf has it.",
        )
        sign = choose_sign()
    with right:
        mapped = linked(
            st.selectbox,
            "Map of the embeddings along",
            [RANDOM, *chosen],
            RANDOM,
            "mapped",
            help="In which order words were erased in the texts whose embeddings are shown on the map.",
        )
        searched = choose_one("Fewest words", (UNSEARCHED, SEARCHED), UNSEARCHED, "fewest", _SEARCH_HELP)
    # Of the sidebar and not of its example, which may be one that cannot be shown.
    question = Behaviour(tuple(chosen), sign, held("unit"), erasure, fewest=searched == SEARCHED)
    return question, size, filtered, beside, mapped


def _say(behaved: list[Asking], whole: Asking) -> None:
    first, reports = behaved[0].works[0], [one.report for one in behaved]
    if reports[0] is not None:
        said = "<br>".join(
            escaped(sentence, 600) for sentence in behaviour_answer([one for one in reports if one is not None])
        )
    elif first.found.complete:
        problems = list(dict.fromkeys(first.found.problems.values()))
        said = f"{none_of(len(first.sample), 'example')} of the sample could be erased. " + " ".join(
            escaped(problem, 300) for problem in problems[:3]
        )
    elif first.runs:
        said = "The first examples are being erased in random order."
    else:
        said = (
            "Asked below, this says after which share of the words, erased in each measure’s order, predictions change "
            "(fidelity ↑), whether random orders change them as soon, and how far the texts’ embeddings move."
        )
    show_answer(said)
    about = () if reports[0] is None else (REJECTED_COUNT, *reports[0].notes)
    few, many = len(behaved[0].sample), len(whole.sample)
    begins = f"Of the first {few:,} of {many:,} texts drawn; all of them can be asked for below." if few < many else ""
    captions([*filter(None, [begins]), *about, *first.sample.notes])


def _draw(frame: DataView, behaved: list[Asking], measure: str, asks) -> None:
    reports = [(one.model, one.report) for one in behaved]
    found = [report for _, report in reports if report is not None]
    if not found:
        asks()
        return
    name = ["behaviour", *(one.model for one in found)]
    models = [model for model, report in reports if report is not None]
    # A curve of so few texts would tell what the answer does not.
    if not found[0].tally.coming or max((line.n for line in found[0].lines), default=0) >= FEW:
        _figure(found, name, about_models(models, found[0].sample.name))
    asks()
    _table(found)
    map_section(frame, behaved, measure)
    save_report(
        HEADER,
        lambda: [row for one in found for row in behaviour_rows(one, found)],
        lambda: behaviour_json(found),
        name,
        "behaviour",
    )


def _figure(found: list[BehaviourReport], name: list[str], about: str) -> None:
    draw_figure(behaviour_panels(found), "behaviour", behaviour_in_words(found), name, about)
    st.caption(
        "Above: the faster a line falls, the more faithful its order; the area above it is the fidelity. Random order "
        f"is grey ({ORDERS} orders of each text). Below: embeddings are the mean over the tokens of the second-to-last "
        "layer, set against those of the unmasked texts. Left, how far their centre has moved (0: not at all). Right, "
        "how much less (−) or more (+) they differ from each other."
    )


def _table(found: list[BehaviourReport]) -> None:
    st.header("Fidelity and drift", anchor=False)
    table(*behaviour_table(found), most=90)
    st.caption(
        "Fidelity: 1 − mean(C/F), with C of F words erased at the first change of prediction; a prediction that never "
        "changes counts C/F = 1; how many there are is neither good nor bad by itself. Normalised: 0 is random order, "
        "1 an order that changes each prediction with the fewest words that were found to change it, whatever a model "
        "allows; — until these are searched (settings). Centroid change: 1 − cosine, "
        "0 to 2. σ: mean over the dimensions of the standard deviation over the examples, its change as a share of the "
        "unmasked one and as a difference. RobustInf’s table does not say which it prints, and erases as many tokens "
        "in each text as half of the mean length, here half of each text."
    )
    if len(found) > 1:
        st.info(
            "Do not rank models by fidelity: it is specific to a model (RobustInf), and how few words can change a "
            "prediction differs from model to model. The normalised number is between random order and that, for each "
            "model’s own predictions."
        )
