"""Data files as somebody makes them who wants harm: a seed gives one of a kind that no list thinks of.

`python -m tests.hostile_seeded FIRST COUNT` tries as many as one likes, and says what did not end in a table or a sentence.
"""

import io
import json
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from core.data.browsing import Index, Predicted, Query, facets, judge, match_labels, select
from core.data.guessing import guess_mapping
from core.data.mapping import Mapping, build
from core.data.parsed import BadData
from core.data.sources import keep, open_data, read_labelled, understand
from core.data.tables import RawTable, read_table
from core.storage.library import Library

NAMES = ("text", "label", "id", "second", "tags", "note", "evidence", "sentence1", "a.b", "", " ", "faithscope row")
# Cells that some reader somewhere has stumbled over.
CELLS: tuple[Callable[[random.Random], object], ...] = (
    lambda rng: rng.choice(["warm bread", "cold harbour", "salt soup by the sea, again", "", " ", "\t"]),
    lambda rng: rng.choice(["9", "-", "1", "+", "0"]) * rng.choice([1, 20, 4_301, 9_000]),
    lambda rng: rng.choice(["NaN", "inf", "-inf", "1e999", "0x10", "1_000", "²", "١٢", "−1", "None", "null", "TRUE"]),
    lambda rng: rng.choice(["\ud800", "\udfff", "\ufeff", "\u2028", "\x85", "\x1b[2J", "\u202e", "😀", "\ufffe"]) * 3,
    lambda rng: rng.choice(['"', '""', "'", "\\", ",", ";", "\n", "\r", "|", "[", "{"]) * rng.choice([1, 2, 3, 500]),
    lambda rng: rng.choice(["=cmd|' /C calc'!A0", "@SUM(1)", "<script>", "${x}", "%s%n", "../../x", "{0.__class__}"]),
    lambda rng: "word " * rng.choice([50, 5_000]),
    lambda rng: "x" * rng.choice([81, 1_001, 70_000]),
    lambda rng: rng.choice([[], {}, [[0, 4]], [[0, 10**30]], ["warm"], [[-1, 2]], [None], {"a": {"b": []}}, [[]]]),
    lambda rng: rng.choice([0, 1, -1, True, None, 1.0, 0.5, 2**63, -(2**64), 10**4_000, 1e308, float("inf")]),
    lambda rng: json.dumps([[rng.randrange(9), rng.randrange(9)] for _ in range(rng.choice([1, 2_000]))]),
)


def hostile_file(seed: int) -> tuple[str, bytes]:
    """A file's name and content."""
    rng = random.Random(seed)
    make = rng.choice([_separated, _separated, _json, _json, _parquet, _noise])
    name, content = make(rng)
    for _ in range(rng.choice([0, 0, 1, 3])):
        content = _damaged(rng, content)
    if rng.random() < 0.1:
        name = rng.choice(["a", ".csv", "a.csv.json", "\ud800.csv", "x" * 5_000 + ".tsv", "a\nb.parquet", "a.JSONL"])
    return name, content


def _rows(rng: random.Random) -> tuple[list[str], list[list]]:
    columns = [
        rng.choice(NAMES) if rng.random() < 0.9 else str(rng.choice(CELLS)(rng)) for _ in range(rng.randint(1, 5))
    ]
    kinds = [rng.sample(CELLS, rng.choice([1, 1, 2, 5])) for _ in columns]
    kinds[0], columns[0] = [CELLS[0], CELLS[0], *kinds[0]], rng.choice(["text", columns[0]])
    return columns, [[rng.choice(kind)(rng) for kind in kinds] for _ in range(rng.choice([1, 3, 30, 300]))]


def _separated(rng: random.Random) -> tuple[str, bytes]:
    columns, rows = _rows(rng)
    separator, end, quote = rng.choice(",;\t|"), rng.choice(["\n", "\r\n", "\r"]), rng.choice(['"', '"', "'", ""])

    def cell(value) -> str:
        text = "" if value is None else str(value) if not isinstance(value, (list, dict)) else json.dumps(value)
        return f"{quote}{text.replace(quote, quote * 2) if quote else text}{quote}"

    text = end.join(separator.join(map(cell, row)) for row in [columns, *rows])
    encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
    return rng.choice(["a.csv", "a.tsv"]), text.encode(encoding, "replace")


def _json(rng: random.Random) -> tuple[str, bytes]:
    columns, rows = _rows(rng)
    sys.set_int_max_str_digits(0)
    try:
        objects = [json.dumps(dict(zip(columns, row)), ensure_ascii=True) for row in rows]
    finally:
        sys.set_int_max_str_digits(4_300)
    if rng.random() < 0.2:
        deep = rng.choice([50, 900, 5_000])
        objects.append('{"text": "a", "label": ' + "[" * deep + "]" * deep + "}")
    if rng.random() < 0.3:
        return "a.json", f"[{','.join(objects)}]".encode()
    return rng.choice(["a.jsonl", "a.ndjson", "a.json", "a.csv"]), "\n".join(objects).encode()


def _parquet(rng: random.Random) -> tuple[str, bytes]:
    import pyarrow
    from pyarrow import parquet

    columns, rows = _rows(rng)
    arrays = []
    for values in zip(*rows):
        texts = [None if value is None else str(value)[:5_000].encode("utf-8", "replace") for value in values]
        arrays.append(
            rng.choice(
                [
                    lambda: pyarrow.array([text and text.decode() for text in texts], pyarrow.string()),
                    lambda: pyarrow.array(texts, pyarrow.binary()),
                    lambda: pyarrow.array(texts, pyarrow.large_binary()).dictionary_encode(),
                    lambda: pyarrow.array([[text] * 3 for text in texts]),
                    lambda: pyarrow.array([{"a": text, "b": [1]} for text in texts]),
                    lambda: pyarrow.array([[("k", text)] for text in texts], pyarrow.map_("string", "binary")),
                    lambda: pyarrow.array([rng.randrange(-(2**63), 2**63) for _ in texts], pyarrow.timestamp("us")),
                    lambda: pyarrow.array([2**40 * rng.random() for _ in texts]),
                    lambda: pyarrow.nulls(len(texts)),
                    lambda: pyarrow.array([10**30 for _ in texts], pyarrow.decimal128(38, 2)),
                    lambda: pyarrow.array([rng.randrange(2**31) for _ in texts], pyarrow.duration("s")),
                ]
            )()
        )
    names = [column.encode("utf-8", "replace").decode() for column in columns]
    sink = io.BytesIO()
    table = pyarrow.Table.from_arrays(arrays, names=names)
    how = {"compression": rng.choice(["zstd", "snappy", "none"]), "use_dictionary": rng.random() < 0.5}
    parquet.write_table(table, sink, row_group_size=rng.choice([1, 7, 1_000]), **how)
    return rng.choice(["a.parquet", "a.csv"]), sink.getvalue()


def _noise(rng: random.Random) -> tuple[str, bytes]:
    signs = rng.choice(['",\n', '{}[]":,\n', "\\\"'\n,;|\t", "-9e.,\n", "\x00\n,a", "🏽\u200d,\n"])
    text = "".join(rng.choices(signs, k=rng.choice([5, 500, 50_000])))
    return rng.choice(["a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet"]), text.encode()


def _damaged(rng: random.Random, content: bytes) -> bytes:
    """Some bytes changed, left out, doubled, or the end cut off."""
    if not content:
        return content
    start = rng.randrange(len(content))
    end = min(len(content), start + rng.choice([1, 4, 300]))
    middle = rng.choice([b"", rng.randbytes(end - start), content[start:end] * 2, b'"', b"\0", b"\xff"])
    return content[:start] if rng.random() < 0.1 else content[:start] + middle + content[end:]


def attack(name: str, content: bytes, folder: Path) -> str:
    """Read, understand, browse, keep and open a file again; what was said, "" where there was nothing to say.

    Raises:
        AssertionError: a sentence that is none, or another text after opening again.
        Exception: whatever else should never come.
    """
    said = ""
    try:
        table = read_table(content, name)
        prepared, mapping, _ = understand(table)
        data = build(prepared, mapping)
        _browse(prepared, mapping)
        library = Library(folder)
        again = open_data(library, keep(library, prepared, mapping, "a file").key)
        assert [e.text for e in again.examples] == [e.text for e in data.examples]
    except BadData as error:
        said = _checked(str(error))
    for suffix in (".csv", ".jsonl", ".parquet"):
        path = folder / f"labelled{suffix}"
        path.write_bytes(content)
        try:
            read_labelled(path, _checked)
        except BadData as error:
            _checked(str(error))
    return said


def _browse(table: RawTable, mapping: Mapping) -> None:
    index = Index(build(table, mapping))
    labels = index.data.classes
    match = match_labels(labels, ("no", "yes"))
    judged: Predicted = judge(index, ("no", "yes"), match, None)
    facets(index, judged)
    for order in ("text", "label", "length"):
        select(index, judged, Query(search="a", order=order))
    assert guess_mapping(table) and len(_checked(match.how or ".")) < 1_000
    for note in index.data.notes:
        _checked(note)


def _checked(said: str) -> str:
    assert said.endswith(".") and "\n" not in said and len(said) < 1_000 and said.encode(), said[:300]
    return said


def main(first: int, count: int) -> int:
    """Try files; print each that did harm, and a count."""
    bad = slow = refused = 0
    for seed in range(first, first + count):
        started = time.perf_counter()
        with TemporaryDirectory() as folder:
            try:
                refused += bool(attack(*hostile_file(seed), Path(folder)))
            except Exception:
                bad += 1
                print(f"--- {seed}\n{traceback.format_exc()[-1500:]}")
        took = time.perf_counter() - started
        if took > 2:
            slow += 1
            print(f"--- {seed} took {took:.1f} s")
    print(f"{count} files: {count - refused - bad} read, {refused} refused in a sentence, {bad} bad, {slow} over 2 s")
    return bad


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]))))
