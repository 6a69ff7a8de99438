"""Draw masking paths: the stepper, every measure's curve against random order, and a table of all measures."""

from typing import Any

import streamlit as st

from core.explanation.plausibility import Evidence
from core.explanation.recursive import Summary
from core.explanation.rows import pieces, values_taken
from core.figures.figures import masking_paths
from core.network.features import placed_texts
from core.stability.known import COLUMN, unstable_cell
from core.storage.store import canonical_key
from core.validity.marks import SIGN, STEP_COLUMNS, path_word, step_cells
from core.validity.references import FORMS
from core.wording import ends_of, number, safe_name
from pages.parts.components.player import player
from pages.parts.components.tables import data_table
from pages.parts.frame.links import held, hold
from pages.parts.frame.sidebar import View
from pages.parts.sections.evidence import PRECISION, known_evidence
from pages.parts.sections.paths import Path, Summaries
from pages.parts.sections.saving import about_shown, draw_on_text, save_table
from pages.parts.sections.sides import PROBABILITY, same_class, side_columns, with_score
from pages.parts.steps.stepping import frame, line, pane


def draw_stepper(view: View, found: Summaries) -> None:
    """The words step by step, by the measure that is chosen for it; nothing before it has a step."""
    played = [path for path in found if path.measure == path.choice.played]
    if not played:
        return
    names, measure = played[0].names, played[0].measure
    identity = canonical_key("stepper", 1, paths=[path.key for path in played])[:16]
    at = step_of(held("step"), len(names))
    shown = frame(
        identity,
        view.encoded,
        pieces(view.encoded, view.example.evidence),
        names,
        at,
        [
            pane(path, found[path])
            | {
                "name": safe_name(["masking", measure, view.example.id, path.side.model.name]),
                "about": about_shown(view, path.side),
            }
            for path in played
        ],
        title=f"Words masked step by step by {measure}",
    )
    stopped = player(shown)
    if stopped is not None:
        hold("step", str(stopped))
        st.query_params["step"] = str(stopped)
    elif at:
        st.query_params["step"] = str(at)


def draw_path_curves(view: View, sides: list[View], found: Summaries) -> None:
    """The curves of all measures on each side, against random order."""
    at = step_of(held("step"), 10**6)
    for i, side in side_columns(sides):
        mine = {path: summary for path, summary in found.items() if path.side is side}
        if mine:
            path, summary = next(iter(mine.items()))
            drawn = masking_paths(
                [line(path.measure, summary) for path, summary in mine.items()],
                path.orders.line(summary.x, summary.random_gate, path.choice.form),
                side.score_name,
                side.encoded.unit,
                summary.gate,
                float(summary.x[min(at, len(summary.x) - 1)]),
                side.than is None,
            )
            draw_on_text(view, side, drawn, f"paths-{i}", paths_in_words(mine), "masking-curves")


def draw_table(view: View, sides: list[View], found: Summaries) -> None:
    """What each path comes to, where evidence is known how well its ranking finds it, and a button that saves steps."""
    known = known_evidence(view, sides)
    rows = [[*table_row(path, summary), *_precision(known[path.side], summary)] for path, summary in found.items()]
    data_table([*TABLE, *([PRECISION] if any(known.values()) else [])], rows, "paths-table")
    same = same_class(list(dict.fromkeys(path.side for path in found)))
    save_table(
        "Steps (CSV)",
        with_score(COLUMNS, sides),
        lambda: [row for path, summary in found.items() for row in step_rows(path, summary, same)],
        safe_name(["masking", view.example.id, *dict.fromkeys(path.side.model.name for path in found)], "csv"),
        key="steps-csv",
    )


def _precision(evidence: Evidence | None, summary: Summary) -> list[float]:
    return [] if evidence is None else [evidence.precision(summary.steps[0].scores)]


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
        unstable_cell(path.measure, path.side.unstable([path.measure], path.choice.sign)) or None,
    ]


def step_rows(path: Path, summary: Summary, same: bool | None = None) -> list[list]:
    """A path's steps for a CSV file, see COLUMNS; same: of `same_class`."""
    side, rows = path.side, []
    order = unstable_cell(path.measure, side.unstable([path.measure], path.choice.sign))
    placed = placed_texts(side.encoded.features)
    how = [side.model.name, path.measure, values_taken(path.measure, path.choice.sign), path.choice.order]
    about = [side.class_name, side.predicted_name, same]
    for i, step in enumerate(summary.steps):
        words = " ".join(word for word, gone in zip(placed, step.mask) if gone)
        masked = [i, float(summary.x[i]), step.count, words]
        said = [float(summary.values[i]), side.model.labels[int(step.logits.argmax())]]
        tests = [*(step.p.get(form, "") for form in FORMS), *step_cells(summary.gate, i, path.choice.form)]
        rows.append([*how, *masked, *about, *said, *tests, order])
    return rows
