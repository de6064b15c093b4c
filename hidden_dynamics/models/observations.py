"""Series sampled at their own times with features missing, and batches of them over the union of their times.

A data set is ragged: the rows of all series one after another, with the number of rows of each. A batch holds the rows
of the chosen series alone, in the order of time; nothing is padded, and no Python code runs per observation.
"""

import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hidden_dynamics.errors import ObservationError


class Rows(NamedTuple):
    """Ragged series.

    Attributes:
        times: (rows,) float32, 0 or more, ascending within a series, no two alike.
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
        times: (U,) float64 on the CPU, the union times, 0 or more, ascending.
        offsets: (U + 1,) int64 on the CPU: the rows of union time u are offsets[u] to offsets[u + 1] - 1.
        values: (R, D); what is not observed becomes 0, whatever stands there.
        mask: (R, D), 1 where a feature was observed and 0 elsewhere, or a bool; it becomes of the values' type.
        series: (R,) int64, the place of a row's series in the batch; ascending within a union time.
        size: the number of series, those without rows included; 1 or more.

    Raises:
        ObservationError: an attribute is not as above, or an observed value is not finite. Values, masks and series on
            a GPU are not looked at: that would wait for them.
    """

    times: Tensor
    offsets: Tensor
    values: Tensor
    mask: Tensor
    series: Tensor
    size: int

    def __post_init__(self) -> None:
        times, offsets, rows = self.times, self.offsets, len(self.series)
        fit = len(offsets) == len(times) + 1 and offsets[0] == 0 and offsets[-1] == rows and (offsets.diff() >= 0).all()
        if not fit or self.values.ndim != 2 or len(self.values) != rows or self.mask.shape != self.values.shape:
            raise ObservationError(f"times, offsets, values, mask and the series of {rows} rows do not fit each other")
        if self.values.device.type == "cpu":
            observed, series = self.mask > 0, self.series
            if not (self.mask == observed).all() or (rows and not 0 <= series.min() <= series.max() < self.size):
                raise ObservationError(f"mask must be 0 or 1, and series lie in [0, {self.size})")
            of_times = self.rows_of_times()
            twice = (series[1:] <= series[:-1]) & (of_times.diff() == 0)
            if twice.any():
                place = int(series[1:][twice][0])
                raise ObservationError("series must ascend within a union time, each once", place)
            _refuse_faults(times[of_times], self.values, observed, series, range(self.size))
        if self.size < 1 or not (times.isfinite() & (times >= 0)).all() or (times.diff() <= 0).any():
            raise ObservationError("there must be a series, and union times must be finite, 0 or more, and ascend")
        object.__setattr__(self, "values", torch.where(self.mask > 0, self.values, 0))  # the class is frozen
        object.__setattr__(self, "mask", self.mask.to(self.values))

    def to(self, *target: object) -> "Observations":
        """The batch on another device, or with values of another type; times and offsets stay where they are."""
        moved = {name: getattr(self, name).to(*target) for name in ("values", "mask")}
        return self.but(**moved, series=self.series.to(moved["values"].device))

    def but(self, **changes: object) -> "Observations":
        """The batch with these attributes instead; they are not checked."""
        other = copy.copy(self)
        vars(other).update(changes)
        return other

    def rows_of_times(self) -> Tensor:
        """The index of the union time of each row: (R,) int64 on the CPU."""
        return torch.repeat_interleave(torch.arange(len(self.times)), self.offsets.diff())

    def rows_at_first(self) -> int:
        """The number of rows at the first union time; 0 where there is none."""
        return int(self.offsets[:2][-1])


def batch_of(rows: Rows, chosen: np.ndarray, until: float | None = None) -> Observations:
    """The batch of these series.

    Args:
        chosen: (batch,) int64, indices of series; one may be chosen more than once.
        until: rows later than that are left out.

    Raises:
        ValueError: the arrays do not fit each other, or `chosen` are no indices of series.
        ObservationError: the chosen series have a fault, as in `Observations`, or there is none.
    """
    _check(rows)
    chosen = np.asarray(chosen)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not ((chosen >= 0) & (chosen < len(rows.lengths))).all():
        raise ValueError(f"chosen must be (batch,), whole numbers in [0, {len(rows.lengths)}), not {chosen!r}")
    chosen = chosen.astype(np.int64)
    picked, series = _rows_of(rows.lengths, chosen)
    times, values, mask = rows.times[picked], rows.values[picked], rows.mask[picked]
    _refuse_faults(*map(torch.as_tensor, (times, values, mask, series)), names=chosen)
    order = np.lexsort((series, times))
    if until is not None:
        order = order[times[order] <= until]
    union, counts = np.unique(times[order], return_counts=True)
    return Observations(
        times=torch.as_tensor(union.astype(np.float64)),
        offsets=torch.as_tensor(np.concatenate([[0], counts.cumsum()]).astype(np.int64)),
        values=torch.as_tensor(values[order]),
        mask=torch.as_tensor(mask[order].astype(values.dtype)),
        series=torch.as_tensor(series[order]),
        size=len(chosen),
    )


def at_times(observations: Observations, kept: Tensor) -> Observations:
    """The batch with the union times that are `kept`, (U,) bool on the CPU, and the rows of all series at them."""
    rows = kept[observations.rows_of_times()]
    counts = observations.offsets.diff()[kept]
    on_device = rows.to(observations.values.device)
    return observations.but(
        times=observations.times[kept],
        offsets=torch.cat([counts.new_zeros(1), counts.cumsum(0)]),
        **{name: getattr(observations, name)[on_device] for name in ("values", "mask", "series")},
    )


def _rows_of(lengths: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the chosen series, one series after another, and the place of each row's series in `chosen`."""
    starts, counts = (np.cumsum(lengths) - lengths)[chosen], lengths[chosen]
    series = np.repeat(np.arange(len(chosen)), counts)
    within = np.arange(len(series)) - np.repeat(np.cumsum(counts) - counts, counts)
    return starts[series] + within, series


def _refuse_faults(times: Tensor, values: Tensor, observed: Tensor, series: Tensor, names: range | np.ndarray) -> None:
    """Raise an ObservationError of the first of R rows at fault, on the CPU, those of a series in the order of time.

    `times` and `series` are (R,), `values` and `observed`, a bool, (R, D); `names` are the series' numbers by place.
    """
    wrong_time = ~times.isfinite() | (times < 0)
    wrong_time[1:] |= (times[1:] <= times[:-1]) & (series[1:] == series[:-1])
    wrong = wrong_time[:, None]
    if not values.sum().isfinite():  # a fast look at all
        wrong = torch.cat([wrong, observed & ~values.isfinite()], 1)
    if wrong.any():
        row, column = map(int, wrong.nonzero()[0])
        place = int(series[row])
        where = int(names[place]), int((series[:row] == place).sum())
        if not column:
            raise ObservationError(f"times must be finite, 0 or more, and ascend, and one is {times[row]}", *where)
        raise ObservationError(f"what is observed is {values[row, column - 1]}, not finite", *where, column - 1)


def _check(rows: Rows) -> None:
    shapes = [each.shape for each in rows[:3]] + [rows.lengths.sum()]
    fit = rows.mask.shape == rows.values.shape == (shapes[3], *rows.values.shape[1:2]) and rows.mask.dtype == bool
    if not fit or rows.times.shape != (shapes[3],):
        raise ValueError(f"times, values, mask (a bool) and the sum of lengths do not fit: {shapes}")
