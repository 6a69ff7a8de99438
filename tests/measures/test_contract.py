"""What every registered measure promises, whoever wrote it: on several families, words and tokens, and a partly masked
start.
"""

import hashlib
import random
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.explanation.explainer import Explainer
from core.measures.catalogue import default_measures, measure, measures, swept_measures
from core.measures.registry import (
    ATTENTION,
    GRADIENTS,
    NOTHING,
    ORACLE,
    REGISTERED,
    WORDS,
    Measure,
    NotApplicable,
    register,
)
from core.network.scheduler import Cancelled, NonFinite
from core.storage.store import Store
from core.tools.readme import measure_table
from tests.pairs import pairs

ROOT = Path(__file__).resolve().parents[2]
TEXT, SECOND = "The captain's boat reads the wind", "Salt the water"
# So many sets are left of it, partly masked, that a measure which samples them draws.
LONG = f"{TEXT} and the tide, not the calendar or the clock!"
NAMES = list(measures())
NETWORKED = [name for name in NAMES if measure(name).needs not in (NOTHING, WORDS)]
KINDS = ("bert", "roberta", "gpt2", "electra", "deberta", "modernbert-mean", "distilbert", "llama", "gemma2")
EACH = pytest.mark.parametrize("name", NAMES)
EVERY = pytest.mark.parametrize("kind", KINDS)
SOME = pytest.mark.parametrize("kind", ["bert", "gpt2", "modernbert-mean"])


def masked_start(encoded, partly=True):
    return np.arange(encoded.F) % 3 == 1 if partly else np.zeros(encoded.F, dtype=bool)


def fingerprint(model):
    """Everything of a module that a measure could leave changed."""
    digest = hashlib.sha256()
    for name, tensor in sorted([*model.module.named_parameters(), *model.module.named_buffers()]):
        digest.update(
            f"{name} {tensor.dtype} {tensor.requires_grad} {tensor.grad is None}".encode()
            + tensor.detach().numpy().tobytes()
        )
    # What the library chooses at loading; DeBERTa and Gemma 2 have one implementation only.
    assert model.module.config._attn_implementation == (
        "eager" if model.module.config.model_type in ("deberta-v2", "gemma2") else "sdpa"
    )
    digest.update(repr([m.training for m in model.module.modules()]).encode())
    return digest.hexdigest()


def hooks(model):
    """Every hook of every kind on every submodule, and torch's global ones.

    `transformers` puts one of its own on a layer when attention is first asked for, and keeps it:
    it does nothing outside such a call. There is one at most, of each kind on each part.
    """
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    placed = [
        (part, hook) for part in model.module.modules() for name in names for hook in getattr(part, name).values()
    ]
    librarys = [(id(part), hook.__qualname__) for part, hook in placed if hook.__module__.startswith("transformers.")]
    assert len(set(librarys)) == len(librarys)
    return len(placed) - len(librarys) + sum(len(torch.nn.modules.module.__dict__[f"_global{name}"]) for name in names)


def equal(one, other):
    assert one.keys() == other.keys()
    for variant in one:
        np.testing.assert_array_equal(one[variant], other[variant])


class Spy:
    """Counts the inputs that the network's body reads; can fail after the n-th call, when the work is half done."""

    def __init__(self, monkeypatch, model):
        self.rows, self.calls, self.fail_at = 0, 0, None
        body = model.module.base_model
        self._forward = body.forward
        monkeypatch.setattr(body, "forward", self, raising=True)

    def __call__(self, *given, **named):
        out = self._forward(*given, **named)
        self.rows += len(named["inputs_embeds"])
        self.calls += 1
        if self.calls == self.fail_at:
            raise Broken
        return out


class Broken(Exception):
    pass


def said_of(model, name, F=0):
    """Why a measure does not apply to a model's family, or to F features, or lacks texts; "" where it does apply."""
    if measure(name).needs == WORDS:
        return "Mutual information is not measured for this model. Run: python -m core words"
    return measure(name).refusal(model.module.config.model_type, F)


@pytest.fixture
def fitting(tiny_model):
    """`fitting(kind, name)`: the model of a kind; where the measure does not apply, the test ends with its sentence."""

    def model(kind, name):
        found = tiny_model(kind)
        if why := said_of(found, name):
            with pytest.raises(NotApplicable, match=re.escape(why)):
                Explainer(found).attribute(found.encode(TEXT), name, 0)
            assert re.match("[A-Z]", why)
            pytest.skip(why)
        return found

    return model


# Results


# Every measure meets every family, both units, one text and a pair.
SHAPES = pairs(kind=KINDS, name=NAMES, unit=["word", "token"], second=[None, SECOND])


@pytest.mark.parametrize("kind, name, unit, second", [tuple(row.values()) for row in SHAPES])
def test_the_shape_of_every_result(fitting, kind, unit, second, name):
    model, named = fitting(kind, name), measure(name)
    encoded = model.encode(TEXT, second, unit)
    for masked in (masked_start(encoded, False), masked_start(encoded), np.ones(encoded.F, dtype=bool)):
        scores = Explainer(model).attribute(encoded, name, 2, masked).scores
        assert tuple(scores) == named.variants
        for variant, values in scores.items():
            assert isinstance(values, np.ndarray) and values.dtype == np.float64 and values.shape == (encoded.F,)
            assert np.isfinite(values).all()
            assert (values[masked] == 0).all()
            assert np.abs(values[~masked]).sum() > 0 or masked.all(), "something is said of the rest"
            assert variant in named.signed or (values >= 0).all()


def test_a_measure_knows_how_its_features_are_spelled_and_where(tiny_model, monkeypatch):
    model = tiny_model("bert")
    encoded = model.encode(TEXT)
    told = []

    def lengths(explained):
        told.append(explained.features)
        return {"signed": np.array([float(one.end - one.start) for one in explained.features])}

    longest = replace(measure("leave-one-out"), name="longest", compute=lengths, hue="#123456")
    monkeypatch.setitem(REGISTERED, "longest", longest)
    scores = Explainer(model).attribute(encoded, "longest", 0).scores["signed"]
    assert told == [encoded.features] and scores.tolist() == [len(one.text) for one in encoded.features]


@EVERY
@EACH
def test_what_the_text_masks_itself_is_masked_already(fitting, kind, name):
    model = fitting(kind, name)
    encoded = model.encode("the [MASK] reads the <mask> again")
    explainer = Explainer(model)
    found = explainer.attribute(encoded, name, 0).scores
    assert encoded.premasked.sum() == 2
    for values in found.values():
        assert (values[encoded.premasked] == 0).all() and (values[~encoded.premasked] != 0).any()
        # LIME's penalty leaves nothing of what is small.
        assert (values[~encoded.premasked] != 0).all() or name == "LIME"
    equal(found, Explainer(model).attribute(encoded, name, 0, encoded.premasked.copy()).scores)


@SOME
@EACH
def test_one_feature_and_the_longest_text(fitting, kind, name):
    model = fitting(kind, name)
    for text in ("boat", "the tide " * 20 if measure(name).passes(40) > 100 else "the tide " * 100):
        encoded = model.encode(text)
        if why := said_of(model, name, encoded.F):
            with pytest.raises(NotApplicable, match=re.escape(why)):
                Explainer(model).attribute(encoded, name, 1)
            continue
        for values in Explainer(model).attribute(encoded, name, 1).scores.values():
            assert values.shape == (encoded.F,) and np.isfinite(values).all()


@SOME
@EACH
def test_the_classes_differ_and_the_seed_matters_only_where_it_is_said(fitting, kind, name):
    model, named = fitting(kind, name), measure(name)
    encoded = model.encode(LONG)

    def scores(target=0, seed=0):
        return Explainer(model).attribute(encoded, name, target, masked_start(encoded), seed).scores

    first = scores()
    equal(first, scores())
    others = [scores(seed=1), scores(seed=2)]
    for variant in named.variants:
        assert all(np.array_equal(first[variant], other[variant]) != named.seeded for other in others)
    explains_a_class = named.needs != NOTHING and name != "attention" and not named.rank_only
    if explains_a_class:
        assert not any(np.array_equal(first[variant], scores(target=1)[variant]) for variant in named.variants)


@pytest.mark.parametrize("name", NETWORKED)
def test_a_model_that_never_moves_gives_numbers(tiny_model, name):
    """Its last layer is zero: so is every gradient, and every fall of a logit."""
    model = tiny_model("bert")
    encoded, weight = model.encode(TEXT), model.module.classifier.weight
    kept = weight.clone()
    try:
        weight[:] = 0
        found = Explainer(model).attribute(encoded, name, 1).scores
    finally:
        weight[:] = kept
    for variant, values in found.items():
        assert np.isfinite(values).all()
        # Attention is where it was; places are no magnitudes; DecompX shares the bias that is left.
        still = name in ("attention", "DecompX") or measure(name).rank_only
        assert still or np.abs(values).max() < 1e-9, variant


def test_seeded_draws_differ_between_examples(tiny_model):
    model = tiny_model("bert")
    explainer = Explainer(model)
    for name in (name for name in NAMES if measure(name).seeded):
        one, other = (
            explainer.attribute(model.encode(f"{text} and {LONG}"), name, 0).scores for text in ("it sank", "it swam")
        )
        assert not any(np.array_equal(one[v], other[v]) for v in one)


# What is left behind


@EVERY
@pytest.mark.parametrize("unit", ["word", "token"])
def test_nothing_is_left_behind(tiny_model, kind, unit):
    model = tiny_model(kind)
    encoded = model.encode(TEXT, SECOND, unit)
    masked = masked_start(encoded)
    arrays = {"ids": encoded.ids, "feature_of": encoded.feature_of, "premasked": encoded.premasked, "masked": masked}
    before, copies = (fingerprint(model), hooks(model)), {key: array.copy() for key, array in arrays.items()}
    for name in (name for name in NAMES if not said_of(model, name)):
        Explainer(model).attribute(encoded, name, 1, masked)
        assert (fingerprint(model), hooks(model)) == before, name
        for key, array in arrays.items():
            np.testing.assert_array_equal(array, copies[key], err_msg=f"{name} changed {key}")
        assert not model.lock.mine and torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    assert all(p.grad is None and not p.requires_grad for p in model.module.parameters()) and hooks(model) == 0


@EVERY
@pytest.mark.parametrize("name", NETWORKED)
def test_an_error_in_the_middle_leaves_nothing_behind(fitting, monkeypatch, kind, name):
    model = fitting(kind, name)
    encoded = model.encode(TEXT)
    expected, before = Explainer(model).attribute(encoded, name, 1).scores, (fingerprint(model), hooks(model))
    explainer = Explainer(model)
    with monkeypatch.context() as patch:
        spy = Spy(patch, model)
        spy.fail_at = 1
        with pytest.raises(Broken):
            explainer.attribute(encoded, name, 1)
        assert spy.calls == 1
    assert (fingerprint(model), hooks(model)) == before and not model.lock.mine
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    equal(explainer.attribute(encoded, name, 1).scores, expected)


@pytest.mark.parametrize("name", NETWORKED)
def test_nan_from_the_network_is_a_sentence(tiny_model, monkeypatch, name):
    model = tiny_model("bert")
    encoded = model.encode(TEXT)
    explainer = Explainer(model)
    # What a model knows of its own weights is kept from the first time on.
    Explainer(model).attribute(encoded, name, 1)
    weight = model.word_embeddings
    place, kept = encoded.ids[2], weight[encoded.ids[2]].clone()
    try:
        weight[place] = float("nan")
        with pytest.raises(NonFinite, match=r"weights hold NaN.*\.$") as raised:
            explainer.attribute(encoded, name, 1)
        assert "float32" not in str(raised.value)
    finally:
        weight[place] = kept
    assert np.isfinite(Explainer(model).attribute(encoded, name, 1).scores[measure(name).variants[0]]).all()


# What it costs


@EVERY
@EACH
def test_the_passes_reported_are_those_spent_and_no_more_than_announced(fitting, monkeypatch, kind, name):
    model, named = fitting(kind, name), measure(name)
    for text in (TEXT, "boat", "the boat the boat"):
        encoded = model.encode(text)
        for masked in (masked_start(encoded, False), masked_start(encoded)):
            explainer, told = Explainer(model), []
            with monkeypatch.context() as patch:
                spy = Spy(patch, model)
                found = explainer.attribute(
                    encoded, name, 1, masked, progress=lambda done, total: told.append((done, total))
                )
            assert found.passes == spy.rows <= named.passes(encoded.F) == explainer.cost(encoded, name).passes
            assert not found.stored and found.measure == name and found.target == 1 and found.milliseconds >= 0
            assert told == sorted(told) and all(0 <= done <= total == named.passes(encoded.F) for done, total in told)


def test_measures_share_their_passes(tiny_model, monkeypatch):
    model = tiny_model("bert")
    encoded, explainer = model.encode(TEXT), Explainer(model)
    first = {
        name: explainer.attribute(encoded, name, 1).passes
        for name in ("leave-one-out", "gradient", "attention", "beam")
    }
    spy = Spy(monkeypatch, model)
    for name in ("leave-one-out", "input × gradient", "beam"):
        assert explainer.attribute(encoded, name, 1).passes == 0
    assert spy.rows == 0 and first["gradient"] == first["attention"] == 1
    assert first["leave-one-out"] + first["beam"] <= measure("beam").passes(encoded.F)
    assert explainer.attribute(encoded, "leave-one-out", 2).passes == 0, "all classes come from one pass"


@pytest.mark.parametrize("name", [n for n in NAMES if measure(n).needs == ORACLE])
def test_a_cancelled_measure_goes_on_where_it_stopped(tiny_model, monkeypatch, name):
    model = tiny_model("bert")
    # Enough inputs to be stopped between, and no thousands of them.
    encoded = model.encode(TEXT, unit="word" if measure(name).most else "token")
    whole = Explainer(model).attribute(encoded, name, 1)
    monkeypatch.setattr(model.scheduler, "max_rows", 4)
    explainer, spy = Explainer(model), Spy(monkeypatch, model)
    with pytest.raises(Cancelled):
        explainer.attribute(encoded, name, 1, cancelled=lambda: spy.calls == 2)
    assert 0 < spy.rows <= 8 < whole.passes
    again = explainer.attribute(encoded, name, 1)
    assert spy.rows == whole.passes
    for variant in again.scores:
        np.testing.assert_allclose(again.scores[variant], whole.scores[variant], atol=1e-5)


# The store


@SOME
@EACH
def test_the_store_changes_nothing_but_the_time(fitting, monkeypatch, tmp_path, kind, name):
    model = fitting(kind, name)
    encoded = model.encode(TEXT)
    masked = masked_start(encoded)
    bare = Explainer(model).attribute(encoded, name, 1, masked)
    kept = Explainer(model, Store(tmp_path))
    assert kept.stored(encoded, name, 1, masked) is None
    first = kept.attribute(encoded, name, 1, masked)
    spy = Spy(monkeypatch, model)
    for explainer in (kept, Explainer(model, Store(tmp_path))):
        again = explainer.attribute(encoded, name, 1, masked)
        assert again.stored and not first.stored
        equal(again.scores, bare.scores)
        equal(again.scores, first.scores)
        assert (again.passes, again.milliseconds, again.measure, again.target) == (
            first.passes,
            first.milliseconds,
            name,
            1,
        )
        assert tuple(again.scores) == measure(name).variants or set(again.scores) == set(measure(name).variants)
    assert spy.rows == 0
    others = [
        (encoded, 0, masked, 0),
        (encoded, 1, None, 0),
        (model.encode(TEXT + "s"), 1, None, 0),
        (model.encode(TEXT, unit="token"), 1, None, 0),
    ]
    assert all(kept.stored(one, name, target, mask, seed) is None for one, target, mask, seed in others)
    assert (kept.stored(encoded, name, 1, masked, 1) is None) == measure(name).seeded


def test_a_damaged_attribution_is_computed_again(tiny_model, tmp_path):
    model = tiny_model("bert")
    encoded, explainer = model.encode(TEXT), Explainer(model, Store(tmp_path))
    first = explainer.attribute(encoded, "leave-one-out", 1)
    for path in tmp_path.rglob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-3])
    again = Explainer(model, Store(tmp_path)).attribute(encoded, "leave-one-out", 1)
    assert not again.stored and again.passes == first.passes
    equal(again.scores, first.scores)


# Threads


@pytest.mark.parametrize("kind", ["bert", "modernbert-mean", "gpt2"])
def test_eight_threads_on_one_model_do_not_cross(tiny_model, kind):
    model = tiny_model(kind)
    encoded = [
        model.encode(text)
        for text in ("The captain reads the wind", "Grandmother's soup", "a box of bent nails that nobody throws")
    ]
    tasks = [
        (i, name, target, partly)
        for i in range(len(encoded))
        for name in NAMES
        if not said_of(model, name)
        for target in (0, 1)
        for partly in (False, True)
    ]
    alone = {task: _attribute(Explainer(model), encoded, task) for task in tasks}
    before = fingerprint(model), hooks(model)
    shared = Explainer(model)
    shuffled = random.Random(kind).sample(tasks, len(tasks))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda task: _attribute(shared, encoded, task), shuffled))
    for task, scores in zip(shuffled, found):
        for variant, values in scores.items():
            np.testing.assert_allclose(values, alone[task][variant], atol=1e-5, err_msg=str(task))
    assert (fingerprint(model), hooks(model)) == before


def _attribute(explainer, encoded, task):
    i, name, target, partly = task
    return explainer.attribute(encoded[i], name, target, masked_start(encoded[i], partly)).scores


# What is asked wrongly


def test_what_cannot_be_explained_is_refused_with_a_sentence(tiny_model):
    model = tiny_model("bert")
    encoded, explainer = model.encode(TEXT), Explainer(model)
    for target in (-1, model.C):
        with pytest.raises(ValueError, match=f"no class {target}; this model has 3"):
            explainer.attribute(encoded, "gradient", target)
    with pytest.raises(ValueError, match="no measure 'saliency'; choose one of leave-one-out, gradient"):
        explainer.attribute(encoded, "saliency", 0)
    with pytest.raises(ValueError, match=rf"bool\[{encoded.F}\], got shape \(2,\)"):
        explainer.attribute(encoded, "gradient", 0, np.zeros(2, dtype=bool))


# The register


@EACH
def test_every_measure_says_what_it_is(name):
    asked = measure(name)
    assert asked.name == name == name.strip() and "|" not in name
    assert re.fullmatch(r"[A-Z].*\.", asked.definition), "its definition is a sentence"
    assert len(asked.definition.split()) > 4, "its definition says what a score is"
    named = re.search(r"FMM|NAOPC|SoftFaith|ROAR|RobustInf|MaSF|\(\d{4}\)", asked.source)
    assert named, "its source is a paper of the glossary's, or one by author and year"
    assert asked.cost and asked.unit and asked.needs in (ORACLE, GRADIENTS, ATTENTION, NOTHING, WORDS)
    assert asked.backward == (asked.needs in (GRADIENTS, ATTENTION) and name != "attention")
    assert len(set(asked.variants)) == len(asked.variants) and asked.version >= 1
    assert not (asked.rank_only and asked.signed), "places have no sign"
    passes = [asked.passes(F) for F in range(1, 40)]
    assert all(isinstance(n, int) and n >= 0 for n in passes) and passes == sorted(passes)
    assert (max(passes) == 0) == (asked.needs in (NOTHING, WORDS))


def test_the_documented_measures_are_all_here_baselines_last():
    """In the order of menus that links and pictures know; others may stand between them."""
    documented = [
        "leave-one-out",
        "gradient",
        "input × gradient",
        "integrated gradients",
        "attention",
        "scaled attention",
        "beam",
        "random",
    ]
    assert [name for name in NAMES if name in documented] == documented
    assert [name for name in default_measures() if name in documented] == documented[:3] and set(documented[:6]) <= set(
        swept_measures()
    )
    baselines = [measure(name).baseline for name in NAMES]
    assert baselines == sorted(baselines) and measure("random").baseline


def test_a_name_is_taken_once_and_a_sign_needs_its_variant():
    with pytest.raises(ValueError, match="'gradient' is registered already"):
        register(measure("gradient"))
    with pytest.raises(ValueError, match=r"'new': hue #[0-9a-f]{6} is taken by 'gradient'"):
        register(replace(measure("gradient"), name="new"))
    with pytest.raises(ValueError, match=r"'new'.*'red'"):
        register(replace(measure("gradient"), name="new", hue="red"))
    wrong = {**vars(measure("gradient")), "name": "new", "signed": frozenset({"signed"})}
    with pytest.raises(ValueError, match=r"'new'.*L2"):
        register(Measure(**wrong))
    with pytest.raises(ValueError, match="'new'"):
        register(Measure(**{**wrong, "variants": (), "signed": frozenset()}))
    assert list(measures()) == NAMES


def test_the_table_lists_every_measure():
    head, line, *rows = measure_table().split("\n")
    assert head.split(" | ")[1:4] == ["variants", "definition", "forward passes"] and set(line) == set("| -")
    cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
    assert [row[0] for row in cells] == NAMES and all(len(row) == 6 and all(row) for row in cells)
    assert cells[0] == [
        "leave-one-out",
        "signed, absolute",
        measure("leave-one-out").definition,
        "F + 1",
        "masking oracle",
        measure("leave-one-out").source,
    ]


def test_the_readme_holds_the_table():
    assert measure_table() in (ROOT / "core" / "README.md").read_text(encoding="utf-8")
