"""How stable rankings are as far as that is known: what the store has is read, and nothing is computed on the way."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np

from core.explanation.explainer import Attribution, Explainer
from core.explanation.limiting import left_over
from core.measures.catalogue import measure
from core.network.features import Encoded
from core.network.scheduler import NonFinite
from core.oracle.target import Target
from core.stability.finding import RUNS, Runs, stacked, stored_stability
from core.stability.moving import OFFERED
from core.stability.telling import NOT_SHOWN, UNSTABLE, Stability, unstable_text

# The column of a file that holds why a ranking is.
COLUMN = "order unstable"


def known_stability(
    explainer: Explainer, encoded: Encoded, target: Target, names: Iterable[str], sign: str
) -> dict[str, Stability]:
    """What is known of these measures, of the most runs that the store has; those of which nothing is are left out."""
    found = {name: _known(explainer, encoded, target, name) for name in names}
    return {name: Stability(one, encoded, sign) for name, one in found.items() if one is not None}


def known_unstable(
    explainer: Explainer, encoded: Encoded, target: Target, names: Iterable[str], sign: str
) -> dict[str, str]:
    """{measure: why its ranking is unstable, a sentence, "" where that is not shown}, of those of which it is known."""
    known = known_stability(explainer, encoded, target, names, sign)
    return {name: unstable_text(one) for name, one in known.items()}


def labelled(name: str, unstable: Mapping[str, str]) -> str:
    """A measure's name as it stands beside its ranking: "LIME (order unstable)"."""
    return f"{name} (order {UNSTABLE})" if unstable.get(name) else name


def unstable_cell(name: str, unstable: Mapping[str, str]) -> str | None:
    """Its cell under COLUMN: why, that it is not shown, or None where nothing is known."""
    return None if name not in unstable else unstable[name] or NOT_SHOWN


def draw_stability(
    explainer: Explainer,
    encoded: Encoded,
    target: Target,
    name: str,
    sign: str,
    cancelled: Callable[[], bool] | None = None,
) -> Stability | None:
    """What five runs of a measure say, whatever was not known computed; None where it does not draw, is random order,
    or gives no number.

    Raises:
        Cancelled, OutOfMemory: as `Explainer.attribute`.
    """
    ask = partial(explainer.attribute, encoded, name, target, cancelled=cancelled)
    try:
        runs = _drawn(encoded, target, name, lambda seed: ask(seed=seed))
    except NonFinite:
        return None
    return None if runs is None else Stability(runs, encoded, sign)


def _known(explainer: Explainer, encoded: Encoded, target: Target, name: str) -> Runs | None:
    if explainer.store is None:
        return None
    for runs in reversed(OFFERED) if measure(name).seeded else (RUNS,):
        if (found := stored_stability(explainer, encoded, name, target, runs)) is not None:
            return found
    return _drawn(encoded, target, name, lambda seed: explainer.stored(encoded, name, target, seed=seed))


def _drawn(encoded: Encoded, target: Target, name: str, ask: Callable[[int], Attribution | None]) -> Runs | None:
    """Five runs alone, of a measure that draws and is no baseline."""
    named = measure(name)
    if not named.seeded or named.baseline or left_over(encoded) < 2:
        return None
    found = []
    for seed in range(RUNS):
        one = ask(seed)
        # Where a score is no number there is no order, and so no other one.
        if one is None or not all(np.isfinite(scores).all() for scores in one.scores.values()):
            return None
        found.append(one.scores)
    return Runs(name, target, RUNS, stacked(found))
