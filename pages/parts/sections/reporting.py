"""A report in one file, written by a job: of an example, of what is pinned, or of a data set's answers."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.commands import report as asking
from core.commands.remade import command_text, unasked_options
from core.commands.reporting import asked_question, example_cost, example_report, report_page
from core.commands.terminal import Bar, OneText
from core.explanation.explainer import Cost, Explainer
from core.job import Job
from core.network.scheduler import Cancelled
from core.storage.store import canonical_key
from core.verdicts.finding import verdict_cost
from core.wording import safe_name
from pages.parts.frame.links import held
from pages.parts.frame.picking import Browsed
from pages.parts.frame.sidebar import View, chosen_maskable, chosen_method
from pages.parts.frame.working import Work
from pages.parts.sections.saving import save_page
from pages.parts.sections.streaming import stream

if TYPE_CHECKING:
    from core.commands.options import Options
    from pages.parts.sections.studying import Asking


@dataclass(frozen=True, eq=False)
class Reporting(Work):
    """One report; options: as `python -m core report` takes them; expected: what it takes; one: the text that it is
    about, None of data; state: what it depends on besides.
    """

    explainer: Explainer
    options: "Options"
    expected: Cost
    one: OneText | None = None
    state: Any = None
    label, asks, at_once, aside = "report", "Write the report", False, True

    @property
    def key(self) -> str:
        model = self.explainer.model
        chosen = {name: value for name, value in vars(self.options).items() if name != "plugin"}
        return canonical_key(
            "job/report",
            1,
            model=model.digest,
            precision=model.precision,
            reference=self.explainer.tests_by,
            text=None if self.one is None else self.one.encoded.digest,
            state=self.state,
            **{f"of {name}": value for name, value in chosen.items()},
        )

    @property
    def cost(self) -> Cost:
        return self.expected

    def run(self, job: Job) -> Generator[None, None, str]:
        bar = _JobBar(job)
        work = (
            report_page(self.options, self.explainer, bar)
            if self.one is None
            else example_report(self.options, self.one, bar)
        )
        for turn in count(1):
            try:
                next(work)
            except StopIteration as ended:
                return ended.value
            job.report(turn, max(turn + 1, 6))
            yield
        raise AssertionError


class _JobBar(Bar):
    """Stops its job's work at the next batch where somebody cancelled it."""

    def __init__(self, job: Job):
        super().__init__()
        self._job = job

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._job.cancelled():
            raise Cancelled(what)

    def say(self, sentence: str) -> None:
        """Say nothing: the report says what it lacks."""


def report_section(work: Reporting) -> None:
    """Draw what starts a report or saves it, and the command line that makes it again."""

    def draw(asks: Callable[[], None]) -> None:
        if work.complete:
            save_page("Report (HTML)", lambda: work.latest, work.options.out, "save-report")
        asks()

    stream([work], (st.container(), draw), name="report")
    st.code(command_text("report", asking, work.options, ("model", "out")), language="bash")


def report_of_view(view: View, measures: list[str], sign: str) -> None:
    """Draw the report of the page's example."""
    chosen, labels = held("class"), view.model.labels
    where: dict[str, Any] = {"text": view.example.text, "second": view.example.second}
    source = view.data, ""
    if view.browsed is not None:
        of = view.browsed.index.data
        source, where = (of.name, of.digest), {"data": view.browsed.key, "example": view.example.id}
    target = labels[view.target] if chosen is not None or view.target != view.predicted else "predicted"
    where = where | {"target": target, "than": None if view.than is None else labels[view.than]}
    options = _options(view.explainer, ["report", source[0], view.example.id], sign=sign, measures=measures, **where)
    options.unit, options.maskable = view.encoded.unit, view.encoded.maskable
    one = OneText(view.example, *source, view.explainer, view.encoded, view.explained)
    report_section(Reporting(view.explainer, options, example_cost(options, one), one))


def report_of_pins(explainer: Explainer, browsed: Browsed, pins: dict[str, str]) -> None:
    """Draw the report of the pinned examples."""
    index, unit = browsed.index, held("unit") or "word"
    maskable = chosen_maskable()
    about = {"data": browsed.key, "pinned": True, "unit": unit, "maskable": maskable}
    options = _options(explainer, ["pinned", index.data.name], **about)
    example = next(index.data.examples[index.rows[name]] for name in pins if name in index.rows)
    encoded = explainer.encode(example.text, example.second, unit, maskable)
    cost = verdict_cost(explainer, encoded, options.measures).times(len(pins))
    report_section(Reporting(explainer, options, cost, state=[list(one) for one in pins.items()]))


def report_of_answers(asked: "Asking", key: str) -> Callable[[], None] | None:
    """What draws the report of a question's answers; None where the command cannot ask it with these choices."""
    question = asked.question
    chosen = {name: getattr(question, name) for name in ("unit", "sign", "measures") if name in question.choices()}
    chosen = {name: list(one) if isinstance(one, tuple) else one for name, one in chosen.items()}
    about = {"data": key, "what": [question.name], "sample": len(asked.sample)}
    about |= {"maskable": asked.sample.maskable}
    options = _options(asked.explainer, ["report", asked.sample.name, question.name], **about | chosen)
    if asked_question(question.name, options)[1] != question:
        return None
    state = [asked.done, asked.drawn_from]
    return partial(report_section, Reporting(asked.explainer, options, Cost(0, 0.0), state=state))


def _options(explainer: Explainer, name: list[str], **chosen: Any) -> "Options":
    """Options of a report under the model of a page; name: of its file."""
    model, (form, rule) = explainer.model, chosen_method()
    about = {"model": model.origin or model.name, "precision": model.precision, "rule": rule, "form": form}
    return unasked_options(asking, **about | {"out": safe_name([*name, model.name], "html")} | chosen)
