"""Plotly figures with buttons that save them as shown; the script is constant, names and texts travel as data."""

import re
from collections.abc import Iterable
from typing import Any

import streamlit as st

from core.wording import safe_name
from pages.parts.components.component import component

_draw = component("pictures")


def draw_figure(
    figure: dict, key: str, alt: str, name: Iterable[str], about: str, title: str = "the figure", **more: Any
) -> Any:
    """Draw a Plotly figure, and under it the buttons that save it; what `st.plotly_chart` gives.

    Args:
        alt: the figure in words; name: of its files, in parts; about, title: see `figure_buttons`.
    """
    event = chart(figure, key, alt, **more)
    figure_buttons(key, safe_name(name), about, title)
    return event


def chart(figure: dict, key: str, alt: str, **more: Any) -> Any:
    """Draw a figure as wide as its place, without buttons; what `st.plotly_chart` gives."""
    # What computes may be importing it on another thread, and Plotly fails on what is half there: this waits for it.
    import pandas  # noqa: F401

    config = {"displayModeBar": False}
    return st.plotly_chart(figure, width="stretch", theme=None, key=key, config=config, alt=alt, **more)


def figure_buttons(figure_key: str, name: str, about: str, title: str = "the figure") -> None:
    """Two small buttons that save a figure as SVG and as PNG, as the page shows it now.

    Args:
        figure_key: the key of `st.plotly_chart`, or of a container with that one figure; name: without an ending.
        about: the line under the picture, from `core.reports.exports.picture_line`; the day is added.
    """
    # The class that Streamlit gives to what has this key.
    figure = re.sub("[^A-Za-z0-9_-]", "-", figure_key.strip())
    _draw({"figure": figure, "name": name, "about": about, "title": title}, f"save-{figure_key}")
