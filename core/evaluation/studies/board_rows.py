"""What a scoreboard rests on, text by text: chance, each measure, and the limits of AOPC."""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.evaluation.matrix import rate_all, rate_random
from core.evaluation.study import Column, Place, Row, Rows, Study, Subject
from core.explanation.explainer import Attribution, Cost, Explainer
from core.explanation.limiting import exact_cost, find_exact, find_searched, left_over, score_cost, search_cost, walk
from core.explanation.plausibility import evidence_of
from core.explanation.recursive import (
    BY_FEATURE,
    BY_RATIO,
    band_cost,
    follow,
    path_cost,
    planned_counts,
    random_band,
    summarise,
)
from core.explanation.rows import choose_variant, measured
from core.explanation.standings import StandingGates, random_walks
from core.judging.judging import How, Judge, Rated, judging_cost
from core.judging.metric_table import gate_of_inputs, gate_together
from core.mathematics.aopc import comprehensiveness_order, sufficiency_order
from core.mathematics.masking import RATIOS
from core.mathematics.search.insertion import insertion_sets
from core.mathematics.statistics import simes
from core.mathematics.stepwise import finish
from core.measures.catalogue import measure
from core.metrics.catalogue import of_examples
from core.network.features import Encoded, NoFeatures
from core.network.scheduler import NonFinite
from core.oracle.soft import BERNOULLI
from core.storage.shelf import Shelf
from core.storage.store import canonical_key
from core.validity.marks import Gate, decide_path
from core.validity.references import CALIBRATED
from core.verdicts.finding import NO_ORDER

K = len(RATIOS)
# Random orders of each text of a sample, and random attributions under the erasure metrics: the mean over texts is what
# counts. Of one text alone there are as many as on other pages.
FEWER = 10
# A measure's time is the median of so many, of three once these seconds have gone, since the first may pay for others'
# work, and of one that takes long that of its first.
REPEATS, _FEWEST_REPEATS, _TIMED_SECONDS, _LONG_SECONDS = 5, 3, 0.1, 1.0
# Exact limits up to so many scores; an insertion search up to so many, and beyond a beam of one.
EXACT_FEATURES = 10
_EXACT, _SEARCHED = 1 << EXACT_FEATURES, 1_200


def board_metrics() -> tuple[str, ...]:
    """The erasure metrics of a scoreboard: hard ones with rationales, and soft ones of SoftFaith's perturbation."""
    return tuple(
        name for name, one in of_examples().items() if one.direction and (one.lengths or one.perturbation == BERNOULLI)
    )


def _versions() -> list[list]:
    return [[name, of_examples()[name].version] for name in board_metrics()]


@dataclass(frozen=True)
class _Part(Study[Rows]):
    """A part of a scoreboard, of the predicted class. unit: what is masked; draws: of soft perturbations; whole:
    whether a row holds more than AOPC.
    """

    unit: str = "word"
    draws: int = 8

    kept, version, whole = "scoreboard", 2, True
    _part: ClassVar[str] = ""

    @property
    def how(self) -> How:
        return How(draws=self.draws)

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On which part it is, and on the reference; what else a row depends on is in its own key."""
        return {"part": self._part, "reference": explainer.tests_by}


def _target(subject: Subject) -> int:
    """The class that is predicted; NoFeatures where there is no order of what is left."""
    if not left_over(subject.encoded):
        unit = subject.encoded.unit
        raise NoFeatures(f"Every {unit} is masked already.")
    # Tested in the same pass, which every order begins with.
    whole = np.zeros((1, subject.encoded.F), dtype=bool)
    return int(subject.explainer.tested(subject.encoded).judge(whole).logits[0].argmax())


@dataclass(frozen=True)
class BoardChance(_Part):
    """R random orders and R random attributions of a text, those that other pages have.

    values float64[S]: erasure metrics, the mean over random attributions, soft ones by one draw of each; errors
    float64[S]: its standard error over these attributions; orders float64[R]: AOPC of random orders; curves
    float64[R, K]: v along each; marks float64[2 + S]: whether the inputs of the orders, feature by feature and by
    ratio, and of each metric are rejected as out-of-distribution, 1 or 0, NaN where no input can be; evidence: average
    precision of a random order, NaN where none is known; predicted, probability.
    """

    name = "scoreboard, random order"
    columns: ClassVar = {
        "values": Column((0,)),
        "errors": Column((0,)),
        "orders": Column((0,)),
        "curves": Column((0, K)),
        "marks": Column((0,)),
        "evidence": Column(),
        "predicted": Column((), np.int32(-1)),
        "probability": Column(),
    }
    _part, label = "chance", "random order"

    orders: int = FEWER

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On how many orders there are, too: it decides the shape of rows."""
        return super().rests_on(explainer) | {"orders": self.orders}

    def row_keys(self, subject: Subject) -> list[str]:
        """The example as the model reads it, its evidence, and the metrics."""
        about = {"example": subject.encoded.digest, "evidence": subject.example.evidence}
        return [canonical_key("scoreboard/chance/row", 3, **about, metrics=_versions())]

    def row(self, subject: Subject) -> Row:
        """Random orders, and random attributions under the metrics."""
        explainer, encoded, cancelled = subject.explainer, subject.encoded, subject.cancelled
        target, S = _target(subject), len(board_metrics())
        band = finish(random_band(explainer, encoded, BY_FEATURE, self.orders, cancelled=cancelled))
        walks = random_walks(encoded, band, target)
        gate = StandingGates(encoded, explainer.reference).gate_of_all(walks)
        evidence = evidence_of(encoded, subject.example.evidence)
        row: Row = {"values": np.full(S, np.nan), "errors": np.full(S, np.nan), "marks": np.full(2 + S, np.nan)}
        row |= {
            "orders": np.array([one.aopc for one in walks]),
            "curves": np.full((self.orders, K), np.nan),
            "evidence": np.nan if evidence is None else evidence.chance_precision,
            "predicted": target,
            "probability": float(explainer.probabilities(encoded)[target]),
        }
        row["marks"][0] = _mark(gate)
        if not self.whole:
            return row
        by_ratio = finish(random_band(explainer, encoded, BY_RATIO, self.orders, cancelled=cancelled))
        judge = Judge(explainer, encoded, How(draws=self.orders), True, cancelled)
        rated = rate_random(judge, board_metrics())
        values = np.array([[one.found[name].value for name in board_metrics()] for one in rated])
        known = (~np.isnan(values)).sum(axis=0)
        row["marks"][1:] = _mark(_ratio_gate(explainer, encoded, by_ratio.p)), *_metric_marks(explainer, rated, True)
        return row | {
            "values": np.nansum(values, axis=0) / np.where(known, known, np.nan),
            "errors": np.array([_error(one[~np.isnan(one)]) for one in values.T]),
            "curves": by_ratio.values(target),
        }

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """What a text takes at most."""
        along = band_cost(explainer, encoded, BY_FEATURE, self.orders)
        if not self.whole:
            return along
        return Cost.sum(
            [along, judging_cost(explainer, encoded, board_metrics(), How(draws=1), attributions=self.orders)]
        )

    def fits(self, explainer: Explainer, place: Place, row: Row) -> bool:
        """A class of the model, and its probability."""
        return 0 <= row["predicted"] < explainer.model.C and 0 <= row["probability"] <= 1


@dataclass(frozen=True)
class BoardMeasure(_Part):
    """One measure on a text.

    aopc float64[2]: comprehensiveness ↑ and sufficiency ↓; values float64[S]: erasure metrics ↑; errors float64[S]:
    standard errors of those that draw, over their draws, NaN of others; curve float64[K]: v along the recursive path;
    marks float64[3 + S]: as of `BoardChance`, of both orders, the path, and each metric; evidence: average precision ↑;
    took float64[2]: forward passes that the measure takes at most, a gradient counting as two more, and milliseconds by
    itself; notes: {figure: why it is undefined, a sentence} as JSON, "" for the measure itself.
    """

    name = "scoreboard, measure"
    columns: ClassVar = {
        "aopc": Column((2,)),
        "values": Column((0,)),
        "errors": Column((0,)),
        "curve": Column((K,)),
        "marks": Column((0,)),
        "evidence": Column(),
        "took": Column((2,)),
        "notes": Column((), ""),
    }
    _part = "measure"

    measure: str = "leave-one-out"
    sign: str = "signed"

    @property
    def label(self) -> str:
        return self.measure

    def row_keys(self, subject: Subject) -> list[str]:
        """The example as the model reads it, its evidence, the measure, and the metrics."""
        about = {"example": subject.encoded.digest, "evidence": subject.example.evidence}
        about |= measured(subject.explainer, self.measure, self.sign)
        return [canonical_key("scoreboard/measure/row", 2, **about, draws=self.draws, metrics=_versions())]

    def row(self, subject: Subject) -> Row:
        """Its orders, its path and its scores; what it says nothing of has a note."""
        explainer, encoded, target = subject.explainer, subject.encoded, _target(subject)
        S, nothing = len(board_metrics()), np.nan
        row: Row = {"aopc": np.full(2, nothing), "values": np.full(S, nothing), "curve": np.full(K, nothing)}
        row |= {
            "errors": np.full(S, nothing),
            "marks": np.full(3 + S, nothing),
            "evidence": nothing,
            "took": np.full(2, nothing),
            "notes": "",
        }
        try:
            return row | self._measured(subject, explainer, encoded, target)
        except NonFinite as error:
            return row | {"notes": json.dumps({"": str(error)})}

    def _measured(self, subject: Subject, explainer: Explainer, encoded: Encoded, target: int) -> Row:
        name, cancelled = self.measure, subject.cancelled
        found = explainer.attribute(encoded, name, target, cancelled=cancelled)
        scores, magnitudes = found.scores[choose_variant(measure(name), self.sign)], not measure(name).rank_only
        if np.isnan(scores).any():
            raise NonFinite(f"{name} gave NaN scores.")
        orders = [of(scores, encoded.premasked) for of in (comprehensiveness_order, sufficiency_order)]
        if len(orders[0]) > 1 and np.array_equal(orders[0], orders[1]):
            raise NonFinite(NO_ORDER.format(unit=encoded.unit))
        walks = walk(explainer, encoded, orders, target, cancelled=cancelled)
        gating = StandingGates(encoded, explainer.reference)
        evidence = evidence_of(encoded, subject.example.evidence)
        along = {
            "aopc": np.array([one.aopc for one in walks]),
            "evidence": np.nan if evidence is None else evidence.precision(scores),
            "took": np.array([passes_of(name, left_over(encoded)), milliseconds_of(explainer, encoded, found)]),
        }
        marks = [*map(_mark, map(gating.gate, walks))]
        if not self.whole:
            return along | {"marks": np.array([*marks, *[np.nan] * (1 + len(board_metrics()))])}
        walked = follow(
            explainer, encoded, name, target, self.sign, BY_RATIO, together=True, first=found, cancelled=cancelled
        )
        path = summarise(finish(walked), encoded.F, BY_RATIO, target, None, explainer.reference)
        judge = Judge(explainer, encoded, self.how, True, cancelled)
        (rated,) = rate_all(judge, [(scores, magnitudes)], [board_metrics()], [True])
        notes = {one: score.note for one, score in rated.found.items() if score.note and np.isnan(score.value)}
        return along | {
            "values": np.array([rated.found[one].value for one in board_metrics()]),
            "errors": np.array([rated.found[one].error for one in board_metrics()]),
            "curve": path.values,
            "marks": np.array([*marks, _mark(path.gate), *_metric_marks(explainer, [rated])]),
            "notes": json.dumps(notes) if notes else "",
        }

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """What a text takes at most; nothing where the measure does not apply."""
        if measure(self.measure).refusal(explainer.model.module.config.model_type, left_over(encoded)):
            return Cost(1, 0.0)
        scored = score_cost(explainer, encoded, self.measure)
        if not self.whole:
            return scored
        judged = judging_cost(explainer, encoded, board_metrics(), self.how)
        return Cost.sum([scored, path_cost(explainer, encoded, self.measure), judged])


@dataclass(frozen=True)
class BoardLimits(_Part):
    """Limits of AOPC on a text: lower, upper; marks: whether inputs of the orders that attain them are rejected, as of
    `BoardChance`; method: "exact", "insertion search" or "beam".
    """

    name = "scoreboard, limits"
    columns: ClassVar = {"lower": Column(), "upper": Column(), "marks": Column(), "method": Column((), "")}
    _part, version, label = "limits", 1, "limits of AOPC"

    def row_keys(self, subject: Subject) -> list[str]:
        """The example as the model reads it."""
        return [canonical_key("scoreboard/limits/row", 2, example=subject.encoded.digest)]

    def row(self, subject: Subject) -> Row:
        """Exact limits where they are cheap, else those of a search."""
        explainer, encoded, cancelled = subject.explainer, subject.encoded, subject.cancelled
        target, F = _target(subject), left_over(encoded)
        if 1 << F <= _EXACT:
            found = finish(find_exact(explainer, encoded, target, _EXACT, cancelled=cancelled))
        else:
            found = finish(find_searched(explainer, encoded, target, _width(F), True, False, cancelled=cancelled))
        gating = StandingGates(encoded, explainer.reference)
        marks = [_mark(gating.gate(one)) for one in (found.lowest, found.highest)]
        limits = found.limits
        return {"lower": limits.lower, "upper": limits.upper, "marks": max(marks), "method": limits.method}

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """What a text takes at most."""
        F = left_over(encoded)
        return exact_cost(explainer, encoded) if 1 << F <= _EXACT else search_cost(explainer, encoded, _width(F))

    def fits(self, explainer: Explainer, place: Place, row: Row) -> bool:
        """Limits in their order."""
        return bool(row["lower"] <= row["upper"] + 1e-9)


def passes_of(name: str, F: int) -> int:
    """Forward passes that a measure takes at most of F features, by itself; a gradient counts as two more."""
    return measure(name).passes(F) * measure(name).weight


def milliseconds_of(explainer: Explainer, encoded: Encoded, found: Attribution) -> float:
    """What a measure takes on a text by itself.

    Where many texts are asked of, that is its first computation on each, and their
    median is told, which the first text, that pays for what is loaded once, does not move. Of one text the first
    computation pays for that, or finds what was known: it is the median of up to REPEATS more, each by an explainer
    that knows nothing yet. What takes long is not computed again.
    """
    many, long = isinstance(explainer.store, Shelf), explainer.cost(encoded, found.measure).seconds > _LONG_SECONDS
    if many or long or explainer.store is None:
        return found.milliseconds
    taken: list[float] = []
    while len(taken) < _FEWEST_REPEATS or (len(taken) < REPEATS and sum(taken) < 1000 * _TIMED_SECONDS):
        alone = Explainer(explainer.model, kept=explainer.kept)
        taken.append(alone.attribute(encoded, found.measure, found.target).milliseconds)
    return float(np.median(taken))


def _error(values: np.ndarray) -> float:
    """Standard error of the mean of float64[n]; NaN of fewer than two."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _width(F: int) -> int | None:
    return None if insertion_sets(F) <= _SEARCHED else 1


def _mark(gate: Gate) -> float:
    """1 where a number that rests on these inputs is marked, 0 where not, NaN where nothing can be said."""
    return float(gate.marked) if gate.available else float("nan")


def _ratio_gate(explainer: Explainer, encoded: Encoded, p: dict[str, np.ndarray]) -> Gate:
    """The gate of random orders together at the masking ratios, one p-value a step by Simes."""
    counts = planned_counts(encoded.F, BY_RATIO, int(encoded.premasked.sum()))
    combined = simes(p[CALIBRATED], axis=0) if CALIBRATED in p else np.full(K, np.nan)
    return decide_path(combined, counts, counts, explainer.reference, by_ratio=True)


def _metric_marks(explainer: Explainer, rated: list[Rated], together: bool = False) -> list[float]:
    """Whether an input of any of these attributions is rejected, by metric; together: by one test of all inputs."""
    floor = None if explainer.reference is None else explainer.reference.floor(CALIBRATED)
    found = []
    for name in board_metrics():
        p = [one.inputs[name][CALIBRATED] for one in rated if one.inputs.get(name)]
        every = np.concatenate(p) if p else np.empty(0)
        gate = (gate_together if together else gate_of_inputs)({CALIBRATED: every}, floor)
        found.append(_mark(gate) if len(every) else np.nan)
    return found
