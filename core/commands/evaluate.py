"""`python -m core evaluate`: a study of a data set as a Parquet table; what it takes and what it prints."""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from core.commands.evaluating import Evaluation, evaluate
from core.commands.terminal import (
    RESUMES,
    Bar,
    Option,
    Options,
    add_data_option,
    add_measures,
    add_model,
    add_seed,
    add_unit,
    columns_of,
)
from core.evaluation.studies.catalogue import own_choices, questions
from core.evaluation.studies.scoring import COUNTS, DRAWS, RANDOM
from core.mathematics.erasure import MIN_MAX, PLACEMENTS, SCALINGS, SIGMA, WORD_EMBEDDING
from core.measures.catalogue import swept_measures
from core.metrics.catalogue import default_metrics
from core.oracle.erasing import ERASURES, MASK

HELP = "evaluate measures or a model on a data set"
GOES_ON = RESUMES


def add(option: Option) -> None:
    """What it takes."""
    add_model(option)
    add_data_option(option)
    option("--out", required=True, help="Parquet, .csv, or .tex of the printed tables; resumes")
    asked = " ".join(f"{name}: {question.asks}" for name, question in questions().items())
    option("--what", choices=tuple(questions()), default=next(iter(questions())), help=asked)
    add_measures(option, "to score", swept_measures())
    option("--metrics", nargs="+", default=list(default_metrics()), help="faithfulness metrics")
    option("--baseline", choices=tuple(COUNTS), default=RANDOM, help="random or shuffled attributions")
    unasked = ", ".join(f"{count} {name}" for name, count in COUNTS.items())
    # Suppressed, so that the sentence is not followed by "None".
    option("--count", type=int, default=argparse.SUPPRESS, help=f"baseline size, 0 for none (default: {unasked})")
    _add_how(option)
    add_unit(option)
    option("--sample", type=int, help="sample size (default: all)")
    add_seed(option)
    _add_own(option)


def _add_how(option: Option) -> None:
    """How attributions are judged."""
    option("--erasure", choices=ERASURES, default=MASK, help="erasure in hard metrics")
    option("--scaling", choices=SCALINGS, default=MIN_MAX, help="attribution scaling in soft metrics")
    option("--placement", choices=PLACEMENTS, default=WORD_EMBEDDING, help="where soft metrics perturb")
    option("--sigma", type=float, default=SIGMA, help="relative standard deviation of noise")
    option("--draws", type=int, default=DRAWS, help="draws per soft perturbation")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    for name in own_choices():
        if name in options and options.what not in _owners(name):
            raise ValueError(f"--{name} belongs to {' and '.join(_owners(name))}, not {options.what}")
    question = questions()[options.what].asked(vars(options))
    evaluation = Evaluation(options.model, options.data, question, options.sample, options.seed, columns_of(options))
    with Bar() as bar:
        told = evaluate(evaluation, Path(options.out), options.device, options.precision, bar, bar.say)
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
        reads = partial(_read, read)
        option(f"--{name}", type=reads, choices=offered, default=argparse.SUPPRESS, help=told)


def _read(choices: dict[str, Any], written: str) -> Any:
    return choices.get(written, written)


def _owners(name: str) -> list[str]:
    return [one for one, question in questions().items() if name in question.own_choices()]
