"""How far attributions of one text move from seed to seed of a family, and which words matter to every seed."""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from core.explanation.explainer import Explainer
from core.explanation.rows import choose_variant
from core.mathematics.ranking import ranking, spearman, top_overlap
from core.measures.catalogue import measure
from core.network.features import Encoded, placed_texts
from core.network.scheduler import NonFinite
from core.oracle.target import Target
from core.wording import as_json, number

# Words that a seed ranks first.
TOP = 3
COLUMNS = ["measure", "Spearman ↑", "top-3 overlap ↑", "seeds"]
WORDS = ["word", "measure", "in top 3"]


@dataclass(frozen=True, eq=False)
class SeedsOfText:
    """What S seeds say of a text by one measure.

    places: of the F' features that can be masked, from 0; words: these, told apart; scores: float64[S, F'] of one
    variant; seeds: of the trainings, in the order of scores; planned: how many there are to be.
    """

    measure: str
    variant: str
    places: tuple[int, ...]
    words: tuple[str, ...]
    scores: np.ndarray
    seeds: tuple[int, ...]
    planned: int

    @property
    def correlation(self) -> float:
        """Mean of Spearman's ρ over pairs of seeds, NaN of fewer than two with an order."""
        found = [rho for a, b in combinations(self.scores, 2) if (rho := spearman(a, b)) == rho]
        return float(np.mean(found)) if found else float("nan")

    @property
    def overlap(self) -> float:
        """Share of their first three that two seeds have in common, mean over pairs; NaN of fewer than two."""
        pairs = list(combinations(self.scores, 2))
        return float(np.mean([top_overlap(a, b, TOP) for a, b in pairs])) if pairs else float("nan")

    @property
    def counts(self) -> np.ndarray:
        """In how many seeds each feature is among the first three, int64[F']."""
        first = [ranking(one)[:TOP] for one in self.scores]
        return np.bincount(np.concatenate(first), minlength=len(self.words)) if first else np.zeros(0, np.int64)

    @property
    def steady(self) -> list[str]:
        """Words that are among the first three of every seed; none of fewer than two."""
        every = len(self.seeds)
        return [word for word, count in zip(self.words, self.counts) if count == every] if every > 1 else []

    @property
    def complete(self) -> bool:
        return len(self.seeds) == self.planned

    def cells(self) -> list[str]:
        """Its line under COLUMNS, text."""
        return [self.measure, number(self.correlation), number(self.overlap), f"{len(self.seeds)} of {self.planned}"]

    def word_cells(self) -> list[list[str]]:
        """Its lines under WORDS, the word of the most seeds in front, text; without words of no seed."""
        often = [i for i in np.argsort(-self.counts, kind="stable").tolist() if self.counts[i]]
        return [[self.words[i], self.measure, f"{self.counts[i]} of {len(self.seeds)}"] for i in often]

    def lines(self) -> list[list[Any]]:
        """All of it under `core.stability.telling.RECORDED`: plain values, one line each."""
        own, S = [self.measure, self.variant], len(self.seeds)
        found_of = (("Spearman", self.correlation), ("top-3 overlap", self.overlap))
        found: list[list[Any]] = [[*own, what, S, None, None, as_json(value), None, ""] for what, value in found_of]
        for place, word, count in zip(self.places, self.words, self.counts.tolist()):
            found.append([*own, "in top 3", S, place + 1, word, count, None, ""])
        return found


def compare_seeds(
    opened: Callable[[str], Explainer],
    members: Mapping[str, int],
    encoded: Encoded,
    read: Callable[[Explainer], Encoded],
    target: Target,
    names: Sequence[str],
    sign: str,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[list[SeedsOfText], None, list[SeedsOfText]]:
    """Attribute a text by each model of a family; yields what is known after each, and returns all of it.

    A measure that gives NaN under a seed is compared without it. One model is in memory at a time.

    Args:
        opened: loads a member; members: {name: seed}; encoded: the text as the first reads it; read: as another does.
        target: the class that is explained, the same for each; sign: which values.
        progress: called with (seeds done, seeds).
    Raises:
        ValueError: a member that reads other words, or has other classes; Cancelled, OutOfMemory: as `attribute`.
    """
    scores: dict[str, dict[int, np.ndarray]] = {name: {} for name in names}
    labels: Collection[str] = ()
    for done, (name, seed) in enumerate(members.items()):
        explainer = opened(name)
        own = read(explainer)
        labels = labels or explainer.model.labels
        if own.F != encoded.F or labels != explainer.model.labels:
            raise ValueError(f"{name} has other classes or words. Leave it out.")
        for one in names:
            try:
                found = explainer.attribute(own, one, target, cancelled=cancelled)
            except NonFinite:
                continue
            scores[one][seed] = found.scores[choose_variant(measure(one), sign)][~encoded.premasked]
        if progress is not None:
            progress(done + 1, len(members))
        yield _so_far(scores, encoded, sign, len(members))
    return _so_far(scores, encoded, sign, len(members))


def _so_far(scores: Mapping[str, Mapping[int, np.ndarray]], encoded: Encoded, sign: str, S: int) -> list[SeedsOfText]:
    free, words = np.flatnonzero(~encoded.premasked).tolist(), placed_texts(encoded.features)
    return [
        SeedsOfText(
            name,
            choose_variant(measure(name), sign),
            tuple(free),
            tuple(words[i] for i in free),
            np.array(list(of.values())).reshape(-1, len(free)),
            tuple(of),
            S,
        )
        for name, of in scores.items()
    ]
