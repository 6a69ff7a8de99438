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
from core.evaluation.engine import run_study
from core.evaluation.sampling import SAMPLE, SCORED, draw_examples, draw_sample, without_labels
from core.evaluation.studies.check_lengths import leads_by_length, length_split
from core.evaluation.studies.check_report import REJECTED, build_check_report
from core.evaluation.studies.diagnosticity_question import Diagnosing
from core.evaluation.studies.model_check import Curve
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import VerdictsOfTexts
from core.explanation.standings import COMPREHENSIVENESS, compare_standings
from core.mathematics.aopc import naopc
from core.mathematics.ranking import LEVEL
from core.mathematics.search.limits import EXACT
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures, measures
from core.results.model_check import ModelCheckOutcome
from core.storage.shipped import RESULTS
from core.storage.store import Store
from core.terms import KEYS, TERMS
from core.texts.rendering import headline
from core.validity.marks import MEANING, SIGN
from core.verdicts.deciding import Word
from core.verdicts.finding import find_chance
from core.verdicts.in_short import believed_sentence, standing_sentence
from core.wording import joined, without_markup
from pages.parts.check.known import known_check, known_result
from pages.parts.frame import resources
from pages.parts.frame.picking import OWN
from pages.parts.frame.tour import STOPS, Strip, shipped_strip
from tests.app_session import ATTRIBUTIONS, HOME, App, unescaped, wait
from tests.sessions import Session, running_server
from tests.shipped_work import MASKED, MEASURE, PLAIN, SURE, walk
from tests.shipping import EVERYTHING, FIRST, PAGES, any_machine, believed, sides, strip

LINES = [stop.line for stop in STOPS]
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
    """Its words, masks, verdicts and sentences, and its numbers within a unit of the last place that is shown."""
    found, told = strip(walked, first_example("reviews")), shipped_strip()
    assert {*found} == {*Strip._fields} and (found["asks"], found["said"]) == (told.asks, told.said)
    assert (found["model"], found["example"], found["predicted"]) == (told.model, told.example, told.predicted)

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
    """By a rule, `tests.shipping.crossing`; what its line says of the twin, and nothing such of the other, holds."""
    (stop,) = (stop for stop in STOPS if stop.title == "AOPC and NAOPC")
    example = next(one for one in read_bundled("reviews") if one.id == stop.choices["example"])
    boards = sides(walked, example.text)
    found = compare_standings(boards, COMPREHENSIVENESS)
    assert found.ahead[default_measures()[0]] == (None, MASKED)
    mine, its = (one.aopc for one in found.placed if one.measure == default_measures()[0])
    assert abs(mine - its) <= LEVEL
    assert {one.model for one in found.placed if one.marked} == {PLAIN}
    # "much further".
    assert boards[PLAIN].limits.upper - boards[MASKED].limits.upper > 0.2
    assert all(board.limits.method == EXACT for board in boards.values())
    # What comes closest is worth to be believed.
    best = boards[MASKED].best(COMPREHENSIVENESS)
    limits, encoded = boards[MASKED].limits, walked[MASKED].encode(example.text, None, "word")
    target = int(walked[MASKED].logits(encoded).argmax())
    chance = finish(find_chance(walked[MASKED], encoded, target, (MEASURE,))).null.reached.mean()
    assert best.measure == MEASURE and best.naopc[COMPREHENSIVENESS] > 0.8
    assert naopc(float(chance), limits.lower, limits.upper) < 0.5
    assert "Top triangles: by leave-one-out “negative” falls about as far in both (AOPC)." in stop.line
    assert "sst2-plain’s reaches further right, so the same fall is less of what is possible" in stop.line
    assert f"“{example.text}”" in stop.new and example.label == "positive"
    assert {walked[name].model.labels[target] for name in (MASKED, PLAIN)} == {"negative"}
    assert MEASURE in believed(walked[MASKED], example)


@pytest.fixture(params=[FIRST_REVIEWS, HARD_REVIEWS])
def first_text(request):
    return next(one.text for one in read_bundled(request.param) if one.id == first_example(request.param))


@pytest.fixture
def ships(monkeypatch):
    """What ships computed is shown, as in the app."""
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "yes")
    # Explainers too: those of other tests hold a store without it.
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def test_the_first_view_is_of_the_first_example_and_says_what_the_check_that_ships_says(ships, monkeypatch):
    monkeypatch.setattr("core.evaluation.engine.Run.add", lambda *_: pytest.fail("Home reads, and computes nothing"))
    app = App(HOME)
    explainer = resources.explainer(MASKED)
    checked = known_check(explainer, Index(bundled_set("reviews")), "word")
    result = known_result(explainer, Index(bundled_set("reviews")), "word")
    # The rule and the sentence are Model check's.
    assert (result.question, result.name, headline(result)) in app.headlines
    assert leads_by_length(checked) and result.outcome is ModelCheckOutcome.NOT_REJECTED_AT_USUAL_LENGTHS
    split = length_split(checked)
    assert (split.low, split.high, split.alike[1], split.others[1]) == (11, 44, 157, 43) and checked.n == SAMPLE
    assert split.others[0] / split.others[1] == pytest.approx(0.81, abs=0.005)
    assert known_result(explainer, Index(bundled_set("contrast pairs")), "word") is None, "not known: nothing is told"
    assert known_result(explainer, Index(bundled_set("news")), "word") is None, "labels of another task"
    # A link names it: another server may show another first.
    assert app.example == first_example("reviews") and app.at.query_params["example"] == app.example
    # Within filters, or in another order, the first is the first.
    assert App(ATTRIBUTIONS, order="length").example != first_example("reviews")


def test_the_first_stop_is_of_the_surest_mistake_that_its_filter_leaves(ships):
    """The page quotes it, it is the first row and chosen, and there is no other to choose."""
    stop = STOPS[0]
    example = next(one for one in read_bundled("reviews") if one.id == stop.choices["example"])
    app = App(stop.path, **stop.choices, tour="1")
    assert (
        f"of those that the filter leaves is {example.id}, “{html.escape(example.text)}”: it says negative" in app.said
    )
    first, *others = app.table["rows"]
    assert first["id"] == example.id and first["chosen"] and not any(row["chosen"] for row in others)
    assert not app.has("button", "Choose ") and first["label"] == "positive" and first["predicted"] == "negative"
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
    assert list(dict.fromkeys(re.findall("“(.*?)”", changes.line))) == [one.replace("'", "’") for one in masked]
    # The page before ranked once: its first word is the same, its second another.
    once = np.argsort(-mine.steps[0].scores)[:2]
    assert "so its second word is another than before" in changes.line
    assert [features[i].text == word for i, word in zip(once, masked)] == [True, False]
    both, twin = (walk(walked[name], second, MEASURE).summary for name in (MASKED, PLAIN))
    step = int(beside.choices["step"])
    assert both.gate.first is None and both.flips is not None and both.flips < step, "its change counts"
    assert twin.gate.first is not None and twin.gate.first <= twin.flips == step, "the twin's does not"
    # In the other two orders it changes before any input is rejected.
    assert "By other measures sst2-plain changes while grey" in beside.line
    for measure in default_measures():
        other = walk(walked[PLAIN], second, measure).summary
        assert measure == MEASURE or other.flips < other.gate.first


@pytest.mark.usefixtures("stands_aside", "ships", "on_any_machine")
@pytest.mark.parametrize(
    "at, claims",
    [
        (
            2,
            [
                "That is wrong: the label is positive. On “won&#x27;t” the measures disagree: leave-one-out says",
                "Believe leave-one-out here, of 3 measures: masked one by one in its order",
                "gradient and input × gradient are not shown to do better than chance.",
            ],
        ),
        (
            6,
            [
                "None of these 3 orders is shown to do better than chance here, that is, to take the score",
                "leave-one-out, gradient and input × gradient rank the evidence about alike, less than 0.05 apart",
                "leave-one-out may do better than chance if it is asked again after each step of masking (chance p = ",
                " by itself, not adjusted for 3 measures, a hint and no verdict): in another order than this one",
            ],
        ),
    ],
)
def test_a_stop_shows_what_its_line_says_of_whom_to_believe(at, claims, monkeypatch, tmp_path):
    """A success first, then a failure. Of what ships: nothing is asked of the network."""
    stop = STOPS[at - 1]
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    app = App(stop.path, **stop.choices, tour=str(at))
    counters = resources.explainer(stop.choices["model"]).model.scheduler.counters
    spent = counters.passes
    wait(app, lambda: all(claim in app.said for claim in claims), rest=60.0)
    assert counters.passes == spent
    if "all three look right" in stop.line:
        assert "and rightly finds Bruno in the orchard" in stop.new
        assert "That is right: the label is orchard" in app.said
        assert "One text often tells too little; Data set asks many." in app.said
        _, *found = next(rows for rows in app.tables if "recall of the top 3 ↑" in rows[0])
        assert {row[0]: row[2] for row in found if row[0] in default_measures()} == dict.fromkeys(
            default_measures(), f"{2 / 3:.3f}"
        )


@pytest.mark.usefixtures("ships")
def test_the_first_stop_on_masking_counts_the_random_orders_that_change_the_prediction_as_soon():
    """A tenth at most: more would be no few, and without any it would not have to say so."""
    stop = next(stop for stop in STOPS if stop.title == "Recursive masking")
    assert "few random orders do that as soon" in stop.line
    app = App(stop.path, **stop.choices, tour="3")
    counted = re.compile(r"Yes, but (\d+) of (\d+) random orders change it as soon")
    wait(app, lambda: counted.search(app.said), rest=60.0)
    as_soon, orders = map(int, counted.search(app.said).groups())
    assert 0 < as_soon <= orders / 10


@pytest.mark.usefixtures("ships")
def test_the_stop_on_many_texts_shows_that_one_measure_is_better_than_chance_on_most():
    """Its line names leave-one-out, and says that so it is on the first review: so do the intervals."""
    (stop,) = (stop for stop in STOPS if stop.title == "Data set")
    app = App(stop.path, **stop.choices, tour="7")
    _, *rows = next(table for table in app.tables if table[0][0] == "measure")
    # "79 % [73, 84]".
    shares = {row[0]: [int(part) for part in re.findall(r"\d+", row[1])] for row in rows}
    assert shares.pop(MEASURE)[1] > 50 and shares and all(high < 50 for _, _, high in shares.values())
    assert f"On the example chosen, {stop.choices['example']}, leave-one-out is better than chance." in app.said


@pytest.mark.usefixtures("ships", "fresh")
@pytest.mark.parametrize(
    "page, asked, told",
    [
        ("model_check", {}, "Yes for texts of 11 to 44 tokens"),
        ("data_set", {}, "For leave-one-out yes, on most texts"),
        ("data_set", {"section": "scores"}, "(means over 198 of 200 texts; with the highest stand those whose"),
        ("scoreboard", {"on": "a sample of the data"}, "no other measure significantly beats leave-one-out"),
    ],
)
def test_what_ships_whole_is_shown_by_no_job(page, asked, told, monkeypatch):
    """It would be read once more, and the page drawn again when that ended."""
    monkeypatch.setattr("pages.parts.sections.studying.Studying.run", lambda *_: pytest.fail("nothing is left to do"))
    monkeypatch.setattr("pages.parts.frame.working.PageWork.ask", lambda *_, **__: pytest.fail("nothing is asked for"))
    assert told in App(f"pages/{page}.py", **asked).said


@pytest.mark.usefixtures("ships")
def test_what_metrics_rest_on_is_said_where_scores_over_the_data_stand():
    """As *Scoreboard* counts it on the texts that ship: every text of soft metrics. Nothing is known of another unit,
    nor of metrics that erase otherwise.
    """
    found = "Of 100 texts of this data, the inputs that a metric gives the model are rejected as out-of-distribution on"
    for section in ("scores", "diagnosticity"):
        told = App("pages/data_set.py", section=section).said
        assert f"{SIGN} {found} all 100 for Soft-NS and Soft-NC and on " in told
        # As there, where it has no sign.
        no_more = "not shown to be more than the 5 % expected by chance"
        assert re.search(rf"; on . to . for NC \(depending on the measure\), {no_more} \(Scoreboard\)\.", told)
    rejected = App("pages/scoreboard.py", on="a sample of the data")
    assert "Asked of 100 texts drawn at random of the 264 texts of reviews." in rejected.said
    counts = next(table for table in rejected.tables if "Soft-NC ↑" in table[0] and "100 of 100" in table[1])
    assert all({row[counts[0].index(f"{name} ↑")] for row in counts[1:-1]} == {"100 of 100"} for name in ("Soft-NS",))
    assert found not in App("pages/data_set.py", section="scores", erasure="removal").said


def test_home_leads_to_four_places():
    app = App(HOME)
    assert app.at.title[0].value.startswith("Faithscope")
    assert (
        "Explanations of a classifier often disagree" in app.said
        and shipped_strip().said in app.said
        and "One review, 3 measures: sst2-fmm calls it negative; each" in app.said
        and "Here, believe leave-one-out and input × gradient, of 3 measures: masked in their orders, words" in app.said
    )
    assert [button.label for button in app.at.main.button][:4] == [
        "Take the tour: three minutes",
        "See mistakes of the model",
        "Paste a text",
        "Check a model",
    ]
    assert "Tour, stop" not in app.said


@pytest.mark.usefixtures("ships")
def test_home_says_that_its_example_is_the_strips_and_why_fewer_are_right_here():
    app = App(HOME)
    assert "The same example, explained by leave-one-out" in app.said
    hard = sum(bool(one.note) for one in read_bundled("reviews"))
    right = (
        f"it is right on 171 of 264 examples (64.8 %); {hard} of the 264 examples of reviews were written to be hard."
    )
    wait(app, lambda: right in app.said, rest=20.0)
    assert "It reaches 88.4 % accuracy ↑ on its own test file" in app.said
    assert "One example, explained by leave-one-out" in App(HOME, example="s005").said


def test_home_colours_its_review_by_each_measure_beside_whom_to_believe():
    """What ships, and nothing that could be mistaken for the row that is computed below."""
    (drawn,) = (data for data in App(HOME).drawn("pieces") if data.get("brief") and "rows" in data)
    told = shipped_strip()
    assert [row["name"] for row in drawn["rows"]] == [one["measure"] for one in told.rows] == list(default_measures())
    chips = [cell["chip"] for (cell,) in drawn["scores"]]
    assert chips == ["✓ better than chance", "– not shown better than chance", "✓ better than chance"]
    links = [urlsplit(cell["href"]) for (cell,) in drawn["scores"]]
    about = {"model": told.model, "data": "reviews", "example": told.example}
    assert all(link.path == "attributions" and about.items() <= dict(parse_qsl(link.query)).items() for link in links)
    for row, one in zip(drawn["rows"], told.rows):
        scores = np.array(one["scores"])
        assert row["shades"] == pytest.approx(scores / abs(scores).max()) and not row["detail"]


def test_home_without_its_strip_is_home_all_the_same(monkeypatch, tmp_path):
    shipped_strip.cache_clear()
    monkeypatch.setattr("pages.parts.frame.tour.STRIP", tmp_path / "nothing.json")
    try:
        app = App(HOME)
        assert not app.errors and "One review, under" not in app.said and list(app.rows) == [MEASURE]
    finally:
        shipped_strip.cache_clear()


def test_a_stop_says_its_line_on_its_page_and_elsewhere_where_it_goes_on():
    app = App(STOPS[1].path, **STOPS[1].choices, tour="2")
    assert LINES[1] in app.said and "stop 2 of 8" in app.said
    assert app.example == STOPS[1].choices["example"]
    app.press("Next")
    assert LINES[1] not in app.said
    assert "Here another example is chosen now, so what the tour says does not hold." in app.said
    app.press("Back to the tour")
    assert LINES[1] in app.said and app.example == STOPS[1].choices["example"]
    app.go(HOME)
    assert LINES[1] not in app.said and f"It goes on at {STOPS[1].title}." in app.said
    app.press("Leave the tour")
    assert "stop 2" not in app.said and "tour" not in app.at.query_params


def test_of_another_example_a_stop_says_nothing_and_leads_back():
    app = App(STOPS[1].path, **STOPS[1].choices, tour="2")
    assert LINES[1] in app.said and not app.has("button", "Back to the tour")
    app.set("selectbox", "Example", "s005").run()
    assert LINES[1] not in app.said and app.has("button", "Back to the tour")


@pytest.mark.parametrize("at", range(1, len(STOPS) + 1))
def test_the_address_that_a_stop_leaves_leads_back_to_it(at):
    """What is the default is in no address."""
    app = App(STOPS[at - 1].path, **STOPS[at - 1].choices, tour=str(at))
    assert LINES[at - 1] in app.said
    asked = dict(app.at.query_params.items())
    assert "model" in STOPS[at - 1].choices and ("model" in asked) == (STOPS[at - 1].choices["model"] != MASKED)
    again = App(STOPS[at - 1].path, **asked)
    assert LINES[at - 1] in again.said and not again.has("button", "Back to the tour")


def test_a_stop_announces_first_what_it_shows_that_was_not_shown_before():
    shown = [{key: value for key, value in stop.choices.items() if key in CHOSEN} for stop in STOPS]
    assert all(value in f"{STOPS[0].new} {LINES[0]}" for value in shown[0].values())
    for stop, before, now in zip(STOPS[1:], shown, shown[1:]):
        assert bool(stop.new) == (before != now)
        assert all(value in stop.new for key, value in now.items() if before.get(key) != value)


@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: str(STOPS.index(stop) + 1))
def test_a_stop_is_spoken_in_twenty_seconds_and_names_no_number(stop):
    told = " ".join([stop.new, stop.line, *stop.recap])
    assert len(told.split()) <= 60, "at three words a second"
    for name in stop.choices.values():
        told = told.replace(name, "")
    assert not re.search(r"\d", told.replace("sst2-plain", "").replace("sst2-fmm", ""))


def test_the_last_stop_invites_and_a_text_ends_the_tour_wherever_one_goes():
    app = App(STOPS[-1].path, **STOPS[-1].choices, tour=str(len(STOPS)))
    assert not app.errors and "Type or paste a text of your own" in app.said and LINES[-1] in app.said
    assert app.has("button", "Explain") and not app.has("button", "Continue the tour")
    app.type("a warm and funny film")
    for page in (ATTRIBUTIONS, HOME):
        app.go(page)
        # What it showed makes room for what is shown of the text, and is kept at hand.
        (kept,) = (one for one in app.at.get("popover") if one.proto.popover.label == "To take away")
        assert all(told in kept.markdown[0].value.replace("\\", "") for told in STOPS[-1].recap)
        assert "the end" in app.said and "It goes on" not in app.said and not app.has("button", "Back to the tour")
    app.press("More examples")
    assert "Tour, stop" not in app.said and app.widget("selectbox", "Data").value == "reviews"


@pytest.mark.parametrize("asked", ["0", "9", "two", "-1", ""])
def test_a_stop_that_is_none_is_no_tour(asked):
    app = App(ATTRIBUTIONS, tour=asked)
    assert "Tour, stop" not in app.said and not app.errors and "tour" not in app.at.query_params


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("tour"), FAITHSCOPE_SHIPPED="yes") as address:
        yield address


def said(visitor: Session) -> str:
    return unescaped(" ".join(visitor.texts))


def test_the_tour_goes_forth_and_back_and_each_stop_shows_what_its_link_shows(server):
    """Whatever was chosen before: a stop is its link and nothing else."""
    with Session(server, "", example="s005", unit="token", measures="attention") as walker:
        walker.press("Take the tour: three minutes")
        for stop in STOPS:
            assert all(told in said(walker) for told in (stop.new, stop.line, *stop.recap))
            asked = dict(parse_qsl(walker.query))
            assert asked["tour"] == str(STOPS.index(stop) + 1) and "attention" not in walker.query
            assert {key: asked.get(key, value) for key, value in stop.choices.items()} == stop.choices
            assert not walker.errors
            if stop is not STOPS[-1]:
                # What is chosen at a stop is left there.
                walker.choose("Unit", "token")
                walker.press("Continue the tour")
        walker.press("Previous stop")
        assert STOPS[-2].line in said(walker)


@pytest.mark.parametrize(
    "button, question, part, data",
    [
        ("See mistakes of the model", "Which example", "outcome=wrong", "reviews"),
        ("See mistakes of the model", "Which example", "outcome=wrong", OWN),
        ("Paste a text", "Which words", "data=own+text", "reviews"),
        ("Check a model", "Does this model", "weights=", OWN),
    ],
)
def test_the_ways_in_lead_where_they_say(server, button, question, part, data):
    """Mistakes and checks are of data, whatever text of one's own was looked at."""
    with Session(server, "", data=data) as visitor:
        visitor.press(button)
        assert any(text.startswith(question) for text in visitor.texts), visitor.texts[:3]
        assert part in visitor.query and ("own" in visitor.query) == (button == "Paste a text")


def test_a_press_where_the_filters_leave_nothing_leads_nowhere(monkeypatch):
    monkeypatch.setattr(
        "pages.parts.frame.picking.draw_presses", lambda held, on: held.read({"visit": held.visit, "sum": 2})
    )
    app = App(ATTRIBUTIONS, search="zzzzzz", example="s005")
    assert app.example == "s005" and "No example matches the filters" in app.said
    # They are taken, and not kept for when there is something again.
    app.press("Clear filters")
    assert app.example == "s005"


def test_every_page_has_its_words_and_keys():
    app = App(ATTRIBUTIONS)
    assert TERMS["RACU ↑"] not in app.said
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


def test_the_check_that_ships_sets_the_twin_beside_the_model_and_says_what_to_do(ships, monkeypatch):
    app = App("pages/model_check.py", model=MASKED, data="reviews")
    assert f"{PLAIN}: no" in app.badges and app.facts["most texts rejected ↓"] == f"18 % {SIGN}"
    (table,) = (one for one in app.tables if "all masked ↑" in one[0])
    column = table[0].index("rejected at 100 % masked ↓")
    assert [(row[0], row[column]) for row in table[1:]] == [(MASKED, "35"), (PLAIN, "200")]
    assert f"python -m core reference --model {MASKED} --data FILE" in [one.value for one in app.at.code]
    scores = App("pages/data_set.py", model=MASKED, data="reviews", section="scores")
    model_check = "Model check finds that inputs of this data are rejected as out-of-distribution"
    assert model_check not in scores.said, "Scoreboard knows of the very inputs"
    # What an answer rests on first stands below it, the rest is folded, on a tour all of it, and once.
    (answer,) = (
        said for raw, said in scores.markup() if raw and said.startswith("<p") and "with the highest stand" in said
    )
    seen, folded = answer.split("<details>")
    assert "favours it, and by how much is not known." in seen and "<b>By NC and NS ⚠ the highest are " in seen
    assert "Not ahead of random attributions" in folded and folded.count("<summary") == 1
    # Which metrics rest on rejected inputs stands at their figures, too.
    (header,) = (one for one in scores.tables if one[0][0] == "measure")
    assert [name.partition(" (n")[0] for name in header[0][1:]] == ["NS ↑ ⚠", "NC ↑", "Soft-NS ↑ ⚠", "Soft-NC ↑ ⚠"]
    toured = App("pages/data_set.py", model=MASKED, data="reviews", section="scores", tour="7")
    assert sum(said.count("<summary") for raw, said in toured.markup() if raw and "with the highest stand" in said) == 1
    # What is judged on one page is known where it is taken for granted, and where nothing is scored yet.
    granted = App("pages/data_set.py", model=MASKED, data="reviews", section="diagnosticity")
    shares = "Measures against chance finds leave-one-out better than chance on"
    (answer,) = (said for raw, said in granted.markup() if raw and said.startswith("<p") and "tossing a coin" in said)
    seen, folded = answer.split("<details>")
    assert (
        "by measure, Soft-NS does not tell gradient or attention from random attributions." in seen
        and "⚠" in seen
        and "of 24 intervals" in folded
    )
    assert shares in without_markup(folded) and shares not in without_markup(seen) and shares in granted.said
    erased = App("pages/hard_and_soft_erasure.py", model=MASKED, data="reviews", example="s104")
    wait(erased, lambda: "Data set asks many" in erased.said)
    hardly = (
        "By Soft-NS and Soft-NC other texts will hardly tell either: Scoreboard finds inputs rejected on 100 of 100"
    )
    assert hardly in erased.said
    board = {"model": MASKED, "data": "reviews", "on": "a sample of the data"}
    scored = App("pages/scoreboard.py", **board)
    assert "no other measure significantly beats leave-one-out, integrated gradients or scaled attention" in scored.said
    assert "least (3 forward passes); by sufficiency, RACU and NC only leave-one-out is unbeaten." in scored.said
    assert "not judged yet" not in scored.said and "on 80 of 100, 80 % [71, 87]" in scored.said
    # Of rows of another version nothing is known, and of more texts than six measures are judged on three are.
    monkeypatch.setattr("core.evaluation.studies.board_rows._Part._version", 99)
    assert model_check in App("pages/data_set.py", model=MASKED, data="reviews", section="scores").said
    unscored = App("pages/scoreboard.py", **board, sample="200")
    first = "Of the 3 measures that Data set has judged on these texts, believe leave-one-out first: it is better than"
    assert first in unscored.said and "attention are not judged yet;" in unscored.said
    # What is known is of all of them, whichever come first once more is asked for.
    assert "Asked of" not in unscored.said
    assert "Model check finds that inputs of this data are rejected" in unscored.said and "means" not in unscored.said


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
def test_home_says_which_explanation_to_believe_and_on_a_tour_a_picture_comes_before_what_explains_the_answer(
    monkeypatch,
):
    example = next(one for one in read_bundled("reviews") if one.id == STOPS[0].choices["example"])
    known = believed(resources.explainer(MASKED), example)
    monkeypatch.setattr("core.evaluation.engine.Run.add", lambda *_: pytest.fail("Home reads, and computes nothing"))
    told = App(HOME, example=example.id).said
    named = joined([name for name in default_measures() if name in known])
    assert known and f"On this example: believe {named}, of 3 measures: masked in " in told
    first = App(HOME).said
    # Of its own example the strip says it.
    assert "Here, believe" in first and "On this example: " not in first
    for said in (first, told):
        assert "believe leave-one-out first: it is better than chance on 82 % of the 200" in said
    monkeypatch.undo()
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "yes")
    # Of another class than the one that is judged, and of a text of one's own, nothing is told.
    for asked in ({"class": "positive"}, {"data": "own text", "text": "Not a word of it is true."}):
        assert "On this example: " not in App(HOME, **asked).said
    stop = next(stop for stop in STOPS if stop.title == "Recursive masking")
    app = App(stop.path, **stop.choices, tour="3")

    def answer() -> str:
        return next(text for _, text in app.markup() if "Whether an order is more than luck" in text)

    wait(app, lambda: "Whether an order is more than luck" in app.said, rest=60.0)
    first, _, folded = answer().partition("</p><details><summary style='cursor:pointer'>More on this answer</summary>")
    assert "changes the prediction" in first and "Whether an order is more than luck" in folded
    app.press("Leave the tour")
    assert "<details>" not in answer()


@pytest.mark.parametrize(
    "words, told",
    [
        (
            (Word.BETTER, Word.NO_BETTER),
            "believe <b>a&lt;</b>, of 2 measures: masked in its order, words lower the score",
        ),
        ((Word.BETTER, Word.BETTER), "believe <b>a&lt;</b> and <b>b</b>, of 2 measures: masked in their orders, words"),
        ((Word.NO_BETTER, Word.UNTOLD), "none of 2 measures is shown to do better than chance."),
        ((Word.UNTOLD, Word.UNTOLD), "of 2 measures it cannot be told."),
    ],
)
def test_whom_to_believe_on_one_text_is_said_by_its_verdicts(words, told):
    assert believed_sentence(dict(zip(("a<", "b"), words))).startswith(told)


def test_beside_which_words_count_each_verdict_is_told_in_a_word():
    words = {"a<": Word.BETTER, "b": Word.NO_BETTER, "c": Word.BETTER, "d": Word.UNTOLD}
    assert standing_sentence(words) == (
        "Better than chance: <b>a&lt;</b> and <b>c</b>; not shown to be: <b>b</b>; cannot be told: <b>d</b> (the chance "
        "test, on this text)."
    )
    # Without one that is, it stands for itself.
    assert standing_sentence({"a": Word.NO_BETTER}).startswith("Not shown to be better than chance: <b>a</b> (the")
    assert standing_sentence({}) == "" and standing_sentence({"a": Word.WORSE}).startswith(
        "Worse than chance: <b>a</b>"
    )


@pytest.mark.usefixtures("ships")
def test_the_scoreboard_of_one_text_says_how_it_is_over_a_sample():
    """Attention is better than chance on the first review, and on about one of five."""
    app = App("pages/scoreboard.py", on="this example")
    wait(app, lambda: "A sample of the data finds leave-one-out better than chance on 80 %" in app.said, rest=60.0)
    assert "Over most texts it is otherwise for input × gradient, integrated gradients, attention and" in app.said
    assert "on 80 %, integrated gradients on 78 %, scaled attention on 72 %" in app.said
    assert "and attention on 22 % of 100 texts. To choose a measure for other texts, go by these" in app.said


@pytest.mark.usefixtures("stands_aside", "ships", "on_any_machine")
def test_attributions_says_beside_the_words_which_are_better_than_chance():
    app = App(ATTRIBUTIONS, model=MASKED, data="reviews", example="s140")
    told = "Better than chance: leave-one-out; not shown to be: gradient and input × gradient (the chance test, on this"
    wait(app, lambda: told in app.said, rest=60.0)
    assert "Speaks most for" in app.said
