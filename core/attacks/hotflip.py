"""HotFlip: the flips of words that the gradient says raise the loss most."""

import numpy as np

from core.attacks.registry import Attack, register
from core.attacks.victim import Victim, Words, exchanged
from core.network.features import Encoded

# Flips of the largest estimates that are tried at each step.
TRIED = 16


def flip_words(victim: Victim) -> Words:
    """Flip word by word: of all near words in all places the 16 with the largest first-order estimate of the loss's
    increase are tried, and the best that the budget allows is kept.

    Departure: flips of whole words to words of a cosine of at least 0.35 (the paper: 0.8 in word2vec, and parts of
    speech), and no beam.

    Source: Ebrahimi et al. 2018, Eq. 10 and §6.
    """
    words, wrong = victim.words, float(victim.ask([victim.words]).wrong[0])
    while not victim.spent:
        candidates = estimated_flips(victim, words)[:TRIED]
        chosen = victim.choose(candidates, wrong) if candidates else None
        if chosen is None:
            break
        words, wrong, flipped = chosen
        if flipped:
            break
    return words


def estimated_flips(victim: Victim, words: Words) -> list[Words]:
    """Texts one flip away that the room allows, the largest estimate g·(e′ − e) first."""
    found = victim.gradient(words)
    if found is None:
        return []
    gradient, encoded = found
    changed, offered = victim.changed(words), []
    for place in victim.free if len(changed) < victim.room else changed:
        at = _token(encoded, place)
        if at is None:
            continue
        vocabulary = victim.vocabulary
        near = vocabulary.near(victim.words[place])
        own = vocabulary.embeddings[vocabulary.place(words[place])] if len(near) else 0.0
        estimates = (vocabulary.embeddings[near] - own) @ gradient[at]
        spelled = (vocabulary.spelled(int(one), victim.words[place]) for one in near)
        offered += [
            (float(estimate), place, word) for estimate, word in zip(estimates, spelled) if word != words[place]
        ]
    offered.sort(key=lambda one: -one[0])
    return [exchanged(words, place, word) for _, place, word in offered]


def _token(encoded: Encoded, place: int) -> int | None:
    """Where the token of a word of one token stands."""
    found = np.flatnonzero(encoded.feature_of == place)
    return int(found[0]) if len(found) == 1 else None


register(Attack(name="HotFlip", source="Ebrahimi et al. 2018", compute=flip_words, order=40))
