"""`python -m core train`: make a faithfulness measurable model by masked fine-tuning."""

import json
import os
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.attacks.catalogue import attacks
from core.commands.options import FORMATS, Option, Options, add_columns, add_device, add_seed
from core.commands.terminal import Bar
from core.evaluation.families import NOT_ABOVE_CONSTANT, above_constant
from core.loading.model_files import REFERENCE_FILE
from core.mathematics.masking import TRAINING_STRATEGIES, VALIDATION_STRATEGIES
from core.mathematics.performance import METRICS
from core.network.architectures import BILSTM
from core.training.stand_ins import END, STAND_INS
from core.wording import amount, number, text_table

if TYPE_CHECKING:
    from core.training.training import Plan

HELP = "fine-tune a faithfulness measurable model"
METHODS = ("full", "lora", "calibration")
GOES_ON = "The same command resumes after the last complete epoch."


def add(option: Option) -> None:
    """What it takes."""
    add_recipe(option, METHODS, needed=False)
    option("--from", dest="start", metavar="MODEL", help="a classifier to train on, in place of --base")
    option("--bfloat16", action="store_true", help="bfloat16 autocast")
    option("--accumulate", type=int, default=1, help="batches a step")
    option("--test", help="test file, for the card's figures")
    option("--out", required=True, help="output folder")
    option("--seeds", type=int, help="train a family: this many seeds, from --seed on")
    option("--training", choices=TRAINING_STRATEGIES, default="half", help="masked examples of a mini-batch")
    option("--validation-strategy", choices=VALIDATION_STRATEGIES, default="both", help="copies that choose the epoch")
    named = f"also learn from attacked texts: {', '.join(attacks())}"
    option("--adversarial", metavar="ATTACK", help=named)
    option("--protect", nargs="+", default=[], help="words that attacks never change")
    option("--attacked", type=int, default=200, help="texts attacked each epoch")
    option("--shortcut", metavar="WORD[=CLASS]", help="word planted into texts of a class (default: last)")
    option("--rate", dest="planted", type=float, default=0.9, help="share of its texts")


def add_recipe(option: Option, methods: tuple[str, ...] = METHODS[:2], needed: bool = True) -> None:
    """How a model is trained, and on what; needed: whether a base is."""
    option("--base", required=needed, help=f"bundled base, folder or hub id; {BILSTM}: a fresh BiLSTM with attention")
    option("--train", required=True, help=f"training file: {FORMATS}")
    option("--validation", required=True, help="validation file, chooses the epoch")
    add_columns(option)
    option("--labels", nargs="+", help="class names in order")
    option("--method", choices=methods, default="full", help="all weights, an adapter, or a linear head on the logits")
    option("--rank", type=int, default=16, help="adapter rank")
    option("--epochs", type=int, default=2, help="training epochs")
    add_seed(option)
    option("--learning-rate", type=float, help="peak after warm-up (default: full 5e-5, lora 6e-4)")
    option("--batch", type=int, default=32, help="batch size")
    option("--max-tokens", type=int, default=256, help="longer texts are cut")
    option("--mask-token", choices=STAND_INS, default=END, help="what masks for a base without a mask token")
    option("--metric", choices=tuple(METRICS), default="accuracy", help="task metric")
    add_device(option)
    option("--half", action="store_true", help="save half-precision weights")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.training.training import train

    if (options.base is None) == (options.start is None):
        raise ValueError("give --base, or --from for a classifier to train on; one of them")
    plan = plan_of(options, base=options.base or options.start, further=options.start is not None)
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    if options.seeds is not None:
        if several:
            raise ValueError("--seeds takes one process")
        return _train_seeds(plan, options.seeds)
    with Bar() as bar:
        out = train(plan, bar, bar.say, alone=True)
    if not several or os.environ["RANK"] == "0":
        _print_made(out)
    if several:
        # A thread of the transport that is left over may abort an ordinary end.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    return 0


def _print_made(out: Path) -> None:
    print(f"Written: {out}\n")
    print((out / "README.md").read_text(encoding="utf-8"))
    if not (out / REFERENCE_FILE).is_file():
        print("Too few validation texts for a MaSF reference. Fit one: python -m core reference")
    if not above_constant(json.loads((out / "card.json").read_text(encoding="utf-8"))):
        print(f"Warning: {NOT_ABOVE_CONSTANT}", file=sys.stderr)


def _train_seeds(plan: "Plan", count: int) -> int:
    from core.loading.seeds import read_seeds
    from core.training.seeds import seeds_report, train_seeds

    with Bar() as bar:
        out = train_seeds(plan, count, bar, bar.say)
    family = read_seeds(out)
    assert family is not None
    found = seeds_report(family)
    rows = [
        [f"{ratio:.0%}", number(one.mean), number(one.low), number(one.high)]
        for ratio, one in zip(found.ratios, found.mean)
    ]
    print(f"Written: {out}, {amount(len(family.members), 'model')}\n")
    print(text_table(["masked", f"{found.metric} ↑", "low", "high"], rows))
    return 0


def plan_of(options: Options, **chosen: Any) -> "Plan":
    """The plan that is asked for; chosen: what does not go by the options."""
    from core.training.training import Plan

    known = {field.name for field in fields(Plan)}
    asked: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in vars(options).items() if k in known}
    return Plan(**asked | chosen)
