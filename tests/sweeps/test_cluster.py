"""A sweep by Ray: a real cluster of this machine, a worker that is killed, and addresses that do not answer."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from importlib.util import find_spec

import psutil
import pytest
from pyarrow import parquet

from core.commands.command_line import main
from core.commands.sweep import open_here
from core.data.examples import Example
from core.evaluation.sampling import without_labels
from core.evaluation.studies.model_check import Curve
from core.settings import ROOT
from core.storage.store import Store
from core.sweeps import cluster
from core.sweeps.cluster import open_cluster
from tests import tiny

# Looked for and not imported, which is when Ray decides where it listens.
pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


@pytest.fixture
def folder(tmp_path, tiny_root, monkeypatch):
    """A folder with labelled texts and a sweep of a tiny model; one of its texts is masked already."""
    texts = [*zip(tiny.SENTENCES[:9], tiny.LABELS * 3), ("[MASK] [MASK]", "harbour")]
    lines = [json.dumps({"id": f"t{i}", "text": text, "label": label}) for i, (text, label) in enumerate(texts)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    keys = {"models": [str(tiny.folder("bert", tiny_root))], "data": ["texts.jsonl"], "measures": ["gradient"]}
    keys |= {"tables": ["areas", "performance", "fidelity"], "out": "out"}
    (tmp_path / "sweep.toml").write_text("\n".join(f"{k} = {json.dumps(v)}" for k, v in keys.items()), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tables(folder):
    return {path.stem: parquet.read_table(path).to_pylist() for path in (folder / "out").glob("*.parquet")}


def workers():
    """Processes of Ray's actors below this one."""
    found = [one for one in psutil.Process().children(recursive=True) if one.is_running()]
    return [one for one in found if one.status() != psutil.STATUS_ZOMBIE and "ray::Worker" in " ".join(one.cmdline())]


def test_a_worker_that_is_killed_changes_no_table(folder, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(folder / "alone"))
    assert main(["sweep", "sweep.toml", "--device", "cpu"]) == 0
    alone, killed, listening = tables(folder), [], set()
    fill = cluster.Cluster.fill

    def kill_one(self, opens, explainer, asked, store, progress):
        self.workers = 2

        def told(done, total):
            progress(done, total)
            if not killed:
                listening.update(addresses())
                killed.append(workers()[-1].pid)
                os.kill(killed[0], signal.SIGKILL)

        fill(self, opens, explainer, asked, store, told)

    monkeypatch.setattr(cluster, "CHUNK", 2)
    monkeypatch.setattr(cluster.Cluster, "fill", kill_one)
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(folder / "together"))
    assert main(["sweep", "sweep.toml", "--device", "cpu", "--ray"]) == 0
    assert killed and tables(folder) == alone
    assert listening and all(one.startswith("127.") or one == "::1" for one in listening)


def addresses():
    """What processes below this one listen on."""
    found = psutil.Process().children(recursive=True)
    every = [each for one in found for each in one.net_connections("tcp") if each.status == psutil.CONN_LISTEN]
    return {each.laddr.ip.removeprefix("::ffff:") for each in every}


@pytest.mark.parametrize(("address", "said"), [("nowhere", "host:port"), ("127.0.0.1:1", "no Ray cluster answers")])
def test_an_address_that_does_not_answer_is_named(address, said, folder, capsys, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(folder / "store"))
    assert main(["sweep", "sweep.toml", "--ray", address]) == 1
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert said in told and address in told


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", None], ids=["closes", "web", "silent"])
def test_a_port_that_is_not_rays_is_named_at_once(answer, folder, capsys, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(folder / "store"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address, held = f"127.0.0.1:{server.getsockname()[1]}", []

        def serve():
            held.append(server.accept()[0])
            if answer is not None:
                held[0].recv(100)
                held[0].sendall(answer)
                held[0].close()

        threading.Thread(target=serve, daemon=True).start()
        began = time.monotonic()
        assert main(["sweep", "sweep.toml", "--ray", address]) == 1
        assert time.monotonic() - began < 20
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert "no Ray cluster" in told and address in told


def test_an_address_that_speaks_as_ray_does_is_gone_on_with():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            one = server.accept()[0]
            one.recv(100)
            one.sendall(bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))

        threading.Thread(target=serve, daemon=True).start()
        cluster._require_answer(f"127.0.0.1:{server.getsockname()[1]}")


def test_a_worker_without_the_models_files_says_so(folder, tiny_root, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(folder / "store"))
    here = open_here(str(tiny.folder("bert", tiny_root)), "cpu", "float32")
    sample = without_labels("made", "1" * 64, [Example(f"{i}", text) for i, text in enumerate(tiny.SENTENCES[:2])])
    with open_cluster("") as one, pytest.raises(ValueError, match=r"a Ray worker stopped: .*no folder"):
        one.fill(partial(open_here, "/nowhere", "cpu", "float32"), here, [(sample, [Curve()])], Store(folder / "s"))


def test_a_cluster_that_refuses_the_token_is_named(folder):
    """A real cluster whose token is another one, asked from a process of its own: Ray reads its mode when imported."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    given = os.environ | {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "token",
        "FAITHSCOPE_CACHE": str(folder / "s"),
    }
    start = ["ray", "start", "--head", f"--port={port}", "--node-ip-address=127.0.0.1", "--include-dashboard=false"]
    start += ["--num-cpus=1", "--block", f"--temp-dir={tempfile.mkdtemp(prefix='ray')}"]
    head = subprocess.Popen(start, env=given | {"RAY_AUTH_TOKEN": "a" * 64}, stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        asked = [sys.executable, "-m", "core", "sweep", "sweep.toml", "--ray", f"127.0.0.1:{port}"]
        here = given | {"PYTHONPATH": str(ROOT), "RAY_AUTH_TOKEN": "b" * 64}
        told = subprocess.run(asked, env=here, cwd=folder, capture_output=True, text=True, timeout=200, check=False)
        assert told.returncode == 1 and "InvalidAuthToken" not in told.stderr
        assert f"127.0.0.1:{port} refuses the token" in told.stderr.strip().splitlines()[-1]
    finally:
        head.terminate()
        head.wait(60)


def wait_for(port):
    """Until something listens there."""
    for _ in range(300):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    pytest.fail("Ray did not start")
