"""The benchmark measures what it says; how fast that is depends on the machine and is asserted nowhere."""

from core.composition.bench import masf_speed, p_value_cost, report


def test_masf_is_set_against_comparing_with_every_value():
    found = masf_speed(20, 60, 2, 8, 5)
    assert set(found) == {"ratio", "megabytes", "seconds"} and all(value > 0 for value in found.values())


def test_what_p_values_add_is_measured_for_one_input_and_for_leave_one_out(bundled, tiny_model):
    encoded = bundled.encode("A slow, dull film.", None, "word")
    assert set(p_value_cost(bundled, encoded, 1)) == {1, encoded.F + 1}
    assert p_value_cost(tiny_model("bert"), tiny_model("bert").encode("a b", None, "word"), 1) == {}, "without a reference there is nothing to measure"


def test_the_report_names_each_ratio_and_its_direction():
    said = report({"machine": "m", "peak": 1e9, "tokens": 3, "features": 2, "forward": {1: (10.0, 0.5)}, "leave_one_out": {"captum": 2.0},
                   "masf": {"ratio": 40.0, "seconds": 0.1, "megabytes": 5.0}, "p_values": {1: 2.5}})
    assert "(↑): 40" in said and "batch of 1 (↓): 2.5 ms" in said
