"""Why one class rather than another, beside the classes that can be explained."""

import streamlit as st

from core.wording import plain
from pages.parts.frame.links import choose
from pages.parts.frame.sidebar import ALL_OTHERS, View


def rather_than(view: View) -> None:
    """Draw which class the explained one is set against, the likeliest other where it is none: a press sets it against
    this one, another press against none. The box "Rather than" has all.
    """
    others = [i for i in view.probabilities.argsort(kind="stable")[::-1].tolist() if i != view.target]
    if not others:
        return
    shown, chosen = (others[0], False) if view.than is None else (view.than, True)
    label = view.model.labels[shown]
    st.button(
        f"rather than {plain(label)}",
        key="rather-than",
        on_click=choose,
        args=("than", ALL_OTHERS if chosen else label),
        type="primary" if chosen else "secondary",
        help="The score is then the logit of the explained class less that of this one; press again for the class "
        "alone. “Rather than” offers every class.",
    )
