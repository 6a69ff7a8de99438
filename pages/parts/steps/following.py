"""Rows of tables and files on followed masking paths."""

from typing import Any

from core.explanation.recursive import Summary
from core.explanation.rows import values_taken
from core.stability.known import COLUMN, unstable_cell
from core.validity.marks import SIGN, STEP_COLUMNS, path_word, step_cells
from core.validity.references import FORMS
from core.wording import ends_of, number
from pages.parts.sections.paths import Path, Summaries
from pages.parts.sections.sides import PROBABILITY

COLUMNS = [
    "model",
    "measure",
    "values",
    "computed",
    "step",
    "share masked (0 to 1)",
    "features masked",
    "masked features",
    "explained class",
    "class predicted unmasked",
    "models explain the same class",
    PROBABILITY,
    "predicted class",
    "p (calibrated)",
    "p (literal)",
    *STEP_COLUMNS,
    COLUMN,
]
TABLE = [
    "model",
    "measure",
    "flips at",
    "flips again at",
    "RACU ↑",
    "RACU, 95 % interval",
    "ACU ↑",
    "ACU, 95 % interval",
    "random orders as early ↓",
    "random orders as far ↓",
    "random orders",
    "smallest MaSF p ↑",
    "validity",
    SIGN,
    "order",
]


def step_of(value: str | None, count: int) -> int:
    """A step out of an address; 0 for what is none."""
    return (
        min(int(value), count - 1)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6
        else 0
    )


def paths_in_words(mine: Summaries) -> str:
    """The figure for those who do not see it."""
    parts = [
        f"{path.measure} ({path.side.model.name}): {path.side.score_kind} "
        f"{', '.join(number(value) for value in summary.values)}"
        for path, summary in mine.items()
    ]
    return f"The score of the explained class at each masking step. {'; '.join(parts)}."


def table_row(path: Path, summary: Summary) -> list[Any]:
    """A path as a row under TABLE; None where there is no number, as in RACU where it is unstable."""
    areas = summary.areas
    return [
        path.side.model.name,
        path.measure,
        None if summary.flips is None else path.name(summary.flips),
        ", ".join(map(path.name, summary.again)) or None,
        None if areas.unstable else areas.racu.mean,
        None if areas.unstable else ends_of(areas.racu.low, areas.racu.high) or None,
        areas.acu.mean,
        ends_of(areas.acu.low, areas.acu.high) or None,
        summary.as_early,
        summary.as_good,
        summary.orders or None,
        summary.smallest,
        path_word(summary.gate, path.name, summary.complete),
        SIGN if summary.marked else None,
        unstable_cell(path.measure, path.unstable) or None,
    ]


def step_rows(path: Path, summary: Summary, same: bool | None = None) -> list[list]:
    """A path's steps for a CSV file, see COLUMNS; same: of `same_class`."""
    side, rows, order = path.side, [], unstable_cell(path.measure, path.unstable)
    for i, step in enumerate(summary.steps):
        words = " ".join(feature.text for feature, masked in zip(side.encoded.features, step.mask) if masked)
        rows.append(
            [
                side.model.name,
                path.measure,
                values_taken(path.measure, path.choice.sign),
                path.choice.order,
                i,
                float(summary.x[i]),
                step.count,
                words,
                side.class_name,
                side.predicted_name,
                same,
                float(summary.values[i]),
                side.model.labels[int(step.logits.argmax())],
                *(step.p.get(form, "") for form in FORMS),
                *step_cells(summary.gate, i, path.choice.form),
                order,
            ]
        )
    return rows
