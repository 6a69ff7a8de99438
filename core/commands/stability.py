"""`python -m core stability`: how far the attributions of one text move by what should not matter."""

import json
import sys
from functools import partial
from pathlib import Path

from core import settings
from core.commands.terminal import (
    Bar,
    Option,
    Options,
    add_measures,
    add_model,
    add_text,
    named_example,
    named_target,
    say_of_models,
    say_of_store,
)
from core.measures.catalogue import default_measures, measures
from core.network.features import UNITS

HELP = "how stable measures are on one text: other seeds, samples and steps, white space, half precision, batches"
GOES_ON = "What other seeds and samples gave is kept; the same command goes on from there."
_ENDINGS = ".json", ".csv"


def add(option: Option) -> None:
    """What it takes."""
    add_model(option, "sst2-fmm")
    add_text(option)
    drawing = [name for name, one in measures().items() if (one.counted or one.path) and not one.baseline]
    add_measures(option, "to try", [*default_measures(), *drawing])
    option("--unit", choices=UNITS, default="word", help="what is masked as one piece")
    option("--runs", type=int, default=5, help="seeds of each measure that draws, from 2 to 100")
    option("--out", help="file to write every figure to: .csv, or .json with where it comes from")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.explanation.explainer import with_reference
    from core.loading.loading import load
    from core.oracle.target import target_name
    from core.reports.exports import provenance
    from core.storage.store import Store

    example, data, digest = named_example(options)
    _refuse(options)
    chosen = settings.read()
    store, model = Store(chosen.cache, chosen.cache_bytes), load(options.model, options.device, options.precision)
    say_of_models([model], partial(print, file=sys.stderr))
    explainer = with_reference(model, store, chosen.cache)
    encoded = explainer.encode(example.text, example.second, options.unit)
    target = named_target(options, model.labels, int(explainer.logits(encoded).argmax()))
    with Bar() as bar:
        found = _found(options, explainer, encoded, target, bar)
        say_of_store(store, bar.say)
    print(f"{example.id}, {target_name(model.labels, target)}:")
    _print(found)
    if options.out:
        _write(Path(options.out), found, provenance(model, encoded, example, data, digest, target))
    return 0


def _found(options: Options, explainer, encoded, target, bar) -> list:
    """What is said of each measure; one that says nothing of this model or text is told and left out."""
    from core.mathematics.stepwise import finish
    from core.network.scheduler import NonFinite
    from core.stability.finding import find_stability
    from core.stability.telling import Stability

    found = []
    for name in dict.fromkeys(options.measures):
        try:
            work = find_stability(explainer, encoded, name, target, options.runs, progress=partial(bar, name))
            found.append(Stability(finish(work), encoded, options.sign))
        except NonFinite as error:
            bar.say(f"{name}: {error}")
    return found


def _refuse(options: Options) -> None:
    from core.stability.finding import MOST_RUNS
    from core.wording import refuse_unknown

    refuse_unknown(("measure", options.measures, measures()))
    if not options.measures:
        raise ValueError("name at least one measure by --measures")
    if not 2 <= options.runs <= MOST_RUNS:
        raise ValueError(f"--runs is from 2 to {MOST_RUNS}, not {options.runs}")
    if options.out and Path(options.out).suffix not in _ENDINGS:
        raise ValueError(f"--out ends in {' or '.join(_ENDINGS)}, not {Path(options.out).suffix or 'nothing'}")


def _print(found: list) -> None:
    from core.reports.exports import visible
    from core.stability.telling import (
        COLUMNS,
        MEANS,
        PATH,
        changes_sentence,
        path_cells,
        stability_sentence,
        words_in_front,
    )
    from core.wording import text_table, without_markup

    def said(markup: str) -> str:
        return visible(without_markup(markup))

    if not found:
        return
    print(said(stability_sentence(found)))
    for one in found:
        if one.draws:
            print(said(words_in_front(one)))
    print("\n" + text_table(COLUMNS, [[visible(cell) for cell in one.cells()] for one in found]))
    for one in found:
        if lines := path_cells(one):
            print(f"\n{one.measure}: does it add up?\n" + text_table(PATH, lines))
    print(f"\n{MEANS} {changes_sentence()}")


def _write(out: Path, found: list, facts: dict) -> None:
    from core.reports.exports import csv_text
    from core.stability.telling import RECORDED, as_records, stability_lines
    from core.storage.files import write_whole

    lines = [line for one in found for line in stability_lines(one)]
    text = (
        json.dumps(facts | as_records(found), indent=1)
        if out.suffix == ".json"
        else csv_text([*RECORDED, *facts], ([*line, *facts.values()] for line in lines))
    )
    write_whole(out, text.encode("utf-8"))
    print(f"Written: {out}")
