"""The engine runs any study: it streams, keeps, goes on and counts; shown on the example of a new question,
`example/one_word.py`.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from core.data.examples import Example
from core.evaluation import store_log
from core.evaluation import studies as room
from core.evaluation.asking import read_study, run_study, study_cost
from core.evaluation.engine import Run
from core.evaluation.sampling import Sample, without_labels
from core.evaluation.store_log import StoreLog
from core.evaluation.studies.behaviour_question import Behaviour
from core.evaluation.studies.catalogue import questions
from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.study import REGISTERED, Column, Rows, Study
from core.explanation.explainer import Cost, Explainer, softmax
from core.job import DONE
from core.jobs import Jobs
from core.mathematics.pace import Speed
from core.mathematics.stepwise import finish
from core.network.scheduler import Cancelled
from core.storage.store import Store, canonical_key
from pages.parts.frame import resources
from pages.parts.sections.studying import Asking, StudyWork
from tests import tiny
from tests.adding import TESTS, one_more_file
from tests.waiting import until

SAMPLE = without_labels("toy", "0" * 64, [Example(f"e{i}", text) for i, text in enumerate(tiny.SENTENCES[:6])])


@pytest.fixture(scope="module", autouse=True)
def added():
    with one_more_file(room, REGISTERED, TESTS / "evaluation" / "example"):
        yield


@pytest.mark.parametrize("count", [3, 60, 200])
def test_the_price_of_a_sample_is_that_of_its_texts_whatever_their_order(count):
    """Texts of 1 to `count` words, a pass for each two of them: the sum, within 2 %, and the same in any order."""
    counters = SimpleNamespace(seconds_for=lambda tokens: 0.0)
    study = SimpleNamespace(unit="word", cost=lambda _, words, found: Cost.of(words**2, words**2, counters))
    reader = SimpleNamespace(encode=lambda text, *_: len(text.split()))
    texts = [Example(str(i), "word " * (i + 1)) for i in range(count)]

    def priced(examples) -> int:
        return study_cost(reader, without_labels("d", "0" * 64, tuple(examples)), study).passes

    found = {priced(texts), priced(texts[::-1]), priced(texts[::2] + texts[1::2])}
    assert len(found) == 1 and found.pop() == pytest.approx(sum((i + 1) ** 2 for i in range(count)), rel=0.02)


def asked(*choices):
    return questions()["one word"](*choices)


def part(*places: int) -> Sample:
    return replace(SAMPLE, examples=tuple(SAMPLE.examples[i] for i in places), labels=SAMPLE.labels[list(places)])


@pytest.fixture(scope="module")
def model(tiny_model):
    return tiny_model("bert")


@pytest.fixture
def explainer(model):
    return Explainer(model)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def words(rows) -> list[str]:
    return [rows.sentences[k] for k in rows.columns["word"]]


def test_its_numbers_by_hand(explainer):
    rows = finish(run_study(explainer, part(2), asked()))
    encoded = explainer.encode(SAMPLE.examples[2].text, None, "word")
    logits = explainer.oracles.of(encoded).logits(np.eye(encoded.F, dtype=bool))
    whole = explainer.probabilities(encoded)
    drops = whole.max() - softmax(logits)[:, whole.argmax()]
    assert rows.columns["drop"] == pytest.approx(drops.max(), abs=1e-6)
    assert words(rows) == [encoded.features[drops.argmax()].text]
    assert rows.columns["probabilities"][0] == pytest.approx(whole, abs=1e-6)


def test_it_streams_and_what_is_not_known_yet_is_blank(explainer):
    told = []
    work = run_study(explainer, SAMPLE, asked(), progress=lambda *done: told.append(done))
    pictures = [
        (rows.done, rows.there.tolist(), np.isnan(rows.columns["drop"]).sum(), words(rows)[-1]) for rows in work
    ]
    assert pictures[0] == (1, [True] + [False] * 5, 5, "") and [done for done, *_ in pictures] == [1, 2, 3, 4, 5, 6]
    assert told == [(i, 6) for i in range(7)]


def test_overlapping_samples_share_their_rows(explainer, store, passes):
    first = passes(lambda: finish(run_study(explainer, part(0, 1, 2), asked(), store)))
    alone = passes(lambda: finish(run_study(explainer, part(3, 4), asked())))
    # Another order, and the same text twice.
    again = part(4, 2, 1, 3, 2)
    assert first > 0 and passes(lambda: finish(run_study(explainer, again, asked(), store))) == alone
    found, computed = read_study(explainer, again, asked(), store), finish(run_study(explainer, again, asked()))
    assert found.complete and words(found) == words(computed)
    for column in ("drop", "probabilities"):
        np.testing.assert_allclose(found.columns[column], computed.columns[column], atol=1e-6)
    # Another choice has rows of its own.
    assert read_study(explainer, again, asked("token"), store).done == 0


def test_cancelled_it_keeps_what_it_had_and_goes_on(explainer, model, store, passes):
    each = [passes(lambda i=i: finish(run_study(explainer, part(i), asked()))) for i in range(6)]
    start, stop = model.scheduler.counters.passes, sum(each[:2])
    with pytest.raises(Cancelled):
        finish(
            run_study(
                explainer, SAMPLE, asked(), store, cancelled=lambda: model.scheduler.counters.passes - start >= stop
            )
        )
    assert read_study(explainer, SAMPLE, asked(), store).there.tolist() == [True] * 2 + [False] * 4
    assert passes(lambda: finish(run_study(explainer, SAMPLE, asked(), store))) == sum(each[2:])


@pytest.mark.parametrize("seconds, kept", [(0.0, 3), (1e9, 0)])
def test_killed_it_loses_seconds_at_most(explainer, store, monkeypatch, seconds, kept):
    monkeypatch.setattr(store_log, "SAVE_SECONDS", seconds)
    work = run_study(explainer, SAMPLE, asked(), store)
    for _ in range(3):
        next(work)
    # As another process would find it if this one were gone now.
    assert read_study(explainer, SAMPLE, asked(), Store(store.root)).done == kept
    work.close()
    assert read_study(explainer, SAMPLE, asked(), Store(store.root)).done == 3


def test_what_has_no_row_is_counted_and_asked_again(explainer, model, store, monkeypatch):
    odd = SAMPLE.examples[1].text
    blank = without_labels("toy", "0" * 64, [SAMPLE.examples[0], Example("blank", "   "), SAMPLE.examples[1]])
    really, T = model.scheduler.network, explainer.encode(odd, None, "word").T
    assert explainer.encode(SAMPLE.examples[0].text, None, "word").T != T

    def network(ids, lengths, *more):
        logits, states = really(ids, lengths, *more)
        return np.where((lengths == T)[:, None], np.float32(np.nan), logits), states

    with monkeypatch.context() as patch:
        patch.setattr(model.scheduler, "network", network)
        rows = finish(run_study(explainer, blank, asked(), store))
    assert rows.there.tolist() == [True, False, False] and rows.complete and sorted(rows.problems) == [1, 2]
    assert "at least one word" in rows.problems[1] and "NaN" in rows.problems[2]
    assert list(finish(run_study(explainer, blank, asked(), store)).problems) == [1]


def test_rows_of_other_shapes_are_no_rows_of_it(explainer, store):
    finish(run_study(explainer, part(0), asked(), store))
    (segment,) = store.segments(asked().key(explainer))
    store.clear()
    for change in ({"drop": np.zeros((1, 2))}, {"drop": np.zeros(2)}, {"probabilities": np.zeros(1)}):
        store.append(asked().key(explainer), segment.arrays | change, segment.meta)
    store.append(asked().key(explainer), segment.arrays, {})
    assert read_study(explainer, part(0), asked(), store).done == 0
    store.append(asked().key(explainer), segment.arrays, segment.meta)
    assert read_study(explainer, part(0), asked(), store).done == 1


@dataclass(frozen=True)
class TwoTexts(Study[Rows]):
    """What an example is called and how it begins, with numbers of a length of one's choice."""

    name: ClassVar[str] = "two texts"
    columns: ClassVar[dict[str, Column]] = {"id": Column((), ""), "begins": Column((), ""), "many": Column((0,))}

    unit: str = "word"
    long: bool = False

    def key(self, explainer):
        return canonical_key("two texts", 1)

    def row_keys(self, subject):
        return [canonical_key("two texts/row", 1, example=subject.encoded.digest)]

    def row(self, subject):
        many = np.zeros(subject.encoded.F if self.long else 1)
        return {"id": subject.example.id, "begins": subject.encoded.features[0].text, "many": many}

    def cost(self, explainer, encoded, found=None):
        return Cost(0, 0.0)


def test_two_columns_of_texts_are_kept_apart(explainer, store):
    finish(run_study(explainer, SAMPLE, TwoTexts(), store))
    rows = read_study(explainer, SAMPLE, TwoTexts(), store)
    told = {name: [rows.sentences[k] for k in rows.columns[name]] for name in ("id", "begins")}
    assert told["id"] == [example.id for example in SAMPLE.examples]
    assert told["begins"] == [explainer.encode(e.text, None, "word").features[0].text for e in SAMPLE.examples]


def test_a_column_that_is_not_as_long_for_every_example_is_named(explainer):
    with pytest.raises(ValueError, match=r"two texts: many of e\d has the shape \(\d+,\)"):
        finish(run_study(explainer, SAMPLE, TwoTexts(long=True)))


def test_it_costs_no_more_than_it_says(explainer, passes):
    assert (
        passes(lambda: finish(run_study(explainer, SAMPLE, asked()))) <= study_cost(explainer, SAMPLE, asked()).passes
    )


def test_its_cost_is_of_what_is_left(explainer, store):
    """By hand: a pass for each piece, and one, of those that are not known."""
    pieces = [explainer.encode(example.text, None, "word").F + 1 for example in SAMPLE.examples]
    finish(run_study(explainer, part(0, 3), asked(), store))
    found = read_study(explainer, SAMPLE, asked(), store)
    cost = study_cost(explainer, SAMPLE, asked(), found)
    assert cost.passes == sum(pieces) - pieces[0] - pieces[3] and cost.seconds > 0 and cost.tokens > cost.passes
    finish(run_study(explainer, SAMPLE, asked(), store))
    assert study_cost(explainer, SAMPLE, asked(), read_study(explainer, SAMPLE, asked(), store)).passes == 0


@pytest.fixture
def packed(explainer, store, tmp_path):
    """A store that holds all rows packed and no others, and the rows."""
    log = StoreLog(store, asked().key(explainer))
    whole = finish(run_study(explainer, SAMPLE, asked(), store))
    log.pack(Run(explainer, SAMPLE, asked(), log), [(i, ()) for i in range(len(SAMPLE))])
    for segment in log.folders[0].iterdir():
        segment.unlink()
    return store, whole


def test_packed_rows_are_the_rows_in_single_precision(explainer, packed, passes):
    store, whole = packed
    found = []
    assert passes(lambda: found.append(finish(run_study(explainer, part(4, 1), asked(), store)))) == 0
    assert words(found[0]) == [words(whole)[4], words(whole)[1]]
    for column in ("drop", "probabilities"):
        exact = whole.columns[column][[4, 1]]
        assert found[0].columns[column].dtype == exact.dtype
        np.testing.assert_array_equal(found[0].columns[column], exact.astype(np.float32).astype(exact.dtype))


def test_what_was_computed_here_comes_before_what_is_packed(explainer, packed):
    store, whole = packed
    finish(run_study(explainer, part(2), asked(), again := Store(store.root / "again")))
    (segment,) = again.segments(asked().key(explainer))
    store.append(asked().key(explainer), segment.arrays | {"drop": np.array([0.125])}, segment.meta)
    found = read_study(explainer, SAMPLE, asked(), store)
    assert found.complete and found.columns["drop"][2] == 0.125
    assert found.columns["drop"][0] == np.float32(whole.columns["drop"][0])


@pytest.mark.parametrize("change", ["numbers", "shape", "names", "sentence"])
def test_packed_rows_that_are_none_of_it_are_not_read(explainer, packed, change):
    store, _ = packed
    folders = {path.parent for path in store.root.rglob("*.safetensors")}
    (folder,) = (one for one in folders if any("rows" in entry.arrays for entry in store.segments(one.name)))
    (segment,) = store.segments(folder.name)
    arrays, meta = dict(segment.arrays), dict(segment.meta)
    if change == "numbers":
        # Infinity in single precision.
        arrays["drop"] = np.broadcast_to(np.array([[0x7F], [0x80], [0], [0]], np.uint8), arrays["drop"].shape).copy()
    elif change == "shape":
        arrays["drop"] = arrays["drop"][:3]
    elif change == "names":
        arrays["rows"] = np.repeat(arrays["rows"], 4, axis=1)
    else:
        meta["sentences"] = []
    for path in folder.iterdir():
        path.unlink()
    store.append(folder.name, arrays, meta)
    assert read_study(explainer, SAMPLE, asked(), store).done == 0
    store.append(folder.name, segment.arrays, segment.meta)
    assert read_study(explainer, SAMPLE, asked(), store).complete


def test_what_is_held_of_an_example_is_let_go(explainer, store):
    run = Run(explainer, SAMPLE, asked(), StoreLog(store, asked().key(explainer)))
    finish(run.go())
    assert not run.encoded and not explainer.oracles._held


def test_one_example_is_asked_of_what_the_explainer_knows_already(model, store, passes):
    """A page of one example has its attributions and masked inputs; of many each is let go of."""
    explainer = Explainer(model, store)
    one = replace(SAMPLE, examples=SAMPLE.examples[:1])
    for shown in (one, SAMPLE):
        again = [passes(lambda: finish(run_study(explainer, shown, asked()))) for _ in range(2)]
        assert again[0] and bool(again[1]) == (shown is SAMPLE), "without a log of its own"


def test_a_page_takes_it_as_work_that_starts_stops_and_is_read_back(explainer, store, monkeypatch):
    jobs = Jobs()
    monkeypatch.setattr(resources, "jobs", lambda: jobs)
    monkeypatch.setattr(resources, "store", lambda: store)
    try:
        work = StudyWork(explainer, SAMPLE, asked())
        assert work.cost == study_cost(explainer, SAMPLE, asked()) and not work.begun and work.found.done == 0
        assert work.label.startswith("one word (") and work.key != StudyWork(explainer, part(0), asked()).key
        work.ask()
        until(lambda: work.job.state == DONE)
        assert work.complete and work.found.complete and not work.found.problems
        again = StudyWork(explainer, part(3, 1), asked())
        assert again.begun and again.at_once and words(again.found) == [words(work.found)[i] for i in (3, 1)]
    finally:
        jobs.close()


def test_what_seldom_takes_all_that_it_may_says_so_until_such_work_was_done(explainer, monkeypatch):
    jobs, work = Jobs(), StudyWork(explainer, SAMPLE, asked())
    monkeypatch.setattr(resources, "jobs", lambda: jobs)
    monkeypatch.setattr(resources, "store", lambda: Store(Path("nowhere")))
    assert ", about " in work.price
    monkeypatch.setattr(type(work.study), "seldom_all", True)
    assert ", up to " in work.price
    jobs._speeds[work.likeness] = Speed()
    jobs._speeds[work.likeness].add(work.cost.tokens, 60.0)
    assert work.price == f"at most {work.cost.passes:,} forward passes, about 60 s"
    jobs.close()


def test_what_another_question_wrote_under_the_same_rows_is_read_once_it_has_ended(explainer, store, monkeypatch):
    jobs, really, held = Jobs(), Run.add, [True]
    monkeypatch.setattr(resources, "jobs", lambda: jobs)
    monkeypatch.setattr(resources, "store", lambda: store)

    def slow(run, i, cancelled):
        while run.done >= 2 and held:
            if cancelled():
                raise Cancelled("stopped")
        really(run, i, cancelled)

    monkeypatch.setattr(Run, "add", slow)
    try:
        one, other = StudyWork(explainer, part(5, 4, 3), asked()), StudyWork(explainer, SAMPLE, asked())
        stopped = StudyWork(explainer, part(3, 2, 1), asked())
        stopped.ask()
        until(lambda: stopped.found.done == 2)
        stopped.cancel()
        until(lambda: not stopped.active)
        other.ask()
        until(lambda: other.progress[0] >= 2)
        assert not one.found.complete and not stopped.found.complete
        held.clear()
        until(lambda: other.job.state == DONE and not jobs.active() and one.found.complete)
        assert one.job is None and one.at_once
        assert stopped.found.complete
    finally:
        jobs.close()


def test_of_several_random_orders_only_the_first_starts_unasked(explainer, store, monkeypatch):
    jobs = Jobs()
    monkeypatch.setattr(resources, "jobs", lambda: jobs)
    monkeypatch.setattr(resources, "store", lambda: store)
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr("pages.parts.sections.studying._LEADING_SECONDS", 1e9)
    try:
        works = Asking(explainer, SAMPLE, MaskingCheck(("gradient",), seeds=5)).works
        assert [work.at_once for work in works] == [True] + [False] * 5
        assert not Asking(explainer, SAMPLE, MaskingCheck(), first=False).works[0].at_once
        # Behaviour stands in a part that is opened for it: what is dear of it waits.
        assert not Asking(explainer, SAMPLE, Behaviour()).works[0].at_once
        monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)
        assert Asking(explainer, SAMPLE, Behaviour()).works[0].at_once
    finally:
        jobs.close()


@pytest.mark.parametrize("second", ["no", "each", "some"])
def test_texts_that_are_tokenised_together_are_read_as_alone(explainer, monkeypatch, second):
    """Where rows are looked for; long ones by themselves, and pairs beside single texts, too."""
    monkeypatch.setattr("core.evaluation.engine._AHEAD", 4)
    monkeypatch.setattr("core.evaluation.engine._LONG", 300)
    texts = [*("a b", "", "long " * 100, "c, d", "\ud800x", "e"), *(f"word {i}" for i in range(9))]
    seconds = [None if second == "no" or (second == "some" and i % 3) else f"and {i}" for i in range(len(texts))]
    sample = without_labels("x", "0" * 64, [Example(f"{i}", *both) for i, both in enumerate(zip(texts, seconds))])
    run = Run(explainer, sample, asked(), None)
    run.ahead = {}
    # Some are passed over, as those are that are known.
    for i in (*range(8), 10, 11, 3, 14):
        subject = run.subject(i)
        if not texts[i]:
            assert subject is None
            continue
        alone = explainer.model.encode(texts[i], seconds[i], "word")
        assert subject.encoded.digest == alone.digest and subject.encoded.truncation == alone.truncation
        for name in ("ids", "feature_of", "premasked"):
            np.testing.assert_array_equal(getattr(subject.encoded, name), getattr(alone, name))
