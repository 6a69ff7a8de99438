"""Rows beside the table that they become: what is kept of them when a run is killed, when the disk is full, and when
what lies there is not what was written.
"""

import errno
import itertools
import json
import os
import random
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from core.data.parsed import BadData
from core.data.tables import LabelledTexts
from core.evaluation.studies import limits_of_texts
from core.evaluation.studies.limits_of_texts import Batch, batch_limits
from core.explanation.explainer import Explainer
from core.storage.files import InUse, only_writer
from tests import tiny

TEXTS = tiny.SENTENCES[:5]
BATCH = Batch("tiny", ("leave-one-out",))


@pytest.fixture
def asked(monkeypatch):
    """Texts of which a row was asked, in order; a row says what it is of and costs nothing."""
    texts = []

    def row(explainer, encoded, batch):
        texts.append(encoded.text)
        return {"upper": len(texts[-1]) / 7, "features": encoded.text.split(), "problem": None}

    monkeypatch.setattr(limits_of_texts, "limit_row", row)
    return texts


@pytest.fixture
def limits(asked, tiny_model, tmp_path):
    """`limits()`: the table of the texts, as the command writes it; `limits.said`: what it said meanwhile."""
    explainer, data = Explainer(tiny_model("bert")), LabelledTexts(list(TEXTS), None, np.zeros(5), (), "t", "0" * 64)
    out = tmp_path / "limits.parquet"

    def run(out=out):
        run.said = []
        batch_limits(explainer, data, BATCH, out, told=run.said.append)
        return parquet.read_table(out).to_pylist()

    run.out, run.beside, run.said = out, out.with_name("limits.parquet.partial.jsonl"), []
    return run


@pytest.fixture
def whole(limits, tmp_path):
    """What an undisturbed run comes to."""
    return limits(tmp_path / "undisturbed" / "limits.parquet")


@pytest.fixture
def lines(limits, monkeypatch):
    """The lines beside the table when every text is done, the first of what decides them."""
    with monkeypatch.context() as patch:
        patch.setattr(limits_of_texts, "_write_parquet", interrupt)
        with pytest.raises(KeyboardInterrupt):
            limits()
    return limits.beside.read_bytes().splitlines(keepends=True)


def interrupt(*_):
    raise KeyboardInterrupt


def test_rows_go_by_their_keys_and_not_by_their_number(limits, whole, lines, asked):
    """As two runs of one output left it: rows twice, out of order, and others missing."""
    head, *rows = lines
    rng = random.Random(0)
    for _ in range(20):
        kept = rng.choices(rows, k=rng.randrange(8))
        limits.beside.write_bytes(b"".join([head, *kept]))
        asked.clear()
        assert limits() == whole and not limits.said
        assert asked == [text for text, row in zip(TEXTS, rows) if row not in kept]


def test_a_byte_that_is_changed_never_becomes_a_number(limits, whole, lines, asked):
    content, rng = b"".join(lines), random.Random(1)
    digits = [i for i, byte in enumerate(content) if chr(byte).isdigit()]
    breaks = [i for i, byte in enumerate(content) if byte == ord("\n")]
    for i in (*rng.sample(digits, 60), *rng.sample(range(len(content)), 60), *breaks):
        damaged = bytearray(content)
        damaged[i] ^= 1 << rng.randrange(7)
        limits.beside.write_bytes(damaged)
        asked.clear()
        assert limits() == whole, i
        assert len(asked) <= 2 and (len(limits.said) == 1 or i == breaks[-1]), i


def test_what_is_damaged_is_kept_aside(limits, whole, lines):
    wrong = lines[2].replace(b'"upper": ', b'"upper": 1')
    limits.beside.write_bytes(b"".join([*lines[:2], wrong, *lines[3:]]))
    assert limits() == whole
    aside = limits.beside.with_name(f"{limits.beside.name}.damaged")
    assert aside.read_bytes() == wrong and "1. Their" in limits.said[0]
    assert aside.name in limits.said[0]


def test_another_runs_row_is_no_row(limits, whole, lines, asked):
    """A line that is whole, but of other choices."""
    row = json.loads(lines[2])
    limits.beside.write_bytes(b"".join([*lines[:2], json.dumps(row | {"sha256": "0" * 64}).encode() + b"\n"]))
    asked.clear()
    assert limits() == whole and asked == list(TEXTS[1:])


def test_a_run_that_had_begun_no_row_does_not_stand_in_the_way_of_other_choices(limits, whole, lines, asked):
    other = json.dumps({"fingerprint": "0" * 64}).encode() + b"\n"
    for there in (other, other + lines[1][:9], other + other):
        limits.beside.write_bytes(there)
        assert limits() == whole and not limits.said
        assert not limits.beside.with_name(f"{limits.beside.name}.damaged").exists()
    # A row of theirs does.
    limits.beside.write_bytes(other + lines[1])
    asked.clear()
    assert limits() == whole and asked == list(TEXTS[1:]), "a row of ours under a head of theirs"
    row = json.dumps(json.loads(lines[1]) | {"sha256": "0" * 64}).encode() + b"\n"
    limits.beside.write_bytes(other + row)
    with pytest.raises(BadData, match="rows of other texts, another model or other choices"):
        limits()
    assert limits.beside.read_bytes() == other + row


def writes(patch, how):
    """Call `how` before the n-th change on the disk, and with half of it done where a line is appended: gives the list
    whose one number says how many are left until then.
    """
    left, really = [-1], Path.open

    def due() -> bool:
        left[0] -= 1
        return left[0] == -1

    def counted(change):
        def change_or_not(*given, **more):
            return how() if due() else change(*given, **more)

        return change_or_not

    class Appending:
        def __init__(self, file):
            self._file = file

        def __getattr__(self, name):
            return getattr(self._file, name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._file.close()

        def write(self, data):
            if due():
                self._file.write(data[: len(data) // 2])
                how()
            return self._file.write(data)

    def opened(path, mode="r", *given, **more):
        file = really(path, mode, *given, **more)
        return Appending(file) if mode == "ab" else file

    for name in ("fsync", "replace", "unlink"):
        patch.setattr(os, name, counted(getattr(os, name)))
    patch.setattr(Path, "open", opened)
    return left


def rows_in(path: Path) -> int:
    return sum(line.startswith(b'{"example"') and line.endswith(b"}\n") for line in path.read_bytes().splitlines(True))


@pytest.mark.parametrize("begun", [0, 3])
def test_a_kill_at_any_write_loses_no_finished_row(limits, whole, lines, asked, monkeypatch, tmp_path, begun):
    """A process of its own that ends without a word at its n-th write, for every n; then the command is given again."""
    # Three rows are there, and the line that the former kill cut short.
    before, last = b"".join(lines[: begun + 1]) + lines[begun + 1][:9], None
    for n in itertools.count():
        limits.out.unlink(missing_ok=True)
        limits.beside.write_bytes(before if begun else b"")
        asked.clear()
        child = os.fork()
        if child == 0:
            try:
                writes(monkeypatch, lambda: os._exit(9))[0] = n
                limits()
                os._exit(0)
            finally:
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, 9)
        if limits.beside.exists():
            there = rows_in(limits.beside)
            assert (there >= (begun if last is None else last) and not limits.out.exists()) or there == 5
            last = there
        known = last if limits.beside.exists() else 0
        assert limits() == whole and not limits.beside.exists() and not limits.said
        assert len(asked) == 5 - known
        if status == 0:
            break
    assert n > 5


def test_a_full_disk_at_any_write_keeps_what_is_done(limits, whole, lines, asked, monkeypatch):
    def full():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    limits.beside.write_bytes(b"".join(lines[:3]) + b"{")
    asked.clear()
    for n in itertools.count():
        with monkeypatch.context() as patch:
            left = writes(patch, full)
            left[0] = n
            try:
                limits()
            except OSError as error:
                assert error.errno == errno.ENOSPC
            if left[0] >= 0:
                break
        # Each time some more is done, and nothing of that is asked again.
        assert len(set(asked)) == len(asked)
        assert not list(limits.out.parent.glob(".*.tmp"))
        if not limits.beside.exists():
            limits.beside.write_bytes(b"".join(lines[:3]) + b"{")
            asked.clear()
    assert n > 5 and limits() == whole


def test_a_second_run_on_an_output_says_so_and_touches_nothing(limits, lines, asked):
    limits.beside.write_bytes(b"".join(lines[:3]))
    asked.clear()
    with only_writer(limits.out), pytest.raises(InUse, match=r"Another run is writing \S*limits.parquet"):
        limits()
    assert not asked and limits.beside.read_bytes() == b"".join(lines[:3]) and not limits.out.exists()
