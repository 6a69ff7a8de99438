"""`python -m core train`: make a faithfulness measurable model by masked fine-tuning."""

import json
import sys
from dataclasses import fields
from typing import Any

from core.commands.terminal import Bar, Option, Options
from core.evaluation.families import NOT_ABOVE_CONSTANT, above_constant
from core.loading.model_files import REFERENCE_FILE
from core.mathematics.masking import TRAINING_STRATEGIES, VALIDATION_STRATEGIES
from core.mathematics.performance import METRICS

HELP = "masked fine-tuning: make a faithfulness measurable model"
GOES_ON = "The same command goes on after the last complete epoch."


def add(option: Option) -> None:
    """What it takes."""
    option("--base", required=True, help="what to fine-tune: a bundled base, a folder or a hub id")
    option("--train", required=True, help="training file: .jsonl, .csv, .tsv or .parquet")
    option("--validation", required=True, help="validation file, which chooses the epoch")
    option("--test", help="test file, for the card's figures")
    option("--out", required=True, help="folder to write")
    option("--text", default="text", help="column of the text")
    option("--second", help="column of the second text of a pair")
    option("--label", default="label", help="column of the label, names or whole numbers from 0")
    option("--labels", nargs="+", help="names of the classes, in the order of their numbers")
    option("--training", choices=TRAINING_STRATEGIES, default="half", help="which examples of a mini-batch are masked")
    option("--validation-strategy", choices=VALIDATION_STRATEGIES, default="both", help="copies that choose the epoch")
    option("--method", choices=("full", "lora"), default="full", help="train all weights, or an adapter")
    option("--rank", type=int, default=16, help="rank of the adapter")
    option("--epochs", type=int, default=2, help="passes over the training file")
    option("--seed", type=int, default=0, help="of initial values, masks and order")
    option("--learning-rate", type=float, help="peak, linear warm-up and decay (full 5e-5, lora 6e-4)")
    option("--batch", type=int, default=32, help="examples per step")
    option("--max-tokens", type=int, default=256, help="longer texts are cut")
    option("--metric", choices=tuple(METRICS), default="accuracy", help="the task's metric")
    option("--device", default="auto", help="auto, cuda, mps or cpu")
    option("--half", action="store_true", help="store the weights in half precision")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.training.training import Plan, train

    known = {field.name for field in fields(Plan)}
    asked: dict[str, Any] = {k: tuple(v) if k == "labels" and v else v for k, v in vars(options).items() if k in known}
    plan = Plan(**asked)
    with Bar() as bar:
        out = train(plan, bar, bar.say)
    print(f"Written: {out}\n")
    print((out / "README.md").read_text(encoding="utf-8"))
    if not (out / REFERENCE_FILE).is_file():
        print("The validation file has too few texts for a MaSF reference. Fit one with: python -m core reference")
    if not above_constant(json.loads((out / "card.json").read_text(encoding="utf-8"))):
        print(f"Warning: {NOT_ABOVE_CONSTANT}", file=sys.stderr)
    return 0
