"""A sweep's examples computed by Ray: actors that each hold a model, and send back the rows of a few examples."""

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.evaluation.asking import read_study
from core.evaluation.engine import Run, lacking
from core.evaluation.sampling import Sample
from core.evaluation.store_log import StoreLog
from core.evaluation.study import Study
from core.explanation.explainer import Explainer
from core.mathematics.stepwise import finish
from core.settings import ROOT
from core.storage.files import write_whole
from core.storage.shelf import Shelf
from core.storage.store import Store

# Examples that a message asks for, and how often a worker that died is started again.
CHUNK, RESTARTS = 8, 3
# Cores of a worker where there are many, and seconds in which an address has to answer.
_SHARE, _MANY, _PATIENCE = 4, 8, 5.0
# Read when Ray is imported: nothing is reported to anybody; a cluster of one machine listens on loopback.
# It waits half a minute for an address by default.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_py_gcs_connect_timeout_s": "10"}
_ALONE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
# How HTTP/2, which Ray speaks, begins (RFC 9113, 3.4): the client's words and a frame of settings, to which the server
# answers with such a frame; its kind is the fourth byte.
_HELLO, _KIND, _SETTINGS = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]), 3, 4
# What Ray says to whoever brings another token, or none.
_REFUSED, _NO_TOKEN = b"InvalidAuthToken", "no authentication token"
# A file of a log: its key, its name, and its bytes, which are sealed.
Segment = tuple[str, str, bytes]
# Opens a model by its name on whichever machine it is called.
Opens = Callable[[], Explainer]


class Worker:
    """Holds one model; what it computes of a text is kept in its machine's own store, rows are sent back."""

    def __init__(self, opens: Opens):
        self._opens, self._explainer = opens, None

    def answer(self, sample: Sample, studies: Sequence[Study]) -> list[Segment]:
        """The rows of some examples, as files of the logs of studies."""
        if self._explainer is None:
            self._explainer = self._opens()
        found = []
        for study in studies:
            with tempfile.TemporaryDirectory() as folder:
                found += rows_as_files(self._explainer, sample, study, Store(Path(folder)))
        return found


def rows_as_files(explainer: Explainer, sample: Sample, study: Study, scratch: Store) -> list[Segment]:
    """Ask a study of examples, and give its rows as files of its log."""
    shelf = None if explainer.store is None else Shelf(explainer.store)
    held = Explainer(explainer.model, shelf, explainer.reference, kept=explainer.kept)
    log = StoreLog(scratch, study.key(held))
    finish(Run(held, sample, study, log).go())
    return [(log.key, path.name, path.read_bytes()) for path in sorted(log.folders[0].glob("*"))]


class Cluster:
    """A Ray cluster, of this machine alone or at an address."""

    def __init__(self, ray: Any):
        self._ray = ray
        resources = ray.cluster_resources()
        gpus, cores = int(resources.get("GPU", 0)), int(resources.get("CPU", 1))
        share = _SHARE if cores >= _MANY else 1
        self._needs = {"num_gpus": 1} if gpus else {"num_cpus": share}
        self.workers = gpus or max(1, cores // share)

    def fill(
        self,
        opens: Opens,
        explainer: Explainer,
        asked: Sequence[tuple[Sample, Sequence[Study]]],
        store: Store,
        progress: Callable[[int, int], None] = lambda *_: None,
    ) -> None:
        """Compute what a model's store lacks; what has no row is left to whoever asks next.

        Raises:
            ValueError: a worker cannot open the model, or cannot go on; its own sentence says why.
        """
        from ray.exceptions import RayError
        from ray.util import ActorPool

        work = [chunk for sample, studies in asked for chunk in chunks_of(explainer, sample, studies, store)]
        if not work:
            return
        actor = self._ray.remote(max_restarts=RESTARTS, max_task_retries=RESTARTS, **self._needs)(Worker)
        actors = [actor.remote(opens) for _ in range(min(self.workers, len(work)))]
        try:
            sent = ActorPool(actors).map_unordered(lambda one, chunk: one.answer.remote(*chunk), work)
            for done, segments in enumerate(sent, start=1):
                for key, name, data in segments:
                    write_whole(store.folder(key) / name, data)
                progress(done, len(work))
        except RayError as error:
            why = getattr(error, "cause", None) or error
            raise ValueError(f"a Ray worker stopped: {str(why).strip().splitlines()[-1]}") from error
        finally:
            for one in actors:
                self._ray.kill(one)


def chunks_of(
    explainer: Explainer, sample: Sample, studies: Sequence[Study], store: Store
) -> Iterator[tuple[Sample, list[Study]]]:
    """Examples that lack a row, a few at a time, each with the studies that lack it."""
    lacks = {study: set(lacking(read_study(explainer, sample, study, store))) for study in dict.fromkeys(studies)}
    for start in range(0, len(sample), CHUNK):
        places = range(start, min(start + CHUNK, len(sample)))
        some = [i for i in places if any(i in one for one in lacks.values())]
        if some:
            examples, labels = tuple(sample.examples[i] for i in some), np.array(sample.labels[some])
            yield replace(sample, examples=examples, labels=labels), [s for s, one in lacks.items() if one & {*some}]


@contextmanager
def open_cluster(address: str) -> Generator[Cluster]:
    """A cluster that runs at host:port, or one of this machine alone for "", on loopback and without a dashboard.

    Raises:
        ValueError: Ray is not installed, nothing answers there, or it refuses the token.
    """
    os.environ |= _QUIET if address else _QUIET | _ALONE
    try:
        import ray
    except ImportError as error:
        raise ValueError("Ray is not installed; install requirements-ray.txt") from error
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address:
        _require_answer(address)
        _join(ray, address, quiet)
    else:
        # Workers look for modules where this process does.
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        ray.init(address="local", include_dashboard=False, **quiet)
    try:
        yield Cluster(ray)
    finally:
        ray.shutdown()


def _join(ray: Any, address: str, quiet: dict[str, Any]) -> None:
    """Join a cluster that answers; why it lets nobody in stands on standard error alone, once a second."""
    from ray.exceptions import RayError

    with tempfile.TemporaryFile() as written:
        sys.stderr.flush()
        before = os.dup(2)
        os.dup2(written.fileno(), 2)
        try:
            ray.init(address=address, **quiet)
        except (ConnectionError, RuntimeError, RayError) as error:
            written.seek(0)
            refused = _REFUSED in written.read() or _NO_TOKEN in str(error)
            raise ValueError(_no_token(address) if refused else _no_answer(address)) from error
        finally:
            os.dup2(before, 2)
            os.close(before)


def _require_answer(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"a Ray address is host:port, not {address!r}")
    try:
        with socket.create_connection((host, int(port)), _PATIENCE) as one:
            one.sendall(_HELLO)
            # Encrypted, it says nothing that can be read.
            answered = bool(os.environ.get("RAY_USE_TLS")) or one.recv(_KIND + 1)[_KIND:] == bytes([_SETTINGS])
    except (OSError, OverflowError) as error:
        raise ValueError(_no_answer(address)) from error
    if not answered:
        raise ValueError(_no_answer(address))


def _no_token(address: str) -> str:
    return f"Ray at {address} refuses the token; set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"


def _no_answer(address: str) -> str:
    return f"no Ray cluster answers at {address}; start one by: ray start --head"
