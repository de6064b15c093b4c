"""Kendall's tau of two rankings and its exact p (Kendall 1938)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np


def kendall(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """(tau, two-sided p): concordant less discordant pairs, of all pairs, and how often chance orders as well.

    Tied pairs count as neither, which makes tau smaller and p larger. p is the share of all orders of n things whose
    |tau| is as large.
    """
    sign = np.sign
    score = sum(int(sign(a - b) * sign(c - d)) for (a, c), (b, d) in combinations(zip(one, other, strict=True), 2))
    pairs = len(one) * (len(one) - 1) // 2
    if not pairs:
        return float("nan"), 1.0
    orders = inversions(len(one))
    scores = pairs - 2 * np.arange(pairs + 1)
    return score / pairs, float(orders[np.abs(scores) >= abs(score)].sum() / orders.sum())


def inversions(n: int) -> np.ndarray:
    """(n (n-1) / 2 + 1,): how many orders of n things have 0, 1, 2, ... inversions (Mahonian numbers, as floats)."""
    counts = np.ones(1)
    for k in range(2, n + 1):
        counts = np.convolve(counts, np.ones(k))
    return counts
