"""DeepLift, computed by Captum."""

import warnings
from functools import partial

import numpy as np

from core.measures.registry import GRADIENTS, Explained, Measure, read_choice, register, with_absolute
from core.network.architectures import Tensor
from core.network.features import masked_ids
from core.network.memory import IMPORTING
from core.network.scheduler import memory_in_words
from core.oracle.inside import Inside

BASELINES = {"mask": "a fully masked input", "zero": "zero embeddings"}


def lifted_tokens(inside: Inside, baseline: str = "mask") -> Tensor:
    """Captum's DeepLift of every token: its multipliers times the difference of embeddings, the rescale rule.

    What the rule covers are activations that are modules of their own (tanh, ReLU); attention, layer normalisation and
    GELU pass plain gradients, so that on encoders scores are far from adding up to f(x) − f(baseline).

    Args:
        baseline: "mask": the mask token at every token of a feature, special tokens and the second text as they are, so
            that they score 0; "zero": zero embeddings everywhere.
    Returns:
        Tensor[T], float32.
    Raises:
        ValueError: an unknown baseline.
    Source: NAOPC §4 (mask), SoftFaith §4.3 (zero); Shrikumar et al. (2017).
    """
    import torch

    with IMPORTING:
        from captum.attr import DeepLift

    model, encoded = inside.model, inside.encoded
    read_choice("baseline", baseline, BASELINES)

    class Logit(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.classifier = model.module

        def forward(self, embeddings: Tensor) -> Tensor:
            return inside.logit(embeddings)

    warnings.filterwarnings("ignore", message="Setting forward, backward hooks")
    # Hooks stand on the module itself, on the way there and back: nobody else may run it meanwhile.
    with model.lock, memory_in_words(), torch.enable_grad():
        embeddings = model.embed(inside.ids)
        empty = model.embed(masked_ids(encoded, np.ones((1, encoded.F), dtype=bool))).detach()
        start = torch.zeros_like(empty) if baseline == "zero" else empty
        try:
            scores = DeepLift(Logit()).attribute(embeddings, start)
        finally:
            # What Captum keeps on activations when it is stopped half-way.
            for part in model.module.modules():
                vars(part).pop("input", None)
                vars(part).pop("output", None)
    return scores[0].detach().float().sum(dim=1)


def deep_lift(explained: Explained, baseline: str = "mask") -> dict[str, np.ndarray]:
    """Captum's DeepLift, summed over a feature's tokens; baseline: as in `lifted_tokens`. Incomplete on encoders.

    Returns:
        {"signed", "absolute"}: float64[F]; higher is more important.
    Source: NAOPC §4; SoftFaith §4.3; Shrikumar et al. (2017), Learning Important Features Through Propagating
    Activation Differences.
    """
    inside = explained.network
    scores = lifted_tokens(inside, baseline)
    return with_absolute(inside.per_feature(scores), inside.per_feature(scores.abs()), explained.masked)


def _varied(baseline: str = "mask") -> dict:
    return {
        "definition": f"Captum's DeepLift from {BASELINES[baseline]}; incomplete on encoders.",
        "compute": lambda explained: deep_lift(explained, baseline),
        "complete": baseline == "mask",
    }


register(
    Measure(
        name="DeepLift",
        cost="2 and their gradients",
        passes=lambda F: 2,
        needs=GRADIENTS,
        source="NAOPC §4; SoftFaith §4.3",
        unit="logits",
        hue="#5f7d8c",
        order=45,
        swept=False,
        options={"baseline": ("mask", partial(read_choice, "baseline", offered=BASELINES))},
        varied=_varied,
        **_varied(),
    )
)
