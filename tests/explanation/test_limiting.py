"""Limits and scores of real examples: what the oracle is asked, what a file of them becomes, and what an interruption
costs.
"""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from pyarrow import parquet

from core.commands.command_line import main
from core.data.examples import Example
from core.evaluation.asking import run_study
from core.evaluation.sampling import without_labels
from core.evaluation.studies import limits_of_texts
from core.evaluation.studies.limits_of_texts import LimitsOfTexts, limit_row
from core.evaluation.study import Answers
from core.explanation.explainer import Explainer, softmax
from core.explanation.limiting import (
    COMPREHENSIVENESS,
    SUFFICIENCY,
    exact_bytes,
    exact_cost,
    find_exact,
    find_limits,
    find_searched,
    limits_known,
    score,
    search_cost,
    value_by_mask,
)
from core.mathematics.aopc import order_aopc, prefix_masks
from core.mathematics.search.insertion import insertion_sets
from core.mathematics.search.limits import TooDear, most_sets, widened
from core.mathematics.stepwise import finish
from core.measures.catalogue import measure
from core.network.halves import half_speed, half_twin
from core.network.scheduler import Cancelled
from core.storage.store import Store
from core.validity.references import find_reference
from tests import tiny

LOO = "leave-one-out"
SHORT = "The ferry leaves before light."
STUDY = LimitsOfTexts(("leave-one-out", "random"), exact_up_to=256)


def answers_of(texts, explainer, study=STUDY) -> Answers:
    sample = without_labels("texts.jsonl", "0" * 64, [Example(f"{i}", text) for i, text in enumerate(texts)])
    rows = finish(run_study(explainer, sample, study, explainer.store))
    return Answers(explainer.model, None, sample, {study: rows})


def asked_of(texts, explainer, study=STUDY):
    """The limits of each text, and what they come to."""
    answers = answers_of(texts, explainer, study)
    return study.lines(answers), study.conclude(answers)


@pytest.fixture
def explainer(tiny_model):
    return Explainer(tiny_model("bert"))


def test_beam_limits_come_narrow_first_and_no_measure_lies_beyond_them(explainer):
    encoded = explainer.encode(SHORT, None, "word")
    scored = [score(explainer, encoded, name, 1) for name in ("leave-one-out", "gradient", "beam", "random")]
    told = []
    beams = [
        found
        for found in find_searched(explainer, encoded, 1, 5, half=False, progress=lambda *done: told.append(done))
        if found
    ]
    (alone,) = (found for found in find_searched(explainer, encoded, 1, 5, half=False, early=False) if found)
    assert (alone.limits.lower, alone.limits.upper) == (beams[1].limits.lower, beams[1].limits.upper)
    exact = finish(find_exact(explainer, encoded, 1))
    walks = [walk for every in scored for walk in every.walks.values()]
    found = [widened(one.limits, ((walk.order, walk.aopc) for walk in walks)) for one in (*beams, exact)]
    assert [(limits.method, limits.width) for limits in found] == [("beam", 1), ("beam", 5), ("exact", None)]
    assert told == sorted(told) and told[-1][0] <= told[-1][1] == most_sets(encoded.F, 1) + most_sets(encoded.F, 5)
    for earlier, later in itertools.pairwise(found):
        assert later.lower <= earlier.lower + 1e-9 and later.upper >= earlier.upper - 1e-9
    value = value_by_mask(explainer.oracles.of(encoded), 1)
    for limits in found:
        assert order_aopc(value, limits.highest, encoded.F) == pytest.approx(limits.upper, abs=1e-6)
        assert order_aopc(value, limits.lowest, encoded.F) == pytest.approx(limits.lower, abs=1e-6)
        for one in scored:
            assert all(limits.lower - 1e-9 <= reached <= limits.upper + 1e-9 for reached in one.aopc.values())
            assert all(np.isnan(normal) or -1e-6 <= normal <= 1 + 1e-6 for normal in one.naopc(limits).values())


def test_an_insertion_search_comes_after_a_beam_of_one_and_asks_for_no_more_than_it_costs(explainer):
    encoded = explainer.encode(tiny.SENTENCES[3], None, "word")
    cost, told = search_cost(explainer, encoded, half=False), []
    first, last = (
        found.limits
        for found in find_searched(explainer, encoded, 1, half=False, progress=lambda *done: told.append(done))
        if found
    )
    assert [(one.method, one.width) for one in (first, last)] == [("beam", 1), ("insertion", 1)]
    assert last.lower <= first.lower + 1e-6 and last.upper >= first.upper - 1e-6
    assert last.scores <= cost.passes == insertion_sets(encoded.F)
    assert told == sorted(told) and told[-1] == tuple(
        most_sets(encoded.F, 1) + one for one in (last.scores, cost.passes)
    )
    value = value_by_mask(explainer.oracles.of(encoded), 1)
    assert order_aopc(value, last.highest, encoded.F) == pytest.approx(last.upper, abs=1e-6)


def test_all_searches_of_an_example_share_the_oracles_memo(explainer):
    encoded = explainer.encode(SHORT, None, "word")
    counters = explainer.model.scheduler.counters
    before = counters.passes
    score(explainer, encoded, "beam", 1)
    finish(find_searched(explainer, encoded, 1, half=False))
    finish(find_exact(explainer, encoded, 1))
    assert counters.passes - before == exact_cost(explainer, encoded).passes == 2**encoded.F, (
        "every subset once, whoever asked first"
    )
    before = counters.passes
    finish(find_searched(explainer, encoded, 1, width=3, half=False))
    score(explainer, encoded, "leave-one-out", 1)
    assert counters.passes == before


@pytest.mark.parametrize(("width", "half", "exact"), [(None, False, False), (2, True, False), (1, False, True)])
def test_limits_are_known_once_they_were_found_and_to_ask_costs_nothing(tiny_model, tmp_path, width, half, exact):
    explainer = Explainer(tiny_model("bert"), Store(tmp_path))
    encoded = explainer.encode(tiny.SENTENCES[3], None, "word")
    asked = explainer, encoded, 1, width, half, exact
    score(explainer, encoded, "leave-one-out", 1)
    before = explainer.model.scheduler.counters.passes
    assert not limits_known(*asked) and explainer.model.scheduler.counters.passes == before
    finish(find_limits(*asked))
    # By whoever reads the store next, as here.
    spent, later = explainer.model.scheduler.counters.passes, Explainer(explainer.model, explainer.store)
    assert limits_known(later, *asked[1:])
    assert limits_known(later, encoded, 1, width, half, True) == exact, "other sets are others"
    finish(find_limits(later, *asked[1:]))
    assert explainer.model.scheduler.counters.passes == spent


@pytest.fixture
def halved(monkeypatch, tiny_model):
    """An explainer on a device that multiplies faster in half precision, whatever this one does."""
    monkeypatch.setattr("core.network.halves.half_speed", lambda device: 3.0)
    return Explainer(tiny_model("bert"))


def test_a_search_in_half_precision_reports_what_float32_says_of_its_orders(halved):
    encoded = halved.encode(tiny.SENTENCES[3], None, "word")
    rough, full = halved.searching(encoded), halved.oracles.of(encoded)
    assert rough.model.precision == "bfloat16" and rough.model.lock is halved.model.lock and rough.key != full.key
    before = halved.model.scheduler.counters.passes
    found = finish(find_searched(halved, encoded, 1, 4))
    assert found.searched == "bfloat16"
    # The full model reads the orders that were found, and nothing else of the search.
    assert halved.model.scheduler.counters.passes - before <= 4 * (encoded.F + 1) < found.limits.scores
    value = value_by_mask(full, 1)
    for order, reached in ((found.limits.highest, found.limits.upper), (found.limits.lowest, found.limits.lower)):
        assert order_aopc(value, order, encoded.F) == reached
    alone = finish(find_searched(halved, encoded, 1, 4, half=False))
    assert alone.searched == "float32"
    assert found.limits.upper == pytest.approx(alone.limits.upper, abs=5e-3) and found.limits.lower == pytest.approx(
        alone.limits.lower, abs=5e-3
    )


def test_what_the_model_itself_said_already_is_not_searched_for_again_in_half_precision(halved, tmp_path):
    """A store that a device without half precision filled answers on one that has it."""
    store = Store(tmp_path)
    encoded = halved.encode(tiny.SENTENCES[3], None, "word")
    alone = finish(find_searched(Explainer(halved.model, store), encoded, 1, 2, half=False))
    explainer = Explainer(halved.model, store)
    rough, before = explainer.searching(encoded).model.scheduler.counters, halved.model.scheduler.counters.passes
    found = finish(find_searched(explainer, encoded, 1, 2))
    assert rough.passes == 0 and halved.model.scheduler.counters.passes == before
    assert found.searched == "float32"
    assert (found.limits.lower, found.limits.upper) == (alone.limits.lower, alone.limits.upper)
    finish(find_searched(explainer, encoded, 1, 6))
    assert rough.passes


def test_where_half_precision_overflows_the_search_goes_on_in_full(halved):
    encoded = halved.encode(SHORT, None, "word")
    rough = halved.searching(encoded).model
    rough.scheduler.network = lambda ids, *more: (np.full((len(ids), rough.C), np.inf, dtype=np.float32), None)
    found = finish(find_searched(halved, encoded, 1, 2))
    alone = finish(find_searched(Explainer(halved.model), encoded, 1, 2, half=False))
    assert found.searched == "float32" and (found.limits.lower, found.limits.upper) == (
        alone.limits.lower,
        alone.limits.upper,
    )


def test_half_precision_is_left_alone_where_it_is_no_faster_or_no_copy_fits(monkeypatch, tiny_model):
    model = tiny_model("bert")
    monkeypatch.setattr("core.network.halves.half_speed", lambda device: 1.2)
    assert half_twin(model) is None
    monkeypatch.setattr("core.network.halves.half_speed", lambda device: 3.0)
    assert half_twin(replace(model, precision="float16")) is None
    assert (
        next(half_twin(model).module.parameters()).dtype == torch.bfloat16
        and next(model.module.parameters()).dtype == torch.float32
    )

    def full(*_):
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr("copy.deepcopy", full)
    assert half_twin(model) is None


def test_the_speed_of_half_precision_is_measured_and_none_where_it_cannot_be():
    assert half_speed("cpu") > 0 and half_speed("cpu") == half_speed("cpu")
    assert half_speed("no such device") == 0.0


def test_a_device_that_is_slow_in_half_precision_is_not_timed_for_long(monkeypatch):
    asked, rows = [], set()

    def product(left, right):
        asked.append(left.dtype)
        rows.add(len(left))
        return 1.0 if left.dtype == torch.bfloat16 else 0.001

    monkeypatch.setattr("core.network.halves._product", product)
    assert half_speed.__wrapped__("cpu") == 0.001
    assert asked.count(torch.bfloat16) == 2 and asked.count(torch.float32) == 15
    # A small product says it: a large one takes such a device a second.
    assert max(rows) <= 64


def test_exact_limits_that_cost_more_than_allowed_or_than_the_memory_are_refused_before_they_start(
    explainer, monkeypatch
):
    encoded = explainer.encode(SHORT, None, "word")
    before = explainer.model.scheduler.counters.passes
    with pytest.raises(TooDear, match=f"need {2**encoded.F:,} scores"):
        finish(find_exact(explainer, encoded, 1, most=2**encoded.F - 1))
    monkeypatch.setattr("core.explanation.limiting.free_memory", lambda: 1.9 * exact_bytes(encoded.F))
    with pytest.raises(TooDear, match="MB are free"):
        finish(find_exact(explainer, encoded, 1))
    assert explainer.model.scheduler.counters.passes == before
    monkeypatch.setattr("core.explanation.limiting.free_memory", lambda: 2.1 * exact_bytes(encoded.F))
    assert finish(find_exact(explainer, encoded, 1)).limits.method == "exact"


def test_cancelling_leaves_the_best_so_far_and_asking_again_goes_on(tiny_model, tmp_path):
    explainer = Explainer(tiny_model("bert"), Store(tmp_path, 10**9))
    encoded = explainer.encode(tiny.SENTENCES[3], None, "word")
    counters, found, stop = explainer.model.scheduler.counters, [], []
    with pytest.raises(Cancelled):
        for one in find_searched(explainer, encoded, 1, 4, half=False, cancelled=lambda: bool(stop)):
            if one is not None:
                found.append(one)
                stop.append(True)
    assert len(found) == 1 and found[0].limits.width == 1
    known = counters.passes
    # A new process finds what was written when it was cancelled.
    again = Explainer(explainer.model, Store(tmp_path, 10**9))
    finish(find_searched(again, encoded, 1, 1, half=False))
    assert counters.passes == known


def test_scores_carry_p_values_where_there_is_a_reference(bundled):
    explainer = Explainer(bundled, None, find_reference(bundled))
    encoded = explainer.encode("A slow film , and a kind one .", None, "word")
    one = score(explainer, encoded, "gradient", 1)
    for along, sign in ((one.walks[COMPREHENSIVENESS], 1), (one.walks[SUFFICIENCY], -1)):
        masks = prefix_masks(along.order, encoded.F)
        judged = explainer.tested(encoded).judge(masks)
        np.testing.assert_allclose(along.values, softmax(judged.logits)[:, 1], atol=1e-6)
        assert set(along.p) == set(judged.p) and all((along.p[form] == judged.p[form]).all() for form in judged.p)
        scores = sign * explainer.attribute(encoded, "gradient", 1).scores[measure("gradient").variants[0]]
        assert along.order.tolist() == np.argsort(-scores, kind="stable").tolist()


def test_a_beam_of_every_set_finds_the_exact_limits(explainer):
    for text in (SHORT, "Slow.", "It rained again."):
        encoded = explainer.encode(text, None, "word")
        exact = finish(find_exact(explainer, encoded, 1)).limits
        *_, beam = (one for one in find_searched(explainer, encoded, 1, 64, half=False) if one is not None)
        assert (beam.limits.lower, beam.limits.upper) == pytest.approx((exact.lower, exact.upper), abs=1e-6)


def test_a_search_goes_on_in_full_where_half_precision_gives_no_number(halved):
    encoded = halved.encode(SHORT, None, "word")
    rough = halved.searching(encoded).model
    rough.scheduler.network = lambda ids, *more: (np.full((len(ids), rough.C), np.nan, dtype=np.float32), None)
    *_, beam = (one for one in find_searched(halved, encoded, 1, 64) if one is not None)
    exact = finish(find_exact(halved, encoded, 1)).limits
    assert (beam.limits.lower, beam.limits.upper) == pytest.approx((exact.lower, exact.upper), abs=1e-6)


def test_a_copy_in_half_precision_keeps_its_frequencies(tiny_model, monkeypatch):
    monkeypatch.setattr("core.network.halves.half_speed", lambda device: 3.0)
    model = tiny_model("modernbert")
    whole, rough = dict(model.module.named_buffers()), dict(half_twin(model).module.named_buffers())
    assert any("inv_freq" in name for name in whole)
    for name, buffer in whole.items():
        assert rough[name].dtype == buffer.dtype and torch.equal(rough[name], buffer)


def test_many_texts_fall_back_to_searches_where_the_memory_is_too_small_and_keep_no_text(explainer, monkeypatch):
    monkeypatch.setattr("core.explanation.limiting.free_memory", lambda: 1.0)
    rows = asked_of([SHORT, "Slow."], explainer)[0]
    assert [row["method"] for row in rows] == ["insertion", "insertion"] and rows[0]["problem"] is None
    assert not explainer.oracles._held and not explainer._tested


def test_a_row_holds_what_the_library_says(explainer):
    encoded = explainer.encode(SHORT, None, "word")
    row = limit_row(explainer, encoded, STUDY)
    target = int(explainer.logits(encoded).argmax())
    one = score(explainer, encoded, "leave-one-out", target)
    limits = finish(find_exact(explainer, encoded, target)).limits
    assert row["searched"] == "float32" and row["class"] == explainer.model.labels[target] and row["method"] == "exact"
    assert row["lower"] == pytest.approx(limits.lower) and row["upper"] == pytest.approx(limits.upper)
    assert row[f"{LOO}: comprehensiveness"] == pytest.approx(one.aopc[COMPREHENSIVENESS])
    assert row[f"{LOO}: sufficiency NAOPC"] == pytest.approx(one.naopc(limits)[SUFFICIENCY])


def test_what_has_no_limits_says_why(explainer):
    rows, report = asked_of([SHORT, "[MASK] [MASK]", "\u200b", "Slow."], explainer)
    assert [row["problem"] is None for row in rows] == [True, False, False, True]
    assert rows[0]["lower"] <= rows[0][f"{LOO}: comprehensiveness"] <= rows[0]["upper"]
    assert "masked" in rows[1]["problem"] and "upper" not in rows[1]
    assert sorted(rows[0]["highest_order"]) == list(range(len(rows[0]["features"])))
    assert (report.n, report.exact, report.tally.left_out) == (2, 2, 2)
    defined = [one for row in (rows[0], rows[3]) if (one := row[f"{LOO}: comprehensiveness NAOPC"]) is not None]
    assert report.counts["leave-one-out"] == len(defined)
    assert report.means["leave-one-out"][0].mean == pytest.approx(np.mean(defined))


def test_models_beside_each_other_say_where_they_explain_different_classes_and_what_was_cut(explainer, tiny_model):
    other = Explainer(tiny_model("roberta"))
    told = [*tiny.SENTENCES[::8], "[MASK] [MASK]", " ".join(["Slow."] * 40)]
    study = replace(STUDY, exact_up_to=1, width=1, measures=("leave-one-out", "gradient"))
    every = study.together([answers_of(told, one, study) for one in (explainer, other)])
    apart, cut = 0, {}
    for row, beside, text in zip(*map(study.lines, every), told):
        if text.startswith("[MASK]"):
            assert row["same_class"] is None is beside["same_class"]
            continue
        encoded = [one.encode(text, None, "word") for one in (explainer, other)]
        classes = [one.model.labels[one.logits(read).argmax()] for one, read in zip((explainer, other), encoded)]
        assert [row["class"], beside["class"]] == [row["predicted"], beside["predicted"]] == classes
        assert row["same_class"] == beside["same_class"] == (len(set(classes)) == 1)
        apart += not row["same_class"]
        for one, read, model in zip((row, beside), encoded, (explainer.model, other.model)):
            assert one["cut"] == read.truncation.cut and one["tokens"] == read.T <= model.max_tokens
            cut[model] = cut.get(model, 0) + one["cut"]
            assert (one[f"{LOO}: values"], one["gradient: values"]) == ("signed", "L2")
    assert 0 < apart < len(told) - 1 and cut[explainer.model] == 1
    for answers in every:
        report = study.conclude(answers)
        assert (report.n, report.apart, report.cut, report.exact) == (len(told) - 1, apart, cut[answers.model], 0)
        lines, rows = study.records(answers), study.lines(answers)
        assert len(lines) == 2 * (len(told) - 1) + 1 and {line["weights"] for line in lines} == {answers.model.digest}
        first, second = lines[:2]
        assert (first["measure"], second["measure"]) == study.measures and first["upper"] == rows[0]["upper"]
        assert second["NAOPC sufficiency ↓"] == rows[0]["gradient: sufficiency NAOPC"] and second["values"] == "L2"
        assert second["AOPC comprehensiveness ↑"] == rows[0]["gradient: comprehensiveness"]
    assert "same_class" not in asked_of(told[:1], explainer)[0][0]


def test_what_is_interrupted_goes_on_and_loses_nothing(explainer, tiny_model, tmp_path, monkeypatch):
    """Nor do other data that hold the same text, whatever else they hold; another choice has rows of its own."""
    kept = Explainer(tiny_model("bert"), Store(tmp_path / "store"))
    told = [SHORT, "[MASK]", "Slow.", "It rained again."]
    whole = asked_of(told, explainer)[0]
    really, calls = limits_of_texts.limit_row, []

    def stops(*given):
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return really(*given)

    monkeypatch.setattr(limits_of_texts, "limit_row", stops)
    with pytest.raises(KeyboardInterrupt):
        asked_of(told, kept)
    for asked, new in ((told, 1), (told[::-1], 0), ([told[2], "It rained.", told[2]], 1)):
        before = len(calls)
        rows = asked_of(asked, kept)[0]
        assert len(calls) - before == new
        found = [row | {"seconds": None} for row, text in zip(rows, asked) if text in told]
        assert found == [whole[told.index(text)] | {"seconds": None} for text in asked if text in told]
    asked_of(told, kept, replace(STUDY, exact_up_to=1))
    assert len(calls) == 8


@pytest.mark.parametrize("exact", [1, 256])
def test_what_is_cancelled_ends_within_a_text(explainer, exact):
    """A text may take a minute, so it is not waited for: asked after a few batches, no row is finished."""
    sample = without_labels("texts.jsonl", "0" * 64, [Example("long", SHORT)])
    study = LimitsOfTexts(("leave-one-out",), exact_up_to=exact)
    before = explainer.model.scheduler.counters.passes
    with pytest.raises(Cancelled):
        finish(run_study(explainer, sample, study, cancelled=lambda: True))
    stopped = explainer.model.scheduler.counters.passes - before
    finish(run_study(explainer, sample, study))
    assert stopped < (explainer.model.scheduler.counters.passes - before - stopped) / 2


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"measures": ("nope",)}, "no measure"),
        ({"target": "nope"}, "no class"),
        ({"width": 0}, "at least 1"),
        ({"exact_up_to": 1 << 21}, "1,048,576 scores"),
    ],
)
def test_choices_that_cannot_be_are_a_sentence(explainer, wrong, said):
    with pytest.raises(ValueError, match=said):
        asked_of([SHORT], explainer, LimitsOfTexts(**wrong))


def test_limits_from_the_command_line(tiny_root, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    data, out = tmp_path / "a.jsonl", tmp_path / "limits.parquet"
    data.write_text(json.dumps({"text": SHORT}) + "\n")
    model = str(tiny.folder("bert", tiny_root))
    assert (
        main(
            [
                "limits",
                "--model",
                model,
                "--data",
                str(data),
                "--out",
                str(out),
                "--class",
                tiny.LABELS[2],
                "--measures",
                "gradient",
                "--device",
                "cpu",
            ]
        )
        == 0
    )
    (row,) = parquet.read_table(out).to_pylist()
    assert row["predicted"] in tiny.LABELS
    assert row["class"] == tiny.LABELS[2] and row["method"] == "exact"
    assert "1 of 1" in (printed := capsys.readouterr().out) and str(out) in printed
    # What is asked for here holds before the setting, 0 too; the setting holds before the device's default.
    for given, setting, method in (
        (["--exact-up-to", "0"], "4096", "insertion"),
        (["--width", "5"], "1", "beam"),
        ([], "99999999", "exact"),
    ):
        monkeypatch.setenv("FAITHSCOPE_EXACT", setting)
        assert (
            main(["limits", "--model", model, "--data", str(data), "--out", str(out), "--measures", "gradient", *given])
            == 0
        )
        assert parquet.read_table(out).to_pylist()[0]["method"] == method
    assert main(["limits", "--model", model, "--data", str(data), "--out", str(out), "--class", "nope"]) == 1
    assert "no class" in capsys.readouterr().err
