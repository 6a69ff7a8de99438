"""The genetic attack: texts with near words that are crossed and changed further, the most wrong most often."""

import numpy as np

from core.attacks.registry import Attack, register
from core.attacks.substitution import substitutes
from core.attacks.victim import Victim, Words, exchanged

POPULATION, GENERATIONS, NEAREST = 20, 10, 8


def evolve(victim: Victim) -> Words:
    """Change a population of texts until one is predicted otherwise.

    A parent is drawn in proportion to its wrongness; a child has each word of one of two parents, and one word changed
    to the best of 8 neighbours. The most wrong text lives on.

    Departure: 20 texts and at most 10 generations, where the paper has 60 and 20; no language model ranks neighbours,
    which are those of the model's input embeddings; a similarity floor instead of a language model.

    Source: Alzantot et al. 2018, Alg. 1.
    """
    offered = {place: substitutes(victim, place, NEAREST) for place in victim.free}
    offered = {place: words for place, words in offered.items() if words}
    best = victim.words
    if not offered:
        return best
    population = [perturb(victim, victim.words, offered) for _ in range(POPULATION)]
    for _ in range(GENERATIONS):
        found = victim.ask(population)
        flipping = [one for one, flips in zip(population, found.flips) if flips]
        if flipping:
            alike = victim.similar(flipping)
            if alike.max() >= victim.budget.similarity:
                return flipping[int(alike.argmax())]
        # What flips and is no text of the budget is not bred from.
        fitness = np.where(found.flips | (found.wrong < 0), 0.0, found.wrong)
        best = population[int(fitness.argmax())]
        if victim.spent:
            break
        shares = (fitness + 1e-12) / (fitness + 1e-12).sum()
        parents = victim.rng.choice(len(population), size=(POPULATION - 1, 2), p=shares)
        children = [cross(victim, population[a], population[b]) for a, b in parents]
        population = [best, *(perturb(victim, child, offered) for child in children)]
    return best


def perturb(victim: Victim, words: Words, offered: dict[int, list[str]]) -> Words:
    """One word changed to the most wrong of its neighbours, a word with more neighbours more likely; with all room
    used, one that is changed already.
    """
    changed = victim.changed(words)
    places = [place for place in offered if len(changed) < victim.room or place in changed]
    weights = np.array([len(offered[place]) for place in places], dtype=np.float64)
    place = int(victim.rng.choice(places, p=weights / weights.sum()))
    candidates = [exchanged(words, place, word) for word in offered[place]]
    return candidates[int(victim.ask(candidates).wrong.argmax())]


def cross(victim: Victim, one: Words, other: Words) -> Words:
    """A child of two texts; where it changed more words than it may, some are put back."""
    child = tuple(pair[side] for pair, side in zip(zip(one, other), victim.rng.integers(2, size=len(one))))
    changed = victim.changed(child)
    for place in victim.rng.permutation(changed)[victim.room :]:
        child = exchanged(child, int(place), victim.words[place])
    return child


register(Attack(name="genetic", source="Alzantot et al. 2018", compute=evolve, order=30))
