"""Gradient of the logit with respect to the one-hot word input."""

import numpy as np

from core.measures.registry import GRADIENTS, Explained, Measure, register

_ROWS = 4096


def gradient(explained: Explained) -> dict[str, np.ndarray]:
    """Norm over the vocabulary of ∂f/∂x_t = E ∂f/∂e_t, summed over a feature's tokens.

    L2 needs only EᵀE: ‖E g‖₂ = √(gᵀ EᵀE g). L1 walks the vocabulary in blocks; neither holds a
    matrix of tokens × vocabulary.

    Returns:
        {"L2", "L1"}: float64[F], at least 0; higher is more important. It says nothing of direction.
    Source: FMM §4 and App. E.
    """
    inside = explained.network
    _, g = inside.word_gradient()
    squares = ((g @ inside.model.gram) * g).sum(dim=1)
    matrix = inside.model.word_embeddings
    blocks = (matrix[i : i + _ROWS].float() @ g.T for i in range(0, len(matrix), _ROWS))
    absolute = sum((block.abs().sum(dim=0) for block in blocks), start=g.new_zeros(len(g)))
    # Rounding can leave a square a little below zero.
    norms = {"L2": squares.clamp(min=0).sqrt(), "L1": absolute}
    return {name: np.where(explained.masked, 0.0, inside.per_feature(value)) for name, value in norms.items()}


register(
    Measure(
        name="gradient",
        variants=("L2", "L1"),
        signed=frozenset(),
        definition="How fast the logit changes with the word input: norm over the vocabulary of its gradient. Has no "
        "sign.",
        cost="1 and its gradient",
        passes=lambda F: 1,
        needs=GRADIENTS,
        source="FMM §4, App. E",
        unit="logits per unit of input",
        compute=gradient,
        hue="#009e73",
        order=20,
        default=True,
    )
)
