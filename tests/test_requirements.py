"""Everything that is imported is declared, the app's own and what only its tests use apart."""

import functools
import re
import sys
from importlib.metadata import packages_distributions

import pytest

from tests.test_floors import FILES, ROOT, imports, tree_of

TESTS = [*(ROOT / "tests").rglob("*.py")]
OWN = {"core", "pages", "tests", "app"}
INSTALLED = packages_distributions()
# Tools are not imported but run: as the settings or .ci/run say.
RUN = {"pytest-xdist": "--dist loadfile", "ruff": "\nruff check", "ty": "\nty check"}


def declared(part: int) -> set[str]:
    """Distributions of one part of the file: what the app runs on, or what the tests add."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("# Tests")[part].splitlines()
    return {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in lines if re.match(r"\w", line)}


@functools.cache
def imported(*files) -> frozenset[str]:
    """Top-level names that files import, the standard library's and the project's own left out."""
    found = {name.split(".")[0] for path in files for name in imports(tree_of(path))}
    return frozenset(found - set(sys.stdlib_module_names) - OWN)


def lacking(names: set[str], known: set[str]) -> set[str]:
    """Names of which no distribution is declared."""
    return {name for name in names if not {d.lower().replace("_", "-") for d in INSTALLED.get(name, ())} & known}


def test_what_the_app_imports_is_declared_for_the_app():
    assert lacking(imported(*FILES), declared(0)) == set()


def test_what_tests_import_is_declared_too():
    assert lacking(imported(*TESTS), declared(0) | declared(1)) == set()


@pytest.mark.parametrize("name", sorted(declared(0) | declared(1)))
def test_what_is_declared_is_imported(name):
    if name in RUN:
        assert any(RUN[name] in (ROOT / file).read_text(encoding="utf-8") for file in ("pyproject.toml", ".ci/run"))
        return
    used = imported(*FILES, *TESTS)
    assert any(lacking({module}, {name}) == set() for module in used), f"nothing imports {name}"


def test_an_undeclared_import_is_noticed():
    assert lacking({"yaml", "numpy"}, {"numpy"}) == {"yaml"}
