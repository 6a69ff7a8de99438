"""The words of the tables, and the keys, on every page: a button in the sidebar, or the key `?`."""

import streamlit as st

from core.measures.catalogue import measures
from core.metrics.catalogue import metrics
from core.terms import KEYS, TERMS
from core.validity.marks import MEANING, SIGN
from core.wording import escaped

_KEY = "words-and-keys"


def words_and_keys() -> None:
    """Draw the button that opens the sheet; `pages/parts/components/steady.js` presses it for the key `?`."""
    if st.button("Words and keys", key=_KEY, icon=":material/help:", type="tertiary", help="Or press ?"):
        _sheet()


@st.dialog("Words and keys", width="large")
def _sheet() -> None:
    st.html("<h3>Keys</h3>" + _listed(KEYS))
    st.html("<h3>Words</h3>" + _listed(TERMS | {SIGN: MEANING}))
    st.html("<h3>Importance measures</h3>" + _listed({one.name: one.definition for one in measures().values()}))
    st.html(
        "<h3>Faithfulness metrics</h3>"
        + _listed({f"{one.name} {one.arrow}".strip(): one.definition for one in metrics().values()})
    )


def _listed(told: dict[str, str]) -> str:
    rows = (f"<dt><b>{escaped(name)}</b></dt><dd>{escaped(said, 600)}</dd>" for name, said in told.items())
    return f"<dl>{''.join(rows)}</dl>"
