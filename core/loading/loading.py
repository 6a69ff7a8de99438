"""Load a model whose files were found: weights, an adapter on top of them, and what the small files say."""

import contextlib
import threading
from collections.abc import Generator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.loading.heads import with_both_rows
from core.loading.locating import ModelSource, digest, locate, split_label
from core.loading.lora import adapter_settings, merge_adapter, read_adapter
from core.loading.model_files import COPY_AGAIN, SAVE_AGAIN, WEIGHTS_ENDING, cannot_read, parse_json, weight_files
from core.loading.small_files import read_parts
from core.mathematics.masking import TRAINING_STRATEGIES
from core.mathematics.performance import METRICS
from core.measures.catalogue import measures
from core.network.architectures import Config, Module, Tensor, UnsupportedModel, architecture_of, is_scale_free
from core.network.devices import check_room
from core.network.halves import round_parameters
from core.network.memory import IMPORTING, hand_back_freed_memory, keep_freed_memory
from core.network.model import MULTI_LABEL, Model
from core.network.one_label import SIGN, read_label
from core.storage import hub
from core.storage.files import read_plain
from core.wording import in_short, listed

_NO_WEIGHTS = "lacks safetensors weights on the hub. Choose another model."
_MOST_CARD = 1_000_000
# Figures of other weights are none of these: training writes the card last, and files are exchanged by hand.
OTHER_CARD = "Its card.json is not used: it was written for other weights or files."
_BUILDING = threading.RLock()


def load(name: str, device: str = "auto", precision: str = "float32") -> Model:
    """Load a classifier, frozen, on the chosen device.

    Weights come from safetensors only, no code of the model's folder runs, and a checkpoint in
    half precision is computed in `precision` all the same.

    Args:
        name: a bundled name, a folder, a hub id, or any of these holding a LoRA adapter.
        device: "auto" (cuda, else mps, else cpu) or a torch device.
        precision: "float32", "bfloat16" or "float16".
    Raises:
        UnsupportedModel: a sentence on what is wrong with the model and what to do.
    """
    with IMPORTING:
        import torch

    where = choose_device(device)
    # Whatever small files can refuse is refused before weights are fetched.
    parts = read_parts(locate(name, weights=False))
    source = locate(name)
    if source != parts.source:
        parts = read_parts(source)
    # The same files all along: what was read of them is what the digest holds.
    source = parts.source
    for files in source.files:
        files.look_for_weights()
    module = _module(source, parts.config, getattr(torch, precision))
    notes = parts.notes
    architecture = architecture_of(module.config.model_type)
    _put(module, where, name)
    if is_scale_free(architecture, module.config):
        less = ", and ".join(measure.scale_free.note for measure in measures().values() if measure.scale_free)
        notes += (f"Word embeddings are normalised, so {less}.",)
    found, card = digest(source), training_card(source.top)
    if card is not None and card.get("weights_sha256") != found:
        card, notes = None, (*notes, OTHER_CARD)
    name, label = split_label(name)
    model = Model(
        name,
        found,
        module,
        parts.tokenizer,
        architecture,
        where,
        precision,
        parts.labels,
        parts.mask_id,
        parts.max_tokens,
        notes,
        card,
        source.top,
        name,
    )
    return _of_label(model, label)


def _of_label(model: Model, label: str) -> Model:
    """The model of one label, the first where none is named; a model of classes as it is. UnsupportedModel: no such."""
    several = getattr(model.module.config, "problem_type", None) == MULTI_LABEL
    if label and label not in (model.labels if several else ()):
        offered = f"It has {listed(model.labels, 10)}." if several else f"Leave out “{SIGN}{label}”."
        raise UnsupportedModel(f"{model.name!r} has no label {label!r}. {offered}")
    if not several:
        return model
    read = read_label(model, model.labels.index(label) if label else 0)
    first = model.labels[0]
    note = f"Of {len(model.labels)} labels {first} is read unless one is named, as in {model.name}{SIGN}{first}."
    return read if label else replace(read, name=model.name, origin=model.origin, notes=(*model.notes, note))


def _put(module: Module, where: str, name: str) -> None:
    """Put a module, frozen, on its device; UnsupportedModel with a sentence where it does not fit."""
    check_room(module.eval().requires_grad_(False), where, name)
    try:
        module.to(where)
    except RuntimeError as error:
        raise UnsupportedModel(
            f"{name!r} does not fit on {where} ({in_short(error)}). Set FAITHSCOPE_DEVICE or FAITHSCOPE_PRECISION."
        ) from error
    if where == "cpu":
        keep_freed_memory()
    # The weights in the precision of the file, where that is another.
    hand_back_freed_memory()


def choose_device(device: str) -> str:
    """Resolve "auto" to cuda, mps or cpu; UnsupportedModel if the device asked for is not there."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    there = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available, "cpu": lambda: True}
    kind, _, index = device.partition(":")
    numbered = kind == "cuda" and index.isascii() and index.isdigit() and int(index) < torch.cuda.device_count()
    if kind not in there or not there[kind]() or not (numbered or device == kind):
        raise UnsupportedModel(f"Device {device!r} is not available. Set FAITHSCOPE_DEVICE to auto, cuda, mps or cpu.")
    return device


def _module(source: ModelSource, config, dtype):
    import torch

    files = source.adapter_files
    adapter = adapter_settings(files) if files else None
    # The adapter is added in float32 and the sum rounded once.
    module, missing = read_weights(source, config, torch.float32 if adapter else dtype)
    if files and adapter:
        missing -= merged(module, source, adapter, read_adapter(files))
    check_complete(source, missing)
    if adapter:
        round_parameters(module, dtype)
    return module


def merged(module: Module, source: ModelSource, adapter: dict, tensors: dict) -> set[str]:
    """Names of the parameters that an adapter brings whole, once added; UnsupportedModel where it does not fit."""
    try:
        return merge_adapter(module, source.top, adapter, tensors)
    except UnsupportedModel:
        raise
    except Exception as error:
        raise UnsupportedModel(
            f"The adapter {source.name!r} cannot be added to its base ({in_short(error)}). Save it again with PEFT."
        ) from error


def check_complete(source: ModelSource, missing: set[str]) -> None:
    """UnsupportedModel with a sentence if parameters are left without trained weights."""
    if missing:
        raise UnsupportedModel(
            f"{source.name!r} lacks trained weights for {', '.join(sorted(missing)[:3])}. "
            "Give a fine-tuned classifier, or run `python -m core train`."
        )


def read_weights(source: ModelSource, config: Config, dtype: Any, **more: Any) -> tuple[Module, set[str]]:
    """The module, and the names of the parameters that the files lack."""
    named = weights_of(source, config)
    try:
        tensors: dict[str, Tensor] = {}
        for name in named:
            tensors |= source.base_files.tensors(name)
        return build_classifier(config, tensors, dtype=dtype, **more)
    except Exception as error:
        raise unreadable(source.name, error) from error


def build_classifier(config: Config, tensors: dict[str, Tensor], **more: Any) -> tuple[Module, set[str]]:
    """A classifier of tensors as files of weights hold them, and the names of the parameters that these lack."""
    from transformers import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING

    return build_module(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING, config, tensors, **more)


def build_module(
    families: Mapping[Any, Any], config: Config, tensors: dict[str, Tensor], **more: Any
) -> tuple[Module, set[str]]:
    """The module of a configuration's family, of tensors as files of weights hold them, and the names of the parameters
    that these lack.

    transformers does all that it does when it loads (it renames, converts and compares) and reads no file.
    """
    # Training leaves behind a head that does not fit.
    if not more.get("ignore_mismatched_sizes"):
        tensors = with_both_rows(config, tensors)
    name, family = config.name_or_path, families[type(config)]
    with building():
        module, report = family.from_pretrained(
            None,
            config=config,
            state_dict=tensors,
            output_loading_info=True,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            **more,
        )
    # PEFT looks there for the base of what it saves, and asks the hub where there is no folder.
    module.name_or_path = module.config.name_or_path = name
    return module, set(report["missing_keys"])


def unreadable(name: str, error: Exception) -> UnsupportedModel:
    """The error of weights that a library could not read."""
    return cannot_read("A weights file", name, error, COPY_AGAIN)


def weights_of(source: ModelSource, config: Config) -> tuple[str, ...]:
    """Names of the base's files of weights; UnsupportedModel with a sentence if they cannot be read."""
    try:
        return weight_files(source.base_files, config)
    except UnsupportedModel:
        raise
    except Exception as error:
        fetched = source.base_id is not None and isinstance(error, FileNotFoundError)
        if not fetched and any(name.endswith(WEIGHTS_ENDING) for name in source.base_files.names):
            raise unreadable(source.name, error) from error
        if any(source.base.glob("*.bin")) or any(source.base.glob("*.pt")):
            problem = f"{source.name!r} has only pickle weights, no safetensors. {SAVE_AGAIN}"
        elif source.base_id:
            problem = f"{source.base_id!r} {_NO_WEIGHTS if hub.answers(source.base_id) else hub.UNREACHED}"
        else:
            problem = f"{source.name!r} holds no model.safetensors. {SAVE_AGAIN}"
        raise UnsupportedModel(problem) from error


def training_card(folder: Path) -> dict | None:
    """A card as training writes it; None where there is none, or where it holds something else."""
    try:
        found = parse_json(read_plain(folder / "card.json", _MOST_CARD))
        shown, plan = found["performance"], found["plan"]
        numbers = [*shown["masked"], *shown["ratios"], shown["class_majority"], shown["examples"], found["seconds"]]
        fine = (
            len(shown["masked"]) == len(shown["ratios"]) > 1
            and all(isinstance(n, int | float) for n in numbers)
            and plan["training"] in TRAINING_STRATEGIES
            and shown["metric"] in METRICS
            and shown["examples"] > 0
            and all(isinstance(text, str) for text in (shown["split"], plan["base"], plan["method"], found["machine"]))
            and plan["epochs"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if fine else None


@contextlib.contextmanager
def building() -> Generator[None]:
    """Build modules one at a time and without transformers' load report and progress bar; problems become sentences.

    While it builds a module, transformers changes torch's default dtype and its initialisers for the whole process.
    """
    from transformers.utils import logging

    with _BUILDING:
        level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(level)
            if bar:
                logging.enable_progress_bar()
