"""What `python -m core report` writes, and pages as a job: a turn for each part, and then the page."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

from core import settings
from core.commands import evaluate as evaluating
from core.commands import explain as explaining
from core.commands import report_options as asking
from core.commands import terminal
from core.commands.options import Options
from core.commands.remade import command_text, unasked_options
from core.data.examples import DataSet
from core.evaluation.studies.catalogue import questions
from core.evaluation.study import Question
from core.explanation.explainer import Cost, Explainer
from core.explanation.limiting import left_over, search_cost
from core.explanation.recursive import path_cost
from core.explanation.smallest import sets_cost
from core.figures.catalogue import question_figure
from core.mathematics.search.fewest import EXACT_FEATURES
from core.network.features import NoFeatures
from core.reports.answers import Answer, Part, Section, answer_bytes, written_sections
from core.reports.attribution_page import attribution_page
from core.reports.exports import Shown
from core.reports.report_page import PinnedEntry, entries_page
from core.results.verdicts import verdicts_result
from core.storage.library import Library
from core.verdicts.finding import verdict_cost

# Questions that take longer are left out unless they are named.
FAST_SECONDS = 10.0
_OF_ONE = ("attributions", "verdicts", "limits", "sets", "steps")
_OF_EACH = ("attributions", "verdicts")
# Facts that hold for one example alone.
_OWN = ("example", "text_sha256", "second_text_sha256", "class", "text_caveats")


def report_page(options: Options, explainer: Explainer, bar: terminal.Bar) -> Generator[None, None, str]:
    """The report that these options ask for, as HTML; ValueError with a sentence where there is none to write."""
    if options.text is not None or options.example is not None:
        return (yield from example_report(options, terminal.text_of(options, explainer), bar))
    data = terminal.data_of(options)
    if options.pinned:
        return (yield from _pinned_report(options, data, explainer, bar))
    return (yield from _answers_report(options, data, explainer, bar))


def example_report(options: Options, one: terminal.OneText, bar: terminal.Bar) -> Generator[None, None, str]:
    """Everything about one text; smallest sets where exact ones are fast."""
    exact = left_over(one.encoded) <= EXACT_FEATURES
    found = yield from _parts(options, [name for name in _OF_ONE if exact or name != "sets"], one, bar)
    more = [section for name, part in found.items() if name not in _OF_EACH for section in part.sections]
    return attribution_page(_shown(options, one, found), more=written_sections(more))


def _pinned_report(
    options: Options, data: DataSet, explainer: Explainer, bar: terminal.Bar
) -> Generator[None, None, str]:
    """The pinned examples of a data set in the order of pinning, each with its note, words and verdicts."""
    pins = Library(settings.read().cache).pins(data.digest)
    rows, entries, notes = {one.id: one for one in data.examples}, [], []
    for name in (name for name in pins if name in rows):
        try:
            one = terminal.text_of(options, explainer, (rows[name], data.name, data.digest))
        except NoFeatures as error:
            notes.append(f"{name}: {error}")
            continue
        found = yield from _parts(options, _OF_EACH, one, bar)
        sections = found["verdicts"].sections if "verdicts" in found else ()
        entries.append(PinnedEntry(_shown(options, one, found), pins[name], sections))
    if not entries:
        raise ValueError(f"no example of {data.name} is pinned that can be explained; pin one on Examples")
    ids = ", ".join(one.shown.example.id for one in entries)
    facts = entries[-1].shown.provenance | {"sample_ids": ids}
    return entries_page(data.name, entries, {key: value for key, value in facts.items() if key not in _OWN}, notes)


def _answers_report(
    options: Options, data: DataSet, explainer: Explainer, bar: terminal.Bar
) -> Generator[None, None, str]:
    """What the questions come to: those that are named, or all that are stored or fast."""
    sections, left_out, ids = [], [], []
    for name in options.what or questions():
        try:
            found = _answer(name, options, data, explainer, bar)
        except ValueError as error:
            if options.what:
                raise
            left_out.append(f"{name}: {error}")
            continue
        ids = ids or [one.id for one in found.samples[0].examples]
        first, *others = found.sections
        figure = question_figure(name, found.reports)
        sections += [replace(first, title=name, figure=figure), *others]
        yield
    sections += [Section("Left out", notes=left_out)] if left_out else []
    about = terminal.origin_of(options, [explainer], data, ids) | _made_by(options)
    return answer_bytes(Answer(f"{data.name}: {explainer.model.name}", sections, facts=about), ".html").decode("utf-8")


def _answer(
    name: str, options: Options, data: DataSet, explainer: Explainer, bar: terminal.Bar
) -> evaluating.Evaluated:
    """A question's answers; ValueError where it cannot be asked, or is slow and nobody named it."""
    asked, question = asked_question(name, options)
    question.check()
    question.check(explainer.model)
    cost = evaluating.cost_left(asked, question, data, explainer)
    if not options.what and cost.seconds > FAST_SECONDS:
        raise ValueError(terminal.Bar.price(cost))
    found = evaluating.ask_models(asked, question, data, [explainer], bar)
    if not found.sections:
        raise ValueError("no answer")
    return found


def asked_question(name: str, options: Options) -> tuple[Options, Question]:
    """A question by the choices of a report, beside all options of `evaluate`."""
    asked, kind = unasked_options(evaluating, **vars(options) | {"what": name, "labels": None}), questions()[name]
    if options.measures == unasked_options(asking).measures and "measures" in kind.choices():
        # Each question begins with measures of its own.
        asked.measures = list(kind.unasked("measures"))
    return asked, evaluating.question_of(asked)


def example_cost(options: Options, one: terminal.OneText) -> Cost:
    """What a report of an example takes at most."""
    about = one.explainer, one.encoded
    costs = [verdict_cost(*about, options.measures), *(path_cost(*about, name) for name in options.measures)]
    exact = left_over(one.encoded) <= EXACT_FEATURES
    return Cost.sum([*costs, sets_cost(*about) if exact else search_cost(*about)])


def _parts(
    options: Options, names: Sequence[str], one: terminal.OneText, bar: terminal.Bar
) -> Generator[None, None, dict[str, Part]]:
    """Parts of what can be found out of a text, a turn each; those that it does not allow are left out."""
    asked, found = unasked_options(explaining, **vars(options) | {"what": list(names)}), {}
    for name in names:
        try:
            found[name] = explaining.tell(name, asked, one, bar)
        except ValueError as error:
            if name == names[0]:
                raise
            bar.say(f"{name}: {error}")
        yield
    return found


def _shown(options: Options, one: terminal.OneText, found: Mapping[str, Part]) -> Shown:
    """A text with its words, the headline that its verdicts come to, and where all of it comes from."""
    facts = one.facts() | one.origin(options) | _made_by(options)
    shown = explaining.shown_text(one, found, facts)
    return shown if shown.verdicts is None else replace(shown, result=verdicts_result(shown.verdicts))


def _made_by(options: Options) -> dict[str, str]:
    """The command line that makes a report again."""
    return {"command": command_text("report", asking, options, ("model", "out"))}
