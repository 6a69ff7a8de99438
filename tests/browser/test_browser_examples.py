"""The page Examples, links, files of one's own and downloads in a real browser: what only a browser can tell."""

import csv
import io
import json
import random
import re
import time
from urllib.parse import parse_qs

import pytest
from playwright import sync_api as playwright

from core.data.browsing import excerpt
from core.data.examples import read_bundled
from core.data.tables import UPLOAD_BYTES
from tests import browsing
from tests.browsing import Person, contrasts
from tests.sessions import running_server, start_server

REVIEWS = read_bundled("reviews")
browser, visit = browsing.browser, browsing.visit
expect = playwright.expect
# Everything is predicted and the sentence at the top says so.
PREDICTED = """() => {
  const said = document.querySelector('[data-testid=stMain]').textContent;
  return !document.querySelector('[data-testid=stProgress]') && !/ so far|not known yet/.test(said) && /The model is (right on|least sure)/.test(said);
}"""
FOCUS = (
    "() => { let at = document.activeElement; while (at.shadowRoot?.activeElement) at = "
    "at.shadowRoot.activeElement; return at.dataset.key ?? at.className; }"
)
MARKUP = (
    "<script>window.hit = 1; alert(1)</script> a fine film",
    '<img src=x onerror="window.hit = 2; alert(2)"> dull &amp; slow &lt;b&gt; &#x41;',
    "**bold** $x^2$ :smile: [a](javascript:alert(3)) `code` fine",
    "\u202eevil\u202c هذا فيلم (رائع) جدا",
    "👩‍👩‍👧 🎬 Z̸̧a̵l̷g̶o café",
    "before\0after, a NUL",
    "wonderful " * 5_000,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The app with an empty store; its address."""
    with running_server(tmp_path_factory.mktemp("examples")) as address:
        yield address


@pytest.fixture
def table(visit):
    """`table(theme, **query)`: a person before the table of examples, all of them predicted."""
    return lambda theme="light", **query: predicted(visit(theme).open("examples", **query))


def predicted(person: Person) -> Person:
    return person.until(PREDICTED) or person


def focus(person: Person) -> str:
    return person.page.evaluate(FOCUS)


def ids(person: Person) -> list[str]:
    return [
        row.get_attribute("data-key").removeprefix("row:") for row in person.page.locator(".browser tbody tr").all()
    ]


def found(person: Person, text: str) -> None:
    """Wait until the table says how many examples it holds."""
    expect(person.page.locator(".found")).to_have_text(text)
    person.rest()


def chip(person: Person, key: str):
    return person.page.locator(f'.chip[data-key="{key}"]')


def row(person: Person, identifier: str):
    return person.page.locator(f'.browser tbody tr[data-key="row:{identifier}"]')


def state(person: Person) -> dict:
    """What the table shows, for comparing."""
    page = person.page
    return {
        "ids": ids(person),
        "rows": page.locator(".browser tbody tr").all_text_contents(),
        "chosen": page.locator("tr[aria-selected=true]").all_text_contents(),
        "on": [c.get_attribute("data-key") for c in page.locator(".chip[aria-pressed=true]").all()],
        "search": page.locator(".search").input_value(),
        "sort": [h.get_attribute("aria-sort") for h in page.locator("th").all()],
        "where": page.locator(".where").text_content(),
        "found": page.locator(".found").text_content(),
        "example": person.chosen("Example"),
        "data": person.chosen("Data"),
    }


def words(person: Person) -> list[list[str]]:
    """What is drawn for each word of each row: its text and what a screen reader says of it."""
    return [[word.text_content(), word.get_attribute("aria-label")] for word in person.page.locator(".row .word").all()]


def query(person: Person) -> dict:
    return {name: sorted(values) for name, values in parse_qs(person.query).items()}


def choose(person: Person, label: str, option: str) -> None:
    person.page.get_by_role("combobox", name=label, exact=True).click()
    person.page.get_by_role("option", name=option, exact=True).click()
    expect(person.page.get_by_role("combobox", name=label, exact=True)).to_have_value(option)
    person.rest()


def hand_over(person: Person, file) -> None:
    """Give a file (its path, or its name and content) to the page's file box."""
    tab = person.page.get_by_role("tab", name="A file or data set")
    if not tab.is_visible():
        person.page.get_by_text("Other texts: type one, upload a file").click()
    tab.click()
    person.page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(
        {"name": file[0], "mimeType": "text/plain", "buffer": file[1]} if isinstance(file, tuple) else file
    )


def add(person: Person, name: str, content: bytes, examples: int) -> None:
    """Upload a file, keep it, and wait until its examples are in the table."""
    hand_over(person, (name, content))
    person.press("Add this data")
    found(person, f"{examples:,} examples")


def safe_rows(content: bytes) -> list[list[str]]:
    """The lines of a CSV file in which no cell is a formula to a spreadsheet."""
    lines = list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))
    assert len({len(line) for line in lines}) == 1
    for cell in (cell for line in lines for cell in line):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or re.fullmatch(
            r"[+-]?[\d.]+(e[+-]?\d+)?", cell
        ), cell
    return lines


def many(count: int, seed: int) -> list[tuple[str, str]]:
    """Short texts that all differ, with a label each."""
    rng = random.Random(seed)
    return [
        (
            f"{rng.choice(['a fine', 'a dull', 'not a good', 'an odd'])} film {seed}{i}",
            rng.choice(["negative", "positive"]),
        )
        for i in range(count)
    ]


# The table


def test_a_chip_narrows_the_table_and_the_address_follows(table):
    person = table()
    assert ids(person) == [example.id for example in REVIEWS[:12]]
    wrong = chip(person, "outcome:wrong").locator(".count").text_content()
    chip(person, "outcome:wrong").click()
    found(person, f"{wrong} of {len(REVIEWS)} examples")
    assert chip(person, "outcome:wrong").get_attribute("aria-pressed") == "true" and "outcome=wrong" in person.query
    # The buttons were drawn anew; the keyboard still stands on the same one, and works.
    assert focus(person) == "outcome:wrong"
    assert all(
        text.startswith("✗") for text in person.page.locator(".browser tbody td:nth-child(4)").all_text_contents()
    )
    chip(person, "label:positive").focus()
    person.page.keyboard.press("Enter")
    person.until("() => location.search.includes('label=positive')")
    assert focus(person) == "label:positive" and set(
        person.page.locator(".browser tbody td:nth-child(3)").all_text_contents()
    ) == {"positive"}
    person.page.keyboard.press(" ")
    found(person, f"{wrong} of {len(REVIEWS)} examples")
    assert "label=" not in person.query
    person.page.locator(".clear").click()
    found(person, f"{len(REVIEWS)} examples")
    assert (
        "outcome=" not in person.query and not person.page.locator(".clear").is_visible() and focus(person) == "search"
    )


def test_searching_narrows_while_one_types_and_takes_no_letter_away(table):
    person = table()
    typed = 'film "is a"'
    expected = [e.id for e in REVIEWS if "film" in e.text.casefold() and "is a" in e.text.casefold()]
    box = person.page.locator(".search")
    box.click()
    counts = set()
    for i, letter in enumerate(typed):
        person.page.keyboard.type(letter)
        # Slow enough that the table is drawn anew between letters.
        person.page.wait_for_timeout(220)
        counts.add(person.page.locator(".found").text_content())
        assert box.input_value() == typed[: i + 1] and focus(person) == "search"
    found(person, f"{len(expected)} of {len(REVIEWS)} examples")
    assert (
        len(counts) >= 3 and box.input_value() == typed and focus(person) == "search" and ids(person) == expected[:12]
    )
    assert {mark.casefold() for mark in person.page.locator(".browser mark").all_text_contents()} == {"film", "is a"}
    assert parse_qs(person.query)["search"] == [typed]
    # Faster than the server: all letters count, and letters are no shortcuts.
    before = person.chosen("Example")
    box.fill("")
    box.press_sequentially("nnpp NOTHING", delay=5)
    found(person, f"0 of {len(REVIEWS)} examples")
    assert (
        box.input_value() == "nnpp NOTHING"
        and person.chosen("Example") == before
        and "No example matches" in person.page.locator(".browser tbody").text_content()
    )
    person.page.locator(".clear").click()
    found(person, f"{len(REVIEWS)} examples")
    assert box.input_value() == "" and "search=" not in person.query


def test_what_is_pressed_while_the_server_is_busy_all_counts(table):
    person = table()
    keys = ["label:positive", "outcome:wrong", "length:11 to 20", "length:21 to 40"]
    # In one breath: only the first can be on its way before the second is pressed.
    person.page.locator(".browser").evaluate(
        "(root, keys) => keys.forEach((key) => root.querySelector(`.chip[data-key='${key}']`).click())", keys
    )
    expect(person.page.locator(".chip[aria-pressed=true]")).to_have_count(4)
    person.rest()
    assert [c.get_attribute("data-key") for c in person.page.locator(".chip[aria-pressed=true]").all()] == keys


def test_the_header_sorts_and_the_pager_turns(table):
    person = table()
    head = person.page.locator('th:has(button[data-key="order:confidence"])')
    for turn, order in (("click", "descending"), ("Enter", "ascending")):
        head.locator("button").click() if turn == "click" else person.page.keyboard.press(turn)
        expect(head).to_have_attribute("aria-sort", order)
        person.rest()
        shares = [float(text) for text in person.page.locator(".browser tbody td:nth-child(6)").all_text_contents()]
        assert (
            shares == sorted(shares, reverse=order == "descending")
            and len(shares) == 12
            and focus(person) == "order:confidence"
        )
    assert [h.get_attribute("aria-sort") for h in person.page.locator("th").all()].count(
        "none"
    ) == 6 and "order=confidence" in person.query
    first = ids(person)
    later = person.page.locator(".later")
    later.click()
    expect(person.page.locator(".where")).to_have_text(f"13 to 24 of {len(REVIEWS)}")
    person.rest()
    assert not set(first) & set(ids(person)) and "page=2" in person.query and focus(person) == "later"
    person.page.locator(".earlier").click()
    expect(person.page.locator(".where")).to_have_text(f"1 to 12 of {len(REVIEWS)}")
    person.rest()
    assert ids(person) == first and "page=" not in person.query and focus(person) == "earlier"


def test_a_row_is_chosen_by_mouse_and_keyboard_and_n_and_p_stay_within_the_filter(table):
    person = table(outcome="wrong")
    listed = ids(person)
    row(person, listed[2]).click()
    person.has_chosen(listed[2])
    row(person, listed[2]).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        person.page.keyboard.press(key)
    person.has_chosen(listed[3])
    expect(row(person, listed[3])).to_have_attribute("aria-selected", "true")
    assert focus(person) == f"row:{listed[3]}" and person.page.locator("tr[aria-selected=true]").count() == 1
    # One stop of the Tab key in the whole table, and it is the chosen row.
    assert (
        person.page.locator(".browser tbody tr[tabindex='0']").count() == 1 and f"example={listed[3]}" in person.query
    )
    person.page.keyboard.press("n")
    person.has_chosen(listed[4])
    person.page.keyboard.press("p")
    person.has_chosen(listed[3])
    person.page.keyboard.press("p")
    person.has_chosen(listed[2])
    assert re.search(r"3 of \d+", person.page.locator("[data-testid=stSidebar]").text_content())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_chips_rows_and_marks_are_legible(table, theme):
    person = table(theme, outcome="wrong", search="the", example=REVIEWS[2].id)
    assert person.page.locator("tr[aria-selected=true]").count() == 1
    shades = contrasts(
        person,
        ".search, .chip, .chip span, .found, .clear, .facets .name, tbody td, tbody td span, mark, th button, .where, "
        ".later, "
        "[data-testid=stHtml] p",
    )
    grounds = {
        kind: {part["under"] for part in shades if part["kind"] == kind} for kind in ("chip", "MARK", "text", "count")
    }
    assert len(grounds["chip"]) == len(grounds["text"]) == len(grounds["count"]) == 2 and grounds["MARK"]
    assert (sum(map(int, next(part["under"] for part in shades if part["kind"] == "found").split(","))) > 600) == (
        theme == "light"
    )
    person.picture(f"examples-{theme}")


def test_a_narrow_window_scrolls_sideways_in_the_table_only(visit):
    person = visit()
    person.page.set_viewport_size({"width": 400, "height": 800})
    predicted(person.open("examples", outcome="wrong"))
    assert person.page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert person.page.evaluate(
        "() => [...document.querySelectorAll('[data-testid=stMain]')].every(n => n.scrollWidth <= n.clientWidth + 1)"
    )
    widths = [
        person.page.locator(f".browser {part}").evaluate("node => node.scrollWidth - node.clientWidth")
        for part in (".scroll", ".bar", ".facets", ".pager")
    ]
    assert widths[0] > 0 and max(widths[1:]) <= 1
    hand_over(person, ("narrow.csv", b"text,label\n" + b"x" * 300 + b",positive\nA film,negative\n"))
    expect(person.page.get_by_role("button", name="Add this data")).to_be_visible()
    assert person.page.evaluate(
        "() => [...document.querySelectorAll('[data-testid=stMain]')].every(n => n.scrollWidth <= n.clientWidth + 1)"
    )


# Texts as they come


def test_markup_in_a_file_is_shown_as_typed_everywhere(table, browser, tmp_path):
    rows = [
        {
            "id": f"<svg onload=alert({i})>",
            "text": text,
            "label": "<b onclick=alert(4)>x</b>" if i % 2 else "positive",
            "tags": ["<i>tag</i>", "**t**"],
            "note": "<script>alert(5)</script>",
        }
        for i, text in enumerate(MARKUP)
    ]
    person = table()
    name = "<img src=x onerror=alert(6)> & **b**.jsonl"
    add(person, name, "\n".join(map(json.dumps, rows)).encode(), len(rows))
    predicted(person)
    assert name in person.chosen("Data")
    shown = [text.replace("\0", "␀") for text in MARKUP]
    assert person.page.locator(".browser td.text").all_text_contents() == [
        excerpt(text, []).replace("\0", "␀") for text in MARKUP
    ]
    assert person.page.locator(".browser td.id").all_text_contents() == [line["id"] for line in rows]
    assert {rows[1]["label"], "positive"} == set(
        person.page.locator(".browser tbody td:nth-child(3)").all_text_contents()
    )
    assert chip(person, "tag:<i>tag</i>").count() == 1
    for i, text in enumerate(shown):
        person.has_chosen(rows[i]["id"])
        main = person.said
        assert text in main or (len(text) > 20_000 and text[:15_000] in main)
        assert rows[1]["label"] in main
        person.page.keyboard.press("n")
    person.has_chosen(rows[0]["id"])
    chip(person, f"label:{rows[1]['label']}").click()
    found(person, f"3 of {len(rows)} examples")
    person.page.keyboard.press("n")
    person.has_chosen(rows[1]["id"])
    untouched(person)
    assert len(safe_rows(person.saved("Download these 3 examples (CSV)")[1])) == 4
    person.follow("Attributions", "Which words")
    person.shows(shown[1])
    untouched(person)
    file, content = person.saved("Page (HTML)")
    assert re.fullmatch(r"[\w.-]+\.html", file)
    opened_offline(browser, tmp_path / "page.html", content, MARKUP[1].split()[0])


def untouched(person: Person) -> None:
    """Nothing of the texts became an element, an attribute that runs, or code that ran."""
    assert person.page.evaluate("""() => {
      const nodes = (root) => [...root.querySelectorAll('*')].flatMap((n) => n.shadowRoot ? [n, ...nodes(n.shadowRoot)] : [n]);
      const all = nodes(document);
      const runs = (a) => a.name.startsWith('on') || /^javascript:/i.test(a.value);
      return window.hit === undefined && !all.some((n) => n.getAttribute('src') === 'x' || [...n.attributes].some(runs));
    }""")


def opened_offline(browser, path, content: bytes, word: str) -> None:
    """A saved page shows its words without a network, asks for nothing and runs nothing."""
    path.write_bytes(content)
    problems, context = [], browser.new_context()
    context.set_offline(True)
    page = context.new_page()
    page.on(
        "request", lambda request: None if request.url in (path.as_uri(), "data:,") else problems.append(request.url)
    )
    page.on("console", lambda message: problems.append(message.text))
    page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    page.mouse.move(200, 200)
    assert (
        page.locator(".word").count() > 0
        and word in page.locator("body").text_content()
        and page.locator("script, img, svg, iframe").count() == 0
    )
    context.close()
    assert not problems


# Files of one's own


def test_a_file_from_the_box_to_a_link(table, visit):
    lines = many(4_000, 1)
    content = "\n".join(
        [
            "a,b,c",
            *(
                f"{text},This remark is longer than any text and not to be read,{int(label == 'positive')}"
                for text, label in lines
            ),
        ]
    ).encode()
    person = table()
    hand_over(person, ("corrected.csv", content))
    text = "Text (its words are masked)"
    expect(person.page.get_by_role("combobox", name=text)).to_be_visible()
    person.rest()
    if person.chosen(text) != "a":
        choose(person, text, "a")
    choose(person, "Label", "c")
    names = person.page.get_by_role("textbox", name="Names of numbered labels")
    names.fill("negative\npositive")
    names.press("Control+Enter")
    expect(person.page.get_by_text("Labels: negative, positive.")).to_be_visible()
    person.press("Add this data")
    found(person, "4,000 examples")
    assert person.page.locator(".browser tbody td:nth-child(3)").all_text_contents() == [
        label for _, label in lines[:12]
    ]
    # On a very fast machine it is predicted unasked.
    ask = person.page.get_by_role("button", name="Predict all examples")
    if ask.count():
        ask.click()
    progress = person.page.locator("[data-testid=stProgress]")
    expect(progress).to_contain_text(re.compile(r"Predicted [1-9][\d,]* of 4,000 examples"))
    # The page is of use meanwhile.
    began = time.monotonic()
    person.page.keyboard.press("n")
    person.has_chosen("2")
    assert lines[1][0] in person.said and time.monotonic() - began < 10
    cancel = person.page.get_by_role("button", name="Cancel", exact=True)
    if cancel.count():
        cancel.click()
        on = person.page.get_by_role("button", name="Go on predicting")
        expect(on).to_be_visible()
        assert "Cancelled" in person.said
        on.click()
    predicted(person)
    assert "of 4,000" in person.said
    chip(person, "outcome:wrong").click()
    person.until("() => location.search.includes('outcome=wrong')")
    person.page.locator('[data-key="order:confidence"]').click()
    person.until("() => location.search.includes('order=confidence')")
    person.page.locator(".later").click()
    person.until("() => location.search.includes('page=2')")
    person.page.locator(".browser tbody tr").nth(3).click()
    person.has_chosen(ids(person)[3])
    other = predicted(visit("dark").open(f"examples?{person.query}"))
    assert (
        state(other) == state(person)
        and query(other) == query(person)
        and state(other)["chosen"]
        and state(other)["where"].startswith("13 to 24 ")
    )


def test_more_than_ten_megabytes_are_refused_in_a_sentence_and_the_page_goes_on(table, tmp_path):
    person = table()
    (tmp_path / "big.csv").write_bytes(b"text,label\n".ljust(UPLOAD_BYTES + 1, b"x"))
    hand_over(person, tmp_path / "big.csv")
    alert = person.page.get_by_role("alert").filter(has_text=re.compile(r"\b10(\.0)? ?MB"))
    expect(alert).to_be_visible()
    person.rest()
    assert not person.page.get_by_role("button", name="Add this data").count()
    person.page.keyboard.press("n")
    person.has_chosen(REVIEWS[1].id)
    hand_over(person, ("small.csv", b"text,label\nA fine film,positive\nA dull film,negative\n"))
    expect(person.page.get_by_role("button", name="Add this data")).to_be_visible()


# Links


def test_links_of_every_page_restore_data_filters_and_all_choices(table, visit):
    person = table()
    add(
        person,
        "linked.csv",
        ("text,label\n" + "\n".join(f"{text},{label}" for text, label in many(30, 2))).encode(),
        30,
    )
    predicted(person)
    chip(person, "label:positive").click()
    person.until("() => location.search.includes('label=positive')")
    row(person, ids(person)[1]).click()
    person.has_chosen(ids(person)[1])
    person.page.get_by_text("token", exact=True).click()
    person.until("() => location.search.includes('unit=token')")
    seen = {"examples": (person.query, query(person), state(person))}
    person.follow("Attributions", "Which words")
    person.page.get_by_role("button", name=re.compile("^negative · ")).click()
    person.until("() => location.search.includes('class=negative')")
    person.page.get_by_text("absolute", exact=True).click()
    person.until("() => location.search.includes('values=absolute')")
    seen["attributions"] = person.query, query(person), words(person)
    person.follow("Home", "What is loaded")
    seen[""] = person.query, query(person), words(person)
    for name, (address, asked, shown) in seen.items():
        assert asked["data"][0].startswith("linked.csv@") and asked["label"] == ["positive"]
        other = visit("dark").open(f"{name}?{address}")
        assert (state(other) if name == "examples" else words(other)) == shown and shown
        assert query(other) == asked


def test_links_to_a_text_of_ones_own_open_on_every_page(visit):
    person = visit().open("attributions", measures=["gradient", "attention"])
    typed = "Not <b>one</b> good word, هذا &amp; that"
    person.type(typed)
    shown, link = words(person), person.query
    assert "text=" in link and "measures=attention" in link
    other = visit().open(f"attributions?{link}")
    assert words(other) == shown and query(other) == query(person)
    other.follow("Home", "What is loaded")
    other.shows(typed)
    other.page.get_by_role("link", name="Examples", exact=True).click()
    expect(other.page.get_by_role("heading", name="Chosen")).to_be_visible()
    expect(other.page.locator("[data-testid=stMain]")).to_contain_text(typed)
    other.rest()
    assert query(other)["text"] == query(person)["text"]
    third = visit()
    third.page.goto(f"{third.server}/examples?{other.query}")
    expect(third.page.get_by_role("heading", name="Chosen")).to_be_visible()
    expect(third.page.locator("[data-testid=stMain]")).to_contain_text(typed)
    third.rest()
    assert query(third) == query(other)


def test_a_link_to_what_is_not_here_says_so_and_shows_what_is(visit):
    person = visit().open(
        "examples", data="gone.csv@0123456789ab", model="some/<b>model</b>", example="zz", label="glad", page="9"
    )
    predicted(person)
    alert = person.page.get_by_role("alert")
    for missing in ("data gone.csv@0123456789ab", "model some/<b>model</b>", "example zz", "glad"):
        expect(alert.filter(has_text=missing).first).to_be_visible()
    assert person.chosen("Data") == "reviews" and person.chosen("Model") == "sst2-fmm" and len(ids(person)) == 12
    untouched(person)
    person.press("Dismiss")
    expect(alert.filter(has_text="not here")).to_have_count(0)


# Downloads


def test_what_every_page_offers_arrives(table, browser, tmp_path):
    person = table()
    hostile = (
        'text,label\n"=HYPERLINK(""http://example.org"") is no film",negative\n@SUM(1) is fine,positive\n-1 for '
        "the plot,negative\n"
    )
    add(person, "formulas.csv", hostile.encode(), 3)
    predicted(person)
    file, content = person.saved("Download these 3 examples (CSV)")
    lines = safe_rows(content)
    assert re.fullmatch(r"examples-formulas[\w.-]*\.csv", file)
    assert len(lines) == 4 and "no film" in lines[1][1]
    for link, question in (("Attributions", "Which words"), ("Home", "What is loaded")):
        person.follow(link, question)
        for button in person.page.get_by_role("button", name=re.compile(r"Download|Table \(CSV\)|Page \(HTML\)")).all():
            file, content = person.saved(button)
            assert re.fullmatch(r"[\w.-]+\.(csv|html|png|svg)", file) and len(content) > 100, file
            starts = {"csv": None, "html": b"<!DOCTYPE html>", "png": b"\x89PNG", "svg": b"<"}[file.rpartition(".")[2]]
            if starts is None:
                assert len(safe_rows(content)) > 1
            assert starts is None or content.lower().startswith(starts.lower()), content[:40]
            if file.endswith(".html"):
                opened_offline(browser, tmp_path / file, content, "HYPERLINK")


# A server that dies


def test_a_server_killed_while_it_predicts_goes_on_where_it_was(browser, tmp_path):
    lines = many(5_000, 3)
    process, address = start_server(tmp_path)
    try:
        person = Person(browser, address)
        person.open("examples")
        add(
            person,
            "killed.csv",
            ("text,label\n" + "\n".join(f"{text},{label}" for text, label in lines)).encode(),
            5_000,
        )
        ask = person.page.get_by_role("button", name="Predict all examples")
        if ask.count():
            ask.click()
        # Of so many, some are kept by now.
        person.page.wait_for_function("""() => {
          const found = /right on [\\d,]+ of ([\\d,]+) examples/.exec(document.querySelector('[data-testid=stMain]').textContent);
          return found && Number(found[1].replace(',', '')) > 2048;
        }""")
        if "so far" not in person.said:
            pytest.skip("this machine predicts faster than a server can be killed")
        link, before = person.query, person.page.locator(".browser tbody td:nth-child(4)").all_text_contents()
        problems = list(person.problems)
    finally:
        process.kill()
        process.wait()
    person.context.close()
    assert not problems and "Traceback" not in (tmp_path / "log.txt").read_text(encoding="utf-8", errors="replace")
    with running_server(tmp_path) as address:
        person = Person(browser, address).open(f"examples?{link}")
        assert (
            person.chosen("Data").startswith("killed.csv")
            and person.page.locator(".found").text_content() == "5,000 examples"
        )
        kept = 5_000 - int(re.search(r"([\d,]+) texts to read", person.said)[1].replace(",", ""))
        assert kept > 0
        # Nothing is damaged: what is known now was known before, and is the same.
        after = person.page.locator(".browser tbody td:nth-child(4)").all_text_contents()
        assert len(after) == len(before) == 12 and all(a in ("—", b) for a, b in zip(after, before))
        person.press("Go on predicting")
        progress = person.page.locator("[data-testid=stProgress]")
        expect(progress).to_contain_text("Predicted")
        assert int(re.search(r"Predicted ([\d,]+) of", progress.text_content())[1].replace(",", "")) >= kept
        person.leave()
