"""What is looked for of why measures fail: paths computed again at each step, other draws, pairs of words."""

from collections.abc import Callable, Sequence

from core.explanation.explainer import Explainer
from core.explanation.recursive import BY_RATIO, Band, Summary, follow, random_band, summarise
from core.interactions.finding import AT_ONCE, find_interactions, stored_interactions, why_no_pairs
from core.interactions.pairs import Paired, check_pairs, listed_pairs, masks_of_pair
from core.mathematics.stepwise import finish
from core.measures.catalogue import measure
from core.network.features import Encoded
from core.network.scheduler import NonFinite
from core.oracle.target import Target
from core.stability.known import draw_stability, known_stability
from core.validity.marks import HOLM
from core.validity.references import CALIBRATED
from core.verdicts.chance import stepwise_p
from core.verdicts.deciding import Reasons


def find_reasons(
    explainer: Explainer,
    encoded: Encoded,
    target: Target,
    names: Sequence[str],
    sign: str = "signed",
    rule: str = HOLM,
    form: str = CALIBRATED,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Reasons:
    """Look for every cause that is not known with the verdicts themselves: it takes a few times as long as these.

    A measure that gives NaN on the way has no path, and pairs are those of every set of up to 12 words, beyond of a
    sample; none where there are none.

    Raises:
        Cancelled, OutOfMemory, NonFinite: as the oracle.
    """
    band = finish(random_band(explainer, encoded, BY_RATIO, cancelled=cancelled))
    stepwise = {}
    for name in names:
        try:
            steps = finish(follow(explainer, encoded, name, target, sign, BY_RATIO, cancelled=cancelled))
        except NonFinite:
            continue
        summary = summarise(steps, encoded.F, BY_RATIO, target, band, explainer.reference, rule, form)
        stepwise[name] = stepwise_of(summary, band, target)
    drawn = [draw_stability(explainer, encoded, target, name, sign, cancelled) for name in names]
    unstable = {one.measure for one in drawn if one is not None and one.unstable}
    unstable |= find_unstable(explainer, encoded, target, names, sign)
    return Reasons(stepwise=stepwise, unstable=unstable, pairs=_pairs(explainer, encoded, target, cancelled))


def known_pairs(explainer: Explainer, encoded: Encoded, target: Target) -> Paired | None:
    """The pairs of words that the store has, exact before sampled, those alone whose inputs were asked for already;
    None where there are none. Computes nothing.
    """
    found = next(
        (one for exact in (True, False) if (one := stored_interactions(explainer, encoded, target, exact))), None
    )
    if found is None:
        return None
    tested = explainer.tested(encoded)
    known = [pair for pair in listed_pairs(found) if tested.known(masks_of_pair(encoded, pair))]
    return check_pairs(explainer, encoded, found, known)


def _pairs(explainer: Explainer, encoded: Encoded, target: Target, cancelled) -> Paired | None:
    exact = int((~encoded.premasked).sum()) <= AT_ONCE
    if why_no_pairs(encoded, exact):
        return None
    found = finish(find_interactions(explainer, encoded, target, exact, cancelled=cancelled))
    return check_pairs(explainer, encoded, found, cancelled=cancelled)


def stepwise_of(summary: Summary, band: Band | None, target: Target) -> float:
    """p of a path among the random orders of its own steps; 1 where either is not complete, or rests on rejected
    inputs.
    """
    if band is None or not summary.complete or summary.marked:
        return 1.0
    return stepwise_p(summary.x, summary.values, band.values(target))


def find_unstable(
    explainer: Explainer, encoded: Encoded, target: Target, names: Sequence[str], sign: str
) -> frozenset[str]:
    """Measures whose ranking is known to be unstable; random order, which is meant to be, is left out. Computes
    nothing.
    """
    told = known_stability(explainer, encoded, target, names, sign)
    return frozenset(name for name, one in told.items() if one.unstable and not measure(name).baseline)
