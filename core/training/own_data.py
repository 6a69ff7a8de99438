"""Training on a data set that somebody looks at: its files, and the run."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from core.data.examples import DataSet, first_places
from core.data.guessing import guess_mapping
from core.data.parsed import BadData
from core.data.sources import keep
from core.data.tables import read_table
from core.network.model import Model
from core.storage.files import write_whole
from core.storage.library import Library

# Every fifth text of a class chooses the epoch and fits the reference.
HELD_OUT = 5
FEWEST_TEXTS = 20


def labelled_places(data: DataSet, classes: Mapping[str, int]) -> list[int]:
    """Places of the different texts whose label is a class of the model; BadData where they are too few."""
    first = first_places(data.examples)
    found = [i for i, one in enumerate(data.examples) if one.label in classes and first[i] == i]
    counts = np.bincount([classes[data.examples[i].label or ""] for i in found], minlength=2)
    if (counts > 0).sum() < 2 or len(found) < FEWEST_TEXTS:
        raise BadData(
            f"{data.name} has {len(found)} different labelled texts of {(counts > 0).sum()} classes; training takes at "
            f"least {FEWEST_TEXTS} of two. Choose other data."
        )
    return found


def write_splits(data: DataSet, classes: Mapping[str, int], labels: tuple[str, ...], folder: Path) -> tuple[Path, Path]:
    """Write training and validation files, JSON Lines, under the names of the model's classes.

    Args:
        classes: {label of the data: class of the model}; labels: names of the model's classes.
    Returns:
        Their paths. The same data gives the same files, so that a training that was stopped goes on.
    Raises:
        BadData: too few labelled texts; OSError: the folder cannot be written.
    """
    rows: tuple[list[str], list[str]] = ([], [])
    seen = [0] * len(labels)
    for i in labelled_places(data, classes):
        example = data.examples[i]
        place = classes[example.label or ""]
        seen[place] += 1
        row = {"text": example.text, **({"second": example.second} if example.second else {}), "label": labels[place]}
        rows[seen[place] % HELD_OUT == 0].append(json.dumps(row) + "\n")
    paths = folder / "train.jsonl", folder / "validation.jsonl"
    for path, lines in zip(paths, rows):
        write_whole(path, "".join(lines).encode(), replaces=True)
    return paths


def keep_held_out(library: Library, data: DataSet, out: Path) -> str:
    """Put the texts that a training on a data set did not learn from into the library; the key of that data set."""
    content = (out.with_name(f"{out.name}-data") / "validation.jsonl").read_bytes()
    table = read_table(content, f"{data.name}, held out.jsonl")
    return keep(library, table, guess_mapping(table), f"{data.name}: validation of {out.name}", content).key


def train_on(
    data: DataSet,
    classes: Mapping[str, int],
    model: Model,
    out: Path,
    progress: Callable[[str, int, int], None],
    say: Callable[[str], None],
    **chosen: Any,
) -> Path:
    """Train a classifier further on a data set, see `core.training.training.train`; the same call goes on.

    Args:
        classes: {label of the data: class of the model}; chosen: fields of the plan.
    Returns:
        The new model's folder, `out`.
    """
    from core.training.training import Plan, train

    files = write_splits(data, classes, model.labels, out.with_name(f"{out.name}-data"))
    plan = Plan(model.origin or model.name, *map(str, files), out=str(out), further=True, device=model.device, **chosen)
    return train(plan, progress, say)
