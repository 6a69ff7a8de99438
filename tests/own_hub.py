"""A small hub of models on this machine, which the real `huggingface_hub` asks; it breaks as hubs break."""

import hashlib
import json
import os
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

PAGE = b"<!doctype html><html><title>Sign in to the network</title></html>"


class ModelHub(ThreadingHTTPServer):
    """Serves folders as models, each with its commits; `fetched` are the files whose content was asked for.

    moved: {old id: new id}; gated: ids whose files nobody gets; portal: every answer is a page of HTML; pages: names of
    files that are; breaks: {file: how many more answers end after half of what is left}.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Answer)
        self.commits: dict[str, list[Path]] = {}
        self.moved, self.gated, self.pages, self.breaks, self.fetched = {}, set(), set(), {}, []
        self.portal, self.after = False, {}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, id: str, folder: Path) -> str:
        """Make a folder the newest commit of a model; its hash."""
        self.commits.setdefault(id, []).append(Path(folder))
        return self.commit(id)

    def commit(self, id: str) -> str:
        """The newest commit's hash."""
        return hashlib.sha1(f"{id} {len(self.commits[id])}".encode(), usedforsecurity=False).hexdigest()

    def folder(self, id: str, revision: str) -> Path | None:
        """Where a commit's files lie; None for one that there is not."""
        found = self.commits.get(id, [])
        if revision == "main":
            return found[-1] if found else None
        names = [hashlib.sha1(f"{id} {i + 1}".encode(), usedforsecurity=False).hexdigest() for i in range(len(found))]
        return found[names.index(revision)] if revision in names else None


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        hub, parts = self.server, unquote(urlsplit(self.path).path).strip("/").split("/")
        if hub.portal:
            return self.answer(200, PAGE, {"Content-Type": "text/html"})
        api = parts[:2] == ["api", "models"]
        id, rest = "/".join(parts[2:4] if api else parts[:2]), parts[4:] if api else parts[2:]
        if id in hub.moved:
            return self.answer(307, b"", {"Location": self.path.replace(id, hub.moved[id], 1)})
        if id not in hub.commits:
            return self.answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        revision = rest[1] if len(rest) > 1 else "main"
        folder, commit = hub.folder(id, revision), hub.commit(id) if revision == "main" else revision
        if folder is None:
            return self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        if not api:
            return self.file(id, folder / "/".join(rest[2:]), commit)
        return self.listing(id, folder, commit, tree=rest[:1] == ["tree"])

    def listing(self, id, folder, commit, tree):
        files = sorted(path for path in folder.iterdir() if path.is_file())
        if tree:
            said = [
                {"type": "file", "path": path.name, "size": path.stat().st_size, "oid": blob(path)} for path in files
            ]
        else:
            said = {"id": id, "sha": commit, "siblings": [{"rfilename": path.name} for path in files]}
        self.answer(200, json.dumps(said).encode(), {"Content-Type": "application/json"})
        # What happens once somebody has heard of a commit.
        if self.command == "GET" and not tree and id in self.server.after:
            self.server.after.pop(id)()

    def file(self, id, path, commit):
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if id in self.server.gated:
            return self.answer(403, b"{}", {"X-Error-Code": "GatedRepo", **headers})
        if not path.is_file():
            return self.answer(404, b"", {"X-Error-Code": "EntryNotFound", **headers})
        headers["ETag"] = f'"{blob(path)}"'
        if path.name in self.server.pages:
            return self.answer(200, PAGE, {"Content-Type": "text/html"})
        content, status = path.read_bytes(), 200
        if "Range" in self.headers:
            first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
            status, whole = 206, len(content)
            content = content[int(first) : int(last) + 1 if last else None]
            headers["Content-Range"] = f"bytes {first}-{int(first) + len(content) - 1}/{whole}"
        if self.command == "GET":
            self.server.fetched.append((path.name, commit))
        return self.answer(status, content, headers, self.breaks(path.name))

    def breaks(self, name):
        left = self.server.breaks.get(name, 0) if self.command == "GET" else 0
        if left:
            self.server.breaks[name] = left - 1
        return bool(left)

    def answer(self, status, content, headers, breaks=False):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[: len(content) // 2] if breaks else content)
        if breaks:
            self.close_connection = True


def blob(path: Path) -> str:
    """The hash of a file's content."""
    return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()


@contextmanager
def serving(monkeypatch, cache: Path):
    """A hub that this process asks, with an empty cache."""
    from huggingface_hub import constants, file_download, hf_api

    from core.storage import hub

    server = ModelHub()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setattr(constants, "ENDPOINT", server.address)
    template = server.address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    # Made when the library was imported.
    monkeypatch.setattr(hf_api.api, "endpoint", server.address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "_silent_since", -float("inf"))
    # It tries again after a second, five times.
    monkeypatch.setattr(file_download.time, "sleep", lambda seconds: None)
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def environment(server: ModelHub, cache: Path) -> dict[str, str]:
    """The environment of a process that asks this hub."""
    return os.environ | {"HF_ENDPOINT": server.address, "HF_HUB_CACHE": str(cache), "HF_HUB_OFFLINE": "0"}
