"""What is explained: the logit of a class, or that of one class less that of another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Contrast:
    """Why class `of` rather than class `than`, both 0..C−1: v(S) = logit of `of` − logit of `than`.

    Raises:
        ValueError: both are one class.
    Source: glossary, Score.
    """

    of: int
    than: int

    def __post_init__(self):
        if self.of == self.than:
            raise ValueError(f"a class is set against another, not class {self.of} against itself")


# A class, 0..C−1, or a class rather than another.
Target = int | Contrast


def classes_of(target: Target) -> tuple[int, ...]:
    """The classes whose logits count, the explained one first."""
    return (target.of, target.than) if isinstance(target, Contrast) else (target,)


def logit_of(logits: Any, target: Target) -> Any:
    """f of an array or tensor [..., C] → [...]: the target's logit, or the difference of two."""
    if isinstance(target, Contrast):
        return logits[..., target.of] - logits[..., target.than]
    return logits[..., target]


def target_key(target: Target) -> int | list[int]:
    """What the key of a stored result holds of a target: a class alone as ever, [class, the other] of two."""
    return [target.of, target.than] if isinstance(target, Contrast) else target


def target_name(labels: Sequence[str], target: Target) -> str:
    """How a target is called, text: "positive", "positive rather than negative"."""
    return " rather than ".join(labels[one] for one in classes_of(target))


def score_kind(target: Target) -> str:
    """What v(S) of a target is, in a word or two for a sentence."""
    return "difference of the two logits" if isinstance(target, Contrast) else "probability"


def score_name(labels: Sequence[str], target: Target) -> str:
    """How v(S) of a target is called, text: the probability of a class, the difference of the logits of two."""
    if isinstance(target, Contrast):
        return f"logit of {labels[target.of]} − logit of {labels[target.than]}"
    return f"probability of {labels[target]}"
