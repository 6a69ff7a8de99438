"""Every page at a first look, in a real browser, with what ships: how much there is to read, whether the picture is seen,
and whether everybody can read it.
"""

import csv
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe

from core.data.examples import read_bundled
from core.data.sources import from_setting
from core.storage.library import Library
from tests.browsing import SCRIPTS
from tests.sessions import running_server
from tests.words_on_pages import PICTURE, count_words, texts_of_examples, words_of

BEYOND = (SCRIPTS / "beyond.js").read_text(encoding="utf-8")
WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
MOST_IN_VIEW, MOST_ON_PAGE, MOST_WORDS = 60, 180, 320
OF_TEXTS = ["", "examples", "attributions", "recursive_masking", "aopc_and_naopc", "hard_and_soft_erasure"]
OF_DATA = ["model_check", "data_set", "scoreboard"]
PAGES = [*OF_TEXTS, *OF_DATA]
# More than the model reads, unlike what it was trained on.
LONG = " ".join(one.text for one in read_bundled("news"))[:4500]
KNOWN = [*texts_of_examples(), set(words_of(LONG))]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("first-visit")


@pytest.fixture(scope="session")
def odd(folder) -> str:
    """The key of a data set of a word of 400 letters, markup and other scripts, all in its first text, in a file of an
    odd name with a column of an odd name.
    """
    odd = [
        "so" * 200,
        "x<script>alert(1)</script> &amp; $9 to $14, *b* :tada: [y](z)",
        "昨天的面很难吃 👨‍👩‍👦 บาน בסדר",
    ]
    texts = [" ".join(odd), *odd, "e\u0301\u0302 # **no** | `code`"]
    path = folder / "$9 *b* <i>.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label", "$1 <b> *note*"])
        rows.writerows([text, ("negative", "positive")[i % 2], "<i>$2</i>"] for i, text in enumerate(texts))
    return from_setting(Library(folder / "cache"), str(path)).key


@pytest.fixture(scope="session")
def server(folder, odd):
    """The app as it is installed: a store that was empty, beside what ships."""
    with running_server(folder, FAITHSCOPE_SHIPPED="yes", OMP_NUM_THREADS="1") as address:
        yield address


def open_page(visit, page: str, **query):
    """A person before a page at a first visit of a wide window, once its picture or the picture's shape is drawn."""
    person = visit()
    person.page.set_viewport_size(WIDE)
    person.page.goto(f"{person.server}/{page}?{urlencode(query)}")
    person.page.wait_for_selector("[data-testid=stMain] h1")
    picture_top(person)
    # Pointed at is nothing.
    person.page.mouse.move(0, 0)
    person.rest()
    return person


def picture_top(person) -> float:
    """Where the picture begins."""
    return person.page.wait_for_function(PICTURE).json_value()


def has_little_to_read(person) -> None:
    """One title, few words, and the picture in the first view."""
    assert picture_top(person) < WIDE["height"]
    found = count_words(person.page, WIDE["height"], KNOWN)
    assert found.view <= MOST_IN_VIEW and found.page <= MOST_ON_PAGE and found.every <= MOST_WORDS, "\n".join(
        map(str, found)
    )
    assert person.page.locator("h1").count() == 1


@pytest.mark.parametrize("page", PAGES)
def test_a_first_visit_is_read_at_a_glance_by_everybody_and_on_a_phone(visit, page):
    person = open_page(visit, page)
    has_little_to_read(person)
    # What is about to be replaced is faded by the framework.
    person.idle()
    for theme in ("light", "dark"):
        person.turn(theme)
        found = Axe().run(person.page).response["violations"]
        grave = [
            (one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")
        ]
        assert not grave, grave
    person.page.set_viewport_size(PHONE)
    person.page.reload()
    # Parts above it come and go while the page is drawn.
    person.until(f"height => {{ const top = ({PICTURE})(); return top !== null && top < height; }}", PHONE["height"])


@pytest.mark.parametrize("page", PAGES)
def test_whatever_a_text_holds_stays_within_the_window(visit, odd, page):
    person = open_page(visit, page, data=odd)
    for size in (WIDE, PHONE):
        person.page.set_viewport_size(size)
        person.idle()
        assert person.page.evaluate(BEYOND) == [], size


@pytest.mark.parametrize("page", PAGES)
def test_two_models_are_read_at_a_glance(visit, page):
    has_little_to_read(open_page(visit, page, beside="sst2-plain", models="sst2-plain"))


# Of a text of one's own there is no table of examples.
@pytest.mark.parametrize("page", [page for page in OF_TEXTS if page != "examples"])
def test_a_truncated_text_unlike_others_under_the_plain_twin_is_read_at_a_glance(visit, page):
    has_little_to_read(open_page(visit, page, model="sst2-plain", data="own text", text=LONG))
