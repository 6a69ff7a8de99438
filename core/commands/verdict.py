"""`python -m core verdict`: which measures do better than chance on one text, and what is known of why they part."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from core.commands import terminal
from core.commands.terminal import Option, Options
from core.explanation.standings import COMPREHENSIVENESS, DIRECTIONS
from core.measures.catalogue import default_measures
from core.network.model import Model
from core.oracle.erasing import ERASURES, MASK

if TYPE_CHECKING:
    from core.verdicts.deciding import VerdictReport

HELP = "which measures beat random orders on one text"
GOES_ON = terminal.RESUMES


def add(option: Option) -> None:
    """What it takes."""
    terminal.add_text(option)
    terminal.add_measures(option, "to judge", default_measures())
    terminal.add_unit(option)
    option("--direction", choices=DIRECTIONS, default=COMPREHENSIVENESS, help="of AOPC; lower sufficiency is better")
    option("--orders", type=int, help="random orders (default: 99, more for Holm; up to 12 words: all, or 99,999)")
    option("--erasures", nargs="+", choices=ERASURES, default=[MASK], help="erasures to compare")
    option("--causes", action="store_true", help="also explain failures (slower)")
    terminal.add_test(option)
    terminal.add_out(option)


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.oracle.erasing import require_erasure
    from core.verdicts.records import RECORDED

    def check(model: Model) -> None:
        for erasure in options.erasures:
            require_erasure(model, erasure)

    terminal.refuse_measures(options.measures)
    terminal.refuse_below_one("--orders", options.orders)
    one = terminal.open_text(options, check)
    with terminal.Bar() as bar:
        reports = _reports(options, one.explainer, one.encoded, one.target, bar)
        terminal.say_of_store(one.store, bar.say)
    print(f"{one.title}:")
    print(printed(reports))
    one.write(options.out, [*RECORDED, "outcome", "caveats"], written_lines(reports), {"verdicts": written(reports)})
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


def printed(reports: "Mapping[str, VerdictReport]") -> str:
    """What the verdicts by each way of erasing words come to, and a table of them, as text for a terminal."""
    from core.reports.exports import visible
    from core.results.verdicts import TABLE, erasure_table, verdict_cells, verdicts_result
    from core.texts.rendering import write_result
    from core.wording import text_table

    parts = []
    for erasure, report in reports.items():
        rows = [[visible(cell) for cell in verdict_cells(report, one)] for one in report.verdicts]
        parts += [erasure] if len(reports) > 1 else []
        parts += [write_result(verdicts_result(report)), text_table(TABLE, rows)]
    if len(reports) > 1:
        header, rows = erasure_table(reports)
        parts.append(text_table(header, [[visible(cell) for cell in row] for row in rows]))
    return "\n\n".join(parts)


def written(reports: "Mapping[str, VerdictReport]") -> list[dict]:
    """The same for a JSON file."""
    from core.results.result import as_record
    from core.results.verdicts import verdicts_result
    from core.verdicts.records import as_plain

    return [as_plain(report) | as_record(verdicts_result(report)) for report in reports.values()]


def written_lines(reports: "Mapping[str, VerdictReport]") -> Iterator[list]:
    """The same for a CSV file, a line a measure."""
    from core.results.result import as_record
    from core.results.verdicts import verdicts_result
    from core.verdicts.records import verdict_line

    for report in reports.values():
        record = as_record(verdicts_result(report))
        for one in report.verdicts:
            yield [*verdict_line(report, one), record["outcome"], " ".join(record["caveats"])]
