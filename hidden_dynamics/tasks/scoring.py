"""Scores of probabilities of classes, as fractions; not a number where one is not defined.

The two areas are written out, because to import scikit-learn takes a training longer than to use it.
"""

import math

import numpy as np

BINS = 10  # of the calibration error


def area_under_roc(truth: np.ndarray, scores: np.ndarray) -> float:
    """The area under the ROC curve of `truth`, 0 or 1, (n,): the probability that a 1 has a higher score than a 0,
    equal scores counted half."""
    if not _defined(truth, scores):
        return math.nan
    ones, zeros = _by_score(truth, scores)
    return float(ones @ (np.cumsum(zeros) - zeros / 2) / (ones.sum() * zeros.sum()))


def average_precision(truth: np.ndarray, scores: np.ndarray) -> float:
    """The area under the curve of precision over recall, as a sum of steps."""
    if not _defined(truth, scores):
        return math.nan
    ones, zeros = (counts[::-1] for counts in _by_score(truth, scores))
    return float(ones @ (np.cumsum(ones) / np.cumsum(ones + zeros)) / ones.sum())


def calibration_error(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """The expected calibration error: over ten bins of equal count, in the order of the probabilities, the mean of
    |mean probability - share of the truth|, each bin by its count."""
    order = np.argsort(probabilities, kind="stable")
    bins = np.array_split(probabilities[order] - truth[order], BINS)
    return float(sum(abs(gaps.sum()) for gaps in bins) / len(truth))


def of_samples(kind: str, truth: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Truth (n,) and scores of a network's K samples, (K, n, ...): "averaged", or "pooled" as if they were of examples
    of their own."""
    if kind == "averaged":
        return truth, probabilities.mean(0)
    return np.tile(truth, len(probabilities)), probabilities.reshape(-1, *probabilities.shape[2:])


def _defined(truth: np.ndarray, scores: np.ndarray) -> bool:
    return bool(truth.min() != truth.max() and np.isfinite(scores).all())


def _by_score(truth: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The counts of 1 and of 0 at each score that occurs, the lowest first."""
    place, counts = np.unique(scores, return_inverse=True, return_counts=True)[1:]
    ones = np.bincount(place, truth)
    return ones, counts - ones
