"""The measures beside each other: whether they agree, and what they cost."""

import streamlit as st

from core.explanation.completeness import SUMMED, completeness
from core.explanation.explainer import Attribution
from core.explanation.rows import TOP, WordRow, agreement, kinds_differ, top_shares
from core.figures.sparsity_figures import sparsity_curves
from core.measures.catalogue import measure
from core.network.scheduler import NonFinite, OutOfMemory
from core.results.caveats import Caveat
from core.wording import amount, duration, number, percent, plain
from pages.parts.components.tables import square, table
from pages.parts.face.headline import draw_badges
from pages.parts.frame.sidebar import View
from pages.parts.sections.saving import draw_on_text

# Squares of up to so many measures stand beside each other.
_BESIDE = 3
TAU_HELP = "1 is the same order, 0 unrelated, −1 reversed; what supports the class comes first where there is a sign."
OVERLAP_HELP = "Share of top words in common, up to 1."
SPARSITY_HELP = "Easier to read is not more faithful."
COST_HELP = "Passes are inputs that the network reads; shared ones are counted for the measure that asked first."
COMPLETENESS_HELP = (
    "Due: what masking everything takes, or of integrated gradients f(x) − f(baseline); large: over 10 %."
)


def show_agreement(rows: list[WordRow], unit: str) -> None:
    """Draw how far the orders of the measures agree, pair by pair."""
    if len(rows) < 2 or len(rows[0].free) < 2:
        st.caption(f"Agreement compares the orders of two measures or more, over two {unit}s or more.")
        return
    k = min(TOP, len(rows[0].free))
    tau, overlap = agreement(rows, k)
    # In half the width of the page a larger one would be cut off.
    places = st.columns(2, gap="large") if len(rows) <= _BESIDE else [st.container(), st.container()]
    with places[0]:
        st.markdown("**Rank correlation (Kendall’s τ-b)**", help=TAU_HELP)
        square(tau, [row.measure for row in rows])
    with places[1]:
        st.markdown(f"**Overlap of the top {k}**", help=OVERLAP_HELP)
        square(overlap, [row.measure for row in rows])
        st.caption(f"Two random orders share {number(k / len(rows[0].free))} on average.")
    if kinds_differ(rows):
        draw_badges([], [Caveat.UNSIGNED_MEASURE])


def show_sparsity(view: View, rows: list[WordRow]) -> None:
    """Draw how concentrated each measure's importance is; nothing where no measure has magnitudes."""
    drawn = sparsity_curves(rows, view.encoded.unit)
    if drawn is None:
        return
    st.markdown("**How concentrated is each?**", help=SPARSITY_HELP)
    tops = ", ".join(f"{one.measure} {percent(share)}" for one, share in top_shares(rows, TOP))
    alt = f"Share of the total importance in the most important {view.encoded.unit}s; in the top {TOP} by size: {tops}."
    draw_on_text(view, view, drawn, "sparsity", alt, "sparsity", "the curves")
    st.caption(f"In the top {TOP} by size, for or against: {plain(tops)}.")


def show_costs(view: View, chosen: list[str], found: dict[str, Attribution]) -> None:
    """Draw what each measure costs, and what it took."""
    st.markdown("**What it cost**", help=COST_HELP)
    lines = [
        [name, measure(name).cost, _spent(cost.passes, cost.seconds), *_taken(found.get(name))]
        for name, cost in ((name, view.explainer.cost(view.encoded, name)) for name in chosen)
    ]
    table(["measure", "forward passes", "at most so many, about so long ↓", "took ↓", "read from"], lines)
    st.caption(f"F = {view.encoded.F} {view.encoded.unit}s, {view.encoded.T} tokens.")


def _taken(done: Attribution | None) -> list[str]:
    """What computing it took, and where it was read from."""
    if done is None:
        return ["not computed", "—"]
    return [_spent(done.passes, done.milliseconds / 1000), "store" if done.stored else "model, now"]


def show_completeness(view: View, found: dict[str, Attribution]) -> None:
    """Draw how far scores that are meant to add up do, of a path where that is cheap; nothing where none are."""
    explainer, encoded = view.explainer, view.encoded
    known = [one for name, one in found.items() if not measure(name).path or explainer.cost(encoded, name).prompt]
    try:
        told = [completeness(explainer, encoded, one) for one in known]
    except (NonFinite, OutOfMemory) as error:
        st.error(plain(str(error)))
        return
    lines = [[one.measure, *one.cells] for one in told if one is not None]
    if not lines:
        return
    st.markdown("**Do the scores add up?**", help=COMPLETENESS_HELP)
    table(["measure", *SUMMED], lines)


def _spent(passes: int, seconds: float) -> str:
    return f"{amount(passes, 'pass')}, {duration(seconds)}"
