"""Pictures of a sweep: what rests on rejected inputs is a cross and said in the legend; panels are equally wide."""

import pytest

from core.figures.figures import REJECTED
from core.figures.sweep_figures import draw_dots_of_sweep


def line(model, marked):
    return {"model": model, "measure": "gradient", "mean": 0.5, "mean_low": 0.4, "mean_high": 0.6, "marked": marked}


@pytest.mark.parametrize("rejected", [True, False])
def test_a_value_on_rejected_inputs_is_a_cross_that_the_legend_explains(rejected):
    found = draw_dots_of_sweep([line("a", False), line("b", rejected)], "mean", "NAOPC", None)["data"]
    first, second = (one for one in found if one["x"] != [None])
    assert "symbol" not in first["marker"] and (second["marker"].get("symbol") == "x") == rejected
    assert [one["name"] for one in found if one["x"] == [None]] == [REJECTED] * rejected


def test_panels_of_models_are_equally_wide_and_share_their_scales():
    layout = draw_dots_of_sweep([line(name, False) for name in "abc"], "mean", "NAOPC", None)["layout"]
    ends = [layout[f"xaxis{end}"]["domain"] for end in ("", 2, 3)]
    assert [high - low for low, high in ends] == pytest.approx([ends[0][1]] * 3) and ends[2][1] == pytest.approx(1)
    assert all(layout[f"{axis}axis{end}"]["matches"] == axis for axis in "xy" for end in (2, 3))
