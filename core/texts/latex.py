"""Text for LaTeX."""

import re

from core.validity.marks import SIGN

# What LaTeX would run, or has no sign for in every font; a backslash and braces are written first.
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    # Behind the end of a line a bracket would be read as a length.
    "[": "{[}",
    "]": "{]}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "×": r"$\times$",
    "−": "$-$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "—": "---",
    "–": "--",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\dots{}",
    SIGN: r"$^{!}$",
}
_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def latex_text(text: str) -> str:
    """A text that LaTeX sets as it reads: what it would run is escaped, line ends and control characters are spaces.

    The sign of rejected inputs becomes a raised exclamation mark, arrows and × mathematics.
    """
    return _SPECIAL.sub(lambda found: _LATEX[found[0]], _CONTROL.sub(" ", text))
