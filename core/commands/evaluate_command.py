"""`python -m core evaluate`: what it takes and what it prints."""

import argparse
from pathlib import Path

from core.commands.evaluating import KINDS, SCORES, Evaluation, evaluate
from core.data.examples import bundled_data
from core.evaluation.studies.scoring import COUNTS, DRAWS, MEASURES, RANDOM, Study
from core.explanation.judging import How
from core.explanation.rows import SIGNS
from core.mathematics.erasure import MIN_MAX, SCALINGS
from core.metrics.catalogue import DEFAULT
from core.network.features import UNITS
from core.oracle.erasing import ERASURES, MASK


def add_evaluate(commands):
    """Add the command to a parser's commands; the new parser."""
    parser = commands.add_parser(
        "evaluate",
        help="over a data set: metrics of measures, how diagnostic they are, or how a model behaves under masking",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--model", required=True, help="bundled name, folder, hub id or adapter")
    add("--data", required=True, help=f"texts, labelled or not: a file, or a bundled set ({', '.join(bundled_data())})")
    add("--out", required=True, help="Parquet file to write; an interrupted run goes on")
    add(
        "--what",
        choices=tuple(KINDS),
        default=SCORES,
        help="a table of scores, how often a metric prefers a measure to the baseline, or when predictions change and "
        "how far embeddings drift",
    )
    add("--measures", nargs="*", default=list(MEASURES), help="measures whose attributions are scored")
    add("--metrics", nargs="+", default=list(DEFAULT), help="metrics to score them by")
    add("--values", dest="sign", choices=SIGNS, default="signed", help="which values of a measure")
    add(
        "--baseline",
        choices=tuple(COUNTS),
        default=RANDOM,
        help="what measures are set against: random attributions, the same for all measures, or shuffles of each "
        "measure's own scores",
    )
    # Suppressed, so that the sentence is not followed by "None".
    add(
        "--count",
        type=int,
        default=argparse.SUPPRESS,
        help=f"how many of it (default: {', '.join(f'{count} {name}' for name, count in COUNTS.items())}); behaviour "
        f"takes random order unless it is 0",
    )
    add("--erasure", choices=ERASURES, default=MASK, help="what erasing a feature does, for hard metrics")
    add(
        "--scaling",
        choices=SCALINGS,
        default=MIN_MAX,
        help="how attributions become shares of a feature, for soft metrics",
    )
    add("--draws", type=int, default=DRAWS, help="of each soft perturbation")
    add("--unit", choices=UNITS, default="word", help="what is erased as one piece")
    add("--sample", type=int, help="examples, drawn once for a seed (default: all)")
    add("--seed", type=int, default=0, help="of the sample, the baseline, draws and measures")
    for role, what in (("text", "text"), ("second", "second text of a pair"), ("label", "label")):
        add(f"--{role}", help=f"column of the {what}, where that is not understood by itself")
    return parser


def run_evaluate(options, progress) -> int:
    """Carry out the command; 0."""
    how = How(options.erasure, options.scaling, options.draws, options.seed)
    count = getattr(options, "count", COUNTS[options.baseline])
    study = Study(
        tuple(options.measures), tuple(options.metrics), options.sign, how, count, options.unit, options.baseline
    )
    columns = tuple((role, getattr(options, role)) for role in ("text", "second", "label"))
    told = evaluate(
        Evaluation(options.model, options.data, study, options.what, options.sample, columns),
        Path(options.out),
        options.device,
        options.precision,
        progress,
    )
    print(told)
    print(f"\nWritten: {options.out}")
    return 0
