"""Pretrained bases to fine-tune: load one with a fresh head, and write what training made of it."""

import json
import os
from pathlib import Path

import torch

from core.loading.loading import read_weights
from core.loading.locating import BASES, ModelSource, bundled_bases, digest, locate
from core.loading.model_files import ADAPTER, INDEX, WEIGHTS
from core.loading.small_files import longest_input, mask_token, read_config, read_tokenizer
from core.network.architectures import BILSTM, Module, Tokenizer, UnsupportedModel, architecture_of
from core.storage.files import whole_folder
from core.training.checkpoints import TrainingError
from core.training.stand_ins import ADDED, END, choose_mask, make_room, unfreeze_padding


def load_base(
    name: str, labels: tuple[str, ...], method: str, rank: int, seed: int, stand_in: str = END
) -> tuple[Module, Tokenizer, int, int]:
    """Load a pretrained encoder or decoder with a classification head, in float32.

    The head is fresh unless the base has one for as many classes, which is then trained on.

    Args:
        name: a bundled base, a folder or a hub id.
        labels: C class names.
        method: "full" trains everything; "lora" trains rank-`rank` adapters on every linear layer,
            the head, and the mask token's embedding.
        seed: of the head's and the adapters' initial values.
        stand_in: what masks where the base has no mask token, one of `core.training.stand_ins.STAND_INS`.
    Returns:
        module with its trainable parameters marked, tokenizer, mask token id, longest input in tokens.
    Raises:
        UnsupportedModel: a sentence on what is wrong with the base.
    """
    source = _locate_base(name)
    if source.adapter:
        raise UnsupportedModel(f"{name!r} is an adapter. Give its base.")
    config, tokenizer = read_config(source), read_tokenizer(source)
    architecture = architecture_of(config.model_type)
    config.id2label, config.label2id = dict(enumerate(labels)), {label: i for i, label in enumerate(labels)}
    torch.manual_seed(seed)
    choose_mask(tokenizer, stand_in, name)
    mask_id, _ = mask_token(tokenizer, name)
    if config.pad_token_id is None:
        # An added mask token has no row yet.
        given = (tokenizer.pad_token_id, tokenizer.eos_token_id, mask_id)
        config.pad_token_id = next(one for one in given if one is not None)
    # A head for another number of classes is left behind.
    module, _ = read_weights(source, config, torch.float32, ignore_mismatched_sizes=True)
    if stand_in == ADDED:
        make_room(module, tokenizer, method, name)
    unfreeze_padding(module, mask_id)
    if method == "lora":
        module = with_lora(module, mask_id, rank)
    return module, tokenizer, mask_id, longest_input(tokenizer, config, architecture)


def check_out(out: Path, method: str, base: str | None = None) -> None:
    """TrainingError where a folder to write is that of the base (None: nothing is read), or holds another kind."""
    others = {"full": (ADAPTER,), "lora": (WEIGHTS, INDEX)}.get(method, ())
    own = None if base is None else BASES / base if base in bundled_bases() else Path(base).expanduser()
    if own is not None and os.path.isdir(own) and os.path.isdir(out) and os.path.samefile(own, out):
        raise TrainingError(f"{str(out)!r} is the folder of the base. Choose another --out.")
    if any((out / other).exists() for other in others):
        raise TrainingError(f"{str(out)!r} holds another kind of model. Empty it or choose another --out.")


def base_digest(name: str) -> str:
    """SHA-256 of a base's weights, configuration and tokenizer; UnsupportedModel if it is not there."""
    # What is made of the training texts has no files.
    return BILSTM if name == BILSTM else digest(_locate_base(name))


def save_trained(
    module: Module,
    tokenizer: Tokenizer,
    out: Path,
    base: str,
    method: str,
    labels: tuple[str, ...],
    half: bool,
    stand_in: str = END,
) -> Path:
    """Write a model's folder; what is there stays until all is written. half: weights in half precision."""
    with whole_folder(out) as made:
        (module.to(torch.float16) if half else module).save_pretrained(made)
        # An adapter has its base's, unless another token masks.
        if method == "full" or stand_in != END:
            tokenizer.save_pretrained(made)
        if method != "full":
            _finish_adapter(made, base, labels)
    return out


def _finish_adapter(out: Path, base: str, labels: tuple[str, ...]) -> None:
    """What an adapter's configuration says, made the same for every run, with its base and its classes."""
    path = out / ADAPTER
    found = json.loads(path.read_text(encoding="utf-8"))
    # PEFT writes sets and lists in no fixed order; the model's digest needs one.
    for key, value in found.items():
        if isinstance(value, list) and all(isinstance(x, str) for x in value):
            found[key] = sorted(value)
    own = base not in bundled_bases() and Path(base).is_dir()
    found["base_model_name_or_path"] = str(Path(base).resolve()) if own else base
    found["faithscope_labels"] = list(labels)
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (out / "README.md").unlink(missing_ok=True)


def _locate_base(name: str) -> ModelSource:
    return locate(str(BASES / name) if name in bundled_bases() else name)


def with_lora(module: Module, mask_id: int, rank: int) -> Module:
    """The module with adapters on every linear layer, the head and the mask token's embedding to be trained."""
    from peft import LoraConfig, get_peft_model

    body = module.base_model_prefix
    inner = [
        name
        for name, child in module.named_modules()
        if name.startswith(f"{body}.") and ".pooler" not in name and type(child).__name__ in ("Linear", "Conv1D")
    ]
    heads = [name for name, child in module.named_children() if name != body and any(True for _ in child.parameters())]
    if getattr(module.base_model, "pooler", None) is not None:
        heads.append("pooler")
    embeddings = next(name for name, child in module.named_modules() if child is module.get_input_embeddings())
    if not inner:
        raise UnsupportedModel("This base has no linear layers for an adapter.")
    config = LoraConfig(
        r=rank,
        lora_alpha=rank,
        lora_dropout=0.05,
        target_modules=inner,
        modules_to_save=heads,
        trainable_token_indices={embeddings: [mask_id]},
        bias="none",
        task_type=None,
        fan_in_fan_out=module.config.model_type == "gpt2",
    )
    return get_peft_model(module, config)
