"""What a data file comes to once it is taken apart, and the error that says why it cannot be."""

from collections.abc import Sequence
from dataclasses import dataclass, field


class BadData(ValueError):
    """A data file cannot be used; the message names the file, the line and what to change."""


@dataclass(eq=False)
class Parsed:
    """Columns as found; rows: the file's numbers of the N rows, () for 1…N; notes and classes as RawTable's."""

    columns: list
    cells: list[list]
    notes: list[str] = field(default_factory=list)
    rows: Sequence[int] = ()
    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)
