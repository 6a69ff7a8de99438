"""Put known evidence into words and tables: how well each measure finds it, beside how faithful it is."""

from collections.abc import Sequence

import streamlit as st

from core.explanation.plausibility import ALIKE, MEANING, Evidence, evidence_of, leaders
from core.explanation.rows import WordRow
from core.wording import escaped, joined, number, plain
from pages.parts.components.tables import table
from pages.parts.frame.sidebar import View
from pages.parts.sections.sides import Side

PRECISION = COLUMN = "average precision ↑"


def evidence_section(view: View, rows: list[WordRow]) -> None:
    """Where evidence is known: which measure finds it best, in a sentence, and each one's numbers in a table."""
    if not view.example.evidence:
        return
    st.header("Does it find the evidence?", anchor=False)
    evidence, unit = evidence_of(view.encoded, view.example.evidence), view.encoded.unit
    if evidence is None:
        st.caption("The evidence of this text lies beyond what the model reads, or is masked in the text.")
        return
    st.html(f"<p>{_finding(evidence, rows, unit)}</p>")
    found = [[row.measure, number(evidence.precision(row.scores)), number(evidence.recall(row.scores))] for row in rows]
    chance = ["random order, on average", number(evidence.chance_precision), number(evidence.chance_recall)]
    table(["measure", COLUMN, f"recall of the top {evidence.m} ↑"], [*found, chance])
    if view.label_class is not None and view.explained != view.label_class:
        st.caption(
            f"The evidence is that of the label, {plain(view.model.labels[view.label_class])}; explained here is "
            f"{plain(view.class_name)}."
        )
    st.caption(
        f"Evidence: {evidence.m} of {evidence.F} {unit}s. {MEANING} For what it uses, see RACU on Recursive masking, "
        f"and AOPC and NAOPC."
    )


def known_evidence(view: View, sides: Sequence[Side]) -> dict[Side, Evidence | None]:
    """The evidence of the text as each side reads it; None where none is known."""
    return {side: evidence_of(side.encoded, view.example.evidence) for side in sides}


def show_marked_text(view: View) -> None:
    """The text with its evidence overlined, for pages without coloured words; nothing where no evidence is known."""
    if view.example.evidence:
        st.html(f"<p dir='auto' class='whole-text'>{marked_text(view.example.text, view.example.evidence, 20_000)}</p>")
        if len(view.example.text) <= 20_000:
            st.caption("Overlined: the evidence, what the label rests on.")


def marked_text(text: str, spans: tuple[tuple[int, int], ...], most: int) -> str:
    """A text with its evidence overlined, HTML in which the text is escaped; where it is longer than `most` it is cut
    and unmarked.
    """
    if len(text) > most:
        return escaped(text, most)
    drawn, end = "", 0
    for start, stop in spans:
        # Spans of a file may overlap.
        start, stop = max(start, end), max(min(stop, len(text)), end)
        if start < stop:
            drawn += f"{escaped(text[end:start], most)}<span class='overlined'>{escaped(text[start:stop], most)}</span>"
            end = stop
    return drawn + escaped(text[end:], most)


def _finding(evidence: Evidence, rows: list[WordRow], unit: str) -> str:
    """The result in a sentence, HTML in which all text is escaped."""
    if evidence.everything:
        return f"Every {unit} is evidence here, so every order finds it."
    found = {row.measure: evidence.precision(row.scores) for row in rows}
    best, chance = leaders(found), number(evidence.chance_precision)
    if not best:
        return (
            f"No measure has ranked the {unit}s yet; a random order finds the evidence with an average precision "
            f"of "
            f"{chance} ↑."
        )
    value = found[best[0]]
    if value <= evidence.chance_precision:
        return (
            f"None of these measures finds the evidence better than a random order, whose average precision is "
            f"{chance} ↑: "
            f"{_named(best)} {'comes' if len(best) == 1 else 'come'} closest with {number(value)}."
        )
    how = "high" if len(found) == 1 else "highest"
    others = sorted(value for name, value in found.items() if name not in best and value == value)
    ends = dict.fromkeys(map(number, (others[0], others[-1]) if others else ()))
    beside = f", {'the others' if len(others) > 1 else 'the other'} {' to '.join(ends)}" if ends else ""
    alike = leaders(found, within=ALIKE)
    ranks = f"{_named(best)} {'ranks' if len(best) == 1 else 'rank'} the evidence {how}"
    whose = ""
    if len(alike) > len(best):
        # None is called the best by a hair.
        every = others[0] > value - ALIKE
        lead = "" if every else " best, and"
        ranks = f"{_named(alike)} rank the evidence{lead} about alike, less than {ALIKE:g} apart"
        whose = f" of {_named(best)}"
    return f"{ranks}: average precision <b>{number(value)}</b> ↑{whose}{beside}, where a random order has {chance}."


def _named(names: tuple[str, ...]) -> str:
    return joined([f"<b>{escaped(name)}</b>" for name in names])
