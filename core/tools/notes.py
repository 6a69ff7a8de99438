"""`python -m core.tools notes`: the notes on a data set as a file, and those of such a file taken in."""

import json
from pathlib import Path

from core import settings
from core.analysis.notes import NOTES_BYTES, merge_notes, notes_file, read_notes
from core.commands import terminal
from core.commands.options import Option, Options, add_data_option
from core.data.browsing import Index
from core.reports.exports import visible
from core.storage.files import read_plain, write_whole
from core.storage.library import Library
from core.wording import text_table

HELP = "save or add notes"


def add(option: Option) -> None:
    """What it takes."""
    add_data_option(option)
    option("--out", help="JSON file")
    option("--add", metavar="FILE", help="file of notes; none here is overwritten")


def run(options: Options) -> int:
    """Carry out the command; 0. ValueError where neither is asked for, or notes could not be kept."""
    if not options.out and not options.add:
        raise ValueError("give --out or --add")
    library, index = Library(settings.read().cache), Index(terminal.data_of(options))
    if options.add:
        _add(library, index, Path(options.add))
    if options.out:
        found = notes_file(index, library.pins(index.data.digest))
        write_whole(Path(options.out), f"{json.dumps(found, indent=1)}\n".encode("ascii"), replaces=True)
        print(f"Written: {options.out}")
    return 0


def _add(library: Library, index: Index, file: Path) -> None:
    """Pin what a file notes and is new here; print the rest."""
    digest = index.data.digest
    found = merge_notes(index, library.pins(digest), read_notes(read_plain(file, NOTES_BYTES)))
    for example, note in found.added.items():
        library.pin(digest, example, note)
        if library.last_problem:
            raise ValueError(library.last_problem)
    counts = {"new": len(found.added), "conflicts": len(found.conflicts), "missing": len(found.missing)}
    counts |= {"same": found.same}
    print(" · ".join(f"{name}: {count:,}" for name, count in counts.items()))
    if found.conflicts:
        rows = [[visible(cell) for cell in row] for row in found.conflicts]
        print(text_table(["example", "here", "in the file"], rows))
