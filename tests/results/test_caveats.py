"""The caveats of the whole app: short enough for a badge, explained once, and defined in the glossary."""

import re
from pathlib import Path

from core.results.caveats import Caveat, in_order

GLOSSARY = (Path(__file__).resolve().parents[2] / "core" / "README.md").read_text(encoding="utf-8")


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’.-][^\W_]+)*", text)


def test_a_badge_has_three_words_at_most_and_its_explanation_twenty_five():
    for one in Caveat:
        assert 1 <= len(words(one.badge.replace("-", ""))) <= 3, one.name
        assert len(words(one.explanation)) <= 25 and one.explanation.endswith("."), one.name


def test_every_caveat_is_defined_under_a_heading_of_the_glossary():
    headings = set(re.findall(r"^### (.+)$", GLOSSARY, re.MULTILINE))
    assert {one.anchor for one in Caveat} <= headings


def test_badges_and_explanations_differ_between_caveats():
    assert len({one.badge for one in Caveat}) == len({one.explanation for one in Caveat}) == len(Caveat)


def test_caveats_of_a_result_stand_once_in_the_order_of_the_enumeration():
    assert in_order([Caveat.UNSTABLE, Caveat.OUT_OF_DISTRIBUTION, Caveat.UNSTABLE]) == (
        Caveat.OUT_OF_DISTRIBUTION,
        Caveat.UNSTABLE,
    )
    assert in_order(list(Caveat)) == tuple(Caveat)
