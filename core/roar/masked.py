"""Texts of which features are masked for good, and the features that a measure ranks first under a trained model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from core.data.parsed import BadData
from core.data.tables import LabelledTexts
from core.explanation.explainer import Explainer
from core.explanation.many import attribute_many
from core.explanation.rows import choose_variant
from core.mathematics.masking import masked_count
from core.mathematics.ranking import ranking
from core.measures.catalogue import measure
from core.network.architectures import Tokenizer
from core.network.features import Encoded, NoFeatures, encode, masked_ids
from core.storage.files import write_whole
from core.training.training import Tokenised

Masks = list[np.ndarray]


@dataclass(frozen=True, eq=False)
class Texts:
    """N texts as a tokenizer reads them, with labels int64[N]; only features of the first text of a pair are masked."""

    encoded: list[Encoded]
    labels: np.ndarray

    @classmethod
    def read(cls, tokenizer: Tokenizer, data: LabelledTexts, unit: str, max_tokens: int, mask_id: int) -> "Texts":
        """Read a file's texts; BadData names a row without a feature."""
        found = []
        for i, text in enumerate(data.texts):
            second = data.seconds[i] if data.seconds else None
            try:
                found.append(encode(tokenizer, text, second, unit=unit, max_tokens=max_tokens, mask_id=mask_id))
            except NoFeatures as error:
                raise BadData(f"{data.name}, row {data.rows[i] if data.rows else i + 1}: {error}") from error
        return cls(found, data.labels)

    @property
    def unmasked(self) -> Masks:
        """What the texts mask by themselves, bool[F] each."""
        return [one.premasked.copy() for one in self.encoded]

    def with_masks(self, masks: Masks) -> Tokenised:
        """The texts with features masked, for training, which masks nothing more; masks: bool[F] each."""
        ids = [masked_ids(one, mask[None])[0] for one, mask in zip(self.encoded, masks)]
        types = [one.type_ids for one in self.encoded if one.type_ids is not None]
        none = [np.zeros(len(one), dtype=bool) for one in ids]
        return Tokenised(ids, none, types if len(types) == len(ids) else None, self.labels)


@dataclass(frozen=True)
class MaskingStep:
    """How much is masked: a share of each text's features, or a number of them."""

    ratio: float | None = None
    features: int | None = None

    def count(self, F: int) -> int:
        """How many of F features are masked."""
        return masked_count(self.ratio, F) if self.ratio is not None else min(self.features or 0, F)

    @property
    def amount(self) -> float:
        """Its place on the horizontal axis of a curve."""
        return self.ratio if self.ratio is not None else float(self.features or 0)

    def __str__(self) -> str:
        return f"{self.ratio:g}" if self.ratio is not None else f"{self.features} features"


def rank_features(
    explainer: Explainer,
    texts: Texts,
    masks: Masks,
    name: str,
    sign: str,
    seed: int,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> list[np.ndarray]:
    """Features of each text from the most to the least important for its label, masked ones first: int64[F] each.

    The label's class is explained: to mask what a wrong prediction is due to would help the model.

    Args:
        masks: bool[F] each, features masked already.
        name, sign: measure and kind of its values; seed: of measures that draw; progress: as of `attribute_many`.
    Raises:
        NonFinite, NotApplicable: as `attribute_many`.
    Source: ROAR §4 and its code for the label's class.
    """
    variant, encoded = choose_variant(measure(name), sign), texts.encoded
    found = attribute_many(explainer, encoded, name, texts.labels.tolist(), masks, seed, progress)
    return [ranking(scores[variant], mask | one.premasked) for one, mask, scores in zip(encoded, masks, found)]


def mask_first(texts: Texts, orders: Sequence[np.ndarray], step: MaskingStep) -> Masks:
    """Mask what the orders have first, so many of the features that a text does not mask itself: bool[F] each."""
    masks = texts.unmasked
    for mask, order in zip(masks, orders):
        own = int(mask.sum())
        mask[order[: own + step.count(len(mask) - own)]] = True
    return masks


def save_lists(path: Path, lists: dict[str, list[np.ndarray]]) -> None:
    """Write lists of arrays, one list a file of texts, as safetensors that appear whole or not at all."""
    write_whole(path, save({name: np.concatenate(found) for name, found in lists.items()}), replaces=True)


def read_lists(path: Path, data: dict[str, Texts]) -> dict[str, list[np.ndarray]] | None:
    """What `save_lists` wrote of these texts; None where that is not there, or damaged."""
    try:
        found = load(path.read_bytes())
        ends = {name: np.cumsum([one.F for one in texts.encoded]) for name, texts in data.items()}
        if any(len(found[name]) != ends[name][-1] for name in data):
            return None
        return {name: np.split(found[name], ends[name][:-1]) for name in data}
    except (OSError, KeyError, ValueError, SafetensorError):
        return None
