"""Soft perturbation: keep a share of every feature's word embedding, or of the attention to it, in seeded draws."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from core.mathematics.erasure import (
    ATTENTION,
    BERNOULLI,
    DRAWS,
    NOISE,
    NORMALISED,
    PERTURBATIONS,
    SIGMA,
    WORD_EMBEDDING,
)
from core.network.architectures import Tensor
from core.network.features import Encoded, masked_ids
from core.network.model import Model
from core.network.scheduler import Cancelled, Counters, NonFinite, is_out_of_memory

_UNIFORM, _NORMAL = 0, 1
# Draws that are held, so that every attribution meets the same ones without drawing them again.
_HELD_BYTES = 32_000_000


class StateTest(Protocol):
    """What makes p-values of pooled hidden states; `core.validity.mask_tests.MasfTest` is one."""

    pooling: str
    forms: tuple[str, ...]

    def __call__(self, states: np.ndarray, masked: np.ndarray) -> dict[str, np.ndarray]:
        """p-values {form: float64[B]} of float[B, L, H]; masked: float[B], share of the features that each has lost;
        raises NonFinite.
        """
        ...


class Soft:
    """Soft perturbations of one example under one model: (retain float[F], kind) → float64[K, C], probabilities of K
    draws.

    Draw k depends on seed, example and k alone: the same for every attribution, and more draws begin with the same
    ones.
    Special tokens and the second text are kept whole; a feature that the text itself masks keeps its mask token. What
    was asked before is remembered.

    Kinds (q of a token: its feature's retain; x: its word embedding; ε: standard normal for each element):

    - Bernoulli: each element of x is kept with probability q, else 0 (SoftFaith Eq. 3).
    - noise: x + σ·ε·(1 − q) ⊙ x, so that x is kept whole and the noise is in proportion to it (App. C, Eq. 7; Eq. 8,
      whose noise has the deviation 1 − q itself, is σ = 1). The text gives λ, here 1 − q, as "the scores" for
      sufficiency too; its code takes 1 − scores there, as done here.
    - mixed noise: q·x + (1 − q)·s·ε, s the standard deviation of the model's word embeddings, so that nothing of x is
      left at q = 0; ours.
    - attention mask: log q is added to what every token's attention to this one weighs, so that q = 0 hides it and q =
      1 leaves it as it is; without draws, K equal rows. NaN for families whose attention takes no such mask, or that
      have no special token in front which is always attended to (`Architecture.soft_attention`). Departure: the
      paper's code adds (1 − q)·(−10000).

    placement: NORMALISED perturbs not x but what it becomes with its position and type, after normalisation, as
    the paper's code does; retain is then float[F + 1], last the share of what is no feature, which its Bernoulli mask
    falls on too. Departure, the default: the word embedding alone, so that the positions stay known and the
    normalisation makes up for what is lost.

    Source: SoftFaith Eq. 3, App. C with Eq. 7 and 8; glossary, Noise; glossary, Attention mask.
    """

    def __init__(
        self,
        model: Model,
        encoded: Encoded,
        draws: int = DRAWS,
        seed: int = 0,
        cancelled: Callable[[], bool] | None = None,
        test: StateTest | None = None,
        placement: str = WORD_EMBEDDING,
        sigma: float = SIGMA,
    ):
        if draws < 1:
            raise ValueError(f"soft metrics need at least one draw, got {draws}")
        self.model, self.encoded, self.draws, self.seed = model, encoded, draws, seed
        self.cancelled, self.test, self.sigma, self.normalised = cancelled, test, sigma, placement == NORMALISED
        self.counters = Counters()
        self._known: dict[tuple[str, int | None, bytes], tuple[np.ndarray, dict[str, np.ndarray]]] = {}
        self._noise: dict[int, np.ndarray] = {}
        self._lock = threading.Lock()

    def probabilities(self, retain: np.ndarray, kind: str = BERNOULLI) -> np.ndarray:
        """Probabilities of K perturbed inputs, float64[K, C].

        Args:
            retain: float[F] in [0, 1], the share of each feature that is kept, or float[F + 1] after normalisation;
                not changed.
            kind: one of PERTURBATIONS.
        Returns:
            float64[K, C], rows sum to 1; NaN where the family cannot be perturbed so.
        Raises:
            Cancelled: between two batches; NonFinite, OutOfMemory: a sentence.
            ValueError: an unknown kind, another shape, or shares outside [0, 1].
        """
        return self.found(retain, kind)[0]

    def p(self, retain: np.ndarray, kind: str = BERNOULLI) -> dict[str, np.ndarray]:
        """p-values of the perturbed inputs, {form: float64[K]}, or [1] where all draws are alike; {} without a test.
        From the same passes; raises as
        `probabilities`. Source: FMM §3.3."""
        return self.found(retain, kind)[1]

    def found(
        self, retain: np.ndarray, kind: str = BERNOULLI, k: int | None = None
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """`probabilities` and `p`; of the k-th draw alone, which may lie beyond K, where one is named."""
        self.ask([retain], kind, [k])
        return self._known[self._key(self._checked(retain), kind, k)]

    def single(
        self, retains: Sequence[np.ndarray], draws: Sequence[int], kind: str = BERNOULLI
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Probabilities float64[W, C] and p-values {form: float64[W]} of several, each by one draw alone."""
        self.ask(retains, kind, draws)
        found = [self.found(retain, kind, k) for retain, k in zip(retains, draws)]
        forms = found[0][1] if found else {}
        p = {form: np.concatenate([one[form] for _, one in found]) for form in forms}
        return np.concatenate([probabilities for probabilities, _ in found]), p

    def ask(
        self, retains: Sequence[np.ndarray], kind: str = BERNOULLI, draws: Sequence[int | None] | None = None
    ) -> None:
        """Compute what will be asked for, draws of several attributions in one batch; what is known costs nothing.
        draws: of each the one that is asked for, None for all K. Args and errors as `probabilities`.
        """
        if kind not in PERTURBATIONS:
            raise ValueError(f"the perturbation must be one of {PERTURBATIONS}, got {kind!r}")
        checked = [self._checked(retain) for retain in retains]
        asked = {self._key(one, kind, k): one for one, k in zip(checked, draws or [None] * len(checked))}
        with self._lock:
            for whole in (True, False):
                wanted = {at: one for at, one in asked.items() if at not in self._known and (at[1] is None) == whole}
                if wanted:
                    only = None if whole else [k for _, k, _ in wanted if k is not None]
                    self._known.update(zip(wanted, self._compute(np.stack(list(wanted.values())), kind, only)))

    def _key(self, retain: np.ndarray, kind: str, k: int | None) -> tuple[str, int | None, bytes]:
        """Where what was found lies: of a single draw under the first, where all draws are alike."""
        alike = k is not None and kind == BERNOULLI and np.isin(retain, (0.0, 1.0)).all()
        return kind, 0 if alike else k, retain.tobytes()

    def _checked(self, retain: np.ndarray) -> np.ndarray:
        retain = np.array(retain, dtype=np.float64)
        shares = self.encoded.F + self.normalised
        if retain.shape != (shares,) or not ((retain >= 0) & (retain <= 1)).all():
            raise ValueError(f"retain must be float[{shares}] in [0, 1], got shape {retain.shape}")
        return retain

    def _compute(
        self, retains: np.ndarray, kind: str, only: Sequence[int] | None = None
    ) -> list[tuple[np.ndarray, dict[str, np.ndarray]]]:
        """Probabilities [K, C] and p-values [K] of float64[W, F], or of float64[W, F + 1] after normalisation; only: of
        each the one draw that is asked for, K = 1.
        """
        K = self.draws if only is None else 1
        if kind == ATTENTION and not self.model.architecture.soft_attention:
            return [(np.full((K, self.model.C), np.nan), {})] * len(retains)
        shares = np.where(self.encoded.premasked, 1.0, retains[:, : self.encoded.F])
        rest = retains[:, self.encoded.F :] if self.normalised else np.ones((len(retains), 1))
        # What is no feature is feature −1, and so the last share.
        tokens = np.concatenate([shares, rest], axis=1)[:, self.encoded.feature_of].astype(np.float32)
        # As much of a text is gone as if so many features were masked.
        lost = 1 - np.where(self.encoded.premasked, 0.0, shares).mean(axis=1)
        # Without chance in it every draw is the same.
        alike = (
            (tokens == 1.0).all(axis=1)
            | (kind == ATTENTION)
            | (kind == BERNOULLI) & np.isin(tokens, (0.0, 1.0)).all(axis=1)
        )
        # By draw, so that each one's noise is at hand for all attributions.
        rows = [(k, i) for k in range(self.draws) for i in range(len(tokens)) if k == 0 or not alike[i]]
        rows = rows if only is None else [(k, i) for i, k in enumerate(only)]
        shown = () if self.test is None else self.test.forms
        logits, p = np.zeros((len(tokens), K, self.model.C)), {form: np.zeros((len(tokens), K)) for form in shown}
        for part, found, states in self._batches(rows, tokens, kind):
            at = [i for _, i in part], [k if only is None else 0 for k, _ in part]
            logits[at] = found
            if not np.isfinite(found).all() or (states is not None and not np.isfinite(states).all()):
                raise NonFinite(f"The model gives NaN or infinity for softly perturbed inputs. {self.model.advice}")
            if states is not None and self.test is not None:
                for form, totals in self.test(states, lost[at[0]]).items():
                    p[form][at] = totals
        logits[alike] = logits[alike, :1]
        odds = np.exp(logits - logits.max(axis=2, keepdims=True))
        return [
            (
                odds[i] / odds[i].sum(axis=1, keepdims=True),
                {form: p[form][i, : 1 if alike[i] else None] for form in shown},
            )
            for i in range(len(tokens))
        ]

    def _batches(
        self, rows: list[tuple[int, int]], tokens: np.ndarray, kind: str
    ) -> Iterator[tuple[list[tuple[int, int]], np.ndarray, np.ndarray | None]]:
        """(draw, attribution) pairs in batches as large as fit; a batch that exhausts the memory is halved, as the
        scheduler halves its own.
        """
        scheduler, done = self.model.scheduler, 0
        while done < len(rows):
            part = rows[done : done + min(scheduler.max_rows, max(1, scheduler.max_tokens // self.encoded.T))]
            try:
                logits, states = self._batch(part, tokens, kind)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                scheduler.halve(len(part), error)
                continue
            done += len(part)
            yield part, logits, states

    def _batch(
        self, part: list[tuple[int, int]], tokens: np.ndarray, kind: str
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Logits float32[B, C] of (draw, attribution) pairs, and their hidden states where they are tested."""
        if self.cancelled is not None and self.cancelled():
            raise Cancelled("stopped between two batches")
        import torch

        model, encoded = self.model, self.encoded
        # Before the lock and the clock: drawing is no work of the network.
        noise = None if kind == ATTENTION else self._noise_of([k for k, _ in part], kind)
        with model.lock, torch.inference_mode():
            began = time.perf_counter()
            embedded = model.embed(masked_ids(encoded, np.zeros((1, encoded.F), dtype=bool)))
            share, weights = model.tensor(tokens[[i for _, i in part]])[:, :, None], None
            inside: dict[str, Any] = {}
            if noise is None:
                weights, embedded = share[..., 0].to(embedded.dtype), embedded.expand(len(part), -1, -1)
            else:
                perturb = partial(self._perturbed, share=share, noise=model.tensor(noise), kind=kind)
                if self.normalised:
                    embedded, inside = embedded.expand(len(part), -1, -1), {"change": perturb}
                else:
                    embedded = perturb(embedded)
            pooling = "" if self.test is None else self.test.pooling
            found = model.read(embedded, encoded.type_ids, weights, pooling, **inside)
            model.scheduler.counters.add_batch(len(part), len(part) * encoded.T, time.perf_counter() - began)
        self.counters.add(passes=len(part), batches=1)
        return found

    def _perturbed(self, embedded: Tensor, share: Tensor, noise: Tensor, kind: str) -> Tensor:
        """Embeddings Tensor[B or 1, T, E], of which `share` [B, T, 1] is kept; share and noise in single precision,
        whatever the model's is.
        """
        if kind == BERNOULLI:
            return embedded * (noise < share)
        if kind == NOISE:
            return (embedded * (1 + (1 - share) * (self.sigma * noise))).to(embedded.dtype)
        return (embedded * share + (1 - share) * (self.model.spread * noise)).to(embedded.dtype)

    def _noise_of(self, draws: list[int], kind: str) -> np.ndarray:
        """Noise of each row's draw, float32[B, T, E]: uniform in [0, 1), or standard normal."""
        E = self.model.embedding_width if self.normalised else self.model.word_embeddings.shape[1]
        drawn_as = _UNIFORM if kind == BERNOULLI else _NORMAL
        held = self._noise.get(drawn_as)
        if held is None and 4 * self.draws * self.encoded.T * E <= _HELD_BYTES:
            held = self._noise[drawn_as] = np.stack([self._draw(drawn_as, k, E) for k in range(self.draws)])
        if held is not None and max(draws) < len(held):
            return held[draws]
        drawn = {k: self._draw(drawn_as, k, E) for k in dict.fromkeys(draws)}
        return np.stack([drawn[k] for k in draws])

    def _draw(self, drawn_as: int, k: int, E: int) -> np.ndarray:
        rng = np.random.default_rng([self.seed, 17, drawn_as, k, int(self.encoded.digest[:8], 16)])
        shape = self.encoded.T, E
        draw = rng.random if drawn_as == _UNIFORM else rng.standard_normal
        return draw(shape, dtype=np.float32)
