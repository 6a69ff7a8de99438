"""Word substitution: near words in place of those that matter most."""

from core.attacks.greedy import by_importance, go_through
from core.attacks.registry import Attack, register
from core.attacks.victim import Victim, Words
from core.attacks.vocabulary import NEAREST


def substitute(victim: Victim) -> Words:
    """Exchange words, the largest effect of leaving one out first, for near ones of the model's input embeddings.

    Departure: neighbours are those of the model's input embeddings instead of counter-fitted vectors, so that antonyms
    are among them, and no tagger compares parts of speech.

    Source: Jin et al. 2020 (TextFooler), Alg. 1.
    """
    return go_through(victim, by_importance(victim, ""), lambda words, place: substitutes(victim, place))


def substitutes(victim: Victim, place: int, most: int | None = NEAREST) -> list[str]:
    """What may stand for a word of the text, the nearest first."""
    word, vocabulary = victim.words[place], victim.vocabulary
    return [vocabulary.spelled(int(one), word) for one in vocabulary.near(word, most)]


register(Attack(name="substitution", source="Jin et al. 2020", compute=substitute, order=20))
