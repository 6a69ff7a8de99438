"""What the trainings of a ROAR study come to: curves, RACU with its interval over seeds, and the lines of a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.evaluation.study import Table
from core.mathematics.curves import racu, rising
from core.mathematics.performance import lowest
from core.mathematics.statistics import Interval, seeds_interval
from core.roar.masked import MaskingStep
from core.roar.study import EVERYTHING, NOTHING, RoarStudy
from core.training.retraining import TrainingCard
from core.wording import number, with_ends

COLUMNS = ("measure", "ratio", "features", "seed", "performance", "racu", "low", "high", "seconds", "problem")


@dataclass(frozen=True, eq=False)
class Curves:
    """Performance after retraining.

    steps: K, unmasked first; names: the baseline and the measures; performance: float[S, M, K] of each seed and name,
    NaN where a training did not converge or was not begun; floor: float[S], with everything masked; n: test texts.
    """

    metric: str
    seeds: tuple[int, ...]
    names: tuple[str, ...]
    steps: tuple[MaskingStep, ...]
    performance: np.ndarray
    floor: np.ndarray
    n: int

    def racus(self) -> dict[str, np.ndarray]:
        """RACU of each measure by seed, float[S]; NaN where a point of its curve or of the baseline's is missing."""
        x = np.array([step.amount for step in self.steps])
        found = {}
        for m, name in enumerate(self.names[1:], start=1):
            pairs = zip(self.performance[:, m], self.performance[:, 0], self.floor)
            found[name] = np.array([racu(x, own, baseline, floor) for own, baseline, floor in pairs])
        return found

    def leaking(self) -> dict[str, bool]:
        """Whether a measure's masks leak the class, see `core.mathematics.curves.rising`."""
        found = rising(self.performance[:, 1:], self.n, 1.0 - lowest(self.metric))
        return dict(zip(self.names[1:], found.tolist()))

    def racu_of(self, name: str) -> Interval:
        """Mean RACU of a measure and its interval over seeds, in logit space between −1 and 1."""
        return seeds_interval(self.racus()[name], -1.0, 1.0)

    def point(self, m: int, k: int) -> Interval:
        """Mean performance of a name at a step and its interval over seeds."""
        return seeds_interval(self.performance[:, m, k], lowest(self.metric), 1.0, self.n)


def curves_of(study: RoarStudy, cards: Sequence[TrainingCard]) -> Curves:
    """The curves of a study's trainings; a seed whose unmasked training did not converge has none."""
    seeds = tuple(study.plan.seed + number for number in range(study.seeds))
    found = {
        (card.seed, card.measure, MaskingStep(card.ratio, card.features)): card.performance
        for card in cards
        if not card.problem
    }
    steps = (NOTHING, *study.steps)
    shared = {NOTHING, EVERYTHING}
    performance = [
        [[found.get((s, "" if step in shared else name, step), np.nan) for step in steps] for name in study.asked]
        for s in seeds
    ]
    floor = [found.get((s, "", EVERYTHING), np.nan) for s in seeds]
    n = max((card.examples for card in cards), default=0)
    return Curves(study.plan.metric, seeds, study.asked, steps, np.array(performance), np.array(floor), n)


def lines_of(curves: Curves, cards: Sequence[TrainingCard]) -> list[dict[str, Any]]:
    """Lines with the columns COLUMNS: of each training; of each measure and step, over seeds; of each measure and seed;
    and of each measure, over steps and seeds.
    """
    lines = [
        {
            "measure": card.measure or "all",
            "ratio": card.ratio,
            "features": card.features,
            "seed": card.seed,
            "performance": _known(card.performance),
            "seconds": card.seconds + card.attributing,
            "problem": card.problem or None,
        }
        for card in cards
    ]
    for m, name in enumerate(curves.names):
        for k, step in enumerate(curves.steps):
            found = curves.point(m, k)
            place = {"measure": name, "ratio": step.ratio, "features": step.features}
            lines.append(place | {"performance": _known(found.mean)} | _ends(found))
    for name, values in curves.racus().items():
        lines += [{"measure": name, "seed": s, "racu": _known(value)} for s, value in zip(curves.seeds, values)]
        found = curves.racu_of(name)
        lines.append({"measure": name, "racu": _known(found.mean)} | _ends(found))
    return [{column: line.get(column) for column in COLUMNS} for line in lines]


def racu_table(curves: Curves) -> Table:
    """RACU of each measure with its interval over seeds, and whether its masks leak the class; the best first."""
    found = {name: curves.racu_of(name) for name in curves.names[1:]}
    ordered = sorted(found, key=lambda name: -np.nan_to_num(found[name].mean, nan=-np.inf))
    converged = {name: int((~np.isnan(values)).sum()) for name, values in curves.racus().items()}
    leaks = {name: "yes" if one else "no" for name, one in curves.leaking().items()}
    rows = [
        [name, with_ends(found[name].mean, found[name].low, found[name].high), f"{converged[name]}", leaks[name]]
        for name in ordered
    ]
    return ["measure", "RACU ↑", "seeds", "class leakage"], rows


def performance_table(curves: Curves) -> Table:
    """Mean performance of each measure at each step."""
    rows = [
        [f"{step}", *(number(curves.point(m, k).mean) for m in range(len(curves.names)))]
        for k, step in enumerate(curves.steps)
    ]
    return [f"masked ({curves.metric})", *curves.names], rows


def _ends(found: Interval) -> dict[str, float | None]:
    return {"low": _known(found.low), "high": _known(found.high)}


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
