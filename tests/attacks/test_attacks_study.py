"""Attacks over a sample: rows, what they come to, and the command."""

import errno
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from core.attacks import attacking
from core.attacks.attacked_data import Pair, changed_words, keep_attacked
from core.attacks.attacking import OUTCOMES, attack_text
from core.attacks.victim import AttackOutcome, Budget, Victim, is_word
from core.attacks.vocabulary import Vocabulary
from core.commands import evaluate as evaluate_command
from core.commands.command_line import main
from core.data.examples import Example
from core.data.sources import open_data
from core.evaluation.asking import ask
from core.evaluation.engine import Run
from core.evaluation.sampling import Sample
from core.evaluation.studies.attacks import Attacking
from core.evaluation.studies.attacks_report import AttacksReport, _rejected
from core.evaluation.studies.behaviour import Course
from core.explanation.explainer import Explainer
from core.figures.catalogue import question_figure
from core.mathematics.statistics import paired_interval
from core.results.attacks import AttacksOutcome, attacks_result
from core.results.caveats import Caveat
from core.storage.library import Library
from core.storage.store import Store
from core.texts.rendering import headline
from tests import tiny
from tests.attacks.test_attacks import label_of
from tests.hostile import lines
from tests.interrupted import interrupted

TEXTS = (*tiny.SENTENCES[5:21:2], "Soup")
STUDY = Attacking(attack="substitution", follows="random order", similarity=-1.0, share=0.5)


@pytest.fixture(scope="module", autouse=True)
def far():
    """Any word may stand for another, so that attacks on the tiny model succeed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Vocabulary.near, "__defaults__", (None, -1.0))
        yield


@pytest.fixture(scope="module")
def answers(far, tiny_model, tmp_path_factory):
    model = tiny_model("bert")
    labels = [label_of(model, model.encode(text)) for text in TEXTS]
    labels[0] = (labels[0] + 1) % model.C
    examples = tuple(Example(f"e{i}", text, label=model.labels[c]) for i, (text, c) in enumerate(zip(TEXTS, labels)))
    sample = Sample("toy", "0" * 64, examples, np.array(labels))
    return ask(Explainer(model), sample, STUDY, Store(tmp_path_factory.mktemp("attacked")))


def test_rows_are_those_of_each_attack_and_of_both_texts_courses(answers):
    rows, model = answers.found[STUDY], answers.model
    columns = rows.columns
    assert rows.there.all()
    assert OUTCOMES[columns["outcome"][0]] is AttackOutcome.ALREADY_WRONG
    assert OUTCOMES[columns["outcome"][-1]] is AttackOutcome.NO_ROOM
    assert (columns["outcome"] == OUTCOMES.index(AttackOutcome.SUCCEEDED)).any()
    for i, example in enumerate(answers.sample.examples):
        encoded = model.encode(example.text)
        found = attack_text(model, encoded, int(answers.sample.labels[i]), "substitution", STUDY.budget)
        assert rows.sentences[columns["text"][i]] == found.text and columns["queries"][i] == found.queries
        assert columns["changed"][i] == len(found.changed) / encoded.F
        free = [encoded.F, model.encode(found.text).F] if found.success else [0, 0]
        assert columns["free"][i].tolist() == free
        assert np.isnan(columns["p"][i]).all()


def test_what_the_rows_come_to_by_hand(answers):
    report = STUDY.conclude(answers)
    columns = answers.found[STUDY].columns
    won = columns["outcome"] == OUTCOMES.index(AttackOutcome.SUCCEEDED)
    assert sum(report.ended.values()) == len(TEXTS) and report.pairs == won.sum()
    assert report.n == len(TEXTS) - 2 and report.success.mean == pytest.approx(won.sum() / report.n)
    flips, free = columns["flips"][won], columns["free"][won][:, :, None]
    kept = 1 - np.where(flips > 0, flips / free, 1.0).mean(axis=2)
    assert report.fidelity.attacked.mean == pytest.approx(kept[:, 1].mean())
    assert report.fidelity.difference.mean == pytest.approx((kept[:, 1] - kept[:, 0]).mean())
    assert not report.rejected.original.known and report.drift["50 %"][0] >= 0 and report.moved >= 0
    assert attacks_result(report).has(Caveat.NOT_TESTED) and attacks_result(report).has(Caveat.FEW_TEXTS)


def test_rejections_are_compared_in_pairs(answers):
    """Of 40 texts made to have succeeded, 2 are rejected as they are, and 12 once attacked."""
    report = with_p(answers, 12, 2)
    low = np.arange(40) < 12, np.arange(40) < 2
    assert report.rejected.difference == paired_interval(*low)
    assert report.rejected.attacked.mean == 0.3 and report.rejected.original.mean == 0.05


def with_p(answers, attacked: int, original: int) -> AttacksReport:
    rows = answers.found[STUDY]
    won = int(np.flatnonzero(rows.columns["outcome"] == OUTCOMES.index(AttackOutcome.SUCCEEDED))[0])
    columns = {name: np.repeat(values[won : won + 1], 40, axis=0) for name, values in rows.columns.items()}
    columns["p"] = np.full((40, 2, 2), 0.5)
    columns["p"][:original, 0], columns["p"][:attacked, 1] = 0.01, 0.01
    made = replace(rows, there=np.ones(40, dtype=bool), known=np.ones(40, dtype=bool), columns=columns, problems={})
    examples = answers.sample.examples[won : won + 1] * 40
    sample = replace(answers.sample, examples=examples, labels=np.repeat(answers.sample.labels[won], 40))
    return STUDY.conclude(replace(answers, sample=sample, found={STUDY: made}))


@pytest.mark.parametrize(
    ("attacked", "original", "outcome"),
    [(12, 2, AttacksOutcome.NOTICED), (2, 2, AttacksOutcome.NOT_NOTICED), (2, 12, AttacksOutcome.NOT_NOTICED)],
)
def test_each_outcome(answers, attacked, original, outcome):
    report = with_p(answers, attacked, original)
    assert attacks_result(report).outcome is outcome and len(headline(attacks_result(report)).split()) <= 20
    assert attacks_result(report).has(Caveat.MEANING)
    assert not attacks_result(replace(report, attack="DeepWordBug")).has(Caveat.MEANING)
    assert attacks_result(replace(report, pairs=5)).outcome is AttacksOutcome.SUCCESS
    none = attacks_result(replace(report, pairs=0))
    assert none.outcome is AttacksOutcome.NO_SUCCESS
    assert len(question_figure(STUDY.name, [report])["data"]) == 2
    assert question_figure(STUDY.name, [replace(report, pairs=0)]) is None


@pytest.mark.simulation
@pytest.mark.parametrize("n", [20, 60, 200])
def test_masf_is_said_to_notice_attacks_by_chance_on_few_samples(n):
    """2,000 samples whose texts are rejected alike, attacked or not: the interval lies above 0 on 2.5 % at most, but
    for four standard errors.
    """
    rng, noticed = np.random.default_rng(n), 0
    for _ in range(2_000):
        noticed += _rejected(rng.random((n, 2))).difference.low > 0
    assert noticed / 2_000 <= 0.025 + 4 * np.sqrt(0.025 * 0.975 / 2_000)


class Asked:
    """`evaluate --what attacks` on six short texts of a tiny model, the second labelled wrong and the last one word."""

    def __init__(self, model, root, patch):
        self.model, self.out = model, root / "found.json"
        labels = [model.labels[label_of(model, model.encode(text))] for text in SHORT]
        labels[1] = next(label for label in model.labels if label != labels[1])
        rows = [{"id": f"e{i}", "text": one, "label": label} for i, (one, label) in enumerate(zip(SHORT, labels))]
        (root / "mine.jsonl").write_bytes(lines(*rows))
        self.command = ["evaluate", "--model", "tiny", "--data", str(root / "mine.jsonl"), "--what", "attacks"]
        self.command += ["--follows", "random order", "--similarity", "-1.0", "--share", "0.5", "--out", str(self.out)]
        self.patch = patch
        self.begin(root / "cache")
        patch.setattr("core.loading.loading.load", lambda *_: model)

    def begin(self, cache):
        """With nothing kept, and no output."""
        self.patch.setenv("FAITHSCOPE_CACHE", str(cache))
        self.out.unlink(missing_ok=True)

    def __call__(self, *more: str) -> int:
        return main([*self.command, *(more or ("--attack", "HotFlip"))])

    @property
    def found(self) -> list[dict]:
        return sorted(json.loads(self.out.read_text())["examples"], key=lambda one: one["example"])


SHORT = (*TEXTS[:5], "Soup")


@pytest.fixture
def evaluate(tiny_model, tmp_path, monkeypatch):
    return Asked(tiny_model("bert"), tmp_path, monkeypatch)


def test_the_command_offers_the_nearest_attack_and_says_what_it_cannot_do(evaluate, capsys):
    refused = {
        ("--attack", "hotflap"): "'HotFlip'?",
        ("--attack", "genetic", "--unit", "token"): "unit word",
        ("--attack", "genetic", "--protect", "good film"): "'good film' is not one word",
        ("--attack", "genetic", "--protect", "soup,"): "'soup,' is not one word",
    }
    for more, said in refused.items():
        assert evaluate(*more) == 1
        told = capsys.readouterr().err.strip()
        assert said in told and told.count("\n") == 0 and not evaluate.out.exists()
    assert main([*evaluate.command[:5], "--what", "words", "--protect", "soup"]) == 1
    assert "--protect belongs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("owner", "name", "count"),
    [(Run, "add", 2), (Victim, "ask", 5), (Course, "row", 1), (evaluate_command, "write_whole", 0)],
    ids=["between two texts", "in an attack", "behind an attack", "before the file"],
)
def test_the_command_goes_on_after_a_kill_in_each_phase(owner, name, count, evaluate, tmp_path):
    assert evaluate() == 0
    whole, attacks = evaluate.found, []
    evaluate.begin(tmp_path / "again")
    with pytest.MonkeyPatch.context() as patch:
        # A text whose attack was over is not attacked again.
        patch.setattr(
            attacking, "attack_text", lambda *given, **more: attacks.append(given[1].digest) or really(*given, **more)
        )
        interrupted(evaluate, owner, name, count, evaluate.out)
    assert evaluate.found == whole and len(whole) == len(SHORT)
    assert len(attacks) - len({*attacks}) == (owner is Victim) and len({*attacks}) == len(SHORT)
    ends = [one["attack outcome"] for one in whole]
    assert ends[1] == "already wrong" and ends[-1] == "no room"


really = attacking.attack_text


def test_a_disk_that_fills_is_a_sentence_and_loses_no_attack(evaluate, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(evaluate.out))

    with monkeypatch.context() as patch:
        patch.setattr(evaluate_command, "write_whole", full)
        assert evaluate() == 1 and os.strerror(errno.ENOSPC) in capsys.readouterr().err
    monkeypatch.setattr(attacking, "attack_text", lambda *_, **__: pytest.fail("what was found is read"))
    assert evaluate() == 0 and len(evaluate.found) == len(SHORT)


@pytest.mark.parametrize("attack", ["DeepWordBug", "substitution", "genetic", "HotFlip"])
def test_words_that_are_protected_stay_with_every_attack(attack, evaluate, tmp_path):
    """Each word that the attack changed unasked is protected in turn, until it changes none of these."""
    assert evaluate("--attack", attack) == 0
    free = {word for one, text in zip(evaluate.found, SHORT) for word, _ in changed_words(text, one["text"])}
    assert free
    kept = [word.upper() for word in free if is_word(word)]
    evaluate.begin(tmp_path / "again")
    assert evaluate("--attack", attack, "--protect", *kept) == 0
    for one, text in zip(evaluate.found, SHORT):
        assert not {word for word, _ in changed_words(text, one["text"])} & free
    assert json.loads(evaluate.out.read_text())["choices"]["protect"] == kept


def test_a_budget_is_part_of_the_key(tiny_model):
    explainer = Explainer(tiny_model("bert"))
    keys = {
        replace(STUDY, **changed).key(explainer) for changed in ({}, {"share": 0.2}, {"seed": 1}, {"attack": "genetic"})
    }
    assert len(keys) == 4 and Budget() == Attacking().budget


def test_attacked_texts_are_kept_as_data_behind_their_originals(tmp_path):
    one = Example("a", "A good, quiet film", label="positive", tags=("short",), note="mine")
    library = Library(tmp_path)
    source = keep_attacked(library, "toy", "HotFlip", [Pair(one, "A bad, quiet movie", 12, 0.75)])
    first, second = open_data(library, source.key).examples
    assert (first.id, first.text, first.label, first.note) == ("a", one.text, "positive", "mine")
    assert (second.text, second.label) == ("A bad, quiet movie", "positive")
    assert all(part in second.note for part in ("good → bad", "film → movie", "12 queries"))
    assert "HotFlip" in second.tags and "original" in first.tags
    assert (first.pair, second.pair) == (second.id, first.id)
    assert changed_words("It works.", "It works!") == [(".", "!")]
