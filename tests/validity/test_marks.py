"""⚠: what is marked by which rule, worked out by hand; and that nothing else decides, draws or words it."""

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from core.validity import marks
from core.validity.marks import HOLM, PLAIN, RULES, SIGN, Rule, Why, decide, level_text
from core.validity.references import Reference
from pages.parts.sections.sides import reference_facts
from tests.p_values import PROPERTY, p_values, slow_holm

ROOT = Path(__file__).resolve().parents[2]
CODE = [
    ROOT / "app.py",
    *(path for room in ("core", "pages") for path in sorted((ROOT / room).rglob("*")) if "bundled" not in path.parts),
]
HERE = ROOT / "core" / "validity" / "marks.py"

# ---- what is marked


@pytest.mark.parametrize(
    "rule, floor, why",
    [
        # Eleven steps: Holm asks for less than 0.05/11 = 0.004545.
        (HOLM, None, Why.NO_REFERENCE),
        (HOLM, 0.5, Why.FLOOR),
        (HOLM, 0.05, Why.FLOOR),
        (HOLM, 0.0499, Why.TOO_FEW),
        (HOLM, 0.05 / 11, Why.TOO_FEW),
        (HOLM, 0.0045, None),
        (HOLM, 0.0, None),
        (PLAIN, None, Why.NO_REFERENCE),
        (PLAIN, 0.05, Why.FLOOR),
        (PLAIN, 0.0499, None),
    ],
)
def test_the_gate_speaks_only_where_the_reference_can_reject(rule, floor, why):
    # Steps 4 and 9 are as small as this reference can give; only an open gate marks them.
    p = np.full(11, 0.5)
    p[[4, 9]] = 0.001
    gate = decide(p, np.arange(11), 11, floor, rule)
    assert gate.why == why and gate.available == (why is None)
    assert (
        gate.rule == rule and gate.steps == 11 and gate.threshold == pytest.approx(0.05 / 11 if rule == HOLM else 0.05)
    )
    assert np.flatnonzero(gate.rejected).tolist() == ([4, 9] if why is None else [])
    assert gate.rejected.dtype == bool and gate.rejected.shape == (11,)
    assert gate.first == (4 if why is None else None) and gate.beyond(10) == (why is None)


@pytest.mark.parametrize("rule", [HOLM, PLAIN])
def test_numbers_from_the_first_rejected_step_on_are_beyond(rule):
    p = np.array([0.3, 0.4, 0.0001, 0.6, 0.0002])
    gate = decide(p, np.arange(5), 5, 0.0001, rule)
    assert gate.rejected.tolist() == [False, False, True, False, True] and gate.first == 2 and type(gate.first) is int
    assert [gate.beyond(step) for step in range(5)] == [False, False, True, True, True], (
        "a step that is not rejected is marked too"
    )


@pytest.mark.parametrize("rule", [HOLM, PLAIN])
def test_with_nothing_rejected_nothing_is_beyond(rule):
    gate = decide(np.array([0.3, 0.05, 0.9]), np.arange(3), 3, 0.001, rule)
    assert (
        gate.why is None
        and not gate.rejected.any()
        and gate.first is None
        and not any(gate.beyond(step) for step in range(3))
    )


def test_the_first_step_can_be_rejected():
    gate = decide(np.array([0.001, 0.9]), np.arange(2), 2, 0.001)
    assert gate.first == 0 and gate.beyond(0) and gate.beyond(1)


def test_steps_that_mask_the_same_are_one_test():
    """Three features in eleven steps are four inputs, so 0.012 < 0.05/4 is rejected, at each step that has it."""
    masked = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3])
    gate = decide(np.array([0.9, 0.8, 0.012, 0.7])[masked], masked, 4, 0.001)
    assert np.flatnonzero(gate.rejected).tolist() == [7, 8, 9] and gate.first == 7
    assert gate.steps == 4 and gate.threshold == 0.0125


def test_names_of_inputs_need_no_order():
    gate = decide(np.array([0.9, 0.001, 0.001, 0.3]), np.array([7, 2, 2, 5]), 3, 0.0001)
    assert gate.rejected.tolist() == [False, True, True, False] and gate.first == 1


def test_holm_steps_down_over_the_planned_inputs_and_the_plain_rule_takes_each_by_itself():
    # Of four: 0.0125, 0.0167, 0.025, 0.05.
    p = np.array([0.03, 0.016, 0.012, 0.5])
    assert decide(p, np.arange(4), 4, 0.001).rejected.tolist() == [False, True, True, False]
    assert decide(p, np.arange(4), 4, 0.001, PLAIN).rejected.tolist() == [True, True, True, False]
    # The last input is still to come: it counts as not rejected, and as planned.
    assert decide(p[:3], np.arange(3), 4, 0.001).rejected.tolist() == [False, True, True]
    assert decide(p[:3], np.arange(3), 9, 0.001).rejected.tolist() == [False, False, False]


def test_what_is_drawn_as_the_line_parts_what_is_rejected_from_the_rest():
    p = np.array([0.03, 0.016, 0.012, 0.5])
    gate = decide(p, np.arange(4), 4, 0.001)
    # Two are rejected, so the third smallest is held against 0.05/2.
    assert gate.cut == 0.025 and ((p < gate.cut) == gate.rejected).all() and level_text(gate) == "Holm over 4 tests"
    assert decide(p, np.arange(4), 4, 0.001, PLAIN).cut == 0.05
    shut = decide(np.array([0.041, 0.5]), np.arange(2), 11, 0.001)
    # Below 5 % by itself, but not rejected by Holm over 11 tests.
    assert shut.first is None and shut.available and not shut.rejected.any()
    clear = decide(np.array([0.5, 0.051]), np.arange(2), 11, 0.001)
    assert clear.first is None and clear.available
    assert shut.cut == shut.threshold == 0.05 / 11
    whole = decide(np.array([0.001]), np.arange(1), 1, 0.0)
    assert whole.cut == 0.05 and whole.first == 0


def test_the_plain_rule_is_strict():
    gate = decide(np.array([0.05, np.nextafter(0.05, 0)]), np.arange(2), 2, 0.001, PLAIN)
    assert gate.rejected.tolist() == [False, True]


@PROPERTY
@given(st.lists(p_values, min_size=1, max_size=6), st.data())
def test_the_gate_tests_distinct_inputs_and_never_takes_a_rejection_back(distinct, data):
    inputs = np.array(sorted(data.draw(st.lists(st.integers(0, len(distinct) - 1), min_size=1, max_size=11))))
    done = data.draw(st.integers(1, len(inputs)))
    p, planned = np.array(distinct)[inputs], len(set(inputs.tolist()))
    whole, part = decide(p, inputs, planned, 0.0), decide(p[:done], inputs[:done], planned, 0.0)
    names = sorted(set(inputs.tolist()))
    slow = dict(zip(names, slow_holm([distinct[i] for i in names], planned, 0.05)))
    assert whole.rejected.tolist() == [slow[i] for i in inputs.tolist()]
    assert (whole.rejected[:done] >= part.rejected).all()
    assert part.first is None or whole.first <= part.first


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="'bonferroni'"):
        decide(np.array([0.5]), np.array([0]), 1, 0.001, "bonferroni")


# ---- another rule


def test_another_rule_is_one_entry_and_pages_offer_it(monkeypatch):
    """Bonferroni's: every p against 5 % by the number of inputs. p of .004 is below .05/10 = .005, .0051 is not."""
    few = Rule(lambda p, planned: p < 0.05 / planned, lambda planned: 0.05 / planned, "a share")
    monkeypatch.setitem(RULES, "Bonferroni", few)
    found = decide(np.array([0.5, 0.0051, 0.004, 0.004, 0.9]), np.array([0, 1, 2, 2, 3]), 10, 0.001, "Bonferroni")
    assert found.rejected.tolist() == [False, False, True, True, False] and found.first == 2
    shut = decide(np.ones(1), np.zeros(1), 10, 0.005, "Bonferroni")
    assert shut.why == Why.TOO_FEW and shut.rule == "Bonferroni" and shut.threshold == 0.005
    assert level_text(shut) == "Bonferroni over 10 tests"

    def page():
        from pages.parts.frame.sidebar import _choose_method

        _choose_method()

    app = AppTest.from_function(page, default_timeout=60)
    app.session_state["page shown"] = ""
    menu = app.run().get("button_group")[1].proto
    assert [option.content for option in menu.options] == [HOLM, PLAIN, "Bonferroni"] and "a share." in menu.help


# ---- nothing else decides, draws or words it


def test_the_sign_stands_in_one_file():
    texts = {path: path.read_text(encoding="utf-8") for path in CODE if path.suffix in (".py", ".js", ".css", ".html")}
    written = re.compile(rf"{SIGN}|\\\\?u?0*{ord(SIGN):x}|&#(x{ord(SIGN):x}|{ord(SIGN)});", re.IGNORECASE)
    assert [path for path, text in texts.items() if written.search(text)] == [HERE]


def test_no_other_file_compares_with_the_level():
    """Neither with 0.05, nor with ALPHA where it is no line in a figure: an order between numbers is a decision."""
    found = set()
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if path.suffix == ".py" else ():
            if isinstance(node, ast.Compare) and re.search(r"\bALPHA\b|(?<![\d.])0?\.05\b(?!\d)", ast.unparse(node)):
                found.add(path.relative_to(ROOT).as_posix())
    # Where `significant` and Holm's rule are defined, and where it is told when orders enough are drawn for them.
    assert found == {"core/validity/marks.py", "core/mathematics/statistics.py", "core/verdicts/chance.py"}


@pytest.mark.parametrize("rule", ["holm", "Gate", "Rule"])
def test_who_decides_asks_marks(rule):
    """A gate is made by marks alone; Holm's rule is besides called over measures, and over pairs of them."""
    more = set()
    if rule == "holm":
        more = {"core/mathematics/statistics.py", "core/mathematics/ranking.py", "core/verdicts/chance.py"}
        more |= {"core/evaluation/studies/known_words.py"}
    users = {
        path.relative_to(ROOT).as_posix()
        for path in CODE
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == rule)
        or (isinstance(node, ast.ImportFrom) and rule == "holm" and rule in [alias.name for alias in node.names])
    }
    assert users == {"core/validity/marks.py", *more} and hasattr(marks, rule)


# ---- what a reference is good for

CAN, FLOOR, RATES = "can reject at 5 %", "floor: the smallest MaSF p it can give ↓", "false rejections at 5 % ↓"


def reference(floor, shares=None, R=11):
    """What a reference of 567 texts on the last level tells of itself, without its observations."""
    about = {
        "floor": {"calibrated": floor},
        "false_rejection": {"calibrated": shares, "texts": 300, "source": "held-out texts"},
        "texts": 1234,
        "source": "texts",
        "observations": {"first level": 1000, "second level": 800, "last level": 567},
        "training": "mask" if R > 1 else "none",
        "tokens": [3, 5, 20, 40, 60],
        "compact": False,
    }
    return Reference({"calibrated": SimpleNamespace(n=567, R=R)}, about, "")


def test_a_reference_that_is_too_small_says_nothing_and_its_numbers_are_shown():
    by_ratio = [0.048, 0.05, 0.031, *[0.04] * 6, 0.062, 0.036]
    for floor in (0.05, 0.2):
        assert not marks.decides(reference(floor, by_ratio))
        facts = dict(reference_facts(reference(floor, by_ratio), "calibrated"))
        assert facts[FLOOR] == str(floor) and facts[CAN] == "no"
    many = reference(0.0049, by_ratio)
    facts = dict(reference_facts(many, "calibrated"))
    assert marks.decides(many) and facts[FLOOR] == "0.0049" and facts[CAN] == "yes"
    assert re.findall(r"[\d.]+(?= %)", facts[RATES]) == ["4.8", "6.2", "90", "3.6"] and "3.1 to 6.2 %" in facts[RATES]
    assert re.findall(r"[\d,]+\d", facts["observations"]) == ["1,000", "800", "567"]
    assert facts["masking ratios"] == "11" and facts["texts"].startswith("1,234 of ")
    # Of a plain model only unmasked texts are measured; without any measurement nothing is said of one.
    plain = dict(reference_facts(reference(0.0049, by_ratio[:1], R=1), "calibrated"))
    assert plain[RATES].startswith("4.8 % unmasked (") and plain["masking ratios"] == "1"
    assert dict(reference_facts(reference(0.0049), "calibrated"))[RATES].startswith("not measured (")


def test_a_reference_that_is_too_small_counts_tests_and_not_inputs():
    """Three features at eleven ratios: eleven tests of four inputs."""
    gate = decide(np.full(11, 0.03), np.arange(11), 11, 0.005)
    assert gate.why == Why.TOO_FEW and gate.steps == 11
