"""The attributions of many texts by one measure: what it asks of the model is read for texts of one length at once."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from core.explanation.explainer import Explainer
from core.measures.catalogue import measure
from core.measures.registry import Explained, Measure
from core.network.features import Encoded
from core.oracle.inside import Inside
from core.oracle.oracle import Oracle
from core.oracle.together import TOKENS, Together


def attribute_many(
    explainer: Explainer,
    texts: Sequence[Encoded],
    name: str,
    classes: Sequence[int],
    masks: Sequence[np.ndarray],
    seed: int,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> list[dict[str, np.ndarray]]:
    """Scores of each text as `Explainer.attribute` gives them, up to rounding; the store is neither read nor written.

    Args:
        name: a registered measure; classes: the explained class of each text.
        masks: bool[F] each, features masked already; seed: of measures that draw.
        progress: called with (texts done, N).
    Raises:
        NonFinite, NotApplicable, OutOfMemory: as `Explainer.attribute`.
    """
    asked, found = measure(name), {}
    for places in _alike(texts):
        some = [(texts[i], masks[i] | texts[i].premasked, classes[i]) for i in places]
        for masked in some:
            asked.require(explainer.model.module.config.model_type, int((~masked[1]).sum()))
        insides = [Inside(explainer.model, *one) for one in some]
        oracles = [Oracle(explainer.model, one) for one, _, _ in some]
        if asked.ahead is not None:
            asked.ahead(Together(insides, oracles))
        for i, inside, oracle in zip(places, insides, oracles):
            found[i] = _scores(explainer, asked, inside, oracle, seed)
        progress(len(found), len(texts))
    return [found[i] for i in range(len(texts))]


def _alike(texts: Sequence[Encoded]) -> Iterator[list[int]]:
    """Places of texts of one length, no more at once than are read in one batch."""
    by_length: dict[int, list[int]] = {}
    for i, one in enumerate(texts):
        by_length.setdefault(one.T, []).append(i)
    for T, places in sorted(by_length.items()):
        size = max(1, TOKENS // T)
        yield from (places[start : start + size] for start in range(0, len(places), size))


def _scores(explainer: Explainer, asked: Measure, inside: Inside, oracle: Oracle, seed: int) -> dict[str, np.ndarray]:
    encoded, words = inside.encoded, explainer.words_of(asked)
    about = (oracle.logits, encoded.F, inside.target, inside.masked, seed, int(encoded.digest[:8], 16), inside, words)
    return dict(asked.compute(Explained(*about, encoded.features)))
