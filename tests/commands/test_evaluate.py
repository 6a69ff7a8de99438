"""`python -m core evaluate`: the table that it writes, that it goes on where it stopped, and choices that cannot be
carried out.
"""

import json
import re

import numpy as np
import pytest
from pyarrow import parquet

from core.commands.command_line import main
from core.commands.evaluate import GOES_ON
from core.evaluation.engine import Run
from core.evaluation.studies.catalogue import questions
from core.evaluation.studies.diagnosticity_question import Diagnosing
from core.evaluation.studies.diagnosticity_report import ALL
from core.explanation.explainer import Explainer
from core.mathematics.diagnosticity import compare
from core.mathematics.erasure import LENGTHS
from core.metrics.registry import NO_FEATURES
from core.results.caveats import Caveat
from tests import tiny
from tests.interrupted import interrupted

UNLABELLED = [name for name, question in questions().items() if not question.labelled]
MEASURES, METRICS = ["leave-one-out", "gradient"], ["NS", "Soft-NC"]


@pytest.fixture
def texts(tmp_path):
    """A file without labels; one of its texts is blank."""
    path = tmp_path / "texts.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": f"t{i}", "text": text}) + "\n"
            for i, text in enumerate((*tiny.SENTENCES[:3], "[MASK] [MASK]"))
        ),
        encoding="utf-8",
    )
    return path


@pytest.fixture
def evaluate(tiny_root, tmp_path, texts, monkeypatch, tiny_model):
    """`evaluate(*more)`: the exit status of the command on that file, three random attributions and two draws."""
    model = tiny_model("bert")
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("core.loading.loading.load", lambda *_: model)

    def run(*more, data=texts, measures=MEASURES, metrics=METRICS):
        return main(
            [
                "evaluate",
                "--model",
                "tiny",
                "--data",
                str(data),
                "--out",
                str(tmp_path / "out" / "found.parquet"),
                "--measures",
                *measures,
                "--metrics",
                *metrics,
                "--count",
                "3",
                "--draws",
                "2",
                "--device",
                "cpu",
                *more,
            ]
        )

    run.out, run.model = tmp_path / "out" / "found.parquet", model
    return run


def lines(path) -> list[dict]:
    return parquet.read_table(path).to_pylist()


def test_scores_are_a_long_table(evaluate, capsys):
    assert evaluate() == 0
    found = lines(evaluate.out)
    # Two measures and three random ones; a value and five lengths of NS, a value of Soft-NC.
    assert len(found) == 4 * 5 * (1 + len(LENGTHS) + 1) and {line["example"] for line in found} == {
        f"t{i}" for i in range(4)
    }
    assert set(found[0]) == {
        "example",
        "row",
        "class",
        "probability",
        "problem",
        "cut",
        "measure",
        "values",
        "metric",
        "direction",
        "erasure",
        "scaling",
        "placement",
        "sigma",
        "draws",
        "seed",
        "note",
        "length",
        "value",
        "error",
        "outcome",
        "caveats",
    }
    for line in found:
        assert (
            line["row"] == int(line["example"][1:]) + 1
            and line["class"] in tiny.LABELS
            and 0 < line["probability"] <= 1
            and line["direction"] == "↑"
        )
        assert (line["values"] is None) == line["measure"].startswith("random")
        assert (line["erasure"], line["scaling"], line["draws"]) == (
            ("mask token", None, None) if line["metric"] == "NS" else (None, "min–max", 2)
        )
        assert line["length"] is None or (line["metric"] == "NS" and line["length"] in LENGTHS)
        if line["example"] == "t3":
            assert line["value"] is None and (line["length"] is not None or line["note"] == NO_FEATURES)
    explainer = Explainer(evaluate.model)
    for i, text in enumerate(tiny.SENTENCES[:3]):
        p = explainer.probabilities(explainer.encode(text, None, "word"))
        assert {(line["class"], round(line["probability"], 4)) for line in found if line["example"] == f"t{i}"} == {
            (tiny.LABELS[p.argmax()], round(float(p.max()), 4))
        }
    assert len({line["class"] for line in found}) > 1
    by = [
        line for line in found if line["example"] == "t0" and line["measure"] == "gradient" and line["metric"] == "NS"
    ]
    (value,) = (line["value"] for line in by if line["length"] is None)
    if value is not None:
        assert value == pytest.approx(np.mean([line["value"] for line in by if line["length"] is not None]))
    said = capsys.readouterr().out
    assert "texts: 4 of 4" in said and "few texts" in said and f"Written: {evaluate.out}" in said


@pytest.mark.parametrize("what", UNLABELLED)
def test_texts_that_were_cut_are_counted_and_marked(evaluate, tmp_path, capsys, what):
    path = tmp_path / "long.jsonl"
    told = ["Slow.", "the tide " * 40, "captain " * 20]
    path.write_text("".join(json.dumps({"id": f"t{i}", "text": text}) + "\n" for i, text in enumerate(told)))
    for again in range(2):
        assert evaluate("--what", what, data=path) == 0
        assert {line["example"]: line["cut"] for line in lines(evaluate.out)} == {"t0": False, "t1": True, "t2": True}
        said = capsys.readouterr().out
        assert f"{Caveat.TRUNCATED.badge}: " in said, ("read from the store", again)
        assert what == "scoreboard" or "2 of 3" in said


def test_diagnosticity_is_what_the_scores_say(evaluate, capsys):
    assert evaluate() == 0
    scores = lines(evaluate.out)
    assert evaluate("--what", "diagnosticity") == 0
    found = lines(evaluate.out)
    # A value and five lengths of NS, a value of Soft-NC; each for two measures and over both.
    assert len(found) == 4 * 3 * (1 + len(LENGTHS) + 1)
    for line in found:
        told = {
            name: [
                one["value"]
                for one in scores
                if (one["example"], one["metric"], one["length"]) == (line["example"], line["metric"], line["length"])
                and one["measure"].startswith(name)
            ]
            for name in ("random", *MEASURES)
        }
        chosen = MEASURES if line["measure"] == ALL else [line["measure"]]
        pairs = compare(
            np.array([[told[name][0] for name in chosen]], dtype=float), np.array([told["random"]], dtype=float), 1
        )
        assert (line["pairs"], line["undefined"]) == (pairs.defined[0], pairs.left_out[0])
        assert [line["strict"], line["half"]] == pytest.approx(
            [None if pairs.defined[0] == 0 else share[0] for share in (pairs.strict, pairs.half)]
        )
    said = capsys.readouterr().out
    assert "few texts" in said and "one half ↑" in said


def test_shuffles_of_a_measures_own_scores_are_a_baseline(evaluate, capsys):
    assert evaluate("--baseline", "shuffled") == 0
    scores = [line for line in lines(evaluate.out) if line["length"] is None]
    shuffles = {name: [f"{name}, shuffle {r}" for r in range(3)] for name in MEASURES}
    assert {line["measure"] for line in scores} == {*MEASURES, *(name for names in shuffles.values() for name in names)}
    taken = {(line["measure"].partition(",")[0], line["values"]) for line in scores}
    assert taken == {("leave-one-out", "signed"), ("gradient", "L2")}
    assert (
        evaluate("--baseline", "shuffled", "--what", Diagnosing.name) == 0
        and "shuffled attributions: 3" in capsys.readouterr().out
    )
    compared = [line for line in lines(evaluate.out) if line["length"] is None and line["measure"] in MEASURES]
    assert len(compared) == 4 * len(MEASURES) * len(METRICS)
    for line in compared:
        told = {
            one["measure"]: one["value"]
            for one in scores
            if (one["example"], one["metric"]) == (line["example"], line["metric"])
        }
        pairs = compare(
            np.array([told[line["measure"]]], dtype=float),
            np.array([[told[name] for name in shuffles[line["measure"]]]], dtype=float),
            1,
        )
        assert line["against"] == "shuffled" and line["pairs"] == pairs.defined[0]
        assert not line["pairs"] or (line["half"], line["strict"]) == (pairs.half[0], pairs.strict[0])


def test_the_same_command_goes_on_where_it_was_interrupted(evaluate, capsys):
    asked, again = interrupted(evaluate, Run, "add", 2, evaluate.out)
    assert GOES_ON in capsys.readouterr().err and sorted(i for _, i, _ in asked + again) == [0, 1, 2, 3]
    counters = evaluate.model.scheduler.counters
    before = counters.passes
    assert evaluate("--what", Diagnosing.name) == 0 and counters.passes == before


def test_a_sample_is_drawn_once_for_a_seed(evaluate):
    assert evaluate("--sample", "2") == 0
    small = {line["example"] for line in lines(evaluate.out)}
    assert evaluate("--sample", "3") == 0
    assert len(small) == 2 and small < {line["example"] for line in lines(evaluate.out)}


def test_texts_that_cannot_be_read_have_a_line_with_their_problem(evaluate, monkeypatch):
    from core.network.features import NoFeatures

    really = type(evaluate.model).encode

    def encode(model, text, *more, **others):
        if "MASK" in text:
            raise NoFeatures("nothing")
        return really(model, text, *more, **others)

    monkeypatch.setattr(type(evaluate.model), "encode", encode)
    for what in UNLABELLED:
        assert evaluate("--what", what) == 0
        (line,) = (line for line in lines(evaluate.out) if line["problem"])
        assert (line["example"], line["row"], line["problem"], line["measure"], line.get("class")) == (
            "t3",
            4,
            "nothing",
            None,
            None,
        )


@pytest.mark.parametrize(
    "more, others, said",
    [
        (["--sample", "0"], {}, "at least 1"),
        ([], {"measures": ["nope"]}, "no measure 'nope'"),
        ([], {"metrics": ["nope"]}, "no metric 'nope'"),
        (["--draws", "0"], {}, "at least one draw"),
        (["--what", "diagnosticity"], {"metrics": ["sparsity"]}, "prefers neither more nor less"),
        (["--what", "diagnosticity", "--count", "0"], {}, "baseline attribution"),
        (["--what", "behaviour", "--baseline", "shuffled"], {}, "leave the baseline random"),
        (["--what", "diagnosticity"], {"measures": []}, "needs a measure"),
        ([], {"data": "nowhere.csv"}, "nowhere.csv"),
        (["--text", "nope"], {}, "nope"),
    ],
)
def test_choices_that_cannot_be_carried_out_are_a_sentence(evaluate, more, others, said, capsys):
    assert evaluate(*more, **others) == 1
    told = capsys.readouterr().err
    assert said in told and "Traceback" not in told and not evaluate.out.exists()


def test_a_question_that_is_not_there_is_named(evaluate, capsys):
    with pytest.raises(SystemExit):
        evaluate("--what", "x")
    said = capsys.readouterr().err
    assert all(f"'{name}'" in said for name in ("scores", "diagnosticity", "behaviour"))


def test_scores_of_a_metric_without_direction_are_welcome(evaluate):
    assert evaluate(metrics=["sparsity"]) == 0
    assert {line["direction"] for line in lines(evaluate.out)} == {""}


def test_a_column_without_values_has_its_type(evaluate):
    assert evaluate(metrics=["NS"]) == 0
    about = json.loads(parquet.read_schema(evaluate.out).metadata[b"faithscope"])
    assert (about["weights"], about["data"], about["unit"], about["metrics"]) == (
        evaluate.model.digest,
        "texts.jsonl",
        "word",
        ["NS"],
    )
    line = lines(evaluate.out)[0]
    assert line["outcome"] == "few texts" and "FEW_TEXTS" in line["caveats"]
    types = {field.name: str(field.type) for field in parquet.read_schema(evaluate.out)}
    assert (types["problem"], types["scaling"], types["error"], types["length"], types["row"]) == (
        "string",
        "string",
        "double",
        "double",
        "int64",
    )


def test_behaviour_is_a_table_of_examples_orders_and_ratios(evaluate, capsys):
    assert evaluate("--what", "behaviour") == 0
    found = lines(evaluate.out)
    # Three texts, two measures and random order, eleven ratios; nothing can be erased in the fourth.
    assert len(found) == 3 * 3 * 11 + 1
    (left,) = [line for line in found if line["problem"]]
    assert left["example"] == "t3" and "masked already" in left["problem"] and left["flip"] is None
    for line in found:
        if line is left:
            continue
        assert line["measure"] in ("random order", *MEASURES) and (line["values"] is None) == (
            line["measure"] == "random order"
        )
        assert 0 < line["flip"] <= 1 and 0 <= line["never"] <= 1 and line["erasure"] == "mask token"
        if line["ratio"] == 0:
            assert line["predicted"] == line["class"] and line["kept"] == pytest.approx(line["probability"])
    said = capsys.readouterr().out
    # Random order and both measures, a line each under the names of the columns.
    table = [
        line.split() for line in said.splitlines() if re.match(r"[^\s,]+ +(random order|leave-one-out|gradient) ", line)
    ]
    assert len(table) == 3 and all(line[-1] == "3" for line in table)
    before = evaluate.model.scheduler.counters.passes
    assert evaluate("--what", "behaviour") == 0 and lines(evaluate.out) == found
    assert evaluate.model.scheduler.counters.passes == before, "what is computed is not computed again"


def test_the_fewest_words_that_change_a_prediction_are_searched_on_request(evaluate, capsys):
    assert evaluate("--what", "behaviour") == 0
    assert {line["fewest"] for line in lines(evaluate.out)} == {None}
    assert evaluate("--what", "behaviour", "--fewest") == 0
    found = [line for line in lines(evaluate.out) if not line["problem"]]
    for line in found:
        assert 0 <= line["fewest"] <= line["features"]
        # No order changes the prediction earlier.
        assert line["flip"] >= (line["fewest"] or line["features"]) / line["features"] - 1e-9
    assert evaluate("--fewest") == 1 and "behaviour" in capsys.readouterr().err
