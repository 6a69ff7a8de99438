"""`python -m core explain`: every part of it, every kind of file with where it comes from, and what old names keep."""

import csv
import json
import re

import numpy as np
import pytest
from pyarrow import parquet

from core.commands import old
from core.commands.command_line import main
from core.commands.explain import PARTS
from core.commands.terminal import Bar
from core.explanation.completeness import completeness
from core.explanation.explainer import Explainer
from core.measures.catalogue import measure
from core.reports.answers import commit
from tests import tiny

TEXT = "the =boat did\x1b[31m not leave"
LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
ORIGIN = {"model", "weights_sha256", "precision", "feature_unit", "variant", "seed", "faithscope", "commit", "date"}


@pytest.fixture
def explain(model, tmp_path):
    """`explain(ending, …)`: the file that the command writes."""

    def run(ending, *asked, text=TEXT):
        out = tmp_path / f"found.{ending}"
        given = ["--model", "tiny", "--text", text, "--measures", "leave-one-out", "gradient", "--runs", "2"]
        assert main(["explain", *given, "--out", str(out), *asked]) == 0
        return out

    return run


def test_the_gap_of_a_path_stands_beside_the_attributions(model, explain):
    assert "completeness" not in json.loads(explain("json").read_text(encoding="utf-8"))
    name = "integrated gradients [steps=5]"
    found = json.loads(explain("json", "--measures", "gradient", name).read_text(encoding="utf-8"))
    explainer, encoded = Explainer(model), model.encode(TEXT)
    target = int(explainer.logits(encoded).argmax())
    expected = completeness(explainer, encoded, explainer.attribute(encoded, name, target))
    (told,) = found["completeness"]
    assert told["measure"] == name and told["total"] == pytest.approx(expected.total, abs=1e-4)
    assert told["due"] == pytest.approx(expected.due, abs=1e-4) and told["large"] == expected.large
    assert len(found["attributions"]) == 2 * encoded.F


def test_attributions_are_those_of_the_library_and_verdicts_stand_beside_them(model, explain, capsys):
    found = json.loads(explain("json").read_text(encoding="utf-8"))
    explainer, encoded = Explainer(model), model.encode(TEXT)
    target = int(explainer.logits(encoded).argmax())
    for name, variant in (("leave-one-out", "signed"), ("gradient", "L2")):
        values = [one["value"] for one in found["attributions"] if one["measure"] == name]
        assert values == pytest.approx(explainer.attribute(encoded, name, target).scores[variant].tolist(), abs=1e-5)
    assert {one["measure_version"] for one in found["attributions"] if one["measure"] == "gradient"} == {
        measure("gradient").version
    }
    assert [one["measure"] for one in found["verdicts"][0]["verdicts"]] == ["leave-one-out", "gradient"]
    told = capsys.readouterr().out
    assert "\x1b" not in told and "leave-one-out" in told and "adjusted p" in told


def test_limits_hold_every_measure_and_are_exact_for_short_texts_and_on_request(explain, capsys):
    (found, searched, asked) = (
        json.loads(explain("json", "--what", "limits", *more, text=text).read_text(encoding="utf-8"))["limits"]
        for text, more in ((TEXT, ()), (LONG, ("--width", "1")), (LONG, ("--exact",)))
    )
    assert [one["method"] for one in (found, searched, asked)] == ["exact", "beam", "exact"]
    assert asked["scores"] == 2**14 and asked["lower"] <= searched["lower"] <= searched["upper"] <= asked["upper"]
    for one in found["measures"]:
        for way in ("comprehensiveness", "sufficiency"):
            assert found["lower"] - 1e-6 <= one[way] <= found["upper"] + 1e-6
            share = (one[way] - found["lower"]) / (found["upper"] - found["lower"])
            assert one[f"{way} NAOPC"] == pytest.approx(share, abs=1e-4)
    # What every order costs is said where a search is chosen.
    assert "--exact: at most 16,384 forward passes" in capsys.readouterr().err


def test_pairs_are_sampled_beyond_twelve_words_unless_asked(model, monkeypatch, capsys):
    asked = []

    def find(explainer, encoded, target, exact, **_):
        asked.append(exact)
        raise ValueError("stop")

    monkeypatch.setattr("core.commands.parts.find_interactions", find)
    for text, more, exact in (
        (TEXT, (), True),
        (TEXT, ("--sampled",), False),
        (LONG, (), False),
        (LONG, ("--exact",), True),
    ):
        for name in (["explain", "--what", "pairs"], ["interactions"]):
            assert main([*name, "--model", "tiny", "--text", text, *more]) == 1
            assert asked.pop() == exact
            assert ("--exact: at most 16,384" in capsys.readouterr().err) == (text == LONG and not more)
    assert main(["explain", "--what", "pairs", "--text", TEXT, "--exact", "--sampled"]) == 1
    assert "not both" in capsys.readouterr().err


def test_every_kind_of_file_says_where_it_comes_from(explain, model):
    every = ("--what", *PARTS)
    whole = json.loads(explain("json", *every).read_text(encoding="utf-8"))
    assert whole.keys() >= ORIGIN | {"attributions", "verdicts", "limits", "pairs", "stability"}
    assert whole["weights_sha256"] == model.digest and whole["commit"] == commit() and whole["variant"] == "signed"
    with explain("csv", *every).open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["part"] for line in lines} == set(PARTS) and lines[0].keys() >= ORIGIN
    assert "'=boat" in {line["word"] for line in lines} or "'=" in {line["word"] for line in lines}
    table = parquet.read_table(explain("parquet", *every))
    about = json.loads(table.schema.metadata[b"faithscope"])
    assert about.keys() >= ORIGIN and table.num_rows == len(lines)
    latex = explain("tex", *every).read_text(encoding="utf-8")
    assert f"% weights_sha256: {model.digest}" in latex and latex.count(r"\begin{tabular}") >= 5
    page = explain("html", *every).read_text(encoding="utf-8")
    assert model.digest in page and "<script" not in page and "NAOPC" in page and "agree on the top word" in page
    assert model.digest in explain("html", "--what", "limits").read_text(encoding="utf-8")
    alone = explain("csv", "--what", "verdicts").read_text(encoding="utf-8-sig").partition("\n")[0]
    assert alone.startswith("measure,verdict,") and "part" not in alone.split(",")


def test_what_a_text_does_not_allow_leaves_the_rest(model, tmp_path, capsys):
    out = tmp_path / "found.json"
    asked = ["explain", "--model", "tiny", "--text", "boat", "--what", "attributions", "pairs", "--out", str(out)]
    assert main([*asked, "--measures", "gradient"]) == 0 and "2 to 64 words" in capsys.readouterr().err
    found = json.loads(out.read_text(encoding="utf-8"))
    assert len(found["attributions"]) == 1 and "pairs" not in found
    assert main([*asked, "--measures", "gradient", "--what", "pairs"]) == 1


def test_a_file_that_is_there_stays_where_nothing_is_found(model, tmp_path):
    out = tmp_path / "found.json"
    out.write_text("before")
    for wrong in (["--text", "[MASK] [MASK]"], ["--text", "a boat", "--class", "moon"], ["--text", "a", "--runs", "1"]):
        assert main(["explain", "--model", "tiny", "--what", "verdicts", "--out", str(out), *wrong]) == 1
        assert out.read_text() == "before"


def test_slow_work_says_what_it_costs(capsys):
    from core.explanation.explainer import Cost

    bar = Bar()
    bar.cost("quick", Cost(10, 0.1))
    bar.cost("slow", Cost(4_000, 600.0), "Or less.")
    assert capsys.readouterr().err == "slow: at most 4,000 forward passes, about 10 min. Or less.\n"


# ---- data


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    rows = ({"id": f"t{i}", "text": text, "label": tiny.LABELS[i % 3]} for i, text in enumerate(tiny.SENTENCES[:4]))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("what", ["model check", "behaviour", "limits"])
def test_answers_over_data_are_written_in_every_kind(model, data, tmp_path, capsys, what):
    asked = ["evaluate", "--model", "tiny", "--data", str(data), "--what", what, "--measures", "gradient"]
    outs = {ending: tmp_path / f"found.{ending}" for ending in ("json", "csv", "parquet", "tex", "html")}
    for out in outs.values():
        assert main([*asked, "--sample", "3", "--out", str(out)]) == 0
    whole = json.loads(outs["json"].read_text(encoding="utf-8"))
    ids = whole["sample_ids"]
    assert len(set(ids)) == 3 and {one["example"] for one in whole["examples"]} == set(ids)
    assert whole.keys() >= ORIGIN and whole["data_sha256"] and "commit" in outs["tex"].read_text(encoding="utf-8")
    with outs["csv"].open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    table = parquet.read_table(outs["parquet"])
    about = json.loads(table.schema.metadata[b"faithscope"])
    assert lines[0].keys() >= ORIGIN | {"example", "row", "outcome"} and table.num_rows == len(lines)
    assert about.keys() >= ORIGIN and about["sample_ids"] == ids
    page = outs["html"].read_text(encoding="utf-8")
    assert model.digest in page and all(one in page for one in ids)


def test_a_model_check_writes_every_example_at_each_ratio(model, data, tmp_path):
    out = tmp_path / "check.json"
    given = ["--model", "tiny", "--data", str(data), "--sample", "3", "--measures", "gradient", "--out", str(out)]
    assert main(["evaluate", "--what", "model check", *given]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert len(found["examples"]) == 3 * 2 * 11
    for one in found["examples"]:
        assert one["predicted"] in tiny.LABELS and {"example", "ratio", "p calibrated", "p literal"} <= one.keys()
    (checked,) = found["models"]
    random = [one for one in found["examples"] if one["measure"] == "random order" and one["ratio"] == 0]
    right = np.mean([one["predicted"] == one["label"] for one in random])
    assert checked["curves"][0]["performance"][0] == pytest.approx(right)
    assert main(["check", *given]) == 0
    assert json.loads(out.read_text(encoding="utf-8")) == {key: found[key] for key in ("models", "findings")}


def test_limits_of_data_have_its_ids_and_those_of_before_their_numbers(model, data, tmp_path):
    out = tmp_path / "limits.parquet"
    asked = ["evaluate", "--model", "tiny", "--data", str(data), "--what", "limits", "--measures", "gradient"]
    assert main([*asked, "--out", str(out)]) == 0
    rows = parquet.read_table(out).to_pylist()
    upper = {row["row"]: row["upper"] for row in rows}
    assert {row["example"]: row["row"] for row in rows} == {f"t{i}": i + 1 for i in range(4)} and len(rows) == 4
    assert main(["limits", "--model", "tiny", "--data", str(data), "--measures", "gradient", "--out", str(out)]) == 0
    before = parquet.read_table(out).to_pylist()
    assert [row["example"] for row in before] == [1, 2, 3, 4]
    assert [row["upper"] for row in before] == [upper[row["example"]] for row in before]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--what", "behaviour", "--width", "5"], "--width belongs to limits"),
        (["--what", "scores", "--class", "kitchen"], "--class belongs to limits"),
        (["--out", "found.xlsx"], "--out ends in .csv"),
        (["--what", "limits", "--out", "x.csv", "--beside", "tiny"], "same weights"),
        (["--what", "limits", "--out", "x.csv", "--sample", "0"], "--sample is at least 1"),
    ],
)
def test_a_wrong_question_of_data_is_a_sentence(model, data, capsys, asked, said, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "--model", "tiny", "--data", str(data), "--measures", "gradient", *asked]) == 1
    assert said in capsys.readouterr().err and not list(tmp_path.glob("x.*"))


# ---- old names

# Options of each as it was before, written down from its own file.
OPTIONS = {
    "check": "model device precision beside data text second label measures values computed unit sample seed seeds out",
    "interactions": "model device precision text second data example class than unit sampled pairs rule form out",
    "limits": "model device precision beside data out text second measures values class unit width exact-up-to full",
    "stability": "model device precision text second data example class than measures values unit runs out",
    "verdict": "model device precision text second data example class than measures values unit direction orders "
    "erasures causes rule form out",
}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_old_name_keeps_its_options(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    offered = set(re.findall(r"^  --([a-z-]+)", capsys.readouterr().out, flags=re.MULTILINE))
    assert ended.value.code == 0 and offered >= set(OPTIONS[name].split()) and set(old.OLD) == set(OPTIONS)


PLACED = (
    "model weights_sha256 precision device data data_sha256 example text_sha256 class feature_unit python faithscope "
    "torch transformers captum numpy date"
).split()
TESTED = [
    f"{kind}_{which}_masked" for kind in ("fall", "p_calibrated", "p_literal") for which in ("first", "second", "both")
]
FOUND = "first_position first second_position second interaction first_own second_own says how sets"
COLUMNS = {
    "verdict": "measure verdict p_better_from p_better_to p_worse_from p_worse_to p_holm_from p_holm_to aopc direction "
    "erasure orders orders_planned measures_tested causes why outcome caveats".split(),
    "interactions": [*FOUND.split(), *TESTED, "rejected"],
    "stability": "measure variant what at position word value sd note".split(),
}
KEYS = {
    "verdict": ["verdicts"],
    "interactions": "index library unit how rule form features interactions".split(),
    "stability": ["agreement_limit", "settled_from", "stability"],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_an_old_name_keeps_columns_and_keys(model, tmp_path, capsys, name):
    measured = [] if name == "interactions" else ["--measures", "gradient"]
    for ending in ("csv", "json"):
        out = tmp_path / f"found.{ending}"
        assert main([name, "--model", "tiny", "--text", TEXT, *measured, "--out", str(out)]) == 0
        assert "This is now python -m core explain --what" in capsys.readouterr().err
    with (tmp_path / "found.csv").open(encoding="utf-8-sig", newline="") as file:
        assert next(csv.reader(file)) == COLUMNS[name] + PLACED
    assert list(json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))) == PLACED + KEYS[name]


def test_old_limits_keep_their_columns(model, data, tmp_path):
    out = tmp_path / "limits"
    assert main(["limits", "--model", "tiny", "--data", str(data), "--measures", "gradient", "--out", str(out)]) == 0
    names = (
        "example model weights class predicted tokens cut features lower upper lowest_order highest_order method width"
    )
    scored = ("values", "comprehensiveness", "sufficiency", "comprehensiveness NAOPC", "sufficiency NAOPC")
    told = [*names.split(), "scores", "searched", *(f"gradient: {one}" for one in scored), "seconds", "problem"]
    assert sorted(parquet.read_table(out).column_names) == sorted(told)
    # A row for each line of the file, one that repeats and one that has no limits, too.
    data.write_text("".join(json.dumps({"text": text}) + "\n" for text in (TEXT, "[MASK]", TEXT)), encoding="utf-8")
    assert main(["limits", "--model", "tiny", "--data", str(data), "--measures", "gradient", "--out", str(out)]) == 0
    first, masked, again = parquet.read_table(out).to_pylist()
    assert masked["upper"] is None and masked["problem"] and first["problem"] is None
    assert again == first | {"example": 3} and first["upper"] is not None
