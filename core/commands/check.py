"""`python -m core check`: check models under masking, resumable, as a table and JSON."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import cast

from core import settings
from core.commands import terminal
from core.commands.terminal import Option, Options
from core.data.examples import DataSet
from core.data.parsed import BadData
from core.evaluation.asking import ask
from core.evaluation.sampling import SAMPLE, Sample, draw_sample, same_examples
from core.evaluation.studies.check_findings import check_findings
from core.evaluation.studies.check_question import EACH_STEP, ONCE, SEEDS, MaskingCheck
from core.evaluation.studies.check_report import CheckReport, X, metric_of
from core.evaluation.studies.check_tables import findings_table
from core.explanation.explainer import Explainer, with_reference
from core.explanation.recursive import area_cells
from core.loading.loading import load
from core.results.model_check import check_result
from core.storage.files import only_writer, write_whole
from core.storage.library import Library
from core.storage.store import Store
from core.texts.checks import checks_as_json
from core.texts.rendering import write_result
from core.validity.marks import Why, with_sign
from core.validity.references import FORMS
from core.wording import as_cell, fixed_number, percent, share_text, text_table

HELP = "performance and p-values under masking, by masking ratio"
GOES_ON = terminal.RESUMES


def add(option: Option) -> None:
    """What it takes."""
    terminal.add_model(option)
    option("--beside", nargs="+", default=[], help="models compared in random order")
    terminal.add_data_option(option)
    terminal.add_measures(option, "to follow", ())
    option("--computed", choices=(EACH_STEP, ONCE), default=EACH_STEP, help="recursive or one-shot")
    terminal.add_unit(option)
    option("--sample", type=int, default=SAMPLE, help="labelled examples")
    terminal.add_seed(option)
    option("--seeds", type=int, choices=SEEDS, default=1, help="random orders averaged")
    option("--out", help="JSON file")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    question = cast(MaskingCheck, MaskingCheck.asked(vars(options)))
    data = terminal.read_named(options.data, terminal.columns_of(options))
    with only_writer(Path(options.out)) if options.out else contextlib.nullcontext() as out:
        with terminal.Bar() as bar:
            found = _checks(options, question, data, bar)
        print(readable_check(found))
        if out is not None:
            write_whole(out, f"{json.dumps(checks_as_json(found), indent=1)}\n".encode(), replaces=True)
            print(f"\nWritten: {options.out}")
    return 0


def _checks(options: Options, question: MaskingCheck, data: DataSet, bar: terminal.Bar) -> list[CheckReport]:
    """Check models on the same sample of labelled data, those after the first in random order alone; resumes.

    ValueError, BadData, UnsupportedModel: what to change.
    """
    question.check()
    chosen = settings.read()
    store, kept = Store(chosen.cache, chosen.cache_bytes), Library(chosen.cache).references
    models = [load(name, options.device, options.precision) for name in (options.model, *options.beside)]
    explainers = [with_reference(model, store, kept) for model in models]
    terminal.say_of_models(models, bar.say)
    # What cannot be compared is said before anything is computed.
    samples = [draw_sample(data, models[0].labels, options.sample, question.seed)]
    for model in models[1:]:
        try:
            samples.append(same_examples(samples[0], data, model.labels))
        except BadData as error:
            raise BadData(f"{model.name} does not compare with {models[0].name}: {error}") from error
    question = replace(question, metric=metric_of(models[0]))
    found = [
        _checked(explainer, sample, question.beside() if place else question, store, bar)
        for place, (explainer, sample) in enumerate(zip(explainers, samples))
    ]
    terminal.say_of_store(store, bar.say)
    return found


def _checked(explainer: Explainer, sample: Sample, question: MaskingCheck, store: Store, bar) -> CheckReport:
    named = explainer.model.name
    answers = ask(explainer, sample, question, store, lambda what, *done: bar(f"{named}: {what}", *done))
    found = question.conclude(answers)
    if found is None:
        raise BadData(f"No example of {sample.name} could be checked: {next(iter(answers.left_out))}")
    return found


def readable_check(reports: list[CheckReport]) -> str:
    """Reports as text: the result, a table of the models, a table of the curves, and what a paper found."""
    first = reports[0]
    parts = [write_result(check_result(first)), *first.notes, _models_table(reports)]
    parts.extend(
        f"{one.model}\n"
        + text_table(
            [
                "curve",
                "ACU ↑ (95 %)",
                "RACU ↑ (95 %)",
                "evidence AP ↑",
                "its chance",
                "",
                *(share_text(ratio) for ratio in X),
            ],
            [row for line in one.lines for row in _curve_rows(line, one)],
        )
        for one in reports
    )
    found = check_findings(reports)
    if found:
        header, rows = findings_table("FMM", found)
        parts.append(text_table(header, [[as_cell(value) for value in row] for row in rows]))
    return "\n\n".join(parts)


def _models_table(reports: list[CheckReport]) -> str:
    return text_table(
        [
            *("model", "trained", "examples", "unmasked ↑", f"all{reports[0].sample.of_first} masked ↑", "majority"),
            *("smallest p calibrated (by count)", "literal (Simes)"),
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


def _smallest(one: CheckReport, form: str) -> str:
    if not one.floor:
        return Why.NO_REFERENCE
    p, at = one.smallest(form)
    return with_sign(f"{p:.3g} at {share_text(at)}", one.random.marked(form))


def _curve_rows(line, one: CheckReport) -> list[list[str]]:
    racu, acu = area_cells(line.areas, False, fixed_number)
    evidence = map(fixed_number, (line.precision, line.chance))
    found = [[line.curve.label, acu, racu, *evidence, one.metric, *map(fixed_number, line.performance)]]
    for form in line.p:
        found.append(["", "", "", "", "", f"p {form}", *(f"{value:.3g}" for value in line.p[form])])
        found.append(
            ["", "", "", "", "", f"rejected {form}, of {line.n:,}", *(f"{value:,}" for value in line.rejected[form])]
        )
    return found
