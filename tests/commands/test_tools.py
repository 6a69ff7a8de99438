"""The tools and the names that commands had before."""

import re
import subprocess
import sys

import numpy as np
import pytest

from core.commands.command_line import MOVED, commands, main
from core.storage.store import Store, canonical_key

HEAVY = {"torch", "transformers", "scipy", "numpy", "pyarrow", "datasets"}


@pytest.mark.parametrize("module", ["core", "core.tools"])
def test_help_lists_at_most_nine_and_imports_nothing_heavy(module):
    code = f"""
import runpy, sys
sys.argv = ["core", "--help"]
try:
    runpy.run_module({module!r}, run_name="__main__")
except SystemExit:
    print(*sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    listed = commands("core.tools" if module == "core.tools" else "core.commands")
    assert ran.stderr.strip() == "" and all(re.search(rf"\n    {name}\s", ran.stdout) for name in listed)
    assert not any(f"\n    {name}" in ran.stdout for name in set(MOVED) - set(listed))


def test_an_old_name_works_and_says_its_new_one(tmp_path, capsys):
    out = tmp_path / "stories.jsonl"
    asked = ["stories", "--task", "1", "--count", "3", "--out", str(out)]
    assert main(asked) == 0 and "python -m core.tools stories" in capsys.readouterr().err
    before = out.read_bytes()
    assert main(asked, "core.tools") == 0 and capsys.readouterr().err == "" and out.read_bytes() == before
    for name in MOVED:
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path))
    store = Store(tmp_path)
    store.names |= {"a" * 64: "first", "b" * 64: "second", "ab" * 32: "second"}
    for model in store.names:
        store.put(canonical_key("one", 1, model=model), {"x": np.arange(5)}, {})
    return store


def tool(capsys, *asked: str) -> tuple[int, str]:
    status = main(["store", *asked], "core.tools")
    said = capsys.readouterr()
    return status, said.out + said.err


def test_the_store_is_shown_and_deleted_by_model(stored, capsys):
    status, said = tool(capsys)
    *lines, total = said.splitlines()
    assert status == 0 and str(stored.root) in total and len(lines) == 3
    assert {tuple(line.split()[-2:]) for line in lines} == {(name, model[:12]) for model, name in stored.names.items()}
    assert tool(capsys, "--delete", "first")[0] == 0
    assert "first" not in tool(capsys)[1]


@pytest.mark.parametrize(("asked", "named"), [("gone", "second"), ("second", "abab"), ("", "second")])
def test_what_names_no_single_model_deletes_nothing(stored, capsys, asked, named):
    before = stored.files()
    status, said = tool(capsys, "--delete", asked)
    assert status == 1 and named in said and stored.files() == before
