"""Draw masking paths: the stepper, every measure's curve against random order, and a table of all measures."""

import streamlit as st

from core.explanation.plausibility import Evidence
from core.explanation.recursive import Summary
from core.explanation.rows import pieces
from core.figures.figures import masking_paths
from core.storage.store import canonical_key
from core.validity.marks import level_text
from core.wording import safe_name
from pages.parts.components.pictures import draw_figure
from pages.parts.components.player import player
from pages.parts.components.tables import data_table
from pages.parts.frame.links import held, hold
from pages.parts.frame.sidebar import View
from pages.parts.sections.evidence import PRECISION, known_evidence
from pages.parts.sections.paths import Summaries
from pages.parts.sections.saving import about_shown, save_table
from pages.parts.sections.sides import Side, same_class, side_columns, with_score
from pages.parts.steps import following
from pages.parts.steps.stepping import frame, line, pane


def draw_stepper(view: View, found: Summaries) -> None:
    """The words step by step, by the measure that is chosen for it; nothing before it has a step."""
    played = [path for path in found if path.measure == path.choice.played]
    if not played:
        return
    names, measure = played[0].names, played[0].measure
    identity = canonical_key("stepper", 1, paths=[path.key for path in played])[:16]
    at = following.step_of(held("step"), len(names))
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


def draw_path_curves(view: View, sides: list[Side], found: Summaries) -> None:
    """The curves of all measures on each side, against random order."""
    at = following.step_of(held("step"), 10**6)
    for i, side in side_columns(sides):
        mine = {path: summary for path, summary in found.items() if path.side is side}
        if mine:
            path, summary = next(iter(mine.items()))
            drawn = masking_paths(
                [line(path.measure, summary) for path, summary in mine.items()],
                path.orders.line(summary.x, summary.random_gate, path.choice.form),
                side.score_name,
                side.encoded.unit,
                float(summary.x[min(at, len(summary.x) - 1)]),
                (summary.gate.threshold, level_text(summary.gate)),
                side.than is None,
            )
            name = ["masking-curves", view.example.id, side.model.name]
            draw_figure(drawn, f"paths-{i}", following.paths_in_words(mine), name, about_shown(view, side))


def draw_table(view: View, sides: list[Side], found: Summaries) -> None:
    """What each path comes to, where evidence is known how well its ranking finds it, and a button that saves steps."""
    known = known_evidence(view, sides)
    rows = [
        [*following.table_row(path, summary), *_precision(known[path.side], summary)] for path, summary in found.items()
    ]
    data_table([*following.TABLE, *([PRECISION] if any(known.values()) else [])], rows, "paths-table")
    same = same_class(list(dict.fromkeys(path.side for path in found)))
    save_table(
        "Steps (CSV)",
        with_score(following.COLUMNS, sides),
        lambda: [row for path, summary in found.items() for row in following.step_rows(path, summary, same)],
        safe_name(["masking", view.example.id, *dict.fromkeys(path.side.model.name for path in found)], "csv"),
        key="steps-csv",
    )


def _precision(evidence: Evidence | None, summary: Summary) -> list[float]:
    return [] if evidence is None else [evidence.precision(summary.steps[0].scores)]
