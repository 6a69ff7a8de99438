"""Every page at a first look, in a real browser: how much there is to read, whether the picture is seen, and for whom."""

from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe

from core.data.examples import read_bundled
from tests.words_on_pages import PICTURE, count_words, texts_of_examples, words_of

WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
MOST_IN_VIEW, MOST_ON_PAGE, MOST_WORDS = 60, 180, 320
OF_TEXTS = ["", "examples", "attributions", "recursive_masking", "aopc_and_naopc", "hard_and_soft_erasure"]
OF_DATA = ["model_check", "data_set", "scoreboard"]
# More than the model reads, unlike what it was trained on.
LONG = " ".join(one.text for one in read_bundled("news"))[:4500]
STATES = {
    "default": {},
    "plain twin, truncated text": {"model": "sst2-plain", "data": "own text", "text": LONG},
    "two models": {"beside": "sst2-plain", "models": "sst2-plain"},
}
KNOWN = [*texts_of_examples(), set(words_of(LONG))]


def open_page(visit, page: str, state: str):
    """A person before a page at rest, at a first visit of a wide window."""
    person, query = visit(), STATES[state]
    if page in OF_DATA:
        query = {key: value for key, value in query.items() if key not in ("data", "text")}
    person.page.set_viewport_size(WIDE)
    person.page.goto(f"{person.server}/{page}?{urlencode(query)}")
    person.page.wait_for_selector("[data-testid=stMain] h1")
    person.idle()
    return person


def picture_top(person) -> float:
    """Where the picture begins, once it is drawn."""
    return person.page.wait_for_function(PICTURE).json_value()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("page", [*OF_TEXTS, *OF_DATA])
def test_a_page_has_little_to_read_one_title_and_a_picture_in_the_first_view(visit, page, state):
    person = open_page(visit, page, state)
    assert picture_top(person) < WIDE["height"]
    found = count_words(person.page, WIDE["height"], KNOWN)
    assert found.view <= MOST_IN_VIEW and found.page <= MOST_ON_PAGE and found.every <= MOST_WORDS, found
    assert person.page.locator("h1").count() == 1


@pytest.mark.parametrize("page", [*OF_TEXTS, *OF_DATA])
def test_a_page_is_accessible_in_both_themes_and_its_picture_begins_in_the_first_view_of_a_phone(visit, page):
    person = open_page(visit, page, "default")
    for theme in ("light", "dark"):
        person.turn(theme)
        found = Axe().run(person.page).response["violations"]
        grave = [
            (one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")
        ]
        assert not grave, grave
    person.page.set_viewport_size(PHONE)
    person.idle()
    assert picture_top(person) < PHONE["height"]
