"""Task metrics of predictions, and the class majority that they are compared with."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from core.mathematics.statistics import Interval, bootstrap_intervals, paired_interval


def accuracy(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Share of equal entries of int[N] and int[N], in [0, 1]; higher is better."""
    return _scored("accuracy", labels, predicted)


def macro_f1(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Mean over the classes that occur in either array of F1 = 2tp/(2tp + fp + fn), in [0, 1]; higher is better."""
    return _scored("macro F1", labels, predicted)


def matthews(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Matthews correlation for any number of classes, in [-1, 1]; higher is better.

    0 where the predictions or the labels are constant (glossary, Intervals).
    Source: Gorodkin (2004), R_K.
    """
    return _scored("Matthews", labels, predicted)


METRICS = {"accuracy": accuracy, "macro F1": macro_f1, "Matthews": matthews}


def lowest(metric: str) -> float:
    """The lowest value that a metric can have; the highest is 1."""
    return -1.0 if metric == "Matthews" else 0.0


def majority_class(train_labels: np.ndarray, classes: int) -> int:
    """The most frequent class of the training labels int[N]; the lowest of equals."""
    return int(np.argmax(np.bincount(np.asarray(train_labels), minlength=classes)))


def weighted_performance(metric: str, labels: np.ndarray, predicted: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A metric as a function of how often each text counts, for resampling.

    Args:
        metric: a name of METRICS; labels: int[N]; predicted: int[…, N], several answers to the same texts.
    Returns:
    A function of weights float64[B, N], at least 0 and not all 0 in a row, to the metric of each answer, float64[B, …].
    Raises:
        ValueError: no texts, or not one prediction for each label.
    """
    labels, predicted = np.asarray(labels), np.asarray(predicted)
    if labels.ndim != 1 or len(labels) == 0 or predicted.shape[-1:] != labels.shape:
        raise ValueError(f"labels and predictions are not equally long, or empty: {labels.shape} and {predicted.shape}")
    # Accuracy asks only whether an answer is right: then being right is the one class.
    hits = (predicted == labels)[..., None]
    if metric == "accuracy":
        labelled, answered = np.ones((len(labels), 1)), np.ones((*predicted.shape, 1))
    else:
        classes = np.union1d(labels, predicted)
        labelled, answered = labels[:, None] == classes, predicted[..., None] == classes
        hits = hits & answered

    def counted(weights: np.ndarray, each: np.ndarray) -> np.ndarray:
        """Σ over the texts, float64[B, …, C]."""
        return np.tensordot(weights, np.moveaxis(each, -2, 0).astype(np.float64), axes=1)

    def performance(weights: np.ndarray) -> np.ndarray:
        per_class = counted(weights, labelled).reshape(len(weights), *[1] * (predicted.ndim - 1), -1)
        return _COUNTED[metric](counted(weights, hits), per_class, counted(weights, answered))

    return performance


def performance_difference(
    metric: str, first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]
) -> Interval:
    """How much better the first of two answers to the same texts is by a metric, with a 95 % interval over the texts.

    Accuracy: `paired_interval`. Other metrics: both resampled together (BCa), and where that has no width, because the
    two answers never differ, the interval of the accuracy.

    Args:
        metric: a name of METRICS.
        first, second: labels int[N] and answers int[N] each, whose classes need not have the same numbers.
    Raises:
        ValueError: as `weighted_performance`.
    Source: glossary, Intervals.
    """
    right = [np.asarray(labels) == np.asarray(answers) for labels, answers in (first, second)]
    if metric != "accuracy":
        one, other = (weighted_performance(metric, *given) for given in (first, second))
        found = bootstrap_intervals(lambda weights: (one(weights) - other(weights))[None], len(right[0]))[0]
        if found.low < found.high or not found.known:
            return found
        return replace(paired_interval(*right), mean=found.mean)
    return paired_interval(*right)


def _macro_f1(hits: np.ndarray, labelled: np.ndarray, answered: np.ndarray) -> np.ndarray:
    both = labelled + answered
    return (2 * hits / np.where(both > 0, both, 1)).sum(axis=-1) / (both > 0).sum(axis=-1)


def _matthews(hits: np.ndarray, labelled: np.ndarray, answered: np.ndarray) -> np.ndarray:
    n = labelled.sum(axis=-1)

    def covariance(together: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return together.sum(axis=-1) / n - (a * b).sum(axis=-1) / n**2

    spread = covariance(labelled, labelled, labelled) * covariance(answered, answered, answered)
    # What rounding leaves of nothing is nothing.
    there = spread > 1e-12
    return np.where(there, covariance(hits, labelled, answered) / np.sqrt(np.where(there, spread, 1)), 0.0)


# Of Σ over the texts by class, float64[…, C]: right answers, labels, answers.
_COUNTED = {
    "accuracy": lambda hits, labelled, answered: hits.sum(axis=-1) / labelled.sum(axis=-1),
    "macro F1": _macro_f1,
    "Matthews": _matthews,
}


def _scored(metric: str, labels: np.ndarray, predicted: np.ndarray) -> float:
    labels, predicted = np.asarray(labels), np.asarray(predicted)
    if labels.shape != predicted.shape:
        raise ValueError(f"labels and predictions are not equally long, or empty: {labels.shape} and {predicted.shape}")
    return float(weighted_performance(metric, labels, predicted)(np.ones((1, len(labels))))[0])
