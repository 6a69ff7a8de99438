"""A browser tab without a browser: Streamlit's websocket protocol, as far as the pages of this project need it.

The page is what a browser would show once the script has finished: elements of the last run, in order,
with large ones taken from the tab's own cache where the server only names them.
"""

import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import psutil
from websockets.sync.client import connect

ROOT = Path(__file__).resolve().parent.parent
WATCHED = Path(__file__).parent / "watched"
# A traceback without blanks that ends where a session's keys changed while Streamlit listed them.
_LISTING = re.compile(
    r"infiltered_state(?:(?!Error:|infiltered_state).)*\d+,?in(?:"
    r"(?:<setcomp>|_keys)(?:(?!Error:).)*RuntimeError:dictionarychangedsizeduringiteration"
    r"|__getitem__(?:(?!KeyError:).)*KeyError:.?st\.session_statehasnokey)"
    r"|\d+,?in_remove_stale_widgets(?:(?!Error:).)*RuntimeError:dictionarychangedsizeduringiteration"
)
_FIRST_OF_TWO = "Duringhandlingoftheaboveexception,anotherexceptionoccurred:"


def start_server(
    folder: Path, script: str = "app.py", root: Path = ROOT, command: tuple[str, ...] = (), **environment
) -> tuple[subprocess.Popen, str]:
    """Start the app of a checkout as the README starts it (or another script, or by another command), with its store
    under `folder`; process and address.

    Whoever starts it ends it. What it says goes to `log.txt` in the folder, and to `asked.txt` whom it asks beyond this
    machine.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("FAITHSCOPE_", "STREAMLIT_"))
    }
    inherited |= {"FAITHSCOPE_CACHE": str(folder / "cache"), "FAITHSCOPE_DEVICE": "cpu"}
    inherited |= {"FAITHSCOPE_SHIPPED": "no"} | environment
    inherited["PYTHONPATH"] = os.pathsep.join(filter(None, [str(WATCHED), inherited.get("PYTHONPATH")]))
    inherited["WATCHED"] = str(folder / "asked.txt")
    inherited |= {"STREAMLIT_SERVER_HEADLESS": "true", "STREAMLIT_SERVER_PORT": str(port)}
    command = command or (sys.executable, "-m", "streamlit", "run", script)
    path = folder / "log.txt"
    with path.open("wb") as log:
        process = subprocess.Popen(command, cwd=root, env=inherited, stdout=log, stderr=subprocess.STDOUT)
    try:
        _until_healthy(process, port, path)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process, f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def running_server(
    folder: Path, script: str = "app.py", root: Path = ROOT, command: tuple[str, ...] = (), **environment
):
    """A server that `start_server` starts; its address. After it stopped, its log must hold no traceback, and it must have
    asked nobody.
    """
    process, address = start_server(folder, script, root, command, **environment)
    try:
        yield address
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
    assert not (faults := faults_of((folder / "log.txt").read_bytes())), faults[-4000:]
    assert asked_by(folder) == []


def faults_of(log: bytes) -> str:
    """What a server logged, from its first traceback on; "" where nothing went wrong.

    Streamlit starts a new run while the one that it told to stop still works up to its next call, and both share the
    session's state without a lock: the old run may list the keys, at its end, too, just when the new one adds or takes
    one. Nobody is shown what a stopped run says, so a traceback that ends in that listing is no fault.
    """
    said = re.sub(r"\x1b\[[\d;]*m", "", log.decode("utf-8", errors="replace"))
    faults, first = "", ""
    for text in said.split("Traceback")[1:]:
        # The log wraps a traceback at any letter.
        bare = re.sub(r"[\s│╭╮╰╯─]", "", text)
        if _FIRST_OF_TWO in bare:
            first += text
            continue
        faults += "" if _LISTING.search(bare) else first + text
        first = ""
    return faults + first


def asked_by(folder: Path) -> list[str]:
    """Whom a server with this folder has asked so far, or looked up, beyond this machine."""
    asked = folder / "asked.txt"
    return asked.read_text(encoding="utf-8").splitlines() if asked.exists() else []


def open_files(process: psutil.Process) -> int:
    """Files that a process has open, connections included."""
    return process.num_handles() if psutil.WINDOWS else process.num_fds()


def _until_healthy(process, port: int, log: Path) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
        with contextlib.suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/_stcore/health")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.1)
    raise TimeoutError("the server did not answer in 120 seconds")


class Session:
    """One tab: opens a page by its address, uses its widgets, and waits for each run to finish.

    elements: {place: the element's protobuf}, in the page's order; query: the address after the last
    run; waited: seconds of the last run, from asking to the end; cached: elements that came by name.
    """

    def __init__(self, server: str, page: str = "", *, timeout: float = 120, **query):
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        self._back, self._forward, self.timeout = BackMsg, ForwardMsg, timeout
        self.elements, self.query, self.waited, self.cached = {}, urlencode(query, doseq=True), 0.0, 0
        self._fresh, self._cache, self._autos, self._shown, self._hash = {}, {}, {}, {}, ""
        began = time.monotonic()
        # The browser's own handshake: a subprotocol, and the origin of the page.
        self.socket = connect(
            f"ws://{urlsplit(server).netloc}/_stcore/stream",
            origin=server,
            subprotocols=["streamlit"],
            max_size=None,
            compression=None,
            ping_interval=None,
            open_timeout=timeout,
        )
        self._ask(page_name=page)
        self.waited = time.monotonic() - began

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def choose(self, label: str, option: str) -> None:
        """Choose an option of a selectbox (its text, or the beginning up to " ·") or of a segmented control."""
        element = self.find(("selectbox", "button_group"), label)
        many = element.DESCRIPTOR.name == "ButtonGroup"
        value = next(o for o in _options(element) if o == option or o.startswith(f"{option} · "))
        self._shown[element.id] = value
        self._use(element.id, **({"string_array_value": {"data": [value]}} if many else {"string_value": value}))

    def chosen(self, label: str) -> str:
        """What a selectbox or a segmented control shows."""
        return self._shown[self.find(("selectbox", "button_group"), label).id]

    def press(self, label: str, key: str = "") -> None:
        """Press a button; key: that of the page, where several have this label."""
        self._use(self.find(("button",), label, key).id, trigger_value=True)

    def offers(self, label: str) -> bool:
        """Whether the page has a button with this label."""
        return any(element.label == label for element in self.all("button"))

    def poll(self) -> None:
        """Let pass what the page asks to be run again by itself, once; of several, one after the other in turn."""
        if not self._autos:
            raise AssertionError("nothing on this page runs by itself")
        fragment, seconds = next(iter(self._autos.items()))
        self._autos[fragment] = self._autos.pop(fragment)
        time.sleep(seconds)
        self._ask(fragment_id=fragment, is_auto_rerun=True)

    @property
    def runs_by_itself(self) -> bool:
        """Whether the page asks to be run again by itself, as while something is computed."""
        return bool(self._autos)

    def find(self, kinds: tuple[str, ...], label: str, key: str = ""):
        """The widget with a label and, if one is given, a key; there must be one."""
        every = (element for kind in kinds for element in self.all(kind) if element.label == label)
        found = [element for element in every if element.id.endswith(key)]
        assert len(found) == 1, f"{len(found)} widgets {label!r}; {self.errors or self.texts}"
        return found[0]

    def all(self, kind: str) -> list:
        """The elements of a kind ("button", "html", …), in the page's order."""
        return [
            getattr(self.elements[place], kind)
            for place in sorted(self.elements)
            if self.elements[place].WhichOneof("type") == kind
        ]

    @property
    def words(self) -> dict | None:
        """What the coloured words were drawn from; None where there are none."""
        found = [
            json.loads(json.loads(element.json)["json"])
            for element in self.all("bidi_component")
            if element.component_name.endswith("faithscope_words")
        ]
        return found[-1] if found else None

    @property
    def texts(self) -> list[str]:
        """Everything written on the page."""
        return [element.body for kind in ("heading", "markdown", "html", "alert") for element in self.all(kind)]

    @property
    def errors(self) -> list[str]:
        """Errors and exceptions on the page."""
        raised = [f"{element.type}: {element.message}" for element in self.all("exception")]
        return [element.body for element in self.all("alert") if element.format == element.ERROR] + raised

    def _use(self, identifier: str, **value) -> None:
        from streamlit.proto.WidgetStates_pb2 import WidgetState

        self._ask(widgets=[WidgetState(id=identifier, **value)])

    def _ask(self, widgets=(), **client) -> None:
        """Ask for a run and read until it has finished, with whatever runs follow from it."""
        asked = self._back()
        state = asked.rerun_script
        state.query_string, state.page_script_hash = self.query, self._hash
        state.cached_message_hashes.extend(self._cache)
        state.widget_states.widgets.extend(widgets)
        for name, value in client.items():
            setattr(state, name, value)
        began = time.monotonic()
        self.socket.send(asked.SerializeToString())
        while not self._takes(self._next(began + self.timeout)):
            pass
        self.waited = time.monotonic() - began

    def _next(self, end: float):
        message = self._forward()
        message.ParseFromString(self.socket.recv(timeout=max(0.01, end - time.monotonic())))
        return message

    def _takes(self, message) -> bool:
        """Take a message into the page; True if it says that nothing more will come."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            # A fragment's run changes its own elements only.
            self._fresh, self._autos = (self.elements, self._autos) if message.metadata.run.fragment_ids else ({}, {})
        elif kind in ("delta", "ref_hash"):
            self._draw(message)
        elif kind == "navigation":
            self._hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._autos[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "session_event" and message.session_event.WhichOneof("type") == "script_compilation_exception":
            raise AssertionError(message.session_event.script_compilation_exception.message)
        elif kind == "page_not_found":
            raise AssertionError("there is no such page")
        elif kind == "script_finished" and message.script_finished != self._forward.FINISHED_EARLY_FOR_RERUN:
            self.elements = self._fresh
            return True
        return False

    def _draw(self, message) -> None:
        delta, place = message.delta, tuple(message.metadata.delta_path)
        if message.WhichOneof("type") == "ref_hash":
            delta, self.cached = self._cache[message.ref_hash].delta, self.cached + 1
        elif message.metadata.cacheable:
            self._cache[message.hash] = message
        if delta.WhichOneof("type") == "new_element":
            # In the place of a container it takes all that was in it.
            for other in [other for other in self._fresh if other[: len(place)] == place]:
                del self._fresh[other]
            self._fresh[place] = delta.new_element
            self._show(delta.new_element)
        elif delta.WhichOneof("type") == "add_block":
            self._fresh.pop(place, None)

    def _show(self, element) -> None:
        """A widget shows what it showed before, unless the server sets it."""
        kind = element.WhichOneof("type")
        if kind not in ("selectbox", "button_group"):
            return
        widget = getattr(element, kind)
        options, default = _options(widget), [widget.default] if kind == "selectbox" else widget.default
        if widget.set_value:
            self._shown[widget.id] = ", ".join([widget.raw_value] if kind == "selectbox" else widget.raw_values)
        elif widget.id not in self._shown:
            self._shown[widget.id] = ", ".join(options[i] for i in default)


def _options(widget) -> list[str]:
    return (
        list(widget.options) if widget.DESCRIPTOR.name == "Selectbox" else [option.content for option in widget.options]
    )
