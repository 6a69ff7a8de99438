"""More columns and filters: what was found out of each example, and the work that finds the rest."""

import functools
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from core.data.browsing import ALONG_ORDER, BY_UNIT, Trait, select, trait_of_measure
from core.evaluation.studies.traits import TWIN, joined_traits, predicted_sample, studies_of, trait_of
from core.explanation.explainer import Explainer
from core.measures.catalogue import default_measures, measures
from core.wording import amount, plain
from pages.parts.frame import data, resources
from pages.parts.frame.data import Sought
from pages.parts.frame.links import folded, linked
from pages.parts.frame.picking import Browsed, sought_traits
from pages.parts.frame.working import Work
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import StudyWork

_NAMES = {
    "rejected": "first rejected step",
    "changes": "{unit}s until the prediction changes",
    "disagreement": "disagreement of measures",
    "twin": "second model",
    "verdict": "verdict of the measure",
    "smallest": "smallest set",
    "best": "best verdict",
    "naopc": "NAOPC",
    "racu": "RACU",
    "evidence": "evidence found",
}


# What values depend on, and the traits of which that holds.
FACTS = {
    "masked in the order of": ALONG_ORDER,
    "verdicts by Holm over": {"verdict", "best"},
    "measures compared": {"disagreement"},
    "unit": BY_UNIT,
    "compared with": {TWIN},
}


def trait_name(name: str, unit: str) -> str:
    """What a trait is called where that is masked as one piece."""
    kind, measure = trait_of_measure(name)
    return _NAMES[kind].format(unit=unit) + (f", {measure}" if measure else "")


def trait_facts(traits: Collection[str], asked: Sought, explainer: Explainer | None) -> dict[str, str]:
    """What values of these traits depend on, for a file: names of columns and what stands in them."""
    kinds = {trait_of_measure(name)[0] for name in traits}
    usual, twin = default_measures(), "" if explainer is None else data.twin_of(explainer) or ""
    values = asked.measure, ", ".join(dict.fromkeys((asked.measure, *usual))), ", ".join(usual), asked.unit, twin
    return {name: value for (name, of), value in zip(FACTS.items(), values) if {*of} & kinds}


_TOO_MANY = "They are offered for data of up to {:,} examples."
_COLUMNS_HELP = "Each is a filter, too. What was computed before is shown; the rest says so."
_ALONG_HELP = (
    "For the first rejected step, at 0, 10 … 100 % masked and computed again at each, and for what is masked until the "
    "prediction changes, one by one; its verdict is that of its order of the unmasked text, masked one by one. All for "
    "the class that is predicted."
)
# What was found is in the store; what is newer than that is asked of these.
_REMEMBERED = 32
_ALONG = "{}s masked in the order of"


@dataclass(frozen=True, eq=False)
class FindingTrait(StudyWork):
    """A study that finds a trait of examples, on request; rows: int64[n], their places; place: `data.study_place`;
    shares: whether others find the trait with it.
    """

    trait: str = ""
    rows: Any = None
    place: str = ""
    shares: bool = False
    asks, asks_again, at_once = "Compute the {label}", "Go on with the {label}", False

    @property
    def label(self) -> str:
        named = trait_name(self.trait, self.study.unit)
        if self.shares:
            named = f"{trait_name(trait_of_measure(self.trait)[0], self.study.unit)}: {self.study.label}"
        return f"{named} ({amount(len(self.sample), 'example')})"

    def ask(self, wanted: bool = True) -> None:
        """Start it, and let the table show what it finds as it comes."""
        works = data.trait_works()
        works[self.place] = self
        for place in list(works)[:-_REMEMBERED]:
            works.pop(place, None)
        super().ask(wanted)

    def on_top(self, name: str, read: Trait, explainer: Explainer) -> Trait:
        """What was read of a trait that this study finds, and what has been found since."""
        latest = self.latest
        if latest is None:
            return read
        # Decided once for what is there, since every page asks at each drawing.
        kept = self._decided.get(name)
        if kept is None or kept[0] is not latest or kept[1] is not read:
            part = trait_of(name, {self.study: latest}, explainer, self.sample, self.study.unit)
            kept = self._decided[name] = latest, read, joined_traits(read, self.rows, part)
        return kept[2]

    @functools.cached_property
    def _decided(self) -> dict[str, tuple[Any, Trait, Trait]]:
        return {}


def columns_chooser(explainer: Explainer, browsed: Browsed) -> None:
    """Draw which traits are shown as columns, and the measure that they are about."""
    offered, unit = data.offered_traits(explainer, browsed.index), sought_traits().unit
    with folded(st.popover("Columns", icon=":material/view_column:")):
        if not offered:
            st.caption(too_many())
            return
        named = {name: trait_name(name, unit) for name in offered}
        linked(st.multiselect, "Columns", offered, [], "columns", format_func=named.get, help=_COLUMNS_HELP)
        known = [name for name, one in measures().items() if not one.baseline]
        label = _ALONG.format(unit.capitalize())
        linked(st.selectbox, label, known, default_measures()[0], "along", help=_ALONG_HELP)


def too_many() -> str:
    """Up to how many examples traits are offered, in a sentence."""
    return _TOO_MANY.format(data.MOST_TRAITS)


def finding_section(explainer: Explainer, browsed: Browsed) -> None:
    """Draw what finds the traits that are shown or asked for and not known."""
    works = _works(explainer, browsed)
    if TWIN in browsed.judged.traits:
        st.caption(f"Second model: {plain(data.twin_of(explainer) or '')}")
    if works:
        stream(works, rests_on=functools.partial(_twelfths, works), name="traits", together=True)


def _twelfths(works: list[Work]) -> int:
    """How far works are, so that the table takes in what comes a few times and not always."""
    return sum(12 * work.progress[0] // work.progress[1] for work in works)


def lacking_rows(browsed: Browsed, name: str) -> np.ndarray:
    """Of which examples a trait is asked for and not known: of those that the other filters leave, int64[n]."""
    rows = np.sort(select(browsed.index, browsed.judged, browsed.query.before_traits))
    return rows[~browsed.judged.traits[name].known[rows] & (browsed.judged.predicted[rows] >= 0)]


def _works(explainer: Explainer, browsed: Browsed) -> list[Work]:
    """What finds the traits that are shown or asked for and not known, each study once."""
    asked, works, sizes = sought_traits(), {}, {}
    for name in browsed.judged.traits:
        if name == TWIN:
            twin = data.Predicting(resources.explainer(data.twin_of(explainer) or ""), browsed.index)
            works |= {TWIN: twin} if not twin.known.complete else {}
            continue
        studies, rows = studies_of(name, asked.measure, asked.unit), lacking_rows(browsed, name)
        sample = predicted_sample(browsed.index.data, browsed.judged, rows)
        for study in studies:
            place = data.study_place(explainer, browsed.index, study)
            running = data.trait_works().get(place)
            if running is not None and running.runs:
                works[place] = running
            elif len(rows) > sizes.get(place, 0):
                sizes[place] = len(rows)
                shares = len(studies) > 1
                work = FindingTrait(explainer, sample, study, trait=name, rows=rows, place=place, shares=shares)
                works |= {place: work} if not work.complete else {}
    return [*works.values()]
