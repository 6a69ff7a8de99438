"""What follows a page's headline: one picture, at most four facts, tabs, and what the numbers mean."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from core.results.result import Fact, Result
from core.texts.rendering import ends_text, fact_label, fact_text
from core.validity.marks import with_sign
from core.wording import escaped, plain
from pages.parts.components.tables import meaning_of

MOST_FACTS = 4
# As tall as a picture is as a rule, so that nothing moves when it comes.
_HEIGHT = 320


def draw_body(
    result: Result,
    picture: Callable[[], object] | None,
    tabs: Mapping[str, Callable[[], object]],
    key: str,
    *,
    asks: Callable[[], None] = lambda: None,
    terms: Collection[str] = (),
) -> None:
    """Lay out what follows a headline.

    Args:
        picture: draws the page's one picture; None while there is nothing to draw, where its shape is shown.
        tabs: {name: draws it}; only what is open is drawn. key: under which the open one stays open.
        asks: draws progress and offers of what is not computed yet.
        terms: besides the labels of the facts, that "About these numbers" defines.
    """
    if picture is None:
        st.skeleton(_HEIGHT)
    else:
        picture()
    asks()
    draw_facts(result.facts)
    draw_tabs(tabs, key)
    about_numbers(result, terms)


def draw_facts(facts: Sequence[Fact]) -> None:
    """Draw at most four facts beside each other, each with its interval and its definition."""
    if not facts:
        return
    with st.container(horizontal=True, gap="medium"):
        for one in facts[:MOST_FACTS]:
            ends = ends_text(one)
            st.metric(
                plain(fact_label(one)),
                plain(fact_text(replace(one, low=None, high=None))),
                delta=plain(f"95 % {ends}") if ends else None,
                delta_color="off",
                delta_arrow="off",
                help=plain(meaning_of(one.about or one.label)) or None,
                width=210,
            )


def draw_tabs(parts: Mapping[str, Callable[[], object]], key: str) -> None:
    """Parts of a page behind tabs; what is not looked at costs the browser as much as what is, so each is drawn once
    its tab is opened.
    """
    if not parts:
        return
    for tab, draw in zip(st.tabs(list(parts), key=key, on_change="rerun"), parts.values()):
        if tab.open:
            with tab:
                draw()


def about_numbers(result: Result, terms: Collection[str] = ()) -> None:
    """A button that shows what the facts and terms of a page mean, and its caveats in full."""
    named = [*dict.fromkeys([*(one.about or one.label for one in result.facts), *terms])]
    defined = {name: meaning for name in named if (meaning := meaning_of(name))}
    caveats = {with_sign(one.badge, True): one.explanation for one in result.caveats}
    if not defined and not caveats:
        return
    with st.popover("About these numbers", icon=":material/info:"):
        rows = (
            f"<dt><b>{escaped(name)}</b></dt><dd>{escaped(meaning, 900)}</dd>"
            for name, meaning in (caveats | defined).items()
        )
        st.html(f"<dl>{''.join(rows)}</dl>")
