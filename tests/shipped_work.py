"""Compute what *Model check*, *Data set* and *Scoreboard* of every bundled model show at a first visit.

    python -m tests.shipped_work --store FOLDER [--model NAME …] [--device DEVICE] [--list | --first | --sweep]

The rows go into a store, where `python -m tests.shipping results --store FOLDER` finds them. What is there already, in
the store or in what ships, is not computed again, so that a run that was stopped goes on. Needs no Streamlit. `--first` names the review that each set begins with (`chosen`);
`--sweep` computes the sweep that *Data set* shows, and writes its tables where they ship.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from core.commands.terminal import Bar
from core.data.examples import FIRST_REVIEWS, HARD_REVIEWS, bundled_set, read_bundled
from core.evaluation.asking import run_study, study_cost
from core.evaluation.engine import Run, lacking
from core.evaluation.findings import FEW
from core.evaluation.sampling import SAMPLE, SCORED, Sample, draw_examples, draw_sample, without_labels
from core.evaluation.store_log import StoreLog
from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import metric_of
from core.evaluation.studies.limits_of_texts import LimitsOfTexts
from core.evaluation.studies.retrained import SHIPPED as RETRAINED
from core.evaluation.studies.retraining import Retraining
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import Verdicts
from core.evaluation.studies.words_question import Words
from core.evaluation.study import Question
from core.explanation.explainer import Explainer, with_reference
from core.explanation.recursive import BY_RATIO, Summary, follow, summarise
from core.loading.loading import load
from core.mathematics.statistics import ALPHA
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures, swept_measures
from core.network.model import Model
from core.storage.shipped import RESULTS
from core.storage.store import Store
from core.sweeps.configuration import Source, Sweep
from core.sweeps.reading import SHIPPED
from core.sweeps.running import run_sweep
from core.sweeps.writing import write_tables

MASKED, PLAIN, MEASURE = "sst2-fmm", "sst2-plain", "leave-one-out"
# Drawn in one line of a page; a prediction that there is something to explain of.
MOST_WORDS, SURE = 14, 0.9
CHECK, VERDICTS, SWEPT_VERDICTS, BOARD = "model check", "verdicts", "verdicts of all measures", "scoreboard"
RETRAINING, WORDS, LIMITS = "retraining", "words", "limits"
# What *Data set* shows of a sweep, on as many texts as were computed.
SWEEP = Sweep(
    models=(MASKED, PLAIN),
    data=(Source(FIRST_REVIEWS),),
    out=str(SHIPPED),
    measures=("leave-one-out", "integrated gradients", "gradient", "input × gradient"),
    seeds=(0, 1, 2),
    sample=60,
    tables=("performance", "areas", "p_values", "aopc", "naopc", "ranks", "rank_correlations", "texts"),
)


@dataclass(frozen=True)
class Shipping:
    """A question of a model over the first `count` texts that are drawn of a bundled set."""

    model: str
    data: str
    what: str
    count: int

    def question(self, model: Model) -> Question:
        """As the page asks it unasked, with its random order alone on *Model check*."""
        if self.what == CHECK:
            return MaskingCheck((), unit="word", metric=metric_of(model))
        if self.what == BOARD:
            return Scoreboard()
        if self.what == RETRAINING:
            return Retraining(self.data)
        if self.what == WORDS:
            return Words()
        if self.what == LIMITS:
            return LimitsOfTexts()
        return Verdicts() if self.what == VERDICTS else Verdicts(swept_measures())

    def sample(self, model: Model) -> Sample:
        """The texts, as the page draws them."""
        data = bundled_set(self.data)
        if self.what in (CHECK, RETRAINING):
            return draw_sample(data, model.labels, self.count)
        return without_labels(data.name, data.digest, draw_examples(data.examples, self.count))


def plan() -> Iterator[Shipping]:
    """All of it, the most wanted first: both models of reviews on both sets, then the other tasks."""
    reviews = [(model, data) for data in (FIRST_REVIEWS, HARD_REVIEWS) for model in (MASKED, PLAIN)]
    others = [("ag-news-fmm", "news"), *((f"stories-{task}-fmm", f"stories {task}") for task in (1, 2, 3))]
    first = reviews[0]
    yield from (Shipping(*one, CHECK, SAMPLE) for one in (*reviews, *others))
    # Pages open on the beginning of a sample that takes long; of the model and data that come first, on all of it.
    for one in (first, *others, *reviews[1:]):
        yield Shipping(*one, VERDICTS, SAMPLE if one == first else FEW)
    yield Shipping(*first, WORDS, SAMPLE)
    yield Shipping(*first, LIMITS, FEW)
    yield from (Shipping(*one, RETRAINING, SAMPLE) for one in others if one[1] in RETRAINED)
    for one in (first, *reviews[1:], *others):
        yield Shipping(*one, SWEPT_VERDICTS, SCORED if one == first else FEW)
        yield Shipping(*one, BOARD, SCORED if one == first else FEW)


@dataclass(frozen=True)
class Walk:
    """The strip's sentence under one model: the summary of its path by a measure."""

    explainer: Explainer
    encoded: Any
    target: int
    summary: Summary


def walk(explainer: Explainer, text: str, measure: str) -> Walk:
    """Mask a text step by step, the measure computed again at each."""
    encoded = explainer.encode(text, None, "word")
    target = int(explainer.probabilities(encoded).argmax())
    steps = finish(follow(explainer, encoded, measure, target, "signed"))
    return Walk(explainer, encoded, target, summarise(steps, encoded.F, BY_RATIO, target, None, explainer.reference))


def explainers(store: Store, kept: Path | None = None, device: str = "cpu") -> dict[str, Explainer]:
    """The two models of the strip."""
    return {name: with_reference(load(name, device, "float32"), store, kept) for name in (MASKED, PLAIN)}


def chosen(models: dict[str, Explainer], data: str = HARD_REVIEWS) -> str:
    """The id of the bundled review that is the first of its set on every page; of the hard ones the strip shows it too.

    Of the reviews of at most `MOST_WORDS` words and a prediction of `SURE` or more: under the model that was trained to
    be masked no step by any of the measures shown unasked has p < 5 %, and each of these changes the prediction at
    another step; under its twin a step is rejected. The one whose twin is rejected first; of equals the one whose
    prediction changes first, then the first.
    """
    found = []
    for example in read_bundled(data):
        if len(example.text.split()) > MOST_WORDS:
            continue
        twin = walk(models[PLAIN], example.text, MEASURE).summary
        if twin.gate.first is None or (found and twin.gate.first > min(found)[0]):
            continue
        mine = [walk(models[MASKED], example.text, name).summary for name in default_measures()]
        flips = [one.flips for one in mine]
        unsure, rejected = mine[0].values[0] < SURE, min(float(one.p.min()) for one in mine) < ALPHA
        if None in flips or len(set(flips)) < len(flips) or unsure or rejected:
            continue
        found.append((twin.gate.first, flips[default_measures().index(MEASURE)], example.id))
    return min(found)[2]


def compute(one: Shipping, explainer: Explainer, store: Store) -> str:
    """Compute what the store lacks of it; what was done, in a line."""
    sample, began, done, passes = (
        one.sample(explainer.model),
        time.monotonic(),
        0,
        explainer.model.scheduler.counters.passes,
    )
    for study in one.question(explainer.model).studies:
        for found in run_study(explainer, sample, study, store):
            done += 1
    seconds, passes = time.monotonic() - began, explainer.model.scheduler.counters.passes - passes
    return f"{one}: {done} rows, {passes:,} passes, {seconds:.0f} s"


def write_sweep(store: Store, device: str) -> int:
    """Write the tables of `SWEEP` as they ship, and nothing beside them; their bytes."""
    opened = (with_reference(load(name, device, SWEEP.precision), store) for name in SWEEP.models)
    with tempfile.TemporaryDirectory() as folder, Bar() as bar:
        found = run_sweep(SWEEP, opened, [bundled_set(one.file) for one in SWEEP.data], store, bar)
        SHIPPED.mkdir(parents=True, exist_ok=True)
        for files in write_tables(SWEEP, found, Path(folder)).values():
            shutil.copy(files[0], SHIPPED / files[0].name)
    return sum(path.stat().st_size for path in SHIPPED.iterdir())


def left(one: Shipping, explainer: Explainer, store: Store) -> str:
    """What is not there of it, with the passes and tokens that it takes at most, in a line."""
    sample, rows, passes, tokens = one.sample(explainer.model), 0, 0, 0.0
    for study in one.question(explainer.model).studies:
        known = Run(explainer, sample, study, StoreLog(store, study.key(explainer))).so_far()
        cost = study_cost(explainer, sample, study, known)
        rows, passes, tokens = rows + len(lacking(known)), passes + cost.passes, tokens + cost.tokens
    return f"{one}: {rows} rows, at most {passes:,} passes, {tokens:,.0f} tokens"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.shipped_work", description=__doc__.partition("\n")[0])
    parser.add_argument("--store", type=Path, required=True, help="where results go")
    parser.add_argument("--model", nargs="*", help="only of these models")
    parser.add_argument("--device", default="auto", help="as FAITHSCOPE_DEVICE")
    parser.add_argument("--list", action="store_true", help="say what is left, and compute nothing")
    parser.add_argument("--sweep", action="store_true", help="the sweep instead")
    parser.add_argument("--first", action="store_true", help="choose the first example of each set of reviews instead")
    asked = parser.parse_args()
    if asked.first:
        models = explainers(Store(asked.store), device=asked.device)
        print(*(f"{data}: {chosen(models, data)}" for data in (FIRST_REVIEWS, HARD_REVIEWS)), sep="\n")
        return
    store, held = Store(asked.store, shipped=RESULTS), {}
    if asked.sweep:
        print(f"{write_sweep(store, asked.device):,} bytes")
        return
    # As on any machine: limits are searched in one precision.
    with mock.patch("core.network.halves.half_speed", lambda _: 0.0):
        for one in plan():
            if asked.model and one.model not in asked.model:
                continue
            if one.model not in held:
                held[one.model] = with_reference(load(one.model, asked.device, "float32"), store)
            print((left if asked.list else compute)(one, held[one.model], store), flush=True)


if __name__ == "__main__":
    main()
