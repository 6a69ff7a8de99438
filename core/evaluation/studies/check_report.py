"""A model check in numbers: performance, data-set p-values, rejected shares at every ratio, and a verdict."""

import functools
from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from core.data.browsing import LabelMatch, find_other
from core.evaluation.families import above_constant, training_file
from core.evaluation.findings import FEW, MARGIN, NOT_ENOUGH
from core.evaluation.sampling import Sample
from core.evaluation.studies.model_check import Curve, Passed
from core.mathematics.curves import UNKNOWN, Areas, areas_between
from core.mathematics.masking import RATIOS
from core.mathematics.performance import METRICS, majority_class, performance_difference, weighted_performance
from core.mathematics.statistics import (
    Interval,
    bootstrap_intervals,
    more_often,
    rejected_count_p,
    share_ends,
    share_interval,
    simes,
)
from core.network.features import FIRST
from core.network.model import Model
from core.validity.marks import PLAIN, Gate, Why, alone, decide_ratios, doubts
from core.validity.references import CALIBRATED, FORMS, HeldOut, Reference, held_out_of
from core.wording import WHOLE, Tally

X = np.array(RATIOS)
TRUSTED, DOUBTFUL, REJECTED, UNTESTED = "not rejected", "on the edge", "rejected", "untested"
UNSURE = NOT_ENOUGH
CONFUSED, POOR, ONE_CLASS, PICKED = "confused", "no better than a constant", "one class", "picked texts"
# Of performance on texts that a model was trained on.
TRAINED_HERE = "The model was trained on these texts."
# A sample of balanced classes may hold more of one by chance: less than this is not chance.
CONFUSION = 0.01


@dataclass(frozen=True, eq=False)
class CurveFigures:
    """One curve in numbers over n examples.

    performance float64[K] ↑; p {form: float64[K]}, of the data set: calibrated by how many of its examples are
    rejected, literal by Simes; simes {form: float64[K]}; rejected {form: int64[K]}, single examples below 5 %; gates
    {form: what marks its numbers}; ends: float64[2, K], 95 % intervals of performance over the texts, None of fewer
    than 20; areas: ACU and RACU against random order, ↑ more faithful, NaN without it;
    precision, recall: mean over the examples whose evidence is known of average precision and recall of the top k, NaN
    without; chance: that average precision of a random order; lost: examples that it has no number on; loss:
    float64[K], mean log loss of the labels, ↓.
    """

    curve: Curve
    n: int
    performance: np.ndarray
    p: dict[str, np.ndarray]
    simes: dict[str, np.ndarray]
    rejected: dict[str, np.ndarray]
    gates: dict[str, Gate]
    loss: np.ndarray
    ends: np.ndarray | None = None
    areas: Areas = UNKNOWN
    precision: float = np.nan
    recall: float = np.nan
    chance: float = np.nan
    lost: int = 0

    @property
    def acu(self) -> float:
        return self.areas.acu.mean

    @property
    def racu(self) -> float:
        return self.areas.racu.mean

    def share(self, form: str) -> np.ndarray:
        """Of single examples below 5 %, float64[K] in [0, 1]."""
        return self.rejected[form] / self.n

    def share_ends(self, form: str) -> np.ndarray | None:
        """Exact 95 % intervals of those shares, float64[2, K] (Clopper and Pearson); None of fewer than 20 texts."""
        return share_ends(self.rejected[form], self.n) if self.n >= FEW else None

    def marked(self, form: str) -> bool:
        """Whether its numbers rest on texts that are rejected as out-of-distribution together, at some ratio."""
        return form in self.gates and self.gates[form].marked


@dataclass(frozen=True, eq=False)
class CheckReport:
    """A model on a sample: its lines, random order first.

    metric: name of the task's metric; majority: performance of always answering `majority_name`, the commonest class of
    `majority_of`: its training data or, where no card names it, these texts; n: examples of random order; worse:
    one-sided p of the sign test that with everything masked the model is right less often than that answer (small: it
    is); gained: how much better than that answer it is, unmasked and with everything masked; followed: random order, as
    far as it is computed; floor: {form: smallest attainable p}, {} without a reference; left_out: {sentence: examples};
    trained_on: digest of its training file, or None; other_lengths: the tokens between which nine of ten of the
    reference's texts are, where these are of other lengths, else None; held_out: None where that was not measured;
    fitted: texts of the reference's last level, 0 without one; tally, measured_tally: how far random order is, and the
    curve that is the least far; doubted: why p-values of these texts may be off; above_constant:
    False where its card says that it does no better than a constant answer; other: as of `find_other`.
    """

    model: str
    digest: str
    training: str
    sample: Sample
    metric: str
    majority: float
    majority_name: str
    n: int
    worse: float
    gained: tuple[Interval, Interval]
    followed: Passed
    lines: tuple[CurveFigures, ...]
    floor: dict[str, float]
    left_out: dict[str, int]
    trained_on: str | None = None
    other_lengths: tuple[int, int] | None = None
    majority_of: str = "these texts"
    held_out: HeldOut | None = None
    fitted: int = 0
    tally: Tally = WHOLE
    measured_tally: Tally = WHOLE
    doubted: tuple[Why, ...] = ()
    above_constant: bool = True
    other: LabelMatch | None = None

    @property
    def random(self) -> CurveFigures:
        return next(line for line in self.lines if line.curve.random)

    @property
    def measured(self) -> list[CurveFigures]:
        """The lines of measures that are shown."""
        return [line for line in self.shown if not line.curve.random]

    @property
    def shown(self) -> tuple["CurveFigures", ...]:
        """The lines that are drawn and told: from the fewest texts of which anything is told on, or with all."""
        return tuple(line for line in self.lines if line.n >= min(FEW, len(self.sample) - line.lost))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was left out or lacks."""
        doubt = [] if self.other is None else [self.other.how]
        notes = [*self.sample.notes, *doubt, *told_left_out(self.left_out)]
        return tuple(notes if self.trained_on != self.sample.digest else [*notes, TRAINED_HERE])

    @property
    def unmasked(self) -> float:
        return float(self.random.performance[0])

    @property
    def masked(self) -> float:
        return float(self.random.performance[-1])

    def marked(self, line: CurveFigures, form: str) -> bool:
        """Whether a measure's areas rest on such texts: its own, or those of random order, which it is set against."""
        return line.marked(form) or self.random.marked(form)

    def rejected(self, form: str = CALIBRATED) -> np.ndarray:
        """The ratios (places) at which random order's unadjusted p is below 5 %; none where the test cannot tell."""
        return np.flatnonzero(
            decide_ratios(self.random.p[form], self.floor[form], PLAIN).rejected if form in self.random.gates else ()
        )

    @functools.cached_property
    def above(self) -> np.ndarray | None:
        """The masking ratios at which more of these texts are rejected than of the texts held out when the test was
        fitted, for certain (`more_often`), as places; None where that was not measured.
        """
        if self.held_out is None or CALIBRATED not in self.random.rejected:
            return None
        held = np.array(self.held_out.rejected)
        return np.flatnonzero(more_often(self.random.rejected[CALIBRATED], self.n, held, self.held_out.m))

    @property
    def as_held_out(self) -> bool:
        """Whether it is known how many held-out texts are rejected, and these are so no more often for certain."""
        return self.above is not None and not len(self.above)

    def smallest(self, form: str = CALIBRATED) -> tuple[float, float]:
        """Random order's smallest data-set p and the ratio where it is."""
        at = self.worst(form)
        return float(self.random.p[form][at]), float(X[at])

    def worst(self, form: str = CALIBRATED) -> int:
        """The place of that ratio."""
        return int(np.argmin(self.random.p[form]))

    def most_rejected(self) -> Interval:
        """The largest share of texts that random order has rejected at a ratio, calibrated, with its 95 % interval."""
        return share_interval(int(self.random.rejected[CALIBRATED].max()), self.n)

    @property
    def verdict(self) -> str:
        """What is to be thought of the model under masking, by the calibrated form.

        PICKED where a filter picks texts by what the model does with them, or by hand: performance says how they were
        picked. UNSURE of fewer than 20 texts. CONFUSED comes before what the test says; POOR where the whole interval
        of what it gains over the constant answer lies below 5 points; REJECTED where the gate marks random order,
        DOUBTFUL by the paper's rule alone, each ratio by itself, and where held-out texts are rejected no less often,
        for all that can be told; UNSURE too where it may be no better than the constant answer.
        """
        one_class, gate = self.sample.one_class, self.random.gates.get(CALIBRATED)
        if self.sample.picked:
            return PICKED
        if self.n < FEW:
            return UNSURE
        if not one_class and self.worse < CONFUSION:
            return CONFUSED
        if not one_class and self.gained[0].high < MARGIN:
            return POOR
        if gate is None or not gate.available:
            return UNTESTED
        if len(self.rejected()):
            return REJECTED if gate.marked and (self.above is None or len(self.above)) else DOUBTFUL
        if one_class:
            return ONE_CLASS
        return TRUSTED if self.gained[0].low > 0 else UNSURE


def build_check_report(
    model: Model, reference: Reference | None, sample: Sample, passed: dict[Curve, Passed], metric: str | None = None
) -> CheckReport | None:
    """Put what is computed so far into numbers; None while no example has random order.

    Performance is by the card's metric, accuracy without one, or `metric`. p of a data set is by count
    (`rejected_count_p`) in the calibrated form, by Simes in the literal one. ACU and RACU compare a measure with the
    mean of the random orders on the examples that have both. Source: FMM §5.1 and §5.2, Figs. 2 to 4, Eq. 3.
    """
    unit = next((curve.unit for curve in passed if curve.random), "")
    chances = [one for curve, one in passed.items() if curve.random]
    if not chances or not chances[0].there.any():
        return None
    # More random orders are there for the areas of measures alone.
    baseline, more = chances[0], [curve for curve in passed if curve.random][1:]
    metric = metric or metric_of(model)
    there = baseline.there
    labels = sample.labels[there]
    majority = _majority(model, sample)
    floor = {} if reference is None else {form: reference.floor(form) for form in FORMS}
    lines = tuple(
        _line(curve, one, sample, metric, chances, reference)
        for curve, one in passed.items()
        if one.there.any() and curve not in more
    )
    doubted = _doubted(model, reference, baseline, unit, sample)
    return CheckReport(
        model.name,
        model.digest,
        strategy(model),
        sample,
        metric,
        METRICS[metric](labels, np.full(len(labels), majority)),
        model.labels[majority],
        int(there.sum()),
        _worse(labels, baseline.predicted[there][:, -1], majority),
        _gained(metric, labels, baseline.predicted[there], majority),
        baseline,
        tuple(sorted(lines, key=lambda line: not line.curve.random)),
        floor,
        left_out(baseline),
        training_file(model.card),
        (reference.about["tokens"][1], reference.about["tokens"][3]) if reference and Why.LENGTH in doubted else None,
        "its training data" if _trained_majority(model) else "these texts",
        None if reference is None else held_out_of(reference),
        0 if reference is None else reference.texts,
        doubted=doubted,
        above_constant=model.card is None or above_constant(model.card),
        other=find_other(sample.match, model.labels, labels, baseline.predicted[there][:, 0]),
    )


def metric_of(model: Model) -> str:
    """The task's metric by the model's card; accuracy without one."""
    return model.card["performance"]["metric"] if model.card else "accuracy"


def _doubted(model: Model, reference: Reference | None, baseline: Passed, unit: str, sample: Sample) -> tuple[Why, ...]:
    """Why p-values may be off: length, precision, or what is masked as one piece, unlike those of the reference."""
    read = np.array([]) if baseline.tokens is None else baseline.tokens[~np.isnan(baseline.tokens)]
    if reference is None or not len(read):
        return ()
    maskable = sample.maskable if sample.paired else FIRST
    return tuple(doubts(reference, read.astype(np.int64), model.precision, unit, maskable))


def left_out(passed: Passed) -> dict[str, int]:
    """Why examples have no curve: {sentence: examples}."""
    return dict(Counter(passed.problems.values()))


def told_left_out(counted: dict[str, int]) -> list[str]:
    """What was left out, a sentence for each reason."""
    return [
        f"Left out ({count:,} example{'' if count == 1 else 's'}): {sentence}" for sentence, count in counted.items()
    ]


def strategy(model: Model) -> str:
    """How a model's card says it was trained: "half", "mask" or "none"; "" without a card."""
    return model.card["plan"]["training"] if model.card else ""


def _trained_majority(model: Model) -> str | None:
    """The commonest class of its training data by its card; None where that names none."""
    named = model.card["performance"].get("majority_class") if model.card else None
    return named if named in model.labels else None


def _majority(model: Model, sample: Sample) -> int:
    named = _trained_majority(model)
    return majority_class(sample.labels, model.C) if named is None else model.labels.index(named)


def _worse(labels: np.ndarray, predicted: np.ndarray, majority: int) -> float:
    """Sign test over the examples of which one of the two answers is right; 1 for labels of one class."""
    if len(np.unique(labels)) < 2:
        return 1.0
    better = int(((predicted == labels) & (labels != majority)).sum())
    worse = int(((predicted != labels) & (labels == majority)).sum())
    return float(binomtest(worse, worse + better, alternative="greater").pvalue) if worse + better else 1.0


def _gained(metric: str, labels: np.ndarray, predicted: np.ndarray, majority: int) -> tuple[Interval, Interval]:
    """How much better the first and the last of K answers int[N, K] are than always answering one class."""
    constant = np.full(len(labels), majority)
    first, last = (
        difference_of(metric, (labels, predicted[:, k]), (labels, constant)) for k in (0, predicted.shape[1] - 1)
    )
    return first, last


def difference_of(metric: str, first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]) -> Interval:
    """`performance_difference`, kept: a page asks again whenever it is drawn."""
    given = [tuple(np.asarray(part, dtype=np.int64).tobytes() for part in one) for one in (first, second)]
    return _difference(metric, *given)


@functools.lru_cache(maxsize=256)
def _difference(metric: str, first: tuple[bytes, bytes], second: tuple[bytes, bytes]) -> Interval:
    one, other = (tuple(np.frombuffer(part, dtype=np.int64) for part in given) for given in (first, second))
    return performance_difference(metric, (one[0], one[1]), (other[0], other[1]))


def _line(
    curve: Curve, passed: Passed, sample: Sample, metric: str, chances: list[Passed], reference: Reference | None
) -> CurveFigures:
    there, n = passed.there, int(passed.there.sum())
    performance = np.array([METRICS[metric](sample.labels[there], passed.predicted[there, k]) for k in range(len(X))])
    p, together, rejected, gates = tests_along(passed, reference)
    both, found, between = there & chances[0].there, (np.nan, np.nan, np.nan), UNKNOWN
    if not curve.random and both.any():
        # Random orders that have not come so far yet are left for later.
        far = [one for one in chances if one.there[both].all()]
        answers = np.stack([one.predicted[both].T for one in (passed, *far)])
        between = _areas(metric, sample.labels[both].tobytes(), answers.tobytes(), answers.dtype.str)
    told = np.isfinite(passed.found[:, 0])
    if told.any():
        found = (
            *passed.found[told].mean(axis=0).tolist(),
            np.nan if passed.chance is None else float(passed.chance[told].mean()),
        )
    ends = _ends(metric, sample.labels[there], passed.predicted[there]) if n >= FEW else None
    # What rounds to a probability of 0 still has a finite loss.
    loss = -np.log(np.maximum(passed.values[there], np.finfo(np.float32).tiny)).mean(axis=0)
    lost = len(passed.problems)
    return CurveFigures(curve, n, performance, p, together, rejected, gates, loss, ends, between, *found, lost)


def tests_along(passed: Passed, reference: Reference | None) -> tuple[dict, dict, dict, dict[str, Gate]]:
    """p, simes, rejected and gates of a curve's examples, each by form, as of `CurveFigures`; {} what is not tested."""
    there, n = passed.there, int(passed.there.sum())
    tested = {form: one[there] for form, one in passed.p.items() if np.isfinite(one[there]).all()}
    rejected = {form: alone(one).sum(axis=0) for form, one in tested.items()}
    together = {form: simes(one, axis=0) for form, one in tested.items()}
    if reference is None:
        return together, together, rejected, {}
    p = dict(together)
    if CALIBRATED in p:
        p[CALIBRATED] = rejected_count_p(rejected[CALIBRATED], n, reference.texts)
    return p, together, rejected, {form: decide_ratios(p[form], _floor(reference, form, n)) for form in p}


def _ends(metric: str, labels: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """95 % intervals of accuracy (exact) or another metric (resampled) of int[N, K] answers, float64[2, K]."""
    if metric == "accuracy":
        return share_ends((predicted == labels[:, None]).sum(axis=0), len(labels))
    answers = np.asarray(predicted, dtype=np.int64).T
    return _resampled(metric, np.asarray(labels, dtype=np.int64).tobytes(), answers.tobytes())


@functools.lru_cache(maxsize=256)
def _resampled(metric: str, labels: bytes, answers: bytes) -> np.ndarray:
    truth = np.frombuffer(labels, dtype=np.int64)
    given = np.frombuffer(answers, dtype=np.int64).reshape(len(X), len(truth))
    performance = weighted_performance(metric, truth, given)
    found = bootstrap_intervals(lambda w: performance(w).T, len(truth), 2_000, width=len(X) * len(truth))
    return np.array([[one.low for one in found], [one.high for one in found]])


def _floor(reference: Reference, form: str, n: int) -> float:
    """The smallest p that n examples together can have."""
    return float(rejected_count_p(np.array(n), n, reference.texts)) if form == CALIBRATED else reference.floor(form)


@functools.lru_cache(maxsize=256)
def _areas(metric: str, labels: bytes, answers: bytes, kind: str) -> Areas:
    """Areas of a measure's answers against the mean of R random orders, [1 + R, K, N]; slow, so they are kept."""
    truth = np.frombuffer(labels, dtype=np.int64)
    given = np.frombuffer(answers, dtype=kind).reshape(-1, len(X), len(truth))
    performance = weighted_performance(metric, truth, given)

    def curves(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        both = performance(weights)
        return both[:, 0], both[:, 1:].mean(axis=1)

    classes = 1 if metric == "accuracy" else len(np.union1d(truth, given))
    return areas_between(X, curves, len(truth), 3 * len(given) * len(X) * classes)
