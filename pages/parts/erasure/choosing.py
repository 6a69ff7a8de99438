"""What the page asks: measures and metrics, how they are judged, and whose rationales are tested."""

from dataclasses import dataclass

import streamlit as st

from core.judging.judging import How
from core.mathematics.erasure import MIN_MAX, SCALINGS
from core.metrics.catalogue import default_metrics, of_examples
from core.network.model import Model
from core.oracle.erasing import MASK, erasures_of
from pages.parts.frame.links import choose_one, folded, linked
from pages.parts.frame.sidebar import View, chosen_method
from pages.parts.sections.asking import choose_draws, choose_measures, choose_perturbation, choose_sign

_ERASURE_HELP = (
    "How hard metrics erase a word: by the mask token, by taking it out, by a zero word embedding, or by the unknown "
    "token."
)
_SCALING_HELP = (
    "How soft metrics turn scores into shares in [0, 1]. Reversed keeps the most important words least, as SoftFaith’s "
    "code does and its text does not. Softmax shares 1 over all words, so that little of each is kept."
)


@dataclass(frozen=True)
class ErasureChoice:
    """What the page's settings say."""

    measures: tuple[str, ...]
    metrics: tuple[str, ...]
    sign: str
    how: How
    rule: str
    form: str


def choose_erasure(view: View) -> ErasureChoice:
    """Draw the settings of the page."""
    with view.places.measures:
        named = choose_measures(
            "Cheap ones are judged at once; dear ones say what they cost and wait to be asked.", baselines=True
        )
    with folded(view.places.example):
        chosen = linked(
            st.multiselect,
            "Metrics",
            list(of_examples()),
            list(default_metrics()),
            "metrics",
            help="Hard ones erase words whole; soft ones keep a share of every word, as much as its attribution says.",
        )
        return _how(view.model, named, chosen)


def _how(model: Model, named: list[str], chosen: list[str]) -> ErasureChoice:
    erasure = choose_one("Erasure", erasures_of(model), MASK, "erasure", _ERASURE_HELP)
    scaling = choose_one("Scaling", SCALINGS, MIN_MAX, "scaling", _SCALING_HELP)
    sign = choose_sign("Signed: what supports the class ranks first. Absolute: what matters most either way.")
    draws = choose_draws()
    form, rule = chosen_method()
    placement, sigma = choose_perturbation(chosen)
    return ErasureChoice(
        tuple(named),
        tuple(name for name in of_examples() if name in chosen),
        sign,
        How(erasure, scaling, draws, placement=placement, sigma=sigma),
        rule,
        form,
    )


def choose_rationale(choice: ErasureChoice) -> str | None:
    """Choice of the measure whose rationales are tested; None without measures."""
    if not choice.measures:
        st.caption("Choose a measure.")
        return None
    return linked(
        st.selectbox,
        "Rationales of",
        list(choice.measures),
        choice.measures[0],
        "rationales",
        width=320,
        help="The words that this measure ranks first, at each length, kept alone or erased.",
    )
