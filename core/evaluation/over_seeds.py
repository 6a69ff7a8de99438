"""The same question of every member of a family of seeds: means over seeds with intervals, and whether ranks agree."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from core.mathematics.ranking import kendall_tau
from core.mathematics.statistics import Interval, mean_interval, seeds_interval

# One of many random attributions, or of shuffles of a measure's, which are a baseline together.
_DRAWN = re.compile(r"(random|.+, shuffle) \d+")
# What a number is of: (its name, what else).
_Of = tuple[str, tuple[tuple[str, Any], ...]]
# Of a line of an example what its numbers are of; of a line of no one example also its word and class.
_ABOUT = ("measure", "values", "metric", "direction", "length", "ratio", "against", "attack")
_WORDS = ("word", "class")
_CHOICES = ("row", "example", "cut", "draws", "sigma", "seed", "erasure", "scaling", "placement", "features", "judged")


@dataclass(frozen=True, eq=False)
class OverSeeds:
    """A number over S seeds. about: {column: what it is of}; values: float64[S], NaN where a seed has none; share: it
    lies from 0 to 1.
    """

    name: str
    about: Mapping[str, Any]
    values: np.ndarray
    share: bool = False

    @property
    def mean(self) -> Interval:
        """The mean over seeds with its 95 % interval: BCa, of shares by t in logit space.

        Source: FMM, App.; ROAR for performance; glossary, Intervals.
        """
        return seeds_interval(self.values) if self.share else mean_interval(self.values)


@dataclass(frozen=True)
class RanksOverSeeds:
    """How far the order of measures by a number agrees between seeds: mean and smallest Kendall's τ-b over pairs of
    seeds, NaN without an order; first: in how many seeds each measure that ever is first is.
    """

    name: str
    about: Mapping[str, Any]
    mean: float
    smallest: float
    first: Mapping[str, int]
    seeds: int


def means_over_seeds(lines: Sequence[Iterable[Mapping[str, Any]]]) -> list[OverSeeds]:
    """The means of every number over the examples of each seed, by what it is of.

    Args:
        lines: of each seed as `core.evaluation.study.Question.records`.
    """
    found: dict[_Of, dict[int, list[float]]] = {}
    shares: dict[_Of, bool] = {}
    for s, of_seed in enumerate(lines):
        for line in of_seed:
            of = _ABOUT if "example" in line else (*_ABOUT, *_WORDS)
            about = tuple((name, _together(line[name])) for name in of if line.get(name) is not None)
            for name, value in line.items():
                if name in (*_ABOUT, *_WORDS, *_CHOICES) or not isinstance(value, int | float):
                    continue
                found.setdefault((name, about), {}).setdefault(s, []).append(float(value))
                shares[name, about] = shares.get((name, about), True) and isinstance(value, bool)
    return [
        OverSeeds(name, dict(about), _means(of, len(lines)), shares[name, about]) for (name, about), of in found.items()
    ]


def _together(value: Any) -> Any:
    drawn = _DRAWN.fullmatch(value) if isinstance(value, str) else None
    return drawn[1] if drawn else value


def _means(of: Mapping[int, Sequence[float]], S: int) -> np.ndarray:
    return np.array([np.mean(of[s]) if s in of else np.nan for s in range(S)])


def ranks_over_seeds(found: Iterable[OverSeeds]) -> list[RanksOverSeeds]:
    """How far the orders of measures agree between seeds, of each number that two measures or more have in all seeds;
    what is better is first, by the arrow of the metric or the number's name.
    """
    grouped: dict[_Of, dict[str, np.ndarray]] = {}
    for one in found:
        of = tuple((k, v) for k, v in one.about.items() if k not in ("measure", "values"))
        if "measure" in one.about and not np.isnan(one.values).any():
            grouped.setdefault((one.name, of), {})[one.about["measure"]] = one.values
    ranked = []
    for (name, of), values in grouped.items():
        arrow = dict(of).get("direction") or name[-1:]
        if len(values) > 1 and arrow in ("↑", "↓"):
            ranked.append(_ranked(name, dict(of), values, -1 if arrow == "↓" else 1))
    return ranked


def _ranked(name: str, about: Mapping[str, Any], values: Mapping[str, np.ndarray], sign: int) -> RanksOverSeeds:
    by_seed = sign * np.stack(list(values.values()), axis=1)
    taus = [kendall_tau(a, b) for a, b in combinations(by_seed, 2)]
    known = [tau for tau in taus if tau == tau] or [float("nan")]
    tops = [list(values)[place] for place in by_seed.argmax(axis=1)]
    first = {one: tops.count(one) for one in dict.fromkeys(tops)}
    return RanksOverSeeds(name, about, float(np.mean(known)), min(known), first, len(by_seed))
