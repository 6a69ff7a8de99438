"""Several examples in one page: of each its words, what measures say of them, and what else was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.reports.answers import Section, written_sections
from core.reports.attribution_page import STYLE, drawn_rows
from core.reports.exports import Shown
from core.reports.page import write_page
from core.results.verdicts import verdict_badge


@dataclass(frozen=True, eq=False)
class PinnedEntry:
    """One example; note: of the person who pinned it; sections: what else was found out of it."""

    shown: Shown
    note: str = ""
    sections: Sequence[Section] = ()


def entries_page(data: str, entries: Sequence[PinnedEntry], facts: Mapping[str, Any], notes: Sequence[str] = ()) -> str:
    """Write examples as one escaped HTML page for UTF-8, without script or reference.

    data: the data set's name; facts: where all of it comes from; notes: what was left out.
    """
    drawn = [
        (
            one,
            drawn_rows(one.shown),
            {} if one.shown.verdicts is None else {v.measure: verdict_badge(v) for v in one.shown.verdicts.verdicts},
            written_sections(one.sections),
        )
        for one in entries
    ]
    return write_page(
        "entries.html", f"{len(entries)} examples of {data}", STYLE, data=data, drawn=drawn, facts=facts, notes=notes
    )
