"""More columns and filters: what was found out of each example, and the work that finds the rest."""

import functools
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from core.data.browsing import ALONG_ORDER, BY_UNIT, Trait
from core.evaluation.studies.traits import TWIN, joined_traits, predicted_sample, trait_of, trait_studies
from core.explanation.explainer import Explainer
from core.measures.catalogue import default_measures, measures
from core.wording import plain
from pages.parts.frame import data, resources
from pages.parts.frame.data import Sought
from pages.parts.frame.links import linked
from pages.parts.frame.picking import Browsed, sought_traits
from pages.parts.frame.working import Work
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import StudyWork

_NAMES = {
    "rejected": "first rejected step",
    "changes": "{unit}s until the prediction changes",
    "disagreement": "disagreement of measures",
    "twin": "twin differs",
    "verdict": "verdict of the measure",
}


# What values depend on, and the traits of which that holds.
FACTS = {
    "masked in the order of": ALONG_ORDER,
    "verdicts by Holm over": {"verdict"},
    "measures compared": {"disagreement"},
    "unit": BY_UNIT,
}


def trait_name(name: str, unit: str) -> str:
    """What a trait is called where that is masked as one piece."""
    return _NAMES[name].format(unit=unit)


def trait_facts(traits: Collection[str], asked: Sought) -> dict[str, str]:
    """What values of these traits depend on, for a file: names of columns and what stands in them."""
    usual = default_measures()
    values = asked.measure, ", ".join(dict.fromkeys((asked.measure, *usual))), ", ".join(usual), asked.unit
    return {name: value for (name, of), value in zip(FACTS.items(), values) if {*of} & {*traits}}


_TOO_MANY = "They are offered for data of up to {:,} examples."
_COLUMNS_HELP = "Each is a filter, too. What was computed before is shown; the rest says so."
_ALONG_HELP = (
    "For the first rejected step, at 0, 10 … 100 % masked and computed again at each, and for what is masked until the "
    "prediction changes, one by one; its verdict is that of its order of the unmasked text, masked one by one. All for "
    "the class that is predicted."
)
# What was found is in the store; what is newer than that is asked of these.
_REMEMBERED = 32


@dataclass(frozen=True, eq=False)
class FindingTrait(StudyWork):
    """The study that finds a trait of examples, on request; rows: int64[n], their places; place: `data.trait_place`."""

    trait: str = ""
    rows: Any = None
    place: str = ""
    asks, asks_again, at_once = "Compute the {label}", "Go on with the {label}", False

    @property
    def label(self) -> str:
        N = len(self.sample)
        return f"{trait_name(self.trait, self.study.unit)} ({N:,} example{'' if N == 1 else 's'})"

    def ask(self, wanted: bool = True) -> None:
        """Start it, and let the table show what it finds as it comes."""
        works = data.trait_works()
        works[self.place] = self
        for place in list(works)[:-_REMEMBERED]:
            works.pop(place, None)
        super().ask(wanted)

    def on_top(self, read: Trait, explainer: Explainer) -> Trait:
        """What was read, and what this has found since."""
        found = self.latest
        if found is None:
            return read
        # Decided once for what is there, since every page asks at each drawing.
        if self._told.get("found") is not found or self._told.get("read") is not read:
            part = trait_of(self.trait, found, explainer, self.sample, self.study.unit)
            self._told.update(found=found, read=read, trait=joined_traits(read, self.rows, part))
        return self._told["trait"]

    @functools.cached_property
    def _told(self) -> dict[str, Any]:
        return {}


def finding_section(explainer: Explainer, browsed: Browsed) -> None:
    """Draw which traits are shown, and what finds those that are not known."""
    offered, unit = data.offered_traits(explainer, browsed.index), sought_traits().unit
    if not offered:
        st.caption(_TOO_MANY.format(data.MOST_TRAITS))
        return
    left, right = st.columns(2)
    with left:
        named = {name: trait_name(name, unit) for name in offered}
        linked(st.multiselect, "Columns", offered, [], "columns", format_func=named.get, help=_COLUMNS_HELP)
    with right:
        known = [name for name, one in measures().items() if not one.baseline]
        label = f"{unit.capitalize()}s masked in the order of"
        linked(st.selectbox, label, known, default_measures()[0], "along", help=_ALONG_HELP)
    works = _works(explainer, browsed)
    if TWIN in browsed.judged.traits:
        st.caption(f"Twin: {plain(data.twin_of(explainer) or '')}")
    if works:
        stream(works, rests_on=functools.partial(_twelfths, works), name="traits", together=True)


def _twelfths(works: list[Work]) -> int:
    """How far works are, so that the table takes in what comes a few times and not always."""
    return sum(12 * work.progress[0] // work.progress[1] for work in works)


def _works(explainer: Explainer, browsed: Browsed) -> list[Work]:
    """What finds the traits that are shown and not known of all that the filters leave."""
    asked, works = sought_traits(), []
    for name, trait in browsed.judged.traits.items():
        if name == TWIN:
            twin = data.Predicting(resources.explainer(data.twin_of(explainer) or ""), browsed.index)
            works += [twin] if not twin.known.complete else []
            continue
        place = data.trait_place(explainer, browsed.index, name, asked)
        running = data.trait_works().get(place)
        if running is not None and running.runs:
            works.append(running)
            continue
        rows = np.sort(browsed.rows)
        rows = rows[~trait.known[rows] & (browsed.judged.predicted[rows] >= 0)]
        sample = predicted_sample(browsed.index.data, browsed.judged, rows)
        work = FindingTrait(
            explainer, sample, trait_studies(asked.measure, asked.unit)[name], trait=name, rows=rows, place=place
        )
        works += [work] if len(rows) and not work.complete else []
    return works
