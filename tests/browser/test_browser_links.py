"""Links and downloads of every page in a real browser: what a link names is restored, and what is offered arrives."""

import re
import time

from playwright import sync_api as playwright

from tests.browser.conftest import SHORT
from tests.browsing import ROW, Person, script
from tests.examples_table import (
    add,
    chip,
    expect,
    ids,
    many,
    opened_offline,
    predicted,
    query,
    row,
    safe_rows,
    state,
    untouched,
)


def words(person: Person) -> list[list[str]]:
    """What is drawn for each word of each row: its text and what a screen reader says of it."""
    return [
        [word.text_content(), word.get_attribute("aria-label")]
        for word in person.page.locator(f":is({ROW}) .word").all()
    ]


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
    person.unfold().page.get_by_text("absolute", exact=True).click()
    person.until("() => location.search.includes('values=absolute')")
    seen["attributions"] = person.query, query(person), words(person)
    person.follow("Home", "Faithscope: which")
    seen[""] = person.query, query(person), words(person)
    for name, (address, asked, shown) in seen.items():
        assert asked["data"][0].startswith("linked.csv@") and asked["label"] == ["positive"]
        other = visit("dark").open(f"{name}?{address}")
        drawn = state if name == "examples" else words
        # Rows come as they are computed.
        end = time.monotonic() + 60
        while drawn(other) != shown and time.monotonic() < end:
            other.page.wait_for_timeout(200)
        assert drawn(other) == shown and shown
        assert query(other) == asked


def test_links_to_a_text_of_ones_own_open_on_every_page(visit):
    person = visit().open("attributions", measures=["gradient", "attention"])
    typed = "Not <b>one</b> good word, هذا &amp; that"
    person.type(typed)
    shown, link = words(person), person.query
    assert "text=" in link and "measures=attention" in link
    other = visit().open(f"attributions?{link}")
    assert words(other) == shown and query(other) == query(person)
    other.follow("Home", "Faithscope: which")
    other.shows(typed)
    other.page.get_by_role("link", name="Examples", exact=True).click()
    expect(other.page.get_by_role("tab", name="Chosen example")).to_be_visible()
    expect(other.page.locator("[data-testid=stMain]")).to_contain_text(typed)
    other.rest()
    assert query(other)["text"] == query(person)["text"]
    third = visit()
    third.page.goto(f"{third.server}/examples?{other.query}")
    expect(third.page.get_by_role("tab", name="Chosen example")).to_be_visible()
    expect(third.page.locator("[data-testid=stMain]")).to_contain_text(typed)
    third.rest()
    assert query(third) == query(other)


# Between two writes of a page into the address lie as many seconds as on a slow machine.
SLOW = "(() => { const now = performance.now.bind(performance); performance.now = () => 1000 * now(); })()"


def went(person: Person, way, identifier: str, question: str) -> None:
    """Go back or forward by one stop: an example and a page."""
    way()
    playwright.expect(person.page.get_by_role("heading", level=1)).to_have_text(re.compile(question))
    person.has_chosen(identifier)
    person.ready()


def test_back_and_forward_change_what_is_chosen_and_the_page(visit, short):
    words, masking = "Which words", "masking the important words"
    person = visit().open("attributions", data=short, measures=["gradient"], example=SHORT[0].id)
    person.page.evaluate(SLOW)
    person.page.get_by_role("heading", level=1).first.click()
    stops = [person.page.evaluate("history.length")]

    def stopped() -> None:
        person.idle()
        stops.append(person.page.evaluate("history.length"))

    for example in SHORT[1:3]:
        person.page.keyboard.press("n")
        person.has_chosen(example.id)
        stopped()
    went(person, person.page.go_back, SHORT[1].id, words)
    person.shows(SHORT[1].text)
    went(person, person.page.go_back, SHORT[0].id, words)
    went(person, person.page.go_forward, SHORT[1].id, words)
    stopped()
    person.follow("Recursive masking", masking)
    person.has_chosen(SHORT[1].id)
    stopped()
    person.page.keyboard.press("n")
    person.has_chosen(SHORT[2].id)
    stopped()
    # What somebody did is a stop, what a page writes of itself is none; a new one takes the place of those ahead.
    assert [stop - stops[0] for stop in stops] == [0, 1, 2, 2, 2, 3]
    went(person, person.page.go_back, SHORT[1].id, masking)
    went(person, person.page.go_back, SHORT[1].id, words)
    person.shows(SHORT[1].text)
    for apart in (10, 1000):
        person.rest()
        gone = person.page.evaluate(script("early"), apart)
        assert gone == [1, "/recursive_masking?gone-to", "/attributions?left"]


def test_a_link_to_what_is_not_here_says_so_and_shows_what_is(visit):
    person = visit().open(
        "examples", data="gone.csv@0123456789ab", model="some/<b>model</b>", example="zz", label="glad", page="9"
    )
    predicted(person)
    alert = person.page.get_by_role("alert")
    for missing in ("data gone.csv@0123456789ab", "model some/<b>model</b>", "example zz", "glad"):
        expect(alert.filter(has_text=missing).first).to_be_visible()
    assert (
        person.chosen("Data") == "ordinary reviews" and person.chosen("Model") == "sst2-fmm" and len(ids(person)) == 12
    )
    untouched(person)
    person.press("Dismiss")
    expect(alert.filter(has_text="not here")).to_have_count(0)


def test_what_every_page_offers_arrives(table, browser, tmp_path):
    person = table()
    hostile = (
        'text,label\n"=HYPERLINK(""http://example.org"") is no film",negative\n@SUM(1) is fine,positive\n-1 for '
        "the plot,negative\n"
    )
    add(person, "formulas.csv", hostile.encode(), 3)
    predicted(person)
    person.open_tab("Notes and files")
    file, content = person.saved("Download these 3 examples (CSV)")
    lines = safe_rows(content)
    assert re.fullmatch(r"examples-formulas[\w.-]*\.csv", file)
    assert len(lines) == 4 and "no film" in lines[1][1]
    for link, question in (("Attributions", "Which words"), ("Home", "Faithscope: which")):
        person.follow(link, question)
        # A page that is drawn anew between a click and its file gives Streamlit nothing to send: what is computed once
        # nothing else is begins a moment later.
        person.idle()
        person.page.wait_for_timeout(2_000)
        for button in person.page.get_by_role(
            "button", name=re.compile(r"Download(?! as CSV)|Table \(CSV\)|Page \(HTML\)")
        ).all():
            person.idle()
            file, content = person.saved(button)
            assert re.fullmatch(r"[\w.-]+\.(csv|html|png|svg)", file) and len(content) > 100, file
            starts = {"csv": None, "html": b"<!DOCTYPE html>", "png": b"\x89PNG", "svg": b"<"}[file.rpartition(".")[2]]
            if starts is None:
                assert len(safe_rows(content)) > 1
            assert starts is None or content.lower().startswith(starts.lower()), content[:40]
            if file.endswith(".html"):
                opened_offline(browser, tmp_path / file, content, "HYPERLINK")
