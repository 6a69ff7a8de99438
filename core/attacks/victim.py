"""One text under attack: what may be changed of it, what the model says of changed texts, and what that has cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from core.attacks.encoder import embed_sentences
from core.attacks.vocabulary import Vocabulary, vocabulary_of
from core.network.features import Encoded, NoFeatures, find_words
from core.network.model import Model
from core.network.scheduler import Input, NonFinite, memory_in_words
from core.network.tokens import read_tokens

# A spelling for each feature of the text.
Words = tuple[str, ...]
SHARE, QUERIES, SIMILARITY = 0.3, 500, 0.6
# Function words and negations: exchanging one says something else, or nothing.
FUNCTION_WORDS = frozenset(
    (
        "a an the this that these those i me my we us our you your he him his she her it its they them their who whom "
        "whose which what and or but nor if because as until while of at by for with about against between into "
        "through during before after above below to from up down in out on off over under again further then once here "
        "there when where why how is am are was were be been being have has had having do does did doing will would "
        "shall should can could may might must not no never none neither n't 's"
    ).split()
)
# Candidates whose similarity is asked for at once.
_SOME = 8


class AttackOutcome(Enum):
    """How an attack on one text ended; a member's value stands in files and in the store."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ALREADY_WRONG = "already wrong"
    NO_ROOM = "no room"


@dataclass(frozen=True)
class Budget:
    """What an attack may do to a text.

    share: of its words that may be changed, at least one; queries: inputs that the model reads at most, gradients
    among them; similarity: least cosine of the sentence embeddings; protected: words that stay, beside function words.
    """

    share: float = SHARE
    queries: int = QUERIES
    similarity: float = SIMILARITY
    protected: tuple[str, ...] = ()

    def check(self) -> None:
        """ValueError with a sentence for the first number that makes no sense."""
        if not 0 < self.share <= 1:
            raise ValueError(f"the share of words that may change is {self.share:g}; choose above 0, at most 1")
        if self.queries < 2:
            raise ValueError(f"an attack of {self.queries} queries cannot change anything; allow at least 2")
        if not -1 <= self.similarity <= 1:
            raise ValueError(f"the least similarity is {self.similarity:g}; a cosine is −1 to 1")
        for word in self.protected:
            if not is_word(word):
                raise ValueError(f"{word!r} is not one word; protect single words, without punctuation around them")


class Outputs(NamedTuple):
    """Of n texts: wrong, float64[n], one less the label's probability, −1 of what no query was left for; flips:
    bool[n], whether another class is predicted.
    """

    wrong: np.ndarray
    flips: np.ndarray


@dataclass(eq=False)
class Victim:
    """A text, its label and what may be done to it.

    model: in evaluation; encoded: by words; label: the class that an attack turns the model away from; rng: all that
    is drawn. Each distinct input counts as one query, a gradient as one more.
    """

    model: Model
    encoded: Encoded
    label: int
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    cancelled: Callable[[], bool] | None = None
    queries: int = 0

    def __post_init__(self):
        self.words: Words = tuple(one.text for one in self.encoded.features)
        self.rng = np.random.default_rng([self.seed, int(self.encoded.digest[:8], 16)])
        self._known: dict[bytes, np.ndarray] = {}
        self._alike: dict[str, float] = {}
        kept = FUNCTION_WORDS | {word.casefold() for word in self.budget.protected}
        lettered = [any(map(str.isalpha, word)) for word in self.words]
        fixed = self.encoded.premasked
        self.free = [
            i
            for i, word in enumerate(self.words)
            if lettered[i] and not fixed[i] and word.casefold() not in kept and is_word(word)
        ]
        self.room = max(1, int(self.budget.share * sum(lettered) + 1e-9))
        # Of a single word nothing would be left.
        if sum(lettered) < 2:
            self.free = []

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What may stand for a word."""
        return vocabulary_of(self.model)

    @property
    def spent(self) -> bool:
        """Whether no query is left."""
        return self.queries >= self.budget.queries

    def changed(self, words: Words) -> tuple[int, ...]:
        """Features that differ."""
        return tuple(i for i, (one, other) in enumerate(zip(words, self.words)) if one != other)

    def text(self, words: Words) -> str:
        """The text with these words; a word that is "" goes with the space behind it."""
        return self.placed(words)[0]

    def placed(self, words: Words) -> tuple[str, tuple[tuple[int, int], ...]]:
        """The text with these words, and the characters of those that differ."""
        parts, spans, at, length = [], [], 0, 0
        for one, word in zip(self.encoded.features, words):
            between = self.encoded.text[at : one.start]
            start = length + len(between)
            if word != one.text:
                spans.append((start, start + len(word)))
            parts += [between, word]
            length, at = start + len(word), one.end
            if not word and self.encoded.text[at : at + 1] == " ":
                at += 1
        return "".join([*parts, self.encoded.text[at:]]), tuple(spans)

    def ask(self, candidates: Sequence[Words]) -> Outputs:
        """What the model says of texts; raises as `Scheduler.run`, and NonFinite."""
        texts = [self.text(words) for words in candidates]
        seconds = None if self.encoded.second is None else [self.encoded.second] * len(texts)
        rows = [Input(one.ids, one.type_ids) for one in self._read(texts, seconds)]
        keys = [row.ids.tobytes() for row in rows]
        new = {key: row for key, row in zip(keys, rows) if key not in self._known}
        new = dict([*new.items()][: max(0, self.budget.queries - self.queries)])
        asked = list(new)
        for indices, logits, _ in self.model.scheduler.run(list(new.values()), cancelled=self.cancelled):
            self.queries += len(indices)
            self._keep([asked[i] for i in indices], logits)
        wrong, flips = np.full(len(keys), -1.0), np.zeros(len(keys), dtype=bool)
        for i, key in enumerate(keys):
            if key in self._known:
                wrong[i], flips[i] = self._judged(self._known[key])
        return Outputs(wrong, flips)

    def gradient(self, words: Words) -> tuple[np.ndarray, Encoded] | None:
        """∂(−log p(label))/∂e of each token's input embedding, float32[T, E], and the text as the model reads it; None
        where no query is left or the text falls into other words.
        """
        import torch

        encoded = self._encoded(words)
        if self.spent or encoded is None or len(encoded.features) != len(self.words):
            return None
        with self.model.lock, memory_in_words(), torch.enable_grad():
            embeddings = self.model.embed(encoded.ids[None])
            logits, _ = self.model.differentiable(embeddings, encoded.type_ids)
            (gradient,) = torch.autograd.grad(-torch.log_softmax(logits, dim=1)[0, self.label], embeddings)
        self.queries += 1
        self._keep([encoded.ids.tobytes()], logits.detach().float().cpu().numpy())
        return gradient[0].float().cpu().numpy(), encoded

    def similar(self, candidates: Sequence[Words]) -> np.ndarray:
        """Cosine of the sentence embeddings with the text's own, float64[n]."""
        texts = [self.text(words) for words in candidates]
        own = self.text(self.words)
        new = [text for text in dict.fromkeys([own, *texts]) if text not in self._alike]
        if new:
            embedded = embed_sentences(new, self.model.device, self.cancelled).astype(np.float64)
            self._own = embedded[0] if own in new else self._own
            self._alike |= dict(zip(new, np.clip(embedded @ self._own, -1, 1).tolist()))
        return np.array([self._alike[text] for text in texts])

    def choose(self, candidates: Sequence[Words], above: float) -> tuple[Words, float, bool] | None:
        """The candidate to go on with, its wrongness, and whether it flips: of those that flip the most similar, else
        the most wrong above what there is; None where all are less similar than the budget allows, or no better.

        Source: Jin et al. 2020, Alg. 1.
        """
        found = self.ask(candidates)
        flipping = np.flatnonzero(found.flips)
        if len(flipping):
            alike = self.similar([candidates[i] for i in flipping])
            best = int(flipping[alike.argmax()])
            if alike.max() >= self.budget.similarity:
                return candidates[best], float(found.wrong[best]), True
        rest = np.flatnonzero(~found.flips & (found.wrong > above))
        rest = rest[np.argsort(-found.wrong[rest], kind="stable")]
        for start in range(0, len(rest), _SOME):
            some = rest[start : start + _SOME]
            fine = some[self.similar([candidates[i] for i in some]) >= self.budget.similarity]
            if len(fine):
                return candidates[fine[0]], float(found.wrong[fine[0]]), False
        return None

    def _encoded(self, words: Words) -> Encoded | None:
        try:
            return self.model.encode(self.text(words), self.encoded.second, "word")
        except NoFeatures:
            return None

    def _read(self, texts, seconds):
        return read_tokens(self.model.tokenizer, texts, seconds, self.model.max_tokens)

    def _keep(self, keys: Sequence[bytes], logits: np.ndarray) -> None:
        if not np.isfinite(logits).all():
            raise NonFinite(f"The model returned NaN or infinity for an attacked text. {self.model.advice}")
        self._known.update(zip(keys, logits))

    def _judged(self, logits: np.ndarray) -> tuple[float, bool]:
        shares = np.exp(logits.astype(np.float64) - logits.max())
        return 1 - float(shares[self.label] / shares.sum()), int(logits.argmax()) != self.label


def is_word(text: str) -> bool:
    """Whether a spelling is one word wherever it stands."""
    return find_words(text) == [(0, len(text))]


def exchanged(words: Words, place: int, word: str) -> Words:
    """The words with another at one place."""
    return (*words[:place], word, *words[place + 1 :])
