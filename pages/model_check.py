"""Model check: is masking in-distribution for this model at all, and how does it behave under it?"""

from pages.parts.check.behaviour_tab import behaviour
from pages.parts.check.validity_tab import validity
from pages.parts.frame.links import choose_one
from pages.parts.frame.sidebar import open_data_page

# Names in the address, and what draws each from a frame.
PARTS = {
    "in-distribution": ("Is masking in-distribution?", validity),
    "behaviour": ("Behaviour under masking", behaviour),
}


def model_check() -> None:
    """Draw the page."""
    frame = open_data_page(
        "Model check", "A text of your own has no label, so performance cannot be told from it. Choose labelled data"
    )
    if frame is None:
        return
    # A choice and no tabs: what is not shown neither starts nor polls.
    part = choose_one(
        "Part",
        list(PARTS),
        next(iter(PARTS)),
        "part",
        format_func=lambda name: PARTS[name][0],
        label_visibility="collapsed",
    )
    PARTS[part][1](frame)


model_check()
