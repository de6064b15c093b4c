"""Series sampled at their own times with features missing, and batches of them over the union of their times.

A data set is ragged: the rows of all series one after another, with the number of rows of each. A batch holds the rows
of the chosen series alone, in the order of time; nothing is padded, and no Python code runs per observation.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor


class Rows(NamedTuple):
    """Ragged series.

    Attributes:
        times: (rows,) float32, ascending within a series, no two alike.
        values: (rows, D); what stands where nothing was observed has no influence.
        mask: (rows, D) bool, where a feature was observed.
        lengths: (series,) int64, the rows of each series, which follow each other.
    """

    times: np.ndarray
    values: np.ndarray
    mask: np.ndarray
    lengths: np.ndarray


@dataclass(frozen=True)
class Observations:
    """A batch of series over the union of their times.

    Attributes:
        times: (U,) float64 on the CPU, the union times, ascending.
        offsets: (U + 1,) int64 on the CPU: the rows of union time u are offsets[u] to offsets[u + 1] - 1.
        values: (R, D), 0 where nothing was observed.
        mask: (R, D), 1 where a feature was observed and 0 elsewhere, of the values' type.
        series: (R,) int64, the place of a row's series in the batch; ascending within a union time.
        size: the number of series, those without rows included.
    """

    times: Tensor
    offsets: Tensor
    values: Tensor
    mask: Tensor
    series: Tensor
    size: int

    def to(self, *target: Any) -> "Observations":
        """On another device, or with values of another type; times and offsets stay where they are."""
        moved = {name: getattr(self, name).to(*target) for name in ("values", "mask")}
        return replace(self, **moved, series=self.series.to(moved["values"].device))

    def rows_of_times(self) -> Tensor:
        """The index of the union time of each row: (R,) int64 on the CPU."""
        return torch.repeat_interleave(torch.arange(len(self.times)), self.offsets.diff())


def batch_of(rows: Rows, chosen: np.ndarray, until: float | None = None) -> Observations:
    """The batch of these series.

    Args:
        rows: of all series.
        chosen: (batch,) int64, indices of series; one may be chosen more than once.
        until: rows later than that are left out.

    Raises:
        ValueError: the rows do not fit each other, or the times of a chosen series do not ascend.
    """
    _check(rows)
    chosen = np.asarray(chosen, dtype=np.int64)
    picked, series = _rows_of(rows.lengths, chosen)
    if until is not None:
        early = rows.times[picked] <= until
        picked, series = picked[early], series[early]
    times = rows.times[picked]
    if np.any((np.diff(times) <= 0) & (np.diff(series) == 0)):
        raise ValueError("the times of a series must ascend, and no two may be alike")
    order = np.lexsort((series, times))
    union, counts = np.unique(times, return_counts=True)
    mask = rows.mask[picked[order]]
    return Observations(
        times=torch.from_numpy(union.astype(np.float64)),
        offsets=torch.from_numpy(np.concatenate([[0], counts.cumsum()]).astype(np.int64)),
        values=torch.from_numpy(np.where(mask, rows.values[picked[order]], 0).astype(rows.values.dtype)),
        mask=torch.from_numpy(mask.astype(rows.values.dtype)),
        series=torch.from_numpy(series[order]),
        size=len(chosen),
    )


def at_times(observations: Observations, kept: Tensor) -> Observations:
    """The batch with these of its union times alone, and the rows of all series at them.

    Args:
        kept: (U,) bool on the CPU.
    """
    rows = kept[observations.rows_of_times()]
    counts = observations.offsets.diff()[kept]
    on_device = rows.to(observations.values.device)
    return replace(
        observations,
        times=observations.times[kept],
        offsets=torch.cat([counts.new_zeros(1), counts.cumsum(0)]),
        **{name: getattr(observations, name)[on_device] for name in ("values", "mask", "series")},
    )


def quantised(rows: Rows, step: float) -> Rows:
    """Times rounded to multiples of `step`, halves to the even one; rows of a series that fall together become one.

    A feature of the merged row is the mean of what was observed of it, and observed where any of it was.

    Args:
        step: in units of time, above 0.

    Raises:
        ValueError: the rows do not fit each other, or the step is not above 0.
    """
    _check(rows)
    if not step > 0:
        raise ValueError(f"the step of time must be above 0, not {step}")
    ticks = np.round(rows.times.astype(np.float64) / step).astype(np.int64)
    series = np.repeat(np.arange(len(rows.lengths)), rows.lengths)
    if np.any((np.diff(ticks) < 0) & (np.diff(series) == 0)):
        raise ValueError("the times of a series must ascend")
    first = np.ones(len(ticks), dtype=bool)
    first[1:] = (np.diff(ticks) != 0) | (np.diff(series) != 0)
    counts, sums = _totals(rows, np.flatnonzero(first))
    values = np.where(counts > 0, sums / np.maximum(counts, 1), 0).astype(rows.values.dtype)
    lengths = np.bincount(series[first], minlength=len(rows.lengths)).astype(np.int64)
    return Rows((ticks[first] * step).astype(rows.times.dtype), values, counts > 0, lengths)


def _totals(rows: Rows, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How often each feature was observed, and the sum of what was, in the groups of rows that start at `starts`."""
    if not len(starts):
        return np.zeros(rows.values.shape, dtype=np.int64), np.zeros(rows.values.shape)
    observed = np.where(rows.mask, rows.values, 0).astype(np.float64)
    return np.add.reduceat(rows.mask.astype(np.int64), starts), np.add.reduceat(observed, starts)


def _rows_of(lengths: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the chosen series, one series after another, and the place of each row's series in `chosen`."""
    starts, counts = (np.cumsum(lengths) - lengths)[chosen], lengths[chosen]
    series = np.repeat(np.arange(len(chosen)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return starts[series] + within, series


def _check(rows: Rows) -> None:
    count = len(rows.times)
    if rows.values.ndim != 2 or rows.mask.shape != rows.values.shape or rows.mask.dtype != bool:
        raise ValueError(
            f"values and mask must be (rows, D), the mask bool, not {rows.values.shape} and {rows.mask.shape} "
            f"{rows.mask.dtype}"
        )
    if len(rows.values) != count or rows.lengths.sum() != count:
        raise ValueError(
            f"{count} times, {len(rows.values)} rows of values and lengths of {rows.lengths.sum()} rows do not fit"
        )
