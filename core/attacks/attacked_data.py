"""Attacked texts as data of their own, each behind its original."""

import hashlib
import json
from collections.abc import Sequence
from typing import NamedTuple

from core.data.examples import Example
from core.data.mapping import Mapping
from core.data.sources import DataSource, keep
from core.data.tables import RawTable
from core.network.features import find_words
from core.storage.library import Library
from core.wording import number

_COLUMNS = ("id", "text", "second", "label", "tags", "note", "pair")


class Pair(NamedTuple):
    """An example and what an attack made of it."""

    example: Example
    text: str
    queries: int
    similarity: float


def keep_attacked(library: Library, name: str, attack: str, pairs: Sequence[Pair]) -> DataSource:
    """Put originals and attacked texts into the library as one data set.

    Args:
        name: of the data; attack: how they were attacked; pairs: those on which it succeeded.
    Returns:
        The data set, whose attacked examples say in their note which words changed, queries and similarity; each has
        the other as its pair.
    Raises:
        BadData: there is no pair.
    """
    rows = [row for pair in pairs for row in _rows(pair, attack)]
    cells = {column: [row[k] for row in rows] for k, column in enumerate(_COLUMNS)}
    digest = hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()
    paired = any(pair.example.second is not None for pair in pairs)
    mapping = Mapping("text", "second" if paired else None, "label", "id", "tags", "note", pair="pair")
    table = RawTable(f"{name}, {attack}", _COLUMNS, cells, digest)
    return keep(library, table, mapping, f"{attack} on {name}")


def changed_words(text: str, attacked: str) -> list[tuple[str, str]]:
    """The words that differ, each before and after."""
    before, after = ([one[a:b] for a, b in find_words(one)] for one in (text, attacked))
    return [(one, other) for one, other in zip(before, after) if one != other]


def _rows(pair: Pair, attack: str) -> list[tuple]:
    one = pair.example
    words = ", ".join(f"{before} → {after}" for before, after in changed_words(one.text, pair.text))
    note = f"{words}; {pair.queries:,} queries, similarity {number(pair.similarity)}"
    name = f"{one.id} attacked"
    original = (one.id, one.text, one.second, one.label, [*one.tags, "original"], one.note, name)
    return [original, (name, pair.text, one.second, one.label, [*one.tags, attack], note, one.id)]
