"""What verdicts on an example rest on: the orders of its measures, and random orders of the same features."""

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np

from core.explanation.explainer import Cost, Explainer, passes_cost
from core.explanation.limiting import OrderScore, left_over, score, score_cost, value_by_mask
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
from core.explanation.rows import choose_variant
from core.explanation.standings import COMPREHENSIVENESS
from core.mathematics.aopc import comprehensiveness_order, order_aopc, prefix_masks, sufficiency_order
from core.mathematics.arrays import Value
from core.mathematics.search.limits import lattice_limits, score_every_set
from core.mathematics.stepwise import finish, relay
from core.measures.catalogue import measure
from core.network.features import Encoded
from core.network.scheduler import NonFinite
from core.oracle.erasing import MASK
from core.oracle.oracle import Oracle, Unknown, known_value
from core.oracle.target import Target
from core.verdicts.chance import NullOrders, by_table, decided, draw_null, draws_needed, null_of_table, tail_test
from core.verdicts.reaching import BOTH, CLOSE, HalfReach

# The values of a measure beside those that are asked for.
OTHER = {"signed": "absolute", "absolute": "signed"}
NO_ORDER = "It gives every {unit} the same score."
# By which tail a measure does better than chance: higher is better of comprehensiveness, lower of sufficiency.
SIGNS = {COMPREHENSIVENESS: 1, "sufficiency": -1}


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

    scores: {measure: its orders}; problems: {measure: why it has no order}; other: {measure: AOPC
    comprehensiveness by the order of its other values, absolute where sign is signed}, of those that have both;
    planned: measures in all; band: the random orders whose inputs are tested; null: what orders are set against;
    exact: the limits, where a table of every set is known; erasure: what masking did.
    """

    target: Target
    scores: dict[str, OrderScore]
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
    # Some orders are scored in both precisions: by some it is known how far half precision errs, others lie close.
    twice = _own_cost(explainer, encoded, int(CLOSE * more) * along)
    quick = passes_cost(explainer, encoded, (more + BOTH) * along, half.model)
    # Counted in tokens of the model's own precision that take as long.
    whole = _own_cost(explainer, encoded, quick.passes)
    quick = replace(quick, tokens=whole.tokens * quick.seconds / max(whole.seconds, 1e-9))
    return Cost.sum([*own, quick, twice])


def _own_cost(explainer: Explainer, encoded: Encoded, passes: int) -> Cost:
    return Cost.of(passes, passes * encoded.T, explainer.model.scheduler.counters)


def verdict_cost(explainer: Explainer, encoded: Encoded, names: Sequence[str], draws: int | None = None) -> Cost:
    """The same with what the measures' own orders take."""
    own = [score_cost(explainer, encoded, name) for name in names]
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
        draws: R, where they are chosen; None: as many as Holm over the measures needs, 99 for up to four of them, and
            of few features every set instead (`by_table`).
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
    scores: dict[str, OrderScore] = {}
    problems: dict[str, Untold] = {}
    for name in names:
        try:
            scores[name] = _ordered(
                score(explainer, encoded, name, target, sign, erasure, cancelled=cancelled), encoded
            )
        except NoOrder:
            problems[name] = Untold.NO_ORDER
        except NonFinite:
            problems[name] = Untold.NO_NUMBERS
        yield
    band = yield from random_band(explainer, encoded, BY_FEATURE, ORDERS, seed, erasure, cancelled=cancelled)
    oracle = explainer.oracles.of(encoded, erasure)
    value, halves = value_by_mask(oracle, target, cancelled), _Halves(explainer, encoded, target, erasure, cancelled)
    try:
        other = _other_values(explainer, encoded, target, sign, scores, value, cancelled)
        settled = partial(_settled, scores, other, directions, planned) if early else lambda null: False
        against = _all_reached(scores, other, directions)
        reach = HalfReach(value, halves.value, oracle.known, encoded.premasked, against)
        null, exact = yield from _null(oracle, value, reach, draws, seed, settled, progress, chosen)
    finally:
        oracle.flush()
        halves.flush()
    return ChanceTest(target, scores, problems, other, sign, planned, band, null, exact, erasure)


def scores_known(
    explainer: Explainer, encoded: Encoded, target: Target, names: Sequence[str], sign: str = "signed"
) -> dict[str, OrderScore] | None:
    """The orders of measures where all that they rest on is known already, and the random orders whose inputs are
    tested, too; else None, and nothing is computed.
    """
    tested, found = explainer.tested(encoded), {}
    counts = planned_counts(encoded.F, BY_FEATURE, int(encoded.premasked.sum()))
    if not tested.known(random_masks(encoded, counts).reshape(-1, encoded.F)):
        return None
    for name in names:
        stored = explainer.stored(encoded, name, target)
        if stored is None:
            return None
        scores, start = stored.scores[choose_variant(measure(name), sign)], encoded.premasked
        if np.isnan(scores).any():
            continue
        orders = comprehensiveness_order(scores, start), sufficiency_order(scores, start)
        if not tested.known(np.concatenate([prefix_masks(order, encoded.F, start) for order in orders])):
            return None
        found[name] = score(explainer, encoded, name, target, sign)
    return found


def chance_known(
    explainer: Explainer,
    encoded: Encoded,
    target: Target,
    scores: Mapping[str, OrderScore],
    sign: str = "signed",
    *,
    planned: int,
    directions: Sequence[str] = (COMPREHENSIVENESS,),
) -> bool:
    """Whether `find_chance` would ask the network for no random order any more; it is not asked here.

    Args:
        scores: {measure: its orders}, of those that have one; the others as of `find_chance`.
    """
    oracle = explainer.oracles.of(encoded)
    value = known_value(oracle, value_by_mask(oracle, target))
    halves = _Halves(explainer, encoded, target, MASK, known=True)
    try:
        ordered = {}
        for name, one in scores.items():
            with contextlib.suppress(NonFinite):
                ordered[name] = _ordered(one, encoded)
        other = _other_values(explainer, encoded, target, sign, ordered, value, None)
        settled = partial(_settled, ordered, other, directions, planned)
        against = _all_reached(ordered, other, directions)
        reach = HalfReach(value, halves.value, oracle.known, encoded.premasked, against)
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


def _ordered(found: OrderScore, encoded: Encoded) -> OrderScore:
    """A measure's orders; NoOrder where all of its scores are equal."""
    order = found.comprehensive.order
    # Ties go by position both ways: these are equal where all scores are.
    if len(order) > 1 and np.array_equal(order, found.sufficient.order):
        raise NoOrder(NO_ORDER.format(unit=encoded.unit))
    return found


def _order(encoded: Encoded, seed: int, r: int) -> np.ndarray:
    return random_order(encoded, r, seed)[int(encoded.premasked.sum()) :]


def _reached(scores: Mapping[str, OrderScore], direction: str) -> np.ndarray:
    found = (one.comprehensive if direction == COMPREHENSIVENESS else one.sufficient for one in scores.values())
    return np.array([one.aopc for one in found])


def _all_reached(scores: Mapping[str, OrderScore], other: Mapping[str, float], directions: Sequence[str]) -> np.ndarray:
    """Every AOPC that is set against random orders."""
    return np.concatenate([*(_reached(scores, one) for one in directions), np.array([*other.values()])])


def _settled(
    scores: Mapping[str, OrderScore],
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


def _other_values(explainer, encoded, target, sign, names, value, cancelled) -> dict[str, float]:
    """AOPC by the order of the other values, absolute for signed ones, of measures that have both."""
    found, other = {}, OTHER[sign]
    for name in names:
        if {sign, other} <= set(measure(name).variants):
            values = explainer.attribute(encoded, name, target, cancelled=cancelled).scores[other]
            order = comprehensiveness_order(values, encoded.premasked)
            found[name] = order_aopc(value, order, encoded.F, encoded.premasked)
    return found
