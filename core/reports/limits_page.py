"""What one text allows of AOPC, and where measures stand in it, as a page of its own: it opens from a disk, runs
nothing and asks for nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.explanation.limiting import Walk
from core.explanation.standings import ARROWS, DIRECTIONS, Placed, StandingTable, compare_standings
from core.figures.limit_figures import Gauge, Range
from core.mathematics.search.limits import EXACT
from core.measures.catalogue import measures
from core.reports.exports import Shown
from core.reports.gauge_parts import drawn_gauge
from core.reports.page_parts import (
    BIDI,
    document,
    noted,
    number,
    other,
    predicted_line,
    prediction,
    provenance_footer,
    second_text,
    typed,
    whole_text,
)
from core.reports.page_style import GAUGE_STYLE, STYLE
from core.validity.marks import MEANING, ONE_INPUT, SIGN, Gate, with_sign

LIMITS_STYLE = STYLE + GAUGE_STYLE
_RIGHT = ' class="number"'
_WORDS = {
    "AOPC": "area over the perturbation curve: how far the probability of the explained class lies below that of the "
    "whole text, averaged over masking one {unit} "
    "after the other until all are masked.",
    "comprehensiveness "
    "↑": "AOPC when the {unit}s that a measure calls most important are masked first. Higher is better.",
    "sufficiency ↓": "AOPC when the {unit}s that a measure calls least important are masked first. Lower is better.",
    "limits": "the smallest and the largest AOPC that any order of masking reaches on this text with this model. A "
    "beam looks at the most promising orders only, so the "
    "exact limits may lie further apart.",
    "NAOPC": "AOPC, normalised: 0 at the lower limit, 1 at the upper one. 1 is the best comprehensiveness ↑, 0 the "
    "best sufficiency ↓; — where the limits coincide.",
    "random order": "what masking without any measure reaches: mean and middle 95 % over seeds.",
    f"{SIGN} rejected": "masked texts along the way are unlike those that the model was trained for, so what it "
    "answers to them says little. “Not rejected” is no proof of the opposite.",
}


@dataclass(frozen=True, eq=False)
class SideLimits:
    """One model's board, and what is said about it, as text.

    gauges, chance: what its figure draws; tag: "exact" or "beam 5"; said: what the limits are and how they were found;
    warnings: sentences a reader must
    know; gates: what the validity gate says of the orders that attain the lower and the upper limit; score:
    "probability of positive".
    """

    board: StandingTable
    gauges: tuple[Gauge, ...]
    chance: Range | None
    tag: str
    score: str
    said: str
    warnings: tuple[str, ...]
    gates: tuple[str, str]


@dataclass(frozen=True, eq=False)
class LimitsShown:
    """The page AOPC and NAOPC at one example, ready to be written down.

    sides: one model, or two on the same text, each with its view without rows; the first one's answer is the page's.
    direction: of the answer;
    header, rows: the table of scores, as text, whose first columns (`named`) are names and whose last is a sentence;
    compared: the plain sentence on two
    models; settings: what else the numbers depend on.
    """

    sides: tuple[tuple[Shown, SideLimits], ...]
    direction: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    compared: str = ""
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def named(self) -> int:
        return len(self.sides)


def limits_page(page: LimitsShown) -> str:
    """Write what one text allows of AOPC as one HTML page, to be saved as UTF-8.

    It holds no script and no reference to anything outside itself, follows the reader's light or dark
    theme, and prints in light colours. Every text of others is escaped.
    """
    first = page.sides[0][0]
    names = " and ".join(_model(shown) for shown, _ in page.sides)
    parts = [
        _heading(page),
        _gauges(page),
        _scores(page),
        _comparison(page),
        _orders(page),
        *_predictions(page),
        _words(first),
        *_sources(page),
    ]
    return document(f"{first.example.id} · AOPC and NAOPC · {names}", parts, LIMITS_STYLE)


def _model(shown: Shown) -> str:
    return shown.provenance.get("model", "model")


def _sentence(text: str) -> str:
    """A sentence of ours with names of others in it: what turns directions around is left out, the tables have the
    names as typed.
    """
    return typed(BIDI.sub("", text))


def _heading(page: LimitsShown) -> str:
    shown = page.sides[0][0]
    compared = f'<p class="answer">{_sentence(page.compared)}</p>\n' if page.compared else ""
    return (
        '<header>\n<p class="eyebrow">Faithscope · AOPC and NAOPC of one example</p>\n<h1>How good is that, given what '
        "this model allows?</h1>\n"
        f'<div class="quote">{whole_text(shown.encoded.text)}</div>\n{second_text(shown)}'
        f'<p class="answer">{predicted_line(shown)} {_sentence(shown.answer)}</p>\n{compared}</header>\n'
    )


def _gauges(page: LimitsShown) -> str:
    reached = [value for _, told in page.sides for value in (told.board.limits.lower, told.board.limits.upper)]
    drawn = ""
    for shown, told in page.sides:
        limits, best = told.board.limits, told.board.best(page.direction)
        head = f"<h3>{other(_model(shown))}</h3>\n" if len(page.sides) > 1 else ""
        # Under each other on one axis: what one model allows and another does not is seen at once.
        gauge = drawn_gauge(
            told.gauges,
            told.chance,
            (limits.lower, limits.upper),
            told.tag,
            told.score,
            (min(reached), max(reached)),
            "" if best is None or limits.coincide else best.measure,
        )
        drawn += f"{head}{gauge}<p>{_sentence(told.said)}</p>\n{noted((*told.warnings, *shown.notes))}"
    return f"<section>\n<h2>Every score between the limits</h2>\n{drawn}</section>\n"


def _scores(page: LimitsShown) -> str:
    top = "".join(
        f'<th scope="col"{"" if i < page.named or i == len(page.header) - 1 else _RIGHT}>{typed(name)}</th>'
        for i, name in enumerate(page.header)
    )
    body = "".join(f"<tr>{''.join(_cell(page, i, text) for i, text in enumerate(row))}</tr>\n" for row in page.rows)
    return (
        f'<section>\n<h2>The scores</h2>\n<div class="scroll">\n<table '
        f'class="scores">\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n'
        '<p class="quiet">↑ higher is better, ↓ lower is better. '
        f"{MEANING}</p>\n</section>\n"
    )


def _cell(page: LimitsShown, i: int, text: str) -> str:
    if i < page.named:
        return f'<th scope="row">{other(text)}</th>'
    return (
        f"<td>{typed(text)}</td>"
        if i == len(page.header) - 1
        else f'<td class="number">{typed(text.replace("-", "−"))}</td>'
    )


def _comparison(page: LimitsShown) -> str:
    # Where they explain different classes, the sentence at the top says that they are not compared.
    if len(page.sides) < 2 or len({shown.labels[shown.target] for shown, _ in page.sides}) > 1:
        return ""
    boards = {_model(shown): told.board for shown, told in page.sides}
    ways = sorted(DIRECTIONS, key=lambda way: way != page.direction)
    found = [compare_standings(boards, way) for way in ways]
    if None in found:
        told = (
            "<p>There are no two rankings to compare: a model has no scores here, or its limits coincide, so that "
            "its NAOPC is —.</p>\n"
        )
    else:
        told = "".join(_ranks(one.direction, one.placed, one.tau) for one in found)
        told += (
            '<p class="quiet">All scores of both models in one ranking, place 1 is the best. Within one model '
            "normalising never changes the order of measures; "
            "between models it can.</p>\n"
        )
    return f"<section>\n<h2>Two models, before and after normalising</h2>\n{told}</section>\n"


def _ranks(direction: str, placed: Sequence[Placed], tau: float) -> str:
    arrow = ARROWS[direction]
    heads = (
        ("measure", ""),
        ("model", ""),
        (f"AOPC {arrow}", _RIGHT),
        ("place", _RIGHT),
        (f"NAOPC {arrow}", _RIGHT),
        ("place", _RIGHT),
        ("normalising", ""),
    )
    top = "".join(f'<th scope="col"{kind}>{name}</th>' for name, kind in heads)
    lines = "".join(
        f'<tr><th scope="row">{other(one.measure)}</th><td>{other(one.model)}</td>{_ranked(one.aopc, one.place)}'
        f"{_ranked(one.naopc, one.place_normalised)}<td>{_move(one)}</td></tr>\n"
        for one in sorted(placed, key=lambda one: one.place_normalised)
    )
    same = f'<span class="quiet">agreement of the two rankings (Kendall’s τ-b, 1 ↑ is the same): {number(tau)}</span>'
    return (
        f'<div class="scroll">\n<table class="scores">\n<caption>{direction} {arrow} '
        f"{same}</caption>\n<thead><tr>{top}</tr></thead>\n"
        f"<tbody>\n{lines}</tbody>\n</table>\n</div>\n"
    )


def _ranked(score: float, place: int) -> str:
    return f'<td class="number">{number(score)}</td><td class="number">{place}</td>'


def _move(one: Placed) -> str:
    up = one.place - one.place_normalised
    return "same place" if up == 0 else f"<b>{abs(up)} {'up' if up > 0 else 'down'}</b>"


def _orders(page: LimitsShown) -> str:
    unit, drawn = page.sides[0][0].encoded.unit, ""
    for shown, told in page.sides:
        board = told.board
        drawn += f"<h3>{other(_model(shown))}</h3>\n" if len(page.sides) > 1 else ""
        whole = (
            "Nothing masked"
            if not shown.encoded.premasked.any()
            else f"With what the text masks itself ({int(shown.encoded.premasked.sum())})"
        )
        drawn += f'<p class="quiet">{whole}: {_sentence(told.score)} {number(float(board.highest.values[0]))}.</p>\n'
        found = "" if board.limits.method == EXACT else " that was found"
        for name, walk, value, i, pace, best in (
            ("Upper", board.highest, board.limits.upper, 1, "faster", "comprehensiveness ↑"),
            ("Lower", board.lowest, board.limits.lower, 0, "more slowly", "sufficiency ↓"),
        ):
            means = f"no order{found} lowers the probability {pace}: the best {best}{found or ' that is possible'}"
            drawn += _order(
                shown,
                walk,
                board.gates[i],
                f"{name} limit, AOPC {number(value)}",
                f"{means} · inputs along it: {typed(told.gates[i])}",
            )
    note = (
        f'<p class="quiet">Number: which {unit} is masked first, second, …; below it: the probability once it and all '
        f"before it are masked. "
        f"{ONE_INPUT}</p>\n"
    )
    return f"<section>\n<h2>The orders that reach the limits</h2>\n{drawn}{note}</section>\n"


def _order(shown: Shown, walk: Walk, gate: Gate, title: str, means: str) -> str:
    items = "".join(_step(shown, walk, gate, i) for i in range(1, len(walk.values)))
    return (
        f'<div class="row">\n<p class="head"><b>{title}</b> <span class="quiet">{means}</span></p>\n<ol '
        f'class="order">\n{items}</ol>\n</div>\n'
    )


def _step(shown: Shown, walk: Walk, gate: Gate, i: int) -> str:
    word = shown.encoded.features[int(walk.order[i - 1])].text
    out = i < len(gate.rejected) and bool(gate.rejected[i])
    late = ' class="late"' if out else ""
    return (
        f"<li{late}><span><small>{i}</small>{other(word)}</span> <span "
        f'class="quiet">{with_sign(number(float(walk.values[i])), out)}</span></li>\n'
    )


def _predictions(page: LimitsShown) -> list[str]:
    if len(page.sides) == 1:
        return [prediction(page.sides[0][0])]
    return [prediction(shown, f"Prediction of {other(_model(shown))}") for shown, _ in page.sides]


def _words(shown: Shown) -> str:
    lines = "".join(
        f"<dt>{name}</dt><dd>{meaning.format(unit=shown.encoded.unit)}</dd>\n" for name, meaning in _WORDS.items()
    )
    return (
        f'<section class="meanings">\n<h2>What the words mean</h2>\n<dl>\n{lines}</dl>\n'
        '<p class="quiet">Source: Edin et al. (2025), Normalized AOPC.</p>\n</section>\n'
    )


def _sources(page: LimitsShown) -> list[str]:
    sources = []
    for shown, told in page.sides:
        named = [one.measure for one in told.board.standings]
        facts = (
            shown.provenance
            | page.settings
            | {"measures (version)": ", ".join(f"{name} ({measures()[name].version})" for name in named)}
        )
        sources.append(
            provenance_footer(
                facts,
                "Where this comes from" if len(page.sides) == 1 else f"Where this comes from: {other(_model(shown))}",
            )
        )
    return sources
