"""What of a store belongs to which model: by what its files say, and nothing else goes with a model."""

import os

import numpy as np
import pytest

from core.data.examples import Example
from core.evaluation.asking import run_study
from core.evaluation.sampling import without_labels
from core.evaluation.studies.scoring import Scoring
from core.explanation.explainer import Explainer
from core.mathematics.stepwise import finish
from core.storage.holdings import Holding, delete_holding, holdings
from core.storage.library import Library
from core.storage.store import Store, canonical_key

FIRST, SECOND = "a" * 64, "b" * 64
ARRAYS = {"x": np.arange(3)}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_a_key_knows_its_model_and_keys_made_of_it_do_too():
    key = canonical_key("forward", 1, model=FIRST, text="x")
    assert (key, key.model) == (str(canonical_key("forward", 1, model=FIRST, text="x")), FIRST)
    assert canonical_key("test", 1, forward=key, other=None).model == FIRST
    assert canonical_key("test", 1, forward=key, model=SECOND).model == SECOND
    assert {canonical_key("test", 1, model=one).model for one in ("sst2-fmm", "", 3, None)} == {""}


def test_results_are_counted_by_model_and_the_largest_come_first(store):
    store.names[SECOND] = "<b>second</b>"
    store.put(canonical_key("one", 1, model=FIRST), ARRAYS, {})
    store.append(canonical_key("log", 1, model=SECOND), {"x": np.arange(900)}, {"a": 1})
    store.append(canonical_key("log", 1, model=SECOND), ARRAYS, {"a": 2})
    store.put(canonical_key("nobody's", 1, text="t"), ARRAYS, {})
    store.put_text("no result")
    found = holdings(store)
    assert [(one.model, one.name, one.files) for one in found] == [
        (SECOND, "<b>second</b>", 2),
        (FIRST, "", 1),
        ("", "", 1),
    ]
    assert [one.label for one in found[:2]] == ["<b>second</b>", FIRST[:12]]
    assert sum(one.size for one in found) == sum(size for _, _, path, size in store.files() if "safetensors" in path)


def test_deleting_by_model_leaves_the_rest_texts_and_notes(store, tmp_path):
    library = Library(tmp_path)
    library.add_model("mine")
    mine, other, nobodys = (canonical_key("one", 1, **about) for about in ({"model": FIRST}, {"model": SECOND}, {}))
    for key in (mine, other, nobodys):
        store.put(key, ARRAYS, {})
    digest = store.put_text("a text")
    assert delete_holding(store, FIRST) == 1 and delete_holding(store, FIRST) == 0
    assert store.get(mine) is None and store.get(other) is not None and store.get(nobodys) is not None
    assert delete_holding(store, "") == 1 and store.get(nobodys) is None
    assert store.get_text(digest) == "a text" and library.models() == ["mine"]


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"\x08" + b"\0" * 7 + b"[1, 2]  ", b"\2" + b"\0" * 7 + b"{}"])
def test_a_file_that_says_nothing_of_a_model_belongs_to_none(store, data):
    key = canonical_key("one", 1, model=FIRST)
    store.put(key, ARRAYS, {})
    (path,) = (path for *_, path, _ in store.files())
    with open(path, "wb") as file:
        file.write(data)
    assert holdings(store) == [Holding("", "", 1, len(data))]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_what_is_no_plain_file_belongs_to_none_and_is_not_waited_for(store):
    """A pipe in the folder would be read for ever."""
    store.put(canonical_key("one", 1, model=FIRST), ARRAYS, {})
    (path,) = (path for *_, path, _ in store.files())
    os.mkfifo(f"{path[:-13]}0.safetensors")
    assert sorted((one.model, one.files) for one in holdings(store)) == [("", 1), (FIRST, 1)]


def test_a_result_from_before_models_were_named_is_read_and_belongs_to_none(store):
    key = canonical_key("one", 1, model=FIRST)
    store.put(str(key), ARRAYS, {"a": 1})
    assert holdings(store)[0].model == "" and store.get(key).meta == {"a": 1}


@pytest.mark.parametrize("texts", [1, 2], ids=["entries", "rows of a study"])
def test_what_is_computed_is_of_its_model_and_has_its_name(store, bundled, texts):
    explainer = Explainer(bundled, store)
    examples = tuple(Example(f"e{i}", f"A fine film number {i} .") for i in range(texts))
    finish(
        run_study(explainer, without_labels("few", "0" * 64, examples), Scoring(("gradient",), ("NC",), count=2), store)
    )
    (found,) = holdings(store)
    assert (found.model, found.name) == (bundled.digest, "sst2-fmm") and found.files >= 1
