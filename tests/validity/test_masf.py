"""MaSF: distributions and p-values against literal twins, and against what a p-value promises."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.mathematics.statistics import fisher, simes
from core.validity import masf
from core.validity.masf import COMBINATIONS, Combine, Ecdf, fit_calibrated, fit_literal

PROPERTY = settings(deadline=None, max_examples=40, derandomize=True)
ALL_COMBINATIONS = [Combine(*pair) for pair in product(COMBINATIONS, COMBINATIONS)]
EDGES = np.array([-np.inf, np.inf], dtype=np.float32)


def counted(reference, z):
    """#{reference < z} in each column, every value compared."""
    return (reference[:, None, :] < z[None, :, :]).sum(axis=0)


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def tied(seed, *shape):
    """Small integers: most values occur many times."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


# Empirical distribution


@pytest.mark.parametrize("draw", [normal, tied])
@pytest.mark.parametrize("V, D, M", [(1, 1, 1), (1, 4, 3), (40, 1, 9), (37, 6, 50), (500, 3, 200)])
def test_the_ecdf_counts_what_is_strictly_below(draw, V, D, M):
    reference = draw(V, V, D)
    # The reference's own values, others, and what lies outside.
    z = np.concatenate([draw(M + 1000, M, D), reference, np.repeat(EDGES, D).reshape(2, D)])
    found = Ecdf.of(reference).below(z)
    assert found.shape == z.shape and (found == counted(reference, z)).all()
    assert (found[-2] == 0).all() and (found[-1] == V).all()


def test_the_ecdf_by_hand():
    ecdf = Ecdf.of(np.array([[3.0, 0.0], [1.0, 0.0], [3.0, 5.0], [2.0, -1.0]]))
    assert ecdf.count == 4 and ecdf.values.tolist() == [[1.0, 2.0, 3.0, 3.0], [-1.0, 0.0, 0.0, 5.0]]
    assert ecdf.below(np.array([[3.0, 0.0], [2.5, 0.5], [1.0, 6.0]])).tolist() == [[2, 1], [2, 3], [0, 4]]


@PROPERTY
@given(st.integers(1, 30), st.integers(1, 4), st.integers(1, 9), st.integers(0, 10**6))
def test_the_ecdf_counts_ties_of_any_shape(V, D, M, seed):
    reference, z = tied(seed, V, D), tied(seed + 1, M, D) / 2
    assert (Ecdf.of(reference).below(z) == counted(reference, z)).all()


@pytest.mark.parametrize("compact", [False, True])
def test_the_ecdf_nears_the_distribution_it_was_drawn_from(compact):
    V = 20_000
    ecdf = Ecdf.of(normal(0, V, 3))
    ecdf = ecdf.compact() if compact else ecdf
    z = np.linspace(-4, 4, 401).repeat(3).reshape(401, 3)
    # Dvoretzky, Kiefer, Wolfowitz: further off in one of three columns with probability 3e-6; between kept places, 1 in
    # 66 more.
    bound = np.sqrt(np.log(2 / 1e-6) / (2 * V)) + (1 / 66 if compact else 0)
    assert np.abs(ecdf.below(z) / V - stats.norm.cdf(z)).max() < bound


@pytest.mark.parametrize(
    "bad, why",
    [
        (np.empty((0, 3)), "V ≥ 1"),
        (np.zeros(3), "V ≥ 1"),
        (np.zeros((2, 2, 2)), "V ≥ 1"),
        (np.array([[0.0, np.nan]]), "NaN"),
    ],
)
def test_an_ecdf_needs_observations_without_nan(bad, why):
    with pytest.raises(ValueError, match=why):
        Ecdf.of(bad)


# Compact


def halves(V, D):
    """Distinct integers that half precision holds exactly, each column in an order of its own."""
    drawn = np.random.default_rng(V)
    return np.stack([drawn.permutation(np.arange(-2048, 2049))[:V] for _ in range(D)], axis=1).astype(np.float32)


def test_the_compact_ecdf_keeps_both_tails_and_65_between():
    compact = Ecdf.of(halves(3000, 2)).compact()
    assert compact.values.shape == (2, 96 + 65 + 96) and compact.count == 3000
    assert compact.places[:96].tolist() == list(range(96)) and compact.places[-96:].tolist() == list(range(2904, 3000))
    gaps = np.diff(compact.places[95:-95])
    assert gaps.min() >= gaps.max() - 2 and gaps.sum() == 2904 - 95, "those between are evenly spaced"


@pytest.mark.parametrize("V", [258, 259, 400, 1000, 4000])
def test_the_compact_ecdf_is_exact_in_the_tails_and_within_a_gap_between(V):
    reference = halves(V, 3)
    ordered = np.sort(reference, axis=0)
    # Whole numbers, which half precision holds: what is compared is rounded as the kept values are.
    z = np.arange(-2050.0, 2051.0).repeat(3).reshape(-1, 3)
    found, truth = Ecdf.of(reference).compact().below(z), counted(reference, z)
    tails = (z <= ordered[95]) | (z >= ordered[V - 96])
    assert tails.any() and (found[tails] == truth[tails]).all()
    # 66 gaps share what the tails leave.
    assert np.abs(found - truth).max() <= np.ceil((V - 192) / 66)
    assert (np.diff(found, axis=0) >= 0).all() and found.min() == 0 and found.max() == V


def test_between_kept_places_the_count_is_interpolated():
    """0, 1, 2 … 2047: every count between is the query itself, up to half a value."""
    reference = np.arange(2048, dtype=np.float32)[:, None]
    z = np.arange(0, 2047.5)[:, None]
    found = Ecdf.of(reference).compact().below(z)
    between = (z > 95) & (z < 2048 - 96)
    assert np.abs(found - z)[between].max() <= 1.0 and (found == found.round()).all(), "a count is a whole number"


def test_the_compact_ecdf_is_exact_in_the_tails_up_to_half_rounding():
    reference, z = normal(1, 5000, 4), normal(2, 3000, 4) * 1.5
    found = Ecdf.of(reference).compact().below(z)
    # Half precision keeps eleven bits: a value moves by at most 2^-11 of itself.
    slack = np.abs(z) * 2**-10
    low, high = counted(reference, z - slack), counted(reference, z + slack)
    tails = (high <= 95) | (low >= 5000 - 95)
    assert tails.sum() > 500 and ((low <= found) & (found <= high))[tails].all()


@pytest.mark.parametrize("smallest, largest", [(-1e30, 3e38), (-0.1, 0.1), (1e-12, 1e-9), (70_000.0, 70_001.0)])
def test_the_compact_ecdf_holds_its_extremes_exactly(smallest, largest):
    """Neither 1e30, which overflows half precision, nor 0.1, nor what it rounds to zero may leave the range or enter
    it.
    """
    ends = np.array([smallest, largest], dtype=np.float32)
    inner = np.random.default_rng(0).uniform(0.3, 0.7, 998) * (float(ends[1]) - float(ends[0])) + float(ends[0])
    compact = Ecdf.of(np.concatenate([inner, ends]).astype(np.float32)[:, None]).compact()
    assert compact.values[0, [0, -1]].tolist() == ends.tolist()
    outside, inside = np.nextafter(ends, EDGES), np.nextafter(ends, EDGES[::-1])
    assert compact.below(ends[:1, None])[0, 0] == 0 and compact.below(ends[1:, None])[0, 0] < 1000
    assert compact.below(outside[:, None])[:, 0].tolist() == [0, 1000]
    assert compact.below(inside[:1, None])[0, 0] >= 1 and compact.below(inside[1:, None])[0, 0] < 1000
    assert (np.diff(compact.values) >= 0).all()


@pytest.mark.parametrize("shared", [0.1, -0.1, 0.3, -0.3])
def test_a_smallest_value_that_most_texts_share_stays_the_smallest(shared):
    """Half precision holds none of these: some it would move up, some down."""
    shared = np.float32(shared)
    compact = Ecdf.of(
        np.concatenate([np.full(600, shared), np.linspace(0.5, 1, 400)]).astype(np.float32)[:, None]
    ).compact()
    z = np.array([[np.nextafter(shared, np.float32(-1))], [shared], [shared + np.float32(1e-3)]])
    assert compact.below(z)[:2, 0].tolist() == [0, 0]
    assert compact.below(z)[2, 0] == pytest.approx(600, abs=np.ceil((1000 - 192) / 66))


@pytest.mark.parametrize("above", [0, 200])
def test_a_larger_value_that_most_texts_share_keeps_its_place(above):
    """Half precision makes 0.09998 of 0.1."""
    reference = np.concatenate([np.linspace(-1, 0, 400 - above), np.full(600, 0.1), np.linspace(0.5, 1, above)]).astype(
        np.float32
    )[:, None]
    found = Ecdf.of(reference).compact().below(np.float32([[0.1]]))[0, 0]
    assert found == pytest.approx(400 - above, abs=np.ceil((1000 - 192) / 66))


@PROPERTY
@given(st.integers(258, 700), st.sampled_from([1e-6, 1.0, 1e4, 1e6]), st.booleans(), st.integers(0, 10**6))
def test_the_compact_ecdf_never_decreases_and_stays_in_range(V, scale, ties, seed):
    reference = (tied if ties else normal)(seed, V, 2) * np.float32(scale)
    z = np.sort(
        np.concatenate(
            [reference, normal(seed + 1, 200, 2) * np.float32(2 * scale), np.repeat(EDGES, 2).reshape(2, 2)]
        ),
        axis=0,
    )
    found = Ecdf.of(reference).compact().below(z)
    assert (np.diff(found, axis=0) >= 0).all() and (found[0] == 0).all() and (found[-1] == V).all()


def test_a_short_reference_is_kept_as_it_is():
    ecdf = Ecdf.of(normal(0, 257, 2))
    assert ecdf.compact() is ecdf
    assert 192 < len(Ecdf.of(normal(0, 258, 2)).compact().places) <= 257


def test_a_compact_ecdf_comes_back_from_what_is_stored():
    compact = Ecdf.of(normal(0, 2000, 3) * 1e5).compact()
    with np.errstate(over="ignore"):
        kept = compact.values.astype(np.float16)
    again = Ecdf.from_compact(kept, compact.values[:, [0, -1]], compact.places, compact.count)
    assert (again.values == compact.values).all() and again.values.dtype == np.float32
    z = normal(1, 100, 3) * 1e5
    assert (again.below(z) == compact.below(z)).all()


# The literal twins: every value compared with every other, one observation at a time, in exact fractions


def two_sided(reference, z, calibrated):
    below, V = sum(value < z for value in reference), len(reference)
    P = (below + Fraction(1, 2)) / (V + 1) if calibrated else Fraction(below, V)
    return min(P, 1 - P)


def reduced(p, how):
    """Fisher's statistic rises as the product falls, which has no rounding."""
    if how == "fisher":
        return -prod(value + Fraction(1, 10**8) for value in p)
    return min(value * len(p) / i for i, value in enumerate(sorted(p), 1))


def twin(parts, tested, combine, calibrated):
    """FMM Alg. 2 over lists; the literal form has one part for all levels."""
    parts, tested = [part.tolist() for part in parts], tested.tolist()
    first, second, third = parts
    L, H = len(first[0]), len(first[0][0])

    def statistic(observation, layer):
        columns = ([text[layer][h] for text in first] for h in range(H))
        return reduced(
            [two_sided(column, z, calibrated) for column, z in zip(columns, observation[layer])], combine.dimensions
        )

    of_second = [[statistic(text, layer) for text in second] for layer in range(L)]

    def sides(observation):
        return [two_sided(of_second[layer], statistic(observation, layer), calibrated) for layer in range(L)]

    def total(observation):
        found = reduced(sides(observation), combine.layers)
        return -found if combine.layers == "simes" else found

    of_third = [total(text) for text in third]
    found = [total(observation) for observation in tested]
    n = len(of_third)
    if calibrated:
        p = [Fraction(1 + sum(value >= z for value in of_third), n + 1) for z in found]
    else:
        p = [1 - Fraction(sum(value < z for value in of_third), n) for z in found]
    return [float(value) for value in p], [[float(2 * side) for side in sides(one)] for one in tested]


@pytest.mark.parametrize("H", [3, 7, 10, 21])
@pytest.mark.parametrize("combine", [Combine(), Combine("simes", "simes")])
def test_equal_statistics_tie_by_their_counts(combine, H):
    """Small counts over many dimensions: many texts have the same smallest count_i/i, which p·(H/i) rounds apart."""
    reference, tested = tied(H, 40, 3, H), tied(H + 100, 30, 3, H)
    found = fit_literal(reference, combine).p_values(tested)
    total, layers = twin([reference] * 3, tested, combine, calibrated=False)
    assert found.total.tolist() == total and found.layers.tolist() == layers
    parts = reference[:15], reference[15:25], reference[25:]
    found = fit_calibrated(*parts, combine).p_values(tested)
    total, layers = twin(parts, tested, combine, calibrated=True)
    assert found.total.tolist() == total and found.layers.tolist() == layers


@pytest.mark.parametrize("draw", [normal, tied])
@pytest.mark.parametrize("combine", ALL_COMBINATIONS)
def test_the_literal_form_is_the_papers_algorithm(combine, draw):
    reference = draw(3, 20, 3, 4)
    tested = np.concatenate([draw(4, 15, 3, 4), reference[:5], np.repeat(EDGES, 12).reshape(2, 3, 4)])
    found = fit_literal(reference, combine).p_values(tested)
    total, layers = twin([reference] * 3, tested, combine, calibrated=False)
    assert found.total.tolist() == total and found.layers.tolist() == layers and len(set(total)) > 2


@pytest.mark.parametrize("draw", [normal, tied])
@pytest.mark.parametrize("combine", ALL_COMBINATIONS)
def test_the_calibrated_form_takes_each_level_from_its_own_part(combine, draw):
    parts = draw(5, 22, 3, 4), draw(6, 13, 3, 4), draw(7, 17, 3, 4)
    tested = np.concatenate([draw(8, 15, 3, 4), *(part[:2] for part in parts), np.repeat(EDGES, 12).reshape(2, 3, 4)])
    found = fit_calibrated(*parts, combine).p_values(tested)
    total, layers = twin(parts, tested, combine, calibrated=True)
    assert found.total.tolist() == total and found.layers.tolist() == layers and len(set(total)) > 2


def test_the_literal_form_by_hand():
    """One layer of one dimension: 0, 1, 2, 3 have P 0, ¼, ½, ¾, sides 0, ¼, ½, ¼, and these again sides 0, ¼, ¼, ¼."""
    fitted = fit_literal(np.arange(4.0).reshape(4, 1, 1))
    found = fitted.p_values(np.array([-9.0, 0.0, 0.5, 1.5, 9.0]).reshape(5, 1, 1))
    assert found.layers[:, 0].tolist() == [0.0, 0.0, 0.5, 0.5, 0.0]
    # The total of outside ties with that of the reference's own 0; three are below it.
    assert found.total.tolist() == [0.25, 0.25, 1.0, 1.0, 0.25]


def test_the_calibrated_form_by_hand():
    """First 0, 1, 2: P is (½, 1½, 2½, 3½)/4, sides ⅛, ⅜, ⅜, ⅛. Second: sides ⅛, ⅜, ⅜, so ⅛ has P ½/4 and ⅜ has 1½/4."""
    first, second, third = (
        np.array(part, dtype=float).reshape(-1, 1, 1) for part in ([0, 1, 2], [9, 0.5, 1.5], [0.5, 1.5, 0.7, -9])
    )
    fitted = fit_calibrated(first, second, third)
    found = fitted.p_values(np.array([-9.0, 0.6, 9.0]).reshape(3, 1, 1))
    assert found.layers[:, 0].tolist() == [0.25, 0.75, 0.25]
    # Of the third part, one is outside as well; the total of 0.6 is reached by all four.
    assert found.total.tolist() == [0.4, 1.0, 0.4]


@pytest.mark.parametrize("calibrated", [False, True])
def test_compact_keeps_the_first_level_only(calibrated):
    """Values that half precision holds, so that the tails stay exact: the other levels keep all their places."""
    parts = [normal(seed, 600, 2, 3).astype(np.float16).astype(np.float32) for seed in range(3)]
    whole, compact = (
        fit_calibrated(*parts, compact=c) if calibrated else fit_literal(parts[0], compact=c) for c in (False, True)
    )
    assert compact.first.values.shape == (6, 257) and whole.first.values.shape == (6, 600)
    assert (
        compact.second.values.shape == (2, 600)
        and compact.third.values.shape == (1, 600)
        and (compact.L, compact.H) == (2, 3)
    )
    same = [(getattr(compact, level).values == getattr(whole, level).values).all() for level in ("second", "third")]
    assert same == ([False, False] if calibrated else [True, True]), (
        "calibrated with what the first became, literal before it"
    )
    tested = normal(9, 300, 2, 3)
    assert np.abs(compact.p_values(tested).total - whole.p_values(tested).total).max() < 0.1


def test_the_calibrated_compact_form_is_fitted_with_the_compact_first_level():
    parts = [normal(seed, 400, 2, 3) for seed in range(3)]
    fitted = fit_calibrated(*parts, compact=True)
    n = len(parts[2])
    ranked = np.sort(fitted.p_values(parts[2]).total)
    # The last part's own p-values are its ranks: the i-th smallest counts itself and those beyond, and one more.
    assert (ranked >= np.arange(2, n + 2) / (n + 1) - 1e-12).all() and ranked[0] == 2 / (n + 1)


# What a p-value promises

SHAPES = {
    "literal": lambda seed, V, L, H, combine: fit_literal(normal(seed, V, L, H), combine),
    "calibrated": lambda seed, V, L, H, combine: fit_calibrated(
        *normal(seed, 3 * V, L, H).reshape(3, V, L, H), combine
    ),
}


def extremes(L, H):
    """Random, tight, wide and outside above, below and in either direction."""
    drawn = np.concatenate(
        [normal(seed, 60, L, H) * np.float32(scale) for seed, scale in ((11, 0.02), (12, 1.0), (13, 2.5), (14, 1e6))]
    )
    one = normal(15, 60, L, H)
    one[:, 0, 0] = np.inf
    return np.concatenate(
        [drawn, one, np.sign(normal(16, 60, L, H)) * np.inf, np.repeat(EDGES, L * H).reshape(2, L, H)]
    )


# 63 + 1 is a power of two: (k + ½)/64 is exact, and so is 1 minus it.
@pytest.mark.parametrize(
    "form, combine", [*product(["calibrated"], ALL_COMBINATIONS), *product(["literal"], ALL_COMBINATIONS)]
)
def test_the_floor_is_the_smallest_p_and_that_of_outside_everywhere(form, combine):
    for seed in range(5):
        fitted = SHAPES[form](seed, 63, 3, 5, combine)
        total = fitted.p_values(extremes(3, 5)).total
        assert fitted.floor == total.min() and (total[-62:] == fitted.floor).all() and (total > fitted.floor).any()


def test_the_floor_is_the_smallest_p_for_any_number_of_observations():
    for seed in range(40):
        fitted = SHAPES["calibrated"](seed, 5 + seed, 2, 3, Combine())
        assert fitted.floor == fitted.p_values(extremes(2, 3)).total.min()


def test_the_calibrated_floor_is_one_more_than_what_ties_with_outside():
    """No text of the last part is outside everywhere, so nothing but the observation itself counts: 1/(n + 1)."""
    assert fit_calibrated(normal(0, 200, 3, 5), normal(1, 63, 3, 5), normal(2, 30, 3, 5)).floor == 1 / 31


@pytest.mark.parametrize("correlation", [0.0, 0.9])
@pytest.mark.parametrize("combine", [Combine(), Combine("fisher", "simes")])
def test_the_calibrated_form_rejects_no_more_of_the_same_than_it_says(combine, correlation):
    """New parts each time, and one observation tested, so that repetitions are independent; 24 + 1: 0.04 is
    attained.
    """
    repetitions, drawn = 1500, np.random.default_rng(6)
    found = np.empty(repetitions)
    for i in range(repetitions):
        states = np.sqrt(1 - correlation) * drawn.standard_normal((75, 3, 10)) + np.sqrt(
            correlation
        ) * drawn.standard_normal((75, 1, 1))
        found[i] = fit_calibrated(states[:30], states[30:50], states[50:74], combine).p_values(states[74:]).total[0]
    for alpha in (0.05, 0.2, 0.5):
        assert stats.binomtest(int((found <= alpha).sum()), repetitions, alpha, alternative="greater").pvalue > 1e-3
    assert (found <= 0.05).mean() > 0.01 and (found <= 0.5).mean() > 0.3, "it does reject"


def test_the_calibrated_form_stays_valid_with_many_dimensions_where_the_literal_one_rejects_too_much():
    """Six layers of 40 dimensions: on held-out data, the paper's form rejects more than twice what it says."""
    literal, calibrated = [], []
    for seed in range(5):
        reference, held_out = normal(seed, 400, 6, 40), normal(seed + 100, 1000, 6, 40)
        literal.append((fit_literal(reference).p_values(held_out).total < 0.05).mean())
        calibrated.append((fit_calibrated(*np.split(reference, [200, 300])).p_values(held_out).total < 0.05).mean())
    assert min(literal) > 0.1 and 0.01 < np.mean(calibrated) < 0.07


def test_the_literal_form_with_more_dimensions_than_texts_can_reject_nothing():
    """Nearly every text is at the edge of some dimension in every layer, and ties with whatever is outside."""
    reference = normal(0, 100, 3, 200)
    literal, calibrated = fit_literal(reference), fit_calibrated(*np.split(reference, [50, 75]))
    assert literal.floor > 0.5 and literal.p_values(reference + 100).total.min() == literal.floor
    assert calibrated.floor < 0.05


@pytest.mark.parametrize("combine", ALL_COMBINATIONS)
@pytest.mark.parametrize("compact", [False, True])
def test_a_planted_shift_is_rejected_by_the_calibrated_form(combine, compact):
    parts = [normal(seed, V, 4, 32) for seed, V in ((0, 600), (1, 300), (2, 300))]
    fitted = fit_calibrated(*parts, combine, compact)
    tested = normal(3, 400, 4, 32)
    share = [(fitted.p_values(tested + np.float32(by)).total < 0.05).mean() for by in (0, 1.5, -1.5, 4)]
    assert share[0] < 0.1 and min(share[1:3]) > 0.5 and share[3] == 1.0


def test_a_shift_in_one_dimension_of_each_layer_is_rejected():
    fitted = fit_calibrated(*(normal(seed, 400, 4, 32) for seed in range(3)))
    tested = normal(3, 200, 4, 32)
    tested[:, :, 7] += 8
    assert (fitted.p_values(tested).total < 0.05).mean() > 0.9


@pytest.mark.parametrize("form", SHAPES)
def test_layers_are_twice_the_smaller_side_and_the_total_combines_the_sides(form):
    for combine in ALL_COMBINATIONS:
        fitted = SHAPES[form](0, 63, 3, 5, combine)
        found = fitted.p_values(normal(1, 80, 3, 5))
        assert (
            found.layers.shape == (80, 3)
            and found.total.shape == (80,)
            and found.layers.dtype == found.total.dtype == np.float64
        )
        # In steps of 1/64, or 1/63: 2 · min(P, 1 − P).
        places = found.layers / 2 * 64 - 0.5 if form == "calibrated" else found.layers / 2 * 63
        np.testing.assert_allclose(places, places.round(), atol=1e-9)
        assert places.min() >= -1e-9 and places.max() <= 32 and found.layers.max() > 0.9
        over = {"simes": lambda p: -simes(p), "fisher": fisher}[combine.layers]
        totals = over(found.layers / 2)
        order = np.argsort(totals)
        assert (np.diff(found.total[order]) <= 1e-12).all(), "a larger statistic has no larger p"


def test_layers_of_the_same_are_uniform_in_the_calibrated_form():
    fitted = fit_calibrated(*(normal(seed, 2000, 2, 8) for seed in range(3)))
    layers = fitted.p_values(normal(3, 2000, 2, 8)).layers
    # Two samples of 2,000, one of them the reference: off by 1.95 · √(2/2000) with probability 1e-3, twice for two
    # sides.
    assert max(stats.kstest(layer, "uniform").statistic for layer in layers.T) < 2 * 1.95 * np.sqrt(2 / 2000)


@PROPERTY
@given(
    st.sampled_from(sorted(SHAPES)),
    st.sampled_from(ALL_COMBINATIONS),
    st.booleans(),
    st.integers(1, 25),
    st.integers(2, 12),
    st.integers(0, 10**6),
)
def test_p_is_between_0_and_1_and_each_observation_has_its_own(form, combine, ties, V, M, seed):
    fitted = SHAPES[form](seed, V, 2, 4, combine)
    tested = np.concatenate([(tied if ties else normal)(seed + 1, M, 2, 4), np.repeat(EDGES, 8).reshape(2, 2, 4)])
    found = fitted.p_values(tested)
    assert ((found.total >= 0) & (found.total <= 1)).all() and ((found.layers >= 0) & (found.layers <= 1)).all()
    assert form == "literal" or found.total.min() >= 1 / (V + 1), "no calibrated p is 0"
    shuffled = np.random.default_rng(seed).permutation(M + 2)
    again = fitted.p_values(tested[shuffled])
    assert (again.total == found.total[shuffled]).all() and (again.layers == found.layers[shuffled]).all()


@pytest.mark.parametrize("form", SHAPES)
@pytest.mark.parametrize("at_once", [1, 3 * 7 * 2, 3 * 7 * 4 + 1])
def test_how_many_are_held_at_a_time_changes_nothing(form, at_once, monkeypatch):
    tested = normal(1, 33, 3, 7)
    for combine in ALL_COMBINATIONS:
        whole = SHAPES[form](0, 30, 3, 7, combine)
        expected = whole.p_values(tested)
        with monkeypatch.context() as patch:
            patch.setattr(masf, "_AT_ONCE", at_once)
            fitted = SHAPES[form](0, 30, 3, 7, combine)
            found = fitted.p_values(tested)
        assert (fitted.third.values == whole.third.values).all()
        assert (found.total == expected.total).all() and (found.layers == expected.layers).all()


def one_by_one(L, H, combine):
    """A reference whose texts repeat, tested at once and one at a time."""
    reference = normal(0, 60, L, H).repeat(3, axis=0)
    fitted = fit_literal(reference, combine)
    return fitted.p_values(reference).total, np.concatenate([fitted.p_values(text[None]).total for text in reference])


@pytest.mark.parametrize("combine", ALL_COMBINATIONS)
def test_one_at_a_time_is_as_good_as_all_at_once(combine):
    at_once, single = one_by_one(3, 7, combine)
    assert (at_once == single).all()


@pytest.mark.parametrize("L, H, combine", [(12, 7, Combine()), (3, 40, Combine("fisher", "fisher"))])
def test_one_at_a_time_is_as_good_as_all_at_once_with_eight_or_more_to_add(L, H, combine):
    at_once, single = one_by_one(L, H, combine)
    assert (at_once == single).all()


# Arguments


def test_nothing_tested_gives_nothing():
    for form in SHAPES:
        found = SHAPES[form](0, 20, 3, 4, Combine()).p_values(np.empty((0, 3, 4), dtype=np.float32))
        assert found.total.shape == (0,) and found.layers.shape == (0, 3)


@pytest.mark.parametrize("compact", [False, True])
def test_arguments_are_not_changed(compact):
    parts, tested = [normal(seed, 300, 2, 3) for seed in range(3)], normal(3, 20, 2, 3)
    before = [part.copy() for part in (*parts, tested)]
    fit_literal(parts[0], compact=compact).p_values(tested)
    fitted = fit_calibrated(*parts, compact=compact)
    held = replace(fitted).third.values.copy(), fitted.first.values.copy()
    fitted.p_values(tested)
    assert all((now == then).all() for now, then in zip((*parts, tested), before))
    assert (fitted.third.values == held[0]).all() and (fitted.first.values == held[1]).all()


def test_a_fitted_test_keeps_no_hold_of_its_reference():
    reference, tested = normal(0, 50, 2, 3), normal(1, 20, 2, 3)
    fitted = fit_literal(reference)
    before = fitted.p_values(tested).total
    reference[:] = 0
    assert (fitted.p_values(tested).total == before).all()


HOLED = normal(0, 10, 2, 3)
HOLED[4, 1, 2] = np.nan


@pytest.mark.parametrize(
    "bad, why", [(HOLED, "NaN"), (np.empty((0, 2, 3)), "V ≥ 1"), (np.zeros((10, 6)), "V ≥ 1"), (np.zeros(10), "V ≥ 1")]
)
def test_a_bad_reference_is_refused(bad, why):
    good = normal(1, 10, 2, 3)
    with pytest.raises(ValueError, match=why):
        fit_literal(bad)
    for place in range(3):
        with pytest.raises(ValueError, match=why):
            fit_calibrated(*(bad if i == place else good for i in range(3)))


@pytest.mark.parametrize("shape", [(10, 3, 2), (10, 2, 4), (10, 1, 3)])
def test_parts_of_different_shape_are_refused(shape):
    good = normal(1, 10, 2, 3)
    for place in range(3):
        with pytest.raises(ValueError, match="got shapes"):
            fit_calibrated(*(normal(0, *shape) if i == place else good for i in range(3)))


@pytest.mark.parametrize("form", SHAPES)
@pytest.mark.parametrize(
    "bad, why",
    [
        (HOLED, "NaN"),
        (np.zeros((2, 3)), r"float\[M, 2, 3\], got shape \(2, 3\)"),
        (np.zeros((5, 3, 2)), r"got shape \(5, 3, 2\)"),
        (np.zeros((5, 2, 4)), r"got shape \(5, 2, 4\)"),
    ],
)
def test_bad_states_are_refused(form, bad, why):
    with pytest.raises(ValueError, match=why):
        SHAPES[form](0, 20, 2, 3, Combine()).p_values(bad)


@pytest.mark.parametrize(
    "stages, why", [(("stouffer", "fisher"), "dimensions .* 'stouffer'"), (("simes", "Fisher"), "layers .* 'Fisher'")]
)
def test_an_unknown_combination_is_refused(stages, why):
    with pytest.raises(ValueError, match=why):
        Combine(*stages)


def test_the_paper_combines_dimensions_by_simes_and_layers_by_fisher():
    assert Combine() == Combine("simes", "fisher") and fit_literal(normal(0, 5, 2, 3)).combine == Combine()
