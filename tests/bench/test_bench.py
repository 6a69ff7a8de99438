"""The benchmark measures what it says; how fast that is depends on the machine and is asserted nowhere."""

import itertools
import re
from itertools import permutations
from math import factorial

import numpy as np
import pytest

from core.bench import bench as benching
from core.bench.bench import bench, bench_report, masf_speed, p_value_cost
from core.bench.bench_host import host_speed
from core.bench.bench_judging import judging_speed
from core.bench.bench_limits import BEAMED, EXACT, base_speed, contest, limits_lines, limits_speed, program_speed
from core.bench.bench_search import chosen_texts, compare_searches, search_lines
from core.bench.bench_words import words_speed
from core.bench.literal_limits import literal_limits
from core.explanation.explainer import Explainer
from core.explanation.limiting import find_searched, value_by_mask
from core.mathematics.aopc import order_aopc
from core.mathematics.search.limits import most_sets
from core.mathematics.stepwise import finish
from tests import tiny

SHORT = "The ferry leaves before light."
CONTEST = {
    "features": 20,
    "width": 5,
    "rounds": 3,
    "twin": 9.0,
    "ours": {
        ("beam of 5", "float32"): {
            "seconds": 4.0,
            "sets": 1650,
            "network": 0.98,
            "limits": (0.1, 0.5),
            "ratio": 2.25,
            "wider": (0.0, 2e-4),
        },
        ("insertion search", "bfloat16"): {
            "seconds": 1.0,
            "sets": 1600,
            "network": 0.9,
            "limits": (0.1, 0.5),
            "ratio": 9.0,
            "wider": (1e-4, -2e-3),
        },
    },
}
JUDGED = {
    "features": 25,
    "measures": 6,
    "metrics": 8,
    "hard": 2.0,
    "shared": 1.5,
    "ratio": 2.0,
    "passes": 400,
    "soft": 0.2,
    "one_by_one": 4.0,
}
ROWS = [
    {
        "features": features,
        "searches": {
            "beam 50": {"scores": 4000, "lower": 0.1, "upper": upper},
            "beam 5": {"scores": scores, "lower": 0.1, "upper": upper - 0.05},
        },
        "exact": [0.1, 0.52] if features == 8 else None,
    }
    for features, scores, upper in ((8, 200, 0.5), (20, 1600, 0.7))
]
FOUND = {
    "contest": CONTEST,
    "exact": {8: 0.5, 12: 9.0},
    "base": None,
    "program": {"small": 12, "large": 20, "milliseconds": 5.1, "seconds": 0.4, "megabytes": 35.2},
}


def test_every_part_is_measured_after_it_was_named(monkeypatch, tiny_model):
    heard = []
    for place in (benching, benching.bench_limits, benching.bench_judging):
        for name in ("host_speed", "masf_speed", "words_speed", "compare_searches", "limits_speed", "judging_speed"):
            monkeypatch.setattr(place, name, lambda *_, name=name: (name, heard[-1]), raising=False)
    monkeypatch.setattr(benching, "_against_captum", lambda *_: {})
    found = bench(tiny_model("bert"), 1, lambda what, done, total: heard.append((what, done)))
    assert [done for _, done in heard] == [*range(len(heard))] and found["forward"].keys() == {1, 8, 64}
    parts = {"host": "host", "masf": "masf", "words": "words", "searches": "compare_searches", "limits": "limits"}
    for part, name in parts.items():
        measured, (what, _) = found[part]
        assert measured.startswith(name) and what == f"bench, {part}"


def test_masf_is_set_against_comparing_with_every_value():
    found = masf_speed(20, 60, 2, 8, 5)
    assert set(found) == {"ratio", "megabytes", "seconds"} and all(value > 0 for value in found.values())


def test_words_are_set_against_a_bootstrap_of_each():
    found = words_speed(200, 3)
    assert found["words"] > 20 and found["ratio"] > 0 and found["seconds"] > 0


def test_what_p_values_add_is_measured_for_one_input_and_for_leave_one_out(bundled, tiny_model):
    encoded = bundled.encode("A slow, dull film.", None, "word")
    assert set(p_value_cost(bundled, encoded, 1)) == {1, encoded.F + 1}
    assert p_value_cost(tiny_model("bert"), tiny_model("bert").encode("a b", None, "word"), 1) == {}, (
        "without a reference there is nothing to measure"
    )


def test_the_host_is_timed_without_the_network(tiny_model, monkeypatch):
    model = tiny_model("bert")
    monkeypatch.setattr(type(model), "run", lambda *_: pytest.fail("the network ran"))
    assert host_speed(model, 500, 1) > 0


def test_the_report_names_each_ratio_and_its_direction():
    said = bench_report(
        {
            "machine": "m",
            "peak": 1e9,
            "tokens": 3,
            "features": 2,
            "forward": {1: (10.0, 0.5, 1.15)},
            "leave_one_out": {"captum": 2.0},
            "host": 300_000.0,
            "masf": {"ratio": 40.0, "seconds": 0.1, "megabytes": 5.0},
            "p_values": {1: 2.5},
            "words": {"ratio": 71.0, "words": 6_000, "seconds": 1.53},
            "limits": FOUND,
            "searches": ROWS,
            "judging": JUDGED,
        }
    )
    assert "↑: 40 (" in said and "(↓): 2.5 ms" in said and "\n".join(limits_lines(FOUND)) in said
    assert "↑: 2.0" in said and "↑: 4.0" in said and "↑: 71 (1.53 s)" in said


def test_searches_are_compared_by_their_means_and_with_exact_limits_where_these_are_known():
    found = search_lines(ROWS)
    assert re.findall(r"\d+", found[0]) == ["2", "8", "20", "1"]
    assert [re.split(r" {2,}", line) for line in found[2:]] == [
        ["beam 50", "4,000", "0.5000", "0", "2", "0", "0.0200", "0.0200"],
        ["beam 5", "900", "0.4500", "0", "0", "2", "0.0700", "0.0700"],
    ]
    assert re.split(r" {2,}", search_lines(ROWS[1:])[3]) == ["beam 5", "1,600", "0.5500", "0", "0", "1"]
    assert search_lines([]) == []


def test_searches_of_a_text_are_kept_and_none_is_wider_than_exact_limits(tiny_model, tmp_path, monkeypatch):
    explainer, kept, told = Explainer(tiny_model("bert")), tmp_path / "rows.jsonl", []
    texts = [SHORT, "[MASK] [MASK]", "It rained again."]
    rows = compare_searches(explainer, texts, kept, told.append)
    assert [row["features"] for row in rows] == [6, 4] and len(told) == 3 and "masked" in told[1]
    for row in rows:
        price = row["searches"]["beam 5"]["scores"]
        for name, found in row["searches"].items():
            assert row["exact"][0] - 1e-6 <= found["lower"] <= found["upper"] <= row["exact"][1] + 1e-6
            if name.startswith("insertion from"):
                start = row["searches"][f"beam {name.split()[3].rstrip(',')}"]
                assert found["upper"] >= start["upper"] - 1e-6 and found["scores"] <= max(price, 2 * most_sets(6, 2))
    with kept.open("a") as file:
        file.write('{"key": "cut o')
    before = explainer.model.scheduler.counters.passes
    assert compare_searches(explainer, texts[::2], kept) == rows and explainer.model.scheduler.counters.passes == before
    monkeypatch.setattr("core.bench.bench_search.SHARES", (0.25,))
    (another,) = compare_searches(explainer, texts[:1], kept)
    new = set(another["searches"]) - set(rows[0]["searches"])
    assert len(new) == 2 and all(name.startswith("insertion from beam") and "25%" in name for name in new)
    assert rows[0]["searches"].items() <= another["searches"].items()
    assert compare_searches(explainer, texts[:1], kept) == [another]
    more = compare_searches(explainer, ["Slow and dull."], kept)
    before = explainer.model.scheduler.counters.passes
    assert compare_searches(explainer, ["Slow and dull."], kept) == more
    assert explainer.model.scheduler.counters.passes == before, "the line that was cut off took no other with it"


def test_texts_to_compare_on_are_drawn_by_a_seed_and_have_as_many_words_as_asked(tiny_model):
    explainer, texts = Explainer(tiny_model("bert")), [*tiny.SENTENCES, "[MASK]"]
    chosen = chosen_texts(explainer, texts, 5, 10, 12)
    assert len(chosen) == len(set(chosen)) == 5 and chosen == chosen_texts(explainer, texts, 5, 10, 12)
    assert chosen != [text for text in texts if text in chosen]
    assert all(10 <= explainer.encode(text, None, "word").F <= 12 for text in chosen)
    assert chosen_texts(explainer, texts, 5, 1000, 2000) == []


def test_judging_is_measured_with_and_without_sharing(tiny_model):
    found = judging_speed(tiny_model("bert"), 1, SHORT)
    assert found["features"] == 6 and found["measures"] == 5 and all(value > 0 for value in found.values())
    assert found["passes"] < found["measures"] * found["metrics"] * (found["features"] + 1)


def test_the_report_of_limits_names_each_contestant_and_says_which_limits_are_narrower():
    found = limits_lines(FOUND)
    assert re.findall(r"\d+", found[0]) == ["20", "3"]
    twin, beam, insertion = (re.split(r" {2,}", line) for line in found[2:5])
    assert twin == ["as printed", "5 orders", "9.00"]
    assert beam == ["beam of 5", "float32", "4.00", "1,650", "98%", "0.4000", "2.25", "+0.0e+00, +2.0e-04", "yes"]
    assert insertion == [
        "insertion search",
        "bfloat16",
        "1.00",
        "1,600",
        "90%",
        "0.4000",
        "9.00",
        "+1.0e-04, -2.0e-03",
        "NO",
    ]
    assert [re.split(r" {2,}", line)[1] for line in found[6:]] == ["0.50 s", "9.00 s", "5.1 ms", "0.40 s", "35 MB"]
    base = {"features": 100, "width": 5, "searched": "bfloat16", "seconds": 12.3, "sets": 54321}
    assert re.split(r" {2,}", limits_lines(FOUND | {"base": base})[-1])[1] == "12.3 s, 54,321 sets"


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_a_beam_over_all_orders_is_brute_force(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode("The ferry leaves before [MASK] light.")
    free = np.flatnonzero(~encoded.premasked)
    assert len(free) == encoded.F - 1
    value = value_by_mask(Explainer(model).oracles.of(encoded), 1)
    reached = [order_aopc(value, np.array(order), encoded.F, encoded.premasked) for order in permutations(free)]
    found = literal_limits(model, encoded, 1, factorial(len(free)))
    assert found == pytest.approx((min(reached), max(reached)), abs=1e-5) and found[1] - found[0] > 0.01


def test_the_printed_algorithm_asks_for_every_extension_of_every_order_twice(monkeypatch, tiny_model):
    model, asked = tiny_model("bert"), []
    forward = model.module.forward
    monkeypatch.setattr(
        model.module, "forward", lambda **given: asked.append(given["input_ids"].shape[0]) or forward(**given)
    )
    encoded = model.encode(SHORT)
    assert encoded.F == 6
    literal_limits(model, encoded, 0, 2)
    assert asked == 2 * [1, 6, 10, 8, 6, 4, 2]
    asked.clear()
    # A batch holds 1,024 inputs at most.
    literal_limits(model, encoded, 0, factorial(6))
    assert asked == 2 * [1, 6, 30, 120, 360, 720, 720] and literal_limits(model, encoded, 0, 2000) == literal_limits(
        model, encoded, 0, 720
    )
    with pytest.raises(ValueError, match="at least 1"):
        literal_limits(model, encoded, 0, 0)


@pytest.mark.parametrize("sentence", [0, 3, 9, 20])
def test_ours_are_at_least_as_wide_as_the_printed_algorithms(tiny_model, sentence):
    model = tiny_model("bert")
    encoded = model.encode(tiny.SENTENCES[sentence])
    lower, upper = literal_limits(model, encoded, 1, 3)
    ours = finish(find_searched(Explainer(model), encoded, 1, 3, half=False)).limits
    assert ours.lower <= lower + 1e-5 and ours.upper >= upper - 1e-5


def test_limits_are_measured_in_every_precision_that_is_searched(monkeypatch, tiny_model):
    monkeypatch.setattr("core.network.halves.half_speed", lambda device: 3.0)
    found = limits_speed(tiny_model("bert"), 1, 0.0, SHORT, ("Salt the water.", "A dull knife"))
    ran = found["contest"]
    ways = set(itertools.product(("insertion search", "beam of 5"), ("float32", "bfloat16")))
    assert set(ran["ours"]) == ways and ran["rounds"] == 1 and ran["features"] == 6
    for ours in ran["ours"].values():
        assert 0 < ours["network"] <= 1 and ours["ratio"] == pytest.approx(ran["twin"] / ours["seconds"])
        assert ours["sets"] <= 2**6
    assert min(ran["ours"]["beam of 5", "float32"]["wider"]) >= -1e-5
    assert min(ran["ours"]["insertion search", "float32"]["wider"]) >= -1e-5
    assert set(found["exact"]) == {4, 3} and found["base"] is None
    monkeypatch.setattr("core.network.halves.half_speed", lambda device: 1.0)
    again = contest(tiny_model("bert"), tiny_model("bert").encode(SHORT), 5, 2, 60.0)
    assert {precision for _, precision in again["ours"]} == {"float32"} and again["rounds"] == 2, (
        "where half precision is no faster nothing is searched in it"
    )


def test_a_family_that_reads_the_last_token_has_no_twin(tiny_model):
    model = tiny_model("gpt2")
    found = contest(model, model.encode(SHORT), 2, 1, 0.0)
    assert found["twin"] is None and {ours["ratio"] for ours in found["ours"].values()} == {None}
    assert "as printed" not in "\n".join(limits_lines(FOUND | {"contest": found}))


def test_the_programs_speed_and_memory_are_those_of_the_sizes_asked():
    found = program_speed(1, 4, 12)
    assert (found["small"], found["large"]) == (4, 12) and found["milliseconds"] > 0 and found["seconds"] > 0
    # At the very least both tables of sums.
    assert found["megabytes"] > 2 * 8 * 2**12 / 1e6


def test_the_sentences_have_the_words_that_they_stand_for(bundled):
    assert [bundled.encode(text).F for text in (BEAMED, *EXACT)] == [20, 8, 12]


def test_what_only_a_gpu_is_asked_runs_small_on_any_device():
    from transformers import BertConfig

    config = BertConfig(
        vocab_size=60,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=20,
        initializer_range=0.5,
        num_labels=2,
    )
    found = base_speed("cpu", config, 7, 3)
    lower, upper = found["limits"]
    assert np.isfinite([lower, upper]).all() and lower < upper and found["seconds"] > 0
    assert (found["features"], found["width"]) == (7, 3) and found["sets"] > 7
