"""What a scoreboard comes to in numbers: each measure's figures with intervals and marks, and which beat which."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from core.evaluation.findings import FEW, look_share
from core.evaluation.studies.board_rows import BoardMeasure, board_metrics
from core.evaluation.study import Answers, Rows, Study
from core.mathematics.aopc import naopc
from core.mathematics.curves import UNKNOWN, Areas, acu, areas_between, racu
from core.mathematics.masking import RATIOS
from core.mathematics.ranking import Beaten, compare_pairs
from core.mathematics.statistics import Interval, mean_intervals, rejected_count_p, significant
from core.metrics.registry import ARROWS, HIGHER, LOWER
from core.verdicts.deciding import Word
from core.wording import WHOLE, Tally

X = np.array(RATIOS)
RANDOM = "random order"
COMPREHENSIVENESS, SUFFICIENCY = "comprehensiveness", "sufficiency"
NAOPC_C, NAOPC_S, RACU, EVIDENCE = "NAOPC comprehensiveness", "NAOPC sufficiency", "RACU", "evidence found"
_LOWER = SUFFICIENCY, NAOPC_S


def figures() -> tuple[str, ...]:
    """The figures of a scoreboard that are of faithfulness, in the order of its columns."""
    return (COMPREHENSIVENESS, SUFFICIENCY, NAOPC_C, NAOPC_S, RACU, *board_metrics())


def direction_of(figure: str) -> int:
    """HIGHER or LOWER."""
    return LOWER if figure in _LOWER else HIGHER


def arrow(figure: str) -> str:
    """A figure with which way is better."""
    return f"{figure} {ARROWS[direction_of(figure)]}"


class Cell(NamedTuple):
    """A figure of a measure: its mean over n texts with a 95 % interval; rejected: of how many of `tested` texts it
    rests on rejected inputs; marked: whether these are more than chance explains, or the only text is one of them;
    error: of one text its standard error over draws, NaN without draws.
    """

    interval: Interval
    n: int
    rejected: int
    tested: int
    marked: bool
    unstable: bool = False
    error: float = float("nan")

    @property
    def out(self) -> bool:
        """Whether it is compared with none."""
        return self.marked or self.unstable


class Board(Protocol):
    """What a scoreboard is asked by."""

    @property
    def sign(self) -> str:
        """Which values of a measure."""
        ...

    @property
    def by(self) -> str:
        """The figure that decides."""

    @property
    def chance(self) -> Study[Rows]:
        """Random order."""

    @property
    def measured(self) -> tuple[BoardMeasure, ...]:
        """Each measure."""

    @property
    def limits(self) -> Study[Rows]:
        """The limits of AOPC."""


@dataclass(frozen=True, eq=False)
class BoardReport:
    """A scoreboard as far as it is computed, on n texts that are known of random order and every measure that begun.

    names: measures and, last, RANDOM; values: {figure: float64[n, M + 1]}, of RACU the ACU, which on one text is a
    multiple of it; cells: {(name, figure): Cell}; passes: {measure: mean}; milliseconds: {measure: median}; problems:
    {measure: {why it has no figures: texts}}; waiting: measures that have not begun; better: of one text, the measures
    whose orders are better than chance by their verdicts, None where that is not known of all.
    """

    board: Board
    names: tuple[str, ...]
    n: int
    values: dict[str, np.ndarray]
    cells: dict[tuple[str, str], Cell]
    passes: dict[str, float]
    milliseconds: dict[str, float]
    problems: dict[str, dict[str, int]]
    waiting: tuple[str, ...]
    left_out: dict[str, int]
    tally: Tally = WHOLE
    picked: str = ""
    tested: bool = True
    cut: dict[int, int] = field(default_factory=dict)
    better: frozenset[str] | None = None

    @property
    def told(self) -> bool:
        """Whether a verdict may be told: of enough texts, none on its way, and not picked by what the model does."""
        return self.tally.settled and self.n >= FEW and not self.picked

    def marked(self, figure: str) -> tuple[str, ...]:
        """Whose figure rests on rejected inputs, so that it is compared with none."""
        return tuple(name for name in self.names if self.cells[name, figure].marked)

    def comparable(self, figure: str) -> np.ndarray:
        """A figure's values, higher is better, float64[n, M + 1]; NaN of those that are out."""
        out = np.array([self.cells[name, figure].out for name in self.names])
        return np.where(out, np.nan, direction_of(figure) * self.values[figure])

    def means(self, figure: str) -> np.ndarray:
        """A figure's means, higher is better, float64[M + 1]; NaN of those that are out."""
        cells = [self.cells[name, figure] for name in self.names]
        return np.array([np.nan if one.out else direction_of(figure) * one.interval.mean for one in cells])

    @cached_property
    def beaten(self) -> dict[str, Beaten]:
        """{figure: which measure beats which over the texts}; {} before a verdict may be told. What rests on rejected
        inputs beats none and is beaten by none, and a figure that no two have on two texts is left out.
        """
        if not self.told:
            return {}
        known = {figure: self.comparable(figure) for figure in figures()}
        return {
            figure: compare_pairs(values, look_share(self.n))
            for figure, values in known.items()
            if ((~np.isnan(values)).sum(axis=1) > 1).sum() > 1
        }

    def unbeaten(self, figure: str) -> tuple[str, ...]:
        """Who no other beats by a figure, of those who can be compared by it; () before that may be told."""
        if figure not in self.beaten:
            return ()
        free = self.beaten[figure].unbeaten & ~np.isnan(self.comparable(figure)).all(axis=0)
        return tuple(name for name, one in zip(self.names, free) if one)

    def leaders(self, figure: str) -> tuple[str, ...]:
        """The unbeaten measures that beat random order, the best mean first; () before that may be told."""
        m, means = self.names.index(RANDOM), dict(zip(self.names, self.means(figure)))
        free = [name for name in self.unbeaten(figure) if name != RANDOM]
        told = [name for name in free if self.beaten[figure].by[self.names.index(name), m]]
        return tuple(sorted(told, key=means.__getitem__, reverse=True))

    def verdict(self, name: str) -> Word:
        """Of a measure over the texts: its AOPC comprehensiveness against that of random orders, one of the pairs."""
        if COMPREHENSIVENESS not in self.beaten:
            return Word.UNTOLD
        m, beats = self.names.index(name), self.beaten[COMPREHENSIVENESS].by
        if np.isnan(self.comparable(COMPREHENSIVENESS)[:, [m, -1]]).all(axis=0).any():
            return Word.UNTOLD
        return Word.BETTER if beats[m, -1] else Word.WORSE if beats[-1, m] else Word.NO_BETTER

    def not_better(self, name: str) -> bool:
        """Whether a measure is not shown to do better than chance, where that was asked: on the text, or over them."""
        if self.better is not None:
            return name not in self.better
        return self.told and self.verdict(name) in (Word.NO_BETTER, Word.WORSE)


def build_board(board: Board, answers: Answers) -> BoardReport | None:
    """All of it in numbers; None before the first text that is known of random order and of a measure that began."""
    rows: dict[Any, Rows] = answers.found
    chance, limits = rows[board.chance], rows.get(board.limits)
    every = {one.measure: rows[one] for one in board.measured}
    begun = {name: one for name, one in every.items() if one.there.any()}
    there = np.logical_and.reduce([chance.there, *(one.there for one in begun.values())])
    if not there.any():
        return None
    names = (*begun, RANDOM)
    values, marks = _values(chance, limits, begun, there), _marks(chance, limits, begun, there)
    errors = _errors(chance, begun, there)
    base = chance.columns["curves"][there]
    curves = {name: _areas(one.columns["curve"][there], base, answers.resamples) for name, one in begun.items()}
    columns = np.concatenate([values[figure] for figure in values if figure != RACU], axis=1)
    told = iter(mean_intervals(columns, answers.resamples))
    cells = {}
    for figure in values:
        for k, name in enumerate(names):
            mark = marks[figure][:, k]
            mean = _racu_of(curves, name) if figure == RACU else next(told)
            n, unstable = int((~np.isnan(values[figure][:, k])).sum()), figure == RACU and name in curves
            cell = _cell(answers, mean, n, mark, unstable and curves[name].unstable)
            alone = len(answers.sample) == 1 and figure in errors
            cells[name, figure] = cell._replace(error=float(errors[figure][0, k])) if alone else cell
    took = {name: one.columns["took"][there] for name, one in begun.items()}
    coming = any(one in answers.coming and not rows[one].complete for one in (board.chance, *board.measured))
    return BoardReport(
        board,
        names,
        int(there.sum()),
        values,
        cells,
        {name: _of_known(np.mean, one[:, 0]) for name, one in took.items()},
        {name: _of_known(np.median, one[:, 1]) for name, one in took.items()},
        {name: _problems(one, there) for name, one in begun.items()},
        tuple(name for name in every if name not in begun),
        answers.left_out,
        Tally(int(there.sum()), len(chance), len(chance.problems), coming, fewest=FEW),
        answers.sample.picked,
        answers.reference is not None,
        chance.cut,
    )


def text_values(board: Board, answers: Answers, i: int, name: str) -> dict[str, float]:
    """A measure's figures on the i-th text by themselves, RACU instead of ACU; NaN where there is none."""
    chance, limits, one, there = _of_text(board, answers, i, name)
    found = {figure: float(values[0, 0]) for figure, values in _values(chance, limits, one, there).items()}
    base = chance.columns["curves"][i].mean(axis=0)
    return found | {RACU: 0.0 if name == RANDOM else racu(X, one[name].columns["curve"][i], base)}


def text_marks(board: Board, answers: Answers, i: int, name: str) -> dict[str, float]:
    """Whether each of them rests on rejected inputs: 1 or 0, NaN where nothing can be said."""
    found = _marks(*_of_text(board, answers, i, name))
    return {figure: float(marks[0, 0]) for figure, marks in found.items()}


def text_errors(board: Board, answers: Answers, i: int, name: str) -> dict[str, float]:
    """The standard errors of its erasure metrics on the i-th text; NaN where it draws nothing."""
    chance, _, one, there = _of_text(board, answers, i, name)
    return {figure: float(errors[0, 0]) for figure, errors in _errors(chance, one, there).items()}


def _of_text(
    board: Board, answers: Answers, i: int, name: str
) -> tuple[Rows, Rows | None, dict[str, Rows], np.ndarray]:
    """Rows of random order, of the limits and of one measure, and the i-th text alone as bool[N]."""
    rows: dict[Any, Rows] = answers.found
    one = {study.measure: rows[study] for study in board.measured if study.measure == name}
    return rows[board.chance], rows.get(board.limits), one, np.arange(len(rows[board.chance])) == i


class RejectedTexts(NamedTuple):
    """On how many texts a figure rests on rejected inputs: of the measure where these are the fewest, and of that where
    they are the most; of how many texts; marked: whether any measure is marked for it, as of `Cell`.
    """

    least: int
    most: int
    texts: int
    marked: bool


def rejected_texts(board: Board, answers: Answers) -> dict[str, RejectedTexts]:
    """{figure: on how many texts it rests on rejected inputs}, of complete measures; {} below FEW texts."""
    rows: dict[Any, Rows] = answers.found
    chance, every = rows[board.chance], {one.measure: rows[one] for one in board.measured}
    known = {name: one for name, one in every.items() if one.there.all()}
    if not known or len(chance) < FEW or not chance.there.all():
        return {}
    marks = _marks(chance, rows[board.limits], known, chance.there)
    found = {figure: one[:, :-1] for figure, one in marks.items() if not np.isnan(one[:, :-1]).all()}
    told = {}
    for figure, one in found.items():
        counts, tested = np.nansum(one, axis=0).astype(int).tolist(), (~np.isnan(one)).sum(axis=0).tolist()
        marked = any(_more(answers, *each) for each in zip(counts, tested))
        told[figure] = RejectedTexts(min(counts), max(counts), len(chance), marked)
    return told


def _more(answers: Answers, rejected: int, tested: int) -> bool:
    """Whether more texts rest on rejected inputs than 5 % by chance explain; of one text whether it does."""
    texts = None if answers.reference is None else answers.reference.texts
    if not rejected or tested < 2 or texts is None:
        return rejected > 0
    return significant(float(rejected_count_p(np.array(rejected), tested, texts)))


def _errors(chance: Rows, begun: dict[str, Rows], there: np.ndarray) -> dict[str, np.ndarray]:
    """{erasure metric: standard errors float64[n, M + 1]}, random order last; NaN of what draws nothing."""
    every = np.stack([one.columns["errors"][there] for one in (*begun.values(), chance)], axis=1)
    return {name: every[..., s] for s, name in enumerate(board_metrics())}


def _values(chance: Rows, limits: Rows | None, begun: dict[str, Rows], there: np.ndarray) -> dict[str, np.ndarray]:
    """{figure: float64[n, M + 1]}, random order last."""
    orders, base = chance.columns["orders"][there], chance.columns["curves"][there].mean(axis=1)
    mean = orders.mean(axis=1)
    aopc = np.stack([*(one.columns["aopc"][there] for one in begun.values()), np.stack([mean, mean], axis=1)], axis=1)
    lower, upper = _widened(limits, there, aopc, orders)
    normal = np.full(aopc.shape, np.nan)
    for i, m, d in np.ndindex(*aopc.shape):
        if not np.isnan(lower[i] + aopc[i, m, d]):
            normal[i, m, d] = naopc(aopc[i, m, d], lower[i], upper[i])
    area = [[acu(X, curve, b) for curve, b in zip(one.columns["curve"][there], base)] for one in begun.values()]
    found = {COMPREHENSIVENESS: aopc[..., 0], SUFFICIENCY: aopc[..., 1]}
    found |= {NAOPC_C: normal[..., 0], NAOPC_S: normal[..., 1]}
    found[RACU] = np.array([*area, np.zeros(len(base))]).T
    every = [*begun.values(), chance]
    for s, name in enumerate(board_metrics()):
        found[name] = np.stack([one.columns["values"][there][:, s] for one in every], axis=1)
    return found | {EVIDENCE: np.stack([one.columns["evidence"][there] for one in every], axis=1)}


def _widened(
    limits: Rows | None, there: np.ndarray, aopc: np.ndarray, orders: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Limits, which every order that was scored widens where a search found them; NaN where they are not known."""
    if limits is None or not limits.columns or not limits.there.any():
        return np.full(len(aopc), np.nan), np.full(len(aopc), np.nan)
    lower, upper = (np.where(limits.there[there], limits.columns[end][there], np.nan) for end in ("lower", "upper"))
    reached = np.concatenate([aopc.reshape(len(aopc), -1), orders], axis=1)
    lowest, highest = np.nanmin(reached, axis=1), np.nanmax(reached, axis=1)
    return np.minimum(lower, lowest), np.maximum(upper, highest)


def _marks(chance: Rows, limits: Rows | None, begun: dict[str, Rows], there: np.ndarray) -> dict[str, np.ndarray]:
    """{figure: float64[n, M + 1]}, whether it rests on rejected inputs: 1, 0, or NaN where nothing can be said."""
    random, every = chance.columns["marks"][there], [one.columns["marks"][there] for one in begun.values()]
    ends = np.full(len(random), np.nan)
    if limits is not None and limits.columns and limits.there.any():
        ends = np.where(limits.there[there], limits.columns["marks"][there], np.nan)
    comprehensive = np.stack([*(one[:, 0] for one in every), random[:, 0]], axis=1)
    sufficient = np.stack([*(one[:, 1] for one in every), random[:, 0]], axis=1)
    found = {COMPREHENSIVENESS: comprehensive, SUFFICIENCY: sufficient}
    found |= {NAOPC_C: np.maximum(comprehensive, ends[:, None]), NAOPC_S: np.maximum(sufficient, ends[:, None])}
    found[RACU] = np.stack([*(np.maximum(one[:, 2], random[:, 1]) for one in every), random[:, 1]], axis=1)
    for s, name in enumerate(board_metrics()):
        found[name] = np.stack([*(one[:, 3 + s] for one in every), random[:, 2 + s]], axis=1)
    # Evidence asks the model nothing but for the text itself.
    return found | {EVIDENCE: np.zeros(comprehensive.shape)}


def _areas(curves: np.ndarray, base: np.ndarray, resamples: int) -> Areas:
    """ACU and RACU over texts float64[n, K] against random orders float64[n, R, K]; of one text over the orders."""
    known = ~np.isnan(curves).any(axis=1)
    if not known.any():
        return UNKNOWN
    curves, base = curves[known], base[known]
    if len(curves) == 1:
        return areas_between(X, lambda w: (curves, w @ base[0] / w.sum(axis=1, keepdims=True)), base.shape[1])
    means = base.mean(axis=1)

    def both(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        whole = weights.sum(axis=1, keepdims=True)
        return weights @ curves / whole, weights @ means / whole

    return areas_between(X, both, len(curves), resamples=resamples)


def _racu_of(curves: dict[str, Areas], name: str) -> Interval:
    return Interval(0.0, np.nan, np.nan) if name == RANDOM else curves[name].racu


def _cell(answers: Answers, interval: Interval, n: int, mark: np.ndarray, unstable: bool) -> Cell:
    tested, rejected = int((~np.isnan(mark)).sum()), int(np.nansum(mark))
    # That of one text's RACU is over its random orders.
    if n < FEW and len(answers.sample) > 1:
        interval = Interval(interval.mean, np.nan, np.nan)
    marked = interval.mean == interval.mean and _more(answers, rejected, tested)
    return Cell(interval, n, rejected, tested, marked, unstable)


def _problems(rows: Rows, there: np.ndarray) -> dict[str, int]:
    """{why a measure says nothing of a text, as it was kept: texts}."""
    return dict(Counter(rows.sentences[k] for k in rows.columns["notes"][there] if rows.sentences[k]))


def _of_known(of: Callable[[np.ndarray], Any], values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(of(known)) if len(known) else float("nan")
