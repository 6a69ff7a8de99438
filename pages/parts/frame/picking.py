"""Choosing data and an example, or a text of one's own, on every page, within the filters that Examples sets."""

import contextlib
import json
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.data.browsing import Index, LabelMatch, Predicted, Query
from core.data.examples import FIRST_REVIEWS, HARD_REVIEWS, Example, bundled_data, first_example, title
from core.data.parsed import BadData
from core.evaluation import families
from core.evaluation.families import examples_of
from core.explanation.edits import is_edit
from core.explanation.explainer import Explainer
from core.loading.locating import member_names
from core.measures.catalogue import default_measures, measures
from core.network.architectures import UnsupportedModel
from core.network.features import UNITS
from core.settings import SettingError
from core.wording import plain, shortened, shows_nothing
from pages.parts.components.presses import draw_presses, presses
from pages.parts.frame import data, filters, resources
from pages.parts.frame.links import (
    FILTERED,
    choose,
    current,
    forget,
    held,
    hold,
    linked,
    remark,
    say_missing,
    shown_page,
)

if TYPE_CHECKING:
    from core.evaluation.predicting import Predictions

OWN = "own text"
# Texts of one's own that a session remembers, the newest first; each is an `OwnText`.
_REMEMBERED, MOST_REMEMBERED = "own texts", 12
# The choice of what a text is set beside, and the own text of which that holds.
AGAINST, _OF = "against", "text of against"
NOT_KEPT = "The text of comparison is not kept here."
# What is said where filters ask for predictions that are not known.
NOT_PREDICTED = "The filters ask for predictions that are not computed yet; the page Examples computes them."
_DROPPED = "No example here can be {}, so that filter was taken away."
_EMPTY = "This text is empty. Type at least one word; what is shown stays until then."
_SECOND_HELP = "For models that read two texts; never masked."
_DATA_HELP = "Bundled data, data that you added, or your own text."
# A menu of more is slow to draw and slow to read; the page Examples searches all.
_MENU = 200


class Unshowable(Exception):
    """What is chosen cannot be shown; the sentence says why and what to do."""


@dataclass(frozen=True)
class Browsed:
    """A data set as it is browsed now: rows int64[n], what the query leaves, in its order; counts of each facet's
    values beside the query's other parts, and of everything; match: how its labels were understood; known: the
    predictions that it goes by, None without a model.
    """

    key: str
    index: Index
    judged: Predicted
    match: LabelMatch
    query: Query
    rows: np.ndarray
    counts: dict[str, dict[str, int]]
    everything: dict[str, dict[str, int]]
    known: "Predictions | None"


@dataclass(frozen=True)
class OwnText:
    """A text that somebody typed, its digest, and the text that it was made from."""

    digest: str
    text: str
    second: str | None
    edited: "OwnText | None" = None


def remembered() -> list[OwnText]:
    """The texts that were typed in this session, the newest first."""
    return st.session_state.get(_REMEMBERED, [])


def read_own(digest: str) -> list | None:
    """A text of one's own and its second one, None without; None for what is no text that is kept here."""
    try:
        found = json.loads(resources.store().get_text(digest) or "null")
    except (ValueError, RecursionError):
        found = None
    # A link may name any text that is kept, whatever it holds.
    kinds = list(map(type, found)) if isinstance(found, list) else []
    found = found if kinds in ([str, str], [str, type(None)]) else None
    known = [each for one in remembered() for each in (one, one.edited) if each is not None]
    return found or next(([one.text, one.second] for one in known if one.digest == digest), None)


def show_own(typed: OwnText) -> None:
    """Choose a text that was typed, beside the one that it was made from."""
    hold("text", typed.digest)
    choose("data", OWN)
    if typed.edited is None:
        forget(AGAINST)
    else:
        set_beside(typed.edited.digest, typed.digest)


def set_beside(asked: str, of: str | None) -> None:
    """Ask for another version beside a text; of: the digest of a text of one's own, of which alone this holds."""
    hold(AGAINST, asked)
    st.session_state[_OF] = of


def stands_beside(digest: str | None) -> bool:
    """Whether what is set beside a text is meant of this own text; a link means the one that it names."""
    return st.session_state.setdefault(_OF, digest) == digest


def text_box(text: str, second: str) -> None:
    """A box for a text of one's own; one for a second text where the model reads two, or the text has one."""
    key, second_key = _keys(text)
    with st.form("own-text", border=False):
        first = st.text_area("Text", text, height=110, key=key, placeholder="Such as: I feared a bore, and it wasn’t")
        if second or _takes_second():
            st.text_area("Second text", second, height=68, key=second_key, help=_SECOND_HELP)
        asked = st.form_submit_button("Explain", type="primary", on_click=_explain, args=(text, second))
        if asked and shows_nothing(first):
            # A file that was loaded is not given up for nothing.
            st.warning(_EMPTY)


def _explain(text: str, second: str) -> None:
    """Choose what was typed, before anything is drawn: a run that the next one cuts short would lose the press."""
    first, other = (st.session_state.get(key, "") for key in _keys(text))
    # Without a store (a setting that cannot be used) the page says so above.
    with contextlib.suppress(SettingError):
        if not shows_nothing(first):
            keep_own_text(first, other, (text, second) if text and is_edit(text, first) else None)


def _keys(text: str) -> tuple[str, str]:
    """Of the box of a text, and of that of its second one."""
    return f"typed-{hash(text)}", f"typed-second-{hash(text)}"


def keep_own_text(text: str, second: str | None, edited: tuple[str, str | None] | None = None) -> None:
    """Choose a text of one's own for every page; edited: the texts that it was made from.

    Raises:
        SettingError: there is no store.
    """
    source = None if edited is None or edited == (text, second) else _typed(*edited)
    typed = replace(_typed(text, second), edited=source)
    # A store that cannot be written still leaves the session its own text; one without words is not remembered.
    if typed.text.strip():
        others = [one for one in remembered() if one.digest != typed.digest]
        st.session_state[_REMEMBERED] = [typed, *others][:MOST_REMEMBERED]
    show_own(typed)


def _typed(text: str, second: str | None) -> OwnText:
    second = second if second and second.strip() else None
    return OwnText(resources.store().put_text(json.dumps([text, second])), text, second)


def _takes_second() -> bool:
    name = held("model")
    loaded = name is not None and resources.is_loaded(name)
    return families.takes_second(name or "", resources.explainer(name).model.card if loaded else None)


def own_texts() -> None:
    """Draw the texts that were typed in this session, each one press away."""
    typed = remembered()
    if not typed:
        return
    with st.expander(f"Your texts · {len(typed)}", expanded=current("data") == OWN):
        for i, one in enumerate(typed):
            shown = f"{'Edited: ' if one.edited else ''}{shortened(one.text, 70)}"
            here = current("data") == OWN and held("text") == one.digest
            st.button(
                plain(shown), key=f"own-{i}", on_click=show_own, args=(one,), type="primary" if here else "tertiary"
            )
        st.button(
            "Forget them",
            key="own-forget",
            on_click=st.session_state.pop,
            args=(_REMEMBERED, None),
            icon=":material/delete:",
            help=f"The newest {MOST_REMEMBERED} are kept while this page is open.",
        )


def choose_member(name: str) -> str:
    """Draw the choice among the members of a family of seeds, the first unasked; the name itself of one model."""
    # Why a family cannot be used is said when it is to be loaded.
    with contextlib.suppress(UnsupportedModel):
        if members := {str(seed): member for member, seed in member_names(name).items()}:
            return members[linked(st.selectbox, "Seed", list(members), next(iter(members)), "member")]
    return name


def pick_data(model: str) -> str:
    """Draw the choice of data; its key, or OWN. Another model brings bundled examples of its task."""
    _follow_model(model)
    _follow_old_link(model)
    for problem in data.data_problems():
        st.warning(plain(problem))
    about = data.data_sets()
    asked = current("data")
    if st.session_state.get(FILTERED) == asked and asked not in (*about, OWN, None):
        remark(f"The data {shortened(asked)} was taken off the list.")
    first, called = data.first_data(model), _names(about)
    key = linked(st.selectbox, "Data", [*about, OWN], first, "data", format_func=called, help=_DATA_HELP)
    # Filters belong to a set of data, as does the example.
    if st.session_state.get(FILTERED, key) != key:
        filters.start_anew()
        choose("example", None)
    st.session_state[FILTERED] = key
    return key


def _follow_model(model: str) -> None:
    before, now = st.session_state.get("model of data"), current("data")
    if before not in (None, model) and (now is None or now in bundled_data()):
        found = examples_of(model, now)
        if found not in (None, now):
            choose("data", found)
    st.session_state["model of data"] = model


def _follow_old_link(model: str) -> None:
    """A link names no data where these are the default: one made when the hard reviews were names their example."""
    asked = current("example") if current("data") is None else None
    if asked is None or data.first_data(model) != FIRST_REVIEWS or asked in data.index(FIRST_REVIEWS).rows:
        return
    if asked in data.index(HARD_REVIEWS).rows:
        choose("data", HARD_REVIEWS)


def browse(key: str, explainer: Explainer | None) -> Browsed:
    """The data set of a key under a model (None while there is none) and the query that holds.

    Raises:
        Unshowable: the data cannot be read.
    """
    try:
        index = data.index(key)
    except BadData as error:
        raise Unshowable(f"{error} Or choose other data in the sidebar.") from error
    except KeyError as error:
        raise Unshowable("This data was removed. Choose other data.") from error
    judged, match, state, known = data.judged(key, explainer)
    judged, state = data.with_traits(state, explainer, index, judged, sought_traits())
    if shown_page() == "Examples" or filters.current_query().facets.get("pinned"):
        judged, state = data.with_pins(state, index, judged)
    dropped = filters.understood(data.offered(state, index, judged)) if explainer is not None else []
    if dropped:
        remark(_DROPPED.format(shortened(", ".join(dropped))))
    query = filters.current_query()
    rows, counted = data.selection(state, query, index, judged)
    return Browsed(
        key, index, judged, match, query, rows, counted, data.selection(state, Query(), index, judged)[1], known
    )


def sought_traits() -> data.Sought:
    """Which traits of the examples are asked for: by the filters and, on Examples, as columns."""
    listing, columns = shown_page() == "Examples", current("columns")
    columns = st.query_params.get_all("columns") if isinstance(columns, str) else columns or []
    measure = current("along")
    known = [name for name, one in measures().items() if not one.baseline]
    if listing:
        st.session_state["traits read"] = f"{resources.jobs().ended}"
    return data.Sought(
        tuple({*filters.current_query().traits, *(columns if listing else ())}),
        measure if measure in known else default_measures()[0],
        held("unit") if held("unit") in UNITS else "word",
        # On other pages what was read last is good enough: the filter stays as it was.
        st.session_state.get("traits read", ""),
    )


def wait_for_predictions(explainer: Explainer, browsed: Browsed) -> bool:
    """Wait for predictions that the filters ask for, where that takes seconds only; whether it waited."""
    index = browsed.index
    if not browsed.query.asks_model or browsed.known is None or browsed.known.complete:
        return False
    work = data.Predicting(explainer, index)
    if not work.at_once:
        st.caption(NOT_PREDICTED)
        return False
    with st.spinner("Predicting the examples …"):
        work.ask(wanted=False)
        end = time.monotonic() + 4 * data.CHEAP_SECONDS
        while work.runs and time.monotonic() < end:
            time.sleep(0.05)
    return True


def pick_example(browsed: Browsed) -> Example:
    """Draw the choice of an example, with previous and next within the filters."""
    index, rows = browsed.index, browsed.rows
    examples = index.data.examples
    _follow_presses(browsed)
    first, asked = examples[rows[0] if len(rows) else 0].id, current("example")
    if browsed.query == Query() and resources.ships_results():
        # Its results are there at once, and show something on every page.
        first = first_example(browsed.key) or first
    if asked is not None and asked not in index.rows:
        say_missing("example", [asked])
    if asked is None or asked not in index.rows:
        asked = first
        choose("example", asked)
    row = index.rows[asked]
    found = np.flatnonzero(rows == row)
    place = int(found[0]) if len(found) else None
    start = 0 if place is None else place // _MENU * _MENU
    menu = [examples[r].id for r in rows[start : start + _MENU]]
    menu = menu if place is not None else [asked, *menu]
    names = _different(
        [f"{shortened(i, 24)} · {shortened(examples[index.rows[i]].text, 70)}" for i in menu],
        [f"{index.rows[i] + 1:,}" for i in menu],
    )
    called = dict(zip(menu, names))
    chosen = linked(
        st.selectbox,
        "Example",
        menu,
        first,
        "example",
        format_func=lambda i: called.get(i, str(i)),
        help=None
        if len(rows) <= _MENU
        else f"{_MENU} of {len(rows):,} at a time; the page Examples searches and sorts all.",
    )
    if browsed.query != Query() or first != examples[0].id:
        # The first of an order that another machine may not know yet, or of results that it may not show.
        st.query_params["example"] = chosen
    _previous_and_next(browsed, place)
    return examples[index.rows[chosen]]


def _follow_presses(browsed: Browsed) -> None:
    """Choose the example that the presses of Previous and Next lead to, as many as they are."""
    pressed = presses()
    steps = draw_presses(pressed, bool(len(browsed.rows)))
    if steps:
        # From what was chosen last, which the browser may not show yet; where the filters leave nothing, nowhere.
        start = pressed.to or held("example")
        pressed.take(steps, stepped(browsed, start, steps) if len(browsed.rows) else pressed.to)
    if pressed.to is not None:
        choose("example", pressed.to)
        pressed.to = None


def stepped(browsed: Browsed, start: str | None, steps: int) -> str:
    """The example so many steps from another within the filters, and round."""
    rows, count = browsed.rows, len(browsed.rows)
    found = np.flatnonzero(rows == browsed.index.rows.get(start, -1))
    at = int(found[0]) if len(found) else -1 if steps > 0 else 0
    return browsed.index.data.examples[rows[(at + steps) % count]].id


def _previous_and_next(browsed: Browsed, place: int | None) -> None:
    count = len(browsed.rows)

    def go(step: int) -> None:
        choose("example", stepped(browsed, held("example"), step))

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Previous", key="previous", on_click=go, args=(-1,), shortcut="P", disabled=not count)
        st.button("Next", key="next", on_click=go, args=(1,), shortcut="N", disabled=not count)
        st.caption(f"example {f'{place + 1:,}' if place is not None else '—'} of {count:,}")
    if browsed.query.narrows:
        st.caption(f"Filters leave {count:,} of {len(browsed.index):,}.")
        st.button("Clear filters", key="clear-filters", on_click=filters.clear_filters)


def _names(about: dict[str, str]):
    """How data sets are called in the menu: two versions of one file are told apart by what follows the @."""
    called = dict(
        zip(
            about,
            _different(
                [shortened(title(key.rpartition("@")[0] or key), 50) for key in about],
                [key.rpartition("@")[2] for key in about],
            ),
        )
    )
    return lambda key: called.get(key, key)


def _different(names: list[str], tails: list[str]) -> list[str]:
    """Names that are all different, as menus need them: those that are not get what tells them apart in front."""
    often = Counter(names)
    return [f"{tail} · {name}" if often[name] > 1 else name for name, tail in zip(names, tails)]
