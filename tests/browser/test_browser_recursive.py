"""Recursive masking in a real browser: scrub, play, two models, mask by hand."""

import re
from urllib.parse import urlencode

from playwright import sync_api as playwright

from core.data.examples import read_bundled
from tests.browsing import contrasts

REVIEWS = {example.id: example for example in read_bundled("reviews")}
FIRST = "s009"
STEPPER, HAND = ".player:not(:has([aria-pressed]))", ".player:has([aria-pressed])"


def opened(visit, **query):
    """The page with every step of what is chosen."""
    person, query = visit(), {"example": FIRST, "measures": ["leave-one-out"]} | query
    person.page.goto(f"{person.server}/recursive_masking?{urlencode(query, doseq=True)}")
    playwright.expect(person.page.locator(".headline").first).to_be_visible()
    return all_there(person)


def all_there(person):
    """Wait for every step."""
    tracks = person.computed().page.locator(f"{STEPPER} .track")
    playwright.expect(tracks.first).to_be_visible()
    playwright.expect(tracks.locator(".cell.empty")).to_have_count(0)
    return person


def stands_at(person, name: str) -> None:
    playwright.expect(person.page.locator(".player .step").first).to_have_text(re.compile(name))


def masked(person, pane: int = 0) -> int:
    return person.page.locator(STEPPER).locator(".pane").nth(pane).locator(".text .word.masked").count()


def test_keys_clicks_and_play_scrub_the_address_follows_and_another_example_begins_anew(visit):
    person = opened(visit)
    person.unfold().page.keyboard.press("Escape")
    # Wherever the focus is, unless it is in a field.
    person.page.get_by_role("heading", level=1).click()
    person.page.keyboard.press("ArrowRight")
    stands_at(person, "^10 % masked")
    person.page.get_by_role("combobox", name="Measures").press("ArrowLeft")
    person.page.get_by_role("heading", level=1).click()
    person.page.keyboard.press("ArrowRight")
    stands_at(person, "^20 % masked")
    for _ in range(2):
        person.page.keyboard.press("ArrowLeft")
    slider = person.page.get_by_role("slider", name="Masking step")
    slider.focus()
    for _ in range(3):
        person.page.keyboard.press("ArrowRight")
    stands_at(person, "30 % masked")
    assert masked(person) == 4 and "4 of 14 words" in slider.get_attribute("aria-valuetext")
    person.until("() => location.search.includes('step=3')")
    stands_at(person, "30 % masked")
    person.page.keyboard.press("End")
    stands_at(person, "100 % masked")
    assert masked(person) == 14
    person.page.keyboard.press("Home")
    person.page.keyboard.press("ArrowLeft")
    stands_at(person, "^0 % masked")
    assert masked(person) == 0
    person.page.locator(f"{STEPPER} .track .cell").nth(8).click()
    stands_at(person, "80 % masked")
    person.page.get_by_role("button", name="Play", exact=True).click()
    stands_at(person, "100 % masked")
    playwright.expect(person.page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    person.until("() => location.search.includes('step=10')")
    person.page.locator(f"{STEPPER} .track .cell").nth(5).click()
    stands_at(person, "50 % masked")
    person.page.get_by_role("button", name=re.compile("^Next")).click()
    person.has_chosen("s010")
    all_there(person)
    assert REVIEWS["s010"].text.split()[0] in person.page.locator(STEPPER).locator(".text").text_content()


def test_the_twin_is_rejected_where_the_model_is_not(visit):
    person = opened(visit, beside="sst2-plain", step="8", measures=["leave-one-out", "gradient", "input × gradient"])
    tracks = person.page.locator(f"{STEPPER} .track")
    assert tracks.nth(0).locator(".cell.rejected").count() == 0 and tracks.nth(1).locator(".cell.rejected").count() > 0
    panes = person.page.locator(STEPPER).locator(".pane")
    own, twin = (panes.nth(p).locator(".verdict").text_content() for p in (0, 1))
    assert "MaSF p" in own and "out-of-distribution" not in own and "out-of-distribution ✕" in twin
    assert panes.nth(0).locator(".gate").text_content() == "not rejected"
    assert "sst2-plain" in person.said and "⚠" in person.said
    for p, whose, other in ((0, "sst2-fmm", "sst2-plain"), (1, "sst2-plain", "sst2-fmm")):
        name, content = person.saved(panes.nth(p).get_by_role("button", name=re.compile("SVG")))
        assert whose in name and f"{whose} (weights ".encode() in content
        assert other not in name and other.encode() not in content
    for theme in ("light", "dark"):
        person.turn(theme)
        found = contrasts(
            person,
            ".word:not(.masked), .detail, .name, .verdict, .gate, .beyond-line, .step, .class .of, .value, "
            ".headline, [data-testid=stMetricLabel] p, [data-testid=stMetricValue] *, .legend .word, .timeline .of",
        )
        assert len(found) > 25
        person.picture(f"recursive_masking-{theme}")


def test_a_step_is_saved_as_a_picture_and_words_masked_by_hand_give_a_prediction_and_a_p_value(visit):
    person = opened(visit, step="4")
    stands_at(person, "40 % masked")
    person.open_tab("What if?")
    name, content = person.saved(person.page.locator(STEPPER).get_by_role("button", name=re.compile("SVG")).first)
    assert name.endswith(".svg") and b"<svg" in content and b"Saltmarsh" in content
    hand = person.page.locator(HAND)
    before = hand.locator(".verdict").text_content()
    word = hand.locator(".word").nth(0)
    word.click()
    playwright.expect(word).to_have_attribute("aria-pressed", "true")
    playwright.expect(hand).to_contain_text("1 of 14 words masked")
    person.until("() => location.search.includes('masked=0')")
    playwright.expect(hand.locator(".verdict")).not_to_have_text(before)
    hand.get_by_role("button", name="Mask all", exact=True).click()
    playwright.expect(hand).to_contain_text("14 of 14 words masked")
    everything = hand.locator(".verdict")
    person.page.get_by_role("slider", name="Masking step").focus()
    person.page.keyboard.press("End")
    # With every word masked by hand the input is that of the last step.
    playwright.expect(everything).to_have_text(person.page.locator(STEPPER).locator(".verdict").text_content())
    hand.get_by_role("button", name="Unmask all").click()
    playwright.expect(hand.locator(".verdict")).to_have_text(before)
