"""What a page draws of an attribution, and the colours it draws with."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.explanation.explainer import Attribution
from core.explanation.rows import (
    WordRow,
    agreement,
    build_row,
    choose_variant,
    kinds_differ,
    most_important,
    pieces,
    value_text,
)
from core.figures.palette import OPPOSES, OUT_OF_DISTRIBUTION, RANDOM, STRONGEST, SUPPORTS, UNSIGNED, blend, hue
from core.measures.catalogue import measure, measures
from core.measures.registry import WORDS
from core.network.features import UNITS, NoFeatures
from core.results.caveats import Caveat
from core.results.inputs import text_caveats
from tests import tiny
from tests.colours import contrast

PROPERTY = settings(deadline=None, max_examples=60, derandomize=True)
# Ground and text: a plain pair of each kind, and the defaults of Streamlit 1.67.
THEMES = {
    "light": ("#ffffff", "#31333f"),
    "dark": ("#0e1117", "#fafafa"),
    "Streamlit's light": ("#ffffff", "#2f2d2b"),
    "Streamlit's dark": ("#171614", "#edebe8"),
}


def attribution(name, **scores):
    return Attribution(
        name, 0, {variant: np.array(values, dtype=np.float64) for variant, values in scores.items()}, 1, 1.0
    )


def row(scores, kind="signed"):
    name = {"signed": "leave-one-out", "rank": "beam", "positive": "attention"}[kind]
    variant = measure(name).variants[0]
    return build_row(measure(name), attribution(name, **{variant: scores}), "signed")


# Rows


def test_a_signed_row_by_hand():
    found = row([1.0, -4.0, 0.0, 2.0])
    assert (found.measure, found.variant, found.kind, found.unit, found.largest) == (
        "leave-one-out",
        "signed",
        "signed",
        "logits",
        4.0,
    )
    assert found.shades.tolist() == [0.25, -1.0, 0.0, 0.5] and found.scores.tolist() == [1.0, -4.0, 0.0, 2.0]
    assert found.places.tolist() == [2, 4, 3, 1]
    assert [value_text(found, i) for i in range(4)] == ["+1", "-4", "0", "+2"]


def test_a_row_without_sign_by_hand():
    found = row([0.1, 0.0, 0.4], "positive")
    assert found.kind == "positive" and found.shades.tolist() == [0.25, 0.0, 1.0]
    assert [value_text(found, i) for i in range(3)] == ["0.1", "0", "0.4"]


def test_a_row_of_places_has_no_shades():
    found = row([2.0, 0.0, 3.0, 1.0], "rank")
    assert found.kind == "rank" and found.shades.tolist() == [0, 0, 0, 0]
    assert [value_text(found, i) for i in range(4)] == ["place 2", "place 4", "place 1", "place 3"]


@pytest.mark.parametrize("kind", ["signed", "positive", "rank"])
def test_constant_zeros_have_no_shade_and_rank_by_position(kind):
    found = row([0.0, 0.0, 0.0], kind)
    assert found.shades.tolist() == [0, 0, 0] and found.largest == 0 and found.places.tolist() == [1, 2, 3]


@PROPERTY
@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=8))
def test_shades_keep_the_proportions_and_fill_the_scale(scores):
    found = row(scores)
    assert found.largest == max(map(abs, scores)) and (np.abs(found.shades) <= 1).all()
    assert (np.sign(found.shades) * np.sign(scores) >= 0).all()
    if found.largest:
        assert np.abs(found.shades).max() == 1
        np.testing.assert_allclose(found.shades * found.largest, scores, rtol=1e-9, atol=found.largest * 1e-12)


@pytest.mark.parametrize(
    "score, text",
    [(1234.5, "+1.23e+03"), (-0.00012345, "-0.000123"), (0.5, "+0.5"), (-1 / 3, "-0.333"), (99.96, "+100")],
)
def test_values_have_three_significant_digits_and_their_sign(score, text):
    assert value_text(row([score]), 0) == text


def test_the_variant_asked_for_or_the_measures_own():
    chosen = {
        name: [choose_variant(measure, sign) for sign in ("signed", "absolute")] for name, measure in measures().items()
    }
    assert chosen["leave-one-out"] == chosen["input × gradient"] == ["signed", "absolute"]
    assert (
        chosen["gradient"] == ["L2", "L2"]
        and chosen["attention"] == ["absolute"] * 2
        and chosen["scaled attention"] == ["signed"] * 2
    )
    assert chosen["beam"] == ["signed"] * 2 and chosen["random"] == ["random"] * 2
    both = attribution("leave-one-out", signed=[-1.0, 0.5], absolute=[1.0, 0.5])
    assert build_row(measure("leave-one-out"), both, "absolute").kind == "positive"
    assert build_row(measure("leave-one-out"), both, "absolute").places.tolist() == [1, 2]
    assert build_row(measure("leave-one-out"), both, "signed").places.tolist() == [2, 1]


def test_the_attribution_is_not_changed():
    found = attribution("leave-one-out", signed=[1.0, -4.0], absolute=[1.0, 4.0])
    shown = build_row(measure("leave-one-out"), found, "signed")
    shown.shades[:] = 0
    assert found.scores["signed"].tolist() == [1.0, -4.0]


# Pieces


def test_orders_with_and_without_a_sign_are_not_compared_unsaid():
    signed, places, norm = row([2, 1, 0, -3]), row([4, 3, 2, 1], "rank"), row([0, 1, 3, 0], "positive")
    by_chance = build_row(measure("random"), attribution("random", random=[1, 2, 3, 4]), "signed")
    assert kinds_differ([signed, norm, places]) and kinds_differ([norm, places])
    # Random order opposes nothing; of one kind there is nothing to say.
    assert not any(kinds_differ(rows) for rows in ([signed, places, by_chance], [norm, by_chance], []))


def test_pieces_by_hand(tiny_model):
    found = pieces(tiny_model("bert").encode(" The [MASK],\n boat's… "))
    assert [(p["gap"], p["text"], p["masked"]) for p in found] == [
        (" ", "The", False),
        (" ", "[MASK]", True),
        ("", ",", False),
        ("\n ", "boat's", False),
        ("", "…", False),
    ]


@pytest.mark.parametrize("unit, marked", [("word", ["☃"]), ("clause", ["reads ☃ the wind"])])
def test_what_the_tokenizer_does_not_know_is_marked_and_told(tiny_model, unit, marked):
    encoded = tiny_model("bert").encode("the boat, reads ☃ the wind", unit=unit)
    found = [p["text"] for p in pieces(encoded) if p.get("unknown")]
    assert found == marked and text_caveats(encoded) == (Caveat.UNKNOWN_WORDS,)
    known = tiny_model("bert").encode("the boat [MASK]", unit=unit)
    assert not known.unknown.any() and Caveat.UNKNOWN_WORDS not in text_caveats(known)


@pytest.mark.parametrize("kind", tiny.KINDS)
@PROPERTY
@given(
    text=st.text(st.sampled_from("ab ’'.,!?(\n\t[MASK]<>é👍🏽\u200b中\0"), min_size=1, max_size=25),
    unit=st.sampled_from(UNITS),
)
def test_pieces_put_the_text_together_again(tiny_model, kind, text, unit):
    try:
        encoded = tiny_model(kind).encode(text, unit=unit)
    except NoFeatures:
        return
    found = pieces(encoded)
    assert [p["text"] for p in found] == [f.text for f in encoded.features]
    assert [p["masked"] for p in found] == encoded.premasked.tolist()
    # Tokens that are bytes of one character each show that character.
    shares = [a.start < b.end for b, a in zip(encoded.features, encoded.features[1:])]
    assert unit == "token" or not any(shares)
    together = "".join(p["gap"] + ("" if share else p["text"]) for p, share in zip(found, [*shares, False]))
    assert together == text[: encoded.features[-1].end]


# Agreement


def test_agreement_by_hand():
    rows = [row([3.0, 2.0, 1.0]), row([1.0, 2.0, 3.0]), row([3.0, 1.0, 2.0]), row([5.0, 5.0, 5.0])]
    tau, overlap = agreement(rows, 2)
    np.testing.assert_allclose(
        tau, [[1, -1, 1 / 3, np.nan], [-1, 1, -1 / 3, np.nan], [1 / 3, -1 / 3, 1, np.nan], [np.nan] * 4]
    )
    # The tops of two: {0, 1}, {2, 1}, {0, 2}; equal scores have no top.
    np.testing.assert_allclose(
        overlap, [[1, 0.5, 0.5, np.nan], [0.5, 1, 0.5, np.nan], [0.5, 0.5, 1, np.nan], [np.nan] * 4]
    )


@PROPERTY
@given(
    st.integers(2, 6).flatmap(
        lambda F: st.lists(st.lists(st.integers(-3, 3), min_size=F, max_size=F), min_size=1, max_size=4)
    ),
    st.integers(1, 7),
)
def test_agreement_is_symmetric_with_ones_on_the_diagonal(values, k):
    tau, overlap = agreement([row(scores) for scores in values], k)
    np.testing.assert_allclose(tau, tau.T, equal_nan=True)
    np.testing.assert_array_equal(overlap, overlap.T)
    constant = np.array([len(set(scores)) == 1 for scores in values])
    assert (
        (overlap.diagonal()[~constant] == 1).all()
        and np.isnan(tau[constant]).all()
        and np.isnan(overlap[constant]).all()
    )
    np.testing.assert_allclose(tau.diagonal()[~constant], 1)
    assert (
        np.nanmin(tau, initial=0) >= -1 - 1e-12
        and np.nanmax(tau, initial=0) <= 1 + 1e-12
        and np.nanmin(overlap, initial=0) >= 0
    )


def test_the_first_word_is_one_that_speaks_for_the_class():
    assert most_important(row([1.0, 4.0, 3.0])) == 1
    assert most_important(row([-1.0, -4.0, 0.0])) is None, "no word supports it"
    assert most_important(row([2.0, 2.0, 2.0])) is None, "no order"
    assert most_important(row([0.1, 0.3], "positive")) == 1
    assert most_important(row([5.0])) == 0 and most_important(row([-5.0])) is None


def test_what_the_text_masks_is_left_out_of_places_and_comparisons():
    masked = np.array([False, True, False, False])
    first = build_row(
        measure("leave-one-out"), attribution("leave-one-out", signed=[-1.0, 0.0, -3.0, -2.0]), "signed", masked
    )
    second = build_row(
        measure("leave-one-out"), attribution("leave-one-out", signed=[3.0, 0.0, 1.0, 2.0]), "signed", masked
    )
    assert first.places.tolist() == [1, 0, 3, 2] and second.places.tolist() == [1, 0, 3, 2]
    assert most_important(first) is None and most_important(second) == 0
    assert value_text(first, 1) == "masked already"
    tau, overlap = agreement([first, second], 2)
    assert tau[0, 1] == overlap[0, 1] == 1


# Colours


@pytest.mark.parametrize(
    "one, other, ratio",
    [
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#ffffff", 4.48),
        ("#767676", "#ffffff", 4.54),
        ("#ff0000", "#ffffff", 4.00),
        ("#0000ff", "#ffffff", 8.59),
        ("#00ff00", "#000000", 15.30),
        ("#123456", "#123456", 1.0),
    ],
)
def test_contrasts_known_from_wcag(one, other, ratio):
    assert contrast(one, other) == contrast(other, one) == pytest.approx(ratio, abs=0.006)


def test_blends_by_hand():
    assert blend("#ff8000", "#0080ff", 0.0) == "#0080ff" and blend("#ff8000", "#0080ff", 1.0) == "#ff8000"
    assert blend("#ff8000", "#008000", 0.2) == "#338000"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("colour", [SUPPORTS, OPPOSES, UNSIGNED])
def test_text_can_be_read_on_every_shade(theme, colour):
    ground, text = THEMES[theme]
    assert min(contrast(text, blend(colour, ground, STRONGEST * i / 20)) for i in range(21)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_the_two_hues_are_told_apart_from_the_ground(theme):
    """WCAG 2.2, 1.4.11: 3:1 for what is no text, the line under a word among it."""
    assert min(contrast(colour, THEMES[theme][0]) for colour in (SUPPORTS, OPPOSES)) >= 3


def test_every_measure_has_a_hue_of_its_own_and_grey_is_for_random():
    hues = [hue(name) for name in measures()]
    assert len(set(hues)) == len(hues) and hue("random") == RANDOM
    assert hue("set by hand") == hue("set by hand") not in hues
    assert OUT_OF_DISTRIBUTION not in {*hues, SUPPORTS, OPPOSES, hue("set by hand")}
    assert UNSIGNED not in {*hues, SUPPORTS, OPPOSES, OUT_OF_DISTRIBUTION}
    assert min(contrast(colour, ground) for colour in hues for ground, _ in THEMES.values()) >= 3


def test_rows_are_built_of_what_is_measured(tiny_model):
    from core.explanation.explainer import Explainer

    model = tiny_model("bert")
    encoded, explainer = model.encode("the [MASK] reads the wind"), Explainer(model)
    for name, one in measures().items():
        for sign in ("signed", "absolute") if one.needs != WORDS else ():
            found = build_row(one, explainer.attribute(encoded, name, 0), sign)
            assert isinstance(found, WordRow) and sorted(found.places) == [1, 2, 3, 4, 5] and found.shades[1] == 0
            assert all(value_text(found, i) for i in range(5))
