"""Evidence in a table: where in its text each row's label rests, as people marked it, read from a column of lists."""

import json
from collections.abc import Sequence
from typing import cast

# Names as they are compared, without case and signs.
NAMES = ("evidence", "evidences", "rationale", "rationales", "highlight", "highlights")
# A row with more parts than this is no evidence that anybody could look at.
MOST = 1_000


def holds_evidence(values: list) -> bool:
    """Whether at least half of what is filled in a column are lists of spans or of phrases."""
    filled = [value for value in values if not _empty(value)]
    return bool(filled) and 2 * sum(_parts(value) is not None for value in filled) >= len(filled)


def read_evidence(value: object, text: str) -> tuple[tuple[int, int], ...] | None:
    """The characters [start, end) of a text that a cell marks, in order and each once; () where it marks none.

    Args:
        value: a list of [start, end] pairs of characters, also as {start, end}, or of phrases, of which the first
            occurrence counts; or such a list as JSON text.
        text: what the pairs count in.
    Returns:
        None where the cell cannot be understood: it is no such list, a pair is empty or lies beyond the text, or a
            phrase does not occur.
    """
    if _empty(value):
        return ()
    spans = [_span(part, text) for part in _parts(value) or [None]]
    found = {span for span in spans if span is not None}
    return None if None in spans else tuple(sorted(found))


def _empty(value: object) -> bool:
    return value is None or value == [] or (isinstance(value, str) and value.strip() in ("", "[]"))


def _parts(value: object) -> list | None:
    """The parts of a cell, each a pair of whole numbers or a phrase; None where it holds anything else."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, (list, tuple)) or len(value) > MOST:
        return None
    parts = [[part.get("start"), part.get("end")] if isinstance(part, dict) else part for part in value]
    return parts if all(isinstance(part, str) or _is_pair(part) for part in parts) else None


def _is_pair(part: object) -> bool:
    return (
        isinstance(part, (list, tuple))
        and len(part) == 2
        and all(isinstance(end, int) and not isinstance(end, bool) for end in part)
    )


def _span(part: object, text: str) -> tuple[int, int] | None:
    if part is None:
        return None
    if isinstance(part, str):
        start = text.find(part) if part.strip() else -1
        return None if start < 0 else (start, start + len(part))
    start, end = cast(Sequence[int], part)
    return (start, end) if 0 <= start < end <= len(text) else None
