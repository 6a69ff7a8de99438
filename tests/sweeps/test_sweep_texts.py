"""A sweep read back, two models on the same texts, confusion, accuracy by tag and by length."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.data.browsing import length_band
from core.evaluation.studies.board_report import NAOPC_C, NAOPC_S, RANDOM
from core.mathematics.statistics import Interval
from core.results.caveats import Caveat
from core.results.two_models import TwoModelsOutcome, two_models_result
from core.sweeps.comparing import accuracy_by, confusion, mean_difference, paired_means, rejected_models, texts_of_set
from core.sweeps.configuration import Source, Sweep
from core.sweeps.reading import read_tables
from core.sweeps.running import Swept
from core.sweeps.writing import write_tables
from pages.parts.data_set.sweep import shares_of

FIRST, SECOND = "first", "second"


def line(model, example, measure, naopc, label="yes", predicted="yes", tags="", words=3, low=None):
    """A line of the table of texts."""
    about = {"model": model, "data": "data", "example": example, "label": label, "tags": tags}
    about |= {
        "length": length_band(words),
        "predicted": predicted,
        "right": None if label is None else label == predicted,
    }
    return about | {"measure": measure, "comprehensiveness": naopc, NAOPC_C: naopc, "sufficiency": low, NAOPC_S: low}


def both(first, second, measure="gradient"):
    """Texts with these values under two models."""
    return [
        line(model, f"{i}", measure, value)
        for model, values in ((FIRST, first), (SECOND, second))
        for i, value in enumerate(values)
    ]


def test_two_models_are_compared_on_the_texts_that_both_have():
    (one,) = paired_means(both([0.9, 0.5, None, 0.1], [0.4, 0.3, 0.8]), NAOPC_C, (FIRST, SECOND))
    assert (one.measure, one.n) == ("gradient", 2)
    assert (one.first, one.second, one.difference.mean) == pytest.approx((0.7, 0.35, 0.35))


def test_a_measure_that_one_model_lacks_is_left_out():
    lines = [*both([0.9, 0.5], [0.4, 0.3]), line(FIRST, "0", "attention", 0.5)]
    assert [one.measure for one in paired_means(lines, NAOPC_C, (FIRST, SECOND))] == ["gradient"]
    assert paired_means(lines, NAOPC_S, (FIRST, SECOND)) == []


def test_the_interval_of_a_paired_difference_is_scipys():
    rng = np.random.default_rng(3)
    first, second = rng.uniform(0, 1, (2, 40))
    (one,) = paired_means(both(first, second), NAOPC_C, (FIRST, SECOND))
    found = stats.bootstrap(
        (first - second,), np.mean, n_resamples=9_999, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    assert (one.difference.low, one.difference.high) == pytest.approx((found.low, found.high), abs=0.01)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_exchanging_models_turns_the_difference_around(pairs):
    first, second = zip(*pairs)
    (one,), (other,) = (paired_means(both(first, second), NAOPC_C, of) for of in ((FIRST, SECOND), (SECOND, FIRST)))
    assert one.difference.mean == pytest.approx(-other.difference.mean, abs=1e-12)
    assert one.first - one.second == pytest.approx(one.difference.mean, abs=1e-12)


def test_the_mean_over_measures_leaves_out_random_order_and_counts_each_text_once():
    lines = [*both([0.9, 0.5], [0.4, 0.4]), *both([0.1, None], [0.4, 0.4], "attention"), *both([9, 9], [0, 0], RANDOM)]
    assert mean_difference(lines, NAOPC_C, (FIRST, SECOND)).mean == pytest.approx(((0.5 - 0.3) / 2 + 0.1) / 2)


def test_a_lower_sufficiency_is_the_better():
    lines = [line(model, "0", "gradient", 0.5, low=low) for model, low in ((FIRST, 0.2), (SECOND, 0.6))]
    assert mean_difference(lines, NAOPC_S, (FIRST, SECOND)).mean == pytest.approx(0.4)


def test_each_text_counts_once_in_confusion_and_by_tag_and_length():
    texts = [("0", "yes", "yes", "short;odd", 3), ("1", "yes", "no", "odd", 9), ("2", "no", "no", "", 9)]
    lines = [
        line(FIRST, name, measure, 0.5, label, predicted, tags, words)
        for name, label, predicted, tags, words in [*texts, ("3", None, "no", "odd", 9)]
        for measure in ("gradient", RANDOM)
    ]
    assert confusion(lines, FIRST) == {("yes", "yes"): 1, ("yes", "no"): 1, ("no", "no"): 1}
    by_tag = {value: (one.mean, n) for (value, _), (one, n) in accuracy_by(lines, "tag").items()}
    assert by_tag == {"short": (1.0, 1), "odd": (0.5, 2), "(no tag)": (1.0, 1)}
    by_length = {value: (one.mean, n) for (value, _), (one, n) in accuracy_by(lines, "length").items()}
    assert by_length == {length_band(3): (1.0, 1), length_band(9): (0.5, 2)}
    assert {one["example"] for one in texts_of_set(lines, "data", {"1"})} == {"1"} and texts_of_set(
        lines, "other"
    ) == []


@pytest.mark.parametrize(
    ("low", "high", "n", "outcome"),
    [
        (0.1, 0.3, 40, TwoModelsOutcome.HIGHER),
        (-0.1, 0.3, 40, TwoModelsOutcome.UNDECIDED),
        (0.1, 0.3, 12, TwoModelsOutcome.UNDECIDED),
        (0.1, 0.3, 0, TwoModelsOutcome.SINGLE),
    ],
)
def test_what_two_models_come_to(low, high, n, outcome):
    assert two_models_result((FIRST, SECOND), Interval(0.2, low, high), n).outcome == outcome


def test_the_model_with_the_higher_naopc_is_named_first():
    result = two_models_result((FIRST, SECOND), Interval(-0.2, -0.3, -0.1), 40)
    assert (result.slots["model"], result.slots["other"]) == (SECOND, FIRST) and not result.caveats
    rejected = two_models_result((FIRST, SECOND), Interval(-0.2, -0.3, -0.1), 40, [SECOND])
    assert rejected.outcome is TwoModelsOutcome.REJECTED and rejected.caveats == (Caveat.OUT_OF_DISTRIBUTION,)
    assert rejected.whose[Caveat.OUT_OF_DISTRIBUTION] == [SECOND]


def test_models_whose_figure_rests_on_rejected_inputs_are_found():
    def of(model, figure, marked):
        return {"model": model, "figure": figure, "marked": marked}

    tables = {
        "naopc": [of(FIRST, NAOPC_C, False), of(FIRST, NAOPC_S, True), of(SECOND, NAOPC_C, True)],
        "ranks": [{"model": FIRST, "figure": NAOPC_C}],
        "areas": [{"model": FIRST, "marked": True}],
    }
    assert rejected_models(tables, NAOPC_C, (SECOND, FIRST)) == [SECOND]
    assert rejected_models(tables, NAOPC_S, (FIRST, SECOND)) == [FIRST]


def test_cells_lie_between_the_worst_and_the_best_of_their_column():
    rows = {
        ("a",): [{"x": 1.0, "y": 3.0}],
        ("b",): [{"x": 2.0, "y": None}],
        ("c",): [{"x": 5.0, "y": 4.0}],
        ("d",): [None],
    }
    rows = {name: [one, one, one] for name, (one,) in rows.items()}
    grid = SimpleNamespace(header=[], values=("x", "x", "y"), better=(1, -1, 0), rows=rows)
    assert shares_of(grid) == [[0.0, 1.0, 0.0], [0.25, 0.75, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.fixture
def folder(tmp_path):
    """A folder of a sweep with one table."""
    sweep = Sweep((FIRST, SECOND), (Source("data"),), "out", tables=("texts",))
    found = Swept({"texts": both([0.9, 0.5], [0.4, 0.3])}, {"data": ("1" * 64, ["0", "1"])}, [FIRST, SECOND])
    assert {path.suffix for path in write_tables(sweep, found, tmp_path)["texts"]} == {".parquet", ".csv"}
    return tmp_path


def test_what_was_written_is_read_back(folder):
    found = read_tables(folder)
    assert found.lines == {"texts": both([0.9, 0.5], [0.4, 0.3])} and found.facts["sample_ids"] == ["data 0", "data 1"]


def test_a_folder_without_a_sweep_and_damaged_files_are_refused(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="holds no sweep"):
        read_tables(tmp_path / "empty")
    whole = (folder / "texts.parquet").read_bytes()
    (folder / "texts.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"texts\.parquet cannot be read"):
        read_tables(folder)


def test_tables_of_two_sweeps_in_one_folder_are_refused(folder):
    (folder / "aopc.parquet").write_bytes((folder / "texts.parquet").read_bytes())
    with pytest.raises(ValueError, match="another sweep or version"):
        read_tables(folder)
