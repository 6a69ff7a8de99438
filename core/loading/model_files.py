"""The files that a model is made of: which they are, and what was read of them, each once and hashed as it is read.

What a check, the digest and loading take from a model's folder they read through `ModelFiles`, so that whatever is
computed with is in the digest, as it was when it was read. Past it they ask only whether a file is there, for a
sentence; the card is no part of that, and is read for figures of the weights that it names.
"""

import hashlib
import json
import math
import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.network.architectures import Config, Tensor, UnsupportedModel
from core.network.model import Model
from core.storage.files import open_plain, read_plain
from core.wording import in_short, shortened

if TYPE_CHECKING:
    from core.network.architectures import Tensor

# What the format calls a kind of numbers, and what torch does.
_KINDS = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2": "float8_e5m2",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "C64": "complex64",
    "BOOL": "bool",
    **{f"{sign}{bits}": f"{kind}{bits}" for sign, kind in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)},
}
_BAD_HEAD = "its head is damaged"
# The format's own limit for a head; what is read at a time, which a processor holds until it is hashed.
_MOST_HEAD, _AT_A_TIME = 100_000_000, 1 << 20


def read_tensors(file: BufferedReader) -> "tuple[dict[str, Tensor], bytes]":
    """All tensors of a file that is read from its start, and its SHA-256: of the very bytes that the tensors hold.

    No byte is in memory twice, neither meanwhile nor afterwards, and a tensor that nobody keeps is freed alone.

    Raises:
        ValueError: it is no such file, is cut short, or its head says what cannot be.
        OSError: it cannot be read.
    """
    import torch

    size, seen = os.fstat(file.fileno()).st_size, hashlib.sha256()
    length = int.from_bytes(_hashed(file, bytearray(8), seen), "little")
    if length > min(_MOST_HEAD, size - 8):
        raise ValueError(_BAD_HEAD)
    tensors = {}
    for name, kind, shape, start, end in _planned(_hashed(file, bytearray(length), seen), size - 8 - length):
        tensor = torch.empty(shape, dtype=kind)
        if end > start:
            raw = tensor.reshape(-1).view(torch.uint8).numpy()
            _hashed(file, raw, seen)
            if sys.byteorder == "big":
                # The format is little-endian; a complex number is two.
                part = tensor.element_size() // (2 if kind.is_complex else 1)
                raw.view(f"u{part}").byteswap(inplace=True)
        tensors[name] = tensor
    return tensors, seen.digest()


def _hashed(file: BufferedReader, place: Any, seen: Any) -> Any:
    """Fill a place with the next bytes, which are hashed on the way; ValueError where there are fewer."""
    view = memoryview(place)
    for start in range(0, len(view), _AT_A_TIME):
        part = view[start : start + _AT_A_TIME]
        if file.readinto(part) < len(part):
            raise ValueError("it is cut short")
        seen.update(part)
    return place


def _planned(head: bytearray, room: int) -> list[tuple[str, Any, list[int], int, int]]:
    """(name, kind, shape, first byte, end) of each tensor, by place; ValueError unless they fill the room."""
    import torch

    said = json.loads(head)
    if not isinstance(said, dict):
        raise ValueError(_BAD_HEAD)
    found = []
    for name, about in said.items():
        if name == "__metadata__":
            continue
        try:
            kind, shape, (start, end) = getattr(torch, _KINDS[about["dtype"]]), about["shape"], about["data_offsets"]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(_BAD_HEAD) from error
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in (*shape, start, end)):
            raise ValueError(_BAD_HEAD)
        if end - start != math.prod(shape) * kind.itemsize:
            raise ValueError("its tensors do not fit their shapes")
        found.append((name, kind, shape, start, end))
    found.sort(key=lambda one: one[3:])
    ends = [0, *(end for *_, end in found)]
    if [start for *_, start, _ in found] != ends[:-1] or ends[-1] != room:
        raise ValueError("its tensors do not fill it")
    return found


REFERENCE_FILE, WORDS_FILE = "masf.safetensors", "words.safetensors"
WEIGHTS, INDEX, WEIGHTS_ENDING = "model.safetensors", "model.safetensors.index.json", ".safetensors"
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
SAVE_AGAIN, COPY_AGAIN = "Save it with save_pretrained.", "If it was cut short, copy it again."
_FITTED = {REFERENCE_FILE, WORDS_FILE}
_NOT_PART_OF_RESULTS = _FITTED | {"README.md", "card.json", "SOURCE.md", "LICENSE", "LICENSE.txt", "NOTICE"}
_SMALL_ENDINGS = {".json", ".txt", ".model"}
# The largest vocabularies take 20 MB, and settings a hundredth of that; what is longer belongs to no classifier.
_MOST_BYTES, _MOST_SETTINGS = 100_000_000, 10_000_000


class ForeignFile(UnsupportedModel):
    """A model names a file of weights that is not its own or may be pickle; the message says which."""


def cannot_read(what: str, name: str, error: Exception, remedy: str = SAVE_AGAIN) -> UnsupportedModel:
    """The error of a part of a model that cannot be read."""
    return UnsupportedModel(f"{what} of {name!r} cannot be read ({in_short(error)}). {remedy}")


class NoCopies(UnsupportedModel):
    """Small files cannot be copied into the temporary folder; the message says why and what to do."""


def kept_place(kept: Path, model: Model, name: str = REFERENCE_FILE) -> Path:
    """Where a reference lies, or another file that was fitted for a model, where it cannot lie with its model."""
    return Path(kept) / f"{model.states_digest}.{'safetensors' if name == REFERENCE_FILE else name}"


class ModelFiles:
    """The plain files of one folder that decide a model's results: safetensors, and JSON, text and SentencePiece
    files of at most 100 MB; links to such files count, folders, pipes and what stands in `_NOT_PART_OF_RESULTS` do not.

    names: of these files, listed when it is made (and weights again by `look_for_weights`), in a fixed order.
    """

    def __init__(self, folder: Path):
        self.folder, self.names = folder, _listed(folder)
        self._held: dict[str, bytes] = {}
        self._hashes: dict[str, bytes] = {}

    @property
    def size(self) -> int:
        """Bytes of all files together, without those that are gone again."""
        return sum(os.path.getsize(self.folder / name) for name in self.names if os.path.isfile(self.folder / name))

    def look_for_weights(self) -> None:
        """List the weights again, which may have been fetched meanwhile; small files stay as they were."""
        small = (name for name in self.names if not name.endswith(WEIGHTS_ENDING))
        weights = (name for name in _listed(self.folder) if name.endswith(WEIGHTS_ENDING))
        self.names = tuple(sorted([*small, *weights]))

    def read(self, name: str) -> bytes:
        """A small file's content, the same at each call; OSError if it is none of them."""
        if name not in self._held:
            self.expect(name)
            self._held[name] = read_plain(self.folder / name, _MOST_BYTES)
            self._hashes[name] = hashlib.sha256(self._held[name]).digest()
        return self._held[name]

    def settings(self, name: str) -> Any:
        """What a JSON file holds; OSError as `read`, ValueError if it is none, or too long or too deep."""
        data = self.read(name)
        if len(data) > _MOST_SETTINGS:
            raise ValueError(f"{name} is longer than {_MOST_SETTINGS:,} bytes")
        return parse_json(data)

    def tensors(self, name: str) -> dict[str, Tensor]:
        """All tensors of a file of weights, in memory of their own; OSError, ValueError or the library's error where it
        is none.

        A file that is only mapped would change the loaded model whenever it is written to.
        """
        # What the library refuses is refused, and a damaged file before gigabytes of it are read.
        self.heads(name)
        with open_plain(self.folder / name) as file:
            tensors, self._hashes[name] = read_tensors(file)
        return tensors

    def heads(self, name: str) -> dict[str, tuple[str, tuple[int, ...]]]:
        """{tensor's name: (dtype, shape)} of a file of weights, without reading these; errors as `tensors`."""
        from safetensors import safe_open

        self.expect(name)
        with safe_open(self.folder / name, framework="pt") as tensors:
            views = {key: tensors.get_slice(key) for key in tensors.keys()}  # noqa: SIM118 (no dictionary: it iterates over nothing)
            return {key: (view.get_dtype(), tuple(view.get_shape())) for key, view in views.items()}

    def hashes(self) -> Generator[tuple[str, bytes]]:
        """(name, SHA-256) of every file: of what was read of it, or of what lies there where nothing was."""
        for name in self.names:
            if name not in self._hashes:
                with open_plain(self.folder / name) as file:
                    self._hashes[name] = hashlib.file_digest(file, "sha256").digest()
            yield name, self._hashes[name]

    @contextmanager
    def small_copies(self, changed: dict[str, bytes]) -> Generator[Path]:
        """A folder that holds the small files and nothing else, for libraries that read files by their own rules.

        Args:
            changed: what some of them hold there instead.
        Raises:
            NoCopies: the temporary folder cannot be written.
            OSError: a file cannot be read.
        """
        held = {name: self.read(name) for name in self.names if not name.endswith(WEIGHTS_ENDING)} | changed
        with ExitStack() as made:
            try:
                folder = Path(made.enter_context(tempfile.TemporaryDirectory(prefix="faithscope-")))
                for name, data in held.items():
                    (folder / name).write_bytes(data)
            except OSError as error:
                raise NoCopies(
                    f"No room for copies of {self.folder.name!r} ({in_short(error)}). Free some space in "
                    f"{tempfile.tempdir or 'the temporary folder'}, or change TMPDIR."
                ) from error
            yield folder

    def expect(self, name: str) -> None:
        """FileNotFoundError unless it is one of these files."""
        if name not in self.names:
            raise FileNotFoundError(f"there is no plain file {name}")


def weight_files(files: ModelFiles, config: Config) -> tuple[str, ...]:
    """Names of the files that hold a model's weights, in the order in which they are read.

    As transformers chooses: the one that the configuration names, else model.safetensors, else those of its index.

    Raises:
        ForeignFile: a name that is no safetensors file in the model's own folder.
        OSError, ValueError: a file that is not there, or a damaged index.
    """
    chosen = getattr(config, "transformers_weights", None)
    if chosen is None:
        chosen = WEIGHTS if WEIGHTS in files.names else INDEX
    if not _ends(chosen, ".index.json"):
        named = (_own(chosen),)
    else:
        found = files.settings(_own(chosen, ".safetensors.index.json"))
        parts = found.get("weight_map") if isinstance(found, dict) else None
        if not isinstance(parts, dict) or not parts:
            raise ValueError(f"{chosen} is no index of weights")
        named = tuple(sorted({_own(part) for part in parts.values()}))
    for name in named:
        files.expect(name)
    return named


def parse_json(data: bytes | str) -> Any:
    """What JSON says; ValueError where it is none, or nested too deeply."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _own(name: Any, ending: str = WEIGHTS_ENDING) -> str:
    """The name, if it can be one of a safetensors file in the model's own folder; ForeignFile otherwise."""
    if _ends(name, ending) and not {"/", "\\", "\0"} & set(name) and name not in _FITTED:
        return name
    raise ForeignFile(
        f"The model names {shortened(repr(name), 100)} as weights; only safetensors files in its own folder are read. "
        f"{SAVE_AGAIN}"
    )


def _ends(name: Any, ending: str) -> bool:
    return isinstance(name, str) and name.endswith(ending)


def _listed(folder: Path) -> tuple[str, ...]:
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in entries if one.name not in _NOT_PART_OF_RESULTS and _counts(one)]
    except OSError:
        # Gone, or no longer ours to read; whoever asks for a file hears of it.
        return ()
    # The order is part of the digest, on every system the same.
    return tuple(sorted(names))


def _counts(entry: os.DirEntry) -> bool:
    ending = os.path.splitext(entry.name)[1]
    try:
        small = ending in _SMALL_ENDINGS and entry.stat().st_size <= _MOST_BYTES
        return (ending == WEIGHTS_ENDING or small) and entry.is_file()
    except OSError:
        # A link that leads nowhere.
        return False
