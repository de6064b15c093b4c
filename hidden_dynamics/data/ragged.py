"""Series that are each observed at times of their own, and then in some of their features only.

The arrays, one row for each time of a series, the series one after another:

    times    (rows,), float32, ascending within a series
    values   (rows, D), float32, 0 where a feature is not observed
    mask     (rows, D), bool, whether it is
    lengths  (series,), int64, how many rows each series has
    ids      (series,), int64, ascending; they may have gaps
"""

from collections.abc import Mapping

import numpy as np

from hidden_dynamics.errors import UserError

NAMES = ("times", "values", "mask", "lengths", "ids")


def ragged(
    series: np.ndarray, ticks: np.ndarray, feature: np.ndarray, value: np.ndarray, features: int, tick: float
) -> dict[str, np.ndarray]:
    """The five arrays of a long table, with a line for each measurement, in any order.

    Of each line (lines,): the series' id and the time in units of `tick`, int64, 0 or more; the feature, 0 to D - 1;
    the value, float64. Several of a feature at one time are averaged, summed in the order of the table.
    """
    span = int(ticks.max(initial=0)) + 1
    keys, row = np.unique(series * span + ticks, return_inverse=True)
    ids, lengths = np.unique(keys // span, return_counts=True)
    cell, shape = row * features + feature, (len(keys), features)
    counts = np.bincount(cell, minlength=len(keys) * features)
    sums = np.bincount(cell, value, minlength=len(counts))
    return {
        "times": (keys % span * tick).astype(np.float32),
        "values": (sums / np.maximum(counts, 1)).astype(np.float32).reshape(shape),
        "mask": (counts > 0).reshape(shape),
        "lengths": lengths,
        "ids": ids,
    }


def starts(lengths: np.ndarray) -> np.ndarray:
    """The first row of each series: (series,), int64."""
    return np.cumsum(lengths) - lengths


def selected(arrays: dict[str, np.ndarray], series: np.ndarray) -> dict[str, np.ndarray]:
    """The five arrays of the series at these places, ascending, alone."""
    chosen = np.zeros(len(arrays["ids"]), bool)
    chosen[series] = True
    rows = np.repeat(chosen, arrays["lengths"])
    return {name: arrays[name][rows if name in ("times", "values", "mask") else chosen] for name in NAMES}


def after(arrays: Mapping[str, np.ndarray], time: float, count: int) -> np.ndarray:
    """The places among all rows, (series, count), int64, of the first `count` rows of each series after a time, which
    are to be predicted; a `UserError` where a series has fewer."""
    lengths, first = arrays["lengths"], starts(arrays["lengths"])
    late = arrays["times"] > np.float32(time)
    there = np.add.reduceat(late, first, dtype=np.int64)
    if (there < count).any():
        short = int(np.argmax(there < count))
        raise UserError(
            f"series {arrays['ids'][short]}: expected {count} rows after time {time:g}, found {there[short]}",
            key=f"ID {arrays['ids'][short]}",
        )
    return (first + lengths - there)[:, None] + np.arange(count)
