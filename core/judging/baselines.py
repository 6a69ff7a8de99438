"""Attributions that metrics are set against: random ones, and a measure's own scores in other places."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field

import numpy as np

from core.explanation.explainer import Explainer
from core.judging.judging import How, Judge, judged_content, judged_key, read_judged
from core.metrics.catalogue import metrics
from core.network.features import Encoded
from core.storage.content import Content, Numbers

BASELINES = 30
_USUAL = How()


@dataclass(frozen=True, eq=False)
class Baseline:
    """Attributions under one metric: values float64[n], NaN: undefined; p {form: float64[inputs]}, {}: untested."""

    values: np.ndarray
    p: dict[str, np.ndarray] = field(default_factory=dict)


# {metric: what is known of it}
Baselines = dict[str, Baseline]


def judge_random(
    explainer: Explainer,
    encoded: Encoded,
    names: tuple[str, ...],
    how: How = _USUAL,
    count: int = BASELINES,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Baselines, None, Baselines]:
    """Judge seeded random attributions with their p-values; yields what is there after each. Raises as the oracle.
    Source: SoftFaith §4.4, the baseline of diagnosticity.
    """
    judge = Judge(explainer, encoded, how, True, cancelled)
    return (yield from _judge_many(judge, names, count, judge.random, True, progress))


def judge_shuffled(
    explainer: Explainer,
    encoded: Encoded,
    name: str,
    sign: str,
    names: tuple[str, ...],
    how: How = _USUAL,
    count: int = 10,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Baselines, None, Baselines]:
    """Judge a measure's own scores in other places, which erase as much as it does, as `judge_random`.
    Source: glossary, Hard and soft erasure.
    """
    judge = Judge(explainer, encoded, how, True, cancelled)
    scores, magnitudes = judge.attribution(name, sign)
    return (yield from _judge_many(judge, names, count, lambda r: judge.shuffled(scores, r), magnitudes, progress))


def _judge_many(
    judge: Judge,
    names: tuple[str, ...],
    count: int,
    attribution: Callable[[int], np.ndarray],
    magnitudes: bool,
    progress,
) -> Generator[Baselines, None, Baselines]:
    """Judge `count` attributions, metric by metric read from the store where it is there."""
    every = np.stack([*map(attribution, range(count))])
    explainer = judge.explainer
    keys = {name: judged_key(judge, name, every, magnitudes) for name in names if metrics()[name].soft}
    held = {name: found for name, key in keys.items() if (found := _read(judge, name, count, key)) is not None}
    missing = tuple(name for name in names if name not in held)
    values = {name: np.full(count, np.nan) for name in missing}
    p: dict[str, dict[str, list[np.ndarray]]] = {name: {} for name in missing}

    def known(n: int) -> Baselines:
        tested = {name: {form: np.concatenate(parts) for form, parts in p[name].items()} for name in missing}
        found = held | {name: Baseline(values[name], tested[name]) for name in missing}
        return {name: Baseline(found[name].values[:n].copy(), found[name].p) for name in names}

    try:
        for r, scores in enumerate(every if missing else ()):
            if progress is not None:
                progress(r, count)
            rated = judge.rate(scores, missing, magnitudes)
            for name in missing:
                values[name][r] = rated.found[name].value
                for form, found in rated.inputs.get(name, {}).items():
                    p[name].setdefault(form, []).append(found)
            yield known(r + 1)
    finally:
        explainer.flush(judge.encoded)
    whole = known(count)
    for name in missing:
        if name in keys and explainer.store is not None:
            arrays = {"values": whole[name].values} | whole[name].p
            explainer.store.put(keys[name], arrays, {}, _content(judge, name, count))
    return whole


def _content(judge: Judge, metric: str, count: int) -> Content:
    """What the store holds of several attributions under a soft metric."""
    scores = Numbers("float64", (count,), metrics()[metric].low, metrics()[metric].high, nan=True)
    return judged_content(judge, {"values": scores}, {})


def _read(judge: Judge, metric: str, count: int, key: str) -> Baseline | None:
    read = read_judged(judge, key, _content(judge, metric, count))
    return None if read is None else Baseline(read[0].arrays["values"], read[1])
