"""THIRD_PARTY_LICENSES.md lists every package that is required and all weights that are included, as they say."""

import re
from importlib.metadata import distribution, metadata

import pytest

from tests.test_floors import ROOT
from tests.test_requirements import DEVELOPERS, USERS

LISTED = (ROOT / "THIRD_PARTY_LICENSES.md").read_text(encoding="utf-8")
FAMILIES = ("Apache", "BSD", "MIT", "MPL")


def listed(heading: str) -> dict[str, str]:
    """First and last column of the table under a heading."""
    part = LISTED.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    return {row[0].strip("`"): row[-1] for row in rows[2:]}


PACKAGES = listed("Packages that the app runs on") | listed("Packages for development")


@pytest.mark.parametrize(
    ("heading", "required"), [("Packages that the app runs on", USERS), ("Packages for development", DEVELOPERS)]
)
def test_every_required_package_is_listed_and_no_other(heading, required):
    assert {name.lower().replace("_", "-") for name in listed(heading)} == set(required)


@pytest.mark.parametrize("name", PACKAGES)
def test_the_licence_is_that_of_the_installed_package(name):
    found = metadata(name)
    kinds = [one for one in found.get_all("Classifier") or [] if one.startswith("License")]
    # Some state nothing but a whole text or "BSD": the family is what can be compared.
    said = [found.get("License-Expression") or "", found.get("License") or "", *kinds]
    # One that states nothing at all has its text beside it.
    files = [] if any(said) else [one for one in distribution(name).files or [] if "LICENSE" in one.name.upper()]
    text = " ".join([*said, *(one.read_text() for one in files)])
    families = {family for family in FAMILIES if re.search(rf"\b0?{family}\b", text)}
    assert families == {family for family in FAMILIES if re.search(rf"\b0?{family}\b", PACKAGES[name])}, text[:200]


def test_all_included_weights_are_listed():
    bundled = ROOT / "core" / "bundled"
    folders = {path.parent.relative_to(bundled).as_posix() for path in bundled.rglob("SOURCE.md")}
    # Members of a family of seeds share one source.
    own = [path.parent for path in bundled.rglob("*model.safetensors")]
    homes = {one.parent if (one.parent / "family.json").exists() else one for one in own}
    assert folders == {one.relative_to(bundled).as_posix() for one in homes}
    assert set(listed("Weights that are included")) == folders
