"""Find a model's files: a bundled name, a folder, a hub id, or a LoRA adapter of any of these."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core import settings
from core.loading.lora import adapter_settings
from core.loading.model_files import ModelFiles, cannot_read
from core.loading.packaged import PACKAGED, packaged_folder
from core.loading.seeds import Seeds, first_member, read_seeds
from core.network.architectures import UnsupportedModel
from core.network.one_label import SIGN
from core.storage import hub
from core.wording import in_short

MODELS, BASES = settings.BUNDLED / "models", settings.BUNDLED / "bases"


@dataclass(frozen=True)
class ModelSource:
    """Where a model's files lie.

    base: the folder with the weights; adapter: the LoRA adapter's folder, or None; base_id, adapter_id: their hub ids,
    None for local folders; base_files, adapter_files: the files in these folders.
    """

    name: str
    base: Path
    adapter: Path | None
    base_id: str | None = None
    adapter_id: str | None = None
    base_files: ModelFiles = field(init=False, repr=False, compare=False)
    adapter_files: ModelFiles | None = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "base_files", ModelFiles(self.base))
        object.__setattr__(self, "adapter_files", ModelFiles(self.adapter) if self.adapter else None)

    @property
    def top(self) -> Path:
        """The folder that was asked for."""
        return self.adapter or self.base

    @property
    def files(self) -> tuple[ModelFiles, ...]:
        """What the model is made of: the base's files, then the adapter's."""
        return (self.base_files,) if self.adapter_files is None else (self.base_files, self.adapter_files)


def bundled_models() -> list[str]:
    """Names of the models that ship with the project, sorted."""
    return sorted(folder.name for folder in MODELS.iterdir() if folder.is_dir()) if MODELS.is_dir() else []


def bundled_bases() -> list[str]:
    """Names of the pretrained bases that ship with the project, sorted."""
    return sorted(folder.name for folder in BASES.iterdir() if folder.is_dir()) if BASES.is_dir() else []


def titles(names: Sequence[str]) -> dict[str, str]:
    """What models are called: folders by the last parts of their paths, as many as tell each from all others."""
    places = {name: os.path.abspath(os.path.expanduser(name)) if is_path(name) else f"//{name}" for name in names}

    def title(name: str) -> str:
        parts = places[name].strip("/").split("/") if is_path(name) else [name]
        ends = ("/".join(parts[-count:]) for count in range(1, len(parts) + 1))
        others = [place for place in places.values() if place != places[name]]
        return next((end for end in ends if end and not any(other.endswith(f"/{end}") for other in others)), name)

    return {name: title(name) for name in names}


def is_path(name: str) -> bool:
    """Whether a model's name can be a folder alone, neither bundled nor of the hub."""
    return name.startswith((".", "/", "~")) or "\\" in name or name.count("/") > 1


def locate(name: str, weights: bool = True) -> ModelSource:
    """Find a model's files, fetching them from the hub where the name is neither bundled nor a folder.

    Args:
        name: a bundled name, a folder, or a hub id `owner/model`.
        weights: fetch the weights too; without them configuration and tokenizer only.
    Raises:
        UnsupportedModel: nothing is found there, or an adapter's base is missing; the message
            says what was tried.
    """
    name, _ = split_label(name)
    top, top_id = _folder_of(name, None, weights)
    adapter = adapter_settings(ModelFiles(top))
    if adapter is None:
        return ModelSource(name, top, None, top_id)
    base = adapter.get("base_model_name_or_path")
    if not base:
        raise UnsupportedModel(
            f"The adapter {name!r} names no base. Set base_model_name_or_path in its adapter_config.json."
        )
    try:
        folder, base_id = _folder_of(base, top, weights)
    except UnsupportedModel as error:
        raise UnsupportedModel(f"The adapter {name!r} needs its base {_shown(base)}. {error}") from error
    if adapter_settings(ModelFiles(folder)) is not None:
        raise UnsupportedModel(f"The base of adapter {name!r} is an adapter. Merge that one with PEFT.")
    return ModelSource(name, folder, top, base_id, top_id)


def split_label(name: str) -> tuple[str, str]:
    """A model's name and the label behind it, "" without one; a folder may have the sign in its name."""
    model, _, label = name.rpartition(SIGN)
    return (name, "") if not model or Path(name).expanduser().exists() else (model, label)


def digest(source: ModelSource) -> str:
    """SHA-256 over weights, configuration and tokenizer, as they were read; UnsupportedModel where one is gone."""
    total = hashlib.sha256()
    try:
        for files in source.files:
            for name, found in files.hashes():
                total.update(os.fsencode(name) + b"\0" + found)
    except OSError as error:
        raise cannot_read("A file", source.name, error, "Load the model again.") from error
    return total.hexdigest()


def find_seeds(name: str) -> Seeds | None:
    """The family that a name stands for, bundled or a folder; None where it stands for one model.

    Raises:
        UnsupportedModel: as `core.loading.seeds.read_seeds`.
    """
    own = _bundled(name)
    if own is None and not name.strip():
        return None
    try:
        return read_seeds(own or Path(name).expanduser())
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, UnsupportedModel):
            raise
        # Whoever loads it hears why.
        return None


def member_names(name: str) -> dict[str, int]:
    """The models of a family by the names under which they load, with their seeds; {} where a name stands for one."""
    family = find_seeds(name)
    return {} if family is None else {f"{name.rstrip('/')}/{one.folder}": one.seed for one in family.members}


def _bundled(name: object) -> Path | None:
    """The folder of a bundled model, or of a member of a bundled family."""
    if not isinstance(name, str):
        return None
    top, _, member = name.partition("/")
    if top not in bundled_models():
        return None
    family = read_seeds(MODELS / top) if member else None
    known = not member or (family is not None and member in [one.folder for one in family.members])
    return MODELS / name if known else None


def _folder_of(name: str, near: Path | None, weights: bool) -> tuple[Path, str | None]:
    """The folder, of a family that of its first model, and the hub id where it came from there."""
    if (own := _bundled(name)) is not None:
        return first_member(own), None
    if not isinstance(name, str) or not name.strip() or len(name) > 4000:
        raise _no_folder(name)
    if name in PACKAGED and not Path(name).is_dir():
        return packaged_folder(name), None
    places = [BASES / name] if near and name in bundled_bases() else []
    places += [near / name] if near else []
    try:
        for place in [*places, Path(name).expanduser()]:
            if place.is_dir():
                next(place.iterdir(), None)
                return first_member(place.resolve()), None
            if place.is_file():
                raise UnsupportedModel(f"{_shown(name)} is a file. Give its folder.")
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, UnsupportedModel):
            raise
        raise UnsupportedModel(
            f"The folder {_shown(name)} cannot be opened ({in_short(error)}). Check its name and permissions."
        ) from error
    if is_path(name):
        raise _no_folder(name)
    try:
        return hub.fetch(name, weights), name
    except hub.HubError as error:
        raise UnsupportedModel(str(error)) from error


def _no_folder(name) -> UnsupportedModel:
    return UnsupportedModel(
        f"There is no folder {_shown(name)}. Give one, a hub id or one of {', '.join(bundled_models())}."
    )


def _shown(name) -> str:
    said = repr(name)
    return said if len(said) <= 200 else f"{said[:200]}…"
