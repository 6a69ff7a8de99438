"""Models of other tasks than reviews: their examples come with them, questions stand on top, evidence beside
faithfulness.
"""

import pytest

from core.data.examples import TWICE, read_bundled
from core.evaluation.families import examples_of
from core.loading.locating import bundled_models
from tests.app_session import ATTRIBUTIONS, EXAMPLES, HOME, App, wait

pytestmark = pytest.mark.usefixtures("server")
RECURSIVE = "pages/recursive_masking.py"


def chosen(app: App) -> tuple[str, str]:
    return app.widget("selectbox", "Model").value, app.widget("selectbox", "Data").value


@pytest.mark.parametrize("model", bundled_models())
def test_every_model_that_ships_opens_on_examples_of_its_task(model):
    app = App(ATTRIBUTIONS, model=model)
    assert chosen(app) == (model, examples_of(model))
    judged = [badge for badge in app.badges if badge.endswith((" ✓", " ✗ wrong"))]
    assert len(judged) == 1, "the labels are the model's classes"


def test_of_many_classes_one_box_says_how_likely_each_is_and_of_few_a_button():
    app = App(ATTRIBUTIONS, model="stories-1-fmm")
    offered = app.widget("selectbox", "Explained class").options
    assert offered[0] == "predicted" and len(offered) == 7 and all(" · " in one for one in offered[1:])
    assert not app.has("button", "attic · ")
    app.set("selectbox", "Explained class", "attic")
    assert "explains attic" in app.badges
    few = App(ATTRIBUTIONS)
    assert few.widget("selectbox", "Explained class").options == ["predicted", "negative", "positive"]
    assert few.has("button", "negative · ") and few.has("button", "positive · ")


def test_another_model_brings_its_examples_and_what_fits_it_stays():
    app = App(HOME, data="contrast pairs")
    app.set("selectbox", "Model", "stories-1-fmm")
    assert chosen(app) == ("stories-1-fmm", "stories 1")
    app.set("selectbox", "Model", "stories-2-fmm")
    assert chosen(app) == ("stories-2-fmm", "stories 2"), "its labels are the same, but these stories are another task"
    app.set("selectbox", "Model", "sst2-fmm")
    assert chosen(app) == ("sst2-fmm", "reviews")
    app.set("selectbox", "Data", "contrast pairs")
    app.set("selectbox", "Model", "sst2-plain")
    assert chosen(app) == ("sst2-plain", "contrast pairs")


def test_a_text_of_ones_own_stays_whatever_the_model():
    app = App(ATTRIBUTIONS).type("A fine film .")
    app.set("selectbox", "Model", "ag-news-fmm")
    assert chosen(app) == ("ag-news-fmm", "own text") and "A fine film" in " ".join(
        piece["text"] for piece in app.words["pieces"]
    )


def test_the_question_stands_with_the_answer_and_the_evidence_is_scored():
    app = App(ATTRIBUTIONS, model="stories-2-fmm")
    story = read_bundled("stories 2")[0]
    assert f"Second text (read, never masked): {story.second}" in app.said
    (table,) = [table for table in app.tables if "average precision ↑" in table[0]]
    assert table[-1][0] == "random order, on average" and 0 < float(table[-1][1]) < 1
    overlined = {piece["text"] for piece in app.words["pieces"] if piece.get("evidence")}
    assert overlined == {story.text[start:end] for start, end in story.evidence}
    app.go(EXAMPLES)
    assert story.second in app.said


@pytest.mark.parametrize("computed", ["at each step", "once"])
def test_redundant_stories_are_stepped_through_either_way(computed):
    twice = next(example for example in read_bundled("stories 1") if TWICE in example.tags)
    app = App(RECURSIVE, model="stories-1-fmm", example=twice.id, computed=computed, measures=["gradient"])
    wait(app, lambda: any("average precision ↑" in table[0] for table in app.tables), rest=60.0)
    assert twice.second in app.said


def test_the_question_can_be_masked_too_and_the_choice_holds_in_the_address():
    app = App(ATTRIBUTIONS, model="stories-1-fmm")
    first = [piece["text"] for piece in app.words["pieces"]]
    question = read_bundled("stories 1")[0].second or ""
    app.set("button_group", "Masked texts", "both")
    both = app.words["pieces"]
    assert [piece["text"] for piece in both[: len(first)]] == first and both[len(first)]["gap"].count("\n") == 1
    assert "".join(piece["gap"] + piece["text"] for piece in both).endswith(f"\n{question}")
    assert app.at.query_params["maskable"] in ("both", ["both"])
    app.set("button_group", "Masked texts", "second")
    assert len(app.words["pieces"]) == len(both) - len(first)
    assert not App(ATTRIBUTIONS).has("button_group", "Masked texts")
