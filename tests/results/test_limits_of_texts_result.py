"""What the limits of many texts come to: every outcome from made-up means, and the figure of them."""

import numpy as np
import pytest

from core.evaluation.findings import FEW
from core.evaluation.studies.limits_of_texts import LimitsReport
from core.figures.catalogue import question_figure
from core.mathematics.statistics import Interval, mean_intervals
from core.results.asked import AskedOutcome
from core.results.catalogue import question_result
from core.results.caveats import Caveat
from core.results.limits_of_texts import LimitsOfTextsOutcome
from core.wording import Tally

UNKNOWN = Interval(np.nan, np.nan, np.nan)


def made(n=FEW, total=None, **about) -> LimitsReport:
    """Means by keyword, `gradient=(low, mean, high)`; a measure without one has None."""
    more = {name: about.pop(name) for name in ("exact", "apart", "cut", "sign") if name in about}
    ends = {name: UNKNOWN if one is None else Interval(one[1], one[0], one[2]) for name, one in about.items()}
    means = {name: (one, one) for name, one in ends.items()}
    counts = {name: 0 if one is None else n for name, one in about.items()}
    fields = {"exact": n, "apart": 0, "sign": "absolute"} | more
    return LimitsReport(means, counts, n, tally=Tally(n, total or n), **fields)


def result_of(report):
    return question_result("limits", report)


@pytest.mark.parametrize(
    ("means", "outcome", "named"),
    [
        ({"gradient": (0.7, 0.8, 0.9), "attention": (0.5, 0.6, 0.69)}, "CLOSEST", ["gradient"]),
        ({"attention": (0.5, 0.6, 0.7), "gradient": (0.7, 0.8, 0.9)}, "OVERLAP", ["gradient", "attention"]),
        ({"gradient": (0.4, 0.6, 0.7), "attention": (0.1, 0.2, 0.3)}, "HALF_WAY", ["gradient"]),
        ({"gradient": (0.1, 0.2, 0.49), "attention": None}, "NEARER_WORST", ["gradient"]),
    ],
)
def test_a_claim_holds_over_whole_intervals(means, outcome, named):
    found = result_of(made(**means))
    assert found.outcome == LimitsOfTextsOutcome[outcome] and found.slots["measures"] == named
    first = found.fact("naopc")
    assert (first.low, first.value, first.high) == means[named[0]] and not found.caveats


def test_without_enough_texts_nothing_is_claimed():
    assert result_of(made(FEW - 1, gradient=(0.7, 0.8, 0.9))).outcome == AskedOutcome.FEW_TEXTS
    assert result_of(made(0, 3, gradient=None)).outcome == AskedOutcome.UNFINISHED
    report = made(gradient=(np.nan, 0.9, np.nan))
    report.counts["gradient"] = FEW - 1
    assert result_of(report).outcome == AskedOutcome.FEW_TEXTS, "its limits coincide on one of twenty"
    assert result_of(made(gradient=None)).outcome == LimitsOfTextsOutcome.TIED


def test_no_text_with_limits_is_an_answer():
    none = LimitsReport({"gradient": (UNKNOWN, UNKNOWN)}, {"gradient": 0}, 0, 0, 0, Tally(0, 2, 2), "absolute")
    assert result_of(none).outcome == LimitsOfTextsOutcome.NO_TEXTS and question_figure("limits", [none]) is None


def test_searches_cut_texts_other_classes_and_what_favours_a_measure_are_caveats():
    found = result_of(made(exact=FEW - 1, apart=1, cut=2, gradient=(0.7, 0.8, 0.9), attention=(0.1, 0.2, 0.3)))
    assert set(found.caveats) == {Caveat.LIMITS_SEARCHED, Caveat.OTHER_CLASSES, Caveat.TRUNCATED}
    assert (found.fact("exact").value, found.fact("exact").of, found.fact("cut").value) == (FEW - 1, FEW, 2)
    favoured = result_of(made(sign="signed", **{"leave-one-out": (0.7, 0.8, 0.9), "gradient": (0.1, 0.2, 0.3)}))
    assert set(favoured.caveats) == {Caveat.MEASURE_USES_MASKING, Caveat.UNSIGNED_MEASURE}
    assert favoured.whose[Caveat.UNSIGNED_MEASURE] == ["gradient"]


def test_measures_are_drawn_the_closest_first_those_of_several_models_apart():
    one = made(attention=(0.1, 0.2, 0.3), gradient=(0.7, 0.8, 0.9))
    drawn = question_figure("limits", [one])
    assert [mark["x"][0] for mark in drawn["data"]] == [0.8, 0.2]
    assert drawn["data"][0]["error_x"]["array"] == [pytest.approx(0.1)]
    assert drawn["layout"]["yaxis"]["ticktext"] == ["gradient", "attention"]
    two = question_figure("limits", [one, made(gradient=(np.nan, 0.5, np.nan))])
    assert two["layout"]["yaxis"]["ticktext"] == ["gradient · 1", "attention · 1", "gradient · 2"]
    assert "error_x" not in two["data"][2]


# Values in [0, 1] of a mean of one half.
SPREADS = {
    "flat": lambda rng, size: rng.beta(1, 1, size),
    "ends": lambda rng, size: rng.beta(0.4, 0.4, size),
    "rising": lambda rng, size: rng.beta(4, 1, size) - 0.3,
    "falling": lambda rng, size: rng.beta(1, 4, size) + 0.3,
}


@pytest.mark.simulation
@pytest.mark.parametrize(("measures", "worst"), [(1, 0.08), (2, 0.05), (3, 0.05)])
@pytest.mark.parametrize("spread", SPREADS)
def test_of_equal_measures_half_of_the_way_a_claim_is_rare(spread, measures, worst):
    """By the first 20 texts or by all 100, in 1,000 samples."""
    rng, wrong = np.random.default_rng(0), {"CLOSEST": 0, "NEARER_WORST": 0}
    for _ in range(1_000):
        values, claimed = SPREADS[spread](rng, (100, measures)), set()
        for n in (FEW, 100):
            found = {f"{i}": (one.low, one.mean, one.high) for i, one in enumerate(mean_intervals(values[:n], 499))}
            claimed.add(result_of(made(n, **found)).outcome.name)
        for name in wrong:
            wrong[name] += name in claimed
    assert wrong["NEARER_WORST"] <= worst * 1_000
    assert measures == 1 or wrong["CLOSEST"] <= 20
