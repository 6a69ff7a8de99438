"""What behaviour under masking comes to: fidelity beside what the model allows, predictions that never change, and the
drift of the embeddings.
"""

import functools
from collections import Counter
from dataclasses import dataclass

import numpy as np

from core.evaluation.sampling import Sample
from core.evaluation.studies.behaviour import ORDERS, Course, Walked
from core.evaluation.studies.check_report import strategy
from core.mathematics.drift import centroid_change, spread_change
from core.mathematics.flips import normalised_fidelity
from core.mathematics.masking import RATIOS
from core.mathematics.statistics import Interval, mean_interval
from core.network.model import Model
from core.oracle.erasing import MASK

X = np.array(RATIOS)
HALF, ALL = 5, 10


@dataclass(frozen=True, eq=False)
class CourseLine:
    """One course in numbers.

    n: examples; judged: those of them with more than one feature, by which fidelity and flips go; fidelity: 1 −
    mean(C/F) with its interval, ↑ more
    faithful; normalised: 0 is random order, 1 the largest there can be, NaN without random order; never: share of
    predictions that never change;
    unflipped: float64[K], share of predictions that have not changed yet at each share of the features; centroid:
    float64[K], 1 − cosine, and
    spread: float64[K], change of the mean standard deviation as a share, of the embeddings at each ratio against the
    unmasked ones.
    """

    course: Course
    n: int
    judged: int
    fidelity: Interval
    normalised: float
    never: float
    unflipped: np.ndarray
    centroid: np.ndarray
    spread: np.ndarray


@dataclass(frozen=True, eq=False)
class BehaviourReport:
    """A model on a sample: its lines, random order first where it is known; best: the largest fidelity there can be;
    notes: sentences on the examples.
    """

    model: str
    digest: str
    training: str
    sample: Sample
    best: float
    lines: tuple[CourseLine, ...]
    left_out: dict[str, int]
    notes: tuple[str, ...]

    @property
    def random(self) -> CourseLine | None:
        return next((line for line in self.lines if line.course.random), None)

    @property
    def ranked(self) -> list[CourseLine]:
        """The measures whose fidelity is known on all examples that any order went through, the one that changes
        predictions earliest first.
        """
        most = max((line.n for line in self.lines), default=0)
        told = [line for line in self.lines if not line.course.random and line.judged and line.n == most]
        return sorted(told, key=lambda line: -line.fidelity.mean)


def behaviour_report(model: Model, sample: Sample, walked: dict[Course, Walked]) -> BehaviourReport | None:
    """Put what is computed so far into numbers; None while nothing is.

    A measure's normalised fidelity compares it with random order on the examples that have both. Over a random order's
    repetitions an example counts once.

    Source: RobustInf Eq. 1, Tables 1 and 2; glossary, Fidelity; glossary, Embedding drift.
    """
    known = {course: one for course, one in walked.items() if one.there.any()}
    if not known:
        return None
    baseline = next((one for course, one in known.items() if course.random), None)
    first = baseline or next(iter(known.values()))
    lines = sorted(
        (_line(course, one, baseline) for course, one in known.items()), key=lambda line: not line.course.random
    )
    left_out = dict(Counter(first.problems.values()))
    return BehaviourReport(
        model.name,
        model.digest,
        strategy(model),
        sample,
        _best(first.free[first.judged]),
        tuple(lines),
        left_out,
        tuple(_notes(first, left_out)),
    )


def _line(course: Course, one: Walked, baseline: Walked | None) -> CourseLine:
    shares, states = one.shares[one.judged], one.states[one.there]
    return CourseLine(
        course,
        int(one.there.sum()),
        len(shares),
        _interval((1 - shares).tobytes()),
        _normalised(course, one, baseline),
        float(one.never[one.judged].mean()) if len(shares) else np.nan,
        _unflipped(one),
        np.array([centroid_change(states[:, k], states[:, 0]) for k in range(len(X))]),
        np.array([spread_change(states[:, k], states[:, 0]) for k in range(len(X))]),
    )


@functools.lru_cache(maxsize=256)
def _interval(values: bytes) -> Interval:
    """Resampling takes a moment, and a page asks for all of them each time that one more example is there."""
    return mean_interval(np.frombuffer(values))


def _unflipped(one: Walked) -> np.ndarray:
    """Share of (example, order) pairs whose prediction has not changed yet with a share of the features erased,
    float64[K].
    """
    if not one.judged.any():
        return np.full(len(X), np.nan)
    flips, free = one.flips[one.judged], one.free[one.judged, None]
    # A hair of rounding may lie between 0.3 and 3/10.
    return np.array([((flips == 0) | (flips / free > x + 1e-9)).mean() for x in X])


def _normalised(course: Course, one: Walked, baseline: Walked | None) -> float:
    both = one.judged & baseline.judged if baseline is not None else np.zeros(0, dtype=bool)
    if course.random or not both.any():
        return float("nan")
    return normalised_fidelity(
        float(1 - one.shares[both].mean()), float(1 - baseline.shares[both].mean()), _best(one.free[both])
    )


def _best(free: np.ndarray) -> float:
    return float(1 - (1 / free).mean()) if len(free) else float("nan")


def _notes(first: Walked, left_out: dict[str, int]) -> list[str]:
    notes = [
        f"Left out ({count} example{'' if count == 1 else 's'}): {sentence}" for sentence, count in left_out.items()
    ]
    alone = int((first.there & ~first.judged).sum())
    if alone:
        notes.append(
            "A single word or piece that can be erased: C/F is 1 whatever the model does, so fidelity leaves out "
            f"{alone:,} of {int(first.there.sum()):,} examples."
        )
    few = int((first.judged & (first.free < 10)).sum())
    if few:
        notes.append(
            f"Fewer than 10 pieces that can be erased, so that several masking ratios erase the same ones: {few:,} of "
            f"{int(first.there.sum()):,} examples."
        )
    if int(first.there.sum()) == 1:
        notes.append(
            "One example alone has no spread, and its centroid is itself. Take more examples to see how embeddings "
            "drift."
        )
    if first.cut:
        notes.append(
            f"Longer than the model reads, so that only what it reads is erased: {first.cut:,} of {len(first.there):,} "
            f"texts."
        )
    return notes


# ---- in words


def behaviour_answer(reports: list[BehaviourReport]) -> list[str]:
    """The answer in sentences, as text: which order changes predictions earliest, then how far the embeddings of each
    model drift.
    """
    return [sentence for sentence in (flips_sentence(reports[0]), drift_sentence(reports)) if sentence]


def flips_sentence(found: BehaviourReport) -> str:
    """Which measure changes the predictions of a model earliest, set against random order; "" where nothing can be
    judged.
    """
    chance, ranked = found.random, found.ranked
    told = "" if chance is None or not chance.judged or (ranked and chance.n != ranked[0].n) else _after(chance)
    if not ranked and told:
        changes = "never changes its prediction" if chance.never == 1 else f"changes its prediction {told}"
        return f"{_done(chance.course).capitalize()} in random order, {found.model} {changes}."
    if not ranked:
        return ""
    first = ranked[0]
    if first.never == 1:
        return (
            f"No measure ever changes the prediction of "
            f"{found.model}{f'; random order does {told}' if told and chance.never < 1 else ''}."
        )
    beside = f", in random order {told}" if told else ""
    if told and first.fidelity.mean <= chance.fidelity.mean:
        return (
            f"No measure changes the prediction of {found.model} earlier than chance: {first.course.measure}, the "
            f"earliest, {_after(first)}{beside}."
        )
    return (
        f"{first.course.measure} changes the prediction of {found.model} earliest: {_after(first)}{beside} "
        f"(fidelity {first.fidelity.mean:.3g} ↑)."
    )


def _after(line: CourseLine) -> str:
    """When predictions change along an order; those that never do are said."""
    if line.never == 1:
        return "never"
    never = f" ({100 * line.never:.3g} % never do, which counts as 100 %)" if line.never else ""
    return f"after {100 * (1 - line.fidelity.mean):.3g} % of the {line.course.unit}s on average{never}"


def _done(course: Course) -> str:
    return "masked" if course.erasure == MASK else "erased"


def drift_sentence(reports: list[BehaviourReport]) -> str:
    """How far the embeddings are from the unmasked ones at 50 % and at 100 %, along the first model's first course, for
    all that have it; "" for one example alone.
    """
    course = reports[0].lines[0].course
    told = [
        (one, line)
        for one in reports
        for line in one.lines
        if line.course == course and line.n > 1 and line.n == reports[0].lines[0].n
    ]
    if not told or told[0][0] is not reports[0]:
        return ""
    how = "at random" if course.random else f"in the order of {course.measure}"
    half, everything = (
        [(one.model, f"{line.centroid[k]:.2f}", signed_percent(line.spread[k])) for one, line in told]
        for k in (HALF, ALL)
    )
    done = _done(course)
    return (
        f"Half {done} {how}, the centre of the embeddings has moved by {half[0][1]} (1 − cosine) and their spread "
        f"changed by {half[0][2]}{_beside(half)}; "
        f"with everything {done} by {everything[0][1]} and {everything[0][2]}{_beside(everything)}."
    )


def _beside(told: list[tuple[str, str, str]]) -> str:
    """The numbers of the models after the first, in brackets."""
    return (
        f" ({'; '.join(f'{name}: {centroid}, {spread}' for name, centroid, spread in told[1:])})"
        if len(told) > 1
        else ""
    )


def signed_percent(share: float) -> str:
    """A change as a signed percentage; — where there is no number."""
    return "—" if share != share else f"{100 * share:+.3g} %".replace("-", "−")


# ---- as rows

HEADER = (
    "model",
    "order",
    "erased by",
    "masking ratio (0 to 1)",
    "examples",
    "change of centroid (1 - cosine, 0 to 2)",
    "change of mean standard deviation (share)",
    "predictions not changed yet (share)",
    "fidelity (higher is more faithful)",
    "fidelity, 95 % from",
    "fidelity, 95 % to",
    "normalised fidelity (at most 1)",
    "predictions that never change (share)",
    "examples judged",
)


def behaviour_rows(found: BehaviourReport) -> list[list]:
    """A report as rows, one for each course and ratio, see HEADER; fidelity is of the whole course."""
    return [
        [
            found.model,
            line.course.measure,
            line.course.erasure,
            float(ratio),
            line.n,
            float(line.centroid[k]),
            float(line.spread[k]),
            float(line.unflipped[k]),
            line.fidelity.mean,
            line.fidelity.low,
            line.fidelity.high,
            line.normalised,
            line.never,
            line.judged,
        ]
        for line in found.lines
        for k, ratio in enumerate(X)
    ]


def behaviour_json(reports: list[BehaviourReport]) -> dict:
    """Reports as plain values for a JSON file; null where there is no number."""
    return {
        "answer": behaviour_answer(reports),
        "models": [
            {
                "model": one.model,
                "weights": one.digest,
                "training": one.training,
                "data": one.sample.name,
                "data_sha256": one.sample.digest,
                "largest_fidelity": _plain(one.best),
                "notes": list(one.notes),
                "left_out": one.left_out,
                "ratios": X.tolist(),
                "random_orders": ORDERS,
                "curves": [_line_json(line) for line in one.lines],
            }
            for one in reports
        ],
    }


def _line_json(line: CourseLine) -> dict:
    course = line.course
    return {
        "measure": course.measure,
        "values": course.sign,
        "unit": course.unit,
        "erased_by": course.erasure,
        "examples": line.n,
        "judged": line.judged,
        "fidelity": _plain(line.fidelity.mean),
        "fidelity_interval": [_plain(line.fidelity.low), _plain(line.fidelity.high)],
        "normalised_fidelity": _plain(line.normalised),
        "never_changes": _plain(line.never),
        "not_changed_yet": _plain(line.unflipped),
        "centroid_change": _plain(line.centroid),
        "spread_change": _plain(line.spread),
    }


def _plain(value):
    """Numbers for JSON: None where there is none."""
    if isinstance(value, np.ndarray):
        return [_plain(one) for one in value.tolist()]
    return None if value != value else float(value)
