"""A button that copies the link of the view."""

import re

from pages.parts.components.component import component

# Longer ones are cut by what people paste links into.
MOST_CARRIED = 2_000
_draw = component("copy_link")


def copy_link(text: str | None = None, second: str | None = None) -> None:
    """Draw it; text, second: a text of one's own, which the link then carries itself where it is short enough."""
    # One that looks like a digest would be taken for one.
    short = (
        text is not None
        and len(text) + len(second or "") <= MOST_CARRIED
        and re.fullmatch("[0-9a-f]{64}", text) is None
    )
    carried = {"text": text} | ({"second": second} if second else {}) if short else {}
    about = "Link of this view"
    here = "Too long for a link: the text shows on this machine alone."
    # Half an emoji can stand in no address.
    carried = {name: value.encode("utf-8", "replace").decode() for name, value in carried.items()}
    _draw({"carried": carried, "about": about, "note": here if text is not None and not short else ""}, "copy-link")
