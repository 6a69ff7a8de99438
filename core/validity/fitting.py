"""Fit the reference of MaSF: run texts through a model, masked as it was trained, and keep what its states look
like.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from core import settings
from core.data.parsed import BadData
from core.data.tables import LabelledTexts
from core.loading.locating import REFERENCE_FILE
from core.mathematics.masking import TRAINING_STRATEGIES, bernoulli_masks
from core.network.features import NoFeatures, masked_ids
from core.network.model import Model
from core.network.scheduler import Input
from core.storage.library import Library
from core.validity.marks import alone, says_nothing
from core.validity.masf import Combine, Masf, fit_calibrated, fit_literal, p_values
from core.validity.references import CALIBRATED, FORMS, LEVELS, LITERAL, Reference, kept_place, pack

# Each part needs a text: half, a quarter, a quarter.
FEWEST = 4
FOLDS = 5
# Far above what float32 makes of the same input in another batch, far below what tells texts apart.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Drawing:
    """How observations are drawn from texts.

    training: the model's own strategy: "half" (each text as it stands, and masked), "mask" (masked only) or
    "none" (as it stands only); maskings: masked copies a text; pooling and combine: aggregations of MaSF.
    """

    training: str = "half"
    maskings: int = 2
    seed: int = 0
    pooling: str = "max"
    combine: Combine = Combine()
    compact: bool = False

    def __post_init__(self):
        if self.training not in TRAINING_STRATEGIES:
            raise ValueError(f"the training strategy must be one of {TRAINING_STRATEGIES}, got {self.training!r}")
        if self.maskings < 1:
            raise ValueError(f"maskings is {self.maskings}; it must be at least 1")


@dataclass(frozen=True, eq=False)
class Observed:
    """V observations of N texts: states float32[V, L, H]; text int64[V], which text; masked bool[V]; tokens
    int64[N].
    """

    states: np.ndarray
    text: np.ndarray
    masked: np.ndarray
    tokens: np.ndarray


def training_strategy(model: Model) -> str:
    """The strategy that a model's card names; "half" without a card."""
    return model.card["plan"]["training"] if model.card else "half"


def observe(
    model: Model, data: LabelledTexts, drawing: Drawing, progress: Callable[[int, int], None] | None = None
) -> Observed:
    """Pooled hidden states of texts, masked as the model was trained.

    Masks are drawn as in masked fine-tuning: each token of both texts by itself, at a ratio drawn uniformly
    from [0, 1) for each copy. Half of the observations are unmasked under "half", so an
    unmasked text counts as often as it has masked copies.

    Raises:
        BadData: a row of which the tokenizer keeps nothing.
    Source: FMM §3.3.
    """
    rng = np.random.default_rng([drawing.seed, 7])
    rows, text, masked, tokens = [], [], [], []
    for i, (first, second) in enumerate(zip(data.texts, data.seconds or [None] * len(data))):
        try:
            encoded = model.encode(first, second, "token", second_maskable=True)
        except NoFeatures as error:
            raise BadData(f"{data.name}, row {i + 1}: {error}") from error
        tokens.append(encoded.T)
        masks = (
            bernoulli_masks(np.ones((drawing.maskings, encoded.F), dtype=bool), rng)
            if drawing.training != "none"
            else np.zeros((0, encoded.F), dtype=bool)
        )
        if drawing.training != "mask":
            masks = np.concatenate([np.zeros((1, encoded.F), dtype=bool), masks])
        rows += [Input(ids, encoded.type_ids) for ids in masked_ids(encoded, masks)]
        text += [i] * len(masks)
        masked += [drawing.training == "mask" or k > 0 for k in range(len(masks))]
    states = _states(model, rows, drawing.pooling, progress)
    text, masked = np.array(text), np.array(masked)
    again = np.repeat(np.arange(len(rows)), np.where(masked | (drawing.training != "half"), 1, drawing.maskings))
    return Observed(states[again], text[again], masked[again], np.array(tokens))


def fit(observed: Observed, drawing: Drawing) -> dict[str, Masf]:
    """Fit both forms; the texts are split at random into half, a quarter and a quarter for the calibrated one.

    The last level of the calibrated form holds several maskings of a text, so it is valid on average over such
    inputs and not for each kind of them: unmasked texts alone may be rejected more often (`false_rejection`).
    The literal form is fitted on the first half, so that both share their first level and the file holds it
    once. Departure: FMM fits it on all; `core.validity.masf.fit_literal` does that too, given all states.

    Raises:
        BadData: fewer than 4 texts.
    """
    N = len(observed.tokens)
    if N < FEWEST:
        raise BadData(f"A reference needs at least {FEWEST} texts, and some hundreds to say much; this file has {N}.")
    part = np.empty(N, dtype=np.int64)
    part[np.random.default_rng([drawing.seed, 8]).permutation(N)] = np.searchsorted(
        [N // 2, N // 2 + N // 4], np.arange(N), side="right"
    )
    first, second, third = (observed.states[part[observed.text] == k] for k in range(3))
    calibrated = fit_calibrated(first, second, third, drawing.combine, drawing.compact, TOLERANCE)
    return {
        CALIBRATED: calibrated,
        LITERAL: replace(fit_literal(first, drawing.combine, tolerance=TOLERANCE), first=calibrated.first),
    }


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
    observed = observe(model, data, drawing, lambda a, b: progress("reading the reference", a, b))
    forms = fit(observed, drawing)
    if held_out is not None:
        other = observe(model, held_out, drawing, lambda a, b: progress("reading held-out texts", a, b))
        rejected, rates = rejections(forms, other.states), {"texts": len(held_out), "source": held_out.name}
    else:
        other = observed
        rejected, rates = (
            _cross_validated(observed, drawing),
            {"texts": len(data), "source": f"{FOLDS}-fold cross-validation"},
        )
    which = {"all": slice(None), "unmasked": ~other.masked, "masked": other.masked}
    calibrated = forms[CALIBRATED]
    parts = dict(zip(LEVELS, (calibrated.first.count, calibrated.second.count, calibrated.third.count)))
    return pack(
        forms,
        {
            "model": model.digest,
            "precision": model.precision,
            "pooling": drawing.pooling,
            "training": drawing.training,
            "maskings": drawing.maskings,
            "seed": drawing.seed,
            "compact": drawing.compact,
            "source": data.name,
            "sha256": data.digest,
            "texts": len(data),
            "observations": parts,
            "tokens": np.quantile(observed.tokens, [0, 0.05, 0.5, 0.95, 1], method="nearest").tolist(),
            "false_rejection": rates
            | {
                name: {what: _share(rejected[name][kind]) if rejected else None for what, kind in which.items()}
                for name in FORMS
            },
        },
    )


def rejections(forms: dict[str, Masf], states: np.ndarray) -> dict[str, np.ndarray]:
    """Which observations each form rejects at 5 %: {form: bool[M]}."""
    return {name: alone(found.total) for name, found in p_values(forms, states).items()}


def readable_reference(reference: Reference) -> str:
    """A reference in sentences, for the terminal."""
    about, rates = reference.about, reference.about["false_rejection"]
    parts = ", ".join(f"{about['observations'][level]:,} on the {level}" for level in LEVELS)
    lines = [
        (
            f"MaSF reference: {about['texts']:,} texts of {about['source']}, training strategy {about['training']}; "
            f"observations: {parts}."
        ),
        (
            f"Lengths in tokens: {about['tokens'][0]} to {about['tokens'][4]}, nine of ten {about['tokens'][1]} to "
            f"{about['tokens'][3]}."
        ),
    ]
    for name in FORMS:
        shares = ", ".join(f"{what} {100 * share:.1f} %" for what, share in rates[name].items() if share is not None)
        lines.append(
            f"{name}: smallest p {reference.floor(name):.2g}"
            + (" (0.05 or more: it says nothing)" if says_nothing(reference, name) else "")
            + f"; rejected at 5 % of {rates['texts']:,} texts ({rates['source']}): {shares}."
        )
    return "\n".join(lines)


def place_for(model: Model) -> Path:
    """Where a reference goes: beside the weights of a folder of one's own, else into the cache, by the model's
    digest.
    """
    folder = Path(model.folder or "")
    own = (
        Path(model.name).is_dir()
        and folder.resolve() == Path(model.name).resolve()
        and settings.BUNDLED not in folder.resolve().parents
    )
    return folder / REFERENCE_FILE if own else kept_place(Library(settings.read().cache).references, model)


def _states(model: Model, rows: list[Input], pooling: str, progress) -> np.ndarray:
    states = np.empty(0)
    for indices, _, batch in model.scheduler.run(rows, hidden=pooling, progress=progress):
        states = (
            np.empty((len(rows), *batch.shape[1:]), np.float32) if batch is not None and not states.size else states
        )
        states[indices] = batch
    return states


def _cross_validated(observed: Observed, drawing: Drawing) -> dict[str, np.ndarray]:
    """Which observations a reference without their texts rejects; {} where there are too few texts for that."""
    N = len(observed.tokens)
    if N < 2 * FEWEST:
        return {}
    fold = np.random.default_rng([drawing.seed, 9]).permutation(N) % FOLDS
    rejected = {name: np.zeros(len(observed.text), dtype=bool) for name in FORMS}
    for k in range(FOLDS):
        out, others = fold[observed.text] == k, np.flatnonzero(fold != k)
        place = np.full(N, -1)
        place[others] = np.arange(len(others))
        rest = Observed(
            observed.states[~out], place[observed.text[~out]], observed.masked[~out], observed.tokens[others]
        )
        for name, which in rejections(fit(rest, drawing), observed.states[out]).items():
            rejected[name][out] = which
    return rejected


def _share(rejected: np.ndarray) -> float | None:
    return float(rejected.mean()) if len(rejected) else None
