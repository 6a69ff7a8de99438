"""One server, its store and one browser for all these tests of a process; a test that kills a server starts its own."""

import pytest

from core.data.examples import read_bundled
from core.data.sources import from_setting
from core.storage.library import Library
from tests.browsing import Person, own_context
from tests.examples_table import predicted
from tests.hostile import lines
from tests.sessions import faults_of, running_server

SHORT = [
    example for example in read_bundled("reviews") if example.id in ("s041", "s068", "s076", "s096", "s180", "s205")
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where the server has its store and writes what it says."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
def short(folder) -> str:
    """The key of a data set of six short texts, with which a whole sample is answered for in seconds."""
    path = folder / "short.jsonl"
    path.write_bytes(lines(*({"id": e.id, "text": e.text, "label": e.label} for e in SHORT)))
    return from_setting(Library(folder / "cache"), str(path)).key


@pytest.fixture(scope="session")
def server(folder, short):
    """The app with a store that was empty when the first of these tests began; its address."""
    # To draw maps of thirty points, UMAP's functions run in less time than they take to compile.
    # Nobody waits for a tab that comes back. With the cores taken by other tests, threads that share a matrix spin
    # until the last is done.
    settings = {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1", "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1"}
    with running_server(folder, **settings) as address:
        yield address


@pytest.fixture(scope="session")
def window(browser, server):
    """A window of it in which one person after the other opens a tab: what the app's pages are made of is read once, and
    compiled once, as long as a tab is left in it.
    """
    context = own_context(browser)
    context.new_page().goto(f"{server}/_stcore/health")
    yield context
    context.close()


@pytest.fixture
def visit(browser, window, server, folder):
    """`visit(theme)`: a person; at the end nothing may have gone wrong. The first of a test sits at the window that the
    tests share; whoever comes besides has a browser of their own, with nothing in it.
    """
    people, log = [], folder / "log.txt"
    before = log.stat().st_size

    def come(theme: str = "light") -> Person:
        people.append(Person(browser, server, theme, None if people else window))
        return people[-1]

    yield come
    for person in people:
        person.leave()
    assert not (faults := faults_of(log.read_bytes()[before:])), faults[-4000:]


@pytest.fixture
def table(visit):
    """`table(theme, **query)`: a person before the table of examples, all of them predicted."""
    return lambda theme="light", **query: predicted(visit(theme).open("examples", **query))
