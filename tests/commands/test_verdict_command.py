"""`python -m core verdict`: what it prints and writes, and what it says of a wrong question."""

import csv
import json

import pytest

from core.commands.command_line import main
from core.explanation.explainer import Explainer
from core.explanation.standings import StandingGates
from core.mathematics.stepwise import finish
from core.results.verdicts import verdict_cells, verdicts_result
from core.verdicts.deciding import decide_verdicts
from core.verdicts.finding import find_chance

TEXT = "the =boat did\x1b[31m not leave"
NAMES = ["leave-one-out", "gradient"]


def test_it_prints_and_writes_the_verdicts_of_each_way_of_erasing(model, tmp_path, capsys):
    asked = ["verdict", "--model", "tiny", "--text", TEXT, "--class", "kitchen", "--measures", *NAMES, "--causes"]
    asked += ["--erasures", "mask token", "zero embedding"]
    for name in ("found.json", "found.csv"):
        assert main([*asked, "--out", str(tmp_path / name)]) == 0
    explainer, encoded = Explainer(model), model.encode(TEXT)
    test = finish(find_chance(explainer, encoded, 1, NAMES))
    report = decide_verdicts(test, StandingGates(encoded, None))
    told = capsys.readouterr().out
    assert "typed text, kitchen:" in told and "\x1b" not in told and "zero embedding" in told
    lines = [" ".join(line.split()) for line in told.split("\n")]
    assert all(" ".join(verdict_cells(report, one)) in lines for one in report.verdicts)
    assert f"orders compared: {len(report.null.reached)}" in told
    result = verdicts_result(report)
    assert all(one.explanation in told for one in result.caveats)
    whole = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    first = whole["verdicts"][0]
    assert [one["verdict"] for one in first["verdicts"]] == [str(one.word) for one in report.verdicts]
    assert first["outcome"] == result.name and first["caveats"] == [one.name for one in result.caveats]
    assert first["level"] == 0.05 and first["every_order"] and whole["class"] == "kitchen"
    with (tmp_path / "found.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["erasure"], row["measure"]) for row in rows] == [
        (erasure, name) for erasure in ("mask token", "zero embedding") for name in NAMES
    ]
    assert [float(row["p_better_to"]) for row in rows[:2]] == pytest.approx([one.p[1] for one in report.verdicts])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--text", "[MASK] [MASK]"], "Every word is masked already"),
        ([], "give either --text, or both --data and --example"),
        (["--text", "a boat", "--measures", "gradients"], "there is no measure 'gradients'"),
        (["--text", "a boat", "--measures"], "name at least one measure"),
        (["--text", "a boat", "--orders", "0"], "--orders is at least 1"),
        (["--text", "a boat", "--out", "found.xml"], "--out ends in .csv"),
    ],
)
def test_a_wrong_question_is_a_sentence(model, capsys, asked, said):
    assert main(["verdict", "--model", "tiny", *asked]) == 1
    assert said in capsys.readouterr().err
