"""The measures beside each other: whether they agree, and what they cost."""

import streamlit as st

from core.explanation.explainer import Attribution
from core.explanation.row_sentences import TOP, kinds_sentence, ranked_by
from core.explanation.rows import WordRow, agreement, top_shares
from core.figures.sparsity_figures import sparsity_curves
from core.measures.catalogue import measures
from core.network.scheduler import NonFinite, OutOfMemory
from core.wording import amount, duration, number, percent, plain
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import square, table
from pages.parts.frame.sidebar import View
from pages.parts.sections.saving import about_view

# Squares of up to so many measures stand beside each other.
_BESIDE = 3


def show_agreement(rows: list[WordRow], unit: str) -> None:
    """Draw how far the orders of the measures agree, pair by pair."""
    if len(rows) < 2:
        st.caption("Agreement compares two measures or more.")
        return
    if len(rows[0].free) < 2:
        st.caption("With a single feature there is no order to compare.")
        return
    k = min(TOP, len(rows[0].free))
    tau, overlap = agreement(rows, k)
    names = [row.measure for row in rows]
    # In half the width of the page a larger one would be cut off.
    places = st.columns(2, gap="large") if len(rows) <= _BESIDE else [st.container(), st.container()]
    shown = zip(
        places,
        (tau, overlap),
        ("Rank correlation (Kendall’s τ-b)", f"Overlap of the top {k}"),
        (
            f"1 ↑ the same order of {unit}s, 0 unrelated, −1 reversed.",
            (
                f"Share of the first {k} {unit}s in common, {ranked_by(rows)}: 1 ↑ all; two random orders share "
                f"{number(k / len(rows[0].free))} on average."
            ),
        ),
    )
    for column, values, title, note in shown:
        with column:
            st.markdown(f"**{title}**")
            square(values, names)
            st.caption(note)
    if kinds := kinds_sentence(rows):
        st.caption(plain(kinds))


def show_sparsity(view: View, rows: list[WordRow]) -> None:
    """Draw how concentrated each measure's importance is; nothing where no measure has magnitudes."""
    drawn = sparsity_curves(rows, view.encoded.unit)
    if drawn is None:
        return
    st.markdown("**How concentrated is each?**")
    tops = ", ".join(f"{one.measure} {percent(share)}" for one, share in top_shares(rows, TOP))
    draw_figure(
        drawn,
        "sparsity",
        f"Share of the total importance in the most important {view.encoded.unit}s; in the top {TOP} by size: {tops}.",
        ["sparsity", view.example.id, view.model.name],
        about_view(view),
        "the curves",
    )
    st.caption(
        f"In the top {TOP} by size, for or against: {plain(tops)}. "
        "A concentrated attribution is easier to read, and no more faithful for that."
    )


def show_costs(view: View, chosen: list[str], found: dict[str, Attribution]) -> None:
    """Draw what each measure costs, and what it took."""
    st.markdown("**What it cost**")
    lines = []
    for name in chosen:
        cost, done = view.explainer.cost(view.encoded, name), found.get(name)
        took = (
            ["not computed", "—"]
            if done is None
            else [_spent(done.passes, done.milliseconds / 1000), "store" if done.stored else "model, now"]
        )
        lines.append([name, measures()[name].cost, _spent(cost.passes, cost.seconds), *took])
    table(["measure", "forward passes", "at most so many, about so long ↓", "took ↓", "read from"], lines)
    st.caption(
        f"Passes are inputs that the network reads. F = {view.encoded.F} {view.encoded.unit}s, {view.encoded.T} "
        f"tokens. "
        "Passes shared with another measure are counted once, for the one that asked first."
    )


def show_completeness(view: View, found: dict[str, Attribution]) -> None:
    """Draw how far scores that are meant to add up do; nothing where no such measure is shown."""
    try:
        told = [view.explainer.completeness(view.encoded, one) for one in found.values()]
    except (NonFinite, OutOfMemory) as error:
        st.error(plain(str(error)))
        return
    lines = [
        [one.measure, f"{number(one.total)} logits", f"{number(one.due)} logits", f"{number(one.error)} logits"]
        for one in told
        if one is not None
    ]
    if not lines:
        return
    st.markdown("**Do the scores add up?**")
    table(["measure", "signed scores add up to", f"masking every {view.encoded.unit} takes", "error, 0 is best"], lines)
    st.caption(
        "Of Shapley values, and of DeepLift as it was meant, scores add up to what masking everything takes from the "
        "logit. Captum’s rules for DeepLift cover little of an encoder, so its scores miss that."
    )


def _spent(passes: int, seconds: float) -> str:
    return f"{amount(passes, 'pass')}, {duration(seconds)}"
