"""`python -m core evaluate`: a question of a data set, its answers as a long Parquet table; resumable."""

import argparse
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, cast

from core import settings
from core.commands import terminal
from core.commands.terminal import Option, Options
from core.data.parsed import BadData
from core.evaluation.asking import ask
from core.evaluation.sampling import draw_examples, draw_sample, repeats_note, without_labels
from core.evaluation.studies.catalogue import own_choices, questions
from core.evaluation.studies.scoring import COUNTS, DRAWS, RANDOM
from core.evaluation.study import Question, Table
from core.explanation.explainer import with_reference
from core.loading.loading import load
from core.mathematics.erasure import MIN_MAX, PLACEMENTS, SCALINGS, SIGMA, WORD_EMBEDDING
from core.measures.catalogue import swept_measures
from core.metrics.catalogue import default_metrics
from core.oracle.erasing import ERASURES, MASK
from core.reports.exports import csv_text
from core.reports.tables import latex_table, parquet_table
from core.results.catalogue import question_result
from core.results.result import as_columns
from core.storage.files import only_writer, whole_file, write_whole
from core.storage.library import Library
from core.storage.store import Store
from core.texts.questions import readable_answer
from core.texts.rendering import latex_comment

HELP = "evaluate measures or a model on a data set"
GOES_ON = terminal.RESUMES
_TEXTS = (
    "class problem measure values metric direction erasure scaling placement note predicted against verdict outcome "
    "caveats"
).split()


def add(option: Option) -> None:
    """What it takes."""
    terminal.add_model(option)
    terminal.add_data_option(option)
    option("--out", required=True, help="Parquet, .csv, or .tex of the printed tables; resumes")
    asked = " ".join(f"{name}: {question.asks}" for name, question in questions().items())
    option("--what", choices=tuple(questions()), default=next(iter(questions())), help=asked)
    terminal.add_measures(option, "to score", swept_measures())
    option("--metrics", nargs="+", default=list(default_metrics()), help="faithfulness metrics")
    option("--baseline", choices=tuple(COUNTS), default=RANDOM, help="random or shuffled attributions")
    unasked = ", ".join(f"{count} {name}" for name, count in COUNTS.items())
    # Suppressed, so that the sentence is not followed by "None".
    option("--count", type=int, default=argparse.SUPPRESS, help=f"baseline size, 0 for none (default: {unasked})")
    option("--erasure", choices=ERASURES, default=MASK, help="erasure in hard metrics")
    option("--scaling", choices=SCALINGS, default=MIN_MAX, help="attribution scaling in soft metrics")
    option("--placement", choices=PLACEMENTS, default=WORD_EMBEDDING, help="where soft metrics perturb")
    option("--sigma", type=float, default=SIGMA, help="relative standard deviation of noise")
    option("--draws", type=int, default=DRAWS, help="draws per soft perturbation")
    terminal.add_unit(option)
    option("--sample", type=int, help="sample size (default: all)")
    terminal.add_seed(option)
    _add_own(option)


def run(options: Options) -> int:
    """Carry out the command; 0."""
    for name in own_choices():
        if name in options and options.what not in _owners(name):
            raise ValueError(f"--{name} belongs to {' and '.join(_owners(name))}, not {options.what}")
    question = questions()[options.what].asked(vars(options))
    with terminal.Bar() as bar:
        told = _evaluate(options, question, bar)
    print(told)
    print(f"\nWritten: {options.out}")
    return 0


def _add_own(option: Option) -> None:
    """The choices that a question has of its own."""
    for name, (offered, about) in own_choices().items():
        told = f"of {' and '.join(_owners(name))}: {about}"
        if offered == (False, True):
            option(f"--{name}", action="store_true", default=argparse.SUPPRESS, help=told)
            continue
        read = {str(one): one for one in offered}
        reads = partial(lambda read, written: read.get(written, written), read)
        option(f"--{name}", type=reads, choices=offered, default=argparse.SUPPRESS, help=told)


def _owners(name: str) -> list[str]:
    return [one for one, question in questions().items() if name in question.own_choices()]


def _evaluate(options: Options, question: Question, bar: terminal.Bar) -> str:
    """Ask, and write the table; resumes by the store. Returns what there is to say about it, as text.

    Columns: example (its id), row (of the data, from 1), problem (a sentence; then the rest is null), cut (longer than
    the model reads), what `Question.records` says, and outcome and caveats of the whole.

    Raises:
        ValueError, BadData, UnsupportedModel: a sentence on what to change.
        InUse, OSError: as `core.storage.files.only_writer` and `whole_file`.
    """
    terminal.refuse_below_one("--sample", options.sample)
    question.check()
    chosen, data = settings.read(), terminal.read_named(options.data, terminal.columns_of(options))
    model = load(options.model, options.device, options.precision)
    store = Store(chosen.cache, chosen.cache_bytes)
    terminal.say_of_models([model], bar.say)
    if not len(data):
        raise BadData(f"{data.name} is empty.")
    size = options.sample or len(data)
    if question.labelled:
        sample = draw_sample(data, model.labels, size, options.seed)
    else:
        sample = without_labels(data.name, data.digest, draw_examples(data.examples, size, options.seed))
    for note in repeats_note(data.examples):
        bar.say(note)
    question.check(model)
    about = {
        "what": question.name,
        "weights": model.digest,
        "precision": model.precision,
        "model": options.model,
        "data": data.name,
        "data_sha256": data.digest,
        "sample": options.sample,
    } | asdict(cast(Any, question))
    rows = {example.id: row for row, example in enumerate(data.examples, start=1)}
    # Written at the end only, so what cannot be written is said before hours of work.
    with only_writer(Path(options.out)) as place:
        explainer = with_reference(model, store, Library(chosen.cache).references)
        answers = ask(explainer, sample, question, store, bar, len(data))
        terminal.say_of_store(store, bar.say)
        lines = [{"example": one["example"], "row": rows[one["example"]]} | one for one in question.records(answers)]
        report = question.conclude(answers)
        result = None if report is None else question_result(question.name, report)
        if result is not None:
            lines = [line | as_columns(result) for line in lines]
        tables = [] if report is None else question.tables(report)
        _write(place, lines, tables, "" if result is None else latex_comment(result), about)
    if report is None:
        raise BadData(f"No example of {data.name} could be {question.done}: {next(iter(answers.left_out))}")
    return readable_answer(question, report)


def _write(out: Path, lines: list[dict], tables: list[Table], head: str, about: dict) -> None:
    """Write, by the name's ending, lines as CSV, or tables as LaTeX below a head, or else lines as Parquet with
    metadata, as JSON under "faithscope"; whole or not at all.
    """
    from pyarrow import parquet

    if out.suffix == ".csv":
        names = list(dict.fromkeys(name for line in lines for name in line))
        text = csv_text(names, ([line.get(name) for name in names] for line in lines))
    elif out.suffix == ".tex":
        text = "\n".join([head, *(latex_table(*one) for one in tables)]).lstrip()
    else:
        with whole_file(out) as place:
            parquet.write_table(parquet_table(lines, about, _TEXTS), place)
        return
    write_whole(out, text.encode("utf-8"), replaces=True)
