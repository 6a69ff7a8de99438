"""Masked fine-tuning: train a classifier whose predictions stay valid when any tokens are masked."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from core.data.parsed import BadData
from core.data.sources import read_labelled
from core.data.tables import LabelledTexts
from core.loading.loading import choose_device, load
from core.loading.model_files import REFERENCE_FILE
from core.mathematics.masking import bernoulli_masks, training_masks
from core.mathematics.performance import METRICS
from core.network.architectures import BILSTM, Module, Tokenizer, architecture_of, classify
from core.network.devices import check_room
from core.network.memory import keep_freed_memory
from core.network.model import CALIBRATION
from core.network.processes import ALONE, Processes, fast_products, joined_processes, own_device
from core.network.scheduler import pad
from core.network.tokens import read_tokens
from core.storage.files import only_writer
from core.training.augmenting import Attacks
from core.training.bases import base_digest, check_out, load_base, save_trained, with_lora
from core.training.cards import build_card, write_card
from core.training.checkpoints import Checkpoint, NotFinite, TrainingError, library_versions
from core.training.fresh import fresh_bilstm
from core.training.further import base_of, calibrated, classifier_classes, load_further, under_classes
from core.training.plan import Plan
from core.training.shortcuts import Shortcut
from core.validity.fitting import FEWEST, Drawing, fit_reference
from core.validity.marks import small_reference
from core.validity.references import write_reference
from core.wording import listed

_ACHIEVED = "loss {loss:.3f}, validation {unmasked:.3f} unmasked, {masked:.3f} masked."


@dataclass(frozen=True)
class Tokenised:
    """N examples as ids, maskable flags (no special tokens) and type ids, each a list of int64/bool[T].

    cut: examples that are longer than what is read, {example: tokens that are read}.
    """

    ids: list[np.ndarray]
    maskable: list[np.ndarray]
    types: list[np.ndarray] | None
    labels: np.ndarray
    cut: dict[int, int] = field(default_factory=dict)

    def joined(self, more: "Tokenised") -> "Tokenised":
        """These examples and further ones of the same tokenizer."""
        types = None if self.types is None or more.types is None else [*self.types, *more.types]
        labels = np.concatenate([self.labels, more.labels])
        return Tokenised([*self.ids, *more.ids], [*self.maskable, *more.maskable], types, labels, self.cut)


def train(
    plan: Plan,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    told: Callable[[str], None] = lambda _: None,
    alone: bool = False,
) -> Path:
    """Fine-tune by a plan and write a model folder with its card.

    Processes that `torchrun` started share each step: with W of them a step learns from W times as many examples.

    After every epoch the state is on disk: the same plan started again goes on from there, and ends
    with the same weights as if it had not been stopped; under other versions of the libraries, which may compute other
    numbers, it does not go on. The earliest best epoch is kept.

    Args:
        plan: what to do.
        progress: called with (what is being done, done, total).
        told: called with each sentence on what was left out of the data, and where epochs that were done are damaged.
        alone: nothing else computes in this process, so that a GPU may train in TF32.
    Returns:
        The folder, which `core.loading.loading.load` reads.
    Raises:
        TrainingError, BadData, UnsupportedModel: a sentence on what to change.
        InUse, OSError: as `core.storage.files.only_writer` and `whole_folder`; finished epochs stay.
    Source: FMM §3.2, Alg. 1.
    """
    plan.check()
    check_out(Path(plan.out), plan.method, plan.base)
    with joined_processes() as processes:
        shown = (progress, told) if processes.first else ((lambda *_: None), (lambda _: None))
        return _train(plan, processes, alone, *shown)


def _train(plan: Plan, processes: Processes, alone: bool, progress, say) -> Path:
    if plan.method == CALIBRATION:
        # Its states remain those of a model that was never masked.
        plan = replace(plan, training="none", epochs=1)
    plan, data = read_files(plan, say)
    shortcut, planted = None, None
    if plan.shortcut is not None:
        shortcut = Shortcut.asked(plan.shortcut, plan.planted, data["train"].classes)
        data["train"], planted = shortcut.planted(data["train"], plan.seed)
    device = own_device(choose_device(plan.device), processes)
    if device == "cpu":
        # Otherwise every step maps its large results anew.
        keep_freed_memory()
    module, tokenizer, mask_id, max_tokens = load_start(plan, data["train"])
    check_room(module, device, plan.base)
    if shortcut is not None:
        shortcut.read_by(tokenizer)
    width = min(plan.max_tokens, max_tokens)
    # The test file too, so that a row that cannot be used is found before the training and not after.
    sets = {split: tokenise(tokenizer, texts, width) for split, texts in data.items()}
    if plan.method == CALIBRATION:
        return _calibrate(plan, data, sets, width, progress, say) if processes.first else Path(plan.out)
    about = (mask_id, sets["train"], sets["validation"], device, progress)
    run = TrainingRun(plan, module.to(device), *about, processes)
    if plan.adversarial is not None:
        run.attacks = Attacks(
            run.classifier, tokenizer, mask_id, width, data["train"], plan.adversarial, plan.attacked, plan.protect
        )
    if not processes.first:
        _help(run, plan.epochs, alone)
        return Path(plan.out)
    with only_writer(Path(plan.out), folder=True) as out:
        checkpoint = Checkpoint(out, fingerprint(plan, data, processes.count), library_versions(plan.method))
        _lead(run, checkpoint, plan.epochs, alone, say)
        checkpoint.load_best(run.module)
        _save(out, plan, (run.module, tokenizer, plan.method), data, sets, checkpoint.history, planted, progress, say)
        checkpoint.clear()
    return Path(plan.out)


def _lead(run: "TrainingRun", checkpoint: Checkpoint, epochs: int, alone: bool, say) -> None:
    """Train the epochs that are left, validate and keep each."""
    done = checkpoint.resume(run.module, run.optimiser, say)
    for epoch in range(run.processes.share(run.module, run.optimiser, done), epochs):
        clock = time.perf_counter()
        with fast_products(run.device, alone):
            learned = run.epoch(epoch)
        scores = {"epoch": epoch + 1, **learned, **run.validate()}
        scores["seconds"] = time.perf_counter() - clock
        checkpoint.save(run.module, run.optimiser, epoch, scores)
        say(f"Epoch {epoch + 1}: {_ACHIEVED.format(**scores)}")
        run.processes.wait()


def _help(run: "TrainingRun", epochs: int, alone: bool) -> None:
    """Take part in the steps of another process, which validates and writes."""
    for epoch in range(run.processes.share(run.module, run.optimiser, 0), epochs):
        with fast_products(run.device, alone):
            run.epoch(epoch)
        run.processes.wait()


def _calibrate(plan: Plan, data, sets, width: int, progress, say) -> Path:
    """Fit a linear head on a frozen classifier's logits, and write its folder."""
    found = calibrated(plan.base, data, plan.metric, plan.seed, width, plan.device, progress)
    module, tokenizer, method, epoch = found
    check_out(Path(plan.out), method)
    with only_writer(Path(plan.out), folder=True) as out:
        _save(out, plan, (module, tokenizer, method), data, sets, [epoch], None, progress, say)
    return Path(plan.out)


def _save(out: Path, plan: Plan, made: tuple, data, sets, history: list[dict], planted, progress, say) -> None:
    """Write a model's folder, its card, with what was planted, and its reference."""
    module, tokenizer, method = made
    labels, base = data["train"].classes, base_of(plan.base) if plan.further else plan.base
    save_trained(module, tokenizer, out, base, method, labels, plan.half, plan.mask_token)
    cut = {split: one.cut for split, one in sets.items()}
    recipe = plan.as_dict() | {"learning_rate": plan.rate}
    card = build_card(out, recipe, data, cut, history, labels, progress)
    write_card(out, card | ({} if planted is None else {"shortcut": planted}))
    _keep_reference(out, plan, data, progress, say)


def load_start(plan: Plan, data: LabelledTexts) -> tuple[Module, Tokenizer, int, int]:
    """As `core.training.bases.load_base`, or a BiLSTM of the words of the training texts."""
    if plan.further:
        return load_further(plan.base, plan.method, plan.rank, plan.seed, with_lora)
    if plan.base != BILSTM:
        return load_base(plan.base, data.classes, plan.method, plan.rank, plan.seed, plan.mask_token)
    if plan.method != "full":
        raise TrainingError(f"A {BILSTM} takes no adapter. Use --method full.")
    return fresh_bilstm(data.texts, data.seconds, data.classes, plan.seed)


class TrainingRun:
    """The loop's moving parts: one module, its optimiser, its data."""

    def __init__(
        self,
        plan: Plan,
        module: Module,
        mask_id: int,
        train_set: Tokenised,
        valid_set: Tokenised,
        device: str,
        progress: Callable[[str, int, int], None],
        processes: Processes = ALONE,
    ):
        self.processes = processes
        self.plan, self.module, self.mask_id, self.device, self.progress = plan, module, mask_id, device, progress
        self.train_set, self.valid_set = train_set, valid_set
        self.classifier = module.get_base_model() if plan.method == "lora" else module
        self.architecture = architecture_of(self.classifier.config.model_type)
        self.attacks: Attacks | None = None
        more = 0 if plan.adversarial is None else min(plan.attacked, len(train_set.ids))
        # At most: by this the learning rate falls.
        self.step_size = plan.batch * plan.accumulate * processes.count
        self.steps = -(-(len(train_set.ids) + more) // self.step_size)
        trainable = [p for p in module.parameters() if p.requires_grad]
        decayed = {"params": [p for p in trainable if p.ndim > 1], "weight_decay": 0.01}
        others = {"params": [p for p in trainable if p.ndim < 2], "weight_decay": 0.0}
        self.optimiser = torch.optim.AdamW([decayed, others], lr=plan.rate, fused=device.startswith("cuda") or None)
        rng = np.random.default_rng([plan.seed, 1])
        self.valid_masks = [bernoulli_masks(m[None], rng)[0] for m in valid_set.maskable]

    def epoch(self, epoch: int) -> dict[str, float]:
        """Train one epoch and return its mean loss, and what attacks took; all randomness comes from (seed, epoch)."""
        # First, since loading what it asks draws from torch's generator.
        data, tally = self._data(epoch)
        rng = np.random.default_rng([self.plan.seed, 2, epoch])
        torch.manual_seed(int(rng.integers(2**31)))
        self.module.train()
        total, steps = 0.0, -(-len(data.ids) // self.step_size)
        for step, indices in enumerate(batches(data, self.step_size, rng)):
            self._set_rate(epoch * self.steps + step)
            masks = training_masks(pad([data.maskable[i] for i in indices]), self.plan.training, rng)
            total += self._step(data, indices, masks) * len(indices)
            mean = total / ((step + 1) * self.step_size)
            self.progress(f"epoch {epoch + 1} of {self.plan.epochs}, loss {mean:.3f}", step + 1, steps)
        if not np.isfinite(total):
            remedy = "without --bfloat16" if self.plan.bfloat16 else "a smaller learning rate"
            raise NotFinite(f"The loss is not finite. Try {remedy}.")
        return {"loss": total / len(data.ids), **tally}

    def _step(self, data: Tokenised, indices: np.ndarray, masks: np.ndarray) -> float:
        """Learn from examples, this process from its share of them, one batch after the other; their mean loss."""
        self.optimiser.zero_grad(set_to_none=True)
        total = torch.zeros((), device=self.device)
        for part in self.processes.parts(len(indices), self.plan.batch):
            own = indices[part]
            longest = max(len(data.ids[i]) for i in own)
            targets = torch.from_numpy(data.labels[own]).to(self.device)
            kind = torch.device(self.device).type
            with torch.autocast(kind, torch.bfloat16) if self.plan.bfloat16 else nullcontext():
                logits = self._forward(data, own, masks[part, :longest])
            loss = torch.nn.functional.cross_entropy(logits.float(), targets) * (len(own) / len(indices))
            loss.backward()
            total += loss.detach()
        found = self.processes.add(self.module, total)
        norm = torch.nn.utils.clip_grad_norm_(self.module.parameters(), 1.0)
        self.optimiser.step()
        # Half precision may lose a gradient and not the loss; after the last step no other loss would show it.
        return found if not self.plan.bfloat16 or norm.isfinite() else float("nan")

    def _data(self, epoch: int) -> tuple[Tokenised, dict[str, int]]:
        """What an epoch learns from: the training file, and texts attacked now."""
        if self.attacks is None:
            return self.train_set, {}
        self.module.eval()
        found, tally = self.attacks.of_epoch(self.plan.seed, epoch, self.progress)
        return self.train_set.joined(tokenise(self.attacks.tokenizer, found, self.attacks.max_tokens)), tally

    def validate(self) -> dict[str, float]:
        """Metric on the unmasked copy, on the masked copy, and on what the validation strategy selects by."""
        unmasked = self.predict(self.valid_set)
        masked = self.predict(self.valid_set, self.valid_masks)
        metric, labels = METRICS[self.plan.metric], self.valid_set.labels
        both = metric(np.tile(labels, 2), np.concatenate([unmasked, masked]))
        scores = {"unmasked": metric(labels, unmasked), "masked": metric(labels, masked), "both": both}
        by = {"none": "unmasked", "mask": "masked", "both": "both"}[self.plan.validation_strategy]
        return scores | {"selection": scores[by]}

    def predict(self, data: Tokenised, masks: "list[np.ndarray] | None" = None) -> np.ndarray:
        """The class of each of N texts, int64[N]; masks: bool[T] each, nothing without."""
        self.module.eval()
        masks = [np.zeros_like(one) for one in data.maskable] if masks is None else masks
        predicted = np.empty(len(masks), dtype=np.int64)
        order = np.argsort([len(ids) for ids in data.ids], kind="stable")
        with torch.inference_mode():
            for start in range(0, len(order), 64):
                indices = order[start : start + 64]
                logits = self._forward(data, indices, pad([masks[i] for i in indices]))
                predicted[indices] = logits.argmax(dim=1).cpu().numpy()
                self.progress("validating", min(start + 64, len(order)), len(order))
        return predicted

    def _forward(self, data: Tokenised, indices, masks):
        def tensor(array: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(array).to(self.device)

        ids = np.where(masks, self.mask_id, pad([data.ids[i] for i in indices]))
        lengths = np.array([len(data.ids[i]) for i in indices])
        within = (np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int64)
        types = None if data.types is None else tensor(pad([data.types[i] for i in indices]))
        embeddings = self.classifier.get_input_embeddings()(tensor(ids))
        return classify(
            self.classifier, self.architecture, embeddings, tensor(within), types, tensor(lengths), False, False
        )[0]

    def _set_rate(self, step: int) -> None:
        total = self.steps * self.plan.epochs
        warm = max(1, int(0.06 * total))
        factor = min((step + 1) / warm, max(0.0, (total - step) / max(1, total - warm)))
        for group in self.optimiser.param_groups:
            group["lr"] = self.plan.rate * factor


def _keep_reference(out: Path, plan: Plan, data: dict[str, LabelledTexts], progress, told) -> None:
    """Fit the reference of MaSF on the validation file, beside the weights; none of too few texts."""
    if len(data["validation"]) < FEWEST:
        (out / REFERENCE_FILE).unlink(missing_ok=True)
        return
    drawing = Drawing(plan.training, seed=plan.seed, compact=plan.half)
    model = load(str(out), plan.device)
    reference = fit_reference(model, data["validation"], drawing, data.get("test"), progress)
    write_reference(reference, out / REFERENCE_FILE)
    if problem := small_reference(reference):
        told(f"MaSF reference: {problem}")


def tokenise(tokenizer: Tokenizer, data: LabelledTexts, max_tokens: int) -> Tokenised:
    """Tokenise a data set, both texts of a pair maskable (FMM's code); BadData for a row that comes to nothing."""
    ids, maskable, types, cut = [], [], [], {}
    for i, read in enumerate(read_tokens(tokenizer, data.texts, data.seconds, max_tokens)):
        ids.append(read.ids)
        maskable.append(read.sides >= 0)
        types.append(read.type_ids)
        if read.cut:
            cut[i] = len(ids[i])
        if not maskable[i].any():
            row = data.rows[i] if data.rows else i + 1
            raise BadData(f"{data.name}, row {row}: the tokenizer drops the whole text. Remove it.")
    return Tokenised(ids, maskable, None if any(row is None for row in types) else types, data.labels, cut)


def batches(data: Tokenised, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Shuffled mini-batches of similar length, so that little is padded; every example once."""
    order, pool, found = rng.permutation(len(data.ids)), 64 * size, []
    lengths = np.array([len(ids) for ids in data.ids])
    for start in range(0, len(order), pool):
        chunk = order[start : start + pool]
        chunk = chunk[np.argsort(lengths[chunk], kind="stable")]
        found += [chunk[i : i + size] for i in range(0, len(chunk), size)]
    # Shuffled inside too: "every second example" must not mean "the shorter of each two".
    return iter([rng.permutation(found[i]) for i in rng.permutation(len(found))])


def read_files(plan: Plan, told: Callable[[str], None]) -> tuple[Plan, dict[str, LabelledTexts]]:
    """The plan with the columns that were read, and the files, all by the training file's columns and classes."""
    named, classes, data = {role: getattr(plan, role) for role in ("text", "second", "label")}, plan.labels or (), {}
    for split in ("train", "validation", "test"):
        if path := getattr(plan, split):
            data[split] = read_labelled(Path(path), told, named, classes)
            named, classes = data[split].columns, data[split].classes
            if len(classes) < 2:
                raise TrainingError(f"{data[split].name} has a single class, {listed(classes)}. Give at least 2.")
    if plan.further:
        data = under_classes(data, classifier_classes(plan.base), told)
    return replace(plan, **{role: column or None for role, column in named.items()}), data


def fingerprint(plan: Plan, data: dict[str, LabelledTexts], processes: int = 1) -> str:
    """Digest of all that decides the epochs of a training."""
    decisive = {
        k: v for k, v in plan.as_dict().items() if k not in ("train", "validation", "test", "out", "device", "half")
    }
    decisive["data"] = {split: texts.digest for split, texts in data.items() if split != "test"}
    decisive["weights"] = base_digest(plan.base)
    decisive |= {"processes": processes} if processes > 1 else {}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
