"""A sample of a data set as a model is checked on: labelled examples, drawn once for a seed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.data.browsing import LabelMatch, match_labels
from core.data.examples import DataSet, Example, first_places
from core.data.parsed import BadData
from core.network.features import BOTH, FIRST
from core.wording import listed

# Texts of a sample unasked, and of one of which every measure is scored by every metric, which is dear.
SAMPLE, SCORED = 200, 100


@dataclass(frozen=True, eq=False)
class Sample:
    """N labelled examples; labels int64[N], classes of the model; name and digest of their data set; notes: sentences
    on what was left out or lacks; picked: how they were picked where performance on them says that, "by hand", else "";
    match: how labels were tied to classes; maskable: which texts of its pairs are masked.
    """

    name: str
    digest: str
    examples: tuple[Example, ...]
    labels: np.ndarray
    notes: tuple[str, ...] = ()
    picked: str = ""
    match: LabelMatch = field(default_factory=lambda: LabelMatch({}))
    maskable: str = FIRST

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def paired(self) -> bool:
        """Whether its examples have a second text."""
        return any(example.second is not None for example in self.examples)

    @property
    def whole(self) -> str:
        """What is masked at 100 %, in words: of a pair the first text alone unasked, where cards mask both."""
        return f"all{self.of_part}" if self.of_part else "everything"

    @property
    def of_part(self) -> str:
        """What stands behind a share that is masked."""
        return f" of the {self.maskable} text" if self.paired and self.maskable != BOTH else ""

    @property
    def one_class(self) -> bool:
        return len(np.unique(self.labels)) < 2


def draw_sample(data: DataSet, classes: tuple[str, ...], count: int = SAMPLE, seed: int = 0) -> Sample:
    """Draw labelled examples, each text once, without replacement, in the order of drawing; a larger count draws the
    same ones and then more, so that the first few stand for the whole.

    Args:
        classes: the model's class names; labels are tied to them as on the page Examples.
    Raises:
        BadData: the data has no labels, or none that the model has as a class.
        ValueError: count below 1.
    """
    if count < 1:
        raise ValueError(f"the sample has {count} examples; it must have at least 1")
    match = match_labels(data.classes, classes, data.ordered)
    usable = [example for example in data.examples if example.label in match.classes]
    if all(example.label is None for example in data.examples):
        raise BadData(f"{data.name} has no labels. Choose labelled data, or name the column of the label.")
    if not usable:
        raise BadData(
            f"None of the labels of {data.name} ({listed(data.classes, 6)}) is a class of this model "
            f"({listed(classes, 6)}). Choose data of the model’s own task; or name labels in class order."
        )
    examples = draw_examples(usable, count, seed)
    labels = np.array([match.classes[example.label or ""] for example in examples], dtype=np.int64)
    notes = [match.how] if match.how else []
    notes += [*_unknown_note(data, usable), *_absent_note(labels, classes), *repeats_note(usable)]
    return Sample(data.name, data.digest, examples, labels, tuple(notes), match=match)


def once(examples: Sequence[Example]) -> tuple[Example, ...]:
    """The first example of each text, pairs by both texts, in their order."""
    return tuple(example for i, (example, first) in enumerate(zip(examples, first_places(examples))) if first == i)


def repeats_note(examples: Sequence[Example]) -> tuple[str, ...]:
    """That texts which repeat are counted once, a sentence; () where all are different."""
    again = len(examples) - len(once(examples))
    told = f"Each text counts once: {again:,} of {len(examples):,} examples repeat the text of another."
    return (told,) if again else ()


def scored_sample(data: DataSet) -> Sample:
    """The texts that *Scoreboard* takes unasked, for whoever tells of what is known of them."""
    return without_labels(data.name, data.digest, draw_examples(data.examples, SCORED))


def draw_examples(examples: Sequence[Example], count: int, seed: int = 0) -> tuple[Example, ...]:
    """Draw examples, each text once, without replacement and in the order of drawing, as `draw_sample` draws labelled
    ones; a larger count draws the same ones and then more. ValueError: count below 1.
    """
    if count < 1:
        raise ValueError(f"the sample has {count} examples; it must have at least 1")
    different = once(examples)
    return tuple(different[i] for i in np.random.default_rng([seed, 11]).permutation(len(different))[:count])


def without_labels(name: str, digest: str, examples: Sequence[Example]) -> Sample:
    """Examples as a sample for questions that ask for no label; all labels are 0."""
    return Sample(name, digest, tuple(examples), np.zeros(len(examples), dtype=np.int64))


def same_examples(sample: Sample, data: DataSet, classes: tuple[str, ...]) -> Sample:
    """The examples of a sample for another model; BadData where that one lacks a class of theirs."""
    match = match_labels(data.classes, classes, data.ordered)
    lacking = tuple(dict.fromkeys(example.label for example in sample.examples if example.label not in match.classes))
    if lacking:
        raise BadData(f"it has no class for the label {listed(lacking, 6)} of these examples.")
    labels = [match.classes[example.label or ""] for example in sample.examples]
    return replace(sample, labels=np.array(labels, dtype=np.int64), notes=(), match=match)


def _unknown_note(data: DataSet, usable: Sequence[Example]) -> tuple[str, ...]:
    unknown = len(data) - len(usable)
    return (f"{unknown:,} of {len(data):,} examples have no label that the model knows.",) if unknown else ()


def _absent_note(labels: np.ndarray, classes: tuple[str, ...]) -> tuple[str, ...]:
    absent = [name for c, name in enumerate(classes) if not (labels == c).any()]
    return (f"No example of the sample has the label {listed(absent, 6)}.",) if absent else ()
