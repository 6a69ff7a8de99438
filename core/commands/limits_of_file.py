"""Limits of every text of a data set, as `python -m core evaluate --what limits` tells them."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
from pyarrow import parquet

from core import settings
from core.commands import terminal
from core.commands.options import LIMITS, Options
from core.data.examples import DataSet, Example
from core.data.parsed import BadData
from core.data.tables import LabelledTexts, read_labelled
from core.evaluation.asking import study_cost
from core.evaluation.sampling import draw_examples, without_labels
from core.evaluation.studies.limits_of_texts import Batch, batch_limits
from core.explanation.explainer import Explainer
from core.mathematics.search.limits import MOST_EXACT
from core.network.model import Model
from core.reports.answers import Answer, Section, answer_bytes, answer_text, ending_of
from core.results.limits import limits_of_texts_result, naopc_table
from core.results.result import as_columns, as_record


def tell_limits_of_file(options: Options) -> int:
    """Compute them, print what they come to, and write them; resumes by the rows beside the file. 0."""
    if not options.out:
        raise ValueError("finished texts are kept beside the file, so limits need --out")
    ending, out = "" if "old" in options else ending_of(options.out, ".parquet"), Path(options.out)
    if "old" in options:
        texts = read_labelled(Path(options.data), options.text, options.second, None)
        _, models = _compute(options, texts)
        rows = parquet.read_table(out).to_pylist()
    else:
        terminal.refuse_below_one("--sample", options.sample)
        data = terminal.read_named(options.data, terminal.columns_of(options))
        texts, ids = _drawn(data, options)

        def write(rows: list[dict], explainers: Sequence[Explainer]) -> bytes:
            return answer_bytes(_answer(options, explainers, data, ids, rows), ending)

        rows, models = _compute(options, texts, write)
    print(f"{answer_text(_sections(models, rows))}\n\nWritten: {out}")
    return 0


def _batch(options: Options) -> Batch:
    """What is asked of each text; the setting holds where nothing is asked for."""
    given, chosen = vars(options), settings.read()
    exact = given.get("exact_up_to")
    if exact is None and chosen.exact_scores is not None:
        exact = min(chosen.exact_scores, 1 << MOST_EXACT)
    target, width, half = given.get("target", "predicted"), given.get("width"), not given.get("full")
    return Batch(options.model, tuple(options.measures), options.sign, target, options.unit, width, exact, half)


def _drawn(data: DataSet, options: Options) -> tuple[LabelledTexts, list[str]]:
    """The texts of the data, or as many as are asked for, under a digest of their own, and their ids."""
    if not len(data):
        raise BadData(f"{data.name} is empty.")
    examples, digest = data.examples, data.digest
    if options.sample is not None:
        examples = draw_examples(examples, options.sample, options.seed)
        digest = hashlib.sha256("\0".join([digest, *(one.id for one in examples)]).encode()).hexdigest()
    seconds = cast(Any, [one.second for one in examples])
    labels = np.zeros(len(examples), dtype=np.int64)
    texts = LabelledTexts([one.text for one in examples], seconds, labels, (), data.name, digest)
    return texts, [one.id for one in examples]


def _compute(
    options: Options, data: LabelledTexts, write: Callable[[list[dict], list[Explainer]], bytes] | None = None
) -> tuple[list[dict], list[Model]]:
    """The rows, which are written as `write` says, or as a table, and the models."""
    rows, batch = [], _batch(options)
    with terminal.Bar() as bar:
        store, (explainer, *beside) = terminal.open_models(options, bar.say)
        models = [one.model for one in (explainer, *beside)]
        if len({model.digest for model in models}) < len(models):
            raise ValueError("two models have the same weights; leave one out")
        _say_cost(bar, explainer, batch, data)

        def written(found: list[dict], place: Path) -> None:
            rows.extend(found)
            place.write_bytes(cast(Callable, write)(found, [explainer, *beside]))

        ways = None if write is None else written
        batch_limits(explainer, data, batch, Path(options.out), bar, beside, bar.say, ways)
        terminal.say_of_store(store, bar.say)
    return rows, models


def _say_cost(bar: terminal.Bar, explainer: Explainer, batch: Batch, data: LabelledTexts) -> None:
    pairs = enumerate(zip(data.texts, data.seconds or [None] * len(data)))
    sample = without_labels(data.name, data.digest, [Example(f"{i}", *pair) for i, pair in pairs])
    cost = study_cost(explainer, sample, batch)
    bar.cost(f"{len(data):,} texts", cost, "Fewer: --sample." if cost.seconds > 60 else "")


def _sections(models: Sequence[Model], rows: Sequence[dict]) -> list[Section]:
    """What each model's rows come to."""
    of = [(model.name, [row for row in rows if row["weights"] == model.digest]) for model in models]
    return [Section(name, limits_of_texts_result(own), [naopc_table(own)]) for name, own in of]


def _answer(
    options: Options, explainers: Sequence[Explainer], data: DataSet, ids: list[str], rows: Sequence[dict]
) -> Answer:
    """Rows as the other questions' files have them: example is its id, row its place in the data."""
    models = [one.model for one in explainers]
    sections, places = _sections(models, rows), {one.id: row for row, one in enumerate(data.examples, start=1)}
    results = {model.digest: one.result for model, one in zip(models, sections) if one.result is not None}
    named = [(ids[row["example"] - 1], row) for row in rows]
    lines = [row | {"example": name, "row": places[name]} | as_columns(results[row["weights"]]) for name, row in named]
    told = [{"weights": digest} | as_record(result) for digest, result in results.items()]
    plain = {"name": LIMITS, "models": told, "examples": lines}
    about = {"what": LIMITS} | asdict(_batch(options)) | terminal.origin_of(options, explainers, data, ids)
    return Answer(f"{LIMITS}: {data.name}", sections, lines, plain, about)
