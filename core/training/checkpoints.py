"""A training run's state on disk after every epoch, as safetensors and JSON."""

import json
import shutil
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from core.network.architectures import Module
from core.storage.files import write_whole


class Checkpoint:
    """State of a run in `<out>/.progress`, tied to a fingerprint of the plan and its data."""

    def __init__(self, out: Path, fingerprint: str):
        self.folder = out / ".progress"
        self.fingerprint = fingerprint
        self.history: list[dict] = []

    def resume(self, module: Module, optimiser: torch.optim.Optimizer) -> int:
        """Load the last complete epoch's state; return how many epochs are done (0: nothing usable)."""
        tensors = self._read()
        if tensors is None:
            self.history = []
            self.clear()
            return 0
        _put_weights(module, {k[2:]: v for k, v in tensors.items() if k.startswith("w.")})
        for i, parameter in enumerate(_trainable(module).values()):
            # A parameter that no gradient has reached has no state.
            if f"o.step.{i}" in tensors:
                optimiser.state[parameter] = {
                    part: tensors[f"o.{part}.{i}"].to("cpu" if part == "step" else parameter.device)
                    for part in ("exp_avg", "exp_avg_sq", "step")
                }
        return len(self.history)

    def save(self, module: Module, optimiser: torch.optim.Optimizer, epoch: int, scores: dict) -> None:
        """Write the state after an epoch; a kill in the middle leaves the former epoch's."""
        self.folder.mkdir(parents=True, exist_ok=True)
        weights = {name: p.detach().cpu().contiguous() for name, p in _trainable(module).items()}
        tensors = {f"w.{name}": value for name, value in weights.items()}
        for i, parameter in enumerate(_trainable(module).values()):
            for part, value in optimiser.state[parameter].items():
                tensors[f"o.{part}.{i}"] = value.detach().cpu().contiguous()
        self.history = [*self.history, scores]
        state = f"state-{epoch}.safetensors"
        save_file(tensors, self.folder / state)
        if self.best_epoch == epoch:
            save_file(weights, self.folder / f"best-{epoch}.safetensors")
        record = {"fingerprint": self.fingerprint, "history": self.history, "state": state}
        write_whole(self.folder / "record.json", json.dumps(record).encode(), replaces=True)
        for old in self.folder.glob("*.safetensors"):
            if old.name not in (state, f"best-{self.best_epoch}.safetensors"):
                old.unlink()

    @property
    def best_epoch(self) -> int:
        """Index of the earliest epoch with the best selection score."""
        scores = [entry["selection"] for entry in self.history]
        return scores.index(max(scores))

    def load_best(self, module: Module) -> None:
        """Put the best epoch's weights into the module."""
        _put_weights(module, load_file(self.folder / f"best-{self.best_epoch}.safetensors"))

    def clear(self) -> None:
        """Remove the state."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self) -> dict | None:
        """The last state's tensors, with `history` set; None where the files are another plan's, damaged or gone."""
        try:
            record = json.loads((self.folder / "record.json").read_text(encoding="utf-8"))
            if record["fingerprint"] != self.fingerprint:
                return None
            self.history = record["history"]
            load_file(self.folder / f"best-{self.best_epoch}.safetensors")
            return load_file(self.folder / record["state"])
        except (OSError, ValueError, KeyError, TypeError, SafetensorError):
            return None


def _trainable(module) -> dict:
    return {name: p for name, p in module.named_parameters() if p.requires_grad}


def _put_weights(module, weights: dict) -> None:
    parameters = _trainable(module)
    with torch.no_grad():
        for name, value in weights.items():
            parameters[name].copy_(value)
