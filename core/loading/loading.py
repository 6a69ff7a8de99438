"""Find and load a model: bundled name, local folder, hub id, or a LoRA adapter of any of these."""

import contextlib
import hashlib
import json
import threading
from dataclasses import dataclass
from pathlib import Path

from core import settings
from core.loading.lora import adapter_settings, merge_adapter
from core.mathematics.masking import TRAINING_STRATEGIES
from core.mathematics.performance import METRICS
from core.network.architectures import UnsupportedModel, architecture_of, is_scale_free
from core.network.halves import round_parameters
from core.network.memory import keep_freed_memory
from core.network.model import Model
from core.storage import hub
from core.wording import in_short

MODELS, BASES = settings.BUNDLED / "models", settings.BUNDLED / "bases"
REFERENCE_FILE = "masf.safetensors"
_NOT_PART_OF_RESULTS = {REFERENCE_FILE, "README.md", "card.json", "SOURCE.md", "LICENSE", "LICENSE.txt", "NOTICE"}
# Beyond these a configuration is damaged or hostile, and building its module would take forever.
_MOST = {"num_labels": 10_000} | dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers"), 1_000)
_BUILDING = threading.RLock()


@dataclass(frozen=True)
class ModelSource:
    """Where a model's files lie: the folder with weights, its adapter's folder if it is one, and the hub ids of those
    that came from there.
    """

    name: str
    base: Path
    adapter: Path | None
    base_id: str | None = None
    adapter_id: str | None = None

    @property
    def top(self) -> Path:
        """The folder that was asked for."""
        return self.adapter or self.base


def bundled_models() -> list[str]:
    """Names of the models that ship with the project, sorted."""
    return sorted(folder.name for folder in MODELS.iterdir() if folder.is_dir()) if MODELS.is_dir() else []


def bundled_bases() -> list[str]:
    """Names of the pretrained bases that ship with the project, sorted."""
    return sorted(folder.name for folder in BASES.iterdir() if folder.is_dir()) if BASES.is_dir() else []


def locate(name: str, weights: bool = True) -> ModelSource:
    """Find a model's files, fetching them from the hub where the name is neither bundled nor a folder.

    Args:
        name: a bundled name, a folder, or a hub id `owner/model`.
        weights: fetch the weights too; without them configuration and tokenizer only.
    Raises:
        UnsupportedModel: nothing is found there, or an adapter's base is missing; the message
            says what was tried.
    """
    top, top_id = _folder_of(name, None, weights)
    adapter = adapter_settings(top)
    if adapter is None:
        return ModelSource(name, top, None, top_id)
    base = adapter.get("base_model_name_or_path")
    if not base:
        raise UnsupportedModel(
            f"The adapter {name!r} does not name its base model. Add base_model_name_or_path to its "
            f"adapter_config.json."
        )
    try:
        folder, base_id = _folder_of(base, top, weights)
    except UnsupportedModel as error:
        raise UnsupportedModel(
            f"The adapter {name!r} needs its base model {_shown(base)}, which was not found. {error}"
        ) from error
    if adapter_settings(folder) is not None:
        raise UnsupportedModel(
            f"The base of the adapter {name!r} is an adapter itself. Merge that one into its own base with PEFT, and "
            f"name the merged folder."
        )
    return ModelSource(name, folder, top, base_id, top_id)


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
    import torch

    where = choose_device(device)
    # Whatever small files can refuse is refused before weights are fetched.
    parts = read_parts(locate(name, weights=False))
    source = locate(name)
    if source != parts.source:
        parts = read_parts(source)
    module = _module(source, parts.config, getattr(torch, precision))
    notes = parts.notes
    architecture = architecture_of(module.config.model_type)
    try:
        module.eval().requires_grad_(False).to(where)
    except RuntimeError as error:
        raise UnsupportedModel(
            f"{name!r} does not fit on {where} ({in_short(error)}). Set FAITHSCOPE_DEVICE=cpu, or "
            f"FAITHSCOPE_PRECISION=bfloat16."
        ) from error
    if where == "cpu":
        keep_freed_memory()
    if is_scale_free(architecture, module.config):
        notes += (
            "This family normalises its word embeddings before anything else, so input × gradient is zero up to "
            "rounding here, "
            "and integrated gradients start from the mask token instead of zero.",
        )
    return Model(
        name,
        digest(source),
        module,
        parts.tokenizer,
        architecture,
        where,
        precision,
        parts.labels,
        parts.mask_id,
        parts.max_tokens,
        notes,
        _card(source.top),
        source.top,
    )


@dataclass(frozen=True, eq=False)
class Parts:
    """What a model's small files say: everything but its weights."""

    source: ModelSource
    config: object
    tokenizer: object
    labels: tuple[str, ...]
    mask_id: int
    max_tokens: int
    notes: tuple[str, ...]


def read_parts(source: ModelSource) -> Parts:
    """Read configuration and tokenizer; UnsupportedModel with a sentence if they rule the model out."""
    config = read_config(source)
    labels = read_labels(config, source.name)
    tokenizer = read_tokenizer(source)
    mask_id, notes = mask_token(tokenizer, source.name)
    most = longest_input(tokenizer, config, architecture_of(config.model_type))
    check_vocabulary(tokenizer, mask_id, config, source.name)
    return Parts(source, config, tokenizer, labels, mask_id, most, notes)


def choose_device(device: str) -> str:
    """Resolve "auto" to cuda, mps or cpu; UnsupportedModel if the device asked for is not there."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    there = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available, "cpu": lambda: True}
    kind = device.partition(":")[0]
    if kind not in there:
        raise UnsupportedModel(f"Device {device!r} is unknown. Set FAITHSCOPE_DEVICE to auto, cuda, mps or cpu.")
    if not there[kind]() or not _is_there(device, kind):
        raise UnsupportedModel(
            f"Device {device!r} is not available on this machine. Set FAITHSCOPE_DEVICE to auto or cpu."
        )
    return device


def _is_there(device: str, kind: str) -> bool:
    import torch

    index = device.partition(":")[2]
    return (
        device == kind
        or kind == "cuda"
        and index.isascii()
        and index.isdigit()
        and int(index) < torch.cuda.device_count()
    )


def digest(source: ModelSource) -> str:
    """SHA-256 over the files that decide a model's results: weights, configuration, tokenizer."""
    total = hashlib.sha256()
    for folder in filter(None, (source.base, source.adapter)):
        for path in sorted(p for p in folder.iterdir() if p.is_file() and p.name not in _NOT_PART_OF_RESULTS):
            if path.suffix in (".safetensors", ".json", ".txt", ".model"):
                with path.open("rb") as file:
                    total.update(path.name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _folder_of(name: str, near: Path | None, weights: bool) -> tuple[Path, str | None]:
    """The folder, and the hub id where it came from there."""
    if name in bundled_models():
        return MODELS / name, None
    if not isinstance(name, str) or not name.strip() or len(name) > 4000:
        raise UnsupportedModel("The model has no usable name. Give a bundled name, a folder or a hub id.")
    places = [BASES / name] if near and name in bundled_bases() else []
    places += [near / name] if near else []
    try:
        for place in [*places, Path(name).expanduser()]:
            if place.is_dir():
                next(place.iterdir(), None)
                return place.resolve(), None
            if place.is_file():
                raise UnsupportedModel(f"{_shown(name)} is a file. Give the folder that holds the model's files.")
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, UnsupportedModel):
            raise
        raise UnsupportedModel(
            f"The folder {_shown(name)} cannot be opened ({in_short(error)}). Check its name and that it may be read."
        ) from error
    if name.startswith((".", "/", "~")) or "\\" in name or name.count("/") > 1:
        raise UnsupportedModel(
            f"There is no folder {_shown(name)}. Give a bundled name ({', '.join(bundled_models())}), a folder or a "
            f"hub id."
        )
    try:
        return hub.fetch(name, weights), name
    except hub.HubError as error:
        raise UnsupportedModel(str(error)) from error


def _shown(name) -> str:
    said = repr(name)
    return said if len(said) <= 200 else f"{said[:200]}…"


def read_tokenizer(source: ModelSource):
    """The fast tokenizer of a model's files; UnsupportedModel with a sentence where there is none."""
    from transformers import AutoTokenizer

    folder = source.adapter if source.adapter and (source.adapter / "tokenizer_config.json").exists() else source.base
    if not any(
        (folder / f).exists() for f in ("tokenizer.json", "vocab.txt", "vocab.json", "spm.model", "spiece.model")
    ):
        raise UnsupportedModel(
            f"{source.name!r} has no tokenizer files. Save the tokenizer into its folder (tokenizer.save_pretrained)."
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise UnsupportedModel(
            f"The tokenizer of {source.name!r} cannot be read ({in_short(error)}). Save it again with "
            f"tokenizer.save_pretrained."
        ) from error
    if not tokenizer.is_fast:
        raise UnsupportedModel(
            f"The tokenizer of {source.name!r} gives no character offsets. Convert it to a fast tokenizer "
            f"(tokenizer.json)."
        )
    return tokenizer


def _module(source: ModelSource, config, dtype):
    import torch

    check_weights(source)
    adapter = adapter_settings(source.adapter) if source.adapter else None
    # The adapter is added in float32 and the sum rounded once.
    module, missing = read_weights(source, config, torch.float32 if adapter else dtype)
    if adapter:
        missing -= merged(module, source, adapter)
    check_complete(source, missing)
    if adapter:
        round_parameters(module, dtype)
    return module


def merged(module, source: ModelSource, adapter: dict, tensors: dict | None = None) -> set[str]:
    """Add the adapter to a module; names of the parameters that it brought whole, UnsupportedModel with a sentence if
    it does not fit.
    """
    try:
        return merge_adapter(module, source.adapter, adapter, tensors)
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
            "Give a model fine-tuned for classification, or train one with `python -m core train`."
        )


def read_config(source: ModelSource):
    """The configuration of a supported family, with an adapter's classes; UnsupportedModel with a sentence
    otherwise.
    """
    from transformers import AutoConfig

    try:
        found = json.loads((source.base / "config.json").read_text(encoding="utf-8"))
        kind = str(found["model_type"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnsupportedModel(
            f"{source.name!r} has no readable config.json ({in_short(error)}). Save the model again with "
            f"save_pretrained."
        ) from error
    architecture_of(kind)
    try:
        for key, most in _MOST.items():
            if isinstance(found.get(key), int | float) and found[key] > most:
                raise ValueError(f"{key} is over {most:,}")
        config = AutoConfig.from_pretrained(source.base, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise UnsupportedModel(
            f"The config.json of {source.name!r} cannot be used ({in_short(error)}). Save the model again with "
            f"save_pretrained."
        ) from error
    adapter = adapter_settings(source.adapter) if source.adapter else None
    if adapter and adapter.get("faithscope_labels") is not None:
        config.id2label, config.label2id = _label_maps(adapter["faithscope_labels"], source.name)
    return config


def read_weights(source: ModelSource, config, dtype, **more):
    """The module, and the names of the parameters that the files lack."""
    from transformers import AutoModelForSequenceClassification

    with building():
        try:
            module, report = AutoModelForSequenceClassification.from_pretrained(
                source.base,
                config=config,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                dtype=dtype,
                output_loading_info=True,
                **more,
            )
        except Exception as error:
            raise unreadable(source.name, error) from error
    return module, set(report["missing_keys"])


def unreadable(name: str, error: Exception) -> UnsupportedModel:
    """The sentence for weights that a library could not read."""
    return UnsupportedModel(
        f"The weights of {name!r} cannot be read ({in_short(error)}). The file may be cut short: copy or download it "
        f"again."
    )


def check_weights(source: ModelSource) -> None:
    """UnsupportedModel with a sentence unless the base has safetensors weights."""
    if any(path.name != REFERENCE_FILE for path in source.base.glob("*.safetensors")):
        return
    if any(source.base.glob("*.bin")) or any(source.base.glob("*.pt")):
        raise UnsupportedModel(
            f"{source.name!r} has its weights as pickle only, which can run code when read. "
            "Save it again with save_pretrained, which writes model.safetensors."
        )
    if source.base_id:
        raise UnsupportedModel(
            f"The hub gave no safetensors weights of {source.base_id!r}: it has none, or could not be reached. "
            "Connect to the network, or choose a model with model.safetensors."
        )
    raise UnsupportedModel(f"{source.name!r} holds no model.safetensors. Give the folder that save_pretrained wrote.")


def _label_maps(labels, name: str) -> tuple[dict[int, str], dict[str, int]]:
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise UnsupportedModel(
            f"The classes of the adapter {name!r} are no list of names. Write faithscope_labels in its "
            f"adapter_config.json as a list."
        )
    return dict(enumerate(labels)), {label: i for i, label in enumerate(labels)}


def read_labels(config, name: str) -> tuple[str, ...]:
    """Names of the classes, each its own; UnsupportedModel with a sentence if there are fewer than two."""
    if config.num_labels < 2:
        raise UnsupportedModel(
            f"{name!r} has {config.num_labels} output; attributions need a classifier with at least 2 classes."
        )
    found: list[str] = []
    for i in range(config.num_labels):
        label = str(config.id2label.get(i, f"class {i}"))
        # Classes are chosen by their names, so each needs its own; "predicted" is the sidebar's word.
        found.append(label if label not in (*found, "predicted") else f"{label} ({i})")
    return tuple(found)


def mask_token(tokenizer, name: str) -> tuple[int, tuple[str, ...]]:
    """The token that masks, and a note where the end of sequence has to stand in (NAOPC §4); UnsupportedModel if there
    is neither.
    """
    if tokenizer.mask_token_id is not None:
        return tokenizer.mask_token_id, ()
    if tokenizer.eos_token_id is None:
        raise UnsupportedModel(
            f"The tokenizer of {name!r} has neither a mask token nor an end-of-sequence token, so nothing can be "
            f"masked. "
            "Choose a model whose tokenizer has one."
        )
    return tokenizer.eos_token_id, (
        f"This model has no mask token; its end-of-sequence token {tokenizer.eos_token} stands in, "
        "which it may not have learned to ignore (NAOPC App. D).",
    )


def check_vocabulary(tokenizer, mask_id: int, config, name: str) -> None:
    """UnsupportedModel with a sentence unless the tokens that every text gets have word embeddings."""
    try:
        highest = max([mask_id, *tokenizer("a")["input_ids"]])
    except Exception as error:
        raise UnsupportedModel(
            f"The tokenizer of {name!r} reads no text ({in_short(error)}). Save it again with "
            f"tokenizer.save_pretrained."
        ) from error
    if highest >= config.vocab_size:
        raise UnsupportedModel(
            f"The tokenizer of {name!r} gives token number {highest:,}, and the model has word embeddings for "
            f"{config.vocab_size:,} tokens. "
            "Save the tokenizer that the model was trained with into its folder."
        )


def longest_input(tokenizer, config, architecture) -> int:
    """Most tokens that a model reads, special tokens included; UnsupportedModel with a sentence if no word has room."""
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 512
    try:
        most = int(min(tokenizer.model_max_length, positions - architecture.position_offset))
    except (TypeError, ValueError):
        most = 0
    if most < 3:
        raise UnsupportedModel(
            "The longest input of this model is no number of tokens that a text fits into. "
            "Set model_max_length in its tokenizer_config.json."
        )
    return most


def _card(folder: Path) -> dict | None:
    """A card as training writes it; None where there is none, or where it holds something else."""
    try:
        found = json.loads((folder / "card.json").read_text(encoding="utf-8"))
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
def building():
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
