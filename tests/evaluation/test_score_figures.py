"""The figure and the table of scores over many texts, from means that are set by hand."""

import numpy as np
import pytest

from core.evaluation.studies.scoring import ERROR, RANDOM, VALUE, Scored, ScoresReport, Scoring
from core.figures.erasure_figures import draw_scores
from core.mathematics.statistics import Interval
from core.measures.catalogue import measure
from core.metrics.catalogue import metrics

TEXTS = 30


def report(names=("NS", "Soft-NS"), count=2, undefined=0) -> ScoresReport:
    """Of two measures: gradient at .7 with an interval, attention at .4 without; undefined: texts without a Soft-NS."""
    study = Scoring(("gradient", "attention"), names, count=count)
    shape = TEXTS, len(study.attributions), len(names)
    every = np.ones(TEXTS, dtype=bool)
    found = Scored(
        study,
        np.zeros((*shape, max(VALUE, ERROR) + 1)),
        np.zeros(shape, dtype=np.int32),
        ("",),
        np.ones(shape[:2], dtype=bool),
        every,
        np.zeros(TEXTS, dtype=np.int64),
        np.full(TEXTS, 0.9),
        {},
    )
    nan = float("nan")
    spans = {
        "gradient": Interval(0.7, 0.6, 0.75),
        "attention": Interval(0.4, nan, nan),
        RANDOM: Interval(0.3, 0.2, 0.4),
    }
    means = {(name, one): span for name in names for one, span in spans.items()}
    counts = {about: TEXTS - undefined * (about[0] == "Soft-NS") for about in means}
    return ScoresReport(found, means, counts)


def test_a_panel_a_metric_a_line_a_measure_and_the_baseline():
    drawn = draw_scores([report()])
    by_panel = {name: [one for one in drawn["data"] if one["xaxis"] == name] for name in ("x", "x2")}
    for points in by_panel.values():
        assert [one["x"] for one in points] == [[0.7], [0.4], [0.3]] and [one["y"] for one in points] == [[0], [1], [2]]
        first, bare, baseline = points
        error = first["error_x"]
        assert error["array"] == pytest.approx([0.05]) and error["arrayminus"] == pytest.approx([0.1])
        # Of few texts there is a mean and no interval.
        assert "error_x" not in bare
        assert first["marker"]["color"] == measure("gradient").hue
        # The baseline is told apart by its shape, too, and by a line through it.
        assert (first["marker"]["symbol"], baseline["marker"]["symbol"]) == ("circle", "diamond")
    assert [(shape["x0"], shape["xref"]) for shape in drawn["layout"]["shapes"]] == [(0.3, "x"), (0.3, "x2")]
    assert [one["text"] for one in drawn["layout"]["annotations"]] == ["<b>NS</b> ↑ better", "<b>Soft-NS</b> ↑ better"]
    assert drawn["layout"]["yaxis"]["ticktext"] == ["gradient", "attention", RANDOM]


def test_panels_stand_two_by_two_and_do_not_overlap():
    names = ("NS", "NC", "Soft-NS", "Soft-NC", "AOPC comprehensiveness")
    layout = draw_scores([report(names)])["layout"]
    boxes = [
        (*layout[f"xaxis{end}"]["domain"], *layout[f"yaxis{end}"]["domain"]) for end in ("", *map(str, range(2, 6)))
    ]
    for i, (left, right, low, high) in enumerate(boxes):
        assert 0 <= left < right <= 1 and 0 <= low < high <= 1
        for other in boxes[:i]:
            assert right <= other[0] or other[1] <= left or high <= other[2] or other[3] <= low
    # Shares have one scale; what may be below 0 has its own.
    assert layout["xaxis"]["range"] == layout["xaxis4"]["range"]
    assert "range" not in layout["xaxis5"] or metrics()[names[-1]].low == 0


def test_without_a_baseline_or_a_mean():
    bare = draw_scores([report(count=0)])
    assert len(bare["data"]) == 4 and not bare["layout"]["shapes"]
    assert draw_scores([report(("Soft-NS",), undefined=TEXTS)]) is None


def test_over_how_many_texts_stands_once_for_a_metric_and_in_cells_where_they_differ():
    found = report(undefined=4)
    header, rows = found.found.study.tables(found)[0]
    assert header == ["measure", "NS ↑", "Soft-NS ↑ (n = 26)"] and rows[0] == [
        "gradient",
        *["0.700 [0.600, 0.750]"] * 2,
    ]
    assert rows[-1][0] == "2 random attributions"
    found.counts["Soft-NS", "attention"] = 20
    header, rows = found.found.study.tables(found)[0]
    assert header[2] == "Soft-NS ↑"
    assert [row[2] for row in rows] == [
        "0.700 [0.600, 0.750] (n = 26)",
        "0.400 (n = 20)",
        "0.300 [0.200, 0.400] (n = 26)",
    ]
