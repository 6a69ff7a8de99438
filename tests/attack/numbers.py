"""Many at once at one model: each number is the one that is computed alone, whoever else asks, stops or lets go."""

import itertools
import random
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests import tiny
from tests.attack.tally import Tally

MEASURES = ("leave-one-out", "gradient", "input × gradient", "integrated gradients", "KernelSHAP", "attention")
PATIENCE = 600


class Asked:
    """Questions by number, each with an answer of several numbers."""

    def __init__(self, explainer):
        from core.measures.catalogue import measures

        self.explainer = explainer
        self.encoded = [explainer.encode(text, None, "word") for text in tiny.SENTENCES[:16]]
        self.kinds = [name for name in MEASURES if name in measures()] + ["masks", "states", "path", "limits"]

    def __len__(self) -> int:
        return len(self.encoded) * len(self.kinds)

    def answer(self, number: int, cancelled: Callable[[], bool] | None = None) -> np.ndarray:
        """The numbers of a question, float64; Cancelled where that is asked for."""
        from core.explanation.limiting import find_searched
        from core.explanation.recursive import follow
        from core.mathematics.stepwise import finish

        text, kind = divmod(number, len(self.kinds))
        encoded, kind, explainer = self.encoded[text], self.kinds[kind], self.explainer
        if kind in ("masks", "states"):
            masks, oracle = np.random.default_rng(number).random((40, encoded.F)) < 0.5, explainer.oracles.of(encoded)
            if kind == "masks":
                return oracle.logits(masks, cancelled=cancelled).ravel().astype(float)
            logits, states = oracle.logits_and_states(masks[:4], cancelled=cancelled)
            return np.concatenate([logits.ravel(), states.ravel()]).astype(float)
        if kind == "path":
            steps = finish(follow(explainer, encoded, "gradient", 1, "signed", cancelled=cancelled))
            return np.concatenate([step.probabilities for step in steps]).astype(float)
        if kind == "limits":
            limits = finish(find_searched(explainer, encoded, 1, 2, cancelled=cancelled)).limits
            return np.array([limits.lower, limits.upper])
        scores = explainer.attribute(encoded, kind, number % 3, cancelled=cancelled).scores
        return np.concatenate([scores[name] for name in sorted(scores)])

    def let_go(self, number: int) -> None:
        """Forget what is held of a question's text, as a page that goes on does."""
        self.explainer.forget(self.encoded[number // len(self.kinds)])


def many_at_once(seed: int, folder: Path, root: Path, sessions: int, each: int) -> dict:
    """So many threads that ask for so many numbers each of one model with one store; what was found.

    Returns:
        numbers, cancelled: how many; problems: sentences, each with its kind; slowest: seconds of all sessions' work that
            one question took.
    """
    from core.explanation.explainer import Explainer
    from core.loading.loading import load
    from core.storage.store import Store

    model = load(str(root / "bert"), "cpu")
    alone = Asked(Explainer(model))
    known = [alone.answer(number) for number in range(len(alone))]
    # Two views of one store, small enough that results go while others are asked for.
    shared = [Asked(Explainer(model, Store(folder / "cache", 1_500_000))) for _ in range(2)]
    told = {"numbers": 0, "cancelled": 0, "problems": [], "slowest": 0.0}
    guard, start = threading.Lock(), threading.Barrier(sessions)

    def session(place: int) -> None:
        rng, asked = random.Random(f"{seed} numbers {place}"), shared[place % 2]
        start.wait()
        try:
            _ask(rng, asked, known, each, told, guard, place)
        except Exception:
            told["problems"].append(("tracebacks", f"session {place}: {traceback.format_exc()[-1500:]}"))

    threads = [threading.Thread(target=session, args=(place,), daemon=True) for place in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    stuck = sum(thread.is_alive() for thread in threads)
    if stuck:
        told["problems"].append(("hangs over 10 s", f"{stuck} sessions did not come to an end"))
    aside = [path.name for path in (folder / "cache" / "damaged").rglob("*")]
    return told | {"problems": told["problems"] + [("damaged reads", name) for name in aside]}


def _ask(rng: random.Random, asked: Asked, known: list, each: int, told: dict, guard, place: int) -> None:
    from core.network.scheduler import Cancelled

    numbers = 0
    while numbers < each:
        number, began, stops = rng.randrange(len(known)), time.process_time(), None
        if rng.random() < 0.2:
            # At once, or at one of the next batches.
            looks, last = itertools.count(), rng.randint(0, 6)
            stops = lambda: next(looks) >= last  # noqa: E731
        try:
            found = asked.answer(number, stops)
        except Cancelled:
            with guard:
                told["cancelled"] += 1
            continue
        if rng.random() < 0.1:
            asked.let_go(number)
        numbers += len(found)
        same = found.shape == known[number].shape and np.allclose(found, known[number], rtol=1e-4, atol=1e-5)
        with guard:
            told["numbers"] += len(found)
            told["slowest"] = max(told["slowest"], time.process_time() - began)
            if not same:
                kind = asked.kinds[number % len(asked.kinds)]
                told["problems"].append(("wrong numbers", f"session {place}: {kind}: {found} and not {known[number]}"))


def attack(tally: Tally, root: Path, sessions: int, each: int) -> dict:
    """The tally with what was found, as JSON holds it."""
    told = many_at_once(tally.seed, root, root, sessions, each)
    tally.tries += told["numbers"]
    tally.took(told["slowest"], 0, "one question")
    for kind, said in told["problems"]:
        tally.fail(kind, 0, said)
    return vars(tally)
