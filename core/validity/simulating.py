"""Simulate what references of some texts would do: how often they reject other texts of the same file.

Every split of the texts makes the first two levels anew, and every draw the last level and the texts that are tried:
rates are means over references, as the guarantee of the calibrated form is. Samples of one last level hang together.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors import numpy as tensors

from core.data.parsed import BadData
from core.data.tables import LabelledTexts
from core.mathematics.masking import RATIOS
from core.mathematics.statistics import rejected_count_p
from core.network.model import Model
from core.storage.files import whole_file
from core.validity.fitting import FEWEST, TOLERANCE, Drawing, Observed, observe, p_at_ratios, parts_of
from core.validity.marks import alone
from core.validity.masf import fit_calibrated
from core.validity.references import CALIBRATED
from core.wording import share_text, text_table

SAMPLES = (20, 40, 50, 100, 200)
MIXED = "mixed"
# Last levels drawn of one split's texts, each with a sample of each size.
DRAWN = 20


@dataclass(frozen=True, eq=False)
class Simulated:
    """Shares over S splits. single: float64[S, R], of single texts below 5 %, at each ratio; samples {size: float64[S,
    R + 1]}: of samples whose one p is below 5 %, at each ratio and at mixed ones.
    """

    single: np.ndarray
    samples: dict[int, np.ndarray]


def pooled(
    model: Model,
    files: list[LabelledTexts],
    drawing: Drawing,
    kept: Path | None = None,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Observed:
    """Every text of some files, as the model was trained and at all ratios, also for one that was never masked.

    Args:
        kept: a safetensors file from which states are read where it is there, and into which they are written.
    Raises:
        BadData: as `observe`; or the states that are kept are of another model, other texts or drawn otherwise.
    """
    digest = _digest(model, files, drawing)
    if kept is not None and kept.is_file():
        return _read(kept, digest)
    plain = drawing.training == "none"
    every = replace(drawing, training="half") if plain else drawing
    parts = []
    for data in files:
        drawn = np.zeros(len(data), dtype=bool) if plain else None
        part = observe(model, data, every, lambda a, b: progress("reading texts", a, b), drawn=drawn)
        parts.append(replace(part, drawn=part.by_ratio[:, :1]) if plain else part)
    starts = np.cumsum([0, *(len(part.states) for part in parts)])
    found = Observed(
        np.concatenate([part.states for part in parts]),
        np.concatenate([part.drawn + start for part, start in zip(parts, starts)]),
        np.concatenate([part.by_ratio + start for part, start in zip(parts, starts)]),
        np.concatenate([part.tokens for part in parts]),
    )
    if kept is not None:
        held = {field.name: np.ascontiguousarray(getattr(found, field.name)) for field in fields(found)}
        with whole_file(kept) as place:
            tensors.save_file(held, place, {"digest": digest})
    return found


def _digest(model: Model, files: list[LabelledTexts], drawing: Drawing) -> str:
    """Of all that states depend on: how p-values are combined is not among it."""
    drawn = [drawing.training, drawing.maskings, drawing.seed, drawing.pooling]
    about = [model.digest, model.precision, drawn, [[data.texts, data.seconds] for data in files]]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def _read(kept: Path, digest: str) -> Observed:
    try:
        with safe_open(kept, "np") as file:
            of = (file.metadata() or {}).get("digest")
    except SafetensorError as error:
        raise BadData(f"{kept} is no safetensors file ({error}); name another.") from error
    if of != digest:
        raise BadData(
            f"{kept} holds states of another model, precision, texts or drawing; name another file, or remove this one."
        )
    return Observed(**tensors.load_file(kept))


def simulate(
    observed: Observed,
    drawing: Drawing,
    texts: int,
    splits: int,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Simulated:
    """Fit and try references of random splits, of the calibrated form.

    Args:
        observed: all texts at all ratios, also of a model that was never masked in training.
        texts: of each reference; the others are tried.
        splits: S, at least 1.
    Raises:
        ValueError: too few texts to a reference, or no text is left to try.
    Source: glossary, MaSF.
    """
    N = len(observed.tokens)
    if texts < FEWEST:
        raise ValueError(f"a reference needs at least {FEWEST} texts, got {texts} of {N}")
    if texts >= N:
        raise ValueError(f"a reference of {texts} of {N} texts leaves none to try")
    sizes = [size for size in SAMPLES if size <= N - texts]
    single = np.zeros((splits, len(RATIOS)))
    samples = {size: np.zeros((splits, len(RATIOS) + 1)) for size in sizes}
    for s in range(splits):
        rng = np.random.default_rng([drawing.seed, 11, s])
        order, part = rng.permutation(N), parts_of(texts, s)
        first, second = (observed.states[observed.drawn[order[:texts][part == k]].ravel()] for k in (0, 1))
        rest, n = observed.of(np.append(order[:texts][part == 2], order[texts:])), int((part == 2).sum())
        last = rest.states[rest.by_ratio[:, : len(drawing.ratios)].T]
        form = fit_calibrated(first, second, last, drawing.combine, drawing.compact, TOLERANCE)
        # Ranks among all that are left, from which those among any of them follow.
        ranks = p_at_ratios({CALIBRATED: form}, rest)[CALIBRATED]
        for _ in range(DRAWN):
            below = alone(_p_among(ranks, rng.permutation(len(ranks)), n, len(drawing.ratios)))
            single[s] += below.mean(axis=0) / DRAWN
            mixed = below[np.arange(len(below)), rng.integers(len(RATIOS), size=len(below))]
            for size in sizes:
                rejected = np.column_stack([below, mixed])[:size].sum(axis=0)
                samples[size][s] += alone(rejected_count_p(rejected, size, n)) / DRAWN
        progress(s + 1, splits)
    return Simulated(single, samples)


def _p_among(ranks: np.ndarray, order: np.ndarray, n: int, ratios: int) -> np.ndarray:
    """p of all but the first n of an order against these n, at the same ratio, or at the only one: float64[·, R]."""
    held, tried = np.sort(ranks[order[:n], :ratios], axis=0), ranks[order[n:]]
    columns = (np.searchsorted(held[:, min(r, ratios - 1)], tried[:, r], "right") for r in range(tried.shape[1]))
    return (1 + np.stack(list(columns), axis=1)) / (n + 1)


def readable_simulation(found: Simulated) -> str:
    """Tables of shares rejected in percent, with the standard error over splits in the last column."""
    head = ["", *(share_text(ratio) for ratio in RATIOS), MIXED, "largest standard error"]
    rows = [["one text", *_cells(found.single, pad=True)]]
    rows += [[f"{size} texts", *_cells(shares)] for size, shares in found.samples.items()]
    about = f"Rejected at 5 %, in %, mean of {len(found.single)} random splits; power at ratios not trained on."
    return f"{about}\n{text_table(head, rows)}"


def _cells(shares: np.ndarray, pad: bool = False) -> list[str]:
    error = shares.std(axis=0, ddof=1).max() / np.sqrt(len(shares)) if len(shares) > 1 else np.nan
    return [*(f"{100 * share:.1f}" for share in shares.mean(axis=0)), *["—"] * pad, f"{100 * error:.1f}"]
