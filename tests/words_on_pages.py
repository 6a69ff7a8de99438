"""What a visitor must read: visible words of a page by block, and whether its picture is in the first view."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from core.data.examples import bundled_data, read_bundled
from tests.browsing import script

# A block of fewer words is a label.
BLOCK = 6
# The innermost block of each visible text, where it begins, and its words; tables, pictures and fields are left out.
TEXTS = script("texts")
# Where the first picture begins: a figure, the player, or coloured words.
PICTURE = script("picture")


class Words(NamedTuple):
    """Words of blocks that begin in the first view and on the whole page, and of all that is written; the blocks."""

    view: int
    page: int
    every: int
    blocks: list[str]


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’.-][^\W_]+)*", text.lower())


def texts_of_examples() -> list[set[str]]:
    """The words of each bundled example."""
    return [
        set(words_of(f"{one.text} {one.second or ''} {one.note}"))
        for name in bundled_data()
        for one in read_bundled(name)
    ]


def count_words(page, height: int, known: Sequence[set[str]]) -> Words:
    """Count the words of a page; what mostly stands in one of the known texts is the example's own."""
    view = whole = every = 0
    blocks = []
    for top, text in page.evaluate(TEXTS):
        said = words_of(text)
        if any(len(one) > 3 and sum(word in one for word in said) >= 0.8 * len(said) for one in known):
            continue
        every += len(said)
        if len(said) < BLOCK:
            continue
        whole += len(said)
        view += len(said) * (top < height)
        blocks.append(" ".join(text.split()))
    return Words(view, whole, every, blocks)
