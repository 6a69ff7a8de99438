"""Browsing against brute force: what a query leaves, how it is ordered and counted, and which label means which
class.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from core.data import browsing
from core.data.browsing import (
    Index,
    LabelMatch,
    Query,
    counts,
    excerpt,
    facets,
    judge,
    match_labels,
    select,
    terms,
    worst,
)
from core.data.examples import DataSet, Example

LABELS = ("negative", "positive")


def data_set(examples, classes=LABELS) -> DataSet:
    return DataSet("made", "0" * 64, tuple(examples), classes)


FOUR = data_set(
    [
        Example("a", "A fine film", None, "positive", ("short", "plain")),
        Example("b", "A dull, dull film that never ends", None, "negative", ("plain",)),
        Example("c", "Fine", "the Premise", "positive", ()),
        Example("d", "No opinion here at all", None, None, ("short",)),
    ]
)
# Right, confidently wrong, unsure and wrong, without a label.
PROBABILITIES = np.array([[0.1, 0.9], [0.03, 0.97], [0.55, 0.45], [0.7, 0.3]])


@pytest.fixture
def four():
    index = Index(FOUR)
    return index, judge(index, LABELS, match_labels(FOUR.classes, LABELS), PROBABILITIES)


def ids(found, query) -> str:
    index, judged = found
    return "".join(index.data.examples[i].id for i in select(index, judged, query))


# By hand


def test_judged_by_hand(four):
    _, judged = four
    assert judged.predicted.tolist() == [1, 1, 0, 0] and judged.confidence.tolist() == [0.9, 0.97, 0.55, 0.7]
    assert judged.label_probability.tolist()[:3] == [0.9, 0.03, 0.45] and math.isnan(judged.label_probability[3])
    assert judged.right.tolist() == [1, 0, 0, -1] and judged.accuracy == pytest.approx(1 / 3)
    assert worst(judged) == 1


@pytest.mark.parametrize(
    "query, expected",
    [
        (Query(), "abcd"),
        (Query(descending=True), "dcba"),
        (Query("film"), "ab"),
        (Query("FINE"), "ac"),
        (Query("film fine"), "a"),
        (Query('"dull film"'), "b"),
        (Query('"dull dull"'), ""),
        (Query("premise"), "c"),
        (Query("  "), "abcd"),
        (Query("zebra"), ""),
        (Query(facets={"label": ("positive",)}), "ac"),
        (Query(facets={"label": ("positive", "negative")}), "abc"),
        (Query(facets={"label": ("(no label)",)}), "d"),
        (Query(facets={"predicted": ("negative",)}), "cd"),
        (Query(facets={"outcome": ("wrong",)}), "bc"),
        (Query(facets={"outcome": ("right",)}), "a"),
        (Query(facets={"outcome": ("(no verdict)",)}), "d"),
        (Query(facets={"outcome": ("wrong",), "label": ("positive",)}), "c"),
        (Query(facets={"confidence": ("95 % and more",)}), "b"),
        (Query(facets={"confidence": ("below 60 %", "60 to 80 %")}), "cd"),
        (Query(facets={"length": ("up to 5 words",)}), "acd"),
        (Query(facets={"length": ("6 to 10",)}), "b"),
        (Query(facets={"tag": ("short",)}), "ad"),
        (Query(facets={"tag": ("short", "plain")}), "abd"),
        (Query(facets={"tag": ("(no tag)",)}), "c"),
        (Query(facets={"tag": ("short", "plain")}, all_tags=True), "a"),
        (Query(facets={"tag": ("short",)}, all_tags=True), "ad"),
        (Query(facets={"tag": ("(no tag)",)}, all_tags=True), "c"),
        (Query(facets={"tag": ("short", "(no tag)")}, all_tags=True), ""),
        (Query(facets={"tag": ("short", "no such tag")}, all_tags=True), ""),
        (Query(facets={"label": ("positive", "negative")}, all_tags=True), "abc"),
        (Query(all_tags=True), "abcd"),
        (Query(facets={"label": ("no such label",)}), ""),
        (Query(facets={"label": ()}), "abcd"),
        (Query(order="confidence"), "cdab"),
        (Query(order="confidence", descending=True), "badc"),
        # The one without a label comes last both ways.
        (Query(order="label probability"), "bcad"),
        (Query(order="label probability", descending=True), "acbd"),
        (Query(order="label"), "bacd"),
        (Query(order="label", descending=True), "acbd"),
        (Query(order="length"), "cadb"),
        (Query(order="text"), "bacd"),
        (Query(order="predicted"), "cdab"),
    ],
)
def test_selected_by_hand(four, query, expected):
    assert ids(four, query) == expected


def test_more_tags_than_a_menu_holds_are_tags_all_the_same():
    data = data_set([Example(str(i), "a", None, None, (f"tag {i:02}",)) for i in range(60)] + [Example("x", "a")], ())
    index = Index(data)
    tally = counts(index, judge(index, (), LabelMatch({}), None), Query())["tag"]
    assert tally["(no tag)"] == 1 and len(tally) == 41 and all(n == 1 for n in tally.values())


@pytest.mark.parametrize("asked", [(), ("plain",), ("plain", "short"), ("short", "(no tag)")])
def test_tags_that_narrow_are_counted_beside_each_other(four, asked):
    index, judged = four
    query = Query(facets={"tag": asked, "label": ("positive",)}, all_tags=True)
    for tag, count in counts(index, judged, query)["tag"].items():
        further = Query(facets={"tag": tuple({*asked, tag}), "label": ("positive",)}, all_tags=True)
        assert count == len(select(index, judged, further))


def test_counts_by_hand(four):
    index, judged = four
    everything = counts(index, judged, Query())
    assert everything["label"] == {"negative": 1, "positive": 2, "(no label)": 1}
    assert everything["outcome"] == {"wrong": 2, "right": 1, "(no verdict)": 1}
    assert everything["confidence"] == {
        "below 60 %": 1,
        "60 to 80 %": 1,
        "80 to 95 %": 1,
        "95 % and more": 1,
        "(not predicted)": 0,
    }
    assert everything["tag"] == {"plain": 2, "short": 2, "(no tag)": 1}
    # A facet's own choice does not narrow its own counts.
    narrowed = counts(index, judged, Query(facets={"label": ("positive",)}))
    assert narrowed["label"] == everything["label"] and narrowed["outcome"] == {
        "wrong": 1,
        "right": 1,
        "(no verdict)": 0,
    }


def test_before_there_is_a_model_or_a_prediction():
    index = Index(FOUR)
    for judged in (
        judge(index, (), LabelMatch({}), None),
        judge(index, LABELS, match_labels(FOUR.classes, LABELS), None),
    ):
        assert judged.predicted.tolist() == [-1] * 4 and math.isnan(judged.accuracy) and worst(judged) is None
        assert ids((index, judged), Query(order="confidence")) == "abcd"
        assert counts(index, judged, Query())["predicted"]["(not predicted)"] == 4
        assert ids((index, judged), Query(facets={"label": ("negative",)})) == "b"


def test_predictions_that_come_bit_by_bit(four):
    index, _ = four
    some_there = PROBABILITIES.copy()
    some_there[[0, 2]] = np.nan
    judged = judge(index, LABELS, match_labels(FOUR.classes, LABELS), some_there)
    assert judged.predicted.tolist() == [-1, 1, -1, 0] and judged.right.tolist() == [-1, 0, -1, -1]
    assert ids((index, judged), Query(order="confidence")) == "dbac"


def test_toggling_is_its_own_inverse():
    query = Query("x", {"tag": ("a",)})
    assert query.toggled("tag", "b").facets == {"tag": ("a", "b")} and query.toggled("tag", "a").facets == {}
    assert query.toggled("label", "y").toggled("label", "y") == query
    assert query.narrows and not Query(order="text").narrows and not Query(" ").narrows
    assert (
        Query(order="confidence").asks_model
        and Query(facets={"outcome": ("right",)}).asks_model
        and not Query("x", {"label": ("y",)}).asks_model
    )


# Against brute force

WORDS = some.sampled_from(["fine", "Film", "dull", "ÉCLAIR", "straße", "\0", "a", "x y"])
EXAMPLES = some.lists(
    some.tuples(
        some.lists(WORDS, min_size=1, max_size=14),
        some.sampled_from([None, "negative", "positive", "odd"]),
        some.sets(some.sampled_from("pqr")),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(
    EXAMPLES,
    some.randoms(use_true_random=False),
    some.lists(some.sampled_from(["fine", "FILM", "éclair", "zzz"]), max_size=2),
    some.sampled_from(browsing.ORDERS),
    some.booleans(),
)
def test_selection_counts_and_order_are_what_brute_force_finds(rows, random, wanted, order, descending):
    data = data_set(
        [
            Example(str(i), " ".join(text), None, label, tuple(sorted(tags)))
            for i, (text, label, tags) in enumerate(rows)
        ],
        ("negative", "odd", "positive"),
    )
    index = Index(data)
    p = np.array(
        [[q, 1 - q] if random.random() > 0.2 else [np.nan, np.nan] for q in (round(random.random(), 2) for _ in rows)]
    )
    judged = judge(index, LABELS, match_labels(data.classes, LABELS), p)
    offered = facets(index, judged)
    query = Query(
        " ".join(wanted),
        {facet: tuple(random.sample(names, random.randint(0, min(2, len(names))))) for facet, names in offered.items()},
        order,
        descending,
        random.random() < 0.5,
    )

    def values(i) -> dict[str, set[str]]:
        example, there = data.examples[i], not np.isnan(p[i, 0])
        best = int(p[i].argmax()) if there else None
        confidence = max(p[i])
        n = len(example.text.split())
        meant = {"negative": 0, "positive": 1}.get(example.label)
        return {
            "label": {example.label or "(no label)"},
            "predicted": {LABELS[best] if there else "(not predicted)"},
            "outcome": {"(no verdict)" if not there or meant is None else "right" if best == meant else "wrong"},
            "confidence": {
                "(not predicted)"
                if not there
                else "below 60 %"
                if confidence < 0.6
                else "60 to 80 %"
                if confidence < 0.8
                else "80 to 95 %"
                if confidence < 0.95
                else "95 % and more"
            },
            "length": {
                next(
                    name
                    for top, name in ((5, "up to 5 words"), (10, "6 to 10"), (20, "11 to 20"), (40, "21 to 40"))
                    if n <= top
                )
            },
            "tag": set(example.tags) or {"(no tag)"},
        }

    def passes(i, but=None) -> bool:
        found = all(
            term.casefold() in data.examples[i].text.casefold() or term in data.examples[i].id for term in wanted
        )
        ways = {
            facet: set(asked) <= values(i)[facet]
            if facet == "tag" and query.all_tags
            else values(i)[facet] & set(asked)
            for facet, asked in query.facets.items()
        }
        counts_too = "tag" if query.all_tags else None
        return found and all(
            not query.facets[facet] or (facet == but and facet != counts_too) or fits for facet, fits in ways.items()
        )

    chosen = select(index, judged, query).tolist()
    assert sorted(chosen) == [i for i in range(len(rows)) if passes(i)]
    for facet, tally in counts(index, judged, query).items():
        assert set(tally) == set(offered[facet])
        assert tally == {
            name: sum(passes(i, facet) and name in values(i)[facet] for i in range(len(rows))) for name in tally
        }

    def key(i):
        example = data.examples[i]
        return {
            "row": i,
            "text": f"{example.text}\n\n{example.id}".casefold(),
            "length": len(example.text.split()),
            "label": None if example.label is None else data.classes.index(example.label),
            "predicted": None if np.isnan(p[i, 0]) else int(p[i].argmax()),
            "confidence": None if np.isnan(p[i, 0]) else max(p[i]),
            "label probability": None
            if example.label not in LABELS or np.isnan(p[i, 0])
            else p[i, LABELS.index(example.label)],
            # Traits, which nobody has found of these.
        }.get(order)

    there = sorted((i for i in chosen if key(i) is not None), key=key, reverse=descending)
    if descending and order not in ("row", "text"):
        # Python's reverse keeps equal ones in order, as the selection does.
        assert [key(i) for i in chosen[: len(there)]] == [key(i) for i in there]
    assert chosen[: len(there)] == there and chosen[len(there) :] == sorted(chosen[len(there) :])


# Searching


def test_terms():
    assert (
        terms('Two "Quoted Words" here') == ["two", "quoted words", "here"]
        and terms("") == terms('"') == terms('""') == []
    )
    assert terms('film "not the') == ["film", "not the"]


@given(some.text(max_size=400), some.lists(some.text(min_size=1, max_size=5), max_size=3), some.integers(60, 120))
def test_an_excerpt_is_a_part_of_the_text_and_no_longer_than_asked(text, wanted, most):
    part = excerpt(text, [w.casefold() for w in wanted], most)
    assert len(part) <= most + 2 and part.strip("…") in text
    assert part == text or len(text) > most


def test_an_excerpt_shows_what_was_found():
    text = "word " * 200 + "needle " + "word " * 200
    assert "needle" in excerpt(text, ["needle"], 100) and excerpt(text, [], 100).startswith("word word")
