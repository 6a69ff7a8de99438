"""`python -m core verdict`: which measures do better than chance on one text, and what is known of why they part."""

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
from core.explanation.standings import COMPREHENSIVENESS, DIRECTIONS
from core.measures.catalogue import default_measures
from core.network.features import UNITS
from core.network.model import Model
from core.oracle.erasing import ERASURES, MASK
from core.validity.marks import HOLM, MEANING, RULES, SIGN
from core.validity.references import CALIBRATED, FORMS

HELP = "verdict of each measure on one text: is its order better than that of chance?"
GOES_ON = "What was scored is kept; the same command goes on from there."


def add(option: Option) -> None:
    """What it takes."""
    add_model(option, "sst2-fmm")
    add_text(option)
    add_measures(option, "to judge", default_measures())
    option("--unit", choices=UNITS, default="word", help="what is masked as one piece")
    option("--direction", choices=DIRECTIONS, default=COMPREHENSIVENESS, help="of AOPC; sufficiency: lower is better")
    option(
        "--orders",
        type=int,
        help="random orders; else 99, more where Holm over the measures needs them, or up to 12 words all or 99,999",
    )
    option("--erasures", nargs="+", choices=ERASURES, default=[MASK], help="how words are erased, side by side")
    option("--causes", action="store_true", help="also look for why measures fail, which takes a few times as long")
    option("--rule", choices=tuple(RULES), default=HOLM, help="by which inputs along an order are rejected")
    option("--form", choices=FORMS, default=CALIBRATED, help="of the test")
    option("--out", help="file to write the verdicts to: .csv, or .json with where they come from")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.oracle.erasing import require_erasure
    from core.verdicts.telling import RECORDED, as_plain, verdict_line

    def check(model: Model) -> None:
        for erasure in options.erasures:
            require_erasure(model, erasure)

    _refuse(options)
    one = open_text(options, check)
    with Bar() as bar:
        reports = _reports(options, one.explainer, one.encoded, one.target, bar)
        say_of_store(one.store, bar.say)
    print(f"{one.title}:")
    _print(reports, one.encoded)
    lines = (verdict_line(report, each) for report in reports.values() for each in report.verdicts)
    one.write(options.out, RECORDED, lines, {"verdicts": [as_plain(report) for report in reports.values()]})
    return 0


def _reports(options: Options, explainer, encoded, target, bar) -> dict:
    """{erasure: report}; the causes, where they are asked for, of the first."""
    from core.explanation.standings import StandingGates
    from core.mathematics.stepwise import finish
    from core.verdicts.deciding import Reasons, decide_verdicts
    from core.verdicts.finding import find_chance
    from core.verdicts.reasons import find_reasons, find_unstable

    gating = StandingGates(encoded, explainer.reference, options.rule, options.form)
    found = {}
    for erasure in dict.fromkeys(options.erasures):
        finding = find_chance(
            explainer,
            encoded,
            target,
            options.measures,
            options.sign,
            draws=options.orders,
            directions=(options.direction,),
            erasure=erasure,
            progress=partial(bar, f"random orders, {erasure}"),
        )
        test = finish(finding)
        about = explainer, encoded, target, options.measures, options.sign
        known = Reasons(unstable=find_unstable(*about))
        if options.causes and not found:
            known = find_reasons(*about, options.rule, options.form)
        found[erasure] = decide_verdicts(test, gating, known, options.direction)
    return found


def _refuse(options: Options) -> None:
    from core.measures.catalogue import measures
    from core.wording import refuse_unknown

    refuse_unknown(("measure", options.measures, measures()))
    if not options.measures:
        raise ValueError("name at least one measure by --measures")
    if options.orders is not None and options.orders < 1:
        raise ValueError(f"--orders is at least 1, not {options.orders}")
    refuse_out(options.out)


def _print(reports: dict, encoded) -> None:
    from core.reports.exports import visible
    from core.verdicts.operators import operators_sentence
    from core.verdicts.telling import COLUMNS, believe_sentence, chance_sentence, verdict_cells
    from core.wording import text_table, without_markup

    for erasure, report in reports.items():
        rows = [[visible(cell) for cell in verdict_cells(report, one)] for one in report.verdicts]
        print(
            ("" if len(reports) == 1 else f"\n{erasure}\n") + visible(without_markup(believe_sentence(report, encoded)))
        )
        print("\n" + text_table(COLUMNS, rows))
        marked = any(SIGN in cell for row in rows for cell in row)
        print(f"\n{chance_sentence(report)}" + (f" {MEANING}" if marked else ""))
    if len(reports) > 1:
        print("\n" + without_markup(operators_sentence(reports)))
