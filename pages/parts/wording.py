"""How pages write numbers and other people's text."""

import html
import re

# Everything that Streamlit's Markdown could take for markup, colour or emoji directives.
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:&@/=])")
# Whatever ends a line: a second line could be a heading or a list.
_LINE_END = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def plain(text: str) -> str:
    """Text for a Markdown label, shown as typed."""
    return _MARKUP.sub(r"\\\1", _LINE_END.sub(" ", text))


def escaped(text: str, most: int = 60) -> str:
    """Text for an HTML element, shown as typed; NUL becomes its visible sign, long text is cut in the middle."""
    return html.escape(shortened(text, most).replace("\0", "␀"))


def shortened(text: str, most: int = 60) -> str:
    """At most `most` characters, the cut marked by …"""
    return text if len(text) <= most else text[:most - 21] + "…" + text[-20:]


def without_markup(said: str) -> str:
    """HTML of ours, in which all text is escaped, as text."""
    return html.unescape(re.sub(r"<[^>]*>", "", said))


def number(value: float) -> str:
    """Three significant digits; — where there is no number."""
    return "—" if value != value else f"{value:.3g}"


def duration(seconds: float) -> str:
    """A duration in a unit that fits."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
