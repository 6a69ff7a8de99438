"""A saved collection holds what it is given, as text, and says what is not known."""

import re
from html import unescape

import numpy as np
import pytest

from core.data.examples import Example
from core.reports.collection_page import Card, collection_page

HOSTILE = '<img src=x onerror="alert(1)">&amp;{{ 7 * 7 }}\u202e'


def sections(page: str) -> list[str]:
    return re.findall(r"<section>.*?</section>", page, re.DOTALL)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_it_holds_exactly_what_it_is_given(count):
    cards = [Card(Example(f"e{i}", f"Text {i}."), "—", "", np.nan, None, "", {}) for i in range(count)]
    page = collection_page("made", cards, {"data": "made"})
    found = sections(page)
    assert [f"Text {i}." in found[i] and f">e{i}<" in found[i] for i in range(count)] == [True] * count
    assert len(found) == count and page.count("predicted: —") == count


def test_every_text_of_others_is_escaped():
    example = Example(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), HOSTILE)
    page = collection_page(
        HOSTILE, [Card(example, HOSTILE, HOSTILE, 0.25, False, HOSTILE, {"twin": HOSTILE})], {"data": HOSTILE}
    )
    # The time of writing may hold any number.
    timeless = re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "", page)
    assert "<img" not in page and 'onerror="' not in page and "49" not in timeless
    assert unescape(page).count('onerror="alert(1)"') >= 9 and "<script" not in page


def test_what_was_found_and_what_was_not_is_said():
    card = Card(Example("e", "A film."), "positive", "positive", 0.912, True, "why", {"twin differs": "not computed"})
    (found,) = sections(collection_page("made", [card], {}))
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", "", found))
    assert "positive 0.912 ✓ · label: positive" in text
    assert "twin differs" in text and "not computed" in text and "why" in text
