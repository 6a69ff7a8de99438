"""`python -m core stability`: how far the attributions of one text move by what should not matter."""

from functools import partial

from core.commands import terminal
from core.commands.terminal import Option, Options
from core.measures.catalogue import default_measures, measures

HELP = "how stable measures are on one text"
GOES_ON = terminal.RESUMES


def add(option: Option) -> None:
    """What it takes."""
    terminal.add_text(option)
    sampled = [name for name, one in measures().items() if (one.counted or one.path) and not one.baseline]
    terminal.add_measures(option, "to try", [*default_measures(), *sampled])
    terminal.add_unit(option)
    option("--runs", type=int, default=5, help="seeds of stochastic measures, 2 to 100")
    terminal.add_out(option)


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.stability.finding import MOST_RUNS
    from core.stability.telling import RECORDED, as_records, stability_lines

    terminal.refuse_measures(options.measures)
    if not 2 <= options.runs <= MOST_RUNS:
        raise ValueError(f"--runs is from 2 to {MOST_RUNS}, not {options.runs}")
    one = terminal.open_text(options)
    with terminal.Bar() as bar:
        found = _found(options, one.explainer, one.encoded, one.target, bar)
        terminal.say_of_store(one.store, bar.say)
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


def _print(found: list) -> None:
    from core.reports.exports import visible
    from core.results.stability import stability_result
    from core.stability.telling import ABOUT_CHANGES, COLUMNS, FRONT, MEANS, PATH, front_cells, path_cells
    from core.texts.rendering import write_result
    from core.wording import text_table

    def show(header: list[str], rows: list[list[str]]) -> None:
        if rows:
            print("\n" + text_table(header, [[visible(cell) for cell in row] for row in rows]))

    if not found:
        return
    print(visible(write_result(stability_result(found))))
    show(FRONT, [row for one in found for row in front_cells(one)])
    show(COLUMNS, [one.cells() for one in found])
    show(["measure", *PATH], [[one.measure, *row] for one in found for row in path_cells(one)])
    print(f"\n{MEANS} {ABOUT_CHANGES}")
