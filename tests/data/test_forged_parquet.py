"""Parquet files whose footer lies: each is a table or a sentence, in bounded time and memory, and ends no process.

`python -m tests.data.test_forged_parquet FIRST COUNT` tries as many as one likes.
"""

import io
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pyarrow
import pytest
from pyarrow import parquet

from core.data.parsed import BadData
from core.data.tables import RawTable, read_table

NUMBERS = 0, 1, -1, 127, 1_000, 2**20, 2_000_001, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**62)
ROWS = 4_177
SECONDS, BYTES = 10, 1_000_000_000


def written(rows: int, rng: random.Random) -> bytes:
    texts = [f"warm bread {i % 7}" for i in range(rows)]
    columns = {"text": texts, "label": [i % 2 for i in range(rows)]}
    more = {"tags": [["a", "b"]] * rows, "more": [{"a": "x", "b": 1}] * rows, "share": [0.5] * rows}
    columns |= {name: values for name, values in more.items() if rng.random() < 0.4}
    sink, how = (
        io.BytesIO(),
        {"row_group_size": rng.choice([rows, -(-rows // 3)]), "use_dictionary": rng.random() < 0.5},
    )
    parquet.write_table(pyarrow.table(columns), sink, compression=rng.choice(["none", "snappy", "zstd", "gzip"]), **how)
    return sink.getvalue()


def parts(content: bytes) -> tuple[bytes, bytearray]:
    """A file's pages and its footer."""
    length = int.from_bytes(content[-8:-4], "little")
    return content[: -8 - length], bytearray(content[-8 - length : -8])


def whole(pages: bytes, footer: bytes) -> bytes:
    return pages + bytes(footer) + len(footer).to_bytes(4, "little") + b"PAR1"


def number(value: int) -> bytes:
    """A whole number as the footer writes it: zigzag, seven bits a byte."""
    left, out = (value << 1) ^ (value >> 63) if value >= 0 else -2 * value - 1, bytearray()
    while left > 127:
        out.append(left & 127 | 128)
        left >>= 7
    return bytes([*out, left])


def forged(seed: int) -> bytes:
    """A file of which a seed changed some bytes, most often numbers of the footer."""
    rng = random.Random(seed)
    pages, footer = parts(written(rng.choice([1, 3, 50, 2_000]), rng))
    for _ in range(rng.choice([1, 1, 2, 4])):
        at, how = rng.randrange(len(footer)), rng.random()
        if how < 0.4:
            footer[at] ^= 1 << rng.randrange(8)
        elif how < 0.85:
            end = next((i for i in range(at, len(footer)) if footer[i] < 128), at)
            footer[at : end + 1] = number(rng.choice(NUMBERS))
        else:
            footer[at : at + rng.randrange(9)] = rng.randbytes(rng.randrange(9))
    return whole(pages, footer)


def answer(content: bytes, folder: Path) -> RawTable | str:
    """What becomes of a file: a table, or a sentence; AssertionError where it takes too long or too much."""
    path, process, began = folder / "a.parquet", psutil.Process(), time.monotonic()
    path.write_bytes(content)
    before = process.memory_info().rss
    try:
        found = read_table(path)
    except BadData as error:
        found = str(error)
        assert found.endswith(".") and "\n" not in found and len(found) < 700, found
    assert time.monotonic() - began < SECONDS and process.memory_info().rss < before + BYTES
    return found


def test_a_footer_that_a_seed_forges_gives_a_table_or_a_sentence(tmp_path):
    found = [answer(forged(seed), tmp_path) for seed in range(60)]
    assert 5 < sum(isinstance(one, str) for one in found) < 60


def one_group(compression: str = "zstd") -> tuple[bytes, dict[str, int]]:
    """A file of one row group, and numbers that stand in its footer."""
    sink = io.BytesIO()
    table = pyarrow.table({"text": [f"warm bread {i}" for i in range(ROWS)], "label": [i % 2 for i in range(ROWS)]})
    parquet.write_table(table, sink, compression=compression, use_dictionary=False)
    group = parquet.ParquetFile(io.BytesIO(sink.getvalue())).metadata.row_group(0)
    text, label = group.column(0), group.column(1)
    return sink.getvalue(), {
        "rows": ROWS,
        "bytes of a group": group.total_byte_size,
        "bytes unpacked": text.total_uncompressed_size,
        "bytes packed": text.total_compressed_size,
        "place": label.data_page_offset,
    }


@pytest.mark.parametrize("lie", [0, 1, -1, 2**31 - 1, 2**31, 2**40, 2**63 - 1, -(2**62)])
@pytest.mark.parametrize("what", ["rows", "bytes of a group", "bytes unpacked", "bytes packed", "place"])
def test_a_number_that_lies_everywhere_in_the_footer_changes_no_cell(tmp_path, what, lie):
    """Row counts, sizes and offsets, each wherever it stands; what is read all the same is what was written, as many
    rows of it as the footer says.
    """
    content, told = one_group()
    pages, footer = parts(content)
    assert number(told[what]) in footer
    found = answer(whole(pages, footer.replace(number(told[what]), number(lie))), tmp_path)
    if isinstance(found, RawTable):
        rows = lie if what == "rows" else ROWS
        assert found.cells["text"] == [f"warm bread {i}" for i in range(rows)]
        assert found.cells["label"] == [i % 2 for i in range(rows)]


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
            # Said before, in case it ends the process.
            print(seed, flush=True)
            answer(forged(seed), Path(folder))
