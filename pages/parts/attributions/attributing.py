"""The attribution of one measure as work: at once where it is cheap or stored, else asked for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.explanation.explainer import Attribution, Cost
from core.explanation.rows import WordRow, build_row
from core.job import Job
from core.measures.catalogue import measure
from core.measures.registry import ORACLE, NotApplicable
from core.network.scheduler import NonFinite, OutOfMemory
from core.wording import plain
from pages.parts.frame import working
from pages.parts.frame.sidebar import View
from pages.parts.frame.working import in_turn
from pages.parts.sections.sides import SideWork
from pages.parts.sections.streaming import stream

# What streams may take so many times as long as other work that starts unasked.
_STREAMED = 6


@dataclass(frozen=True, eq=False)
class Attributing(SideWork):
    """One measure on one example; whose: what its label says besides, where two stand beside each other."""

    side: View
    measure: str
    whose: str = ""
    asks_again, failed, counted = "Compute {label}", "{problem}", "forward passes"
    rests = ("measure",)

    @property
    def label(self) -> str:
        return f"{self.measure}{self.whose}"

    @property
    def cost(self) -> Cost:
        return self.side.explainer.cost(self.side.encoded, self.measure)

    @property
    def kept(self) -> str:
        return super().kept if measure(self.measure).needs == ORACLE else "Cancelled."

    @property
    def found(self) -> Attribution | None:
        """What is stored or done."""
        stored = self.side.explainer.stored(self.side.encoded, self.measure, self.side.explained)
        if stored is not None:
            return stored
        return self.latest if self.complete else None

    @property
    def so_far(self) -> Attribution | None:
        """Scores of one that is not there yet, NaN where there is none; None where it tells nothing before its end."""
        job = self.job
        if job is None or not job.partial or self.complete:
            return None
        return Attribution(self.measure, self.side.explained, job.partial, 0, 0.0)

    @property
    def at_once(self) -> bool:
        """What shows something word by word starts by itself unless it is very dear; else somebody has to ask."""
        return measure(self.measure).alone and self.cost.seconds <= _STREAMED * working.AT_ONCE_SECONDS

    @property
    def prompt(self) -> bool:
        """Whether the page waits for it: it is cheap, or a single way through the network and back."""
        return self.cost.prompt

    def compute(self) -> Attribution | None:
        """Do it now, where it is cheap; None, and a sentence, where the model gives no numbers."""
        try:
            with in_turn(self.side.model):
                return self.side.explainer.attribute(self.side.encoded, self.measure, self.side.explained)
        except NotApplicable as error:
            st.info(plain(str(error)))
            return None
        except (NonFinite, OutOfMemory) as error:
            st.error(f"{self.measure}: {plain(str(error))}")
            return None

    def run(self, job: Job) -> Any:
        side = self.side

        def watch(scores: Mapping[str, Any]) -> None:
            job.partial = scores

        return side.explainer.attribute(
            side.encoded, self.measure, side.explained, progress=job.report, cancelled=job.cancelled, watcher=watch
        )


def rows_beside(
    works: Iterable[Sequence[Attributing]], sign: str, place: DeltaGenerator
) -> list[tuple[WordRow, WordRow]]:
    """Rows of two texts, or under two models, of each measure that has both; `place` shows of the others what is under
    way, waits to be asked for, or cannot be.

    Args:
        works: two for each measure.
    """
    found = [[row for work in both if (row := row_of(work, sign, place)) is not None] for both in works]
    return [(rows[0], rows[1]) for rows in found if len(rows) == 2]


def row_of(work: Attributing, sign: str, place: DeltaGenerator) -> WordRow | None:
    """The row of a measure on its text; None where it is not there yet, which `place` shows then."""
    one = work.found or (work.compute() if work.prompt else None)
    if one is not None:
        return build_row(measure(work.measure), one, sign, work.side.encoded.premasked)
    if not work.prompt:
        with place:
            stream([work], name=work.label)
    return None
