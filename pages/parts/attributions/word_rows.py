"""The coloured words, with what streams in: words as they are answered, scores beside them, and what these say."""

import streamlit as st

from core.explanation.row_scores import bridge_sentence, parting_sentence
from core.explanation.row_sentences import places_sentence
from core.explanation.rows import WordRow, build_row, value_text
from core.measures.catalogue import measures
from core.verdicts.telling import HANGS, chance_sentence, why_sentence
from core.wording import escaped, without_markup
from pages.parts.attributions.attributing import Attributing
from pages.parts.attributions.editing import edit_word
from pages.parts.attributions.scoring import ScoredRows
from pages.parts.components.tables import table
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import captions, show_answer, unread
from pages.parts.sections.coloured import coloured_words


def draw_words(
    view: View,
    works: list[Attributing],
    rows: list[WordRow],
    sign: str,
    scoring: ScoredRows,
    believed: bool,
    asks: object,
) -> None:
    """Draw the rows that are there, and of measures under way what is answered so far; of the word that is clicked its
    numbers. believed: whether the answer says which measures to believe, so that how that can be wrong stands here.
    """
    known = {row.measure: row for row in rows}
    for work in works:
        if work.measure not in known and (one := work.so_far) is not None:
            known[work.measure] = build_row(measures()[work.measure], one, sign, view.encoded.premasked)
    drawn = [known[work.measure] for work in works if work.measure in known]
    cells = scoring.verdict_cells if believed else scoring.cells
    word = coloured_words(view, drawn, unread(view.encoded) if drawn else "", cells)
    scores, report = scoring.scores, scoring.report if believed else None
    if not believed:
        # Where whom to believe is asked, the verdicts say it.
        parting = parting_sentence(rows, scores, view.encoded, view.class_name)
        show_answer(parting, bridge_sentence(rows, scores))
    if report is not None:
        why = without_markup(why_sentence(report, view.encoded))
        captions(filter(None, [why, f"{chance_sentence(report)} {HANGS}", without_markup(scoring.reach)]))
    if word is None or not drawn:
        return
    encoded = view.encoded
    st.html(f"<b>{escaped(encoded.features[word].text)}</b>, {encoded.unit} {word + 1} of {encoded.F}")
    table(
        ["measure", "variant", "value", "unit", "place when masking (1 first)"],
        [[row.measure, row.variant, value_text(row, word), row.unit, str(row.places[word] or "—")] for row in drawn],
    )
    captions([places_sentence(drawn)])
    edit_word(view, word)
