"""Verdicts under other ways of erasing words, beside those of the mask token: what they say, and on which inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.explanation.explainer import Cost, Explainer
from core.explanation.limiting import left_over
from core.explanation.standings import COMPREHENSIVENESS, StandingGates, random_walks
from core.network.features import Encoded
from core.oracle.erasing import MASK, erasures_of
from core.validity.marks import UNAVAILABLE, Gate, path_word
from core.verdicts.deciding import Reasons, VerdictReport, decide_verdicts
from core.verdicts.finding import ChanceTest, null_cost
from core.wording import amount

RANDOM_ORDERS = "random orders"


@dataclass(frozen=True, eq=False)
class UnderErasure:
    """Verdicts under one way of erasing; gates: {measure: the validity gate along its order}; chance: that of random
    orders together; gating: how inputs are tested.
    """

    report: VerdictReport
    gates: Mapping[str, Gate]
    chance: Gate
    gating: StandingGates

    def inputs(self, measure: str) -> str:
        """Whether the inputs along a measure's order are rejected, or those of the random orders; "—" without one."""
        gate = self.chance if measure == RANDOM_ORDERS else self.gates.get(measure)
        if gate is None:
            return "—"
        return f"inputs {path_word(gate, self._masked)}" if gate.available else f"validity {UNAVAILABLE}"

    def _masked(self, step: int) -> str:
        return f"{amount(int(self.gating.counts[step]), self.gating.encoded.unit)} erased"


def under_erasure(
    test: ChanceTest, gating: StandingGates, known: Reasons | None = None, direction: str = COMPREHENSIVENESS
) -> UnderErasure:
    """What `decide_verdicts` says of a test, with the gates that it rests on."""
    return UnderErasure(
        decide_verdicts(test, gating, known, direction),
        {name: gating.gate(walks[direction]) for name, walks in test.scores.items()},
        gating.gate_of_all(random_walks(gating.encoded, test.band, test.target)),
        gating,
    )


def other_erasures(explainer: Explainer) -> tuple[str, ...]:
    """The ways of erasing that a model has beside its mask token."""
    return tuple(one for one in erasures_of(explainer.model) if one != MASK)


def erasure_cost(explainer: Explainer, encoded: Encoded, names: Sequence[str], planned: int, erasure: str) -> Cost:
    """What verdicts under a way of erasing take at most, of measures whose attributions are known."""
    along = len(names) * (2 * left_over(encoded) + 2)
    own = Cost.of(along, along * encoded.T, explainer.model.scheduler.counters)
    return Cost.sum([own, null_cost(explainer, encoded, planned, erasure=erasure)])
