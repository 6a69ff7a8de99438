"""What a model check comes to: performance, data-set p-values and rejected shares at every ratio, a verdict, and the
papers' findings beside it.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from core.evaluation.families import training_file
from core.evaluation.sampling import Sample
from core.evaluation.studies.model_check import Curve, Passed
from core.mathematics.curves import acu, racu
from core.mathematics.masking import RATIOS
from core.mathematics.performance import METRICS, majority_class
from core.mathematics.statistics import ALPHA, holm, simes
from core.measures.catalogue import measures
from core.network.model import Model
from core.validity.marks import doubts
from core.validity.references import CALIBRATED, FORMS, LITERAL, Reference

X = np.array(RATIOS)
TRUSTED, DOUBTFUL, REJECTED, UNTESTED = "not rejected", "on the edge", "rejected", "untested"
CONFUSED, POOR, ONE_CLASS = "confused", "no better than a constant", "one class"
# Of fewer examples hardly anything can be told.
FEW = 20
# A sample of balanced classes may hold more of one by chance: less than this is not chance.
CONFUSION = 0.01


@dataclass(frozen=True, eq=False)
class CurveFigures:
    """One curve in numbers over n examples: performance float64[K] ↑; p {form: float64[K]}, of the data set; rejected
    {form: float64[K]},
    share of single examples below 5 %; acu, racu against random order, ↑ more faithful, NaN without it; precision,
    recall: mean over the examples
    whose evidence is known of average precision and recall of the top k, NaN without; chance: that average precision of
    a random order."""

    curve: Curve
    n: int
    performance: np.ndarray
    p: dict[str, np.ndarray]
    rejected: dict[str, np.ndarray]
    acu: float = np.nan
    racu: float = np.nan
    precision: float = np.nan
    recall: float = np.nan
    chance: float = np.nan

    def marked(self, form: str) -> bool:
        """Whether its numbers rest on texts that are rejected as out-of-distribution together, at some ratio."""
        return form in self.p and bool((self.p[form] < ALPHA).any())


@dataclass(frozen=True, eq=False)
class CheckReport:
    """A model on a sample: its lines, random order first.

    metric: name of the task's metric; majority: performance of always answering `majority_name`, the commonest class of
    train or, where no card names it, of
    the sample; n: examples of random order; worse: one-sided p of the sign test that with everything masked the model
    is right less often than
    that answer (small: it is); floor: {form: smallest attainable p}, {} without a reference; left_out: {sentence:
    examples}; trained_on: digest of its
    training file, or None; extra: more sentences on the texts.
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
    lines: tuple[CurveFigures, ...]
    floor: dict[str, float]
    left_out: dict[str, int]
    trained_on: str | None = None
    extra: tuple[str, ...] = ()

    @property
    def random(self) -> CurveFigures | None:
        return next((line for line in self.lines if line.curve.random), None)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was left out, lacks or is cut."""
        return (*self.sample.notes, *told_left_out(self.left_out), *self.extra)

    @property
    def unmasked(self) -> float:
        return float(self.random.performance[0])

    @property
    def masked(self) -> float:
        return float(self.random.performance[-1])

    def rejected(self, form: str = CALIBRATED) -> np.ndarray:
        """The masking ratios at which random order's data-set p is below 5 % by itself, as places; none where the test
        cannot tell.
        """
        if not self.floor or self.floor[form] >= ALPHA:
            return np.zeros(0, dtype=int)
        return np.flatnonzero(self.random.p[form] < ALPHA)

    @property
    def surely(self) -> bool:
        """Whether Holm over all ratios rejects any, or could not for the floor of the reference."""
        return bool(len(self.rejected())) and (
            self.floor[CALIBRATED] >= ALPHA / len(X) or bool(holm(self.random.p[CALIBRATED]).any())
        )

    def smallest(self, form: str = CALIBRATED) -> tuple[float, float]:
        """Random order's smallest data-set p and the ratio where it is."""
        at = int(np.argmin(self.random.p[form]))
        return float(self.random.p[form][at]), float(X[at])

    @property
    def verdict(self) -> str:
        """What is to be thought of the model under masking, by the calibrated form.

        CONFUSED comes before what the test says; REJECTED by Holm over the ratios, DOUBTFUL by the paper's rule alone,
        each ratio by itself.
        """
        one_class = self.sample.one_class
        if not one_class and self.worse < CONFUSION:
            return CONFUSED
        if not one_class and self.unmasked <= self.majority:
            return POOR
        if not self.floor or self.floor[CALIBRATED] >= ALPHA:
            return UNTESTED
        if len(self.rejected()):
            return REJECTED if self.surely else DOUBTFUL
        return ONE_CLASS if one_class else TRUSTED


def build_check_report(
    model: Model, reference: Reference | None, sample: Sample, passed: dict[Curve, Passed], metric: str | None = None
) -> CheckReport | None:
    """Put what is computed so far into numbers; None while no example has random order.

    Performance is the card's metric (accuracy without a card). The p of a data set is Simes over its examples' p. A
    measure's ACU and RACU compare
    it with random order on the examples that have both.

    Args:
        metric: another than the card's, so that models beside each other are measured alike.
    Source: FMM §5.1 and §5.2, Figs. 2 to 4, Eq. 3.
    """
    baseline = next((one for curve, one in passed.items() if curve.random), None)
    if baseline is None or not baseline.there.any():
        return None
    metric = metric or metric_of(model)
    there = baseline.there
    labels = sample.labels[there]
    majority = _majority(model, sample)
    lines = tuple(
        _line(curve, one, sample, METRICS[metric], baseline) for curve, one in passed.items() if one.there.any()
    )
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
        tuple(sorted(lines, key=lambda line: not line.curve.random)),
        {} if reference is None else {form: reference.floor(form) for form in FORMS},
        left_out(baseline),
        training_file(model.card),
        tuple(_about_texts(model, reference, baseline)),
    )


def metric_of(model: Model) -> str:
    """The task's metric by the model's card; accuracy without one."""
    return model.card["performance"]["metric"] if model.card else "accuracy"


def _about_texts(model: Model, reference: Reference | None, baseline: Passed) -> list[str]:
    """Sentences where texts are longer than the model reads, or unlike those of the reference in length or
    precision.
    """
    cut = (
        f"Longer than the model reads, so that only what it reads is masked and judged: {baseline.cut:,} of "
        f"{len(baseline.predicted):,} texts."
    )
    told = [cut] if baseline.cut else []
    if reference is None or baseline.tokens is None or not len(baseline.tokens):
        return told
    return [*told, *doubts(reference, baseline.tokens, model.precision).values()]


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


def _majority(model: Model, sample: Sample) -> int:
    named = model.card["performance"].get("majority_class") if model.card else None
    return model.labels.index(named) if named in model.labels else majority_class(sample.labels, model.C)


def _worse(labels: np.ndarray, predicted: np.ndarray, majority: int) -> float:
    """Sign test over the examples of which one of the two answers is right; 1 for labels of one class, where that
    answer is right every time.

    A constant answer of the model fails it too where the sample holds fewer of that class than of the majority's.
    """
    if len(np.unique(labels)) < 2:
        return 1.0
    better, worse = (
        int(((predicted == labels) & (labels != majority)).sum()),
        int(((predicted != labels) & (labels == majority)).sum()),
    )
    return float(binomtest(worse, worse + better, alternative="greater").pvalue) if worse + better else 1.0


def _line(curve: Curve, passed: Passed, sample: Sample, metric: Callable, baseline: Passed) -> CurveFigures:
    there = passed.there

    def performance(one: Passed, rows: np.ndarray) -> np.ndarray:
        return np.array([metric(sample.labels[rows], one.predicted[rows, k]) for k in range(len(X))])

    p = {form: simes(one[there], axis=0) for form, one in passed.p.items() if np.isfinite(one[there]).all()}
    rejected = {form: (passed.p[form][there] < ALPHA).mean(axis=0) for form in p}
    both, areas, found = there & baseline.there, (np.nan, np.nan), (np.nan, np.nan, np.nan)
    if not curve.random and both.any():
        mine, chance = performance(passed, both), performance(baseline, both)
        areas = acu(X, mine, chance), racu(X, mine, chance)
    told = np.isfinite(passed.found[:, 0])
    if told.any():
        found = (
            *passed.found[told].mean(axis=0).tolist(),
            np.nan if passed.chance is None else float(passed.chance[told].mean()),
        )
    return CurveFigures(curve, int(there.sum()), performance(passed, there), p, rejected, *areas, *found)


# ---- in words


def percent(value: float, metric: str = "accuracy") -> str:
    """Performance as people read it: in percent, but for a correlation."""
    return f"{value:.3g}" if metric == "Matthews" else f"{100 * value:.1f} %"


def verdict_sentence(found: CheckReport) -> str:
    """One sentence or two on whether the model can be trusted under masking; plain text."""
    return _verdict_sentence(found) + (
        f" {found.n} example{'' if found.n == 1 else 's'} alone say{'s' if found.n == 1 else ''} little."
        if found.n < FEW
        else ""
    )


def _verdict_sentence(found: CheckReport) -> str:
    masked = "all of the first text" if found.sample.paired else "everything"
    reach = (
        f"{found.model} reaches {percent(found.unmasked, found.metric)} {found.metric} ↑ unmasked and "
        f"{percent(found.masked, found.metric)} with {masked} masked, "
        f"where always answering {found.majority_name} reaches {percent(found.majority, found.metric)}"
    )
    if found.verdict == CONFUSED:
        also = (
            f" ⚠ MaSF rejects its inputs as out-of-distribution {_where(found.rejected())}, too."
            if len(found.rejected())
            else ""
        )
        return (
            f"No: {reach}. With {masked} masked it does worse than that constant answer, so masking confuses it, "
            f"and scores that rest on masking say little.{also}"
        )
    if found.verdict == POOR:
        return f"It does not do this task: {reach}. What masking does to it says little; choose data of its own task."
    if found.verdict == UNTESTED:
        why = (
            "there is no MaSF reference"
            if not found.floor
            else f"its MaSF reference is too small to reject anything (smallest p = {found.floor[CALIBRATED]:.3g})"
        )
        return (
            f"Half an answer: {reach}. Whether masked inputs are out-of-distribution for it was not tested, since "
            f"{why}."
        )
    p, at = found.smallest()
    if found.verdict in (TRUSTED, ONE_CLASS):
        begins = (
            "Nothing speaks against it"
            if found.verdict == TRUSTED
            else "Half an answer, since the sample holds one class only"
        )
        return (
            f"{begins}: {reach}, and masked at random its inputs are not rejected as out-of-distribution at any "
            f"ratio (smallest p = {p:.3g}, at {at:.0%} masked)."
        )
    if found.rejected()[0] == 0:
        return (
            f"Not on this data: {reach}, but ⚠ MaSF rejects even the unmasked texts (p = "
            f"{found.random.p[CALIBRATED][0]:.3g}). They are unlike those of its "
            "reference, in length or in kind, so the test says nothing about masking here."
        )
    said = (
        f"⚠ masked at random its inputs are rejected as out-of-distribution {_where(found.rejected())} (smallest p "
        f"= {p:.3g}, at {at:.0%})"
    )
    if found.verdict == DOUBTFUL:
        return (
            f"On the edge: {reach}, and {said}, each ratio by itself at 5 % as in the paper; Holm over all "
            f"{len(X)} "
            f"ratios rejects none."
        )
    return f"No: {reach}, but {said}."


def _where(places: np.ndarray) -> str:
    """Ratios in words: "from 50% masked on" where all that follow are among them, else each of them."""
    if len(places) > 1 and places[-1] == len(X) - 1 and len(places) == len(X) - places[0]:
        return f"from {X[places[0]]:.0%} masked on"
    return f"at {', '.join(f'{X[place]:.0%}' for place in places)} masked"


@dataclass(frozen=True)
class Finding:
    """A finding of a paper, what is found here, and whether the two agree; None where so few examples cannot tell."""

    claim: str
    here: str
    agrees: bool | None

    @property
    def said(self) -> str:
        """The last of these in words."""
        return {True: "agrees", False: "departs from the paper", None: "too few examples to tell"}[self.agrees]


def check_findings(reports: list[CheckReport]) -> list[Finding]:
    """What FMM found, beside what these models do; the first of each training strategy that was trained on the same
    file as the first report's.

    Accuracy counts as lost beyond two standard errors of the difference of two shares. Nothing is told of a sample of
    one class.

    Source: FMM §5.1 and §5.2.
    """
    by: dict[str, CheckReport] = {}
    for one in reports:
        if one is reports[0] or one.trained_on is not None and one.trained_on == reports[0].trained_on:
            by.setdefault(one.training, one)
    masked, plain = by.get("half"), by.get("none")
    if reports[0].sample.one_class:
        return []
    return [found for found in (*_performance(masked, plain), *_validity(masked, plain)) if found is not None]


def _performance(masked: CheckReport | None, plain: CheckReport | None) -> Iterator[Finding]:
    if masked and plain and masked.metric == "accuracy":
        lost, error = (
            plain.unmasked - masked.unmasked,
            np.sqrt(sum(one.unmasked * (1 - one.unmasked) / one.n for one in (plain, masked))),
        )
        yield Finding(
            "Masked fine-tuning loses no unmasked performance.",
            f"{percent(masked.unmasked)} against {percent(plain.unmasked)} of plain fine-tuning",
            bool(lost <= 2 * error),
        )
    for one, falls, claim in (
        (masked, False, "With everything masked, a masked fine-tuned model reaches the class majority."),
        (plain, True, "With everything masked, a plain model falls below it."),
    ):
        if one is not None:
            below = True if one.worse < ALPHA else False if one.masked >= one.majority - 1 / one.n else None
            yield Finding(
                claim,
                f"{percent(one.masked, one.metric)}, class majority {percent(one.majority, one.metric)}",
                None if below is None else below == falls,
            )


def _validity(masked: CheckReport | None, plain: CheckReport | None) -> Iterator[Finding]:
    for one, should, name in ((masked, False, "masked fine-tuned"), (plain, True, "plain")):
        if one is not None and one.floor and one.floor[CALIBRATED] < ALPHA:
            p, at = one.smallest()
            claim = (
                f"The inputs of a {name} model are {'rejected' if should else 'not rejected'} at "
                f"{'some' if should else 'any'} masking ratio."
            )
            # The one exception that FMM names among masked fine-tuned models.
            only_all = (
                "; at no smaller ratio, as FMM found for bAbI-2"
                if not should and one.rejected().tolist() == [len(X) - 1]
                else ""
            )
            here = (
                f"smallest p = {p:.3g}, at {at:.0%} masked (calibrated){only_all}; literal form "
                f"{one.smallest(LITERAL)[0]:.3g}"
            )
            yield Finding(claim, here, (p < ALPHA) == should)


# ---- as rows

HEADER = (
    "model",
    "curve",
    "masking ratio (0 to 1)",
    "examples",
    "performance (higher is better)",
    "class majority",
    "data-set p (calibrated)",
    "data-set p (literal)",
    "share rejected at 5 % (calibrated)",
    "share rejected at 5 % (literal)",
)


def check_rows(found: CheckReport) -> list[list]:
    """A report as rows, one for each curve and ratio, see HEADER."""
    return [
        [
            found.model,
            line.curve.measure,
            float(ratio),
            line.n,
            float(line.performance[k]),
            found.majority,
            *(float(line.p[form][k]) if form in line.p else "" for form in FORMS),
            *(float(line.rejected[form][k]) if form in line.rejected else "" for form in FORMS),
        ]
        for line in found.lines
        for k, ratio in enumerate(X)
    ]


def all_as_json(reports: list[CheckReport]) -> dict:
    """Reports and the findings of papers beside them, as plain values for a JSON file."""
    return {
        "models": [check_json(one) for one in reports],
        "findings": [{"claim": one.claim, "here": one.here, "agrees": one.agrees} for one in check_findings(reports)],
    }


def check_json(found: CheckReport) -> dict:
    """A report as plain values for a JSON file; null where there is no number."""
    return {
        "model": found.model,
        "weights": found.digest,
        "training": found.training,
        "data": found.sample.name,
        "data_sha256": found.sample.digest,
        "examples": found.n,
        "metric": found.metric,
        "class_majority": found.majority,
        "majority_class": found.majority_name,
        "verdict": found.verdict,
        "sentence": verdict_sentence(found),
        "worse_than_majority_p": found.worse,
        "floor": found.floor,
        "notes": list(found.notes),
        "left_out": found.left_out,
        "ratios": X.tolist(),
        "curves": [_line_as_json(line) for line in found.lines],
    }


def _line_as_json(line: CurveFigures) -> dict:
    plain = {
        name: None if np.isnan(value) else float(value)
        for name, value in (
            ("acu", line.acu),
            ("racu", line.racu),
            ("evidence_average_precision", line.precision),
            ("evidence_recall", line.recall),
            ("evidence_chance", line.chance),
        )
    }
    return {
        "measure": line.curve.measure,
        "values": line.curve.sign,
        "unit": line.curve.unit,
        "computed": "at each step" if recomputed(line.curve) else "once",
        "examples": line.n,
        "performance": line.performance.tolist(),
        "p": {form: p.tolist() for form, p in line.p.items()},
        "rejected": {form: share.tolist() for form, share in line.rejected.items()},
    } | plain


def recomputed(curve: Curve) -> bool:
    """Whether a curve's measure is computed again at each step; beam's order is recursive already."""
    return curve.random or curve.recompute and not measures()[curve.measure].recursive


def name_of(curve: Curve) -> str:
    """A curve's name in tables: its measure, and how it was computed where that is not recursive."""
    return curve.measure if curve.random or curve.recompute else f"{curve.measure}, computed once"
