"""Score attributions of many examples, of measures and a baseline: streamed, and kept as they are computed."""

import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, cast

import numpy as np

from core.evaluation.findings import of_enough
from core.evaluation.matrix import rate_all
from core.evaluation.study import Answers, Column, Known, Place, Question, Row, Rows, Study, Subject, Table, register
from core.explanation.explainer import Cost, Explainer
from core.explanation.rows import SIGNS, measured, values_taken
from core.judging.baselines import BASELINES
from core.judging.judging import How, Judge, judging_cost
from core.mathematics.erasure import LENGTHS, NOISE
from core.mathematics.statistics import Interval, mean_interval
from core.measures.catalogue import offered_measures, swept_measures
from core.measures.registry import NotApplicable
from core.metrics.catalogue import default_metrics, metrics
from core.metrics.registry import ROUNDING
from core.network.features import UNITS, Encoded
from core.network.model import Model
from core.oracle.erasing import erasures_of
from core.storage.store import canonical_key
from core.validity.marks import with_sign
from core.wording import WHOLE, Tally, amount, as_json, fixed_number, refuse_unknown, with_ends


@dataclass(frozen=True)
class Attributed:
    """One attribution that is scored: a measure's, the r-th random one, or the r-th shuffle of a measure's."""

    measure: str = ""
    sign: str = "signed"
    r: int = -1

    @property
    def random(self) -> bool:
        return not self.measure

    @property
    def name(self) -> str:
        """As people read it."""
        if self.random:
            return f"random {self.r}"
        return self.measure if self.r < 0 else f"{self.measure}, shuffle {self.r}"


def _score_key(explainer: Explainer, attributed: Attributed, name: str, how: How) -> str:
    """The digest of what a score depends on beside model, seed and example."""
    metric = metrics()[name]
    about = {
        "metric": name,
        "metric_version": metric.version,
        **(how.of_soft(metric) if metric.soft else {"erasure": how.erasure}),
    }
    if attributed.random:
        return canonical_key("scores/random", 1, r=attributed.r, **about)
    about |= measured(explainer, attributed.measure, attributed.sign)
    if attributed.r >= 0:
        return canonical_key("scores/shuffled", 1, r=attributed.r, **about)
    return canonical_key("scores/measure", 1, **about)


# The paper takes one draw. Here 36 attributions × 2 soft metrics × draws are passes for each example, so 32 as for a
# single attribution would be an hour for 200 texts; the noise that more draws would take away is the same for measure
# and random.
DRAWS = 8
# What measures are set against, and how many there are: random attributions serve all measures of a text, a shuffle
# only the one whose scores it permutes, so that five each are as much work for the six measures asked at first.
RANDOM, SHUFFLED = "random", "shuffled"
COUNTS = {RANDOM: BASELINES, SHUFFLED: 5}
# value, standard error of its draws, and the value at each length of the rationale.
VALUE, ERROR, BY_LENGTH = 0, 1, slice(2, 2 + len(LENGTHS))
_WIDTH = 2 + len(LENGTHS)


@dataclass(frozen=True, eq=False)
class Scored(Known):
    """N examples under S metrics, A attributions each, as far as they are computed; never changed.

    values: float64[N, A, S, 2 + lengths], see VALUE, ERROR and BY_LENGTH; NaN where a metric is undefined, has no such
    value, or is not computed; notes: int32[N, A, S], places in `sentences`; known: bool[N, A], scored by all metrics;
    there: bool[N], computed wholly; predicted: int64[N], −1 where unknown; probability: float64[N], of that class;
    problems: {example: sentence}, examples that cannot be scored; cut: those that are longer than the model reads,
    {example: tokens that it reads}.
    """

    study: "Scoring"
    values: np.ndarray
    notes: np.ndarray
    sentences: tuple[str, ...]
    known: np.ndarray
    there: np.ndarray
    predicted: np.ndarray
    probability: np.ndarray
    problems: dict[int, str]
    cut: dict[int, int] = field(default_factory=dict)
    typed: int = 0


@dataclass(frozen=True, eq=False)
class ScoresReport:
    """What scores come to over a sample.

    means: {(metric, measure, or RANDOM or SHUFFLED for all of the baseline): mean over the examples that are scored
    wholly}, each example's attributions of the baseline counting as one; counts: how many of them have that value;
    tally: how far it is; rejected: as far as somebody knows, {metric: on how many texts it rests on rejected inputs},
    as of `core.evaluation.studies.board_report.RejectedTexts`; picked: as of `Sample`.
    """

    found: Scored
    means: dict[tuple[str, str], Interval]
    counts: dict[tuple[str, str], int]
    tally: Tally = WHOLE
    rejected: Mapping[str, Any] = field(default_factory=dict)
    picked: str = ""

    @property
    def marked(self) -> tuple[str, ...]:
        """Metrics that rest on rejected inputs on more of these texts than chance explains."""
        return tuple(name for name, one in self.rejected.items() if one.marked)

    @property
    def n(self) -> int:
        return int(self.found.there.sum())


@register
@dataclass(frozen=True)
class Scoring(Study[Scored]):
    """Score attributions of every example by metrics for the predicted class: those of measures, and of a baseline.

    how: see `How`; unit: what is erased as one piece; baseline: RANDOM, as the paper, or SHUFFLED, each measure's own
    scores in other places; count: of random ones for a text, of shuffles for each measure on it. An example has a row
    for its prediction and one for each attribution and metric. Source: SoftFaith §4; glossary, Diagnosticity.
    """

    name, kept, order, done = "scores", "scores", 0, "scored"
    asks = "What do faithfulness metrics say of each measure’s attributions?"
    # The prediction's row holds its probability and class in place of a value and its error.
    columns: ClassVar = {"values": Column((_WIDTH,)), "notes": Column((), "")}
    names = "names"

    measures: tuple[str, ...] = field(default_factory=swept_measures)
    metrics: tuple[str, ...] = field(default_factory=default_metrics)
    sign: str = "signed"
    how: How = field(default_factory=lambda: How(draws=DRAWS))
    count: int = BASELINES
    unit: str = "word"
    baseline: str = RANDOM

    @classmethod
    def choices(cls) -> tuple[str, ...]:
        """Those of `How` each by itself."""
        return tuple({name: None for name in super().choices() if name != "how"} | asdict(How()))

    @classmethod
    def asked(cls, chosen: Mapping[str, Any]) -> Question:
        """As everywhere; as many attributions of the baseline as there are unasked of its kind."""
        how = replace(How(draws=DRAWS), **{name: chosen[name] for name in asdict(How()) if name in chosen})
        count = chosen.get("count", COUNTS.get(chosen.get("baseline", RANDOM), BASELINES))
        scoring = super().asked({name: one for name, one in chosen.items() if name not in asdict(how)})
        return replace(cast(Scoring, scoring), how=how, count=count)

    def other(self) -> "Scoring":
        """The same against the other baseline."""
        baseline = SHUFFLED if self.baseline == RANDOM else RANDOM
        return replace(self, baseline=baseline, count=COUNTS[baseline])

    @functools.cached_property
    def attributions(self) -> tuple[Attributed, ...]:
        """A of them, the measures first, then the baseline; shuffles measure by measure."""
        measured = tuple(Attributed(name, self.sign) for name in self.measures)
        if self.baseline == RANDOM:
            return (*measured, *(Attributed(r=r) for r in range(self.count)))
        return (*measured, *(Attributed(name, self.sign, r) for name in self.measures for r in range(self.count)))

    @property
    def compared(self) -> tuple[str, ...]:
        """The measures, and the baseline behind them where there is one."""
        return (*self.measures, self.baseline) if self.count else self.measures

    def against(self, m: int) -> slice:
        """Where among the attributions stand those that the m-th measure is set against."""
        start = len(self.measures) + (0 if self.baseline == RANDOM else m * self.count)
        return slice(start, start + self.count)

    def check(self, model: Model | None = None) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out."""
        refuse_unknown(
            ("measure", self.measures, offered_measures(self.measures)),
            ("metric", self.metrics, metrics()),
            ("unit", (self.unit,), UNITS),
            ("baseline", (self.baseline,), COUNTS),
            ("kind of values", (self.sign,), SIGNS),
        )
        self.how.check()
        if model is not None and self.how.erasure not in erasures_of(model):
            raise ValueError("this model's tokenizer has no unknown token of its own; choose another erasure")
        if self.count < 0:
            raise ValueError(f"there must be no fewer than 0 attributions of the baseline, got {self.count}")
        if not self.metrics or not self.attributions:
            raise ValueError("choose a metric and a measure or random attributions")

    @property
    def parts(self) -> tuple[int, ...]:
        """The prediction, then attribution by attribution its metrics."""
        return (1 + len(self.attributions) * len(self.metrics),)

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On the seed; what else a score depends on is in its own key."""
        return {"seed": self.how.seed}

    def row_keys(self, subject: Subject) -> list[str]:
        """The example as the model reads it, and what a score depends on."""
        digest = bytes.fromhex(subject.encoded.digest)
        return [hashlib.sha256(series + digest).hexdigest() for series in self._every_series(subject.explainer)]

    def fits(self, explainer: Explainer, place: Place, row: Row) -> bool:
        """A class of the model and its probability, or a score in the range of its metric."""
        values = row["values"]
        if place == (0,):
            return 0 <= values[VALUE] <= 1 and values[1] in range(explainer.model.C)
        metric = metrics()[self.metrics[(place[0] - 1) % len(self.metrics)]]
        return metric.allows(np.delete(values, ERROR)) and not values[ERROR] < 0

    def rows(self, subject: Subject) -> Iterator[tuple[Place, Row]]:
        """What is not known of one example."""
        judge = Judge(subject.explainer, subject.encoded, self.how, True, subject.cancelled)
        lacking = subject.missing[1:].reshape(-1, len(self.metrics))
        if subject.missing[0]:
            yield (0,), _row(subject.explainer.probabilities(subject.encoded)[judge.target], judge.target)
        scores, held = {}, {}
        for a in np.flatnonzero(lacking.any(axis=1)):
            try:
                scores[a] = self._attribution(judge, self.attributions[a], held)
            except NotApplicable as error:
                # Where a measure says nothing of this model the others have their scores.
                why, places = str(error), 1 + a * len(self.metrics) + np.flatnonzero(lacking[a])
                yield from (((place,), _row(np.nan, np.nan, note=why)) for place in places.tolist())
        asked = {a: [self.metrics[s] for s in np.flatnonzero(lacking[a])] for a in scores}
        kept = [not (self.attributions[a].random or self.attributions[a].r >= 0) for a in scores]
        for a, rated in zip(scores, rate_all(judge, list(scores.values()), list(asked.values()), kept)):
            for name in asked[a]:
                score, place = rated.found[name], 1 + a * len(self.metrics) + self.metrics.index(name)
                yield (place,), _row(score.value, score.error, score.by_length, score.note)

    def report(self, rows: Rows) -> Scored:
        """The scores as far as they are known."""
        shape = len(rows), len(self.attributions), len(self.metrics)
        values, notes = rows.columns["values"], rows.columns["notes"][:, 1:].reshape(shape)
        return Scored(
            self,
            values[:, 1:].reshape(*shape, _WIDTH).copy(),
            notes.copy(),
            rows.sentences,
            np.all(rows.known[:, 1:].reshape(shape), axis=2),
            rows.there,
            np.where(rows.known[:, 0], values[:, 0, 1], -1).astype(np.int64),
            values[:, 0, 0].copy(),
            rows.problems,
            rows.cut,
            rows.typed,
        )

    def without_effect(self, answers: Answers) -> int:
        """All that are scored, where they have one probability and no attribution scores otherwise than another."""
        found, directed = answers.found[self], [bool(metrics()[name].direction) for name in self.metrics]
        values = found.values[found.there][:, :, directed, VALUE]
        n, A, _ = values.shape
        if min(n, A) < 2 or len(np.unique(found.probability[found.there])) > 1:
            return 0
        same = np.isnan(values) | np.isclose(values, values[:, :1], 0, ROUNDING)
        return n if same.all() else 0

    def conclude(self, answers: Answers) -> Any:
        """Means over the examples that are scored wholly and have a value; None before the first example."""
        found: Scored = answers.found[self]
        if not found.there.any() and not found.complete:
            return None
        columns, M = {}, len(self.measures)
        for s, metric in enumerate(self.metrics):
            # A text that is scored in part would stand in the means of some measures alone.
            values = found.values[found.there, :, s, VALUE]
            columns |= {(metric, measure): values[:, a] for a, measure in enumerate(self.measures)}
            known = (~np.isnan(values[:, M:])).sum(axis=1)
            columns[metric, self.baseline] = np.nansum(values[:, M:], axis=1) / np.where(known, known, np.nan)
        counts = {about: int((~np.isnan(one)).sum()) for about, one in columns.items()}
        means = {
            about: of_enough(mean_interval(one, answers.resamples), counts[about]) for about, one in columns.items()
        }
        return ScoresReport(found, means, counts, answers.tally(), picked=answers.sample.picked)

    def tables(self, report: Any) -> list[Table]:
        """Each measure, and the baseline, by each metric: mean, 95 % interval, and over how many where not over all: in
        the header where all of a metric are over as many.
        """
        rows = self.compared
        named = {self.baseline: amount(self.count, f"{self.baseline} attribution")}
        counts = {name: {report.counts[name, one] for one in rows} for name in self.metrics}

        def over(name: str, n: int) -> str:
            return f" (n = {n:,})" if 0 < n < report.n and len(counts[name]) > 1 else ""

        def titled(name: str) -> str:
            n = max(counts[name]) if len(counts[name]) == 1 else 0
            signed = with_sign(f"{name} {metrics()[name].arrow}".rstrip(), name in report.marked)
            return signed + (f" (n = {n:,})" if 0 < n < report.n else "")

        def cell(name: str, one: str) -> str:
            return interval_text(report.means[name, one]) + over(name, report.counts[name, one])

        header = ["measure", *map(titled, self.metrics)]
        return [(header, [[named.get(one, one), *(cell(name, one) for name in self.metrics)] for one in rows])]

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example, attribution, metric, and length of the rationale.

        Columns: measure (or "random 0" …, or "gradient, shuffle 0" …), values (its variant, as L2; null for random),
        metric, direction (↑, ↓ or empty), length (null: the metric's own value), value (null where undefined), error
        (standard error of the draws), erasure, scaling, placement, sigma (of noise), draws, seed, note.
        """
        found: Scored = answers.found[self]
        lines = []
        for i, about in enumerate(self.about_examples(answers)):
            for a, attributed in enumerate(self.attributions if found.there[i] else ()):
                taken = None if attributed.random else values_taken(attributed.measure, attributed.sign)
                named = about | {"measure": attributed.name, "values": taken}
                for s, metric in enumerate(self.metrics):
                    note = found.sentences[found.notes[i, a, s]] or None
                    line = named | self.how_scored(metric) | {"note": note}
                    values = [*zip((None, *LENGTHS), found.values[i, a, s, [VALUE, *range(2, _WIDTH)]])]
                    for length, value in values if metrics()[metric].lengths else values[:1]:
                        error = as_json(found.values[i, a, s, ERROR]) if length is None else None
                        lines.append(line | {"length": length, "value": as_json(value), "error": error})
            lines += [] if found.there[i] else [about]
        return lines

    def about_examples(self, answers: Answers) -> list[dict]:
        """What every line says of its example: the class that the model predicts, and its probability."""
        found: Scored = answers.found[self]
        return [
            {
                "example": example.id,
                "class": answers.model.labels[found.predicted[i]] if found.there[i] else None,
                "probability": float(found.probability[i]) if found.there[i] else None,
                "problem": found.problems.get(i),
                "cut": i in found.cut,
            }
            for i, example in enumerate(answers.sample.examples)
        ]

    def how_scored(self, metric: str) -> dict:
        """By what a metric scored, as far as that matters to it."""
        one = metrics()[metric]
        return {
            "metric": metric,
            "direction": one.arrow,
            "erasure": None if one.soft else self.how.erasure,
            "scaling": self.how.scaling if one.soft else None,
            "placement": self.how.placement if one.soft else None,
            "sigma": self.how.sigma if one.perturbation == NOISE else None,
            "draws": self.how.draws if one.soft else None,
            "seed": self.how.seed,
        }

    def cost(self, explainer: Explainer, encoded: Encoded, found: Scored | None = None) -> Cost:
        """What an example takes at most; what is known of those that are not wholly scored is counted off."""
        # Share of these examples that lack each attribution.
        lacking = np.ones(len(self.attributions))
        if found is not None and not found.complete:
            left = ~found.there
            left[list(found.problems)] = False
            lacking = (~found.known[left]).mean(axis=0)
        each = [judging_cost(explainer, encoded, self.metrics, self.how, attributions=round(lacking.sum()))]
        for m, name in enumerate(self.measures):
            # Its shuffles need the measure's scores, too.
            shuffles = lacking[self.against(m)].max(initial=0) if self.baseline == SHUFFLED else 0
            each.append(explainer.cost(encoded, name).times(max(lacking[m], shuffles)))
        return Cost.sum(each)

    def _attribution(self, judge: Judge, attributed: Attributed, held: dict) -> tuple[np.ndarray, bool]:
        """Scores and whether they are magnitudes; held: {measure: its own}, computed once for all its shuffles."""
        if attributed.random:
            return judge.random(attributed.r), True
        if attributed.measure not in held:
            held[attributed.measure] = judge.attribution(attributed.measure, attributed.sign)
        scores, magnitudes = held[attributed.measure]
        return (scores if attributed.r < 0 else judge.shuffled(scores, attributed.r)), magnitudes

    def _every_series(self, explainer: Explainer) -> list[bytes]:
        """What each row depends on beside model, seed and example, the prediction, then each attribution's metrics;
        written down once for the words that are read.
        """
        words = explainer.words_read(*self.measures).get("words", "")
        if words not in self._written:
            each = [(attributed, name) for attributed in self.attributions for name in self.metrics]
            scores = [_score_key(explainer, *one, self.how) for one in each]
            keys = (canonical_key("scores/prediction", 1), *scores)
            self._written[words] = [bytes.fromhex(key) for key in keys]
        return self._written[words]

    @functools.cached_property
    def _written(self) -> dict[str, list[bytes]]:
        return {}


def interval_text(interval: Interval) -> str:
    """A mean with its interval, alone where it has none; — where there is no mean."""
    return with_ends(interval.mean, interval.low, interval.high, fixed_number)


def _row(value: float, error: float, by_length: np.ndarray | None = None, note: str = "") -> Row:
    found = np.full(_WIDTH, np.nan)
    found[VALUE], found[ERROR] = value, error
    if by_length is not None:
        found[BY_LENGTH] = by_length
    return {"values": found, "notes": note}
