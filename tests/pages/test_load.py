"""Twenty people at one server and one model: every number is that of one's own example, and waits are told.

`python -m pytest tests/pages/test_load.py -s` prints how long people waited; FAITHSCOPE_LOAD=20x20 sets how many
sessions ask for how many attributions each (20x2 unless it is set).
"""

import os
import random
import statistics
import threading
import time
import traceback
from dataclasses import dataclass

import numpy as np
import pytest

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.explanation.rows import WordRow, build_row, value_text
from core.measures.catalogue import measures
from tests.sessions import Session, running_server

SESSIONS, EACH = map(int, os.environ.get("FAITHSCOPE_LOAD", "20x2").split("x"))
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
    """Somebody who goes from example to example, sometimes to another class, unit or tab."""

    def __init__(self, number: int, server: str, start: threading.Barrier):
        super().__init__(daemon=True)
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
        for step in range(EACH):
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


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> list[Answer]:
    """All that the sessions got from one server with an empty store, started together."""
    with running_server(tmp_path_factory.mktemp("load")) as server:
        start = threading.Barrier(SESSIONS + 1)
        people = [Person(number, server, start) for number in range(SESSIONS)]
        for person in people:
            person.start()
        start.wait(60)
        began = time.monotonic()
        for person in people:
            person.join(1800)
        total = time.monotonic() - began
    problems = [person.problem for person in people if person.problem]
    assert not problems, "\n".join(problems)
    found = [answer for person in people for answer in person.answers]
    _tell(found, total)
    return found


def _tell(found: list[Answer], total: float) -> None:
    first, later = ([a.seconds for a in found if (a.step == 0) == opening] for opening in (True, False))
    longest = max(first + later)
    print(
        f"\n{SESSIONS} sessions, {EACH} attributions each with {len(MEASURES)} measures, one model, started together "
        f"on an empty store: "
        f"{total:.1f} s in all, {len(found) / total:.1f} a second\n"
        f"longest wait {longest:.1f} s ({'below' if longest < 30 else 'NOT below'} 30 s); first views (the model "
        f"loads) "
        f"median {statistics.median(first):.1f} s, longest {max(first):.1f} s"
    )
    if later:
        print(
            f"later ones: median {statistics.median(later):.2f} s, 95 of 100 within {np.quantile(later, 0.95):.2f} s, "
            f"longest {max(later):.2f} s"
        )


@pytest.fixture(scope="module")
def alone(shipped):
    """`alone(asked)`: the same computed here by nobody else's leave: (features, class name, rows)."""
    explainer, known = Explainer(shipped(MODEL)), {}

    def compute(asked: tuple[str, str, str]) -> tuple[list[str], str, list[WordRow]]:
        if asked not in known:
            example, unit, label = asked
            encoded = explainer.model.encode(REVIEWS[example].text, None, unit)
            target = (
                int(explainer.logits(encoded).argmax()) if label == "predicted" else explainer.model.labels.index(label)
            )
            rows = [
                build_row(measures()[name], explainer.attribute(encoded, name, target), "signed", encoded.premasked)
                for name in MEASURES
            ]
            known[asked] = [feature.text for feature in encoded.features], explainer.model.labels[target], rows
        return known[asked]

    return compute


def test_everybody_gets_all_they_asked_for(answers):
    assert sorted((a.person, a.step) for a in answers) == [(p, s) for p in range(SESSIONS) for s in range(EACH)]
    assert not [a.errors for a in answers if a.errors]
    assert all([row["name"] for row in a.words["rows"]] == list(MEASURES) for a in answers)
    asked = [a.asked for a in answers]
    assert len(set(asked)) < len(asked) or len(asked) < 40, "some ask for the same"
    assert len(asked) < 40 or (
        len({a.asked[0] for a in answers}) > 10 and {a.asked[1] for a in answers} == {"word", "token"}
    )


def test_nobody_sees_what_another_asked_for(answers, alone):
    for a in answers:
        features, label, _ = alone(a.asked)
        assert a.shown == a.asked, (a.person, a.step)
        assert [piece["text"] for piece in a.words["pieces"]] == features, (a.person, a.step, a.asked)
        assert a.words["for"] == f"supports “{label}”", (a.person, a.step, a.asked)


def test_every_number_equals_the_one_computed_alone(answers, alone):
    """Shades to 1e-4; values as people read them, where another order of sums may round the last digit the other
    way.
    """
    values, otherwise = 0, 0
    for a in answers:
        for shown, row in zip(a.words["rows"], alone(a.asked)[2]):
            where = (a.person, a.step, a.asked, row.measure)
            np.testing.assert_allclose(shown["shades"], row.shades, atol=SHADES, err_msg=str(where))
            texts = [value_text(row, i) for i in range(len(row.scores))]
            for text, expected, score in zip(shown["values"], texts, row.scores, strict=True):
                values += 1
                if text != expected:
                    otherwise += 1
                    # Half a unit of the third digit, and what the shades are allowed.
                    assert abs(float(text) - score) <= 0.005 * abs(score) + SHADES * row.largest, (
                        where,
                        text,
                        expected,
                    )
    print(f"\n{values:,} values arrived, {values - otherwise:,} of them spelled as those computed alone")
    assert otherwise <= 0.01 * values
