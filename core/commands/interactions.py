"""`python -m core interactions`: which pairs of words of a text work only together, or say the same twice."""

from functools import partial

from core.commands import terminal
from core.commands.terminal import Option, Options

HELP = "interactions of word pairs in one text"
GOES_ON = terminal.RESUMES


def add(option: Option) -> None:
    """What it takes."""
    terminal.add_text(option)
    terminal.add_unit(option)
    option("--sampled", action="store_true", help="estimate from sampled sets, as always above 20 words")
    option("--pairs", type=int, default=5, help="strongest pairs to print and test")
    terminal.add_test(option)
    terminal.add_out(option)


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.interactions.pairs import RULE
    from core.interactions.telling import COLUMNS, MASKED, PairReport
    from core.reports.exports import visible
    from core.results.word_pairs import pairs_result
    from core.texts.rendering import write_result
    from core.wording import text_table

    terminal.refuse_below_one("--pairs", options.pairs)
    one = terminal.open_text(options)
    with terminal.Bar() as bar:
        paired = _paired(options, one.explainer, one.encoded, one.target, bar)
        terminal.say_of_store(one.store, bar.say)
    report = PairReport(paired, one.encoded, one.explainer.reference, options.rule, options.form)
    print(f"{one.title}: {report.how}.\n")
    print(visible(write_result(pairs_result(report))))
    rows = [[visible(cell) for cell in report.cells(one) + report.inputs(one)] for one in paired.tests]
    if rows:
        print("\n" + text_table([*COLUMNS, *MASKED], rows))
    print(f"\n{RULE}")
    one.write(options.out, report.header, report.lines(), report.as_json())
    return 0


def _paired(options: Options, explainer, encoded, target, bar):
    """Interactions and the pairs that are listed, whatever was not known computed."""
    from core.interactions.finding import find_interactions, why_no_pairs
    from core.interactions.pairs import check_pairs, listed_pairs
    from core.mathematics.stepwise import finish

    exact = not options.sampled and not why_no_pairs(encoded)
    found = finish(find_interactions(explainer, encoded, target, exact, progress=partial(bar, "masked inputs")))
    return check_pairs(explainer, encoded, found, listed_pairs(found, options.pairs))
