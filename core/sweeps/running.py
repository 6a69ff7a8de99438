"""Ask a sweep's questions of one model after another; what the store knows is read, and it keeps what is computed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from core.data.examples import DataSet
from core.data.parsed import BadData
from core.evaluation.asking import run_study, study_cost
from core.evaluation.sampling import Sample, draw_examples, draw_sample, without_labels
from core.evaluation.study import Answers, Study
from core.explanation.explainer import Explainer
from core.mathematics.stepwise import finish
from core.storage.store import Store
from core.sweeps.configuration import Sweep
from core.sweeps.families import family_lines
from core.sweeps.registry import Asks, Line, Reply, SweepTable, asked_by, sweep_tables

# How far a sweep is, in thousandths.
STEPS = 1000
Progress = Callable[[str, int, int], None]
# Of a model: its samples with what is asked of each, the store, and how far it is.
Fill = Callable[[Explainer, Sequence[tuple[Sample, Sequence[Study]]], Store, Callable[[int, int], None]], None]


@dataclass
class Swept:
    """What a sweep found: lines of each table, in the order of models and data; sets: examples of each data set by
    their ids; models: which, exactly; left_out: {sentence: examples}.
    """

    lines: dict[str, list[Line]]
    sets: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)


def run_sweep(
    sweep: Sweep,
    explainers: Iterable[Explainer],
    data: Sequence[DataSet],
    store: Store,
    progress: Progress = lambda *_: None,
    fill: Fill | None = None,
    families: Mapping[str, Sequence[str]] | None = None,
) -> Swept:
    """Tables of a sweep, a line naming its model, for any models: opened one after another, each let go of in turn.

    Args:
        fill: computes what the store lacks of one model before it is asked, such as `Cluster.fill`.
        families: members by the name of their family, which has lines of its own.
    Raises:
        BadData: a data set has no labels, or none that a model has, or models do not agree on its examples.
        ValueError: as `Question.check`; Cancelled, OutOfMemory: what was computed before is kept.
    """
    families = families or {}
    run = _Run(sweep, store, progress, fill, len(sweep.models) + sum(len(one) - 1 for one in families.values()))
    for m, explainer in enumerate(explainers):
        run.add(m, explainer, data)
    found, lines = run.found, run.found.lines
    for table in run.tables:
        if not table.over:
            lines[table.name] += family_lines(table, lines[table.name], families)
    for table in run.tables:
        if table.over:
            lines[table.name] = table.lines([one for name in table.over for one in lines[name]])
    return replace(found, lines={name: lines[name] for name in sweep.tables})


def asked_tables(sweep: Sweep) -> list[SweepTable]:
    """The tables that a sweep writes, and those that they are made from."""
    names = dict.fromkeys(part for name in sweep.tables for part in (name, *sweep_tables()[name].over))
    return [sweep_tables()[name] for name in names]


def draw_set(sweep: Sweep, data: DataSet, labels: tuple[str, ...]) -> Sample:
    """The examples of a data set, the same for every question; labels: the model's classes. BadData: `draw_sample`."""
    size = len(data) if sweep.sample is None else sweep.sample
    if any(table.labelled for table in asked_tables(sweep)):
        return draw_sample(data, labels, size, sweep.sample_seed)
    return without_labels(data.name, data.digest, draw_examples(data.examples, size, sweep.sample_seed))


class _Run:
    """A sweep on its way from model to model."""

    def __init__(self, sweep: Sweep, store: Store, progress: Progress, fill: Fill | None, count: int):
        self.sweep, self.store, self.progress, self.fill, self.count = sweep, store, progress, fill, count
        self.tables = asked_tables(sweep)
        self.asked, self.found = asked_by(self.tables, sweep), Swept({one.name: [] for one in self.tables})
        for _, _, question in self.asked:
            question.check()

    def add(self, m: int, explainer: Explainer, data: Sequence[DataSet]) -> None:
        """Ask everything of the m-th model, and write down its lines."""
        model, samples = explainer.model, [self._drawn(one, explainer) for one in data]
        for _, _, question in self.asked:
            question.check(model)
        self.found.models.append(f"{model.name} {model.digest} {model.precision} {explainer.tests_by or ''}".rstrip())
        studies = [(one, study) for one in samples for *_, question in self.asked for study in question.studies]
        costs = [study_cost(explainer, one, study).passes + len(one) for one, study in studies]
        before, whole = 0, sum(costs)

        def far(what: str, done: int, total: int) -> None:
            share = (before + costs[0] * done / max(1, total)) / whole
            self.progress(f"sweep, {model.name}, {what}", int(STEPS * (m + share) / self.count), STEPS)

        if self.fill is not None:
            every = [study for *_, question in self.asked for study in question.studies]
            shown = partial(self.progress, f"workers, {model.name}")
            self.fill(explainer, [(sample, every) for sample in samples], self.store, shown)
        for one, sample in zip(data, samples):
            found: dict[Any, Any] = {}
            for asks, seed, question in self.asked:
                for study in question.studies:
                    # What two questions ask is asked once.
                    if study not in found:
                        shown = partial(far, f"{one.name}, {study.label}")
                        found[study] = finish(run_study(explainer, sample, study, self.store, progress=shown))
                    before += costs.pop(0)
                answers = {study: found[study] for study in question.studies}
                self._write(asks, Reply(question, Answers(model, explainer.reference, sample, answers), seed))

    def _drawn(self, data: DataSet, explainer: Explainer) -> Sample:
        sample = draw_set(self.sweep, data, explainer.model.labels)
        chosen = data.digest, [one.id for one in sample.examples]
        if self.found.sets.setdefault(data.name, chosen) != chosen:
            raise BadData(f"{explainer.model.name} has other classes of {data.name} than the models before it.")
        return sample

    def _write(self, asks: Asks, reply: Reply) -> None:
        """A line or several of each table that is made of these answers."""
        for why, count in reply.answers.left_out.items():
            self.found.left_out[why] = max(count, self.found.left_out.get(why, 0))
        for table in self.tables:
            if table.asks is asks and not table.over:
                self.found.lines[table.name] += table.lines(reply)
