"""The register of importance measures: what menus, tables, the README and the contract tests read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

ORACLE, GRADIENTS, ATTENTION, NOTHING = "masking oracle", "gradients", "attention", "nothing"


@dataclass(eq=False)
class Explained:
    """What a measure is asked to explain.

    logits: the masking oracle, bool[M, F] → float[M, C]; target: the explained class; masked:
    bool[F], features that are masked already; example: an integer that tells examples apart in
    seeded draws; inside: gradients and attention of the model, None where only an oracle exists.
    """

    logits: Callable[[np.ndarray], np.ndarray]
    F: int
    target: int
    masked: np.ndarray
    seed: int = 0
    example: int = 0
    inside: object = None

    def value(self, masks: np.ndarray) -> np.ndarray:
        """v of bool[M, F] on top of what is masked already: the target's logit, float64[M]."""
        return np.asarray(self.logits(masks | self.masked), dtype=np.float64)[:, self.target]


@dataclass(frozen=True)
class Measure:
    """One importance measure.

    variants: names of its scores, the default first; signed: those whose sign means support (+)
    or opposition (−); passes: forward passes as a function of F, at most; cost: the same as text; unit: of the scores;
    compute: from `Explained` to {variant: float64[F]}, higher is more important, 0 at features that
    are masked already; rank_only: scores are places, never magnitudes; recursive: its order is found by masking
    step by step already, so recursive masking does not compute it again; version: raised when results change.
    """

    name: str
    variants: tuple[str, ...]
    signed: frozenset[str]
    definition: str
    cost: str
    passes: Callable[[int], int]
    needs: str
    source: str
    unit: str
    compute: Callable[[Explained], Mapping[str, np.ndarray]] = field(repr=False)
    backward: bool = False
    rank_only: bool = False
    recursive: bool = False
    baseline: bool = False
    seeded: bool = False
    version: int = 1


_MEASURES: dict[str, Measure] = {}


def register(measure: Measure) -> Measure:
    """Add a measure; ValueError if its name is taken or a signed variant is none of its variants."""
    if measure.name in _MEASURES:
        raise ValueError(f"a measure named {measure.name!r} is registered already")
    if not measure.variants or not measure.signed <= set(measure.variants):
        raise ValueError(f"{measure.name!r}: variants {measure.variants}, signed {sorted(measure.signed)}")
    _MEASURES[measure.name] = measure
    return measure


def registered() -> dict[str, Measure]:
    """The measures registered so far, by name; `core.measures.catalogue.measures` loads them all."""
    return dict(_MEASURES)


def with_absolute(signed: np.ndarray, absolute: np.ndarray, masked: np.ndarray) -> dict[str, np.ndarray]:
    """Both variants of a measure, 0 at features that are masked already."""
    return {"signed": np.where(masked, 0.0, signed), "absolute": np.where(masked, 0.0, absolute)}
