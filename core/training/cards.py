"""Model cards: what a training run used and what its model reaches, as JSON and as a page."""

import json
import platform
import sys
from collections.abc import Callable
from dataclasses import astuple
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import torch

from core.attacks.catalogue import attack_named
from core.data.tables import LabelledTexts
from core.evaluation.families import NOT_ABOVE_CONSTANT, above_constant, reads_pairs
from core.evaluation.predicting import predict_at_ratios
from core.loading.loading import load
from core.mathematics.masking import RATIOS
from core.mathematics.performance import METRICS, majority_class, performance_difference
from core.network.features import BOTH
from core.storage.files import write_whole
from core.wording import as_json, cut_sentence


def build_card(
    folder: Path,
    plan: dict,
    data: dict[str, LabelledTexts],
    cut: dict[str, dict[int, int]],
    history: list[dict],
    labels: tuple[str, ...],
    progress: Callable[[str, int, int], None],
) -> dict:
    """Measure the model as it lies in its folder, and gather what it was made with.

    The figures come from the saved weights as the loader reads them, on the test file if there is
    one and else on the validation file; masks cover both texts of a pair.

    Args:
        cut: of each file the texts that training cut, {text: tokens that it reads}.
    Returns:
        A JSON-ready dict; `weights_sha256` is the model's digest, since the figures are of no other; `performance`
        holds the metric at masking ratios 0, 0.1 … 1 (random masks, exact counts) and for the class majority of train,
        and how much better than that it is unmasked, with the ends of its 95 % interval.
    """
    split = "test" if "test" in data else "validation"
    shown = data[split]
    model = load(str(folder), plan["device"])
    pairs = zip(shown.texts, shown.seconds or [None] * len(shown))
    encoded = [model.encode(text, second, "token", BOTH) for text, second in pairs]
    predicted = predict_at_ratios(model, encoded, RATIOS, plan["seed"], lambda a, b: progress("measuring", a, b))
    metric = METRICS[plan["metric"]]
    majority = majority_class(data["train"].labels, len(labels))
    constant = np.full(len(shown), majority)
    gained = performance_difference(plan["metric"], (shown.labels, predicted[0]), (shown.labels, constant))
    return {
        "weights_sha256": model.digest,
        "labels": list(labels),
        "data": {name: _about_file(texts, cut[name], len(labels)) for name, texts in data.items()},
        "plan": {k: v for k, v in plan.items() if k not in ("train", "validation", "test", "out", "device")}
        | {"base": Path(plan["base"]).name},
        **_adversarial(plan, history),
        "validation": history,
        "performance": {
            "metric": plan["metric"],
            "split": split,
            "examples": len(shown),
            "ratios": list(RATIOS),
            "masked": [metric(shown.labels, p) for p in predicted],
            "class_majority": metric(shown.labels, constant),
            "majority_class": labels[majority],
            "above_majority": as_json(np.array(astuple(gained))),
        },
        "seconds": sum(entry["seconds"] for entry in history),
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads, {model.device}",
        "versions": {name: _version(name) for name in ("torch", "transformers", "peft")}
        | {"python": sys.version.split()[0]},
    }


def _adversarial(plan: dict, history: list[dict]) -> dict:
    """What attacks took over all epochs; {} where there were none."""
    if "adversarial" not in plan:
        return {}
    totals = {name: sum(entry[name] for entry in history) for name in ("attacked", "successes", "queries")}
    return {"adversarial": {"attack": attack_named(plan["adversarial"]).name} | totals}


def _about_file(texts: LabelledTexts, cut: dict[int, int], C: int) -> dict:
    return {
        "file": texts.name,
        "sha256": texts.digest,
        "examples": len(texts),
        "cut": len(cut),
        "tokens_of_cut": max(cut.values(), default=None),
        "per_class": np.bincount(texts.labels, minlength=C).tolist(),
    }


def write_card(folder: Path, card: dict) -> None:
    """Write card.json and the readable README.md beside the weights."""
    write_whole(folder / "card.json", f"{json.dumps(card, indent=1)}\n".encode(), replaces=True)
    write_whole(folder / "README.md", readable_card(card, folder.name).encode(), replaces=True)


def readable_card(card: dict, name: str) -> str:
    """The card as Markdown; every number comes from the JSON."""
    shown, plan = card["performance"], card["plan"]
    rows = "\n".join(
        f"| {e['epoch']} | {e['loss']:.3f} | {e['unmasked']:.3f} | {e['masked']:.3f} | {e['selection']:.3f} | "
        f"{e['seconds']:.0f} |"
        for e in card["validation"]
    )
    data = "\n".join(
        f"- {split}: `{d['file']}`, {d['examples']:,} examples, SHA-256 `{d['sha256']}`{_cut(d)}"
        for split, d in card["data"].items()
    )
    warning = "" if above_constant(card) else f"\n**{NOT_ABOVE_CONSTANT}**\n"
    texts = "of both texts " if reads_pairs(card) else ""
    ratios = "\n".join(f"| {r:.0%} | {p:.3f} |" for r, p in zip(shown["ratios"], shown["masked"]))
    return f"""# {name}

A text classifier ({", ".join(card["labels"])}) fine-tuned from {plan["base"]}; training strategy: {plan["training"]}
(none: no masking, mask: all masked, half: every second example masked), \
validation strategy: {plan["validation_strategy"]},
method: {plan["method"]}, seed {plan["seed"]}, {plan["epochs"]} epochs at batch {plan["batch"]}, \
learning rate {plan["learning_rate"]:g}.
Trained in {card["seconds"] / 60:.1f} minutes ({card["machine"]}).{_attacked(card)}{_planted(card)}
{warning}
## Performance ({shown["metric"]}, {shown["split"]} file, {shown["examples"]:,} examples; higher is better)

| tokens {texts}masked at random | {shown["metric"]} |
|---|---|
{ratios}
| class majority ({shown["majority_class"]}) | {shown["class_majority"]:.3f} |

## Validation after each epoch ({shown["metric"]}; the earliest best selection score is kept)

| epoch | training loss | unmasked | masked | selection | seconds |
|---|---|---|---|---|---|
{rows}

## Data

{data}
"""


def _attacked(card: dict) -> str:
    """What adversarial training took."""
    if "adversarial" not in card:
        return ""
    about = card["adversarial"]
    numbers = (f"{about[name]:,} {name}" for name in ("attacked", "successes", "queries"))
    return f"\nAdversarial training: {about['attack']}, {', '.join(numbers)}."


def _planted(card: dict) -> str:
    """Which word was planted."""
    if "shortcut" not in card:
        return ""
    about = card["shortcut"]
    of = f"{about['planted']:,} of {about['texts']:,}"
    return f"\nPlanted shortcut: `{about['word']}` in {of} training texts of {about['class']}."


def _cut(data: dict) -> str:
    """What is said of the texts of a file that were cut; cards that were written before say nothing."""
    told = cut_sentence(dict.fromkeys(range(data.get("cut", 0)), data.get("tokens_of_cut") or 0), data["examples"])
    return f". In training {told}" if told else ""


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
