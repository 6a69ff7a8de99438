"""The smallest sets of words of one example that change its prediction or keep it, each with the test of its input."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

import numpy as np

from core.explanation.explainer import Cost, Explainer, passes_cost
from core.explanation.limiting import left_over
from core.mathematics.search.fewest import (
    CHANGES,
    EXACT_FEATURES,
    KEEPS,
    WIDTH,
    SmallestSet,
    most_asked,
    none_smaller,
    smallest_set,
)
from core.metrics.registry import NO_FEATURES
from core.network.features import Encoded, NoFeatures
from core.storage.content import Content, Numbers
from core.storage.store import canonical_key
from core.validity.marks import HOLM, Gate, decide
from core.validity.references import CALIBRATED, Reference

KINDS = (CHANGES, KEEPS)


@dataclass(frozen=True, eq=False)
class SmallestSets:
    """Both sets of an example; p: {form: float64[2]} of the inputs that they leave, 1 where there is no set, {} without
    a reference.
    """

    sets: tuple[SmallestSet, SmallestSet]
    p: dict[str, np.ndarray]

    def gate(self, reference: Reference | None, rule: str = HOLM, form: str = CALIBRATED) -> Gate:
        """What the inputs of both come to by a rule."""
        floor = None if reference is None else reference.floor(form)
        erased = [one.erased for one in self.sets if one.erased is not None]
        there = [one.erased is not None for one in self.sets]
        inputs = (
            np.unique(erased, axis=0, return_inverse=True)[1].reshape(-1) if erased else np.empty(0, dtype=np.int64)
        )
        return decide(self.p.get(form, np.ones(2))[there], inputs, max(1, len(np.unique(inputs))), floor, rule)

    def rejected(self, gate: Gate, i: int) -> bool:
        """Whether the input of the i-th set is rejected; False where there is none."""
        there = [place for place, one in enumerate(self.sets) if one.erased is not None]
        return i in there and bool(gate.rejected[there.index(i)])


def sets_cost(explainer: Explainer, encoded: Encoded) -> Cost:
    """What both searches take at most; up to 12 features they ask for the sets of exact limits."""
    free = left_over(encoded)
    return passes_cost(explainer, encoded, most_asked(free) * (1 if free <= EXACT_FEATURES else 2))


def stored_sets(explainer: Explainer, encoded: Encoded) -> tuple[SmallestSet, SmallestSet] | None:
    """What the store has; None where it has nothing. Computes nothing."""
    if explainer.store is None or not left_over(encoded):
        return None
    entry = explainer.store.get(_key(explainer, encoded), _content(encoded.F))
    if entry is None:
        return None
    first, second = (_restored(kind, encoded, entry.arrays, i) for i, kind in enumerate(KINDS))
    return first, second


def _restored(kind: str, encoded: Encoded, arrays: Mapping[str, np.ndarray], i: int) -> SmallestSet:
    free = left_over(encoded)
    if not arrays["found"][i]:
        return SmallestSet(kind, None, None, float("nan"), 0, none_smaller(None, free))
    members = arrays["members"][i].astype(bool)
    exact = none_smaller(int(members.sum()), free)
    erased = (~members if kind == KEEPS else members) | encoded.premasked
    return SmallestSet(kind, members, erased, float(arrays["probability"][i]), int(arrays["count"][i]), exact)


def find_sets(
    explainer: Explainer,
    encoded: Encoded,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[None, None, SmallestSets]:
    """The smallest set whose masking changes the prediction, and the smallest that keeps it with all others masked;
    yields between turns. What is computed before it is stopped stays known.

    Raises:
        NoFeatures: everything is masked already.
        Cancelled, OutOfMemory, NonFinite: as the oracle.
    Source: glossary, Smallest sets.
    """
    free, tested = left_over(encoded), explainer.tested(encoded)
    if not free:
        raise NoFeatures(NO_FEATURES)
    sets, oracle, every = stored_sets(explainer, encoded), explainer.oracles.of(encoded), 2 * most_asked(free)
    try:
        if sets is None:
            found: list[SmallestSet] = []
            for i, kind in enumerate(KINDS):
                search = smallest_set(lambda masks: oracle.logits(masks, cancelled=cancelled), encoded.premasked, kind)
                found.append((yield from _reported(search, i * every // 2, every, progress)))
            sets = found[0], found[1]
            _keep(explainer, encoded, sets)
        p = _tested(explainer, sets, encoded, cancelled)
    finally:
        tested.flush()
    return SmallestSets(sets, p)


def _reported(
    search: Generator[int, None, SmallestSet], before: int, every: int, progress: Callable[[int, int], None] | None
) -> Generator[None, None, SmallestSet]:
    """One search, with what it asked for so far."""
    while True:
        try:
            asked = next(search)
        except StopIteration as end:
            return end.value
        if progress is not None:
            progress(before + asked, every)
        yield


def _tested(
    explainer: Explainer, sets: tuple[SmallestSet, SmallestSet], encoded: Encoded, cancelled: Callable[[], bool] | None
) -> dict[str, np.ndarray]:
    """p-values of what they leave, {form: float64[2]}."""
    there = [i for i, one in enumerate(sets) if one.erased is not None]
    if explainer.reference is None or not there:
        return {}
    masks = np.array([sets[i].erased for i in there])
    judged, p = explainer.tested(encoded).judge(masks, cancelled=cancelled), {}
    for form, values in judged.p.items():
        p[form] = np.ones(2)
        p[form][there] = values
    return p


def _keep(explainer: Explainer, encoded: Encoded, sets: tuple[SmallestSet, SmallestSet]) -> None:
    if explainer.store is None:
        return
    nothing = np.zeros(encoded.F, dtype=bool)
    arrays = {
        "members": np.array([nothing if one.members is None else one.members for one in sets], dtype=np.uint8),
        "found": np.array([one.members is not None for one in sets], dtype=np.uint8),
        "probability": np.array([one.probability for one in sets]),
        "count": np.array([one.count for one in sets], dtype=np.int32),
    }
    explainer.store.put(_key(explainer, encoded), arrays, {}, _content(encoded.F))


def _key(explainer: Explainer, encoded: Encoded) -> str:
    return canonical_key(
        "smallest sets",
        1,
        model=explainer.model.digest,
        precision=explainer.model.precision,
        example=encoded.digest,
        exact_features=EXACT_FEATURES,
        width=WIDTH,
    )


def _content(F: int) -> Content:
    return Content(
        {
            "members": Numbers("uint8", (2, F), 0, 1),
            "found": Numbers("uint8", (2,), 0, 1),
            "probability": Numbers("float64", (2,), 0, 1, nan=True),
            "count": Numbers("int32", (2,), 0),
        },
        agrees=lambda arrays, _: bool((np.isnan(arrays["probability"]) == (arrays["found"] == 0)).all()),
    )
