"""What the page Data set draws of words: a table that leads to their texts, every score as a file, a second model."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st

from core.evaluation.studies.words_beside import compare_words
from core.evaluation.studies.words_question import LISTED, Words, WordsReport
from core.reports.exports import visible
from core.results.result import Result
from core.results.words_beside import words_of_two
from core.wording import plain
from pages.parts.components.tables import meaning_of
from pages.parts.face.headline import draw_finding
from pages.parts.frame.links import link_to
from pages.parts.sections.asking import other_model
from pages.parts.sections.questions import QuestionParts, question_parts
from pages.parts.sections.saving import save_lines
from pages.parts.sections.sides import ALONE, pick_beside
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking


def words_parts(asked: Asking, report: WordsReport, result: Result) -> QuestionParts:
    """The words with links to their texts, on how many texts each measure is heard, and a second model's words."""
    parts = question_parts(asked, report, result)
    others = {name: draw for name, draw in parts.tabs.items() if name != "Word"}
    tabs = {"Words": partial(_draw_words, report)} | others | {"Second model": partial(_draw_second, asked)}
    return parts._replace(tabs=tabs, save=partial(_save, parts, asked))


def _draw_words(report: WordsReport) -> None:
    lines = [one for name in report.measures for label in report.labels for one in report.of(name, label)[:LISTED]]
    if not lines:
        st.caption("No words.")
        return
    columns: dict[str, list[Any]] = {
        "word": [visible(one.word) for one in lines],
        "examples": [_examples(one.word, predicted=one.label) for one in lines],
        "class": [one.label for one in lines],
        "measure": [one.measure for one in lines],
        "mean ↑": [one.mean.mean for one in lines],
        "95 % low": [one.mean.low for one in lines],
        "95 % high": [one.mean.high for one in lines],
        "texts": [one.texts for one in lines],
        "in top 3, %": [100 * one.top for one in lines],
        "changes alone, %": [100 * one.alone for one in lines],
        "accuracy, %": [100 * one.right for one in lines],
        "others, %": [100 * one.others for one in lines],
    }
    _word_table(columns, "words")


def _word_table(columns: dict[str, list[Any]], key: str) -> None:
    """A table that sorts by numbers, of which each word leads to its texts."""
    import pandas

    numbers = [name for name, values in columns.items() if isinstance(values[0], (int, float))]
    config: dict[str, Any] = {
        name: st.column_config.NumberColumn(help=meaning_of(name) or None, format="%.3g") for name in numbers
    }
    config["examples"] = st.column_config.LinkColumn(display_text="texts", help="Its texts on Examples")
    st.dataframe(pandas.DataFrame(columns), key=key, hide_index=True, column_config=config, placeholder="—")


def _examples(word: str, **filters: str) -> str:
    """The address of the texts that hold a word."""
    return link_to("examples", search=word if '"' in word else f'"{word}"', **filters)


def _draw_second(asked: Asking) -> None:
    """Words that one model has in front and the other has not; what the other is not asked yet is offered."""
    name = pick_beside(asked.model)
    if name == ALONE:
        return
    try:
        other = replace(asked, explainer=other_model(name, [asked.model]), first=False, grows=False, of=0)
    except ValueError as error:
        st.info(plain(str(error)))
        return
    draw = partial(_draw_beside, asked, other)
    stream(other.works, (st.container(), draw), rests_on=lambda: other.done, name="second words", together=True)


def _draw_beside(asked: Asking, other: Asking, asks: Callable[[], None]) -> None:
    report = compare_words(cast(Words, asked.question), asked.answers, other.answers) if other.done else None
    if report is not None:
        draw_finding(words_of_two(report))
    asks()
    if report is None or not report.gaps:
        return
    columns: dict[str, list[Any]] = {
        "word": [visible(one.word) for one in report.gaps],
        "examples": [_examples(one.word) for one in report.gaps],
        "measure": [one.measure for one in report.gaps],
        "texts": [one.texts for one in report.gaps],
    }
    for model, shares in zip(report.models, zip(*((one.first, one.second) for one in report.gaps))):
        columns[f"in top 3, {model}, %"] = [100 * share for share in shares]
    columns["p (Holm)"] = [one.p for one in report.gaps]
    _word_table(columns, "words-beside")


def _save(parts: QuestionParts, asked: Asking) -> None:
    parts.save()
    question, answers = replace(cast(Any, asked.question), lines="scores"), asked.answers
    about = {"model": asked.model.name, "weights": asked.model.digest, "data_sha256": asked.sample.digest}
    name = ["word scores", asked.model.name, asked.sample.name]
    with st.container(horizontal=True, vertical_alignment="center"):
        save_lines("Every score", partial(question.records, answers), lambda: about, name, "word-scores")
