"""`python -m core stability`: how far the attributions of one text move by what should not matter."""

from functools import partial

from core.commands.terminal import (
    Bar,
    Option,
    Options,
    add_measures,
    add_model,
    add_text,
    open_text,
    refuse_out,
    say_of_store,
)
from core.measures.catalogue import default_measures, measures
from core.network.features import UNITS

HELP = "how stable measures are on one text: other seeds, samples and steps, white space, half precision, batches"
GOES_ON = "What other seeds and samples gave is kept; the same command goes on from there."


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
    from core.stability.telling import RECORDED, as_records, stability_lines

    _refuse(options)
    one = open_text(options)
    with Bar() as bar:
        found = _found(options, one.explainer, one.encoded, one.target, bar)
        say_of_store(one.store, bar.say)
    print(f"{one.title}:")
    _print(found)
    lines = (line for each in found for line in stability_lines(each))
    one.write(options.out, RECORDED, lines, as_records(found))
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
    refuse_out(options.out)


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
