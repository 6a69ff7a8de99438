"""Words over the data as the page Data set draws them: table, links, picture, files and report, of words of any script."""

import html
import re
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core.figures.catalogue import question_figure
from core.reports.answers import Answer, Section, answer_bytes
from core.reports.exports import visible
from core.results.catalogue import question_result
from pages.parts.data_set.words import words_parts
from tests.app_session import NAMES
from tests.evaluation.test_words_question import BETTER, LABELS, UNTOLD, told
from tests.evaluation.test_words_question import NAMES as MEASURES
from tests.saved_page import harmless

pytestmark = pytest.mark.usefixtures("server")
ODD = ("<img src=x onerror=alert(1)>", "رائع", "\u202eevil\u202c", '"quoted"', "=1+1")


def answered():
    """Six texts of one class with each odd word, one of which holds a word that no other has; none of the other class."""
    texts = [(0, [word, f"once{k}{i}"], [2.0 + 0.1 * i + k, 0]) for k, word in enumerate(ODD) for i in range(6)]
    texts[0][1].append("single")
    texts[0][2].append(9.0)
    question, answers, report = told(texts, [[BETTER, UNTOLD]] * len(texts))
    return question, answers, report, question_result(question.name, report)


def draw() -> None:
    """What the page draws but for the second model."""
    question, answers, report, result = answered()
    sample = SimpleNamespace(name="made", digest="0" * 64)
    model = SimpleNamespace(**vars(answers.model), precision="float32", device="cpu", max_tokens=16)
    asked = SimpleNamespace(question=question, answers=answers, model=model, sample=sample)
    parts = words_parts(asked, report, result)
    for name, tab in parts.tabs.items():
        if name != "Second model":
            tab()
    parts.save()


def script() -> None:
    from tests.pages.test_words_page import draw

    draw()


@pytest.fixture
def drawn():
    app = AppTest.from_function(script, default_timeout=120).run()
    assert not app.exception, app.exception[0].message
    return app


def test_each_word_stands_as_typed_and_leads_to_its_texts(drawn):
    (frame,) = [one.value for one in drawn.dataframe if "examples" in one.value]
    found = frame.to_dict("list")
    assert sorted(found["word"]) == sorted(visible(word) for word in ODD)
    assert set(found["class"]) == {LABELS[0]} and set(found["texts"]) == {6} and set(found["measure"]) == {MEASURES[0]}
    assert all(low <= mean <= high for low, mean, high in zip(found["95 % low"], found["mean ↑"], found["95 % high"]))
    for word, address in zip(found["word"], found["examples"]):
        asked = dict(parse_qsl(urlsplit(address).query))
        (own,) = [one for one in ODD if visible(one) == word]
        assert asked["predicted"] == LABELS[0] and asked["search"].strip('"') == own.strip('"')
    assert not any(word in one.value for one in drawn.markdown for word in ODD)


def test_what_is_drawn_is_saved_as_lines_and_every_score_as_a_file(drawn):
    saved = [NAMES[one.proto.deferred_file_id] for one in drawn.get("download_button")]
    assert sorted(name.rpartition(".")[2] for name in saved) == ["csv", "csv", "json", "parquet"]


def test_a_word_of_one_text_is_in_no_line_and_the_picture_and_report_hold_no_markup():
    question, _, report, result = answered()
    assert {one.word for one in report.lines} == {*ODD} and not report.of(MEASURES[0], LABELS[1])
    figure = question_figure(question.name, [report])
    points = figure["data"][0]
    assert {*points["text"]} - {""} == {html.escape(word) for word in ODD}
    section = Section("words", result, question.tables(report), figure=figure)
    page = answer_bytes(Answer("made", [section], facts={"data": ODD[0]}), ".html").decode()
    harmless(re.sub(r"<figure.*?</figure>", "", page, flags=re.DOTALL))
    (picture,) = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert "<svg" in picture and "<img" not in picture and html.escape(ODD[0])[:20] in picture and ODD[1] in picture
    # What turns directions stands by itself.
    assert all(before.endswith((">", "…")) for before in page.split("\u202e")[:-1])
