"""Home tells what this is before a model is there; the tour leads over the real pages, each stop a link."""

import html
import json
import re
import time
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
import streamlit as st

from core.data.browsing import Index
from core.data.examples import FIRST_REVIEWS, HARD_REVIEWS, bundled_set, first_example, read_bundled
from core.evaluation.asking import run_study
from core.evaluation.findings import FEW
from core.evaluation.sampling import SAMPLE, SCORED, draw_examples, draw_sample, without_labels
from core.evaluation.studies.check_findings import leads_by_length, length_split
from core.evaluation.studies.check_report import REJECTED, build_check_report
from core.evaluation.studies.diagnosticity_question import Diagnosing
from core.evaluation.studies.limits_of_texts import LimitsOfTexts
from core.evaluation.studies.model_check import Curve
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import VerdictsOfTexts
from core.evaluation.study import Answers
from core.explanation.standings import COMPREHENSIVENESS, compare_standings
from core.mathematics.aopc import naopc
from core.mathematics.ranking import LEVEL
from core.mathematics.search.limits import EXACT
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures, measures
from core.results.examples import ExamplesOutcome
from core.results.model_check import ModelCheckOutcome, check_result
from core.results.verdicts import VerdictsOutcome, word_status, words_result
from core.storage.shipped import RESULTS
from core.storage.store import Store
from core.terms import KEYS, TERMS
from core.texts.rendering import headline, sentence, sentences
from core.validity.marks import MEANING
from core.verdicts.deciding import Word
from core.verdicts.finding import find_chance
from pages.parts.check.checking import known_check
from pages.parts.frame import resources
from pages.parts.frame.picking import OWN
from pages.parts.frame.tour import STOPS, Strip, shipped_strip
from tests.app_session import ATTRIBUTIONS, HOME, App, complete, unescaped, wait
from tests.sessions import Session, running_server
from tests.shipped_work import MASKED, MEASURE, PLAIN, SURE, walk
from tests.shipping import EVERYTHING, FIRST, PAGES, any_machine, believed, sides, strip

pytestmark = pytest.mark.usefixtures("plain_server")
LINES = sentences("tour", "stops")
# What another stop may show of another thing.
CHOSEN = ("model", "data", "example", "beside")


@pytest.fixture(scope="module")
def walked(shipped):
    """The strip's models as explainers with their references."""
    from core.explanation.explainer import with_reference

    return {name: with_reference(shipped(name), None) for name in (MASKED, PLAIN)}


def agree_but_for_the_last_place(one: str, other: str) -> None:
    """The same text, each number in it within a unit of its last place."""
    for mine, its in zip(*(re.split(r"(\d+\.\d+)", text) for text in (one, other)), strict=True):
        if mine != its:
            assert re.fullmatch(r"\d+\.\d+", mine) and re.fullmatch(r"\d+\.\d+", its), (one, other)
            places = min(len(number.partition(".")[2]) for number in (mine, its))
            assert float(mine) == pytest.approx(float(its), abs=1.1 * 10**-places), (one, other)


def test_numbers_may_part_in_their_last_place_and_nothing_else_may():
    agree_but_for_the_last_place("gap +0.000747, p = 0.5", "gap +0.000746, p = 0.5")
    for one, other in (("0.747 ↑", "0.745 ↑"), ("0.747 ↑", "0.746 ↓"), ("2 of 9", "3 of 9"), ("-0.5", "+0.5")):
        with pytest.raises(AssertionError):
            agree_but_for_the_last_place(one, other)


def test_the_strip_is_what_the_code_computes(walked):
    """Its words, masks and verdicts, and its numbers within a unit of the last place that is shown."""
    found, told = strip(walked[MASKED], first_example(FIRST_REVIEWS), FIRST_REVIEWS), shipped_strip()
    assert {*found} == {*Strip._fields} and (found["model"], found["data"]) == (told.model, told.data)
    assert (found["example"], found["predicted"]) == (told.example, told.predicted)

    def agree(one, other):
        if isinstance(one, float):
            assert one == pytest.approx(other, abs=1.1e-3)
        elif isinstance(one, dict):
            assert one.keys() == other.keys()
            for name in one:
                agree(one[name], other[name])
        elif isinstance(one, list):
            assert len(one) == len(other)
            for left, right in zip(one, other):
                agree(left, right)
        elif isinstance(one, str):
            # Other processors round the last place otherwise.
            agree_but_for_the_last_place(one, other)
        else:
            assert one == other

    agree(json.loads(json.dumps(found["shown"])), told.shown)
    for mine, its in zip(found["rows"], told.rows, strict=True):
        assert mine.pop("scores") == pytest.approx(its["scores"], rel=1e-3, abs=1e-4)
        assert mine.items() <= its.items(), "each measure has the verdict of its own test"


def test_the_first_example_shows_something_on_every_page(walked, first_text):
    mine = {name: walk(walked[MASKED], first_text, name).summary for name in ("leave-one-out", "gradient")}
    twin = walk(walked[PLAIN], first_text, MEASURE).summary
    assert mine[MEASURE].values[0] >= SURE and twin.gate.first is not None
    flips = [one.flips for one in mine.values()]
    assert None not in flips and len(set(flips)) == 2 and all(one.gate.first is None for one in mine.values())


def test_at_the_stop_on_limits_normalising_changes_which_model_is_ahead(walked):
    """By a rule, `tests.shipping.crossing`: the same AOPC, more to reach in the twin, so that its NAOPC is lower."""
    (stop,) = (stop for stop in STOPS if stop.title == "AOPC and NAOPC")
    example = next(one for one in read_bundled("reviews") if one.id == stop.choices["example"])
    boards = sides(walked, example.text)
    found = compare_standings(boards, COMPREHENSIVENESS)
    assert found.ahead[default_measures()[0]] == (None, MASKED)
    mine, its = (one.aopc for one in found.placed if one.measure == default_measures()[0])
    assert abs(mine - its) <= LEVEL
    assert {one.model for one in found.placed if one.marked} == {PLAIN}
    assert boards[PLAIN].limits.upper - boards[MASKED].limits.upper > 0.2
    assert all(board.limits.method == EXACT for board in boards.values())
    # What comes closest is worth to be believed.
    best = boards[MASKED].best(COMPREHENSIVENESS)
    limits, encoded = boards[MASKED].limits, walked[MASKED].encode(example.text, None, "word")
    target = int(walked[MASKED].logits(encoded).argmax())
    chance = finish(find_chance(walked[MASKED], encoded, target, (MEASURE,))).null.reached.mean()
    assert best.measure == MEASURE and best.naopc[COMPREHENSIVENESS] > 0.8
    assert naopc(float(chance), limits.lower, limits.upper) < 0.5
    assert example.label == "positive"
    assert {walked[name].model.labels[target] for name in (MASKED, PLAIN)} == {"negative"}
    assert MEASURE in believed(walked[MASKED], example)


@pytest.fixture(params=[FIRST_REVIEWS, HARD_REVIEWS])
def first_text(request):
    return next(one.text for one in read_bundled(request.param) if one.id == first_example(request.param))


@pytest.fixture
def stands_aside(plain_server, monkeypatch):
    """What stands aside starts at once; the rest is as in the app."""
    monkeypatch.setattr("core.viewers._STAYS_SECONDS", 0.0)


@pytest.fixture
def ships(monkeypatch):
    """What ships computed is shown, as in the app."""
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "yes")
    # Explainers too: those of other tests hold a store without it.
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def test_the_check_that_ships_is_not_rejected_at_usual_lengths(ships, monkeypatch):
    monkeypatch.setattr("core.evaluation.engine.Run.add", lambda *_: pytest.fail("what ships is read"))
    explainer = resources.explainer(MASKED)
    checked = known_check(explainer, Index(bundled_set("reviews")), "word")
    assert leads_by_length(checked)
    assert check_result(checked).outcome is ModelCheckOutcome.NOT_REJECTED_AT_USUAL_LENGTHS
    split = length_split(checked)
    assert (split.low, split.high, split.alike[1], split.others[1]) == (11, 44, 157, 43) and checked.n == SAMPLE
    assert split.others[0] / split.others[1] == pytest.approx(0.81, abs=0.005)
    assert known_check(explainer, Index(bundled_set("contrast pairs")), "word") is None, "not known"
    assert known_check(explainer, Index(bundled_set("news")), "word") is None, "labels of another task"


def test_the_first_stop_is_of_the_surest_mistake_that_its_filter_leaves(ships):
    """It is the first row and chosen, and there is no other to choose."""
    stop = STOPS[0]
    example = next(one for one in read_bundled("reviews") if one.id == stop.choices["example"])
    app = App(stop.path, **stop.choices, tour="1")
    assert app.facts["surest mistake"] == example.id and app.outcomes == [ExamplesOutcome.RIGHT_OF_FILTERED.value]
    first, *others = app.table["rows"]
    assert first["id"] == example.id and first["chosen"] and not any(row["chosen"] for row in others)
    assert (
        not app.has("button", "See the surest mistake")
        and first["label"] == "positive"
        and first["predicted"] == "negative"
    )
    # What it is filtered by, and no more, so that the examples are in view; once the tour is left all of it.
    assert {facet["key"] for facet in app.table["facets"]} == {"outcome", "tag", "length"} & stop.choices.keys()
    assert len(app.press("Leave the tour").table["facets"]) > 3


def test_the_steps_of_the_masking_stops_are_those_that_their_lines_speak_of(walked):
    """One stands where the prediction changes and nothing is rejected, the other where the twin alone is rejected, whose
    prediction has changed no sooner.
    """
    changes, beside = (stop for stop in STOPS if stop.title == "Recursive masking")
    text, second = (
        next(one.text for one in read_bundled("reviews") if one.id == stop.choices["example"])
        for stop in (changes, beside)
    )
    mine = walk(walked[MASKED], text, MEASURE).summary
    assert mine.flips == int(changes.choices["step"]) and mine.gate.first is None and mine.flips < 5
    features = walked[MASKED].encode(text, None, "word").features
    masked = [one.text for one, hidden in zip(features, mine.steps[mine.flips].mask) if hidden]
    assert re.findall("“(.*?)”", LINES[STOPS.index(changes)]) == [one.replace("'", "’") for one in masked]
    both, twin = (walk(walked[name], second, MEASURE).summary for name in (MASKED, PLAIN))
    step = int(beside.choices["step"])
    assert both.gate.first is None and both.flips is not None and both.flips < step, "its change counts"
    assert twin.gate.first is not None and twin.gate.first <= twin.flips == step, "the twin's does not"


@pytest.mark.usefixtures("stands_aside", "ships", "on_any_machine")
@pytest.mark.parametrize(
    "at, outcome, better", [(2, "some better than random", [MEASURE]), (6, "none better than random", [])]
)
def test_a_stop_shows_which_measures_its_sentence_calls_better_than_random(at, outcome, better, monkeypatch, tmp_path):
    """A success first, then a failure. Of what ships: nothing is asked of the network."""
    stop = STOPS[at - 1]
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    app = App(stop.path, **stop.choices, tour=str(at))
    counters = resources.explainer(stop.choices["model"]).model.scheduler.counters
    spent = counters.passes
    wait(app, lambda: outcome in app.outcomes, rest=60.0)
    assert counters.passes == spent
    (words,) = (words for question, found, words in app.headlines if found == outcome)
    assert [name for name in default_measures() if name in re.split(r": |, | and |\.", words)] == better


@pytest.mark.usefixtures("ships")
def test_at_the_first_stop_on_masking_few_random_orders_change_the_prediction_as_early():
    stop = next(stop for stop in STOPS if stop.title == "Recursive masking")
    app = App(stop.path, **stop.choices, tour="3")
    wait(app, lambda: " of " in app.facts.get("random orders as early ↓", ""), rest=60.0)
    as_early, orders = map(int, app.facts["random orders as early ↓"].split(" of "))
    assert app.outcomes == ["flips"] and as_early <= orders / 10


def strip_verdicts() -> dict[str, Word]:
    return {one["measure"]: Word[one["word"]] for one in shipped_strip().rows}


@pytest.mark.first_visit
@pytest.mark.usefixtures("ships")
def test_home_is_one_example_its_verdicts_the_player_and_four_ways_in():
    app = App(HOME)
    assert app.at.title[0].value.startswith("Faithscope") and sentence("home", "what") in app.said
    assert [button.label.partition(" ")[0] for button in app.at.main.button][:4] == ["Take", "See", "Paste", "Check"]
    result = words_result(strip_verdicts())
    assert app.headlines == [("verdicts", result.name, headline(result))]
    assert app.drawn("panes") and f" of {len(STOPS)}**" not in app.said


@pytest.mark.first_visit
@pytest.mark.usefixtures("ships")
@pytest.mark.parametrize("asked", [{"example": "r005"}, {"model": "stories-1-fmm"}, {"data": "reviews"}])
def test_home_is_about_the_model_and_the_example_that_are_chosen(asked):
    app = complete(App(HOME, **asked))
    drawn = [data for data in app.drawn("pieces") if "rows" in data]
    (shown,) = ["".join(one["gap"] + one["text"] for one in data["pieces"]) for data in drawn]
    data = bundled_set(app.widget("selectbox", "Data").value)
    text = next(one.text for one in data.examples if one.id == app.example)
    assert shown == text[: len(shown)] and app.drawn("panes") and list(app.rows) == list(default_measures())


@pytest.mark.first_visit
@pytest.mark.usefixtures("ships")
def test_home_colours_its_review_by_each_measure_with_its_verdict():
    """What ships, before any model is there."""
    (drawn,) = (data for data in App(HOME).drawn("pieces") if data.get("brief") and "rows" in data)
    told = shipped_strip()
    assert [row["name"] for row in drawn["rows"]] == [one["measure"] for one in told.rows] == list(default_measures())
    chips = [cell["chip"] for (cell,) in drawn["scores"]]
    assert [word_status(word) in chip for word, chip in zip(strip_verdicts().values(), chips)] == [True] * 3
    links = [urlsplit(cell["href"]) for (cell,) in drawn["scores"]]
    about = {"model": told.model, "data": told.data, "example": told.example}
    assert all(link.path == "attributions" and about.items() <= dict(parse_qsl(link.query)).items() for link in links)
    for row, one in zip(drawn["rows"], told.rows):
        scores = np.array(one["scores"])
        assert row["shades"] == pytest.approx(scores / abs(scores).max()) and not row["detail"]


def test_home_without_its_strip_computes_it(monkeypatch, tmp_path):
    shipped_strip.cache_clear()
    monkeypatch.setattr("pages.parts.frame.tour.STRIP", tmp_path / "nothing.json")
    try:
        app = App(HOME)
        assert not app.errors and list(app.rows) == list(default_measures())
    finally:
        shipped_strip.cache_clear()


def test_a_stop_says_its_sentence_on_its_page_and_leads_back_from_elsewhere():
    app = App(STOPS[1].path, **STOPS[1].choices, tour="2")
    assert LINES[1] in app.said and "2 of 8" in app.said and app.has("button", "Next")
    assert app.example == STOPS[1].choices["example"] and not app.has("button", "Return")
    app.set("selectbox", "Example", "s005")
    assert LINES[1] not in app.said and "2 of 8" in app.said
    app.press("Return to this stop")
    assert LINES[1] in app.said and app.example == STOPS[1].choices["example"]
    app.go(HOME)
    assert LINES[1] not in app.said and app.has("button", "Return")
    app.press("Leave the tour")
    assert "2 of 8" not in app.said and "tour" not in app.at.query_params


@pytest.mark.parametrize("at", range(1, len(STOPS) + 1))
def test_the_address_that_a_stop_leaves_leads_back_to_it(at):
    """What is the default is in no address."""
    app = App(STOPS[at - 1].path, **STOPS[at - 1].choices, tour=str(at))
    assert LINES[at - 1] in app.said
    asked = dict(app.at.query_params.items())
    assert "model" in STOPS[at - 1].choices and ("model" in asked) == (STOPS[at - 1].choices["model"] != MASKED)
    again = App(STOPS[at - 1].path, **asked)
    assert LINES[at - 1] in again.said and not again.has("button", "Return")


def test_a_stop_is_one_sentence_of_at_most_twenty_five_words():
    assert len(LINES) == len(STOPS) == 8
    for line in LINES:
        assert len(line.split()) <= 25 and line.endswith(".") and line.count(". ") == 0


def test_the_last_stop_invites_to_type_a_text_and_finishes():
    app = App(STOPS[-1].path, **STOPS[-1].choices, tour=str(len(STOPS)))
    assert not app.errors and app.at.info and LINES[-1] in app.said
    assert app.has("button", "Explain") and not app.has("button", "Next") and app.has("button", "Back")
    app.type("a warm and funny film")
    assert LINES[-1] in app.said
    app.press("Finish")
    assert "8 of 8" not in app.said and "tour" not in app.at.query_params


@pytest.mark.parametrize("asked", ["0", "9", "two", "-1", ""])
def test_a_stop_that_is_none_is_no_tour(asked):
    app = App(ATTRIBUTIONS, tour=asked)
    assert " of 8**" not in app.said and not app.errors and "tour" not in app.at.query_params


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("tour"), FAITHSCOPE_SHIPPED="yes") as started:
        yield started


def said(visitor: Session) -> str:
    return unescaped(" ".join(visitor.texts))


def test_the_tour_goes_forth_and_back_and_each_stop_shows_what_its_link_shows(address):
    """Whatever was chosen before: a stop is its link and nothing else."""
    with Session(address, "", example="s005", unit="token", measures="attention") as walker:
        walker.press("Take the tour")
        for stop, line in zip(STOPS, LINES):
            assert line in said(walker)
            asked = dict(parse_qsl(walker.query))
            assert asked["tour"] == str(STOPS.index(stop) + 1) and "attention" not in walker.query
            assert {key: asked.get(key, value) for key, value in stop.choices.items()} == stop.choices
            assert not walker.errors
            if stop is not STOPS[-1]:
                # What is chosen at a stop is left there.
                walker.choose("Unit", "token")
                walker.press("Next", "tour-next")
        walker.press("Back")
        assert LINES[-2] in said(walker)


@pytest.mark.parametrize(
    "button, question, part, data",
    [
        ("See mistakes of the model", "Which example", "outcome=wrong", "reviews"),
        ("See mistakes of the model", "Which example", "outcome=wrong", OWN),
        ("Paste a text", "Which words", "data=own+text", "reviews"),
        ("Check a model", "Are masked texts", "weights=", OWN),
    ],
)
def test_the_ways_in_lead_where_they_say(address, button, question, part, data):
    """Mistakes and checks are of data, whatever text of one's own was looked at."""
    with Session(address, "", data=data) as visitor:
        visitor.press(button)
        assert any(text.startswith(question) for text in visitor.texts), visitor.texts[:3]
        assert part in visitor.query and ("own" in visitor.query) == (button == "Paste a text")


def test_a_press_where_the_filters_leave_nothing_leads_nowhere(monkeypatch):
    monkeypatch.setattr(
        "pages.parts.frame.picking.draw_presses", lambda held, on: held.read({"visit": held.visit, "sum": 2})
    )
    app = App(ATTRIBUTIONS, search="zzzzzz", example="s005")
    assert app.example == "s005" and "Filters leave 0 of" in app.said
    # They are taken, and not kept for when there is something again.
    app.press("Clear filters")
    assert app.example == "s005"


def test_every_page_has_its_words_and_keys():
    app = App(ATTRIBUTIONS)
    assert not any(html.escape(told) in app.said for told in KEYS.values())
    app.press("Words and keys")
    for told in (*TERMS, *TERMS.values(), *KEYS.values(), MEANING, *(one.definition for one in measures().values())):
        assert html.escape(told) in app.said, told


# What ships computed


@pytest.fixture(scope="module")
def passes_of(walked):
    """`passes_of(work)`: forward passes of the bundled model while it is done."""

    def count(work):
        before = walked[MASKED].model.scheduler.counters.passes
        found = work()
        return walked[MASKED].model.scheduler.counters.passes - before, found

    return count


@pytest.mark.parametrize(
    "study", [Curve(), *(Curve(name) for name in default_measures())], ids=lambda study: study.label
)
def test_what_ships_of_a_check_is_what_the_code_computes(study, walked, passes_of, tmp_path):
    """Its rows are found under the keys of now, and two of them come out the same when they are computed anew."""
    sample = draw_sample(bundled_set("reviews"), walked[MASKED].model.labels, 2)
    store = Store(tmp_path / "store", shipped=RESULTS)
    spent, shipped = passes_of(lambda: finish(run_study(walked[MASKED], sample, study, store)))
    again = finish(run_study(walked[MASKED], sample, study))
    assert spent == 0 and shipped.complete
    assert shipped.predicted.tolist() == again.predicted.tolist()
    assert shipped.values == pytest.approx(again.values, abs=1e-4)
    for form, p in shipped.p.items():
        assert p == pytest.approx(again.p[form], abs=0.02)


def test_what_ships_of_a_data_set_is_what_the_code_computes(walked, passes_of, tmp_path):
    """The scores of a measure and of a random attribution of one of its texts, the same when computed anew."""
    few, store = Diagnosing(("gradient",), count=1), Store(tmp_path / "store", shipped=RESULTS)
    data = bundled_set("reviews")
    sample = without_labels(data.name, data.digest, draw_examples(data.examples, SAMPLE)[:1])
    spent, shipped = passes_of(lambda: finish(run_study(walked[MASKED], sample, few, store)))
    again = finish(run_study(walked[MASKED], sample, few))
    assert spent == 0 and shipped.complete
    assert np.isfinite(again.values).any() and shipped.values == pytest.approx(again.values, abs=1e-4, nan_ok=True)


def test_what_ships_of_verdicts_is_what_the_code_computes(walked, passes_of, tmp_path):
    """Of one of its texts, the same when computed anew; the tour's example is among them."""
    data, store = bundled_set("reviews"), Store(tmp_path / "store", shipped=RESULTS)
    asked = VerdictsOfTexts(default_measures())
    drawn = draw_examples(data.examples, SAMPLE)
    assert STOPS[0].choices["example"] in {one.id for one in drawn}
    short = min(drawn[:20], key=lambda one: len(one.text))
    spent, shipped = passes_of(
        lambda: finish(run_study(walked[MASKED], without_labels("d", "0" * 64, drawn), asked, store))
    )
    assert spent == 0 and shipped.complete
    again = finish(run_study(walked[MASKED], without_labels("d", "0" * 64, [short]), asked))
    for name, values in again.columns.items():
        assert shipped.columns[name][drawn.index(short)] == pytest.approx(values[0], abs=1e-4, nan_ok=True), name


def test_what_ships_of_limits_is_what_the_code_computes(walked, passes_of, tmp_path, on_any_machine):
    data, store, asked = bundled_set(FIRST_REVIEWS), Store(tmp_path / "store", shipped=RESULTS), LimitsOfTexts()
    drawn = draw_examples(data.examples, FEW)
    short = min(drawn, key=lambda one: len(one.text))
    lines = []
    for texts in (drawn, [short]):
        sample = without_labels("d", "0" * 64, texts)
        spent, found = passes_of(lambda sample=sample: finish(run_study(walked[MASKED], sample, asked, store)))
        assert spent == 0 and found.complete
        lines.append(asked.lines(Answers(walked[MASKED].model, None, sample, {asked: found})))
    sample = without_labels("d", "0" * 64, [short])
    again = asked.lines(
        Answers(walked[MASKED].model, None, sample, {asked: finish(run_study(walked[MASKED], sample, asked))})
    )[0]
    (shipped,) = lines[1]
    assert shipped == lines[0][drawn.index(short)] and shipped["seconds"] is None
    for name, value in again.items():
        if isinstance(value, float) and name != "seconds":
            assert shipped[name] == pytest.approx(value, abs=1e-4), name


def test_what_ships_of_a_scoreboard_is_what_the_code_computes_and_says_nothing_of_another_machines_time(
    walked, passes_of, tmp_path, on_any_machine
):
    """Of its shortest text, every part the same when computed anew; and of all texts, how long it took nowhere."""
    data, store, board = bundled_set("reviews"), Store(tmp_path / "store", shipped=RESULTS), Scoreboard()
    drawn = draw_examples(data.examples, SCORED)
    short = min(drawn, key=lambda one: len(one.text))
    every, one = (without_labels("d", "0" * 64, texts) for texts in (drawn, [short]))
    for study in (*board.studies, VerdictsOfTexts(board.measures)):
        spent, shipped = passes_of(lambda: finish(run_study(walked[MASKED], every, study, store)))
        assert spent == 0 and shipped.complete, study
        again = finish(run_study(walked[MASKED], one, study))
        for name, values in again.columns.items():
            mine = shipped.columns[name][drawn.index(short)]
            if name == "took":
                assert np.isnan(shipped.columns[name][:, 1]).all() and mine[0] == values[0][0]
            elif study.columns[name].sentence:
                assert shipped.sentences[mine] == again.sentences[values[0]], name
            else:
                assert mine == pytest.approx(values[0], abs=1e-4, nan_ok=True), name


def test_the_check_that_ships_objects_to_masked_texts(walked, tmp_path):
    """Over the data the test objects, and not to the unmasked texts; many are of other lengths than the reference's."""
    model = walked[MASKED]
    sample = draw_sample(bundled_set("reviews"), model.model.labels, SAMPLE)
    shipped = finish(run_study(model, sample, Curve(), Store(tmp_path / "store", shipped=RESULTS)))
    found = build_check_report(model.model, model.reference, sample, {Curve(): shipped})
    assert shipped.complete
    assert found.verdict == REJECTED and found.rejected()[0] > 0 and found.other_lengths


@pytest.fixture
def on_any_machine():
    with any_machine():
        yield


# Every stop but the last, what pages begin with, and the pages of which all ships; what they are asked by tells them
# apart.
AT_ONCE = {(stop.path, tuple(stop.choices.items())) for stop in STOPS[:-1]}
AT_ONCE |= {
    (page, tuple(choices.items()))
    for page, choices, asked in PAGES
    if asked == EVERYTHING or FIRST.items() <= choices.items()
}


@pytest.mark.parametrize(
    "page, chosen", sorted(AT_ONCE), ids=lambda one: one if isinstance(one, str) else str(len(one))
)
def test_what_ships_is_there_at_once(page, chosen, ships, on_any_machine, monkeypatch, tmp_path):
    """With nothing in the store of its own, nothing is asked of the network but what no page keeps."""
    choices = dict(chosen)
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    # Behaviour under masking begins once its tab is opened.
    monkeypatch.setattr(App, "tabs", page != "pages/model_check.py")
    resources.jobs.clear()
    loaded = [resources.explainer(name).model for name in (choices["model"], choices.get("beside")) if name]
    app = App(page, **choices)
    spent = sum(model.scheduler.counters.passes for model in loaded)
    while resources.jobs().active():
        time.sleep(0.05)
    app.run()
    assert not app.errors and "Computing" not in app.said
    assert sum(model.scheduler.counters.passes for model in loaded) == spent


@pytest.mark.usefixtures("ships")
def test_home_reads_verdicts_that_are_known_and_computes_none(monkeypatch):
    example = next(one for one in read_bundled("reviews") if one.id == STOPS[0].choices["example"])
    known = believed(resources.explainer(MASKED), example)
    monkeypatch.setattr("core.evaluation.engine.Run.add", lambda *_: pytest.fail("Home reads, and computes nothing"))
    app = App(HOME, data="reviews", example=example.id)
    assert known and app.outcomes == [VerdictsOutcome.SOME_BETTER.value]
    assert all((name in app.headlines[0][2]) == (name in known) for name in default_measures())
    monkeypatch.undo()
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "yes")
    # Of another class than the one that is judged, and of a text of one's own, nothing is known.
    for asked in (
        {"data": "reviews", "example": example.id, "class": "positive"},
        {"data": "own text", "text": "Not a word of it is true."},
    ):
        assert App(HOME, **asked).outcomes == [VerdictsOutcome.NOT_ASKED.value]
