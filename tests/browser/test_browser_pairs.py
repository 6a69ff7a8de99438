"""Pairs of words in a real browser: lines whose sign is more than a colour, and links to the inputs that mask a pair."""

import re
from itertools import pairwise

from playwright import sync_api as playwright

EXAMPLE = "s139"


def test_lines_under_the_words_and_a_link_that_masks_both(visit):
    person = visit("dark").open("attributions", example=EXAMPLE, measures=["gradient"])
    page = person.page
    person.open_tab("Pairs")
    # Even a short text's pairs look dear to a busy machine, and wait to be asked for.
    person.computed()
    joins = page.locator(".joins .join")
    playwright.expect(joins.first).to_be_visible()
    for join in joins.all():
        told, below = join.get_attribute("aria-label"), "against" in join.get_attribute("class")
        assert re.fullmatch(r".+ and .+: [+-][\d.e-]+ logits together.*", told)
        assert join.locator("text").text_content()[0] == ("-" if below else "+")
        dashes = join.locator("path").evaluate("path => getComputedStyle(path).strokeDasharray")
        assert (dashes != "none") == below
    # A line goes from the one word that it names to the other.
    first = joins.first.get_attribute("aria-label")
    # Of the line itself: its box counts its thickness, too.
    begins, stops = joins.first.locator("path").evaluate("""path => [0, path.getTotalLength()].map(length =>
        path.getPointAtLength(length).matrixTransform(path.getScreenCTM()).x)""")
    ends = [
        word.bounding_box()
        for word in page.locator(".joins .paired").all()
        if word.text_content() in re.match("(.+) and (.+):", first).groups()
    ]
    middles = [end["x"] + end["width"] / 2 for end in ends]
    assert abs(begins - min(middles)) < 1 and abs(stops - max(middles)) < 1
    # Nothing is drawn over anything else.
    boxes = [join.locator("text").bounding_box() for join in joins.all()]
    assert all(one["y"] + one["height"] <= other["y"] + 4 for one, other in pairwise(boxes))
    assert all(join.locator("path").bounding_box()["x"] < box["x"] for join, box in zip(joins.all(), boxes))
    assert person.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_text("In numbers, with what masking each of them does").click()
    link = page.locator("a[href*='masked=']").nth(2)
    asked = re.search(r"masked=(\d+)\.(\d+)", link.get_attribute("href"))
    # What moves between the halves of a click would swallow it.
    link.press("Enter")
    page.wait_for_url("**/recursive_masking?*masked=*")
    playwright.expect(page.get_by_text("2 of 8 words masked").first).to_be_visible()
    assert asked and f"masked={asked[1]}.{asked[2]}" in page.url
