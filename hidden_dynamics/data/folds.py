"""The five random splits of GRU-ODE-Bayes (De Brouwer et al., NeurIPS 2019), which ACE-NODE takes over.

A tenth of the series is tested, a fifth of the others validates, and the split is drawn anew five times. So these are
no folds of a cross validation: the five test sets overlap, and some series are never tested. Of USHCN's 1,114 series
each trains on 801, validates on 201 and tests on 112.
"""

import math
from typing import NamedTuple

import numpy as np

from hidden_dynamics.errors import UserError

FOLDS = 5
SEED = 432  # of their script


class Fold(NamedTuple):
    """Which series, or which positions 0 to N - 1, a split uses for what: arrays (count,), int64."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


PARTS = Fold._fields


def folds(count: int, number: int = FOLDS) -> list[Fold]:
    """Splits of positions 0 to `count` - 1, in the order of the draw; the first five are theirs.

    One stream of random numbers, seeded once, permutes twice for each split, as scikit-learn's `train_test_split` does
    of the positions and then of those that are not tested. (Trainings and figures have no scikit-learn.) A `UserError`
    where a split would be empty.
    """
    random = np.random.RandomState(SEED)
    drawn = []
    for position in range(number):
        others, test = _split(random, np.arange(count), 0.1)
        drawn.append(_with_series(Fold(*_split(random, others, 0.2), test), position))
    return drawn


def published(fold: Fold, ids: np.ndarray) -> Fold:
    """The places of a split's series, ascending: a position is that of an id among the sorted `ids` (series,)."""
    assert len(ids) == sum(map(len, fold))
    return Fold(*(np.sort(part) for part in fold))


def released(fold: Fold, ids: np.ndarray, place: int = 0) -> Fold:
    """The places of a split's series, ascending, as the released code has them: a position is taken for an id.

    With gaps in the `ids` (series,), the parts are smaller; a `UserError` where one is empty. `place`, of the split
    among the five, is for messages.
    """
    return _with_series(Fold(*(np.flatnonzero(np.isin(ids, part)) for part in fold)), place)


def _split(random: np.random.RandomState, positions: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The positions without a share of them, rounded up, and that share."""
    order, taken = random.permutation(len(positions)), math.ceil(share * len(positions))
    return positions[order[taken:]], positions[order[:taken]]


def _with_series(fold: Fold, place: int) -> Fold:
    for name, part in fold._asdict().items():
        if not len(part):
            raise UserError(
                f"fold {place}: its part {name} has no series; expected 3 series or more", key=f"fold {place}"
            )
    return fold
