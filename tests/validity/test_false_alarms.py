"""How often the calibrated test rejects what it should not: simulated, on synthetic states and on stories.

Small sizes, each with its tolerance: a share is at most what is promised but for one chance in a thousand.
"""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy import stats

from core.data.parsed import BadData
from core.data.stories import stories
from core.data.tables import LabelledTexts
from core.judging.metric_table import gate_together
from core.mathematics.statistics import rejected_count_p
from core.validity.fitting import TOLERANCE, Drawing, Observed, fit, observe, parts_of, rejections
from core.validity.masf import Combine, fit_calibrated, p_values
from core.validity.simulating import pooled, readable_simulation, simulate
from tests import tiny

pytestmark = pytest.mark.simulation
REPETITIONS, TEXTS, SAMPLES = 300, 200, (20, 40, 50, 100, 200)
LAYERS, WIDTH, RANKED = 3, 10, 90


def drawn_texts(rng, N: int) -> Observed:
    """Made-up states of N texts: what a text is shows in every input of it, and what is masked takes it away."""
    text, noise = (rng.standard_normal((N, k, LAYERS, WIDTH)) for k in (1, 13))
    share = np.append(np.arange(11) / 10, rng.random(2))[None, :, None, None]
    states = ((1 - share) * text + 3 * share + 0.3 * noise).astype(np.float32)
    places = np.arange(13 * N).reshape(N, 13)
    return Observed(states.reshape(-1, LAYERS, WIDTH), places[:, [0, 0, 11, 12]], places[:, :11], np.full(N, 5))


@pytest.fixture(scope="module")
def simulated() -> np.ndarray:
    """Of new references of 200 texts each: which of 200 other texts are rejected at each ratio, bool[·, 200, 11]."""
    rng = np.random.default_rng(0)
    return np.stack(
        [
            rejections({"calibrated": fit(drawn_texts(rng, TEXTS), Drawing())["calibrated"]}, drawn_texts(rng, 200))[
                "calibrated"
            ]
            for _ in range(REPETITIONS)
        ]
    )


def test_one_text_is_rejected_in_at_most_5_percent_of_references_at_every_ratio(simulated):
    # 90 texts on the last level: p below 5 % for four of 91 ranks.
    for ratio in range(11):
        rejected = int(simulated[:, 0, ratio].sum())
        assert stats.binomtest(rejected, REPETITIONS, 0.05, alternative="greater").pvalue > 1e-3
    # Equal statistics make it a little rarer.
    assert 0.03 < simulated.mean() < 4 / 91 + 0.005, "it does reject about as often as it says"


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_is_rejected_by_count_in_at_most_5_percent_of_references(simulated, sample):
    """At one ratio each, and at all of them in turn: the same rule for mixed ratios."""
    ratio = np.arange(REPETITIONS) % 11
    at_one = simulated[np.arange(REPETITIONS), :sample, ratio].sum(axis=1)
    mixed = simulated[:, np.arange(sample), np.arange(sample) % 11].sum(axis=1)
    for rejected in (at_one, mixed):
        alarms = int((rejected_count_p(rejected, sample, RANKED) < 0.05).sum())
        assert stats.binomtest(alarms, REPETITIONS, 0.05, alternative="greater").pvalue > 1e-3


def test_how_many_are_rejected_spreads_as_beta_binomial_and_not_as_binomial(simulated):
    """All 200 meet the same reference. A binomial count would be beyond its own 95 % quantile far too often."""
    ratio = np.arange(REPETITIONS) % 11
    counts = simulated[np.arange(REPETITIONS), :, ratio].sum(axis=1)
    assert (counts > stats.binom(200, 4 / 91).ppf(0.95)).mean() > 0.1
    assert counts.var() == pytest.approx(stats.betabinom(200, 4, 87).var(), rel=0.35)


def test_random_attributions_are_rejected_together_on_at_most_5_percent_of_texts():
    """30 of a text, each masked at 1 to 9 tenths: 270 inputs share their text, and one test of Simes is of all."""
    rng, alarms, ratio = np.random.default_rng(2), np.zeros(2, dtype=int), np.tile(np.arange(1, 10), 30)
    for _ in range(REPETITIONS // 3):
        form = fit(drawn_texts(rng, TEXTS), Drawing())["calibrated"]
        text, noise = rng.standard_normal((1, LAYERS, WIDTH)), rng.standard_normal((270, LAYERS, WIDTH))
        share = ratio[:, None, None] / 10
        states = ((1 - share) * text + 3 * share + 0.3 * noise).astype(np.float32)
        for far in (0, 1):
            p = p_values({"calibrated": form}, states + np.float32(8 * far))["calibrated"].at(ratio)
            alarms[far] += gate_together({"calibrated": p}, form.floor).rejected.any()
    assert stats.binomtest(alarms[0], REPETITIONS // 3, 0.05, alternative="greater").pvalue > 1e-3
    # It does reject inputs that are like none.
    assert alarms[1] > 0.9 * REPETITIONS // 3


def test_stories_are_rejected_as_seldom_as_promised(shipped):
    """Random splits of 200 stories: 120 to fit, 80 to try. Tolerance: 3 points on the mean of 20 splits."""
    told = list(islice(stories(1, 5), 200))
    texts, seconds = [story.text for story in told], [str(story.question) for story in told]
    data = LabelledTexts(texts, seconds, np.zeros(200, dtype=np.int64), (), "stories", "0" * 64)
    every, shares = observe(shipped("stories-1-fmm"), data, Drawing(maskings=1)), []
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(200)
        forms = fit(every.of(order[:120]), Drawing(maskings=1, seed=seed))
        shares.append(rejections(forms, every.of(order[120:]))["calibrated"].mean(axis=0))
    mean = np.mean(shares, axis=0)
    assert mean.max() < 0.08 and mean[:-1].min() > 0.01


@pytest.mark.parametrize("training", ["half", "none"])
def test_a_simulation_ranks_each_draw_as_a_reference_of_it_would(training, monkeypatch):
    """One draw of one split, and the same reference fitted by itself."""
    every, drawing = drawn_texts(np.random.default_rng(4), 60), Drawing(training)
    monkeypatch.setattr("core.validity.simulating.DRAWN", 1)
    found = simulate(every, drawing, 40, 1)
    rng = np.random.default_rng([drawing.seed, 11, 0])
    order, part = rng.permutation(60), parts_of(40, 0)
    first, second = (order[:40][part == k] for k in (0, 1))
    rest = np.append(order[:40][part == 2], order[40:])
    rest = rest[rng.permutation(len(rest))]
    last, tried = np.split(rest, [int((part == 2).sum())])
    states = [every.states[every.drawn[one].ravel()] for one in (first, second)]
    third = every.states[every.by_ratio[last, : len(drawing.ratios)].T]
    form = fit_calibrated(*states, third, tolerance=TOLERANCE)
    rejected = rejections({"calibrated": form}, every.of(tried))["calibrated"]
    np.testing.assert_allclose(found.single[0], rejected.mean(axis=0))


def test_the_count_rule_rejects_at_most_5_percent_of_samples_whatever_the_texts():
    """Of 200 texts against 90, over 60 splits: samples of one reference alone would spread too far to say so."""
    found = simulate(drawn_texts(np.random.default_rng(6), 400), Drawing(), TEXTS, 60).samples[200]
    error = found.std(axis=0, ddof=1) / np.sqrt(60)
    assert error.max() < 0.01 and (found.mean(axis=0) < 0.05 + 3 * error).all() and found.mean() > 0.02


def test_a_simulation_counts_what_references_of_random_splits_reject(tmp_path):
    """Made-up texts, 100 of 160 to a reference."""
    every = drawn_texts(np.random.default_rng(1), 160)
    found = simulate(every, Drawing(), 100, 6)
    single, samples = found.single, found.samples
    assert single.shape == (6, 11) and 0.01 < single.mean() < 0.09 and list(samples) == [20, 40, 50]
    assert all(shares.shape == (6, 12) and 0 <= shares.min() and shares.max() <= 1 for shares in samples.values())
    again = simulate(every, Drawing(), 100, 6)
    np.testing.assert_array_equal(single, again.single)
    said = readable_simulation(found)
    assert "6 random splits" in said and f"{100 * single[:, 3].mean():.1f}" in said and "50 texts" in said
    with pytest.raises(ValueError, match="leaves none to try"):
        simulate(every, Drawing(), 160, 1)
    with pytest.raises(ValueError, match="at least 4 texts"):
        simulate(every, Drawing(), 3, 1)


@pytest.mark.parametrize("training", ["half", "none"])
def test_states_of_a_simulation_are_kept_and_a_plain_model_is_tried_at_all_ratios(tmp_path, tiny_model, training):
    model, drawing = tiny_model("bert"), Drawing(training)
    sentences = list(tiny.SENTENCES[:9])
    data = LabelledTexts(sentences, None, np.zeros(9, dtype=np.int64), (), "texts.jsonl", "0" * 64)
    kept = tmp_path / "states.safetensors"
    first = pooled(model, [data, data], drawing, kept)
    before = model.scheduler.counters.passes
    again = pooled(model, [data, data], drawing, kept)
    assert model.scheduler.counters.passes == before and first.by_ratio.shape == (18, 11)
    assert first.drawn.shape == (18, 1 if training == "none" else 4)
    for part in ("states", "drawn", "by_ratio", "tokens"):
        np.testing.assert_array_equal(getattr(first, part), getattr(again, part))
    np.testing.assert_allclose(first.states[first.by_ratio[3]], first.states[first.by_ratio[12]], atol=1e-5)
    assert simulate(first, drawing, 12, 1).single.shape == (1, 11)


def test_states_that_are_kept_are_read_only_for_what_they_are_of(tmp_path, tiny_model):
    model, drawing, kept = tiny_model("bert"), Drawing(), tmp_path / "states.safetensors"
    data = LabelledTexts(list(tiny.SENTENCES[:5]), None, np.zeros(5, dtype=np.int64), (), "texts.jsonl", "0" * 64)
    first = pooled(model, [data], drawing, kept)
    before = model.scheduler.counters.passes
    for other in (
        (replace(model, digest="1" * 64), [data], drawing),
        (replace(model, precision="bfloat16"), [data], drawing),
        (model, [replace(data, texts=list(tiny.SENTENCES[1:6]))], drawing),
        (model, [replace(data, seconds=list(tiny.SENTENCES[1:6]))], drawing),
        (model, [data, data], drawing),
        *(
            (model, [data], Drawing(**one))
            for one in ({"training": "none"}, {"training": "mask"}, {"maskings": 3}, {"seed": 1}, {"pooling": "mean"})
        ),
    ):
        with pytest.raises(BadData, match="holds states of another"):
            pooled(*other, kept)
    # How p-values are combined changes no state.
    again = pooled(model, [data], replace(drawing, combine=Combine("fisher", "simes"), compact=True), kept)
    assert model.scheduler.counters.passes == before and np.array_equal(first.states, again.states)
    kept.write_bytes(b"no states")
    with pytest.raises(BadData, match="no safetensors file"):
        pooled(model, [data], drawing, kept)
