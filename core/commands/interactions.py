"""`python -m core interactions`: which pairs of words of a text work only together, or say the same twice."""

from functools import partial

from core.commands.terminal import Bar, Option, Options, add_model, add_text, open_text, refuse_out, say_of_store
from core.network.features import UNITS
from core.validity.marks import HOLM, RULES
from core.validity.references import CALIBRATED, FORMS

HELP = "pairs of words of one text that work only together, or say the same twice, with p-values of masking them"
GOES_ON = "What was scored is kept; the same command goes on from there."


def add(option: Option) -> None:
    """What it takes."""
    add_model(option, "sst2-fmm")
    add_text(option)
    option("--unit", choices=UNITS, default="word", help="what is masked as one piece")
    option(
        "--sampled",
        action="store_true",
        help="estimate from a sample of sets, as more than 20 words always are; else exact, from all 2^F sets",
    )
    option("--pairs", type=int, default=5, help="how many pairs are printed and tested, the strongest first")
    option("--rule", choices=tuple(RULES), default=HOLM, help="by which the three inputs of a pair are rejected")
    option("--form", choices=FORMS, default=CALIBRATED, help="of the test")
    option("--out", help="file to write every pair to: .csv, or .json with where it comes from")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.interactions.pairs import RULE
    from core.interactions.telling import PairReport
    from core.reports.exports import visible
    from core.results.word_pairs import pairs_result
    from core.texts.rendering import write_result

    _refuse(options)
    one = open_text(options)
    with Bar() as bar:
        paired = _paired(options, one.explainer, one.encoded, one.target, bar)
        say_of_store(one.store, bar.say)
    report = PairReport(paired, one.encoded, one.explainer.reference, options.rule, options.form)
    print(f"{one.title}: {report.how}.\n")
    print(visible(write_result(pairs_result(report))))
    _print_table(report)
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


def _refuse(options: Options) -> None:
    if options.pairs < 1:
        raise ValueError(f"--pairs is at least 1, not {options.pairs}")
    refuse_out(options.out)


def _print_table(report) -> None:
    from core.interactions.telling import COLUMNS, MASKED
    from core.reports.exports import visible
    from core.wording import text_table

    tests = report.paired.tests
    rows = [[visible(cell) for cell in report.cells(one) + report.inputs(one)] for one in tests]
    if rows:
        print("\n" + text_table([*COLUMNS, *MASKED], rows))
