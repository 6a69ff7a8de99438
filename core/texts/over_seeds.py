"""What a question comes to over seeds, as tables of text and lines of files."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from core.evaluation.over_seeds import OverSeeds, RanksOverSeeds
from core.evaluation.study import Table
from core.results.result import Kind, Result
from core.wording import as_json, number

_OF = ("measure", "metric", "length", "ratio", "word", "class")


def facts_over_seeds(results: Sequence[Result]) -> list[OverSeeds]:
    """The facts that the results of all seeds share, counts aside."""
    found = []
    for fact in results[0].facts if results else ():
        same = [one.fact(fact.key) for one in results]
        labels = {None if one is None else one.label for one in same}
        if fact.kind in (Kind.NUMBER, Kind.SHARE) and labels == {fact.label}:
            values = [one.value for one in same if one is not None]
            values = [np.nan if not isinstance(one, int | float) else one for one in values]
            found.append(
                OverSeeds(f"{fact.label} {fact.better}".rstrip(), {}, np.array(values), fact.kind == Kind.SHARE)
            )
    return found


def seeds_tables(found: Sequence[OverSeeds], ranks: Sequence[RanksOverSeeds]) -> list[Table]:
    """Means over seeds, a value of length or ratio aside, and whether orders of measures agree."""
    short = [one for one in found if not {"length", "ratio", "word"} & set(one.about)]
    rows = [[_of(one.about), one.name, *map(number, (one.mean.mean, one.mean.low, one.mean.high))] for one in short]
    tables: list[Table] = [(["of", "number", "mean over seeds", "low", "high"], rows)] if rows else []
    ordered = [one for one in ranks if not {"length", "ratio"} & set(one.about)]
    lines = [[_of(one.about) or one.name, number(one.mean), number(one.smallest), _first(one)] for one in ordered]
    header = ["ordered by", "mean τ-b ↑", "smallest", "first"]
    return [*tables, (header, lines)] if lines else tables


def seeds_lines(found: Iterable[OverSeeds], family: str) -> list[dict[str, Any]]:
    """A line of a file each: model (the family), number, what it is of, mean, low, high, seeds (that have it)."""
    return [
        {"model": family, "number": one.name}
        | dict(one.about)
        | {end: as_json(getattr(one.mean, end)) for end in ("mean", "low", "high")}
        | {"seeds": int((~np.isnan(one.values)).sum())}
        for one in found
    ]


def ranks_lines(ranks: Iterable[RanksOverSeeds]) -> list[dict[str, Any]]:
    """The same of orders, for JSON."""
    return [
        {"number": one.name}
        | dict(one.about)
        | {"tau_b": as_json(one.mean), "smallest_tau_b": as_json(one.smallest), "first": dict(one.first)}
        for one in ranks
    ]


def _of(about: Mapping[str, Any]) -> str:
    return ", ".join(str(about[name]) for name in _OF if name in about)


def _first(one: RanksOverSeeds) -> str:
    return ", ".join(f"{name} {count} of {one.seeds}" for name, count in one.first.items())
