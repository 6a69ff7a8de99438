"""Whom the server answers: its own pages, under names of this machine, and no other site; whom it asks: nobody; what it
keeps of those that left: nothing; and of what it had predicted when it was killed: all that was written.
"""

import asyncio
import contextlib
import http.client
import inspect
import json
import re
import traceback
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest import mock
from urllib.parse import urlsplit

import psutil
import pytest
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.error_util import _print_rich_exception
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from core.results.examples import ExamplesOutcome
from pages.parts.frame.server import OwnPagesOnly, allow_files, expiry
from tests.examples_table import many
from tests.hostile import lines
from tests.sessions import Session, asked_by, faults_of, open_files, running_server, start_server
from tests.waiting import until

PATHS = (
    "/",
    "/examples",
    "/_stcore/health",
    "/_stcore/host-config",
    "/_stcore/stream",
    "/static/index.html",
    "/media/nothing.csv",
    "/component/nothing/index.html",
)


def answer(server: str, path: str, method: str = "GET", **headers) -> tuple[int, str]:
    """Status and body of one request with these headers, one header for each value of a tuple."""
    connection = http.client.HTTPConnection(urlsplit(server).netloc, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    for name, values in headers.items():
        for value in values if isinstance(values, tuple) else (values,):
            connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read().decode(errors="replace")
    connection.close()
    return response.status, body


def upgraded(server: str, origin: str | None = None) -> int:
    """The status with which a websocket of a site is answered."""
    try:
        with connect(f"ws://{urlsplit(server).netloc}/_stcore/stream", origin=origin, proxy=None):
            return 101
    except InvalidStatus as error:
        return error.response.status_code


def process_at(server: str) -> psutil.Process:
    """The process that listens at an address; this one started it."""
    listening = {}
    for process in psutil.Process().children(recursive=True):
        # Processes of a browser come and go.
        with contextlib.suppress(psutil.Error):
            ports = (at.laddr.port for at in process.net_connections() if at.status == psutil.CONN_LISTEN)
            listening |= dict.fromkeys(ports, process)
    return listening[urlsplit(server).port]


def test_names_of_this_machine_are_answered_with_any_port_and_no_other_name_anywhere(server):
    port = urlsplit(server).port
    for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
        for host in (name, f"{name}:{port}", f"{name}:1"):
            assert answer(server, "/_stcore/health", Host=host)[0] == 200, host
    for path in PATHS:
        for method in ("GET", "PUT", "POST", "DELETE", "OPTIONS"):
            status, said = answer(server, path, method, Host=f"evil.example:{port}")
            assert status == 403 and "FAITHSCOPE_HOSTS" in said and "evil.example" in said, (method, path)
    upgrade = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "a" * 22 + "==",
        "Sec-WebSocket-Version": "13",
    }
    named = [
        answer(server, "/_stcore/stream", Host=f"{name}:{port}", **upgrade) for name in ("localhost", "evil.example")
    ]
    assert named[0][0] == 101 and named[1][0] == 403 and "FAITHSCOPE_HOSTS" in named[1][1]


def test_the_address_that_the_server_is_told_to_listen_at_is_answered(monkeypatch):
    told = {"server.address": "192.168.1.7", "browser.serverAddress": "fe80::1"}
    monkeypatch.setattr("pages.parts.frame.server.config.get_option", told.get)
    assert OwnPagesOnly(None).names[3:] == ("192.168.1.7", "[fe80::1]")
    told |= {"server.address": "0.0.0.0", "browser.serverAddress": "127.0.0.1"}
    assert OwnPagesOnly(None).names[3:] == ()


def test_a_name_that_the_setting_adds_is_answered(monkeypatch):
    def refused(host: str, origin: str = "") -> str:
        headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin else [])]
        return OwnPagesOnly(None).refused({"type": "http", "headers": headers})

    assert "Box.local:8501" in refused("Box.local:8501")
    monkeypatch.setenv("FAITHSCOPE_HOSTS", "Box.local;192.168.1.7")
    assert refused("box.local:8501", "https://box.local:8501") == refused("192.168.1.7") == refused("[::1]:1") == ""
    assert "https://evil.example" in refused("box.local:8501", "https://evil.example") and refused("evil.example")
    # As proxies ask: under the server's own name, or with another port than the browser's.
    for host, origin in (("127.0.0.1:8501", "https://box.local"), ("box.local:443", "https://Box.local:8443")):
        assert refused(host, origin) == "" and refused(host, "http://box.local.evil.example")
    monkeypatch.setenv("FAITHSCOPE_HOSTS", "Bücher.local")
    assert refused("xn--bcher-kva.local:80", "http://xn--bcher-kva.local") == "" and refused("bcher.local")
    monkeypatch.setenv("FAITHSCOPE_HOSTS", "Box.local")
    assert refused("box.local", "http://127.0.0.1:9") and refused("box.local", "https://x:1@box.local")
    monkeypatch.setenv("FAITHSCOPE_HOSTS", "http://box.local")
    assert refused("box.local") and not refused("localhost")


def served(app, *, leaves: bool) -> None:
    """A websocket under a name of this machine, as the server answers it; its browser may leave at once."""

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        if leaves and message["type"] == "websocket.send":
            raise OSError("nobody is there")

    scope = {"type": "websocket", "headers": [(b"host", b"localhost")]}
    # On a thread of its own: where browsers are driven, this one has a loop already.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, OwnPagesOnly(app)(scope, receive, send)).result()


def test_a_browser_that_leaves_while_it_is_answered_is_no_failure_and_all_else_is():
    async def endpoint(scope, receive, send):
        """As Streamlit's: what sends stops at a socket that is closed; what reads finds it closed and closes it."""
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        with contextlib.suppress(WebSocketDisconnect):
            await socket.send_bytes(b"a page")
        try:
            await socket.receive_bytes()
        except RuntimeError:
            await socket.close()

    async def faulty(scope, receive, send):
        raise RuntimeError("a fault of its own")

    served(endpoint, leaves=True)
    with pytest.raises(RuntimeError, match="of its own"):
        served(faulty, leaves=False)


@pytest.mark.parametrize(
    "hosts",
    [
        (),
        ("127.0.0.1", "evil.example"),
        "",
        "127.0.0.1.evil.example",
        "evil.example@127.0.0.1",
        "127.0.0.1:80@evil.example",
        "localhost:80:80",
        "localhost,evil.example",
        "127.1",
        "0.0.0.0",
        "[::1",
        "::1",
        "x" * 5000,
    ],
)
def test_what_only_looks_like_a_name_of_this_machine_is_refused(server, hosts):
    status, said = answer(server, "/_stcore/health", Host=hosts)
    assert status in (400, 403) and len(said) < 400


def test_a_websocket_is_opened_by_a_page_of_ours_only_and_nobody_is_asked_who_the_other_is(server, folder):
    host = urlsplit(server).netloc
    sites = ("http://evil.example", "null", f"{server}.evil.example", "http://127.0.0.1", "file://", "http://[::1]")
    assert [upgraded(server, site) for site in sites] == [403] * len(sites)
    assert [answer(server, "/_stcore/host-config", Host=host, Origin=site)[0] for site in sites] == [403] * len(sites)
    assert upgraded(server, server) == upgraded(server) == 101
    assert asked_by(folder) == []


def test_sessions_that_ended_give_their_files_back_though_no_other_ends_after_them(server):
    process = process_at(server)
    sessions = [Session(server) for _ in range(3)]
    during = open_files(process)
    for session in sessions:
        session.socket.close()
    # Each has a connection, and three files of its own besides; of the last one, Streamlit's loop lets go as it serves
    # another.
    until(lambda: open_files(process) <= during - 4 * len(sessions) + 3, 30)


def test_sessions_whose_time_is_over_are_shut_down_where_the_framework_keeps_them(caplog):
    """What the server reaches for in Streamlit, which says nothing of it: once it is elsewhere, this fails, and the
    server goes on without.
    """
    ended = SimpleNamespace(id="1", shutdown=lambda: shut.append("1"))
    shut, storage = [], MemorySessionStorage(ttl_seconds=0)
    sessions = WebsocketSessionManager(storage, None, None, None)
    storage.save(SessionInfo(client=None, session=ended))
    taken = expiry(SimpleNamespace(_session_mgr=sessions))()
    assert [(name, info.session) for name, info in taken] == [("1", ended)] and not caplog.messages
    assert "self._session_mgr" in inspect.getsource(Runtime.__init__) and callable(AppSession.shutdown)
    for lacking in (SimpleNamespace(), SimpleNamespace(_session_mgr=SimpleNamespace(_session_storage=object()))):
        assert expiry(lacking) is None and "stay in memory" in caplog.messages[-1]


def predicted(session: Session) -> list[tuple]:
    """What the table of the page Examples says of its first examples: their texts, and what is predicted of each."""
    sent = [json.loads(json.loads(element.json)["json"]) for element in session.all("bidi_component")]
    (table,) = [data for data in sent if "facets" in data]
    assert table["found"] == "20,000 examples"
    return [(row["text"], row["predicted"], row["share"]) for row in table["rows"]]


def headlined(session: Session) -> tuple[str, int]:
    """What the headline of Examples comes to, and of how many examples it speaks."""
    (body,) = [one.body for one in session.all("html") if "class='headline'" in one.body]
    outcome = re.search("data-outcome='(.*?)'", body)[1]
    return outcome, int(re.findall(r"\d[\d,]*", re.sub("<[^>]*>", "", body))[-1].replace(",", ""))


def test_a_server_killed_while_it_predicts_goes_on_where_it_was(tmp_path):
    told = [{"text": text, "label": label} for text, label in many(20_000, 3)]
    (tmp_path / "killed.jsonl").write_bytes(lines(*told))
    given = {"FAITHSCOPE_DATA": str(tmp_path / "killed.jsonl")}
    process, address = start_server(tmp_path, **given)
    try:
        with Session(address, "examples") as before:
            if before.offers("Compute predictions"):
                before.press("Compute predictions")
            # Of so many, some are kept by now.
            while (outcome := headlined(before))[0] != ExamplesOutcome.RIGHT.value or outcome[1] <= 2048:
                before.poll()
            if outcome[1] == 20_000:
                pytest.skip("this machine predicts faster than a server can be killed")
            shown = predicted(before)
    finally:
        process.kill()
        process.wait()
    assert not before.errors and not faults_of((tmp_path / "log.txt").read_bytes())
    assert len(shown) == 12 and all(told[i]["text"] == text for i, (text, _, _) in enumerate(shown))
    with running_server(tmp_path, **given) as address, Session(address, "examples") as after:
        (left,) = re.findall(r"([\d,]+) texts to read", " ".join(after.texts))
        kept = 20_000 - int(left.replace(",", ""))
        assert kept > 0
        # Nothing is damaged: what is known now was known before, and is the same.
        for one, other in zip(predicted(after), shown, strict=True):
            assert one in (other, (other[0], None, None))
        after.press("Go on with predictions")
        # It waits its turn first, and says so.
        while not (done := re.search(r"([\d,]+) of at most", " ".join(each.text for each in after.all("progress")))):
            after.poll()
        assert int(done[1].replace(",", "")) >= kept


@pytest.mark.skipif(psutil.WINDOWS, reason="Windows has no such limit")
def test_a_system_that_allows_few_open_files_is_asked_for_more():
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        for few, wanted, expected in ((256, 300, 300), (256, 200, 256), (256, 2**40, before[1])):
            resource.setrlimit(resource.RLIMIT_NOFILE, (few, before[1]))
            allow_files(wanted)
            found = resource.getrlimit(resource.RLIMIT_NOFILE)
            assert found[1] == before[1] and (found[0] == expected or before[1] == resource.RLIM_INFINITY)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


class _Vanishing(SessionState):
    """Another run takes a key between the listing of the keys and the reading of their values."""

    def _keys(self):
        keys = super()._keys()
        self._new_session_state.pop("chosen", None)
        return keys


class _Growing(SessionState):
    """Another run adds a key while the keys are listed."""

    def _get_widget_id(self, k):
        self._new_session_state[f"{k} and more"] = 1
        return super()._get_widget_id(k)


class _Restless(dict):
    """Another run adds a key while a run that ends looks for what it did not draw."""

    def __iter__(self):
        for key in super().__iter__():
            self[f"{key} and more"] = 1
            yield key


class _Ending(SessionState):
    """What a run does at its end, where the listing of the keys is asked for."""

    @property
    def filtered_state(self):
        self._old_state = _Restless(self._new_session_state)
        with mock.patch("streamlit.runtime.state.session_state.get_script_run_ctx"):
            return self._remove_stale_widgets(frozenset())


@pytest.mark.parametrize("rich", [False, True])
@pytest.mark.parametrize("state", [_Vanishing, _Growing, _Ending])
def test_keys_that_change_under_a_stopped_run_are_no_fault_of_a_page_and_all_else_is(state, rich, capfd):
    torn = state()
    torn["chosen"] = 1
    with pytest.raises((KeyError, RuntimeError)) as raised:
        _ = SafeSessionState(torn, lambda: None).filtered_state
    log = _logged(raised.value, rich, capfd)
    assert faults_of(log) == ""
    # What goes wrong in a page beside it is found, a key that is not there included.
    for wrong, error in ((lambda: 1 / 0, ZeroDivisionError), (lambda: SessionState()["missing"], KeyError)):
        with pytest.raises(error) as broken:
            wrong()
        fault = _logged(broken.value, rich, capfd)
        assert all(error.__name__ in faults_of(said) for said in (fault, log + fault, fault + log))


def _logged(error: BaseException, rich: bool, capfd) -> bytes:
    if rich:
        _print_rich_exception(error)
    else:
        traceback.print_exception(error)
    out, err = capfd.readouterr()
    return (out + err).encode()
