"""Examples made up in parts, of which a model is right on so many."""

import numpy as np

from core.data.browsing import Index, judge, match_labels
from core.data.examples import DataSet, Example

LABELS = ("negative", "positive")


def made(parts: list[tuple[int, int, tuple[str, ...]]]):
    """Examples in parts, each (examples, how many of them are judged right, tags); labels alternate."""
    examples, p = [], []
    for count, right, tags in parts:
        for i in range(count):
            label = len(examples) % 2
            examples.append(Example(f"e{len(examples)}", f"a {len(examples)}", None, LABELS[label], tags))
            p.append([0.9, 0.1] if (label == 0) == (i < right) else [0.1, 0.9])
    index = Index(DataSet("made", "0" * 64, tuple(examples), LABELS))
    return index, judge(index, LABELS, match_labels(LABELS, LABELS), np.array(p))
