"""Integrated gradients, computed by Captum."""

from functools import partial

import numpy as np

from core.measures.registry import (
    GRADIENTS,
    Explained,
    Limit,
    Measure,
    read_choice,
    read_count,
    register,
    with_absolute,
)
from core.network.architectures import Tensor, is_scale_free
from core.network.memory import IMPORTING
from core.network.scheduler import memory_in_words
from core.oracle.inside import Inside
from core.oracle.together import Together

STEPS = 20
MOST_STEPS = 10_000
BASELINES = {"zero": "an empty input", "mask": "a fully masked input"}
_TOKENS = 4096


def token_attributions(inside: Inside, steps: int = STEPS, baseline: str | None = None) -> Tensor:
    """Integrated gradients of every token, special ones included: right Riemann sum.

    All word embeddings are interpolated, of special tokens and the second text too, from the
    baseline. Departure: FMM's code starts at the pad embedding and multiplies by e, not e − b; it weights step i of k
    by i/k, as ROAR's does, where all steps count alike in the papers and here.

    Args:
        steps: points of the sum, at least 1.
        baseline: "zero", or "mask": the mask token's embedding everywhere. None takes zero, but mask
            for families that normalise the word embedding alone (DeBERTa-v2/v3, ModernBERT): there
            f jumps at zero and any number of steps misses most of f(x) − f(0).
    Returns:
        Tensor[T], float32; with many steps the sum approaches f(x) − f(baseline).
    Raises:
        ValueError: an unknown baseline.
    Source: FMM §4; Sundararajan et al. (2017), Eq. 3.
    """
    held = inside.ahead.get(_ahead(steps, baseline))
    return _along(inside, steps, baseline)[0] if held is None else held


def _ahead(steps: int, baseline: str | None) -> tuple:
    return "integrated gradients", steps, baseline


def _along(inside: Inside | Together, steps: int, baseline: str | None) -> Tensor:
    """`token_attributions` of B inputs of one length, Tensor[B, T]."""
    import torch

    with IMPORTING:
        from captum.attr import IntegratedGradients

    with memory_in_words(), torch.enable_grad():
        embeddings, start = _ends(inside, baseline)
        if steps == 1:
            # Captum refuses one step: the gradient at the input alone.
            scores = torch.autograd.grad(inside.logit(embeddings).sum(), embeddings)[0] * (embeddings - start)
        else:
            scores = IntegratedGradients(inside.logit, multiply_by_inputs=True).attribute(
                embeddings,
                baselines=start,
                n_steps=steps,
                method="riemann_right",
                internal_batch_size=max(len(inside.ids), _TOKENS // inside.ids.shape[1]),
            )
    return scores.detach().float().sum(dim=2)


def _ends(inside: Inside | Together, baseline: str | None) -> tuple[Tensor, Tensor]:
    """Word embeddings of B inputs and of where their ways begin, Tensor[B, T, E] each."""
    import torch

    if baseline is None:
        baseline = "mask" if is_scale_free(inside.model.architecture, inside.model.module.config) else "zero"
    read_choice("baseline", baseline, BASELINES)
    embeddings = inside.model.embed(inside.ids)
    if baseline == "zero":
        return embeddings, torch.zeros_like(embeddings)
    return embeddings, inside.model.embed(np.full_like(inside.ids, inside.model.mask_id)).detach()


def path_sum(explained: Explained, steps: int = STEPS, baseline: str | None = None) -> tuple[float, float]:
    """What integrated gradients of all tokens add up to, and f(x) − f(baseline), which is due; both in logits.

    steps, baseline: as in `token_attributions`. NonFinite: either is none. Source: Sundararajan et al. (2017), Prop. 1.
    """
    import torch

    inside = explained.network
    total = float(token_attributions(inside, steps, baseline).cpu().double().sum())
    with memory_in_words(), torch.no_grad():
        ends = inside.logit(torch.cat(_ends(inside, baseline))).cpu().double()
    total, due = inside.finite(np.array([total, float(ends[0] - ends[1])]))
    return float(total), float(due)


def integrated_gradients(
    explained: Explained, steps: int = STEPS, baseline: str | None = None
) -> dict[str, np.ndarray]:
    """Integrated gradients with 20 steps from the baseline of `token_attributions`, summed over a feature's tokens.

    Args:
        steps, baseline: as in `token_attributions`.
    Returns:
        {"signed", "absolute"}: float64[F]; higher is more important.
    Source: FMM §4 and App. E.
    """
    inside = explained.network
    scores = token_attributions(inside, steps, baseline)
    return with_absolute(inside.per_feature(scores), inside.per_feature(scores.abs()), explained.masked)


def _varied(steps: int = STEPS, baseline: str | None = None) -> dict:
    """What is registered by steps and baseline."""
    start = {None: "an empty input (DeBERTa, ModernBERT: fully masked)", **BASELINES}[baseline]
    return {
        "definition": f"Gradients summed over {steps} steps from {start} to this one.",
        "cost": f"{steps} and their gradients",
        "passes": lambda F: steps,
        "compute": lambda explained: integrated_gradients(explained, steps, baseline),
        "ahead": lambda together: together.hold(_ahead(steps, baseline), _along(together, steps, baseline)),
        "path": lambda explained, steps: path_sum(explained, steps, baseline),
    }


register(
    Measure(
        name="integrated gradients",
        needs=GRADIENTS,
        source="FMM §4, App. E",
        unit="logits",
        hue="#b8860b",
        order=40,
        scale_free=Limit(
            True,
            "so it starts at the mask token instead of zero",
            "integrated gradients start at the mask token instead of zero",
        ),
        options={
            "steps": (STEPS, partial(read_count, "steps", 1, MOST_STEPS)),
            "baseline": (None, partial(read_choice, "baseline", offered=BASELINES)),
        },
        varied=_varied,
        **_varied(),
    )
)
