"""AOPC, its limits and the measures on one text as a page that opens from a disk and asks for nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import Any

from core.explanation.limiting import DIRECTIONS
from core.explanation.standings import ARROWS, Comparison, StandingTable, compare_standings
from core.figures.limit_figures import Gauge, Range
from core.mathematics.search.limits import EXACT, Limits
from core.measures.catalogue import measure
from core.reports.exports import Shown
from core.reports.page import read_style, write_page
from core.results.result import Result
from core.terms import TERMS
from core.texts.rendering import Form, fact_label, fact_text, headline


@dataclass(frozen=True)
class Axis:
    """A line from one AOPC to another; places on it are CSS lengths, "12.34%"."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """How far along the line a value lies, in percent."""
        return 100 * (value - self.low) / (self.high - self.low)

    def at(self, value: float) -> str:
        """Where a value lies."""
        return f"{self.share(value):.2f}%"

    def wide(self, low: float, high: float) -> str:
        """How wide it is from one value to another."""
        return f"{100 * (high - low) / (self.high - self.low):.2f}%"

    def ticks(self) -> list[float]:
        """Round numbers on the line, at most seven."""
        size = 10.0 ** floor(log10((self.high - self.low) / 6))
        step = next(size * many for many in (1, 2, 5, 10) if (self.high - self.low) / (size * many) <= 6)
        # Not i · step: 3 · 0.1 is no round number, and −0 none at all.
        places = range(ceil(self.low / step), floor(self.high / step) + 1)
        return [float(f"{i * step:.6g}") + 0.0 for i in places]


def lay_axis(rows: Sequence[Gauge], limits: Limits, span: tuple[float, float]) -> Axis:
    """The line that holds measures and limits, and `span`, so that two models' gauges compare; a little longer."""
    reach = [*span, limits.lower, limits.upper]
    reach += [value for row in rows for value in (row.comprehensiveness, row.sufficiency)]
    room = 0.07 * max(max(reach) - min(reach), 1e-3)
    return Axis(min(reach) - room, max(reach) + room)


LIMITS_STYLE = read_style("page.css", "gauge.css")
# Terms that the page explains at its end.
_DEFINED = (
    "AOPC",
    "comprehensiveness ↑",
    "sufficiency ↓",
    "limits",
    "NAOPC",
    "random order",
    "rejected (out-of-distribution)",
)


@dataclass(frozen=True, eq=False)
class SideLimits:
    """One model's board. gauges, chance: what its figure draws; tag: "exact" or the search; score: its name; result:
    with the caveats of the text; gates: of the orders that attain the lower and the upper limit.
    """

    board: StandingTable
    gauges: tuple[Gauge, ...]
    chance: Range | None
    tag: str
    score: str
    result: Result
    gates: tuple[str, str]


@dataclass(frozen=True, eq=False)
class LimitsShown:
    """The page AOPC and NAOPC at one example, ready to be written.

    sides: one model or two on the same text; direction: of the results; header, rows: the table of scores, whose first
    two columns are names, or None; settings: what else the numbers depend on.
    """

    sides: tuple[tuple[Shown, SideLimits], ...]
    direction: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def columns_of_text(self) -> list[int]:
        """The places of the columns that hold no number."""
        held = [[row[i] for row in self.rows if row[i] is not None] for i in range(len(self.header))]
        return [i for i, cells in enumerate(held) if not cells or any(isinstance(one, str) for one in cells)]


def limits_page(page: LimitsShown) -> str:
    """Write what one text allows of AOPC as one HTML page, escaped, without script or reference; for UTF-8."""
    from markupsafe import Markup

    names = " and ".join(shown.model for shown, _ in page.sides)
    boards = [told.board for _, told in page.sides]
    reached = [value for board in boards for value in (board.limits.lower, board.limits.upper)]
    best = [None if board.limits.coincide else board.best(page.direction) for board in boards]
    return write_page(
        "limits.html",
        f"{page.sides[0][0].example.id} · AOPC and NAOPC · {names}",
        LIMITS_STYLE,
        page=page,
        # Under each other on one axis: what one model allows and another does not is seen at once.
        axes=[lay_axis(told.gauges, told.board.limits, (min(reached), max(reached))) for _, told in page.sides],
        closest=["" if one is None else one.measure for one in best],
        compared=_compare(page),
        facts=[_facts(page, shown, board) for (shown, _), board in zip(page.sides, boards)],
        arrows=ARROWS,
        exact=EXACT,
        meanings=[(name, TERMS[name]) for name in _DEFINED],
        headlines=[Markup(headline(told.result, Form.HTML)) for _, told in page.sides],
        facts_of=[[(fact_label(one), fact_text(one)) for one in told.result.facts] for _, told in page.sides],
        caveats_of=[[(one.badge, one.explanation) for one in told.result.caveats] for _, told in page.sides],
    )


def _compare(page: LimitsShown) -> list[Comparison] | None:
    """Both directions, the page's first; none where there are no rankings, None where nothing is to be compared."""
    # Where they explain different classes, a caveat says that they are not compared.
    if len(page.sides) < 2 or len({shown.class_name for shown, _ in page.sides}) > 1:
        return None
    boards = {shown.model: told.board for shown, told in page.sides}
    found = [compare_standings(boards, way) for way in sorted(DIRECTIONS, key=lambda way: way != page.direction)]
    return [] if None in found else [one for one in found if one]


def _facts(page: LimitsShown, shown: Shown, board: StandingTable) -> dict[str, str]:
    named = ", ".join(f"{one.measure} ({measure(one.measure).version})" for one in board.standings)
    return shown.provenance | page.settings | {"measures (version)": named}
