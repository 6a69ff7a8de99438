"""Where each measure stands between the limits of AOPC, for one model and for two on the same input."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core.explanation.limiting import COMPREHENSIVENESS, SUFFICIENCY, Found, OrderScore, Walk
from core.explanation.recursive import BY_FEATURE, Band, planned_counts, random_masks
from core.mathematics.aopc import naopc
from core.mathematics.curves import spread
from core.mathematics.ranking import are_level, kendall_tau
from core.mathematics.search.limits import EXACT, Limits, widened
from core.mathematics.statistics import simes
from core.network.features import Encoded
from core.oracle.target import Target
from core.validity.marks import HOLM, Gate, decide_path
from core.validity.references import CALIBRATED, Reference
from core.wording import amount

ARROWS = {COMPREHENSIVENESS: "↑", SUFFICIENCY: "↓"}


@dataclass(frozen=True, eq=False)
class Standing:
    """One measure between the limits: of each direction its walk, AOPC, NAOPC (NaN where the limits coincide) and the
    validity gate of its inputs.
    """

    measure: str
    walks: dict[str, Walk]
    aopc: dict[str, float]
    naopc: dict[str, float]
    gates: dict[str, Gate]
    limits_marked: bool

    def marked(self, direction: str, normalised: bool = False) -> bool:
        """Whether its AOPC rests on rejected inputs; its NAOPC also does where an order that attains a limit does."""
        return self.gates[direction].marked or (normalised and self.limits_marked)


@dataclass(frozen=True, eq=False)
class Chance:
    """R random orders: aopc float64[R]; mean and the range of the middle 95 %; naopc of the mean; one order is as good
    for either direction; name: which they are, in words, "30 random orders".

    gate: of those of them whose inputs are tested together, one p-value a step by Simes; tested: how many these are.
    """

    aopc: np.ndarray
    mean: float
    low: float
    high: float
    naopc: float
    gate: Gate
    name: str
    tested: int

    @classmethod
    def of(cls, aopc: np.ndarray, limits: Limits, gate: Gate, name: str, tested: int) -> "Chance":
        """What orders of these AOPC come to between limits."""
        mean, low, high = (float(part[0]) for part in spread(aopc[:, None]))
        return cls(aopc, mean, low, high, naopc(mean, limits.lower, limits.upper), gate, name, tested)


@dataclass(frozen=True, eq=False)
class StandingTable:
    """Everything on one model and one input, as far as it is computed.

    limits: widened by every order that was scored; lowest, highest: walks that attain them, with the gates of their
    inputs;
    standings: one a measure; chance: None before the random orders are there; searched: the precision of the search.
    """

    limits: Limits
    lowest: Walk
    highest: Walk
    gates: tuple[Gate, Gate]
    searched: str
    standings: tuple[Standing, ...]
    chance: Chance | None

    def of(self, measure: str) -> Standing | None:
        """Where a measure stands; None where it is not there."""
        return next((one for one in self.standings if one.measure == measure), None)

    def chance_marked(self, normalised: bool = False) -> bool:
        """Whether AOPC of the random orders rests on rejected inputs, or their NAOPC, as of `Standing.marked`."""
        own = self.chance is not None and self.chance.gate.marked
        return own or (normalised and any(gate.marked for gate in self.gates))

    def best(self, direction: str) -> Standing | None:
        """The measure that comes closest to the best limit; the first of those that tie, None without measures."""
        pick = max if direction == COMPREHENSIVENESS else min
        return pick(self.standings, key=lambda one: one.aopc[direction], default=None)


@dataclass(frozen=True)
class StandingGates:
    """How the inputs of walks are tested: the model's reference, and the rule and form of the gate."""

    encoded: Encoded
    reference: Reference | None
    rule: str = HOLM
    form: str = CALIBRATED

    @cached_property
    def counts(self) -> np.ndarray:
        """Features masked at each input of a walk, int64[F' + 1]."""
        return planned_counts(self.encoded.F, BY_FEATURE, int(self.encoded.premasked.sum()))

    def gate(self, walk: Walk) -> Gate:
        """The validity gate along a walk."""
        return self._gate(walk.p.get(self.form))

    def gate_of_all(self, walks: Sequence[Walk]) -> Gate:
        """The validity gate along several walks together, one p-value a step by Simes."""
        return self._gate(
            simes(np.stack([walk.p[self.form] for walk in walks]), axis=0) if self.form in walks[0].p else None
        )

    def _gate(self, p: np.ndarray | None) -> Gate:
        p = np.full(len(self.counts), np.nan) if p is None else p
        return decide_path(p, self.counts, self.counts, self.reference, self.rule, self.form)


def random_walks(encoded: Encoded, band: Band, target: Target) -> list[Walk]:
    """The random orders of a band whose steps are single features, as walks."""
    masks = random_masks(encoded, planned_counts(encoded.F, BY_FEATURE, int(encoded.premasked.sum())), len(band.logits))
    # The step from which on a feature is masked, argmax of [False, …, True, …]; what the text masks comes first and is
    # left out.
    first, left_out = masks.argmax(axis=1), int(encoded.premasked.sum())
    orders = np.argsort(np.where(encoded.premasked, -1, first), axis=1, kind="stable")[:, left_out:]
    values = band.values(target)
    return [Walk(order, values[r], {form: p[r] for form, p in band.p.items()}) for r, order in enumerate(orders)]


def build_standings(
    found: Found, scores: Sequence[OrderScore], band: Band | None, target: Target, gating: StandingGates
) -> StandingTable:
    """Set scores between limits; all walks that are known widen limits that a search found.

    Args:
        found: limits of the same example, class and model as the rest.
        band: random orders with steps of one feature, None while they are not there.
        gating: how inputs are tested.
    Source: NAOPC Eq. 8; glossary, NAOPC; glossary, Insertion search.
    """
    chances = [] if band is None else random_walks(gating.encoded, band, target)
    every = [found.lowest, found.highest, *(walk for one in scores for walk in one.walks.values()), *chances]
    limits = widened(found.limits, ((walk.order, walk.aopc) for walk in every))
    # The first that attains a limit: of exact limits it is the search's own.
    lowest, highest = min(every, key=lambda walk: walk.aopc), max(every, key=lambda walk: walk.aopc)
    if limits.method == EXACT:
        lowest, highest, limits = (
            found.lowest,
            found.highest,
            replace(limits, lowest=found.lowest.order, highest=found.highest.order),
        )
    gates = gating.gate(lowest), gating.gate(highest)
    return StandingTable(
        limits,
        lowest,
        highest,
        gates,
        found.searched,
        tuple(_standing(one, limits, gating, any(gate.marked for gate in gates)) for one in scores),
        _chance(chances, limits, gating),
    )


def _standing(score: OrderScore, limits: Limits, gating: StandingGates, limits_marked: bool) -> Standing:
    gates = {direction: gating.gate(walk) for direction, walk in score.walks.items()}
    return Standing(score.measure, score.walks, score.aopc, score.naopc(limits), gates, limits_marked)


def _chance(walks: list[Walk], limits: Limits, gating: StandingGates) -> Chance | None:
    if not walks:
        return None
    reached, name = np.array([walk.aopc for walk in walks]), amount(len(walks), "random order")
    return Chance.of(reached, limits, gating.gate_of_all(walks), name, len(walks))


@dataclass(frozen=True, eq=False)
class Placed:
    """One measure of one model among those of both: its AOPC and NAOPC, and its place by each, 1 for the best; equal
    scores share a place.

    marked: whether its NAOPC rests on rejected inputs.
    """

    model: str
    measure: str
    aopc: float
    naopc: float
    marked: bool
    place: int
    place_normalised: int


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two models on the same input: every measure of both, placed before and after normalising.

    tau: Kendall's τ-b of both orders, in [−1, 1], 1 where normalising changes nothing, NaN where there is none;
    changed: measures for which
    another model is ahead after normalising; ahead: {measure: (model ahead by AOPC, by NAOPC)}, None where both are
    level, see `core.mathematics.ranking.are_level`.
    """

    direction: str
    placed: tuple[Placed, ...]
    tau: float
    ahead: dict[str, tuple[str | None, str | None]]

    @property
    def changed(self) -> tuple[str, ...]:
        """Measures for which normalising changes which model is ahead, or whether one is."""
        return tuple(measure for measure, (before, after) in self.ahead.items() if before != after)


def compare_standings(boards: dict[str, StandingTable], direction: str) -> Comparison | None:
    """Compare models by AOPC and by NAOPC; None where fewer than two have scores or a limit coincides.

    Within one model and input NAOPC never changes the order of measures, being a rising line; between models it can.

    Args:
        boards: {model: its board}, of the same text.
        direction: "comprehensiveness" (higher is better) or "sufficiency" (lower is better).
    Source: NAOPC §5 compares models before and after normalising.
    """
    rows = [
        (model, one.measure, one.aopc[direction], one.naopc[direction], one.marked(direction, True))
        for model, found in boards.items()
        for one in found.standings
    ]
    if len({row[0] for row in rows}) < 2 or any(np.isnan(row[3]) for row in rows):
        return None
    sign = -1 if direction == COMPREHENSIVENESS else 1
    raw, normal = (np.round(sign * np.array([row[i] for row in rows]), 12) for i in (2, 3))
    placed = tuple(
        Placed(*row, int((raw < raw[i]).sum()) + 1, int((normal < normal[i]).sum()) + 1) for i, row in enumerate(rows)
    )
    shared = [
        measure
        for measure in dict.fromkeys(one.measure for one in placed)
        if sum(one.measure == measure for one in placed) > 1
    ]
    ahead = {
        measure: (_ahead(placed, measure, "place", "aopc"), _ahead(placed, measure, "place_normalised", "naopc"))
        for measure in shared
    }
    return Comparison(direction, placed, kendall_tau(-raw, -normal), ahead)


def _ahead(placed: tuple[Placed, ...], measure: str, place: str, score: str) -> str | None:
    first, second = sorted((one for one in placed if one.measure == measure), key=lambda one: getattr(one, place))[:2]
    return None if are_level(getattr(first, score) - getattr(second, score)) else first.model
