"""`faithscope` as it is installed: it starts the app, shows the model and data that it is given, and refuses others."""

import importlib
import os
import subprocess
import sys
import tomllib

import pytest

from core import settings
from core.commands.starting import chosen, start_app
from core.settings import ROOT
from pages.parts.frame import data
from tests.hostile import lines
from tests.sessions import Session, running_server

SCRIPT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["faithscope"]
# What an installed script does.
START = (sys.executable, "-c", "import sys; from {} import {} as run; sys.exit(run())".format(*SCRIPT.split(":")))
HERE = {"PYTHONPATH": str(ROOT)}
TEXTS = lines({"id": "one", "text": "a fine film", "label": "positive"}, {"text": "a dull film", "label": "negative"})


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No settings but a store of the test's own."""
    for name in list(os.environ):
        if name.startswith("FAITHSCOPE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.jsonl").write_bytes(TEXTS)


def test_the_script_is_installed_under_its_name():
    module, function = SCRIPT.split(":")
    assert getattr(importlib.import_module(module), function) is start_app


def test_it_starts_the_app_with_a_model_and_a_file_from_any_folder(tmp_path):
    command = (*START, "--model", "sst2-plain", "--data", "mine.jsonl")
    with running_server(tmp_path, root=tmp_path, command=command, **HERE) as address:
        with Session(address, "examples") as tab:
            assert tab.chosen("Model") == "sst2-plain"
            assert tab.chosen("Data") == "mine.jsonl"
            assert tab.errors == []
        # The checkout's settings hold wherever it is started: it listens on this machine only.
        assert f"URL: {address}" in (tmp_path / "log.txt").read_text(encoding="utf-8")


def test_alone_it_starts_the_app_as_the_readme_does(tmp_path):
    with running_server(tmp_path, root=tmp_path, command=START, **HERE) as address, Session(address, "examples") as tab:
        assert (tab.chosen("Model"), tab.chosen("Data")) == ("sst2-fmm", "ordinary reviews")
        assert tab.errors == []


def test_what_it_is_given_comes_before_what_the_settings_name(monkeypatch, tmp_path):
    monkeypatch.setenv("FAITHSCOPE_MODEL", "sst2-fmm; sst2-plain")
    monkeypatch.setenv("FAITHSCOPE_DATA", "news")
    for name, value in chosen("sst2-plain", str(tmp_path / "mine.jsonl")).items():
        monkeypatch.setenv(name, value)
    found = settings.read()
    assert found.models == ("sst2-plain", "sst2-fmm") and found.data == (str(tmp_path / "mine.jsonl"), "news")
    assert chosen(None, None) == {}


@pytest.mark.parametrize(
    "given",
    [
        ("--model", "."),
        ("--model", "./no-such-folder"),
        ("--model", "one;two"),
        ("--model", ""),
        ("--data", "no-such-file.csv"),
        ("--data", "mine.jsonl; more.csv"),
        ("--data", " "),
        ("--data", "empty.csv"),
        ("--data", "broken.parquet"),
    ],
)
def test_what_cannot_be_opened_is_refused_in_a_sentence(given, monkeypatch, tmp_path, capsys):
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("runpy.run_module", lambda *_, **__: pytest.fail("it was started"))
    assert start_app(list(given)) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("faithscope: ") and "Traceback" not in said.err
    assert len(said.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "given", [("--port", "0"), ("--port", "65536"), ("--port", "x"), ("--modle", "x"), ("reviews",)]
)
def test_other_arguments_are_refused(given, monkeypatch):
    monkeypatch.setattr("runpy.run_module", lambda *_, **__: pytest.fail("it was started"))
    with pytest.raises(SystemExit) as ended:
        start_app(list(given))
    assert ended.value.code == 2


def test_a_setting_that_cannot_be_used_is_named(monkeypatch, capsys):
    monkeypatch.setenv("FAITHSCOPE_CACHE_MB", "none")
    assert start_app(["--data", "reviews"]) == 2 and "FAITHSCOPE_CACHE_MB" in capsys.readouterr().err


def test_help_names_its_options_and_starts_nothing():
    told = subprocess.run(
        [*START, "--help"], env=os.environ | HERE, check=True, capture_output=True, text=True, timeout=120
    )
    assert all(name in told.stdout for name in ("--model", "--data", "--port"))


def test_the_app_gets_the_port_and_its_status_is_passed_on(monkeypatch):
    started = []

    def run(name, **_):
        started.append((name, *sys.argv))
        raise SystemExit(3)

    monkeypatch.setattr("runpy.run_module", run)
    monkeypatch.setattr(sys, "argv", ["faithscope"])
    assert start_app(["--port", "8600"]) == 3
    assert started == [("streamlit", "streamlit", "run", str(ROOT / "app.py"), "--server.port", "8600")]


def test_a_setting_may_name_bundled_data(server, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_DATA", "news; no-such-file.csv")
    assert data.first_data("sst2-fmm") == "news" and len(data.data_problems()) == 1
