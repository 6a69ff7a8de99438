"""Choices that hold on every page and stand in the address.

Streamlit ties a widget's value to its page, and `bind="query-params"` loses it on the way to another
page and writes a formatted label instead of the value. So the value is held here, and every page's
widget starts from it.
"""

import re
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import RunLocation, ThreadState

from core.wording import plain, shortened
from pages.parts.frame.pages import page_of

# What a link may carry of a text; more is cut.
MOST_OF_A_TEXT = 5_000
_DIGEST = re.compile("[0-9a-f]{64}")
_SHOWN, _OPENED, _MISSING = "page shown", "page just opened", "missing of links"
# The data whose filters are held.
FILTERED = "data of filters"
# What the session remembers of what was chosen before, beside what is held.
_OF_LINKS = (
    *(FILTERED, "model of data", "model of models", "weights of link", "table shows"),
    "text of against",
    # What components tell of a text, and what was masked by hand.
    *("player", "what-if", "masked by hand", _MISSING),
)


@dataclass
class _Missing:
    """The place where a run says what is missing; whether the button that dismisses it stands there."""

    place: DeltaGenerator
    dismissed: bool


_CUT = f"This link carries a text of more than {MOST_OF_A_TEXT:,} characters; its beginning is shown."
_RETIRED = "This link sets {} to {}, which the command line alone does now."
# Whether what is drawn stands behind a button that unfolds it.
_FOLDED = ContextVar("folded", default=False)
# Where a page says what links ask for and is not here, once it has begun.
_SAID = ContextVar["_Missing | None"]("place of what is missing", default=None)


@contextmanager
def folded(place: DeltaGenerator) -> Generator[None]:
    """Draw choices in a popover. The browser does not know of them before it unfolds, and what it was told of a value
    by then only the last run tells: so every run tells it again.
    """
    token = _FOLDED.set(True)
    try:
        with place:
            yield
    finally:
        _FOLDED.reset(token)


def arrive(page: str) -> None:
    """Tell which page is drawn. Where the browser went back or forward to it, its choices are those of the address."""
    run = get_script_run_ctx(suppress_warning=True)
    _SAID.set(None)
    if run is not None and run.is_history_navigation:
        _let_go(lambda key: key in st.query_params or _drawn_on(key) in ("", shown_page(), page))
    st.session_state[_OPENED] = st.session_state.get(_SHOWN) != page
    st.session_state[_SHOWN] = page


def shown_page() -> str:
    """The page that is drawn; "" before there is one."""
    return st.session_state.get(_SHOWN, "")


def linked(widget: Callable, label: str, options: Collection[str], default: Any, key: str, **more: Any) -> Any:
    """Draw a choice (selectbox, segmented control, multiselect) that holds on every page and stands in the address.

    A value of the address that is no option is said in a sentence and the default taken.

    Args:
        default: an option, or a list of options for a choice of several; key: name in the address.
    """
    name, most = _name(key), more.get("max_selections")
    begun = st.session_state.get(f"drawn {key}") == name and name in st.session_state
    # Noted for each widget, since a run may be cut short by the next one before it comes to all of them.
    if not begun:
        if name in st.session_state:
            name = _anew(key)
        st.session_state[f"start {key}"] = _fitting(_start(label, options, default, key), options, default, most)
        st.session_state[f"drawn {key}"] = name
    start = st.session_state[f"start {key}"]
    asked = st.session_state[name] if begun else start
    fits = _fitting(asked, options, default, most)
    if _FOLDED.get() or fits != asked:
        st.session_state[name] = fits
    else:
        more |= _starting(widget, options, start)
    value = widget(label, options, key=name, **more)
    unasked = value == default and (f"held {key}" not in st.session_state or _unasked(key))
    hold(key, value)
    # What nobody chose is held for whoever asks, and gives way to the default of another page.
    st.session_state[f"held {key} unasked"] = unasked
    if value == default:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = value
    return value


def choose_one(
    label: str, options: Collection[str], default: str, key: str, about: str | None = None, **more: Any
) -> str:
    """As `linked`, a row of buttons of which one is always pressed; about: what the question mark beside it says."""
    return linked(st.segmented_control, label, options, default, key, required=True, help=about, **more)


def typed(label: str, default: str, key: str, about: str, unasked: str = "") -> str:
    """Draw a field for a choice that is typed; it holds and stands in the address as that of `linked`. unasked: what an
    empty field stands for, which it shows.
    """
    name = _name(key)
    # Set in every run, as what is `folded`.
    st.session_state[name] = st.session_state.get(name, held(key) or default)
    value = st.text_input(label, key=name, help=about, placeholder=unasked).strip() or default
    hold(key, value)
    if value == default:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = value
    return value


def hold(key: str, value: object) -> None:
    """Keep a value for every page, without drawing it."""
    st.session_state[f"held {key}"] = value
    # Never taken away: a run told to stop may be reading, at that moment, which keys there are.
    st.session_state[f"held {key} unasked"] = False


def held(key: str) -> Any:
    """What is held, else what the address of the session's first request says, else None."""
    return st.session_state.get(f"held {key}", st.query_params.get(key))


def held_of_all(*keys: str) -> dict[str, str]:
    """What is held of these choices, as text; those of which nothing is are left out."""
    return {key: str(value) for key in keys if (value := held(key)) is not None}


def current(key: str) -> Any:
    """The value as of now: the widget's on this page if it was drawn there, else what is held."""
    name = _name(key)
    return (
        st.session_state[name]
        if st.session_state.get(f"drawn {key}") == name and name in st.session_state
        else held(key)
    )


def choose(key: str, value: object) -> None:
    """Set a choice from elsewhere (a button, a form); its widget shows it on the next run.

    It is a new widget, since the browser still tells what the old one shows until it has drawn the next run.
    """
    hold(key, value)
    _anew(key)


def held_of(key: str, options: Collection[str], default: str) -> str:
    """What is held of a choice that another page draws, else its default there."""
    value = held(key)
    return value if isinstance(value, str) and value in options else default


def forget(key: str) -> None:
    """Let go of a choice: its widget starts from its default again."""
    st.session_state.pop(f"held {key}", None)
    st.session_state.pop(f"drawn {key}", None)
    st.query_params.pop(key, None)


def forget_unasked(key: str) -> None:
    """Let go of a choice that nobody made."""
    if _unasked(key):
        forget(key)


def visit(title: str, **choices: str) -> NoReturn:
    """Go to the page of this title as a link to it would, with these choices in its address and no other."""
    _let_go(lambda key: True)
    for key in _OF_LINKS:
        st.session_state.pop(key, None)
    st.switch_page(page_of(title).path, query_params=choices)


def _let_go(which: Callable[[str], bool]) -> None:
    """Let go of these choices: the address says again what is chosen."""
    kept = [name.partition(" ") for name in map(str, st.session_state)]
    for key in {key for kind, _, key in kept if kind in ("held", "drawn")}:
        if which(key.removesuffix(" unasked")):
            # A new widget, as in `choose`: the browser still tells what the old one shows.
            _anew(key)
            st.session_state.pop(f"held {key}", None)
            st.session_state.pop(f"drawn {key}", None)


def _drawn_on(key: str) -> str:
    return st.session_state.get(f"drawn {key}", "").partition(": ")[0]


def link_to(path: str = "", **choices: str) -> str:
    """The address of this view with other choices; path: of another page, relative to any other's, "" for this one."""
    held_here = {key: st.query_params.get_all(key) for key in st.query_params}
    return f"{path}?{urlencode(held_here | choices, doseq=True)}"


def text_of_link() -> tuple[str, str | None] | None:
    """The text that the first address carries itself, and its second one; None where it carries none."""
    asked, second = st.query_params.get("text", ""), st.query_params.get("second", "")
    if "held text" in st.session_state or not asked.strip() or _DIGEST.fullmatch(asked):
        return None
    st.query_params.pop("second", None)
    if max(len(asked), len(second)) > MOST_OF_A_TEXT:
        remark(_CUT)
    return asked[:MOST_OF_A_TEXT], second[:MOST_OF_A_TEXT] or None


def _name(key: str) -> str:
    """The widget of a choice on this page, since it was last set from elsewhere."""
    times = st.session_state.get(f"chosen {key}", 0)
    return f"{st.session_state.get(_SHOWN)}: {key}" + (f" {times}" if times else "")


def _anew(key: str) -> str:
    """Have a choice be a new widget on every page; its name on this one."""
    st.session_state[f"chosen {key}"] = st.session_state.get(f"chosen {key}", 0) + 1
    return _name(key)


def _unasked(key: str) -> bool:
    """Whether what is held is a page's default that nobody chose."""
    return st.session_state.get(f"held {key} unasked", False)


def _start(label: str, options: Collection[str], default: Any, key: str) -> Any:
    many = isinstance(default, list)
    if f"held {key}" in st.session_state and not _unasked(key):
        asked: Any = st.session_state[f"held {key}"]
    elif key in st.query_params:
        named = st.query_params.get_all(key) if many else [st.query_params[key]]
        asked = named if many else named[0]
        if lacking := [one for one in named if one not in options]:
            say_missing(label, lacking)
    else:
        return default
    if many:
        return list(dict.fromkeys(a for a in asked if a in options)) or (
            [] if f"held {key}" in st.session_state and not _unasked(key) else default
        )
    return asked if asked in options else default


def _fitting(asked: Any, options: Collection[str], default: Any, most: int | None) -> Any:
    """What the widget can show of what is asked: an address may name more than it takes, or what is gone."""
    if isinstance(default, list):
        return asked[:most] if most else asked
    return asked if asked in options else default


def _starting(widget: Callable, options: Collection[str], start: Any) -> dict[str, Any]:
    """How a widget is told where it starts, as long as that is offered. Told through the session's state, it would be
    told once: a browser that a run cut short did not reach would start at the first option, and tell that.
    """
    if not all(one in options for one in (start if isinstance(start, list) else [start])):
        return {}
    if widget is st.selectbox:
        return {"index": list(options).index(start)}
    return {"value" if widget is st.select_slider else "default": start}


def say_missing(label: str, missing: list[str]) -> None:
    """Note what a link asks for and is not here; `show_missing` says it on the page."""
    remark(f"This link asks for {label.lower()} {shortened(', '.join(missing))}, which is not here.")


def say_retired(key: str, values: Collection[str] | None = None, default: str = "") -> None:
    """Note that an old link makes a choice which pages no longer make, unless another page holds it; values: those by
    which it is told from another page's, None for all; default: what is taken anyway.
    """
    asked = st.query_params.get(key)
    if asked is None or f"held {key}" in st.session_state or (values is not None and asked not in values):
        return
    st.query_params.pop(key)
    if asked != default:
        remark(_RETIRED.format(key, shortened(asked)))


def remark(sentence: str) -> None:
    """Note a sentence that `show_missing` says until it is dismissed. One that comes later in a run is said at once,
    but for that of a fragment, which may draw no button outside of it, or of a callback, before anything is drawn.
    """
    noted = st.session_state.setdefault(_MISSING, [])
    if sentence in noted:
        return
    noted.append(sentence)
    said = _SAID.get()
    if said is not None and ThreadState.get().run_location is RunLocation.MAIN_SCRIPT:
        with said.place:
            st.warning(plain(sentence))
            if not said.dismissed:
                _dismiss(noted)
        said.dismissed = True


def show_missing() -> None:
    """Say what links ask for and is not here, until that is dismissed: a rerun of the page must not take it away."""
    noted = st.session_state.get(_MISSING)
    place = st.container()
    _SAID.set(_Missing(place, bool(noted)))
    if noted:
        with place:
            st.warning("  \n".join(map(plain, noted)))
            _dismiss(noted)


def _dismiss(noted: list[str]) -> None:
    st.button("Dismiss", key="dismiss-missing", on_click=noted.clear)
