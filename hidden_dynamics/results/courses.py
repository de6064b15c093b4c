"""A run's answers where rows are interpolated or extrapolated, as its predictions.npz has them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.results.arrays import read_arrays

# As of hidden_dynamics.results.predictions; e is b + 1.
EXPECTED = {
    "error_time": ("f", "e"),
    "error_sum": ("f", "b"),
    "error_count": ("i", "b"),
    "row_id": ("i", "r"),
    "row_time": ("f", "r"),
    "row_value": ("f", "rD"),
    "row_mask": ("b", "rD"),
    "grid": ("f", "g"),
    "grid_mean": ("f", "sgD"),
    "grid_low": ("f", "sgD"),
    "grid_high": ("f", "sgD"),
    "until": ("f", ""),
}
FINITE = ("error_time", "row_time", "row_value", "grid", "until")  # the data, not the answers


class Courses(NamedTuple):
    """The errors over time on the test set, and the course of s of its series, the first ones, of D features.

    Attributes:
        error_time: (b + 1,), ascending edges of bins, in hours.
        error_sum, error_count: (b,), the sum of the squared errors of the observed entries in a bin, on the scale on
            which the networks are trained and averaged over samples, and how many entries these are.
        row_id, row_time, row_value, row_mask: (r,), (r,), (r, D), (r, D), all rows of the s series, those that are not
            given included, a series after the other.
        grid: (g,), ascending hours.
        grid_mean, grid_low, grid_high: (s, g, D), of the s series over the grid the mean of samples and the 2.5th and
            97.5th percentiles, in the data's own units.
        until: the hour of the last rows that are given.
    """

    error_time: NDArray
    error_sum: NDArray
    error_count: NDArray
    row_id: NDArray
    row_time: NDArray
    row_value: NDArray
    row_mask: NDArray
    grid: NDArray
    grid_mean: NDArray
    grid_low: NDArray
    grid_high: NDArray
    until: float

    @property
    def series(self) -> list[int]:
        """(s,), the ids of the series whose course is there, in the order of their rows."""
        return list(dict.fromkeys(self.row_id.tolist()))

    @property
    def errors(self) -> NDArray:
        """(b,) the mean squared error in each bin; nan without entries, or where it is not finite."""
        with np.errstate(invalid="ignore", divide="ignore"):
            means = self.error_sum / self.error_count
        return np.where(np.isfinite(means), means, np.nan)


def read(path: Path) -> Courses | None:
    """The content of a predictions.npz; None where the run had nothing to predict with, and wrote no arrays.

    Raises:
        KeyError: an array is missing.
        ValueError: an array is not what it should be.
        OSError, zipfile.BadZipFile: it is missing, or no archive.
    """
    arrays = read_arrays(path, EXPECTED, FINITE)
    if arrays is None:
        return None
    found = Courses(**arrays | {"until": float(arrays["until"])})
    _check_content(found)
    return found


def _check_content(found: Courses) -> None:
    """Refuse edges that do not fit their bins, times out of order, and other series than those over the grid."""
    if len(found.error_time) != len(found.error_sum) + 1:
        raise ValueError(f"error_time has {len(found.error_time)} edges of {len(found.error_sum)} bins")
    for name in ("error_time", "grid"):
        if (np.diff(getattr(found, name)) <= 0).any():
            raise ValueError(f"{name} does not ascend")
    if (found.error_count < 0).any() or (found.error_sum < 0).any():
        raise ValueError("a sum of squares or a count is below 0")
    same = np.diff(found.row_id) == 0
    if (np.diff(found.row_time)[same] < 0).any() or 1 + (~same).sum() != len(found.series):
        raise ValueError("row_time does not ascend within each series, or a series' rows are not together")
    if len(found.series) != len(found.grid_mean):
        raise ValueError(f"grid_mean is of {len(found.grid_mean)} series, and rows of {len(found.series)} are there")
