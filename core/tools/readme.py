"""`python -m core.tools readme`: the tables that the READMEs hold of registers and rooms, compared or written."""

import ast
import difflib
import re
from collections.abc import Iterable
from pathlib import Path

from core import settings
from core.commands.options import Option, Options
from core.evaluation.studies.catalogue import questions
from core.measures.catalogue import measures
from core.metrics.catalogue import metrics
from core.storage.files import write_whole

HELP = "compare or write the tables of the READMEs"
_HEAD = ("name", "variants", "definition", "forward passes", "needs", "source")
_QUESTIONS_HEAD = ("question", "asks", "its study: columns of a row", "choices", "place")
_METRICS_HEAD = ("name", "better", "range", "definition", "forward passes", "source")


def add(option: Option) -> None:
    """What it takes."""
    option("--check", action="store_true", help="report differences (default); status 1 for any")
    option("--write", action="store_true", help="write the tables")


def run(options: Options) -> int:
    """Carry out the command; 0, or 1 where something differs and is not written."""
    stale = {path: texts for path, texts in renewed(settings.ROOT).items() if texts[0] != texts[1]}
    for path, (old, new) in stale.items():
        name = path.relative_to(settings.ROOT).as_posix()
        if options.write:
            write_whole(path, new.encode(), replaces=True)
            print(f"Written: {name}")
        else:
            lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, f"{name} (generated)", n=0)
            print("\n".join(map(str.rstrip, lines)))
    return int(bool(stale) and not options.write)


def renewed(root: Path) -> dict[Path, tuple[str, str]]:
    """Each file with tables, as it is and as it should be; ValueError where a table's marks are not there."""
    made = {
        root / "README.md": {"pages": page_table(root)},
        root / "core" / "README.md": {
            "rooms": None,
            "questions": question_table(),
            "measures": measure_table(),
            "metrics": metric_table(),
        },
    }
    found = {}
    for path, tables in made.items():
        old = new = path.read_text(encoding="utf-8")
        for name, table in tables.items():
            between = re.search(f"(?<=<!-- {name} -->\n).*?(?=\n<!-- end of {name} -->)", new, re.DOTALL)
            if between is None:
                raise ValueError(f"{path} lacks the marks of the table of {name}")
            told = room_tables(between[0], root) if table is None else table
            new = new[: between.start()] + told + new[between.end() :]
        found[path] = old, new
    return found


def measure_table() -> str:
    """The registered measures as a Markdown table, in the order of menus; no newline at its end."""
    rows = []
    for m in measures().values():
        options = f" (options: {', '.join(m.options)})" if m.options else ""
        rows.append((m.name, ", ".join(m.variants) + options, m.definition, m.cost, m.needs, m.source))
    return _markdown(_HEAD, rows)


def metric_table() -> str:
    """The registered metrics as a Markdown table, in the order of menus; no newline at its end."""
    rows = [
        (m.name, m.arrow or "neither", f"{m.low} to {m.high}, {m.unit}", m.definition, m.cost, m.source)
        for m in metrics().values()
    ]
    return _markdown(_METRICS_HEAD, rows)


def question_table() -> str:
    """The registered questions as a Markdown table, in the order of menus; no newline at its end."""
    rows = []
    for name, question in questions().items():
        kind = type(question().studies[0])
        study = f"`{kind.__module__}.{kind.__name__}`: {', '.join(kind.columns)}"
        rows.append((name, question.asks, study, ", ".join(question.choices()), question.page))
    return _markdown(_QUESTIONS_HEAD, rows)


def page_table(root: Path) -> str:
    """The pages as a Markdown table, in the order of the sidebar, read from the text of their register."""
    tree = ast.parse((root / "pages" / "parts" / "frame" / "pages.py").read_text(encoding="utf-8"))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Page")
    entries = ([ast.literal_eval(value) for value in call.args] for call in calls)
    return _markdown(("page", "question"), [(title, question) for _, title, _, question in entries])


def room_tables(written: str, root: Path) -> str:
    """Tables of rooms with the first line of each module's docstring; rooms and order are kept."""

    def row(found: re.Match) -> str:
        place = root / found[1]
        module = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        said = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
        promise = said.partition("\n\n")[0]
        return f"| `{found[1]}` | {_cell(promise)} |"

    return re.sub(r"^\| `([\w/]+)` \|.*\|$", row, written, flags=re.MULTILINE)


def _markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in (head, ("---",) * len(head), *rows))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
