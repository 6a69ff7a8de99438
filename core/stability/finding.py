"""How stable a measure is on an example: what is computed for it, at which cost; kept in the store."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from core.explanation.completeness import path_of
from core.explanation.explainer import Cost, Explainer
from core.explanation.limiting import left_over
from core.measures.catalogue import measure
from core.measures.registry import Measure
from core.network.features import Encoded
from core.network.scheduler import NonFinite
from core.oracle.target import Target, target_key
from core.stability.changes import CHANGES, HALF, NoReading, Scores, attribute_anew
from core.stability.moving import OFFERED, ladder
from core.storage.content import Content, Numbers
from core.storage.store import canonical_key
from core.wording import in_short

RUNS, MOST_RUNS = OFFERED[0], 100
# Steps at which a path's completeness is checked.
STEPS = (5, 10, 20, 50, 100)
_VERSION = 1


class NoStability(ValueError):
    """There is nothing to rank in this text; the message says why."""


@dataclass(frozen=True, eq=False)
class Runs:
    """What was computed of a measure so far.

    asked: runs in all, 1 of a measure that does not draw; drawn: {variant: float64[k, F]}, one a seed; counts: how many
    samples, ascending; rungs: {variant: float64[n, F]}, one a count, by seed 0, and the last again by seed 1; steps,
    sums: of a path; due: what the sums should be; changed: {change: its scores, or why there are none}; complete:
    whether all is there.
    """

    measure: str
    target: Target
    asked: int
    drawn: Mapping[str, np.ndarray]
    counts: tuple[int, ...] = ()
    rungs: Mapping[str, np.ndarray] | None = None
    steps: tuple[int, ...] = ()
    sums: tuple[float, ...] = ()
    due: float = float("nan")
    changed: Mapping[str, "Scores | str"] | None = None
    complete: bool = False


def counts_of(name: str, F: int) -> tuple[int, ...]:
    """How many samples a ladder of a measure takes on F features: what it takes by itself, halved and doubled, as far
    as there are so many; none of a measure whose samples cannot be chosen.
    """
    named = measure(name)
    if not named.counted:
        return ()
    found: list[int] = []
    for count in ladder(named.passes(F)):
        # Where there are no more sets than these, more samples are no more.
        taken = measure(name, **{named.counted: count}).passes(F)
        if found and taken <= found[-1]:
            break
        found.append(taken)
    return tuple(found)


def stability_cost(explainer: Explainer, encoded: Encoded, name: str, runs: int = RUNS) -> Cost:
    """What it takes at most; what is known of other runs is not counted off."""
    named = measure(name)
    F = left_over(encoded)
    if named.refusal(explainer.model.module.config.model_type, F) or F < 2:
        return Cost(0, 0.0)
    one, counts = named.passes(encoded.F), counts_of(name, F)
    sampled = sum(counts) + sum(counts[-1:])
    pathed = sum(STEPS) + 2 * len(STEPS) if named.path else 0
    passes = one * _asked(named, runs) + sampled + pathed + one * sum(change.passes for change in CHANGES.values())
    tokens = passes * encoded.T * named.weight
    return Cost.of(passes, tokens, explainer.model.scheduler.counters)


def stored_stability(
    explainer: Explainer, encoded: Encoded, name: str, target: Target, runs: int = RUNS
) -> Runs | None:
    """What the store has of so many runs; None where it has nothing. Computes nothing."""
    if explainer.store is None or left_over(encoded) < 2:
        return None
    named, F = measure(name), encoded.F
    counts = counts_of(name, left_over(encoded))
    entry = explainer.store.get(_key(explainer, encoded, named, target, counts, runs), _content(named, F, counts, runs))
    if entry is None:
        return None
    arrays, why, sums = entry.arrays, entry.meta["why"], tuple(map(float, entry.arrays["sums"]))

    def kept(what: str) -> Scores:
        return {one: arrays[f"{what} {one}"] for one in named.variants}

    rungs, steps = kept("rungs") if counts else None, STEPS if named.path else ()
    due, changed = sums[-1] if sums else float("nan"), {change: why.get(change) or kept(change) for change in CHANGES}
    asked, drawn = _asked(named, runs), kept("drawn")
    return Runs(name, target, asked, drawn, counts, rungs, steps, sums[:-1], due, changed, complete=True)


def find_stability(
    explainer: Explainer,
    encoded: Encoded,
    name: str,
    target: Target,
    runs: int = RUNS,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Runs, None, Runs]:
    """Compute a measure again by other seeds, by fewer and more samples or steps, and under changes that should not
    matter; yields what is known after each.

    What other seeds and numbers of samples give is kept as attributions, so that asking again goes on from there.

    Args:
        runs: seeds, 0 to runs − 1, of a measure that draws; at least 2.
        progress: called with (passes done, passes in all), both at most.
    Raises:
        NoStability: fewer than two features are left to rank; nothing is computed then.
        ValueError: fewer than two runs, or more than 100.
        Cancelled, OutOfMemory, NonFinite, NotApplicable: as `Explainer.attribute`; where a copy in half precision gives
            no number it is said instead.
    Source: glossary, Stability.
    """
    if not 2 <= runs <= MOST_RUNS:
        raise ValueError(f"runs must be 2 to {MOST_RUNS}, not {runs}")
    if left_over(encoded) < 2:
        raise NoStability(f"A ranking needs two unmasked {encoded.unit}s; this text has fewer.")
    if (known := stored_stability(explainer, encoded, name, target, runs)) is not None:
        return known
    named = measure(name)
    asking = _Asking(explainer, encoded, named, target, progress, cancelled)
    asking.total = stability_cost(explainer, encoded, name, runs).passes
    drawn = []
    for seed in range(_asked(named, runs)):
        drawn.append(asking.attributed(name, seed))
        found = Runs(name, target, _asked(named, runs), stacked(drawn))
        yield found
    counts = counts_of(name, left_over(encoded))
    rungs = []
    for count, seed in [*((one, 0) for one in counts), *((one, 1) for one in counts[-1:])]:
        own = count == named.passes(left_over(encoded))
        rungs.append(asking.attributed(name if own else measure(name, **{named.counted: count}).name, seed))
        yield found
    found = replace(found, counts=counts, rungs=stacked(rungs) if rungs else None)
    sums = []
    for steps in STEPS if named.path else ():
        sums.append(path_of(explainer, encoded, named, target, steps, cancelled))
        asking.tell(asking.done + steps + 2)
        yield found
    if sums:
        found = replace(found, steps=STEPS, sums=tuple(one for one, _ in sums), due=sums[0][1])
    for change in CHANGES:
        found = replace(found, changed={**(found.changed or {}), change: asking.changed(change, drawn[0])})
        yield found
    found = replace(found, complete=True)
    _store(explainer, encoded, named, found, runs)
    return found


class _Asking:
    """One part after the other, with how far all of it is."""

    def __init__(self, explainer, encoded, measure: Measure, target, progress, cancelled):
        self.explainer, self.encoded, self.measure, self.target = explainer, encoded, measure, target
        self.cancelled, self._told = cancelled, progress
        self.done = self.total = 0

    def attributed(self, name: str, seed: int) -> Scores:
        """The scores of one run, from the store where it has them."""
        before = self.done
        ask = partial(self.explainer.attribute, self.encoded, name, self.target, seed=seed, cancelled=self.cancelled)
        try:
            return _sound(ask(progress=lambda done, _: self.tell(before + done)).scores, name)
        finally:
            self.tell(before + measure(name).passes(self.encoded.F))

    def changed(self, change: str, whole: Scores) -> Scores | str:
        """The scores under a change, or why there are none; whole: without it."""
        example = int(self.encoded.digest[:8], 16)
        try:
            read = CHANGES[change].read(self.explainer, self.encoded)
            if read.same:
                return whole
            anew = attribute_anew(self.explainer, read, self.measure, self.target, example, self.cancelled)
            found = _sound(anew, self.measure.name)
        except NoReading as error:
            found = str(error)
        except (NonFinite, RuntimeError) as error:
            # What is sound in its own precision may give no number in half of it, or the device lack an operation.
            if change != HALF:
                raise
            found = f"No scores in half precision: {in_short(error)}."
        self.tell(self.done + CHANGES[change].passes * self.measure.passes(self.encoded.F))
        return found

    def tell(self, done: int) -> None:
        self.done = min(done, self.total)
        if self._told is not None:
            self._told(self.done, self.total)


def _sound(scores: Scores, name: str) -> Scores:
    if not all(np.isfinite(one).all() for one in scores.values()):
        raise NonFinite(f"{name} gave NaN or infinity.")
    return scores


def _asked(measure: Measure, runs: int) -> int:
    return runs if measure.seeded else 1


def stacked(found: Sequence[Scores]) -> dict[str, np.ndarray]:
    """Scores of several runs together, {variant: float64[k, F]}; at least one run."""
    return {one: np.stack([scores[one] for scores in found]) for one in found[0]}


def _key(explainer: Explainer, encoded: Encoded, measure: Measure, target: Target, counts, runs: int) -> str:
    return canonical_key(
        "stability",
        _VERSION,
        model=explainer.model.digest,
        precision=explainer.model.precision,
        example=encoded.digest,
        target=target_key(target),
        measure=measure.name,
        measure_version=measure.version,
        runs=_asked(measure, runs),
        counts=list(counts),
        steps=list(STEPS) if measure.path else [],
        changes=list(CHANGES),
        **explainer.words_read(measure.name),
    )


def _content(measure: Measure, F: int, counts: tuple[int, ...], runs: int) -> Content:
    def scores(one: str, *shape: int) -> Numbers:
        return Numbers("float64", shape, low=-np.inf if one in measure.signed else 0)

    arrays = {f"drawn {one}": scores(one, _asked(measure, runs), F) for one in measure.variants}
    if counts:
        arrays |= {f"rungs {one}": scores(one, len(counts) + 1, F) for one in measure.variants}
    changed = {f"{change} {one}": scores(one, F) for change in CHANGES for one in measure.variants}
    arrays["sums"] = Numbers("float64", (len(STEPS) + 1 if measure.path else 0,))

    def whole(there: Mapping, meta: Mapping) -> bool:
        return all(
            (change in meta["why"]) != (f"{change} {one}" in there) for change in CHANGES for one in measure.variants
        )

    def is_why(value: object) -> bool:
        return isinstance(value, dict) and all(
            key in CHANGES and isinstance(one, str) and one for key, one in value.items()
        )

    return Content(arrays | changed, {"why": is_why}, optional=changed, agrees=whole)


def _store(explainer: Explainer, encoded: Encoded, measure: Measure, found: Runs, runs: int) -> None:
    if explainer.store is None:
        return
    changed = found.changed or {}
    why = {change: said for change, said in changed.items() if isinstance(said, str)}
    parts = {"drawn": found.drawn, "rungs": found.rungs or {}}
    parts |= {change: scores for change, scores in changed.items() if not isinstance(scores, str)}
    arrays = {f"{part} {one}": values for part, scores in parts.items() for one, values in scores.items()}
    arrays["sums"] = np.array([*found.sums, found.due] if found.steps else [], dtype=np.float64)
    explainer.store.put(
        _key(explainer, encoded, measure, found.target, found.counts, runs),
        arrays,
        {"why": why},
        _content(measure, encoded.F, found.counts, runs),
    )
