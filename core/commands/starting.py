"""`faithscope`: starts the app in a browser, with a model and data already chosen."""

import argparse
import os
import runpy
import sys

from core import settings

HELP = "Start Faithscope in the browser. Environment variables: core/README.md. Other commands: python -m core."
_MOST_PORTS = 65_535


class CannotStart(ValueError):
    """What was asked for cannot be opened; the message says why."""


def start_app(arguments: list[str] | None = None) -> int:
    """Start the app and serve it until it is stopped; returns its exit status, 2 for arguments that cannot be used."""
    options = _read(arguments)
    script = settings.ROOT / "app.py"
    try:
        if not (settings.ROOT / ".streamlit" / "config.toml").is_file():
            raise CannotStart("Install Faithscope in its own folder: python -m pip install -e .")
        os.environ |= chosen(options.model, options.data)
    except (CannotStart, settings.SettingError) as error:
        print(f"faithscope: {error}", file=sys.stderr)
        return 2
    port = [] if options.port is None else ["--server.port", str(options.port)]
    sys.argv = ["streamlit", "run", str(script), *port]
    try:
        runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def chosen(model: str | None, data: str | None) -> dict[str, str]:
    """The settings by which the app's first view shows a model and data. CannotStart: these cannot be opened;
    SettingError: the environment cannot be used.
    """
    found = {}
    if model is not None:
        found["FAITHSCOPE_MODEL"] = _first("--model", model, "FAITHSCOPE_MODEL")
        from core.loading.inspection import check_model

        check = check_model(model)
        if not check.usable:
            raise CannotStart(check.note)
    if data is not None:
        found["FAITHSCOPE_DATA"] = _first("--data", data, "FAITHSCOPE_DATA")
        _check_data(data)
    settings.read(os.environ | found)
    return found


def _read(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="faithscope", description=HELP, allow_abbrev=False)
    parser.add_argument("--model", help="first model: bundled name, folder, hub id or adapter")
    parser.add_argument("--data", help="first data: file, bundled set, hub id or task")
    parser.add_argument("--port", type=_port, help="local port (default: 8501 or the next)")
    return parser.parse_args(arguments)


def _port(written: str) -> int:
    if not (written.isascii() and written.isdigit() and 0 < int(written[:9]) <= _MOST_PORTS):
        raise argparse.ArgumentTypeError(f"{written!r} is no port; write a number from 1 to {_MOST_PORTS}")
    return int(written)


def _first(option: str, name: str, setting: str) -> str:
    """A list of names for a setting, with this one before those that it holds already."""
    if not name.strip() or name != name.strip() or ";" in name:
        raise CannotStart(f"{option} {name!r} is empty, or has a semicolon or outer blanks.")
    return ";".join(filter(None, [name, os.environ.get(setting)]))


def _check_data(name: str) -> None:
    from core.data.examples import bundled_data
    from core.data.parsed import BadData
    from core.data.sources import from_setting
    from core.storage.library import Library

    if name in bundled_data():
        return
    try:
        # Kept as the app keeps what the setting names: it reads the file once more, and finds it there.
        from_setting(Library(settings.read().cache), name)
    except BadData as error:
        raise CannotStart(str(error)) from error
