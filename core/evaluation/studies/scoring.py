"""Score attributions of many examples by faithfulness metrics, those of measures and of a baseline alike: streamed,
kept as they are computed, never computed twice.
"""

import contextlib
import hashlib
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.data.examples import Example
from core.explanation.explainer import Cost, Explainer
from core.explanation.judging import BASELINES, How, Judge, judging_cost
from core.explanation.rows import SIGNS, measured
from core.mathematics.erasure import LENGTHS, SCALINGS
from core.measures.catalogue import measures, swept_measures
from core.metrics.catalogue import default_metrics, metrics
from core.metrics.registry import Score
from core.network.features import UNITS, Encoded, NoFeatures
from core.network.scheduler import NonFinite
from core.oracle.erasing import ERASURES, NothingLeft
from core.storage.store import Store, canonical_key

# The paper takes one draw. Here 36 attributions × 2 soft metrics × draws are passes for each example, so 32 as for a
# single
# attribution would be an hour for 200 texts; the noise that more draws would take away is the same for measure and
# random.
DRAWS = 8
# What measures are set against, and how many there are: random attributions serve all measures of a text, a shuffle
# only the one whose scores it
# permutes, so that five each are as much work for the six measures asked at first.
RANDOM, SHUFFLED = "random", "shuffled"
COUNTS = {RANDOM: BASELINES, SHUFFLED: 5}
# What a killed run loses at most.
SAVE_SECONDS = 5.0
# value, standard error of its draws, and the value at each length of the rationale.
VALUE, ERROR, BY_LENGTH = 0, 1, slice(2, 2 + len(LENGTHS))
_WIDTH = 2 + len(LENGTHS)


@dataclass(frozen=True)
class Attributed:
    """One attribution that is scored: a measure with the values it is asked for, the r-th random one (no measure), or
    the r-th shuffle of a measure's scores.
    """

    measure: str = ""
    sign: str = "signed"
    r: int = -1

    @property
    def random(self) -> bool:
        return not self.measure

    @property
    def name(self) -> str:
        """As people read it."""
        return (
            f"random {self.r}" if self.random else self.measure if self.r < 0 else f"{self.measure}, shuffle {self.r}"
        )


@dataclass(frozen=True)
class Study:
    """What is scored: measures, metrics, how, and beside them the attributions of a baseline; unit: what is erased as
    one piece.

    baseline: RANDOM, as the paper, or SHUFFLED, each measure's own scores in other places, so that soft metrics keep
    and erase as much;
    count: how many there are, of random ones for a text, of shuffles for each measure on it.
    """

    measures: tuple[str, ...] = field(default_factory=swept_measures)
    metrics: tuple[str, ...] = field(default_factory=default_metrics)
    sign: str = "signed"
    how: How = field(default_factory=lambda: How(draws=DRAWS))
    count: int = BASELINES
    unit: str = "word"
    baseline: str = RANDOM

    @property
    def attributions(self) -> tuple[Attributed, ...]:
        """A of them, the measures first, then the baseline; shuffles measure by measure."""
        measured = tuple(Attributed(name, self.sign) for name in self.measures)
        if self.baseline == RANDOM:
            return (*measured, *(Attributed(r=r) for r in range(self.count)))
        return (*measured, *(Attributed(name, self.sign, r) for name in self.measures for r in range(self.count)))

    def against(self, m: int) -> slice:
        """Where among the attributions stand those that the m-th measure is set against."""
        start = len(self.measures) + (0 if self.baseline == RANDOM else m * self.count)
        return slice(start, start + self.count)

    def check(self) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out."""
        for kind, chosen, offered in (
            ("measure", self.measures, measures()),
            ("metric", self.metrics, metrics()),
            ("erasure", (self.how.erasure,), ERASURES),
            ("scaling", (self.how.scaling,), SCALINGS),
            ("unit", (self.unit,), UNITS),
            ("baseline", (self.baseline,), COUNTS),
            ("kind of values", (self.sign,), SIGNS),
        ):
            unknown = [name for name in chosen if name not in offered]
            if unknown:
                raise ValueError(f"there is no {kind} {unknown[0]!r}; choose of {', '.join(offered)}")
            if len(set(chosen)) < len(chosen):
                raise ValueError(f"a {kind} is named twice: {', '.join(chosen)}")
        if self.how.draws < 1 or self.count < 0:
            raise ValueError(
                f"there must be at least one draw and no fewer than 0 attributions of the baseline, got "
                f"{self.how.draws} and {self.count}"
            )
        if not self.metrics or not self.attributions:
            raise ValueError("choose at least one metric, and a measure, or random attributions, to score")


@dataclass(frozen=True, eq=False)
class Scored:
    """N examples under S metrics, A attributions each, as far as they are computed; never changed.

    values: float64[N, A, S, 2 + lengths], see VALUE, ERROR and BY_LENGTH; NaN where a metric is undefined, has no such
    value, or is not computed;
    notes: int32[N, A, S], places in `sentences`; known: bool[N, A], scored by all metrics; there: bool[N], computed
    wholly; predicted: int64[N], −1 where unknown;
    probability: float64[N], of that class; problems: {example: sentence}, examples that cannot be scored.
    """

    study: Study
    values: np.ndarray
    notes: np.ndarray
    sentences: tuple[str, ...]
    known: np.ndarray
    there: np.ndarray
    predicted: np.ndarray
    probability: np.ndarray
    problems: dict[int, str]

    def __len__(self) -> int:
        return len(self.there)

    @property
    def done(self) -> int:
        """Examples that are computed or have a problem."""
        return int(self.there.sum()) + len(self.problems)

    @property
    def complete(self) -> bool:
        return self.done == len(self)


def score_examples(
    explainer: Explainer,
    examples: Sequence[Example],
    study: Study,
    store: Store | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Scored, None, Scored]:
    """Score the attributions of a study on every example, for the class that the model predicts; yields what is known
    after each, and returns all of it.

    Labels are not asked for. What was computed before, for whatever sample, measures and metrics, is read from the
    store; the work
    goes on where it was cancelled or killed. Texts in which nothing can be masked, or for which the model gives NaN,
    are left out and counted.

    Args:
        progress: called with (examples done, N).
    Raises:
        Cancelled, OutOfMemory: what was computed before is kept.
        ValueError: as `Study.check`.
    Source: SoftFaith §4; glossary, Diagnosticity.
    """
    study.check()
    # The log is the store here: an entry for each attribution and each forward pass would be thousands of files.
    run = _Run(Explainer(explainer.model, None), examples, study, store)
    try:
        for i in run.missing():
            if progress is not None:
                progress(run.done, len(examples))
            run.add(i, cancelled)
            yield run.so_far()
    finally:
        run.save()
    if progress is not None:
        progress(run.done, len(examples))
    return run.so_far()


def known_scores(explainer: Explainer, examples: Sequence[Example], study: Study, store: Store) -> Scored:
    """What the store knows of a study on examples; computes nothing."""
    return _Run(explainer, examples, study, store).so_far()


def scoring_cost(
    explainer: Explainer, examples: Sequence[Example], study: Study, found: Scored | None = None, looked_at: int = 12
) -> Cost:
    """What a study still takes on all examples at most, going by the lengths of some of them.

    Args:
        found: what is known already and costs nothing any more.
    """
    # Examples that lack each attribution, float64[A].
    lacking = (
        np.full(len(study.attributions), len(examples))
        if found is None
        else (~found.known).sum(axis=0) - len(found.problems)
    )
    each, seen = np.zeros(2), 0
    for i in np.unique(np.linspace(0, len(examples) - 1, looked_at).astype(int)) if len(examples) else ():
        try:
            encoded = explainer.encode(examples[i].text, examples[i].second, study.unit)
        except NoFeatures:
            continue
        one = judging_cost(explainer, encoded, study.metrics, study.how)
        each += lacking.sum() * np.array([one.passes, one.seconds])
        for m, name in enumerate(study.measures):
            # Its shuffles need the measure's scores, too.
            texts = max(lacking[m], lacking[study.against(m)].max(initial=0) if study.baseline == SHUFFLED else 0)
            cost = explainer.cost(encoded, name)
            each += texts * np.array([cost.passes, cost.seconds])
        seen += 1
    passes, seconds = each / max(1, seen)
    return Cost(round(passes), float(seconds))


def prepare(
    judge: Judge,
    attributions: Sequence[tuple[np.ndarray, bool]],
    names: Sequence[str],
    cancelled: Callable[[], bool] | None = None,
) -> None:
    """Ask at once for every input that metrics will ask for, erased and softly perturbed, attribution by attribution:
    full batches instead of many small ones.

    Args:
        attributions: (scores float64[F], whether they are magnitudes).
    """
    asked: list[np.ndarray] = []
    kept: dict[str, list[np.ndarray]] = {}
    C = judge.explainer.model.C

    def erased(masks: np.ndarray) -> np.ndarray:
        asked.append(masks)
        return np.full((len(masks), C), 1 / C)

    def perturbed(retain: np.ndarray, kind: str) -> np.ndarray:
        kept.setdefault(kind, []).append(np.array(retain, dtype=np.float64))
        return np.full(judge.how.draws, 0.5)

    for scores, magnitudes in attributions:
        # Rehearsed with made-up answers: what is asked does not depend on them.
        case = replace(judge.case(scores, magnitudes), erased=erased, perturbed=perturbed)
        for name in names:
            metrics()[name](case)
    if asked:
        # Where removal leaves nothing of a text, the metrics that need that input say so one by one.
        with contextlib.suppress(NothingLeft):
            judge.explainer.oracles.of(judge.encoded, judge.how.erasure).logits(
                np.unique(np.concatenate(asked), axis=0), cancelled=cancelled
            )
    for kind, retains in kept.items():
        judge.soft.ask(retains, kind)


class _Run:
    """A study on its way over examples; every score is a line of the model's log, under a name of its own."""

    def __init__(self, explainer: Explainer, examples: Sequence[Example], study: Study, store: Store | None):
        self.explainer, self.examples, self.study, self.store = explainer, examples, study, store
        self.attributions = study.attributions
        n, A, S = len(examples), len(self.attributions), len(study.metrics)
        self.values, self.notes = np.full((n, A, S, _WIDTH), np.nan), np.zeros((n, A, S), dtype=np.int32)
        self.known = np.zeros((n, A, S), dtype=bool)
        self.predicted, self.probability = np.full(n, -1, dtype=np.int64), np.full(n, np.nan)
        self.sentences: dict[str, int] = {"": 0}
        self.problems: dict[int, str] = {}
        self.encoded: dict[int, Encoded] = {}
        self.unsaved: list[tuple[bytes, np.ndarray, str]] = []
        self.last_saved = time.monotonic()
        model = explainer.model
        self.key = canonical_key(
            "scores", 1, model=model.digest, precision=model.precision, unit=study.unit, seed=study.how.seed
        )
        self.series = [
            [_series(attributed, metric, study.how) for metric in study.metrics] for attributed in self.attributions
        ]
        if store is not None:
            self._read_store()

    @property
    def there(self) -> np.ndarray:
        return self.known.all(axis=(1, 2)) & (self.predicted >= 0)

    @property
    def done(self) -> int:
        return int(self.there.sum()) + len(self.problems)

    def missing(self) -> list[int]:
        there = self.there
        return [i for i in range(len(self.examples)) if not there[i] and i not in self.problems]

    def so_far(self) -> Scored:
        """A picture of what is known now."""
        return Scored(
            self.study,
            self.values.copy(),
            self.notes.copy(),
            tuple(self.sentences),
            self.known.all(axis=2),
            self.there,
            self.predicted.copy(),
            self.probability.copy(),
            dict(self.problems),
        )

    def add(self, i: int, cancelled) -> None:
        """Compute what is not known of one example."""
        encoded = self._encode(i)
        if encoded is None:
            return
        try:
            judge = Judge(self.explainer, encoded, self.study.how, False, cancelled)
            self._score(i, judge, cancelled)
        except NonFinite as error:
            self.problems[i] = str(error)
        finally:
            self.explainer.forget(encoded)
        if time.monotonic() - self.last_saved >= SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Keep what is not kept yet."""
        if self.store is not None and self.unsaved:
            names, values, notes = zip(*self.unsaved)
            sentences = list(dict.fromkeys(notes))
            self.store.append(
                self.key,
                {
                    "names": np.frombuffer(b"".join(names), dtype=np.uint8).reshape(len(names), 32),
                    "values": np.stack(values),
                    "notes": np.array([sentences.index(note) for note in notes], dtype=np.int32),
                },
                {"sentences": sentences},
            )
        self.unsaved, self.last_saved = [], time.monotonic()

    def _score(self, i: int, judge: Judge, cancelled) -> None:
        if self.predicted[i] < 0:
            self.predicted[i], self.probability[i] = (
                judge.target,
                self.explainer.probabilities(judge.encoded)[judge.target],
            )
            found = np.full(_WIDTH, np.nan)
            found[:2] = self.probability[i], judge.target
            self.unsaved.append((_name(judge.encoded, _PREDICTION), found, ""))
        wanted = [a for a in range(len(self.attributions)) if not self.known[i, a].all()]
        held: dict[str, tuple[np.ndarray, bool]] = {}
        scores = [self._attribution(judge, self.attributions[a], held) for a in wanted]
        prepare(
            judge,
            scores,
            [name for s, name in enumerate(self.study.metrics) if not self.known[i, wanted, s].all()],
            cancelled,
        )
        for a, (attribution, magnitudes) in zip(wanted, scores):
            left = [s for s in range(len(self.study.metrics)) if not self.known[i, a, s]]
            found = judge.rate(attribution, [self.study.metrics[s] for s in left], magnitudes).found
            for s in left:
                self._keep(i, a, s, judge.encoded, found[self.study.metrics[s]])

    def _attribution(self, judge: Judge, attributed: Attributed, held: dict) -> tuple[np.ndarray, bool]:
        """Scores and whether they are magnitudes; held: {measure: its own}, computed once for all its shuffles."""
        if attributed.random:
            return judge.random(attributed.r), True
        if attributed.measure not in held:
            held[attributed.measure] = judge.attribution(attributed.measure, attributed.sign)
        scores, magnitudes = held[attributed.measure]
        return (scores if attributed.r < 0 else judge.shuffled(scores, attributed.r)), magnitudes

    def _keep(self, i: int, a: int, s: int, encoded: Encoded, score: Score) -> None:
        found = np.full(_WIDTH, np.nan)
        found[:2] = score.value, score.error
        if score.by_length is not None:
            found[BY_LENGTH] = score.by_length
        self._take(i, a, s, found, score.note)
        self.unsaved.append((_name(encoded, self.series[a][s]), found, score.note))

    def _take(self, i: int, a: int, s: int, found: np.ndarray, note: str) -> None:
        self.values[i, a, s], self.known[i, a, s] = found, True
        self.notes[i, a, s] = self.sentences.setdefault(note, len(self.sentences))

    def _encode(self, i: int) -> Encoded | None:
        if i not in self.encoded:
            try:
                self.encoded[i] = self.explainer.encode(self.examples[i].text, self.examples[i].second, self.study.unit)
            except NoFeatures as error:
                self.problems[i] = str(error)
                return None
        return self.encoded[i]

    def _read_store(self) -> None:
        segments = self.store.segments(self.key)
        places: dict[bytes, list] = {}
        for i in range(len(self.examples)) if segments else ():
            encoded = self._encode(i)
            if encoded is not None:
                places.setdefault(_name(encoded, _PREDICTION), []).append((i, -1, -1))
                for a, s in np.ndindex(len(self.attributions), len(self.study.metrics)):
                    # The same text may be there twice.
                    places.setdefault(_name(encoded, self.series[a][s]), []).append((i, a, s))
        for segment in segments:
            names, values, notes = (segment.arrays.get(part) for part in ("names", "values", "notes"))
            sentences = segment.meta.get("sentences")
            if (
                names is None
                or values is None
                or notes is None
                or not len(names) == len(values) == len(notes)
                or values.shape[1:] != (_WIDTH,)
                or not sentences
            ):
                continue
            for name, found, note in zip(names, values, notes):
                for i, a, s in places.get(name.tobytes(), ()):
                    if a < 0:
                        self.probability[i], self.predicted[i] = found[0], int(found[1])
                    else:
                        self._take(i, a, s, found, sentences[note])


_PREDICTION = bytes.fromhex(canonical_key("scores/prediction", 1))


def _series(attributed: Attributed, name: str, how: How) -> bytes:
    """What a score depends on beside model, seed and example."""
    metric = metrics()[name]
    about = {
        "metric": name,
        "metric_version": metric.version,
        **({"scaling": how.scaling, "draws": how.draws} if metric.soft else {"erasure": how.erasure}),
    }
    if attributed.random:
        return bytes.fromhex(canonical_key("scores/random", 1, r=attributed.r, **about))
    about |= measured(measures()[attributed.measure], attributed.sign)
    if attributed.r >= 0:
        return bytes.fromhex(canonical_key("scores/shuffled", 1, r=attributed.r, **about))
    return bytes.fromhex(canonical_key("scores/measure", 1, **about))


def _name(encoded: Encoded, series: bytes) -> bytes:
    """What one score is kept under, 32 bytes."""
    return hashlib.sha256(series + bytes.fromhex(encoded.digest)).digest()
