"""A page that is saved: put together by templates that escape every text; it loads nothing and runs nothing."""

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.explanation.rows import value_text
from core.figures.palette import LIMIT, OPPOSES, RANDOM, STRONGEST, SUPPORTS, UNSIGNED, custom_properties, hue, rgb
from core.reports.exports import Shown, describe, visible
from core.validity import marks
from core.wording import number, printed_number, shortened

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

# Nothing may be loaded and nothing may run, whatever a text holds.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Of text that is escaped: what is read as one, "p = 0.05", "0.98 ± 0.01" with its sign, "64.5 %".
_WHOLE = re.compile(
    rf"\bp (?:=|&lt;|≤|≥) [\d.e−-]+|[\d.,−+-]+(?: ± [\d.]+)? {marks.SIGN}|[\d.,−+-]+ ± [\d.]+|[\d.,]+ %"
)
_TEMPLATES = Path(__file__).parent / "templates"
_MOST_CLASSES = 20


def write_page(template: str, title: str, style: str, **given: Any) -> str:
    """A whole page from a template that extends page.html, for UTF-8; title: as text; style: see `read_style`; given:
    what the template asks for, texts of which are escaped.
    """
    from markupsafe import Markup

    found = environment(_TEMPLATES).get_template(template)
    return found.render(title=title, style=Markup(style), policy=POLICY, **given)


def write_cell_page(**given: Any) -> str:
    """A fragment from cell.html, for a page that is not ours; given: as of `write_page`."""
    from markupsafe import Markup

    return (
        environment(_TEMPLATES)
        .get_template("cell.html")
        .render(style=Markup(read_style("cell.css", of=".faithscope")), **given)
    )


def read_style(*names: str, of: str = ":root") -> str:
    """Style sheets beside the templates, after the colours that they speak of; of: what these are defined for."""
    colours = {
        "for": SUPPORTS,
        "against": OPPOSES,
        "limit": LIMIT,
        "chance": RANDOM,
        "for-shade": shade(1),
        "unsigned-shade": shade(1, "positive"),
        "against-shade": shade(-1),
    }
    sheets = [(_TEMPLATES / name).read_text(encoding="utf-8") for name in names]
    return custom_properties(of, colours) + "".join(sheets)


@functools.cache
def environment(folder: Path) -> "Environment":
    """Templates of a folder: values are escaped, control characters shown, and an undefined name is an error."""
    # Imported when a page is written: the first picture does not wait for it.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_typed,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["marks"] = marks  # ty: ignore[invalid-assignment] (Jinja states the type of what it begins with)
    made.tests["turning"] = lambda text: BIDI.search(text) is not None  # ty: ignore[invalid-assignment] (as above)
    made.filters |= {
        "straight": straight,
        "number": printed_number,
        "plain_number": number,
        "shortened": shortened,
        "agreement": lambda value: f"{value:.2f}".replace("-", "−"),
        "minus": lambda text: text.replace("-", "−"),
        "thousands": lambda count: f"{count:,}",
        "shade": shade,
        "hue": hue,
        "describe": describe,
        "with_sign": marks.with_sign,
        "together": _together,
        "value_text": value_text,
        "likeliest": _likeliest,
    }
    return made


def straight(text: str) -> str:
    """A sentence with names of others in it, without what turns directions around."""
    return BIDI.sub("", text)


def shade(value: float, kind: str = "signed") -> str:
    """The transparent colour of a value in [−1, 1] of a row of this kind, in either theme."""
    red, green, blue = rgb(UNSIGNED if kind == "positive" else OPPOSES if value < 0 else SUPPORTS)
    return f"rgba({red},{green},{blue},{min(1.0, abs(value)) * STRONGEST:.3f})"


def _together(text: str) -> "Markup":
    """A cell's text, in which no line breaks within a number with its p, its error, its unit or its sign."""
    from markupsafe import Markup, escape

    return Markup(_WHOLE.sub(r'<span style="white-space:nowrap">\g<0></span>', str(escape(_typed(text)))))


def _typed(value):
    """Text as typed, for an element or a quoted attribute; what is HTML already stays."""
    return visible(value).replace("\r\n", "\n").replace("\r", "\n") if type(value) is str else value


def _likeliest(shown: Shown) -> list[int]:
    """The classes that are listed: all of them, or the likeliest of hundreds and the explained one."""
    likely = np.argsort(-shown.probabilities, kind="stable")[:_MOST_CLASSES].tolist()
    likely += [one for one in shown.classes if one not in likely]
    return likely if len(shown.labels) > _MOST_CLASSES else list(range(len(shown.labels)))
