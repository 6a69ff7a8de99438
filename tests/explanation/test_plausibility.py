"""Known evidence beside what measures rank first: numbers by hand, and who finds it best."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.data.examples import Example
from core.explanation.plausibility import ALIKE, Evidence, evidence_of, leaders
from core.explanation.rows import pieces
from core.mathematics.ranking import ranking
from core.reports.attribution_page import attribution_page
from core.reports.exports import COLUMNS, CONSTANT, attribution_table
from core.results.evidence import EvidenceOutcome, evidence_result
from core.results.result import Result
from pages.parts.sections.evidence import marked_text
from tests import shown as views

NAN = float("nan")
TEXT = "A good [MASK] film, not bad."  # A · good · [MASK] · film · , · not · bad · .


def at(*words):
    return [(TEXT.index(word), TEXT.index(word) + len(word)) for word in words]


def test_evidence_counts_what_can_be_ranked():
    found = evidence_of(views.encoded(TEXT), at("good", "[MASK]", "bad"))
    assert (found.m, found.F, found.everything) == (2, 7, False)
    scores = np.array([0, 3, 99, 2, 0, 0, 1, 0])
    assert found.precision(scores) == pytest.approx((1 + 2 / 3) / 2) and found.recall(scores) == 1 / 2
    assert found.chance_recall == 2 / 7 and found.chance_precision == pytest.approx(
        np.mean([(1 + (i - 1) / 6) / i for i in range(1, 8)])
    )
    assert evidence_of(views.encoded(TEXT), [(0, len(TEXT))]).everything


@pytest.mark.parametrize("spans", [(), [(900, 999)], at("[MASK]"), [(1, 2)], at("bad")])
def test_without_evidence_that_can_be_found_there_is_none(spans):
    # The last two words are not read.
    assert evidence_of(views.encoded(TEXT, cut=2), spans) is None


def test_equal_scores_are_no_order():
    found = evidence_of(views.encoded(TEXT), at("A"))
    scores = np.array([1, 1, 0, 1, 1, 1, 1, 1])
    assert np.isnan(found.precision(scores)) and np.isnan(found.recall(scores))
    assert evidence_of(views.encoded("One"), [(0, 3)]).precision(np.zeros(1)) == 1


@pytest.mark.parametrize("seed", range(5))
def test_an_order_says_the_same_as_its_scores(seed):
    of = views.encoded(TEXT)
    found, scores = (
        evidence_of(of, at("good", "bad")),
        np.random.default_rng(seed).integers(0, 4 if seed else 1, of.F).astype(float),
    )
    orders = [ranking(sign * scores, of.premasked)[1:] for sign in (1, -1)]
    np.testing.assert_equal(found.precision_of(*orders), found.precision(scores))


def test_the_best_are_named_together_and_random_never():
    assert leaders({"gradient": 0.5, "random": 0.9, "beam": NAN, "leave-one-out": 0.5}) == ("gradient", "leave-one-out")
    assert leaders({"random": 1.0}) == leaders({}) == ()


def test_none_is_called_the_best_by_a_hair():
    assert leaders({"gradient": 0.5, "leave-one-out": 0.46, "LIME": 0.45}, within=ALIKE) == (
        "gradient",
        "leave-one-out",
    )
    # Of 20 words one is evidence, so that its place p gives an average precision of 1/p.
    mask, masked = np.arange(20) == 0, np.zeros(20, dtype=bool)

    def told(**places: int) -> Result:
        rows = []
        for name, place in places.items():
            order = np.insert(np.arange(1, 20), place - 1, 0)
            scores = np.empty(20)
            scores[order] = np.arange(20, 0, -1)
            rows.append(SimpleNamespace(measure=name.replace("_", "-"), scores=scores))
        return evidence_result(Evidence(mask, masked), rows, "word")

    far = told(gradient=2, LIME=4)
    assert far.outcome == EvidenceOutcome.HIGHEST and far.fact("precision").value == 0.5
    near = told(gradient=4, leave_one_out=5, LIME=5)
    assert near.outcome == EvidenceOutcome.HIGHEST and near.slots["measures"] == ["gradient"]
    alike = told(gradient=5, leave_one_out=6, LIME=6)
    assert alike.outcome == EvidenceOutcome.ALIKE and alike.fact("precision").value == 0.2
    assert alike.slots["measures"] == ["gradient", "leave-one-out", "LIME"]
    some = told(gradient=5, leave_one_out=6, LIME=20)
    assert some.outcome == EvidenceOutcome.ALIKE and some.slots["measures"] == ["gradient", "leave-one-out"]


def test_pieces_without_evidence_are_what_they_were():
    of = views.encoded(TEXT)
    assert pieces(of) == pieces(of, ()) == pieces(of, [(900, 10**30)]) and all(
        "evidence" not in piece for piece in pieces(of)
    )
    assert [piece["text"] for piece in pieces(of, at("good", "bad")) if piece.get("evidence")] == ["good", "bad"]


@pytest.mark.parametrize(
    ("spans", "marked"),
    [
        ((), "a &lt;b&gt; c"),
        (((2, 5),), "a |&lt;b&gt;| c"),
        (((0, 3), (2, 5)), "|a &lt;||b&gt;| c"),
        (((5, 99),), "a &lt;b&gt;| c|"),
        (((50, 99),), "a &lt;b&gt; c"),
        (((3, 2),), "a &lt;b&gt; c"),
    ],
)
def test_overlined_text_is_escaped_and_whole(spans, marked):
    drawn = marked_text("a <b> c", spans, 100)
    assert drawn.split("<span")[0] == marked.split("|")[0]
    parts = [part for part in marked.split("|") if part]
    assert [
        part.partition(">")[2] if part.startswith(" class=") else part
        for part in drawn.replace("</span>", "<span").split("<span")
        if part
    ] == parts
    assert marked_text("a <b> c", spans, 30) == drawn and "<span" not in marked_text("<b>" * 99, ((0, 3),), 90)


def test_what_is_saved_names_the_evidence():
    plain = views.shown(TEXT)
    assert (
        attribution_table(plain)[0] == COLUMNS + CONSTANT
        and "evidence" not in attribution_page(plain).split("</style>")[1]
    )
    marked = views.shown(TEXT)
    object.__setattr__(marked, "example", Example("s001", TEXT, label="negative", evidence=(*at("good"), (900, 999))))
    header, lines = attribution_table(marked)
    assert header == [*COLUMNS, "evidence", *CONSTANT] and {
        line[2] for line in lines if line[header.index("evidence")]
    } == {"good"}
    page = attribution_page(marked).split("</style>")[1]
    assert page.count('evidence"') >= 4 and page.count('<th scope="row">random order') == 1
