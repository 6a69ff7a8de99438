"""Commands of `python -m core`: each one a parser and a function that returns an exit status."""

import argparse
import sys
from dataclasses import fields, replace
from pathlib import Path

from core import settings
from core.commands.evaluate_command import add_evaluate, run_evaluate
from core.data.examples import bundled_data
from core.data.stories import TASKS
from core.evaluation.sampling import SAMPLE
from core.explanation.rows import SIGNS
from core.loading.loading import REFERENCE_FILE
from core.mathematics.masking import TRAINING_STRATEGIES, VALIDATION_STRATEGIES
from core.mathematics.performance import METRICS
from core.mathematics.search.limits import MOST_EXACT
from core.measures.catalogue import DEFAULT
from core.network.features import UNITS
from core.network.model import POOLINGS
from core.settings import PRECISIONS
from core.validity.masf import COMBINATIONS, Combine


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 success, 1 a problem told in one sentence, 130 interrupted."""
    parser = argparse.ArgumentParser(prog="python -m core", description="Faithscope without a browser.")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_train(commands)
    _add_reference(commands)
    _add_limits(commands)
    _add_check(commands)
    _add_evaluate(commands)
    _add_stories(commands)
    _add_encoder(commands)
    _add_bench(commands)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except KeyboardInterrupt:
        goes_on = {
            "train": " The same command goes on after the last complete epoch.",
            "limits": " The same command goes on after the last complete text.",
            "check": " What is computed is kept; the same command goes on from there.",
            "evaluate": " What is computed is kept; the same command goes on from there.",
        }
        print(f"\nStopped.{goes_on.get(options.command, '')}", file=sys.stderr)
        return 130
    except (ValueError, RuntimeError, OSError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1


def _add_train(commands) -> None:
    train = commands.add_parser(
        "train",
        help="masked fine-tuning: make a faithfulness measurable model",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    train.set_defaults(run=_train)
    add = train.add_argument
    add("--base", required=True, help="what to fine-tune: a bundled base, a folder or a hub id")
    add("--train", required=True, help="training file: .jsonl, .csv, .tsv or .parquet")
    add("--validation", required=True, help="validation file, which chooses the epoch")
    add("--test", help="test file, for the card's figures")
    add("--out", required=True, help="folder to write")
    add("--text", default="text", help="column of the text")
    add("--second", help="column of the second text of a pair")
    add("--label", default="label", help="column of the label, names or whole numbers from 0")
    add("--labels", nargs="+", help="names of the classes, in the order of their numbers")
    add("--training", choices=TRAINING_STRATEGIES, default="half", help="which examples of a mini-batch are masked")
    add("--validation-strategy", choices=VALIDATION_STRATEGIES, default="both", help="copies that choose the epoch")
    add("--method", choices=("full", "lora"), default="full", help="train all weights, or an adapter")
    add("--rank", type=int, default=16, help="rank of the adapter")
    add("--epochs", type=int, default=2, help="passes over the training file")
    add("--seed", type=int, default=0, help="of initial values, masks and order")
    add("--learning-rate", type=float, help="peak, linear warm-up and decay (full 5e-5, lora 6e-4)")
    add("--batch", type=int, default=32, help="examples per step")
    add("--max-tokens", type=int, default=256, help="longer texts are cut")
    add("--metric", choices=tuple(METRICS), default="accuracy", help="the task's metric")
    add("--device", default="auto", help="auto, cuda, mps or cpu")
    add("--half", action="store_true", help="store the weights in half precision")


def _train(options) -> int:
    from core.training.training import Plan, train

    known = {field.name for field in fields(Plan)}
    plan = Plan(**{k: tuple(v) if k == "labels" and v else v for k, v in vars(options).items() if k in known})
    with _Bar() as bar:
        out = train(plan, bar)
    print(f"Written: {out}\n")
    print((out / "README.md").read_text(encoding="utf-8"))
    if not (out / REFERENCE_FILE).is_file():
        print("The validation file has too few texts for a MaSF reference. Fit one with: python -m core reference")
    return 0


def _add_machine(add) -> None:
    """Where and how a command computes."""
    add("--device", default="auto", help="auto, cuda, mps or cpu")
    add("--precision", choices=PRECISIONS, default="float32", help="of the computation")


def _add_reference(commands) -> None:
    reference = commands.add_parser(
        "reference",
        help="fit the MaSF reference of a model: what its hidden states look like on inputs that it knows",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    reference.set_defaults(run=_reference)
    add = reference.add_argument
    add("--model", required=True, help="bundled name, folder, hub id or adapter")
    add(
        "--data",
        required=True,
        help="texts like those that will be tested, in length too: .jsonl, .csv, .tsv or .parquet",
    )
    add("--held-out", help="more such texts, for the rate of false rejections (without them: 5-fold cross-validation)")
    add(
        "--out",
        help="file to write (default: beside the model's weights, or in the cache for bundled models and those of the "
        "hub)",
    )
    add("--text", default="text", help="column of the text")
    add("--second", help="column of the second text of a pair")
    add(
        "--training",
        choices=TRAINING_STRATEGIES,
        help="how the model was trained: its card says so, half without a card (default: None)",
    )
    add("--maskings", type=int, default=2, help="masked copies of each text")
    add("--seed", type=int, default=0, help="of masks and parts")
    add("--pooling", choices=POOLINGS, default="max", help="over the tokens")
    add(
        "--dimensions",
        choices=COMBINATIONS,
        default="simes",
        help="how p-values are combined over the dimensions of a layer",
    )
    add("--layers", choices=COMBINATIONS, default="fisher", help="how they are combined over layers")
    add("--compact", action="store_true", help="keep the tails and some values between only, in half precision")
    _add_machine(add)


def _reference(options) -> int:
    from core.data.tables import read_labelled
    from core.loading.loading import load
    from core.validity.fitting import Drawing, fit_reference, place_for, readable_reference, training_strategy
    from core.validity.references import write_reference

    drawing = Drawing(
        options.training or "half",
        options.maskings,
        options.seed,
        options.pooling,
        Combine(options.dimensions, options.layers),
        options.compact,
    )
    files = [
        read_labelled(Path(path), options.text, options.second, None) if path else None
        for path in (options.data, options.held_out)
    ]
    model = load(options.model, options.device, options.precision)
    drawing = replace(drawing, training=options.training or training_strategy(model))
    out = Path(options.out) if options.out else place_for(model)
    with _Bar() as bar:
        reference = fit_reference(model, files[0], drawing, files[1], bar)
    write_reference(reference, out)
    print(f"Written: {out}\n\n{readable_reference(reference)}")
    return 0


def _add_limits(commands) -> None:
    limits = commands.add_parser(
        "limits",
        help="AOPC of measures between the limits that the model allows, for a file of texts",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    limits.set_defaults(run=_limits)
    add = limits.add_argument
    add("--model", required=True, help="bundled name, folder, hub id or adapter")
    add("--data", required=True, help="file of texts: .jsonl, .csv, .tsv or .parquet")
    add("--out", required=True, help="Parquet file to write; an interrupted run goes on")
    add("--text", default="text", help="column of the text")
    add("--second", help="column of the second text of a pair")
    add("--measures", nargs="+", default=list(DEFAULT), help="measures to score")
    add("--values", dest="sign", choices=SIGNS, default="signed", help="which values order the features")
    add("--class", dest="target", default="predicted", help="explained class: predicted, or a class's name")
    add(
        "--unit",
        choices=UNITS,
        default="word",
        help="what is masked as one piece; clauses and sentences leave few enough pieces of a longer text for exact "
        "limits",
    )
    add("--width", type=int, default=5, help="of the beam")
    add(
        "--exact-up-to",
        type=int,
        help="scores that exact limits may cost, 2 to the power of the features (default: 4096 on a CPU, 131072 on a "
        "GPU)",
    )
    add(
        "--full",
        action="store_true",
        help="search beams in the precision of the computation, not in half precision where that is faster",
    )
    _add_machine(add)


def _limits(options) -> int:
    from core.data.tables import read_labelled
    from core.evaluation.studies.limits_of_texts import Batch, batch_limits
    from core.explanation.explainer import Explainer
    from core.loading.loading import load
    from core.storage.store import Store

    batch = Batch(
        options.model,
        tuple(options.measures),
        options.sign,
        options.target,
        options.unit,
        options.width,
        options.exact_up_to,
        not options.full,
    )
    chosen = settings.read()
    if batch.exact_up_to is None and chosen.exact_scores is not None:
        batch = replace(batch, exact_up_to=min(chosen.exact_scores, 1 << MOST_EXACT))
    data = read_labelled(Path(options.data), options.text, options.second, None)
    explainer = Explainer(
        load(options.model, options.device, options.precision), Store(chosen.cache, chosen.cache_bytes)
    )
    with _Bar() as bar:
        out = batch_limits(explainer, data, batch, Path(options.out), bar)
    print(f"Written: {out}")
    return 0


def _add_check(commands) -> None:
    check = commands.add_parser(
        "check",
        help="can a model be trusted under masking? Performance and p-values at every masking ratio on a sample of "
        "data",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    check.set_defaults(run=_check)
    add = check.add_argument
    add("--model", required=True, help="bundled name, folder, hub id or adapter")
    add(
        "--beside",
        nargs="+",
        default=[],
        help="models to compare with in random order, such as its twin without masking",
    )
    add("--data", required=True, help=f"labelled data: a file, or a bundled set ({', '.join(bundled_data())})")
    add("--measures", nargs="*", default=[], help="measures to follow beside random order")
    add("--values", dest="sign", choices=SIGNS, default="signed", help="which values order the features")
    add(
        "--computed",
        choices=("at each step", "once"),
        default="at each step",
        help="recursive masking, or the order of the unmasked text",
    )
    add("--unit", choices=UNITS, default="word", help="what is masked as one piece")
    add("--sample", type=int, default=SAMPLE, help="labelled examples, drawn once for a seed")
    add("--seed", type=int, default=0, help="of the sample and of random order")
    add("--out", help="JSON file for all figures")
    for role, what in (("text", "text"), ("second", "second text of a pair"), ("label", "label")):
        add(f"--{role}", help=f"column of the {what}, where that is not understood by itself")
    _add_machine(add)


def _check(options) -> int:
    from core.commands.check_run import Request, readable_check, run_check, write_json

    request = Request(
        (options.model, *options.beside),
        options.data,
        tuple(options.measures),
        options.sign,
        options.unit,
        options.computed == "at each step",
        options.sample,
        options.seed,
        options.text,
        options.second,
        options.label,
    )
    with _Bar() as bar:
        found = run_check(request, options.device, options.precision, bar)
    print(readable_check(found))
    if options.out:
        write_json(found, Path(options.out))
        print(f"\nWritten: {options.out}")
    return 0


def _add_evaluate(commands) -> None:
    parser = add_evaluate(commands)
    parser.set_defaults(run=_evaluate)
    _add_machine(parser.add_argument)


def _evaluate(options) -> int:
    with _Bar() as bar:
        return run_evaluate(options, bar)


def _add_stories(commands) -> None:
    told = commands.add_parser(
        "stories",
        help="question-answering stories whose evidence is known, as JSON Lines",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    told.set_defaults(run=_stories)
    add = told.add_argument
    add(
        "--task",
        type=int,
        choices=TASKS,
        required=True,
        help="supporting facts: where an actor is (1), where a thing is (2), where it was before (3)",
    )
    add("--count", type=int, default=10_000, help="stories")
    add("--out", required=True, help="file to write")
    add("--seed", type=int, default=0, help="of all choices")
    add("--sentences", type=int, help="of each story (default: 6, 10 or 14 by task)")
    add("--redundant", type=float, default=0.0, help="share of stories that state every supporting fact twice")
    add("--balanced", action="store_true", help="every place is the answer equally often")


def _stories(options) -> int:
    from core.data.examples import write_stories

    write_stories(
        Path(options.out),
        options.task,
        options.count,
        options.seed,
        options.sentences,
        options.redundant,
        options.balanced,
    )
    print(f"Written: {options.out}, {options.count:,} stories")
    return 0


def _add_encoder(commands) -> None:
    encoder = commands.add_parser(
        "encoder",
        help="pretrain the small encoder of the story models, a base for core train",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    encoder.set_defaults(run=_encoder)
    add = encoder.add_argument
    add("--out", required=True, help="folder to write")
    add("--steps", type=int, default=6000, help="mini-batches that the learning rate is planned for")
    add("--stop", type=int, default=3000, help="stop after so many")
    add("--seed", type=int, default=0, help="of weights and stories")


def _encoder(options) -> int:
    from core.training.story_encoder import write_encoder

    with _Bar() as bar:
        out = write_encoder(Path(options.out), options.steps, options.stop, options.seed, progress=bar)
    print(f"Written: {out}")
    return 0


def _add_bench(commands) -> None:
    bench = commands.add_parser("bench", help="speed of this machine, as ratios in one run")
    bench.set_defaults(run=_bench)
    bench.add_argument("--model", default="sst2-fmm", help="bundled name, folder, hub id or adapter")
    _add_machine(bench.add_argument)


def _bench(options) -> int:
    from core.bench.bench import run_bench

    print(run_bench(options.model, options.device, options.precision))
    return 0


class _Bar:
    """A progress bar on standard error, one line per phase."""

    def __init__(self):
        self._bar, self._phase = None, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.close()

    def __call__(self, what: str, done: int, total: int) -> None:
        from tqdm import tqdm

        phase = what.partition(",")[0]
        if phase != self._phase or self._bar.total != total or done < self._bar.n:
            if self._bar is not None:
                self._bar.close()
            self._phase, self._bar = phase, tqdm(total=total, dynamic_ncols=True, mininterval=1.0)
        self._bar.set_description_str(what, refresh=False)
        self._bar.update(done - self._bar.n)
