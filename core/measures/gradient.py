"""Gradient of the logit with respect to the one-hot word input."""

import numpy as np

from core.measures.registry import GRADIENTS, Explained, Measure, register
from core.network.architectures import Tensor
from core.network.model import Model

_ROWS = 4096


def vocabulary_norms(model: Model, gradients: Tensor) -> dict[str, Tensor]:
    """{"L2", "L1"}: norms over the vocabulary, Tensor[T] ≥ 0, of E g for gradients Tensor[T, E] float32.

    L2 needs only EᵀE: ‖E g‖₂ = √(gᵀ EᵀE g). L1 walks the vocabulary in blocks; neither holds tokens × vocabulary.
    """
    squares = ((gradients @ model.gram) * gradients).sum(dim=1)
    matrix = model.word_embeddings
    blocks = (matrix[i : i + _ROWS].float() @ gradients.T for i in range(0, len(matrix), _ROWS))
    absolute = sum((block.abs().sum(dim=0) for block in blocks), start=gradients.new_zeros(len(gradients)))
    # Rounding can leave a square a little below zero.
    return {"L2": squares.clamp(min=0).sqrt(), "L1": absolute}


def gradient(explained: Explained) -> dict[str, np.ndarray]:
    """Norm over the vocabulary of ∂f/∂x_t = E ∂f/∂e_t, summed over a feature's tokens.

    Returns:
        {"L2", "L1"}: float64[F], at least 0; higher is more important. It says nothing of direction.
    Source: FMM §4 and App. E.
    """
    inside = explained.network
    norms = vocabulary_norms(inside.model, inside.word_gradient()[1])
    return {name: np.where(explained.masked, 0.0, inside.per_feature(value)) for name, value in norms.items()}


register(
    Measure(
        name="gradient",
        variants=("L2", "L1"),
        signed=frozenset(),
        definition="Vocabulary norm of the logit's gradient with respect to the word; no sign.",
        cost="1 and its gradient",
        passes=lambda F: 1,
        needs=GRADIENTS,
        source="FMM §4, App. E",
        unit="logits per unit of input",
        compute=gradient,
        ahead=lambda together: together.word_gradients(),
        hue="#009e73",
        order=20,
        default=True,
    )
)
