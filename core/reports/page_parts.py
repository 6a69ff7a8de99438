"""What every page that is saved has: a frame that loads and runs nothing, texts of others as typed, the prediction, and
where it comes from.
"""

import html
import re
from collections.abc import Iterable

import numpy as np

from core.reports.exports import Shown, visible
from core.reports.page_style import STYLE

# Nothing may be loaded and nothing may run, whatever a text holds.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MOST_CLASSES = 20
_NAMES = {
    "weights_sha256": "weights, configuration and tokenizer (SHA-256)",
    "data_sha256": "data (SHA-256)",
    "text_sha256": "text (SHA-256)",
    "second_text_sha256": "second text (SHA-256)",
    "feature_unit": "unit",
    "date": "written (UTC)",
    "class": "explained class",
}


def document(title: str, parts: Iterable[str], style: str = STYLE) -> str:
    """A whole page that holds no script and no reference to anything outside itself.

    Args:
        title: as text.
        parts: HTML of ours in which every text of others is escaped; empty ones are left out.
        style: its style sheet.
    """
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{typed(BIDI.sub("", title))}</title>
<style>{style}</style>
</head>
<body>
<main>
{"".join(part for part in parts if part)}</main>
</body>
</html>
"""


def typed(text: str) -> str:
    """Text for an element or a quoted attribute, as typed."""
    return html.escape(visible(text).replace("\r\n", "\n").replace("\r", "\n"), quote=True)


def other(text: str) -> str:
    """A text of others inside a sentence or cell of ours, which its direction must not turn around."""
    # A sign of direction that is never closed reaches out of an isolate, but not out of a box.
    return f'<bdi class="alone">{typed(text)}</bdi>' if BIDI.search(text) else f"<bdi>{typed(text)}</bdi>"


def number(value: float) -> str:
    """Three significant digits; — where there is no number."""
    return "—" if value != value else f"{value:.3g}".replace("-", "−")


def predicted_line(shown: Shown) -> str:
    """What the model predicts, whether that is right, and what is explained instead where something else is."""
    predicted, label = int(np.argmax(shown.probabilities)), shown.label_class
    said = (
        f"The model predicts <b>{other(shown.labels[predicted])}</b> (probability "
        f"{number(float(shown.probabilities[predicted]))})."
    )
    if label is not None:
        said += (
            " That is right."
            if label == predicted
            else f" That is <b>wrong</b>: the label is {other(shown.labels[label])}."
        )
    if shown.target != predicted:
        said += f" Explained here: <b>{other(shown.labels[shown.target])}</b>."
    return said


def prediction(shown: Shown, heading: str = "Prediction") -> str:
    """The section on the prediction; `heading`: HTML of ours."""
    # With hundreds of classes the likeliest tell enough.
    likely = np.argsort(-shown.probabilities, kind="stable")[:_MOST_CLASSES].tolist()
    likely += [shown.target] if shown.target not in likely else []
    lines = "".join(
        _class_line(shown, i) for i in (likely if len(shown.labels) > _MOST_CLASSES else range(len(shown.labels)))
    )
    left = len(shown.labels) - len(likely)
    rest = f'<p class="quiet">{left:,} more classes, each less likely.</p>\n' if left > 0 else ""
    return (
        f'<section>\n<h2>{heading}</h2>\n<p>{predicted_line(shown)}</p>\n<table class="classes">\n'
        f'<thead><tr><th scope="col">class</th><th '
        f'scope="col">probability</th><th></th></tr></thead>\n<tbody>\n{lines}</tbody>\n</table>\n{rest}</section>\n'
    )


def whole_text(text: str) -> str:
    """A text of others as a paragraph of its own, in the direction of its script."""
    return f'<p class="text" dir="auto">{typed(text)}</p>'


def second_text(shown: Shown) -> str:
    """The second text of a pair, "" where there is none."""
    if shown.encoded.second is None:
        return ""
    return (
        f'<div class="row"><p class="head"><b>Second text</b> read, never '
        f"masked</p>\n{whole_text(shown.encoded.second)}</div>\n"
    )


def noted(notes: Iterable[str]) -> str:
    """Sentences that a reader must know, as a list; "" without any."""
    lines = "".join(f"<li>{other(note)}</li>\n" for note in notes)
    return f'<ul class="notes">\n{lines}</ul>\n' if lines else ""


def provenance_footer(facts: dict[str, str], heading: str = "Where this comes from") -> str:
    """The facts of `core.reports.exports.provenance`, each with its name; `heading`: HTML of ours."""
    lines = "".join(
        f"<dt>{typed(_NAMES.get(name, name))}</dt><dd>{other(value)}</dd>\n" for name, value in facts.items() if value
    )
    return f"<footer>\n<h2>{heading}</h2>\n<dl>\n{lines}</dl>\n</footer>\n" if lines else ""


def _class_line(shown: Shown, i: int) -> str:
    share = float(shown.probabilities[i])
    mark = ' <span class="mark">explained</span>' if i == shown.target else ""
    return (
        f'<tr><th scope="row">{other(shown.labels[i])}{mark}</th><td class="number">{number(share)}</td>'
        f'<td class="room"><span class="bar" style="width:{100 * min(1.0, max(0.0, share)):.1f}%"></span></td></tr>\n'
    )
