"""What limits of AOPC come to over the seeds of a family, from the rows of its members."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.evaluation.over_seeds import means_over_seeds, ranks_over_seeds
from core.metrics.registry import ARROWS, HIGHER, LOWER
from core.reports.answers import Section
from core.texts.over_seeds import ranks_lines, seeds_lines, seeds_tables

# Columns of a measure in a row, with which way is better.
_FIGURES = {"comprehensiveness": HIGHER, "sufficiency": LOWER}
_FIGURES |= {f"{name} NAOPC": way for name, way in _FIGURES.items()}


def limits_over_seeds(rows: Sequence[Mapping[str, Any]], weights: Sequence[str], family: str) -> dict[str, Any]:
    """Means of each measure's figures over seeds and how far orders agree, as values of a file.

    Args:
        rows: as of `core.evaluation.studies.limits_of_texts.batch_limits`; weights: digest of each member.
    """
    found = means_over_seeds(_of_members(rows, weights))
    return {"over_seeds": seeds_lines(found, family), "orders_over_seeds": ranks_lines(ranks_over_seeds(found))}


def limits_section(rows: Sequence[Mapping[str, Any]], weights: Sequence[str], family: str) -> Section:
    """The same as tables."""
    found = means_over_seeds(_of_members(rows, weights))
    return Section(family, tables=seeds_tables(found, ranks_over_seeds(found)))


def _of_members(rows: Sequence[Mapping[str, Any]], weights: Sequence[str]) -> list[list[dict[str, Any]]]:
    """Of each member a line for each text and measure."""
    return [[line for row in rows if row["weights"] == one for line in _by_measure(row)] for one in weights]


def _by_measure(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    named = [name.removesuffix(": values") for name in row if name.endswith(": values")]
    return [
        {"example": row["example"], "measure": name, "values": row[f"{name}: values"]}
        | {f"{figure} {ARROWS[way]}": row[f"{name}: {figure}"] for figure, way in _FIGURES.items()}
        for name in named
    ]
