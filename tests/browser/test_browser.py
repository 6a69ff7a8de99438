"""The app in a real browser: what only a browser can tell (events, themes, addresses, the network)."""

import itertools
import re

from playwright import sync_api as playwright

from core.data.examples import read_bundled
from core.results.verdicts import Status, VerdictsOutcome
from tests.browsing import DEFAULT, WAIT, contrasts, script

REVIEWS = {example.id: example for example in read_bundled("reviews")}
IDS = list(REVIEWS)
# Long enough that beam search waits to be asked on any CPU.
LONG = max(REVIEWS.values(), key=lambda example: len(example.text)).id
MIDDLE = min(REVIEWS.values(), key=lambda example: abs(len(example.text.split()) - 15)).id


def shows_example(person, identifier: str) -> None:
    person.has_chosen(identifier)
    person.shows(REVIEWS[identifier].text)


def legible(person, name: str = "") -> None:
    """In both themes every word, label and cell has a contrast of at least 4.5:1 with its own ground; name: of the
    pictures of it.
    """
    for theme in ("dark", "light"):
        person.turn(theme)
        own = ".word, .detail, .name, .legend span, div.legend, .score span, td, th, .tip, [data-testid=stHtml] p"
        # What the framework draws: captions, buttons and what is chosen of several.
        found = contrasts(person, f"{own}, [data-testid=stCaptionContainer] p, button[data-variant] p")
        shades = {part["shaded"] for part in found if part["kind"].split()[0] == "word"}
        assert len(shades) > 2, "no shaded words were found"
        if name:
            person.picture(f"{name}-{theme}")


def test_home_opens_with_an_example_and_legible_words_and_a_link_restores_its_choice(visit):
    person = visit().open()
    # Nothing ships in this server: the first example is computed, its verdicts wait elsewhere.
    playwright.expect(person.page.locator(".glance .name")).to_have_text(DEFAULT)
    assert person.text == read_bundled("ordinary reviews")[0].text
    headline = person.page.locator("p.headline")
    playwright.expect(headline).to_have_attribute("data-outcome", VerdictsOutcome.NOT_ASKED.value)
    legible(person, "home")
    person.open("", example="p03b", data="contrast pairs", unit="token", **{"class": "positive"})
    assert (
        person.chosen("Data") == "contrast pairs"
        and person.chosen("Example").startswith("p03b ")
        and person.chosen("Explained class") == "positive"
    )


def test_attributions_open_by_a_link_as_the_first_request(visit):
    person = visit("dark").open(
        "attributions",
        example="s004",
        unit="token",
        measures=["attention", "input × gradient"],
        **{"class": "negative"},
    )
    assert person.rows == ["attention", "input × gradient"]
    person.unfold()
    assert person.chosen("Example").startswith("s004 ") and person.chosen("Explained class") == "negative"
    assert person.page.get_by_role("radio", name="token").get_attribute("aria-checked") == "true"
    assert person.text == REVIEWS["s004"].text
    assert "negative" in person.page.locator("div.legend").text_content()
    for part in ("example=s004", "unit=token", "class=negative", "measures=attention"):
        assert part in person.query


def test_the_keyboard_is_enough(visit):
    person = visit().open("attributions", data="reviews", example=IDS[0])
    playwright.expect(person.page.locator(".row .name")).to_have_text(DEFAULT)
    badges = person.page.locator(".row .chip", has_text=re.compile(f"^({'|'.join(Status)})$"))
    playwright.expect(badges).to_have_count(len(DEFAULT))
    legible(person, "attributions")
    person.page.keyboard.press("n")
    shows_example(person, IDS[1])
    person.page.keyboard.press("n")
    shows_example(person, IDS[2])
    person.page.keyboard.press("p")
    shows_example(person, IDS[1])
    # Arrow keys walk within a row of words; Enter chooses.
    person.word(0, 1).focus()
    for _ in range(3):
        person.page.keyboard.press("ArrowRight")
    person.page.keyboard.press("ArrowLeft")
    playwright.expect(person.word(2, 1)).to_be_focused()
    playwright.expect(person.page.locator(".tip")).to_have_text(person.word(2, 1).get_attribute("aria-label"))
    person.page.keyboard.press("Enter")
    playwright.expect(person.page.locator(".word.chosen")).to_have_count(len(DEFAULT))
    # The rows were drawn anew: the keyboard stays where it was.
    playwright.expect(person.word(2, 1)).to_be_focused()
    # One stop of the Tab key per row.
    assert person.page.locator('.word[tabindex="0"]').count() == len(DEFAULT)


def test_pointing_at_a_word_tells_measure_and_value_and_clicking_compares_the_measures(visit):
    person = visit().open("attributions", example="s005")
    tip = person.page.locator(".tip")
    assert not tip.is_visible()
    for row, name in enumerate(DEFAULT):
        person.word(2, row).hover()
        playwright.expect(tip).to_be_visible()
        said = tip.text_content()
        assert name in said and re.search(r"\d", said) and person.word(2, row).text_content() in said
        assert said == person.word(2, row).get_attribute("aria-label")
        # The same word stands out in every row.
        assert person.page.locator(".word.same").count() == len(DEFAULT)
    person.page.mouse.move(5, 5)
    playwright.expect(tip).to_be_hidden()
    # Of the word that is clicked a table with a line a measure, drawn on a canvas, and a field that edits it.
    edits = person.page.get_by_role("textbox", name="Put in the place of this word")
    assert edits.count() == 0
    person.word(3, 1).click()
    playwright.expect(person.page.locator(".word.chosen")).to_have_count(len(DEFAULT))
    playwright.expect(edits).to_have_value(person.word(3).text_content())
    assert {word.get_attribute("data-i") for word in person.page.locator(".word.chosen").all()} == {"3"}
    assert person.word(3).get_attribute("aria-pressed") == "true"
    # Again, and it is let go.
    person.word(3).click()
    playwright.expect(person.page.locator(".word.chosen")).to_have_count(0)
    playwright.expect(edits).to_have_count(0)
    # On the next example nothing is chosen.
    person.word(1).click()
    playwright.expect(person.page.locator(".word.chosen")).to_have_count(len(DEFAULT))
    person.page.get_by_role("button", name="Next").click()
    shows_example(person, "s006")
    playwright.expect(person.page.locator(".word.chosen")).to_have_count(0)


def test_a_class_button_explains_that_class_and_choices_hold_on_every_page(visit):
    person = visit().open("attributions", example="s005")
    before = person.page.locator(".row").first.locator(".word").first.get_attribute("aria-label")
    legend = person.page.locator("div.legend").text_content()
    other = "negative" if "supports “positive”" in legend else "positive"
    person.page.get_by_role("button", name=re.compile(f"^{other} · ")).click()
    playwright.expect(person.page.locator("div.legend")).to_contain_text(f"supports “{other}”")
    person.rest()
    assert person.page.locator(".row").first.locator(".word").first.get_attribute("aria-label") != before
    person.unfold()
    assert person.chosen("Explained class") == other and f"class={other}" in person.query
    person.page.get_by_text("token", exact=True).click()
    person.until("() => location.search.includes('unit=token')")
    person.page.get_by_role("button", name="Next").click()
    shows_example(person, "s006")
    person.follow("Home", "Faithscope: which")
    shows_example(person, "s006")
    assert person.page.get_by_role("radio", name="token").get_attribute("aria-checked") == "true"
    assert "example=s006" in person.query and "unit=token" in person.query
    person.page.reload()
    shows_example(person.ready(), "s006")
    assert person.page.get_by_role("radio", name="token").get_attribute("aria-checked") == "true"


def test_letters_turn_no_page_and_whatever_is_typed_is_shown_or_a_sentence_tells_why_not(visit):
    person = visit().open("attributions", example="s005")
    person.page.get_by_text("Type or edit a text", exact=True).click()
    box = person.page.get_by_role("textbox", name="Text", exact=True)
    box.click()
    box.press_sequentially("nnpp")
    assert "nnpp" in box.input_value() and person.chosen("Example").startswith("s005 ")
    for typed in ("👩‍👩‍👧 film 🎬", "هذا فيلم رائع", "Z̸̧a̵l̷g̶o café"):
        person.type(typed)
        assert person.text.replace("UNK", "") == typed
    assert person.page.locator(".row .text").first.get_attribute("dir") == "auto"
    # With another text comes another box.
    person.rest()
    box.fill("   ")
    person.press("Explain")
    alert = person.page.get_by_role("alert")
    playwright.expect(alert).to_have_count(1)
    playwright.expect(alert).to_contain_text("text is empty")
    person.rest()
    assert person.text == typed, "what was shown stays"
    person.type("Better now.")
    assert person.text == "Better now."


def test_a_text_is_shown_as_typed_and_comes_back_after_a_reload(visit):
    typed = "A <img src=x onerror=alert(1)> **bold** $x$ :smile: <b>film</b>,\nnot &amp; bad"
    person = visit().open("attributions", data="reviews")
    person.type(typed)
    assert person.text == typed
    assert person.page.locator(".row img, .row b, .row strong, .row .katex").count() == 0
    assert person.page.locator("img[src='x']").count() == 0
    assert "text=" in person.query and "example=" not in person.query
    person.page.reload()
    person.ready().shows(typed)
    # Another page, and back.
    person.follow("Home", "Faithscope: which")
    person.shows(typed)
    person.follow("Attributions", "Which words")
    person.shows(typed)
    playwright.expect(person.page.locator(".row .name")).to_have_text(DEFAULT)
    # Somebody else follows the same link.
    other = visit().open(f"attributions?{person.query}")
    other.shows(typed)


def test_two_people_do_not_mix(visit):
    one, two = visit().open("attributions", example="s007"), visit("dark").open("attributions", example="s008")
    one.page.keyboard.press("n")
    shows_example(one, "s008")
    two.page.keyboard.press("n")
    shows_example(two, "s009")
    one.type("Only mine.")
    two.page.keyboard.press("n")
    shows_example(two, "s010")
    assert one.text == "Only mine." and two.chosen("Data") == "hard reviews"


def test_dear_work_is_asked_for_and_arrives_while_one_looks_elsewhere(visit):
    person = visit().open("attributions", example=MIDDLE, measures=["gradient", "beam"])
    position = IDS.index(MIDDLE)
    ask = person.page.get_by_role("button", name="Compute beam")
    # On a very fast CPU the work may be cheap enough to be done at once.
    if ask.count():
        assert person.rows == ["gradient"]
        ask.press("Enter")
        # The press has arrived before the next key is pressed.
        playwright.expect(ask).to_have_count(0)
        person.page.keyboard.press("n")
        shows_example(person, IDS[position + 1])
        person.page.keyboard.press("p")
        shows_example(person, MIDDLE)
    playwright.expect(person.page.locator(".row .name")).to_have_text(["gradient", "beam"], timeout=WAIT)
    person.rest()
    playwright.expect(person.page.locator("[data-testid=stProgress]")).to_have_count(0)
    places = person.page.locator(".row").nth(1).locator(".place").all_text_contents()
    assert sorted(map(int, places)) == list(range(1, len(places) + 1))


def test_dear_work_shows_how_far_it_is_is_not_lost_on_leaving_and_stops_when_told(visit):
    person = visit().open("attributions", example=LONG, measures=["gradient", "beam"])
    person.page.evaluate(script("heard"))
    voice = person.page.locator(".faithscope-voice")
    person.press("Compute beam")
    playwright.expect(voice).to_contain_text("beam")
    progress = person.page.locator("[data-testid=stProgress]").filter(has_text="beam").first
    playwright.expect(progress).to_contain_text(re.compile(r"beam.* left"), timeout=WAIT)
    first = progress.text_content()
    person.page.wait_for_function(
        "before => { const now = document.querySelector('[data-testid=stProgress]'); return now && now.textContent !== "
        "before; }",
        arg=first,
    )
    # It goes on while one looks at another page, and is found again.
    person.follow("Examples", "Which example")
    person.follow("Attributions", "Which words")
    shows_example(person, LONG)
    playwright.expect(progress).to_be_visible()
    person.press("Cancel")
    playwright.expect(person.page.get_by_role("button", name="Compute beam")).to_be_visible()
    playwright.expect(progress).to_have_count(0)
    playwright.expect(voice).to_have_text("Nothing is being computed any more.")
    # The bar is drawn several times a second; it is said at the beginning, now and then, and at the end.
    *told, last = person.page.evaluate("() => window.heard")
    between = [later - before for (before, _), (later, _) in itertools.pairwise(told)]
    assert told and last[1].startswith("Nothing") and all(gap > 9_000 for gap in between)
    assert voice.get_attribute("aria-live") == "polite"
    assert person.rows == ["gradient"] and "ancelled" in person.page.locator("[data-testid=stMain]").text_content()
    person.narrow()


def test_a_question_mark_opens_the_words_and_keys_unless_it_is_typed(visit):
    person = visit().open("attributions", data="reviews")
    sheet = person.page.get_by_role("dialog")
    person.page.keyboard.press("?")
    playwright.expect(sheet).to_contain_text("previous and next example")
    person.page.keyboard.press("Escape")
    playwright.expect(sheet).to_have_count(0)
    person.page.get_by_role("combobox", name="Example").first.press("?")
    person.rest()
    playwright.expect(sheet).to_have_count(0)
