"""What of a store belongs to which model, and deleting it by model."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from core.storage.files import delete, open_plain
from core.storage.store import Store

# Of a header; a longer one is none of the store's.
_MOST_HEADER = 10_000_000


@dataclass(frozen=True)
class Holding:
    """Results of one model; model: its digest, "" of those that name none; name: "" where that was not written."""

    model: str
    name: str
    files: int
    size: int

    @property
    def label(self) -> str:
        """Its name, or the beginning of its digest."""
        return self.name or self.model[:12] or "model not recorded"


def holdings(store: Store) -> list[Holding]:
    """Results by model, the largest first; texts, and what the library remembers, are no results."""
    found: dict[str, Holding] = {}
    for _, size, model, name in _results(store):
        one = found.get(model, Holding(model, "", 0, 0))
        found[model] = Holding(model, name or one.name, one.files + 1, one.size + size)
    return sorted(found.values(), key=lambda one: (-one.size, one.model))


def delete_holding(store: Store, model: str) -> int:
    """Delete the results of the model of this digest ("": of those that name none); how many files went."""
    return sum(delete(path) for path, _, owner, _ in _results(store) if owner == model)


def _results(store: Store) -> Iterator[tuple[str, int, str, str]]:
    """(path, bytes, digest and name of the model) of every result."""
    for _, _, path, size in store.files():
        if path.endswith(".safetensors"):
            yield path, size, *_owner(path)


def _owner(path: str) -> tuple[str, str]:
    """The digest and name of a model as a file's header has them; "" for what it does not say."""
    try:
        with open_plain(path) as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(min(length, _MOST_HEADER)))
        about = json.loads(header["__metadata__"]["faithscope"][65:].encode("latin-1"))
        model, name = about.get("model", ""), about.get("name", "")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "", ""
    return (model, name) if isinstance(model, str) and isinstance(name, str) else ("", "")
