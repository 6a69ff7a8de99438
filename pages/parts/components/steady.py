"""Buttons that move between the halves of a click, as on a page that streams, are pressed all the same."""

from pages.parts.components.component import component

_draw = component("steady")


def steady_buttons() -> None:
    """Have every button of the page so; drawn once, invisible."""
    _draw({}, "steady")
