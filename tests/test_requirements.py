"""Everything that is imported is declared: what the app needs for users, what only its tests need for developers."""

import functools
import re
import sys
from importlib.metadata import packages_distributions

import pytest

from tests.test_floors import FILES, ROOT, imports, tree_of

TESTS = [*(ROOT / "tests").rglob("*.py")]
OWN = {"core", "pages", "tests", "app"}
INSTALLED = packages_distributions()
SETTINGS = ("pyproject.toml", ".ci/run", "core/bundled/notebooks/first_steps.ipynb")
# Tools are not imported but run: as the settings or .ci/run say.
RUN = {
    "pytest-xdist": "--dist loadfile",
    "ipykernel": '"name": "python3"',
    "ruff": "\nruff check",
    "ty": "\nty check",
    "pre-commit": "\npre-commit validate-config",
    "setuptools": 'build-backend = "setuptools.build_meta"',
}


def declared(file: str) -> dict[str, str]:
    """Distributions that a file of requirements names, with the version that it asks for."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    found = (re.match(r"([\w.-]+?)(?:\[\w+\])?((?:==|~=|>=)[\w.]+)", line) for line in lines)
    return {one[1].lower().replace("_", "-"): one[2] for one in found if one}


USERS, DEVELOPERS = declared("requirements.txt"), declared("requirements-dev.txt")
# What a user may leave out; its tests are developers'.
OPTIONAL = declared("requirements-ray.txt")


@functools.cache
def imported(*files) -> frozenset[str]:
    """Top-level names that files import, the standard library's and the project's own left out."""
    found = {name.split(".")[0] for path in files for name in imports(tree_of(path))}
    return frozenset(found - set(sys.stdlib_module_names) - OWN)


def lacking(names: set[str], known: set[str]) -> set[str]:
    """Names of which no distribution is declared."""
    return {name for name in names if not {d.lower().replace("_", "-") for d in INSTALLED.get(name, ())} & known}


def test_what_the_app_imports_is_declared_for_users():
    assert lacking(imported(*FILES), set(USERS | OPTIONAL)) == set()


def test_what_tests_import_is_declared_for_developers():
    assert lacking(imported(*TESTS), set(USERS | DEVELOPERS)) == set()


def test_developers_get_what_users_get_and_no_user_gets_a_tool():
    assert "\n-r requirements.txt\n" in (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    assert not set(USERS) & set(DEVELOPERS) and set(RUN) <= set(DEVELOPERS)
    assert lacking(imported(*FILES), set(DEVELOPERS) - set(OPTIONAL)) == imported(*FILES)
    assert OPTIONAL.items() <= DEVELOPERS.items()


@pytest.mark.parametrize("name", sorted(USERS | DEVELOPERS))
def test_what_is_declared_is_imported(name):
    if name in RUN:
        assert any(RUN[name] in (ROOT / file).read_text(encoding="utf-8") for file in SETTINGS)
        return
    used = imported(*FILES, *TESTS)
    assert any(lacking({module}, {name}) == set() for module in used), f"nothing imports {name}"


def test_an_undeclared_import_is_noticed():
    assert lacking({"yaml", "numpy"}, {"numpy"}) == {"yaml"}
