"""Judge attributions of one example: hard erasure through the masking oracle, soft through the embeddings."""

import hashlib
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from math import comb

import numpy as np

from core.explanation.explainer import Cost, Explainer, softmax
from core.explanation.rows import choose_variant
from core.mathematics.erasure import (
    DRAWS,
    LENGTHS,
    MIN_MAX,
    NOISE,
    NORMALISED,
    PLACEMENTS,
    SCALINGS,
    SIGMA,
    WORD_EMBEDDING,
    rationale_masks,
    rationale_sizes,
)
from core.mathematics.statistics import simes
from core.mathematics.stepwise import finish
from core.measures.catalogue import measure
from core.metrics.catalogue import metrics
from core.metrics.registry import Case, Metric, Score
from core.network.features import Encoded
from core.oracle.erasing import ERASURES, MASK, REMOVAL, ZERO, NothingLeft
from core.oracle.soft import Soft
from core.storage.content import Content, Numbers, is_text
from core.storage.store import Entry, canonical_key
from core.validity.mask_tests import MasfTest
from core.validity.references import FORMS
from core.wording import refuse_unknown

# Erasures whose inputs are tested beside each other.
TESTED = (MASK, REMOVAL, ZERO)
_RANDOM, _SHUFFLED = 29, 31


@dataclass(frozen=True)
class How:
    """How attributions are judged: erasure of hard metrics, scaling and draws of soft ones, and the seed; placement,
    where embeddings are perturbed; sigma, standard deviation of noise as a share of what it is added to.
    """

    erasure: str = MASK
    scaling: str = MIN_MAX
    draws: int = DRAWS
    seed: int = 0
    placement: str = WORD_EMBEDDING
    sigma: float = SIGMA

    def check(self) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out."""
        refuse_unknown(
            ("erasure", (self.erasure,), ERASURES),
            ("scaling", (self.scaling,), SCALINGS),
            ("placement", (self.placement,), PLACEMENTS),
        )
        if self.draws < 1:
            raise ValueError(f"there must be at least one draw, got {self.draws}")
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise ValueError(f"noise needs a standard deviation above 0, got {self.sigma}")

    def of_soft(self, metric: Metric) -> dict:
        """What a soft metric's score depends on beside its seed. Placement is named where it is not the first one, so
        that scores that were kept before there were others are found; sigma always, of noise alone.
        """
        placed = {} if self.placement == WORD_EMBEDDING else {"placement": self.placement}
        noisy = {"sigma": self.sigma} if metric.perturbation == NOISE else {}
        return {"scaling": self.scaling, "draws": self.draws} | placed | noisy


@dataclass(frozen=True, eq=False)
class Rated:
    """One attribution under metrics.

    scores: float64[F], what was judged; found: {metric: Score}; inputs: {metric: {form: p float64[n]}} of the
    erased, and of the perturbed inputs (their draws by Simes), of those that were tested;
    leaves: {erasure: {form: float64[2, R]}}, p-values of keeping and of erasing the rationale at each length.
    """

    scores: np.ndarray
    found: dict[str, Score]
    inputs: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    leaves: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)


class Judge:
    """Judges attributions of one example for the class that the model predicts on it.

    Args:
        tested: give p-values of what metrics ask, from the same forward passes.
        cancelled: asked before each batch.
    Source: SoftFaith; glossary, Score: hard and soft erasure always explain ŷ.
    """

    def __init__(
        self,
        explainer: Explainer,
        encoded: Encoded,
        how: How = How(),
        tested: bool = False,
        cancelled: Callable[[], bool] | None = None,
    ):
        self.explainer, self.encoded, self.how, self.tested, self.cancelled = explainer, encoded, how, tested, cancelled
        self.soft = Soft(
            explainer.model,
            encoded,
            how.draws,
            how.seed,
            cancelled,
            MasfTest(explainer.reference, explainer.model) if tested and explainer.reference is not None else None,
            how.placement,
            how.sigma,
        )
        self.target = int(explainer.logits(encoded).argmax())
        # The one draw that soft metrics take, None: all.
        self.draw: int | None = None
        self._asked: list[np.ndarray] = []
        self._drawn: list[dict[str, np.ndarray]] = []

    def attribution(self, name: str, sign: str = "signed") -> tuple[np.ndarray, bool]:
        """Scores float64[F] of a measure for the predicted class, and whether they are magnitudes."""
        named = measure(name)
        found = self.explainer.attribute(self.encoded, name, self.target, seed=self.how.seed, cancelled=self.cancelled)
        return found.scores[choose_variant(named, sign)], not named.rank_only

    def rate(self, scores: np.ndarray, names: Iterable[str], magnitudes: bool = True) -> Rated:
        """Judge an attribution by metrics; Cancelled, OutOfMemory or NonFinite as the oracle."""
        found, inputs = {}, {}
        for name in names:
            self._asked, self._drawn = [], []
            try:
                found[name] = metrics()[name](self.case(scores, magnitudes))
            except NothingLeft as error:
                # Other metrics of the same erasure may do without the empty input.
                found[name] = Score(float("nan"), note=str(error))
            if p := self._p():
                inputs[name] = p
        return Rated(np.array(scores, dtype=np.float64), found, inputs)

    def case(self, scores: np.ndarray, magnitudes: bool = True) -> Case:
        """An attribution as metrics see it."""
        return Case(
            np.array(scores, dtype=np.float64),
            self.erased,
            self.target,
            self.encoded.premasked,
            self._perturbed,
            self.how.scaling,
            magnitudes,
            self.how.placement == NORMALISED,
            self._single,
        )

    def leaves(self, scores: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
        """{erasure: {form: p float64[2, R]}} of rationales, kept and erased at each length; {} without a reference or
        an order. An erasure that leaves no input at all is left out.
        """
        free = int((~self.encoded.premasked).sum())
        if self.explainer.reference is None or not free or not np.isfinite(scores).all():
            return {}
        masks = np.concatenate(rationale_masks(scores, self.encoded.premasked, rationale_sizes(free)))
        found = {}
        for erasure in TESTED:
            try:
                judged = self.explainer.tested(self.encoded, erasure).judge(masks, cancelled=self.cancelled)
            except NothingLeft:
                continue
            found[erasure] = {form: p.reshape(2, len(LENGTHS)) for form, p in judged.p.items()}
        return found

    def random(self, r: int) -> np.ndarray:
        """The r-th random attribution, uniform in [0, 1), float64[F]; the same for every metric."""
        return self._rng(_RANDOM, r).random(self.encoded.F)

    def shuffled(self, scores: np.ndarray, r: int) -> np.ndarray:
        """An attribution's own scores, permuted over the features that can be erased: the r-th shuffle."""
        scores, free = np.array(scores, dtype=np.float64), np.flatnonzero(~self.encoded.premasked)
        scores[free] = scores[self._rng(_SHUFFLED, r).permutation(free)]
        return scores

    def _rng(self, kind: int, r: int) -> np.random.Generator:
        return np.random.default_rng([self.how.seed, kind, r, int(self.encoded.digest[:8], 16)])

    def erased(self, masks: np.ndarray) -> np.ndarray:
        """Probabilities float64[M, C] of erased inputs, bool[M, F]; tested in the same pass where inputs are."""
        if not self.tested or self.explainer.reference is None:
            return softmax(
                self.explainer.oracles.of(self.encoded, self.how.erasure).logits(masks, cancelled=self.cancelled)
            )
        # Judged now, logits and p-values are one pass; judged later they would be two.
        logits = self.explainer.tested(self.encoded, self.how.erasure).judge(masks, cancelled=self.cancelled).logits
        self._asked.append(masks)
        return softmax(logits)

    def _perturbed(self, retain: np.ndarray, kind: str) -> np.ndarray:
        found, p = self.soft.found(retain, kind, self.draw)
        self._drawn.append(p)
        return found[:, self.target]

    def _single(self, retains: Sequence[np.ndarray], draws: Sequence[int], kind: str) -> np.ndarray:
        found, p = self.soft.single(retains, draws if self.draw is None else [self.draw] * len(retains), kind)
        # The draws of one retain are tested together.
        alike: dict[bytes, list[int]] = {}
        for w, retain in enumerate(retains):
            alike.setdefault(retain.tobytes(), []).append(w)
        self._drawn += [{form: values[rows] for form, values in p.items()} for rows in alike.values()]
        return found[:, self.target]

    def _p(self) -> dict[str, np.ndarray]:
        """p-values of the distinct inputs, other than the text, that the last metric asked for."""
        if not self.tested or self.explainer.reference is None:
            return {}
        parts = [{form: simes(p)[None] for form, p in one.items()} for one in self._drawn]
        erased = np.unique(np.concatenate([np.zeros((0, self.encoded.F), dtype=bool), *self._asked]), axis=0)
        erased = erased[(erased & ~self.encoded.premasked).any(axis=1)]
        if len(erased):
            parts.append(self.explainer.tested(self.encoded, self.how.erasure).judge(erased).p)
        parts = [part for part in parts if part]
        return {form: np.concatenate([part[form] for part in parts]) for form in FORMS} if parts else {}


def judge_measure(
    explainer: Explainer,
    encoded: Encoded,
    name: str,
    sign: str,
    names: tuple[str, ...],
    how: How = How(),
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Rated:
    """Compute a measure for the predicted class and judge it, with p-values of what was asked. Raises as the oracle."""
    return finish(judge_by_metric(explainer, encoded, name, sign, names, how, cancelled=cancelled))


def judge_by_metric(
    explainer: Explainer,
    encoded: Encoded,
    name: str,
    sign: str,
    names: tuple[str, ...],
    how: How = How(),
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Rated, None, Rated]:
    """As `judge_measure`; yields what is there after each metric, without the tests of its rationales."""
    judge = Judge(explainer, encoded, how, True, cancelled)
    scores, magnitudes = judge.attribution(name, sign)
    found, inputs = {}, {}
    try:
        for metric in names:
            rated = read_rated(judge, metric, scores, magnitudes) or rate_kept(judge, metric, scores, magnitudes)
            found |= rated.found
            inputs |= rated.inputs
            yield Rated(scores, dict(found), dict(inputs))
        leaves = judge.leaves(scores)
    finally:
        explainer.flush(encoded)
    return Rated(scores, found, inputs, leaves)


def read_rated(judge: Judge, metric: str, scores: np.ndarray, magnitudes: bool) -> Rated | None:
    """What the store knows of an attribution under a soft metric; None of a hard one, which asks little."""
    if not metrics()[metric].soft:
        return None
    read = read_judged(judge, judged_key(judge, metric, scores, magnitudes), _content(judge, metric))
    if read is None:
        return None
    held, p = read
    value, error = held.arrays["score"].tolist()
    return Rated(scores, {metric: Score(value, error, note=held.meta["note"])}, {metric: p} if p else {})


def rate_kept(judge: Judge, metric: str, scores: np.ndarray, magnitudes: bool) -> Rated:
    """An attribution under a metric; what a soft one says is kept in the store. Raises as `Judge.rate`."""
    rated, store = judge.rate(scores, (metric,), magnitudes), judge.explainer.store
    if metrics()[metric].soft and store is not None:
        score, key = rated.found[metric], judged_key(judge, metric, scores, magnitudes)
        arrays = {"score": np.array([score.value, score.error])} | rated.inputs.get(metric, {})
        store.put(key, arrays, {"note": score.note}, _content(judge, metric))
    return rated


def judging_cost(
    explainer: Explainer,
    encoded: Encoded,
    names: Iterable[str],
    how: How = How(),
    name: str = "",
    attributions: int = 1,
) -> Cost:
    """What judging takes at most, the own passes of a measure that is named and the tests of its rationales included.
    The full text, and all of it gone, are asked once; rationales of few features are the same for many attributions.
    """
    F = int((~encoded.premasked).sum())
    passes = 3 + sum(_asked(metrics()[one], F, how, attributions) for one in names)
    tokens = passes * encoded.T
    if name:
        own, times = measure(name).passes(encoded.F), measure(name).weight
        tested = 2 * len(LENGTHS) * len(TESTED) * (explainer.reference is not None)
        passes, tokens = passes + own + tested, tokens + (own * times + tested) * encoded.T
    return Cost.of(passes, tokens, explainer.model.scheduler.counters)


def _asked(metric: Metric, F: int, how: How, attributions: int) -> int:
    """Inputs that a metric asks for at most beside the full text and nothing of it."""
    if metric.lengths and metric.passes(F, how.draws) and F:
        return sum(min(attributions, comb(F, int(size))) for size in np.unique(rationale_sizes(F)))
    return attributions * max(0, metric.passes(F, how.draws) - 2)


def judged_key(judge: Judge, metric: str, scores: np.ndarray, magnitudes: bool) -> str:
    """Where the store keeps what a soft metric says of an attribution, or of several float64[K, F]."""
    model, how = judge.explainer.model, judge.how
    return canonical_key(
        f"judged/{metric}",
        metrics()[metric].version,
        model=model.digest,
        precision=model.precision,
        example=judge.encoded.digest,
        target=judge.target,
        seed=how.seed,
        **how.of_soft(metrics()[metric]),
        magnitudes=magnitudes,
        shape=list(scores.shape),
        scores=hashlib.sha256(np.ascontiguousarray(scores, dtype=np.float64).tobytes()).hexdigest(),
        reference=judge.explainer.tests_by if judge.tested else None,
    )


def _content(judge: Judge, metric: str) -> Content:
    """What the store holds of an attribution under a soft metric."""
    low, high = metrics()[metric].low, metrics()[metric].high
    score = Numbers("float64", (2,), (low, 0), (high, np.inf), nan=True)
    return judged_content(judge, {"score": score}, {"note": is_text})


def judged_content(judge: Judge, scores: dict[str, Numbers], meta: dict) -> Content:
    """One array of scores, and the p-values of the inputs that a metric asked for, {form: float64[inputs]}: of every
    form, or of none where nothing was asked.
    """
    forms = FORMS if judge.tested and judge.explainer.reference is not None else ()
    tests = {form: Numbers("float64", ("inputs",), 0, 1) for form in forms}
    return Content(scores | tests, meta, forms, lambda arrays, _: len(arrays) in (1, 1 + len(forms)))


def read_judged(judge: Judge, key: str, content: Content) -> tuple[Entry, dict[str, np.ndarray]] | None:
    """What the store holds under a key of `judged_key`, and its p-values by form; None where it holds nothing."""
    store = judge.explainer.store
    held = None if store is None else store.get(key, content)
    return None if held is None else (held, {form: held.arrays[form] for form in FORMS if form in held.arrays})
