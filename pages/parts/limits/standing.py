"""Standings between the limits as results, rows of tables and files, and lines of figures; no Streamlit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.explanation.limiting import DIRECTIONS, OrderScore, Walk
from core.explanation.plausibility import Evidence
from core.explanation.rows import values_taken
from core.explanation.standings import (
    ARROWS,
    COMPREHENSIVENESS,
    SUFFICIENCY,
    Chance,
    Comparison,
    Standing,
    StandingGates,
    StandingTable,
    compare_standings,
)
from core.figures.figures import FigureLine
from core.figures.limit_figures import Gauge, Range
from core.figures.palette import LIMIT, hue
from core.mathematics.search.limits import EXACT
from core.network.features import placed_texts
from core.reports.limits_page import SideLimits
from core.results.caveats import Caveat
from core.results.limits import limits_result
from core.results.result import Result
from core.stability.known import COLUMN, unstable_cell
from core.validity.marks import SIGN, STEP_COLUMNS, path_word, step_cells, with_sign, yes_or_no
from core.validity.references import FORMS
from core.wording import amount, ends_of, number
from pages.parts.frame.sidebar import View
from pages.parts.sections.sides import PROBABILITY, same_class
from pages.parts.sections.standings import Boards, KnownLimits, tag

SCORE_COLUMNS = [
    "model",
    "measure",
    "values",
    "explained class",
    "class predicted unmasked",
    "comprehensiveness (higher is better)",
    "its NAOPC (higher is better)",
    "sufficiency (lower is better)",
    "its NAOPC (lower is better)",
    "lower limit",
    "upper limit",
    "limits",
    "sets scored for them",
    "precision of the search",
    "comprehensiveness rests on rejected inputs",
    "sufficiency rests on rejected inputs",
    "rule of the gate",
    "form of the gate",
    "models explain the same class",
    COLUMN,
]
ORDER_COLUMNS = [
    "model",
    "order",
    "direction",
    "step",
    "masked here",
    "explained class",
    PROBABILITY,
    "p (calibrated)",
    "p (literal)",
    *STEP_COLUMNS,
]


# Where neither of two models is ahead.
LEVEL = "tied"
# Of the page's table, in which numbers are numbers.
TABLE = [
    "model",
    "measure",
    "comprehensiveness ↑",
    "NAOPC ↑",
    "sufficiency ↓",
    "NAOPC ↓",
    "middle 95 %",
    "validity",
    SIGN,
    "order",
]


def result_of(known: KnownLimits, board: StandingTable | None) -> Result:
    """What one side comes to, as far as it is known."""
    unstable = [name for name, why in known.side.unstable(known.choice.measures, known.choice.sign).items() if why]
    return limits_result(board, known.choice.direction, known.side.encoded, complete=known.complete, unstable=unstable)


def gauge_rows(board: StandingTable) -> list[Gauge]:
    """The measures of a board for the figure."""
    return [
        Gauge(
            one.measure,
            hue(one.measure),
            one.aopc[COMPREHENSIVENESS],
            one.aopc[SUFFICIENCY],
            (_normal(one, COMPREHENSIVENESS), _normal(one, SUFFICIENCY)),
            (one.marked(COMPREHENSIVENESS), one.marked(SUFFICIENCY)),
        )
        for one in board.standings
    ]


def _normal(one: Standing, direction: str) -> str:
    """NAOPC with its mark; where there is no number there is nothing to mark."""
    value = one.naopc[direction]
    return with_sign(number(value), one.marked(direction, True) and value == value)


def chance_range(board: StandingTable) -> Range | None:
    """The random orders of a board for the figure."""
    chance = board.chance
    if chance is None:
        return None
    normal = with_sign(number(chance.naopc), board.chance_marked(True))
    return Range(chance.mean, chance.low, chance.high, normal, chance.name, board.chance_marked())


def side_limits(known: KnownLimits, board: StandingTable, caveats: tuple[Caveat, ...]) -> SideLimits:
    """All of a board that a saved page shows; caveats: of the text and of the test besides its own."""
    gates = [path_word(gate, counting(known.gating)) for gate in board.gates]
    found = result_of(known, board)
    result = replace(found, caveats=tuple(dict.fromkeys([*found.caveats, *caveats])))
    drawn = tuple(gauge_rows(board)), chance_range(board), tag(board.limits)
    return SideLimits(board, *drawn, known.side.score_name, result, (gates[0], gates[1]))


def counting(gating: StandingGates) -> Callable[[int], str]:
    """How much is masked at an input of a walk, in words: "3 words masked"."""
    return lambda i: f"{amount(int(gating.counts[i]), gating.encoded.unit)} masked"


def curve_lines(board: StandingTable, direction: str, gating: StandingGates) -> list[FigureLine]:
    """The orders of every measure, and those that attain the limits, for the figure of paths."""
    lines = [_line(one.measure, hue(one.measure), one.walks[direction], gating) for one in board.standings]
    best, worst = ends_of_board(board, direction)
    found = "" if board.limits.method == EXACT else " found"
    return [
        *lines,
        replace(_line(f"best order{found}", LIMIT, best, gating), symbol="triangle-up"),
        replace(_line(f"worst order{found}", LIMIT, worst, gating), symbol="triangle-down-open"),
    ]


def ends_of_board(board: StandingTable, direction: str) -> tuple[Walk, Walk]:
    """The best and the worst order of a direction: the area is that of a fall, which sufficiency wants small."""
    ends = board.highest, board.lowest
    return ends if direction == COMPREHENSIVENESS else (ends[1], ends[0])


def table_rows(known: KnownLimits, board: StandingTable | None) -> list[list[Any]]:
    """One side as rows under TABLE; None where there is no number, as NAOPC before there are limits."""
    if board is None:
        rows = [_raw_row(known, one.latest) for one in known.scored if one.latest is not None]
    else:
        rows = [_row(known.gating, one) for one in board.standings]
    model, unstable = known.side.model.name, known.side.unstable(known.choice.measures, known.choice.sign)
    rows = [[model, *row, unstable_cell(row[0], unstable) or None] for row in rows]
    if board is not None and board.chance is not None:
        rows.append([model, *_chance_row(known.gating, board, board.chance), None])
    return rows


def _raw_row(known: KnownLimits, score: OrderScore) -> list[Any]:
    gates = {way: known.gating.gate(walk) for way, walk in score.walks.items()}
    marks = {f"AOPC {ARROWS[way]}": gates[way].marked for way in DIRECTIONS}
    scores = [score.aopc[COMPREHENSIVENESS], None, score.aopc[SUFFICIENCY], None, None]
    return [score.measure, *scores, _inputs(gates, counting(known.gating)), _marked(marks)]


def _row(gating: StandingGates, one: Standing) -> list[Any]:
    scores = [score for way in DIRECTIONS for score in (one.aopc[way], one.naopc[way])]
    kinds = ("AOPC", False), ("NAOPC", True)
    marks = {f"{name} {ARROWS[way]}": one.marked(way, normal) for way in DIRECTIONS for name, normal in kinds}
    return [one.measure, *scores, None, _inputs(one.gates, counting(gating)), _marked(marks)]


def _chance_row(gating: StandingGates, board: StandingTable, chance: Chance) -> list[Any]:
    marks = {"AOPC": board.chance_marked(), "NAOPC": board.chance_marked(True)}
    scores = [chance.mean, chance.naopc, chance.mean, chance.naopc, ends_of(chance.low, chance.high)]
    inputs = f"{path_word(chance.gate, counting(gating))} ({chance.tested:,} tested)"
    return [chance.name, *scores, inputs, _marked(marks)]


def _marked(marks: dict[str, bool]) -> str | None:
    """Which scores rest on rejected inputs, for a cell; None where none does."""
    return ", ".join(name for name, holds in marks.items() if holds) or None


def _inputs(gates: dict, counts_text: Callable[[int], str]) -> str:
    """The gates of both directions in a cell; where neither rejects, or says anything, in a word."""
    rejected = [f"{ARROWS[way]} {path_word(gates[way], counts_text)}" for way in DIRECTIONS if gates[way].marked]
    return "; ".join(rejected) or path_word(gates[COMPREHENSIVENESS], counts_text)


def precisions(board: StandingTable, evidence: Evidence | None) -> dict[str, float]:
    """How well the order of each measure finds the evidence; {} where none is known."""
    if evidence is None:
        return {}
    return {
        one.measure: evidence.precision_of(one.walks[COMPREHENSIVENESS].order, one.walks[SUFFICIENCY].order)
        for one in board.standings
    }


def score_rows(
    side: View, board: StandingTable, sign: str, gating: StandingGates, same: bool | None = None
) -> list[list]:
    """A board for a CSV file, see SCORE_COLUMNS; same: of `same_class`."""
    limits = board.limits
    about = [limits.lower, limits.upper, tag(limits), limits.scores, board.searched]
    unstable = side.unstable([one.measure for one in board.standings], sign)
    rows = []
    for one in board.standings:
        rests = [yes_or_no(one.gates[way], one.marked(way)) for way in DIRECTIONS]
        scores = [score for way in DIRECTIONS for score in (one.aopc[way], one.naopc[way])]
        whose = [side.model.name, one.measure, values_taken(one.measure, sign), side.class_name, side.predicted_name]
        order = unstable_cell(one.measure, unstable)
        rows.append([*whose, *scores, *about, *rests, gating.rule, gating.form, same, order])
    return rows


def order_rows(side: View, board: StandingTable, gating: StandingGates) -> list[list]:
    """Every order and the model's answers along it for a CSV file, see ORDER_COLUMNS."""
    walks = [(one.measure, way, one.walks[way]) for one in board.standings for way in DIRECTIONS]
    walks += [("upper limit", "", board.highest), ("lower limit", "", board.lowest)]
    placed, rows = placed_texts(side.encoded.features), []
    for name, way, walk in walks:
        gate = gating.gate(walk)
        words = ["", *(placed[int(i)] for i in walk.order)]
        for i, value in enumerate(walk.values):
            p = [float(walk.p[form][i]) if form in walk.p else "" for form in FORMS]
            about = [side.model.name, name, way, i, words[i], side.class_name, float(value)]
            rows.append([*about, *p, *step_cells(gate, i, gating.form)])
    return rows


def standings_in_words(board: StandingTable, direction: str) -> str:
    """The figure for those who do not see it."""
    scores = [
        f"{one.measure} {number(one.aopc[direction])} (NAOPC {_normal(one, direction)})" for one in board.standings
    ]
    if board.chance is not None:
        scores.append(f"{board.chance.name} {number(board.chance.mean)}")
    limits = f"limits {number(board.limits.lower)} to {number(board.limits.upper)}, {tag(board.limits)}"
    return f"AOPC, {direction}: {'; '.join([*scores, limits])}."


def compared(boards: Boards) -> Comparison | None:
    """The comparison of two models that explain the same class; None where there is none."""
    if not same_class([one.side for one in boards]):
        return None
    return compare_standings(by_model(boards), next(iter(boards)).choice.direction)


def by_model(boards: Boards) -> dict[str, StandingTable]:
    """What is known of each model."""
    return {one.side.model.name: board for one, board in boards.items()}


def compared_table(found: Comparison) -> tuple[list[str], list[list[Any]]]:
    """Of each measure both models' scores, and which is ahead before and after normalising."""
    arrow, models = ARROWS[found.direction], list(dict.fromkeys(one.model for one in found.placed))
    header = ["measure"]
    for name in ("AOPC", "NAOPC"):
        header += [*(f"{name} {arrow} {model}" for model in models), f"ahead by {name}"]
    rows = []
    for measure, ahead in found.ahead.items():
        own = {one.model: one for one in found.placed if one.measure == measure}
        scores = [own[model].aopc for model in models], [own[model].naopc for model in models]
        leads = [LEVEL if model is None else model for model in ahead]
        marked = SIGN if any(one.marked for one in own.values()) else None
        rows.append([measure, *scores[0], leads[0], *scores[1], leads[1], marked])
    return [*header, SIGN], rows


def _line(name: str, colour: str, walk: Walk, gating: StandingGates) -> FigureLine:
    gate, x = gating.gate(walk), gating.counts / gating.encoded.F
    p = walk.p.get(gating.form, walk.values * float("nan"))
    return FigureLine(name, colour, x, walk.values, p, gate.rejected, gate.first)
