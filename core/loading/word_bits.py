"""Mutual information of words on disk, kept as references are: beside a model's weights, or in the cache."""

import functools
import hashlib
import json
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors import numpy as tensors

from core.loading.model_files import WORDS_FILE, kept_place
from core.measures.registry import NotApplicable, WordBits
from core.network.model import Model
from core.storage.files import read_plain, write_whole

_VERSION, _MOST_BYTES = 1, 500_000_000
_FIT_AGAIN = "Fit it again: python -m core words."


class BadWords(NotApplicable):
    """A file of measured words cannot be used; the message says why and how to fit another."""


def write_words(found: WordBits, model: Model, source: str, path: Path) -> None:
    """Write them as safetensors, whole or not at all; OSError as `write_whole`."""
    write_whole(path, _packed(found, model.digest, source), replaces=True)


def find_words_of(model: Model, kept: Path | None = None) -> WordBits | None:
    """The newer of what lies with a model and what was fitted here, or None; BadWords if damaged or another's."""
    places = [] if model.folder is None else [model.folder / WORDS_FILE]
    places += [] if kept is None else [kept_place(kept, model, WORDS_FILE)]
    there = sorted((place.stat().st_mtime_ns, place) for place in places if place.is_file())
    return _read(there[-1][1], there[-1][0], model.digest) if there else None


@functools.lru_cache(maxsize=8)
def _read(path: Path, written: int, model: str) -> WordBits:
    """Read a file; written: its time of writing, so that a new file is read."""
    try:
        data = read_plain(path, _MOST_BYTES)
        about = json.loads(json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]["faithscope"])
        arrays = tensors.load(data)
        words, bits = arrays["words"].tobytes().decode().split("\n"), arrays["bits"].astype(np.float64)
        if about["version"] != _VERSION or bits.shape != (len(words) + 1,) or not (bits >= 0).all():
            raise ValueError("words and bits do not match")
    except (OSError, SafetensorError, ValueError, LookupError, TypeError, MemoryError) as error:
        raise BadWords(f"{path.name} is damaged ({type(error).__name__}). {_FIT_AGAIN}") from error
    if about["model"] != model:
        raise BadWords(
            f"{path.name} is for another model, {str(about['model'])[:12]}… and not {model[:12]}…. {_FIT_AGAIN}"
        )
    return WordBits(dict(zip(words, bits[:-1].tolist())), float(bits[-1]), hashlib.sha256(data).hexdigest())


def _packed(found: WordBits, model: str, source: str) -> bytes:
    words = np.frombuffer("\n".join(found.words).encode(), dtype=np.uint8)
    about = {"version": _VERSION, "model": model, "source": source}
    bits = np.array([*found.words.values(), found.unseen])
    return tensors.save({"words": words, "bits": bits}, {"faithscope": json.dumps(about, sort_keys=True)})
