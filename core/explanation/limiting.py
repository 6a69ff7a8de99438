"""AOPC of measures between the limits that the model allows, for one example."""

import contextlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from core.explanation.explainer import Attribution, Cost, Explainer, passes_cost, value_of
from core.explanation.rows import choose_variant
from core.mathematics.aopc import aopc, comprehensiveness_order, naopc, prefix_masks, sufficiency_order
from core.mathematics.arrays import Order, Value
from core.mathematics.search.insertion import insertion_search, insertion_sets
from core.mathematics.search.limits import MOST_EXACT, Limits, Search, TooDear, beam_search, exact_search, most_sets
from core.mathematics.stepwise import finish, relay
from core.measures.catalogue import measure
from core.network.features import Encoded
from core.network.memory import free_memory
from core.network.scheduler import NonFinite
from core.oracle.erasing import MASK
from core.oracle.oracle import BYTES_A_MASK, Oracle, Unknown, known_value
from core.oracle.target import Target

COMPREHENSIVENESS, SUFFICIENCY = DIRECTIONS = ("comprehensiveness", "sufficiency")
# Exact limits cost 2^F scores; up to this many they are no dearer than they are worth.
EXACT_UP_TO = {"cpu": 4_096, "cuda": 1 << 17}
# Of the memory that is free, the share that exact limits may take.
_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Walk:
    """An order of F' features and what the model says along it, the unmasked input first.

    order: int64[F'], the feature masked first comes first; values: float64[F' + 1], the score; p: {form: float64[F' +
    1]}, {} without a reference.
    """

    order: np.ndarray
    values: np.ndarray
    p: dict[str, np.ndarray]

    @property
    def aopc(self) -> float:
        """AOPC of the order."""
        return aopc(self.values)


@dataclass(frozen=True, eq=False)
class OrderScore:
    """One measure's orders, {direction: its order}: of comprehensiveness the most important first (AOPC ↑ better), of
    sufficiency the least important (↓ better).
    """

    measure: str
    walks: dict[str, Walk]

    @property
    def aopc(self) -> dict[str, float]:
        """{direction: AOPC of its order}."""
        return {way: walk.aopc for way, walk in self.walks.items()}

    def naopc(self, limits: Limits) -> dict[str, float]:
        """{direction: the same between limits}; NaN where these coincide."""
        return {way: naopc(reached, limits.lower, limits.upper) for way, reached in self.aopc.items()}


@dataclass(frozen=True, eq=False)
class Found:
    """Limits of an example, the walks of the orders that attain them in the model's own precision, and the precision of
    the search.
    """

    limits: Limits
    lowest: Walk
    highest: Walk
    searched: str


def value_by_mask(oracle: Oracle, target: Target, cancelled: Callable[[], bool] | None = None) -> Value:
    """v of an example, bool[M, F] → float64[M], through the oracle's memo: the probability of a class, or the
    difference of two logits.
    """
    return lambda masks: value_of(oracle.logits(masks, cancelled=cancelled), target)


def walk(
    explainer: Explainer,
    encoded: Encoded,
    orders: Sequence[np.ndarray],
    target: Target,
    erasure: str = MASK,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Walk, ...]:
    """Walk orders of an example, with p-values where its model has a reference; only what is not known costs forward
    passes. erasure: what masking a feature does.

    Raises:
        Cancelled, OutOfMemory, NonFinite: as the oracle.
    """
    tested = explainer.tested(encoded, erasure)
    masks = np.concatenate([prefix_masks(order, encoded.F, encoded.premasked) for order in orders])
    try:
        judged = tested.judge(masks, cancelled=cancelled)
    finally:
        tested.flush()
    ends = np.cumsum([len(order) + 1 for order in orders])[:-1]
    values = np.split(value_of(judged.logits, target), ends)
    p = {form: np.split(all_p, ends) for form, all_p in judged.p.items()}
    return tuple(
        Walk(np.asarray(order), values[i], {form: parts[i] for form, parts in p.items()})
        for i, order in enumerate(orders)
    )


def score(
    explainer: Explainer,
    encoded: Encoded,
    name: str,
    target: Target,
    sign: str = "signed",
    *,
    cancelled: Callable[[], bool] | None = None,
) -> OrderScore:
    """Score a measure's orders on one example.

    Raises:
        Cancelled, OutOfMemory, NonFinite: as `Explainer.attribute`.
    Source: NAOPC Eq. 1 and 3.
    """
    orders = orders_of(explainer.attribute(encoded, name, target, cancelled=cancelled), sign, encoded.premasked)
    walks = walk(explainer, encoded, [*orders.values()], target, cancelled=cancelled)
    return OrderScore(name, dict(zip(orders, walks)))


def orders_of(found: Attribution, sign: str, start: np.ndarray) -> dict[str, Order]:
    """{direction: a measure's order of the features that are not masked in the text, int64[F']}; start: bool[F], those
    that are. NonFinite where a score is NaN.
    """
    scores = found.scores[choose_variant(measure(found.measure), sign)]
    if np.isnan(scores).any():
        raise NonFinite(f"{found.measure} gave NaN scores.")
    return dict(zip(DIRECTIONS, (comprehensiveness_order(scores, start), sufficiency_order(scores, start))))


def default_exact(device: str) -> int:
    """How many scores exact limits may cost unasked on a device."""
    return EXACT_UP_TO["cuda" if device.startswith("cuda") else "cpu"]


def left_over(encoded: Encoded) -> int:
    """F': the features that are not masked in the text."""
    return int((~encoded.premasked).sum())


def exact_cost(explainer: Explainer, encoded: Encoded) -> Cost:
    """What exact limits take at most: 2^F' forward passes."""
    return passes_cost(explainer, encoded, 1 << left_over(encoded))


def search_cost(explainer: Explainer, encoded: Encoded, width: int | None = None, half: bool = True) -> Cost:
    """What a search takes at most: forward passes in its precision; width: as of `find_searched`."""
    rough, (passes, _) = explainer.searching(encoded) if half else None, _stages(left_over(encoded), width, False)[0]
    return passes_cost(explainer, encoded, passes, None if rough is None else rough.model)


def score_cost(explainer: Explainer, encoded: Encoded, name: str, orders: int = len(DIRECTIONS)) -> Cost:
    """What a measure's score takes at most: its attribution, and both of its orders or one."""
    named, along = measure(name), orders * left_over(encoded) + 2
    inside = named.passes(left_over(encoded))
    taken = passes_cost(explainer, encoded, inside * named.weight + along)
    return Cost(inside + along, taken.seconds)


def exact_bytes(F: int) -> int:
    """Memory that exact limits of F features hold, in bytes: every score stays known, and the dynamic program has two
    tables.
    """
    return (BYTES_A_MASK + 32) << F


def find_searched(
    explainer: Explainer,
    encoded: Encoded,
    target: Target,
    width: int | None = None,
    half: bool = True,
    early: bool = True,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Found | None, None, Found]:
    """Limits of an example by insertion search, or by a beam, those of a beam of one first; None between turns.

    Args:
        width: of the beam, at least 1; None for an insertion search.
        half: search in half precision where that is faster; the orders found are scored anew in the model's own.
        early: yield what a beam of one finds before the search itself, for whoever watches.
        progress: called with (sets asked for, most that will be).
    Raises:
        Cancelled, OutOfMemory, NonFinite: as the oracle; what was yielded before holds.
        ValueError: every feature is masked already.
    Source: NAOPC §3; glossary, Insertion search.
    """
    full, rough = explainer.oracles.of(encoded), explainer.searching(encoded) if half else None
    stages = _stages(left_over(encoded), width, early)
    before, every = 0, sum(most for most, _ in stages)
    told = progress or _nobody
    try:
        for most, search in stages:
            limits, searched = yield from _searched(
                full, rough, target, search, lambda asked, before=before: told(before + asked, every), cancelled
            )
            before += most
            found = Found(
                limits,
                *walk(explainer, encoded, (limits.lowest, limits.highest), target, cancelled=cancelled),
                searched,
            )
            yield found
    finally:
        for oracle in filter(None, (full, rough)):
            oracle.flush()
    return found


def find_exact(
    explainer: Explainer,
    encoded: Encoded,
    target: Target,
    most: int = 1 << MOST_EXACT,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[None, None, Found]:
    """Exact limits of an example; yields between turns. What is computed before it is stopped stays known.

    Raises:
        TooDear: 2^F is more than `most`, or takes more memory than is free; the message has the number. Nothing is
            computed then.
        Cancelled, OutOfMemory, NonFinite: as the oracle.
    Source: glossary, Exact limits.
    """
    refuse_dear(left_over(encoded))
    oracle = explainer.oracles.of(encoded)
    search = exact_search(value_by_mask(oracle, target, cancelled), encoded.F, encoded.premasked, most)
    told = progress or _nobody
    try:
        limits = yield from relay(search, lambda asked: told(asked, 1 << left_over(encoded)))
    finally:
        oracle.flush()
    return Found(
        limits,
        *walk(explainer, encoded, (limits.lowest, limits.highest), target, cancelled=cancelled),
        explainer.model.precision,
    )


def find_limits(
    explainer: Explainer,
    encoded: Encoded,
    target: Target,
    width: int | None = None,
    half: bool = True,
    exact: bool = False,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Found | None, None, Found]:
    """Limits of an example, the best so far first: `find_searched`, and where asked for `find_exact` after it.

    Before exact limits a search asks in the model's own precision: they ask for every set in it anyway.

    Args and Raises: as both.
    """
    before, told = sum(most for most, _ in _stages(left_over(encoded), width)), progress or _nobody
    every, half = before + (1 << left_over(encoded) if exact else 0), half and not exact
    found = yield from find_searched(
        explainer, encoded, target, width, half, progress=lambda asked, _: told(asked, every), cancelled=cancelled
    )
    if exact:
        found = yield from find_exact(
            explainer, encoded, target, progress=lambda asked, _: told(before + asked, every), cancelled=cancelled
        )
    return found


def limits_known(
    explainer: Explainer,
    encoded: Encoded,
    target: Target,
    width: int | None = None,
    half: bool = True,
    exact: bool = False,
) -> bool:
    """Whether `find_limits` would ask the network for no set of features any more; it is not asked here."""
    full, rough = explainer.oracles.of(encoded), explainer.searching(encoded) if half and not exact else None
    if exact:
        return full.count >= 1 << left_over(encoded)
    for oracle in filter(None, (full, rough)):
        with contextlib.suppress(Unknown, NonFinite):
            for _, search in _stages(left_over(encoded), width):
                finish(
                    search(known_value(oracle, value_by_mask(oracle, target)), F=encoded.F, masked=encoded.premasked)
                )
            return True
    return False


def refuse_dear(F: int) -> None:
    """TooDear with a sentence where exact limits of F features need too many scores, or more memory than is free."""
    if F > MOST_EXACT:
        raise TooDear(
            f"Exact limits of {F} features need 2^{F} scores; at most {MOST_EXACT} features are allowed. Use a search, "
            "or a coarser unit."
        )
    needed, free = exact_bytes(F), free_memory()
    if needed > _SHARE * free:
        raise TooDear(
            f"Exact limits of {F} features hold about {needed / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free. "
            "Close other programs, or use a search."
        )


def _nobody(done: int, total: int) -> None:
    """Told how far work is, and says nothing."""


def _searched(
    full: Oracle,
    rough: Oracle | None,
    target: Target,
    search: Callable[..., Search],
    told: Callable[[int], None],
    cancelled,
) -> Generator[None, None, tuple[Limits, str]]:
    """One search, in half precision if there is an oracle for it and its answers are numbers; where the model's own
    answers are known already, as on a machine that has no half precision, they are not searched for again.
    """
    own, encoded = value_by_mask(full, target, cancelled), full.encoded
    search = partial(search, F=encoded.F, masked=encoded.premasked)
    if rough is not None:
        with contextlib.suppress(Unknown):
            return finish(search(known_value(full, own))), full.model.precision
        # Half precision may give no number where the model's own does.
        with contextlib.suppress(NonFinite):
            limits = yield from relay(search(value_by_mask(rough, target, cancelled), rescore=own), told)
            return limits, rough.model.precision
    limits = yield from relay(search(own), told)
    return limits, full.model.precision


def _stages(F: int, width: int | None, early: bool = True) -> list[tuple[int, Callable[..., Search]]]:
    """The searches for an asked width, one after the other, each after the most sets that it asks for."""
    beams = dict.fromkeys([1] * early + ([] if width is None else [width]))
    stages: list[tuple[int, Callable[..., Search]]] = [
        (most_sets(F, tried), partial(beam_search, width=tried)) for tried in beams
    ]
    if width is None:
        stages.append((insertion_sets(F), partial(insertion_search, most=insertion_sets(F))))
    return stages
