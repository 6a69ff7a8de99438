"""A text's part of the matrix text × attribution × metric, which scores, scoreboard and diagnosticity share.

What is kept of it is read; what the rest asks of the network goes there in full batches.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from core.judging.judging import Judge, Rated, rate_kept, read_rated
from core.metrics.catalogue import metrics
from core.oracle.erasing import NothingLeft

# Scores float64[F], and whether they are magnitudes.
Scores = tuple[np.ndarray, bool]


def prepare(
    judge: Judge, attributions: Sequence[Scores], names: Sequence[Sequence[str]], one_draw: bool = False
) -> None:
    """Ask for every input of metrics at once, in full batches; names: of each attribution its metrics; one_draw: of the
    r-th attribution the r-th draw alone.
    """
    asked: list[np.ndarray] = []
    kept: dict[str, list[tuple[int | None, np.ndarray]]] = {}
    C, K = judge.explainer.model.C, 1 if one_draw else judge.how.draws

    def erased(masks: np.ndarray) -> np.ndarray:
        asked.append(masks)
        return np.full((len(masks), C), 1 / C)

    for a, (scores, magnitudes) in enumerate(attributions):

        def perturbed(retain: np.ndarray, kind: str, a: int = a) -> np.ndarray:
            kept.setdefault(kind, []).append((a if one_draw else None, np.array(retain, dtype=np.float64)))
            return np.full(K, 0.5)

        def single(retains: Sequence[np.ndarray], draws: Sequence[int], kind: str, a: int = a) -> np.ndarray:
            asked_of = [a] * len(retains) if one_draw else draws
            kept.setdefault(kind, []).extend(zip(asked_of, map(np.array, retains)))
            return np.full(len(retains), 0.5)

        # Rehearsed with made-up answers: what is asked does not depend on them.
        case = replace(judge.case(scores, magnitudes), erased=erased, perturbed=perturbed, single=single)
        for name in names[a]:
            metrics()[name](case)
    if asked:
        # Where removal leaves nothing of a text, the metrics that need that input say so one by one.
        with contextlib.suppress(NothingLeft):
            judge.erased(np.unique(np.concatenate(asked), axis=0))
    for kind, retains in kept.items():
        judge.soft.ask([retain for _, retain in retains], kind, [k for k, _ in retains])


def rate_all(
    judge: Judge, attributions: Sequence[Scores], names: Sequence[Sequence[str]], kept: Sequence[bool]
) -> Iterator[Rated]:
    """Each attribution under its metrics, in full batches; kept: of which of them soft scores are read from the store,
    and kept there.
    """
    held = [
        {name: known for name in asked if keep and (known := read_rated(judge, name, *one)) is not None}
        for one, asked, keep in zip(attributions, names, kept)
    ]
    prepare(judge, attributions, [[name for name in asked if name not in one] for asked, one in zip(names, held)])
    for (scores, magnitudes), asked, known, keep in zip(attributions, names, held, kept):
        each = [
            known.get(name)
            or (rate_kept(judge, name, scores, magnitudes) if keep else judge.rate(scores, (name,), magnitudes))
            for name in asked
        ]
        found = {name: score for one in each for name, score in one.found.items()}
        yield Rated(scores, found, {name: inputs for one in each for name, inputs in one.inputs.items()})


def rate_random(judge: Judge, names: Sequence[str]) -> list[Rated]:
    """As many random attributions under metrics as the judge has draws; soft metrics take one draw of each."""
    every = [judge.random(r) for r in range(judge.how.draws)]
    prepare(judge, [(scores, True) for scores in every], [names] * len(every), one_draw=True)
    rated = []
    try:
        for r, scores in enumerate(every):
            judge.draw = r
            rated.append(judge.rate(scores, names))
    finally:
        judge.draw = None
    return rated
