"""How far a study is, within an example too: by hand, and over a real one whose clock is made up."""

import pytest

from core.data.examples import Example, read_bundled
from core.evaluation.asking import run_study
from core.evaluation.engine import Meter
from core.evaluation.sampling import without_labels
from core.evaluation.studies.limits_of_texts import LimitsOfTexts
from core.evaluation.studies.model_check import Curve
from core.explanation.explainer import Explainer
from core.job import Job
from core.mathematics.stepwise import finish


class Counted:
    """Passes that were made, as the scheduler counts them."""

    passes = 500


def test_how_far_it_is_goes_by_what_each_example_takes_and_never_back():
    counters, told = Counted(), []
    meter = Meter(lambda: False)
    # Of four examples one is known; the others claim 9, 0 and 29 passes at most: of 41, with one for each.
    meter.tell(told.append, 1, [9, 0, 29], counters)
    # Of the three that are left the weights are 3 · 10 / 41, 3 · 1 / 41 and 3 · 30 / 41.
    with meter.example():
        for _ in range(3):
            counters.passes += 2
            assert not meter.cancelled()
    with meter.example():
        pass
    with meter.example():
        for _ in range(5):
            counters.passes += 5
            meter.cancelled()
    first, third = 30 / 41, 90 / 41
    # 6 of 9 passes were made, so 29 that are claimed are 19⅓.
    part = [1 + first * share for share in (2 / 9, 4 / 9, 6 / 9)]
    rest = [1 + 33 / 41 + third * min(0.95, 5 * k / (29 * 6 / 9)) for k in range(1, 6)]
    assert told == pytest.approx([1, *part, 1 + first, 1 + 33 / 41, *rest, 4])
    assert told == sorted(told) and told[-1] == pytest.approx(4)


def test_what_stops_in_the_middle_of_an_example_has_not_done_it():
    told = []
    meter = Meter(lambda: True)
    meter.tell(told.append, 1, [9, 29], Counted())
    with pytest.raises(ZeroDivisionError), meter.example():
        assert meter.cancelled()
        raise ZeroDivisionError
    assert told == [1, 1]


def test_a_study_tells_before_each_batch_and_its_job_moves(tiny_model):
    """One example of many steps moves its progress many times before it is done."""
    job, far = Job("key", "study"), []
    sample = without_labels("some", "0" * 64, read_bundled("reviews")[:2])

    def within(share):
        job.within(share)
        far.append(job.share)

    study = run_study(Explainer(tiny_model("bert")), sample, Curve("leave-one-out"), progress=job.report, within=within)
    next(study)
    assert job.done == 0 and len(far) > 5 and far == sorted(far) and 0 < far[-1] < 1
    list(study)
    assert (job.done, job.total, job.share) == (2, 2, 1.0)


def test_a_run_claims_what_each_example_takes_and_nothing_where_nothing_can_be_masked(tiny_model):
    explainer, study = Explainer(tiny_model("bert")), Curve("leave-one-out")
    texts = ("a fine film", "", "a very fine film")
    sample = without_labels("some", "0" * 64, [Example(str(i), text) for i, text in enumerate(texts)])
    told = []
    finish(run_study(explainer, sample, study, within=told.append))
    costs = [study.cost(explainer, explainer.encode(text, None, "word")).passes for text in texts if text]
    assert 0 < costs[0] < costs[1] and told[0] == 0 and told == sorted(told) and told[-1] <= 3
    first = 3 * (costs[0] + 1) / (sum(costs) + 3)
    assert any(one == pytest.approx(first) for one in told)


def test_passes_in_half_precision_are_passes(tiny_model, monkeypatch):
    """A search in another precision moves a study's progress as one in the model's own does."""
    monkeypatch.setattr("core.network.halves.half_speed", lambda device: 2.0)
    sample = without_labels("some", "0" * 64, [Example("a", "a b c d e f g h i")])
    moved = {}
    for full in (True, False):
        told, explainer = [], Explainer(tiny_model("bert"))
        finish(run_study(explainer, sample, LimitsOfTexts(("gradient",), exact_up_to=1, full=full), within=told.append))
        moved[full] = max(one for one in told if one < 1)
    assert moved[True] > 0.5 and moved[False] == pytest.approx(moved[True], abs=0.2)
