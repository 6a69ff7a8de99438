"""Why one class rather than another, beside the classes that can be explained."""

import streamlit as st

from core.wording import plain
from pages.parts.frame.links import choose
from pages.parts.frame.sidebar import ALL_OTHERS, View


def rather_than(view: View) -> None:
    """Draw a button for each class that the explained one can be set against; pressed again it is set against none."""
    st.caption("rather than", width="content")
    for i, label in enumerate(view.model.labels):
        if i != view.target:
            chosen = i == view.than
            st.button(
                plain(label),
                key=f"than-{i}",
                on_click=choose,
                args=("than", ALL_OTHERS if chosen else label),
                type="primary" if chosen else "secondary",
                help="The score is then the logit of the explained class less that of this one.",
            )
