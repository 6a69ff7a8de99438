"""A collection of examples as a page of its own: each with its prediction, its note and what was found out of it."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.data.examples import Example
from core.reports.page import read_style, write_page


@dataclass(frozen=True)
class Card:
    """One example; label: as it reads, "—" without one; predicted: "" where nothing is known; confidence: of that
    class; right: None where it cannot be told; note: of whoever pinned it; found: what was found out of it, by name.
    """

    example: Example
    label: str
    predicted: str
    confidence: float
    right: bool | None
    note: str
    found: Mapping[str, str]


def collection_page(data: str, cards: Sequence[Card], facts: Mapping[str, str]) -> str:
    """Write a collection as one escaped HTML page without script or reference, to be saved as UTF-8.

    data: the data set's name; facts: model and data, as of `core.reports.exports.provenance`.
    """
    return write_page(
        "collection.html",
        f"{len(cards)} examples of {data}",
        read_style("page.css"),
        data=data,
        cards=cards,
        facts=dict(facts) | {"date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")},
    )
