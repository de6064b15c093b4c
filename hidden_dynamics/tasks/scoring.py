"""How good probabilities of classes are, as fractions; not a number where that is not defined."""

import math
from collections.abc import Callable

import numpy as np
from sklearn import metrics

BINS = 10  # of the calibration error


def area_under_roc(truth: np.ndarray, scores: np.ndarray) -> float:
    """The area under the ROC curve.

    Args:
        truth: (n,), 0 or 1.
        scores: (n,), higher where 1 is more probable.
    """
    return _or_nan(metrics.roc_auc_score, truth, scores)


def average_precision(truth: np.ndarray, scores: np.ndarray) -> float:
    """The area under the curve of precision over recall, as a sum of steps."""
    return _or_nan(metrics.average_precision_score, truth, scores)


def calibration_error(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """The expected calibration error: over ten bins of equal count, in the order of the probabilities, the mean of
    |mean probability - share of the truth|, each bin by its count."""
    order = np.argsort(probabilities, kind="stable")
    bins = np.array_split(probabilities[order] - truth[order], BINS)
    return float(sum(abs(gaps.sum()) for gaps in bins) / len(truth))


def _or_nan(score: Callable, truth: np.ndarray, scores: np.ndarray) -> float:
    if truth.min() == truth.max() or not np.isfinite(scores).all():
        return math.nan
    return float(score(truth, scores))
