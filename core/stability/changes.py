"""Changes that should not matter to an attribution: how the white space is spelled, half precision, another batch."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from core.explanation.explainer import Explainer
from core.measures.registry import Explained, Measure
from core.network.architectures import Tensor
from core.network.features import Encoded, NoFeatures
from core.network.halves import half_copy, half_speed
from core.network.model import Model
from core.oracle.inside import Inside
from core.oracle.oracle import Oracle
from core.oracle.target import Target

SPACES, HALF, BATCH = "white space", "half precision", "another batch"
# Inputs in a batch of the oracle, where a batch is another one.
_ROWS = 3
_SPACES = re.compile(" +")
Scores = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Reading:
    """How a model reads a text otherwise; same: whether its network is given the very same input, so that nothing can
    move.
    """

    model: Model
    encoded: Encoded
    same: bool = False


class NoReading(ValueError):
    """A change that cannot be made, or that changes nothing; the message says why."""


@dataclass(frozen=True)
class Change:
    """A change that should not matter: its name, what it does, and how a model then reads an example; `read` raises
    `NoReading` where that cannot be.
    """

    name: str
    about: str
    read: Callable[[Explainer, Encoded], Reading]
    # What it takes, in forward passes for each one of the measure, where the network reads another input.
    passes: int = 1


class Rebatched(Model):
    """The same classifier with its inputs batched otherwise: three at a time for the oracle, and each beside a copy of
    itself where gradients are taken; asked: whether anything was read in such a batch.
    """

    asked = False

    def __post_init__(self):
        super().__post_init__()
        self.scheduler.max_rows, self.scheduler.multiple = _ROWS, 1

    def run(
        self, ids: np.ndarray, lengths: np.ndarray, type_ids: np.ndarray | None = None, hidden: bool | str = False
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """As `Model.run`."""
        self.asked = True
        return super().run(ids, lengths, type_ids, hidden)

    def differentiable(
        self, embeddings: Tensor, type_ids: np.ndarray | None = None, attentions: bool = False
    ) -> tuple[Tensor, "Tensor | None"]:
        """As `Model.differentiable`; the attention is that of every row, each input's own before its copy's."""
        self.asked = True
        # Row by row, since DeepLift's hooks take the first half of a batch for inputs and the other for baselines.
        logits, maps = super().differentiable(embeddings.repeat_interleave(2, dim=0), type_ids, attentions)
        return logits[::2], maps


def _respaced(explainer: Explainer, encoded: Encoded) -> Reading:
    texts = [None if text is None else _SPACES.sub(r"\g<0> ", text) for text in (encoded.text, encoded.second)]
    if texts == [encoded.text, encoded.second]:
        raise NoReading("No space in this text.")
    try:
        other = explainer.encode(texts[0] or "", texts[1], encoded.unit, encoded.maskable)
    except NoFeatures as error:
        raise NoReading(str(error)) from error
    if [one.text.split() for one in other.features] != [one.text.split() for one in encoded.features]:
        raise NoReading(f"With more space the tokenizer reads other {encoded.unit}s.")
    read = [(one.ids, one.type_ids, one.feature_of, one.premasked) for one in (encoded, other)]
    return Reading(explainer.model, other, all(np.array_equal(*both) for both in zip(*read)))


def _halved(explainer: Explainer, encoded: Encoded) -> Reading:
    model = explainer.model
    if model.precision != "float32":
        raise NoReading(f"Already in half precision ({model.precision}).")
    if not half_speed(model.device):
        raise NoReading("The device lacks bfloat16.")
    twin = half_copy(model)
    if twin is None:
        raise NoReading("A second model does not fit into memory.")
    return Reading(twin, encoded)


def _rebatched(explainer: Explainer, encoded: Encoded) -> Reading:
    given = {one.name: getattr(explainer.model, one.name) for one in fields(explainer.model) if one.init}
    return Reading(Rebatched(**given), encoded)


CHANGES = {
    change.name: change
    for change in (
        Change(SPACES, "one space more at each space", _respaced),
        Change(HALF, "bfloat16", _halved),
        Change(BATCH, f"{_ROWS} masked inputs, or two gradients, at once", _rebatched, 2),
    )
}


def attribute_anew(
    explainer: Explainer,
    reading: Reading,
    measure: Measure,
    target: Target,
    example: int,
    cancelled: Callable[[], bool] | None = None,
) -> Scores:
    """What a measure says of an example that is read so, by seed 0 and the draws of the example itself: another text or
    batch is no other draw. Nothing is read from the store or written there.

    Args:
        example: the integer that tells the example itself apart in seeded draws.
    Returns:
        {variant: float64[F]}.
    Raises:
        NoReading: another batch, of a measure that reads its input in none.
        Cancelled, OutOfMemory, NonFinite, NotApplicable: as `Explainer.attribute`.
    """
    encoded, model = reading.encoded, reading.model
    inside = Inside(model, encoded, encoded.premasked, target)
    logits, masked = partial(Oracle(model, encoded).logits, cancelled=cancelled), encoded.premasked.copy()
    words, features = explainer.words_of(measure), encoded.features
    explained = Explained(
        logits, encoded.F, target, masked, example=example, inside=inside, words=words, features=features
    )
    if isinstance(model, Rebatched):
        model.asked = False
    with inside.watched(None, cancelled):
        found = dict(measure.compute(explained))
    if isinstance(model, Rebatched) and not model.asked:
        raise NoReading("No batches are read.")
    return found
