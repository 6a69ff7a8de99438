"""DeepWordBug: typing errors in the words that matter most."""

import string

import numpy as np

from core.attacks.greedy import by_importance, go_through
from core.attacks.registry import Attack, register
from core.attacks.victim import Victim, Words, is_word


def deep_word_bug(victim: Victim) -> Words:
    """Edit the words whose exchange for the unknown token raises the error most, each by the best of four edits.

    Departure: the paper's four word scores need not be added up, since the whole text is seen; each kind of edit is
    drawn once, and the one that raises the error most is taken. Without an unknown token words are left out.

    Source: Gao et al. 2018, replace-1 score and §IV-B.
    """
    unknown = victim.model.tokenizer.unk_token if victim.model.unknown_id is not None else ""
    order = by_importance(victim, unknown or "")
    return go_through(victim, order, lambda words, place: edits(words[place], victim.rng))


def edits(word: str, rng: np.random.Generator) -> list[str]:
    """Swap two neighbouring letters, substitute, delete and insert one, behind the first.

    Args:
        word: one word; rng: draws the places and letters.
    Returns:
        Those edits that are one word, and another.
    """
    letters = [i for i in range(1, len(word)) if word[i].isalpha()]
    pairs = [i for i in letters[:-1] if word[i + 1].isalpha() and word[i] != word[i + 1]]
    found = []
    if pairs:
        i = int(rng.choice(pairs))
        found.append(word[:i] + word[i + 1] + word[i] + word[i + 2 :])
    if letters:
        i, j, k = (int(one) for one in rng.choice(letters, 3))
        drawn, more = rng.choice([*string.ascii_lowercase], 2)
        found += [word[:i] + drawn + word[i + 1 :], word[:j] + word[j + 1 :], word[:k] + more + word[k:]]
    return [one for one in dict.fromkeys(found) if one != word and is_word(one)]


register(Attack(name="DeepWordBug", source="Gao et al. 2018", compute=deep_word_bug, order=10))
