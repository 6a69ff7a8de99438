"""The times of pages: medians and ratios of made-up times."""

from pages.parts.frame.pages import PAGES as REGISTERED
from tests.page_times import PAGES, table


def test_medians_stand_beside_their_ratios():
    assert table({"start": {"new": [1, 9, 2], "old": [4, 3, 5]}}).splitlines()[0::2] == [
        "| seconds (median) | new | old | new / old |",
        "| start | 2.00 | 4.00 | 0.50 |",
    ]


def test_every_page_is_timed():
    assert list(PAGES) == ["", *(page.path.removeprefix("pages/").removesuffix(".py") for page in REGISTERED[1:])]
