"""Whether retraining agrees: made-up ROAR files, τ-b by hand, every outcome, files that are none, and coverage."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.commands.command_line import main
from core.data.examples import Example
from core.data.stories import TASKS
from core.evaluation.asking import ask
from core.evaluation.sampling import Sample
from core.evaluation.studies.retrained import SHIPPED, STORIES, read_retrained, short_digest
from core.evaluation.studies.retraining import Retraining, compare_rankings, taus_interval
from core.explanation.explainer import Explainer
from core.figures.catalogue import question_figure
from core.figures.figures import REJECTED
from core.mathematics.masking import RATIOS
from core.mathematics.performance import METRICS
from core.mathematics.statistics import Interval
from core.results.asked import AskedOutcome
from core.results.catalogue import answer_result, question_result
from core.results.caveats import Caveat
from core.results.retraining import RetrainingOutcome
from core.storage.store import Store
from core.validity.marks import decide_ratios
from tests import tiny

NAMES = ("leave-one-out", "gradient", "input × gradient")
TEXTS = [
    f"{one} {word}."
    for one in ("The captain", "A good crew", "Nobody", "She")
    for word in ("reads", "walks", "leaves", "paints", "hears", "ties")
]


def roar(place, losses, labels, tested=TEXTS, unmasked=0.9, **more):
    """A ROAR file; losses: of each seed, {measure: accuracy lost at 50 %}, random order loses .1."""
    lines = []
    for seed, one in enumerate(losses):
        rows = [("all", 0.0, unmasked), ("all", 1.0, 0.3), ("random", 0.5, unmasked - 0.1)]
        rows += [(name, 0.5, unmasked - loss) for name, loss in one.items()]
        for name, ratio, performance in rows:
            line = {"measure": name, "ratio": ratio, "features": None, "seed": seed, "performance": performance}
            lines.append(line | {"seconds": 10.0, "problem": None, "racu": None, "low": None, "high": None})
        lines.append({"measure": NAMES[0], "ratio": None, "features": None, "seed": seed, "performance": None})
    about = {"what": "roar", "recursive": True, "variant": "signed", "feature_unit": "word", "metric": "accuracy"}
    about |= {"labels": list(labels), "tested": [short_digest(one, None) for one in tested]}
    place.write_text(json.dumps(about | more | {"lines": lines}), encoding="utf-8")
    return str(place)


def sample_of(model):
    labels = np.arange(len(TEXTS)) % model.C
    examples = tuple(Example(f"e{i}", text, None, model.labels[k]) for i, (text, k) in enumerate(zip(TEXTS, labels)))
    return Sample("made up", "0" * 64, examples, labels)


@pytest.fixture(scope="module")
def asked(tiny_model, tmp_path_factory):
    """`asked(losses)`: question, answers and report of a ROAR file of such losses."""
    model, store = tiny_model("bert"), Store(tmp_path_factory.mktemp("store"))
    folder = tmp_path_factory.mktemp("roar")

    def ask_it(losses, **more):
        question = Retraining(roar(folder / f"{len(list(folder.iterdir()))}.json", losses, model.labels, **more))
        question.check(model)
        answers = ask(Explainer(model, store), sample_of(model), question, store)
        return question, answers, question.conclude(answers)

    return ask_it


def losses(*places):
    """Losses such that measures rank in these places, the first loses the most."""
    return {name: 0.5 - 0.1 * place for name, place in zip(NAMES, places)}


def like(report, sign):
    """Losses that rank as the FMM does, or in reverse, nothing tied."""
    racus = report.racus + np.array([0.0, 1e-9, 2e-9])
    return losses(*(stats.rankdata(-sign * racus) - 1))


def test_racu_and_curves_by_hand(asked):
    question, answers, report = asked([losses(0, 1, 2), losses(0, 1, 2)])
    # Against random order, up to half of the text: ½·.5·(.8 − p) over ½·.5·((.9 − .3) + (.8 − .3)).
    assert report.retrained.racus[0] == pytest.approx([0.4 / 1.1, 0.3 / 1.1, 0.2 / 1.1])
    assert report.retrained.ratios == (0.0, 0.5) and report.retrained.trainings == 12
    assert report.retrained.seconds == 120
    # The FMM at the same ratios, from the rows of the engine.
    for m, study in enumerate(question.studies):
        for k, ratio in enumerate((0.0, 0.5)):
            predicted = answers.found[study].predicted[:, RATIOS.index(ratio)]
            assert report.curves[m, k] == METRICS["accuracy"](answers.sample.labels, predicted)
    assert report.shared == report.n == len(TEXTS) and report.cost.passes > 0
    lines = question.records(answers)
    assert [line["measure"] for line in lines] == [*NAMES] and lines[0]["racu_roar"] == pytest.approx(0.4 / 1.1)
    assert len(question.tables(report)) == 3
    assert len(question_figure("retraining", [report])["data"]) >= 2 * 4


def test_each_outcome(asked):
    def outcome(found, **more):
        question, answers, report = asked(found, **more)
        return answer_result(question, answers, report).outcome

    first = asked([losses(0, 1, 2)])[2]
    known = not np.isnan(first.racus).any() and len({*first.racus.tolist()}) == 3
    assert outcome([losses(0, 1, 2)]) is RetrainingOutcome.UNDECIDED
    assert outcome([losses(0, 1, 2), losses(2, 1, 0)]) is RetrainingOutcome.UNDECIDED
    assert outcome([like(first, 1)] * 3, tested=["another text"]) is RetrainingOutcome.OTHER_TEXTS
    if known:
        assert outcome([like(first, 1)] * 6) is RetrainingOutcome.AGREES
        assert outcome([like(first, -1)] * 6) is RetrainingOutcome.DISAGREES


def test_what_the_interval_says_decides(asked):
    report = asked([losses(0, 1, 2)] * 2)[2]
    for ends, outcome in (
        ((0.1, 0.9), RetrainingOutcome.AGREES),
        ((-0.9, -0.1), RetrainingOutcome.DISAGREES),
        ((0.0, 0.9), RetrainingOutcome.UNDECIDED),
        ((np.nan, np.nan), RetrainingOutcome.UNDECIDED),
    ):
        made = replace(report, tau=Interval(0.5, *ends))
        assert question_result("retraining", made).outcome is outcome
    assert question_result("retraining", replace(report, n=5)).outcome is AskedOutcome.FEW_TEXTS


def test_performance_that_rises_is_class_leakage(asked):
    """Below 1.9 errors of .05 nothing is said; RACU is computed either way."""
    tested = [f"text {i}" for i in range(200)]
    leaks, kept = dict.fromkeys(NAMES, 0.3), dict.fromkeys(NAMES, 0.3)
    question, answers, report = asked([leaks | {"gradient": -0.3}] * 2, tested=tested, unmasked=0.6)
    assert report.retrained.leaking.tolist() == [name == "gradient" for name in NAMES]
    assert Caveat.CLASS_LEAKAGE in question_result("retraining", report).caveats
    assert [line["leaks"] for line in question.records(answers)] == report.retrained.leaking.tolist()
    question, answers, report = asked([kept] * 2, tested=tested)
    assert not report.retrained.leaking.any()
    assert Caveat.CLASS_LEAKAGE not in question_result("retraining", report).caveats


def test_rejected_masked_texts_and_a_model_without_a_reference_are_said(asked):
    report = asked([losses(0, 1, 2)] * 2)[2]
    assert Caveat.NOT_TESTED in question_result("retraining", report).caveats and not report.gates
    for rejected in (True, False):
        gate = decide_ratios(np.array([0.5, 0.001 if rejected else 0.4]), 0.001)
        result = question_result("retraining", replace(report, gates={"random": gate, NAMES[0]: gate}))
        assert result.has(Caveat.OUT_OF_DISTRIBUTION) == rejected and not result.has(Caveat.NOT_TESTED)
        assert result.whose[Caveat.OUT_OF_DISTRIBUTION] == ["random", NAMES[0]] * rejected


def test_the_picture_has_crosses_where_masked_texts_are_rejected(asked):
    """ROAR masked none and half of the text: of eleven ratios the sixth."""
    report = asked([losses(0, 1, 2)] * 2)[2]
    p = np.where(np.arange(len(RATIOS)) == 5, 1e-6, 0.5)
    marked = replace(report, gates={NAMES[1]: decide_ratios(p, 1e-6), NAMES[2]: decide_ratios(p + 0.1, 1e-6)})
    drawn = question_figure("retraining", [marked])["data"]
    crossed = {one["name"]: one["marker"]["symbol"] for one in drawn if "x" in one.get("marker", {}).get("symbol", "")}
    assert crossed == {NAMES[1]: ["circle", "x"], REJECTED: "x"}
    assert not any(one["name"] == REJECTED for one in question_figure("retraining", [report])["data"] if "name" in one)


def test_what_ships_leaks_by_most_measures_and_not_by_attention():
    for name in SHIPPED:
        found = read_retrained(name)
        leaking = {one for one, leaks in zip(found.names[1:], found.leaking) if leaks}
        assert {"integrated gradients", "leave-one-out"} <= leaking and "attention" not in leaking


def test_tau_by_hand():
    fmm = np.array([0.5, 0.3, 0.1, 0.2])
    seeds = np.array([[4.0, 3.0, 1.0, 2.0], [3.0, 4.0, 1.0, 2.0], [1.0, 2.0, 4.0, 3.0]])
    ranked, taus = compare_rankings(seeds, fmm)
    assert ranked == [0, 1, 2, 3] and taus == pytest.approx([1.0, 4 / 6, -1.0])
    # One of six pairs the other way.
    found = taus_interval(taus[:2], 4)
    mean, se = 5 / 6, (1 / 3) / 2
    assert found.mean == pytest.approx(mean) and found.high == 1.0
    assert found.low == pytest.approx(max(-1.0, mean - stats.t.ppf(0.975, 1) * se))
    # Seeds that agree leave room for one pair in one of them.
    same = taus_interval(np.ones(3), 4)
    assert same.low == pytest.approx(1 - stats.t.ppf(0.975, 2) * (1 / 3) / 3)
    assert not taus_interval(np.ones(1), 4).known and np.isnan(taus_interval(np.array([]), 4).mean)


def test_a_measure_or_seed_that_lacks_a_training_is_left_out():
    fmm, nothing = np.array([0.4, 0.3, 0.2, 0.1]), [np.nan] * 4
    ranked, taus = compare_rankings(np.array([[4.0, 3.0, 2.0, np.nan], [4.0, 2.0, 3.0, 1.0], nothing]), fmm)
    assert ranked == [0, 1, 2] and taus == pytest.approx([1.0, 1 / 3])
    assert not len(compare_rankings(np.array([[4.0, 3.0, np.nan, np.nan]]), fmm)[1])
    assert not len(compare_rankings(np.array([nothing]), fmm)[1])


@pytest.mark.simulation
@pytest.mark.parametrize("seeds", [3, 5])
@pytest.mark.parametrize("noise", [0.02, 0.3, 1.0, 3.0])
def test_how_often_the_interval_holds_the_mean_tau(seeds, noise):
    """Rankings of five measures whose RACU has normal noise over seeds: held at least 95 %, within three errors."""
    rng, fmm = np.random.default_rng(seeds), np.array([0.0, 2.0, 1.0, 3.0, 4.0])
    first, second = np.triu_indices(5, 1)

    def taus_of(count):
        racus = np.arange(5.0) + noise * rng.standard_normal((count, 5))
        return np.sign((racus[:, first] - racus[:, second]) * (fmm[first] - fmm[second])).mean(axis=1)

    expected = taus_of(100_000).mean()
    spans = [taus_interval(one, 5) for one in taus_of(1_000 * seeds).reshape(1_000, seeds)]
    held = np.mean([one.low <= expected <= one.high for one in spans])
    assert held >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 1_000), held


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"lines": []}', '{"lines": [{"seed": 0}]}', "[" * 5000, '{"lines": 3, "metric": "accuracy"}'],
)
def test_a_file_that_is_none_is_a_sentence(content, tmp_path):
    place = tmp_path / "roar.json"
    place.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"roar.json.*python -m core roar"):
        Retraining(str(place)).check()
    with pytest.raises(ValueError, match="python -m core roar"):
        Retraining(str(tmp_path / "nothing.json")).check()
    with pytest.raises(ValueError, match="python -m core roar"):
        Retraining(str(tmp_path)).check()


def test_a_study_that_does_not_compare_is_a_sentence(tiny_model, tmp_path):
    model, found = tiny_model("bert"), [losses(0, 1, 2)]
    for more in ({"metric": "applause"}, {"feature_unit": "verse"}, {"variant": "loud"}):
        with pytest.raises(ValueError):
            Retraining(roar(tmp_path / "a.json", found, model.labels, **more)).check()
    with pytest.raises(ValueError, match="classes"):
        Retraining(roar(tmp_path / "b.json", found, ["up", "down"])).check(model)
    with pytest.raises(ValueError, match="measure"):
        Retraining(roar(tmp_path / "c.json", [{"divination": 0.1, **losses(0, 1, 2)}], model.labels)).check()


def test_the_command_says_the_same(tiny_root, tiny_model, tmp_path, capsys):
    folder, model = tiny.folder("bert", tiny_root), tiny_model("bert")
    data, out = tmp_path / "texts.jsonl", tmp_path / "out.json"
    rows = [{"text": one.text, "label": one.label} for one in sample_of(model).examples]
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    file = roar(tmp_path / "roar.json", [losses(0, 1, 2)] * 3, model.labels)
    asked = ["evaluate", "--model", str(folder), "--data", str(data), "--what", "retraining"]
    assert main([*asked, "--roar", file, "--out", str(out)]) == 0
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["outcome"] in {one.value for one in RetrainingOutcome} and len(told["examples"]) == 3
    assert main([*asked, "--roar", str(data), "--out", str(tmp_path / "other.json")]) == 1
    assert "python -m core roar" in capsys.readouterr().err
    assert not (tmp_path / "other.json").exists()


def test_what_roar_writes_is_read(tmp_path):
    """The columns of `python -m core roar` are those that are read."""
    from core.roar.tables import COLUMNS

    assert {"measure", "ratio", "features", "seed", "performance", "seconds", "problem"} <= {*COLUMNS}
    found = read_retrained(roar(tmp_path / "a.json", [losses(0, 1, 2)], ["a", "b"]))
    assert found.performance.shape == (1, 4, 2) and found.floor == [0.3]


@pytest.mark.parametrize("name", SHIPPED)
def test_racu_is_what_the_command_wrote(name):
    """Up to the same last step, of a study that masks everything there, too."""
    written = json.loads(SHIPPED[name].read_text(encoding="utf-8"))["lines"]
    of_seeds = [line for line in written if line["racu"] is not None and line["seed"] is not None]
    found = read_retrained(name)
    for s, seed in enumerate(found.seeds):
        of_seed = {line["measure"]: line["racu"] for line in of_seeds if line["seed"] == seed}
        assert found.racus[s] == pytest.approx([of_seed[measure] for measure in found.names[1:]], abs=1e-12)
    assert found.ratios[-1] == 1.0 and (found.performance[..., -1] == found.floor[:, None]).all()


def test_unasked_the_study_is_the_one_that_ships_of_the_data():
    assert [Retraining.asked({"data": f"stories {task}"}).roar for task in TASKS] == [*SHIPPED]
    assert Retraining.asked({"data": "reviews"}) == Retraining.asked({}) == Retraining(STORIES)
    assert Retraining.asked({"data": "stories 2", "roar": "own.json"}) == Retraining("own.json")
