"""A head of one output: a sigmoid where the configuration says so, refused otherwise."""

import numpy as np
import pytest
import torch

from core.explanation.explainer import Explainer
from core.loading.inspection import check_model
from core.loading.loading import load
from core.network.architectures import UnsupportedModel
from core.results.caveats import Caveat
from core.results.inputs import model_caveats
from tests import tiny
from tests.model_folders import change_json

TEXT = "The captain reads the wind"


def single(kind, tiny_root, folder, **settings):
    """A folder whose head has one output, and that output for a text by the library itself."""
    from transformers import AutoModelForSequenceClassification

    module = AutoModelForSequenceClassification.from_pretrained(
        tiny.folder(kind, tiny_root), num_labels=1, ignore_mismatched_sizes=True
    )
    words = tiny.tokenizer(kind)
    torch.manual_seed(3)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.startswith(("classifier", "score")):
                parameter.normal_(0, 0.5)
    module.save_pretrained(folder)
    words.save_pretrained(folder)
    change_json(folder / "config.json", **settings)
    module.config.pad_token_id = -1 if kind in tiny.DECODERS else module.config.pad_token_id
    with torch.inference_mode():
        return float(module.eval()(**words(TEXT, return_tensors="pt")).logits[0, 0])


@pytest.mark.parametrize("kind", ["bert", "roberta", "electra", "modernbert", "gpt2", "llama"])
@pytest.mark.parametrize(
    "settings, labels",
    [
        ({"problem_type": "single_label_classification", "id2label": {"0": "toxic"}}, ("not toxic", "toxic")),
        ({"problem_type": "multi_label_classification", "id2label": {"0": "LABEL_0"}}, ("class 0", "class 1")),
        ({"id2label": {"0": "no", "1": "yes"}, "label2id": {"no": 0, "yes": 1}}, ("no", "yes")),
    ],
    ids=["single label", "multi-label", "two names"],
)
def test_softmax_over_both_is_the_sigmoid_of_the_one(tiny_root, tmp_path, kind, settings, labels):
    z = single(kind, tiny_root, tmp_path, **settings)
    model = load(str(tmp_path), "cpu")
    encoded = model.encode(TEXT)
    types = None if encoded.type_ids is None else encoded.type_ids[None]
    logits = model.run(encoded.ids[None], np.array([encoded.T]), types)[0][0]
    assert model.labels == labels and logits[0] == 0 and logits[1] == pytest.approx(z, abs=1e-5)
    assert check_model(str(tmp_path)).usable and Caveat.SEVERAL_LABELS not in model_caveats(model)
    found = Explainer(model)
    one, other = (found.attribute(encoded, "leave-one-out", target).scores["signed"] for target in (0, 1))
    assert np.allclose(one, 0) and np.abs(other).max() > 0


@pytest.mark.parametrize("settings", [{}, {"problem_type": "regression"}])
def test_one_output_that_may_be_a_number_is_refused_with_what_would_work(tiny_root, tmp_path, settings):
    single("bert", tiny_root, tmp_path, **settings)
    with pytest.raises(UnsupportedModel, match=r"1 output.*problem_type"):
        load(str(tmp_path), "cpu")
    assert not check_model(str(tmp_path)).usable
