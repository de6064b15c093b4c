"""The five random splits of GRU-ODE-Bayes (De Brouwer et al., NeurIPS 2019), which ACE-NODE takes over.

A tenth of the series is tested, a fifth of the others validates, and the split is drawn anew five times. So these are
no folds of a cross validation: the five test sets overlap, and some series are never tested. Of USHCN's 1,114 series
each trains on 801, validates on 201 and tests on 112.
"""

import math
from typing import NamedTuple

import numpy as np

FOLDS = 5
SEED = 432  # of their script


class Fold(NamedTuple):
    """Which series, or which positions 0 to N - 1, a split uses for what: arrays (count,), int64."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def folds(count: int, number: int = FOLDS) -> list[Fold]:
    """Splits of positions 0 to `count` - 1, in the order of the draw; the first five are theirs.

    One stream of random numbers, seeded once, permutes twice for each split, as scikit-learn's `train_test_split` does
    of the positions and then of those that are not tested. (Trainings and figures have no scikit-learn.) Of fewer than
    three positions a part is empty.
    """
    random = np.random.RandomState(SEED)
    drawn = []
    for _ in range(number):
        others, test = _split(random, np.arange(count), 0.1)
        drawn.append(Fold(*_split(random, others, 0.2), test))
    return drawn


def released(fold: Fold, ids: np.ndarray) -> Fold:
    """The places of a split's series, ascending, as the released code has them: a position is taken for an id. With
    gaps in the `ids` (series,), the parts are smaller."""
    return Fold(*(np.flatnonzero(np.isin(ids, part)) for part in fold))


def _split(random: np.random.RandomState, positions: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The positions without a share of them, rounded up, and that share."""
    order, taken = random.permutation(len(positions)), math.ceil(share * len(positions))
    return positions[order[taken:]], positions[order[:taken]]
