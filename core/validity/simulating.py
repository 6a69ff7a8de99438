"""Simulate what references of some texts would do: how often they reject other texts of the same file.

Every split of the texts makes a reference anew and tries the texts that it does not hold, so the rates are means over
references, as the guarantee of the calibrated form is.
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
from core.mathematics.statistics import rejected_count_p, simes
from core.network.model import Model
from core.storage.files import whole_file
from core.validity.fitting import FEWEST, TOLERANCE, Drawing, Observed, fit, observe, p_at_ratios
from core.validity.marks import alone
from core.validity.masf import fit_calibrated
from core.validity.references import CALIBRATED
from core.wording import share_text, text_table

SAMPLES = (20, 40, 50, 100, 200)
MIXED = "mixed"
# Samples of the same size drawn of one split's texts, at each ratio.
DRAWN = 20
COPIES = "copies counted"


@dataclass(frozen=True, eq=False)
class Simulated:
    """Shares over S splits. single {form: float64[S, R]}: of single texts below 5 %, at each ratio; samples {form:
    {size: float64[S, R + 1]}}: of samples whose one p is below 5 %, at each ratio and at mixed ones.
    """

    single: dict[str, np.ndarray]
    samples: dict[str, dict[int, np.ndarray]]

    @property
    def splits(self) -> int:
        """S."""
        return len(self.single[CALIBRATED])


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
    """Fit and try references of random splits, of the calibrated form and of the one before it.

    Before: half, a quarter and a quarter of the texts, each observation of a text counted as a text, one last level for
    all ratios, and Simes over a sample's p-values instead of the count rule.

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
    names, sizes = (CALIBRATED, COPIES), [size for size in SAMPLES if size <= N - texts]
    single = {name: np.zeros((splits, len(RATIOS))) for name in names}
    samples = {name: {size: np.zeros((splits, len(RATIOS) + 1)) for size in sizes} for name in names}
    for s in range(splits):
        rng = np.random.default_rng([drawing.seed, 11, s])
        order = rng.permutation(N)
        held, tried = observed.of(order[:texts]), observed.of(order[texts:])
        ratios = len(drawing.ratios)
        now = fit(replace(held, by_ratio=held.by_ratio[:, :ratios]), replace(drawing, seed=s))[CALIBRATED]
        # The form before; texts are in random order already.
        parts = np.split(held.drawn, [texts // 2, texts // 2 + texts // 4])
        first, second, last = (held.states[part.ravel()] for part in parts)
        copies = fit_calibrated(first, second, last, drawing.combine, drawing.compact, TOLERANCE)
        for name, p in p_at_ratios({CALIBRATED: now, COPIES: copies}, tried).items():
            single[name][s] = alone(p).mean(axis=0)
            for size in sizes:
                samples[name][size][s] = _alarms(p, size, now.n if name == CALIBRATED else None, rng)
        progress(s + 1, splits)
    return Simulated(single, samples)


def _alarms(p: np.ndarray, size: int, n: int | None, rng: np.random.Generator) -> np.ndarray:
    """Share of samples that are rejected together, float64[R + 1]: by count among n texts, by Simes without n."""
    N, R = p.shape
    found = np.zeros((DRAWN, R + 1))
    for k in range(DRAWN):
        rows = rng.permutation(N)[:size]
        chosen = np.column_stack([p[rows], p[rows, rng.integers(R, size=size)]])
        found[k] = alone(simes(chosen, axis=0) if n is None else rejected_count_p(alone(chosen).sum(axis=0), size, n))
    return found.mean(axis=0)


def readable_simulation(found: Simulated) -> str:
    """Tables of shares rejected in percent, with the standard error over splits in the last column."""
    head = ["", *(share_text(ratio) for ratio in RATIOS), MIXED, "largest standard error"]
    names = {CALIBRATED: "now", COPIES: "before (Simes)"}
    rows = [[f"one text, {names[name]}", *_cells(shares, pad=True)] for name, shares in found.single.items()]
    for size in found.samples[CALIBRATED]:
        rows += [[f"{size} texts, {names[name]}", *_cells(sizes[size])] for name, sizes in found.samples.items()]
    about = (
        f"Rejected at 5 %, in %, mean of {found.splits} random splits; power at ratios the model was not trained on, "
        "else false alarms."
    )
    return f"{about}\n{text_table(head, rows)}"


def _cells(shares: np.ndarray, pad: bool = False) -> list[str]:
    error = shares.std(axis=0, ddof=1).max() / np.sqrt(len(shares)) if len(shares) > 1 else np.nan
    return [*(f"{100 * share:.1f}" for share in shares.mean(axis=0)), *["—"] * pad, f"{100 * error:.1f}"]
