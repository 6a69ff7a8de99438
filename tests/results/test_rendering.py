"""One renderer for every form: whatever names and numbers a result holds, each of them survives, and none is markup."""

import html
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as some
from jinja2 import Environment, UndefinedError, nodes

from core.results.caveats import Caveat
from core.results.result import Fact, Kind, Result, as_record
from core.texts.rendering import _TEMPLATES, Form, ends_text, fact_text, headline, write_result
from tests.results.made import OUTCOMES, names_others, outcomes, slots_of

NAMES = ["leave-one-out", "a <b> & c", "p < 0.0001", "*stars* _and_ `ticks`", "$x_1$ 50 %", "שלום עולם", "{{ 7 * 7 }}"]
# How a text of others reads in each form once its markup is taken away.
READ = {Form.TEXT: lambda text: text, Form.HTML: lambda text: html.unescape(re.sub(r"</?(?:b|p)>", "", text))}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", list(Form))
def test_every_headline_keeps_names_of_others_as_typed(form, name):
    for outcome in outcomes():
        found = headline(Result.of(outcome, **slots_of(outcome, name=name)), form)
        assert "\n" not in found and found.endswith((".", "?", ".”"))
        if form == Form.HTML:
            assert set(re.findall(r"<[^>]*>", found)) <= {"<b>", "</b>"}
        if names_others(outcome):
            assert name in READ[form](found), outcome


def test_headlines_have_at_most_twenty_words_beside_names_for_one_and_for_many():
    for outcome in outcomes():
        for count in (1, 2, 1234):
            found = headline(Result.of(outcome, **slots_of(outcome, name="NAME", count=count)))
            # A list of names counts as one.
            found = re.sub(r"NAME and \S+", "NAME", found)
            assert len(found.split()) <= 20, (outcome, found)
            assert "1 words" not in found and "1 texts" not in found


def test_a_question_has_at_most_six_outcomes_each_with_a_template_and_no_template_a_choice():
    for question, slots in OUTCOMES.items():
        assert 3 <= len(question) <= 6 and set(slots) == set(question), question
    for path in _TEMPLATES.glob("*.j2"):
        tree = Environment().parse(path.read_text(encoding="utf-8"))
        assert not list(tree.find_all((nodes.If, nodes.CondExpr, nodes.For, nodes.Assign))), path.name
    known = {question.question() for question in OUTCOMES}
    assert {path.stem for path in _TEMPLATES.glob("*.j2")} == known


def test_a_slot_that_a_template_names_must_be_there():
    outcome = next(one for one in outcomes() if slots_of(one))
    with pytest.raises((UndefinedError, TypeError)):
        headline(Result.of(outcome))


@pytest.mark.parametrize("form", list(Form))
def test_small_p_values_and_names_after_them_survive_in_every_form(form):
    facts = [
        Fact("a", "first <name>", 0.00001, Kind.P, "↓"),
        Fact("b", "second & last", 0.602, Kind.P, "↓", low=0.5, high=0.7),
    ]
    outcome = next(iter(outcomes()))
    found = READ[form](write_result(Result.of(outcome, facts, **slots_of(outcome)), form))
    for part in ("first <name>", "p < 0.0001", "second & last", "p = 0.602", "[0.5, 0.7]"):
        assert part in found, part


@pytest.mark.parametrize(
    "fact, text",
    [
        (Fact("a", "a", 0.41), "0.41"),
        (Fact("a", "a", 0.41, low=0.2, high=0.6), "0.41 [0.2, 0.6]"),
        (Fact("a", "a", 0.41, low=math.nan, high=math.nan, marked=True), "0.41 ⚠"),
        (Fact("a", "a", math.nan, marked=True), "—"),
        (Fact("a", "a", None), "—"),
        (Fact("a", "a", 3, Kind.COUNT, of=1200), "3 of 1,200"),
        (Fact("a", "a", 0.055, Kind.SHARE), "6 %"),
        (Fact("a", "a", 1e-9, Kind.P), "p < 0.0001"),
        (Fact("a", "a", "text <b>", Kind.TEXT), "text <b>"),
    ],
)
def test_a_fact_is_written_from_its_fields(fact, text):
    assert fact_text(fact) == text
    assert fact_text(fact, Form.HTML) == html.escape(text, quote=False)
    assert ends_text(fact) == ("[0.2, 0.6]" if fact.low == 0.2 else "")


NUMBERS = some.floats(allow_nan=False, allow_infinity=False, width=32)
FACTS = some.builds(
    Fact,
    key=some.from_regex(r"[a-z_]{1,12}", fullmatch=True),
    label=some.text(some.characters(categories=("L", "N", "S", "P")), min_size=1, max_size=20),
    value=some.one_of(NUMBERS, some.none()),
    kind=some.sampled_from([Kind.NUMBER, Kind.P]),
    marked=some.booleans(),
)


@given(
    some.sampled_from(list(outcomes())),
    some.lists(FACTS, max_size=4, unique_by=lambda one: one.key),
    some.sets(some.sampled_from(list(Caveat))),
)
def test_all_forms_agree_on_outcome_facts_and_caveats(outcome, facts, caveats):
    result = Result.of(outcome, facts, caveats, **slots_of(outcome))
    for form in Form:
        lines = write_result(result, form)
        for one in facts:
            assert fact_text(one, form) in lines
        for one in caveats:
            assert one.badge in READ[form](lines)
        assert headline(result, form) in lines
    record = as_record(result)
    assert record["outcome"] == outcome.value and set(record["caveats"]) == {one.name for one in caveats}
    assert record["facts"] == {one.key: one.value for one in facts}
