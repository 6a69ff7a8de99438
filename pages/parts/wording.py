"""How pages write numbers and other people's text."""

import html
import re

# Everything that Streamlit's Markdown could take for markup, colour or emoji directives.
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:&@/])")


def plain(text: str) -> str:
    """Text for a Markdown label, shown as typed."""
    return _MARKUP.sub(r"\\\1", text.replace("\n", " "))


def escaped(text: str, most: int = 60) -> str:
    """Text for an HTML element, shown as typed; NUL becomes its visible sign, long text is cut in the middle."""
    return html.escape(shortened(text, most).replace("\0", "␀"))


def shortened(text: str, most: int = 60) -> str:
    """At most `most` characters, the cut marked by …"""
    return text if len(text) <= most else text[:most - 21] + "…" + text[-20:]


def number(value: float) -> str:
    """Three significant digits; — where there is no number."""
    return "—" if value != value else f"{value:.3g}"


def duration(seconds: float) -> str:
    """A duration in a unit that fits."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
