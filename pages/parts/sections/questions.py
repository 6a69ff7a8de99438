"""Any registered question, asked of a sample of data: its settings, its headline, its figure, tables and files."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from core.data.examples import Example
from core.evaluation.sampling import Sample, draw_sample, without_labels
from core.evaluation.studies.limits_of_texts import chosen_exact
from core.evaluation.studies.scoring import COUNTS, DRAWS, RANDOM
from core.evaluation.study import Question
from core.figures.catalogue import question_figure
from core.metrics.catalogue import default_metrics, of_examples
from core.network.model import Model
from core.results.asked import without_report
from core.results.catalogue import answer_result
from core.results.caveats import Caveat
from core.results.result import Result
from core.texts.questions import answer_as_json
from core.texts.rendering import headline
from core.wording import plain
from pages.parts.components.pictures import draw_figure
from pages.parts.components.presses import pressed
from pages.parts.components.tables import data_table
from pages.parts.face.body import draw_body
from pages.parts.face.headline import Badge, draw_headline
from pages.parts.frame import resources
from pages.parts.frame.links import choose_one, forget_unasked, held, linked, say_missing, typed, visit
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.asking import choose_draws, choose_measures, choose_sign, pick_erasure
from pages.parts.sections.saving import about_models, save_records
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking, masked_as_chosen

_DRAWS_LABEL = "Draws over a data set"
DRAWN = ("1", str(DRAWS), "32")
# Choices that the command line alone offers.
COMMAND_ONLY = ("scaling", "placement", "sigma", "lines")
_DRAWS_HELP = "Random draws of each soft perturbation. SoftFaith takes one; more take longer and lessen the noise."
_PROTECT_HELP = "Never changed; separated by spaces."
_BASELINE_HELP = "Random: uniform attributions (SoftFaith). Shuffled: the measure’s own scores, moved."


class QuestionParts(NamedTuple):
    """What a page draws of a report: its picture, what stands behind each tab, and what saves it."""

    picture: Callable[[], None] | None
    tabs: dict[str, Callable[[], None]]
    save: Callable[[], None]


class QuestionView(NamedTuple):
    """How a page shows a question: what it draws of a report, the report with what the page knows besides, caveats of
    what it knows, and terms that "About these numbers" defines.
    """

    parts: Callable[[Asking, Any, Result], QuestionParts]
    report: Callable[[Asking], Any] = lambda asked: asked.report
    more: Callable[[Asking], Sequence[Caveat]] = lambda asked: ()
    terms: tuple[str, ...] = ()


def question_parts(asked: Asking, report: Any, result: Result) -> QuestionParts:
    """The figure of any question, its tables behind tabs, and its files."""
    question, answers = asked.question, asked.answers
    name = [question.name, asked.model.name, asked.sample.name]
    figure, picture = question_figure(question.name, [report]), None
    if figure is not None:
        about = about_models([asked.model], asked.sample.name)
        picture = partial(draw_figure, figure, "question", headline(result), name, about)
    tabs: dict[str, Callable[[], None]] = {
        header[0].capitalize() or "Numbers": partial(data_table, header, rows, f"table-{i}")
        for i, (header, rows) in enumerate(question.tables(report))
    }
    save = partial(
        save_records, partial(question.records, answers), partial(answer_as_json, question, answers), name, "question"
    )
    return QuestionParts(picture, tabs, save)


def question_section(
    frame: DataView, question: Question, examples: Sequence[Example], picked: str, about: str, shown: QuestionView
) -> None:
    """Draw a question about examples of the data, or say why it cannot be asked. Of a sample that takes long the
    beginning is asked first.

    Args:
        picked: as of `Sample`; about: which examples these are, "the 50 texts of mine.csv".
    """
    said, stage = st.container(), st.container()
    try:
        question.check(frame.explainer.model)
        sample = replace(_sample(frame, question, examples), picked=picked)
    except ValueError as error:
        told = str(error).rstrip(".")
        said.info(plain(f"{told[:1].upper()}{told[1:]}."))
        _lead_to_shipped(question)
        return
    one = Asking(frame.explainer, sample, question, drawn_from=len(frame.browsed.index.data), grows=True)
    _ = one.shown.report  # kept from here on
    draw, say = partial(_draw, one, shown), partial(_say, one, about, shown)
    stream(lambda: one.offered, (stage, draw), (said, say), together=True)


def _lead_to_shipped(question: Question) -> None:
    """A button that leads to where its answer ships."""
    if question.shown_of is None:
        return
    model, data = question.shown_of
    if pressed(st.button, f"Open {model}", "shipped", icon=":material/arrow_forward:"):
        visit(question.page, model=model, data=data, section=question.name)


def asked_result(asked: Asking, report: Any) -> Result:
    """What a question comes to, also before anything is known of it."""
    runs = any(work.runs for work in asked.works)
    result = answer_result(asked.question, asked.answers, report)
    return result or without_report(len(asked.sample), asked.question.done, asked.answers.complete, runs)


def _say(grown: Asking, about: str, shown: QuestionView) -> None:
    one = grown.shown
    asked, whole = len(one.sample), len(grown.sample)
    texts = f"first {asked:,} of {whole:,} texts" if asked < whole else f"{asked:,} of {grown.drawn_from:,} texts"
    draw_headline(asked_result(one, shown.report(one)), Badge(texts, about), more=shown.more(one))


def _draw(grown: Asking, shown: QuestionView, asks: Callable[[], None]) -> None:
    one = grown.shown
    report, key = shown.report(one), f"parts-of-{one.question.name}"
    result = asked_result(one, report)
    if report is None:
        draw_body(result, None, _left_out(one), key, asks=asks, terms=shown.terms)
        return
    parts = shown.parts(one, report, result)
    picture = parts.picture or partial(st.caption, "No value to draw.")
    draw_body(result, picture, parts.tabs | _left_out(one), key, asks=asks, terms=shown.terms)
    parts.save()


def _left_out(asked: Asking) -> dict[str, Callable[[], None]]:
    """What was left out of a sample and why, behind a tab; {} where nothing was."""
    rows: list[list] = [[why, count] for why, count in asked.answers.left_out.items()]
    rows += [[note, None] for note in asked.sample.notes]
    return {"Left out": partial(data_table, ["why", "texts"], rows, "left-out")} if rows else {}


def choose_question(question: type[Question], model: Model, one_text: bool = False) -> Question:
    """Draw the settings by which a question can be asked, those of its own at the end; one_text: as other pages ask of
    one text, and not as of many.
    """
    # The unit is that of the sidebar and not of its example, which may be one that cannot be shown.
    names, chosen = question.choices(), {"unit": held("unit") or "word", "data": held("data")}
    chosen |= chosen_exact(resources.chosen_settings().exact_scores)
    if "measures" in names:
        chosen["measures"] = _choose_measures(question)
    if "sign" in names:
        chosen["sign"] = choose_sign()
    if "metrics" in names:
        chosen["metrics"] = _choose_metrics()
    if "draws" in names and one_text:
        chosen["draws"] = choose_draws()
    elif "draws" in names:
        chosen["draws"] = int(choose_one(_DRAWS_LABEL, DRAWN, str(DRAWS), "draws-of-data", _DRAWS_HELP))
    if "erasure" in names:
        chosen["erasure"] = pick_erasure(model)
    if "baseline" in names and "metrics" in names:
        chosen["baseline"] = choose_one("Baseline", COUNTS, RANDOM, "baseline", _BASELINE_HELP)
    if "protect" in names:
        chosen["protect"] = tuple(typed("Protected words", "", "protect", _PROTECT_HELP).split())
    for name, (offered, about) in question.own_choices().items():
        if name in COMMAND_ONLY:
            continue
        if name == "roar":
            own = typed("ROAR", "", name, f"{about}.", getattr(question.asked(chosen), name))
            chosen |= {name: own} if own else {}
            continue
        read = {str(one): one for one in offered}
        label, first = name.replace("_", " ").capitalize(), str(offered[0])
        chosen[name] = read[choose_one(label, list(read), first, name, f"{about[:1].upper()}{about[1:]}.")]
    return question.asked(chosen)


def say_command_only() -> None:
    """Say that a link names choices which pages offer no longer."""
    for key in COMMAND_ONLY:
        value = st.query_params.get(key)
        if value is not None:
            say_missing(key, [value])
            st.query_params.pop(key, None)


def _choose_measures(question: type[Question]) -> list[str]:
    first = question.unasked("measures")
    if st.session_state.get("question of measures") != first:
        # What nobody chose gives way to what another question begins with.
        forget_unasked("measures")
    st.session_state["question of measures"] = first
    return choose_measures("Adding a measure keeps the others.", first=first)


def _choose_metrics() -> list[str]:
    offered = [name for name, metric in of_examples().items() if metric.direction]
    about = "Those that prefer more or less; sparsity prefers neither."
    chosen = linked(st.multiselect, "Metrics", offered, list(default_metrics()), "metrics", help=about)
    return [name for name in offered if name in chosen]


def _sample(frame: DataView, question: Question, examples: Sequence[Example]) -> Sample:
    data = frame.browsed.index.data
    if not question.labelled:
        return masked_as_chosen(without_labels(data.name, data.digest, examples))
    labels = frame.explainer.model.labels
    return masked_as_chosen(draw_sample(replace(data, examples=tuple(examples)), labels, len(examples)))
