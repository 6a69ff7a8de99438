"""Which pairs of an example stand out, by a stated rule, and what the test says of the inputs that mask them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.explanation.explainer import Explainer
from core.interactions.finding import Interactions
from core.network.features import Encoded
from core.oracle.target import logit_of
from core.validity.marks import HOLM, Gate, decide
from core.validity.references import CALIBRATED, Reference
from core.wording import number

TOGETHER, TWICE = "only together", "the same twice"
# In logits: an interaction that multiplies the odds by less than 1.65 is not told.
LEAST = 0.5
# Of an interaction, what each of its words may add by itself and still work only together with the other.
ALONE = 0.5
# Of what the weaker word adds by itself, the share that a repeated one loses: all of it, give or take.
LOST = 0.5, 1.5
# Pairs that are listed and tested, and below what a value is rounding.
LISTED = 5
_ROUNDING = 1e-5

RULE = (
    f"Only together: a pair adds {number(LEAST)} logits or more, neither word alone more than half of it. The same "
    f"twice: alone both on one side, and the pair takes back half to one and a half times what the weaker adds, "
    f"{number(LEAST)} logits or more."
)


@dataclass(frozen=True)
class WordPair:
    """Two features, first < second; value: what they add together, first_own and second_own what each adds by itself,
    in logits; kind: TOGETHER, TWICE or "".
    """

    first: int
    second: int
    value: float
    first_own: float
    second_own: float

    @property
    def kind(self) -> str:
        """Whether they work only together or say the same twice, by `RULE`.

        Error rate, `tests/interactions/test_pair_rates.py`: where words count by themselves alone and the network's
        scores are rounded by up to 0.1 logits, either is said of any pair on at most one text in a thousand. Two words
        that add 0.6 logits only together are found on 97 % of such texts, 1 logit on all, 0.4 on at most 3 %; two that
        say the same of 1 logit on 99 %. Of three words that work only together pairs are named, from 1 logit on.
        """
        own, size = (self.first_own, self.second_own), abs(self.value)
        weaker, stronger = sorted(map(abs, own))
        if size < LEAST:
            return ""
        if stronger <= ALONE * size:
            return TOGETHER
        alike = np.sign(own[0]) == np.sign(own[1]) == -np.sign(self.value)
        return TWICE if alike and LOST[0] * weaker <= size <= LOST[1] * weaker else ""


@dataclass(frozen=True, eq=False)
class PairTest:
    """What masking a pair does: falls: float64[3], v(∅) − v(S) in logits with the first masked, the second, both; p:
    {form: float64[3]}, {} without a reference.
    """

    pair: WordPair
    falls: np.ndarray
    p: dict[str, np.ndarray]

    def gate(self, reference: Reference | None, rule: str = HOLM, form: str = CALIBRATED) -> Gate:
        """What the three inputs come to by a rule; with the sign where one of them is rejected."""
        floor = None if reference is None else reference.floor(form)
        return decide(self.p.get(form, np.ones(3)), np.arange(3), 3, floor, rule)


@dataclass(frozen=True, eq=False)
class Paired:
    """Interactions of an example, and the pairs of it that are listed, the strongest first, each tested."""

    found: Interactions
    tests: tuple[PairTest, ...]

    def strongest(self, kind: str) -> PairTest | None:
        """The strongest pair of a kind; None where none is such."""
        return next((one for one in self.tests if one.pair.kind == kind), None)


def every_pair(found: Interactions) -> list[WordPair]:
    """All pairs that add anything together, the strongest first, ties by position."""
    own, pairs = found.split.own.tolist(), found.split.pairs
    first, second = np.triu_indices(len(own), 1)
    values = pairs[first, second]
    order = np.argsort(-np.abs(values), kind="stable")
    return [
        WordPair(i, j, value, own[i], own[j])
        for i, j, value in zip(first[order].tolist(), second[order].tolist(), values[order].tolist())
        if abs(value) > _ROUNDING
    ]


def listed_pairs(found: Interactions, most: int = LISTED) -> list[WordPair]:
    """The strongest pairs, and after them the strongest of a kind that is told, where it is none of these."""
    every = every_pair(found)
    told = [next((pair for pair in every if pair.kind == kind), None) for kind in (TOGETHER, TWICE)]
    return every[:most] + [pair for pair in told if pair is not None and pair not in every[:most]]


def masks_of_pair(encoded: Encoded, pair: WordPair) -> np.ndarray:
    """The three inputs of a pair, bool[3, F]: the first masked, the second, both; and what the text masks itself."""
    masks = np.tile(encoded.premasked, (3, 1))
    masks[[0, 2], pair.first] = masks[[1, 2], pair.second] = True
    return masks


def check_pairs(
    explainer: Explainer,
    encoded: Encoded,
    found: Interactions,
    pairs: Sequence[WordPair] | None = None,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Paired:
    """Ask for the inputs that mask the listed pairs, with p-values where the model has a reference.

    Args:
        pairs: other than `listed_pairs`.
    Raises:
        Cancelled, OutOfMemory, NonFinite: as the oracle.
    """
    chosen = listed_pairs(found) if pairs is None else list(pairs)
    if not chosen:
        return Paired(found, ())
    tested = explainer.tested(encoded)
    masks = np.concatenate([encoded.premasked[None], *(masks_of_pair(encoded, pair) for pair in chosen)])
    try:
        judged = tested.judge(masks, cancelled=cancelled)
    finally:
        tested.flush()
    values = logit_of(judged.logits.astype(np.float64), found.target)
    falls = (values[0] - values[1:]).reshape(-1, 3)
    p = {form: all_p[1:].reshape(-1, 3) for form, all_p in judged.p.items()}
    tests = (PairTest(pair, falls[i], {form: of[i] for form, of in p.items()}) for i, pair in enumerate(chosen))
    return Paired(found, tuple(tests))
