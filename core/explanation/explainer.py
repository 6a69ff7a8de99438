"""Explain examples: the attribution of any registered measure, computed once and then read from the store."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from cachetools import LRUCache

from core.data.examples import Example
from core.loading.word_bits import find_words_of
from core.measures.catalogue import is_measure, measure, measures
from core.measures.registry import WORDS, Explained, Measure, NotApplicable, WordBits
from core.network.features import FIRST, Encoded
from core.network.halves import WORTH, half_twin
from core.network.model import Model
from core.network.one_label import SIGN, read_label
from core.network.scheduler import Counters
from core.network.tokens import Tokens
from core.oracle.erasing import MASK
from core.oracle.inside import Inside
from core.oracle.oracle import Oracle, Oracles
from core.oracle.target import Contrast, Target, classes_of, logit_of, target_key
from core.storage.content import Content, Numbers, is_amount, is_count
from core.storage.store import Store, canonical_key
from core.validity.mask_tests import MaskTests
from core.validity.references import BadReference, Reference, find_reference


@dataclass(frozen=True)
class Attribution:
    """Scores of one measure for one example and class.

    scores: {variant: float64[F]}, higher is more important; passes: inputs that the network read for
    it (what other measures had asked already is free); milliseconds: what it took when it was
    computed; stored: read from the store now, so that nothing was computed.
    """

    measure: str
    target: Target
    scores: dict[str, np.ndarray]
    passes: int
    milliseconds: float
    stored: bool = False


@dataclass(frozen=True)
class Cost:
    """What work is expected to take: forward passes at most, seconds, and the tokens of these passes, by which the
    seconds can be told better once such work was done; 0 where none are counted.
    """

    passes: int
    seconds: float
    tokens: float = 0.0

    @classmethod
    def of(cls, passes: int, tokens: float, counters: Counters) -> "Cost":
        """So many passes of so many tokens in all (a gradient counts three times), at the speed seen so far."""
        return cls(passes, counters.seconds_for(tokens), tokens)

    @classmethod
    def sum(cls, costs: Iterable["Cost"]) -> "Cost":
        """What several take together."""
        found = tuple(costs)
        return cls(
            sum(one.passes for one in found), sum(one.seconds for one in found), sum(one.tokens for one in found)
        )

    def times(self, factor: float) -> "Cost":
        """So many times as much."""
        return Cost(round(factor * self.passes), factor * self.seconds, factor * self.tokens)

    @property
    def cheap(self) -> bool:
        return self.seconds <= 1.5

    @property
    def prompt(self) -> bool:
        """Whether a page waits for it: it is cheap, or a single pass and back on however slow a machine."""
        return self.cheap or self.passes <= 1


class Explainer:
    """Everything that a page asks about one model's examples.

    reference: what MaSF compares with, None where there is none; reference_problem: why one that is there cannot be
    used; kept: where what was fitted lies that cannot lie with its model.
    """

    def __init__(
        self,
        model: Model,
        store: Store | None = None,
        reference: Reference | None = None,
        reference_problem: str = "",
        kept: Path | None = None,
    ):
        self.model, self.store = model, store
        self.reference, self.reference_problem, self.kept = reference, reference_problem, kept
        self.oracles = Oracles(model, store)
        if store is not None:
            store.names[model.digest] = model.name
        self._half: tuple[Oracles | None] | None = None
        self._tested: LRUCache[tuple[str, str], MaskTests] = LRUCache(64)
        self._insides: LRUCache[tuple, Inside] = LRUCache(8)
        self._encoded: LRUCache[tuple, Encoded] = LRUCache(64)
        self._of_labels: dict[int, Explainer] = {}
        self._lock = threading.Lock()
        self._copying = threading.Lock()

    def encode(
        self, text: str, second: str | None, unit: str, maskable: str = FIRST, tokens: Tokens | None = None
    ) -> Encoded:
        """Encode an example as `Model.encode` does; the newest few are held, since a very long text takes seconds."""
        key = (text, second, unit, maskable)
        with self._lock:
            held = self._encoded.get(key)
        encoded = held or self.model.encode(text, second, unit, maskable, tokens)
        with self._lock:
            self._encoded[key] = encoded
        return encoded

    def of_label(self, label: int) -> "Explainer":
        """The same of another label of a model of several, 0..K−1; it reads the same weights."""
        whole = cast(Model, self.model.whole)
        with self._lock:
            if label not in self._of_labels:
                one = read_label(whole, label)
                # The app gives models titles.
                one.name = f"{self.model.name}{SIGN}{whole.labels[label]}"
                self._of_labels[label] = Explainer(one, self.store, self.reference, self.reference_problem, self.kept)
            return self._of_labels[label]

    def highest_label(self, encoded: Encoded) -> int:
        """The label with the largest sigmoid, 0..K−1."""
        whole = cast(Model, self.model.whole)
        types = None if encoded.type_ids is None else encoded.type_ids[None]
        return int(whole.run(encoded.ids[None], np.array([encoded.T]), types)[0][0].argmax())

    def tested(self, encoded: Encoded, erasure: str = MASK) -> MaskTests:
        """Logits and p-values of an example's erased inputs, the same object for the same example and erasure."""
        key = encoded.digest, erasure
        with self._lock:
            held = self._tested.get(key)
        # Reading the store takes a moment; two that do it at once read the same.
        held = held or MaskTests(lambda: self.oracles.of(encoded, erasure), self.reference, self.store)
        with self._lock:
            full = key not in self._tested and len(self._tested) == self._tested.maxsize
            forgotten = self._tested.popitem()[1] if full else None
            held = self._tested.setdefault(key, held)
        if forgotten is not None:
            # Its oracle may be gone already, and is not made anew for this.
            forgotten.flush_p()
        return held

    def searching(self, encoded: Encoded, erasure: str = MASK) -> Oracle | None:
        """The example's oracle in half precision, whose answers may guide a search; None where that is no faster.

        The first call copies the model.
        """
        with self._copying:
            if self._half is None:
                twin = half_twin(self.model)
                self._half = (None if twin is None else Oracles(twin, self.store),)
        return None if self._half[0] is None else self._half[0].of(encoded, erasure)

    @property
    def passes(self) -> int:
        """Inputs that the network has read so far, in half precision too."""
        models = [self.model, *(one.model for one in self._half or () if one is not None)]
        return sum(model.scheduler.counters.passes for model in models)

    def flush(self, encoded: Encoded) -> None:
        """Write what the store does not hold yet of an example, under whatever erasure it was asked."""
        with self._lock:
            judged = [self._tested[key] for key in self._tested if key[0] == encoded.digest]
        for verdicts in judged:
            verdicts.flush_p()
        self.oracles.flush(encoded)

    def forget(self, encoded: Encoded) -> None:
        """Let go of what is held of an example in memory; what is in the store stays, and what is not there yet is
        written.
        """
        with self._lock:
            judged = [self._tested.pop(key) for key in list(self._tested) if key[0] == encoded.digest]
            for key in [key for key in self._insides if key[0] == encoded.digest]:
                del self._insides[key]
        for verdicts in judged:
            verdicts.flush_p()
        for oracles in (self.oracles, *(self._half or ())):
            if oracles is not None:
                oracles.forget(encoded)

    def logits(self, encoded: Encoded) -> np.ndarray:
        """Logits of the text as it stands, float32[C]."""
        oracle, whole = self.oracles.of(encoded), np.zeros((1, encoded.F), dtype=bool)
        known = oracle.known(whole).all()
        logits = oracle.logits(whole)[0]
        if not known:
            oracle.flush()
        return logits

    def probabilities(self, encoded: Encoded) -> np.ndarray:
        """Softmax of `logits`, float64[C], sum 1."""
        return softmax(self.logits(encoded))

    def stored(
        self, encoded: Encoded, name: str, target: Target, masked: np.ndarray | None = None, seed: int = 0
    ) -> Attribution | None:
        """The attribution if the store has it, else None; computes nothing."""
        if self.store is None:
            return None
        named = measure(name)
        key = self._key(encoded, named, target, self._masked(encoded, masked), seed)
        entry = self.store.get(key, _content(named, encoded.F))
        if entry is None:
            return None
        return Attribution(name, target, entry.arrays, entry.meta["passes"], entry.meta["milliseconds"], True)

    def attribute(
        self,
        encoded: Encoded,
        name: str,
        target: Target,
        masked: np.ndarray | None = None,
        seed: int = 0,
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        watcher: Callable[[Mapping[str, np.ndarray]], None] | None = None,
    ) -> Attribution:
        """Attribute the logit of a class, or that of one less that of another, to the features of an example.

        Args:
            encoded: the example.
            name: a registered measure.
            target: the explained class, 0..C−1, or one rather than another.
            masked: bool[F], features masked already; they score 0.
            seed: of measures that draw.
            progress: called with (passes done, passes expected at most).
            cancelled: asked before each batch.
            watcher: told scores while they are computed, as of `core.measures.registry.Explained`.
        Raises:
            Cancelled, OutOfMemory, NonFinite: as the oracle; what was computed stays in its memo.
            NotApplicable: a NonFinite, where the measure says nothing of this model or example.
            ValueError: no such class or measure.
        """
        measure = self._measure(name)
        for one in classes_of(target):
            if not 0 <= one < self.model.C:
                raise ValueError(f"there is no class {one}; this model has {self.model.C}")
        masked = self._masked(encoded, masked)
        found = self.stored(encoded, name, target, masked, seed)
        return found or self._compute(encoded, measure, target, masked, seed, progress, cancelled, watcher)

    def cost(self, encoded: Encoded, name: str) -> Cost:
        """What a measure would take on an example at the speed seen so far; a gradient counts as two more passes.

        Nothing where it does not apply: it says so at once.
        """
        measure = self._measure(name)
        if measure.refusal(self.model.module.config.model_type, int((~encoded.premasked).sum())):
            return Cost(0, 0.0)
        passes = measure.passes(encoded.F)
        tokens = passes * encoded.T * measure.weight
        return Cost.of(passes, tokens, self.model.scheduler.counters)

    def _compute(self, encoded, measure, target, masked, seed, progress, cancelled, watcher) -> Attribution:
        measure.require(self.model.module.config.model_type, int((~masked).sum()))
        oracle, inside = self.oracles.of(encoded), self._inside(encoded, target, masked)
        expected, before, started = measure.passes(encoded.F), inside.counters.passes, time.perf_counter()
        asked = Asked(oracle, expected, progress, cancelled)
        asked.report(0)
        about = (asked, encoded.F, target, masked, seed, int(encoded.digest[:8], 16), inside, self.words_of(measure))
        explained = Explained(*about, encoded.features, watcher)
        try:
            with inside.watched(asked.report, cancelled):
                scores = dict(measure.compute(explained))
        finally:
            oracle.flush()
        passes = asked.passes + inside.counters.passes - before
        result = Attribution(measure.name, target, scores, passes, 1000 * (time.perf_counter() - started))
        if self.store is not None:
            self.store.put(
                self._key(encoded, measure, target, masked, seed),
                scores,
                {"passes": passes, "milliseconds": result.milliseconds},
                _content(measure, encoded.F),
            )
        return result

    def _key(self, encoded: Encoded, measure: Measure, target: Target, masked: np.ndarray, seed: int) -> str:
        return canonical_key(
            f"attribution/{measure.name}",
            measure.version,
            model=self.model.digest,
            precision=self.model.precision,
            example=encoded.digest,
            target=target_key(target),
            masked=np.packbits(masked).tobytes().hex(),
            seed=seed if measure.seeded else None,
            **self.words_read(measure.name),
        )

    @property
    def tests_by(self) -> str | None:
        """Digest of the reference of its MaSF tests, None without one."""
        return None if self.reference is None else self.reference.digest

    @property
    def words_digest(self) -> str | None:
        """What tells the words that were measured of the model's training texts from others, None where there are none
        that can be used: a result that depends on words holds it, and of such as cannot be used there is none.
        """
        try:
            words = find_words_of(self.model, self.kept)
        except NotApplicable:
            return None
        return None if words is None else words.digest

    def words_read(self, *names: str) -> dict[str, str]:
        """What a key of a result of these measures holds of the words: nothing where none of them asks for words."""
        reads = any(is_measure(name) and measure(name).needs == WORDS for name in names)
        digest = self.words_digest if reads else None
        return {} if digest is None else {"words": digest}

    def words_of(self, measure: Measure) -> WordBits | None:
        """What was measured of the model's training texts, None for a measure that does not ask."""
        return find_words_of(self.model, self.kept) if measure.needs == WORDS else None

    def _inside(self, encoded, target, masked) -> Inside:
        key = (encoded.digest, target, masked.tobytes())
        with self._lock:
            inside = self._insides.get(key)
            if inside is None:
                inside = self._insides[key] = Inside(self.model, encoded, masked, target)
            return inside

    @staticmethod
    def _masked(encoded: Encoded, masked: np.ndarray | None) -> np.ndarray:
        masked = np.zeros(encoded.F, dtype=bool) if masked is None else np.asarray(masked, dtype=bool)
        if masked.shape != (encoded.F,):
            raise ValueError(f"masked must be bool[{encoded.F}], got shape {masked.shape}")
        return masked | encoded.premasked

    @staticmethod
    def _measure(name: str) -> Measure:
        if not is_measure(name):
            raise ValueError(f"there is no measure {name!r}; choose one of {', '.join(measures())}")
        return measure(name)


def _content(measure: Measure, F: int) -> Content:
    """What the store holds of an attribution."""
    scores = {
        variant: Numbers("float64", (F,), low=-np.inf if variant in measure.signed else 0)
        for variant in measure.variants
    }
    return Content(scores, {"passes": is_count, "milliseconds": is_amount})


def with_reference(model: Model, store: Store | None, kept: Path | None = None) -> Explainer:
    """An explainer with the reference of its model, if there is one that can be used.

    Args:
        kept: folder of references that do not lie with their model, see `core.validity.references.find_reference`.
    """
    try:
        return Explainer(model, store, find_reference(model, kept), kept=kept)
    except BadReference as error:
        return Explainer(model, store, None, str(error), kept)


def read_alike(explainer: Explainer, example: Example, encoded: Encoded) -> Encoded:
    """An example with the unit and the masked texts of another; raises as `Explainer.encode`."""
    return explainer.encode(example.text, example.second, encoded.unit, encoded.maskable)


class Asked:
    """An oracle as a plain callable, bool[M, F] → float32[M, C], that counts its own passes and carries progress and
    cancelling; expected: inputs that it will be asked for at most.
    """

    def __init__(
        self,
        oracle: Oracle,
        expected: int,
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
    ):
        self.oracle, self.expected, self.progress, self.cancelled = oracle, expected, progress, cancelled
        self.passes = self.asked = 0

    def __call__(self, masks: np.ndarray) -> np.ndarray:
        new = len(np.unique(masks[~self.oracle.known(masks)], axis=0))
        logits = self.oracle.logits(masks, cancelled=self.cancelled)
        self.passes += new
        self.report(len(masks))
        return logits

    def report(self, count: int) -> None:
        """Tell that `count` more inputs are done."""
        self.asked += count
        if self.progress is not None:
            self.progress(min(self.asked, self.expected), self.expected)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Softmax over the last axis in float64; rows sum to 1."""
    shifted = np.asarray(logits, dtype=np.float64)
    shifted = np.exp(shifted - shifted.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def value_of(logits: np.ndarray, target: Target) -> np.ndarray:
    """v of logits float[..., C] → float64[...]: the probability of a class; of one class rather than another the
    difference of their logits, which has no bounds.

    Source: glossary, Score.
    """
    if isinstance(target, Contrast):
        return logit_of(np.asarray(logits, dtype=np.float64), target)
    return softmax(logits)[..., target]


def passes_cost(explainer: Explainer, encoded: Encoded, passes: int, rough: Model | None = None) -> Cost:
    """What so many forward passes of an example take, in half precision where its copy is given."""
    full, tokens = explainer.model.scheduler.counters, passes * encoded.T
    # A copy that has not run yet is at least so much faster, or there would be none.
    return Cost(
        passes,
        full.seconds_for(tokens)
        if rough is None
        else rough.scheduler.counters.seconds_for(tokens, WORTH * tokens / max(full.seconds_for(tokens), 1e-9)),
    )
