"""A training run's state on disk after every epoch, as safetensors and JSON, each file with its checksum."""

import contextlib
import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save_file

from core.network.architectures import Module
from core.storage.files import whole_file, write_whole
from core.wording import amount, joined

_GIVE_UP = "To start over, delete it or choose another --out."


class TrainingError(ValueError):
    """The plan cannot be carried out; the message says what to change."""


class NotFinite(TrainingError):
    """The loss of a training is not finite."""


class Checkpoint:
    """State of a run in `<out>/.progress`, tied to a fingerprint of the plan and its data, and to the versions of the
    libraries that compute.

    Its record says which files it is made of and their SHA-256, and holds its own.
    """

    def __init__(self, out: Path, fingerprint: str, versions: dict[str, str] | None = None):
        self.folder = out / ".progress"
        self.fingerprint, self.versions = fingerprint, versions or {}
        self.history: list[dict] = []
        self.sums: dict[str, str] = {}

    def resume(
        self, module: Module, optimiser: torch.optim.Optimizer, told: Callable[[str], None] = lambda _: None
    ) -> int:
        """Load the last complete epoch's state; return how many epochs are done (0: none).

        Args:
            told: called with a sentence where the state is damaged, which is then set aside.
        Raises:
            TrainingError: the epochs that are done are of another plan, other data, or other versions of libraries.
        """
        tensors = self._read(told)
        if tensors is None:
            self.history, self.sums = [], {}
            self.clear()
            return 0
        _put_weights(module, {k[2:]: v for k, v in tensors.items() if k.startswith("w.")})
        # One optimiser counts its steps where the weights are.
        fused = optimiser.param_groups[0].get("fused")
        for i, parameter in enumerate(_trainable(module).values()):
            # A parameter that no gradient has reached has no state.
            if f"o.step.{i}" in tensors:
                optimiser.state[parameter] = {
                    part: tensors[f"o.{part}.{i}"].to("cpu" if part == "step" and not fused else parameter.device)
                    for part in ("exp_avg", "exp_avg_sq", "step")
                }
        return len(self.history)

    def save(self, module: Module, optimiser: torch.optim.Optimizer, epoch: int, scores: dict) -> None:
        """Write the state after an epoch; a kill in the middle leaves the former epoch's."""
        weights = {name: p.detach().cpu().contiguous() for name, p in _trainable(module).items()}
        tensors = {f"w.{name}": value for name, value in weights.items()}
        for i, parameter in enumerate(_trainable(module).values()):
            parts = optimiser.state[parameter].items()
            tensors |= {f"o.{part}.{i}": value.detach().cpu().contiguous() for part, value in parts}
        history = [*self.history, scores]
        state, best = f"state-{epoch}.safetensors", _best(history)
        made = {state: tensors} | ({f"best-{epoch}.safetensors": weights} if best == epoch else {})
        sums = self.sums | {name: self._keep(name, content) for name, content in made.items()}
        sums = {name: sums[name] for name in (state, f"best-{best}.safetensors")}
        record = {"fingerprint": self.fingerprint, "versions": self.versions, "history": history, "state": state}
        record["files"] = sums
        record["sha256"] = _seal(record)
        write_whole(self.folder / "record.json", json.dumps(record).encode(), replaces=True)
        self.history, self.sums = history, sums
        for old in self.folder.iterdir():
            if old.name not in (*sums, "record.json"):
                old.unlink()

    @property
    def best_epoch(self) -> int:
        """Index of the earliest epoch with the best selection score."""
        return _best(self.history)

    def load_best(self, module: Module) -> None:
        """Put the best epoch's weights into the module; TrainingError where they are damaged."""
        try:
            weights = self._load(f"best-{self.best_epoch}.safetensors")
        except (OSError, ValueError, SafetensorError) as error:
            raise TrainingError(
                f"The best weights in {self.folder} are damaged. Rerun the command to start over."
            ) from error
        _put_weights(module, weights)

    def clear(self) -> None:
        """Remove the state."""
        # First what names the other files: killed in between, a run leaves none that are missed.
        with contextlib.suppress(OSError):
            (self.folder / "record.json").unlink()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self, told: Callable[[str], None]) -> dict | None:
        """The last state's tensors, with `history` set; None where there are none, or damaged ones, set aside now."""
        path = self.folder / "record.json"
        if not os.path.lexists(path):
            return None
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if record.pop("sha256") != _seal(record):
                raise ValueError("wrong checksum")
            self.history, self.sums = record["history"], record["files"]
            # A record that is older than this does not say.
            versions = {name: record.get("versions", {}).get(name, own) for name, own in self.versions.items()}
            if record["fingerprint"] == self.fingerprint and versions == self.versions:
                self._load(f"best-{self.best_epoch}.safetensors")
                return self._load(record["state"])
        # What only cannot be read now (no permission, too many open files) is no damage, and ends in its own sentence.
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, RecursionError, SafetensorError):
            places = (self.folder.with_name(f".damaged{i or ''}") for i in itertools.count())
            aside = next(place for place in places if not place.exists())
            os.replace(self.folder, aside)
            told(f"Finished epochs are damaged or outdated; moved to {aside}. Training starts over.")
            return None
        if record["fingerprint"] != self.fingerprint:
            raise TrainingError(f"{self._finished()} of another plan or data. {_GIVE_UP}")
        theirs, ours = (joined([f"{name} {v[name]}" for name in v]) for v in (versions, self.versions))
        raise TrainingError(
            f"{self._finished()} made with {theirs}, not {ours}. To resume, install {theirs}. {_GIVE_UP}"
        )

    def _finished(self) -> str:
        return f"{self.folder} holds {amount(len(self.history), 'finished epoch')}"

    def _keep(self, name: str, tensors: dict) -> str:
        """Write a file; its SHA-256."""
        with whole_file(self.folder / name) as place:
            save_file(tensors, place)
            with place.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()

    def _load(self, name: str) -> dict:
        """The tensors of a file; ValueError where it is not as it was written."""
        data = (self.folder / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != self.sums[name]:
            raise ValueError("wrong checksum")
        return load(data)


def library_versions(method: str) -> dict[str, str]:
    """Versions of the libraries that decide what training by a method computes."""
    return {name: version(name) for name in ("torch", "transformers", *(("peft",) if method == "lora" else ()))}


def _best(history: list[dict]) -> int:
    scores = [entry["selection"] for entry in history]
    return scores.index(max(scores))


def _seal(record: dict) -> str:
    return hashlib.sha256(json.dumps(record).encode()).hexdigest()


def _trainable(module) -> dict:
    return {name: p for name, p in module.named_parameters() if p.requires_grad}


def _put_weights(module, weights: dict) -> None:
    parameters = _trainable(module)
    with torch.no_grad():
        for name, value in weights.items():
            parameters[name].copy_(value)
