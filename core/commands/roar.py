"""`python -m core roar`: mask what measures rank first, train again, and compare; resumable at every training."""

from argparse import SUPPRESS
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.commands import options as given
from core.commands import terminal
from core.commands.options import Option, Options
from core.commands.train import add_recipe, plan_of
from core.mathematics.masking import RATIOS

HELP = "ROAR: mask by each measure, retrain, and compare"
GOES_ON = terminal.RESUMES


def add(option: Option) -> None:
    """What it takes."""
    add_recipe(option)
    option("--test", required=True, help="test file, for performance")
    option("--out", required=True, help=f"{given.ANSWER_FILE}; trainings beside it")
    # Masking what supports the label would leave words that give it away: class leakage.
    given.add_measures(option, "to mask by", ("leave-one-out", "gradient"), "+", "absolute")
    option("--ratios", nargs="+", type=float, default=list(RATIOS[1:]), help="fractions of features masked")
    option("--features", type=int, default=SUPPRESS, help="instead, mask 1 to this many features")
    option("--seeds", type=int, default=3, help="trainings of each kind, from --seed on")
    option("--once", action="store_true", help="rank once, unmasked, instead of recursively")
    given.add_unit(option)


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.reports.answers import answer_bytes, answer_text, ending_of
    from core.roar.masked import MaskingStep
    from core.roar.study import RoarStudy, run_roar
    from core.roar.tables import curves_of, lines_of
    from core.storage.files import only_writer, write_whole
    from core.training.training import read_files

    ending, out = ending_of(options.out, ".parquet"), Path(options.out)
    features = getattr(options, "features", None)
    terminal.refuse_below_one("--features", features)
    terminal.refuse_below_one("--seeds", options.seeds)
    terminal.refuse_measures(options.measures)
    steps = [MaskingStep(ratio) for ratio in options.ratios]
    if features is not None:
        steps = [MaskingStep(features=count) for count in range(1, features + 1)]
    models = out.with_name(f"{out.stem}-models")
    plan = plan_of(options, out=str(models), training="none", validation_strategy="none")
    measures = tuple(dict.fromkeys(options.measures))
    study = RoarStudy(plan, measures, tuple(steps), options.seeds, not options.once, options.sign, options.unit)
    study.check()
    with only_writer(out) as place, terminal.Bar() as bar:
        cards = run_roar(study, bar, bar.say)
        # What compares with it asks for the same classes and texts.
        test = read_files(study.plan, lambda _: None)[1]["test"]
        curves = curves_of(study, cards)
        answer = _answer(study, curves, lines_of(curves, cards), test)
        write_whole(place, answer_bytes(answer, ending), replaces=True)
    print(f"{answer_text(answer.sections)}\n\nWritten: {out}")
    return 0


def _answer(study, curves, lines: list[dict], test) -> Any:
    """What the study comes to, with its recipe."""
    from core.evaluation.studies.retrained import short_digest
    from core.reports.answers import Answer, Section, origin
    from core.roar.tables import COLUMNS, performance_table, racu_table

    recipe = {name: value for name, value in asdict(study.plan).items() if name not in ("out", "device")}
    recipe |= {name: Path(recipe[name]).name for name in ("base", "train", "validation", "test")}
    about = {"what": "roar", "recursive": study.recursive, "seeds": study.seeds, "variant": study.sign}
    seconds = test.seconds or [None] * len(test.texts)
    tested = [short_digest(*pair) for pair in zip(test.texts, seconds)]
    about |= {"feature_unit": study.unit} | recipe | {"labels": list(test.classes), "tested": tested} | origin()
    sections = [Section(tables=[racu_table(curves), performance_table(curves)])]
    return Answer(
        "ROAR" if not study.recursive else "Recursive ROAR", sections, lines, {"lines": lines}, about, COLUMNS
    )
