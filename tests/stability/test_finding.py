"""Stability of measures that are planted on models that are tables, of a linear model, and of models to which white
space matters.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from core.explanation.explainer import Explainer
from core.mathematics.stepwise import finish
from core.measures.catalogue import is_measure, measure, measures
from core.measures.registry import NotApplicable
from core.network.scheduler import Cancelled, NonFinite
from core.oracle.inside import Inside
from core.results.caveats import Caveat
from core.results.stability import StabilityOutcome, stability_result
from core.stability import finding
from core.stability.changes import BATCH, CHANGES, HALF, SPACES, NoReading, Reading, attribute_anew
from core.stability.finding import STEPS, NoStability, counts_of, find_stability, stability_cost, stored_stability
from core.stability.moving import Moved
from core.stability.telling import (
    EQUAL,
    MOVES,
    NOT_SHOWN,
    Stability,
    as_records,
    front_cells,
    path_cells,
    stability_lines,
    unstable_text,
)
from core.storage.store import Store
from core.wording import number
from tests.verdicts.table_explainer import TableExplainer

TEXT = "The captain's boat reads the wind, not the calendar or the clock"
NAMES = list(measures())


def table(scores, F: int = 4) -> TableExplainer:
    """A model that is a table; scores: {measure: function of (masked, seed)}."""
    explainer = TableExplainer(np.linspace(0.9, 0.1, 2**F), scores)
    explainer.model.module = SimpleNamespace(config=SimpleNamespace(model_type="bert"))
    return explainer


@pytest.fixture
def unchanged(monkeypatch):
    """A table has neither spaces nor batches."""
    monkeypatch.setattr(finding, "CHANGES", {})


def of(explainer, name: str, sign: str = "signed", runs: int = 5, target=1) -> Stability:
    return Stability(finish(find_stability(explainer, explainer.encoded, name, target, runs)), explainer.encoded, sign)


def test_a_planted_random_measure_agrees_as_often_as_it_was_drawn_to(unchanged):
    """By seed: words 0, 0, 1, 0, 2, so that 3 of 10 pairs agree."""
    tops = [0, 0, 1, 0, 2]

    def drawn(masked, seed):
        scores = np.array([0.3, 0.2, 0.1, 0.0]) / 4
        scores[tops[seed]] = 1.0 + seed
        return {"random": scores}

    shaky = of(table({"random": drawn}), "random")
    assert shaky.agrees == pytest.approx(0.3) and shaky.runs.asked == 5 and shaky.unstable
    assert shaky.cells()[1].startswith("0.3 (all 10 ") and shaky.cells()[2] == "—"
    mean, sd = shaky.spread
    column = [1.0, 2.0, 0.3 / 4, 4.0, 0.3 / 4]
    assert mean[0] == pytest.approx(np.mean(column)) and sd[0] == pytest.approx(np.std(column, ddof=1))
    assert stability_result([shaky]).outcome == StabilityOutcome.UNSTABLE
    assert stability_result([shaky]).has(Caveat.UNSTABLE) and stability_result([shaky]).fact("unstable").value == 1
    assert front_cells(shaky) == [["random", f"“w{i}”", f"{n} of 5"] for i, n in ((0, 3), (1, 1), (2, 1))]
    # One of five that dissents is no proof.
    tops[:] = [0, 0, 1, 0, 0]
    one = of(table({"random": drawn}), "random")
    assert one.agrees == pytest.approx(0.6) and not one.unstable and unstable_text(one) == ""
    assert stability_result([one]).outcome == StabilityOutcome.TOO_FEW_RUNS and one.dissent == 1
    assert stability_result([one, shaky]).slots["measures"] == ["random"] and not stability_result([one]).caveats
    assert [fact.value for fact in stability_result([one, shaky]).facts] == [1, 1]
    # Drawn more often, the same chance stands on more pairs.
    tops[:] = [0, 0, 1, 0, 2] * 2
    assert of(table({"random": drawn}), "random", runs=10).agrees == pytest.approx((15 + 1 + 1) / 45)


def test_a_measure_that_does_not_draw_is_run_once_and_one_that_names_one_word_agrees_always(unchanged):
    asked = []

    def fixed(masked, seed):
        asked.append(seed)
        return {"signed": [0.1, 0.4, 0.2, 0.0], "absolute": [0.1, 0.4, 0.2, 0.0], "random": [0, 1, 0, 0]}

    explainer = table({"leave-one-out": fixed, "random": fixed})
    once = of(explainer, "leave-one-out")
    assert asked == [0] and np.isnan(once.agrees) and not once.unstable and once.cells()[1] == "—"
    firm = of(explainer, "random")
    assert asked == [0, 0, 1, 2, 3, 4] and firm.agrees == 1.0 and unstable_text(firm) == ""
    assert stability_result([once, firm]).outcome == StabilityOutcome.NOT_SHOWN and front_cells(once) == []
    going = Stability(replace(firm.runs, complete=False), explainer.encoded, "signed")
    told = stability_result([once, going])
    assert told.outcome == StabilityOutcome.RUNNING and told.caveats == (Caveat.PARTIAL,) and told.slots["count"] == 2


def test_a_ladder_is_walked_by_seed_0_and_its_end_is_drawn_anew(unchanged, monkeypatch):
    """LIME of four words has 16 sets: 2, 4, 8 and all of them; it settles where its order is that of the end."""
    named = []

    def samples(count):
        def scores(masked, seed):
            named.append((count, seed))
            order = [3.0, 2, 1, 0] if count > 2 else [0.0, 1, 2, 3]
            return {"signed": order, "absolute": order}

        return scores

    asked = {"LIME": samples(16)} | {f"LIME [samples={count}]": samples(count) for count in (2, 4, 8)}
    found = of(table(asked), "LIME")
    assert counts_of("LIME", 4) == (2, 4, 8, 16) == found.runs.counts
    assert named == [(16, seed) for seed in range(5)] + [(2, 0), (4, 0), (8, 0), (16, 0), (16, 1)]
    assert found.taus == pytest.approx((-1, 1, 1, 1)) and found.settled == 4 and found.cells()[2] == "4 samples"
    ends = [line[3:] for line in stability_lines(found) if line[2] == "samples at which it settles"]
    assert ends == [[None, None, None, 4, None, ""]]


def test_what_is_asked_for_stays_where_samples_are_chosen():
    assert measure("LIME [samples=50]", samples=100).name == "LIME [samples=100]"
    name = measure("integrated gradients [baseline=mask]", steps=50).name
    assert name == "integrated gradients [steps=50, baseline=mask]" and is_measure(name)
    # Twenty draws by itself; of F words at most 2^F sets.
    assert counts_of("SmoothGrad", 9) == (5, 10, 20, 40, 80)
    assert counts_of("LIME", 9) == (25, 50, 100, 200, 400, 512)
    assert counts_of("gradient", 9) == ()


def test_nothing_to_rank_and_a_wrong_number_of_runs_are_sentences():
    explainer = table({})
    with pytest.raises(ValueError, match="100"):
        of(explainer, "random", runs=1)
    explainer.encoded.premasked = np.array([True, True, True, False])
    with pytest.raises(NoStability, match="two unmasked words"):
        of(explainer, "random")
    assert stability_cost(explainer, explainer.encoded, "random").passes == 0


# Paths


def test_the_path_of_a_linear_model_is_complete_at_any_number_of_steps(tiny_model):
    """f(e) = w · e + b: the gradient is w everywhere, so that each sum is w · (e − baseline)."""
    model = tiny_model("bert")
    encoded = model.encode("the ferry left")
    weights = torch.linspace(-1, 1, encoded.T * model.embedding_width).reshape(encoded.T, -1)

    class Linear(Inside):
        def logit(self, embeddings):
            return (embeddings * weights).sum(dim=(1, 2)) + 3

    named = measure("integrated gradients [baseline=mask]")
    explained = SimpleNamespace(network=Linear(model, encoded, encoded.premasked, 1))
    for steps in STEPS:
        total, due = named.path(explained, steps)
        assert total == pytest.approx(due, rel=1e-5) and abs(due) > 0.1


def test_more_steps_come_nearer_to_what_is_due(tiny_model):
    explainer = Explainer(tiny_model("bert"))
    explainer.encoded = explainer.encode(TEXT, None, "word")
    found = of(explainer, "integrated gradients")
    embeddings = explainer.model.embed(explainer.encoded.ids[None]).detach()
    ends = torch.cat([embeddings, torch.zeros_like(embeddings)])
    whole, empty = explainer.model.differentiable(ends, explainer.encoded.type_ids)[0][:, 1].tolist()
    assert found.runs.due == pytest.approx(whole - empty, rel=1e-4) and found.runs.steps == STEPS
    assert found.errors[-1] < found.errors[0] and found.errors[-1] < 0.02
    assert path_cells(found)[-1][0] == "100" and path_cells(found)[-1][2] == number(whole - empty)
    assert of(explainer, "gradient").runs.steps == ()


# Changes that should not matter


def test_white_space_is_nothing_to_a_tokenizer_of_words_and_something_to_one_of_bytes(tiny_model):
    words, pieces = Explainer(tiny_model("bert")), Explainer(tiny_model("roberta"))
    for explainer in (words, pieces):
        explainer.encoded = explainer.encode(TEXT, None, "word")
    read = [CHANGES[SPACES].read(one, one.encoded) for one in (words, pieces)]
    assert read[0].same and not read[1].same and "  boat  " in read[1].encoded.text
    # Nothing of it is computed where the network reads the same.
    passes = words.model.scheduler.counters.passes
    assert of(words, "attention").moves[SPACES] == Moved(pytest.approx(1), True, True)
    assert words.model.scheduler.counters.passes == passes
    moves = of(pieces, "leave-one-out").moves[SPACES]
    assert not moves.equal and moves.tau < 1
    # The very numbers of the other text.
    other = pieces.attribute(read[1].encoded, "leave-one-out", 1).scores["signed"]
    here = finish(find_stability(pieces, pieces.encoded, "leave-one-out", 1)).changed[SPACES]["signed"]
    np.testing.assert_allclose(here, other, atol=1e-5)


def test_a_text_without_spaces_and_one_that_is_read_otherwise_are_sentences(tiny_model):
    explainer = Explainer(tiny_model("roberta"))
    long = explainer.encode("the wind " * 40, None, "word")
    assert long.truncation.cut
    for encoded, said in ((explainer.encode("it's,wind!", None, "word"), "No space in"), (long, "reads other words")):
        with pytest.raises(NoReading, match=said):
            CHANGES[SPACES].read(explainer, encoded)


@pytest.mark.parametrize("kind", ["bert", "gpt2", "deberta"])
def test_half_precision_and_another_batch_are_near_and_never_far(tiny_model, kind):
    explainer = Explainer(tiny_model(kind))
    encoded = explainer.encode(TEXT, None, "word")
    readings = {change: CHANGES[change].read(explainer, encoded) for change in (HALF, BATCH)}
    assert readings[HALF].model.precision == "bfloat16"
    # That one is rounding alone where a family normalises its word embeddings.
    products = ["input × gradient"] * (kind != "deberta")
    for name in ("leave-one-out", "gradient", *products, "attention", "DeepLift", "LIME", "random"):
        whole = explainer.attribute(encoded, name, 1).scores
        for change, reading in readings.items():
            example = int(encoded.digest[:8], 16)
            if name == "random" and change == BATCH:
                with pytest.raises(NoReading, match="No batches"):
                    attribute_anew(explainer, reading, measure(name), 1, example)
                continue
            found = attribute_anew(explainer, reading, measure(name), 1, example)
            for variant, scores in whole.items():
                largest = max(float(np.abs(scores).max()), 1e-3)
                np.testing.assert_allclose(found[variant], scores, atol=(0.35 if change == HALF else 1e-3) * largest)


def test_a_model_in_half_precision_has_no_half_and_a_device_may_have_none(tiny_model, monkeypatch):
    explainer = Explainer(tiny_model("bert"))
    encoded = explainer.encode(TEXT, None, "word")
    monkeypatch.setattr("core.stability.changes.half_speed", lambda device: 0.0)
    with pytest.raises(NoReading, match="lacks bfloat16"):
        CHANGES[HALF].read(explainer, encoded)
    monkeypatch.setattr(explainer.model, "precision", "bfloat16")
    with pytest.raises(NoReading, match="Already in half precision"):
        CHANGES[HALF].read(explainer, encoded)


def test_a_top_word_that_moves_is_unstable_and_equal_scores_are_said_to_be(unchanged, monkeypatch):
    explainer = table({"gradient": lambda masked, seed: {"L2": [3, 2, 1, 0], "L1": [3, 2, 1, 0]}})
    told = {SPACES: {"L2": [2, 3, 1, 0], "L1": [3, 2, 1, 0]}, HALF: "It cannot."}
    planted = {
        name: SimpleNamespace(read=lambda *_, name=name: told[name] if name == HALF else name, passes=1)
        for name in told
    }
    monkeypatch.setattr(finding, "CHANGES", planted)
    monkeypatch.setattr(
        finding._Asking,
        "changed",
        lambda self, name, whole: (
            told[name] if name == HALF else {k: np.array(v, float) for k, v in told[name].items()}
        ),
    )
    runs = finish(find_stability(explainer, explainer.encoded, "gradient", 1))
    found = Stability(runs, explainer.encoded, "signed")
    assert found.moves == {SPACES: Moved(pytest.approx(2 / 3), False, False), HALF: "It cannot."}
    assert found.cells()[3:5] == [f"τ-b 0.667, {MOVES}", "— (It cannot)"]
    assert found.movers == [SPACES] and SPACES in unstable_text(found)
    monkeypatch.setattr("core.stability.telling.choose_variant", lambda measure, sign: "L1")
    same = Stability(runs, explainer.encoded, "signed")
    assert same.cells()[3] == EQUAL and not same.unstable
    assert [line[-1] for line in as_plain_lines(same)][-1] == NOT_SHOWN


def as_plain_lines(found: Stability) -> list[list]:
    return [list(line.values()) for line in as_records([found])["stability"]]


# The store


@pytest.mark.parametrize("name", ["leave-one-out", "KernelSHAP", "integrated gradients", "DecompX"])
def test_what_is_kept_says_the_same_and_asks_nothing(tiny_model, tmp_path, name):
    explainer = Explainer(tiny_model("bert"), Store(tmp_path))
    encoded = explainer.encoded = explainer.encode("The ferry leaves the [MASK] harbour", None, "word")
    assert stored_stability(explainer, encoded, name, 1) is None
    parts = list(find_stability(explainer, encoded, name, 1))
    assert not any(part.complete for part in parts) and all(
        Stability(part, encoded, "absolute").cells() for part in parts
    )
    found = of(explainer, name)
    again = Explainer(explainer.model, Store(tmp_path))
    before = explainer.model.scheduler.counters.passes
    kept = stored_stability(again, encoded, name, 1)
    for sign in ("signed", "absolute"):
        one, other = Stability(kept, encoded, sign), Stability(found.runs, encoded, sign)
        assert stability_lines(one) == stability_lines(other) and len(one.drawn[0]) == 5
    assert explainer.model.scheduler.counters.passes == before
    assert stored_stability(again, encoded, name, 1, runs=7) is None or not measure(name).seeded


def test_a_measure_that_gives_nan_is_a_sentence(unchanged):
    explainer = table({"gradient": lambda masked, seed: {"L2": [1, np.nan, 0, 0], "L1": [1, 0, 0, 0]}})
    with pytest.raises(NonFinite, match="NaN"):
        of(explainer, "gradient")


def test_stopped_half_way_what_was_drawn_is_known(tiny_model, tmp_path):
    model = tiny_model("bert")
    explainer = Explainer(model, Store(tmp_path))
    encoded = explainer.encode(TEXT, None, "word")
    parts, known = [], lambda seed: explainer.stored(encoded, "SmoothGrad [draws=2]", 1, seed=seed) is not None
    with pytest.raises(Cancelled):
        for part in find_stability(explainer, encoded, "SmoothGrad [draws=2]", 1, cancelled=lambda: known(2)):
            parts = [*parts, len(part.drawn["L2"])]
    assert parts == [1, 2, 3]
    assert [known(seed) for seed in range(4)] == [True, True, True, False]


@pytest.mark.parametrize("name", NAMES)
def test_every_registered_measure_has_its_cost_and_an_answer_or_a_sentence(tiny_model, name):
    explainer = Explainer(tiny_model("distilbert"))
    encoded = explainer.encoded = explainer.encode("the wind reads well", None, "word")
    cost = stability_cost(explainer, encoded, name)
    told = []
    try:
        found = finish(find_stability(explainer, encoded, name, 1, runs=2, progress=lambda *one: told.append(one)))
    except NotApplicable as error:
        assert str(error).endswith(".") or "python -m core" in str(error)
        return
    report = Stability(found, encoded, "signed")
    assert found.complete and set(report.moves) == set(CHANGES) and len(report.cells()) == 3 + len(CHANGES)
    # Cost counts the default number of runs.
    assert all(done <= total <= cost.passes for done, total in told) and told[-1][0] <= told[-1][1]


def test_readings_are_told_apart_by_what_the_network_reads(tiny_model):
    explainer = Explainer(tiny_model("modernbert"))
    encoded = explainer.encode("the wind, read well", "a second text", "word")
    read = CHANGES[SPACES].read(explainer, encoded)
    assert isinstance(read, Reading) and not read.same and read.encoded.second == "a  second  text"
