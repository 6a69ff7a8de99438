"""Ask a question of a data set and write its answers as a long Parquet table; resumable."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from core import settings
from core.commands.terminal import read_named, refuse_below_one, say_of_models, say_of_store
from core.data.examples import DataSet
from core.data.parsed import BadData
from core.evaluation.asking import ask
from core.evaluation.sampling import Sample, draw_examples, draw_sample, repeats_note, without_labels
from core.evaluation.study import Question, Table
from core.explanation.explainer import with_reference
from core.loading.loading import load
from core.network.model import Model
from core.reports.exports import csv_text
from core.reports.tables import latex_table, parquet_table
from core.results.catalogue import question_result
from core.results.result import as_columns
from core.storage.files import only_writer, whole_file, write_whole
from core.storage.library import Library
from core.storage.store import Store
from core.texts.questions import readable_answer
from core.texts.rendering import latex_comment

# By its ending a file holds lines as CSV, or the tables that are printed as LaTeX; any other is Parquet.
CSV, LATEX = ".csv", ".tex"
_TEXTS = (
    "class problem measure values metric direction erasure scaling placement note predicted against verdict outcome "
    "caveats"
).split()


@dataclass(frozen=True)
class Evaluation:
    """What to ask: a question of a model on data (a bundled set's name or a file); sample: so many examples of it, None
    for all, drawn by a seed; columns: as `terminal.read_named`.
    """

    model: str
    data: str
    question: Question
    sample: int | None = None
    seed: int = 0
    columns: tuple[tuple[str, str | None], ...] = ()

    def check(self) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out."""
        refuse_below_one("--sample", self.sample)
        self.question.check()

    def draw(self, data: DataSet, model: Model) -> Sample:
        """The examples that are asked about; BadData where the question needs labels and they lack."""
        if not len(data):
            raise BadData(f"{data.name} is empty.")
        size = self.sample or len(data)
        if self.question.labelled:
            return draw_sample(data, model.labels, size, self.seed)
        return without_labels(data.name, data.digest, draw_examples(data.examples, size, self.seed))


def evaluate(
    evaluation: Evaluation,
    out: Path,
    device: str,
    precision: str,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    told: Callable[[str], None] = lambda _: None,
) -> str:
    """Ask, and write the table; resumes by the store. Returns what there is to say about it, as text.

    Columns: example (its id), row (of the data, from 1), problem (a sentence; then the rest is null), cut (longer than
    the model reads), what `Question.records` says, and outcome and caveats of the whole.

    Raises:
        ValueError, BadData, UnsupportedModel: a sentence on what to change.
        InUse, OSError: as `core.storage.files.only_writer` and `whole_file`.
    """
    evaluation.check()
    question, chosen = evaluation.question, settings.read()
    data = read_named(evaluation.data, evaluation.columns)
    model, store = load(evaluation.model, device, precision), Store(chosen.cache, chosen.cache_bytes)
    say_of_models([model], told)
    sample = evaluation.draw(data, model)
    for note in repeats_note(data.examples):
        told(note)
    question.check(model)
    about = {
        "what": question.name,
        "weights": model.digest,
        "precision": model.precision,
        "model": evaluation.model,
        "data": data.name,
        "data_sha256": data.digest,
        "sample": evaluation.sample,
    } | asdict(cast(Any, question))
    rows = {example.id: row for row, example in enumerate(data.examples, start=1)}
    # Written at the end only, so what cannot be written is said before hours of work.
    with only_writer(out) as place:
        explainer = with_reference(model, store, Library(chosen.cache).references)
        answers = ask(explainer, sample, question, store, progress, len(data))
        say_of_store(store, told)
        lines = [{"example": one["example"], "row": rows[one["example"]]} | one for one in question.records(answers)]
        report = question.conclude(answers)
        result = None if report is None else question_result(question.name, report)
        if result is not None:
            lines = [line | as_columns(result) for line in lines]
        if place.suffix in (CSV, LATEX):
            tables = [] if report is None else question.tables(report)
            write_text(lines, tables, place, "" if result is None else latex_comment(result))
        else:
            write_table(lines, place, about)
    if report is None:
        raise BadData(f"No example of {data.name} could be {question.done}: {next(iter(answers.left_out))}")
    return readable_answer(question, report)


def write_text(lines: list[dict], tables: list[Table], out: Path, head: str = "") -> None:
    """Write lines as CSV or, by the name's ending, tables as LaTeX below a head, whole or not at all."""
    names = list(dict.fromkeys(name for line in lines for name in line))
    text = (
        "\n".join([head, *(latex_table(*one) for one in tables)]).lstrip()
        if out.suffix == LATEX
        else csv_text(names, ([line.get(name) for name in names] for line in lines))
    )
    write_whole(out, text.encode("utf-8"), replaces=True)


def write_table(lines: list[dict], out: Path, about: dict) -> None:
    """Write lines as Parquet, whole or not at all; about: metadata, as JSON under "faithscope"."""
    from pyarrow import parquet

    with whole_file(out) as place:
        parquet.write_table(parquet_table(lines, about, _TEXTS), place)
