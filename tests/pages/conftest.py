"""What tests of pages open where they ask for no data."""

import pytest

from core.data.examples import FIRST_REVIEWS, HARD_REVIEWS, bundled_data
from core.evaluation import families
from pages.parts.frame import data


@pytest.fixture(autouse=True)
def hard_reviews_unasked(request, monkeypatch):
    """The hard reviews, about which these tests are written; of a first visit those are that are marked so."""
    if request.node.get_closest_marker("first_visit"):
        return
    cards = tuple(
        (name, card | {families.HOME: HARD_REVIEWS} if card.get(families.HOME) == FIRST_REVIEWS else card, ships)
        for name, card, ships in families._cards()
    )
    monkeypatch.setattr(families, "_cards", lambda: cards)
    monkeypatch.setattr(data, "bundled_data", lambda: {HARD_REVIEWS: ""} | bundled_data())
