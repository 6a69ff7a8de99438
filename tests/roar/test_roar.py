"""ROAR with retraining: planted evidence, redundant copies, stopped studies, and trainings that do not converge."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from core.commands.command_line import main
from core.mathematics.statistics import seeds_interval
from core.measures.registry import NOTHING, REGISTERED, Measure
from core.roar import study as roar
from core.roar.masked import MaskingStep
from core.roar.study import RoarStudy, run_roar
from core.roar.tables import Curves, curves_of, lines_of, racu_table
from core.training import retraining
from core.training.checkpoints import TrainingError
from core.training.retraining import read_card
from core.training.training import Plan

EVIDENCE = {"pos": "good", "neg": "bad"}
FILLERS = ["a", "the", "film", "plot", "scene", "actor"]


def planted(name, score):
    """A measure of what is known of the words: score of (words, masked) → float64[F]."""

    def compute(explained):
        words = np.array([feature.text for feature in explained.features])
        return {
            "signed": np.where(explained.masked, 0.0, score(np.isin(words, [*EVIDENCE.values()]), explained.masked))
        }

    told = {"definition": "", "cost": "0", "passes": lambda F: 0, "source": "", "unit": "none"}
    return Measure(name=name, variants=("signed",), needs=NOTHING, compute=compute, baseline=True, **told)


def first_copy(evidence, masked):
    """Knows one copy alone, as a model that needs no more: the first that is there still."""
    left = np.flatnonzero(evidence & ~masked)
    return (np.arange(len(evidence)) == left[0]).astype(float) if len(left) else np.zeros(len(evidence))


@pytest.fixture(autouse=True)
def measures(monkeypatch):
    for one in (
        planted("knows", lambda evidence, _: evidence.astype(float)),
        planted("inverts", lambda evidence, _: -evidence.astype(float)),
        planted("first copy", first_copy),
    ):
        monkeypatch.setitem(REGISTERED, one.name, one)


@pytest.fixture
def files(tmp_path):
    """Write files of texts of six words, so many of them evidence; gives the plan to train on them."""

    def write(copies=1):
        rng = random.Random(copies)
        for split, count in (("train", 300), ("validation", 60), ("test", 100)):
            rows = []
            for i in range(count):
                label = ("pos", "neg")[i % 2]
                words = [EVIDENCE[label]] * copies + [rng.choice(FILLERS) for _ in range(6 - copies)]
                rng.shuffle(words)
                rows.append(json.dumps({"text": " ".join(words), "label": label}))
            (tmp_path / f"{split}.jsonl").write_text("\n".join(rows), encoding="utf-8")
        named = {split: str(tmp_path / f"{split}.jsonl") for split in ("train", "validation", "test")}
        own = {"training": "none", "validation_strategy": "none", "device": "cpu", "epochs": 2}
        return Plan("bilstm", out=str(tmp_path / "models"), **named, **own)

    return write


def steps(*ratios):
    return tuple(MaskingStep(ratio) for ratio in ratios)


def test_intervals_over_seeds_by_hand():
    found = seeds_interval(np.array([0.5, 0.6, 0.8]))
    logits = np.log(np.array([0.5, 0.6, 0.8]) / np.array([0.5, 0.4, 0.2]))
    ends = stats.t.interval(0.95, 2, logits.mean(), stats.sem(logits))
    expected = 1 / (1 + np.exp(-np.array([logits.mean(), *ends])))
    assert np.allclose([found.mean, found.low, found.high], expected)
    # Half a text keeps 1 within reach; beyond the ends plain values are taken; one value has no interval.
    whole = seeds_interval(np.array([1.0, 0.9]), n=10)
    assert 0.9 < whole.mean < 1 and whole.high < 1
    plain = seeds_interval(np.array([0.5, 1.5]), -1.0, 1.0)
    assert plain.mean == 1.0 and plain.low < 0
    assert not seeds_interval(np.array([0.5, np.nan])).known
    assert np.isnan(seeds_interval(np.array([np.nan])).mean)


@pytest.mark.simulation
@pytest.mark.parametrize("seeds", [3, 5])
def test_how_often_the_interval_over_seeds_holds_what_it_is_of(seeds):
    """4,000 studies of normal logits: 95 %, within four standard errors; of each seed's own texts, no less by much."""
    rng, centre, found = np.random.default_rng(seeds), 1.2, []
    for _ in range(4_000):
        one = seeds_interval(special.expit(rng.normal(centre, 0.4, seeds)))
        found.append(one.low <= special.expit(centre) <= one.high)
    assert np.mean(found) == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 4_000))


def test_racu_by_hand():
    steps_ = (MaskingStep(0.0), MaskingStep(0.5), MaskingStep(1.0))
    performance = np.array([[[1.0, 0.8, 0.4], [1.0, 0.4, 0.4], [1.0, 0.8, 0.4]]])
    curves = Curves("accuracy", (0,), ("random", "best", "same"), steps_, performance, np.array([0.4]), 10)
    # Measure: ½·.5·(0 + .4)·2 = .2; whole: ½·.5·(.6 + .4) + ½·.5·.4 = .35.
    assert curves.racus()["best"][0] == pytest.approx(0.2 / 0.35)
    assert curves.racus()["same"][0] == 0.0


def test_a_measure_that_knows_the_evidence_beats_random_and_one_that_inverts_it_loses(files):
    study = RoarStudy(files(), ("knows", "inverts"), steps(0.2, 0.5), seeds=1)
    cards = run_roar(study)
    curves = curves_of(study, cards)
    assert not any(card.problem for card in cards)
    unmasked, half = curves.performance[0, :, 0], curves.performance[0, :, 2]
    assert (unmasked > 0.95).all()
    assert half[1] < 0.7 and half[2] > 0.95 and half[1] < half[0] < half[2]
    found = curves.racus()
    assert found["knows"][0] > 0.5 and found["inverts"][0] < -0.1
    lines = lines_of(curves, cards)
    assert {line["ratio"] for line in lines} == {0.0, 0.2, 0.5, 1.0, None}
    assert [line["racu"] for line in lines if line["measure"] == "knows" and line["seed"] is None][-1] == found[
        "knows"
    ][0]


def test_masks_that_give_the_class_away_are_found_out(files, monkeypatch):
    """The evidence goes first, then words by the class: those that are left tell it."""

    def leaking(explained):
        words = np.array([feature.text for feature in explained.features])
        of_class = np.isin(words, FILLERS[:3] if explained.target else FILLERS[3:])
        scores = 2.0 * np.isin(words, [*EVIDENCE.values()]) + of_class
        return {"signed": np.where(explained.masked, 0.0, scores)}

    monkeypatch.setitem(REGISTERED, "leaks", replace(REGISTERED["knows"], name="leaks", compute=leaking))
    counts = tuple(MaskingStep(features=count) for count in (1, 4))
    curves = curves_of(study := RoarStudy(files(), ("knows", "leaks"), counts, seeds=2), run_roar(study))
    assert curves.leaking() == {"knows": False, "leaks": True}
    assert curves.racus()["leaks"].max() < curves.racus()["knows"].min()
    assert {row[0]: row[-1] for row in racu_table(curves)[1]} == {"knows": "no", "leaks": "yes"}


def test_two_copies_of_the_evidence_hide_from_one_shot_masking_alone(files):
    """The paper's redundancy: with one copy masked the other serves; only a measure that is asked again finds it."""
    plan = files(copies=2)
    found = {}
    for recursive in (True, False):
        own = replace(plan, out=f"{plan.out}-{recursive}")
        study = RoarStudy(
            own, ("first copy",), tuple(MaskingStep(features=k) for k in (1, 2)), seeds=1, recursive=recursive
        )
        found[recursive] = curves_of(study, run_roar(study)).performance[0, 1]
    assert found[True][1] > 0.95 and found[False][1] > 0.95
    assert found[True][2] < 0.7 and found[False][2] > 0.95


@pytest.mark.parametrize(
    ("phase", "recursive"), [("ranking", True), ("ranking", False), ("fitting", True), ("card", True)]
)
def test_a_stopped_study_goes_on_and_ends_alike(files, monkeypatch, phase, recursive):
    plan = replace(files(), epochs=1)
    study = RoarStudy(plan, ("gradient",), steps(0.2, 0.4), seeds=1, recursive=recursive)
    whole = replace(study, plan=replace(plan, out=f"{plan.out}-whole"))
    expected = curves_of(whole, run_roar(whole))
    place, name = {
        "ranking": (roar, "rank_features"),
        "fitting": (retraining, "_fit"),
        "card": (retraining.TrainingCard, "write"),
    }[phase]
    really, calls = getattr(place, name), []
    # Of each kind of call one in the middle: the measure's first step.
    at = {"ranking": 4 if not recursive else 8, "fitting": 5, "card": 5}[phase]

    def stop(*asked, **more):
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt
        return really(*asked, **more)

    with monkeypatch.context() as patch:
        patch.setattr(place, name, stop)
        with pytest.raises(KeyboardInterrupt):
            run_roar(study)
    trained = []
    monkeypatch.setattr(roar, "retrain", lambda *a: trained.append(1) or retraining.retrain(*a))
    found = curves_of(study, run_roar(study))
    assert (found.performance == expected.performance).all() and (found.floor == expected.floor).all()
    # Six trainings in all; what had a card is not done again.
    assert 0 < len(trained) <= 3
    trained.clear()
    run_roar(study)
    assert trained == []


def told_progress(study):
    """How far a study said that it was: done and total of each time, and what it was at."""
    heard = []
    run_roar(study, lambda what, done, total: heard.append((what, done, total)), lambda _: None)
    return heard


def test_progress_counts_passes_of_trainings_and_rankings_to_their_end(files):
    """Texts of six words, 460 in all: leave-one-out asks for 7 inputs of each, and for 6 once a word is masked; a
    training learns twice from 300, at three passes each, and looks at 60 twice and at 100 once."""
    study = RoarStudy(files(), ("leave-one-out",), steps(0.2, 0.4), seeds=2)
    heard = told_progress(study)
    training, ranking = 2 * (3 * 300 + 60) + 100, 460 * (7 + 6)
    done = [one[1] for one in heard]
    assert {total for *_, total in heard} == {2 * (6 * training + ranking)}
    assert done == sorted(done) and done[-1] == heard[0][2]
    # From the first batch on; all texts of one length are attributed together.
    assert done[0] < training / 10 and np.diff(done).max() <= 300 * 7
    assert {one[1] for one in told_progress(study)} <= {one[1] for one in heard}


def test_progress_of_a_study_that_ends_early_reaches_its_end(files):
    heard = told_progress(RoarStudy(replace(files(), learning_rate=1e4), ("gradient",), steps(0.5), seeds=2))
    assert heard[-1][1] == heard[-1][2]


def test_finished_trainings_keep_cards_and_masks_and_no_weights(files, tmp_path):
    run_roar(RoarStudy(replace(files(), epochs=1), ("gradient",), steps(0.2, 0.4), seeds=1))
    folders = [path.parent for path in (tmp_path / "models").rglob("card.json")]
    assert len(folders) == 6
    assert [one.name for one in folders if (one / "model.safetensors").exists()] == ["unmasked"]
    assert all(read_card(one).seconds > 0 for one in folders)


def test_a_collapsed_training_is_named_and_left_out(files):
    told = []
    study = RoarStudy(replace(files(), learning_rate=1e4), ("gradient",), steps(0.5), seeds=1)
    cards = run_roar(study, told=told.append)
    curves = curves_of(study, cards)
    assert len(cards) == 1 and cards[0].problem and "unmasked" in told[-1]
    assert np.isnan(curves.performance).all() and np.isnan(curves.racus()["gradient"]).all()


def test_a_folder_of_another_study_is_refused(files):
    study = RoarStudy(replace(files(), epochs=1), ("knows",), steps(0.5), seeds=1)
    run_roar(study)
    with pytest.raises(TrainingError, match="another plan"):
        run_roar(replace(study, unit="token"))


def test_the_command_writes_a_table(files, tmp_path, capsys):
    plan = files()
    asked = (
        f"roar --base bilstm --train {plan.train} --validation {plan.validation} --test {plan.test} --epochs 1".split()
    )
    asked += ["--measures", "gradient", "--ratios", "0.5", "1", "--seeds", "2", "--device", "cpu"]
    out = tmp_path / "found.json"
    assert main([*asked, "--out", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert {line["measure"] for line in found["lines"]} == {"all", "random", "gradient"}
    (last,) = [line for line in found["lines"] if line["racu"] is not None and line["seed"] is None]
    assert last["measure"] == "gradient" and found["recursive"] and found["base"] == "bilstm"
    assert found["variant"] == "absolute"
    assert (tmp_path / "found-models" / "seed-1" / "unmasked" / "card.json").is_file()
    capsys.readouterr()
    assert main([*asked, "--measures", "gradiant", "--out", str(out)]) == 1
    assert "gradient" in capsys.readouterr().err
    for wrong in (["--ratios", "2"], ["--ratios", "0.5", "0.1"], ["--seeds", "0"], ["--features", "0"]):
        assert main([*asked, *wrong, "--out", str(out)]) == 1
    assert json.loads(out.read_text(encoding="utf-8")) == found
