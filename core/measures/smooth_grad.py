"""SmoothGrad: gradient and input × gradient as their mean over inputs with a little noise."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from core.measures.gradient import vocabulary_norms
from core.measures.registry import GRADIENTS, Explained, Measure, read_count, register, with_absolute, zero_scores
from core.network.architectures import Tensor
from core.network.scheduler import memory_in_words

DRAWS, MOST_DRAWS, SHARE = 20, 10_000, 0.1
_TOKENS = 4096


def noisy_gradients(explained: Explained, draws: int = DRAWS) -> Iterator[tuple[Tensor, Tensor]]:
    """Word embeddings with noise, e + ε, and ∂f/∂e there, some draws at a time.

    ε is normal with a tenth of the standard deviation of all word embeddings, on every token, by seed and example.

    Yields:
        Tensor[B, T, E] each, float32, `draws` in all.
    Source: Smilkov et al. (2017), §3, with the spread of the embeddings for the range of the input.
    """
    import torch

    inside = explained.network
    rng = np.random.default_rng([explained.seed, explained.example])
    size = max(1, _TOKENS // inside.encoded.T)
    for first in range(0, draws, size):
        with memory_in_words(), torch.enable_grad():
            clean = inside.model.embed(inside.ids).detach()
            rows = min(size, draws - first)
            noise = rng.standard_normal((rows, *clean.shape[1:]), dtype=np.float32)
            noisy = clean + (SHARE * inside.model.spread * inside.model.tensor(noise)).to(clean.dtype)
            noisy = noisy.requires_grad_(True)
            (gradient,) = torch.autograd.grad(inside.logit(noisy).sum(), noisy)
        yield noisy.detach().float(), gradient.float()


def smooth_gradient(explained: Explained, draws: int = DRAWS) -> dict[str, np.ndarray]:
    """Mean over draws of the gradient's norms, as `core.measures.gradient.gradient` takes them.

    Returns:
        {"L2", "L1"}: float64[F], at least 0; higher is more important.
    Source: Smilkov et al. (2017); FMM App. E.
    """

    def norms(_: Tensor, gradient: Tensor) -> dict[str, Tensor]:
        found = vocabulary_norms(explained.network.model, gradient.flatten(0, 1))
        return {name: value.unflatten(0, gradient.shape[:2]) for name, value in found.items()}

    means = _mean(explained, draws, norms)
    return {name: np.where(explained.masked, 0.0, value) for name, value in means.items()}


def input_x_smooth_gradient(explained: Explained, draws: int = DRAWS) -> dict[str, np.ndarray]:
    """Mean over draws of (e + ε) · ∂f/∂e, signed or as absolute values.

    Returns:
        {"signed", "absolute"}: float64[F]; higher is more important.
    Source: Smilkov et al. (2017); FMM App. E.
    """

    def products(noisy: Tensor, gradient: Tensor) -> dict[str, Tensor]:
        found = (noisy * gradient).sum(dim=-1)
        return {"signed": found, "absolute": found.abs()}

    return with_absolute(**_mean(explained, draws, products), masked=explained.masked)


def _mean(
    explained: Explained, draws: int, scored: Callable[[Tensor, Tensor], dict[str, Tensor]]
) -> dict[str, np.ndarray]:
    """Mean over draws of token scores Tensor[B, T], by name, summed over each feature's tokens."""
    sums: dict[str, Tensor] = {}
    for noisy, gradient in noisy_gradients(explained, draws):
        for name, value in scored(noisy, gradient).items():
            sums[name] = value.sum(dim=0) + sums.get(name, 0.0)
    return {name: explained.network.per_feature(value / draws) for name, value in sums.items()}


def _registered(name: str, definition: str, compute: Callable[[Explained, int], dict], **own) -> None:
    def varied(draws: int = DRAWS) -> dict:
        """What is registered by the number of draws."""
        return {
            "definition": definition.format(draws=draws),
            "cost": f"{draws} and their gradients",
            "passes": lambda F: draws,
            "compute": lambda explained: compute(explained, draws),
        }

    register(
        Measure(
            name=name,
            needs=GRADIENTS,
            source="Smilkov et al. (2017)",
            seeded=True,
            counted="draws",
            swept=False,
            options={"draws": (DRAWS, partial(read_count, "draws", 1, MOST_DRAWS))},
            varied=varied,
            **own,
            **varied(),
        )
    )


_registered(
    "SmoothGrad",
    "Mean gradient norm of {draws} noisy inputs; no sign.",
    smooth_gradient,
    variants=("L2", "L1"),
    signed=frozenset(),
    unit="logits per unit of input",
    hue="#2f8f4e",
    order=25,
)
_registered(
    "input × SmoothGrad",
    "Mean embedding times gradient of {draws} noisy inputs.",
    input_x_smooth_gradient,
    unit="logits",
    hue="#b04a9c",
    order=35,
    scale_free=zero_scores("input × SmoothGrad"),
)
