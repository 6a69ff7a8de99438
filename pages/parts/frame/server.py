"""The server beneath the pages: whom it answers, and what it sees to while it runs."""

import asyncio
import contextlib
import gc
import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from typing import Any

import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import cli_util, config
from streamlit.runtime import Runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.web.server import server_util

from core import settings
from core.network.memory import import_network
from core.wording import joined, shortened

HERE, EVERYWHERE = ("localhost", "127.0.0.1", "[::1]"), ("0.0.0.0", "::")
_REFUSED = (
    "This server answers to {} and to its own pages, and was asked by or as {}. If that is a name of this machine, add "
    "it to FAITHSCOPE_HOSTS.\n"
)
_HOST = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(:\d*)?")
_ORIGIN = re.compile(rf"https?://{_HOST.pattern}")


class OwnPagesOnly:
    """Answers what asks for this machine by a name of its own, and comes from no other site; to all else says 403 and
    why.

    A page of another site may have its own name lead here, and would then count as ours in the browser. A websocket
    that another site asks for is refused before Streamlit sees it, which would ask the internet for this machine's
    address first.
    """

    def __init__(self, app: ASGIApp):
        self.app, self.added = app, ()
        # What is wrong with the setting is said on the pages.
        with contextlib.suppress(settings.SettingError):
            self.added = settings.hosts()
        # Where it listens, and where a browser is sent to, by the framework's own settings.
        told = (str(config.get_option(name) or "") for name in ("server.address", "browser.serverAddress"))
        named = (
            f"[{name.lower()}]" if ":" in name else settings.as_sent(name)
            for name in told
            if name and name not in EVERYWHERE
        )
        self.names = tuple(dict.fromkeys((*HERE, *named, *self.added)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = self.refused(scope) if scope["type"] in ("http", "websocket") else ""
        answer = PlainTextResponse(problem, 403, {"X-Content-Type-Options": "nosniff"}) if problem else self.app
        if scope["type"] == "websocket":
            answer = _until_it_left(answer)
        await answer(scope, receive, send)

    def refused(self, scope: Scope) -> str:
        """Why a request is not answered, in a sentence; "" where it is."""
        hosts, origins = (
            [v.decode("latin-1") for k, v in scope["headers"] if k == name] for name in (b"host", b"origin")
        )
        name = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        strange = []
        if name is None or name[1] not in self.names:
            strange = [", ".join(hosts) or "no name"]
        elif not all(self._ours(origin, hosts[0]) for origin in origins):
            strange = origins
        return _REFUSED.format(joined(self.names), shortened(", ".join(strange), 80)) if strange else ""

    def _ours(self, origin: str, host: str) -> bool:
        # A proxy may ask under another name or port than the browser does; then the browser's stands in the setting.
        site = _ORIGIN.fullmatch(origin.lower())
        return origin in (f"http://{host}", f"https://{host}") or (site is not None and site[1] in self.added)


def _until_it_left(app: ASGIApp) -> ASGIApp:
    """`app` with one thing that is no fault of the server: what it does with a socket whose browser has left.

    A browser that leaves while something is being sent to it has Streamlit read from, and close, a socket that is
    closed, and the log would show a failure for each.
    """

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        left = False

        async def hears() -> Message:
            nonlocal left
            message = await receive()
            left = left or message["type"] == "websocket.disconnect"
            return message

        async def says(message: Message) -> None:
            nonlocal left
            try:
                await send(message)
            except OSError:
                left = True
                raise

        try:
            await app(scope, hears, says)
        except RuntimeError as error:
            if not left:
                raise
            logging.getLogger(__name__).debug("a browser left while it was being answered: %s", error)

    return answered


@contextlib.asynccontextmanager
async def running(_: st.App) -> AsyncGenerator[None]:
    """From the server's start to its end: files enough for many visitors, sessions that ended leave the memory, what
    models need is imported before somebody comes, and a browser opens unless it is told not to.
    """
    threading.Thread(target=import_network, daemon=True).start()
    allow_files(4096)
    keep_downloads(Runtime.instance().media_file_mgr)
    if not config.get_option("server.headless"):
        asyncio.get_running_loop().call_soon(
            cli_util.open_browser, server_util.get_url(config.get_option("browser.serverAddress"))
        )
    letting_go = asyncio.create_task(_let_go_of_sessions(max(1, config.get_option("server.disconnectedSessionTTL"))))
    try:
        yield
    finally:
        letting_go.cancel()


def keep_downloads(files: MediaFileManager, seconds: float = 20.0) -> None:
    """Let a button that was replaced while it was pressed write its file all the same, for some seconds.

    A page that is drawn anew forgets its buttons as it begins, and any other visitor's run that ends has them thrown
    away; the browser shows the old ones until the new ones arrive.
    """
    register, execute = files.add_deferred, files.execute_deferred
    known: OrderedDict[str, tuple[float, Callable[[], str]]] = OrderedDict()
    # Every visitor's page is drawn by a thread of its own.
    guard = threading.Lock()

    def add_deferred(content: Callable, mimetype: str | None, coordinates: str, **named: Any) -> str:
        now, file_id = time.monotonic(), register(content, mimetype, coordinates, **named)
        name = named.get("file_name")
        with guard:
            known[file_id] = now, lambda: execute(register(content, mimetype, "pressed late", file_name=name))
            while now - next(iter(known.values()))[0] > seconds:
                known.popitem(last=False)
        return file_id

    def execute_deferred(file_id: str) -> str:
        late = known.get(file_id)
        try:
            return execute(file_id)
        except MediaFileStorageError as error:
            # What its content raised is its cause.
            if late is None or error.__cause__ is not None:
                raise
            return late[1]()

    vars(files).update(add_deferred=add_deferred, execute_deferred=execute_deferred)


def connected() -> set[str] | None:
    """Sessions whose browser is there; None outside of a server."""
    sessions: Any = getattr(Runtime.instance(), "_session_mgr", None) if Runtime.exists() else None
    return None if sessions is None else {info.session.id for info in sessions.list_active_sessions()}


def allow_files(wanted: int) -> None:
    """Raise the number of files that may be open at once, where the system keeps it lower than `wanted` and lets us."""
    try:
        import resource
    except ImportError:
        # Windows has no such limit.
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _let_go_of_sessions(seconds: int) -> None:
    """Look again and again for sessions whose time to come back is over; Streamlit looks only when another one ends."""
    runtime, before = Runtime.instance(), set()
    expire = expiry(runtime)
    while expire is not None:
        await asyncio.sleep(seconds)
        try:
            for _, ended in expire():
                ended.session.shutdown()
            there = {info.session.id for info in runtime._session_mgr.list_sessions()}
        except Exception:
            # One session that cannot be let go of must not keep all that come after it.
            logging.getLogger(__name__).exception("a session that ended was not let go of")
            continue
        if before - there:
            # Sessions refer to themselves: left alone, Python would look for what hundreds left behind. Takes 0.06 s.
            gc.collect()
        before = there


def expiry(runtime: Any) -> Callable[[], list] | None:
    """What takes sessions whose time is over from those kept; None, logged, where Streamlit has no such thing."""
    kept = runtime
    for name in ("_session_mgr", "_session_storage", "_cache", "expire"):
        kept = getattr(kept, name, None)
    if kept is None:
        logging.getLogger(__name__).warning("This Streamlit keeps its sessions elsewhere; ended ones stay in memory.")
    return kept
