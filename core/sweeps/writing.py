"""Tables of a sweep as files, each of which says where it comes from."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.evaluation.study import Table
from core.measures.catalogue import measure
from core.metrics.registry import ARROWS, HIGHER, LOWER
from core.reports.answers import Answer, Section, answer_bytes, origin
from core.storage.files import write_whole
from core.sweeps.configuration import Sweep
from core.sweeps.drawing import picture_files
from core.sweeps.registry import Line, SweepTable, sweep_tables
from core.sweeps.running import Swept
from core.wording import as_cell, with_ends

_TABLES = (".parquet", ".csv", ".tex")


def origin_of_sweep(sweep: Sweep, found: Swept) -> dict[str, Any]:
    """Where every file of a sweep comes from: configuration, models, data and their examples, versions, commit, day."""
    return {
        "configuration_sha256": sweep.digest,
        "models": found.models,
        "measures": [f"{name} {measure(name).version}" for name in sweep.measures],
        "data": [f"{name} {digest}" for name, (digest, _) in found.sets.items()],
        "precision": sweep.precision,
        "feature_unit": sweep.unit,
        "variant": sweep.values,
        "seeds": list(sweep.seeds),
        "sample_seed": sweep.sample_seed,
        **origin(),
        "sample_ids": [f"{name} {one}" for name, (_, ids) in found.sets.items() for one in ids],
    }


def write_tables(sweep: Sweep, found: Swept, out: Path) -> dict[str, list[Path]]:
    """Each table in a folder: Parquet, CSV, LaTeX, and a figure as PDF and SVG; a table without a line has no file.
    OSError, NoRoom as `write_whole`.
    """
    facts, written = origin_of_sweep(sweep, found), {}
    for name in sweep.tables:
        table, lines = sweep_tables()[name], found.lines[name]
        if not lines:
            continue
        section = Section(f"{name} ({table.source})", tables=[lay_out(table, lines)])
        answer = Answer(section.title, [section], lines, facts=facts)
        endings = [one for one in _TABLES if one != ".tex" or not table.of_texts]
        files = {ending: answer_bytes(_as_csv(answer) if ending == ".csv" else answer, ending) for ending in endings}
        files |= picture_files(table, lines, json.dumps(facts))
        written[name] = [out / f"{name}{ending}" for ending in files]
        for path, data in zip(written[name], files.values()):
            write_whole(path, data, replaces=True)
    return written


@dataclass(frozen=True, eq=False)
class Grid:
    """A table of a sweep by rows and columns.

    values: of each column the number of a line that it shows; better: 1 where higher is better, −1, or 0; rows: what
    names each, and the lines that fill its cells, None where there is none.
    """

    header: list[str]
    values: tuple[str, ...]
    better: tuple[int, ...]
    rows: dict[tuple, list[Line | None]]


def grid_of(table: SweepTable, lines: Sequence[Line]) -> Grid:
    """Lay lines out."""
    several = [name for name in table.down if name != "seed" or any(one["seed"] is not None for one in lines)]
    places = list(dict.fromkeys(one[table.across] for one in lines)) if table.across else [None]
    found: dict[tuple, dict[Any, Line]] = {}
    for one in lines:
        found.setdefault(tuple(one[name] for name in several), {})[one.get(table.across)] = one
    columns = [(place, value) for place in places for value in table.values]
    ways = {one.get(table.across): one["direction"] for one in lines if "direction" in one}
    heads = [
        f"{_named(place)} {table.values[value] or ARROWS.get(ways.get(place, 0), '')}".strip()
        for place, value in columns
    ]
    arrows = {ARROWS[way]: way for way in (HIGHER, LOWER)}
    rows = {named: [row.get(place) for place, _ in columns] for named, row in found.items()}
    better = tuple(arrows.get(head[-1:], 0) for head in heads)
    return Grid([*several, *heads], tuple(value for _, value in columns), better, rows)


def lay_out(table: SweepTable, lines: Sequence[Line]) -> Table:
    """A table as people read it: (header, rows) of text, "—" for what is undefined."""
    grid = grid_of(table, lines)
    return grid.header, [
        [*map(as_cell, named), *(swept_cell(*one) for one in zip(row, grid.values))] for named, row in grid.rows.items()
    ]


def _named(place: Any) -> str:
    return "" if place is None else as_cell(place)


def swept_cell(line: Line | None, value: str) -> str:
    """A number with its interval; "—" where there is none."""
    if line is None:
        return "—"
    low, high = line.get(f"{value}_low"), line.get(f"{value}_high")
    return as_cell(line[value]) if low is None or high is None else with_ends(line[value], low, high)


def _as_csv(answer: Answer) -> Answer:
    """What is a list stands in the first line, since it is as long as the data."""
    lists = {name: "; ".join(map(str, one)) for name, one in answer.facts.items() if isinstance(one, list)}
    first, *rest = answer.lines
    lines: list[Mapping[str, Any]] = [dict(first) | lists, *rest]
    return Answer(answer.title, answer.sections, lines, facts=answer.facts)
