"""Pictures of AOPC between its limits: two models on one axis."""

from dataclasses import replace

import numpy as np
import pytest

from core.figures.limit_figures import Gauge, ModelGauges, Range, gauges_of_models
from core.figures.palette import OUT_OF_DISTRIBUTION
from core.mathematics.search.limits import EXACT, Limits


def limits_between(lower: float, upper: float) -> Limits:
    """Limits; by which orders is not drawn."""
    return Limits(lower, upper, np.arange(2), np.arange(2), EXACT, None, 4)


def gauge(name: str, value: float, normal: str, marked: bool = False) -> Gauge:
    """A measure whose AOPC of either direction is told apart."""
    return Gauge(name, "#123456", value, -value, (normal, "0.5"), (marked, False))


FIRST = ModelGauges(
    "a<b",
    [gauge("leave-one-out", 0.38, "0.877"), gauge("gradient", -0.02, "0.266")],
    Range(0.04, -0.1, 0.3, "0.362", "99 random orders"),
    limits_between(-0.2, 0.46),
    EXACT,
)
SECOND = ModelGauges(
    "twin", [gauge("leave-one-out", 0.39, "0.623 ⚠", True)], None, limits_between(-0.11, 0.69), "beam 5"
)


def rows(drawn: dict) -> dict[float, str]:
    """Which model stands in which row."""
    y = drawn["layout"]["yaxis"]
    return dict(zip(y["tickvals"], y["ticktext"]))


def test_each_measure_has_a_row_of_each_model_that_has_it_and_stands_between_that_models_limits():
    drawn = gauges_of_models([FIRST, SECOND], "probability of negative")
    assert list(rows(drawn).values()) == ["a&lt;b", "twin", "a&lt;b", "a&lt;b"]
    bands = {(shape["y0"] + shape["y1"]) / 2: (shape["x0"], shape["x1"]) for shape in drawn["layout"]["shapes"]}
    assert [bands[y] for y in rows(drawn)] == [(-0.2, 0.46), (-0.11, 0.69), (-0.2, 0.46), (-0.2, 0.46)]
    marks = [one for one in drawn["data"] if one["mode"] == "markers+text" and one["text"][0]]
    assert [one["x"] for one in marks] == [[0.38], [0.39], [-0.02]]
    for one in marks:
        low, high = bands[one["y"][0]]
        assert low < one["x"][0] < high
    # NAOPC stands behind the row that it is of.
    normal = {note["y"]: note["text"] for note in drawn["layout"]["annotations"] if "xshift" in note and "y" in note}
    assert [normal[y] for y in rows(drawn)] == ["<b>0.877</b>", "<b>0.623 ⚠</b>", "<b>0.266</b>", "<b>0.362</b>"]
    said = " ".join(note["text"] for note in drawn["layout"]["annotations"])
    assert all(f"<b>{name}</b>" in said for name in ("leave-one-out", "gradient", "random"))
    assert "a&lt;b: exact" in said and "twin: beam 5" in said


def test_what_is_rejected_has_an_edge_and_a_sign_and_no_name_stands_in_the_legend_twice():
    drawn = gauges_of_models([FIRST, SECOND], "probability of negative")
    measured = [one for one in drawn["data"] if "line" in one.get("marker", {})]
    edges = {one["text"][0]: one["marker"]["line"]["color"] for one in measured}
    assert edges["0.39 ⚠"] == [OUT_OF_DISTRIBUTION] and edges["0.38"] == ["#123456"]
    named = [one["name"] for one in drawn["data"] if one["showlegend"]]
    assert sorted(named) == sorted(set(named)) and len(named) == 2


def test_random_orders_of_other_numbers_are_told_apart_in_the_legend():
    fewer = replace(SECOND, chance=replace(FIRST.chance, orders="30 random orders"))
    named = {one["name"] for one in gauges_of_models([FIRST, fewer], "v")["data"] if one["showlegend"]}
    counted = {name.rpartition("<br>")[2] for name in named}
    assert {"99 random orders (a&lt;b)", "30 random orders (twin)"} < counted
    alike = {one["name"] for one in gauges_of_models([FIRST, FIRST], "v")["data"] if one["showlegend"]}
    assert [name for name in alike if name.endswith("<br>99 random orders")]


@pytest.mark.parametrize(
    ("direction", "ends", "x"),
    [("comprehensiveness", "worst to best order", 0.38), ("sufficiency", "best to worst order", -0.38)],
)
def test_which_end_is_best_follows_the_direction(direction, ends, x):
    drawn = gauges_of_models([FIRST, FIRST], "probability of negative", direction)
    assert drawn["layout"]["annotations"][-2]["text"] == f"band: {ends}<br>(exact)"
    assert drawn["data"][0]["x"] == [x]


def test_a_long_name_is_cut_and_a_score_beyond_the_limits_that_were_found_is_in_view():
    long = replace(SECOND, model="somebody/" + "x" * 60, rows=[gauge("gradient", 0.9, "1.2")])
    drawn = gauges_of_models([FIRST, long], "probability of negative")
    layout = drawn["layout"]
    assert max(map(len, layout["yaxis"]["ticktext"])) == 24 and layout["margin"]["l"] < 220
    assert layout["xaxis"]["range"][1] > 0.9


def test_names_that_would_be_cut_alike_are_cut_less():
    names = [f"textattack/{kind}bert-base-uncased-SST-2" for kind in ("", "distil")]
    drawn = gauges_of_models([replace(FIRST, model=name) for name in names], "probability of negative")
    assert {*drawn["layout"]["yaxis"]["ticktext"]} == {*names}
    alike = ["x" * 60 + end for end in ("a" * 60, "b" + "a" * 59)]
    drawn = gauges_of_models([replace(FIRST, model=name) for name in alike], "probability of negative")
    assert {*drawn["layout"]["yaxis"]["ticktext"]} == {*alike}


def test_random_orders_beyond_the_limits_that_were_found_are_in_view_and_the_legend_hides_all_rows_at_once():
    wide = replace(FIRST, chance=replace(FIRST.chance, high=0.95), tag="beam 5")
    drawn = gauges_of_models([wide, wide], "probability of negative")
    assert drawn["layout"]["xaxis"]["range"][1] > 0.95
    assert all(one["legendgroup"] == one["name"] for one in drawn["data"] if "name" in one)


def test_a_value_is_written_where_its_band_has_room():
    drawn = gauges_of_models([FIRST, SECOND], "probability of negative")
    sides = {one["text"][0]: one["textposition"] for one in drawn["data"] if isinstance(one.get("textposition"), list)}
    assert sides == {"0.38": ["middle left"], "0.39 ⚠": ["middle left"], "-0.02": ["middle right"]}
