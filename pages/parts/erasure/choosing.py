"""What the page asks: measures and metrics, how hard metrics erase, and whose rationales are tested."""

from dataclasses import dataclass, replace

import streamlit as st

from core.judging.judging import How
from core.metrics.catalogue import default_metrics, of_examples
from pages.parts.frame.links import folded, linked, say_retired
from pages.parts.frame.sidebar import View, chosen_method
from pages.parts.sections.asking import choose_measures, choose_sign, pick_erasure

_MEASURES_HELP = "Fast measures start at once; slow ones show their cost and wait for a click."
_METRICS_HELP = "Hard metrics erase words whole; soft ones erase a share of every word, as its attribution says."
_RATIONALES_HELP = "Top words at each length, kept alone or erased."
# How soft metrics draw; the command line and the library take other settings, which links of earlier versions name.
_HOW = How()
_ELSEWHERE = ("scaling", "placement", "sigma", "draws")


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
    for key in _ELSEWHERE:
        say_retired(key, default=str(getattr(_HOW, key)))
    with view.places.measures:
        named = choose_measures(_MEASURES_HELP, baselines=True)
    with folded(view.places.example):
        chosen = linked(
            st.multiselect, "Metrics", list(of_examples()), list(default_metrics()), "metrics", help=_METRICS_HELP
        )
        erasure = pick_erasure(view.model)
        sign = choose_sign()
    form, rule = chosen_method()
    metrics = tuple(name for name in of_examples() if name in chosen)
    return ErasureChoice(tuple(named), metrics, sign, replace(_HOW, erasure=erasure), rule, form)


def choose_rationale(choice: ErasureChoice) -> str:
    """Draw the choice of the measure whose rationales are tested."""
    names = list(choice.measures)
    return linked(st.selectbox, "Rationales of", names, names[0], "rationales", width=320, help=_RATIONALES_HELP)
