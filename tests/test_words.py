"""How much the product says, and in whose words: figures that only ever go down."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Words of the project's own for what the field has a term for, as CONTRIBUTING says.
DIALECT = ("told", "tells", "whom", "dear", "anew", "borne out", "rests on", "is said of", "together of", "whoever")
# Markup that a browser reads; `<b>` is Plotly's.
MARKUP = re.compile(r"<(?:p|span|div|td|tr|th|table|code|i|dl|dt|dd|small|a|ul|li)[ >]")


def tracked(*patterns: str) -> list[Path]:
    """The tracked files of these patterns."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


PRODUCT = tracked("core/*.py", "pages/*.py", "app.py")
TEXTS = tracked("core/texts/*.j2", "core/texts/*.toml")


def words_of(text: str) -> int:
    return len(re.findall(r"[^\W\d_]{2,}", text))


def literals(path: Path) -> list[str]:
    """The texts of a module outside docstrings, without lists of names, which are split where they stand."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = [node.body[0] for node in ast.walk(tree) if isinstance(node, owners) and node.body]
    left_out = {id(one.value) for one in first if isinstance(one, ast.Expr)}
    left_out |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "split"}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in left_out]
    return [node.value for node in texts if isinstance(node.value, str)]


def prose(text: str) -> int:
    """Words of a text of three words or more that is mostly letters, and no code."""
    words = len(text.split())
    code = re.search(r"[<>{}=;\\]|^\^", text) or 2 * sum(map(str.isalpha, text)) <= len(text)
    return 0 if words < 3 or code else words


def shown(path: Path) -> int:
    """Words of a template or a table of sentences, without the names in its brackets."""
    return len(re.sub(r"{{.*?}}|{%.*?%}|{#.*?#}", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL).split())


def test_the_product_does_not_say_more():
    """Words of literals, errors and help included, and of templates; what attacks, retraining and a front door, GPUs and pairs say is new."""
    assert sum(prose(text) for path in PRODUCT for text in literals(path)) + sum(map(shown, TEXTS)) <= 10_390


@pytest.mark.parametrize(
    ("text", "words"), [("Two words", 0), ("Not one word more", 4), ("a = b + c", 0), ("<b>a b c</b>", 0)]
)
def test_what_counts_as_words(text, words):
    assert prose(text) == words


def test_the_private_dialect_dies_out():
    found = Counter(
        word
        for path in [*PRODUCT, *TEXTS, *tracked("*.md")]
        for word in re.findall(rf"\b(?:{'|'.join(DIALECT)})\b", path.read_text(encoding="utf-8").lower())
    )
    assert found.total() <= 700, found


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_a_template_chooses_nothing(path):
    assert not re.search(r"{%-?\s*(?:if|for|else)\b", path.read_text(encoding="utf-8"))


def test_html_is_written_by_texts_and_reports_alone():
    rooms = {ROOT / "core" / "texts", ROOT / "core" / "reports"}
    written = [path for path in PRODUCT if path.is_relative_to(ROOT / "core") and not rooms & {*path.parents}]
    assert not [(path.name, text) for path in written for text in literals(path) if MARKUP.search(text)]
