"""Attribution views without a model: texts cut into words, scores made up or given."""

import datetime
from types import SimpleNamespace

import numpy as np

from core.data.examples import Example
from core.explanation.explainer import Attribution
from core.explanation.rows import build_row
from core.measures.catalogue import measure
from core.network.features import Encoded, Feature, Truncation, find_words
from core.reports.exports import Shown, provenance

LABELS = ("negative", "positive")
NOW = datetime.datetime(2025, 3, 4, 23, 5, 6, tzinfo=datetime.timezone(datetime.timedelta(hours=-2)))


def model(name: str = "story", labels=LABELS, notes=()):
    """What a view asks of a model that is not there."""
    return SimpleNamespace(
        name=name,
        digest="0123456789abcdef" * 4,
        precision="float32",
        device="cpu",
        labels=tuple(labels),
        notes=tuple(notes),
        max_tokens=512,
        module=SimpleNamespace(config=None),
        tokenizer=SimpleNamespace(mask_token_id=0),
        card=None,
    )


def encoded(text: str, second: str | None = None, cut: int = 0) -> Encoded:
    """The words of a text as features; `cut` words at its end are not read."""
    spans = find_words(text)
    read = spans[: len(spans) - cut]
    features = tuple(Feature(text[a:b], a, b) for a, b in read)
    masked = np.array([feature.text == "[MASK]" for feature in features], dtype=bool)
    one = np.arange(len(features))
    return Encoded(text, second, "word", one, None, one, features, masked, 0, Truncation(len(spans), len(read), False))


def rows(of: Encoded, names=("leave-one-out", "gradient", "beam"), scores: dict | None = None) -> tuple:
    """A row per measure; scores that are not given go down from 1 with alternating signs."""
    made = []
    for name in names:
        named = measure(name)
        given = np.asarray((scores or {}).get(name, [(-1) ** i * (1 - i / of.F) for i in range(of.F)]), dtype=float)
        given = np.where(of.premasked, 0.0, np.abs(given) if not named.signed else given)
        made.append(
            build_row(named, Attribution(name, 0, dict.fromkeys(named.variants, given), 1, 1.0), "signed", of.premasked)
        )
    return tuple(made)


def shown(
    text: str = "A good [MASK] film, not bad.",
    *,
    second=None,
    labels=LABELS,
    probabilities=(0.25, 0.75),
    target=1,
    cut=0,
    name="story",
    data="reviews",
    example="s001",
    names=("leave-one-out", "gradient", "beam"),
    scores=None,
    **more,
) -> Shown:
    """A view of a text, with everything that the pages would have gathered."""
    of, subject = encoded(text, second, cut), model(name, labels)
    what = Example(example, text, second, label=labels[0])
    facts = provenance(subject, of, what, data, "ab" * 32, target, NOW)
    return Shown(
        of,
        what,
        tuple(labels),
        np.array(probabilities, dtype=float),
        target,
        rows(of, names, scores) if names else (),
        provenance=facts,
        **more,
    )


def view(text: str = "A good [MASK] film, not bad.", data: str = "reviews", example: str = "s001"):
    """What a page holds of the choice in its sidebar."""
    subject = model()
    source = SimpleNamespace(index=SimpleNamespace(data=SimpleNamespace(name=data, digest="ab" * 32)))
    return SimpleNamespace(
        model=subject,
        encoded=encoded(text),
        example=Example(example, text, note="Of its own."),
        data=data,
        browsed=source,
        probabilities=np.array([0.25, 0.75]),
        target=1,
        explained=1,
        label_class=0,
        class_name=subject.labels[1],
    )
