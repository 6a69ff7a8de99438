"""`python -m core evaluate`: a study of a data set as a Parquet table; what it takes and what it prints."""

import argparse
from pathlib import Path

from core.commands.evaluating import KINDS, SCORES, Evaluation, evaluate
from core.commands.terminal import Bar, Option, Options, add_columns, add_measures, add_model, columns_of
from core.data.examples import bundled_data
from core.evaluation.studies.scoring import COUNTS, DRAWS, RANDOM, Scoring
from core.explanation.judging import How
from core.mathematics.erasure import MIN_MAX, PLACEMENTS, SCALINGS, SIGMA, WORD_EMBEDDING
from core.measures.catalogue import swept_measures
from core.metrics.catalogue import default_metrics
from core.network.features import UNITS
from core.oracle.erasing import ERASURES, MASK

HELP = "over a data set: metrics of measures, how diagnostic they are, or how a model behaves under masking"
GOES_ON = "What is computed is kept; the same command goes on from there."


def add(option: Option) -> None:
    """What it takes."""
    add_model(option)
    option(
        "--data", required=True, help=f"texts, labelled or not: a file, or a bundled set ({', '.join(bundled_data())})"
    )
    option("--out", required=True, help="Parquet file to write; an interrupted run goes on")
    option(
        "--what",
        choices=tuple(KINDS),
        default=SCORES,
        help="a table of scores, how often a metric prefers a measure to the baseline, or when predictions change and "
        "how far embeddings drift",
    )
    add_measures(option, "whose attributions are scored", swept_measures())
    option("--metrics", nargs="+", default=list(default_metrics()), help="metrics to score them by")
    option(
        "--baseline",
        choices=tuple(COUNTS),
        default=RANDOM,
        help="what measures are set against: random attributions, the same for all measures, or shuffles of each "
        "measure's own scores",
    )
    # Suppressed, so that the sentence is not followed by "None".
    option(
        "--count",
        type=int,
        default=argparse.SUPPRESS,
        help=f"how many of it (default: {', '.join(f'{count} {name}' for name, count in COUNTS.items())}); behaviour "
        f"takes random order unless it is 0",
    )
    _add_how(option)
    option(
        "--fewest",
        action="store_true",
        help="of behaviour: also search the fewest words that change each prediction, to normalise fidelity by",
    )
    option("--unit", choices=UNITS, default="word", help="what is erased as one piece")
    option("--sample", type=int, help="examples, drawn once for a seed (default: all)")
    option("--seed", type=int, default=0, help="of the sample, the baseline, draws and measures")
    add_columns(option)


def _add_how(option: Option) -> None:
    """How attributions are judged."""
    option("--erasure", choices=ERASURES, default=MASK, help="what erasing a feature does, for hard metrics")
    option(
        "--scaling",
        choices=SCALINGS,
        default=MIN_MAX,
        help="how attributions become shares of a feature, for soft metrics; reversed keeps the most important least, "
        "as SoftFaith's code does and its text does not",
    )
    option(
        "--placement",
        choices=PLACEMENTS,
        default=WORD_EMBEDDING,
        help="where soft metrics perturb an embedding; SoftFaith's code: after normalisation, special tokens included",
    )
    option("--sigma", type=float, default=SIGMA, help="standard deviation of noise, as a share of what it is added to")
    option("--draws", type=int, default=DRAWS, help="of each soft perturbation")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    how = How(options.erasure, options.scaling, options.draws, options.seed, options.placement, options.sigma)
    count = getattr(options, "count", COUNTS[options.baseline])
    study = Scoring(
        tuple(options.measures), tuple(options.metrics), options.sign, how, count, options.unit, options.baseline
    )
    evaluation = Evaluation(
        options.model, options.data, study, options.what, options.sample, columns_of(options), options.fewest
    )
    with Bar() as bar:
        told = evaluate(evaluation, Path(options.out), options.device, options.precision, bar)
    print(told)
    print(f"\nWritten: {options.out}")
    return 0
