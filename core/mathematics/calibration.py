"""A linear head on logits, fitted where inputs are masked: matrix scaling, which leaves the network as it is."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

# What cards call this way of training.
CALIBRATION = "calibration"
# Of a squared distance from the identity, beside a mean log loss: small, and what no text decides stays as it was.
RIDGE = 1e-4


@dataclass(frozen=True)
class LinearHead:
    """weight: float64[C, C]; bias: float64[C]; logits z become weight · z + bias."""

    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, logits: np.ndarray) -> np.ndarray:
        """Logits [N, C] through the head, float64[N, C]."""
        return logits @ self.weight.T + self.bias


def log_loss(logits: np.ndarray, labels: np.ndarray) -> float:
    """Mean negative log probability of the labels int64[N] under logits [N, C], at least 0; lower is better."""
    return float(-log_softmax(logits.astype(np.float64), axis=1)[np.arange(len(labels)), labels].mean())


def fit_linear_head(logits: np.ndarray, labels: np.ndarray, bias: bool = True) -> LinearHead:
    """The linear head of the least log loss, with a slight pull towards none.

    Args:
        logits: [N, C], finite, of masked and unmasked inputs alike; labels: int64[N], what each text is.
        bias: False keeps it at zero.
    Returns:
        a head whose log loss on these logits is at most that of the logits themselves.
    Raises:
        ValueError: nothing to fit, or logits that are not finite.
    Source: Missingness Bias Calibration (arXiv 2603.04831), matrix scaling as in Guo et al. (2017) §4.2.
    """
    N, C = logits.shape
    if not N or len(labels) != N:
        raise ValueError(f"{N} rows of logits need as many labels and at least one, got {len(labels)}")
    if not np.isfinite(logits).all():
        raise ValueError("the logits hold NaN or infinity")
    given, meant, none = logits.astype(np.float64), np.eye(C)[labels], np.eye(C).ravel()

    def head_of(values: np.ndarray) -> LinearHead:
        return LinearHead(values[: C * C].reshape(C, C), values[C * C :] if bias else np.zeros(C))

    def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
        head = head_of(values)
        found, away = head(given), values - start
        off = (softmax(found, axis=1) - meant) / N
        slope = np.concatenate([(off.T @ given).ravel(), *([off.sum(axis=0)] if bias else [])])
        return log_loss(found, labels) + RIDGE / 2 * float(away @ away), slope + RIDGE * away

    start = np.concatenate([none, np.zeros(C if bias else 0)])
    return head_of(minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x)
