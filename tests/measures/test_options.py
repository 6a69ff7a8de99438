"""Options of a measure, in brackets behind its name: they are found, refused in words, and stored apart."""

from contextlib import nullcontext

import numpy as np
import pytest

from core.commands.evaluate import add
from core.evaluation.studies.scoring import Scoring
from core.explanation.explainer import Explainer
from core.figures.palette import hue
from core.measures.catalogue import is_measure, measure, measures
from core.measures.integrated_gradients import token_attributions
from core.oracle.inside import Inside
from core.storage.store import Store

NAME = "integrated gradients"
ASKED = f"{NAME} [steps=7, baseline=mask]"


@pytest.fixture(scope="module")
def encoded(tiny_model):
    return tiny_model("bert").encode("The captain reads the wind")


def test_what_is_asked_for_is_computed(tiny_model, encoded):
    model = tiny_model("bert")
    found = Explainer(model).attribute(encoded, ASKED, 1)
    inside = Inside(model, encoded, np.zeros(encoded.F, dtype=bool), 1)
    np.testing.assert_allclose(
        found.scores["signed"], inside.per_feature(token_attributions(inside, 7, "mask")), rtol=1e-5, atol=1e-9
    )
    assert found.measure == ASKED and found.passes == 7 == measure(ASKED).passes(encoded.F)
    plain = Explainer(model).attribute(encoded, NAME, 1).scores["signed"]
    assert np.abs(found.scores["signed"] - plain).max() > 1e-4


def test_each_is_stored_apart_and_defaults_where_they_were(tiny_model, encoded, tmp_path):
    explainer = Explainer(tiny_model("bert"), Store(tmp_path))
    explainer.attribute(encoded, NAME, 1)
    assert explainer.stored(encoded, f"{NAME} [steps=20]", 1) is not None
    assert explainer.stored(encoded, ASKED, 1) is None
    explainer.attribute(encoded, ASKED, 1)
    assert explainer.stored(encoded, f"{NAME} [baseline=mask,steps=7]", 1) is not None
    assert explainer.stored(encoded, f"{NAME} [steps=7]", 1) is None


def test_no_menu_holds_it_and_everything_that_takes_a_name_takes_it():
    assert is_measure(ASKED) and ASKED not in list(measures()) and hue(ASKED) == hue(NAME)
    assert "over 7 steps" in measure(ASKED).definition and "fully masked" in measure(ASKED).definition
    Scoring(measures=(NAME, ASKED)).check()
    told = []
    add(lambda *names, **more: told.append(more["help"]) if "--measures" in names else None)
    assert f"{NAME} [steps=…, baseline=…]" in told[0]


@pytest.mark.parametrize("steps", [1, 10_000])
def test_both_ends_of_a_range_can_be_asked_for(steps):
    assert measure(NAME).asked(f"steps={steps}").passes(3) == steps


@pytest.mark.parametrize(
    "wrong, said",
    [
        ("steps=0", "must be 1 to 10000"),
        ("steps=many", "must be 1 to 10000"),
        ("steps=99999999999", "must be 1 to 10000"),
        ("baseline=pad", "zero, mask"),
        ("width=3", "no option 'width'; it has steps, baseline"),
        ("", "no option ''"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(wrong, said, tiny_model, encoded):
    with pytest.raises(ValueError, match=said):
        measure(NAME).asked(wrong)
    for asked in (
        is_measure,
        lambda name: Explainer(tiny_model("bert")).attribute(encoded, name, 1),
        lambda name: Scoring(measures=(NAME, name)).check(),
    ):
        with pytest.raises(ValueError, match=said):
            asked(f"{NAME} [{wrong}]")


def range_of(read) -> tuple[int, int] | None:
    """The smallest and largest whole number that an option takes; None of one that takes words."""

    def taken(number: int) -> bool:
        try:
            return read(str(number)) == number
        except ValueError:
            return False

    least = next((number for number in range(20) if taken(number)), None)
    if least is None:
        return None
    most, beyond = least, 10**9
    while beyond - most > 1:
        middle = (most + beyond) // 2
        most, beyond = (middle, beyond) if taken(middle) else (most, middle)
    return least, most


RANGES = [
    (name, option, *ends)
    for name, one in measures().items()
    for option, (_, read) in one.options.items()
    if (ends := range_of(read))
]


@pytest.mark.parametrize("name, option, least, most", RANGES)
def test_every_option_computes_at_both_ends_of_its_range_and_is_refused_beyond(name, option, least, most, tiny_model):
    explainer = Explainer(tiny_model("bert"))
    encoded = explainer.encode("The wind", None, "word")
    for number in (least, most):
        found = explainer.attribute(encoded, f"{name} [{option}={number}]", 1)
        assert all(np.isfinite(scores).all() and scores.any() for scores in found.scores.values())
    for number in (least - 1, most + 1):
        with pytest.raises(ValueError, match=f"{option} must be {least} to {most}"):
            explainer.attribute(encoded, f"{name} [{option}={number}]", 1)


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2", "modernbert"])
def test_one_step_is_the_gradient_at_the_input_times_the_way_from_the_baseline(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode("The captain reads the wind")
    one = Explainer(model).attribute(encoded, f"{NAME} [steps=1, baseline=mask]", 1).scores["signed"]
    inside = Inside(model, encoded, np.zeros(encoded.F, dtype=bool), 1)
    embeddings, masks = model.embed(inside.ids), model.embed(np.full_like(inside.ids, encoded.mask_id))
    inside.logit(embeddings).sum().backward()
    tokens = (embeddings.grad * (embeddings - masks))[0].detach().sum(dim=1)
    np.testing.assert_allclose(one, inside.per_feature(tokens), rtol=1e-4, atol=1e-6)
    if kind != "modernbert":
        zero, product = (
            Explainer(model).attribute(encoded, name, 1).scores["signed"]
            for name in (f"{NAME} [steps=1, baseline=zero]", "input × gradient")
        )
        np.testing.assert_allclose(zero, product, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "name", ["gradient [steps=2]", "no such [steps=2]", f"{NAME} [steps=2", f"{NAME}[steps=2]", ""]
)
def test_other_names_are_none(name):
    with pytest.raises(ValueError) if "[steps=2]" in name and name.startswith("gradient") else nullcontext():
        assert not is_measure(name)
    with pytest.raises((KeyError, ValueError)):
        measure(name)
