"""References of MaSF: drawn as the model was trained, kept with it, refused for any other, honest about what they can
say.
"""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from core.commands.command_line import main
from core.data.examples import read_bundled
from core.data.parsed import BadData
from core.data.tables import LabelledTexts
from core.explanation.explainer import with_reference
from core.loading.loading import load
from core.loading.locating import bundled_models, locate
from core.loading.locating import digest as model_digest
from core.loading.model_files import REFERENCE_FILE
from core.mathematics.statistics import rejected_count_p
from core.network.features import masked_ids
from core.results.caveats import Caveat
from core.storage.store import Store
from core.validity.fitting import (
    Drawing,
    Observed,
    _cross_validated,
    fit,
    fit_reference,
    observe,
    parts_of,
    place_for,
    readable_reference,
    rejections,
    training_strategy,
)
from core.validity.marks import ENOUGH, Why, decide, decides, doubts, small_reference
from core.validity.masf import Combine, fit_literal
from core.validity.mask_tests import MaskTests
from core.validity.references import (
    FORMS,
    BadReference,
    Reference,
    _ecdf,
    find_reference,
    kept_place,
    read_reference,
    write_reference,
)
from tests import tiny


def texts(sentences, name="texts.jsonl", seconds=None) -> LabelledTexts:
    return LabelledTexts(list(sentences), seconds, np.zeros(len(sentences), dtype=np.int64), (), name, "0" * 64)


@pytest.fixture(scope="module")
def model(tiny_model):
    return tiny_model("bert")


@pytest.fixture(scope="module")
def fitted(model):
    return fit_reference(model, texts(tiny.SENTENCES), Drawing(maskings=3))


# ---- drawing


@pytest.mark.parametrize(
    "training, maskings, expected",
    [("half", 2, [False] * 2 + [True] * 2), ("half", 1, [False, True]), ("mask", 2, [True] * 2), ("none", 2, [False])],
)
def test_observations_follow_the_training_strategy(model, training, maskings, expected):
    observed = observe(model, texts(tiny.SENTENCES[:5]), Drawing(training, maskings))
    whole = observe(model, texts(tiny.SENTENCES[:5]), Drawing("none"))
    assert observed.drawn.shape == (5, len(expected))
    unmasked, drawn = whole.states[whole.drawn[2, 0]], observed.states[observed.drawn[2]]
    assert sorted(bool(np.abs(state - unmasked).max() > 1e-4) for state in drawn) == expected


def test_unmasked_observations_are_the_states_of_the_text_and_masked_ones_are_not(model):
    observed = observe(model, texts(tiny.SENTENCES[:3]), Drawing("half", 2))
    encoded = model.encode(tiny.SENTENCES[1], None, "token")
    alone = model.run(encoded.ids[None], np.array([encoded.T]), encoded.type_ids[None], "max")[1][0]
    mine = observed.states[observed.drawn[1]]
    np.testing.assert_allclose(mine[:2], np.stack([alone, alone]), atol=1e-5)
    assert np.abs(mine[2:] - alone).max() > 0.1
    assert observed.tokens[1] == encoded.T


def test_at_each_ratio_the_first_words_of_one_order_are_masked(model, monkeypatch):
    """A pair: words of the first text only; nothing at 0, all of them at 1, floor(r·F) between, each a part of the
    next. A text's masks depend on no other text.
    """
    seen = []
    monkeypatch.setattr(
        "core.validity.fitting.masked_ids",
        lambda encoded, masks: seen.append((encoded, masks)) or masked_ids(encoded, masks),
    )
    few = np.arange(3) == 1
    data = texts(tiny.SENTENCES[:3], seconds=list(tiny.SENTENCES[5:8]))
    observed = observe(model, data, Drawing(), drawn=~few, by_ratio=few)
    encoded, masks = next(one for one in seen if one[0].unit == "word")
    assert encoded.F == len(tiny.SENTENCES[1].replace(".", " .").split()), "the first text's words alone"
    assert masks.sum(axis=1).tolist() == [int(r * encoded.F / 10 + 1e-9) for r in range(11)]
    assert (masks[1:] >= masks[:-1]).all()
    assert (observed.by_ratio[few] >= 0).all() and (observed.by_ratio[~few] == -1).all()
    assert (observed.drawn[~few] >= 0).all() and (observed.drawn[few] == -1).all()
    every = observe(model, data, Drawing())
    np.testing.assert_allclose(observed.states[observed.by_ratio[1]], every.states[every.by_ratio[1]], atol=1e-5)
    assert observe(model, data, Drawing("none")).by_ratio.shape == (3, 1), "never masked: unmasked only"


def test_both_texts_of_a_pair_are_masked(model, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "core.validity.fitting.masked_ids",
        lambda encoded, masks: seen.append((encoded, masks)) or masked_ids(encoded, masks),
    )
    observe(model, texts(tiny.SENTENCES[:2], seconds=list(tiny.SENTENCES[5:7])), Drawing("mask", 8))
    encoded, masks = seen[0]
    sides = encoded.type_ids[[int(np.flatnonzero(encoded.feature_of == i)[0]) for i in range(encoded.F)]]
    assert masks[:, sides == 0].any() and masks[:, sides == 1].any()


def test_pooling_is_maximum_or_mean_over_the_tokens(model):
    encoded = model.encode(tiny.SENTENCES[0], None, "token")
    shorter = model.encode(tiny.SENTENCES[1], None, "token")
    import torch

    ids = torch.from_numpy(encoded.ids[None])
    with torch.inference_mode():
        states = model.module(
            ids, token_type_ids=torch.from_numpy(encoded.type_ids[None]), output_hidden_states=True
        ).hidden_states
    for pooling, over in (("max", lambda s: s.amax(dim=1)), ("mean", lambda s: s.mean(dim=1))):
        expected = torch.stack([over(state)[0] for state in states]).numpy()
        np.testing.assert_allclose(
            model.run(encoded.ids[None], np.array([encoded.T]), encoded.type_ids[None], pooling)[1][0],
            expected,
            atol=1e-5,
        )
        # Padding takes no part.
        width = max(encoded.T, shorter.T) + 3
        batch = np.zeros((2, width), dtype=np.int64)
        batch[0, : encoded.T], batch[1, : shorter.T] = encoded.ids, shorter.ids
        padded = model.run(batch, np.array([encoded.T, shorter.T]), np.zeros_like(batch), pooling)[1]
        np.testing.assert_allclose(padded[0], expected, atol=1e-4)


# ---- fitting


def made(states, drawn=None, by_ratio=None) -> Observed:
    """Of a text its own row of states, unless others are named."""
    own = np.arange(len(states))[:, None]
    drawn, by_ratio = (own if places is None else places for places in (drawn, by_ratio))
    return Observed(states, drawn, by_ratio, np.full(len(drawn), 5))


def test_each_text_is_in_one_part_only():
    # The state of text i is i and a little, so the levels tell which texts they hold.
    states = (np.arange(20)[:, None, None] + 0.5 * np.random.default_rng(0).random((20, 2, 4))).astype(np.float32)
    own = np.arange(20)[:, None]
    forms = fit(made(states, own.repeat(3, axis=1), own.repeat(11, axis=1)), Drawing())
    calibrated, literal = forms["calibrated"], forms["literal"]
    first = set(np.unique(calibrated.first.values).astype(int).tolist())
    # 45 % and 10 % of 20, three observations a text; the rest once at each ratio.
    assert len(first) == 9 and calibrated.first.count == 27 and calibrated.second.count == 6
    assert (calibrated.R, calibrated.n) == (11, 9)
    assert literal.first is calibrated.first and (literal.R, literal.n) == (1, 27)
    alone = fit_literal(states[np.repeat(sorted(first), 3)], tolerance=1e-5)
    np.testing.assert_array_equal(literal.p_values(states).total, alone.p_values(states).total)


@pytest.mark.parametrize("N, expected", [(4, (1, 1, 2)), (10, (4, 1, 5)), (21, (9, 2, 10)), (1000, (450, 100, 450))])
def test_parts_are_45_10_and_45_in_a_hundred(N, expected):
    part = parts_of(N, 0)
    assert tuple(np.bincount(part)) == expected and (parts_of(N, 1) != part).any()


def test_an_input_is_compared_with_texts_masked_alike():
    """Texts differ by how much is masked: at ratio k every state is k and a bit. What is ordinary at one is not at
    another.
    """
    rng = np.random.default_rng(0)
    states = (np.arange(11)[None, :] + 0.3 * rng.random((200, 11)))[..., None, None] + np.zeros((1, 1, 2, 3))
    states = states.reshape(2200, 2, 3).astype(np.float32)
    by_ratio = np.arange(2200).reshape(200, 11)
    form = fit(made(states, by_ratio, by_ratio), Drawing())["calibrated"]
    tried = np.full((11, 2, 3), 10.15, dtype=np.float32)
    p = form.p_values(tried).at(np.arange(11))
    assert p[10] > 0.05 and p[[3, 6, 7]].max() < 0.05


def test_the_last_digits_of_repeated_states_do_not_count():
    # A dimension that is the same for every text (a special token's), seen with the noise of another batch.
    rng = np.random.default_rng(1)
    states = rng.normal(size=(80, 2, 30)).astype(np.float32)
    states[:, 0, :10] = 1.25
    noise = np.where(rng.random(states.shape) < 0.5, 1e-7, -1e-7).astype(np.float32)
    for form in fit(made(states + noise), Drawing("none")).values():
        p = [form.p_values(states[:20] + sign * np.float32(3e-7)).total for sign in (-1, 0, 1)]
        np.testing.assert_array_equal(p[0], p[1])
        np.testing.assert_array_equal(p[2], p[1])


def test_too_few_texts_are_refused(model):
    with pytest.raises(BadData, match="at least 4 texts"):
        fit_reference(model, texts(tiny.SENTENCES[:3]), Drawing())


def test_a_text_of_which_nothing_is_kept_is_named(model):
    with pytest.raises(BadData, match=r"texts.jsonl, row 2"):
        observe(model, texts(["one two", "\u200b", "three"]), Drawing())


@pytest.mark.parametrize("wrong", [{"training": "often"}, {"maskings": 0}])
def test_a_drawing_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError):
        Drawing(**wrong)


def test_the_rate_of_false_rejections_is_that_of_the_held_out_texts(model):
    reference = fit_reference(
        model, texts(tiny.SENTENCES[:30]), Drawing(maskings=2), texts(tiny.SENTENCES[30:], "other.jsonl")
    )
    observed = observe(model, texts(tiny.SENTENCES[30:]), Drawing(maskings=2))
    for form in FORMS:
        shares = reference.about["false_rejection"][form]
        for r, share in enumerate(shares):
            found = reference.forms[form].p_values(observed.states[observed.by_ratio[:, r]])
            assert share == pytest.approx((found.at(np.full(len(observed.tokens), r)) < 0.05).mean())
        assert len(shares) == 11
    assert (
        reference.about["false_rejection"]["source"] == "other.jsonl"
        and reference.about["false_rejection"]["texts"] == 10
    )


def test_each_text_is_tried_once_on_a_reference_of_the_others_in_five_parts(model, monkeypatch):
    tried = []
    monkeypatch.setattr("core.validity.fitting.fit", lambda observed, drawing: observed)

    def rejections(others, mine):
        tried.append((others.drawn[:, 0].tolist(), mine.drawn[:, 0].tolist()))
        return {name: np.zeros((len(mine.tokens), 1), dtype=bool) for name in FORMS}

    monkeypatch.setattr("core.validity.fitting.rejections", rejections)
    index = np.arange(23)[:, None]
    found = _cross_validated(Observed(np.empty(0), index, index, index[:, 0]), Drawing())
    assert [len(mine) for _, mine in tried].count(5) == 3 and [len(mine) for _, mine in tried].count(4) == 2
    assert sorted(one for _, mine in tried for one in mine) == list(range(23)) and set(found) == set(FORMS)
    assert all(sorted(others + mine) == list(range(23)) for others, mine in tried)
    # By chance and not by place, so that texts sorted by class do not make parts of one class.
    assert any(sorted(mine) != list(range(mine[0] % 5, 23, 5)) for _, mine in tried)


def test_without_held_out_texts_no_text_is_tried_on_itself(fitted, model):
    # Tried on its own texts, the first level could never put one outside the reference.
    rates = fitted.about["false_rejection"]
    assert rates["source"] == "5-fold cross-validation" and rates["texts"] == len(tiny.SENTENCES)
    assert all(0 <= share <= 0.25 for share in rates["calibrated"])
    few = fit_reference(model, texts(tiny.SENTENCES[:6]), Drawing())
    assert few.about["false_rejection"]["calibrated"] is None and few.false_rejections() == "not measured"
    assert (
        "not measured" not in readable_reference(fitted)
        and not decides(few)
        and readable_reference(few).count(": no,") == 2
    )


def test_the_strategy_comes_from_the_card(bundled, model):
    assert training_strategy(bundled) == "half" and training_strategy(model) == "half"
    assert training_strategy(replace(bundled, card={"plan": {"training": "none"}})) == "none"


# ---- keeping


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("combine", [Combine(), Combine("fisher", "simes")])
def test_a_reference_comes_back_as_it_was(model, tmp_path, compact, combine):
    reference = fit_reference(
        model, texts(tiny.SENTENCES), Drawing(maskings=16, compact=compact, combine=combine, pooling="mean")
    )
    assert (len(reference.forms["calibrated"].first.places) == 257) == compact
    write_reference(reference, tmp_path / "r.safetensors")
    again = read_reference(tmp_path / "r.safetensors", model)
    assert again.about == reference.about and again.digest == reference.digest and again.pooling == "mean"
    states = observe(model, texts(tiny.SENTENCES[:7]), Drawing(pooling="mean")).states + 0.01
    for form in FORMS:
        one, other = reference.forms[form].p_values(states), again.forms[form].p_values(states)
        np.testing.assert_array_equal(one.by_ratio, other.by_ratio)
        np.testing.assert_array_equal(one.layers, other.layers)
        assert again.floor(form) == reference.forms[form].floor == again.forms[form].floor


def test_the_same_texts_and_seed_give_the_same_file(model, fitted):
    assert fit_reference(model, texts(tiny.SENTENCES), Drawing(maskings=3)).digest == fitted.digest
    assert fit_reference(model, texts(tiny.SENTENCES), Drawing(maskings=3, seed=1)).digest != fitted.digest


def test_another_models_reference_is_refused(model, fitted, tiny_model, tmp_path):
    write_reference(fitted, tmp_path / REFERENCE_FILE)
    with pytest.raises(BadReference, match=r"other weights or another tokenizer.*python -m core reference"):
        read_reference(tmp_path / REFERENCE_FILE, tiny_model("distilbert"))
    assert find_reference(replace(model, folder=tmp_path), None).digest == fitted.digest


def damaged(fitted, model, change) -> str:
    from core.validity import references

    packed = references._packed(fitted.forms, fitted.about)
    return change(packed)


@pytest.mark.parametrize(
    "change",
    {
        "cut short": lambda data: data[: len(data) // 2],
        "empty": lambda data: b"",
        "text": lambda data: b"not a reference at all",
        "zeros": lambda data: bytes(len(data)),
        "a huge header": lambda data: b"\xff" * 8 + data[8:],
        "another kind": lambda data: data.replace(b"faithscope", b"faithscopf"),
        "lost part": lambda data: data.replace(b"calibrated.third", b"calibrated.thirt"),
        "another version": lambda data: data.replace(b'\\"version\\": 2', b'\\"version\\": 9'),
        "the version before": lambda data: data.replace(b'\\"version\\": 2', b'\\"version\\": 1'),
        "another training": lambda data: data.replace(b'\\"half\\"', b'\\"none\\"'),
        "no pooling": lambda data: data.replace(b'\\"max\\"', b'\\"mux\\"'),
    }.items(),
    ids=lambda item: item[0],
)
def test_damage_is_a_sentence(fitted, model, tmp_path, change):
    from core.validity import references

    data = references._packed(fitted.forms, fitted.about)
    changed = change[1](data)
    assert changed != data
    (tmp_path / "r.safetensors").write_bytes(changed)
    with pytest.raises(BadReference, match="python -m core reference"):
        read_reference(tmp_path / "r.safetensors", model)


def test_values_out_of_order_or_not_numbers_are_damage(fitted, model, tmp_path):
    calibrated = fitted.forms["calibrated"]
    for spoil in (lambda v: v[:, ::-1].copy(), lambda v: np.where(np.arange(v.shape[1]) == 1, np.nan, v)):
        first = replace(calibrated.first, values=spoil(calibrated.first.values))
        forms = {name: replace(form, first=first) for name, form in fitted.forms.items()}
        write_reference(Reference(forms, fitted.about, ""), tmp_path / "r.safetensors")
        with pytest.raises(BadReference, match="damaged"):
            read_reference(tmp_path / "r.safetensors", model)


@pytest.mark.parametrize("places, count", [([0, 1], 3), ([0, 1, 1], 3), ([-1, 0, 1], 3), ([0, 1, 3], 3)])
def test_values_stand_at_places_that_rise_within_their_count(places, count):
    values = np.arange(6.0).reshape(2, 3)
    assert _ecdf(values, np.array([0, 1, 2]), 3).places.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="places"):
        _ecdf(values, np.array(places), count)


@pytest.mark.parametrize(
    "told",
    [
        {"tokens": ["a", "b", "c", "d", "e"]},
        {"tokens": "abcde"},
        {"tokens": [1, 2, 3, 4.5, 5]},
        {"tokens": [1, 2, None, 4, 5]},
        {"tokens": [5, 4, 3, 2, 1]},
        {"tokens": [-1, 2, 3, 4, 5]},
        {"tokens": [True, 2, 3, 4, 5]},
        {"texts": "many"},
        {"texts": -3},
        {"observations": dict.fromkeys(("first level", "second level", "last level"), "x")},
        {"observations": []},
        {"compact": "no"},
        {"maskings": [2]},
        {"seed": None},
        {"precision": 32},
        {"false_rejection": {"texts": 5, "source": "x", "calibrated": ["0.1"], "literal": None}},
        {"false_rejection": {"texts": 5, "source": "x", "calibrated": "abc", "literal": None}},
    ],
    ids=str,
)
def test_what_a_file_says_of_its_reference_is_of_its_kind_or_damage(fitted, model, tmp_path, told):
    write_reference(Reference(fitted.forms, fitted.about | told, ""), tmp_path / REFERENCE_FILE)
    with pytest.raises(BadReference, match=r"damaged.*python -m core reference"):
        read_reference(tmp_path / REFERENCE_FILE, model)
    explainer = with_reference(replace(model, folder=tmp_path), None)
    assert explainer.reference is None and "damaged" in explainer.reference_problem


def test_deep_or_endless_text_in_a_reference_is_damage(fitted, model, tmp_path):
    from core.validity import references

    place, packed = tmp_path / REFERENCE_FILE, references._packed(fitted.forms, fitted.about)
    for deep in (b'{"__metadata__":' + b"[" * 100_000, b"[" * 100_000):
        place.write_bytes(len(deep).to_bytes(8, "little") + deep + packed)
        with pytest.raises(BadReference, match="damaged"):
            read_reference(place, model)
    place.unlink()
    place.symlink_to("/dev/zero")
    with pytest.raises(BadReference, match="damaged"):
        read_reference(place, model)


def test_a_reference_is_no_part_of_the_models_digest_and_no_weights(tmp_path, tiny_root, fitted):
    folder = shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "model")
    before = model_digest(locate(str(folder)))
    write_reference(fitted, folder / REFERENCE_FILE)
    assert model_digest(locate(str(folder))) == before
    found = with_reference(load(str(folder), "cpu"), None)
    assert found.reference.digest == fitted.digest and found.reference_problem == ""


def test_an_explainer_without_a_usable_reference_says_why(tmp_path, tiny_root, fitted, model):
    assert with_reference(model, None).reference is None and with_reference(model, None).reference_problem == ""
    (tmp_path / REFERENCE_FILE).write_bytes(b"x")
    explainer = with_reference(replace(model, folder=tmp_path), None)
    assert explainer.reference is None and "damaged" in explainer.reference_problem


def test_what_was_fitted_here_comes_before_what_came_with_the_model(tmp_path, model, fitted):
    kept = tmp_path / "kept"
    other = fit_reference(model, texts(tiny.SENTENCES), Drawing(seed=5))
    write_reference(fitted, tmp_path / REFERENCE_FILE)
    write_reference(other, kept_place(kept, model))
    assert find_reference(replace(model, folder=tmp_path), kept).digest == other.digest
    assert find_reference(replace(model, folder=tmp_path), tmp_path / "none").digest == fitted.digest


def of_many(reference):
    """A reference that can decide every path, as one of more texts could."""
    return replace(reference, about=reference.about | {"floor": {"calibrated": 1e-3, "literal": 1e-3}})


def of_texts(N, fitted):
    floor = 1 / (int((parts_of(N, 0) == 2).sum()) + 1)
    return replace(fitted, about=fitted.about | {"floor": {"calibrated": floor, "literal": floor}, "texts": N})


@pytest.mark.parametrize("N", [80, 200, ENOUGH - 6, ENOUGH - 1, ENOUGH, 1000])
def test_a_reference_says_how_many_tests_it_can_decide_and_how_many_texts_would_do(N, fitted):
    one = of_texts(N, fitted)
    tests, p = decides(one), one.floor()
    assert decide(np.full(tests, p), np.arange(tests), tests, p).rejected.all() and p * (tests + 1) >= 0.05 - 1e-12
    assert not decide(np.full(tests + 2, p), np.arange(tests + 2), tests + 2, p).available
    doubted, said = doubts(one, np.array([one.about["tokens"][1]]), one.about["precision"]), small_reference(one)
    assert (Why.SMALL in doubted) == bool(said) == (tests < 11) == (N < ENOUGH)
    if said:
        assert re.findall(r"\d+", said) == [str(N), str(tests), "11", str(ENOUGH)]
        assert said in readable_reference(one)


def test_the_caveat_of_a_small_reference_names_as_many_texts():
    assert f"{ENOUGH} texts" in Caveat.SMALL_REFERENCE.explanation


def test_lengths_that_the_reference_does_not_know_are_said(fitted):
    fitted = of_many(fitted)
    low, high = fitted.about["tokens"][1], fitted.about["tokens"][3]

    def said(tokens):
        return doubts(fitted, np.array([tokens]), fitted.about["precision"])

    assert said(low) == said(high) == []
    assert said(high + 1) == said(low - 1) == [Why.LENGTH]
    # Of a sample two in ten may be as unlike.
    many = np.array([low] * 8 + [high + 1] * 2)
    assert doubts(fitted, many, fitted.about["precision"]) == []
    assert doubts(fitted, np.append(many, low - 1), "bfloat16") == [Why.LENGTH, Why.PRECISION]
    assert doubts(fitted, many, "bfloat16") == [Why.PRECISION]


def test_masking_other_units_than_the_reference_is_said_where_it_knows_masked_texts(model, fitted):
    fitted = of_many(fitted)
    tokens, precision = np.array([fitted.about["tokens"][1]]), fitted.about["precision"]
    assert doubts(fitted, tokens, precision, "clause") == [Why.UNIT] and doubts(fitted, tokens, precision) == []
    plain = of_many(fit_reference(model, texts(tiny.SENTENCES), Drawing("none")))
    assert doubts(plain, np.array([plain.about["tokens"][1]]), precision, "clause") == []


# ---- p-values of masked inputs


def test_p_values_survive_a_restart_and_belong_to_their_reference(model, fitted, tmp_path):
    explainer = with_reference(model, Store(tmp_path))
    encoded = model.encode(tiny.SENTENCES[3], None, "word")
    oracle = explainer.oracles.of(encoded)
    masks = np.eye(encoded.F, dtype=bool)
    first = MaskTests(lambda: oracle, fitted, Store(tmp_path))
    judged = first.judge(masks)
    first.flush()
    assert first.known(masks)
    again = MaskTests(lambda: oracle, fitted, Store(tmp_path))
    assert again.known(masks) and (again.judge(masks).p["literal"] == judged.p["literal"]).all()
    other = MaskTests(lambda: oracle, fit_reference(model, texts(tiny.SENTENCES), Drawing(seed=4)), Store(tmp_path))
    assert not other.known(masks)
    one = judged.one(2)
    assert one.logits.shape == (1, 3) and one.p["calibrated"][0] == judged.p["calibrated"][2]


# ---- the command line


def lines(path, sentences) -> str:
    path.write_text("".join(json.dumps({"text": s}) + "\n" for s in sentences), encoding="utf-8")
    return str(path)


def test_reference_from_the_command_line(tmp_path, tiny_root, capsys):
    folder = shutil.copytree(tiny.folder("distilbert", tiny_root), tmp_path / "model")
    data = lines(tmp_path / "val.jsonl", tiny.SENTENCES)
    assert (
        main(
            [
                "reference",
                "--model",
                str(folder),
                "--data",
                data,
                "--training",
                "mask",
                "--layers",
                "simes",
                "--device",
                "cpu",
            ]
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "Written:" in said and "val.jsonl" in said and "5-fold" in said
    reference = find_reference(load(str(folder), "cpu"))
    assert reference.about["training"] == "mask" and reference.forms["calibrated"].combine == Combine("simes", "simes")


def test_a_bundled_models_reference_goes_into_the_cache(bundled, monkeypatch, tmp_path, tiny_model):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path))
    assert place_for(bundled) == tmp_path / "library" / "references" / f"{bundled.digest}.safetensors"
    own = tiny_model("bert")
    assert place_for(own) == own.folder / REFERENCE_FILE


@pytest.mark.parametrize("sentences, said", [(["one two"] * 3, "at least 4 texts"), (["a b", "", "c"], "1 row (2)")])
def test_problems_of_a_reference_are_one_sentence(tmp_path, tiny_root, capsys, sentences, said):
    assert (
        main(
            [
                "reference",
                "--model",
                str(tiny.folder("bert", tiny_root)),
                "--data",
                lines(tmp_path / "a.jsonl", sentences),
            ]
        )
        == 1
    )
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "splits, count, said", [(0, 8, "at least 1"), (-1, 8, "at least 1"), (1, 5, "fits 3 texts and needs 4")]
)
def test_a_simulation_that_cannot_be_is_refused_before_any_pass(
    tmp_path, tiny_root, capsys, monkeypatch, splits, count, said
):
    monkeypatch.setattr("core.loading.loading.load", lambda *_: pytest.fail("the model is loaded"))
    data, out = lines(tmp_path / "a.jsonl", tiny.SENTENCES[:count]), tmp_path / "reference.safetensors"
    asked = ["--model", str(tiny.folder("bert", tiny_root)), "--data", data, "--out", str(out)]
    assert main(["reference", *asked, "--simulate", str(splits)]) == 1
    assert said in capsys.readouterr().err and not out.exists()


# ---- what ships


@pytest.mark.parametrize("name", bundled_models())
def test_every_bundled_model_has_a_reference_that_can_reject(name, shipped):
    model = shipped(name)
    reference = find_reference(model)
    assert (
        reference.about["compact"]
        and decides(reference)
        and reference.about["training"] == model.card["plan"]["training"]
    )
    # The texts are those of the card's validation file, and the rate is measured on its test file.
    assert reference.about["sha256"] == model.card["data"]["validation"]["sha256"]
    assert reference.about["false_rejection"]["texts"] == model.card["data"]["test"]["examples"]
    assert (model.folder / REFERENCE_FILE).stat().st_size < 1_700_000
    # Each text a rank among 450; at every ratio about one in twenty is rejected.
    assert reference.texts == 450 and reference.floor() == 1 / 451
    assert max(reference.about["false_rejection"]["calibrated"]) < 0.1


def test_held_out_texts_of_the_same_kind_are_rejected_as_seldom_as_promised(bundled):
    # The project's own reviews, half to fit and half to try, since the data that the shipped reference was fitted on is
    # not here; the shortest of them, since a text costs what it is long.
    reviews = sorted((example.text for example in read_bundled("reviews")), key=len)[:100]
    order = np.random.default_rng(3).permutation(len(reviews))
    drawn = [texts([reviews[i] for i in half]) for half in (order[::2], order[1::2])]
    forms = fit(observe(bundled, drawn[0], Drawing(maskings=1)), Drawing())
    rejected = rejections(forms, observe(bundled, drawn[1], Drawing(seed=1), drawn=np.zeros(len(drawn[1]), bool)))
    # By count, which knows that all of them met the same reference; one ratio in a thousand by chance.
    p = rejected_count_p(rejected["calibrated"].sum(axis=0), len(drawn[1]), forms["calibrated"].n)
    assert p.shape == (11,) and p.min() > 0.001


def test_the_bundled_model_is_not_rejected_where_its_twin_is(shipped):
    from core.explanation.recursive import follow, summarise

    gates = {}
    for name in ("sst2-fmm", "sst2-plain"):
        explainer = with_reference(shipped(name), None)
        encoded = explainer.encode(read_bundled("reviews")[2].text, None, "word")
        target = int(explainer.logits(encoded).argmax())
        for steps in follow(explainer, encoded, "leave-one-out", target, "signed"):
            pass
        gates[name] = summarise(steps, encoded.F, "ratio", target, None, explainer.reference).gate
    assert gates["sst2-fmm"].available and gates["sst2-fmm"].first is None
    assert gates["sst2-plain"].available and gates["sst2-plain"].first is not None
