"""Greedy attacks: word by word in order of importance, of each the best of what may stand for it."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from core.attacks.victim import Victim, Words, exchanged


def go_through(victim: Victim, order: Iterable[int], offered: Callable[[Words, int], Sequence[str]]) -> Words:
    """Change words in an order until another class is predicted, the room is used or no query is left.

    Args:
        order: features; offered: what may stand for a feature of a text.
    Returns:
        The words of the last text.
    """
    words, wrong = victim.words, float(victim.ask([victim.words]).wrong[0])
    for place in order:
        if victim.spent or len(victim.changed(words)) == victim.room:
            break
        candidates = [exchanged(words, place, word) for word in offered(words, place)]
        chosen = victim.choose(candidates, wrong) if candidates else None
        if chosen is not None:
            words, wrong, flips = chosen
            if flips:
                break
    return words


def by_importance(victim: Victim, instead: str) -> list[int]:
    """Free features, the largest rise of wrongness first when `instead` stands for them ("" leaves them out)."""
    found = victim.ask([exchanged(victim.words, place, instead) for place in victim.free]).wrong
    return [victim.free[i] for i in np.argsort(-found, kind="stable")]
