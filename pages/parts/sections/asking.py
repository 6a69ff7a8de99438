"""What several pages ask: which measures; of a sample, how many examples, and which models beside it."""

from collections.abc import Sequence

import streamlit as st

from core.evaluation import families
from core.evaluation.sampling import SAMPLE
from core.explanation.explainer import Explainer
from core.explanation.rows import SIGNS
from core.mathematics.erasure import DRAWS
from core.measures.catalogue import default_measures, measures
from core.network.architectures import UnsupportedModel
from core.network.model import Model
from core.oracle.erasing import MASK, erasures_of
from pages.parts.frame import resources
from pages.parts.frame.links import choose, choose_one, forget, held, hold, linked
from pages.parts.sections.sides import name_beside

SIZES = ("50", "100", str(SAMPLE), "500", "1000")
# Random draws of each soft perturbation of one text.
_COUNTS = ("8", str(DRAWS), "128")
_DRAWS_HELP = "Draws of soft metrics; more, smaller standard error"
_STARTS = "Fast measures start at once; slow ones show their cost and wait for a click."
_MODELS_HELP = "Checked on the same texts"
_ASKED_BY = "model of models"
# As many as stay in memory with the one that is checked.
MOST_BESIDE = 2


def choose_size(most: int, drawn: str = "Labelled examples drawn at random from the data", first: int = SAMPLE) -> int:
    """Draw the choice of how many of `most` examples are drawn; drawn: what they are; first: how many unasked."""
    about = f"{drawn}, the same ones each time; a larger sample holds the smaller ones."
    offered = sizes_of(most)
    if held("sample") in SIZES and held("sample") not in offered:
        # Asked for of more texts than these: all of them.
        hold("sample", offered[-1])
    default = str(first) if str(first) in offered else offered[-1]
    named = {one: f"all {most:,}" if int(one) >= most else one for one in offered}
    return int(choose_one("Sample", offered, default, "sample", about, format_func=named.get))


def choose_draws() -> int:
    """Draw the choice of how many random draws soft metrics take of one text, the same on all pages."""
    return int(choose_one("Draws", _COUNTS, str(DRAWS), "draws", _DRAWS_HELP))


def sizes_of(most: int) -> tuple[str, ...]:
    """The sizes that are offered of so many texts: the smaller ones, and one that takes all where it is among them."""
    return SIZES[: sum(int(size) < most for size in SIZES) + 1]


def choose_models(model: Model) -> list[str]:
    """Draw the choice of models beside the one of the page."""
    others = [name for name in resources.models() if name != model.origin]
    if st.session_state.get(_ASKED_BY, model.origin) != model.origin:
        # Another model brings its own relatives.
        forget("models")
    st.session_state[_ASKED_BY] = model.origin
    first = families.relatives(model.origin, model.card)[:MOST_BESIDE]
    called = {name: name_beside(name, model.labels) for name in others}
    more = {"max_selections": MOST_BESIDE, "format_func": called.get, "help": _MODELS_HELP}
    return linked(st.multiselect, "Models beside it", others, first, "models", **more)


def show_beside(model: str, others: list[str]) -> None:
    """Choose a model, and these beside it in place of its relatives."""
    choose("model", model)
    choose("models", others)
    st.session_state[_ASKED_BY] = model


def other_model(name: str, models: list, erasure: str = MASK) -> Explainer:
    """The explainer of a model beside others; UnsupportedModel where it is one of them or cannot erase so."""
    other = resources.explainer(name)
    twin = next((model.name for model in models if model.digest == other.model.digest), None)
    if twin is not None:
        raise UnsupportedModel(f"it has the weights of {twin}, so there is nothing to compare.")
    if erasure not in erasures_of(other.model):
        raise UnsupportedModel(f"it cannot erase by the {erasure}.")
    return other


def choose_measures(does: str = _STARTS, baselines: bool = False, first: Sequence[str] | None = None) -> list[str]:
    """Draw the choice of measures; does: what each does; first: those chosen unasked, by default the app's."""
    offered = [name for name, measure in measures().items() if baselines or not measure.baseline]
    chosen = list(default_measures() if first is None else first)
    return linked(st.multiselect, "Measures", offered, chosen, "measures", help=does)


def choose_sign(about: str = "Signed: support first. Absolute: effect first.") -> str:
    """Draw the choice of signed or absolute values; about: what they are to the page."""
    return choose_one("Values", SIGNS, "signed", "values", about)


def pick_erasure(model: Model) -> str:
    """Draw the choice of what hard metrics put where a word was."""
    return choose_one("Erasure", erasures_of(model), MASK, "erasure", "How hard metrics erase a word.")
