"""Hedges' g: a difference of means in standard deviations, without the bias of small samples (Hedges 1981)."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln


def hedges_g(subject: Sequence[float], reference: Sequence[float]) -> float:
    """(mean of the subject - mean of the reference) / pooled standard deviation x J(degrees); nan without spread."""
    degrees = len(subject) + len(reference) - 2
    squares = sum((len(values) - 1) * np.var(values, ddof=1) for values in (subject, reference))
    if degrees < 2 or squares == 0:
        return math.nan
    pooled = math.sqrt(squares / degrees)
    return float((np.mean(subject) - np.mean(reference)) / pooled * correction(degrees))


def correction(degrees: int) -> float:
    """J(m) = Gamma(m/2) / (sqrt(m/2) Gamma((m-1)/2)), exactly."""
    return math.exp(gammaln(degrees / 2) - gammaln((degrees - 1) / 2)) / math.sqrt(degrees / 2)
