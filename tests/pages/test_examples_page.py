"""The page Examples without a browser: filters, order, choosing, own data and models, and what is remembered."""

import csv
import html
import io
import json
import re
import shutil
import time
from urllib.parse import parse_qs

import numpy as np
import pytest
import streamlit as st

from core.analysis.notes import text_digest
from core.analysis.queries import READY
from core.data.browsing import Trait
from core.data.examples import read_bundled
from core.data.parsed import BadData
from core.data.tables import RawTable
from core.evaluation.asking import ask as ask_question
from core.evaluation.sampling import without_labels
from core.evaluation.slices import TOO_FEW
from core.evaluation.studies.behaviour import Course
from core.evaluation.studies.board_report import text_values
from core.evaluation.studies.scoreboard import Scoreboard
from core.explanation.explainer import Explainer
from core.explanation.standings import StandingGates
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures
from core.results.caveats import Caveat
from core.results.examples import ExamplesOutcome
from core.verdicts.deciding import Word, decide_verdicts
from core.verdicts.finding import find_chance
from core.wording import number, share_text
from pages.parts.examples.finding import FACTS, FindingTrait, trait_name
from pages.parts.frame import data as held_data
from pages.parts.frame import resources
from tests import tiny
from tests.app_session import ATTRIBUTIONS, EXAMPLES, HOME, PAGES, App, complete, wait
from tests.hostile import hostile_files, lines
from tests.model_folders import change_json
from tests.pages.test_pages import no_raw_markup

pytestmark = pytest.mark.usefixtures("server")
REVIEWS, ORDINARY = read_bundled("reviews"), read_bundled("ordinary reviews")
PARTIAL, BY_OUTCOME = f"⚠ {Caveat.PARTIAL.badge}", f"⚠ {Caveat.SELECTED.badge}"
ALONG, TOGETHER, COMPARED, *_ = FACTS
PATH = "Path of the file"
OWN = (
    'text,sentiment,who\nA dull evening.,negative,x1\n"Fine, really fine.",positive,x2\nNot bad at '
    "all,positive,x3\nNever again!,negative,x4\n"
)


def ask(app: App, what: str, value) -> App:
    """What the table sends when something in it is pressed."""
    app.at.session_state["browser"] = {"asked": event(app, what, value)}
    return app.run()


def event(app: App, what: str, value, later: int = 1) -> dict:
    """An event as the table numbers it."""
    return {"what": what, "value": value, "number": app.table["told"] + later, "visit": app.table["visit"]}


def predicted(app: App) -> App:
    """Wait until everything is predicted; on a machine that looks slow it waits to be asked."""
    if app.has("button", "Compute predictions"):
        app.press("Compute predictions")
    return wait(
        app,
        lambda: "NOT_PREDICTED" not in app.outcomes and PARTIAL not in app.badges and not app.at.get("progress"),
        rest=1.0,
    )


def facet(app: App, key: str) -> dict[str, int]:
    return {
        value["value"]: value["count"] for part in app.table["facets"] if part["key"] == key for value in part["values"]
    }


def ids(app: App) -> list[str]:
    return [row["id"] for row in app.table["rows"]]


def upload(app: App, name: str, content: bytes) -> App:
    app.at.get("file_uploader")[0].set_value((name, content, "text/plain"))
    return app.run()


# What is there


def test_the_table_shows_what_the_model_says_of_each_example(bundled):
    app = predicted(App(EXAMPLES))
    explainer = Explainer(bundled)
    assert ids(app) == [example.id for example in REVIEWS[:12]] and app.table["found"] == f"{len(REVIEWS)} examples"
    for row, example in zip(app.table["rows"], REVIEWS):
        p = explainer.probabilities(bundled.encode(example.text))
        assert row["predicted"] == bundled.labels[p.argmax()] and row["share"] == pytest.approx(p.max(), abs=1e-4)
        assert row["right"] == (bundled.labels[p.argmax()] == example.label) and row["label"] == example.label
        assert float(row["label_probability"]) == pytest.approx(p[bundled.labels.index(example.label)], abs=6e-3)
    assert sum(facet(app, "label").values()) == sum(facet(app, "predicted").values()) == len(REVIEWS)
    right = facet(app, "outcome")["right"]
    assert f"right on {right} of {len(REVIEWS)}" in app.said and not app.errors


def test_filters_narrow_and_the_counts_follow():
    app = predicted(App(EXAMPLES))
    wrong, positive = facet(app, "outcome")["wrong"], facet(app, "label")["positive"]
    ask(app, "toggle", ["outcome", "wrong"])
    assert app.table["found"] == f"{wrong} of {len(REVIEWS)} examples" and all(
        row["right"] is False for row in app.table["rows"]
    )
    assert app.at.query_params["outcome"] in ("wrong", ["wrong"])
    both = facet(app, "label")["positive"]
    assert 0 < both < positive
    ask(app, "toggle", ["label", "positive"])
    assert app.table["found"] == f"{both} of {len(REVIEWS)} examples" and facet(app, "label")["positive"] == both
    ask(app, "clear", "")
    assert app.table["found"] == f"{len(REVIEWS)} examples" and "outcome" not in app.at.query_params


def slices(app: App) -> dict[str, dict]:
    """The rows of the table of slices, by facet and value."""
    (drawn,) = app.drawn("groups")
    return {f"{row['facet']}:{row['value']}": row for group in drawn["groups"] for row in group["rows"]}


def test_tags_combine_by_and_and_by_or():
    app = predicted(App(EXAMPLES, tag=["negation", "contrast"]))
    tagged = [set(e.tags) & {"negation", "contrast"} for e in REVIEWS]
    either, both = sum(map(bool, tagged)), sum(len(one) == 2 for one in tagged)
    assert 0 < both < either and app.table["found"] == f"{either} of {len(REVIEWS)} examples"
    (ways,) = [part["ways"] for part in app.table["facets"] if part["key"] == "tag"]
    assert [(way["value"], way["on"]) for way in ways] == [("any", True), ("all", False)]
    ask(app, "way", "all")
    assert app.table["found"] == f"{both} of {len(REVIEWS)} examples" and facet(app, "tag")["negation"] == both
    assert app.at.query_params["tags"] in ("all", ["all"])
    other = predicted(App(EXAMPLES, **app.at.query_params))
    assert ids(other) == ids(app)
    assert ask(app, "way", "any").table["found"] == f"{either} of {len(REVIEWS)} examples"
    assert "tags" not in app.at.query_params and ask(app, "way", "none").table["found"].startswith(f"{either} of")


def test_the_headline_counts_what_the_filter_leaves():
    app = predicted(App(EXAMPLES))
    assert app.outcomes == [ExamplesOutcome.RIGHT.value] and BY_OUTCOME not in app.badges
    right = facet(app, "outcome")["right"]
    ask(app, "toggle", ["tag", "negation"])
    here = facet(app, "outcome")
    n, mine = sum(here.values()), here["right"]
    ((_, outcome, said),) = app.headlines
    assert outcome == ExamplesOutcome.RIGHT_OF_FILTERED.value and re.findall(r"\d+", said) == [str(mine), str(n)]
    assert app.facts["accuracy ↑"] == share_text(mine / n) and app.facts["mistakes ↓"] == str(n - mine)
    assert app.facts["above the others ↑"] == share_text(mine / n - (right - mine) / (len(REVIEWS) - n))
    ask(app, "toggle", ["outcome", "wrong"])
    assert BY_OUTCOME in app.badges and "above the others ↑" not in app.facts


def test_a_slice_is_a_link_to_its_examples():
    app = predicted(App(EXAMPLES))
    drawn = slices(app)
    labels = [row for key, row in drawn.items() if key.startswith("label:")]
    assert sum(int(row["cells"][0]) for row in labels) == len(REVIEWS)
    assert sum(int(row["cells"][1].split(" of ")[0]) for row in labels) == facet(app, "outcome")["right"]
    assert not any(row["on"] for row in drawn.values())
    few = next(row for row in drawn.values() if row["kind"] == "few")
    assert int(few["cells"][0]) < 20 and few["cells"][-1] == TOO_FEW and few["cells"][-2] == "—"
    ask(app, "search", "no such words")
    app.at.session_state["slices"] = {"asked": [event(app, "slice", ["tag", "negation"])]}
    app.run()
    count = int(drawn["tag:negation"]["cells"][0])
    assert app.table["found"] == f"{count} of {len(REVIEWS)} examples" and slices(app)["tag:negation"]["on"]
    # The same by its address, in another window.
    link = {name: value for name, (value,) in parse_qs(drawn["tag:negation"]["link"].removeprefix("?")).items()}
    assert ids(App(EXAMPLES, **link)) == ids(app)
    assert (link["model"], link["unit"]) == ("sst2-fmm", "word")


def test_pins_make_a_collection_that_is_kept_filtered_by_and_saved():
    app = predicted(App(EXAMPLES))
    assert facet(app, "pinned") == {} and not app.has("download_button", "Save the")
    hostile = "<script>alert(1)</script> **x** " + "long " * 200
    for example in (REVIEWS[3], REVIEWS[1]):
        ask(app, "pin", example.id)
    assert [row["id"] for row in app.table["rows"] if row["pinned"]] == [REVIEWS[1].id, REVIEWS[3].id]
    assert facet(app, "pinned") == {"★ pinned": 2, "not pinned": len(REVIEWS) - 2}
    ask(app, "example", REVIEWS[3].id)
    app.widget("text_input", "Note").set_value(hostile)
    app.press("Pin ★ with this note")
    kept = resources.library().pins(held_data.index("reviews").data.digest)
    assert list(kept) == [REVIEWS[3].id, REVIEWS[1].id] and kept[REVIEWS[3].id] == hostile[:500]
    no_raw_markup(app, "**x**")
    # Another start knows them, and the filter holds on other pages.
    st.cache_resource.clear()
    again = predicted(App(EXAMPLES, pinned="★ pinned"))
    assert ids(again) == [REVIEWS[1].id, REVIEWS[3].id] and BY_OUTCOME in again.badges
    page = again.download("Save the 2 pinned (HTML)")
    assert [found for e in REVIEWS if (found := e.id) in re.findall(r"<h2><bdi>(\w+)</bdi></h2>", page)] == ids(again)
    assert "<script" not in page and html.escape(hostile[:40]) in page and "not computed" not in page
    assert App(ATTRIBUTIONS, pinned="★ pinned").example in ids(again)
    for example in (REVIEWS[3].id, REVIEWS[1].id, "no such id"):
        ask(again, "pin", example)
    assert "no such id" not in kept and facet(again, "pinned") == {"★ pinned": 0, "not pinned": len(REVIEWS)}
    assert not resources.library().pins(held_data.index("reviews").data.digest) and not again.errors


def test_an_example_is_pinned_with_its_note():
    app = predicted(App(EXAMPLES, example=REVIEWS[5].id))
    app.widget("text_input", "Note").set_value("Two readings.")
    app.press("Pin ★ with this note")
    assert [row["id"] for row in app.table["rows"] if row["pinned"]] == [REVIEWS[5].id]
    (page,) = [text for name, text in app.downloads.items() if name.startswith("pinned")]
    assert "Two readings." in page
    assert facet(ask(app, "pin", REVIEWS[5].id), "pinned") == {}


def test_notes_are_saved_and_taken_in_beside_those_that_are_here():
    app = predicted(App(EXAMPLES, example=REVIEWS[5].id))
    app.widget("text_input", "Note").set_value("Mine.")
    app.press("Pin ★ with this note")
    assert facet(app, "pinned") == {"★ pinned": 1, "★ with note": 1, "not pinned": len(REVIEWS) - 1}
    kept = json.loads(app.download("Save notes (JSON)"))
    assert [(one["id"], one["note"]) for one in kept["notes"]] == [(REVIEWS[5].id, "Mine.")]
    hostile, other = "<script>alert(1)</script> **x**", dict(kept["notes"][0])
    kept["notes"][0] |= {"id": "theirs", "note": "Theirs **y**."}
    kept["notes"] += [
        {"text": text_digest(REVIEWS[2]), "id": "what they call it", "note": hostile},
        other | {"text": "0" * 64, "id": "**gone**"},
    ]
    app.widget("file_uploader", "Import notes").set_value(("n.json", json.dumps(kept).encode(), "application/json"))
    app.run()
    assert [REVIEWS[5].id, "Mine.", "Theirs **y**."] in [row for rows in app.tables for row in rows]
    assert "1 text (**gone**)" in app.said
    app.press("Add 1 note")
    digest = held_data.index("reviews").data.digest
    assert resources.library().pins(digest) == {REVIEWS[5].id: "Mine.", REVIEWS[2].id: hostile}
    no_raw_markup(app, "**x**")
    no_raw_markup(app, "**gone**")
    assert not app.has("button", "Add 1 note") and not app.errors
    ask(app, "toggle", ["pinned", "★ with note"])
    assert ids(app) == [REVIEWS[2].id, REVIEWS[5].id]
    rows = list(csv.DictReader(io.StringIO(app.download("Download these 2 examples (CSV)").lstrip("\ufeff"))))
    assert [row["pinned note"] for row in rows] == [hostile, "Mine."]
    app.widget("file_uploader", "Import notes").set_value(("n.json", b"[]", "application/json"))
    (sentence,) = app.run().errors
    assert "no notes" in sentence and len(resources.library().pins(digest)) == 2
    for example in (REVIEWS[5].id, REVIEWS[2].id):
        ask(app, "pin", example)


FOUR = [e for e in REVIEWS if e.id in ("s041", "s068", "s076", "s096")]


def test_what_is_not_computed_says_so_and_is_computed_when_asked_for(monkeypatch, tmp_path):
    (tmp_path / "four.jsonl").write_bytes(lines(*({"id": e.id, "text": e.text, "label": e.label} for e in FOUR)))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "four.jsonl"))
    st.cache_resource.clear()
    app = predicted(App(EXAMPLES, columns=["rejected", "changes", "disagreement"], along="gradient"))
    names = ["rejected", "changes", "disagreement"]
    assert [column["order"] for column in app.table["columns"]][4:7] == names
    assert all(row["traits"] == dict.fromkeys(names, "not computed") for row in app.table["rows"])
    assert facet(app, "changes") == {"(not computed)": 4} and "Go on with" not in app.said
    # Of those that the filter leaves, and no others.
    ask(app, "search", f'"{FOUR[0].text}"')
    complete(app.press("Compute the words until the prediction changes", exact=False))
    ask(app, "clear", "")
    told = {row["id"]: row["traits"]["changes"] for row in app.table["rows"]}
    assert told.pop("s041") not in ("not computed", "—") and set(told.values()) == {"not computed"}
    complete(app.press("Compute all 3 parts"))
    assert not app.has("button", "Compute the") and facet(app, "changes").get("(not computed)", 0) == 0
    rows = {row["id"]: row["traits"] for row in app.table["rows"]}
    assert "not computed" not in {said for traits in rows.values() for said in traits.values()}
    # A server that starts anew reads it; another measure's is another number.
    st.cache_resource.clear()
    again = predicted(App(EXAMPLES, columns=names, along="gradient"))
    assert {row["id"]: row["traits"] for row in again.table["rows"]} == rows
    other = predicted(App(EXAMPLES, columns=names, along="attention"))
    assert [row["traits"]["changes"] for row in other.table["rows"]] == ["not computed"] * 4
    assert {row["id"]: row["traits"]["disagreement"] for row in other.table["rows"]} == {
        name: traits["disagreement"] for name, traits in rows.items()
    }
    # A file says of what: numbers as numbers, and what they depend on.
    head, *saved = csv.reader(io.StringIO(again.download("Download these 4 examples (CSV)").lstrip("\ufeff")))
    found = dict(zip(head, saved[0]))
    assert found["disagreement of measures"].lstrip("-").replace(".", "").isdigit() and found["unit"] == "word"
    assert found[ALONG] == "gradient" and found[COMPARED].split(", ") == list(default_measures())
    # The filter holds on other pages, without its column being asked for there.
    band = next(value for value, count in facet(again, "changes").items() if 0 < count)
    ask(again, "toggle", ["changes", band])
    kept = ids(again)
    assert f"Filters leave {len(kept)} of 4" in again.go(ATTRIBUTIONS).said and again.press("Next").example in kept
    assert not again.errors


def test_the_verdict_of_a_measure_is_a_column_and_a_filter(monkeypatch, tmp_path):
    texts = {"good": "a warm and funny little film", "bad": "a dull story told without any wit", "few": "so bad"}
    (tmp_path / "three.jsonl").write_bytes(lines(*({"id": name, "text": text} for name, text in texts.items())))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "three.jsonl"))
    st.cache_resource.clear()
    app = predicted(App(EXAMPLES, columns=["verdict"], along="gradient"))
    assert facet(app, "verdict") == {"(not computed)": 3}
    complete(app.press("Compute the verdict of the measure", exact=False))
    explainer = resources.explainer("sst2-fmm")
    said = {}
    for name, text in texts.items():
        encoded = explainer.encode(text, None, "word")
        target = int(explainer.logits(encoded).argmax())
        test = finish(find_chance(explainer, encoded, target, default_measures()))
        said[name] = decide_verdicts(test, StandingGates(encoded, explainer.reference)).of("gradient").word
    assert {row["id"]: row["traits"]["verdict"] for row in app.table["rows"]} == said
    # Two words have two orders, of which none is one in twenty.
    assert said["few"] == "cannot be told" and facet(app, "verdict")["(undefined)"] >= 1
    ask(app, "toggle", ["verdict", "(undefined)"])
    assert ids(app) == [name for name in texts if said[name] == "cannot be told"] and not app.errors
    (line, *_) = csv.DictReader(io.StringIO(app.download(app.at.get("download_button")[-1].label).lstrip("\ufeff")))
    assert line[trait_name("verdict", "word")] == Word.UNTOLD
    assert line[TOGETHER].startswith("gradient, leave") and line["unit"] == "word"


def test_a_trait_is_decided_again_only_where_there_is_more(monkeypatch):
    read, told = Trait(np.full(3, np.nan), np.zeros(3, dtype=bool)), []

    class Found(FindingTrait):
        latest = None

    def decided(name, found, *_):
        (one,) = found.values()
        told.append(one)
        return Trait(np.array([one, np.nan]), np.array([True, False]))

    monkeypatch.setattr("pages.parts.examples.finding.trait_of", decided)
    work = Found(None, None, Course("gradient"), trait="changes", rows=np.array([2, 0]))
    assert work.on_top("changes", read, None) is read
    for Found.latest in (4.0, 4.0, 5.0):
        assert work.on_top("changes", read, None).values[2] == Found.latest
    # Another reading of the store is another thing to stand on.
    assert work.on_top("changes", Trait(np.full(3, 1.0), np.ones(3, dtype=bool)), None).values.tolist() == [1, 1, 5]
    assert told == [4.0, 5.0, 5.0]


def test_traits_are_offered_up_to_a_size_and_with_a_twin(monkeypatch):
    app = predicted(App(EXAMPLES, columns=["twin"]))
    complete(app)
    if app.has("button", "Compute predictions"):
        complete(app.press("Compute predictions"))
    tally = facet(app, "twin")
    assert sum(tally.values()) == len(REVIEWS) and tally["differs"] > 0 and "sst2-plain" in app.said
    row = next(csv.DictReader(io.StringIO(app.download(app.at.get("download_button")[-1].label).lstrip("\ufeff"))))
    assert row["compared with"] == "sst2-plain" and row["second model"] in ("same", "differs")
    monkeypatch.setattr(held_data, "MOST_TRAITS", 10)
    assert "up to 10 examples" in App(EXAMPLES, columns=["twin"]).said


def test_figures_of_each_measure_are_columns_orders_and_filters(monkeypatch, tmp_path):
    two = sorted(FOUR, key=lambda one: len(one.text))[:2]
    (tmp_path / "two.jsonl").write_bytes(lines(*({"id": e.id, "text": e.text, "label": e.label} for e in two)))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "two.jsonl"))
    st.cache_resource.clear()
    names = ["racu: gradient", "racu: attention"]
    app = predicted(App(EXAMPLES, columns=names))
    assert [column["name"] for column in app.table["columns"]][4:6] == ["RACU ↑ gradient", "RACU ↑ attention"]
    # Random order is one study for both.
    complete(app.press("Compute all 3 parts"))
    explainer, data = resources.explainer("sst2-fmm"), {}
    for measure in ("gradient", "attention"):
        board = Scoreboard((measure,))
        sample = without_labels("two", "0" * 64, tuple(two))
        answers = ask_question(explainer, sample, board, resources.store())
        data |= {(measure, e.id): text_values(board, answers, i, measure)["RACU"] for i, e in enumerate(two)}
    for row in app.table["rows"]:
        for measure in ("gradient", "attention"):
            assert row["traits"][f"racu: {measure}"] == number(data[measure, row["id"]])
    ask(app, "order", "racu: attention")
    ordered = [e.id for e in sorted(two, key=lambda e: data["attention", e.id])]
    assert ids(app) == ordered
    band = next(value for value, count in facet(app, "racu: gradient").items() if count)
    ask(app, "toggle", ["racu: gradient", band])
    link = App(EXAMPLES, **app.at.query_params)
    assert ids(link) == ids(app) and set(ids(app)) <= set(ordered) and link.table["order"] == "racu: attention"
    assert ask(link, "clear", "").table["found"] == "2 examples" and "racu: gradient" not in link.at.query_params
    # Of a measure that there is not, nothing.
    wrong = App(EXAMPLES, columns=["racu: zebra"], **{"naopc: zebra": "from 0.8"})
    assert wrong.table["found"] == "2 examples" and "zebra" in wrong.said and not wrong.errors


def test_two_models_differ_is_of_the_model_that_was_set_beside_it(nothing_added, tiny_root):
    other = str(tiny.folder("bert", tiny_root))
    resources.library().add_model(other)
    resources.explainer(other)
    app = predicted(App(EXAMPLES, columns=["twin"], beside=other))
    if app.has("button", "Compute predictions"):
        complete(app.press("Compute predictions"))
    complete(app)
    # Its classes are called otherwise, so that no prediction is the same.
    assert facet(app, "twin")["differs"] == len(REVIEWS) and other in app.said
    twin = predicted(App(EXAMPLES, columns=["twin"], beside="no such model"))
    assert "sst2-plain" in twin.said and not twin.errors and facet(twin, "twin").get("differs") != len(REVIEWS)


def test_a_ready_made_query_is_one_press_and_its_link_another_window():
    app = predicted(App(EXAMPLES))
    offered = {one["name"]: one for one in app.table["queries"]}
    # These reviews have no evidence, and nothing keeps the other queries from them.
    assert {*offered} == {one.name for one in READY} - {"missed"} and not any(one["why"] for one in offered.values())
    ask(app, "query", "sure")
    assert all(row["right"] is False and row["share"] >= 0.95 for row in app.table["rows"])
    assert [one["name"] for one in app.table["queries"] if one["on"]] == ["sure"]
    other = predicted(App(EXAMPLES, **app.at.query_params))
    assert ids(other) == ids(app) and [one["name"] for one in other.table["queries"] if one["on"]] == ["sure"]
    # Once more takes it away, with its order; what is no query changes nothing.
    assert ask(app, "query", "zebra").table["order"] == "confidence"
    ask(app, "query", "sure")
    assert app.table["found"] == f"{len(REVIEWS)} examples" and app.table["order"] == "row"
    assert not {"outcome", "confidence", "order"} & {*app.at.query_params}


def test_a_query_computes_what_it_asks_for_of_those_that_its_other_filters_leave(monkeypatch, tmp_path):
    # Two of them under the other label.
    labels = [
        {"positive": "negative", "negative": "positive"}[FOUR[i].label] if i < 2 else FOUR[i].label for i in range(4)
    ]
    told = ({"id": e.id, "text": e.text, "label": label} for e, label in zip(FOUR, labels))
    (tmp_path / "four.jsonl").write_bytes(lines(*told))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "four.jsonl"))
    st.cache_resource.clear()
    app = predicted(App(EXAMPLES))
    wrong = {row["id"] for row in app.table["rows"] if row["right"] is False}
    assert 0 < len(wrong) < 4
    ask(app, "query", "known")
    # Nothing is computed unasked, and that nothing matches says that it is not known yet.
    assert app.table["rows"] == [] and app.outcomes == ["no example left"] and PARTIAL in app.badges
    complete(app.press(rf"Compute the first rejected step \({len(wrong)} example", exact=False))
    assert PARTIAL not in app.badges and {row["id"] for row in app.table["rows"]} <= wrong
    left = {row["id"]: row["traits"]["rejected"] for row in app.table["rows"]}
    ask(app, "clear", "")
    told = {row["id"]: row["traits"]["rejected"] for row in App(EXAMPLES, columns=["rejected"]).table["rows"]}
    assert left == {name: said for name, said in told.items() if name in wrong and said != "at 0 %"}
    assert {told[name] for name in {*told} - wrong} == {"not computed"} and not app.errors


def test_a_model_without_a_reference_keeps_a_query_and_says_what_to_do(nothing_added, tiny_root):
    resources.library().add_model(str(tiny.folder("bert", tiny_root)))
    mine = "text,label\n" + "".join(f"{text},{label}\n" for text, label in zip(tiny.SENTENCES, tiny.LABELS))
    app = upload(App(EXAMPLES, model=str(tiny.folder("bert", tiny_root))), "mine.csv", mine.encode())
    app = predicted(app.press("Add this data"))
    why = {one["name"]: one["why"] for one in app.table["queries"]}
    assert "python -m core reference" in why["known"] and why["sure"] == why["one"] == "" and "models" not in why
    # A link that asks for it all the same says that it cannot be.
    link = App(EXAMPLES, **app.at.query_params | {"outcome": "wrong", "rejected": "at no step"})
    assert "at no step" in link.said and not link.errors
    held_data.MOST_TRAITS, most = 1, held_data.MOST_TRAITS
    why = {one["name"]: one["why"] for one in app.run().table["queries"]}
    held_data.MOST_TRAITS = most
    assert "up to 1 examples" in why["one"] and why["sure"] == ""


def test_searching_finds_texts():
    app = ask(predicted(App(EXAMPLES)), "search", "NOT the")
    expected = [e.id for e in REVIEWS if "not" in e.text.casefold() and "the" in e.text.casefold()]
    assert ids(app) == expected[:12] and app.table["terms"] == ["not", "the"] and len(expected) < len(REVIEWS)
    assert ask(app, "search", "zebra crossing").table["rows"] == []


def test_sorting_by_a_column_and_turning_it_round():
    app = predicted(App(EXAMPLES))
    ask(app, "order", "confidence")
    shares = [row["share"] for row in app.table["rows"]]
    assert shares == sorted(shares, reverse=True) and app.table["descending"]
    ask(app, "order", "confidence")
    assert [row["share"] for row in app.table["rows"]] == sorted(
        row["share"] for row in app.table["rows"]
    ) and not app.table["descending"]
    ask(app, "order", "row")
    assert ids(app)[0] == REVIEWS[0].id


def test_pages_of_the_table():
    app = ask(predicted(App(EXAMPLES)), "page", 2)
    assert ids(app) == [e.id for e in REVIEWS[12:24]] and app.at.query_params["page"] == "2"
    assert ask(app, "page", 9_999).table["page"] == app.table["pages"] == -(-len(REVIEWS) // 12)
    # Another filter starts at the first page.
    assert ask(app, "toggle", ["label", "negative"]).table["page"] == 1


def test_a_pressed_row_is_the_example_on_every_page():
    app = ask(predicted(App(EXAMPLES)), "example", REVIEWS[7].id)
    assert app.example == REVIEWS[7].id and [row["id"] for row in app.table["rows"] if row["chosen"]] == [REVIEWS[7].id]
    assert REVIEWS[7].text in html.unescape(app.said) and app.at.query_params["example"] == REVIEWS[7].id
    assert app.go(ATTRIBUTIONS).example == REVIEWS[7].id


def test_previous_and_next_stay_within_the_filters_on_every_page(monkeypatch):
    app = ask(ask(predicted(App(EXAMPLES)), "toggle", ["outcome", "wrong"]), "order", "label probability")
    # What the pages would compute of each example is not looked at.
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    listed = ids(app)
    ask(app, "example", listed[0])
    for page in PAGES:
        app.go(page)
        assert app.press("Next").example == listed[1] and app.press("Previous").example == listed[0]
        assert "Filters leave" in app.said and app.at.query_params["order"] == "label probability"
    app.go(ATTRIBUTIONS).press("Clear filters")
    assert "outcome" not in app.at.query_params and app.example == listed[0]


def test_the_table_follows_previous_and_next():
    app = ask(predicted(App(EXAMPLES)), "example", REVIEWS[11].id)
    app.press("Next")
    assert app.example == REVIEWS[12].id and app.table["page"] == 2 and app.table["rows"][0]["chosen"]


@pytest.mark.parametrize(
    "sent",
    [
        None,
        {},
        {"asked": None},
        {"asked": "x"},
        ("toggle", "x"),
        ("toggle", ["nothing", "x"]),
        ("order", "zebra"),
        ("page", "-7"),
        ("page", -7),
        ("example", "no such id"),
        ("search", 5),
    ],
)
def test_an_event_that_makes_no_sense_changes_nothing(sent):
    app = App(EXAMPLES)
    app.at.session_state["browser"] = {"asked": event(app, *sent)} if isinstance(sent, tuple) else sent
    app.run()
    assert len(app.table["rows"]) == 12 and app.example == REVIEWS[0].id and not app.errors


def test_an_event_counts_once_and_only_in_its_own_session():
    app = App(EXAMPLES)
    known, first = app.table["told"], event(app, "toggle", ["label", "positive"])
    sent = [first | {"visit": "another", "number": 9}, first, first | {"number": known, "value": ["label", "negative"]}]
    for _ in range(2):
        app.at.session_state["browser"] = {"asked": sent}
        app.run()
        assert (app.at.query_params["label"] in ("positive", ["positive"])) and app.table["told"] == known + 1


# Links


def test_a_link_restores_filters_order_and_page():
    link = {
        "label": "negative",
        "outcome": ["wrong", "right"],
        "order": "confidence",
        "descending": "1",
        "page": "2",
        "search": "the",
    }
    one = predicted(App(EXAMPLES, **link))
    assert (
        one.table["page"] == 2
        and one.table["order"] == "confidence"
        and all(row["label"] == "negative" for row in one.table["rows"])
    )
    other = predicted(App(EXAMPLES, **one.at.query_params))
    assert ids(other) == ids(one) and other.example == one.example
    # On another page the same address moves within the same examples.
    attributions = App(ATTRIBUTIONS, **one.at.query_params)
    assert attributions.example == one.example and "Filters leave" in attributions.said


def test_a_link_with_everything_wrong_says_so_and_shows_the_default():
    app = App(
        EXAMPLES,
        model="foo",
        data="bar",
        example="zz",
        unit="qq",
        order="zebra",
        page="-3",
        label="sad",
        outcome="so-so",
        tag="<b>",
        search="",
        weights="ffff",
        **{"class": "none"},
    )
    assert len(app.table["rows"]) == 12 and app.table["page"] == 1 and app.example == REVIEWS[0].id and not app.errors
    for missing in ("foo", "bar", "qq"):
        assert missing in app.said
    wait(app, lambda: "sad" in app.said)
    # A rerun does not take the sentence away; dismissing does.
    assert "sad" in app.run().said and "sad" not in app.press("Dismiss").said


def test_a_link_made_with_other_weights_says_so(bundled):
    assert "other weights" in App(ATTRIBUTIONS, model="sst2-fmm", weights="0" * 12).said
    assert "other weights" not in App(ATTRIBUTIONS, model="sst2-fmm", weights=bundled.digest[:12]).said


# Data of one's own


def test_a_csv_of_ones_own_is_read_kept_and_there_at_the_next_start(nothing_added, bundled):
    app = upload(App(EXAMPLES), "mine.csv", OWN.encode())
    assert app.widget("selectbox", "Text", exact=False).value == "text"
    assert app.widget("selectbox", "Label").value == "sentiment"
    assert "4 examples of 4 rows" in app.said.replace("*", "") and not app.errors
    predicted(app.press("Add this data"))
    assert [row["text"] for row in app.table["rows"]] == [line["text"] for line in csv.DictReader(io.StringIO(OWN))]
    assert [row["label"] for row in app.table["rows"]] == [
        "negative",
        "positive",
        "positive",
        "negative",
    ] and "of 4 examples" in app.said
    key = app.widget("selectbox", "Data").value
    assert key.startswith("mine.csv@") and app.at.query_params["data"] == key
    query = dict(app.at.query_params)
    # The server starts anew, and somebody opens the link.
    st.cache_resource.clear()
    again = App(ATTRIBUTIONS, **query | {"example": "2"})
    assert again.text == "Fine, really fine." and again.widget("selectbox", "Data").value == key
    assert any(badge.endswith((" ✓", " ✗ wrong")) for badge in again.badges)


def test_columns_can_be_corrected(nothing_added):
    app = upload(
        App(EXAMPLES), "odd.csv", b"a,b,c\nshort,A much longer text stands here,1\nword,And another long one there,0\n"
    )
    app.set("selectbox", "Text (its words are masked)", "a").set("selectbox", "Label", "c")
    app.widget("text_area", "Names of numbered labels, in order, one a line").set_value("negative\npositive")
    predicted(app.run().press("Add this data"))
    assert [row["text"] for row in app.table["rows"]] == ["short", "word"] and [
        row["label"] for row in app.table["rows"]
    ] == ["positive", "negative"]


def test_pairs_are_read_as_pairs(nothing_added, bundled):
    app = upload(
        App(EXAMPLES), "pairs.tsv", b"premise\thypothesis\tlabel\nA cat sleeps.\tAn animal rests.\t0\nIt rains.\t\t1\n"
    )
    predicted(app.press("Add this data"))
    assert [row["second"] for row in app.table["rows"]] == ["An animal rests.", None]
    p = Explainer(bundled).probabilities(bundled.encode("A cat sleeps.", "An animal rests."))
    assert app.table["rows"][0]["share"] == pytest.approx(p.max(), abs=1e-4)


def test_labels_of_another_task_are_shown_and_not_judged(nothing_added):
    app = predicted(
        upload(App(EXAMPLES), "news.csv", b"text,label\nStocks fell.,Business\nThey won.,Sports\n").press(
            "Add this data"
        )
    )
    assert [row["right"] for row in app.table["rows"]] == [None, None] and "Not judged" in app.said
    assert [row["label"] for row in app.table["rows"]] == ["Business", "Sports"]
    assert app.outcomes == ["no labels"] and app.facts["least sure example"] in ids(app)


def test_labels_that_are_numbered_in_another_order_are_doubted_and_read_anew(nothing_added):
    told = [[one.text, {"positive": "0", "negative": "1"}[one.label]] for one in ORDINARY[:24]]
    file = io.StringIO()
    csv.writer(file).writerows([["text", "label"], *told])
    app = predicted(upload(App(EXAMPLES), "turned.csv", file.getvalue().encode()).press("Add this data"))
    before, doubt = app.widget("selectbox", "Data").value, f"⚠ {Caveat.LABELS_EXCHANGED.badge}"
    assert doubt in app.badges and "0 = positive" in app.said
    wrong = [row["right"] for row in app.table["rows"]]
    predicted(app.press("Exchange labels"))
    after = app.widget("selectbox", "Data").value
    assert after != before and after.startswith("turned.csv@") and doubt not in app.badges
    assert [row["right"] for row in app.table["rows"]] == [not one for one in wrong]
    assert not app.has("button", "Exchange labels")
    # The other reading stays, as somebody may look at it.
    assert {before, after} <= {*resources.library().data()}


def test_data_of_names_is_not_tied_to_classes_without_names(nothing_added, tiny_root, tmp_path):
    folder = shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "mine")
    change_json(folder / "config.json", id2label={str(i): f"LABEL_{i}" for i in range(3)}, label2id=None)
    resources.library().add_model(str(folder))
    rows = "".join(f"{text},{label}\n" for text in ("the tide turned", "a boat") for label in ("a", "b", "c"))
    app = predicted(
        upload(App(EXAMPLES, model=str(folder)), "named.csv", f"text,label\n{rows}".encode()).press("Add this data")
    )
    assert {row["right"] for row in app.table["rows"]} == {None} and app.outcomes == ["no labels"]
    assert "LABEL" in app.said


def test_a_model_of_several_labels_is_limited_on_every_page(nothing_added, tiny_root, tmp_path):
    folder = shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "mine")
    change_json(folder / "config.json", problem_type="multi_label_classification")
    resources.library().add_model(str(folder))
    app = App(EXAMPLES, model=str(folder))
    # Nothing is computed there unasked, or without labels.
    for page in PAGES:
        if page.endswith(("data_set.py", "model_check.py", "scoreboard.py")):
            continue
        app.go(page)
        assert any(badge.endswith(Caveat.SEVERAL_LABELS.badge) for badge in app.badges), page


def test_another_data_set_starts_at_its_first_page_and_in_its_own_order(nothing_added):
    many = "text,label\n" + "".join(f"Text number {i} here,positive\n" for i in range(1, 61))
    upload(App(EXAMPLES), "one.csv", many.encode()).press("Add this data")
    app = predicted(upload(App(EXAMPLES), "two.csv", many.replace("here", "there").encode()).press("Add this data"))
    one, two = (next(key for key in resources.library().data() if key.startswith(name)) for name in ("one", "two"))
    ask(ask(app, "order", "label probability"), "page", 4)
    predicted(app.set("selectbox", "Data", one))
    assert (
        app.table["page"] == 1
        and app.table["order"] == "row"
        and app.table["rows"][0]["text"] == "Text number 1 here"
        and app.example == "1"
    )
    assert app.set("selectbox", "Data", two).table["page"] == 1


def test_entries_of_a_menu_that_look_alike_are_told_apart(nothing_added):
    # Names and texts that are cut in the middle, where alone they differ.
    begins, ends = "The long beginning of a review that everybody knows ", " and its long end that everybody knows too"
    rows = "".join(f"review-{i:04}-of-the-amazon-book-set,{begins * 2}{i}{ends * 2},positive\n" for i in range(1, 6))
    for fold in ("01", "02"):
        app = upload(
            App(EXAMPLES),
            f"very_long_experiment_name_2024_fold_{fold}_of_the_great_collection_final.csv",
            f"id,text,label\n{rows}".encode() + f"x,{fold},positive\n".encode(),
        )
        predicted(app.press("Add this data"))
    for label in ("Data", "Example"):
        options = app.widget("selectbox", label).proto.options
        assert len(set(options)) == len(options) > 3
    listed = ids(app)
    ask(app, "example", listed[0])
    assert (
        app.example == listed[0] == app.run().example
        and app.set("selectbox", "Example", listed[2]).example == listed[2]
    )
    keys = list(resources.library().data())
    for key in keys:
        assert (
            app.set("selectbox", "Data", key).widget("selectbox", "Data").value
            == key
            == app.run().widget("selectbox", "Data").value
        )


def test_a_link_names_the_example_where_an_order_decides_which_is_first():
    app = ask(predicted(App(EXAMPLES)), "order", "label probability")
    ask(app, "example", ids(app)[0])
    assert app.at.query_params["example"] == ids(app)[0]


@pytest.mark.parametrize(
    "event", [("search", "x\ud83d"), ("toggle", ["tag", "\ud800"]), ("toggle", ["tag", "x" * 10_000]), ("search", "\0")]
)
def test_half_a_character_does_not_stay_in_the_way(event):
    app = ask(App(EXAMPLES), *event)
    assert app.run().table and app.go(HOME).example and app.go(EXAMPLES).table


def test_texts_that_cannot_be_predicted_do_not_keep_the_page_waiting(nothing_added):
    app = predicted(upload(App(EXAMPLES), "mine.csv", (OWN + "\u200b,positive,x5\n").encode()).press("Add this data"))
    assert "of 4 examples" in app.said and PARTIAL not in app.badges and "No prediction" in app.said


def test_data_that_somebody_else_takes_away_is_said(nothing_added):
    app = upload(App(EXAMPLES), "mine.csv", OWN.encode()).press("Add this data")
    App(EXAMPLES).press("Remove")
    (warned,) = app.run().at.warning
    assert "mine" in warned.value and app.widget("selectbox", "Data").value == "reviews"


def test_a_filter_that_another_model_does_not_know_is_taken_away(nothing_added, tiny_root):
    resources.library().add_model(str(tiny.folder("bert", tiny_root)))
    app = ask(predicted(App(EXAMPLES)), "toggle", ["predicted", "positive"])
    app.set("selectbox", "Model", str(tiny.folder("bert", tiny_root)))
    assert any("positive" in one.value for one in app.at.warning) and not app.lacking and app.table["rows"]


def test_a_folder_that_was_written_anew_is_read_anew(nothing_added, tiny_root, tmp_path):
    folder = shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "mine")
    resources.library().add_model(str(folder))
    app = App(ATTRIBUTIONS, model=str(folder))
    assert tiny.LABELS[0] in app.widget("selectbox", "Explained class").options
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace(tiny.LABELS[0], "renamed"))
    assert "renamed" in app.run().widget("selectbox", "Explained class").options


def test_data_that_was_added_can_be_taken_away(nothing_added):
    app = upload(App(EXAMPLES), "mine.csv", OWN.encode()).press("Add this data")
    key = app.widget("selectbox", "Data").value
    app.press("Remove")
    assert app.widget("selectbox", "Data").value == "reviews" and key not in app.widget("selectbox", "Data").options
    (lacking,) = App(ATTRIBUTIONS, data=key).lacking
    assert lacking.startswith("data mine")


@pytest.mark.parametrize("name", sorted(hostile_files())[::3])
def test_a_hostile_file_is_read_or_refused_in_a_sentence(name, nothing_added):
    hostile = hostile_files()[name]
    app = upload(App(EXAMPLES), hostile.file, hostile.content)
    if hostile.refused is None:
        assert not app.errors
        app.press("Add this data")
        assert len(held_data.index(app.widget("selectbox", "Data").value)) == hostile.examples
    else:
        (sentence,) = app.errors
        assert re.search(hostile.refused, sentence) and "Traceback" not in sentence and 'File "' not in sentence
        assert not app.has("button", "Add this data")
    # Nothing else is lost.
    assert app.table["rows"] and app.has("button", "Explain")


@pytest.mark.parametrize("way", ["hub", "papers"])
def test_a_hub_set_is_fetched_when_asked_and_a_failure_can_be_asked_again(way, nothing_added, monkeypatch):
    from core.data import hub_data

    answers = [
        BadData("The hub could not be reached. Give a local file."),
        RawTable(
            "made",
            ("sentence", "label"),
            {"sentence": ["A dull evening.", "Fine."], "label": [0, 1]},
            "a" * 64,
            ("A note on reading.",),
            {"label": ("negative", "positive")},
        ),
    ]
    fetched = []

    def read(*asked):
        fetched.append(asked)
        answer = answers[min(len(fetched), 2) - 1]
        if isinstance(answer, BadData):
            raise answer
        return answer

    monkeypatch.setattr(hub_data, "read_hub", read)
    monkeypatch.setattr(hub_data, "hub_choices", lambda hub: {"default": ["train", "validation"]})
    app = App(EXAMPLES)
    if way == "hub":
        app.set("button_group", "From", "A data set of the hub").set("text_input", "Hub id", "owner/set")
        wait(app, lambda: app.has("button", "Fetch"))
        asked = ("owner/set", None, "validation")
    else:
        app.set("button_group", "From", "A data set of the papers").set("selectbox", "Data set", "SST2")
        assert any(["metric", "accuracy"] in rows for rows in app.tables) and "51 %" in app.said
        asked = ("nyu-mll/glue", "sst2", "validation")
    assert not fetched
    app.press("Fetch")
    wait(app, lambda: app.errors)
    assert fetched == [asked] and "reached" in app.errors[0]
    app.press("Fetch")
    wait(app, lambda: app.has("button", "Add this data"))
    assert not app.errors and "A note on reading" in app.said and "2 examples" in app.said
    predicted(app.press("Add this data"))
    assert [row["label"] for row in app.table["rows"]] == ["negative", "positive"] and "A note on reading" in app.said
    assert not app.has("button", "Add this data") and len(fetched) == 2
    st.cache_resource.clear()
    assert App(ATTRIBUTIONS, **app.at.query_params).text == "A dull evening."


def test_a_task_without_a_hub_says_how_to_get_it(nothing_added):
    app = App(EXAMPLES).set("button_group", "From", "A data set of the papers").set("selectbox", "Data set", "Anemia")
    assert "MIMIC" in app.said and not app.has("button", "Fetch")


def test_a_file_of_this_machine_is_added_by_its_path(nothing_added, tmp_path):
    (tmp_path / "mine.csv").write_text(OWN)
    app = App(EXAMPLES).set("button_group", "From", "A file on this machine")
    for wrong, said in (
        (str(tmp_path), "folder"),
        (str(tmp_path / "gone.csv"), "no file"),
        ("~nobody/x.csv", ""),
        ("/dev/zero", "no file"),
        ("a\0b", ""),
    ):
        app.set("text_input", PATH, wrong)
        assert len(app.errors) == 1 and said in app.errors[0] and not app.has("button", "Add this data")
    app.set("text_input", PATH, str(tmp_path / "mine.csv"))
    predicted(app.press("Add this data"))
    (tmp_path / "mine.csv").unlink()
    assert len(app.run().table["rows"]) == 4 and app.widget("text_input", PATH).value == ""


def test_a_folder_that_cannot_be_written_costs_keeping_and_nothing_else(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("a file, not a folder")
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "file"))
    app = predicted(upload(App(EXAMPLES), "mine.csv", OWN.encode()).press("Add this data"))
    assert len(app.table["rows"]) == 4 and any("kept" in w.value for w in app.at.warning)
    assert app.go(ATTRIBUTIONS).text == "A dull evening."


def test_the_setting_names_data(monkeypatch, nothing_added, tmp_path):
    (tmp_path / "mine.csv").write_text(OWN)
    monkeypatch.setenv("FAITHSCOPE_DATA", f"{tmp_path / 'mine.csv'}; {tmp_path / 'gone.csv'}")
    app = App(ATTRIBUTIONS)
    assert app.text == "A dull evening." and app.widget("selectbox", "Data").value.startswith("mine.csv@")
    assert "gone.csv" in app.said and not app.errors


# Models of one's own


def test_a_local_roberta_is_checked_loaded_and_remembered(nothing_added, tiny_root, tmp_path):
    folder = str(shutil.copytree(tiny.folder("roberta", tiny_root), tmp_path / "my-roberta"))
    app = App(HOME)
    app.widget("text_input", "Folder, hub id or adapter").set_value(folder)
    app.press("Check")
    assert "usable" in app.badges and app.widget("selectbox", "Model").value == "sst2-fmm"
    app.press("Load and keep")
    assert app.widget("selectbox", "Model").value == folder and app.words["pieces"] and not app.errors
    st.cache_resource.clear()
    assert "my-roberta" in App(HOME).widget("selectbox", "Model").options
    predicted(app.go(EXAMPLES))
    assert {row["predicted"] for row in app.table["rows"]} <= set(tiny.LABELS) and "Not judged" in app.said
    app.press("Remove")
    assert (
        app.widget("selectbox", "Model").value == "sst2-fmm"
        and "my-roberta" not in app.widget("selectbox", "Model").options
    )


@pytest.mark.parametrize(
    "name", ["", "nowhere", "/", "owner/name/more", "x" * 10_000, "a\0b", "../../etc", "README.md"]
)
def test_a_model_that_cannot_be_used_is_said_before_anything_is_loaded(name, nothing_added):
    app = App(HOME)
    app.widget("text_input", "Folder, hub id or adapter").set_value(name)
    app.press("Check")
    assert not app.has("button", "Load and keep") and bool(app.errors) == bool(name) and app.words["pieces"]
    assert ("unusable" in app.badges) == bool(name)


# Whole files


def test_a_large_file_waits_to_be_asked_and_can_be_cancelled(monkeypatch, fresh, bundled):
    monkeypatch.setattr(held_data, "CHEAP_SECONDS", -1.0)
    app = App(EXAMPLES)
    assert (
        app.has("button", "Compute predictions")
        and all(row["share"] is None for row in app.table["rows"])
        and app.outcomes == ["not predicted"]
    )
    started, go_on = [], []
    really = bundled.scheduler.network

    def slow(*arguments):
        started.append(1)
        end = time.monotonic() + 20
        while not go_on and time.monotonic() < end:
            time.sleep(0.01)
        return really(*arguments)

    monkeypatch.setattr(bundled.scheduler, "network", slow)
    app.press("Compute predictions")
    wait(app, lambda: started)
    assert app.has("button", "Cancel") and app.at.get("progress")
    app.press("Cancel")
    go_on.append(1)
    wait(app, lambda: app.has("button", "Go on with predictions") or app.has("button", "Compute predictions"))
    assert "Cancelled" in app.said
    app.press("Go on with predictions" if app.has("button", "Go on with predictions") else "Compute predictions")
    predicted(app)
    assert not app.has("button", "Predict all")


# Downloads


def test_the_downloaded_table_holds_what_the_filters_leave_and_no_formula(nothing_added):
    hostile = 'text,label\n"=HYPERLINK(""http://x"")",negative\n@SUM(1),positive\nplain text,positive\n'
    app = predicted(upload(App(EXAMPLES), "cells.csv", hostile.encode()).press("Add this data"))
    rows = list(csv.DictReader(io.StringIO(app.download("Download these 3 examples (CSV)"))))
    assert len(rows) == 3 and rows[2]["text"] == "plain text"
    assert all(not value.startswith(("=", "@", "+", "-")) for row in rows for value in row.values())
    assert np.allclose(
        [float(row["confidence (0 to 1)"]) for row in rows], [r["share"] for r in app.table["rows"]], atol=1e-4
    )
