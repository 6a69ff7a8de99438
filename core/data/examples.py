"""Examples to look at, and sets of them: those that ship with the project are read from JSON Lines."""

import functools
import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from core.data.parsed import BadData
from core.data.parsing import json_objects
from core.data.stories import PLACES, TASKS, Story, stories
from core.settings import BUNDLED

FOLDER = BUNDLED / "examples"
FIRST_REVIEWS, HARD_REVIEWS = "ordinary reviews", "reviews"
_FILES = {
    FIRST_REVIEWS: "ordinary_reviews.jsonl",
    HARD_REVIEWS: "reviews.jsonl",
    "contrast pairs": "contrast_pairs.jsonl",
    "news": "news.jsonl",
}
# Pages show these titles; addresses, commands and stored results keep the names.
_TITLES = {HARD_REVIEWS: "hard reviews"}
# Measures disagree on it, and masking changes the prediction: every page shows something (`tests/shipped_work.py`).
_FIRST = {FIRST_REVIEWS: "r101", HARD_REVIEWS: "s104"}
_STORIES = {f"stories {task}": task for task in TASKS}
_FACTS = {1: "one fact", 2: "two facts", 3: "three facts"}
# Far from the seeds of training, so that none of these was trained on.
SHOWN_SEED, SHOWN = 20_000, 200
TWICE = "told twice"


@dataclass(frozen=True, slots=True)
class Example:
    """One text (or pair) with its label's name and what is known about it; label None for typed text.

    evidence: characters [start, end) of the first text that its label rests on, where that is known; pair: id of the
    example of the same set that is one edit away, "" where there is none.
    """

    id: str
    text: str
    second: str | None = None
    label: str | None = None
    tags: tuple[str, ...] = ()
    note: str = ""
    evidence: tuple[tuple[int, int], ...] = ()
    pair: str = ""


@dataclass(frozen=True, eq=False)
class DataSet:
    """N examples of one source, ids all different.

    digest: SHA-256 over what was read and how its columns were understood; classes: names of the
    labels, in the source's order, () without labels; notes: sentences on what was left out or repaired; rows: the
    file's numbers of the N rows, () for 1…N; ordered: whether classes stand in the order in which the source numbers
    them.
    """

    name: str
    digest: str
    examples: tuple[Example, ...]
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    ordered: bool = False

    def __len__(self) -> int:
        return len(self.examples)


def first_places(examples: Sequence[Example]) -> np.ndarray:
    """Of each example the place of the first one with its text, int64[N], pairs by both texts."""
    first: dict[tuple[str, str | None], int] = {}
    places = [first.setdefault((one.text, one.second), i) for i, one in enumerate(examples)]
    return np.array(places, dtype=np.int64)


def bundled_data() -> dict[str, str]:
    """Names of the shipped example sets and what each holds."""
    return {
        FIRST_REVIEWS: "Review sentences of ordinary difficulty",
        HARD_REVIEWS: "Review sentences, most of them hard",
        "contrast pairs": "Sentence pairs, one edit apart, with opposite labels",
        "news": "News items",
        **{name: f"Stories with known evidence, {_FACTS[task]} each" for name, task in _STORIES.items()},
    }


def title(name: str) -> str:
    """What pages call a data set; its name where nothing else is said."""
    return _TITLES.get(name, name)


def first_example(name: str) -> str | None:
    """The example that a shipped set shows first, where that is not its first; None for other data."""
    return _FIRST.get(name)


def read_bundled(name: str) -> list[Example]:
    """Read a shipped example set; KeyError where there is none of this name, BadData names a damaged line."""
    if name in _STORIES:
        return list(_told(_STORIES[name]))
    return read_examples(FOLDER / _FILES[name])


def story_example(story: Story, id: str, tags: tuple[str, ...] = ()) -> Example:
    """A story as an example: the first text is the story, the second its question."""
    return Example(id, story.text, story.question.sentence, story.answer, tags, "", story.evidence)


def write_stories(
    path: Path,
    task: int,
    count: int,
    seed: int,
    sentences: int | None = None,
    redundant: float = 0.0,
    balanced: bool = False,
) -> None:
    """Write stories as JSON Lines: id, text, second, label, and evidence as [start, end] of characters; ValueError as
    `stories`, or for a count below 1.

    balanced: every place is the answer equally often (one more of some where the count asks for it), so that no
    constant answer is ahead by chance.
    """
    if count < 1:
        raise ValueError(f"{count} stories cannot be written; ask for at least 1")
    told = stories(task, seed, sentences, redundant)
    told = itertools.islice(_balanced(told, count) if balanced else told, count)
    with path.open("w", encoding="utf-8") as file:
        for i, story in enumerate(told, start=1):
            example = story_example(story, f"s{task}-{seed}-{i}", (TWICE,) if len(story.facts[0]) > 1 else ())
            row = {key: value for key, value in asdict(example).items() if key not in ("note", "pair")}
            file.write(json.dumps(row) + "\n")


def _balanced(told: Iterator[Story], count: int) -> Iterator[Story]:
    """The stories whose answer is still wanted: a share for each place, rounded up for the first of them."""
    left = {place: count // len(PLACES) + (i < count % len(PLACES)) for i, place in enumerate(PLACES)}
    for story in told:
        if left[story.answer]:
            left[story.answer] -= 1
            yield story


@functools.cache
def _told(task: int) -> tuple[Example, ...]:
    """Every fourth story states each supporting fact twice; of either kind every place is the answer equally often."""
    plain, twice = (
        _balanced(stories(task, SHOWN_SEED, redundant=share), count)
        for share, count in ((0.0, 3 * SHOWN // 4), (1.0, SHOWN // 4))
    )
    found = (
        story_example(next(twice), f"s{task}-{i:03d}", (TWICE,))
        if i % 4 == 0
        else story_example(next(plain), f"s{task}-{i:03d}")
        for i in itertools.count(1)
    )
    return tuple(itertools.islice(found, SHOWN))


def bundled_set(name: str) -> DataSet:
    """A shipped example set with its digest; raises as `read_bundled` does."""
    found = tuple(read_bundled(name))
    if name in _STORIES:
        # Stories have no pairs; their digest is that of what they are.
        told = [{key: value for key, value in asdict(example).items() if key != "pair"} for example in found]
        content, classes = json.dumps(told, sort_keys=True).encode(), PLACES
    else:
        content = (FOLDER / _FILES[name]).read_bytes()
        classes = tuple(sorted({e.label for e in found if e.label is not None}))
    sst = classes == ("negative", "positive")
    return DataSet(name, hashlib.sha256(content).hexdigest(), found, classes, ordered=sst)


def read_examples(path: Path) -> list[Example]:
    """Read `id`, `text`, `label` and, where given, `second`, `tags`, `note`, `pair` from JSON Lines."""
    found = []
    for number, row in enumerate(json_objects(path.read_text(encoding="utf-8"), path.name), start=1):
        if not isinstance(row.get("text"), str) or not row["text"].strip():
            raise BadData(f"{path.name}, line {number}: 'text' is missing or empty.")
        label = row.get("label")
        found.append(
            Example(
                str(row.get("id", number)),
                row["text"],
                row.get("second"),
                None if label is None else str(label),
                tuple(row.get("tags", ())),
                row.get("note", ""),
                pair=row.get("pair", ""),
            )
        )
    return found
