"""Does retraining agree? ROAR's curves and ranking beside those of a model that reads masked texts, the FMM."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.evaluation.asking import study_cost
from core.evaluation.studies.check_report import tests_along
from core.evaluation.studies.model_check import Curve
from core.evaluation.studies.retrained import SHIPPED, STORIES, Retrained, read_retrained, short_digest
from core.evaluation.study import Answers, Question, Table, choice, register
from core.explanation.explainer import Cost, Explainer
from core.explanation.rows import SIGNS
from core.mathematics.curves import racu
from core.mathematics.masking import RATIOS
from core.mathematics.performance import METRICS
from core.mathematics.ranking import kendall_tau
from core.mathematics.statistics import Interval, seeds_interval
from core.measures.catalogue import offered_measures
from core.network.model import Model
from core.validity.marks import Gate
from core.validity.references import CALIBRATED
from core.wording import Tally, as_json, duration, listed, number, refuse_unknown

# Fewer measures have no ranking to speak of.
FEWEST_RANKED = 3


@dataclass(frozen=True, eq=False)
class RetrainingReport:
    """ROAR beside an FMM on n texts.

    curves: float[1 + M, K], the FMM's performance at ROAR's ratios; racus: float[M], of these; ranked: measures with a
    RACU on both sides; taus: float[S'], Kendall's τ-b of each seed's ranking and the FMM's; tau: their mean with its
    interval over seeds; shared: how many of the n texts ROAR was tested on; cost: the FMM's, at most; gates: {random
    order or measure: what marks the FMM's curve}, of those that are tested.
    """

    model: str
    retrained: Retrained
    curves: np.ndarray
    racus: np.ndarray
    ranked: tuple[str, ...]
    taus: np.ndarray
    tau: Interval
    shared: int
    n: int
    cost: Cost
    tally: Tally
    cut: int = 0
    picked: str = ""
    gates: Mapping[str, Gate] = field(default_factory=dict)

    def racu_of(self, m: int) -> Interval:
        """ROAR's RACU of the m-th measure with its interval over seeds."""
        return seeds_interval(self.retrained.racus[:, m], -1.0, 1.0)


@register
@dataclass(frozen=True)
class Retraining(Question[RetrainingReport]):
    """Recursive masking of each measure of a ROAR study, explaining the label, as it was masked there."""

    name, order, done, labelled = "retraining", 9, "masked", True
    asks = "Does retraining agree?"
    shown_of = "stories-1-fmm", STORIES

    roar: str = choice(STORIES, (), "stories 1–3, or JSON of core roar")

    @classmethod
    def asked(cls, chosen: Mapping[str, Any]) -> Question:
        """The question of the study that is named, else of the one that ships of the data."""
        data = chosen.get("data")
        ships = {"roar": data} if isinstance(data, str) and data in SHIPPED else {}
        return super().asked(ships | dict(chosen))

    @property
    def unit(self) -> str:
        """What was masked as one piece."""
        return read_retrained(self.roar).unit

    @property
    def studies(self) -> tuple[Curve, ...]:
        """Random order and each measure's."""
        found = read_retrained(self.roar)
        return Curve(unit=found.unit), *(
            Curve(name, found.sign, found.unit, found.recursive) for name in found.names[1:]
        )

    def check(self, model: Model | None = None) -> None:
        """ValueError for a file that cannot be read, or was made of other classes."""
        found = read_retrained(self.roar)
        refuse_unknown(
            ("measure", found.names[1:], offered_measures(found.names[1:])), ("kind of values", (found.sign,), SIGNS)
        )
        if model is not None and {*found.labels} != {*model.labels}:
            raise ValueError(f"the ROAR study has classes {listed(found.labels)}; choose a model that has the same")

    def conclude(self, answers: Answers) -> RetrainingReport | None:
        """Both rankings; None before the first text that all curves have."""
        passed = [answers.found[study] for study in self.studies]
        there = np.logical_and.reduce([one.there for one in passed])
        if not there.any():
            return None
        found = read_retrained(self.roar)
        tests = [tests_along(one, answers.reference)[-1] for one in passed]
        labels, metric = answers.sample.labels[there], METRICS[found.metric]
        places = [RATIOS.index(ratio) for ratio in (*found.ratios, 1.0)]
        curves = np.array([[metric(labels, one.predicted[there, k]) for k in places] for one in passed])
        x, curves, floor = np.array(found.ratios), curves[:, :-1], float(curves[0, -1])
        racus = np.array([racu(x, one, curves[0], floor) for one in curves[1:]])
        ranked, taus = compare_rankings(found.racus, racus)
        texts = [one for i, one in enumerate(answers.sample.examples) if there[i]]
        return RetrainingReport(
            answers.model.name,
            found,
            curves,
            racus,
            tuple(found.names[1 + m] for m in ranked),
            taus,
            taus_interval(taus, len(ranked)),
            sum(short_digest(one.text, one.second) in found.tested for one in texts),
            len(texts),
            Cost.sum(study_cost(Explainer(answers.model), answers.sample, study) for study in self.studies),
            answers.tally(),
            len(passed[0].cut),
            answers.sample.picked,
            {name: gates[CALIBRATED] for name, gates in zip(found.names, tests) if CALIBRATED in gates},
        )

    def tables(self, report: RetrainingReport) -> list[Table]:
        """RACU, performance, and the cost of both."""
        found = report.retrained
        spans = [report.racu_of(m) for m in range(len(report.racus))]
        areas = [
            [name, *map(number, (one.mean, one.low, one.high)), "yes" if leaks else "no", number(racu)]
            for name, one, leaks, racu in zip(found.names[1:], spans, found.leaking, report.racus)
        ]
        means = _means(found.performance)
        curves = [
            [name, f"{100 * ratio:.0f}", number(means[m, k]), number(report.curves[m, k])]
            for m, name in enumerate(found.names)
            for k, ratio in enumerate(found.ratios)
        ]
        costs = [
            ["ROAR", duration(found.seconds), f"{found.trainings:,}", ""],
            ["FMM, at most", duration(report.cost.seconds), "0", f"{report.cost.passes:,}"],
        ]
        return [
            (["measure", "ROAR RACU ↑", "95 % low", "95 % high", "class leakage", "FMM RACU ↑"], areas),
            (["curve", "masked, %", f"ROAR {found.metric} ↑", f"FMM {found.metric} ↑"], curves),
            (["cost", "time ↓", "trainings", "forward passes"], costs),
        ]

    def records(self, answers: Answers) -> list[dict]:
        """A line for each measure.

        Columns: measure, ranked, racu_roar (mean over seeds) with low and high, racu_fmm, tau (of all measures) with
        tau_low and tau_high, leaks (the class, by its masks), seeds.
        """
        report = self.conclude(answers)
        if report is None:
            return []
        over = {"tau": report.tau.mean, "tau_low": report.tau.low, "tau_high": report.tau.high}
        lines = []
        for m, name in enumerate(report.retrained.names[1:]):
            one = report.racu_of(m)
            values: Mapping[str, Any] = {"racu_roar": one.mean, "low": one.low, "high": one.high}
            values = {**values, "racu_fmm": report.racus[m], **over}
            counted = {"leaks": bool(report.retrained.leaking[m]), "seeds": len(report.taus)}
            plain = {key: as_json(np.float64(value)) for key, value in values.items()}
            lines.append({"measure": name, "ranked": name in report.ranked} | plain | counted)
        return lines


def compare_rankings(roar: np.ndarray, fmm: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Kendall's τ-b of each seed's ranking and the FMM's.

    A seed counts that knows any measure, and a measure that all of these know.

    Args:
        roar: RACU by seed and measure, float[S, M], NaN where there is none; fmm: float[M].
    Returns:
        places of the measures that are ranked, and τ-b of the seeds that count, float[S']: NaN where all are tied.
    """
    seeds = ~np.isnan(roar).all(axis=1)
    known = ~np.isnan(roar[seeds]).any(axis=0) & ~np.isnan(fmm) & seeds.any()
    ranked = np.flatnonzero(known).tolist()
    if len(ranked) < FEWEST_RANKED:
        return ranked, np.array([])
    return ranked, np.array([kendall_tau(one[ranked], fmm[ranked]) for one in roar[seeds]])


def taus_interval(taus: np.ndarray, measures: int) -> Interval:
    """The mean τ-b over S seeds with a 95 % t-interval, at least as wide as if one seed had one pair the other way.

    Without that, few seeds that agree would leave nothing open. Cut at −1 and 1; no ends of a single seed.

    Args:
        taus: float[S], NaN are left out; measures: how many are ranked.
    Source: Student (1908); coverage in `tests/evaluation/test_retraining.py`.
    """
    from scipy import stats

    known = taus[~np.isnan(taus)]
    S = len(known)
    if S < 2:
        return Interval(float(known[0]) if S else np.nan, np.nan, np.nan)
    pair = 4 / (measures * (measures - 1))
    spread = max(float(known.std(ddof=1)), pair / np.sqrt(S))
    mean, reach = float(known.mean()), float(stats.t.ppf(0.975, S - 1)) * spread / np.sqrt(S)
    return Interval(mean, max(-1.0, mean - reach), min(1.0, mean + reach))


def _means(performance: np.ndarray) -> np.ndarray:
    """Means over seeds, NaN left out: float[S, 1 + M, K] → float[1 + M, K]."""
    known = ~np.isnan(performance)
    sums, counts = np.where(known, performance, 0.0).sum(axis=0), known.sum(axis=0)
    return np.where(counts, sums / np.maximum(counts, 1), np.nan)
