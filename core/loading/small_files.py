"""What a model's small files say: configuration, tokenizer, classes; whatever they can refuse is refused here."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from core.loading.heads import with_both_classes
from core.loading.locating import ModelSource
from core.loading.lora import adapter_settings
from core.loading.model_files import ForeignFile, ModelFiles, NoCopies, cannot_read, weight_files
from core.network.architectures import BILSTM_TYPE, Architecture, Config, Tokenizer, UnsupportedModel, architecture_of
from core.network.memory import IMPORTING
from core.network.tokens import encodable
from core.wording import listed

# Beyond these a configuration is damaged or hostile, and building its module would take forever; the deepest models of
# the families that work have 48 layers.
_MOST_CLASSES, _MOST_LAYERS = 10_000, 200
_TOKENIZER_SETTINGS = {"tokenizer_config.json", "special_tokens_map.json"}
_STANDS_IN = (
    "stands in for the mask token, which this model lacks; it may not have learned to ignore it (NAOPC App. D)."
)
_MOST = {"num_labels": _MOST_CLASSES} | dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers"), _MOST_LAYERS)


class Names(StrEnum):
    """What is odd about the names of outputs; a note says which."""

    TURNED = "id2label names no output; label2id does"
    APART = "label2id differs; id2label is used"
    LACKING = "id2label and outputs differ"


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
    labels, odd = read_labels(config, source.name)
    tokenizer = read_tokenizer(source)
    mask_id, notes = mask_token(tokenizer, source.name)
    most = longest_input(tokenizer, config, architecture_of(config.model_type))
    check_vocabulary(tokenizer, mask_id, config, source.name)
    try:
        weight_files(source.base_files, config)
    except ForeignFile:
        raise
    except (OSError, ValueError):
        # They may have yet to be fetched; whoever reads them says what is wrong.
        pass
    return Parts(source, config, tokenizer, labels, mask_id, most, (*odd, *notes))


def read_tokenizer(source: ModelSource) -> Tokenizer:
    """The fast tokenizer of a model's files; UnsupportedModel with a sentence where there is none."""
    with IMPORTING:
        from transformers import AutoTokenizer

    base, adapter = source.base_files, source.adapter_files
    files = adapter if adapter and "tokenizer_config.json" in adapter.names else base
    if not {"tokenizer.json", "vocab.txt", "vocab.json", "spm.model", "spiece.model"} & set(files.names):
        raise UnsupportedModel(f"{source.name!r} has no tokenizer files. Add them with save_pretrained.")
    try:
        with files.small_copies(_without_paths(files)) as folder:
            tokenizer: Tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            tokenizer.name_or_path = str(files.folder)
    except NoCopies:
        raise
    except Exception as error:
        raise cannot_read("The tokenizer", source.name, error) from error
    if not tokenizer or not tokenizer.is_fast:
        raise UnsupportedModel(f"{source.name!r} needs a fast tokenizer, for character offsets.")
    return tokenizer


def _without_paths(files: ModelFiles) -> dict[str, bytes]:
    """A tokenizer's settings without what names other files: those of its own folder are found without; and the
    configuration where it is read as another.
    """
    changed = {}
    for name in _TOKENIZER_SETTINGS & set(files.names):
        found = files.settings(name)
        if isinstance(found, dict):
            named = {key for key in found if key in ("vocab", "merges", "init_inputs") or key.endswith("_file")}
            own = {key: value for key, value in found.items() if key not in named}
            changed[name] = json.dumps(own).encode()
    if "config.json" in files.names:
        found = files.settings("config.json")
        # The library refuses a head of one output even while it reads the tokenizer.
        if isinstance(found, dict) and (both := with_both_classes(found)) is not found:
            changed["config.json"] = json.dumps(both).encode()
    return changed


def read_config(source: ModelSource) -> Config:
    """The configuration of a supported family, with an adapter's classes; else UnsupportedModel."""
    with IMPORTING:
        from transformers import CONFIG_MAPPING

    try:
        found = source.base_files.settings("config.json")
        kind = str(found["model_type"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise cannot_read("config.json", source.name, error) from error
    architecture_of(kind)
    if kind == BILSTM_TYPE:
        register_bilstm()
    try:
        for key, most in _MOST.items():
            if isinstance(found.get(key), int | float) and found[key] > most:
                raise ValueError(f"{key} is over {most:,}")
        if isinstance(found.get("id2label"), dict | list) and len(found["id2label"]) > _MOST_CLASSES:
            raise ValueError(f"id2label names over {_MOST_CLASSES:,} classes")
        found = with_both_classes(found)
        config = CONFIG_MAPPING[kind].from_dict(found, name_or_path=str(source.base))
    except Exception as error:
        raise cannot_read("config.json", source.name, error) from error
    # Without id2label the library forgets it.
    config.label2id = found.get("label2id")
    adapter = adapter_settings(source.adapter_files) if source.adapter_files else None
    labels = adapter.get("faithscope_labels") if adapter else None
    if labels is not None:
        named = isinstance(labels, list) and all(isinstance(label, str) for label in labels)
        if not named or len(labels) > _MOST_CLASSES:
            raise UnsupportedModel(
                f"faithscope_labels of the adapter {source.name!r} must be a list of at most {_MOST_CLASSES:,} names."
            )
        config.id2label, config.label2id = dict(enumerate(labels)), {label: i for i, label in enumerate(labels)}
    return config


def read_labels(config: Config, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the classes, each its own, by id2label or else label2id, and notes; UnsupportedModel below two."""
    C, named = config.num_labels, {i: str(label) for i, label in (config.id2label or {}).items()}
    if C < 2:
        raise UnsupportedModel(
            f"{name!r} has {C} output; attributions need at least 2 classes. Choose a classifier with 2 outputs, or "
            "set problem_type single_label_classification where its sigmoid decides."
        )
    back = {str(i): str(label) for label, i in config.label2id.items()} if isinstance(config.label2id, dict) else {}
    names, others = ([found.get(of(i), f"class {i}") for i in range(C)] for found, of in ((named, int), (back, str)))
    whole = len(back) == C and not {*map(str, range(C))} - {*back} and not only_count(others)
    turned = whole and only_count(names)
    odd = [*(f"output {i}" for i in range(C) if i not in named), *(named[i] for i in named if i not in range(C))]
    kind = Names.TURNED if turned else Names.LACKING if odd else Names.APART
    odd = others if turned or (whole and not odd and names != others) else odd
    # Classes are chosen by their names, so each needs its own; "predicted" and "—", of no class, are the sidebar's.
    found = {"predicted": -1, "—": -1}
    for i, label in enumerate(map(encodable, others if turned else names)):
        while label in found:
            label = f"{label} ({i})"
        found[label] = i
    return tuple(found)[2:], (f"{kind}: {listed(odd, 6)}.",) if odd else ()


def only_count(names: Iterable[str]) -> bool:
    """Whether the names of outputs say nothing else."""
    return all(re.fullmatch(rf"(LABEL_|class )\d+|{i}", one, re.IGNORECASE) for i, one in enumerate(names))


def mask_token(tokenizer: Tokenizer, name: str) -> tuple[int, tuple[str, ...]]:
    """The token that masks, and a note where the end of sequence stands in (NAOPC §4); else UnsupportedModel."""
    if tokenizer.mask_token_id is not None:
        return tokenizer.mask_token_id, ()
    if tokenizer.eos_token_id is None:
        raise UnsupportedModel(
            f"The tokenizer of {name!r} has no mask or end-of-sequence token. Name one in tokenizer_config.json."
        )
    return tokenizer.eos_token_id, (f"{tokenizer.eos_token} {_STANDS_IN}",)


def check_vocabulary(tokenizer: Tokenizer, mask_id: int, config: Config, name: str) -> None:
    """UnsupportedModel with a sentence unless the tokens that every text gets have word embeddings."""
    try:
        given = [mask_id, *tokenizer("a")["input_ids"]]
    except Exception as error:
        raise cannot_read("The tokenizer", name, error) from error
    if architecture_of(config.model_type).position_offset and config.pad_token_id in given:
        raise UnsupportedModel(
            f"pad_token_id {config.pad_token_id} of {name!r} is in every text. Correct its config.json."
        )
    if (highest := max(given)) >= config.vocab_size:
        raise UnsupportedModel(
            f"The tokenizer of {name!r} gives token {highest:,}, beyond the model's {config.vocab_size:,}. "
            "Use the model's own."
        )


def longest_input(tokenizer: Tokenizer, config: Config, architecture: Architecture) -> int:
    """Most tokens that a model reads, special tokens included; UnsupportedModel with a sentence if no word has room."""
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 512
    try:
        # Positions are counted from behind the padding token's id, whatever that is.
        reserved = architecture.position_offset and max(architecture.position_offset, (config.pad_token_id or 0) + 1)
        most = int(min(tokenizer.model_max_length, positions - reserved))
    except (TypeError, ValueError):
        most = 0
    if most < 3:
        raise UnsupportedModel("The longest input holds no word. Set model_max_length in tokenizer_config.json.")
    return most


def register_bilstm() -> None:
    """Make a family that is no library's known to `transformers`."""
    with IMPORTING:
        import core.network.bilstm  # noqa: F401
