"""How stable the rankings on a page are: other seeds, samples and steps, and changes that should not matter, as work
that somebody asks for; what is known of it, beside rows and in files.
"""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.explanation.explainer import Cost
from core.explanation.limiting import left_over
from core.figures.stability_figures import runs_with_spread
from core.job import Job
from core.mathematics.stepwise import relay
from core.measures.catalogue import measure
from core.network.scheduler import NonFinite
from core.results.stability import stability_result
from core.stability.finding import RUNS, Runs, find_stability, stability_cost, stored_stability
from core.stability.moving import OFFERED
from core.stability.telling import (
    ABOUT_CHANGES,
    COLUMNS,
    FRONT,
    MEANS,
    PATH,
    RECORDED,
    Stability,
    as_records,
    front_cells,
    path_cells,
    stability_lines,
)
from core.wording import number, plain
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.face.headline import draw_finding
from pages.parts.frame.links import choose_one, held, held_of
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import captions
from pages.parts.frame.working import Work
from pages.parts.sections.saving import about_shown, save_with_origin
from pages.parts.sections.sides import SideWork
from pages.parts.sections.streaming import stream

_OFFERED = tuple(map(str, OFFERED))
TITLE = "How stable are these?"
_RUNS_HELP = "Seeds by which each measure that draws is run; what was drawn before is kept."


@dataclass(frozen=True, eq=False)
class Steadying(SideWork):
    """Measures of the page's example, one after the other; what is stored costs nothing."""

    side: View
    measures: tuple[str, ...]
    seeds: int
    at_once, aside, rests, label = False, True, ("measures", "seeds"), "how stable these are"
    kept = "Cancelled; what was drawn by other seeds is kept, and asking again goes on from there."

    @property
    def cost(self) -> Cost:
        explainer, encoded = self.side.explainer, self.side.encoded
        waits = [name for name in self.measures if _stored(self.side, name, self.seeds) is None]
        return Cost.sum([stability_cost(explainer, encoded, name, self.seeds) for name in waits])

    def run(self, job: Job) -> Generator[dict[str, Runs | str], None, dict[str, Runs | str]]:
        side, found, begun, total = self.side, dict[str, Runs | str](), 0, max(1, self.cost.passes)
        for name in self.measures:
            known = _stored(side, name, self.seeds) is not None
            cost = 0 if known else stability_cost(side.explainer, side.encoded, name, self.seeds).passes
            work = find_stability(
                side.explainer,
                side.encoded,
                name,
                side.explained,
                self.seeds,
                progress=lambda done, _, begun=begun: job.report(begun + done, total),
                cancelled=job.cancelled,
            )
            try:
                found[name] = yield from relay(work, lambda part, name=name: {**found, name: part})
            except NonFinite as error:
                found[name] = str(error)
            begun += cost
            job.report(begun, total)
        return found


def runs_asked() -> int:
    """How many runs are chosen, wherever that is drawn."""
    return int(held_of("runs", _OFFERED, str(RUNS)))


def _steadied(side: View, names: Sequence[str], sign: str, among: Collection[str] = ()) -> dict[str, Stability]:
    """What the store has of these measures with as many runs as are chosen, and the work on `among` so far."""
    runs = runs_asked()
    partial: Mapping[str, Runs | str] = (Steadying(side, tuple(among), runs).latest if among else None) or {}
    found = {name: partial.get(name) or _stored(side, name, runs) for name in names}
    return {name: Stability(one, side.encoded, sign) for name, one in found.items() if isinstance(one, Runs)}


def stability_section(view: View, names: Sequence[str], sign: str) -> None:
    """Draw how stable the rankings of these measures are, folded; nothing of it is computed unasked."""
    with st.expander(TITLE, expanded=held("unfolded") == "stability"):
        if not names or left_over(view.encoded) < 2:
            st.caption("Needs a measure and two features that can be masked.")
            return
        choose_one("Runs", _OFFERED, str(RUNS), "runs", _RUNS_HELP)
        work = Steadying(view, tuple(names), runs_asked())

        def works() -> list[Work]:
            known = _steadied(view, names, sign)
            return [work] if work.job is not None or len(known) < len(names) else []

        def draw(asks: Callable[[], None]) -> None:
            found = _steadied(view, names, sign, among=names)
            if found:
                _show(view, list(found.values()))
            problems = [one for one in (work.latest or {}).values() if isinstance(one, str)]
            captions(dict.fromkeys(problems))
            asks()

        stream(works, (st.container(), draw), name="stability")


def _stored(side: View, name: str, runs: int) -> Runs | None:
    return stored_stability(side.explainer, side.encoded, name, side.explained, runs)


def _show(view: View, found: list[Stability]) -> None:
    draw_finding(stability_result(found))
    table(COLUMNS, [one.cells() for one in found])
    if front := [row for one in found for row in front_cells(one)]:
        table(FRONT, front)
    captions([MEANS, ABOUT_CHANGES])
    for one in found:
        if one.draws:
            _error_bars(view, one)
    settling = [[one.measure, f"{n:,}", number(tau)] for one in found for n, tau in zip(one.runs.counts, one.taus)]
    if settling:
        table(["measure", "samples", "τ-b with the most samples ↑"], settling)
    if paths := [[one.measure, *row] for one in found for row in path_cells(one)]:
        table(["measure", *PATH], paths)

    def lines() -> list[list]:
        return [line for one in found for line in stability_lines(one)]

    save_with_origin(view, RECORDED, lines, lambda: as_records(found), "stability")


def _error_bars(view: View, one: Stability) -> None:
    words = [view.encoded.features[i].text for i in np.flatnonzero(~view.encoded.premasked)]
    mean, sd = one.spread
    told = f"{one.measure}: mean and standard deviation of {len(one.drawn)} runs of each {view.encoded.unit}."
    st.caption(plain(told))
    draw_figure(
        runs_with_spread(one.measure, measure(one.measure).unit, words, mean, sd),
        f"runs-{one.measure}",
        told,
        ["runs", one.measure, view.example.id, view.model.name],
        about_shown(view, view),
        f"the runs of {one.measure}",
    )
