"""Files of one's own in a real browser: from the box to a link, markup shown as typed, and refusals."""

import contextlib
import json
import re
import time

from core.data.browsing import excerpt
from core.data.examples import read_bundled
from core.data.tables import UPLOAD_BYTES
from tests.browsing import Person
from tests.examples_table import (
    add,
    chip,
    expect,
    found,
    hand_over,
    ids,
    many,
    opened_offline,
    predicted,
    query,
    safe_rows,
    state,
    untouched,
)

REVIEWS = read_bundled("reviews")
MARKUP = (
    "<script>window.hit = 1; alert(1)</script> a fine film",
    '<img src=x onerror="window.hit = 2; alert(2)"> dull &amp; slow &lt;b&gt; &#x41;',
    "**bold** $x^2$ :smile: [a](javascript:alert(3)) `code` fine",
    "\u202eevil\u202c هذا فيلم (رائع) جدا",
    "👩‍👩‍👧 🎬 Z̸̧a̵l̷g̶o café",
    "before\0after, a NUL",
    "wonderful " * 5_000,
)

LABELS = ".browser tbody td:nth-child(3)"


def choose(person: Person, label: str, option: str) -> None:
    found = person.page.get_by_role("option", name=option, exact=True)
    with contextlib.suppress(AssertionError):
        person.page.get_by_role("combobox", name=label, exact=True).click()
        expect(found).to_be_visible(timeout=5_000)
    if not found.is_visible():
        # What is drawn in that moment closes the list.
        person.page.get_by_role("combobox", name=label, exact=True).click()
    found.click()
    expect(person.page.get_by_role("combobox", name=label, exact=True)).to_have_value(option)
    person.rest()


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
    named = [name.lstrip("☆★") for name in person.page.locator(".browser td.id").all_text_contents()]
    assert named == [line["id"] for line in rows]
    assert {rows[1]["label"], "positive"} == set(person.page.locator(LABELS).all_text_contents())
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
    person.open_tab("Notes and files")
    assert len(safe_rows(person.saved("Download these 3 examples (CSV)")[1])) == 4
    person.follow("Attributions", "Which words")
    person.shows(shown[1])
    untouched(person)
    file, content = person.saved("Page (HTML)")
    assert re.fullmatch(r"[\w.-]+\.html", file)
    opened_offline(browser, tmp_path / "page.html", content, MARKUP[1].split()[0])


ODD = {
    "bytes": "The pie   was 🦞 stale",
    "joined": "My 👩🏽‍🌾 uncle 👨‍👩‍👦 hates 🏳️‍🌈 bags",
    "combining": "Jalape\u0301n\u0303o soufflé Z\u0351o",
    "right to left": "הלחם היה טרי abc والشاي ساخن 12",
    "CJK": "昨天的面很难吃",
}


def test_texts_of_many_scripts_are_whole_in_whatever_is_saved(table, browser, tmp_path):
    rows = [{"id": id, "text": text, "label": "negative"} for id, text in ODD.items()]
    person = table()
    add(person, "odd.jsonl", "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode(), len(rows))
    predicted(person)
    for id in ODD:
        pin = person.page.locator(f'.pin[data-key="pin:{id}"]')
        pin.click()
        expect(pin).to_have_text("★")
    person.rest()
    content = person.saved("Save the 5 pinned (HTML)")[1]
    context = browser.new_context(offline=True)
    (tmp_path / "pinned.html").write_bytes(content)
    page = context.new_page()
    page.goto((tmp_path / "pinned.html").as_uri())
    shown = page.locator("body").text_content()
    context.close()
    assert all(text in shown for text in ODD.values())
    for id, text in ODD.items():
        person.has_chosen(id)
        if id != list(ODD)[-1]:
            person.page.keyboard.press("n")
    person.follow("Attributions", "Which words")
    words = text.split()
    expect(person.page.locator(".row .text").first).to_contain_text(words[0])
    pages = {"Page (HTML)": tmp_path / "page.html", "Download the coloured words as SVG": tmp_path / "words.svg"}
    for button, path in pages.items():
        path.write_bytes(person.saved(button)[1])
        page = browser.new_page()
        page.goto(path.as_uri())
        said = page.evaluate("() => document.documentElement.textContent")
        page.close()
        assert all(word in said for word in words), button
    assert person.saved("Download the coloured words as PNG")[1].startswith(b"\x89PNG")
    content = person.saved("Table (CSV)")[1].decode("utf-8-sig")
    assert all(word in content for word in words)


def test_a_file_from_the_box_to_a_link(table, visit):
    lines = many(3_000, 1)
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
    person.page.get_by_text("More columns (").click()
    names = person.page.get_by_role("textbox", name="Names of numbered labels")
    names.fill("negative\npositive")
    names.press("Control+Enter")
    expect(person.page.get_by_text("Labels: negative, positive.")).to_be_visible()
    person.press("Add this data")
    found(person, "3,000 examples")
    assert person.page.locator(LABELS).all_text_contents() == [label for _, label in lines[:12]]
    # On a very fast machine it is predicted unasked.
    ask = person.page.get_by_role("button", name="Compute predictions")
    if ask.count():
        ask.press("Enter")
    progress = person.page.locator("[data-testid=stProgress]")
    expect(progress).to_contain_text(re.compile(r"[1-9][\d,]* of at most 3,000 examples"))
    # The page is of use meanwhile.
    began = time.monotonic()
    person.page.keyboard.press("n")
    person.has_chosen("2")
    assert lines[1][0] in person.said and time.monotonic() - began < 10
    cancel = person.page.get_by_role("button", name="Cancel", exact=True)
    if cancel.count():
        cancel.press("Enter")
        on = person.page.get_by_role("button", name="Go on with predictions")
        expect(on).to_be_visible()
        assert "Cancelled" in person.said
        on.press("Enter")
    predicted(person)
    assert "of 3,000" in person.said
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
    person = table(data="reviews", example=REVIEWS[0].id)
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


def test_add_data_opens_its_tab_on_the_page_that_holds_it_too(visit):
    person = visit().open("examples")
    tab = person.page.get_by_role("tab", name="A file or data set")
    person.press("Add data")
    expect(tab).to_be_visible()
    expect(tab).to_have_attribute("aria-selected", "true")
