"""`python -m core evaluate`: a question of a data set, its answers as a long table; resumable."""

import argparse
import shlex
from collections.abc import Container, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

from core import settings
from core.commands import options as given
from core.commands import terminal
from core.commands.options import Option, Options
from core.commands.terminal import named_family
from core.commands.words_of_two import lines_of_two, sections_of_two, words_of_models
from core.data.browsing import names_by
from core.data.examples import DataSet
from core.data.parsed import BadData
from core.evaluation.asking import ask, read_study, study_cost
from core.evaluation.over_seeds import OverSeeds, means_over_seeds, ranks_over_seeds
from core.evaluation.sampling import Sample, draw_examples, draw_sample, repeats_note, same_examples, without_labels
from core.evaluation.studies.catalogue import own_choices, questions
from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import metric_of
from core.evaluation.studies.limits_of_texts import chosen_exact
from core.evaluation.studies.scoring import COUNTS, DRAWS, RANDOM
from core.evaluation.studies.words_question import Words
from core.evaluation.study import Answers, Question
from core.explanation.explainer import Cost, Explainer
from core.mathematics.erasure import MIN_MAX, PLACEMENTS, SCALINGS, SIGMA, WORD_EMBEDDING
from core.measures.catalogue import swept_measures
from core.network.model import Model
from core.oracle.erasing import ERASURES, MASK
from core.reports.answers import Answer, Section, answer_bytes, answer_text, ending_of
from core.results.catalogue import answer_result
from core.results.result import Result, as_columns
from core.storage.files import only_writer, write_whole
from core.storage.store import Store
from core.texts.checks import checks_as_json, curves_table, findings_tables
from core.texts.over_seeds import facts_over_seeds, ranks_lines, seeds_lines, seeds_tables
from core.texts.questions import answer_as_json
from core.wording import amount

HELP = "ask a question of a data set, such as scores, verdicts, limits or a model check"
GOES_ON = terminal.RESUMES
# Choices of one question that pages do not offer so, and what the question calls them.
_UNOFFERED = {"protect": "protect", "class": "target", "width": "width", "exact-up-to": "exact_up_to", "full": "full"}


def add(option: Option) -> None:
    """What it takes."""
    given.add_model(option)
    option("--beside", nargs="+", default=[], help="further models on the same texts; of a check, in random order")
    given.add_data_option(option)
    given.add_out(option)
    asked = " ".join(f"{name}: {question.asks}" for name, question in questions().items())
    option("--what", choices=tuple(questions()), default=next(iter(questions())), help=asked)
    given.add_measures(option, "to score", swept_measures())
    given.add_metrics(option, "faithfulness metrics")
    option("--baseline", choices=tuple(COUNTS), default=RANDOM, help="random or shuffled attributions")
    unasked = ", ".join(f"{count} {name}" for name, count in COUNTS.items())
    # Suppressed, so that the sentence is not followed by "None".
    option("--count", type=int, default=argparse.SUPPRESS, help=f"baseline size, 0 for none (default: {unasked})")
    option("--erasure", choices=ERASURES, default=MASK, help="erasure in hard metrics")
    option("--scaling", choices=SCALINGS, default=MIN_MAX, help="attribution scaling in soft metrics")
    option("--placement", choices=PLACEMENTS, default=WORD_EMBEDDING, help="where soft metrics perturb")
    option("--sigma", type=float, default=SIGMA, help="relative standard deviation of noise")
    option("--draws", type=int, default=DRAWS, help="draws per soft perturbation")
    given.add_unit(option)
    given.add_maskable(option)
    option("--sample", type=int, help="sample size (default: all)")
    given.add_seed(option)
    _add_own(option)


def run(options: Options) -> int:
    """Carry out the command; 0."""
    refuse_choices_of_others(options, options.what)
    question = question_of(options)
    terminal.refuse_below_one("--sample", options.sample if "old" not in options else None)
    question.check()
    # An old name's file is JSON, whatever it is called.
    ending = ".json" if "old" in options else ending_of(options.out, ".parquet")
    with terminal.Bar() as bar:
        told = _evaluate(options, question, ending, bar)
    print(told)
    if options.out:
        print(f"\nWritten: {options.out}")
    return 0


def question_of(options: Options, **more: Any) -> Question:
    """What is asked; the setting of exact limits holds where nothing is asked for."""
    return questions()[options.what].asked(chosen_exact(settings.read().exact_scores) | vars(options) | more)


def refuse_choices_of_others(given: Container[str], what: str) -> None:
    """ValueError for a choice that belongs to other questions."""
    for name in (*own_choices(), *_UNOFFERED):
        if _UNOFFERED.get(name, name) in given and what not in _owners(name):
            raise ValueError(f"--{name} belongs to {' and '.join(_owners(name))}, not {what}")


def _add_own(option: Option) -> None:
    """The choices that a question has of its own."""
    for name, (offered, about) in own_choices().items():
        told = f"of {' and '.join(_owners(name))}: {about}"
        if offered == (False, True):
            option(f"--{name}", action="store_true", default=argparse.SUPPRESS, help=told)
            continue
        read = {str(one): one for one in offered}
        reads = partial(lambda read, written: read.get(written, written), read)
        # Of an attack there is a nearest one, which its question offers; a ROAR study may be any file.
        allowed = None if name in ("attack", "roar") else offered
        told = told if allowed else f"{told}: {', '.join(offered)}"
        option(f"--{name}", type=reads, choices=allowed, default=argparse.SUPPRESS, help=told)
    unset: dict[str, Any] = {"default": argparse.SUPPRESS}
    option("--protect", nargs="+", **unset, help="of attacks: words that are never changed")
    option("--class", dest="target", **unset, help="of limits: explained class (default: predicted)")
    option("--width", type=int, **unset, help="of limits: beam width (default: insertion search)")
    about = "of limits: most scores of exact ones (default: CPU 4096, GPU 131072)"
    option("--exact-up-to", type=int, **unset, help=about)
    option("--full", action="store_true", **unset, help="of limits: never search in half precision")


def _owners(name: str) -> list[str]:
    called = _UNOFFERED.get(name, name)
    return [one for one, question in questions().items() if called in question.choices()]


def _samples(question: Question, data: DataSet, models: Sequence[Model], options: Options) -> list[Sample]:
    """The same examples for each model, with its own classes as labels. BadData: there are none, or other classes."""
    size = len(data) if options.sample is None else options.sample
    if not question.labelled:
        found = without_labels(data.name, data.digest, draw_examples(data.examples, size, options.seed))
        return [replace(found, maskable=options.maskable)] * len(models)
    samples = [replace(draw_sample(data, models[0].labels, size, options.seed), maskable=options.maskable)]
    for model in models[1:]:
        try:
            samples.append(same_examples(samples[0], data, model.labels))
        except BadData as error:
            raise BadData(f"{model.name} does not compare with {models[0].name}: {error}") from error
    return samples


def _evaluate(options: Options, question: Question, ending: str, bar: terminal.Bar) -> str:
    """Ask, and write the file; resumes by the store. Returns what there is to say about it, as text.

    Raises:
        ValueError, BadData, UnsupportedModel: a sentence on what to change.
        InUse, OSError: as `core.storage.files.only_writer` and `whole_file`.
    """
    data = terminal.data_of(options)
    seeds = terminal.seeds_of(options, bar.say)
    with nullcontext() if not options.out else only_writer(Path(options.out)) as place:
        found = ask_models(options, question, data, terminal.open_models(options, bar.say, seeds)[1], bar, seeds)
        if place is not None and (None not in found.reports or ending != ".json"):
            written = options.old.written if "old" in options else None
            made = answer_bytes(found.answer(ending), ending) if written is None else written(found)
            write_whole(place, made, replaces=True)
    return answer_text(found.sections)


@dataclass(frozen=True, eq=False)
class Evaluated:
    """What a question's answers over a data set come to, for each model; seeds: {name: seed} of a family's members."""

    options: Options
    data: DataSet
    samples: Sequence[Sample]
    explainers: Sequence[Explainer]
    asked: Sequence[Question]
    found: Sequence[Answers]
    reports: Sequence[Any]
    seeds: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def sections(self) -> list[Section]:
        """Results and tables; BadData where a model has no answer."""
        for question, answers, report in zip(self.asked, self.found, self.reports):
            if report is None:
                why = next(iter(answers.left_out))
                raise BadData(f"No example of {self.data.name} could be {question.done}: {why}")
        every = _sections(self.asked, self.found, self.reports)
        if not self.seeds:
            return every
        tables = seeds_tables([*self._facts, *self._means], ranks_over_seeds(self._means))
        short = [replace(one, tables=(), notes=()) if one.title in {"", *self.seeds} else one for one in every]
        return [Section(named_family(self.seeds), tables=tables), *short]

    @property
    def _members(self) -> list[tuple[Question, Answers, Any]]:
        """What the models of the family were asked, with what they answer."""
        every = zip(self.asked, self.found, self.reports)
        return [one for one in every if one[1].model.name in self.seeds]

    @cached_property
    def _means(self) -> list[OverSeeds]:
        return means_over_seeds([question.records(answers) for question, answers, _ in self._members])

    @property
    def _facts(self) -> list[OverSeeds]:
        results = [answer_result(*one) for one in self._members]
        return facts_over_seeds([one for one in results if one is not None])

    @property
    def lines(self) -> list[dict]:
        """Columns: example (its id), row (of the data, from 1), model where there are several, model_seed of a family's
        member (null of others, and in lines of means over seeds, which say number, mean, low, high and seeds), problem
        (a sentence; then the rest is null), cut (longer than the model reads), what `Question.records` says, and
        outcome and caveats of the whole.
        """
        rows = {example.id: row for row, example in enumerate(self.data.examples, start=1)}
        lines = _lines(self.asked, self.found, self.reports, rows)
        if not self.seeds:
            return lines
        over = seeds_lines([*self._facts, *self._means], named_family(self.seeds))
        return [one | {"model_seed": self.seeds.get(one["model"])} for one in lines] + over

    def answer(self, ending: str) -> Answer:
        """All of it, with its origin, for a file of this kind."""
        question, model, old = self.asked[0], self.explainers[0].model, "old" in self.options
        ids = [one.id for one in self.samples[0].examples]
        about = terminal.origin_of(self.options, self.explainers, self.data, ids)
        choices = {"what": question.name, "weights": model.digest, "sample": self.options.sample}
        about = {} if old else choices | asdict(cast(Any, question)) | about
        plain = _plain(self.asked, self.found, self.reports, old) if ending == ".json" else {}
        if self.seeds and plain:
            means = seeds_lines([*self._facts, *self._means], named_family(self.seeds))
            plain |= {"over_seeds": means, "orders_over_seeds": ranks_lines(ranks_over_seeds(self._means))}
        sections = [] if None in self.reports else self.sections
        return Answer(f"{question.name}: {self.data.name}", sections, self.lines, plain, about)


def cost_left(options: Options, question: Question, data: DataSet, explainer: Explainer) -> Cost:
    """What a question takes at most on texts that the store does not know; BadData as `ask_models`."""
    (sample,), store = _samples(question, data, [explainer.model], options), cast(Store, explainer.store)
    studies = question.studies
    return Cost.sum(study_cost(explainer, sample, one, read_study(explainer, sample, one, store)) for one in studies)


def ask_models(
    options: Options,
    question: Question,
    data: DataSet,
    explainers: Sequence[Explainer],
    bar: terminal.Bar,
    seeds: Mapping[str, int] | None = None,
) -> Evaluated:
    """Ask a question of the same examples for each model; what the store has is read. Raises as `_evaluate`.

    seeds: {name: seed} of the models that are of a family.
    """
    models, store = [explainer.model for explainer in explainers], cast(Store, explainers[0].store)
    if len({model.digest for model in models}) < len(models):
        raise ValueError("two models have the same weights; leave one out")
    samples = _samples(question, data, models, options)
    for note in repeats_note(data.examples):
        bar.say(note)
    for model in models:
        question.check(model)
    if len(models) > 1 and "metric" in question.choices():
        # Models are measured alike.
        question = replace(cast(Any, question), metric=metric_of(models[0]))
    together = set(seeds or ()) if seeds and models[0].name in seeds else {models[0].name}
    asked = [question, *(question if one.name in together else question.beside() for one in models[1:])]
    asking = list(zip(explainers, samples, asked))
    cost = Cost.sum(study_cost(one, sample, study) for one, sample, each in asking for study in each.studies)
    bar.cost(amount(len(samples[0]), "text"), cost, "Fewer: --sample." if cost.seconds > 60 else "")
    found = []
    for explainer, sample, each in asking:
        named = f"{explainer.model.name}: " if len(models) > 1 else ""
        told = partial(lambda named, what, *done: bar(f"{named}{what}", *done), named)
        found.append(ask(explainer, sample, each, store, told))
    terminal.say_of_store(store, bar.say)
    found = list(question.together(found)) if len(found) > 1 else found
    reports = [each.conclude(answers) for each, answers in zip(asked, found)]
    for sentence in dict.fromkeys(why for answers in found for why in answers.left_out):
        bar.say(f"Left out: {sentence}")
    return Evaluated(options, data, samples, explainers, asked, found, reports, seeds or {})


def _sections(asked: Sequence[Question], found: Sequence[Answers], reports: Sequence[Any]) -> list[Section]:
    """What each model's answers come to, and their tables; of model checks, what papers found, too."""
    sections = []
    for question, answers, report in zip(asked, found, reports):
        tables, notes, title = question.tables(report), (), answers.model.name if len(found) > 1 else ""
        if isinstance(question, MaskingCheck):
            names = shlex.join(names_by(report.other, answers.model.labels))
            asks = [f"Try --labels {names}"] if names else []
            tables, notes = [*tables, curves_table(report)], [*report.notes, *asks]
        sections.append(Section(title, answer_result(question, answers, report), tables, notes))
    if isinstance(asked[0], Words):
        return [*sections, *sections_of_two(asked[0], found)]
    checked = isinstance(asked[0], MaskingCheck)
    return [*sections, Section(tables=findings_tables(reports))] if checked else sections


def _lines(asked, found: Sequence[Answers], reports: Sequence[Any], rows: dict[str, int]) -> list[dict]:
    lines = []
    for question, answers, report in zip(asked, found, reports):
        result = answer_result(question, answers, report)
        told = {} if result is None else as_columns(result)
        named = {"model": answers.model.name} if len(found) > 1 else {}
        records = question.records(answers)
        # A line may be of no one example.
        placed = [
            {"example": one["example"], "row": rows[one["example"]]} if "example" in one else {} for one in records
        ]
        lines += [place | named | one | told for place, one in zip(placed, records)]
    return [*lines, *lines_of_two(asked[0], found)] if isinstance(asked[0], Words) else lines


def _plain(asked, found: Sequence[Answers], reports: Sequence[Any], old: bool) -> dict[str, Any]:
    """Plain values for JSON; of a model check, every example's prediction and p at each ratio, too."""
    if isinstance(asked[0], MaskingCheck):
        every = [{"model": each.model.name} | line for one, each in zip(asked, found) for line in one.records(each)]
        results = [cast(Result, answer_result(*one)) for one in zip(asked, found, reports)]
        return checks_as_json(reports, results) | ({} if old else {"examples": every})
    models = [answer_as_json(question, answers) for question, answers in zip(asked, found)]
    between = words_of_models(asked[0], found) if isinstance(asked[0], Words) else {}
    return models[0] if len(models) == 1 else {"models": models} | between
