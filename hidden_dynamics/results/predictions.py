"""A run's forecasts on its test set, as its predictions.npz has them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.results.arrays import read_arrays

# Of each array the kind of its numbers (i: whole, f: floating, b: truth) and its shape, a letter for each length.
EXPECTED = {
    "id": ("i", "n"),
    "time": ("f", "n"),
    "value": ("f", "nD"),
    "mask": ("b", "nD"),
    "mean": ("f", "nD"),
    "variance": ("f", "nD"),
    "row_id": ("i", "r"),
    "row_time": ("f", "r"),
    "row_value": ("f", "rD"),
    "row_mask": ("b", "rD"),
    "grid": ("f", "g"),
    "grid_mean": ("f", "sgD"),
    "grid_variance": ("f", "sgD"),
    "until": ("f", ""),
}
FINITE = ("time", "value", "row_time", "row_value", "grid", "until")  # the data, not the answers


class Predictions(NamedTuple):
    """The answers for n targets of D features, and the course of s of the series, the first ones by id.

    Attributes:
        id, time: (n,), the series and the time of each target, in the order of ids, then times.
        value, mask: (n, D), what was observed there, and whether it was.
        mean, variance: (n, D), of the predicted normal distributions, given what was observed until `until`.
        row_id, row_time, row_value, row_mask: (r,), (r,), (r, D), (r, D), all rows of the s series, those that are not
            given and the targets included.
        grid: (g,), ascending times.
        grid_mean, grid_variance: (s, g, D), predicted for the s series over the grid.
        until: the time of the last observations that are given.
    """

    id: NDArray
    time: NDArray
    value: NDArray
    mask: NDArray
    mean: NDArray
    variance: NDArray
    row_id: NDArray
    row_time: NDArray
    row_value: NDArray
    row_mask: NDArray
    grid: NDArray
    grid_mean: NDArray
    grid_variance: NDArray
    until: float

    @property
    def features(self) -> int:
        """D."""
        return self.value.shape[1]

    @property
    def series(self) -> NDArray:
        """(s,), the ids of the series whose course is there, ascending."""
        return np.unique(self.row_id)


def read(path: Path) -> Predictions | None:
    """The content of a predictions.npz; None where the run had nothing to predict with, and wrote no arrays.

    Raises:
        KeyError: an array is missing.
        ValueError: an array is not what it should be.
        OSError, zipfile.BadZipFile: it is missing, or no archive.
    """
    arrays = read_arrays(path, EXPECTED, FINITE)
    if arrays is None:
        return None
    found = Predictions(**arrays | {"until": float(arrays["until"])})
    _check_content(found)
    return found


def _check_content(found: Predictions) -> None:
    """Refuse rows out of order, other series than those predicted over the grid, and negative variances."""
    for name, ids, times in (("time", found.id, found.time), ("row_time", found.row_id, found.row_time)):
        same = np.diff(ids) == 0
        if (np.diff(ids) < 0).any() or (np.diff(times)[same] <= 0).any():
            raise ValueError(f"{name} does not ascend within each series, or the series are not in the order of ids")
    if (np.diff(found.grid) <= 0).any():
        raise ValueError("grid does not ascend")
    if len(found.series) != len(found.grid_mean):
        raise ValueError(f"grid_mean is of {len(found.grid_mean)} series, and rows of {len(found.series)} are there")
    if (found.variance < 0).any() or (found.grid_variance < 0).any():
        raise ValueError("a variance is below 0")
