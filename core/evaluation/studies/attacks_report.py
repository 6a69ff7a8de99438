"""Attacks over a sample in numbers: how often they succeed, and original against attacked texts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.attacks.attacking import OUTCOMES
from core.attacks.victim import AttackOutcome
from core.evaluation.findings import of_enough
from core.evaluation.study import Answers, Rows, Table
from core.mathematics.drift import centroid_change
from core.mathematics.statistics import Interval, mean_interval, paired_interval, share_interval
from core.validity.marks import alone
from core.validity.references import CALIBRATED, FORMS
from core.wording import Tally, number

NOTHING = Interval(float("nan"), float("nan"), float("nan"))
_SHOWN = 50


@dataclass(frozen=True)
class Sides:
    """A number of the original texts, of the attacked ones, and attacked less original, each with its interval."""

    original: Interval = NOTHING
    attacked: Interval = NOTHING
    difference: Interval = NOTHING


@dataclass(frozen=True, eq=False)
class AttacksReport:
    """An attack on a sample.

    ended: texts by outcome; success: of those that were attacked, n of them; queries, changed, similarity: means,
    the last two where it succeeded; pairs: texts on which it did, which all below are of. fidelity, never: as of
    behaviour, never changes; rejected: unmasked texts with a calibrated MaSF p below 5 %, NaN without a reference;
    drift: {share masked: changes of the centroid, original and attacked}; moved: that of the attacked texts against
    the originals; texts: (id, attacked text, queries, similarity) of the first; picked, cut: as of `Sample` and
    `Rows`.
    """

    model: str
    attack: str
    ended: dict[AttackOutcome, int]
    success: Interval
    queries: Interval
    changed: Interval
    similarity: Interval
    pairs: int
    fidelity: Sides
    never: Sides
    rejected: Sides
    drift: dict[str, tuple[float, float]]
    moved: float
    texts: tuple[tuple[str, str, int, float], ...]
    tally: Tally
    cut: int = 0
    picked: str = ""

    @property
    def n(self) -> int:
        """Texts that were attacked: neither predicted wrong already nor without a word to change."""
        return self.ended[AttackOutcome.SUCCEEDED] + self.ended[AttackOutcome.FAILED]


def attacks_report(answers: Answers, study: Any) -> AttacksReport | None:
    """Put what is known into numbers; None before the first text. study: the `Attacking` that was asked."""
    rows: Rows = answers.found[study]
    there = np.flatnonzero(rows.there)
    if not len(there):
        return None
    columns, outcomes = rows.columns, rows.columns["outcome"][there]
    ended = {one: int((outcomes == k).sum()) for k, one in enumerate(OUTCOMES)}
    won = there[outcomes == OUTCOMES.index(AttackOutcome.SUCCEEDED)]
    tried = there[np.isin(outcomes, [OUTCOMES.index(AttackOutcome.SUCCEEDED), OUTCOMES.index(AttackOutcome.FAILED)])]

    def mean(name: str, of: np.ndarray) -> Interval:
        return of_enough(mean_interval(columns[name][of].astype(np.float64), answers.resamples), len(of))

    states = columns["states"][won].astype(np.float64)
    fidelity, never = _behaviour(columns, won, answers.resamples)
    texts = [rows.sentences[columns["text"][i]] for i in won[:_SHOWN]]
    first = [
        (answers.sample.examples[i].id, text, int(columns["queries"][i]), float(columns["similarity"][i]))
        for i, text in zip(won, texts)
    ]
    return AttacksReport(
        answers.model.name,
        study.attack,
        ended,
        share_interval(len(won), len(tried)) if len(tried) else NOTHING,
        mean("queries", tried),
        mean("changed", won),
        mean("similarity", won),
        len(won),
        fidelity,
        never,
        _rejected(columns["p"][won][:, :, FORMS.index(CALIBRATED)]),
        _drift(states),
        centroid_change(states[:, 1, 0], states[:, 0, 0]) if len(won) > 1 else float("nan"),
        tuple(first),
        answers.tally(),
        len(rows.cut),
        answers.sample.picked,
    )


def _behaviour(columns: dict[str, np.ndarray], won: np.ndarray, resamples: int) -> tuple[Sides, Sides]:
    """Fidelity and the share of predictions that never change, of texts of two features or more on both sides."""
    judged = won[(columns["free"][won] > 1).all(axis=1)]
    if not len(judged):
        return Sides(), Sides()
    flips, free = columns["flips"][judged], columns["free"][judged][:, :, None]
    kept = 1 - np.where(flips > 0, flips / np.maximum(free, 1), 1.0).mean(axis=2)
    never = (flips == 0).mean(axis=2)

    def sides(values: np.ndarray) -> Sides:
        three = values[:, 0], values[:, 1], values[:, 1] - values[:, 0]
        return Sides(*(of_enough(mean_interval(one, resamples), len(judged)) for one in three))

    return sides(kept), sides(never)


def _rejected(p: np.ndarray) -> Sides:
    """Shares of float64[n, 2] below 5 %, and the paired difference; nothing without p-values."""
    if not len(p) or np.isnan(p).any():
        return Sides()
    low = alone(p)
    shares = (share_interval(int(low[:, side].sum()), len(p)) for side in range(2))
    return Sides(*shares, paired_interval(low[:, 1], low[:, 0]))


def _drift(states: np.ndarray) -> dict[str, tuple[float, float]]:
    """Changes of the centroid of float64[n, 2, 3, H] at 50 and 100 % masked against 0; {} of fewer than two texts."""
    if len(states) < 2:
        return {}
    sides = [[centroid_change(states[:, side, k], states[:, side, 0]) for side in range(2)] for k in (1, 2)]
    return {share: (original, attacked) for share, (original, attacked) in zip(("50 %", "100 %"), sides)}


def attacks_tables(report: AttacksReport) -> list[Table]:
    """Original and attacked texts beside each other, how attacks ended, and the attacked texts."""
    beside = (("fidelity ↑", report.fidelity), ("never changes", report.never), ("rejected by MaSF", report.rejected))
    numbers = [
        [called, *(_cell(one) for one in (sides.original, sides.attacked, sides.difference))]
        for called, sides in beside
    ]
    drifts = [*report.drift.items(), ("unmasked", (0.0, report.moved))]
    numbers += [[f"centroid change {share}", number(one), number(other), ""] for share, (one, other) in drifts]
    means = (
        ("success rate", report.success),
        ("queries", report.queries),
        ("share of words changed", report.changed),
        ("similarity", report.similarity),
    )
    ended = [[one.value, f"{count:,}"] for one, count in report.ended.items()]
    texts = [[name, text, f"{queries:,}", number(similarity)] for name, text, queries, similarity in report.texts]
    return [
        (["number", "original", "attacked", "difference"], numbers),
        (["attack", "value"], [*ended, *([called, _cell(one)] for called, one in means)]),
        (["text", "attacked text", "queries", "similarity"], texts),
    ]


def _cell(one: Interval) -> str:
    """A value with its interval."""
    return f"{number(one.mean)} [{number(one.low)}, {number(one.high)}]" if one.known else number(one.mean)
