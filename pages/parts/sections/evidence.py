"""Put known evidence into words and tables: how well each measure finds it, beside how faithful it is."""

from collections.abc import Sequence

import streamlit as st

from core.explanation.edits import changed_spans
from core.explanation.plausibility import MEANING, Evidence, evidence_of
from core.explanation.rows import WordRow
from core.results.evidence import evidence_result
from core.wording import escaped, number, plain
from pages.parts.components.tables import table
from pages.parts.face.headline import Badge, draw_finding
from pages.parts.frame.sidebar import View

PRECISION = COLUMN = "average precision ↑"
_MOST_MARKED = 20_000


def evidence_section(view: View, rows: list[WordRow]) -> None:
    """Where evidence is known: which measure finds it best, and each one's numbers in a table."""
    st.header("Does it find the evidence?", anchor=False)
    evidence, unit = evidence_of(view.encoded, view.example.evidence), view.encoded.unit
    badges = []
    if view.label_class is not None and view.explained != view.label_class:
        badges = [Badge(f"evidence of {view.model.labels[view.label_class]}", "The evidence is that of the label.")]
    draw_finding(evidence_result(evidence, rows, unit), *badges)
    if evidence is None:
        return
    found = [[row.measure, number(evidence.precision(row.scores)), number(evidence.recall(row.scores))] for row in rows]
    chance = ["random order, on average", number(evidence.chance_precision), number(evidence.chance_recall)]
    table(["measure", COLUMN, f"recall of the top {evidence.m} ↑"], [*found, chance])
    st.caption(f"Evidence: {evidence.m} of {evidence.F} {unit}s. {MEANING}")


def known_evidence(view: View, sides: Sequence[View]) -> dict[View, Evidence | None]:
    """The evidence of the text as each side reads it; None where none is known."""
    return {side: evidence_of(side.encoded, view.example.evidence) for side in sides}


def show_text(view: View) -> None:
    """The text for pages without coloured words: overlined its evidence where that is known, else words that its other
    version has not.
    """
    text, spans, pair = view.example.text, view.example.evidence, view.pair
    about = "Overlined: the evidence, what the label rests on."
    if not spans and pair is not None and max(len(text), len(pair.text)) <= _MOST_MARKED:
        spans, about = changed_spans(text, pair.text), f"Overlined: not in {plain(pair.id)}."
    st.html(f"<p dir='auto' class='whole-text'>{marked_text(text, spans, _MOST_MARKED)}</p>")
    if spans and len(text) <= _MOST_MARKED:
        st.caption(about)


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
