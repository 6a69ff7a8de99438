"""Pairs of words in a real browser: arcs whose sign is more than a colour, and links to the inputs that mask a pair."""

import re

from playwright import sync_api as playwright

EXAMPLE = "s139"


def test_arcs_over_the_words_and_a_link_that_masks_both(visit):
    person = visit("dark").open("attributions", example=EXAMPLE, measures=["gradient"])
    page = person.page
    arcs = page.locator(".arcs .arc")
    playwright.expect(arcs.first).to_be_visible()
    for arc in arcs.all():
        told, below = arc.get_attribute("aria-label"), "against" in arc.get_attribute("class")
        assert re.fullmatch(r".+ and .+: [+-][\d.e-]+ logits together.*", told)
        assert arc.locator("text").text_content()[0] == ("-" if below else "+")
        dashes = arc.locator("path").evaluate("path => getComputedStyle(path).strokeDasharray")
        assert (dashes != "none") == below
    # An arc stands on the two words that it names.
    first = arcs.first.get_attribute("aria-label")
    # Of the line itself: its box counts its thickness, too.
    begins, stops = arcs.first.locator("path").evaluate("""path => [0, path.getTotalLength()].map(length =>
        path.getPointAtLength(length).matrixTransform(path.getScreenCTM()).x)""")
    ends = [
        word.bounding_box()
        for word in page.locator(".arcs .paired").all()
        if word.text_content() in re.match("(.+) and (.+):", first).groups()
    ]
    middles = [end["x"] + end["width"] / 2 for end in ends]
    assert abs(begins - min(middles)) < 1 and abs(stops - max(middles)) < 1
    assert person.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    link = page.locator("a[href*='masked=']").nth(2)
    asked = re.search(r"masked=(\d+)\.(\d+)", link.get_attribute("href"))
    link.click()
    page.wait_for_url("**/recursive_masking?*masked=*")
    playwright.expect(page.get_by_text("2 of 8 words masked").first).to_be_visible()
    assert asked and f"masked={asked[1]}.{asked[2]}" in page.url
