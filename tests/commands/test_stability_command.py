"""`python -m core stability`: what it prints and writes, and what it says of a wrong question."""

import csv
import json

import pytest

from core.commands.command_line import main
from core.explanation.explainer import Explainer
from core.mathematics.stepwise import finish
from core.results.stability import stability_result
from core.stability.finding import find_stability
from core.stability.telling import RECORDED, Stability, front_cells, path_cells, stability_lines
from core.texts.rendering import headline

TEXT = "the =boat did\x1b[31m not leave"


def test_it_prints_and_writes_what_the_library_says(model, tmp_path, capsys):
    names = ["SmoothGrad [draws=2]", "integrated gradients", "mutual information"]
    asked = ["stability", "--model", "tiny", "--text", TEXT, "--class", "kitchen", "--runs", "3", "--measures", *names]
    for name in ("found.json", "found.csv"):
        assert main([*asked, "--out", str(tmp_path / name)]) == 0
    told = capsys.readouterr()
    explainer, encoded = Explainer(model), model.encode(TEXT)
    found = [Stability(finish(find_stability(explainer, encoded, n, 1, 3)), encoded, "signed") for n in names[:2]]
    assert "typed text, kitchen:" in told.out and "\x1b" not in told.out and "python -m core words" in told.err
    assert headline(stability_result(found)) in told.out and "of 3" in told.out
    assert all(cell in told.out for one in found for row in front_cells(one) + path_cells(one) for cell in row)
    assert all(cell in told.out for one in found for cell in one.cells())
    whole = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    lines = [line for one in found for line in stability_lines(one)]
    assert [one["what"] for one in whole["stability"]] == [line[2] for line in lines] and whole["class"] == "kitchen"
    with (tmp_path / "found.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[: len(RECORDED)] == RECORDED and len(rows) == len(lines)
    assert [row["word"] for row in rows[1 : 1 + encoded.F]][1] == "'=boat" or "'=" in {row["word"] for row in rows}
    (error,) = [row["value"] for row in rows if row["what"] == "completeness error" and row["at"] == "100"]
    assert float(error) == pytest.approx(found[1].errors[-1], rel=1e-4)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--text", "boat"], "needs two unmasked words"),
        ([], "give either --text, or both --data and --example"),
        (["--text", "a boat", "--measures", "gradients"], "there is no measure 'gradients'"),
        (["--text", "a boat", "--measures"], "name at least one measure"),
        (["--text", "a boat", "--runs", "1"], "--runs is from 2 to 100"),
        (["--text", "a boat", "--out", "found.xml"], "--out ends in .csv"),
    ],
)
def test_a_wrong_question_is_a_sentence(model, capsys, asked, said):
    assert main(["stability", "--model", "tiny", *asked]) == 1
    assert said in capsys.readouterr().err
