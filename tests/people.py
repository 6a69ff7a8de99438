"""Several people at one server, each with a session of their own, and what the same numbers are when they are computed
alone.
"""

import random
import threading
import time
import traceback
from dataclasses import dataclass

import numpy as np

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.explanation.rows import WordRow, build_row, value_text
from core.measures.catalogue import measure
from tests.sessions import Session

MODEL = "sst2-fmm"
MEASURES = ("leave-one-out", "gradient", "input × gradient")
# Short, since what a text costs grows with it, few enough that several people are at the same text at once, and all on
# one page of the menu.
REVIEWS = {example.id: example for example in sorted(read_bundled("reviews")[:200], key=lambda e: len(e.text))[:60]}
SHADES = 1e-4


@dataclass(frozen=True)
class Answer:
    """What one request brought: what was asked for, what the page drew, and how long it took."""

    person: int
    step: int
    asked: tuple[str, str, str]
    shown: tuple[str, str, str]
    words: dict
    errors: tuple[str, ...]
    seconds: float


class Person(threading.Thread):
    """Somebody who goes from example to example, sometimes to another class, unit or tab, so many times."""

    def __init__(self, number: int, server: str, start: threading.Barrier, each: int):
        super().__init__(daemon=True)
        self.each = each
        self.number, self.server, self.barrier = number, server, start
        self.answers: list[Answer] = []
        self.problem = ""

    def run(self) -> None:
        """All requests, one after another."""
        try:
            self.barrier.wait(60)
            self._ask_all(random.Random(self.number))
        except Exception:
            self.problem = traceback.format_exc()

    def _ask_all(self, rng: random.Random) -> None:
        session, asked = None, ("", "", "")
        for step in range(self.each):
            before, asked = asked, self._wish(rng, asked)
            if session is None or rng.random() < 0.1:
                if session is not None:
                    session.socket.close()
                session = Session(self.server, "attributions", example=asked[0], unit=asked[1], **{"class": asked[2]})
                waited = session.waited
            else:
                waited = _change(session, before, asked)
            waited += _ask_for_what_is_offered(session)
            shown = (
                session.chosen("Example").partition(" · ")[0],
                session.chosen("Unit"),
                session.chosen("Explained class"),
            )
            self.answers.append(Answer(self.number, step, asked, shown, session.words, tuple(session.errors), waited))
        session.socket.close()

    @staticmethod
    def _wish(rng: random.Random, before: tuple[str, str, str]) -> tuple[str, str, str]:
        """The next example, unit and class: one of them changes, mostly the example."""
        example, unit, label = before
        what = rng.random() if example else 0.0
        if what < 0.7:
            example = rng.choice([i for i in REVIEWS if i != example])
        if what >= 0.85 or not unit:
            unit = "token" if unit == "word" else "word"
        if 0.7 <= what < 0.85 or not label:
            label = rng.choice([name for name in ("predicted", "negative", "positive") if name != label])
        return example, unit, label


def _change(session: Session, before, asked) -> float:
    """Use the one widget whose choice changes; the seconds it took."""
    for label, old, new in zip(("Example", "Unit", "Explained class"), before, asked):
        if old != new:
            session.choose(label, new)
    return session.waited


def _ask_for_what_is_offered(session: Session) -> float:
    """Where the machine stood still for a moment, even a cheap measure looks dear and waits to be asked."""
    waited = 0.0
    for name in MEASURES:
        if session.offers(f"Compute {name}"):
            began = time.monotonic()
            session.press(f"Compute {name}")
            while name not in [row["name"] for row in session.words["rows"]]:
                session.poll()
            waited += time.monotonic() - began
    return waited


class Alone:
    """The same computed by nobody else's leave."""

    def __init__(self, model):
        self.explainer = Explainer(model)
        self.known: dict[tuple[str, str, str], tuple[list[str], str, list[WordRow]]] = {}

    def __call__(self, asked: tuple[str, str, str]) -> tuple[list[str], str, list[WordRow]]:
        """What is shown for an example, unit and class: features, the class's name, a row for each measure."""
        if asked not in self.known:
            explainer, (example, unit, label) = self.explainer, asked
            encoded = explainer.model.encode(REVIEWS[example].text, None, unit)
            target = (
                int(explainer.logits(encoded).argmax()) if label == "predicted" else explainer.model.labels.index(label)
            )
            rows = [
                build_row(measure(name), explainer.attribute(encoded, name, target), "signed", encoded.premasked)
                for name in MEASURES
            ]
            self.known[asked] = [feature.text for feature in encoded.features], explainer.model.labels[target], rows
        return self.known[asked]

    def mistaken(self, answer: Answer) -> list[str]:
        """What of an answer belongs to something else that was asked."""
        features, label, _ = self(answer.asked)
        pairs = (
            (answer.shown, answer.asked),
            ([piece["text"] for piece in answer.words["pieces"]], features),
            (answer.words["for"], f"supports “{label}”"),
        )
        return [f"{found} and not {meant}" for found, meant in pairs if found != meant]

    def compared(self, answer: Answer) -> tuple[int, int, list[str]]:
        """Numbers that were compared, how many are spelled otherwise, and sentences on those that are wrong.

        Shades to 1e-4; values as people read them, where another order of sums may round the last digit the other way.
        """
        values = otherwise = 0
        wrong = []
        for shown, row in zip(answer.words["rows"], self(answer.asked)[2]):
            shades = np.array(shown["shades"]), np.array(row.shades)
            if shades[0].shape != shades[1].shape or not np.allclose(*shades, atol=SHADES, rtol=1e-7):
                wrong.append(f"{row.measure}: shades {shown['shades']} and not {row.shades}")
            texts = [value_text(row, i) for i in range(len(row.scores))]
            for text, expected, score in zip(shown["values"], texts, row.scores, strict=True):
                values += 1
                otherwise += text != expected
                # Half a unit of the third digit, and what the shades are allowed.
                if text != expected and abs(float(text) - score) > 0.005 * abs(score) + SHADES * row.largest:
                    wrong.append(f"{row.measure}: {text} and not {expected}")
        return values, otherwise, wrong
