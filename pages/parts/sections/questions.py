"""Any registered question, asked of a sample of data: its settings, what it says so far, its figure, tables, files."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.data.examples import Example
from core.evaluation.questions import Question
from core.evaluation.sampling import Sample, draw_sample, without_labels
from core.evaluation.studies.scoring import COUNTS, DRAWS, RANDOM
from core.figures.catalogue import question_figure
from core.mathematics.erasure import MIN_MAX, SCALINGS
from core.metrics.catalogue import default_metrics, of_examples
from core.network.model import Model
from core.oracle.erasing import MASK, erasures_of
from core.texts.questions import answer_as_json
from core.wording import amount, escaped, plain
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.frame.links import choose_one, forget_unasked, held, linked
from pages.parts.frame.pages import question_of
from pages.parts.frame.sidebar import DataView
from pages.parts.frame.texts import captions, coming, folded_text, show_answer
from pages.parts.frame.tour import touring
from pages.parts.sections.asking import choose_draws, choose_measures, choose_perturbation, choose_sign
from pages.parts.sections.saving import about_models, save_records
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking, Growing

# What draws what is known of a question, given what is called where progress is to stand.
Draw = Callable[[Asking, Callable[[], None]], None]
DRAWN = ("1", str(DRAWS), "32")
_DRAWS_HELP = "Random draws of each soft perturbation. SoftFaith takes one; more take longer and lessen the noise."
_BASELINE_HELP = (
    "What each measure is set against. Random: uniform attributions, as in SoftFaith. Shuffled: the measure’s own "
    "scores in other places, so that soft metrics keep and erase as much as for the measure."
)


def question_section(
    frame: DataView,
    asked: type[Question],
    examples: Sequence[Example],
    draw: Draw | None = None,
    picked: str = "",
    about: str = "",
    adds: Callable[[Asking], tuple[str, str]] | None = None,
    already: Callable[[Asking], str] | None = None,
    shown: Callable[[Asking], Any] = lambda asked: asked.report,
) -> None:
    """Draw a question about examples of the data, or say why it cannot be asked. Of a sample that takes long the
    beginning is asked first.

    Args:
        draw: as of `Draw`; by default the figure, the tables and what saves them; picked: as of `Sample`; about: which
            examples these are, "the 50 texts of mine.csv"; adds: what stands behind the answer besides, in view and
            folded with its further sentences, HTML in which all text is escaped; already: what is known of other
            questions, told as long as nothing is of this one, text or ""; shown: gives the report that is told, with
            what the page knows besides.
    """
    said, stage, below = (st.container() for _ in range(3))
    with coming(said, stage):
        with below:
            st.header("Settings", anchor=False)
            question = choose_question(asked, frame.explainer.model)
        try:
            question.check(frame.explainer.model)
            sample = replace(_sample(frame, question, examples), picked=picked)
        except ValueError as error:
            told = str(error).rstrip(".")
            said.info(plain(f"{told[:1].upper()}{told[1:]}."))
            return
        one = Growing.of(Asking(frame.explainer, sample, question, drawn_from=len(frame.browsed.index.data)))
        _ = one.shown.report  # kept from here on

    def drawn(asks: Callable[[], None]) -> None:
        (draw or draw_question)(one.shown, asks)

    say = partial(_say, one, about, adds, already, shown)
    stream(lambda: one.works, stage, drawn, said, say, every=1.0, together=True)


def choose_question(question: type[Question], model: Model, one_text: bool = False) -> Question:
    """Draw the settings by which a question can be asked, those of its own at the end; one_text: as other pages ask of
    one text, and not as of many.
    """
    # The unit is that of the sidebar and not of its example, which may be one that cannot be shown.
    names, chosen = question.choices(), {"unit": held("unit") or "word"}
    left, right = st.columns(2)
    with left:
        if "measures" in names:
            about = "What is computed of a measure is kept when another is added."
            first = question.unasked("measures")
            if st.session_state.get("question of measures") != first:
                # What nobody chose gives way to what another question begins with.
                forget_unasked("measures")
            st.session_state["question of measures"] = first
            chosen["measures"] = choose_measures(about, first=first)
        if "sign" in names:
            about = "Signed: what supports the predicted class ranks first. Absolute: what matters most either way."
            chosen["sign"] = choose_sign(about)
    with right:
        if "metrics" in names:
            chosen["metrics"] = _choose_metrics()
        if "scaling" in names:
            about = (
                "How soft metrics turn an attribution into shares of each word that are kept. Reversed keeps the most "
                "important words least, as SoftFaith’s code does and its text does not."
            )
            chosen["scaling"] = choose_one("Scaling", SCALINGS, MIN_MAX, "scaling", about)
        if "draws" in names and one_text:
            chosen["draws"] = choose_draws()
        elif "draws" in names:
            drawn = choose_one("Draws over a data set", DRAWN, str(DRAWS), "draws-of-data", _DRAWS_HELP)
            chosen["draws"] = int(drawn)
    if "placement" in names:
        chosen["placement"], chosen["sigma"] = choose_perturbation(chosen["metrics"])
    if "erasure" in names:
        chosen["erasure"] = choose_one("Erasure", erasures_of(model), MASK, "erasure", "How hard metrics erase a word.")
    if "baseline" in names and "metrics" in names:
        chosen["baseline"] = choose_one("Baseline", COUNTS, RANDOM, "baseline", _BASELINE_HELP)
    for name, (offered, about) in question.own_choices().items():
        read = {str(one): one for one in offered}
        label, first = name.replace("_", " ").capitalize(), str(offered[0])
        chosen[name] = read[choose_one(label, list(read), first, name, f"{about[:1].upper()}{about[1:]}.")]
    return question.asked(chosen)


def _choose_metrics() -> list[str]:
    offered = [name for name, metric in of_examples().items() if metric.direction]
    about = "Those that prefer more or less; sparsity prefers neither."
    chosen = linked(st.multiselect, "Metrics", offered, list(default_metrics()), "metrics", help=about)
    return [name for name in offered if name in chosen]


def _sample(frame: DataView, question: Question, examples: Sequence[Example]) -> Sample:
    data = frame.browsed.index.data
    if not question.labelled:
        return without_labels(data.name, data.digest, examples)
    return draw_sample(replace(data, examples=tuple(examples)), frame.explainer.model.labels, len(examples))


# Behind what an answer's further sentences are folded.
_WEIGH = "What this rests on, and what speaks for or against a measure"


def _say(
    grown: Growing,
    about: str,
    adds: Callable[[Asking], tuple[str, str]] | None,
    already: Callable[[Asking], str] | None,
    shown: Callable[[Asking], Any],
) -> None:
    one = grown.shown
    report, answers = shown(one), one.answers
    texts = amount(len(one.sample), "text")
    how_picked = f" The filter picks texts {escaped(one.sample.picked)}, so this may say how they were picked."
    picked, asked = how_picked * bool(one.sample.picked), _asked_of(grown, about)
    if report is not None:
        answer, told = one.question.sentences(report)[0], []
        lead, stop, rest = escaped(answer, 2000).partition(". ")
        # What may turn is no headline.
        seen, behind = adds(one) if adds else ("", "")
        beside = " ".join(filter(None, [seen, picked.strip()]))
        whole = f"{lead}{stop.strip()}"
        # What is sure stands by itself, what it rests on first below it; the rest is a step away.
        done = answers.complete
        then, folded = _folded(rest, behind, one.question.in_view) if done else (rest, "")
        said, more = (f"<b>{whole}</b>", f"{then} {beside}") if done else (f"{whole} {then} {beside}".strip(), "")
    else:
        more = folded = ""
        told = [f"{count:,} of them: {why}" for why, count in answers.left_out.items()]
        if answers.complete:
            said = f"Nothing can be said: none of the {texts} can be {one.question.done}."
        elif any(work.runs for work in one.works):
            said = f"The first text is being {one.question.done}."
        else:
            lead, stop, rest = (escaped(already(one), 2000) if already else "").partition(". ")
            left = "Which measure beats which by faithfulness metrics, and at which cost, is not tested yet and"
            ask = "can be asked for below; figures stream in text by text."
            said = f"<b>{lead}{stop.strip()}</b>" if lead else f"Not known yet: it {ask}"
            then, folded = _folded(rest) if lead else ("", "")
            more = f"{then}{picked} {left} {ask}" if lead else ""
            # What is known already names its texts, which may be more than those that come first.
            asked = "" if lead else asked
    show_answer(said, more, after=folded)
    captions([*filter(None, [asked]), *one.sample.notes, *told])


def _folded(rest: str, behind: str = "", in_view: int = 1) -> tuple[str, str]:
    """So many of an answer's further sentences, and the others with what else stands behind them, folded, HTML; on a
    tour all but the first paragraph is folded anyway.
    """
    told = rest.split(". ")
    first = ". ".join(told[:in_view]) + "." * (len(told) > in_view)
    others = " ".join(filter(None, [". ".join(told[in_view:]), behind]))
    said = f"<p>{others}</p>" if others else ""
    return first, folded_text(_WEIGH, said) if said and not touring() else said


def _asked_of(grown: Growing, about: str) -> str:
    """The question, of which texts it is asked, and where that is chosen."""
    shown, begins = grown.shown, grown.shown is not grown.whole
    which = about or f"the {amount(len(grown.whole.sample), 'text')}"
    first = f"the first {len(shown.sample):,} drawn of " if begins else ""
    rest = "; all of them can be asked for below" if begins else ""
    # What the page asks in its title is not asked again.
    asks = "" if shown.question.asks == question_of(shown.question.page) else f"{shown.question.asks} "
    return f"{asks}Asked of {first}{which}{rest}. What is asked is chosen in the settings of the page."


def draw_question(one: Asking, asks: Callable[[], None], shown: Any = None) -> None:
    """Draw what is known of any question: its figure, its tables and what saves them; shown: the report as it is drawn,
    with what the page knows besides, by default the one that is known.
    """
    question, report, answers = one.question, one.report if shown is None else shown, one.answers
    if report is None:
        asks()
        return
    name = [question.name, one.model.name, one.sample.name]
    figure = question_figure(question.name, [report])
    if figure is not None:
        draw_figure(figure, "question", question.in_words(report), name, about_models([one.model], one.sample.name))
    _, *told = question.sentences(report)
    behind = len(told) if question.stand is None or not answers.complete else question.stand - 1
    captions(told[:behind])
    if told[behind:]:
        with st.expander("How this is told, and how it can be wrong"):
            captions(told[behind:])
    tables = question.tables(report)
    for header, rows in tables[:1]:
        table(header, rows)
    # What is known stands in view, and what is under way behind it.
    asks()
    for header, rows in tables[1:]:
        table(header, rows)
    save_records(partial(question.records, answers), partial(answer_as_json, question, answers), name, "question")
