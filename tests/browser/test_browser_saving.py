"""Saving in a real browser: tables, pages and pictures, from a small page that shows words and figures."""

import csv
import io
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright import sync_api as playwright

from core.figures.palette import OPPOSES, STRONGEST, SUPPORTS, blend
from core.reports.attribution_page import attribution_page
from core.reports.exports import COLUMNS, CONSTANT, restored, visible
from core.results.verdicts import words_result
from core.verdicts.deciding import Word
from tests import browsing
from tests.colours import contrast
from tests.saved_page import ATTACKS, harmless
from tests.sessions import ROOT, running_server
from tests.shown import encoded, shown

SVG = "{http://www.w3.org/2000/svg}"
FORM = "A good [MASK] film, not bad \u2013 it wins."
LONG = " ".join(f"word{i}" for i in range(700))
TEXTS = {
    "form": FORM,
    "arabic": "هذا فيلم (رائع) جدا",
    "odd": "<b>x</b> &amp; \0 a\ud800b 👩‍👩‍👧 \u202eevil\u202c ]]> " + "w" * 300,
    "long": LONG,
}
SHAPES = {
    "svg",
    "title",
    "desc",
    "g",
    "rect",
    "line",
    "text",
    "tspan",
    "path",
    "defs",
    "clipPath",
    "linearGradient",
    "stop",
    "image",
    "a",
}

APP = f"""
import json
import streamlit as st
from core.explanation.rows import pieces
from core.results.verdicts import words_result
from core.verdicts.deciding import Word
from pages.parts.components.pictures import figure_buttons
from pages.parts.sections.saving import about_models, about_shown, attributions_name, save_attributions, save_table
from pages.parts.components.words import words
from tests.shown import rows, view

st.set_page_config(layout="wide")
shown = view(json.loads({json.dumps(json.dumps(TEXTS))})[st.query_params.get("text", "form")])
made = rows(shown.encoded)
words(made, pieces(shown.encoded), shown.class_name, {{}}, name=attributions_name(shown), about=about_shown(shown, shown))
save_attributions(shown, made, words_result({{"<b>beam</b> &amp; co": Word.BETTER, "gradient": Word.WORSE}}))
line = {{"data": [{{"type": "scatter", "x": [0, 1, 2], "y": [0.2, 0.9, 0.4],
                   "line": {{"color": "#d97a1e", "width": 4}}, "name": "one <b>two</b>"}}],
        "layout": {{"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
                   "title": {{"text": "<a href='https://example.org/'>Title</a> & more"}},
                   "xaxis": {{"title": {{"text": "masked (%)"}}}}, "showlegend": True}}}}
st.plotly_chart(line, key="a line", theme=None, config={{"displayModeBar": False}})
figure_buttons("a line", "line-of-story", about_models([shown.model]))
with st.container(key="heat"):
    st.plotly_chart({{"data": [{{"type": "heatmap", "z": [[1, 2], [3, 4]]}}], "layout": {{}}}})
figure_buttons("heat", "heat-of-story", about_shown(shown, shown), "the heat map")
figure_buttons("nowhere", "nothing", "nothing", "what is not there")
asked = st.session_state.setdefault("asked", [])
save_table("Small table", ["=name", "value"], lambda: asked.append(1) or [["@x", -1.5], ["plain", float("nan")]],
           "small.csv", "small")
st.session_state.runs = st.session_state.get("runs", 0) + 1
st.button("Again")
st.html(f"<p id='runs'>runs {{st.session_state.runs}}, asked {{len(asked)}}</p>")
"""

# The name of the files of the small page.
NAME = "attributions-reviews-s001-positive-story"


@pytest.fixture(scope="module")
def small_page(tmp_path_factory):
    """The small page on a server of its own; its address."""
    folder = tmp_path_factory.mktemp("saving")
    (folder / "page.py").write_text(APP, encoding="utf-8")
    with running_server(folder, str(folder / "page.py"), PYTHONPATH=str(ROOT)) as address:
        yield address


@pytest.fixture
def visit(browser, window, small_page):
    """`visit(theme, text=…)`: a person who sees the small page."""
    people = []

    def come(theme: str = "light", **query):
        people.append(browsing.Person(browser, small_page, theme, window))
        people[-1].open("", **query)
        people[-1].page.wait_for_selector(".js-plotly-plot .heatmaplayer image", state="attached")
        playwright.expect(people[-1].page.locator(".save button")).to_have_count(8)
        return people[-1]

    yield come
    for person in people:
        person.leave()


def drawn(content: bytes) -> ElementTree.Element:
    """An SVG that holds shapes and texts and nothing that runs or reaches out."""
    root = ElementTree.fromstring(content)
    assert root.tag == SVG + "svg" and float(root.get("width")) > 300 and float(root.get("height")) > 80
    for node in root.iter():
        assert node.tag.removeprefix(SVG) in SHAPES, node.tag
        for name, value in node.attrib.items():
            assert not name.split("}")[-1].startswith("on") and "javascript:" not in value
            assert not name.endswith("href") or value.startswith(("#", "data:image/")), value
            assert all(address.strip("\"'").startswith("#") for address in re.findall(r"url\(([^)]*)\)", value)), value
    return root


def texts(root, kind=None) -> list[str]:
    return ["".join(node.itertext()) for node in root.iter(SVG + "text") if kind is None or node.get("class") == kind]


def pixels(content: bytes):
    from PIL import Image

    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    picture.load()
    return picture


def near(picture, colour: str) -> int:
    """How many pixels of a picture have a colour, give or take what anti-aliasing and rounding do."""
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return int((abs(np.asarray(picture, dtype=np.int16) - wanted).max(axis=2) <= 2).sum())


def test_words_and_a_figure_are_saved_as_the_page_shows_them_in_both_themes(visit):
    person = visit()
    for theme in ("light", "dark"):
        person.turn(theme)
        root = words_as_svg(person, theme)
        words_as_png(person, root)
        figure_as_both(person, theme)


def words_as_svg(person, theme: str):
    """The coloured words as SVG, and what must be in it."""
    name, content = person.saved("Download the coloured words as SVG")
    assert name == f"{NAME}.svg"
    root = drawn(content)
    words = [feature.text for feature in encoded(FORM).features]
    found = texts(root)
    # In the order of the rows and, in each, of the words; beam's places stand behind its words.
    assert found[: len(words) + 2] == ["leave-one-out", "signed · largest 1 logits", *words]
    assert (
        [text for text in found if text in words] == words * 3
        and "1 = masked first" in found
        and "opposes “positive”" in found
    )
    shades = [node for node in root.iter(SVG + "rect") if node.get("class") == "shade"]
    coloured = person.page.evaluate(
        "() => [...document.querySelectorAll('.row .word')].concat(...[...document.querySelectorAll('*')].filter(n => "
        "n.shadowRoot)"
        ".map(n => [...n.shadowRoot.querySelectorAll('.row .word')])).filter(n => n.dataset.shape === 'shade').length"
    )
    assert len(shades) == coloured == 2 * (len(words) - 1)
    ground = next(root.iter(SVG + "rect")).get("fill")
    assert (contrast(ground, "#ffffff") < 1.1) == (theme == "light")
    for node in root.iter(SVG + "text"):
        assert contrast(node.get("fill"), ground) >= 4.5
    # The first word is the strongest and supports; every second one opposes, by a dotted line too, as in the legend.
    assert contrast(shades[0].get("fill"), blend(SUPPORTS, ground, STRONGEST)) < 1.02
    dots = [node for node in root.iter(SVG + "line") if node.get("stroke-dasharray")]
    assert len(dots) == len(words) // 2 + 1
    (about,) = texts(root, "about")
    assert re.fullmatch(
        r"story \(weights 0123456789ab…, float32\) · class positive · reviews · s001 · text \w{12}… · by word · "
        r"Faithscope · \d{4}-\d\d-\d\d",
        about,
    )
    # Nothing of the page is left: no buttons, no hint about the mouse.
    assert "SVG" not in found and not any("Point at" in text for text in found)
    width, height = float(root.get("width")), float(root.get("height"))
    for node in [*root.iter(SVG + "rect"), *root.iter(SVG + "text")]:
        assert 0 <= float(node.get("x", 0)) <= width and 0 <= float(node.get("y", 0)) <= height
    return root


def words_as_png(person, root) -> None:
    """The same as PNG, beside the SVG of it."""
    name, content = person.saved("Download the coloured words as PNG")
    assert name == f"{NAME}.png"
    picture = pixels(content)
    assert picture.size == (3 * int(root.get("width")), 3 * int(root.get("height")))
    ground = next(root.iter(SVG + "rect")).get("fill")
    assert near(picture, ground) > 0.4 * picture.width * picture.height
    for colour in (blend(SUPPORTS, ground, STRONGEST), SUPPORTS, OPPOSES):
        assert near(picture, colour) > 200, colour


def figure_as_both(person, theme: str) -> None:
    """A figure as SVG and PNG."""
    name, content = person.saved("Download the figure as SVG")
    assert name == "line-of-story.svg"
    root = drawn(content)
    found = texts(root)
    assert "masked (%)" in found and "Title & more" in found and "one two" in found
    assert re.fullmatch(
        r"story \(weights 0123456789ab…, float32\) · Faithscope · \d{4}-\d\d-\d\d", texts(root, "about")[0]
    )
    assert any(
        node.get("class") == "js-line" and "rgb(217, 122, 30)" in node.get("style", "")
        for node in root.iter(SVG + "path")
    )
    for unwanted in (b"hoverlayer", b"draglayer", b"example.org", b"modebar", b"data-"):
        assert unwanted not in content
    ground = next(root.iter(SVG + "rect")).get("fill")
    assert (contrast(ground, "#ffffff") < 1.1) == (theme == "light")
    picture = pixels(person.saved("Download the figure as PNG")[1])
    assert picture.size == (3 * int(root.get("width")), 3 * int(root.get("height")))
    assert near(picture, OPPOSES) > 1000 and near(picture, ground) > 0.5 * picture.width * picture.height


def test_odd_texts_become_a_picture_all_the_same(visit):
    for text in ("odd", "arabic"):
        root = drawn(visit(text=text).saved("Download the coloured words as SVG")[1])
        words = [visible(feature.text) for feature in encoded(TEXTS[text]).features]
        found = "".join(texts(root))
        place = 0
        for word in words:
            assert word in found[place:], word
            place = found.index(word, place) + len(word)
    # Right to left: the first word stands at the right, and a bracket faces the right way.
    places = {"".join(node.itertext()): node for node in reversed(list(root.iter(SVG + "text")))}
    assert float(places["هذا"].get("x")) > float(places["فيلم"].get("x")) > float(places["جدا"].get("x"))
    assert (
        all(places[text].get("direction") == "rtl" for text in ("هذا", "(", ")"))
        and places["gradient"].get("direction") is None
    )


def test_what_a_long_text_hides_until_it_is_scrolled_is_in_the_picture(visit):
    person = visit(text="long")
    content = person.saved("Download the coloured words as SVG")[1]
    root = drawn(content)
    tops = {text: [] for text in ("leave-one-out", "gradient", "beam", "word0", "word699")}
    for node in root.iter(SVG + "text"):
        tops.get("".join(node.itertext()), []).append(float(node.get("y")))
    assert [len(found) for found in tops.values()] == [1, 1, 1, 3, 3]
    order = [
        tops["leave-one-out"][0],
        tops["word0"][0],
        tops["word699"][0],
        tops["gradient"][0],
        tops["word0"][1],
        tops["word699"][1],
        tops["beam"][0],
    ]
    assert order == sorted(order) and order[2] - order[1] > 700
    # Scrolled half way, it is the same picture.
    person.page.locator(".row .text").first.evaluate("node => { node.scrollTop = 200; }")
    assert person.saved("Download the coloured words as SVG")[1] == content
    picture = pixels(person.saved("Download the coloured words as PNG")[1])
    assert max(picture.size) <= 16_000 and picture.height > picture.width


def test_a_figure_is_found_in_its_container_its_own_pictures_come_along_and_one_that_is_not_there_is_a_sentence(visit):
    person = visit()
    name, content = person.saved("Download the heat map as SVG")
    root = drawn(content)
    assert (
        name == "heat-of-story.svg"
        and any(node.tag == SVG + "image" for node in root.iter())
        and "class positive" in texts(root, "about")[0]
    )
    assert len(pixels(person.saved("Download the heat map as PNG")[1]).getcolors(10**7)) > 50
    person.page.get_by_role("button", name="Download what is not there as SVG").click()
    playwright.expect(
        person.page.get_by_role("status").filter(has_text="There is no picture to save yet.")
    ).to_have_count(1)


def test_tables_and_pages_are_written_when_they_are_asked_for_and_the_page_rests(visit, tmp_path, browser):
    person = visit()
    assert "runs 1, asked 0" in person.page.locator("#runs").text_content()
    name, content = person.saved("Small table")
    assert (name, content) == ("small.csv", b"\xef\xbb\xbf'=name,value\r\n'@x,-1.5\r\nplain,\r\n")
    name, content = person.saved("Table (CSV)")
    read = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    words = [feature.text for feature in encoded(FORM).features]
    assert name == f"{NAME}.csv" and read[0] == COLUMNS + CONSTANT
    assert [restored(row[2]) for row in read[1:]] == words * 3 and read[1][COLUMNS.index("value")] == "1.0"
    name, content = person.saved("Page (HTML)")
    page = harmless(content.decode("utf-8"))
    assert name == f"{NAME}.html" and page.texts == [FORM] * 3
    assert "<b>beam</b> &amp; co" in page.said and "Of its own." in page.said and "That is wrong" in page.said
    # Nothing ran again for it, and each file was asked for once.
    person.page.wait_for_timeout(500)
    assert "runs 1, asked 0" in person.page.locator("#runs").text_content()
    person.page.get_by_role("button", name="Again", exact=True).click()
    playwright.expect(person.page.locator("#runs")).to_have_text("runs 2, asked 1")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_saved_page_opens_offline_and_runs_nothing(browser, tmp_path, theme):
    attack = " ".join(ATTACKS)
    text = attribution_page(
        shown(
            f"{attack} {FORM}",
            second=attack,
            labels=(attack, "positive"),
            name=attack,
            data=attack,
            example=attack,
            result=words_result({attack: Word.BETTER, "gradient": Word.WORSE}),
            notes=(attack,),
        )
    )
    (tmp_path / "page.html").write_text(text, encoding="utf-8", newline="")
    problems = []
    context = browser.new_context(color_scheme=theme, offline=True)
    page = context.new_page()
    address = (tmp_path / "page.html").as_uri()
    page.on("request", lambda request: None if request.url in (address, "data:,") else problems.append(request.url))
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
    page.goto(address)
    page.mouse.move(300, 300)
    page.wait_for_timeout(300)
    assert not problems
    words = page.locator(".word")
    assert words.count() == 3 * encoded(f"{attack} {FORM}").F and words.last.is_visible()
    assert page.locator("script, img, svg, iframe, a, form, input, object, embed").count() == 0
    light = page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light == (theme == "light")
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    # A sign of direction in one word turns no other around.
    lefts = [page.locator(".word", has_text=re.compile(f"^{word}$")).first.bounding_box() for word in ("good", "film")]
    assert lefts[0]["x"] < lefts[1]["x"] or lefts[0]["y"] < lefts[1]["y"]
    assert page.locator(".word").first.bounding_box()["x"] < 200
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    context.close()
