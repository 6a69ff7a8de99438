"""Fit the reference of MaSF: run texts through a model, masked as it was trained and at each ratio, and keep what its
states look like.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from core import settings
from core.data.parsed import BadData
from core.data.tables import LabelledTexts
from core.loading.model_files import REFERENCE_FILE, kept_place
from core.mathematics.masking import RATIOS, TRAINING_STRATEGIES, bernoulli_masks, masked_count
from core.mathematics.ranking import ranking
from core.network.features import BOTH, FIRST, NoFeatures, masked_ids
from core.network.model import Model
from core.network.scheduler import Input
from core.storage.library import Library
from core.validity.marks import alone, decides, small_reference
from core.validity.masf import Combine, Masf, fit_calibrated, fit_literal, p_values
from core.validity.references import CALIBRATED, FORMS, LEVELS, LITERAL, Reference, pack
from core.wording import number

# Each part needs a text; the percentages of the texts that the first and the second level take.
FEWEST = 4
PARTS = 45, 10
FOLDS = 5
# Far above what float32 makes of the same input in another batch, far below what tells texts apart.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Drawing:
    """How observations are drawn from texts.

    training: the model's own strategy: "half" (each text as it stands, and masked), "mask" (masked only) or
    "none" (as it stands only); maskings: masked copies a text on the first two levels; pooling and combine:
    aggregations of MaSF; maskable: which texts of a pair are masked at a ratio.
    """

    training: str = "half"
    maskings: int = 2
    seed: int = 0
    pooling: str = "max"
    combine: Combine = Combine()
    compact: bool = False
    maskable: str = FIRST

    def __post_init__(self):
        if self.training not in TRAINING_STRATEGIES:
            raise ValueError(f"training must be one of {TRAINING_STRATEGIES}, got {self.training!r}")
        if self.maskings < 1:
            raise ValueError(f"maskings must be at least 1, got {self.maskings}")

    @property
    def ratios(self) -> tuple[float, ...]:
        """Of the last level: all of them, or 0 alone for a model that was never masked in training."""
        return RATIOS[:1] if self.training == "none" else RATIOS


@dataclass(frozen=True, eq=False)
class Observed:
    """Observations of N texts, equal inputs once: states float32[S, L, H], and which of them are a text's.

    drawn: int64[N, D], masked as the model was trained, an unmasked text as often as its maskings; by_ratio: int64[N,
    R], masked at each ratio; −1 where not observed; tokens: int64[N].
    """

    states: np.ndarray
    drawn: np.ndarray
    by_ratio: np.ndarray
    tokens: np.ndarray

    def of(self, texts: np.ndarray) -> "Observed":
        """The same of some texts."""
        return replace(self, drawn=self.drawn[texts], by_ratio=self.by_ratio[texts], tokens=self.tokens[texts])


def training_strategy(model: Model) -> str:
    """The strategy that a model's card names; "half" without a card."""
    return model.card["plan"]["training"] if model.card else "half"


def observe(
    model: Model,
    data: LabelledTexts,
    drawing: Drawing,
    progress: Callable[[int, int], None] | None = None,
    *,
    drawn: np.ndarray | None = None,
    by_ratio: np.ndarray | None = None,
) -> Observed:
    """Pooled hidden states of texts, masked as the model was trained and at each ratio.

    As in masked fine-tuning: each token of both texts by itself, at a ratio drawn uniformly from [0, 1) for each copy.
    At a ratio: the first `masked_count(ratio, F)` words of one seeded random order of the maskable words, as
    explanations are masked. A text's masks depend on the seed and its row alone.

    Args:
        drawn, by_ratio: bool[N], the texts that are observed so; all without.
    Raises:
        BadData: a row of which the tokenizer keeps nothing.
    Source: FMM §3.3; glossary, MaSF.
    """
    N, seconds = len(data), data.seconds or [None] * len(data)
    held: dict[tuple, int] = {}
    rows: list[Input] = []
    tokens = np.zeros(N, dtype=np.int64)
    places = {
        "drawn": np.full((N, len(_shown(drawing.training, drawing.maskings))), -1, dtype=np.int64),
        "by_ratio": np.full((N, len(drawing.ratios)), -1, dtype=np.int64),
    }
    asked = {"drawn": (drawn, _as_trained), "by_ratio": (by_ratio, _at_each_ratio)}
    for i, texts in enumerate(zip(data.texts, seconds)):
        for name, (which, inputs) in asked.items():
            if which is not None and not which[i]:
                continue
            try:
                found = inputs(model, texts, drawing, i)
            except NoFeatures as error:
                raise BadData(f"{data.name}, row {i + 1}: {error}") from error
            tokens[i] = len(found[0].ids)
            for k, row in enumerate(found):
                key = row.ids.tobytes(), b"" if row.type_ids is None else row.type_ids.tobytes()
                places[name][i, k] = held.setdefault(key, len(rows))
                rows += [row] if held[key] == len(rows) else []
    return Observed(_states(model, rows, drawing.pooling, progress), tokens=tokens, **places)


def _shown(training: str, maskings: int) -> list[int]:
    """Which masking each observation of a text is, 0: none. Half of them are unmasked under "half"."""
    masked = list(range(1, maskings + 1))
    return {"none": [0], "mask": masked, "half": [0] * maskings + masked}[training]


def _as_trained(model: Model, texts: tuple[str, str | None], drawing: Drawing, row: int) -> list[Input]:
    encoded = model.encode(*texts, "token", BOTH)
    rng = np.random.default_rng([drawing.seed, 7, row])
    masks = bernoulli_masks(np.ones((drawing.maskings, encoded.F), dtype=bool), rng)
    masks = np.concatenate([np.zeros((1, encoded.F), dtype=bool), masks])[_shown(drawing.training, drawing.maskings)]
    return [Input(ids, encoded.type_ids) for ids in masked_ids(encoded, masks)]


def _at_each_ratio(model: Model, texts: tuple[str, str | None], drawing: Drawing, row: int) -> list[Input]:
    encoded = model.encode(*texts, "word", drawing.maskable)
    order = ranking(np.random.default_rng([drawing.seed, 10, row]).random(encoded.F), encoded.premasked)
    masks = np.zeros((len(drawing.ratios), encoded.F), dtype=bool)
    for k, ratio in enumerate(drawing.ratios):
        masks[k, order[: masked_count(ratio, encoded.F)]] = True
    return [Input(ids, encoded.type_ids) for ids in masked_ids(encoded, masks | encoded.premasked)]


def parts_of(N: int, seed: int) -> np.ndarray:
    """Which level each of N texts is for, int64[N] in 0 to 2: 45 %, 10 % and the rest by a seeded permutation.

    Raises:
        BadData: fewer than 4 texts.
    """
    if N < FEWEST:
        raise BadData(f"A reference needs at least {FEWEST} texts, better hundreds; this file has {N}.")
    first, second = (max(1, N * share // 100) for share in PARTS)
    part = np.empty(N, dtype=np.int64)
    part[np.random.default_rng([seed, 8]).permutation(N)] = np.searchsorted(
        [first, first + second], np.arange(N), side="right"
    )
    return part


def fit(observed: Observed, drawing: Drawing) -> dict[str, Masf]:
    """Fit both forms; each level of the calibrated one has texts of its own, the last each text once at each ratio.

    The literal form is fitted on the texts of the first level, so that both share it and the file holds it
    once. Departure: FMM fits it on all; `core.validity.masf.fit_literal` does that too, given all states.

    Raises:
        BadData: fewer than 4 texts.
    """
    part = parts_of(len(observed.tokens), drawing.seed)
    states, (first, second) = observed.states, (observed.drawn[part == k].ravel() for k in (0, 1))
    last = states[observed.by_ratio[part == 2].T]
    calibrated = fit_calibrated(states[first], states[second], last, drawing.combine, drawing.compact, TOLERANCE)
    literal = fit_literal(states[first], drawing.combine, tolerance=TOLERANCE)
    return {CALIBRATED: calibrated, LITERAL: replace(literal, first=calibrated.first)}


def fit_reference(
    model: Model,
    data: LabelledTexts,
    drawing: Drawing,
    held_out: LabelledTexts | None = None,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Reference:
    """Fit a reference and measure how often it rejects what it should not.

    Args:
        data: texts like those that will be tested, in length too; not those the model was trained on.
        held_out: texts of the same kind for the rate of false rejections; without them the
            rate comes from five references, each fitted without a fifth of the texts and tried on these.
        progress: called with (what is being done, done, total).
    Raises:
        BadData: fewer than 4 texts, or a row of which the tokenizer keeps nothing.
    Source: FMM §3.3; glossary, MaSF.
    """
    part, key = parts_of(len(data), drawing.seed), (model.states_digest, model.precision)
    reading, trying = (partial(progress, f"reading {what}") for what in ("the reference", "held-out texts"))
    if held_out is None:
        return reference_of(observe(model, data, drawing, reading), drawing, data, key)
    observed = observe(model, data, drawing, reading, drawn=part != 2, by_ratio=part == 2)
    other = observe(model, held_out, drawing, trying, drawn=np.zeros(len(held_out), dtype=bool))
    return reference_of(observed, drawing, data, key, other, held_out)


def reference_of(
    observed: Observed,
    drawing: Drawing,
    data: LabelledTexts,
    model: tuple[str, str],
    other: Observed | None = None,
    held_out: LabelledTexts | None = None,
) -> Reference:
    """A reference of what is observed already; model: its digest and precision; other: of the held-out texts."""
    forms = fit(observed, drawing)
    calibrated = forms[CALIBRATED]
    if other is None or held_out is None:
        rejected = _cross_validated(observed, drawing)
        rates: dict = {"texts": len(data), "source": f"{FOLDS}-fold cross-validation"}
    else:
        rejected, rates = rejections(forms, other), {"texts": len(held_out), "source": held_out.name}
    shares = {name: rejected[name].mean(axis=0).tolist() if rejected else None for name in FORMS}
    about = {
        "model": model[0],
        "precision": model[1],
        "pooling": drawing.pooling,
        "training": drawing.training,
        "maskings": drawing.maskings,
        "seed": drawing.seed,
        "compact": drawing.compact,
        "source": data.name,
        "sha256": data.digest,
        "texts": len(data),
        "observations": dict(zip(LEVELS, (calibrated.first.count, calibrated.second.count, calibrated.n))),
        "tokens": np.quantile(observed.tokens, [0, 0.05, 0.5, 0.95, 1], method="nearest").tolist(),
        "false_rejection": rates | shares,
    }
    # The first alone is what references without it were fitted on.
    about |= {} if drawing.maskable == FIRST else {"maskable": drawing.maskable}
    return pack(forms, about)


def rejections(forms: dict[str, Masf], observed: Observed) -> dict[str, np.ndarray]:
    """Which texts each form rejects at 5 % at each ratio: {form: bool[N, R]}."""
    return {name: alone(p) for name, p in p_at_ratios(forms, observed).items()}


def p_at_ratios(forms: dict[str, Masf], observed: Observed) -> dict[str, np.ndarray]:
    """p-values of texts under each form at each ratio: {form: float64[N, R]}."""
    p = {name: np.zeros(observed.by_ratio.shape) for name in forms}
    for r, places in enumerate(observed.by_ratio.T):
        for name, found in p_values(forms, observed.states[places]).items():
            p[name][:, r] = found.at(np.full(len(places), r))
    return p


def readable_reference(reference: Reference) -> str:
    """A reference in lines for the terminal, one for each form after what it was fitted on."""
    about, rates = reference.about, reference.about["false_rejection"]
    parts, tokens = ", ".join(f"{about['observations'][level]:,} on the {level}" for level in LEVELS), about["tokens"]
    lines = [
        f"MaSF reference: {about['texts']:,} texts of {about['source']}, training strategy {about['training']}",
        f"observations: {parts}",
        f"tokens: {tokens[0]} to {tokens[4]}, nine of ten {tokens[1]} to {tokens[3]}",
        f"false rejections: at 5 % of {rates['texts']:,} texts ({rates['source']})",
    ]
    for name in FORMS:
        floor, can = number(reference.floor(name)), "yes" if decides(reference, name) else "no"
        shares = reference.false_rejections(name)
        lines.append(f"{name}: smallest p {floor}, can reject at 5 %: {can}, false rejections: {shares}")
    return "\n".join([*lines, small_reference(reference)]).strip()


def place_for(model: Model, name: str = REFERENCE_FILE) -> Path:
    """Where a reference goes, or another file that is fitted for a model: beside the weights of a folder of one's own,
    else into the cache, by the model's digest.
    """
    folder = Path(model.folder or "")
    own = (
        Path(model.origin).is_dir()
        and folder.resolve() == Path(model.origin).resolve()
        and settings.BUNDLED not in folder.resolve().parents
    )
    return folder / name if own else kept_place(Library(settings.read().cache).references, model, name)


def _states(model: Model, rows: list[Input], pooling: str, progress) -> np.ndarray:
    states = np.empty(0)
    for indices, _, batch in model.scheduler.run(rows, hidden=pooling, progress=progress):
        if batch is not None and not states.size:
            states = np.empty((len(rows), *batch.shape[1:]), np.float32)
        states[indices] = batch
    return states


def _cross_validated(observed: Observed, drawing: Drawing) -> dict[str, np.ndarray]:
    """Which observations a reference without their texts rejects; {} where there are too few texts for that."""
    N = len(observed.tokens)
    if N < 2 * FEWEST:
        return {}
    fold = np.random.default_rng([drawing.seed, 9]).permutation(N) % FOLDS
    rejected = {name: np.zeros(observed.by_ratio.shape, dtype=bool) for name in FORMS}
    for k in range(FOLDS):
        out = fold == k
        for name, which in rejections(fit(observed.of(~out), drawing), observed.of(out)).items():
            rejected[name][out] = which
    return rejected
