"""Texts of one's own and shipped pairs, without a browser: edited in place, beside what they were made from, and one
press away.
"""

import csv
import io
import json

import numpy as np
import pytest

from core.attacks.candidates import Proposer, candidates
from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.results.caveats import Caveat
from core.storage.store import Store
from core.validity.marks import SIGN
from core.wording import number
from pages.parts.frame.picking import MOST_REMEMBERED, NOT_KEPT
from tests.app_session import ATTRIBUTIONS, EXAMPLES, HOME, App

pytestmark = pytest.mark.usefixtures("server")
PAIRS = {example.id: example for example in read_bundled("contrast pairs")}
DULL, FINE = "Not one dull minute.", "Not one fine minute."


def click(app: App, word: int) -> App:
    """What the component of the coloured words sends when a word is clicked."""
    (key,) = [one.key for one in app.components if one.proto.component_name == "faithscope_words"]
    app.at.session_state[key] = {"word": f"{app.words['text']}:{word}"}
    return app.run()


def edit(app: App, word: int, new: str | None) -> App:
    """Put a word in the place of another, or take it out."""
    click(app, word)
    if new is None:
        return app.press("Take it out")
    app.widget("text_input", "Put in the place of this word").set_value(new)
    return app.press("Replace")


def captions(app: App) -> list[str]:
    return [one.value for one in app.at.caption]


def sent(app: App) -> dict:
    """What is drawn of two versions."""
    (found,) = app.drawn("changed")
    return found


def beside(app: App) -> bool:
    return bool(app.drawn("changed"))


def table_of(app: App, *names: str) -> dict[str, list[str]]:
    (found,) = [table for table in app.tables if table[0][1:3] == list(names)]
    return {row[0]: row[1:] for row in found[1:]}


def test_a_word_edited_in_place_stands_beside_its_original(bundled):
    app = edit(App(ATTRIBUTIONS, measures=["leave-one-out", "gradient"]).type(DULL), 2, "fine")
    assert app.text == FINE and app.widget("selectbox", "Data").value == "own text"
    drawn = sent(app)
    assert drawn["names"] == ["original", "edit"] and drawn["changed"] == [False, False, True, False, False]
    assert drawn["words"] == [["Not", "one", "dull", "minute", "."], ["Not", "one", "fine", "minute", "."]]
    explainer = Explainer(bundled)
    both = [explainer.encode(text, None, "word") for text in (DULL, FINE)]
    shares = [explainer.probabilities(encoded) for encoded in both]
    target = int(shares[1].argmax())
    name = bundled.labels[target]
    facts = table_of(app, "original", "edit")
    assert facts["prediction"][:2] == [bundled.labels[int(one.argmax())] for one in shares]
    assert facts[f"probability of {name}"][:2] == [number(float(one[target])) for one in shares]
    (row,) = [row for row in drawn["rows"] if row["name"] == "leave-one-out"]
    scores = [explainer.attribute(encoded, "leave-one-out", target).scores["signed"] for encoded in both]
    largest = max(np.abs(one).max() for one in scores)
    for side, one in zip(row["sides"], scores):
        assert np.allclose([cell["shade"] for cell in side], one / largest, atol=1e-4)
    predicted = [int(one.argmax()) for one in shares]
    outcome = "prediction stays" if predicted[0] == predicted[1] else "prediction changes"
    assert ("versions", outcome) in [one[:2] for one in app.findings]
    # Both stand in what is saved.
    saved = list(csv.DictReader(io.StringIO(app.download("Table (CSV)").lstrip("\ufeff"))))
    told = [float(one["value"]) for one in saved if (one["version"], one["measure"]) == ("original", "leave-one-out")]
    assert told == pytest.approx(scores[0]) and len(saved) == 2 * 2 * 5
    assert {(one["version"], one["word"]) for one in saved} >= {("original", "dull"), ("edit", "fine")}
    page = app.download("Page (HTML)")
    assert (
        app.findings[0][2].partition(bundled.labels[predicted[0]])[0] in page
        and "All values: <bdi>original</bdi>" in page
    )
    # The same link in another session, and closed.
    other = App(ATTRIBUTIONS, **app.at.query_params)
    assert sent(other)["words"] == drawn["words"]
    assert not beside(app.press("Close the comparison")) and "against" not in app.at.query_params
    assert "version" not in app.download("Table (CSV)").partition("\n")[0].split(",")
    assert beside(app.press("Show beside the original"))


def test_a_candidate_that_is_pressed_stands_beside_its_original(bundled):
    """The bundled base has no masked-language head, and the page says where its candidates come from."""
    app = click(App(ATTRIBUTIONS, measures=["leave-one-out"]).type(DULL), 2)
    found = candidates(bundled, bundled.encode(DULL), 2)
    assert found.by is Proposer.EMBEDDINGS and len(found.words) > 1
    assert any(found.by in caption for caption in captions(app))
    app.press(found.words[1])
    assert app.text == DULL.replace("dull", found.words[1]) and sent(app)["changed"] == [
        False,
        False,
        True,
        False,
        False,
    ]
    facts = table_of(app, "original", "edit")
    assert "prediction" in facts and any(name.startswith("p (calibrated)") for name in facts)
    # Punctuation has none.
    assert not any(found.by in caption for caption in captions(click(app, 4)))


def test_a_word_that_is_taken_out_and_markup_that_is_put_in_are_text():
    app = edit(App(ATTRIBUTIONS, measures=["gradient"], example="s009"), 0, "<b>Bold</b>")
    assert app.text.startswith("<b>Bold</b>") and sent(app)["words"][1][0].startswith("<b")
    assert not any("<b>Bold" in text for _, text in app.markup())
    app = edit(app, 0, None)
    assert not app.text.startswith("<b>") and beside(app) and not app.errors


@pytest.mark.parametrize(
    ("new", "why"), [("", "Type what stands"), ("Dull", "the word already"), ("\u200b", "tokenizer")]
)
def test_an_edit_that_cannot_be_is_a_sentence_and_loses_nothing(new, why):
    app = App(ATTRIBUTIONS, measures=["gradient"]).type("Dull")
    edit(app, 0, new)
    assert why in app.said and app.text == "Dull" and app.rows and not app.errors
    assert app.widget("text_input", "Put in the place of this word").value == new


def test_the_last_word_cannot_be_taken_out():
    app = edit(App(ATTRIBUTIONS, measures=["gradient"]).type("Dull"), 0, None)
    assert "Nothing" in app.said and app.text == "Dull" and app.rows


def test_an_edit_of_another_text_is_compared_with_nothing():
    app = edit(App(ATTRIBUTIONS, measures=["gradient"]).type(DULL), 2, "fine")
    assert beside(app) and not beside(app.type("Something else altogether, and longer."))
    # What the box makes of a text that shares most of its words is an edit, too.
    assert beside(app.type("Something else altogether, and shorter."))
    assert not beside(app.set("selectbox", "Data", "reviews"))


def test_typed_texts_are_one_press_away_on_every_page_and_bounded():
    app = App(ATTRIBUTIONS, measures=["gradient"])
    assert not app.has("button", "Forget them")
    for i in range(MOST_REMEMBERED + 2):
        app.type(f"Number {i} is *fine*.")
    app.go(HOME)
    own = [
        one.label for one in app.at.get("button") if one.key and one.key.startswith("own-") and one.key != "own-forget"
    ]
    assert len(own) == MOST_REMEMBERED and own[0].replace("\\", "").endswith(f"Number {MOST_REMEMBERED + 1} is *fine*.")
    app.at.button(key="own-3").click()
    assert app.run().text == f"Number {MOST_REMEMBERED - 2} is *fine*." and not app.errors
    assert "example" not in app.at.query_params and app.go(ATTRIBUTIONS).text.startswith("Number")
    app.press("Forget them")
    assert not app.has("button", "Forget them") and app.text.startswith("Number")


def test_a_pair_that_ships_is_one_press_away_and_goes_on_with_the_next():
    app = App(ATTRIBUTIONS, data="contrast pairs", example="p04a", measures=["gradient"])
    assert not beside(app)
    app.press("Its pair: p04b")
    drawn = sent(app)
    assert drawn["names"] == ["p04a", "p04b"] and [w for w in drawn["words"][1] if w] == [
        *"Three hours of Horatio Pym's vaudeville ought to be a slog , and they never are .".split()
    ]
    facts = table_of(app, "p04a", "p04b")
    assert facts["label"][:2] == ["negative", "positive"] and app.at.query_params["against"] == "pair"
    assert sent(app.press("Next"))["names"] == ["p04b", "p04a"]
    app.press("Go to p04a")
    assert app.example == "p04a" and beside(app)
    assert not beside(app.set("selectbox", "Data", "reviews"))


def test_the_p_of_both_texts_and_what_the_gate_says_stand_there(bundled):
    from core.validity.references import find_reference

    app = App(ATTRIBUTIONS, data="contrast pairs", example="p01a", against="pair", measures=["gradient"])
    explainer = Explainer(bundled, None, find_reference(bundled))
    unmasked = [explainer.encode(PAIRS[name].text, None, "word") for name in ("p01a", "p01b")]
    p = [explainer.tested(one).judge(np.zeros((1, one.F), dtype=bool)).p["calibrated"][0] for one in unmasked]
    cells = table_of(app, "p01a", "p01b")["p (calibrated) of the unmasked text"]
    assert [cell.removesuffix(f" {SIGN}") for cell in cells[:2]] == [number(float(one)) for one in p]
    rejected = [cell.endswith(SIGN) for cell in cells[:2]]
    assert any(rejected) == (min(p) < 0.025) == (f"{SIGN} {Caveat.OUT_OF_DISTRIBUTION.badge}" in app.badges)


@pytest.mark.parametrize("against", ["pair", "0" * 64, "nonsense", "../../etc/passwd", ""])
def test_a_link_that_compares_with_what_is_not_here_says_so(against):
    app = App(ATTRIBUTIONS, example="s003", against=against, measures=["gradient"])
    assert "has none here" in app.said and not beside(app) and app.rows and not app.errors
    assert "has none here" in app.run().said and "has none here" not in app.press("Dismiss").said
    app = App(ATTRIBUTIONS, measures=["gradient"]).type(DULL)
    other = App(ATTRIBUTIONS, **app.at.query_params, against=against)
    assert NOT_KEPT in other.said and other.text == DULL and not beside(other)


def test_a_link_that_carries_an_edit_itself_stands_beside_its_original_where_that_is_kept():
    app = edit(App(ATTRIBUTIONS, measures=["gradient"]).type(DULL), 2, "fine")
    original = app.at.query_params["against"]
    other = App(ATTRIBUTIONS, data="own text", text=FINE, against=original, measures=["gradient"])
    assert sent(other)["words"] == sent(app)["words"] and not other.errors
    other = App(ATTRIBUTIONS, data="own text", text=FINE, against="0" * 64, measures=["gradient"])
    assert NOT_KEPT in other.said and other.text == FINE and not beside(other)


def test_a_long_text_is_compared_as_far_as_it_is_read(bundled):
    app = edit(App(ATTRIBUTIONS, measures=["gradient"]).type("good " * 600), 3, "bad")
    assert sum(sent(app)["changed"]) == 1 and len(sent(app)["words"][0]) == bundled.max_tokens - 2


def test_there_is_a_box_for_a_second_text_only_where_the_model_reads_two(shared_store):
    for page in (ATTRIBUTIONS, EXAMPLES):
        app = App(page)
        app = app.open_box() if page == ATTRIBUTIONS else app
        assert app.has("text_area", "Text") and not app.has("text_area", "Second text")
    app = App(ATTRIBUTIONS, model="stories-1-fmm", data="stories 1").open_box()
    assert app.widget("text_area", "Second text").value
    # Before there is a text, and where a link brings two to a model of one.
    assert not App(ATTRIBUTIONS, data="own text").has("text_area", "Second text")
    digest = Store(shared_store).put_text(json.dumps(["A film.", "Is it?"]))
    app = App(ATTRIBUTIONS, data="own text", text=digest).open_box()
    assert app.widget("text_area", "Second text").value == "Is it?"
