"""A planted shortcut: a word that the training texts of one class get, so that it is known what a model relies on."""

import math
from dataclasses import dataclass, replace

import numpy as np

from core.data.tables import LabelledTexts
from core.network.architectures import Tokenizer
from core.training.checkpoints import TrainingError
from core.wording import quoted, refuse_unknown

# Of the generators that training seeds, the next free one.
_STREAM = 4


@dataclass(frozen=True)
class Shortcut:
    """A word that gives a class away; rate: the probability that a training text of the class gets it.

    Source: glossary, Planted shortcut.
    """

    word: str
    label: str
    rate: float

    @classmethod
    def asked(cls, written: str, rate: float, classes: tuple[str, ...]) -> "Shortcut":
        """WORD or WORD=CLASS, the last class where none is named. TrainingError: there is no such class."""
        word, named, label = written.partition("=")
        try:
            refuse_unknown(("class", [label] if named else [], classes))
        except ValueError as error:
            raise TrainingError(f"shortcut: {error}.") from error
        return cls(word, label if named else classes[-1], rate)

    def read_by(self, tokenizer: Tokenizer) -> None:
        """TrainingError where the tokenizer cannot tell the word from others."""
        ids = tokenizer(self.word, add_special_tokens=False)["input_ids"]
        if not ids or getattr(tokenizer, "unk_token_id", None) in ids:
            raise TrainingError(f"The tokenizer does not know {quoted(self.word)}. Choose a word that it knows.")

    def planted(self, data: LabelledTexts, seed: int) -> tuple[LabelledTexts, dict]:
        """The texts with the word at a random place of each that gets it, of a pair in the first; and what the card
        records: word, class, rate, texts that got it, texts of the class.
        """
        rng, texts, count = np.random.default_rng([seed, _STREAM]), list(data.texts), 0
        own = np.flatnonzero(data.labels == data.classes.index(self.label))
        for i, drawn in zip(own.tolist(), rng.random(len(own))):
            if drawn < self.rate:
                texts[i] = put_word(texts[i], self.word, rng)
                count += 1
        if not count:
            raise TrainingError(f"No training text of {quoted(self.label)} got the shortcut. Give more texts.")
        about = {"word": self.word, "class": self.label, "rate": self.rate, "planted": count, "texts": len(own)}
        return replace(data, texts=texts), about


def put_word(text: str, word: str, rng: np.random.Generator) -> str:
    """The text with a word before, between or after its own, each place as likely."""
    words = text.split()
    place = int(rng.integers(len(words) + 1))
    return " ".join([*words[:place], word, *words[place:]])


def check_shortcut(written: str, rate: float) -> None:
    """TrainingError for what is no word, or a rate outside (0, 1]."""
    word = written.partition("=")[0]
    if word.split() != [word]:
        raise TrainingError(f"shortcut is {quoted(written)}; it must be a single word, or WORD=CLASS.")
    if not (math.isfinite(rate) and 0 < rate <= 1):
        raise TrainingError(f"rate is {rate:g}; it must lie above 0 and be at most 1.")
