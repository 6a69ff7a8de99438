"""The house: who may import whom, what may appear nowhere, and how long a piece of code may be."""

import ast
import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("torch", "transformers", "captum", "datasets", "umap", "peft", "shapiq")
HOUSE = (ROOT / "core" / "README.md").read_text(encoding="utf-8")
FACE = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
FILES = [*sorted((ROOT / "core").rglob("*.py")), *FACE]
# What a browser gets beside what Python writes: scripts, style sheets, templates.
DRAWN = sorted(
    path for room in ("core", "pages") for kind in ("js", "css", "html") for path in (ROOT / room).rglob(f"*.{kind}")
)
# What turns a text into code or markup.
RUNS = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "<script", "new Function", "eval(")


# The house from the ground up: a room imports from itself and from rooms before it. core/README.md says what each
# promises.
ROOMS = (
    "core.wording core.terms core.settings core.registers core.mathematics core.mathematics.search core.storage core.network core.oracle "
    "core.measures core.metrics core.loading core.data core.analysis core.attacks core.validity core.explanation core.judging core.interactions core.stability core.verdicts core.evaluation "
    "core.evaluation.studies core.plugins core.training core.roar core.results core.texts core.figures core.reports core.sweeps core.viewers core.job core.jobs core.bench core.commands core.front core.tools core.__main__ "
    "pages.parts.components pages.parts.face pages.parts.frame pages.parts.sections pages.parts.steps pages.parts.limits "
    "pages.parts.erasure pages.parts.check pages.parts.data_set pages.parts.attributions pages.parts.examples "
    "pages.parts.scoreboard "
    "pages app"
).split()
# One room with a folder of its own inside: its searches use its formulas.
SAME = {"core.mathematics.search": "core.mathematics"}
# Parts of one page: they know no other page's.
SIBLINGS = [room for room in ROOMS if room.startswith("pages.parts.")][4:]
MOST_MODULES = 14
MOST_LINES, MOST_OF_A_FUNCTION, MOST_COLUMNS = 450, 45, 120
# What a register asks of every command, and how every register is asked.
PROTOCOLS = {"add": ("core.commands", "core.tools"), "run": ("core.commands", "core.tools"), "register": "core."}
# Alike, and found by their register.
ALIKE = {
    "core.results",
    "core.figures",
    "core.measures",
    "core.metrics",
    "core.evaluation.studies",
    "core.sweeps",
    "core.commands",
    "core.tools",
}


def of_every_file(check):
    """One test of what holds for every file; it tells all files that break it."""

    def test():
        broken = []
        for path in FILES:
            try:
                check(path)
            except AssertionError as error:
                broken.append(f"{path.relative_to(ROOT).as_posix()}: {str(error).partition(chr(10))[0]}")
        assert not broken, "\n" + "\n".join(broken)

    return test


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def room_of(module: str) -> str:
    """The room of a module; "" for the packages that only hold rooms."""
    return max((room for room in ROOMS if module == room or module.startswith(f"{room}.")), key=len, default="")


def place(module: str) -> int:
    """Where a module's room stands in the order, from the ground up; packages that only hold rooms lie below."""
    room = room_of(module)
    return ROOMS.index(SAME.get(room, room)) if room else -1


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(tree) -> set[str]:
    """Every module that a file imports, at the top or inside a function; a name from a package counts as a module
    too.
    """
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {
                f"{node.module}.{alias.name}" if is_module(f"{node.module}.{alias.name}") else node.module
                for alias in node.names
            }
    return found


def is_module(name: str) -> bool:
    place = ROOT.joinpath(*name.split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def called(node) -> str:
    """The dotted name of what is called, as written."""
    return ast.unparse(node.func)


@of_every_file
def test_a_file_imports_from_its_own_room_and_those_below(path):
    own = module_of(path)
    if own == "core":
        # The door itself, which rooms do not go through.
        own = "core.front"
    for name in imports(tree_of(path)):
        if name.split(".")[0] in ("core", "pages", "app"):
            assert place(name) <= place(own), f"{name} lies above"
            if room_of(own) in SIBLINGS and room_of(name) in SIBLINGS:
                assert room_of(own) == room_of(name), f"{name} is part of another page"


@of_every_file
def test_public_functions_say_what_they_take_and_give(path):
    # Those inside of functions and of private classes too; of special methods those of public classes.
    tree = tree_of(path)
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    special = {node for scope in classes for node in scope.body if getattr(node, "name", "").startswith("__")}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            made = node.name in ("__init__", "__post_init__")
            if not node.name.startswith("_") or node in special:
                given = node.args
                taken = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
                bare = [a.arg for a in taken if a is not None and a.annotation is None]
                assert set(bare) <= {"self", "cls"} and (made or node.returns), f"{node.name}({', '.join(bare)})"


@of_every_file
def test_mathematics_knows_arrays_only(path):
    if room_of(module_of(path)).startswith("core.mathematics"):
        others = {name.split(".")[0] for name in imports(tree_of(path))} - set(sys.stdlib_module_names)
        # Tensors where speed asks for them, never while a module is imported (see HEAVY below).
        assert others <= {"core", "numpy", "scipy", "torch"}


@pytest.mark.parametrize("room", [room for room in ROOMS if (ROOT / room.replace(".", "/")).is_dir()])
def test_a_room_says_its_promise_and_is_no_drawer(room):
    folder = ROOT / room.replace(".", "/")
    modules = [file for file in folder.glob("*.py") if file.name != "__init__.py"]
    assert room in ALIKE or len(modules) <= MOST_MODULES
    if room != "pages":
        promise = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))).splitlines()[0]
        assert promise in HOUSE, f"core/README.md does not say what {room} promises: {promise}"


def test_every_module_has_a_room():
    homeless = [module_of(path) for path in FILES if path.name != "__init__.py" and not room_of(module_of(path))]
    assert homeless == []


@of_every_file
def test_the_library_does_not_know_its_face_and_the_face_no_networks(path):
    roots = {name.split(".")[0] for name in imports(tree_of(path))}
    if path in FACE:
        assert not roots & set(HEAVY), "the pages ask core, which imports these when they are needed"
    else:
        assert "streamlit" not in roots


@of_every_file
def test_nothing_runs_foreign_code_or_markup(path):
    forbidden = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    assert not {name.split(".")[0] for name in imports(tree_of(path))} & forbidden
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            assert called(node) not in ("torch.load", "np.load", "numpy.load", "eval", "exec", "__import__"), called(
                node
            )
            # Collectives of objects travel as pickles.
            assert not (called(node).startswith("dist.") and "object" in called(node)), called(node)
        if isinstance(node, ast.keyword):
            assert node.arg not in ("unsafe_allow_html", "unsafe_allow_javascript", "allow_pickle"), node.arg
            assert node.arg != "trust_remote_code" or ast.unparse(node.value) == "False"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert [word for word in RUNS if word in node.value] == []


def test_nothing_that_a_browser_gets_runs_foreign_code_or_markup():
    found = {path.suffix for path in DRAWN}
    assert found == {".css", ".html", ".js"}, found
    broken = [
        f"{path.relative_to(ROOT).as_posix()}: {word}"
        for path in DRAWN
        for word in RUNS
        if word in path.read_text(encoding="utf-8")
    ]
    assert not broken, "\n" + "\n".join(broken)


def test_scripts_and_styles_are_read_without_turning_the_head():
    broken = []
    for path in DRAWN:
        lines = path.read_text(encoding="utf-8").splitlines()
        longest = max(map(len, lines))
        if path.suffix != ".html" and (len(lines) > MOST_LINES or longest > MOST_COLUMNS):
            broken.append(f"{path.relative_to(ROOT).as_posix()}: {len(lines)} lines, the longest has {longest} columns")
    assert not broken, "\n" + "\n".join(broken)


def test_scripts_and_styles_stand_in_files_of_their_own():
    broken = []
    for path in [*FILES, *sorted((ROOT / "tests").rglob("*.py"))]:
        tree = tree_of(path)
        told = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        for node in texts:
            # Statements and declarations; what is one line stands where it is used.
            statements = sum(line.rstrip().endswith(";") for line in node.value.splitlines())
            if statements > 1 and node not in told:
                broken.append(f"{path.relative_to(ROOT).as_posix()}:{node.lineno}")
    assert not broken, "\n" + "\n".join(broken)


@of_every_file
def test_weights_come_from_safetensors_and_disk_only(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call) and called(node).endswith(".from_pretrained"):
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            assert (
                ast.literal_eval(given["trust_remote_code"]) is False
                and ast.literal_eval(given["local_files_only"]) is True
            )
            if "Model" in called(node):
                assert ast.literal_eval(given["use_safetensors"]) is True


@of_every_file
def test_a_function_fits_on_a_screen_and_a_file_in_a_head(path):
    length = len(path.read_text(encoding="utf-8").splitlines())
    assert length <= MOST_LINES, f"{length} lines"
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            said = node.body[0] if ast.get_docstring(node) else None
            lines = node.end_lineno - node.lineno + 1 - (said.end_lineno - said.lineno + 1 if said else 0)
            assert lines <= MOST_OF_A_FUNCTION, f"{node.name} has {lines} lines beside its docstring"


@of_every_file
def test_every_file_and_public_function_says_what_it_is(path):
    assert ast.get_docstring(tree_of(path))
    for node in tree_of(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name


@pytest.mark.parametrize("kind", [ast.ClassDef, ast.FunctionDef])
def test_one_public_name_means_one_thing(kind):
    """No two files name a class or function alike, unless a register asks for that name."""
    homes = {}
    for path in FILES:
        for node in tree_of(path).body:
            asked = isinstance(node, kind) and module_of(path).startswith(PROTOCOLS.get(node.name, "nowhere"))
            if isinstance(node, kind) and not asked and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module_of(path))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_what_the_pages_import_leaves_the_networks_alone():
    """The first picture must not wait for torch: core imports it inside the functions that need it."""
    wanted = sorted({name for path in FACE for name in imports(tree_of(path)) if name.split(".")[0] == "core"})
    assert "core.measures.catalogue" in wanted and "core.explanation.explainer" in wanted
    code = f"""
import importlib, json, sys
for name in {wanted!r}:
    importlib.import_module(name)
from core.measures.catalogue import measures
assert len(measures()) > 5
print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_the_rooms_are_read_rightly():
    """The reading itself: where a module lives and what is found inside functions and packages."""
    assert [
        room_of(m)
        for m in ("core", "core.mathematics.search.limits", "core.settings", "core.networks", "pages.aopc_and_naopc")
    ] == ["", "core.mathematics.search", "core.settings", "", "pages"]
    assert (
        place("core")
        < place("core.mathematics.search.limits")
        == place("core.mathematics.aopc")
        < place("core.network.model")
        < place("app")
    )
    found = imports(
        ast.parse(
            "import torch.nn\ndef f():\n    from core import settings\n    from core.network.model import Model\n    "
            "import scipy as s"
        )
    )
    assert found == {"torch.nn", "core.settings", "core.network.model", "scipy"}
    assert len(FILES) > 30 and {room_of(module_of(path)) for path in FILES} == {"", *ROOMS}
