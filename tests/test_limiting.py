"""Limits and scores of real examples: what the oracle is asked, what a file of them becomes, and what an interruption costs."""

import json

import numpy as np
import pytest
from pyarrow import parquet

from core.composition import limiting
from core.composition.command_line import main
from core.composition.explaining import Explainer
from core.composition.limiting import Batch, batch_limits, exact_cost, find_limits, limit_row, probability, score
from core.mathematics.aopc import order_aopc
from core.network.scheduler import Cancelled
from core.network.tables import BadData, LabelledTexts
from tests import tiny

SHORT = "The ferry leaves before light."
BATCH = Batch("tiny", ("leave-one-out", "random"), exact_up_to=256)


def texts(sentences) -> LabelledTexts:
    return LabelledTexts(list(sentences), None, np.zeros(len(sentences), dtype=np.int64), (), "texts.jsonl", "0" * 64)


@pytest.fixture
def explainer(tiny_model):
    return Explainer(tiny_model("bert"))


def test_limits_come_narrow_first_and_no_measure_lies_beyond_them(explainer):
    encoded = explainer.encode(SHORT, None, "word")
    scored = tuple(score(explainer, encoded, name, 1) for name in ("leave-one-out", "gradient", "beam", "random"))
    found = list(find_limits(explainer, encoded, 1, scored, 5))
    assert [(limits.method, limits.width) for limits in found] == [("beam", 1), ("beam", 5), ("exact", None)]
    for earlier, later in zip(found, found[1:]):
        assert later.lower <= earlier.lower + 1e-9 and later.upper >= earlier.upper - 1e-9
    value = probability(explainer, encoded, 1)
    for limits in found:
        assert order_aopc(value, limits.highest, encoded.F) == pytest.approx(limits.upper, abs=1e-6)
        assert order_aopc(value, limits.lowest, encoded.F) == pytest.approx(limits.lower, abs=1e-6)
        for one in scored:
            assert all(limits.lower - 1e-9 <= reached <= limits.upper + 1e-9 for reached in (one.comprehensiveness, one.sufficiency))
            assert all(np.isnan(normal) or -1e-6 <= normal <= 1 + 1e-6 for normal in one.normalised(limits))


def test_all_searches_of_an_example_share_the_oracles_memo(explainer):
    encoded = explainer.encode(SHORT, None, "word")
    counters = explainer.model.scheduler.counters
    before = counters.passes
    score(explainer, encoded, "beam", 1)
    list(find_limits(explainer, encoded, 1))
    assert counters.passes - before == exact_cost(encoded) == 2**encoded.F, "every subset once, whoever asked first"
    before = counters.passes
    list(find_limits(explainer, encoded, 1, width=3))
    score(explainer, encoded, "leave-one-out", 1)
    assert counters.passes == before


def test_exact_limits_are_left_out_where_they_cost_more_than_allowed(explainer):
    encoded = explainer.encode(SHORT, None, "word")
    assert [limits.method for limits in find_limits(explainer, encoded, 1, exact_up_to=exact_cost(encoded) - 1)] == ["beam", "beam"]


def test_cancelling_leaves_the_best_so_far(explainer):
    encoded = explainer.encode(tiny.SENTENCES[3], None, "word")
    found, stop = [], []
    with pytest.raises(Cancelled):
        for limits in find_limits(explainer, encoded, 1, width=4, exact_up_to=1 << 20, cancelled=lambda: bool(stop)):
            found.append(limits)
            stop.append(True)
    assert len(found) == 1 and found[0].method == "beam"


def test_a_row_holds_what_the_library_says(explainer):
    encoded = explainer.encode(SHORT, None, "word")
    row = limit_row(explainer, encoded, BATCH)
    target = int(explainer.logits(encoded).argmax())
    one = score(explainer, encoded, "leave-one-out", target)
    *_, limits = find_limits(explainer, encoded, target, (one,))
    assert row["class"] == explainer.model.labels[target] and row["method"] == "exact" and row["problem"] is None
    assert row["lower"] == pytest.approx(limits.lower) and row["upper"] == pytest.approx(limits.upper)
    assert row["leave-one-out: comprehensiveness"] == pytest.approx(one.comprehensiveness)
    assert row["leave-one-out: sufficiency NAOPC"] == pytest.approx(one.normalised(limits)[1])


def test_a_file_becomes_a_table_and_what_has_no_limits_says_why(explainer, tmp_path):
    data = texts([SHORT, "[MASK] [MASK]", "\u200b", "Slow."])
    out = batch_limits(explainer, data, BATCH, tmp_path / "new" / "limits.parquet")
    rows = parquet.read_table(out).to_pylist()
    assert [row["example"] for row in rows] == [1, 2, 3, 4] and [row["problem"] is None for row in rows] == [True, False, False, True]
    assert rows[0]["lower"] <= rows[0]["leave-one-out: comprehensiveness"] <= rows[0]["upper"]
    assert "masked in the text" in rows[1]["problem"] and rows[1]["upper"] is None
    assert sorted(rows[0]["highest_order"]) == list(range(len(rows[0]["features"])))
    assert list(tmp_path.joinpath("new").iterdir()) == [out], "nothing is left beside it"


@pytest.mark.parametrize("cut", [0, 7])
def test_an_interrupted_file_goes_on_and_loses_nothing(explainer, tmp_path, monkeypatch, cut):
    data, out = texts([SHORT, "Slow.", "It rained again."]), tmp_path / "limits.parquet"
    whole = parquet.read_table(batch_limits(explainer, data, BATCH, tmp_path / "whole.parquet")).to_pylist()
    really, calls = limiting.limit_row, []

    def stops(*given):
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return really(*given)

    monkeypatch.setattr(limiting, "limit_row", stops)
    with pytest.raises(KeyboardInterrupt):
        batch_limits(explainer, data, BATCH, out)
    begun = tmp_path / "limits.parquet.partial.jsonl"
    # A kill may cut the last line short: then that text is computed again.
    begun.write_bytes(begun.read_bytes()[:-cut] if cut else begun.read_bytes())
    batch_limits(explainer, data, BATCH, out)
    assert len(calls) == 3 + (2 if cut else 1)
    rows = parquet.read_table(out).to_pylist()
    assert [{k: v for k, v in row.items() if k != "seconds"} for row in rows] == [{k: v for k, v in row.items() if k != "seconds"} for row in whole]


def test_rows_of_other_choices_are_not_mixed_in(explainer, tmp_path):
    (tmp_path / "limits.parquet.partial.jsonl").write_text(json.dumps({"fingerprint": "another"}) + "\n")
    with pytest.raises(BadData, match="Delete it, or choose another --out"):
        batch_limits(explainer, texts([SHORT]), BATCH, tmp_path / "limits.parquet")


@pytest.mark.parametrize("wrong, said", [({"measures": ("nope",)}, "no measure"), ({"target": "nope"}, "no class"), ({"width": 0}, "at least 1"),
                                         ({"exact_up_to": 1 << 21}, "1,048,576 scores")])
def test_choices_that_cannot_be_are_a_sentence(explainer, tmp_path, wrong, said):
    with pytest.raises(ValueError, match=said):
        batch_limits(explainer, texts([SHORT]), Batch("tiny", **wrong), tmp_path / "limits.parquet")


def test_limits_from_the_command_line(tiny_root, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    data, out = tmp_path / "a.jsonl", tmp_path / "limits.parquet"
    data.write_text(json.dumps({"text": SHORT}) + "\n")
    model = str(tiny.folder("bert", tiny_root))
    assert main(["limits", "--model", model, "--data", str(data), "--out", str(out), "--class", tiny.LABELS[2], "--measures", "gradient", "--device", "cpu"]) == 0
    (row,) = parquet.read_table(out).to_pylist()
    assert row["class"] == tiny.LABELS[2] and row["method"] == "exact" and "Written" in capsys.readouterr().out
    assert main(["limits", "--model", model, "--data", str(data), "--out", str(out), "--class", "nope"]) == 1
    assert "no class" in capsys.readouterr().err
