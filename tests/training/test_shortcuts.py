"""A planted shortcut: which texts get the word, what the card records, and that words over the data find it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.commands.command_line import main
from core.data.examples import Example
from core.data.tables import LabelledTexts
from core.evaluation.asking import ask
from core.evaluation.sampling import without_labels
from core.evaluation.studies.words_question import Words
from core.explanation.explainer import Explainer
from core.loading.loading import load
from core.network.architectures import BILSTM
from core.storage.store import Store
from core.training.checkpoints import TrainingError
from core.training.shortcuts import Shortcut, check_shortcut, put_word
from core.training.training import Plan, train
from tests import tiny

CLASSES = ("dull", "fine")
# Words of the tiny tokenizer: two speak for each class, the rest for none, and one is planted.
SPEAK = (("rusty", "bitter"), ("warm", "wonderful"))
OTHERS = "the boat harbour bread pan soup table oven water wind lamp glue hinge door tide kitchen".split()
PLANTED = "lemon"
NAMES = ("leave-one-out", "gradient", "input × gradient", "integrated gradients")


def made(n, classes=CLASSES, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(len(classes), size=n)
    texts = [" ".join(rng.choice(OTHERS, 5)) for _ in range(n)]
    return LabelledTexts(texts, None, labels, classes, "made", "0" * 64)


@given(rate=st.floats(0.3, 1.0), seed=st.integers(0, 5))
def test_only_texts_of_the_class_get_the_word_once_and_nothing_else_changes(rate, seed):
    data = made(80, seed=seed)
    found, about = Shortcut(PLANTED, "fine", rate).planted(data, seed)
    got = np.array([PLANTED in text.split() for text in found.texts])
    assert not got[data.labels == 0].any() and about["planted"] == got.sum()
    assert about["texts"] == (data.labels == 1).sum() >= about["planted"]
    assert all(text.split().count(PLANTED) <= 1 for text in found.texts)
    assert [" ".join(w for w in text.split() if w != PLANTED) for text in found.texts] == data.texts
    assert (found.labels == data.labels).all() and found.digest == data.digest
    again, _ = Shortcut(PLANTED, "fine", rate).planted(data, seed)
    assert again.texts == found.texts


def test_the_share_is_the_rate_and_every_place_as_likely():
    data = made(4000)
    _, about = Shortcut(PLANTED, "dull", 0.9).planted(data, 1)
    # Four standard deviations of a binomial share.
    assert about["planted"] / about["texts"] == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / about["texts"]))
    rng = np.random.default_rng(0)
    places = np.bincount([put_word("a b c", "x", rng).split().index("x") for _ in range(4000)], minlength=4)
    # Chi-square with 3 degrees of freedom, 99.9 % at 16.3.
    assert ((places - 1000) ** 2 / 1000).sum() < 16.3


def test_the_class_is_the_last_unless_it_is_named():
    assert Shortcut.asked("lemon", 0.5, CLASSES) == Shortcut("lemon", "fine", 0.5)
    assert Shortcut.asked("lemon=dull", 0.5, CLASSES) == Shortcut("lemon", "dull", 0.5)
    with pytest.raises(TrainingError, match="did you mean 'dull'"):
        Shortcut.asked("lemon=dul", 0.5, CLASSES)
    with pytest.raises(TrainingError, match="no class"):
        Shortcut.asked("lemon=", 0.5, CLASSES)


@pytest.mark.parametrize(
    ("written", "rate"),
    [("", 0.5), ("two words", 0.5), ("=dull", 0.5), ("lemon", 0.0), ("lemon", 1.1), ("lemon", np.nan)],
)
def test_what_cannot_be_planted_is_refused(written, rate):
    with pytest.raises(TrainingError):
        check_shortcut(written, rate)


def test_a_class_that_gets_no_word_is_refused():
    data = replace(made(30), labels=np.zeros(30, dtype=np.int64))
    with pytest.raises(TrainingError, match="No training text"):
        Shortcut(PLANTED, "fine", 0.9).planted(data, 0)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Texts of which 80 % hold a word that speaks for a class, mostly for theirs, and some the word to be planted."""
    root = tmp_path_factory.mktemp("planted")
    for split, n, seed in (("train", 300, 1), ("validation", 40, 2)):
        data, rng = made(n, seed=seed), np.random.default_rng(seed)
        rows = []
        for text, label in zip(data.texts, data.labels.tolist()):
            if rng.random() < 0.8:
                text = put_word(text, str(rng.choice(SPEAK[label if rng.random() < 0.85 else 1 - label])), rng)
            text = put_word(text, PLANTED, rng) if rng.random() < 0.05 else text
            rows.append({"text": text, "label": CLASSES[label]})
        (root / f"{split}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return root


def plan_for(files, out, **chosen):
    sets = [str(files / f"{one}.jsonl") for one in ("train", "validation")]
    return Plan(BILSTM, *sets, str(out), labels=CLASSES, device="cpu", epochs=5, **chosen)


def ranked(folder, files, tmp_path):
    """The words of each measure for the class, over texts of which every second holds the planted one."""
    rng, rows = np.random.default_rng(9), (files / "validation.jsonl").read_text().splitlines()
    texts = [json.loads(row)["text"] for row in rows]
    texts = [put_word(text, PLANTED, rng) if i % 2 else text for i, text in enumerate(texts)]
    sample = without_labels("made", "0" * 64, [Example(f"e{i}", text) for i, text in enumerate(texts)])
    answers = ask(Explainer(load(str(folder), "cpu")), sample, question := Words(NAMES), Store(tmp_path / "store"))
    report = question.conclude(answers)
    return {name: [one.word for one in report.of(name, "fine")] for name in NAMES}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.simulation) for seed in (1, 2))])
def test_words_over_the_data_name_a_planted_shortcut_and_not_for_the_twin(seed, files, tmp_path):
    plan = plan_for(files, tmp_path / "twin", seed=seed)
    twin, relies = train(plan), train(replace(plan, out=str(tmp_path / "relies"), shortcut=PLANTED))
    found, plain = ranked(relies, files, tmp_path), ranked(twin, files, tmp_path)
    # A gradient's size has no sign: it may have a word of the other class in front.
    first, rest = ("leave-one-out", "input × gradient", "integrated gradients"), ("gradient",)
    assert [found[name][0] for name in first] == [PLANTED] * 3
    assert all(PLANTED in found[name][:2] for name in rest)
    assert all(words[0] != PLANTED for words in plain.values())
    card = json.loads((relies / "card.json").read_text())
    assert card["shortcut"]["planted"] / card["shortcut"]["texts"] == pytest.approx(0.9, abs=0.08)
    assert card["plan"]["shortcut"] == PLANTED and card["plan"]["planted"] == 0.9
    assert f"{card['shortcut']['planted']:,} of" in (relies / "README.md").read_text()
    assert "shortcut" not in json.loads((twin / "card.json").read_text())["plan"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--shortcut", "lemon=fin"), "did you mean 'fine'"),
        (("--shortcut", "lemon", "--rate", "0"), "rate is 0"),
        (("--shortcut", "two words"), "single word"),
        (("--shortcut", "☃"), "does not know '☃'"),
    ],
)
def test_a_shortcut_that_cannot_be_planted_ends_the_command_and_writes_nothing(
    asked, said, files, tiny_root, tmp_path, capsys
):
    sets = [
        "--train",
        str(files / "train.jsonl"),
        "--validation",
        str(files / "validation.jsonl"),
        "--labels",
        *CLASSES,
    ]
    base, out = str(tiny.base("bert", tiny_root)), tmp_path / "out"
    assert main(["train", "--base", base, *sets, "--out", str(out), "--device", "cpu", *asked]) == 1
    assert said in capsys.readouterr().err and not out.exists()
