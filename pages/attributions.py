"""Attributions: which words does each importance measure call important?"""

import streamlit as st

from core.explanation.rows import SIGNS, WordRow, agreement, build_row, most_important, pieces, shared_top, value_text
from core.measures.catalogue import default_measures, measures
from core.wording import duration, escaped, number, plain
from pages.parts.attributions.attributing import Attributing
from pages.parts.components.tables import square, table
from pages.parts.components.words import words
from pages.parts.frame.links import choose, linked
from pages.parts.frame.sidebar import View, open_page, text_box
from pages.parts.frame.texts import prediction_line, show_text_notes
from pages.parts.sections.evidence import evidence_section
from pages.parts.sections.saving import about_view, attributions_name, save_attributions
from pages.parts.sections.streaming import stream

TOP = 3


def attributions() -> None:
    """Draw the page."""
    view = open_page("Attributions", "Which words does each importance measure call important?")
    answer = st.container()
    _class_buttons(view)
    # Drawn on request only: a box that is filled anew takes a third of the way to the next example.
    if st.toggle("Type or edit a text", key="editing"):
        text_box(view.example.text, view.example.second or "")
    picture, asking, evidence = (st.container() for _ in range(3))
    st.subheader("Do the measures agree?", anchor=False)
    table = st.container()
    chosen, sign = _settings(view.encoded.unit)
    found = {}
    with asking:
        for name in chosen:
            work = Attributing(view, name)
            attribution, dear = work.found, not work.cost.cheap
            if attribution is None and dear:
                stream([work], asking, name=name)
            elif attribution is None:
                attribution = work.compute()
            if attribution is not None:
                found[name] = attribution
    rows = [
        build_row(measures()[name], attribution, sign, view.encoded.premasked) for name, attribution in found.items()
    ]
    said = _answer(view, rows, chosen)
    with answer:
        prediction_line(view, said)
    with picture:
        _words(view, rows)
        save_attributions(view, rows, said)
        for note in view.model.notes:
            st.caption(plain(note))
        show_text_notes(view)
    with evidence:
        evidence_section(view, rows)
    with table:
        _agreement(rows, view.encoded.unit)
        _costs(view, chosen, found)


def _class_buttons(view: View) -> None:
    def explain(label: str) -> None:
        choose("class", label)

    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Explain", width="content")
        for i, label in enumerate(view.model.labels):
            st.button(
                f"{plain(label)} · {number(float(view.probabilities[i]))}",
                key=f"explain-{i}",
                on_click=explain,
                args=(label,),
                type="primary" if i == view.target else "secondary",
                help="Probability of the class; press to explain it instead.",
            )


def _settings(unit: str) -> tuple[list[str], str]:
    st.subheader("Settings", anchor=False)
    chosen = linked(
        st.multiselect,
        "Measures",
        list(measures()),
        list(default_measures()),
        "measures",
        help="Cheap ones are computed at once; dear ones say what they cost and wait to be asked.",
    )
    sign = linked(
        st.segmented_control,
        "Values",
        SIGNS,
        "signed",
        "values",
        required=True,
        help=f"Signed: does the {unit} support (+) or oppose (−) the class? Absolute: how much it matters, either way. "
        "Measures without the chosen kind show their own.",
    )
    return chosen, sign


def _answer(view: View, rows: list[WordRow], chosen: list[str]) -> str:
    ranked = [row for row in rows if not measures()[row.measure].baseline]
    if not ranked and len(rows) < len(chosen):
        return f"Nothing is computed yet: ask for a measure below to see which {view.encoded.unit}s it calls important."
    if not ranked:
        return f"Choose a measure in the settings below to see which {view.encoded.unit}s it calls important."
    firsts = {row.measure: most_important(row) for row in ranked}
    spelled = {
        name: None if i is None else f"<b>{escaped(view.encoded.features[i].text)}</b>" for name, i in firsts.items()
    }
    if len(ranked) == 1:
        name, word = next(iter(spelled.items()))
        return (
            f"By {escaped(name)}, {word} matters most."
            if word
            else f"By {escaped(name)}, no single {view.encoded.unit} speaks for this class."
        )
    ordered = [row for row in ranked if firsts[row.measure] is not None]
    shared = ", ".join(f"<b>{escaped(view.encoded.features[i].text)}</b>" for i in shared_top(ordered, TOP))
    top = min(TOP, view.encoded.F)
    if shared and len(ordered) == len(ranked):
        return f"{'Both' if len(ranked) == 2 else f'All {len(ranked)}'} measures put {shared} among their top {top}."
    said = "; ".join(f"{escaped(name)} says {word or 'none'}" for name, word in spelled.items())
    return f"The measures share no {view.encoded.unit} among their top {top}: {said}."


@st.fragment
def _words(view: View, rows: list[WordRow]) -> None:
    if not rows:
        # The text itself, without colours.
        words([], pieces(view.encoded, view.example.evidence), view.class_name, {}, unit=view.encoded.unit)
        return
    cut = view.encoded.truncation
    rest = f"… {cut.words - cut.words_read:,} more words" if cut.words_read < cut.words else ""
    word = words(
        rows,
        pieces(view.encoded, view.example.evidence),
        view.class_name,
        {m.name: m.definition for m in measures().values()},
        rest=rest,
        name=attributions_name(view),
        about=about_view(view),
        unit=view.encoded.unit,
    )
    if word is None:
        return
    st.html(f"<b>{escaped(view.encoded.features[word].text)}</b>, {view.encoded.unit} {word + 1} of {view.encoded.F}")
    table(
        ["measure", "variant", "value", "unit", "place (1 matters most)"],
        [[row.measure, row.variant, value_text(row, word), row.unit, str(row.places[word] or "—")] for row in rows],
    )


def _agreement(rows: list[WordRow], unit: str) -> None:
    if len(rows) < 2:
        st.caption("Agreement compares two measures or more.")
        return
    if len(rows[0].free) < 2:
        st.caption("With a single feature there is no order to compare.")
        return
    k = min(TOP, len(rows[0].free))
    tau, overlap = agreement(rows, k)
    names = [row.measure for row in rows]
    shown = zip(
        st.columns(2, gap="large"),
        (tau, overlap),
        ("Rank correlation (Kendall’s τ-b)", f"Overlap of the top {k}"),
        (
            f"1 ↑ the same order of {unit}s, 0 unrelated, −1 reversed.",
            (
                f"Share of the {k} most important {unit}s in common: 1 ↑ all; two random orders share "
                f"{number(k / len(rows[0].free))} on average."
            ),
        ),
    )
    for column, values, title, note in shown:
        with column:
            st.markdown(f"**{title}**")
            square(values, names)
            st.caption(note)


def _costs(view: View, chosen: list[str], found: dict) -> None:
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
    table(["measure", "forward passes", "expected, at most ↓", "took ↓", "read from"], lines)
    st.caption(
        f"Passes are inputs that the network reads. F = {view.encoded.F} {view.encoded.unit}s, {view.encoded.T} "
        f"tokens. "
        "Passes shared with another measure are counted once, for the one that asked first."
    )


def _spent(passes: int, seconds: float) -> str:
    return f"{passes:,} pass{'' if passes == 1 else 'es'}, {duration(seconds)}"


attributions()
