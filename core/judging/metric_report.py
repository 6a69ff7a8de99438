"""What is known of measures under metrics on one example: numbers, which of them rest on rejected inputs, and rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from core.explanation.rows import values_taken
from core.judging.baselines import Baseline, Baselines
from core.judging.judging import How, Rated
from core.judging.metric_table import (
    MetricTable,
    build_metric_table,
    count_as_good,
    gate_of_inputs,
    gate_of_rationales,
    gate_together,
    mean_and_spread,
)
from core.mathematics.erasure import LENGTHS, rationale_sizes
from core.metrics.catalogue import metrics
from core.validity.marks import Gate, yes_or_no
from core.validity.references import FORMS

DIRECTIONS = {1: "higher is better", -1: "lower is better", 0: "neither is better"}
HEADER = [
    "measure",
    "metric",
    "direction",
    "value",
    "standard error of its draws",
    "note",
    "place (1 is best)",
    "rank flip",
    "inputs tested",
    "smallest p (calibrated)",
    "smallest p (literal)",
    "rests on rejected inputs",
    *(f"value at {100 * length:g} %" for length in LENGTHS),
    "random: mean",
    "random: standard deviation",
    "random: attributions",
    "random: rests on rejected inputs",
    "shuffled: mean",
    "shuffled: standard deviation",
    "shuffles",
    "shuffled: rests on rejected inputs",
    "explained class",
    "values",
    "erasure",
    "scaling",
    "placement",
    "sigma",
    "draws",
    "seed",
    "rule of the gate",
    "form of the gate",
]


@dataclass(frozen=True, eq=False)
class MetricReport:
    """Measures under metrics on one example, as far as they are judged.

    explained: name of the class; unit, features: what can be erased, and how many; names: the metrics asked for; rule,
    form and floor (the smallest p that the reference can give; None without one): how their inputs are tested; rated:
    {measure: Rated}; chance: random attributions, {metric: Baseline}; shuffles: {measure: the same of its own scores in
    other places}; coming: {measure: Rated} of those under way, by the metrics that are there already;
    drawn: the metrics of which all random attributions are there.
    """

    explained: str
    unit: str
    features: int
    names: tuple[str, ...]
    sign: str
    how: How
    rule: str
    form: str
    floor: float | None
    rated: dict[str, Rated]
    chance: Baselines
    shuffles: dict[str, Baselines]
    coming: dict[str, Rated] = field(default_factory=dict)
    drawn: tuple[str, ...] = ()

    @cached_property
    def table(self) -> MetricTable:
        """All numbers."""
        return build_metric_table(self.rated, self.names, self.features > 1)

    @cached_property
    def marked(self) -> np.ndarray:
        """Which numbers rest on rejected inputs, bool[M, K]."""
        gates, board = self.gates, self.table
        return np.array(
            [[(at := (one, name)) in gates and gates[at].marked for name in board.metrics] for one in board.measures],
            dtype=bool,
        ).reshape(board.values.shape)

    @cached_property
    def trusted(self) -> MetricTable:
        """The numbers that measures are ranked by: those that are not marked."""
        return self.table.without(self.marked)

    @cached_property
    def as_good(self) -> np.ndarray:
        """How many random attributions do at least as well, int64[M, K]; −1 of marked ones and until all are there."""
        return count_as_good(self.trusted, self._drawn)

    @cached_property
    def better(self) -> np.ndarray:
        """1 where no random attribution does as well, 0 where half of them do, float64[M, K]; NaN where unknown."""
        drawn = [self._drawn.get(name, np.empty(0)) for name in self.table.metrics]
        half = np.array([(~np.isnan(one)).sum() for one in drawn]) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.as_good < 0, np.nan, np.maximum(0.0, 1 - self.as_good / half))

    @property
    def most_drawn(self) -> int:
        """How many random attributions there are, of the metric with the most."""
        return max((len(one.values) for one in self.chance.values()), default=0)

    @property
    def _drawn(self) -> dict[str, np.ndarray]:
        trusted = [name for name in self.drawn if name in self.chance and not self.together(self.chance[name]).marked]
        return {name: self.chance[name].values for name in trusted}

    def together(self, one: Baseline) -> Gate:
        """Whether the scores of random or shuffled attributions rest on rejected inputs, tested together."""
        return gate_together(one.p, self.floor, self.rule, self.form)

    @property
    def sizes(self) -> np.ndarray:
        """Features of the rationale at each length, int[R]."""
        return rationale_sizes(self.features)

    @cached_property
    def gates(self) -> dict[tuple[str, str], Gate]:
        """{(measure, metric): gate} of the numbers that are defined and asked for inputs."""
        return self._gates(self.rated)

    @cached_property
    def coming_gates(self) -> dict[tuple[str, str], Gate]:
        """The same of those under way."""
        return self._gates(self.coming)

    def _gates(self, rated: dict[str, Rated]) -> dict[tuple[str, str], Gate]:
        return {
            (measure, name): gate_of_inputs(one.inputs.get(name, {}), self.floor, self.rule, self.form)
            for measure, one in rated.items()
            for name, score in one.found.items()
            if score.value == score.value and (self.floor is None or name in one.inputs)
        }

    @property
    def smallest(self) -> float:
        """The smallest p of the inputs behind numbers that are defined; NaN where none is tested."""
        tested = [self.rated[measure].inputs.get(name, {}).get(self.form, ()) for measure, name in self.gates]
        return min((float(p.min()) for p in tested if len(p)), default=float("nan"))

    def leaves(self, measure: str) -> dict[str, tuple[np.ndarray, Gate]]:
        """{erasure: (p of keeping and erasing the rationale at each length, float64[2, R], their gate)} of one."""
        return {
            erasure: (forms[self.form], gate_of_rationales(forms[self.form], self.sizes, self.floor, self.rule))
            for erasure, forms in self.rated[measure].leaves.items()
            if self.form in forms
        }

    def rows(self) -> list[list]:
        """A line for each measure and metric, see HEADER; what rests on rejected inputs has no place."""
        how, table = self.how, self.trusted
        perturbed = [how.scaling, how.placement, how.sigma, how.draws]
        settings = [how.erasure, *perturbed, how.seed, self.rule, self.form]
        return [
            [
                *self._cells(measure, name),
                int(table.places[i, k]) or None,
                bool(table.flips[i, k]),
                *self._tests(measure, name),
                *self._lengths(measure, name),
                *self._beside(self.chance.get(name)),
                *self._beside(self.shuffles.get(measure, {}).get(name)),
                self.explained,
                values_taken(measure, self.sign),
                *settings,
            ]
            for i, measure in enumerate(table.measures)
            for k, name in enumerate(table.metrics)
        ]

    def _cells(self, measure: str, name: str) -> list:
        score = self.rated[measure].found[name]
        return [measure, name, DIRECTIONS[metrics()[name].direction], score.value, score.error, score.note]

    def _tests(self, measure: str, name: str) -> list:
        p, gate = self.rated[measure].inputs.get(name, {}), self.gates.get((measure, name))
        return [
            max((len(found) for found in p.values()), default=None),
            *(float(p[form].min()) if len(p.get(form, ())) else None for form in FORMS),
            "not tested" if gate is None else yes_or_no(gate),
        ]

    def _beside(self, one: Baseline | None) -> Sequence:
        if one is None:
            return None, None, None, None
        return *mean_and_spread(one.values), yes_or_no(self.together(one)) if one.p else "not tested"

    def _lengths(self, measure: str, name: str) -> list:
        found = self.rated[measure].found[name].by_length
        return [None] * len(LENGTHS) if found is None else found.tolist()


def head(name: str) -> str:
    """A metric's name with its arrow."""
    return f"{name} {metrics()[name].arrow}".strip()
