"""The README says what is so."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

from core import settings
from core.commands import command_line
from core.loading.locating import bundled_models
from core.tools.readme import measure_table, metric_table
from pages.parts.frame.pages import PAGES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
HOUSE = (ROOT / "core" / "README.md").read_text(encoding="utf-8")


def test_two_commands_stand_there_once_each():
    lines = README.splitlines()
    assert lines.count("python -m pip install -r requirements.txt && python -m streamlit run app.py") == 1
    assert lines.count("python -m pip install -r requirements-dev.txt && python -m pytest") == 1


def test_it_is_read_in_a_few_minutes_and_every_page_has_a_picture():
    assert len(README.split()) <= 1500
    shown = re.findall(r"^### (.+)\n\n!\[", README, flags=re.MULTILINE)
    assert shown == [page.title for page in PAGES if page.title != "Home"] and "](tests/screenshots/home.png)" in README


def test_measure_table_is_the_register():
    between = HOUSE.split("<!-- measures -->")[1].split("<!-- end of measures -->")[0]
    assert between.strip() == measure_table().strip()


def test_metric_table_is_the_register():
    between = HOUSE.split("<!-- metrics -->")[1].split("<!-- end of metrics -->")[0]
    assert between.strip() == metric_table().strip()


def test_settings_table_names_every_variable_with_its_default():
    table = dict(re.findall(r"^\| `(FAITHSCOPE_\w+)` \| .* \| (?:`([^`]+)`|none) \|$", HOUSE, flags=re.MULTILINE))
    default = settings.read({})
    expected = {
        "FAITHSCOPE_DEVICE": default.device,
        "FAITHSCOPE_PRECISION": default.precision,
        "FAITHSCOPE_MODEL": default.model,
        "FAITHSCOPE_DATA": ";".join(default.data),
        "FAITHSCOPE_CACHE": default.cache.relative_to(ROOT).as_posix() + "/",
        "FAITHSCOPE_CACHE_MB": str(default.cache_bytes // 1_000_000),
        "FAITHSCOPE_EXACT": default.exact_scores or "",
        "FAITHSCOPE_HOSTS": ";".join(default.hosts),
        "FAITHSCOPE_SHIPPED": "yes" if default.shipped else "no",
    }
    assert table == expected
    code = (ROOT / "core" / "settings.py").read_text(encoding="utf-8")
    named_in_code = set(re.findall(r'"(FAITHSCOPE_[A-Z_]+)"', code))
    assert named_in_code == set(expected)
    assert default.model in bundled_models()


def test_pages_table_lists_the_pages_that_exist():
    between = README.split("<!-- pages -->")[1].split("<!-- end of pages -->")[0]
    assert re.findall(r"^\| ([^|]+) \| ([^|]+\?) \|$", between, flags=re.MULTILINE) == [
        (page.title, page.question) for page in PAGES
    ]
    assert {page.path for page in PAGES} == {
        "app.py",
        *(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")),
    }


@pytest.mark.parametrize(
    "link",
    re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README)
    + re.findall(r"`(core/[\w/.-]+)`", README)
    + re.findall(r"[^!]\[[^\]]*\]\(([\w/]+\.md)\)", README),
)
def test_named_files_exist(link):
    assert (ROOT / link).exists()


COMMANDS = [
    line
    for line in README.splitlines()
    if re.fullmatch(r"python -m core(\.tools)? [a-z]+( .*)?", line) and "--help" not in line
]


def test_readme_shows_what_makes_checks_and_measures_models():
    assert {line.split()[3] for line in COMMANDS} >= {"train", "reference", "explain", "evaluate", "stories"}


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_are_understood(line, monkeypatch):
    asked = []
    room = {"core": "core.commands"}.get(line.split()[2], line.split()[2])
    monkeypatch.setattr(command_line.command(line.split()[3], room), "run", lambda options: asked.append(options) or 0)
    assert command_line.main(shlex.split(line)[3:], room) == 0
    assert isinstance(asked[0], argparse.Namespace)


def test_every_requirement_has_a_reason_and_torch_is_pinned():
    files = [(ROOT / name).read_text(encoding="utf-8") for name in ("requirements.txt", "requirements-dev.txt")]
    lines = [line for file in files for line in file.splitlines() if line and not line.startswith(("#", "-r "))]
    assert all(re.fullmatch(r"[\w-]+(\[\w+\])?(==|~=|>=)[\w.]+ +# \S.*", line) for line in lines)
    assert any(line.startswith("torch==2.13.0 ") for line in lines)
