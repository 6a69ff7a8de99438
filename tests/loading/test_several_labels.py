"""Models of several labels: a sigmoid for each, one of them read at a time, and what every number rests on then."""

import json

import numpy as np
import pytest
import torch
from scipy.special import expit

import core
from core.commands.command_line import main
from core.data.examples import Example
from core.data.tables import LabelledTexts
from core.evaluation.asking import run_study
from core.evaluation.sampling import Sample
from core.evaluation.studies.model_check import Curve
from core.explanation.explainer import Explainer, with_reference
from core.explanation.limiting import find_exact
from core.loading.loading import load
from core.mathematics.search.limits import exact_search
from core.mathematics.stepwise import finish
from core.measures.catalogue import measures
from core.network.architectures import UnsupportedModel
from core.network.features import masked_ids
from core.results.caveats import Caveat
from core.results.inputs import model_caveats
from core.storage.store import Store
from core.validity.fitting import Drawing, fit_reference, place_for
from core.validity.references import write_reference
from tests import tiny
from tests.model_folders import change_json

TEXT = "The captain reads the wind"
LABELS = ("toxic", "insult", "threat")
KINDS = pytest.mark.parametrize("kind", ["bert", "roberta", "electra", "modernbert", "gpt2", "llama"])


def several(kind, tiny_root, folder):
    """A folder whose head has three sigmoids, and what they say of a text by the library itself, float[3]."""
    from transformers import AutoModelForSequenceClassification

    module = AutoModelForSequenceClassification.from_pretrained(
        tiny.folder(kind, tiny_root), num_labels=3, ignore_mismatched_sizes=True
    )
    words = tiny.tokenizer(kind)
    torch.manual_seed(3)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.startswith(("classifier", "score")):
                parameter.normal_(0, 0.5)
    module.save_pretrained(folder)
    words.save_pretrained(folder)
    names = {str(i): label for i, label in enumerate(LABELS)}
    change_json(
        folder / "config.json",
        problem_type="multi_label_classification",
        id2label=names,
        label2id={label: int(i) for i, label in names.items()},
    )
    module.config.pad_token_id = -1 if kind in tiny.DECODERS else module.config.pad_token_id
    with torch.inference_mode():
        return module.eval()(**words(TEXT, return_tensors="pt")).logits[0].numpy()


@pytest.fixture
def made(tiny_root, tmp_path):
    """A folder of BERT with three sigmoids, and its logits of the text."""
    (tmp_path / "model").mkdir()
    return tmp_path / "model", several("bert", tiny_root, tmp_path / "model")


@KINDS
def test_each_label_is_its_own_sigmoid_and_both_classes_have_logits(tiny_root, tmp_path, kind):
    z = several(kind, tiny_root, tmp_path)
    first = load(str(tmp_path), "cpu")
    encoded = first.encode(TEXT)
    assert Explainer(first).highest_label(encoded) == int(z.argmax())
    for i, label in enumerate(LABELS):
        model = load(f"{tmp_path}#{label}", "cpu")
        explainer, within = Explainer(model), Explainer(first).of_label(i)
        assert model.labels == (f"not {label}", label) and within.model.digest == model.digest
        assert explainer.probabilities(encoded)[1] == pytest.approx(expit(z[i]), abs=1e-5)
        np.testing.assert_allclose(explainer.logits(encoded), [-z[i] / 2, z[i] / 2], atol=1e-5)
        np.testing.assert_array_equal(within.logits(encoded), explainer.logits(encoded))
        assert int(explainer.logits(encoded).argmax()) == int(expit(z[i]) >= 0.5), "predicted from one half on"
        one, other = (explainer.attribute(encoded, "gradient", target).scores["L2"] for target in (0, 1))
        np.testing.assert_allclose(one, other, rtol=1e-4)
        assert one.max() > 0
    assert len({load(f"{tmp_path}#{label}", "cpu").digest for label in LABELS}) == 3


def test_labels_share_weights_and_a_lock_and_leave_the_whole_as_it_is(made):
    folder, z = made
    explainer = Explainer(load(str(folder), "cpu"))
    whole, encoded = explainer.model.whole, explainer.model.encode(TEXT)
    read = [explainer.of_label(i).model for i in range(3)]
    assert {one.lock for one in read} == {whole.lock} and explainer.of_label(1) is explainer.of_label(1)
    assert len({one.module.get_input_embeddings().weight.data_ptr() for one in (*read, whole)}) == 1
    for one in read:
        with one.eager_attention():
            pass
    logits = whole.run(encoded.ids[None], np.array([encoded.T]), encoded.type_ids[None])[0][0]
    np.testing.assert_allclose(logits, z, atol=1e-5)


def test_every_measure_explains_a_label_and_completes_where_it_should(made):
    folder, _ = made
    explainer = Explainer(load(f"{folder}#insult", "cpu"))
    encoded = explainer.model.encode(TEXT)
    logits = explainer.oracles.of(encoded).logits(np.array([[False] * encoded.F, [True] * encoded.F]))[:, 1]
    for name, measure in measures().items():
        if measure.baseline:
            continue
        scores = explainer.attribute(encoded, name, 1).scores
        assert all(np.isfinite(one).all() for one in scores.values()), name
        if name == "Shapley values":
            assert scores["signed"].sum() == pytest.approx(float(logits[0] - logits[1]), abs=1e-4)


def test_limits_and_aopc_are_those_of_a_table_of_sigmoids(made):
    folder, _ = made
    explainer = Explainer(load(f"{folder}#threat", "cpu"))
    encoded, whole = explainer.model.encode(TEXT), explainer.model.whole
    masks = np.array([[bool(code >> i & 1) for i in range(encoded.F)] for code in range(2**encoded.F)])
    ids = masked_ids(encoded, masks)
    z = whole.run(ids, np.full(len(ids), encoded.T), encoded.type_ids[None].repeat(len(ids), axis=0))[0][:, 2]
    table = expit(z.astype(np.float64))
    found = finish(find_exact(explainer, encoded, 1)).limits
    codes = 1 << np.arange(encoded.F)
    expected = finish(exact_search(lambda asked: table[asked @ codes], encoded.F))
    assert (found.lower, found.upper) == pytest.approx((expected.lower, expected.upper), abs=1e-5)


def test_performance_and_changes_are_yes_or_no(made, tmp_path):
    folder, z = made
    explainer = Explainer(load(f"{folder}#toxic", "cpu"), Store(tmp_path / "store"))
    examples = tuple(Example(f"e{i}", text) for i, text in enumerate((TEXT, *tiny.SENTENCES[:3])))
    sample = Sample("toy", "0" * 64, examples, np.array([1, 0, 1, 0]))
    found = finish(run_study(explainer, sample, Curve(), explainer.store))
    p = found.values[0, 0]
    assert p == pytest.approx(expit(z[0]), abs=1e-5) and found.predicted[0, 0] == int(p >= 0.5)
    assert set(np.unique(found.predicted)) <= {0, 1} and found.values.shape == found.predicted.shape


def test_p_values_are_those_of_the_weights_whatever_the_label(made):
    folder, _ = made
    model = load(str(folder), "cpu")
    data = LabelledTexts(list(tiny.SENTENCES), None, np.zeros(len(tiny.SENTENCES), dtype=np.int64), (), "toy", "0" * 64)
    write_reference(fit_reference(model, data, Drawing()), place_for(model))
    found = []
    for label in LABELS:
        explainer = with_reference(load(f"{folder}#{label}", "cpu"), None)
        encoded = explainer.model.encode(TEXT)
        found.append(explainer.tested(encoded).judge(np.ones((1, encoded.F), dtype=bool)).p["calibrated"][0])
    assert len(set(found)) == 1 and 0 < found[0] <= 1


def test_it_is_named_as_a_caveat_and_a_label_that_there_is_not_is_refused(made, tiny_root):
    folder, _ = made
    assert Caveat.SEVERAL_LABELS in model_caveats(load(str(folder), "cpu"))
    with pytest.raises(UnsupportedModel, match=r"no label 'rude'.*toxic, insult"):
        load(f"{folder}#rude", "cpu")
    with pytest.raises(UnsupportedModel, match="no label 'toxic'"):
        load(f"{tiny.folder('bert', tiny_root)}#toxic", "cpu")


def test_the_command_explains_the_highest_label_unless_one_is_named(made, tmp_path, monkeypatch, capsys):
    folder, z = made
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "found.json"
    asked = ["--text", TEXT, "--measures", "leave-one-out", "--what", "attributions", "--out", str(out)]
    for name, label in ((str(folder), LABELS[int(z.argmax())]), (f"{folder}#threat", "threat")):
        assert main(["explain", "--model", name, *asked]) == 0
        told = json.loads(out.read_text(encoding="utf-8"))
        assert told["class"] in (label, f"not {label}")
    said = capsys.readouterr()
    assert "#toxic" in said.err and said.out.count(f"{Caveat.SEVERAL_LABELS.badge}:") == 2
    found = core.explain(core.load(f"{folder}#threat", "cpu"), TEXT, ["leave-one-out"])
    assert found.probabilities["threat"] == pytest.approx(expit(z[2]), abs=1e-5)
