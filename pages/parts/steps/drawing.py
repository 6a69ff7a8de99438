"""Draw masking paths: the stepper, every measure's curve against random order, and the table of what they come to."""

import math
from functools import partial

import streamlit as st

from core.explanation.plausibility import Evidence
from core.explanation.recursive import NO_AREA, UNSTABLE_MEANS
from core.explanation.rows import pieces
from core.figures.figures import masking_paths
from core.stability.known import why_unstable
from core.storage.store import canonical_key
from core.terms import MASF_P
from core.validity.marks import LINES, MEANING, level_text
from core.wording import linked_name, plain, safe_name
from pages.parts.components.pictures import draw_figure
from pages.parts.components.player import player
from pages.parts.frame.links import held, hold, link_to
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import captions
from pages.parts.sections.evidence import disagreement_text, known_evidence, score_table
from pages.parts.sections.paths import Summaries
from pages.parts.sections.saving import about_shown, save_table
from pages.parts.sections.sides import Side, same_class, side_columns, with_score
from pages.parts.steps import following
from pages.parts.steps.stepping import frame, line, pane

AS_SOON, AS_FAR = "random orders as soon ↓", "random orders as far ↓"


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
    if told := _unstable(found, measure):
        st.caption(plain(told))
    if stopped is not None:
        hold("step", str(stopped))
        st.query_params["step"] = str(stopped)
    elif at:
        st.query_params["step"] = str(at)


def draw_paths(view: View, sides: list[Side], found: Summaries) -> None:
    """The curves of all measures on each side, against random order."""
    drawn_too = any(path.orders.band is not None for path in found)
    st.header(f"Every measure{' against random order' if drawn_too else ', step by step'}", anchor=False)
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
    kinds = " or ".join(dict.fromkeys(side.score_kind for side in sides))
    below = "its curve lies below random order" + ("." if drawn_too else ", which is not computed here yet.")
    st.caption(f"A faithful measure takes the {kinds} down fast: {below} {LINES}")
    # Its own line, so that it is not lost among the others.
    captions(filter(None, [following.what_is_tested(found)]))


def draw_paths_table(view: View, sides: list[Side], found: Summaries) -> None:
    """What each path comes to; where evidence is known, how well its first order finds it; and a button that saves."""
    known = known_evidence(view, sides)
    for side, evidence in known.items():
        mine = {path: summary for path, summary in found.items() if path.side is side}
        told = _apart(evidence, mine, side.model.name if len(sides) > 1 else "")
        if told:
            st.html(f"<p>{told}</p>")
    score_table(
        known,
        [
            "model",
            "measure",
            "prediction changes at",
            "RACU ↑",
            "ACU ↑",
            AS_SOON,
            AS_FAR,
            f"smallest {MASF_P} ↑",
            "validity",
        ],
        [
            (path.side, following.table_row(path, summary), partial(Evidence.precision, scores=summary.steps[0].scores))
            for path, summary in found.items()
        ],
        4,
        "RACU: area between the measure’s curve and random order, relative to a measure that reaches the fully masked "
        f"score at once; 0 is random, higher ↑ is more faithful{_above_one(found)}{_without_areas(found)}. ACU "
        "is that area itself and does not compare across models. In brackets 95 % intervals over the random orders: "
        "how well their mean is known, and nothing about other texts"
        f"{following.narrow_text(found)}. "
        f"{AS_SOON}: how many of the random orders change the prediction no later. {AS_FAR}: how many take the score "
        "down as far on average over the steps. The fewer, the less the measure’s own order looks like luck. "
        + f"{UNSTABLE_MEANS} " * any(summary.areas.unstable for summary in found.values())
        + f"{plain(_unstable(found))} {MEANING}".lstrip(),
    )
    st.html(f"<p>{_whom_to_believe()}</p>")
    same = same_class(list(dict.fromkeys(path.side for path in found)))
    save_table(
        "Steps (CSV)",
        with_score(following.COLUMNS, sides),
        lambda: [row for path, summary in found.items() for row in following.step_rows(path, summary, same)],
        safe_name(["masking", view.example.id, *dict.fromkeys(path.side.model.name for path in found)], "csv"),
        key="steps-csv",
    )


def _whom_to_believe() -> str:
    """Where measures are tested against chance, HTML: no column of this table is that test."""
    link = linked_name("AOPC and NAOPC", link_to("aopc_and_naopc"))
    return (
        "A high RACU, or few random orders as far, is no verdict: whether a measure’s order, ranked once, is better "
        f"than chance is tested on {link}, by more random orders and over all measures chosen."
    )


def _unstable(found: Summaries, measure: str = "") -> str:
    """Why first rankings of the unmasked text are unstable, where that is known, of one measure or of all, text."""
    told = [path.unstable for path in found if measure in ("", path.measure)]
    return " ".join(dict.fromkeys(filter(None, map(why_unstable, told))))


def _above_one(found: Summaries) -> str:
    """What RACU above 1 means, where there is one."""
    high = [path for path, one in found.items() if one.racu > 1 and not one.areas.unstable]
    # Of two models a measure may have it under one alone.
    two = len({path.side.model.name for path in found}) > 1
    named = ", ".join(plain(f"{path.measure}{f' under {path.side.model.name}' * two}") for path in high)
    return (
        f"; above 1 ({named}) the score is, on average over the steps, below that of the fully masked text"
        if high
        else ""
    )


def _without_areas(found: Summaries) -> str:
    """Why RACU is "—" where it is."""
    early = [path for path, summary in found.items() if path.orders.band is None or not summary.complete]
    flat = any(math.isnan(summary.racu) for path, summary in found.items() if path not in early)
    why = ["until the steps and the random orders that they are set against are computed"] * bool(early)
    why += [f"where {NO_AREA}"] * flat
    return f"; — {' and '.join(why)}" if why else ""


def _apart(evidence: Evidence | None, mine: Summaries, model: str) -> str:
    """Where plausible and faithful part on one side, once nothing of it may change any more; "" elsewhere."""
    if evidence is None or any(path.runs for path in mine):
        return ""
    precisions = {path.measure: evidence.precision(summary.steps[0].scores) for path, summary in mine.items()}
    # What is unstable ranks nothing.
    faithful = {path.measure: math.nan if summary.areas.unstable else summary.racu for path, summary in mine.items()}
    warned = [path.measure for path, summary in mine.items() if summary.marked]
    return disagreement_text(evidence, precisions, faithful, "RACU", 0.0, marked=warned, model=model)
