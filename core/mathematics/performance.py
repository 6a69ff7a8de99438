"""Task metrics of predictions, and the class majority that they are compared with."""

import numpy as np


def accuracy(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Share of equal entries of int[N] and int[N], in [0, 1]; higher is better."""
    labels, predicted = _checked(labels, predicted)
    return float(np.mean(labels == predicted))


def macro_f1(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Mean over the classes that occur in either array of F1 = 2tp/(2tp + fp + fn), in [0, 1]; higher is better."""
    labels, predicted = _checked(labels, predicted)
    scores = []
    for c in np.union1d(labels, predicted):
        hit = np.sum((labels == c) & (predicted == c))
        scores.append(2 * hit / (np.sum(labels == c) + np.sum(predicted == c)))
    return float(np.mean(scores))


def matthews(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Matthews correlation for any number of classes, in [-1, 1]; higher is better.

    0 where the predictions or the labels are constant (glossary, Intervals).
    Source: Gorodkin (2004), R_K.
    """
    labels, predicted = _checked(labels, predicted)
    classes = np.union1d(labels, predicted)
    y, z = labels[:, None] == classes, predicted[:, None] == classes

    def covariance(a, b):
        return float(np.sum((a * b).mean(0) - a.mean(0) * b.mean(0)))

    spread = covariance(y, y) * covariance(z, z)
    return covariance(y, z) / spread**0.5 if spread > 0 else 0.0


METRICS = {"accuracy": accuracy, "macro F1": macro_f1, "Matthews": matthews}


def majority_class(train_labels: np.ndarray, classes: int) -> int:
    """The most frequent class of the training labels int[N]; the lowest of equals."""
    return int(np.argmax(np.bincount(np.asarray(train_labels), minlength=classes)))


def _checked(labels, predicted):
    labels, predicted = np.asarray(labels), np.asarray(predicted)
    if labels.shape != predicted.shape or labels.ndim != 1 or len(labels) == 0:
        raise ValueError(
            f"labels and predictions must be equally long and not empty, got {labels.shape} and {predicted.shape}"
        )
    return labels, predicted
