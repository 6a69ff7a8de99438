"""Put standings between the limits into words, rows and figures; no Streamlit."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from core.explanation.limiting import Walk
from core.explanation.plausibility import Evidence
from core.explanation.rows import values_taken
from core.explanation.standings import (
    ARROWS,
    COMPREHENSIVENESS,
    DIRECTIONS,
    SUFFICIENCY,
    Chance,
    Standing,
    StandingGates,
    StandingTable,
)
from core.figures.figures import FigureLine
from core.figures.limit_figures import Gauge, Range
from core.figures.palette import LIMIT, hue
from core.job import FAILED
from core.mathematics.search.limits import BEAM, EXACT, NARROW, Limits
from core.reports.limits_page import SideLimits
from core.stability.known import COLUMN, labelled, unstable_cell
from core.validity.marks import (
    AT_RATIOS,
    LINES,
    STEP_COLUMNS,
    limits_text,
    path_word,
    step_cells,
    why_unavailable,
    with_sign,
    yes_or_no,
)
from core.validity.references import FORMS
from core.wording import amount, number, without_markup
from pages.parts.sections.sides import PROBABILITY, Side
from pages.parts.sections.standings import KnownLimits, tag

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


def limits_line(known: KnownLimits, board: StandingTable, width: int | None) -> str:
    """What the limits are and how they were found, HTML in which all text is escaped."""
    limits = board.limits
    said = f"{reach(limits)}: {_how(board, known.side.model.precision)}"
    if limits.method != EXACT:
        said += _unfinished(known, limits, width)
    rejected = [name for name, gate in zip(("lower", "upper"), board.gates) if gate.marked]
    return f"{said}. {limits_text(rejected)}." if rejected else f"{said}."


def narrow_warning(limits: Limits) -> str:
    """What to think of limits that nearly coincide; "" where they do not."""
    if limits.coincide or not limits.narrow:
        return ""
    return (
        f"The limits lie only {number(limits.upper - limits.lower)} apart (less than {NARROW}): on this text every "
        f"order scores nearly the same, "
        "so NAOPC magnifies trifles. Choose a text with more at stake."
    )


def untested(board: StandingTable, direction: str) -> str:
    """Why nothing is said about the inputs of these orders, for the order that comes closest; "" where it is."""
    first = board.best(direction)
    return why_unavailable(first.gates[direction] if first is not None else board.gates[1])


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


def side_limits(
    known: KnownLimits, board: StandingTable, width: int | None, direction: str, gating: StandingGates, score: str
) -> SideLimits:
    """All of a board that a saved page shows; score: its name, "probability of positive"."""
    said = without_markup(limits_line(known, board, width))
    warnings = tuple(filter(None, (narrow_warning(board.limits), untested(board, direction))))
    gates = path_word(board.gates[0], counting(gating)), path_word(board.gates[1], counting(gating))
    return SideLimits(
        board, tuple(gauge_rows(board)), chance_range(board), tag(board.limits), score, said, warnings, gates
    )


def counting(gating: StandingGates) -> Callable[[int], str]:
    """How much is masked at an input of a walk, in words: "3 words masked"."""
    return lambda i: f"{gating.counts[i]} {gating.encoded.unit}{'' if gating.counts[i] == 1 else 's'} masked"


def curve_lines(board: StandingTable, direction: str, gating: StandingGates) -> list[FigureLine]:
    """The orders of every measure, and those that attain the limits, for the figure of paths."""
    lines = [_line(one.measure, hue(one.measure), one.walks[direction], gating) for one in board.standings]
    best, worst = ("upper", "lower") if direction == COMPREHENSIVENESS else ("lower", "upper")
    walks = {"upper": board.highest, "lower": board.lowest}
    # The area is that of a fall, so that the best order of comprehensiveness lies lowest.
    found = "" if board.limits.method == EXACT else " found"
    fast, slow = ("falls fastest", "falls slowest")[:: 1 if direction == COMPREHENSIVENESS else -1]
    return [
        *lines,
        replace(_line(f"best order{found} ({fast})", LIMIT, walks[best], gating), symbol="triangle-up"),
        replace(_line(f"worst order{found} ({slow})", LIMIT, walks[worst], gating), symbol="triangle-down-open"),
    ]


def table_rows(board: StandingTable, counts_text: Callable[[int], str], unstable: Mapping[str, str]) -> list[list[str]]:
    """A board as rows of the page's table; what rests on rejected inputs is marked, an unstable ranking labelled."""
    rows = [
        [
            labelled(one.measure, unstable),
            *_cells(one, COMPREHENSIVENESS),
            *_cells(one, SUFFICIENCY),
            _validity(one, counts_text),
        ]
        for one in board.standings
    ]
    if board.chance is not None:
        chance, drawn = board.chance, len(board.chance.aopc)
        reach = f"{number(chance.mean)} ({number(chance.low)} to {number(chance.high)})"
        rows.append(
            [
                chance.name,
                with_sign(reach, board.chance_marked()),
                with_sign(number(chance.naopc), board.chance_marked(True)),
                "the same",
                "the same",
                path_word(chance.gate, counts_text) + (f" ({chance.tested} tested)" if chance.tested < drawn else ""),
            ]
        )
    return rows


def precision(evidence: Evidence, one: Standing) -> float:
    """How well the order of a measure finds the evidence."""
    return evidence.precision_of(one.walks[COMPREHENSIVENESS].order, one.walks[SUFFICIENCY].order)


def precisions(board: StandingTable, evidence: Evidence | None) -> dict[str, float]:
    """The same of every measure, by its name; {} where no evidence is known."""
    return {} if evidence is None else {one.measure: precision(evidence, one) for one in board.standings}


def score_rows(
    side: Side, board: StandingTable, sign: str, gating: StandingGates, same: bool | None = None
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


def order_rows(side: Side, board: StandingTable, gating: StandingGates) -> list[list]:
    """Every order and the model's answers along it for a CSV file, see ORDER_COLUMNS."""
    walks = [(one.measure, way, one.walks[way]) for one in board.standings for way in DIRECTIONS]
    walks += [("upper limit", "", board.highest), ("lower limit", "", board.lowest)]
    rows = []
    for name, way, walk in walks:
        gate = gating.gate(walk)
        for i, value in enumerate(walk.values):
            word = side.encoded.features[int(walk.order[i - 1])].text if i else ""
            rows.append(
                [
                    side.model.name,
                    name,
                    way,
                    i,
                    word,
                    side.class_name,
                    float(value),
                    *(float(walk.p[form][i]) if form in walk.p else "" for form in FORMS),
                    *step_cells(gate, i, gating.form),
                ]
            )
    return rows


def known_ends(boards: Iterable[StandingTable]) -> str:
    """Among which orders the best and the worst are these, as a sentence goes on."""
    exact = all(board.limits.method == EXACT for board in boards)
    return "of all orders that there are" if exact else "of all orders that were scored"


def curves_caption(boards: Iterable[StandingTable], gating: StandingGates) -> str:
    """What the figure of paths shows, which inputs of a line are tested where that is not each, and which random orders
    it draws where the others are told of too, text.
    """
    boards = list(boards)
    said = f"Each line masks one more {gating.encoded.unit} in a measure’s order; the limits’ own orders are the best "
    said += f"and the worst {known_ends(boards)}."
    gates = [board.gates[0] for board in boards if board.gates[0].tested is not None]
    # One model's reference may be too small, and another's verdicts not told.
    line = "each line" if len(gates) == len(boards) else "the lines of one of the models"
    if gates:
        said += f" Of the {len(gating.counts)} inputs of {line} {gates[0].steps} are tested: {AT_RATIOS}."
    chances = [board.chance for board in boards if board.chance is not None]
    drawn = [one for one in chances if one.tested < len(one.aopc)]
    if drawn:
        order = "Random order is here" if len(drawn) == len(chances) else "Of one of the models random order is here"
        said += f" {order} that of the {amount(drawn[0].tested, 'order')} whose inputs are tested."
    return f"{said} {LINES}"


def standings_in_words(board: StandingTable, direction: str) -> str:
    """The figure for those who do not see it."""
    scores = [(one.measure, number(one.aopc[direction]), _normal(one, direction)) for one in board.standings]
    told = "; ".join(f"{name} {raw} (NAOPC {normal})" for name, raw, normal in scores)
    chance = f" {random_reach(board.chance)}." if board.chance is not None else ""
    return (
        f"AOPC, {direction}: {told}.{chance} Limits {number(board.limits.lower)} to {number(board.limits.upper)}, "
        f"{tag(board.limits)}."
    )


def random_reach(chance: Chance) -> str:
    """What random orders reach, on average and in the middle 95 %, text without an end."""
    return (
        f"The mean of {chance.name} is {number(chance.mean)}, their middle 95 % {number(chance.low)} to "
        f"{number(chance.high)}"
    )


def reach(limits: Limits) -> str:
    """How far AOPC can go, as far as it is known."""
    ends = f"<b>{number(limits.lower)}</b> to <b>{number(limits.upper)}</b>"
    if limits.method == EXACT:
        return f"AOPC on this text lies between {ends.replace(' to ', ' and ')}"
    return f"The orders that were found on this text reach an AOPC of {ends}"


def _how(board: StandingTable, own: str) -> str:
    limits = board.limits
    if limits.method == EXACT:
        return f"<b>exact</b>, over all orders ({limits.scores:,} sets)"
    rough = "" if board.searched == own else f", searched in {board.searched}; the orders it found are scored in {own}"
    return f"<b>{tag(limits)}</b>; exact limits can lie further apart ({limits.scores:,} sets{rough})"


def _unfinished(known: KnownLimits, limits: Limits, width: int | None) -> str:
    """What may still come of limits that a search found, the best so far."""
    exact = known.search if known.search.exact else known.exact
    if exact is not None and exact.runs:
        return "; this is the best so far, exact limits are under way"
    if exact is not None and exact.begun and not exact.complete:
        return (
            f"; this is the best so far, exact limits {_ended(exact)} after {exact.progress[0]:,} of at most "
            f"{exact.progress[1]:,} sets"
        )
    if limits.method == BEAM and limits.width != width and not known.search.complete:
        asked = "an insertion search" if width is None else f"a beam of {width}"
        return f"; this is the best so far, {asked} {'is under way' if known.search.runs else _ended(known.search)}"
    return ""


def _ended(work) -> str:
    job = work.job
    if job is None:
        return "waits to be asked for"
    return "failed" if job.state == FAILED else "stopped"


def _line(name: str, colour: str, walk: Walk, gating: StandingGates) -> FigureLine:
    gate = gating.gate(walk)
    p = walk.p.get(gating.form)
    return FigureLine(
        name,
        colour,
        gating.counts / gating.encoded.F,
        walk.values,
        p if p is not None else walk.values * float("nan"),
        gate.rejected,
        gate.first,
    )


def _cells(one: Standing, direction: str) -> list[str]:
    return [with_sign(number(one.aopc[direction]), one.marked(direction)), _normal(one, direction)]


def _validity(one: Standing, counts_text: Callable[[int], str]) -> str:
    """The gates of both directions in a cell; where neither rejects, or says anything, in a word."""
    said = [f"{ARROWS[way]} {path_word(one.gates[way], counts_text)}" for way in DIRECTIONS if one.gates[way].marked]
    return "; ".join(said) or path_word(one.gates[COMPREHENSIVENESS], counts_text)
