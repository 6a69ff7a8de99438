"""Behaviour under masking as a table, rows and JSON: when predictions change and how far embeddings drift."""

from typing import Any

from core.evaluation.studies.behaviour import ORDERS
from core.evaluation.studies.behaviour_report import ALL, HALF, BehaviourReport, CourseLine, X
from core.explanation.rows import values_taken
from core.wording import as_json, ends_of, number

HEADER = (
    "model",
    "order",
    "erased by",
    "masking ratio (0 to 1)",
    "examples",
    "change of centroid (1 - cosine, 0 to 2)",
    "change of mean standard deviation (share)",
    "change of mean standard deviation (absolute)",
    "predictions not changed yet (share)",
    "fidelity (higher is more faithful)",
    "fidelity, 95 % from",
    "fidelity, 95 % to",
    "normalised fidelity (at most 1)",
    "predictions that never change (share)",
    "examples judged",
    "examples on which the models predict different classes",
)


def behaviour_rows(found: BehaviourReport, beside: list[BehaviourReport] | None = None) -> list[list]:
    """A report as rows, one for each course and ratio, see HEADER; beside: the reports among which it stands."""
    apart = classes_apart(beside or [found])
    return [
        [
            found.model,
            line.course.measure,
            line.course.erasure,
            float(ratio),
            line.n,
            float(line.centroid[k]),
            float(line.spread[k]),
            float(line.sigma[k]),
            float(line.unflipped[k]),
            line.fidelity.mean,
            line.fidelity.low,
            line.fidelity.high,
            line.normalised,
            line.never,
            line.judged,
            apart and apart[0],
        ]
        for line in found.lines
        for k, ratio in enumerate(X)
    ]


def behaviour_json(reports: list[BehaviourReport]) -> dict:
    """Reports as plain values for a JSON file; null where there is no number."""
    apart = classes_apart(reports)
    return {
        "examples_of_different_classes": apart and apart[0],
        "models": [
            {
                "model": one.model,
                "weights": one.digest,
                "training": one.training,
                "data": one.sample.name,
                "data_sha256": one.sample.digest,
                "largest_fidelity": as_json(one.best),
                "notes": list(one.notes),
                "left_out": one.left_out,
                "ratios": X.tolist(),
                "random_orders": ORDERS,
                "curves": [_line_json(line) for line in one.lines],
            }
            for one in reports
        ],
    }


def _line_json(line: CourseLine) -> dict:
    course = line.course
    return {
        "measure": course.measure,
        "values": values_taken(course.measure, course.sign),
        "unit": course.unit,
        "erased_by": course.erasure,
        "examples": line.n,
        "judged": line.judged,
        "fidelity": as_json(line.fidelity.mean),
        "fidelity_interval": [as_json(line.fidelity.low), as_json(line.fidelity.high)],
        "normalised_fidelity": as_json(line.normalised),
        "never_changes": as_json(line.never),
        "not_changed_yet": as_json(line.unflipped),
        "centroid_change": as_json(line.centroid),
        "spread_change": as_json(line.spread),
        "spread_difference": as_json(line.sigma),
    }


def behaviour_table(reports: list[BehaviourReport]) -> tuple[list[str], list[list[Any]]]:
    """Fidelity and drift of each order of each model, (header, rows) of values; shares in percent."""
    header = [
        "model",
        "order",
        "fidelity ↑",
        "fidelity, 95 % interval",
        "normalised ↑",
        "never changes (%)",
        *(f"centroid change at {share}" for share in ("50 %", "100 %")),
        *(f"change of mean σ at {share} (%)" for share in ("50 %", "100 %")),
        *(f"change of mean σ at {share}" for share in ("50 %", "100 %")),
        "examples",
    ]
    return header, [_cells(one, line) for one in reports for line in one.lines]


def _cells(one: BehaviourReport, line: CourseLine) -> list[Any]:
    interval = line.fidelity
    return [
        one.model,
        line.course.measure,
        interval.mean,
        ends_of(interval.low, interval.high) or None,
        0.0 if line.course.random else line.normalised,
        100 * line.never,
        *(float(line.centroid[k]) for k in (HALF, ALL)),
        *(100 * float(line.spread[k]) for k in (HALF, ALL)),
        *(float(line.sigma[k]) for k in (HALF, ALL)),
        line.n,
    ]


def classes_apart(reports: list[BehaviourReport]) -> tuple[int, int] | None:
    """On how many examples models explain different classes, of how many that all have; None with one model."""
    if len(reports) < 2:
        return None
    shared = set.intersection(*(set(one.explained) for one in reports))
    return sum(len({one.explained[i] for one in reports}) > 1 for i in shared), len(shared)


def behaviour_in_words(reports: list[BehaviourReport]) -> str:
    """The figure for those who do not see it."""
    parts = (
        f"{one.model}, {line.course.measure}: {', '.join(number(100 * value) for value in line.unflipped)}"
        for one in reports
        for line in one.lines
    )
    return f"Predictions not changed yet at each masking ratio, in percent. {'; '.join(parts)}."
