"""Kendall's tau of rankings within strata, and its exact p (Kendall 1938).

A stratum is the rows of a table that only their order within tells about: those of one size. Between strata nothing is
compared, so that what all larger models gain is no agreement.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-12  # of shares that are added up: a p that is exactly 0.05 is not to come out below it
Ties = tuple[int, ...]  # how many things share a value, value by value


def kendall(strata: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[float, float]:
    """(tau, two-sided p): concordant less discordant pairs, of all pairs, and how often chance orders as well.

    Pairs are of two things in one stratum. In tau, tied pairs count as neither. p is the share, of all orders of the
    printed numbers within the strata, of those whose |score| is as large; what ties in ours is taken in the order that
    agrees least, so that p is at most too large. (nan, 1.0) where there is no pair.

    Args:
        strata: of each, two equally long sequences: our numbers, and the printed ones.
    """
    sizes = [len(ours) for ours, _ in strata]
    if not _pairs(sizes):
        return math.nan, 1.0
    score, undecided = (sum(counts) for counts in zip(*(_score(*stratum) for stratum in strata), strict=True))
    ties = tuple(tuple(Counter(printed).values()) for _, printed in strata)
    return score / _pairs(sizes), _p(ties, abs(score) - undecided)


def critical_tau(sizes: Sequence[int], alpha: float) -> float | None:
    """The smallest tau, without ties, whose p is below alpha; None where even full agreement's is not."""
    pairs = _pairs(sizes)
    scores = range(pairs % 2, pairs + 1, 2)
    return next((score / pairs for score in scores if _p(_untied(sizes), score) < alpha), None)


@cache
def inversions(ties: Ties) -> NDArray:
    """The share of the orders of things that have 0, 1, 2, ... inversions; of things that tie, none is one.

    (1, ..., 1) gives the Mahonian numbers over n!.
    """
    before = np.cumsum((0, *ties))
    return reduce(np.convolve, (_mixed(int(m), n) for m, n in zip(before, ties, strict=False)), np.ones(1))


@cache
def _mixed(m: int, n: int) -> NDArray:
    """(m n + 1,): the share of the orders of m and n alike things with 0, 1, ... inversions (Mann and Whitney 1947)."""
    if not m or not n:
        return np.ones(1)
    counts = np.zeros(m * n + 1)
    counts[n:] += m / (m + n) * _mixed(m - 1, n)  # the last is one of the m, behind all n
    counts[: m * (n - 1) + 1] += n / (m + n) * _mixed(m, n - 1)
    return counts


def _score(ours: Sequence[float], printed: Sequence[float]) -> tuple[int, int]:
    """(concordant less discordant pairs, pairs that tie in ours alone)."""
    both = list(zip(ours, printed, strict=True))
    signs = [(np.sign(a - b), np.sign(c - d)) for (a, c), (b, d) in combinations(both, 2)]
    return sum(int(one * other) for one, other in signs), sum(not one and bool(other) for one, other in signs)


def _pairs(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)


def _untied(sizes: Iterable[int]) -> tuple[Ties, ...]:
    return tuple((1,) * size for size in sizes)


def _p(strata: tuple[Ties, ...], score: int) -> float:
    """The share of orders with at least this |score|; 1.0 where the score is 0 or less."""
    shares = _shares(strata)
    scores = shares.size - 1 - 2 * np.arange(shares.size)
    return min(1.0, float(shares[np.abs(scores) >= score].sum()) * (1 + ROUNDING))


@cache
def _shares(strata: tuple[Ties, ...]) -> NDArray:
    """How often so many pairs of all strata are discordant, where every order within a stratum is equally likely."""
    return reduce(np.convolve, map(inversions, strata), np.ones(1))
