"""What the texts of a sweep come to: two models on the same texts, confusion, accuracy by tag and by length."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.data.browsing import UNTAGGED
from core.evaluation.studies.board_report import RANDOM, direction_of
from core.mathematics.statistics import Interval, mean_interval, mean_intervals, share_interval
from core.sweeps.registry import Line
from core.sweeps.texts import BETWEEN_TAGS

# What performance is split by.
TAG, LENGTH = "tag", "length"


@dataclass(frozen=True)
class PairedMean:
    """A figure of a measure under two models, over the n texts on which both have it; difference: first less second."""

    measure: str
    figure: str
    first: float
    second: float
    difference: Interval
    n: int


def texts_of_set(lines: Sequence[Line], data: str, kept: Collection[str] | None = None) -> list[Line]:
    """The lines of a data set; kept: ids of the examples that count, None: all."""
    return [one for one in lines if one["data"] == data and (kept is None or one["example"] in kept)]


def rejected_models(tables: Mapping[str, Sequence[Line]], figure: str, models: Sequence[str]) -> list[str]:
    """Those of the models of which a figure rests on rejected inputs, in their order; tables: {name: lines}."""
    marked = {one["model"] for of in tables.values() for one in of if one.get("figure") == figure and one.get("marked")}
    return [model for model in models if model in marked]


def paired_means(lines: Sequence[Line], figure: str, models: Sequence[str]) -> list[PairedMean]:
    """Each measure's figure under two models, over the same texts of one data set, with BCa intervals."""
    measures, first, second = paired_values(lines, figure, models)
    spans = mean_intervals(first - second) if len(first) else ()
    found = []
    for m, span in enumerate(spans):
        both = ~np.isnan(first[:, m] - second[:, m])
        if both.any():
            means = (float(one[both, m].mean()) for one in (first, second))
            found.append(PairedMean(measures[m], figure, *means, span, int(both.sum())))
    return found


def mean_difference(lines: Sequence[Line], figure: str, models: Sequence[str]) -> Interval:
    """How much better the first model's figure is on a text, averaged over the measures that both have there."""
    measures, first, second = paired_values(lines, figure, models)
    chosen = [m for m, name in enumerate(measures) if name != RANDOM]
    differences = direction_of(figure) * (first - second)[:, chosen]
    known = ~np.isnan(differences)
    sums, counts = np.where(known, differences, 0.0).sum(axis=1), known.sum(axis=1)
    return mean_interval(sums[counts > 0] / counts[counts > 0])


def paired_values(
    lines: Sequence[Line], figure: str, models: Sequence[str]
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Measures that both models have, and the figure of each on their texts, float64[N, M]; NaN where undefined."""
    of = {(one["model"], one["example"], one["measure"]): one[figure] for one in lines}
    examples, measures = (list(dict.fromkeys(key[place] for key in of)) for place in (1, 2))
    values = np.array([[[of.get((a, b, c)) for c in measures] for b in examples] for a in models], dtype=np.float64)
    values = values.reshape(2, len(examples), len(measures))
    both = np.flatnonzero(~np.isnan(values).all(axis=1).any(axis=0))
    return [measures[m] for m in both], values[0][:, both], values[1][:, both]


def confusion(lines: Sequence[Line], model: str) -> Counter[tuple[str, str]]:
    """How many labelled texts a model predicts as what: {(label, predicted): texts}."""
    return Counter((one["label"], one["predicted"]) for one in _each_text(lines, model))


def accuracy_by(lines: Sequence[Line], kind: str) -> dict[tuple[str, str], tuple[Interval, int]]:
    """Accuracy with its exact 95 % interval, and of how many texts: {(TAG or LENGTH, model): …}."""
    found: dict[tuple[str, str], list[bool]] = {}
    for model in dict.fromkeys(one["model"] for one in lines):
        for one in _each_text(lines, model):
            tags = (one["tags"] or UNTAGGED).split(BETWEEN_TAGS)
            for value in tags if kind == TAG else [one["length"]]:
                found.setdefault((value, model), []).append(one["right"])
    return {key: (share_interval(sum(right), len(right)), len(right)) for key, right in found.items()}


def _each_text(lines: Sequence[Line], model: str) -> list[Line]:
    """A line for each text of a model whose label it has."""
    return list({one["example"]: one for one in lines if one["model"] == model and one["right"] is not None}.values())
