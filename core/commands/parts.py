"""What `python -m core explain` tells of one text, a function each: as sections, lines and plain values of files."""

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from itertools import cycle
from typing import Any

from core import settings
from core.commands.masking_parts import tell_metrics, tell_steps
from core.commands.seed_parts import seeds_section
from core.commands.terminal import Bar, OneText
from core.explanation.completeness import SUMMED, Completeness, completeness
from core.explanation.explainer import Cost
from core.explanation.limiting import (
    DIRECTIONS,
    default_exact,
    exact_cost,
    find_exact,
    find_searched,
    left_over,
    score,
    search_cost,
)
from core.explanation.recursive import BY_FEATURE, random_band
from core.explanation.rows import WordRow, build_row, value_text, values_taken
from core.explanation.smallest import find_sets, sets_cost
from core.explanation.standings import StandingGates, StandingTable, build_standings
from core.interactions.finding import AT_ONCE, find_interactions, interactions_cost, why_no_pairs
from core.interactions.pairs import RULE, check_pairs, listed_pairs
from core.interactions.telling import COLUMNS, MASKED, PairReport
from core.mathematics.stepwise import finish
from core.measures.catalogue import measure
from core.network.features import FIRST, placed_texts
from core.network.scheduler import NonFinite
from core.reports.answers import Part, Section, sets_sections
from core.results.caveats import Caveat
from core.results.limits import limits_result
from core.results.result import as_record
from core.results.smallest_sets import SetsReport, sets_results
from core.results.stability import stability_result
from core.results.verdicts import TABLE, erasure_table, verdict_cells, verdicts_result
from core.results.word_pairs import pairs_result
from core.stability import telling
from core.stability.finding import find_stability
from core.validity.marks import with_sign
from core.verdicts.deciding import Reasons, VerdictReport, decide_verdicts
from core.verdicts.finding import find_chance
from core.verdicts.reasons import find_reasons, find_unstable
from core.verdicts.records import RECORDED, as_plain, verdict_line
from core.wording import as_json, number


def tell_attributions(options: Namespace, one: OneText, bar: Bar) -> Part:
    """What each measure says of each word."""
    rows: list[WordRow] = []
    sums: list[Completeness] = []
    for name in options.measures:
        bar.cost(name, one.explainer.cost(one.encoded, name))
        try:
            found = one.explainer.attribute(one.encoded, name, one.target, progress=partial(bar, name))
        except NonFinite as error:
            bar.say(f"{name}: {error}")
        else:
            rows.append(build_row(measure(name), found, options.sign, one.encoded.premasked))
            sums += [told] if (told := completeness(one.explainer, one.encoded, found)) else []
    features = one.encoded.features
    words = placed_texts(features)
    cells = [[word, *(value_text(row, i) for row in rows)] for i, word in enumerate(words)]
    columns = "position word start end masked measure measure_version variant value unit place".split()
    placed = [[i + 1, words[i], one.start, one.end] for i, one in enumerate(features)]
    lines = [[*where, *_value(row, i)] for row in rows for i, where in enumerate(placed)]
    if one.encoded.maskable != FIRST:
        # Characters of which text: 1 or 2.
        sides = [feature.side for feature in features]
        columns, lines = [*columns, "text"], [[*line, side + 1] for line, side in zip(lines, cycle(sides))]
    plain = [dict(zip(columns, line)) for line in lines]
    tables = [([one.encoded.unit, *(row.measure for row in rows)], cells)]
    found: dict[str, Any] = {"attributions": plain}
    if sums:
        tables.append((["measure", *SUMMED], [[each.measure, *each.cells] for each in sums]))
        found["completeness"] = [asdict(each) | {"error": each.error, "large": each.large} for each in sums]
    flat = any(len(row.free) for row in rows) and not any(row.kind == "rank" or row.scores.any() for row in rows)
    section = Section("attributions", None, tables, [Caveat.FLAT.line] if flat else [])
    return Part([section], columns, lines, found, rows)


def _value(row: WordRow, i: int) -> list:
    masked = bool(row.masked[i])
    value = None if masked or row.kind == "rank" else as_json(row.scores[i])
    place = None if masked else int(row.places[i])
    return [masked, row.measure, measure(row.measure).version, row.variant, value, row.unit, place]


def tell_verdicts(options: Namespace, one: OneText, bar: Bar) -> Part:
    """Which measures are better than random orders, by each way of erasing words."""
    reports = _verdict_reports(options, one, bar)
    sections = verdict_sections(reports)
    columns = [*RECORDED, "outcome", "caveats"]
    plain = {"verdicts": [as_plain(each) | as_record(verdicts_result(each)) for each in reports.values()]}
    return Part(sections, columns, verdict_lines(reports), plain, next(iter(reports.values())))


def _verdict_reports(options: Namespace, one: OneText, bar: Bar) -> dict[str, VerdictReport]:
    """{erasure: report}; the causes, where they are asked for, of the first."""
    gating = StandingGates(one.encoded, one.explainer.reference, options.rule, options.form)
    about, found = (one.explainer, one.encoded, one.target, options.measures, options.sign), {}
    for erasure in dict.fromkeys(options.erasures):
        finding = find_chance(
            *about,
            draws=options.orders,
            directions=(options.direction,),
            erasure=erasure,
            progress=partial(bar, f"random orders, {erasure}"),
        )
        test = finish(finding)
        known = Reasons(unstable=find_unstable(*about))
        if options.causes and not found:
            known = find_reasons(*about, options.rule, options.form)
        found[erasure] = decide_verdicts(test, gating, known, options.direction)
    return found


def verdict_sections(reports: Mapping[str, VerdictReport]) -> list[Section]:
    """The verdicts by each way of erasing, and a table of them."""
    several = len(reports) > 1
    sections = [
        Section(
            f"verdicts, {erasure}" if several else "verdicts",
            verdicts_result(report),
            [(TABLE, [verdict_cells(report, each) for each in report.verdicts])],
        )
        for erasure, report in reports.items()
    ]
    return [*sections, Section(tables=[erasure_table(reports)])] if several else sections


def verdict_lines(reports: Mapping[str, VerdictReport]) -> list[list]:
    """A line a measure and way of erasing, with outcome and caveats."""
    lines = []
    for report in reports.values():
        record = as_record(verdicts_result(report))
        told = [record["outcome"], " ".join(record["caveats"])]
        lines += [[*verdict_line(report, each), *told] for each in report.verdicts]
    return lines


def tell_limits(options: Namespace, one: OneText, bar: Bar) -> Part:
    """AOPC of measures between what the model allows: exact limits of short texts and on request, else a search."""
    explainer, encoded, target = one.explainer, one.encoded, one.target
    allowed = settings.read().exact_scores or default_exact(explainer.model.device)
    dear, exact = exact_cost(explainer, encoded), options.exact or 1 << left_over(encoded) <= allowed
    if exact:
        bar.cost("exact limits", dear)
        search = find_exact(explainer, encoded, target, progress=partial(bar, "exact limits"))
    else:
        bar.cost("limits by a search", search_cost(explainer, encoded, options.width), _exactly(dear))
        search = find_searched(explainer, encoded, target, options.width, progress=partial(bar, "limits"))
    scores, found = [], finish(search)
    for name in options.measures:
        try:
            scores.append(score(explainer, encoded, name, target, options.sign))
        except NonFinite as error:
            bar.say(f"{name}: {error}")
    band = finish(random_band(explainer, encoded, BY_FEATURE, progress=partial(bar, "random orders")))
    gating = StandingGates(encoded, explainer.reference, options.rule, options.form)
    board = build_standings(found, scores, band, target, gating)
    columns = ["measure", "values", *(f"{way}{kind}" for way in DIRECTIONS for kind in ("", " NAOPC"))]
    columns += [f"{way} rejected" for way in DIRECTIONS]
    lines = [
        [each.measure, values_taken(each.measure, options.sign)]
        + [as_json(value) for way in DIRECTIONS for value in (each.aopc[way], each.naopc[way])]
        + [each.marked(way, True) if each.gates[way].available else None for way in DIRECTIONS]
        for each in board.standings
    ]
    plain = _limits_json(board) | {"measures": [dict(zip(columns, line)) for line in lines]}
    section = Section("limits", limits_result(board, options.direction, encoded), [_limits_table(board)])
    bounds = {name: plain[name] for name in ("lower", "upper", "method", "scores")}
    return Part([section], [*columns, *bounds], [[*line, *bounds.values()] for line in lines], {"limits": plain})


def _limits_table(board: StandingTable) -> tuple[list[str], list[list[str]]]:
    header = ["measure", "comprehensiveness ↑", "NAOPC ↑", "sufficiency ↓", "NAOPC ↓"]
    rows = [
        [one.measure]
        + [
            with_sign(number(value), one.marked(way, normal))
            for way in DIRECTIONS
            for value, normal in ((one.aopc[way], False), (one.naopc[way], True))
        ]
        for one in board.standings
    ]
    if board.chance is not None:
        told = [(board.chance.mean, False), (board.chance.naopc, True)]
        rows.append([board.chance.name, *[with_sign(number(v), board.chance_marked(n)) for v, n in told] * 2])
    return header, rows


def _limits_json(board: StandingTable) -> dict[str, Any]:
    found = board.limits
    about = {"lower": found.lower, "upper": found.upper, "method": found.method, "width": found.width}
    about |= {"scores": found.scores, "searched": board.searched}
    return about | {"lowest_order": found.lowest.tolist(), "highest_order": found.highest.tolist()}


def _exactly(dear: Cost) -> str:
    return f"With --exact: {Bar.price(dear)}."


def tell_pairs(options: Namespace, one: OneText, bar: Bar) -> Part:
    """Which pairs of words work only together, or say the same twice: sampled beyond 12 words, unless asked."""
    explainer, encoded = one.explainer, one.encoded
    if options.exact and options.sampled:
        raise ValueError("give --exact or --sampled, not both")
    possible = not (options.sampled or why_no_pairs(encoded))
    exact = options.exact or (possible and left_over(encoded) <= AT_ONCE)
    more = _exactly(interactions_cost(explainer, encoded)) if possible and not exact else ""
    cost = interactions_cost(explainer, encoded, exact)
    bar.cost("pairs, exact" if exact else "pairs, from sampled sets", cost, more)
    work = find_interactions(explainer, encoded, one.target, exact, progress=partial(bar, "masked inputs"))
    found = finish(work)
    paired = check_pairs(explainer, encoded, found, listed_pairs(found, options.pairs))
    report = PairReport(paired, encoded, explainer.reference, options.rule, options.form)
    rows = [report.cells(each) + report.inputs(each) for each in paired.tests]
    tables = [([*COLUMNS, *MASKED], rows)] if rows else []
    section = Section(f"pairs: {report.how}", pairs_result(report), tables, [RULE])
    return Part([section], report.header, list(report.lines()), {"pairs": report.as_json()}, report)


def tell_stability(options: Namespace, one: OneText, bar: Bar) -> Part:
    """How far each measure moves by what should not matter; one that says nothing of this text is told."""
    found = []
    for name in options.measures:
        try:
            work = find_stability(
                one.explainer, one.encoded, name, one.target, options.runs, progress=partial(bar, name)
            )
            found.append(telling.Stability(finish(work), one.encoded, options.sign))
        except NonFinite as error:
            bar.say(f"{name}: {error}")
    tables = [
        (telling.FRONT, [row for each in found for row in telling.front_cells(each)]),
        (telling.COLUMNS, [each.cells() for each in found]),
        (["measure", *telling.PATH], [[each.measure, *row] for each in found for row in telling.path_cells(each)]),
    ]
    notes = [f"{telling.MEANS} {telling.ABOUT_CHANGES}"]
    told = Section("stability", stability_result(found), [each for each in tables if each[1]], notes) if found else None
    lines = [line for each in found for line in telling.stability_lines(each)]
    seeds, over = seeds_section(options, one, bar)
    plain = telling.as_records(found) | (
        {"seeds": [dict(zip(telling.RECORDED, line)) for line in over]} if over else {}
    )
    return Part([*([told] if told else []), *seeds], telling.RECORDED, [*lines, *over], plain)


def tell_sets(options: Namespace, one: OneText, bar: Bar) -> Part:
    """The smallest set of words that changes the prediction, and the smallest that keeps it."""
    explainer, encoded = one.explainer, one.encoded
    bar.cost("smallest sets", sets_cost(explainer, encoded))
    found = finish(find_sets(explainer, encoded, progress=partial(bar, "smallest sets")))
    predicted = int(explainer.logits(encoded).argmax())
    about = (explainer.model.labels[predicted], explainer.reference, options.rule, options.form)
    report, records = SetsReport(found, encoded, *about), []
    results = sets_results(report)
    for each, result in zip(found.sets, results.values()):
        members = [] if each.members is None else (each.members.nonzero()[0] + 1).tolist()
        exactly = {"kind": each.kind, "positions": members, "words": report.words(each), "exact": each.exact}
        records.append(exactly | as_record(result))
    columns = "kind positions words exact outcome p probability size count caveats".split()
    lines = [[_cell(record, name) for name in columns] for record in records]
    return Part(sets_sections(report), columns, lines, {"sets": records}, report)


def _cell(record: Mapping[str, Any], name: str) -> Any:
    value = record[name] if name in record else record["facts"].get(name)
    return " ".join(map(str, value)) if isinstance(value, list) else value


# In the order in which they are told.
PARTS = {
    "attributions": tell_attributions,
    "verdicts": tell_verdicts,
    "limits": tell_limits,
    "pairs": tell_pairs,
    "sets": tell_sets,
    "stability": tell_stability,
    "steps": tell_steps,
    "metrics": tell_metrics,
}
