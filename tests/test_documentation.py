"""What the architecture says is so: cited terms, named functions and stored keys exist."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from core.evaluation.studies.catalogue import questions
from core.evaluation.study import Study
from core.measures.catalogue import measures
from core.metrics.catalogue import metrics
from tests.test_floors import ROOMS, SIBLINGS

ROOT = Path(__file__).resolve().parent.parent
HOUSE = (ROOT / "core" / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
WALKS = [(text.partition("\n")[0], text) for text in CONTRIBUTING.split("## Walks")[1].split("\n### ")[1:]]
FILES = [
    ROOT / "app.py",
    *(path for name in ("core", "pages", "tests") for path in sorted((ROOT / name).rglob("*.py"))),
]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in FILES}
TERMS = set(re.findall(r"^### (.+)$", HOUSE.split("## Glossary")[1], flags=re.MULTILINE))
NAMED = sorted(set(re.findall(r"`((?:core|pages)\.[\w.]+)`", HOUSE)))


def test_every_citation_of_the_glossary_names_a_term():
    cited = {
        (name, " ".join(term.split()))
        for name, text in TEXTS.items()
        if name != "tests/test_documentation.py"
        for term in re.findall(r"glossary, ([^.;:,)]+)", text)
    }
    assert {(name, term) for name, term in cited if term not in TERMS} == set()
    assert len({term for _, term in cited}) > 10, "the glossary is cited"


def test_terms_can_be_cited_and_stand_there_once():
    assert len(re.findall("^### ", HOUSE, flags=re.MULTILINE)) == len(TERMS) and not any(
        re.search("[.;:,)]", t) for t in TERMS
    )


def test_every_source_is_in_the_table_of_papers():
    papers = set(re.findall(r"^\| (\w+) \| .*\(\d{4}\)", HOUSE.split("## Glossary")[1], flags=re.MULTILINE))
    assert papers == {"FMM", "NAOPC", "SoftFaith", "RobustInf", "ROAR", "MaSF"}
    named = set(re.findall(r"Source: ([A-Z]\w*[A-Z]\w*) (?:Eq|§|App|Alg|Table|Fig)", "\n".join(TEXTS.values())))
    assert named <= papers


def test_the_readme_expands_short_names_where_they_come_first_and_leads_here():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("FMM", "NAOPC", "SoftFaith", "RobustInf", "ROAR", "MaSF", "AOPC"):
        found = re.search(rf"(?<![\w-]){name}\b", readme)
        assert found and readme[found.start() - 1] == "(", f"{name} is not expanded where it comes first"
    assert "(core/README.md)" in readme and "(core/README.md#glossary)" in readme


def test_every_measure_metric_and_number_is_defined():
    glossary = HOUSE.split("## Glossary")[1].replace("*", "").lower()
    plain = {name.partition(" (")[0].lower() for name in (*measures(), *metrics())}
    assert {name for name in plain if name.replace("aopc ", "") not in glossary} == set()


def test_every_walk_names_its_files_its_test_and_a_command_that_exist():
    assert [title for title, _ in WALKS] == [
        f"Add {one}" for one in ("an importance measure", "a faithfulness metric", "a question", "a page", "a caveat")
    ]
    for title, walk in WALKS:
        assert re.search(r"`(core|pages)/[\w/]+\.py`|`core/(measures|metrics)`", walk), title
        assert re.search(r"`tests/[\w/]+test_\w+\.py`", walk), title
        (run,) = re.findall(r"^Run `python -m pytest -n 0 ([^`]+)`", walk, flags=re.MULTILINE)
        assert all((ROOT / path).exists() for path in run.split()), title


@pytest.mark.parametrize("name", NAMED)
def test_every_function_that_is_named_exists(name):
    found, path = ROOT, name.split(".")
    while path and ((found / path[0]).is_dir() or (found / f"{path[0]}.py").is_file()):
        found /= path.pop(0)
    found = importlib.import_module(".".join(found.relative_to(ROOT).parts))
    for part in path:
        assert hasattr(found, part) or part in getattr(found, "__dataclass_fields__", {}), f"{name}: there is no {part}"
        found = getattr(found, part, None)


def test_what_a_click_passes_is_told_with_names():
    story = HOUSE.split("## How a click becomes a number")[1].split("\n## ")[0]
    rooms = ("pages.parts.frame", "core.jobs", "core.measures", "core.oracle", "core.network", "core.validity")
    for room in (*rooms, "core.storage", "core.explanation", "core.figures"):
        assert any(name.startswith(room) for name in re.findall(r"`([\w.]+)`", story)), room


def producers() -> set[str]:
    """Names under which `core` keeps results; what a name ends in by measure or metric is left off."""
    found = set()
    for name, text in TEXTS.items():
        for node in ast.walk(ast.parse(text)) if name.startswith("core/") else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("canonical_key") and node.args:
                first = node.args[0]
                if isinstance(first, ast.JoinedStr) and isinstance(first.values[0], ast.Constant):
                    found.add(first.values[0].value)
                elif isinstance(first, ast.Constant):
                    found.add(first.value)
    assert questions()
    studies = [Study]
    for study in studies:
        studies += study.__subclasses__()
        # Other tests have questions of their own.
        named = f"{study.__module__.replace('.', '/')}.py" in TEXTS and getattr(study, "name", "")
        found |= {study.kept or named} if named and study.key is Study.key else set()
        found |= {f"{named}/row"} if named and study.row_keys is Study.row_keys and study.key is Study.key else set()
    return found


def test_every_stored_key_is_told():
    section = HOUSE.split("## The store's keys")[1].split("\n## ")[0]
    told = {re.sub("<.*>", "", name) for name in re.findall(r"`([^`]+)`", section) if "." not in name}
    assert producers() == told, "every producer has a row in core/README.md, and a pin in tests/storage/test_keys.py"


def test_the_tables_hold_the_rooms_in_their_order():
    told = [
        room.replace("/", ".")
        for room in re.findall(r"^\| `([\w/]+)` \|", HOUSE.split("end of rooms")[0], flags=re.MULTILINE)
    ]
    assert told == [room for room in ROOMS if room not in ("core.__main__", "pages", "app")] and set(SIBLINGS) < set(
        told
    )


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:tests|core|pages)/[\w/]+\.py)`", HOUSE + CONTRIBUTING))))
def test_files_that_are_to_be_read_exist(path):
    assert (ROOT / path).is_file()
