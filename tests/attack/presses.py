"""Somebody presses, chooses and types at random, whatever stands open at once: no page fails."""

import contextlib
import os
import random
import time
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any
from unittest import mock

from tests import tiny
from tests.app_session import PAGES, App
from tests.attack.tally import Tally

TEXTS = (
    *tiny.SENTENCES[:3],
    *(
        "",
        "   ",
        "good",
        "<b>bold</b> & **strong** $x$ [a](b)",
        "film " * 300,
        "[MASK] great [MASK]",
        "电影很好 \u202egood",
    ),
)
KINDS = (
    *("button", "button_group", "checkbox", "multiselect", "number_input", "radio", "select_slider", "selectbox"),
    *("slider", "text_area", "text_input", "toggle"),
)
# Of 20 presses so many are another page, and after so many the pages go on for up to three seconds.
_ELSEWHERE, _WAITED, _OF, _SECONDS = 2, 8, 20, 3.0


def attack(tally: Tally, root: Path, walks: int, presses: int, step: int | None) -> dict:
    """So many people who press so often; what was found. Each begins at a page, in the order of pages."""
    names = f"sst2-fmm;sst2-plain;stories-1-family;{root / 'bert'}"
    os.environ |= {"FAITHSCOPE_CACHE": str(root / "presses"), "FAITHSCOPE_MODEL": names}
    with _labels():
        for walk in range(walks) if step is None else (step,):
            done: list[str] = []
            try:
                for done in _walk(tally.rng(walk), PAGES[walk % len(PAGES)], presses):
                    tally.tries += 1
            except Exception:
                tally.fail("other failures", walk, f"{traceback.format_exc(limit=-3)}\n    after: {done}")
    return vars(tally)


def _walk(rng: random.Random, page: str, presses: int) -> Generator[list[str]]:
    """One person; what was done so far, after each press."""
    done = [page]
    yield done
    app = App(page)
    for _ in range(presses):
        if rng.randrange(_OF) < _ELSEWHERE:
            done.append(rng.choice(PAGES))
            app.go(done[-1])
        else:
            offered = [one for kind in KINDS for one in app.at.get(kind) if not getattr(one.proto, "disabled", False)]
            done.append(_set(rng, rng.choice(offered)))
            app.run()
        if rng.randrange(_OF) < _WAITED:
            time.sleep(rng.uniform(0, _SECONDS))
            app.run()
        yield done


def _set(rng: random.Random, widget: Any) -> str:
    """Press a widget, or give it another value; what was done."""
    kind, value = widget.type, None
    if kind == "button":
        widget.click()
    elif kind in ("checkbox", "toggle"):
        widget.set_value(value := not widget.value)
    elif kind in ("text_area", "text_input"):
        widget.set_value(value := rng.choice(TEXTS))
    elif kind in ("slider", "number_input"):
        widget.set_value(
            value := rng.choice([one for one in (widget.min, widget.max, widget.value) if one is not None])
        )
    elif kind == "multiselect":
        widget.labels = value = rng.sample(widget.options, rng.randint(0, min(3, len(widget.options))))
    elif kind == "button_group":
        widget.labels = [value := rng.choice(widget.options)]
    elif kind == "select_slider":
        widget.set_value(value := rng.choice(widget.options))
    elif widget.options:
        widget.select_index(rng.randrange(len(widget.options)))
        value = widget.value
    return f"{kind} {widget.label!r} {value!r:.60}"


@contextlib.contextmanager
def _labels() -> Generator[None]:
    """Choices whose values only the page knows are set by their labels, as a browser does."""
    from streamlit.testing.v1.element_tree import ButtonGroup, Multiselect

    with contextlib.ExitStack() as stack:
        for widget, name in ((ButtonGroup, "formatted_values"), (Multiselect, "values")):
            own = getattr(widget, name).fget
            given = property(lambda one, own=own: vars(one)["labels"] if "labels" in vars(one) else own(one))
            stack.enter_context(mock.patch.object(widget, name, given))
        yield
