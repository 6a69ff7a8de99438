"""`python -m core check`: check models under masking from the command line, resumable, as a table and JSON."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from core import settings
from core.data.examples import DataSet, bundled_data, bundled_set
from core.data.mapping import build
from core.data.sources import understand
from core.data.tables import BadData, read_table
from core.evaluation.sampling import SAMPLE, Sample, draw_sample, same_examples
from core.evaluation.studies.check_report import (
    CheckReport,
    X,
    all_as_json,
    build_check_report,
    check_findings,
    metric_of,
    name_of,
    percent,
    verdict_sentence,
)
from core.evaluation.studies.model_check import RANDOM, Curve, check
from core.explanation.explainer import Explainer, with_reference
from core.loading.loading import load
from core.mathematics.search.limits import finish
from core.mathematics.statistics import ALPHA
from core.measures.catalogue import measures
from core.storage.library import Library
from core.storage.store import Store
from core.validity.references import FORMS
from core.wording import text_table


@dataclass(frozen=True)
class Request:
    """What to check: models, the first the one that is checked and the others beside it in random order; data, a
    bundled set's name or a file.
    """

    models: tuple[str, ...]
    data: str
    measures: tuple[str, ...] = ()
    sign: str = "signed"
    unit: str = "word"
    recompute: bool = True
    sample: int = SAMPLE
    seed: int = 0
    text: str | None = None
    second: str | None = None
    label: str | None = None

    def check(self) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out."""
        unknown = [name for name in self.measures if name not in measures()]
        if unknown:
            raise ValueError(f"there is no measure {unknown[0]!r}; choose of {', '.join(measures())}")
        if self.sample < 1:
            raise ValueError(f"the sample has {self.sample} examples; it must have at least 1")

    def curves(self, first: bool) -> list[Curve]:
        """Random order, and for the model that is checked the measures."""
        chance = Curve(RANDOM, unit=self.unit, seed=self.seed)
        return [chance] + (
            [Curve(name, self.sign, self.unit, self.recompute, self.seed) for name in self.measures] if first else []
        )


def read_data(request: Request) -> DataSet:
    """The data of a request; BadData or UnsupportedModel as where it is read."""
    return read_columns(request.data, {"text": request.text, "second": request.second, "label": request.label})


def read_columns(data: str, columns: dict[str, str | None]) -> DataSet:
    """A bundled set by its name, or a file, of which some columns may be named: {role: column}; raises as where it is
    read.
    """
    if data in bundled_data():
        return bundled_set(data)
    table, mapping, _ = understand(read_table(Path(data)))
    return build(table, replace(mapping, **{role: column for role, column in columns.items() if column is not None}))


def run_check(
    request: Request, device: str, precision: str, progress: Callable[[str, int, int], None] = lambda *_: None
) -> list[CheckReport]:
    """Check every model of a request on the same examples; what is computed is kept in the store, so an interrupted run
    goes on.

    Raises:
        ValueError, BadData, UnsupportedModel: a sentence on what to change.
    """
    request.check()
    data, chosen = read_data(request), settings.read()
    store, kept = Store(chosen.cache, chosen.cache_bytes), Library(chosen.cache).references
    explainers = [with_reference(load(name, device, precision), store, kept) for name in request.models]
    # What cannot be compared is said before anything is computed.
    samples = [draw_sample(data, explainers[0].model.labels, request.sample, request.seed)]
    for explainer in explainers[1:]:
        try:
            samples.append(same_examples(samples[0], data, explainer.model.labels))
        except BadData as error:
            raise BadData(f"{explainer.model.name} cannot stand beside {explainers[0].model.name}: {error}") from error
    metric = metric_of(explainers[0].model)
    return [
        _checked(explainer, sample, request.curves(place == 0), metric, store, progress)
        for place, (explainer, sample) in enumerate(zip(explainers, samples))
    ]


def _checked(
    explainer: Explainer, sample: Sample, curves: list[Curve], metric: str, store: Store, progress
) -> CheckReport:
    passed = {}
    for curve in curves:
        what = f"{explainer.model.name}: {name_of(curve)}"
        passed[curve] = finish(
            check(explainer, sample, curve, store, progress=lambda done, total, what=what: progress(what, done, total))
        )
    found = build_check_report(explainer.model, explainer.reference, sample, passed, metric)
    if found is None:
        raise BadData(
            f"No example of {sample.name} could be checked: {next(iter(passed[curves[0]].problems.values()))}"
        )
    return found


def readable_check(reports: list[CheckReport]) -> str:
    """Reports as text: verdict, a table of the models, a table of the curves, what departs from the paper."""
    first = reports[0]
    parts = [verdict_sentence(first), *first.notes]
    parts.append(
        text_table(
            [
                "model",
                "trained",
                "examples",
                "unmasked ↑",
                "all masked ↑",
                "majority",
                "smallest p calibrated",
                "literal",
            ],
            [
                [
                    one.model,
                    one.training or "—",
                    f"{one.n}",
                    *(percent(value, one.metric) for value in (one.unmasked, one.masked, one.majority)),
                    *(_smallest(one, form) for form in FORMS),
                ]
                for one in reports
            ],
        )
    )
    for one in reports:
        parts.append(
            f"{one.model}\n"
            + text_table(
                ["curve", "ACU ↑", "RACU ↑", "evidence AP ↑", "its chance", "", *(f"{ratio:.0%}" for ratio in X)],
                [row for line in one.lines for row in _curve_rows(line, one)],
            )
        )
    told = check_findings(reports)
    if told:
        parts.append(text_table(["FMM found", "here", ""], [[f.claim, f.here, f.said] for f in told]))
    return "\n\n".join(parts)


def write_json(reports: list[CheckReport], out: Path) -> None:
    """All figures as JSON."""
    out.write_text(json.dumps(all_as_json(reports), indent=1) + "\n", encoding="utf-8")


def _smallest(one: CheckReport, form: str) -> str:
    if not one.floor:
        return "no reference"
    p, at = one.smallest(form)
    return f"{p:.3g} at {at:.0%}{' ⚠' if p < ALPHA else ''}"


def _curve_rows(line, one: CheckReport) -> list[list[str]]:
    areas = [f"{value:.3f}" if value == value else "—" for value in (line.acu, line.racu, line.precision, line.chance)]
    found = [[name_of(line.curve), *areas, one.metric, *(f"{value:.3f}" for value in line.performance)]]
    for form in line.p:
        found.append(["", "", "", "", "", f"p {form}", *(f"{value:.3g}" for value in line.p[form])])
        found.append(
            ["", "", "", "", "", f"rejected {form}", *(f"{100 * value:.1f} %" for value in line.rejected[form])]
        )
    return found
