"""Interactions of an example: every pair of its features, from every set of them or a sample, kept in the store."""

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from core.explanation.explainer import Asked, Cost, Explainer
from core.explanation.limiting import exact_cost, left_over, refuse_dear
from core.interactions.splitting import (
    INDEX,
    MOST_SAMPLED,
    ORDER,
    Split,
    load_library,
    sample_sets,
    split_by_sample,
    split_exactly,
    splitting_seconds,
)
from core.mathematics.search.limits import MOST_EXACT, score_every_set
from core.mathematics.stepwise import relay
from core.measures.kernel_shap import absent
from core.network.features import Encoded
from core.oracle.target import Target, logit_of, target_key
from core.storage.content import Content, Numbers, is_amount, is_count
from core.storage.store import canonical_key

# Up to so many features every set is asked for without anybody's asking.
AT_ONCE = 12
SEED = 0
_BLOCK = 512


class NoPairs(ValueError):
    """Interactions cannot be had of this text; the message says why, and what to do."""


@dataclass(frozen=True, eq=False)
class Interactions:
    """What pairs of an example's features add to the score, the logit of a class or that of one less that of another.

    split: float64[F] and float64[F, F] over all features, 0 where the text masks one; sets: masked inputs that it rests
    on; exact: whether these are all; F: features that are left to mask; passes, milliseconds: what it took when it was
    computed; stored: read from the store now.
    """

    target: Target
    split: Split
    exact: bool
    sets: int
    F: int
    passes: int
    milliseconds: float
    stored: bool = False


def why_no_pairs(encoded: Encoded, exact: bool = True) -> str:
    """Why interactions cannot be had, and what to do, in a sentence; "" where they can."""
    F, unit, most = left_over(encoded), encoded.unit, MOST_EXACT if exact else MOST_SAMPLED
    if 2 <= F <= most:
        return ""
    return f"Pairs take a text of 2 to {most} {unit}s to mask, and this one has {F:,}: choose another text or unit."


def interactions_cost(explainer: Explainer, encoded: Encoded, exact: bool = True) -> Cost:
    """What they take at most; nothing where they cannot be had, which is said at once."""
    if why_no_pairs(encoded, exact):
        return Cost(0, 0.0)
    F = left_over(encoded)
    passes = exact_cost(explainer, encoded).passes if exact else sample_sets(F)
    seconds = explainer.model.scheduler.counters.seconds_for(passes * encoded.T)
    return Cost(passes, seconds + splitting_seconds(F, exact))


def stored_interactions(
    explainer: Explainer, encoded: Encoded, target: Target, exact: bool = True
) -> Interactions | None:
    """What the store has; None where it has nothing. Computes nothing."""
    if explainer.store is None or why_no_pairs(encoded, exact):
        return None
    entry = explainer.store.get(_key(explainer, encoded, target, exact), _content(encoded.F))
    if entry is None:
        return None
    split, meta = Split(entry.arrays["own"], entry.arrays["pairs"]), entry.meta
    took = meta["passes"], meta["milliseconds"]
    return Interactions(target, split, exact, meta["sets"], left_over(encoded), *took, stored=True)


def find_interactions(
    explainer: Explainer,
    encoded: Encoded,
    target: Target,
    exact: bool = True,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[None, None, Interactions]:
    """Interactions of the pairs of an example, in logits; yields between turns.

    They ask for the sets that exact limits and exact Shapley values ask for, through the same memo; what is computed
    before it is stopped stays known.

    Args:
        exact: from every set of features, else from `sample_sets` of them that seed 0 draws.
    Raises:
        NoPairs: of this text there are none, or too many; nothing is computed then.
        TooDear: every set takes more memory than is free.
        Cancelled, OutOfMemory, NonFinite: as the oracle.
    Source: glossary, Interactions.
    """
    if refused := why_no_pairs(encoded, exact):
        raise NoPairs(refused)
    if (known := stored_interactions(explainer, encoded, target, exact)) is not None:
        return known
    if exact:
        refuse_dear(left_over(encoded))
    oracle, free, before = explainer.oracles.of(encoded), np.flatnonzero(~encoded.premasked), time.perf_counter()
    sets = 1 << len(free) if exact else sample_sets(len(free))
    asked = Asked(oracle, sets, progress, cancelled)

    def value(masks: np.ndarray) -> np.ndarray:
        """The target's logit in blocks, so that whoever waits is told; float64[M] of bool[M, F]."""
        blocks = np.array_split(masks, -(-len(masks) // _BLOCK))
        return np.concatenate([logit_of(asked(block).astype(np.float64), target) for block in blocks])

    # The library takes longer to import than to compute; while the network reads, that costs nothing.
    importing = threading.Thread(target=load_library)
    importing.start()
    try:
        if exact:
            scores = yield from relay(score_every_set(value, encoded.premasked), lambda _: None)
            part = split_exactly(scores)
        else:
            part = split_by_sample(lambda masks: value(absent(~masks, free, encoded.F)), len(free), seed=SEED)
    finally:
        importing.join()
        oracle.flush()
    took = 1000 * (time.perf_counter() - before)
    arrays = {"own": np.zeros(encoded.F), "pairs": np.zeros((encoded.F, encoded.F))}
    arrays["own"][free], arrays["pairs"][np.ix_(free, free)] = part.own, part.pairs
    if explainer.store is not None:
        meta = {"sets": sets, "passes": asked.passes, "milliseconds": took}
        explainer.store.put(_key(explainer, encoded, target, exact), arrays, meta, _content(encoded.F))
    return Interactions(target, Split(**arrays), exact, sets, len(free), asked.passes, took)


def _key(explainer: Explainer, encoded: Encoded, target: Target, exact: bool) -> str:
    return canonical_key(
        "interactions",
        1,
        model=explainer.model.digest,
        precision=explainer.model.precision,
        example=encoded.digest,
        target=target_key(target),
        index=f"{INDEX} of order {ORDER}",
        drawn=None if exact else [sample_sets(left_over(encoded)), SEED],
    )


def _content(F: int) -> Content:
    return Content(
        {"own": Numbers("float64", (F,)), "pairs": Numbers("float64", (F, F))},
        {"sets": is_count, "passes": is_count, "milliseconds": is_amount},
        agrees=lambda arrays, meta: bool((arrays["pairs"] == arrays["pairs"].T).all()),
    )
