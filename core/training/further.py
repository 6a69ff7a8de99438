"""Training that starts from a classifier: its classes, its adapter, or a linear head on its logits alone."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from torch.nn import Linear

from core.data.browsing import match_labels
from core.data.tables import LabelledTexts
from core.evaluation.predicting import predict
from core.loading.loading import check_complete, load, merged, read_weights
from core.loading.locating import BASES, MODELS, ModelSource, bundled_bases, locate
from core.loading.lora import adapter_settings, read_adapter
from core.loading.small_files import longest_input, mask_token, read_config, read_labels, read_tokenizer
from core.mathematics.masking import bernoulli_masks
from core.mathematics.performance import METRICS
from core.network.architectures import Module, Tokenizer, UnsupportedModel, architecture_of
from core.network.features import BOTH
from core.network.model import Model
from core.training.checkpoints import TrainingError

# Masked copies of each text beside the unmasked one.
MASKINGS = 4
# Of a squared distance from the identity, beside a mean log loss: small, and what no text decides stays as it was.
RIDGE = 1e-4
Progress = Callable[[str, int, int], None]


def classifier_classes(name: str) -> tuple[str, ...]:
    """The names of a classifier's classes; UnsupportedModel as when it is loaded."""
    return read_labels(read_config(locate(name, weights=False)), name)[0]


def under_classes(
    data: dict[str, LabelledTexts], classes: tuple[str, ...], say: Callable[[str], None]
) -> dict[str, LabelledTexts]:
    """Files with a classifier's classes in place of their own; TrainingError where one of theirs is none of these."""
    found = {}
    for split, texts in data.items():
        match = match_labels(texts.classes, classes)
        others = [label for label in texts.classes if label not in match.classes]
        if others:
            raise TrainingError(
                f"{texts.name} has the classes {', '.join(texts.classes)}; the model's are {', '.join(classes)}. "
                "Name the file's classes with --labels as the model does, in their order."
            )
        if match.how and split == "train":
            say(match.how)
        places = np.array([match.classes[label] for label in texts.classes], dtype=np.int64)
        found[split] = replace(texts, labels=places[texts.labels], classes=classes)
    return found


def base_of(name: str) -> str:
    """What an adapter made from a classifier names as its base: the base of its own adapter, else itself."""
    source = locate(name, weights=False)
    if source.adapter is None:
        return name
    if source.base.parent == BASES.resolve() and source.base.name in bundled_bases():
        return source.base.name
    return source.base.name if source.base.parent == MODELS.resolve() else source.base_id or str(source.base)


def load_further(
    name: str, method: str, rank: int, seed: int, add: Callable[[Module, int, int], Module]
) -> tuple[Module, Tokenizer, int, int]:
    """As `core.training.bases.load_base`, of a classifier with its trained head.

    Its own adapter is trained on, as it is; without one, `add` puts a new one of `rank` on it (method "lora").

    Returns:
        module, tokenizer, mask token id, longest input in tokens.
    Raises:
        UnsupportedModel: a sentence on what is wrong with the classifier.
    """
    source = locate(name)
    config, tokenizer = read_config(source), read_tokenizer(source)
    mask_id, _ = mask_token(tokenizer, name)
    if config.pad_token_id is None:
        config.pad_token_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else mask_id
    labels = read_labels(config, name)[0]
    config.id2label, config.label2id = dict(enumerate(labels)), {label: i for i, label in enumerate(labels)}
    torch.manual_seed(seed)
    module, missing = read_weights(source, config, torch.float32)
    found = adapter_settings(source.adapter_files) if source.adapter_files else None
    if found is None:
        check_complete(source, missing)
        module = add(module, mask_id, rank) if method == "lora" else module
    else:
        module = _adapted(module, source, found, missing, method)
    return module, tokenizer, mask_id, longest_input(tokenizer, config, architecture_of(config.model_type))


def _adapted(module: Module, source: ModelSource, settings: dict, missing: set[str], method: str) -> Module:
    """A base with its adapter: added for good, or still apart and to be trained."""
    assert source.adapter_files is not None
    tensors = read_adapter(source.adapter_files)
    if method != "lora":
        check_complete(source, missing - merged(module, source, settings, tensors))
        return module
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict

    known: dict[str, Any] = {key: value for key, value in settings.items() if key in LoraConfig.__dataclass_fields__}
    # Its base is what it is put on; PEFT warns of another name.
    known |= {"inference_mode": False, "base_model_name_or_path": None}
    made = get_peft_model(module, LoraConfig(**known))
    odd = set_peft_model_state_dict(made, tensors).unexpected_keys
    if odd:
        raise UnsupportedModel(f"PEFT cannot read the adapter {source.name!r} ({odd[0]}). Save it again with PEFT.")
    return made


@dataclass(frozen=True)
class LinearHead:
    """weight: float64[C, C]; bias: float64[C]; logits z become weight · z + bias."""

    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, logits: np.ndarray) -> np.ndarray:
        """Logits [N, C] through the head, float64[N, C]."""
        return logits @ self.weight.T + self.bias


def log_loss(logits: np.ndarray, labels: np.ndarray) -> float:
    """Mean negative log probability of the labels int64[N] under logits [N, C], at least 0; lower is better."""
    return float(-log_softmax(logits.astype(np.float64), axis=1)[np.arange(len(labels)), labels].mean())


def fit_linear_head(logits: np.ndarray, labels: np.ndarray, bias: bool = True) -> LinearHead:
    """The linear head of the least log loss, with a slight pull towards none.

    Args:
        logits: [N, C], finite, of masked and unmasked inputs alike; labels: int64[N], what each text is.
        bias: False keeps it at zero.
    Returns:
        a head whose log loss on these logits is at most that of the logits themselves.
    Raises:
        ValueError: nothing to fit, or logits that are not finite.
    Source: Missingness Bias Calibration (arXiv 2603.04831), matrix scaling as in Guo et al. (2017) §4.2.
    """
    N, C = logits.shape
    if not N or len(labels) != N:
        raise ValueError(f"{N} rows of logits need as many labels and at least one, got {len(labels)}")
    if not np.isfinite(logits).all():
        raise ValueError("the logits hold NaN or infinity")
    given, meant, none = logits.astype(np.float64), np.eye(C)[labels], np.eye(C).ravel()

    def head_of(values: np.ndarray) -> LinearHead:
        return LinearHead(values[: C * C].reshape(C, C), values[C * C :] if bias else np.zeros(C))

    def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
        head = head_of(values)
        found, away = head(given), values - start
        off = (softmax(found, axis=1) - meant) / N
        slope = np.concatenate([(off.T @ given).ravel(), *([off.sum(axis=0)] if bias else [])])
        return log_loss(found, labels) + RIDGE / 2 * float(away @ away), slope + RIDGE * away

    start = np.concatenate([none, np.zeros(C if bias else 0)])
    return head_of(minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x)


def calibrated(
    name: str, data: dict[str, LabelledTexts], metric: str, seed: int, width: int, device: str, progress: Progress
) -> tuple[Module, Tokenizer, str, dict[str, float]]:
    """A frozen classifier with a linear head on its logits, fitted on texts as they are and masked at random.

    Args:
        data: "train", which it is fitted on, and "validation", classes as the model's; width: longest input in tokens.
    Returns:
        the module, its tokenizer, what is to be saved ("lora": an adapter, "full": all of it), and what a card says of
        an epoch, `loss_before` beside.
    Raises:
        UnsupportedModel: a sentence on why its head takes none.
        ValueError: its logits are not finite.
    Source: arXiv 2603.04831; masks as FMM, Alg. 1.
    """
    clock, model = time.perf_counter(), load(name, device)
    model.max_tokens = min(model.max_tokens, width)
    bias = last_layer(model.module, model.C)[1].bias is not None
    logits, labels = _drawn(model, data["train"], MASKINGS, seed, lambda a, b: progress("calibrating", a, b))
    head = fit_linear_head(logits.reshape(-1, model.C), np.repeat(labels, 1 + MASKINGS), bias)
    about = {"epoch": 1, "loss_before": log_loss(logits.reshape(-1, model.C), np.repeat(labels, 1 + MASKINGS))}
    about["loss"] = log_loss(head(logits.reshape(-1, model.C)), np.repeat(labels, 1 + MASKINGS))
    held, meant = _drawn(model, data["validation"], 1, seed, lambda a, b: progress("validating", a, b))
    found, score = head(held).argmax(axis=2), METRICS[metric]
    about |= {"unmasked": score(meant, found[:, 0]), "masked": score(meant, found[:, 1])}
    about["both"] = about["selection"] = score(np.repeat(meant, 2), found.ravel())
    module, tokenizer, method = _with_head(name, head)
    return module, tokenizer, method, about | {"seconds": time.perf_counter() - clock}


def _drawn(
    model: Model, data: LabelledTexts, maskings: int, seed: int, progress: Callable[[int, int], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Logits [N, 1 + maskings, C] of texts as they are and masked at random, and their classes int64[N]."""
    rng, seconds = np.random.default_rng([seed, 3]), data.seconds or [None] * len(data)
    encoded = [model.encode(text, other, "token", BOTH) for text, other in zip(data.texts, seconds)]
    masks = []
    for one in encoded:
        drawn = bernoulli_masks(np.ones((maskings, one.F), dtype=bool), rng)
        masks += [np.zeros(one.F, dtype=bool), *drawn]
    inputs = [one for one in encoded for _ in range(1 + maskings)]
    logits = predict(model, inputs, masks, progress=progress)
    return logits.reshape(len(data), 1 + maskings, model.C), data.labels


def _with_head(name: str, head: LinearHead) -> tuple[Module, Tokenizer, str]:
    """A classifier whose last layer gives what the head gives; as an adapter where it is one that brings that layer."""
    source, C = locate(name), len(head.bias)
    for method in ("lora", "full") if source.adapter else ("full",):
        module, tokenizer, *_ = load_further(name, method, 0, 0, lambda module, *_: module)
        layer_name, layer = last_layer(module, C)
        # Of an adapter only what it brings whole is saved.
        if method == "full" or "modules_to_save" in layer_name:
            break
    put_head(layer, head)
    return module, tokenizer, method


def last_layer(module: Module, C: int) -> tuple[str, Linear]:
    """The name and the layer that gives the logits; UnsupportedModel where the last layer is none for C classes."""
    found = [(name, child) for name, child in module.named_modules() if isinstance(child, Linear)]
    if not found or found[-1][1].out_features != C:
        raise UnsupportedModel(
            "The head does not end in a linear layer, so it cannot be calibrated. Use --method lora."
        )
    return found[-1]


def put_head(layer: Linear, head: LinearHead) -> None:
    """Have a layer give what the head gives for its logits: W (A h + a) + b = (W A) h + (W a + b)."""
    with torch.no_grad():
        weight = torch.from_numpy(head.weight)
        if layer.bias is not None:
            layer.bias.copy_(weight @ layer.bias.double() + torch.from_numpy(head.bias))
        layer.weight.copy_(weight @ layer.weight.double())
