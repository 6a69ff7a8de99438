"""What a scoreboard says: which measures no other beats and at which cost, where metrics part, and its tables."""

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np

from core.evaluation.findings import unranked
from core.evaluation.questions import Table
from core.evaluation.studies.board_report import (
    EVIDENCE,
    NAOPC_C,
    NAOPC_S,
    RACU,
    RANDOM,
    BoardReport,
    arrow,
    direction_of,
    figures,
)
from core.evaluation.studies.board_rows import board_metrics
from core.evaluation.studies.board_verdicts import ALONE, VerdictColumn
from core.evaluation.studies.board_words import MEASURE, PASSES, TOOK
from core.evaluation.studies.diagnosticity_report import nothing_to_normalise
from core.explanation.recursive import UNSTABLE, UNSTABLE_MEANS
from core.judging.baselines import BASELINES
from core.judging.metric_table import orders
from core.mathematics.erasure import DRAWS
from core.mathematics.ranking import LEVEL, are_level
from core.metrics.registry import HIGHER, NO_ROOM
from core.oracle.erasing import MASK
from core.validity.marks import MEANING, OUT, SIGN, with_sign
from core.verdicts.deciding import Word
from core.verdicts.telling import suits_sentence, unsigned_sentence
from core.wording import amount, cut_sentence, fixed_number, joined, number, p_value, with_ends

_UNBEATEN = "Not beaten is not shown to be level; each figure is tested by itself, not all of them together."
METRICS_PART = "Metrics disagree on which measure is ahead on this text."
NO_RANKING = "Who is ahead on one text is no ranking of measures"
# Of one text; over many a verdict of its own stands in the table.
ANEW = "RACU asks a measure again at each step; the verdict is on the order that it names once"


def sentences(report: BoardReport) -> list[str]:
    """The answer first; plain text."""
    by = report.board.by
    untold = unranked(report.n, report.picked, "which measure to believe", "what metrics say")
    answer = untold if untold and report.tally.settled else _answer(report, by)
    # Beside the answer, since it tells how far that may be believed.
    suits = suits_sentence(report.names, "as these figures do") if report.tally.total > 1 else ""
    answer += f" {suits}" * bool(suits and not untold)
    answer += _what_speaks_against(report) * bool(report.beaten and report.tally.total > 1 and not untold)
    told = [report.tally.tell(answer, "The figures so far stand in the table.")]
    told += filter(None, [parting(report)])
    if report.limited < report.n:
        known = f"known of {report.limited:,} of {report.n:,} texts" if report.limited else "not computed yet"
        told.append(f"NAOPC needs the limits of AOPC, which are {known}.")
    told += [MEANING + _over(report) + _other_inputs(report)] * any(one.marked for one in report.cells.values())
    if not report.tested:
        told.append("Validity unavailable: this model has no MaSF reference, so no figure can be marked.")
    told += [UNSTABLE_MEANS] * any(one.unstable for one in report.cells.values())
    told += [suits] * bool(suits and suits not in told[0])
    told += [f"Left out ({count:,}): {why}" for why, count in report.left_out.items()]
    told += _problems(report)
    return [*told, *filter(None, [cut_sentence(report.cut, report.tally.total)])]


def _answer(report: BoardReport, by: str) -> str:
    """Which measures no other beats by a figure, and what they cost; what rests on rejected inputs has no part."""
    best, over, out = report.unbeaten(by), amount(report.n, "text"), _left_out(report, by)
    if not best:
        none = f"{arrow(by)} is known of too few texts to compare measures by it."
        return f"By {arrow(by)} it cannot be told which measure to believe over {over}.{out}" if out else none
    if RANDOM in best:
        return (
            f"By {arrow(by)} no measure is significantly better than random order over {over}, so none of them should "
            f"be believed for it.{out}"
        )
    sure = _told_from_random(report, by)
    unsure = [name for name in best if name not in sure]
    told = f"By {arrow(by)} no other measure significantly beats {{}} over {over}"
    # What is not told from random order is no measure to choose, however cheap.
    if not sure:
        return f"{told.format(joined(best, 'or'))}, but none of these is told from random order.{out}"
    passes = amount(round(min(report.passes[name] for name in sure)), "forward pass")
    told = told.format(joined(sure, "or") if len(sure) > 1 else f"{sure[0]} ({passes})")
    least = [name for name in sure if report.passes[name] == min(report.passes[one] for one in sure)]
    if len(sure) > 1:
        told += f"; of these {joined(least)} cost{'s' if len(least) == 1 else ''} least ({passes})"
    left = f" Not beaten either, but not told from random order: {joined(unsure)}." if unsure else ""
    return f"{told}{_some_alone(report)}.{left}{out}"


def _told_from_random(report: BoardReport, by: str) -> list[str]:
    """The unbeaten measures that beat random order."""
    m, beats = report.names.index(RANDOM), report.beaten[by].by
    return [name for name in report.unbeaten(by) if name != RANDOM and beats[report.names.index(name), m]]


def _what_speaks_against(report: BoardReport) -> str:
    """What counts against measures, and against reading more into the answer than it says, sentences behind it."""
    told = [unsigned_sentence(report.names, report.board.sign), _UNBEATEN]
    marks = _without_marks(report, _other_figures(report)) if _some_alone(report) else ""
    return f" {' '.join(filter(None, told))}{marks}"


def _left_out(report: BoardReport, by: str) -> str:
    """Whose figure has no part in what is said by it, a sentence behind others; "" where all have."""
    marked = report.marked(by)
    verb = "rests" if len(marked) == 1 else "rest"
    return f" Left out: {joined(marked)}, which {verb} on inputs {OUT} {SIGN}." if marked else ""


def parting(report: BoardReport) -> str:
    """Where other figures leave others unbeaten, and on one text which measure is ahead by which, a sentence; they are
    not averaged. "" where that may not be told.
    """
    if report.n == report.tally.total == 1:
        return _ahead(report)
    if not report.beaten:
        return ""
    others, by = _unbeaten_by_others(report), report.board.by
    same = len(report.beaten) - (by in report.beaten) - sum(map(len, others.values()))
    out = _without_marks(report, _other_figures(report))
    if not others:
        return f"All {amount(same, 'other figure')} leave the same unbeaten.{out}" if same else out.lstrip()
    if _some_alone(report):
        return ""  # the first sentence says so
    parts = [
        f"by {joined(named)} "
        + ("no measure is better than random order" if RANDOM in best else f"no other beats {joined(best, 'or')}")
        for best, named in others.items()
    ]
    return f"Metrics disagree, and are not averaged: {'; '.join(parts)}.{out}"


def _unbeaten_by_others(report: BoardReport) -> dict[tuple[str, ...], list[str]]:
    """{whom: by which figures other than that of the first sentence}, where they leave others than it unbeaten."""
    by, others = report.board.by, {}
    own = report.unbeaten(by)
    for figure in report.beaten:
        if figure != by and (best := report.unbeaten(figure)) and best != own:
            others.setdefault(best, []).append(figure)
    return others


def _some_alone(report: BoardReport) -> str:
    """Whom other figures leave unbeaten, where each of them leaves one that the first does, as its sentence goes on; ""
    where figures disagree, or none says otherwise.
    """
    own, others = report.unbeaten(report.board.by), _unbeaten_by_others(report)
    common = [name for name in own if all(name in best for best in others)]
    if not others or not common or RANDOM in (*own, *(name for best in others for name in best)):
        return ""
    parts = [
        f"; by {joined(named)} {'only ' * (len(best) < len(own))}{joined(best)} {_is(best)} unbeaten"
        for best, named in others.items()
    ]
    return "".join(parts) if _told_from_random(report, report.board.by) else ""


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _other_figures(report: BoardReport) -> list[str]:
    return [figure for figure in figures() if figure != report.board.by]


def _without_marks(report: BoardReport, shown: Sequence[str]) -> str:
    """That marked figures have no part in a sentence, a sentence behind it; "" where none is marked."""
    return f" What carries {SIGN} has no part in this." if any(report.marked(figure) for figure in shown) else ""


def _ahead(report: BoardReport) -> str:
    """Which measure, or random order, is ahead on one text by which figures; "" of one measure and before all began.

    Erasure metrics are level within their errors, as on *Hard and soft erasure*, other figures within a hundredth, RACU
    also where intervals overlap; nothing rests on rejected inputs.
    """
    if report.waiting or len(report.names) < 3:
        return ""
    leads: dict[tuple[str, ...], list[str]] = {}
    untold = []
    # On one text NAOPC puts measures in the order of AOPC.
    for figure in (one for one in figures() if one not in (NAOPC_C, NAOPC_S)):
        had = sum(report.cells[name, figure].n > 0 for name in report.names[:-1])
        values = report.means(figure)
        if (~np.isnan(values[:-1])).sum() > 1:
            best = tuple(name for name, first in zip(report.names, _first(report, figure, values)) if first)
            leads.setdefault(best, []).append(figure)
        elif had > 1:
            untold.append(figure)
    own = set(report.names[:-1])
    level = [figure for best, named in leads.items() if own <= set(best) for figure in named]
    leads = {best: named for best, named in leads.items() if not own <= set(best)}
    parts = [f"{joined(best)} by {joined(named)}" for best, named in leads.items()]
    lost = f" By {joined(level)} all measures are level." if level else ""
    why = f"without {SIGN}" + " or unstable" * any(one.unstable for one in report.cells.values())
    left = [figure for figure in untold if any(report.cells[name, figure].out for name in report.names)]
    lost += f" By {joined(left)} it cannot be told: too few measures are left {why}." if left else ""
    none = [figure for figure in untold if figure not in left]
    lost += f" By {joined(none)} it cannot be told: too few measures have a value here." if none else ""
    out = _without_marks(report, [one for named in leads.values() for one in named]) + lost
    if not parts:
        return out.lstrip()
    if len(parts) == 1:
        return f"Metrics agree on which measure is ahead on this text: {parts[0]}.{out}"
    common = [name for name in report.names if all(name in best for best in leads)]
    if common:
        first = f"{joined(common)} {_is(common)} first, alone or level with others"
        return f"On this text {first}, by each metric that tells: {'; '.join(parts)}.{out}"
    return f"{METRICS_PART.rstrip('.')}, and are not averaged: {'; '.join(parts)}.{out}"


def _first(report: BoardReport, figure: str, values: np.ndarray) -> np.ndarray:
    """Who none is ahead of by a figure, bool[M + 1]; values: float64[M + 1], higher is better, NaN where there is
    none.
    """
    if figure not in board_metrics():
        # RACU, which has no upper end, by so much of itself, and within its intervals.
        best = np.nanmax(values)
        ends = [report.cells[name, figure].interval for name in report.names]
        low = ends[int(np.nanargmax(values))].low
        within = np.array([one.known and one.high >= low for one in ends]) & ~np.isnan(values)
        return are_level((best - values) / max(1.0, abs(best))) | within
    errors = np.array([report.cells[name, figure].error for name in report.names])
    ahead = orders(values[:, None], np.array([HIGHER]), errors[:, None])[..., 0] == 1
    return ~np.isnan(values) & ~ahead.any(axis=0)


def _over(report: BoardReport) -> str:
    """What a mark over several texts means."""
    return "" if report.n == 1 else " Over several texts: on more of them than 5 % by chance explain."


def _other_inputs(report: BoardReport) -> str:
    """Why erasure metrics are marked of measures whose AOPC is not, a sentence behind others; "" where none is."""
    free = [name for name in report.names if not any(report.cells[name, one].marked for one in figures()[:2])]
    apart = [one for one in board_metrics() if any(report.cells[name, one].marked for name in free)]
    if not apart:
        return ""
    rest = "rests" if len(apart) == 1 else "rest"
    return (
        f" {joined(apart)} {rest} on other inputs than the steps of AOPC: important words alone are kept or erased, "
        "whole or in part; so one may be marked without the other."
    )


def _problems(report: BoardReport) -> list[str]:
    """Why measures say nothing of texts, a sentence for all that are alike; those that have not begun."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for name, why in report.problems.items():
        for kept, count in why.items():
            for figure, said in json.loads(kept).items():
                # What soft metrics erase at most is another input than where every word is masked.
                counts[nothing_to_normalise(figure, MASK) if said == NO_ROOM and figure else said, name, figure] += (
                    count
                )
    figures_of: dict[tuple[str, str, int], list[str]] = {}
    for (said, name, figure), count in counts.items():
        figures_of.setdefault((said, name, count), []).append(figure)
    alike: dict[tuple, list[str]] = {}
    for (said, name, count), named in figures_of.items():
        alike.setdefault((said, tuple(named), count), []).append(name)
    told = []
    for (said, named, count), names in alike.items():
        of = f"{joined(named)} of " if any(named) else ""
        whose = "every measure" if len(names) > 2 and set(names) == set(report.names[:-1]) else joined(names)
        told.append(f"{of}{whose} ({amount(count, 'text')}): {said}")
    return [*told, *[f"Scores in the tables not computed yet: {joined(report.waiting)}."] * bool(report.waiting)]


def draws_note(report: BoardReport) -> str:
    """What was drawn for random order and for soft figures, what ± is, and where the page of one text draws more, a
    sentence each.
    """
    R, K = report.board.orders, report.board.draws
    alone = report.tally.total == 1
    same = "those of Recursive masking and of Hard and soft erasure"
    same = same if R == BASELINES else f"Recursive masking and Hard and soft erasure take {BASELINES}"
    drawn = f"{R} random orders and of {R} random attributions{'' if alone else ' of each text'}"
    told = (
        f"{RANDOM.capitalize()}: means of {drawn} ({same}). Soft figures: {amount(K, 'random draw')} of each measure, "
    )
    if not alone:
        more = f"Hard and soft erasure, of one text, draws {DRAWS} of each unless asked otherwise."
        return f"{told}and one of each random attribution; {more}"
    return (
        f"{told}those of Hard and soft erasure, and of each random attribution one, where it takes all, so that random "
        "order may differ from there by about its ±. ±: one standard error, of a measure over draws, of random order "
        "over random attributions; measures within two standard errors of their difference, or .01, are level, and by "
        "AOPC and RACU those within .01 (of a RACU above 1, within a hundredth of it), by RACU also where intervals "
        "overlap."
    )


def means_note(report: BoardReport) -> str:
    """Over how many texts the figures are means, a sentence; of one text, which figure asks another thing than the
    verdict beside it.
    """
    if report.tally.total > 1:
        return f"Figures are means over {amount(report.n, 'text')}, over fewer where n stands beside them."
    racu = {name: report.cells[name, RACU] for name in report.names[:-1] if report.better is not None}
    both = [name for name, one in racu.items() if report.not_better(name) and not one.out and one.interval.low >= LEVEL]
    above = f"{joined(both)} {_is(both)} above the mean of random orders by RACU"
    apart = f". {above} and yet not shown better than chance, which a mean that is above does not show"
    apart *= bool(both)
    R = report.board.orders
    return (
        f"{ANEW}{apart}. {RANDOM.capitalize()} is the mean of {amount(R, 'random order')} here; AOPC and NAOPC takes "
        "all those of the chance test, and Hard and soft erasure draws soft metrics of each random attribution more "
        "often, so that their means are others."
    )


def cheapest_believed(believed: Sequence[str], report: BoardReport) -> str:
    """Which of the measures that are better than chance on a text costs least, a sentence; "" where none is."""
    known = {name: report.passes[name] for name in believed if name in report.passes}
    if not known:
        return ""
    least = min(known.values())
    best = [name for name, passes in known.items() if passes == least]
    costs = amount(round(least), "forward pass")
    if len(known) == 1:
        return f"The cost of {best[0]}: {costs}."
    return f"Of those to believe on this text, {joined(best)} cost{'s' if len(best) == 1 else ''} least: {costs}."


def board_table(
    report: BoardReport, shown: Sequence[str] | None = None, order: str = "", verdicts: VerdictColumn | None = None
) -> Table:
    """A line for each measure, random order last unless a figure orders them: its verdict, figures with 95 % intervals,
    and cost.

    shown: figures, all by default; order: a figure (the best first), PASSES or TOOK (the least first), or "";
    verdicts: by another test; without, the paired one of means over the texts.
    """
    shown = [*figures(), EVIDENCE] if shown is None else shown
    known = [one for one in shown if any(report.cells[name, one].n for name in report.names[:-1])]
    if verdicts is None:
        paired = {one: verdict_over_texts(report, one) for one in report.names}
        verdicts = VerdictColumn("mean against random order", paired)
    of, alone = [verdicts.of], [] if verdicts.alone is None else [verdicts.alone]
    timed = any(took == took for took in report.milliseconds.values())
    costs = [f"{PASSES} ↓", *["ms ↓"] * timed]
    header = [MEASURE, verdicts.header, *[ALONE] * len(alone), *map(arrow, known), *costs]
    rows = [
        [
            name,
            *(column.get(name, "—") for column in (*of, *alone)),
            *(cell_text(report, name, one) for one in known),
            *cost_texts(report, name)[: len(costs)],
        ]
        for name in ordered(report, order)
    ]
    return header, rows


def ordered(report: BoardReport, order: str) -> list[str]:
    """Names in the order of a figure or a cost; those without it last."""

    def key(name: str) -> float:
        if order in (PASSES, TOOK):
            value = (report.passes if order == PASSES else report.milliseconds).get(name, float("nan"))
        else:
            value = -direction_of(order) * report.cells[name, order].interval.mean
        return float("inf") if value != value else value

    return sorted(report.names, key=key) if order else list(report.names)


def verdict_over_texts(report: BoardReport, name: str) -> str:
    """A measure's verdict over the texts; — before it may be told."""
    if name == RANDOM or not report.told:
        return "—"
    word = report.verdict(name)
    return with_sign(word, word == Word.UNTOLD and bool({name, RANDOM} & {*report.marked(figures()[0])}))


def cell_text(report: BoardReport, name: str, figure: str) -> str:
    """A figure with its interval and mark."""
    cell = report.cells[name, figure]
    if cell.unstable:
        return with_sign(UNSTABLE, cell.marked)
    told = with_ends(cell.interval.mean, cell.interval.low, cell.interval.high, fixed_number)
    told += f" ± {fixed_number(cell.error)}" if cell.error == cell.error and cell.n else ""
    told += f" (n = {cell.n:,})" if 0 < cell.n < report.n else ""
    return with_sign(told, cell.marked)


def cost_texts(report: BoardReport, name: str) -> list[str]:
    """Forward passes, the mean over the texts, and milliseconds, their median."""
    if name == RANDOM:
        return ["0", "0"]
    passes, took = report.passes[name], report.milliseconds[name]
    return ["—" if passes != passes else f"{passes:,.0f}", f"{took:,.0f}" if took >= 10 else number(round(took, 1))]


def pairs_table(report: BoardReport, figure: str) -> Table:
    """Who beats whom by a figure: p of each pair, adjusted for all of them, marked where the measure of the line beats
    that of the column.
    """
    if figure not in report.beaten:
        return [], []
    found, marked = report.beaten[figure], report.marked(figure)

    def cell(i: int, j: int) -> str:
        if i == j:
            return ""
        if {report.names[i], report.names[j]} & {*marked}:
            return SIGN
        return f"{'beats it, ' * bool(found.by[i, j])}{p_value(found.p[i, j])}"

    rows = [[name, *(cell(i, j) for j in range(len(report.names)))] for i, name in enumerate(report.names)]
    return [arrow(figure), *report.names], rows


def marked_table(report: BoardReport) -> Table:
    """On how many texts each figure of each measure rests on rejected inputs; empty where on none, or of one text."""
    cells = {at: one for at, one in report.cells.items() if one.tested and at[1] != EVIDENCE}
    shown = [figure for figure in figures() if any(cells[at].rejected for at in cells if at[1] == figure)]
    if report.n < 2 or not shown:
        return [], []

    def cell(at: tuple[str, str]) -> str:
        return f"{cells[at].rejected:,} of {cells[at].tested:,}" if at in cells else "—"

    return [MEASURE, *map(arrow, shown)], [[name, *(cell((name, one)) for one in shown)] for name in report.names]
