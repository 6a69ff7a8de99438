"""One training of ROAR: from the base, by a fixed recipe, on texts whose masks stay; and what it reaches."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from core.loading.model_files import parse_json
from core.mathematics.performance import METRICS, majority_class, performance_difference
from core.network.architectures import Module, Tokenizer
from core.storage.files import read_plain, write_whole
from core.training.bases import save_trained
from core.training.checkpoints import NotFinite
from core.training.training import Plan, Tokenised, TrainingRun

CARD = "card.json"
_MOST_CARD = 1_000_000
# Added to a seed for a second opinion; no study has as many seeds.
_OTHER_SEED = 100_000
Start = Callable[[Plan], tuple[Module, Tokenizer, int]]


class Problem(StrEnum):
    """Why a training did not converge."""

    NOT_FINITE = "its loss is not finite"
    ONE_CLASS = "it always predicts one class"
    NOT_ABOVE = "it is no better than the majority class"


@dataclass(frozen=True)
class TrainingCard:
    """What one training reached.

    measure: "" for the two that all measures share; ratio, features: how much was masked, one of them; performance: on
    the test file, equally masked; problem: a `Problem`, "" where it converged; seconds: of the training;
    attributing: of the attributions that masked its texts.
    """

    measure: str
    ratio: float | None
    features: int | None
    seed: int
    performance: float
    problem: str
    epochs: list[float]
    examples: int
    seconds: float
    attributing: float = 0.0

    def write(self, folder: Path, plan: Plan) -> None:
        """Write it beside the weights, with the recipe."""
        left_out = ("train", "validation", "test", "out", "device")
        recipe = {name: value for name, value in asdict(plan).items() if name not in left_out}
        data = json.dumps(asdict(self) | {"plan": recipe}, indent=1)
        write_whole(folder / CARD, f"{data}\n".encode(), replaces=True)


def read_card(folder: Path) -> TrainingCard | None:
    """The card in a folder; None where there is none, or a damaged one."""
    try:
        found = parse_json(read_plain(folder / CARD, _MOST_CARD))
        return TrainingCard(**{field.name: found[field.name] for field in fields(TrainingCard)})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def retrain(
    plan: Plan,
    start: Start,
    data: dict[str, Tokenised],
    share: float,
    out: Path | None,
    device: str,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[float, list[float], str]:
    """Train from the base and measure on the test texts; the earliest best epoch on the validation texts is kept.

    A training did not converge whose loss is not finite; without masks, also one that always predicts one class or is
    no better than the majority; of masked texts, one that always predicts one class where another seed is significantly
    better than that: else there is nothing left to learn. Where all is masked, one class is right.

    Args:
        share: how much is masked, 0 to 1; out: folder for the weights, None where nobody needs them.
        progress: called with the share of the training that is done.
    Returns:
        performance by the plan's metric, that after each epoch on the validation texts, and a `Problem` or "".
    Raises:
        TrainingError, OSError: as `core.training.training.train`.
    """
    run, tokenizer, found = _fit(plan, start, data, device, progress)
    if run is None:
        return float("nan"), found, Problem.NOT_FINITE
    labels = tuple(run.classifier.config.id2label[i] for i in range(run.classifier.config.num_labels))
    test = data["test"]
    predicted = run.predict(test)
    performance = METRICS[plan.metric](test.labels, predicted)
    problem = ""
    if share == 0:
        majority = np.full(len(test.labels), majority_class(data["train"].labels, len(labels)))
        least = METRICS[plan.metric](test.labels, majority)
        problem = problem_of(_constant(run, data), performance, least)
    elif share < 1 and _constant(run, data):
        other, _, _ = _fit(replace(plan, seed=plan.seed + _OTHER_SEED), start, data, device)
        problem = Problem.ONE_CLASS if other is not None and _learned(other, data, plan.metric) else ""
    if out is not None:
        save_trained(run.module, tokenizer, out, plan.base, plan.method, labels, plan.half, plan.mask_token)
    return performance, found, problem


def problem_of(constant: bool, performance: float, least: float) -> str:
    """Why a training without masks did not converge, a `Problem`, "" where it did; constant: whether it always predicts
    one class; least: performance of the majority class.
    """
    return Problem.ONE_CLASS if constant else Problem.NOT_ABOVE if performance <= least else ""


def _constant(run: TrainingRun, data: dict[str, Tokenised]) -> bool:
    return len(np.unique(run.predict(data["validation"]))) == 1


def _learned(run: TrainingRun, data: dict[str, Tokenised], metric: str) -> bool:
    """Whether it is significantly better on the validation texts than always predicting the majority class."""
    labels = data["validation"].labels
    constant = np.full(len(labels), majority_class(data["train"].labels, run.classifier.config.num_labels))
    return performance_difference(metric, (labels, run.predict(data["validation"])), (labels, constant)).low > 0


def _fit(
    plan: Plan, start: Start, data, device: str, progress: Callable[[float], None] = lambda _: None
) -> tuple[TrainingRun | None, Tokenizer, list[float]]:
    """The trained run, None where its loss is not finite, and the validation score of each epoch."""
    module, tokenizer, mask_id = start(plan)
    run = TrainingRun(plan, module.to(device), mask_id, data["train"], data["validation"], device, lambda *_: None)
    found, best = [], {}
    for epoch in range(plan.epochs):
        run.progress = lambda _, done, steps, epoch=epoch: progress((epoch + done / steps) / plan.epochs)
        try:
            run.epoch(epoch)
        except NotFinite:
            return None, tokenizer, found
        run.progress = lambda *_: None
        score = METRICS[plan.metric](data["validation"].labels, run.predict(data["validation"]))
        if not found or score > max(found):
            best = {name: value.detach().clone() for name, value in run.module.state_dict().items()}
        found.append(score)
    run.module.load_state_dict(best)
    return run, tokenizer, found


def clock() -> Callable[[], float]:
    """Seconds since now."""
    started = time.perf_counter()
    return lambda: time.perf_counter() - started
