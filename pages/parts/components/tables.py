"""Small tables as HTML: drawn at once, read by screen readers, copied as text."""

import numpy as np
import streamlit as st

from core.figures.palette import OPPOSES, STRONGEST, SUPPORTS
from core.wording import escaped

_CELL = "padding:.3rem .7rem;border:1px solid rgba(125,133,144,.3)"
_SQUARE = (
    "padding:.55rem .9rem;text-align:center;min-width:5.2rem;border:2px solid transparent;background-clip:padding-box"
)


def table(header: list[str], rows: list[list[str]], most: int = 60) -> None:
    """A plain table; every text is escaped and cut to `most` characters, the first column names the row."""
    top = "".join(
        f"<th scope='col' style='{_CELL};text-align:left;font-weight:600'>{escaped(name)}</th>" for name in header
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<{tag} style='{_CELL};text-align:left;font-weight:400'>{escaped(text, most)}</{tag}>"
            for tag, text in zip(["th"] + ["td"] * len(row), row)
        )
        + "</tr>"
        for row in rows
    )
    st.html(
        f"<div style='overflow-x:auto'><table "
        f"style='border-collapse:collapse;font-size:.9rem'><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def square(values: np.ndarray, names: list[str]) -> None:
    """A square of agreement, each cell with its number and a shade of it; — where there is none.

    Args:
        values: float[M, M], in [-1, 1]; higher is more agreement.
        names: M names.
    """
    top = "<td></td>" + "".join(
        f"<th scope='col' style='padding:.3rem .5rem;font-weight:400'>{escaped(name)}</th>" for name in names
    )
    body = "".join(
        f"<tr><th scope='row' style='padding-right:.7rem;text-align:right;font-weight:400'>{escaped(name)}</th>"
        + "".join(_cell(float(value)) for value in row)
        + "</tr>"
        for name, row in zip(names, values)
    )
    st.html(
        f"<div style='overflow-x:auto'><table "
        f"style='border-collapse:collapse;font-size:.9rem'><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: float) -> str:
    if np.isnan(value):
        return f"<td style='{_SQUARE}'>—</td>"
    share = 100 * STRONGEST * min(1.0, abs(value))
    hue = SUPPORTS if value >= 0 else OPPOSES
    # Transparent colour lets the theme's own ground through; the number carries the sign.
    return (
        f"<td style='{_SQUARE};background-color:color-mix(in srgb, {hue} {share:.0f}%, "
        f"transparent)'>{f'{value:.2f}'.replace('-', '−')}</td>"
    )
