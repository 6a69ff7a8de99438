"""Recursive masking: does masking the important words change the prediction, on inputs the model knows?"""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.explanation.plausibility import evidence_of
from core.explanation.recursive import BY_FEATURE, BY_RATIO, STEPS, Summary, summarise
from core.explanation.rows import SIGNS, pieces
from core.figures.figures import masking_paths
from core.measures.catalogue import default_measures, measures
from core.storage.store import canonical_key
from core.validity.marks import LINES, MEANING
from core.wording import plain, safe_name
from pages.parts.components.pictures import figure_buttons
from pages.parts.components.player import player
from pages.parts.components.tables import table
from pages.parts.frame.links import held, hold, linked
from pages.parts.frame.sidebar import View, open_page
from pages.parts.frame.texts import prediction_line, show_text_notes
from pages.parts.sections.evidence import COLUMN, disagreement, precision_note, precision_text
from pages.parts.sections.saving import about_view, save_table
from pages.parts.sections.sides import (
    RECURSIVE,
    Orders,
    Side,
    about_the_test,
    both_sides,
    choose_beside,
    choose_form,
    choose_order,
    choose_rule,
)
from pages.parts.sections.streaming import stream
from pages.parts.steps import following
from pages.parts.steps.stepping import frame, line, pane, step_names
from pages.parts.steps.trying import what_if_section


@dataclass(frozen=True)
class Choice:
    """What the page's settings say."""

    measures: tuple[str, ...]
    played: str
    sign: str
    step: str
    order: str
    rule: str
    form: str

    @property
    def recompute(self) -> bool:
        return self.order == RECURSIVE


def recursive_masking() -> None:
    """Draw the page."""
    view = open_page("Recursive masking", "Does masking them change the prediction, on inputs the model knows?")
    said, controls, stage, hand, below = (st.container() for _ in range(5))
    with below:
        st.subheader("Settings", anchor=False)
        settings = _settings(view)
    with controls:
        choice, beside = _controls(view, settings)
    sides = both_sides(view, beside, said)
    paths = [
        following.Path(side, name, choice.sign, choice.step, choice.recompute)
        for side in sides
        for name in choice.measures
    ]
    bands = [Orders(side, choice.step) for side in sides]
    stream(
        [*paths, *bands],
        stage,
        partial(_draw, view, sides, choice, paths, bands),
        said,
        partial(_say, view, sides, choice, paths, bands),
    )
    with hand:
        what_if_section(view, sides, choice.form)
    with below:
        about_the_test(sides, choice.form)
        for note in view.model.notes:
            st.caption(plain(note))
        show_text_notes(view)


def _settings(view: View) -> dict:
    chosen = linked(
        st.multiselect,
        "Measures",
        list(measures()),
        list(default_measures()),
        "measures",
        help="Each masks what it ranks first, step by step. Cheap ones are followed at once; dear ones say what they "
        "cost and wait to be asked.",
    )
    steps = {BY_RATIO: "10 % of the text", BY_FEATURE: f"one {view.encoded.unit}"}
    left, middle, right = st.columns(3)
    with left:
        sign = linked(
            st.segmented_control,
            "Values",
            SIGNS,
            "signed",
            "values",
            required=True,
            help="Signed: mask first what supports the class. Absolute: mask first what matters most either way.",
        )
        step = linked(st.segmented_control, "Step", STEPS, BY_RATIO, "steps", required=True, format_func=steps.get)
    with middle:
        order = choose_order()
        form = choose_form()
    with right:
        rule = choose_rule()
    return {"measures": tuple(chosen), "sign": sign, "step": step, "order": order, "rule": rule, "form": form}


def _controls(view: View, settings: dict) -> tuple[Choice, str]:
    """Which measure is stepped through, and which model stands beside; above the picture, since they decide what it
    is.
    """
    left, right = st.columns([3, 2], gap="large")
    played = ""
    with left:
        if settings["measures"]:
            played = linked(
                st.segmented_control,
                "Step through",
                list(settings["measures"]),
                settings["measures"][0],
                "play",
                required=True,
                help="The measure whose steps are shown; the curves below show all that are chosen in the settings.",
            )
    with right:
        beside = choose_beside(view, "takes the same steps on the same example")
    return Choice(played=played, **settings), beside


def _say(view: View, sides: list[Side], choice: Choice, paths: list, bands: list) -> None:
    prediction_line(
        view, following.masking_answer(paths, choice.played, _found(paths, bands, sides, choice), choice.form)
    )


def _draw(view: View, sides: list[Side], choice: Choice, paths: list, bands: list, asks) -> None:
    found = _found(paths, bands, sides, choice)
    if found:
        _play(view, choice, found)
    asks()
    if found:
        _figures(view, sides, choice, found, bands)
        _table(view, sides, choice, found)


def _found(paths: list, bands: list, sides: list[Side], choice: Choice) -> dict:
    """What each path with steps says so far."""
    # The steps are taken once: more may come while the page is drawn.
    walked = {path: path.steps for path in paths}
    return {
        path: _summary(path, steps, bands[sides.index(path.side)], choice) for path, steps in walked.items() if steps
    }


def _summary(path, steps: tuple, orders, choice: Choice) -> Summary:
    return summarise(
        steps,
        path.side.encoded.F,
        choice.step,
        path.side.target,
        orders.band,
        path.side.reference,
        choice.rule,
        choice.form,
    )


def _play(view: View, choice: Choice, found: dict) -> None:
    played = [path for path in found if path.measure == choice.played]
    if not played:
        return
    encoded = view.encoded
    names = step_names(encoded.F, encoded.unit, choice.step, int(encoded.premasked.sum()))
    detail = f"{choice.played}, computed {choice.order}"
    panes = [
        pane(path.side, measures()[path.measure], choice.sign, found[path], names, choice.form, detail, path.runs)
        for path in played
    ]
    identity = canonical_key("stepper", 1, paths=[path.key for path in played])[:16]
    at = following.step_of(held("step"), len(names))
    shown = frame(
        identity,
        encoded,
        pieces(encoded, view.example.evidence),
        names,
        at,
        panes,
        name=safe_name(["masking", choice.played, view.example.id, view.model.name]),
        about=about_view(view),
        title=f"Words masked step by step by {choice.played}",
    )
    stopped = player(shown)
    if stopped is not None:
        hold("step", str(stopped))
        st.query_params["step"] = str(stopped)
    elif at:
        st.query_params["step"] = str(at)


def _figures(view: View, sides: list[Side], choice: Choice, found: dict, bands: list) -> None:
    st.subheader("Every measure against random order", anchor=False)
    at = following.step_of(held("step"), 10**6)
    for column, side, orders in zip(
        st.columns(len(sides), gap="large") if len(sides) > 1 else [st.container()], sides, bands
    ):
        mine = {path: summary for path, summary in found.items() if path.side is side}
        if not mine:
            continue
        x = next(iter(mine.values())).x
        lines = [line(path.measure, summary, choice.form) for path, summary in mine.items()]
        band = orders.line(x, next(iter(mine.values())).random_gate, choice.form)
        figure = masking_paths(
            lines, band, f"probability of {side.class_name}", side.encoded.unit, float(x[min(at, len(x) - 1)])
        )
        with column:
            key = f"paths-{sides.index(side)}"
            if len(sides) > 1:
                st.markdown(f"**{plain(side.model.name)}**")
            st.plotly_chart(
                figure,
                width="stretch",
                theme=None,
                key=key,
                config={"displayModeBar": False},
                alt=following.in_words(mine),
            )
            figure_buttons(key, safe_name(["masking-curves", view.example.id, side.model.name]), about_view(view))
    st.caption("A faithful measure takes the probability down fast: its curve lies below random order. " + LINES)


def _table(view: View, sides: list[Side], choice: Choice, found: dict) -> None:
    known = {side: evidence_of(side.encoded, view.example.evidence) for side in sides}
    marked = any(evidence is not None for evidence in known.values())
    for side, evidence in known.items():
        told = _apart(
            evidence,
            {path: summary for path, summary in found.items() if path.side is side},
            side.model.name if len(sides) > 1 else "",
        )
        if told:
            st.html(f"<p>{told}</p>")
    header = [
        "model",
        "measure",
        "prediction changes at",
        "RACU ↑",
        *[COLUMN] * marked,
        "ACU ↑",
        "smallest p",
        "validity",
    ]
    rows = [following.table_row(path, summary, choice.form) for path, summary in found.items()]
    table(
        header,
        [_with_precision(row, known[path.side], found[path]) for path, row in zip(found, rows)] if marked else rows,
        most=90,
    )
    st.caption(
        "RACU: area between the measure’s curve and random order, relative to a measure that reaches the fully masked "
        "score at once; 0 is random, higher ↑ "
        "is more faithful; — where random order ends no lower than it goes. ACU is that area itself and does not "
        "compare across models. " + MEANING
    )
    if marked:
        st.caption(precision_note(known[sides[0]], view.encoded.unit))
    save_table(
        "Steps (CSV)",
        following.COLUMNS,
        lambda: [row for path, summary in found.items() for row in following.step_rows(path, summary, choice.form)],
        safe_name(["masking", view.example.id, view.model.name], "csv"),
        key="steps-csv",
    )


def _with_precision(row: list[str], evidence, summary: Summary) -> list[str]:
    """A row of the table with how well the first order finds the evidence, after RACU."""
    return [*row[:4], precision_text(evidence, lambda one: one.precision(summary.steps[0].scores)), *row[4:]]


def _apart(evidence, mine: dict, model: str) -> str:
    """Where plausible and faithful part on one side, once nothing of it may change any more; "" elsewhere."""
    if evidence is None or any(path.runs for path in mine):
        return ""
    precisions = {path.measure: evidence.precision(summary.steps[0].scores) for path, summary in mine.items()}
    faithful = {path.measure: summary.racu for path, summary in mine.items()}
    warned = [path.measure for path, summary in mine.items() if summary.marked]
    return disagreement(evidence, precisions, faithful, "RACU", 0.0, marked=warned, model=model)


recursive_masking()
