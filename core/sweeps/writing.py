"""Tables of a sweep as files, each of which says where it comes from."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.evaluation.study import Table
from core.metrics.registry import ARROWS
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
        "data": [f"{name} {digest}" for name, (digest, _) in found.sets.items()],
        "precision": sweep.precision,
        "feature_unit": sweep.unit,
        "variant": sweep.values,
        "seeds": list(sweep.seeds),
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
        files = {ending: answer_bytes(_as_csv(answer) if ending == ".csv" else answer, ending) for ending in _TABLES}
        files |= picture_files(table, lines, json.dumps(facts))
        written[name] = [out / f"{name}{ending}" for ending in files]
        for path, data in zip(written[name], files.values()):
            write_whole(path, data, replaces=True)
    return written


def lay_out(table: SweepTable, lines: Sequence[Line]) -> Table:
    """A table as people read it: (header, rows) of text, "—" for what is undefined."""
    several = [name for name in table.down if name != "seed" or any(one["seed"] is not None for one in lines)]
    places = list(dict.fromkeys(one[table.across] for one in lines)) if table.across else [None]
    rows: dict[tuple, dict[tuple, str]] = {}
    for one in lines:
        row = rows.setdefault(tuple(one[name] for name in several), {})
        row |= {(one.get(table.across), value): _cell(one, value) for value in table.values}
    columns = [(place, value) for place in places for value in table.values]
    ways = {one.get(table.across): ARROWS[one["direction"]] for one in lines if "direction" in one}
    header = [
        *several,
        *(f"{_named(place)} {table.values[value] or ways.get(place, '')}".strip() for place, value in columns),
    ]
    return header, [[*map(as_cell, named), *(row.get(one, "—") for one in columns)] for named, row in rows.items()]


def _named(place: Any) -> str:
    return "" if place is None else as_cell(place)


def _cell(line: Line, value: str) -> str:
    """A number with its interval."""
    low, high = line.get(f"{value}_low"), line.get(f"{value}_high")
    return as_cell(line[value]) if low is None or high is None else with_ends(line[value], low, high)


def _as_csv(answer: Answer) -> Answer:
    """What is a list stands in the first line, since it is as long as the data."""
    lists = {name: "; ".join(map(str, one)) for name, one in answer.facts.items() if isinstance(one, list)}
    first, *rest = answer.lines
    lines: list[Mapping[str, Any]] = [dict(first) | lists, *rest]
    return Answer(answer.title, answer.sections, lines, facts=answer.facts)
