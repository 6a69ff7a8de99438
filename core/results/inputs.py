"""Caveats of inputs: of a text as the model reads it, of a gate, and of a reference for other texts."""

from collections.abc import Iterable, Mapping

import numpy as np

from core.network.features import FIRST, Encoded
from core.network.model import CALIBRATION, MULTI_LABEL, REGRESSION, Model
from core.results.caveats import Caveat, holding
from core.results.result import Fact, Kind
from core.validity.marks import Gate, Why, doubts
from core.validity.references import Reference

# Why p-values may be off, as a caveat.
DOUBTS = {
    Why.LENGTH: Caveat.LENGTH_OUTSIDE_REFERENCE,
    Why.PRECISION: Caveat.OTHER_PRECISION,
    Why.UNIT: Caveat.OTHER_UNIT,
    Why.TEXTS: Caveat.OTHER_TEXTS,
    Why.SMALL: Caveat.SMALL_REFERENCE,
}


def model_caveats(model: Model) -> tuple[Caveat, ...]:
    """What limits every probability that a model gives."""
    kind = getattr(model.module.config, "problem_type", None)
    method = None if model.card is None else model.card["plan"]["method"]
    found = {
        Caveat.SEVERAL_LABELS: kind == MULTI_LABEL,
        Caveat.A_NUMBER: kind == REGRESSION,
        Caveat.CALIBRATED: method == CALIBRATION,
        Caveat.STAND_IN: model.tokenizer.mask_token_id is None,
    }
    return tuple(holding(found))


def text_caveats(encoded: Encoded, own: bool = False) -> tuple[Caveat, ...]:
    """What limits every result on a text as the model reads it; own: whether a person typed it."""
    found = {
        Caveat.TRUNCATED: encoded.truncation.cut,
        Caveat.TYPED_SPECIAL: encoded.typed_special,
        Caveat.SINGLE_FEATURE: encoded.F == 1,
        Caveat.UNKNOWN_WORDS: bool(np.any(encoded.unknown)),
        Caveat.OWN_TEXT: own,
    }
    return tuple(holding(found))


def reference_caveats(
    reference: Reference | None, tokens: np.ndarray, precision: str, unit: str = "word", maskable: str = FIRST
) -> tuple[Caveat, ...]:
    """Why MaSF p-values of such texts may be off, or that there are none; tokens: int[N], lengths of the texts."""
    if reference is None:
        return (Caveat.NOT_TESTED,)
    return tuple(DOUBTS[why] for why in doubts(reference, tokens, precision, unit, maskable))


def gate_caveats(gates: Iterable[Gate | None]) -> tuple[Caveat, ...]:
    """What gates say of the inputs that a result rests on: rejected, or not tested, as by a small reference."""
    known = [gate for gate in gates if gate is not None]
    found = {
        Caveat.OUT_OF_DISTRIBUTION: any(gate.marked for gate in known),
        Caveat.NOT_TESTED: any(not gate.available for gate in known),
        Caveat.SMALL_REFERENCE: any(gate.why in (Why.TOO_FEW, Why.FLOOR) for gate in known),
    }
    return tuple(holding(found))


def count_caveats(texts: int, found: Mapping[Caveat, int]) -> tuple[list[Caveat], list[Fact]]:
    """Caveats of single texts that hold of some, and of how many of so many."""
    some = {caveat: count for caveat, count in found.items() if count}
    return [*some], [Fact(one.name.lower(), one.badge, count, Kind.COUNT, of=texts) for one, count in some.items()]


def cut_facts(cut: int, texts: int) -> list[Fact]:
    """How many of so many texts are longer than the model reads; none where none is."""
    return [Fact("cut", "texts cut", cut, Kind.COUNT, of=texts)] if cut else []
