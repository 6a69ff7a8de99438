"""`python -m core interactions`: what it prints and writes, and what it says of a wrong question."""

import csv
import json

import pytest

from core.commands.command_line import main
from core.explanation.explainer import Explainer
from core.interactions.finding import find_interactions
from core.interactions.pairs import RULE, every_pair
from core.interactions.splitting import INDEX
from core.interactions.telling import signed
from core.mathematics.stepwise import finish
from core.oracle.target import Contrast, target_name

TEXT = "the =boat did\x1b[31m not leave"


def test_it_prints_the_strongest_and_writes_every_pair(model, tmp_path, capsys):
    asked = [
        "interactions",
        "--model",
        "tiny",
        "--text",
        TEXT,
        "--class",
        "kitchen",
        "--than",
        "harbour",
        "--pairs",
        "2",
    ]
    for name in ("pairs.json", "pairs.csv"):
        assert main([*asked, "--out", str(tmp_path / name)]) == 0
    encoded = model.encode(TEXT)
    expected = every_pair(finish(find_interactions(Explainer(model), encoded, Contrast(1, 0))))
    told = capsys.readouterr().out
    assert target_name(("harbour", "kitchen"), Contrast(1, 0)) in told and "Exact" in told and "\x1b" not in told
    assert signed(expected[0].value) in told and "not tested" in told
    # The sentence speaks of the rule below.
    assert RULE in told
    whole = json.loads((tmp_path / "pairs.json").read_text(encoding="utf-8"))
    assert [pair["interaction"] for pair in whole["interactions"]] == pytest.approx(
        [pair.value for pair in expected], abs=1e-4
    )
    assert whole["index"] == f"{INDEX} of order 2" and "kitchen" in whole["class"] and "harbour" in whole["class"]
    with (tmp_path / "pairs.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(expected) and float(rows[0]["interaction"]) == pytest.approx(expected[0].value, abs=1e-4)
    # A word that a spreadsheet would run is a text.
    assert "'=boat" in {rows[i][name] for i in range(len(rows)) for name in ("first", "second")}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--text", "boat"], "2 to 64 words"),
        ([], "give either --text, or both --data and --example"),
        (
            ["--text", "a boat", "--data", "reviews", "--example", "s001"],
            "give either --text, or both --data and --example",
        ),
        (["--data", "reviews"], "both --data and --example"),
        (["--data", "reviews", "--example", "nobody"], "reviews has no example 'nobody'"),
        (["--text", "a boat", "--pairs", "0"], "--pairs is at least 1"),
        (["--text", "a boat", "--out", "pairs.xml"], "--out ends in .csv"),
        (["--text", "a boat", "--class", "moon"], "no class 'moon'; choose one of harbour"),
        (["--text", "a boat", "--class", "harbour", "--than", "harbour"], "a class is set against another"),
    ],
)
def test_a_wrong_question_is_a_sentence(model, capsys, asked, said):
    assert main(["interactions", "--model", "tiny", *asked]) == 1
    assert said in capsys.readouterr().err
