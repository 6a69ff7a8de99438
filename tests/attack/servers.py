"""The server: killed while somebody waits for its numbers, and asked for what no link should ask for."""

import base64
import json
import os
import random
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil

from core.data.examples import read_bundled
from core.settings import ROOT
from tests.attack.outcomes import difference
from tests.attack.tally import Tally
from tests.attack.victims import Victim, in_another
from tests.hostile import lines

PAGES = {
    "": {},
    "examples": {},
    "attributions": {},
    "recursive_masking": {"measures": "leave-one-out"},
    "aopc_and_naopc": {},
    "hard_and_soft_erasure": {},
    "model_check": {"measures": "gradient"},
    "data_set": {"section": "diagnosticity", "measures": "gradient", "metrics": ["NS"], "draws-of-data": "1"},
}
TEXTS = ("s041", "s068", "s076", "s096", "s180", "s205")
STRANGE: tuple[Callable[[random.Random], str], ...] = (
    lambda rng: rng.choice(
        ["", " ", "\0", "\ud7ff\ufffe", "\u202e", "nan", "inf", "-1", "1e999", "null", "[]", "0" * 64]
    ),
    lambda rng: rng.choice(
        ["../../etc/passwd", "/dev/zero", "file:///etc/passwd", "C:\\x", "..", "~", "a/b", "a/b:c:d"]
    ),
    lambda rng: rng.choice(["<script>alert(1)</script>", "{0.__class__}", "${x}", "%s%n%00", "'; drop", "**b** $x$"]),
    lambda rng: rng.choice("aé家😀'\"") * rng.choice([1, 300, 20_000]),
    lambda rng: str(rng.choice([0, -1, 2**31, 2**63, -(2**64), 10**30, 0.5, 1e308])),
    lambda rng: "".join(map(chr, rng.choices(range(32, 0x2FF), k=rng.choice([3, 80])))),
)
NAMES = (
    *("example", "class", "unit", "model", "data", "text", "measures", "values", "metrics", "draws", "step"),
    *("width", "erasure", "scaling", "baseline", "order", "search", "label", "predicted", "second", "sample", "orders"),
    *("draws-of-data", "count", "beside", "placement", "sigma", "what", "seed", "more", "", "a b", "__proto__"),
)


def serve(at: Path, port: int, data: bool = True) -> Callable[[], int]:
    """The app as the README starts it, without a start of Python; data: with few short texts of its own."""

    def work() -> int:
        from streamlit.web import cli

        texts = at / "short.jsonl"
        if not texts.exists():
            rows = [example for example in read_bundled("reviews") if example.id in TEXTS]
            texts.write_bytes(lines(*({"id": one.id, "text": one.text, "label": one.label} for one in rows)))
        os.environ |= {"FAITHSCOPE_CACHE": str(at / "cache"), "FAITHSCOPE_DEVICE": "cpu"}
        os.environ |= {"FAITHSCOPE_DATA": str(texts)} if data else {}
        os.chdir(ROOT)
        cli.main(["run", "app.py", "--server.headless=true", f"--server.port={port}"], standalone_mode=False)
        return 0

    return work


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def opened(port: int, page: str, query: dict):
    """A session before a page, as soon as the server answers."""
    from tests.sessions import Session

    end = time.monotonic() + 60
    while True:
        try:
            return Session(f"http://127.0.0.1:{port}", page, timeout=60, **query)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def worked(server: int) -> float:
    """Seconds of work of a server and of this process so far: what both wait for is not theirs on a machine in use."""
    times = psutil.Process(server).cpu_times()
    return times.user + times.system + time.process_time()


def shown(port: int, page: str, query: dict, server: int) -> dict:
    """All numbers of a page's figures and words once nothing is computed any more, and its errors; how long the first
    view took.
    """
    began = worked(server)
    with opened(port, page, query) as session:
        waited = worked(server) - began
        while session.runs_by_itself:
            session.poll()
        figures = [_figure(json.loads(element.spec)) for element in session.all("plotly_chart")]
        return {"figures": figures, "words": session.words, "errors": session.errors, "waited": waited}


def _figure(value):
    """A figure with its arrays as lists."""
    if isinstance(value, dict) and "bdata" in value:
        return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"]).astype(float).tolist()
    if isinstance(value, dict):
        return {name: _figure(one) for name, one in value.items()}
    return [_figure(one) for one in value] if isinstance(value, list) else value


class ServerKills:
    """The attack: a server is killed while a session waits, some times in a row; then the page shows what it shows in a
    server that nobody kills.
    """

    def __init__(self, tally: Tally, root: Path):
        self.tally, self.root, self.known = tally, root, {}

    def step(self, step: int) -> None:
        """Kill servers at one page."""
        rng, page = self.tally.rng(step), list(PAGES)[(3 * step) % len(PAGES)]
        if page not in self.known:
            with TemporaryDirectory(dir=self.root) as folder:
                self.known[page] = self.visit(page, Path(folder), step)
        known, seconds = self.known[page]
        with TemporaryDirectory(dir=self.root) as folder:
            at = Path(folder)
            for _ in range(rng.randint(1, 3)):
                self.visit(page, at, step, kill=rng.uniform(0.2, 1) * seconds)
            found, _ = self.visit(page, at, step)
            apart = "" if found is None or known is None else difference(found, known)
            if apart:
                self.tally.fail("wrong numbers", step, f"{page or 'Home'}: {apart}")
            aside = [path.name for path in (at / "cache" / "damaged").rglob("*")]
            if aside:
                self.tally.fail("damaged reads", step, f"{page or 'Home'}: {aside} were set aside")

    def visit(self, page: str, at: Path, step: int, kill: float = 0) -> tuple[dict | None, float]:
        """What a server shows on a page, and how long it took; kill: the seconds after which it is killed instead."""
        port, began = free_port(), time.monotonic()
        with Victim(serve(at, port), at) as server:
            if kill:
                with Victim(lambda: shown(port, page, PAGES[page], server.pid) and 0, at) as visitor:
                    visitor.alive(kill)
                    server.kill()
                    visitor.kill()
                    visitor.wait(60)
                found = None
            else:
                found, visited = in_another(lambda: shown(port, page, PAGES[page], server.pid), at, 120)
                if found is None:
                    self.tally.fail("other failures", step, f"{page or 'Home'} could not be shown: {visited.screen}")
                server.kill()
            ended = server.wait(60)
        self.tally.tries += bool(kill)
        self.tally.read(ended.screen, step, f"the server at {page or 'Home'}")
        if found is not None:
            self.tally.took(found.pop("waited"), step, f"the first view of {page or 'Home'}")
        return found, time.monotonic() - began


@contextmanager
def _served(at: Path, data: bool = True):
    port = free_port()
    with Victim(serve(at, port, data), at) as server:
        yield port, server


class Links:
    """The attack: links that ask for what is not there or cannot be. Each opens a page, without an exception."""

    def __init__(self, tally: Tally, root: Path):
        self.tally, self.root = tally, root

    def steps(self, steps: range) -> None:
        """Open links at one server."""
        with TemporaryDirectory(dir=self.root) as folder, _served(Path(folder)) as (port, server):
            found, visitor = in_another(
                lambda: self._opened(port, steps, server.pid), Path(folder), 60 + 10 * len(steps)
            )
            server.kill()
            ended = server.wait(60)
        self.tally.tries += len(steps)
        self.tally.read(ended.screen, steps[0], "the server")
        if found is None:
            self.tally.fail("other failures", steps[0], visitor.screen)
        for step, seconds, link, said in found or ():
            self.tally.took(seconds, step, link)
            if said:
                self.tally.fail("tracebacks", step, f"{link}: {said}")

    def _opened(self, port: int, steps: range, server: int) -> list:
        found = []
        for step in steps:
            rng = self.tally.rng(step)
            page = rng.choice(list(PAGES))
            query = {name: rng.choice(STRANGE)(rng) for name in rng.sample(NAMES, rng.randint(1, 4))}
            began, said = worked(server), ""
            try:
                with opened(port, page, query) as session:
                    raised = [element.message for element in session.all("exception")]
                    said = " ".join([*raised, *re.findall(r"Traceback.*", " ".join(session.texts))])
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
            found.append((step, worked(server) - began, f"{page}?{query}"[:400], said))
        return found


def many_people(tally: Tally, root: Path, sessions: int, each: int) -> dict:
    """So many sessions at one server and one model, that many answers each; the tally with what was found."""
    from core.loading.loading import load
    from tests.people import MODEL, Alone, Person

    with TemporaryDirectory(dir=root) as folder, _served(Path(folder), data=False) as (port, server):
        opened(port, "", {}).socket.close()
        start = threading.Barrier(sessions)
        people = [Person(number, f"http://127.0.0.1:{port}", start, each) for number in range(sessions)]
        began, before = time.monotonic(), worked(server.pid)
        for person in people:
            person.start()
        for person in people:
            person.join(1_800)
        # The more others use the machine, the longer everybody waits.
        pace = min(1, (worked(server.pid) - before) / (time.monotonic() - began))
        server.kill()
        tally.read(server.wait(60).screen, 0, "the server")
    for person in people:
        if person.problem or person.is_alive():
            tally.fail("other failures", 0, f"session {person.number}: {person.problem or 'did not come to an end'}")
    alone, values, otherwise = Alone(load(MODEL, "cpu")), 0, 0
    for answer in (answer for person in people for answer in person.answers):
        counted, spelled, wrong = alone.compared(answer)
        values, otherwise = values + counted, otherwise + spelled
        what = f"session {answer.person}, answer {answer.step}, {answer.asked}"
        tally.took(pace * answer.seconds, 0, what)
        for said in [*alone.mistaken(answer), *wrong]:
            tally.fail("wrong numbers", 0, f"{what}: {said}")
        if answer.errors:
            tally.fail("other failures", 0, f"{what}: {answer.errors}")
    # Each value comes with its shade.
    tally.tries += 2 * values
    if otherwise > 0.01 * values:
        tally.fail("wrong numbers", 0, f"{otherwise} of {values} are spelled otherwise")
    return vars(tally)
