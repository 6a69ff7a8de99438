"""What verdicts on an example rest on: the orders of its measures, and random orders of the same features."""

import contextlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np

from core.explanation.explainer import Attribution, Cost, Explainer, passes_cost
from core.explanation.limiting import (
    COMPREHENSIVENESS,
    SUFFICIENCY,
    Walk,
    left_over,
    orders_of,
    score_cost,
    value_by_mask,
    walk,
)
from core.explanation.recursive import (
    BY_FEATURE,
    ORDERS,
    Band,
    band_cost,
    planned_counts,
    random_band,
    random_masks,
    random_order,
)
from core.mathematics.aopc import comprehensiveness_order, prefix_masks
from core.mathematics.arrays import Order, Value
from core.mathematics.search.limits import lattice_limits, score_every_set
from core.mathematics.stepwise import finish, relay
from core.measures.catalogue import measure
from core.network.features import Encoded
from core.network.scheduler import NonFinite
from core.oracle.erasing import MASK
from core.oracle.oracle import Oracle, Unknown, known_value
from core.oracle.target import Target
from core.verdicts.chance import NullOrders, by_table, decided, draw_null, draws_needed, null_of_table, tail_test
from core.verdicts.reaching import BOTH, CLOSE, HalfReach, own_reach

# The values of a measure beside those that are asked for.
OTHER = {"signed": "absolute", "absolute": "signed"}
NO_ORDER = "It gives every {unit} the same score."
# By which tail a measure does better than chance: higher is better of comprehensiveness, lower of sufficiency.
SIGNS = {COMPREHENSIVENESS: 1, SUFFICIENCY: -1}


class NoVerdict(ValueError):
    """There is nothing to order in this text; the message says why."""


class NoOrder(NonFinite):
    """A measure gives every feature the same score."""


class Untold(StrEnum):
    """Why no verdict is given on a measure."""

    OWN_REJECTED = "masked inputs of its order are out-of-distribution"
    RANDOM_REJECTED = "masked inputs of random orders are out-of-distribution"
    FEW_ORDERS = "too few orders are possible or chosen"
    NOT_DRAWN = "too few random orders are drawn"
    NARROW = "narrow limits"
    EQUAL = "every order reaches the same AOPC"
    NO_ORDER = "every score is the same"
    NO_NUMBERS = "a score is not a number"
    NOT_STORED = "not stored"


@dataclass(frozen=True, eq=False)
class ChanceTest:
    """Measures on an example beside random orders of its features.

    scores: {measure: {direction: its order}}; problems: {measure: why it has no order}; other: {measure: AOPC
    comprehensiveness by the order of its other values, absolute where sign is signed}, of those that have both;
    planned: measures in all; band: the random orders whose inputs are tested; null: what orders are set against;
    exact: the limits, where a table of every set is known; erasure: what masking did.
    """

    target: Target
    scores: dict[str, dict[str, Walk]]
    problems: dict[str, Untold]
    other: dict[str, float]
    sign: str
    planned: int
    band: Band
    null: NullOrders
    exact: tuple[float, float] | None
    erasure: str = MASK

    def reached(self, direction: str) -> np.ndarray:
        """AOPC of the measures' orders, float64[M]."""
        return _reached(self.scores, direction)


def null_cost(
    explainer: Explainer,
    encoded: Encoded,
    planned: int,
    draws: int | None = None,
    band: bool = True,
    erasure: str = MASK,
) -> Cost:
    """What the random orders take at most, beside the measures' own; a table of every set that is known costs nothing.

    band: whether the orders whose inputs are tested are to be asked for, too.
    """
    F, chosen, draws = left_over(encoded), draws is not None, draws_needed(planned) if draws is None else draws
    known = explainer.oracles.of(encoded, erasure).count
    own = [band_cost(explainer, encoded, BY_FEATURE)] * band
    if by_table(F, draws, chosen) or known >= 1 << F:
        return Cost.sum([*own, _own_cost(explainer, encoded, max(0, (1 << F) - known))])
    more, along = max(0, draws - ORDERS), max(0, F - 1)
    half = explainer.searching(encoded, erasure)
    if half is None or not more:
        return Cost.sum([*own, _own_cost(explainer, encoded, more * along)])
    # Some inputs are scored in both precisions: by some it is known how far half precision errs, others lie close.
    twice = _own_cost(explainer, encoded, int(CLOSE * more) * along)
    quick = passes_cost(explainer, encoded, more * along + BOTH, half.model)
    # Counted in tokens of the model's own precision that take as long.
    whole = _own_cost(explainer, encoded, quick.passes)
    quick = replace(quick, tokens=whole.tokens * quick.seconds / max(whole.seconds, 1e-9))
    return Cost.sum([*own, quick, twice])


def _own_cost(explainer: Explainer, encoded: Encoded, passes: int) -> Cost:
    return Cost.of(passes, passes * encoded.T, explainer.model.scheduler.counters)


def verdict_cost(explainer: Explainer, encoded: Encoded, names: Sequence[str], draws: int | None = None) -> Cost:
    """The same with what the measures' own orders take."""
    own = [score_cost(explainer, encoded, name, orders=1) for name in names]
    return Cost.sum([*own, null_cost(explainer, encoded, len(names), draws)])


def find_chance(
    explainer: Explainer,
    encoded: Encoded,
    target: Target,
    names: Sequence[str],
    sign: str = "signed",
    *,
    planned: int | None = None,
    draws: int | None = None,
    directions: Sequence[str] = (COMPREHENSIVENESS,),
    early: bool = True,
    seed: int = 0,
    erasure: str = MASK,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[None, None, ChanceTest]:
    """Set the orders of measures beside random ones, through the memo that AOPC, its limits and recursive masking use;
    yields between turns.

    Args:
        names: registered measures; planned: how many there will be in all, for Holm; these unless more are to come.
        draws: R, where they are chosen; None: as many as Holm over the measures needs, 60 for up to three of them,
            and of few features every set instead (`by_table`).
        directions: in which orders are judged; the random orders are the same for both.
        early: stop drawing once no verdict can change; progress: called with (orders drawn, R).
        erasure: what masking a feature does along an order, whatever the measures themselves do.
    Raises:
        NoVerdict: nothing is left to mask.
        Cancelled, OutOfMemory, NonFinite: as the oracle; a measure that gives NaN has a problem instead.
    Source: glossary, Verdict.
    """
    if not left_over(encoded):
        raise NoVerdict(f"Every {encoded.unit} is masked already.")
    planned = max(len(names), planned or 0)
    chosen, draws = draws is not None, draws_needed(planned) if draws is None else draws
    scores: dict[str, dict[str, Walk]] = {}
    attributed: dict[str, Attribution] = {}
    problems: dict[str, Untold] = {}
    for name in names:
        try:
            attributed[name] = explainer.attribute(encoded, name, target, cancelled=cancelled)
            orders = _orders(encoded, attributed[name], sign, directions)
            scores[name] = _walks(explainer, encoded, orders, target, erasure, cancelled)
        except NonFinite as error:
            problems[name] = Untold.NO_ORDER if isinstance(error, NoOrder) else Untold.NO_NUMBERS
        yield
    band = yield from random_band(explainer, encoded, BY_FEATURE, ORDERS, seed, erasure, cancelled=cancelled)
    oracle = explainer.oracles.of(encoded, erasure)
    value, halves = value_by_mask(oracle, target, cancelled), _Halves(explainer, encoded, target, erasure, cancelled)
    try:
        other = _other_values(encoded, sign, {name: attributed[name] for name in scores}, value)
        settled = partial(_settled, scores, other, directions, planned) if early else lambda null: False
        against = _all_reached(scores, other, directions)
        reach = HalfReach(value, halves.value, oracle.known, encoded.premasked, against)
        null, exact = yield from _null(oracle, value, reach, draws, seed, settled, progress, chosen)
    finally:
        oracle.flush()
        halves.flush()
    return ChanceTest(target, scores, problems, other, sign, planned, band, null, exact, erasure)


def chance_known(
    explainer: Explainer,
    encoded: Encoded,
    target: Target,
    names: Iterable[str],
    sign: str = "signed",
    *,
    planned: int,
    directions: Sequence[str] = (COMPREHENSIVENESS,),
) -> bool:
    """Whether `find_chance` would ask the network for nothing any more; it is not asked here. Args: as of that."""
    tested, start, found = explainer.tested(encoded), encoded.premasked, {}
    if not tested.known(
        random_masks(encoded, planned_counts(encoded.F, BY_FEATURE, int(start.sum()))).reshape(-1, encoded.F)
    ):
        return False
    scores: dict[str, dict[str, Walk]] = {}
    oracle = explainer.oracles.of(encoded)
    value = known_value(oracle, value_by_mask(oracle, target))
    halves = _Halves(explainer, encoded, target, MASK, known=True)
    try:
        for name in names:
            attributed = explainer.stored(encoded, name, target)
            if attributed is None:
                return False
            with contextlib.suppress(NonFinite):
                orders = _orders(encoded, attributed, sign, directions)
                if not tested.known(np.concatenate([prefix_masks(one, encoded.F, start) for one in orders.values()])):
                    return False
                scores[name], found[name] = _walks(explainer, encoded, orders, target), attributed
        other = _other_values(encoded, sign, found, value)
        settled = partial(_settled, scores, other, directions, planned)
        reach = HalfReach(value, halves.value, oracle.known, start, _all_reached(scores, other, directions))
        finish(_null(oracle, value, reach, draws_needed(planned), 0, settled, None))
    except (Unknown, NonFinite):
        return False
    return True


class _Halves:
    """v of an example in half precision, made once it is asked for; known: of what is known, and nothing else."""

    def __init__(self, explainer, encoded, target, erasure, cancelled=None, known=False):
        self._asked, self._cancelled, self._known_only = (explainer, encoded, target, erasure), cancelled, known
        self._oracle: Oracle | None = None

    def value(self) -> Value | None:
        """None where half precision is no faster."""
        explainer, encoded, target, erasure = self._asked
        self._oracle = explainer.searching(encoded, erasure)
        if self._oracle is None:
            return None
        value = value_by_mask(self._oracle, target, self._cancelled)
        return known_value(self._oracle, value) if self._known_only else value

    def flush(self) -> None:
        """Write what the store does not hold yet."""
        if self._oracle is not None:
            self._oracle.flush()


def _null(
    oracle: Oracle,
    value: Value,
    reach: HalfReach,
    draws: int,
    seed: int,
    settled: Callable[[NullOrders], bool],
    progress,
    chosen: bool = False,
) -> Generator[None, None, tuple[NullOrders, tuple[float, float] | None]]:
    """What orders are set against and, where v of every set is asked for, the exact limits."""
    encoded = oracle.encoded
    if by_table(left_over(encoded), draws, chosen):
        table = yield from relay(score_every_set(value, encoded.premasked), lambda _: None)
        return null_of_table(table, int(encoded.digest[:8], 16) + seed), lattice_limits(table)[:2]
    order = partial(_order, encoded, seed)
    told = progress or (lambda drawn, planned: None)
    drawing = draw_null(reach, encoded.premasked, order, draws, settled)
    null = yield from relay(drawing, lambda null: told(len(null.reached), null.planned))
    return replace(null, rough=reach.rough), None


def _orders(encoded: Encoded, found: Attribution, sign: str, directions: Sequence[str]) -> dict[str, Order]:
    """{direction: a measure's order}, of these directions; NoOrder where all of its scores are equal."""
    orders = orders_of(found, sign, encoded.premasked)
    # Ties go by position both ways: these are equal where all scores are.
    if len(orders[SUFFICIENCY]) > 1 and np.array_equal(orders[COMPREHENSIVENESS], orders[SUFFICIENCY]):
        raise NoOrder(NO_ORDER.format(unit=encoded.unit))
    # Causes are those of comprehensiveness, whichever is asked for.
    return {way: orders[way] for way in dict.fromkeys((COMPREHENSIVENESS, *directions))}


def _walks(explainer, encoded, orders, target, erasure=MASK, cancelled=None) -> dict[str, Walk]:
    return dict(zip(orders, walk(explainer, encoded, [*orders.values()], target, erasure, cancelled=cancelled)))


def _order(encoded: Encoded, seed: int, r: int) -> np.ndarray:
    return random_order(encoded, r, seed)[int(encoded.premasked.sum()) :]


def _reached(scores: Mapping[str, Mapping[str, Walk]], direction: str) -> np.ndarray:
    return np.array([walks[direction].aopc for walks in scores.values()])


def _all_reached(
    scores: Mapping[str, Mapping[str, Walk]], other: Mapping[str, float], directions: Sequence[str]
) -> np.ndarray:
    """Every AOPC that is set against random orders."""
    return np.concatenate([*(_reached(scores, one) for one in directions), np.array([*other.values()])])


def _settled(
    scores: Mapping[str, Mapping[str, Walk]],
    other: Mapping[str, float],
    directions: Sequence[str],
    planned: int,
    null: NullOrders,
) -> bool:
    """Whether nothing that is still to be drawn can change a verdict, or whether the other values do better."""
    return decided(null, np.array(list(other.values())), planned) and all(
        tail_test(_reached(scores, direction), null, sign, planned).settled.all()
        for direction in directions
        for sign in (1, -1)
    )


def _other_values(encoded: Encoded, sign: str, attributed: Mapping[str, Attribution], value: Value) -> dict[str, float]:
    """AOPC by the order of the other values, absolute for signed ones, of measures that have both."""
    orders = {
        name: comprehensiveness_order(one.scores[OTHER[sign]], encoded.premasked)
        for name, one in attributed.items()
        if {sign, OTHER[sign]} <= set(measure(name).variants)
    }
    reached = own_reach(value, encoded.premasked)([*orders.values()]) if orders else []
    return dict(zip(orders, map(float, reached)))
