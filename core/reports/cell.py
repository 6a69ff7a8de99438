"""What a notebook's cell shows: coloured words, results and curves, without script and in the notebook's colours."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.reports.answers import Section, written_sections
from core.reports.attribution_page import drawn_rows
from core.reports.exports import Shown
from core.reports.page import write_cell_page
from core.results.verdicts import verdict_badge


@dataclass(frozen=True, eq=False)
class NotebookCell:
    """shown: the words of a text, or none; sections: what else is told."""

    shown: Shown | None = None
    sections: Sequence[Section] = ()


def write_cell(cell: NotebookCell) -> str:
    """A fragment of HTML; every text in it is escaped."""
    shown = cell.shown
    verdicts = () if shown is None or shown.verdicts is None else shown.verdicts.verdicts
    return write_cell_page(
        shown=shown,
        drawn=[] if shown is None else drawn_rows(shown),
        verdicts={one.measure: verdict_badge(one) for one in verdicts},
        sections=written_sections(cell.sections),
    )
