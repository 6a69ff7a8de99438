"""The pages without a browser: what they send, what they hold, and what they say when something is wrong."""

import html
import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as some

from core import settings, wording
from core.data.examples import bundled_data, read_bundled, title
from core.explanation.completeness import SUMMED, completeness
from core.explanation.explainer import Cost, Explainer
from core.explanation.rows import agreement, build_row, pieces, value_text
from core.loading.locating import bundled_models
from core.measures.catalogue import measure, measures
from core.measures.registry import WORDS
from core.network.features import NoFeatures, find_words
from core.network.scheduler import Cancelled, OutOfMemory
from core.oracle.oracle import Oracle
from core.results.caveats import Caveat
from core.storage.store import Store
from core.wording import number
from pages.parts.frame import data as frame_data
from tests.app_session import ATTRIBUTIONS, HOME, PAGES, ROOT, App, wait
from tests.pairs import pairs

pytestmark = pytest.mark.usefixtures("server")
DEFAULT = ["leave-one-out", "gradient", "input × gradient"]
REVIEWS = read_bundled("reviews")
SHORT = min(REVIEWS, key=lambda example: len(example.text)).id
# Long enough for beam search to be told from the others by its passes, short enough to wait for.
SMALL = next(example for example in REVIEWS if len(find_words(example.text)) == 9)
BASE = settings.BUNDLED / "bases" / "all-minilm-l6-v2"


def one_sentence(app: App, about: str) -> None:
    """The page says in a sentence what is wrong, shows no code, and keeps its sidebar and a way on."""
    (said,) = app.errors
    assert re.search(about, said), said
    assert said.rstrip()[-1] in ".?!)" and "Traceback" not in said and "\n" not in said and 'File "' not in said
    assert app.widget("selectbox", "Data").value == "reviews" and app.example == REVIEWS[0].id
    assert app.widget("text_area", "Text") and app.has("button", "Explain") and not app.rows


def fine(app: App) -> bool:
    """The page shows what it is for, and nothing is wrong."""
    return app.shown and not app.errors


def fits_no_class(app: App, page: str, data: str) -> bool:
    """The page needs labels that the model's classes are named by, this data has others, and it says so."""
    asks, has = page == "pages/model_check.py", data in ("reviews", "contrast pairs")
    return asks and not has and re.search(f"None of the labels of {data}", " ".join(app.errors)) is not None


# Pages


@pytest.fixture
def nothing_starts(monkeypatch):
    """Pages offer their work and start none of it; what takes a pass or two is there."""
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr("pages.parts.frame.data.CHEAP_SECONDS", -1.0)
    monkeypatch.setattr(Cost, "cheap", property(lambda cost: cost.passes < 5))


QUESTIONS: dict = {}
# Where the measures stand above the words, and class and unit beside them.
WITH_WORDS = {
    f"pages/{name}.py" for name in ("attributions", "recursive_masking", "aopc_and_naopc", "hard_and_soft_erasure")
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_as_the_first_request_and_from_every_other_with_what_was_chosen(
    page, nothing_starts, nothing_added
):
    app = App(page, example="s005", unit="token", **{"class": "negative"})
    chosen = ("Model", "Data", "Example", "Explained class", "Rather than", "Unit")
    beside, above = (
        [e.label for e in part if getattr(e, "label", "") in chosen] for part in (app.at.sidebar, app.at.main)
    )
    words = page in WITH_WORDS
    assert (beside, above) == ([*chosen[:3]], [*chosen[3:]]) if words else (beside, above) == ([*chosen], [])
    links = [e.proto.label for e in app.at.sidebar if getattr(e, "type", "") == "page_link"]
    assert len(set(links)) == len(PAGES)
    assert app.widget("selectbox", "Data").options == [*map(title, frame_data.bundled_data()), "own text"]
    # There and back: over all pages, every one is reached from every other.
    later = PAGES[PAGES.index(page) + 1 :]
    for here in [page, page, *(step for other in later for step in (other, page))]:
        (header,) = app.go(here).at.title
        assert header.value.endswith("?") and header.value == QUESTIONS.setdefault(here, header.value)
        assert app.shown and not app.errors and not app.at.warning
        assert (app.example, app.choice) == ("s005", ("sst2-fmm", "reviews", "negative", "token"))
    assert len(set(QUESTIONS.values())) == len(QUESTIONS)


def test_home_says_what_is_predicted_and_colours_the_words(bundled, fresh):
    app = App()
    encoded = bundled.encode(REVIEWS[0].text)
    explainer = Explainer(bundled)
    predicted = explainer.probabilities(encoded)
    target = int(predicted.argmax())
    sign = " ✓" if bundled.labels[target] == REVIEWS[0].label else " ✗ wrong"
    assert f"{bundled.labels[target]} {number(float(predicted[target]))}{sign}" in app.badges
    assert app.text == REVIEWS[0].text[: encoded.features[-1].end] and bundled.labels[target] in app.words["for"]
    found = {name: explainer.attribute(encoded, name, target) for name in DEFAULT}
    rows_are_the_librarys(app, encoded, found, "signed")
    assert app.at.get("page_link") and app.has("button", "Take the tour") and not app.errors


def test_attributions_shows_three_measures_and_their_agreement(bundled, fresh):
    app = App(ATTRIBUTIONS)
    assert list(app.rows) == DEFAULT and app.widget("multiselect", "Measures").value == DEFAULT
    assert not app.at.get("warning") and not app.errors
    kinds = [getattr(e, "type", "") for e in app.at.main]
    assert kinds.index("html") < kinds.index("multiselect") < kinds.index("bidi_component")
    encoded = bundled.encode(REVIEWS[0].text)
    target = int(Explainer(bundled).logits(encoded).argmax())
    rows = [build_row(measure(name), Explainer(bundled).attribute(encoded, name, target), "signed") for name in DEFAULT]
    for shown, values in zip(app.agreement, agreement(rows, 3), strict=True):
        assert [row[0] for row in shown[1:]] == DEFAULT
        assert np.allclose(
            [[float(cell.replace("−", "-")) for cell in row[1:]] for row in shown[1:]], values, atol=0.0051
        )


# Numbers


@pytest.mark.parametrize("unit, first, then", [("word", "signed", "absolute"), ("token", "absolute", "signed")])
def test_the_numbers_are_the_librarys(bundled, unit, first, then, fresh):
    text = next(example.text for example in REVIEWS if example.id == SHORT)
    encoded = bundled.encode(text, unit=unit)
    # What is computed at once here, and needs nothing that is to be fitted first.
    names = [name for name, one in measures().items() if one.passes(encoded.F) < 300 and one.needs != WORDS]
    app = App(ATTRIBUTIONS, example=SHORT, unit=unit, values=first, measures=names)
    explainer = Explainer(bundled)
    target = int(explainer.logits(encoded).argmax())
    found = {name: explainer.attribute(encoded, name, target) for name in names}
    assert app.words["pieces"] == pieces(encoded)
    rows_are_the_librarys(app, encoded, found, first)
    rows_are_the_librarys(app.set("button_group", "Values", then), encoded, found, then)


def rows_are_the_librarys(app, encoded, found, sign):
    """Every row that is shown is that of an attribution, with values of this kind."""
    drawn = app.rows
    assert list(drawn) == list(found)
    for name, attribution in found.items():
        row, sent = build_row(measure(name), attribution, sign), drawn[name]
        assert sent["kind"] == row.kind and sent["places"] == row.places.tolist()
        assert np.allclose(sent["shades"], row.shades, rtol=1e-4, atol=1e-6)
        assert sent["values"] == [value_text(row, i) for i in range(encoded.F)]
        assert max(map(abs, sent["shades"])) <= 1


def test_whether_scores_add_up_is_told_where_they_should(bundled):
    app = App(ATTRIBUTIONS, example=SHORT, measures=["DeepLift", "KernelSHAP", "gradient", "integrated gradients"])
    encoded = bundled.encode(app.text)
    explainer = Explainer(bundled)
    target = int(explainer.logits(encoded).argmax())
    ((_, *drawn),) = [cells for cells in app.tables if tuple(cells[0][1:]) == SUMMED]
    lifted, sampled, summed = sorted(drawn)
    found, path = (
        completeness(explainer, encoded, explainer.attribute(encoded, name, target))
        for name in ("DeepLift", "integrated gradients")
    )
    assert lifted == ["DeepLift", *found.cells] and lifted[-1] == "yes"
    assert sampled == ["KernelSHAP", *[f"{number(found.due)} logits"] * 2, f"{number(0.0)} logits", "no"]
    assert summed == ["integrated gradients", *path.cells] and path.due != pytest.approx(found.due)
    assert "scores add up" in app.said
    assert "scores add up" not in App(ATTRIBUTIONS, example=SHORT).said


def test_a_measure_that_does_not_apply_is_a_sentence_and_the_others_stay():
    app = App(ATTRIBUTIONS, example=SHORT, measures=["gradient", "mutual information"])
    assert list(app.rows) == ["gradient"] and "not measured for" in app.said and not app.errors


def test_absolute_values_have_no_sign_where_the_measure_has_them():
    app = App(ATTRIBUTIONS, example=REVIEWS[0].id)
    signed = app.rows
    app.set("button_group", "Values", "absolute")
    for name in ("leave-one-out", "input × gradient"):
        assert (
            signed[name]["kind"] == "signed"
            and app.rows[name]["kind"] == "positive"
            and min(app.rows[name]["shades"]) >= 0
        )
    assert np.allclose(app.rows["leave-one-out"]["shades"], np.abs(signed["leave-one-out"]["shades"]))
    assert min(min(signed[name]["shades"]) for name in ("leave-one-out", "input × gradient")) < 0
    assert app.rows["gradient"] == signed["gradient"]


def test_the_unit_cuts_the_text_into_tokens(bundled):
    app = App(ATTRIBUTIONS, example=SHORT)
    words = len(app.words["pieces"])
    app.set("button_group", "Unit", "token")
    text = next(example.text for example in REVIEWS if example.id == SHORT)
    assert len(app.words["pieces"]) == bundled.encode(text, unit="token").F >= words
    assert app.at.query_params["unit"] == "token"


LETTER = "The boat is slow, and I like it. The sea is wide!\n\nWe were glad to be home [MASK]; so was the dog."


@pytest.mark.parametrize("unit, count", [("clause", 5), ("sentence", 3)])
def test_a_longer_text_by_clauses_and_sentences(unit, count):
    app = App(ATTRIBUTIONS, unit=unit, measures=["gradient", "leave-one-out"]).type(LETTER)
    assert app.choice[3] == unit and app.text == LETTER and len(app.words["pieces"]) == count
    assert not any(piece["masked"] for piece in app.words["pieces"]), "a typed mask masks itself only"
    assert unit in app.words["hint"] and app.words["title"].startswith(f"{unit.capitalize()}s coloured")
    assert "word" not in app.words["hint"]
    for page in (HOME, "pages/recursive_masking.py"):
        app.go(page)
        assert not app.errors and app.choice[3] == unit
    assert f"{unit.capitalize()}s masked by hand" in [one.get("title") for one in app.drawn("pieces")]


def test_no_measure_chosen_still_shows_the_text():
    app = App(ATTRIBUTIONS, example=SHORT)
    text = app.text
    app.set("multiselect", "Measures", [])
    assert app.rows == {} and app.text == text and not app.errors and not app.agreement
    assert list(app.set("multiselect", "Measures", ["gradient"]).rows) == ["gradient"]


# Choosing


def test_a_class_button_explains_that_class(bundled):
    app = App(ATTRIBUTIONS, example=SHORT)
    before = app.rows["leave-one-out"]["shades"]
    buttons = [b for b in app.at.button if re.search(r" · [\d.]", b.label)]
    assert [b.label.split(" · ")[0] for b in buttons] == list(bundled.labels)
    predicted = app.words["for"].split("“")[1].rstrip("”")
    other = next(label for label in bundled.labels if label != predicted)
    app.press(other, exact=False)
    after = app.rows["leave-one-out"]["shades"]
    assert other in app.words["for"] and app.widget("selectbox", "Explained class").value == other
    # Of two classes one logit falls where the other rises, as a rule.
    assert before != after and np.corrcoef(before, after)[0, 1] < 0
    assert other in app.said and app.at.query_params["class"] == other
    app.set("selectbox", "Explained class", "predicted")
    assert app.rows["leave-one-out"]["shades"] == before


def test_another_set_of_data_starts_at_one_of_its_own_examples():
    app = App(example="s010").set("selectbox", "Data", "contrast pairs")
    assert (
        app.example in {example.id for example in read_bundled("contrast pairs")}
        and not app.at.warning
        and not app.errors
    )
    app.set("selectbox", "Data", "reviews")
    assert app.example in {example.id for example in REVIEWS} and not app.at.warning and not app.errors


def test_a_choice_holds_on_every_page():
    app = App(ATTRIBUTIONS)
    app.set("selectbox", "Example", "s005").set("selectbox", "Explained class", "negative").set(
        "button_group", "Unit", "token"
    )
    choice, text = app.choice, app.text
    app.set("multiselect", "Measures", ["attention", "gradient"]).set("button_group", "Values", "absolute")
    app.go(HOME)
    assert (app.choice, app.example, app.text) == (choice, "s005", text)
    app.press("Next").go(ATTRIBUTIONS)
    assert app.example == "s006" and app.choice == choice
    assert list(app.rows) == ["attention", "gradient"] and app.widget("button_group", "Values").value == "absolute"


def test_a_text_of_ones_own_holds_on_every_page_and_in_the_address():
    typed = "Not one dull minute."
    app = App(ATTRIBUTIONS).type(typed)
    assert app.text == typed and app.widget("selectbox", "Data").value == "own text"
    assert app.go(HOME).text == app.go(ATTRIBUTIONS).text == typed
    # Somebody else opens the same address.
    other = App(ATTRIBUTIONS, **app.at.query_params)
    assert other.text == typed and not other.errors
    app.set("selectbox", "Data", "reviews")
    assert app.text.startswith(REVIEWS[0].text[:20]) and "text" not in app.at.query_params
    assert app.set("selectbox", "Data", "own text").text == typed


def test_a_second_text_is_read_and_never_masked(bundled, shared_store):
    # There is no box for it where the model reads one; a link may bring it all the same.
    own = "A fine film.", "The dialogue <b>drags</b>."
    digest = Store(shared_store).put_text(json.dumps(own))
    app = App(ATTRIBUTIONS, data="own text", text=digest)
    assert app.text == own[0] and html.escape(own[1]) in " ".join(e.value for e in app.at.html)
    encoded = bundled.encode(*own)
    row = build_row(
        measure("gradient"),
        Explainer(bundled).attribute(encoded, "gradient", int(Explainer(bundled).logits(encoded).argmax())),
        "signed",
    )
    assert np.allclose(app.rows["gradient"]["shades"], row.shades, rtol=1e-4)


def test_two_people_do_not_mix():
    one, two = App(ATTRIBUTIONS, example="s003"), App(ATTRIBUTIONS, example="s004")
    texts = {app.text for app in (one, two)}
    one.run(), two.run()
    assert len(texts) == 2 and (one.example, two.example) == ("s003", "s004") and {one.text, two.text} == texts
    one.type("Mine alone.")
    assert two.run().widget("selectbox", "Data").value == "reviews"


# Links


def test_a_link_restores_what_it_names():
    app = App(
        ATTRIBUTIONS,
        data="contrast pairs",
        example="p07b",
        unit="token",
        measures=["attention", "random"],
        values="absolute",
        **{"class": "negative"},
    )
    assert app.example == "p07b" and app.choice[1:] == ("contrast pairs", "negative", "token")
    assert list(app.rows) == ["attention", "random"] and app.widget("button_group", "Values").value == "absolute"
    assert "negative" in app.words["for"] or not app.words["signed"]
    assert not app.at.warning


MISSING = {"data": "nothing", "class": "no such class", "unit": "paragraph", "model": "nobody/nothing"}
STRANGE = ["s999", "<script>alert(1)</script>", "", ["s002", "s003"]]
# Every page meets every set of data, every page and every set everything that a link may name, and so on.
LINKS = pairs(
    page=PAGES,
    data=[*bundled_data(), MISSING["data"]],
    example=[None, "the last", *STRANGE],
    unit=[None, "token", "clause", "sentence", MISSING["unit"]],
    model=[None, MISSING["model"]],
    text=[None, "0" * 64],
    move=["Next", "Previous"],
    **{"class": [None, MISSING["class"]]},
)


@pytest.mark.parametrize("asked", LINKS, ids=lambda asked: f"{Path(asked['page']).stem}-{asked['data']}")
def test_a_link_opens_a_page_on_its_data_and_falls_back_where_something_is_not_there(asked, nothing_starts):
    data = asked["data"] if asked["data"] in bundled_data() else "reviews"
    ids = [example.id for example in read_bundled(data)]
    query = {name: value for name, value in asked.items() if value is not None and name not in ("page", "move")}
    if asked["example"] == "the last":
        query["example"] = ids[-1]
    app = App(asked["page"], **query)
    # Of several examples in one address the last counts.
    example = query["example"][-1] if query.get("example") == STRANGE[-1] else query.get("example")
    at = ids.index(example) if example in ids else 0
    unit = "word" if asked["unit"] in (None, MISSING["unit"]) else asked["unit"]
    assert app.example == ids[at] and app.choice == ("sst2-fmm", data, "predicted", unit)
    missing = [value for name, value in MISSING.items() if asked[name] == value]
    missing += [] if example in (None, *ids) else [example]
    assert len(app.lacking) == len(missing) and all(any(one in said for said in app.lacking) for one in missing)
    assert fits_no_class(app, asked["page"], data) or fine(app)
    no_raw_markup(app)
    # The last comes after the first, and the other way round.
    after = ids[(at + (1 if asked["move"] == "Next" else -1)) % len(ids)]
    assert app.press(asked["move"]).example == after == app.at.query_params.get("example", ids[0])
    assert fits_no_class(app, asked["page"], data) or fine(app)


@pytest.mark.parametrize(
    "query", [{"measures": ["no such measure"]}, {"measures": ["gradient", "nonsense"]}, {"values": "sideways"}]
)
def test_a_link_to_no_measure_falls_back(query):
    app = App(ATTRIBUTIONS, **query)
    assert not app.errors and app.widget("button_group", "Values").value == "signed"
    assert set(app.widget("multiselect", "Measures").value) <= set(measures()) and "nonsense" not in app.rows


def test_a_link_to_a_text_that_is_not_kept_here_says_so():
    app = App(ATTRIBUTIONS, data="own text", text="0" * 64)
    (said,) = app.errors
    assert "text" in said and not app.components
    assert app.type("A new one.").text == "A new one." and not app.errors


def test_a_link_to_no_text_of_ones_own_invites_to_type_one():
    app = App(ATTRIBUTIONS, data="own text", text="")
    assert len(app.at.info) == 1 and not app.components and not app.errors
    assert app.type("A new one.").text == "A new one." and not app.errors


# Words that are clicked


def click(app: App, word: int) -> App:
    """What the component sends when a word is clicked."""
    app.at.session_state[app.components[0].key] = {"word": f"{app.words['text']}:{word}"}
    return app.run()


def test_a_clicked_word_is_compared_between_the_measures():
    app = click(App(ATTRIBUTIONS, example=SHORT), 1)
    assert app.words["chosen"] == 1
    (table,) = [table for table in app.tables if table[0][0] == "measure" and "value" in table[0]]
    place = table[0].index("value")
    assert [(row[0], row[place]) for row in table[1:]] == [(name, app.rows[name]["values"][1]) for name in DEFAULT]
    assert app.words["pieces"][1]["text"] in app.said


def test_a_clicked_word_of_one_text_is_not_another_texts():
    app = click(App(ATTRIBUTIONS, example=SHORT), 1)
    assert app.words["chosen"] == 1 and app.press("Next").words["chosen"] is None


def test_a_click_that_makes_no_sense_marks_nothing():
    app = App(ATTRIBUTIONS, example=SHORT)
    for state in ({"word": 1}, {"word": "1"}, {"word": "nonsense:1"}, {"word": ["a"]}, {"word": None}, {}):
        app.at.session_state[app.components[0].key] = state
        assert app.run().words["chosen"] is None
    assert click(app, 9_999).words["chosen"] is None
    assert click(app, 1).words["chosen"] == 1


# Work that waits to be asked


def test_dear_work_says_its_cost_and_is_done_when_asked(bundled, fresh):
    example = SMALL
    app = App(ATTRIBUTIONS, example=example.id, measures=["gradient", "beam"])
    passes = measure("beam").passes(bundled.encode(example.text).F)
    assert f"{passes:,} forward passes" in app.said and list(app.rows) == ["gradient"]
    app.press("Compute beam")
    wait(app, lambda: "beam" in app.rows, rest=60.0)
    row = build_row(
        measure("beam"),
        Explainer(bundled).attribute(
            bundled.encode(example.text), "beam", int(Explainer(bundled).logits(bundled.encode(example.text)).argmax())
        ),
        "signed",
    )
    assert app.rows["beam"]["kind"] == "rank" and app.rows["beam"]["places"] == row.places.tolist()
    assert set(app.rows["beam"]["shades"]) == {0.0} and not app.has("button", "Compute beam")
    # Stored: another session finds it, and so does a server that starts again.
    assert "beam" in App(ATTRIBUTIONS, example=example.id, measures=["beam"]).rows
    st.cache_resource.clear()
    assert "beam" in App(ATTRIBUTIONS, example=example.id, measures=["beam"]).rows


def test_what_waits_to_be_asked_is_said_and_the_text_is_there(bundled, fresh):
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["beam"])
    assert app.rows == {} and app.text == SMALL.text and app.has("button", "Compute beam")
    assert app.outcomes == ["not computed"]


def test_a_long_text_does_not_keep_the_first_view_waiting(monkeypatch, fresh):
    monkeypatch.setattr(Cost, "cheap", property(lambda cost: cost.passes < 5))
    assert list(App(example=SMALL.id).rows) == ["gradient", "input × gradient"]
    app = App(ATTRIBUTIONS, example=SMALL.id)
    assert {"gradient", "input × gradient"} <= set(app.rows), "they do not wait for leave-one-out"
    wait(app, lambda: list(app.rows) == DEFAULT)


@pytest.fixture
def slow_beam(monkeypatch, fresh):
    """Beam search that goes on until it is told to stop or let go."""
    really, let_go = Explainer.attribute, threading.Event()

    def attribute(self, encoded, name, target, *more, progress=None, cancelled=None, **rest):
        if name == "beam":
            progress(30, 120)
            while not let_go.wait(0.02):
                if cancelled():
                    raise Cancelled("stopped")
        return really(self, encoded, name, target, *more, progress=progress, cancelled=cancelled, **rest)

    monkeypatch.setattr(Explainer, "attribute", attribute)
    yield let_go
    let_go.set()


def under_way(app: App) -> str:
    """What the page says is being computed; "" where nothing is."""
    return " ".join(str(one.proto.text) for one in app.at.get("progress"))


def test_a_job_shows_how_far_it_is_and_outlives_other_choices(slow_beam):
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["gradient", "beam"]).press("Compute beam")
    wait(app, lambda: "30 of at most 120" in under_way(app))
    assert not app.has("button", "Compute beam") and app.has("button", "Cancel")
    app.press("Next")
    assert "beam" not in under_way(app) and app.has("button", "Compute beam") and "gradient" in app.rows
    app.go(HOME).go(ATTRIBUTIONS).press("Previous")
    assert "beam" in under_way(app)
    slow_beam.set()
    wait(app, lambda: "beam" in app.rows, rest=1.0)
    assert "beam" not in under_way(app)


def test_a_page_does_not_wait_for_a_job_on_its_own_example(monkeypatch, bundled, fresh):
    really, let_go, inside = Oracle._keep, threading.Event(), threading.Event()

    def keep(self, *batch):
        # Between two batches of the search, where nothing of the model is held.
        if threading.current_thread().name == "faithscope-job":
            inside.set()
            let_go.wait()
        return really(self, *batch)

    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["gradient", "beam"])
    monkeypatch.setattr(Oracle, "_keep", keep)
    app.press("Compute beam")
    assert inside.wait(60)
    late = threading.Timer(30, let_go.set)
    late.start()
    app.press("Next").press("Previous")
    assert app.example == SMALL.id and list(app.rows) == ["gradient"] and app.at.get("progress")
    assert not let_go.is_set(), "the page waited for the job"
    late.cancel()
    let_go.set()
    wait(app, lambda: "beam" in app.rows, rest=1.0)


def test_the_server_can_stop_in_the_middle_of_a_job():
    code = (
        "import time; from core.jobs import Jobs; jobs = Jobs(); job = jobs.submit('key', 'label', lambda job: "
        "time.sleep(600))\n"
        "while job.state != 'running': time.sleep(0.01)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60, check=True)


def test_a_chart_waits_for_an_import_on_another_thread():
    """Plotly takes what it finds of pandas, half imported too, and what computes imports it at any moment."""
    code = """
import builtins, sys, threading
from pages.parts.components.pictures import chart

begun, whole, begins = threading.Event(), threading.Event(), builtins.__import__
def slow(name, *rest):
    if "pandas" in sys.modules and not begun.is_set():
        begun.set()
        whole.wait(10)
    return begins(name, *rest)
builtins.__import__ = slow
computing = threading.Thread(target=lambda: __import__("pandas"))
computing.start()
assert begun.wait(10) and not hasattr(sys.modules["pandas"], "Series")
threading.Timer(0.2, whole.set).start()
chart({"data": [{"type": "scatter", "x": [1, 2], "y": [3, 4]}]}, "a", "a line")
computing.join()
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60, check=True)


def test_a_job_is_cancelled_and_can_be_asked_again(slow_beam):
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["gradient", "beam"]).press("Compute beam")
    app.press("Cancel", exact=False)
    wait(app, lambda: app.has("button", "Compute beam"), 20)
    assert "ancelled" in app.said and "beam" not in app.rows and not app.errors
    app.press("Compute beam")
    wait(app, lambda: app.at.get("progress"), 20)
    slow_beam.set()
    wait(app, lambda: "beam" in app.rows, rest=1.0)


def test_work_waits_for_other_work(slow_beam):
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["beam"]).press("Compute beam")
    app.press("Next").press("Compute beam")
    assert app.at.get("progress") and app.has("button", "Cancel")
    # One that waits and is cancelled never starts.
    app.press("Cancel", exact=False)
    assert app.has("button", "Compute beam")
    app.press("Previous")
    assert app.at.get("progress")


@pytest.mark.parametrize(
    "error, says",
    [
        (
            OutOfMemory("The accelerator left the room with <b>everything</b>."),
            "The accelerator left the room with <b>everything</b>.",
        ),
        (RuntimeError("/home/somebody/<b>secret</b>"), "RuntimeError"),
    ],
)
def test_a_job_that_fails_says_why(error, says, monkeypatch, fresh):
    really = Explainer.attribute

    def attribute(self, encoded, name, *more, **rest):
        if name == "beam":
            raise error
        return really(self, encoded, name, *more, **rest)

    monkeypatch.setattr(Explainer, "attribute", attribute)
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["gradient", "beam"]).press("Compute beam")
    wait(app, lambda: app.errors, 20)
    (said,) = app.errors
    assert says in said and "secret" not in said and said.endswith(".") and list(app.rows) == ["gradient"]
    assert app.has("button", "Compute beam")
    no_raw_markup(app, "<b>everything")


# Models


def broken_model(folder: Path, kind: str) -> Path:
    folder.mkdir()
    if kind == "empty":
        return folder
    shutil.copy(BASE / "config.json", folder)
    if kind != "without tokenizer":
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(BASE / name, folder)
    if kind == "pickle only":
        (folder / "pytorch_model.bin").write_bytes(b"\x80\x04N.")
    if kind == "cut short":
        (folder / "model.safetensors").write_bytes((BASE / "model.safetensors").read_bytes()[:4096])
    if kind == "of an unknown family":
        (folder / "config.json").write_text('{"model_type": "crystal-ball"}', encoding="utf-8")
    return folder


BROKEN = {
    "empty": "config",
    "without tokenizer": "tokenizer",
    "pickle only": "pickle",
    "cut short": "cut short|cannot be read",
    "of an unknown family": "crystal-ball",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_model_that_does_not_load_is_one_sentence(kind, monkeypatch, tmp_path):
    monkeypatch.setenv("FAITHSCOPE_MODEL", str(broken_model(tmp_path / "model", kind)))
    app = App()
    one_sentence(app, BROKEN[kind])
    one_sentence(app.go(ATTRIBUTIONS), BROKEN[kind])
    # The way on: the model that ships.
    assert app.set("selectbox", "Model", "sst2-fmm").components and not app.errors


def test_a_model_that_is_nowhere_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("FAITHSCOPE_MODEL", str(tmp_path / "nowhere"))
    one_sentence(App(ATTRIBUTIONS), "nowhere")


def test_a_hub_model_without_a_network_is_one_sentence(monkeypatch):
    import huggingface_hub

    def unreachable(*_, **__):
        raise ConnectionError("[Errno -3] Temporary failure in name resolution")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    monkeypatch.setenv("FAITHSCOPE_MODEL", "someone/some-model")
    app = App()
    one_sentence(app, "hub")
    assert "Errno" not in app.errors[0]


def test_adding_a_model_that_cannot_be_used_keeps_the_one_in_use(monkeypatch, tmp_path, fresh):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "model_info", lambda *_, **__: (_ for _ in ()).throw(OSError("no network")))
    app = App(ATTRIBUTIONS)
    shown = app.rows
    for name in (
        str(broken_model(tmp_path / "model", "pickle only")),
        "someone/some-model",
        "**bold** <script>",
        "../x",
    ):
        app.widget("text_input", "Folder, hub id or adapter").set_value(name)
        app.press("Check")
        assert "unusable" in app.badges and not app.has("button", "Load and keep") and app.rows == shown and app.errors
        no_raw_markup(app)
    assert app.widget("selectbox", "Model").options == bundled_models()


def adapter(folder: Path, labels: list[str]) -> Path:
    """The bundled adapter under other class names and without its card."""
    source = settings.BUNDLED / "models" / "sst2-fmm"
    folder.mkdir()
    shutil.copy(source / "adapter_model.safetensors", folder)
    chosen = json.loads((source / "adapter_config.json").read_text(encoding="utf-8")) | {"faithscope_labels": labels}
    (folder / "adapter_config.json").write_text(json.dumps(chosen), encoding="utf-8")
    return folder


def test_a_model_is_added_and_chosen(tmp_path, fresh):
    labels = ["<script>alert(1)</script>", "**b** $x$ :smile:"]
    app = App(ATTRIBUTIONS, example=SHORT, **{"class": "negative"})
    assert "negative" in app.words["for"]
    before = app.rows
    app.widget("text_input", "Folder, hub id or adapter").set_value(str(adapter(tmp_path / "other", labels)))
    assert "usable" in app.press("Check").badges and "&lt;script&gt;alert(1)" in app.said
    no_raw_markup(app)
    app.press("Load and keep")
    assert not app.errors and app.widget("selectbox", "Model").value == str(tmp_path / "other")
    # The former class is none of this model's; its first class explains as "negative" did.
    assert app.widget("selectbox", "Explained class").value == "predicted"
    app.press(wording.plain(labels[0]), exact=False)
    assert labels[0] in app.words["for"] and np.allclose(
        app.rows["leave-one-out"]["shades"], before["leave-one-out"]["shades"], atol=1e-4
    )
    no_raw_markup(app)
    app.go(HOME)
    assert not app.errors and app.components
    no_raw_markup(app)
    # Back, while a class of the other model is chosen.
    app.set("selectbox", "Model", "sst2-fmm")
    assert app.components and app.widget("selectbox", "Explained class").value == "predicted"
    # Everybody on this server may now choose it, and a link may name it.
    assert "other" in App().widget("selectbox", "Model").options
    assert App(model=str(tmp_path / "other")).widget("selectbox", "Model").value == str(tmp_path / "other")


@pytest.mark.parametrize("card", ["{}", "[]", '{"performance": 3}', "not json", '{"labels": ["a"]}'])
def test_a_folder_with_another_card_is_shown_as_one_without(card, monkeypatch, tmp_path):
    folder = adapter(tmp_path / "other", ["a", "b"])
    (folder / "card.json").write_text(card, encoding="utf-8")
    monkeypatch.setenv("FAITHSCOPE_MODEL", str(folder))
    app = App()
    assert app.words["pieces"] and not app.errors
    assert len(app.rows) == len(DEFAULT) and app.words["for"] in ("supports “a”", "supports “b”")


BAD_SETTINGS = [("PRECISION", "int8"), ("CACHE_MB", "lots"), ("CACHE_MB", "-1"), ("DEVICE", "abacus")]


@pytest.mark.parametrize("name, value", BAD_SETTINGS)
def test_a_bad_setting_is_one_sentence_on_every_page(name, value, monkeypatch):
    monkeypatch.setenv(f"FAITHSCOPE_{name}", value)
    # Under each setting two other pages are the first request, and all of them are looked at.
    first = BAD_SETTINGS.index((name, value))
    for start in (first, first + 4):
        app, *rest = App(PAGES[start]), *(PAGES[(start + step) % len(PAGES)] for step in (1, 2, 3))
        one_sentence(app, f"FAITHSCOPE_{name}|{value}")
        for page in rest:
            one_sentence(app.go(page), f"FAITHSCOPE_{name}|{value}")
    app.press("Next")
    assert app.example == REVIEWS[1].id and len(app.errors) == 1
    app.type("A text all the same.")
    assert len(app.errors) == 1 and not app.rows


def test_a_store_that_cannot_be_written_costs_nothing_but_time(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "file"))
    app = App()
    assert app.components and not app.errors
    assert list(app.go(ATTRIBUTIONS).rows) == DEFAULT
    assert app.type("My own words.").text == "My own words."
    assert app.go(HOME).text == "My own words." and (tmp_path / "file").read_text(encoding="utf-8") == "in the way"


def test_a_dear_measure_without_a_store_still_arrives(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "file"))
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["beam"]).press("Compute beam")
    wait(app, lambda: "beam" in app.rows, rest=1.0)


# A model that gives no numbers


def test_a_model_that_gives_nan_is_one_sentence_on_every_page(monkeypatch, bundled, fresh):
    monkeypatch.setattr(
        bundled.scheduler, "network", lambda ids, *_: (np.full((len(ids), bundled.C), np.nan, dtype=np.float32), None)
    )
    app = App()
    for page in PAGES:
        one_sentence(app.go(page), "NaN")


@pytest.mark.parametrize("page", [HOME, ATTRIBUTIONS])
def test_a_model_that_gives_nan_once_words_are_masked_says_so(page, monkeypatch, bundled, fresh):
    really = bundled.scheduler.network

    def network(ids, *more):
        logits, states = really(ids, *more)
        return np.where((ids == bundled.mask_id).any(axis=1)[:, None], np.float32(np.nan), logits), states

    monkeypatch.setattr(bundled.scheduler, "network", network)
    app = App(page, example=SHORT)
    assert app.errors and all("NaN" in said for said in app.errors)
    assert list(app.rows) == ["gradient", "input × gradient"]


# Texts

MARKUP = (
    "A <script>alert(1)</script> **bold** _it_ `code` $x$ :smile: [link](http://x.y) <img src=x "
    "onerror=alert(1)> "
    "&amp; # film"
)
TEXTS = {
    "markup": MARKUP,
    "emoji": "👍 👩‍👩‍👧 film 🎬",
    "right to left": "هذا فيلم رائع. זה סרט טוב",
    "combining marks": "Z̸̧̛a̵͎l̷͝g̶o̷ café Å film",
    "single word": "Good",
    "special characters": "!?… --- ***",
    "mask": "A [MASK] film, not <mask> at all.",
    "one long word": "x" * 5000,
    "lines": "First line\n\n\tsecond line\r\nthird",
    "control characters within": "good\x00 \x01film\x7f",
    "template": "{{7*7}} ${x} %s {0}",
}


def no_raw_markup(app: App, *more: str) -> None:
    """No text of other people reaches the browser as HTML, and none as Markdown that Streamlit would draw."""
    for raw, value in app.markup():
        for bad in ("<script", "<img", *more):
            if raw:
                assert bad not in value, value
            else:
                assert not re.search(r"(?<!\\)" + re.escape(bad), value), value


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_is_shown_as_typed(kind, bundled, nothing_starts):
    text = TEXTS[kind]
    app = App(ATTRIBUTIONS).type(text)
    assert not app.errors and app.text == text[: bundled.encode(text).features[-1].end]
    if kind != "one long word":
        assert app.text == text
    assert app.open_box().widget("text_area", "Text").value == text
    no_raw_markup(app)
    assert app.set("button_group", "Unit", "token").text == text[: len(app.text)]
    no_raw_markup(app.go(HOME))
    assert app.components and not app.errors


def test_a_text_without_words_is_a_sentence_and_what_is_shown_stays():
    app = App(ATTRIBUTIONS, data="contrast pairs")
    shown = app.text
    for text in ("", "   \n\t ", "\x00\x01", "\u200b"):
        app.type(text)
        (said,) = app.at.warning
        assert "empty" in said.value and app.text == shown and not app.errors
        assert app.widget("selectbox", "Data").value == "contrast pairs"
    assert app.type("Fine again.").text == "Fine again."


def test_a_typed_mask_is_masked_from_the_start():
    app = App(ATTRIBUTIONS).type("A [MASK] film.")
    assert [piece["masked"] for piece in app.words["pieces"]] == [False, True, False, False]
    masked = [piece["masked"] for piece in app.words["pieces"]].index(True)
    assert all(app.rows[name]["shades"][masked] == 0 for name in DEFAULT)


def test_a_single_word_has_no_ranking_to_judge():
    app = App(ATTRIBUTIONS).type("Good")
    assert f"⚠ {Caveat.SINGLE_FEATURE.badge}" in app.badges and not app.agreement
    assert app.go(HOME).components and f"⚠ {Caveat.SINGLE_FEATURE.badge}" in app.badges


def test_a_hundred_thousand_words_are_cut_and_the_page_says_so(bundled):
    app = App(ATTRIBUTIONS).type("good " * 50_000 + "bad " * 50_000)
    read = len(app.words["pieces"])
    assert read == bundled.max_tokens - 2 and not app.errors
    assert f"⚠ {Caveat.TRUNCATED.badge}" in app.badges and f"{100_000 - read:,}" in app.words["rest"]
    assert len(app.go(HOME).words["pieces"]) == read and f"⚠ {Caveat.TRUNCATED.badge}" in app.badges


# Waiting


@pytest.mark.parametrize("others, said", [(0, []), (1, ["1 other asked"]), (19, ["19 others asked"])])
def test_who_waits_for_others_is_told_and_who_does_not_is_not(others, said, monkeypatch):
    from contextlib import nullcontext
    from types import SimpleNamespace

    from pages.parts.frame import working

    shown = []
    monkeypatch.setattr(working.st, "spinner", lambda text: shown.append(text) or nullcontext())
    with working.in_turn(SimpleNamespace(lock=SimpleNamespace(waiting=others))):
        pass
    assert [text.startswith(start) for text, start in zip(shown, said, strict=True)] == [True] * len(said)


# Wording


@given(some.text())
def test_nothing_of_a_text_is_left_to_markdown(text):
    plain = wording.plain(text)
    assert len(plain.splitlines()) <= 1
    # Taking away each escaped pair must leave no character that Markdown or Streamlit's directives know.
    rest = re.sub(r"\\[\\`*_{}\[\]()#+\-.!|~<>$:&@/=]", "", plain)
    assert not re.search(r"[\\`*_{}\[\]()#+\-.!|~<>$:&@/=]", rest)
    assert re.sub(r"\\(.)", r"\1", plain) == re.sub("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", " ", text)


@given(some.text(), some.integers(min_value=22, max_value=500))
def test_nothing_of_a_text_is_left_to_html(text, most):
    import html

    written = wording.escaped(text, most)
    assert not re.search(r"[<>\"'\0]", written) and not re.search(r"&(?!(amp|lt|gt|quot|#x27);)", written)
    short = html.unescape(written)
    assert short.replace("␀", "\0") == wording.shortened(text, most).replace("␀", "\0") and len(short) <= most


@given(some.text(), some.integers(min_value=22, max_value=200))
def test_a_shortened_text_keeps_both_ends(text, most):
    short = wording.shortened(text, most)
    assert len(short) <= most and (
        short == text if len(text) <= most else short[0] == text[0] and short.endswith(text[-20:]) and "…" in short
    )


@pytest.mark.parametrize(
    "value, text", [(0.123456, "0.123"), (12.3456, "12.3"), (0.0, "0"), (float("nan"), "—"), (1.0, "1"), (-2.5, "-2.5")]
)
def test_numbers_have_three_digits(value, text):
    assert wording.number(value) == text


@pytest.mark.parametrize(
    "seconds, text", [(0.0004, "0 ms"), (0.25, "250 ms"), (1.0, "1.0 s"), (89.94, "89.9 s"), (600, "10 min")]
)
def test_durations_have_a_unit_that_fits(seconds, text):
    assert wording.duration(seconds) == text


@pytest.mark.parametrize(
    "seconds, text",
    [
        (0.2, "1 s"),
        (0.6, "1 s"),
        (8.4, "8 s"),
        (23, "25 s"),
        (59.3, "60 s"),
        (90, "2 min"),
        (5399, "90 min"),
        (9000, "2.5 h"),
    ],
)
def test_what_is_expected_is_told_no_finer_than_anybody_can(seconds, text):
    assert wording.estimate(seconds) == text


def test_bundled_texts_all_have_words(bundled):
    for data in bundled_data():
        for example in read_bundled(data):
            try:
                bundled.encode(example.text)
            except NoFeatures:
                pytest.fail(f"{example.id} has no words")
