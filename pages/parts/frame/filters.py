"""The query that every page moves within, held by the session and written in the address."""

from dataclasses import replace

import streamlit as st

from core.data.browsing import ORDERS, TRAITS, Query, is_trait

FACETS = ("label", "predicted", "outcome", "confidence", "length", "tag", "pinned", *TRAITS)
_HELD = "held query"


def is_facet(name: str) -> bool:
    """Whether something may be filtered by."""
    return name in FACETS or is_trait(name)


def is_order(name: str) -> bool:
    """Whether the table may be sorted by it."""
    return name in ORDERS or is_trait(name)


def current_query() -> Query:
    """The query that holds now: the session's, else what the address of its first request says."""
    if _HELD not in st.session_state:
        st.session_state[_HELD] = _from_address()
    return st.session_state[_HELD]


def search_for(query: Query) -> None:
    """Hold another query; the table starts at its first page."""
    if query != current_query():
        st.session_state["held page"] = 1
    st.session_state[_HELD] = query


def clear_filters() -> None:
    """Take every filter away; the order stays."""
    search_for(replace(current_query(), search="", facets={}))


def show_only(facet: str, value: str) -> None:
    """Filter by one value and nothing else; the order stays."""
    search_for(replace(current_query(), search="", facets={facet: (value,)}))


def start_anew() -> None:
    """Forget filters, order and page: they belong to other data."""
    st.session_state[_HELD] = Query()
    st.session_state["held page"] = 1
    st.session_state.pop("table shows", None)


def page() -> int:
    """The page of the table, from 1."""
    if "held page" not in st.session_state:
        asked = st.query_params.get("page", "1")
        st.session_state["held page"] = int(asked) if asked.isascii() and asked.isdigit() and 0 < len(asked) < 9 else 1
    return max(1, st.session_state["held page"])


def turn_to(number: int) -> None:
    """Hold another page of the table."""
    st.session_state["held page"] = number


def write(with_page: bool) -> None:
    """Put what is held into the address, defaults left out."""
    query = current_query()
    values = {
        "search": query.search,
        "order": "" if query.order == "row" else query.order,
        "descending": "1" if query.descending else "",
        "tags": "all" if query.all_tags else "",
        "page": str(page()) if with_page and page() > 1 else "",
    } | {facet: query.facets.get(facet, ()) for facet in [*query.facets, *filter(is_facet, st.query_params)]}
    for name, value in values.items():
        if value:
            st.query_params[name] = value
        else:
            st.query_params.pop(name, None)


def understood(offered: dict[str, tuple[str, ...]]) -> list[str]:
    """Drop values that no example can have; return them, for a sentence about it."""
    query = current_query()
    kept = {facet: tuple(v for v in values if v in offered.get(facet, ())) for facet, values in query.facets.items()}
    dropped = [v for facet, values in query.facets.items() for v in values if v not in kept[facet]]
    if dropped:
        st.session_state[_HELD] = replace(query, facets={facet: values for facet, values in kept.items() if values})
    return dropped


def _from_address() -> Query:
    order = st.query_params.get("order", "row")
    # In the order of the menu, whatever that of the address.
    named = sorted(
        filter(is_facet, st.query_params), key=lambda one: FACETS.index(one) if one in FACETS else len(FACETS)
    )
    facets = {facet: tuple(dict.fromkeys(st.query_params.get_all(facet))) for facet in named}
    return Query(
        st.query_params.get("search", "")[:500],
        facets,
        order if is_order(order) else "row",
        st.query_params.get("descending") == "1",
        st.query_params.get("tags") == "all",
    )
