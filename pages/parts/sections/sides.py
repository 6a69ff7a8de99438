"""One or two models at the same example: the second one, random orders, and what each one's p-values are worth."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.evaluation import families
from core.explanation.explainer import Cost, Explainer, read_alike
from core.explanation.recursive import Band, band_cost, random_band
from core.figures.figures import RandomLine
from core.job import Job
from core.mathematics.curves import spread
from core.network.architectures import UnsupportedModel
from core.network.features import NoFeatures
from core.network.model import Model
from core.network.scheduler import NonFinite, OutOfMemory
from core.oracle.target import classes_of, target_key
from core.results.caveats import Caveat
from core.results.inputs import reference_caveats
from core.results.result import Result
from core.storage.store import canonical_key
from core.terms import MASF_P
from core.validity.marks import PERCENT, Gate, decides
from core.validity.references import LEVELS, LITERAL, Reference, fitting_command
from core.wording import number, plain
from pages.parts.components.tables import data_table
from pages.parts.face.headline import Badge, draw_headline
from pages.parts.frame import resources
from pages.parts.frame.links import choose_one, linked
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import prediction_badge, view_badges, view_caveats
from pages.parts.frame.working import Work

# The column of a file that holds v.
PROBABILITY = "probability of it"
ALONE = "no other"
RECURSIVE, ONCE = "at each step", "once"


class SideWork(Work):
    """Work on one model at one example; rests: the attributes that its result depends on besides, but for the class
    that is explained where `explains` is False.
    """

    side: View
    rests: ClassVar[tuple[str, ...]] = ()
    explains: ClassVar[bool] = True

    @cached_property
    def key(self) -> str:
        side = self.side
        asked = {name: attrgetter(name)(self) for name in self.rests}
        return canonical_key(
            f"job/{type(self).__name__}",
            1,
            model=side.model.digest,
            precision=side.model.precision,
            example=side.encoded.digest,
            reference=side.explainer.tests_by,
            words=side.explainer.words_digest,
            target=target_key(side.explained) if self.explains else None,
            **{name: asdict(one) if is_dataclass(one) else one for name, one in asked.items()},
        )


def pick_beside(model: Model) -> str:
    """Draw the choice of a second model, the same on all pages; its name, or ALONE."""
    return linked(
        st.selectbox,
        "Beside it",
        [ALONE, *(name for name in resources.models() if name != model.origin)],
        ALONE,
        "beside",
        help="A second model on the same text",
        format_func=lambda name: name_beside(name, model.labels),
    )


def name_beside(name: str, labels: Sequence[str]) -> str:
    """How a model is offered beside one of these classes: that it answers another question is said."""
    shown = resources.model_title(name)
    return f"{shown} (other classes)" if families.other_classes(name, labels) else shown


def choose_order() -> str:
    """Draw the choice of when a measure is computed: RECURSIVE or ONCE."""
    return choose_one(
        "Compute the measure",
        (RECURSIVE, ONCE),
        RECURSIVE,
        "computed",
        "At each step (recursive masking), or once on the unmasked text",
    )


def both_sides(view: View, name: str, place: DeltaGenerator) -> list[View]:
    """The model of the page, and the second one where it is chosen and can stand beside it; else `place` says why
    not.
    """
    sides = [view]
    if name == ALONE:
        return sides
    try:
        with place, st.spinner(f"Loading the model {plain(name)} …"):
            return [*sides, _other_side(view, name)]
    except (UnsupportedModel, NoFeatures, NonFinite, OutOfMemory) as error:
        place.warning(plain(f"{name} cannot stand beside it: {error}"))
        return sides


def same_class(sides: Sequence[View]) -> bool | None:
    """Whether models beside each other explain the same class; None where there is one model."""
    return None if len(sides) < 2 else len({side.class_name for side in sides}) == 1


def with_score(columns: Sequence[str], sides: Sequence[View]) -> list[str]:
    """The columns of a file in which PROBABILITY stands for what v is under each of these sides."""
    kinds = dict.fromkeys(side.score_kind for side in sides)
    said = " or ".join(PROBABILITY if kind == "probability" else kind for kind in kinds)
    return [said if column == PROBABILITY else column for column in columns]


def side_columns(sides: Sequence[View], named: bool = True) -> Iterator[tuple[int, View]]:
    """Each side, drawn in a column of its own and, where there are two, headed by its model's name."""
    many = len(sides) > 1
    for i, (place, side) in enumerate(zip(st.columns(len(sides), gap="large") if many else [nullcontext()], sides)):
        with place:
            if many and named:
                st.markdown(f"**{plain(side.model.name)}**")
            yield i, side


def draw_headlines(view: View, sides: Sequence[View], found: Sequence[tuple[Result, Sequence[Badge]]]) -> None:
    """Draw what each side comes to, with its own badges after that of its prediction."""
    for i, side in side_columns(sides, named=False):
        result, badges = found[i]
        predicted = view_badges(view) if i == 0 else [prediction_badge(side.predicted_name, side.probability)]
        more = [*view_caveats(view), *side_caveats(sides, side)]
        draw_headline(result, *predicted, *badges, more=more, name=side.model.name if len(sides) > 1 else "")


@dataclass(frozen=True, eq=False)
class Orders(SideWork):
    """The random orders of one example under one model."""

    side: View
    step: str
    rests, explains = ("step",), False

    @property
    def label(self) -> str:
        return f"random orders ({self.side.model.name})"

    @property
    def cost(self) -> Cost:
        return band_cost(self.side.explainer, self.side.encoded, self.step)

    @property
    def band(self) -> Band | None:
        return self.latest if self.complete else None

    def line(self, x: np.ndarray, gate: Gate | None, form: str) -> RandomLine | None:
        """For the figure, None before they are there; x: float64[K], shares masked; gate: theirs, None without one."""
        band = self.band
        if band is None:
            return None
        mean, lower, upper = spread(band.values(self.side.explained))
        first, p = None if gate is None else gate.first, np.median(band.p[form], axis=0) if form in band.p else None
        return RandomLine(x, mean, lower, upper, p, len(band.logits), first)

    def run(self, job: Job) -> Any:
        return random_band(
            self.side.explainer, self.side.encoded, self.step, progress=job.report, cancelled=job.cancelled
        )


def reference_tab(explainers: Iterable[Explainer], form: str) -> None:
    """What the MaSF test of each model compares with, and the command that fits a reference on other texts."""
    for explainer in explainers:
        if explainer.reference is None:
            st.markdown(f"**{plain(explainer.model.name)}**")
            st.info(plain(explainer.reference_problem or Caveat.NOT_TESTED.explanation))
        else:
            header = [explainer.model.name, f"{form} form"]
            data_table(header, reference_facts(explainer.reference, form), f"reference-{explainer.model.name}")
        st.code(fitting_command(explainer.model), language="bash")


def side_caveats(sides: Sequence[View], side: View) -> list[Caveat]:
    """What limits p-values of one model on this text, and comparing the models beside each other."""
    encoded = side.encoded
    how = side.model.precision, encoded.unit, encoded.maskable
    found = reference_caveats(side.reference, np.array([encoded.T]), *how)
    return [*found, *([Caveat.OTHER_CLASSES] if same_class(sides) is False else [])]


def _other_side(view: View, name: str) -> View:
    """A second model at the same example.

    Raises:
        UnsupportedModel: it has the same weights, or reads the text otherwise.
        NoFeatures, NonFinite, OutOfMemory: it cannot be run on the text.
    """
    explainer = resources.explainer(name)
    encoded = read_alike(explainer, view.example, view.encoded)
    probabilities = explainer.probabilities(encoded)
    same = [f.text for f in encoded.features] == [f.text for f in view.encoded.features]
    if not same or (encoded.premasked != view.encoded.premasked).any():
        raise UnsupportedModel(
            f"it cuts this text into other {view.encoded.unit}s, or reads less of it. "
            "Choose the unit “word”, or a shorter text."
        )
    if explainer.model.digest == view.model.digest:
        raise UnsupportedModel(f"it has the same weights as {view.model.name}, so there is nothing to compare.")
    labels, named = explainer.model.labels, [view.model.labels[one] for one in classes_of(view.explained)]
    target = labels.index(named[0]) if named[0] in labels else int(probabilities.argmax())
    than = labels.index(named[1]) if len(named) > 1 and all(name in labels for name in named) else None
    return replace(view, explainer=explainer, encoded=encoded, probabilities=probabilities, target=target, than=than)


# How the texts of a reference are masked, by the model's training.
_MASKED = {
    "none": "unmasked, as the model was trained",
    "mask": "masked at random ratios, as in training",
    "half": "half masked at random ratios, as in training",
}


def reference_facts(reference: Reference, form: str) -> list[list[str]]:
    """What a reference is, for a table: [fact, value]."""
    about, rates, tokens = reference.about, reference.about["false_rejection"], reference.about["tokens"]
    counts = about["observations"]
    # The literal form is fitted on the part that the calibrated one takes for its first level.
    levels = dict.fromkeys(LEVELS, counts[LEVELS[0]]) if form == LITERAL else {one: counts[one] for one in LEVELS}
    shares = reference.false_rejections(form)
    return [
        ["texts", f"{about['texts']:,} of {about['source']}, {_MASKED[about['training']]}"],
        ["masking ratios", f"{reference.forms[form].R}"],
        ["observations", ", ".join(f"{count:,} on the {level}" for level, count in levels.items())],
        ["length in tokens", f"{tokens[0]} to {tokens[4]}; nine of ten {tokens[1]} to {tokens[3]}"],
        [f"floor: the smallest {MASF_P} it can give ↓", number(reference.floor(form))],
        [f"can reject at {PERCENT}", "yes" if decides(reference, form) else "no"],
        ["tests (Holm) ↑", f"{decides(reference, form)}"],
        [f"false rejections at {PERCENT} ↓", f"{shares} ({rates['texts']:,} texts, {rates['source']})"],
        ["compact", "yes" if about["compact"] else "no"],
    ]
