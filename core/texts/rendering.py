"""Write results: headlines from templates, facts and caveats from their fields, alike in every form."""

import functools
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.results.result import Fact, Kind, Result
from core.validity.marks import with_sign
from core.wording import amount, ends_of, joined, number, p_value, share_text, shortened

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent
# Names of others are cut in their middle beyond this.
_LONGEST = 60
# What stands for a number that is undefined.
_NOTHING = "—"


class Form(StrEnum):
    """Where a text is shown, and so what is escaped in it."""

    HTML = "html"
    TEXT = "text"


class _Written(str):
    """Text that is escaped already."""

    __slots__ = ()


def headline(result: Result, form: Form = Form.TEXT) -> str:
    """The sentence of a result's outcome, with all text of others escaped for the form.

    Raises:
        jinja2.TemplateNotFound, KeyError: the question or the outcome has no template.
        jinja2.UndefinedError, TypeError: the template names a slot that the result lacks.
    """
    template = _environment(form).get_template(f"{result.question}.j2")
    return " ".join("".join(template.blocks[result.outcome.name](template.new_context(dict(result.slots)))).split())


def fact_text(fact: Fact, form: Form = Form.TEXT) -> str:
    """The value of a fact with its interval, and the sign of doubt where it is marked; "—" if undefined."""
    text = _value_text(fact)
    return _escape(with_sign(text, fact.marked and text != _NOTHING), form)


def fact_label(fact: Fact, form: Form = Form.TEXT) -> str:
    """The name of a fact with the direction that is better: "RACU ↑"."""
    return _escape(f"{fact.label} {fact.better}".rstrip(), form)


def ends_text(fact: Fact) -> str:
    """The 95 % interval of a fact, text: "[0.2, 0.6]"; "" without one."""
    return ends_of(fact.low, fact.high, number if fact.kind == Kind.P else _WRITTEN[fact.kind])


def write_result(result: Result, form: Form = Form.TEXT) -> str:
    """A whole result: its headline, a line for each fact, and one for each caveat."""
    lines = [headline(result, form)]
    lines += [f"{fact_label(one, form)}: {fact_text(one, form)}" for one in result.facts]
    lines += [_escape(one.line, form) for one in result.caveats]
    return "".join(f"<p>{line}</p>" for line in lines) if form == Form.HTML else "\n".join(lines)


def latex_comment(result: Result) -> str:
    """A whole result as comments, which LaTeX does not set, for the head of a file of tables."""
    return "\n".join(f"% {' '.join(line.split())}" for line in write_result(result).split("\n"))


def _value_text(fact: Fact) -> str:
    value = fact.value
    if value is None or value != value:
        return _NOTHING
    if isinstance(value, str):
        return value
    as_text = _WRITTEN[fact.kind]
    if fact.of:
        return f"{as_text(value)} of {fact.of:,}"
    return f"{as_text(value)} {ends_text(fact)}".rstrip()


_WRITTEN = {
    Kind.NUMBER: number,
    Kind.P: p_value,
    Kind.COUNT: lambda value: f"{int(value):,}",
    Kind.SHARE: share_text,
    Kind.TEXT: str,
}


def _escape(text: Any, form: Form) -> str:
    if isinstance(text, _Written):
        return str(text)
    text = shortened(str(text), 400).replace("\0", "␀")
    if form == Form.HTML:
        from markupsafe import escape

        return str(escape(text))
    return text


# What makes a name bold in each form.
_BOLD = {Form.HTML: "<b>{}</b>", Form.TEXT: "{}"}


@functools.cache
def _environment(form: Form) -> "Environment":
    # Imported when a result is written: the first picture does not wait for it.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    def written(value: Any) -> _Written:
        return _Written(_escape(value, form))

    def name(value: Any) -> _Written:
        return _Written(_BOLD[form].format(_escape(shortened(str(value), _LONGEST), form)))

    made = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=False, undefined=StrictUndefined, finalize=written
    )
    made.filters |= {
        "name": name,
        "names": lambda values: _Written(joined([name(one) for one in values])),
        "amount": amount,
        "thousands": lambda count: f"{count:,}",
        "number": number,
        "p": p_value,
        "share": share_text,
    }
    return made


@functools.cache
def _all() -> dict[str, dict[str, str | list[str]]]:
    return tomllib.loads((_TEMPLATES / "sentences.toml").read_text(encoding="utf-8"))


def sentence(page: str, name: str) -> str:
    """One sentence of a page; KeyError if there is none."""
    return str(_all()[page][name])


def sentences(page: str, name: str) -> list[str]:
    """Several sentences of a page, in their order; KeyError if there are none."""
    return list(_all()[page][name])
