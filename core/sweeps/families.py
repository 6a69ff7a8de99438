"""A family of seeds in a sweep: its members are models, and it has lines of its own, means over them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.mathematics.performance import lowest
from core.mathematics.statistics import mean_interval, seeds_interval
from core.sweeps.registry import Line, SweepTable, interval_columns

# Of texts the fewest are kept, of what is lacking or marked the most.
_COUNTS = {"n": min, "undefined": max, "marked": max}


def family_lines(table: SweepTable, lines: Sequence[Line], families: Mapping[str, Sequence[str]]) -> list[Line]:
    """Lines of each family: means of its members' values with 95 % intervals over seeds, and of how many seeds; none of
    tables of p-values or single texts.

    Args:
        families: {name: names of members}.
    Source: FMM for BCa intervals; ROAR for t-intervals of performance in logit space.
    """
    if not table.averaged or table.of_texts:
        return []
    found = []
    for family, members in families.items():
        groups: dict[tuple[Any, ...], list[Line]] = {}
        for one in lines:
            if one["model"] in members:
                about = (one.get(name) for name in (*table.down, table.across) if name != "model")
                groups.setdefault(tuple(about), []).append(one)
        found += [_mean_line(table, family, group) for group in groups.values()]
    return found


def _mean_line(table: SweepTable, family: str, group: Sequence[Line]) -> Line:
    line = dict(group[0]) | {"model": family, "seeds": len(group)}
    for name in table.values:
        if name in _COUNTS:
            continue
        values = np.array([one[name] for one in group], dtype=np.float64)
        line |= {column: value for column, value in _mean(line, name, values).items() if column in group[0]}
    return line | {name: of(one[name] for one in group) for name, of in _COUNTS.items() if name in line}


def _mean(line: Line, name: str, values: np.ndarray) -> Line:
    if name != "performance":
        return interval_columns(name, mean_interval(values))
    low = lowest(line["metric"])
    return interval_columns(name, seeds_interval(values, low, 1.0, line["n"]))
