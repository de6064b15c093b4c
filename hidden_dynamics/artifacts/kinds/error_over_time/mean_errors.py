"""Mean squared errors of predictions: in bins of time over runs, and in blocks of rows of one run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.results.predictions import Predictions

MOST_BINS = 12
FEWEST_ENTRIES = 20  # of a run in a bin, on average
BLOCK = 4  # rows of a block in the paper's figure


@dataclass(frozen=True)
class Bins:
    """Bins of time with about equally many observed targets each.

    Attributes:
        edges: (bins + 1,), ascending; a bin has its lower edge, and the last one its upper edge, too.
        times: (bins,), the mean time of the targets in each.
    """

    edges: NDArray
    times: NDArray

    def of(self, times: NDArray) -> NDArray:
        """The bin of each time: (m,) int64."""
        return np.searchsorted(self.edges[1:-1], times, side="right")

    def counts(self, predictions: Predictions) -> NDArray:
        """How many observed targets of a run each bin has: (bins,) int64."""
        return np.bincount(self.of(observed(predictions)[0]), minlength=self.times.size)

    def means(self, predictions: Predictions) -> NDArray:
        """A run's mean squared error in each bin, (bins,): nan without targets, or where one is not finite."""
        times, squares = observed(predictions)
        sums = np.bincount(self.of(times), squares, minlength=self.times.size)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / self.counts(predictions)
        return np.where(np.isfinite(means), means, np.nan)


def observed(predictions: Predictions) -> tuple[NDArray, NDArray]:
    """Time and squared error of each observed entry of the targets: (m,) float64 each."""
    times = np.broadcast_to(predictions.time[:, None], predictions.mask.shape)[predictions.mask]
    return times.astype(np.float64), _squares(predictions)[predictions.mask]


def bins_of(runs: Sequence[Predictions]) -> Bins:
    """Bins for the observed targets of these runs, one run or more, which have some.

    At most MOST_BINS, and so few that a run has FEWEST_ENTRIES entries in each, on average; equal times stay together.
    """
    times = np.concatenate([observed(run)[0] for run in runs])
    number = np.clip(times.size / len(runs) // FEWEST_ENTRIES, 1, MOST_BINS)
    distinct, place, counts = np.unique(times, return_inverse=True, return_counts=True)
    share = (np.cumsum(counts) - counts / 2) / times.size  # of the targets, before the middle of those at this time
    _, first, bin_of = np.unique(np.floor(number * share), return_index=True, return_inverse=True)
    edges = np.append(distinct[first], distinct[-1])
    return Bins(edges, np.bincount(bin_of[place], times) / np.bincount(bin_of[place]))


def blocks(predictions: Predictions) -> tuple[NDArray, NDArray]:
    """The paper's figure: row number 4 i, and the mean over block i of 4 rows and all D features.

    What was not observed counts as an error of 0, and the rows left over after the last whole block are left out, as in
    the released paper_plotting.py.

    Returns:
        (blocks,) float64 each; a mean is nan where an error is not finite.
    """
    squares = np.where(predictions.mask, _squares(predictions), 0.0)
    count = len(squares) // BLOCK
    means = squares[: BLOCK * count].reshape(count, BLOCK * predictions.features).mean(axis=1)
    return BLOCK * np.arange(count, dtype=np.float64), np.where(np.isfinite(means), means, np.nan)


def _squares(predictions: Predictions) -> NDArray:
    with np.errstate(invalid="ignore", over="ignore"):
        return (predictions.value.astype(np.float64) - predictions.mean) ** 2
