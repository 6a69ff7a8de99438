"""What papers found, beside what is found here."""

from collections.abc import Sequence

import streamlit as st

from core.evaluation.findings import Finding, findings_in_short
from core.wording import escaped, unbroken
from pages.parts.components.tables import table
from pages.parts.frame.texts import captions


def show_findings(paper: str, findings: Sequence[Finding], most: int) -> None:
    """A heading and a table of them, with at most so many characters a cell, and the tests behind them a step away;
    nothing where there are none.
    """
    if findings:
        st.header(f"Beside {paper}", anchor=False)
        header = [f"{paper} found", "does this data agree?", "by what"]
        if short := findings_in_short(findings, paper):
            st.html(unbroken(f"<p>{escaped(short, 400)}</p>"))
        table(header, [[one.claim, one.said, one.here] for one in findings], most=most)
        tests = [f"{one.more.rstrip('.')}." for one in findings if one.more]
        if tests:
            with st.expander("The tests behind these rows"):
                captions(tests)
