"""The page Examples in a real browser: chips, search, header, pager and rows, both themes and a narrow window."""

import re
from urllib.parse import parse_qs

from core.data.examples import read_bundled
from tests.browsing import contrasts
from tests.examples_table import chip, expect, focus, found, hand_over, ids, row

REVIEWS = read_bundled("reviews")
# The table is what is left of the letters typed so far, so the address says.
SEARCHED = "typed => (new URLSearchParams(location.search).get('search') || '').trim() === typed"

# The row that is chosen, the cells of the labels, and the filters that are on.
CHOSEN, LABELS = "tr[aria-selected=true]", ".browser tbody td:nth-child(3)"
PRESSED = ".chip[aria-pressed=true]"


def test_chips_narrow_the_table_the_address_follows_and_all_that_is_pressed_counts(table):
    person = table(data="reviews")
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
    assert focus(person) == "label:positive" and set(person.page.locator(LABELS).all_text_contents()) == {"positive"}
    person.page.keyboard.press(" ")
    found(person, f"{wrong} of {len(REVIEWS)} examples")
    assert "label=" not in person.query
    person.page.locator(".clear").click()
    found(person, f"{len(REVIEWS)} examples")
    assert (
        "outcome=" not in person.query and not person.page.locator(".clear").is_visible() and focus(person) == "search"
    )
    keys = ["label:positive", "outcome:wrong", "length:11 to 20", "length:21 to 40"]
    # In one breath: only the first can be on its way before the second is pressed.
    person.page.locator(".browser").evaluate(
        "(root, keys) => keys.forEach((key) => root.querySelector(`.chip[data-key='${key}']`).click())", keys
    )
    expect(person.page.locator(PRESSED)).to_have_count(4)
    person.rest()
    assert [c.get_attribute("data-key") for c in person.page.locator(PRESSED).all()] == keys


def test_searching_narrows_while_one_types_and_takes_no_letter_away(table):
    person = table(data="reviews")
    typed = 'film "is a"'
    expected = [e.id for e in REVIEWS if "film" in e.text.casefold() and "is a" in e.text.casefold()]
    box = person.page.locator(".search")
    box.click()
    counts = set()
    for i, letter in enumerate(typed):
        person.page.keyboard.type(letter)
        # Slow enough that the table is drawn anew between letters.
        person.until(SEARCHED, typed[: i + 1].strip())
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


def test_a_clock_that_is_set_back_hinders_nothing(table):
    person = table(data="reviews")
    chip(person, "label:positive").click()
    person.until("() => location.search.includes('label=positive')")
    person.page.evaluate("() => { const now = Date.now; Date.now = () => now() - 3_600_000; }")
    person.follow("Home", "Faithscope: which")
    person.follow("Examples", "Which example")
    chip(person, "label:positive").click()
    found(person, f"{len(REVIEWS)} examples")


def test_the_header_sorts_and_the_pager_turns(table):
    person = table(data="reviews")
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


def test_a_row_is_chosen_by_mouse_and_keyboard_and_n_and_p_stay_within_the_filter_in_a_narrow_window_too(table):
    person = table(data="reviews", outcome="wrong")
    listed = ids(person)
    row(person, listed[2]).click()
    person.has_chosen(listed[2])
    row(person, listed[2]).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        person.page.keyboard.press(key)
    person.has_chosen(listed[3])
    expect(row(person, listed[3])).to_have_attribute("aria-selected", "true")
    assert focus(person) == f"row:{listed[3]}" and person.page.locator(CHOSEN).count() == 1
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
    person.narrow()
    widths = [
        person.page.locator(f".browser {part}").evaluate("node => node.scrollWidth - node.clientWidth")
        for part in (".scroll", ".bar", ".facets", ".pager")
    ]
    assert widths[0] > 0 and max(widths[1:]) <= 1
    # What scrolls sideways is neither label nor prediction.
    label, prediction = (person.page.locator("tbody tr").first.locator("td.class").nth(i) for i in range(2))
    assert all(box["x"] + box["width"] <= 400 for box in (label.bounding_box(), prediction.bounding_box()))
    hand_over(person, ("narrow.csv", b"text,label\n" + b"x" * 300 + b",positive\nA film,negative\n"))
    expect(person.page.get_by_role("button", name="Add this data")).to_be_visible()
    person.narrow()


def test_chips_rows_and_marks_are_legible(table):
    # A column of a trait, which is not computed, and the slices stand there, too.
    person = table(data="reviews", outcome="wrong", search="the", example=REVIEWS[2].id, columns=["rejected"])
    assert person.page.locator(CHOSEN).count() == 1
    expect(person.page.get_by_role("columnheader", name="first rejected")).to_have_count(1)
    person.open_tab("Slices")
    expect(person.page.locator(".slices").get_by_role("link", name="negation", exact=True)).to_be_visible()
    for theme in ("light", "dark"):
        person.turn(theme)
        shades = contrasts(
            person,
            ".search, .chip, .chip span, .found, .clear, .facets .name, tbody td, tbody td span, mark, th button, .where, "
            ".later, .pin, .slices th, .slices a, [data-testid=stCaptionContainer] p, [data-testid=stHtml] p, .stMarkdownBadge",
        )
        grounds = {
            kind: {part["under"] for part in shades if part["kind"] == kind}
            for kind in ("chip", "MARK", "text", "count")
        }
        assert len(grounds["chip"]) == len(grounds["text"]) == len(grounds["count"]) == 2 and grounds["MARK"]
        assert (sum(map(int, next(part["under"] for part in shades if part["kind"] == "found").split(","))) > 600) == (
            theme == "light"
        )
        person.picture(f"examples-{theme}")


def test_a_pin_chooses_no_row_a_slice_leads_to_its_examples_and_the_link_is_copied(table):
    person = table(data="reviews", example=REVIEWS[0].id)
    chosen = person.page.locator(CHOSEN).get_attribute("data-key")
    pin = person.page.locator(f'.pin[data-key="pin:{REVIEWS[2].id}"]')
    pin.click()
    expect(pin).to_have_text("★")
    person.rest()
    assert person.page.locator(CHOSEN).get_attribute("data-key") == chosen
    assert focus(person) == f"pin:{REVIEWS[2].id}"
    pin.press("Enter")
    expect(pin).to_have_text("☆")
    person.open_tab("Slices")
    person.page.locator(".slices").get_by_role("link", name="negation", exact=True).click()
    tagged = sum("negation" in example.tags for example in REVIEWS)
    found(person, f"{tagged} of {len(REVIEWS)} examples")
    person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    person.page.get_by_role("button", name="Copy link", exact=True).click()
    expect(person.page.get_by_role("status").get_by_text("Copied.")).to_be_visible()
    assert person.page.evaluate("() => navigator.clipboard.readText()") == person.page.url and "tag=" in person.query


def test_a_ready_made_query_is_pressed_and_leaves_the_table_in_view(table):
    person = table(data="reviews")
    sure = chip(person, "query:sure")
    sure.press("Enter")
    expect(sure).to_have_attribute("aria-pressed", "true")
    assert {"outcome=wrong", "order=confidence"} <= {*person.query.split("&")} and focus(person) == "query:sure"
    # The filters fold, so that its first rows stand on the screen.
    top = person.page.locator(".browser tbody tr").first.bounding_box()["y"]
    assert 0 < top < person.page.viewport_size["height"] - 100
    # One whose answer is not known says what computes it, and nothing begins.
    chip(person, "query:one").click()
    expect(person.page.get_by_role("button", name="Compute the smallest set")).to_be_visible()
    expect(person.page.locator(".browser tbody")).to_contain_text("No example matches")
    person.narrow()
    chip(person, "query:one").click()
    found(person, f"{len(REVIEWS)} examples")
