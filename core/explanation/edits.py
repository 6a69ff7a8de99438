"""Two versions of a text: a word put in the place of another, which words stay, and what changed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

import numpy as np

from core.explanation.explainer import softmax, value_of
from core.explanation.rows import WordRow, value_text
from core.network.features import Encoded, find_words
from core.oracle.target import Target, score_name
from core.wording import number

# The share of the words of two texts that they have in common, from which on one is an edit of the other.
LIKE = 0.5
# Changed words that a cell of a table names.
NAMED = 3


def replaced(encoded: Encoded, i: int, new: str) -> tuple[str, str | None]:
    """The texts of an example with another word in the place of feature i; "" takes it out, and a space beside it.

    Raises:
        ValueError: a sentence, where nothing would be left, or nothing would change.
    """
    feature = encoded.features[i]
    text = encoded.sides[feature.side]
    before, after = text[: feature.start], text[feature.end :]
    if not new and (not before.strip() or before[-1].isspace()):
        # Breaks of lines and paragraphs stay, where there is a space to take.
        if after[:1] == " " or (not before.strip() and after[:1].isspace()):
            after = after[1:]
        elif not after[:1].isalnum():
            before = before[:-1]
    changed = before + new + after
    if not changed.strip():
        raise ValueError("Nothing would be left of the text. Put another word in its place.")
    if changed == text:
        raise ValueError("That is the word already. Type another.")
    return encoded.with_side(feature.side, changed)


def aligned(first: Sequence[str], second: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Line up the words of two versions: each place of both once, in order; None where the other has nothing there.

    Words that stay stand beside themselves; those that took the place of others beside these, one by one.
    """
    # Most edits are short; what stands before and after them is not searched.
    most = min(len(first), len(second))
    head = next((i for i in range(most) if first[i] != second[i]), most)
    tail = next((i for i in range(most - head) if first[-1 - i] != second[-1 - i]), most - head)
    found: list[tuple[int | None, int | None]] = [(i, i) for i in range(head)]
    inner = first[head : len(first) - tail], second[head : len(second) - tail]
    for _, a, b, c, d in SequenceMatcher(None, *inner, autojunk=False).get_opcodes():
        found += zip_longest(range(head + a, head + b), range(head + c, head + d))
    return found + list(zip(range(len(first) - tail, len(first)), range(len(second) - tail, len(second))))


def changed_spans(text: str, other: str) -> tuple[tuple[int, int], ...]:
    """Where words of a text stand that another version has not in their place: characters [start, end), in order; none
    where it is no edit of that.
    """
    if not is_edit(text, other):
        return ()
    places, others = find_words(text), find_words(other)
    words, against = [text[a:b] for a, b in places], [other[a:b] for a, b in others]
    stay = {i for i, j in aligned(words, against) if i is not None and j is not None and words[i] == against[j]}
    return tuple(place for i, place in enumerate(places) if i not in stay)


def is_edit(first: str, second: str) -> bool:
    """Whether two texts share enough words, in whatever order, that one is an edit of the other: half of those of both
    together, at least.
    """
    words = Counter(first.split()), Counter(second.split())
    return 2 * (words[0] & words[1]).total() >= LIKE * (words[0].total() + words[1].total()) > 0


@dataclass(frozen=True, eq=False)
class Version:
    """One of two versions of a text under one model: how it is called, text; its features, logits float32[C], p of the
    unmasked text (None without a reference) and the class of its label (None without one).
    """

    name: str
    encoded: Encoded
    logits: np.ndarray
    p: float | None
    label: int | None = None

    @property
    def probabilities(self) -> np.ndarray:
        """Softmax of its logits, float64[C]."""
        return softmax(self.logits)

    @property
    def predicted(self) -> int:
        return int(self.logits.argmax())

    @property
    def words(self) -> list[str]:
        """Its features as they are spelled, F texts."""
        return [feature.text for feature in self.encoded.features]


def changed_places(first: Version, second: Version, places: list) -> list[tuple[int | None, int | None]]:
    """Those of `aligned` at which the words differ."""
    return [(i, j) for i, j in places if i is None or j is None or first.words[i] != second.words[j]]


def version_rows(first: Version, second: Version, labels: Sequence[str], target: Target, p: Sequence[str]) -> list:
    """What is said of two versions, for a table: [what, of the first, of the second, change].

    p: as they are drawn, two texts; "" where there is no reference.
    """
    rows = [["prediction", labels[first.predicted], labels[second.predicted], ""]]
    if first.label is not None or second.label is not None:
        rows.insert(0, ["label", *("—" if one.label is None else labels[one.label] for one in (first, second)), ""])
    values = [float(value_of(one.logits, target)) for one in (first, second)]
    rows.append([score_name(labels, target), *map(number, values), f"{values[1] - values[0]:+.3g}"])
    return rows + ([["p (calibrated) of the unmasked text", *p, ""]] if any(p) else [])


def largest_of(first: WordRow, second: WordRow) -> float:
    """The scale on which the words of two versions are coloured alike: the largest value of both, at least 0."""
    return 0.0 if first.kind == "rank" else max(first.largest, second.largest)


def changed_cells(first: WordRow, second: WordRow, words: tuple[Sequence[str], Sequence[str]], places: list) -> list:
    """One measure for a table, text: the values of the words that changed, and of those that stayed the one that moved
    most; `places` as `aligned` gives them.
    """
    kept = [(i, j) for i, j in places if i is not None and j is not None and words[0][i] == words[1][j]]
    changed = [pair for pair in places if pair not in set(kept)]
    cells = [_moved(first, second, words, i, j) for i, j in changed[:NAMED]]
    rest = [f"and {len(changed) - NAMED} more"] if len(changed) > NAMED else []
    free = [(i, j) for i, j in kept if not first.masked[i] and not second.masked[j]]
    moved = [abs(_size(second, j) - _size(first, i)) for i, j in free]
    most = "—" if not moved or not max(moved) else _moved(first, second, words, *free[int(np.argmax(moved))])
    return ["; ".join(cells + rest) or "—", most]


def _size(row: WordRow, i: int) -> float:
    return float(row.places[i] if row.kind == "rank" else row.scores[i])


def _moved(first: WordRow, second: WordRow, words, i: int | None, j: int | None) -> str:
    before = "(nothing)" if i is None else f"“{words[0][i]}” {value_text(first, i)}"
    if i is not None and j is not None and words[0][i] == words[1][j]:
        return f"{before} → {value_text(second, j)}"
    return f"{before} → {'(nothing)' if j is None else f'“{words[1][j]}” {value_text(second, j)}'}"
