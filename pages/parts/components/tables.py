"""Small tables as HTML: drawn at once, read by screen readers, copied as text."""

from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from core.reports.page import environment

_PARTS = Path(__file__).parent.parent


def table(header: list[str], rows: list[list[str]], most: int = 60) -> None:
    """A plain table; every text is escaped and cut to `most` characters, the first column names the row."""
    st.html(macros("components/tables.html").table(header, rows, most))


def square(values: np.ndarray, names: list[str]) -> None:
    """A square of agreement, each cell with its number and a shade of it; — where there is none.

    Args:
        values: float[M, M], in [-1, 1]; higher is more agreement.
        names: M names.
    """
    st.html(macros("components/tables.html").square(values, names))


def macros(template: str) -> Any:
    """The macros of a template of these parts, as functions that give HTML in which every text is escaped."""
    return environment(_PARTS).get_template(template).module
