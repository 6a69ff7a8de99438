"""What is looked for of why measures fail: paths computed again at each step, a second draw, pairs of words."""

from collections.abc import Callable, Sequence

import numpy as np

from core.explanation.explainer import Attribution, Explainer
from core.explanation.recursive import BY_RATIO, Band, Summary, follow, random_band, summarise
from core.explanation.rows import choose_variant
from core.interactions.finding import AT_ONCE, find_interactions, stored_interactions, why_no_pairs
from core.interactions.pairs import Paired, check_pairs, listed_pairs, masks_of_pair
from core.mathematics.ranking import ranking
from core.mathematics.stepwise import finish
from core.measures.catalogue import measures
from core.measures.registry import Measure
from core.network.features import Encoded
from core.network.scheduler import NonFinite
from core.oracle.target import Target
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
    unstable = find_unstable(explainer, encoded, target, names, sign, compute=True)
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
    explainer: Explainer, encoded: Encoded, target: Target, names: Sequence[str], sign: str, compute: bool = False
) -> frozenset[str]:
    """Measures that draw and name another word first by another seed, of those whose second draw is in the store, or
    of all with `compute`; random order, which is meant to, is left out.

    Raises:
        Cancelled, OutOfMemory, NonFinite: as `Explainer.attribute`, with `compute`.
    """
    found = set()
    for name in names:
        measure = measures()[name]
        if not measure.seeded or measure.baseline:
            continue
        ask = explainer.attribute if compute else explainer.stored
        drawn = [ask(encoded, name, target, seed=seed) for seed in (0, 1)]
        first = {_first(one, measure, sign, encoded) for one in drawn if one is not None}
        found |= {name} if len(first) > 1 else set()
    return frozenset(found)


def _first(one: Attribution, measure: Measure, sign: str, encoded: Encoded) -> int:
    scores = one.scores[choose_variant(measure, sign)][~encoded.premasked]
    # Where a score is no number there is no order, and so no other one.
    return -1 if np.isnan(scores).any() else int(ranking(scores)[0])
