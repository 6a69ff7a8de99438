"""`python -m core evaluate`: score attributions of a data set, how diagnostic metrics are on it, or how a model
behaves, as a long Parquet table; resumable.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core import settings
from core.commands.evaluating_behaviour import BehaviourRun, behaviour_lines, follow_examples, readable_behaviour
from core.commands.terminal import read_named
from core.data.examples import DataSet, Example
from core.data.parsed import BadData
from core.evaluation.engine import run_study
from core.evaluation.sampling import Sample, draw_examples, without_labels
from core.evaluation.studies.diagnosticity_report import ALL, build_diagnosticity_report, by_example
from core.evaluation.studies.diagnosticity_sentences import readable_diagnosticity
from core.evaluation.studies.scoring import BY_LENGTH, ERROR, RANDOM, VALUE, Scored, Scoring
from core.explanation.explainer import Explainer
from core.explanation.rows import values_taken
from core.loading.loading import load
from core.mathematics.diagnosticity import HALF, STRICT
from core.mathematics.erasure import LENGTHS, NOISE
from core.mathematics.stepwise import finish
from core.metrics.catalogue import metrics
from core.metrics.registry import ARROWS
from core.network.model import Model
from core.oracle.erasing import erasures_of
from core.storage.store import Store
from core.wording import as_json, cut_sentence

SCORES, DIAGNOSTICITY, BEHAVIOUR = "scores", "diagnosticity", "behaviour"
_TEXTS = (
    "class",
    "problem",
    "measure",
    "values",
    "metric",
    "direction",
    "erasure",
    "scaling",
    "placement",
    "note",
    "predicted",
    "against",
)


@dataclass(frozen=True)
class Evaluation:
    """What to evaluate: a model on data (a bundled set's name or a file), sample: so many examples of it, None for all;
    columns: as `terminal.read_named`; fewest: of behaviour, search the fewest features that change each prediction.
    """

    model: str
    data: str
    study: Scoring
    what: str = SCORES
    sample: int | None = None
    columns: tuple[tuple[str, str | None], ...] = ()
    fewest: bool = False

    def check(self) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out."""
        if self.what not in KINDS:
            raise ValueError(f"there is no kind {self.what!r}; choose of {', '.join(KINDS)}")
        if self.sample is not None and self.sample < 1:
            raise ValueError(f"the sample has {self.sample} examples; it must have at least 1")
        self.study.check()
        if self.fewest and self.what != BEHAVIOUR:
            raise ValueError(f"the fewest features are searched for {BEHAVIOUR} alone, not for {self.what}")
        KINDS[self.what].check(self.study)


@dataclass(frozen=True)
class Kind:
    """One kind of evaluation: check raises ValueError for a study that it cannot use; compute asks the model, resumably
    (explainer, sample,
    evaluation, store, progress); rows gives the lines of the table; told: what is printed besides."""

    check: Callable[[Scoring], None]
    compute: Callable
    rows: Callable[[Sequence[Example], Any, tuple[str, ...]], list[dict]]
    told: Callable[[Evaluation, DataSet, Any, Model], str]


def evaluate(
    evaluation: Evaluation,
    out: Path,
    device: str,
    precision: str,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> str:
    """Evaluate and write the table; what is computed is kept in the store, so the same command goes on where it was
    interrupted.

    Columns of every kind: example (its id), row (of the data, from 1), class (predicted), probability, cut (whether it
    is longer than the model reads), problem (a sentence where an example cannot be scored; then the rest is null).
    Those of a kind: see `score_records`, `diagnosticity_records` and
    `behaviour_lines`.

    Returns:
        What there is to say about it, as text.
    Raises:
        ValueError, BadData, UnsupportedModel: a sentence on what to change.
    """
    evaluation.check()
    data, chosen = read_named(evaluation.data, evaluation.columns), settings.read()
    if not len(data):
        raise BadData(f"{data.name} holds no examples.")
    drawn = draw_examples(data.examples, evaluation.sample or len(data), evaluation.study.how.seed)
    sample = without_labels(data.name, data.digest, drawn)
    model = load(evaluation.model, device, precision)
    if evaluation.study.how.erasure not in erasures_of(model):
        raise ValueError("this model's tokenizer has no unknown token of its own; choose another erasure")
    # Written at the end only, so what cannot be written is said before hours of work.
    if out.is_dir():
        raise ValueError(f"{out} is a folder; name the Parquet file to write")
    out.parent.mkdir(parents=True, exist_ok=True)
    kind, rows = KINDS[evaluation.what], {example.id: row for row, example in enumerate(data.examples, start=1)}
    found = kind.compute(Explainer(model), sample, evaluation, Store(chosen.cache, chosen.cache_bytes), progress)
    lines = kind.rows(drawn, found, model.labels)
    about = {
        "what": evaluation.what,
        "weights": model.digest,
        "precision": model.precision,
        "model": evaluation.model,
        "data": data.name,
        "data_sha256": data.digest,
        "sample": evaluation.sample,
    } | asdict(evaluation.study)
    write_table([line | {"row": rows[line["example"]]} for line in lines], out, about)
    return kind.told(evaluation, data, found, model)


def score_records(examples: Sequence[Example], found: Scored, labels: tuple[str, ...]) -> list[dict]:
    """A line for each example, attribution, metric, and length of the rationale.

    Columns: measure (or "random 0" …, or "gradient, shuffle 0" …), values (its variant, as L2; null for random),
    metric, direction (↑, ↓ or empty), length (null: the metric's own value), value (null where undefined), error
    (standard error of the draws), erasure, scaling, placement, sigma (of noise), draws, seed, note.
    """
    lines = []
    for i, example in enumerate(examples):
        about = _about(i, example, found, labels)
        if not found.there[i]:
            lines.append(about)
            continue
        for a, attributed in enumerate(found.study.attributions):
            taken = None if attributed.random else values_taken(attributed.measure, attributed.sign)
            named = about | {"measure": attributed.name, "values": taken}
            for s, metric in enumerate(found.study.metrics):
                values, note = found.values[i, a, s], found.sentences[found.notes[i, a, s]]
                line = named | _how(metric, found.study) | {"note": note or None}
                lines.append(line | {"length": None, "value": as_json(values[VALUE]), "error": as_json(values[ERROR])})
                if metrics()[metric].lengths:
                    lines += [
                        line | {"length": length, "value": as_json(value), "error": None}
                        for length, value in zip(LENGTHS, values[BY_LENGTH])
                    ]
    return lines


def diagnosticity_records(examples: Sequence[Example], found: Scored, labels: tuple[str, ...]) -> list[dict]:
    """A line for each example, metric, measure ("all": over the measures), and length of the rationale.

    Columns: metric, direction, length (null: the metric's own value), measure, strict and half (diagnosticity by both
    rules, ↑), ties (share of them), pairs, undefined (pairs that are left out), against (random or shuffled), erasure,
    scaling, placement, sigma, draws, seed.
    """
    tables = by_example(found)
    lines = []
    for i, example in enumerate(examples):
        about = _about(i, example, found, labels)
        if not found.there[i]:
            lines.append(about)
            continue
        for (metric, length, measure), pairs in tables.items():
            lines.append(
                about
                | _how(metric, found.study)
                | {
                    "measure": measure or ALL,
                    "length": length,
                    STRICT: as_json(pairs.strict[i]),
                    HALF: as_json(pairs.half[i]),
                    "ties": as_json(pairs.ties[i]),
                    "against": found.study.baseline,
                    "pairs": int(pairs.defined[i]),
                    "undefined": int(pairs.left_out[i]),
                }
            )
    return lines


def write_table(lines: list[dict], out: Path, about: dict) -> None:
    """Write lines as Parquet, whole or not at all; columns that a line lacks are null. about: goes into the file's
    metadata, as JSON under "faithscope".
    """
    import pyarrow
    from pyarrow import parquet

    names = list(dict.fromkeys(name for line in lines for name in line))
    columns = {}
    for name in names:
        values = [line.get(name) for line in lines]
        # A column without a single value has a type all the same, so that tables of several runs can be joined.
        kind = (
            (pyarrow.string() if name in _TEXTS else pyarrow.float64())
            if all(value is None for value in values)
            else None
        )
        columns[name] = pyarrow.array(values, kind)
    partial = out.with_name(f"{out.name}.partial")
    parquet.write_table(pyarrow.table(columns).replace_schema_metadata({"faithscope": json.dumps(about)}), partial)
    partial.replace(out)


def _about(i: int, example: Example, found: Scored, labels: tuple[str, ...]) -> dict:
    there = found.there[i]
    return {
        "example": example.id,
        "row": None,
        "class": labels[found.predicted[i]] if there else None,
        "probability": float(found.probability[i]) if there else None,
        "problem": found.problems.get(i),
        "cut": i in found.cut,
    }


def _how(metric: str, study: Scoring) -> dict:
    one = metrics()[metric]
    return {
        "metric": metric,
        "direction": ARROWS[one.direction],
        "erasure": None if one.soft else study.how.erasure,
        "scaling": study.how.scaling if one.soft else None,
        "placement": study.how.placement if one.soft else None,
        "sigma": study.how.sigma if one.perturbation == NOISE else None,
        "draws": study.how.draws if one.soft else None,
        "seed": study.how.seed,
    }


def _pairs_needed(study: Scoring) -> None:
    without = [name for name in study.metrics if not metrics()[name].direction]
    if without:
        raise ValueError(
            f"{without[0]} prefers neither more nor less, so it has no diagnosticity; choose another metric"
        )
    if not study.measures or not study.count:
        raise ValueError(
            "diagnosticity needs at least one measure, and at least one attribution of the baseline to set it against"
        )


def _random_order(study: Scoring) -> None:
    if study.baseline != RANDOM:
        raise ValueError(
            "behaviour is followed along random order and the measures' own, which have no shuffles; leave the "
            "baseline random"
        )


def _score(explainer: Explainer, sample: Sample, evaluation: Evaluation, store: Store, progress) -> Scored:
    return finish(run_study(explainer, sample, evaluation.study, store, progress=partial(progress, "scoring")))


def _follow(explainer: Explainer, sample: Sample, evaluation: Evaluation, store: Store, progress) -> BehaviourRun:
    return follow_examples(explainer, sample, evaluation.study, store, progress, evaluation.fewest)


def _told_scores(evaluation: Evaluation, data: DataSet, found: Scored, model: Model) -> str:
    left = f"; left out: {len(found.problems):,}" if found.problems else ""
    told = (
        f"{int(found.there.sum()):,} of {len(data):,} examples of {data.name}, {len(found.study.attributions)} "
        f"attributions each{left}"
    )
    return "\n".join(filter(None, [told, cut_sentence(found.cut, len(found))]))


def _told_diagnosticity(evaluation: Evaluation, data: DataSet, found: Scored, model: Model) -> str:
    made = build_diagnosticity_report(found, evaluation.model, data.name, model.labels)
    if made is None:
        raise BadData(f"No example of {data.name} could be scored: {next(iter(found.problems.values()))}")
    return readable_diagnosticity(made)


def _told_behaviour(evaluation: Evaluation, data: DataSet, found: BehaviourRun, model: Model) -> str:
    made = found.report(model)
    if made is None:
        raise BadData(
            f"No example of {data.name} could be followed: "
            f"{next(problem for one in found.walked.values() for problem in one.problems.values())}"
        )
    return readable_behaviour(made)


KINDS = {
    SCORES: Kind(lambda study: None, _score, score_records, _told_scores),
    DIAGNOSTICITY: Kind(_pairs_needed, _score, diagnosticity_records, _told_diagnosticity),
    BEHAVIOUR: Kind(_random_order, _follow, behaviour_lines, _told_behaviour),
}
