"""What was found, in the forms that notebooks and scripts take it in."""

import abc
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.front.interrupting import whole_imports
from core.reports.answers import Answer, Section, answer_text, ending_of
from core.reports.cell import NotebookCell, write_cell
from core.storage.files import only_writer, write_whole

if TYPE_CHECKING:
    from pandas import DataFrame


class Answered(abc.ABC):
    """What was found: printed, it is text; the last line of a notebook's cell shows it in colours."""

    @property
    @abc.abstractmethod
    def sections(self) -> list[Section]:
        """Results, with the tables behind them."""

    @property
    @abc.abstractmethod
    def lines(self) -> list[dict[str, Any]]:
        """{column: value} of each line of a table."""

    @abc.abstractmethod
    def _answer(self, ending: str) -> Answer:
        """All of it with its origin, for a file of this kind."""

    @abc.abstractmethod
    def _bytes(self, ending: str) -> bytes:
        """The file of this kind."""

    @property
    def outcomes(self) -> dict[str, str]:
        """{title of a section: its outcome}, of those that come to one."""
        return {one.title: one.result.name for one in self.sections if one.result is not None}

    @property
    def caveats(self) -> list[str]:
        """Names of what limits the results, each once; none is no proof."""
        found = [caveat.name for one in self.sections if one.result is not None for caveat in one.result.caveats]
        return list(dict.fromkeys(found))

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Model, data, choices, versions, commit and day, as files hold them."""
        return self._answer(".json").facts

    @whole_imports
    def to_frame(self) -> "DataFrame":
        """Convert to a table.

        Returns
        -------
        pandas.DataFrame
            The lines that `save` writes as CSV, without their origin.
        """
        from pandas import DataFrame

        columns = list(dict.fromkeys(name for line in self.lines for name in line))
        return DataFrame(self.lines, columns=columns or None)

    @whole_imports
    def save(self, path: str | Path) -> Path:
        """Write a file with provenance; one that is there is replaced as a whole.

        Parameters
        ----------
        path : str or Path
            Ends in .csv, .parquet, .json, .tex or .html.

        Returns
        -------
        Path
            Where it lies.

        Raises
        ------
        ValueError
            Another ending.
        OSError
            It cannot be written.
        """
        ending = ending_of(str(path), ".")
        content = self._bytes(ending)
        with only_writer(Path(path)) as place:
            write_whole(place, content, replaces=True)
        return Path(path)

    def _cell(self) -> NotebookCell:
        """What a notebook shows."""
        return NotebookCell(sections=self.sections)

    @whole_imports
    def _repr_html_(self) -> str:
        return write_cell(self._cell())

    def __repr__(self) -> str:
        """The text that a command prints."""
        return answer_text(self.sections)
