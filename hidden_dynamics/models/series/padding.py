"""A batch with each series' rows side by side, padded to the longest: what goes through the rows one after another."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from hidden_dynamics.models.latest import latest_before, rows_until_latest
from hidden_dynamics.models.observations import Observations


class Places(NamedTuple):
    """Where in a batch something is predicted.

    Attributes:
        series: (N,) int64, places in the batch.
        rows: (N,) int64, how many rows of the series lie before.
        elapsed: (N,), the time since the last of them, or since 0.
        since: (N, D), the time since each feature was last observed, or since 0.
    """

    series: Tensor
    rows: Tensor
    elapsed: Tensor
    since: Tensor


@dataclass(frozen=True)
class Padded:
    """A batch of series, S rows each; there is at least one, and what pads a series comes after its rows.

    Attributes:
        values, mask: (batch, S, D), as in `Observations`; 0 in the padding.
        times: (batch, S) float64; in the padding that of the row before, or 0.
        lengths: (batch,) int64, the rows of each series.
        own: the place of each row of the batch, as it is before that row is known.
        latest: (batch, S + 1, D) int64, how many rows it took until the latest observation of each feature among the
            first 0 to S rows; 0 where there is none.
    """

    values: Tensor
    mask: Tensor
    times: Tensor
    lengths: Tensor
    latest: Tensor
    own: Places

    def gaps(self) -> Tensor:
        """The time from the row before, or from 0, to each row: (batch, S), 0 in the padding."""
        return self.times.diff(dim=1, prepend=self.times.new_zeros(len(self.times), 1)).to(self.values)

    def since(self) -> Tensor:
        """The time from the latest observation before a row, or from 0, to the row: (batch, S, D)."""
        return (self.times.unsqueeze(2) - _until(self.times, self.latest)[:, :-1]).to(self.values)

    def last_values(self) -> Tensor:
        """The latest value before each row: (batch, S, D), 0 where there is none."""
        return latest_before(self.values, self.latest)

    def at(self, series: Tensor, times: Tensor) -> Places:
        """The places of these series, (N,) int64, at these times, (N,) float64; a row at a time is not before it."""
        valid = torch.arange(self.times.shape[1], device=self.lengths.device) < self.lengths.unsqueeze(1)
        before = (self.times[series] < times.unsqueeze(1)) & valid[series]
        return _places(self.times, self.latest, self.values, series, before.sum(1), times)


def padded(observations: Observations) -> Padded:
    """The same observations, the rows of each series side by side."""
    series, size = observations.series, observations.size
    lengths = torch.bincount(series, minlength=size)
    order = torch.argsort(series, stable=True)  # rows are in the order of time
    rank = torch.arange(len(series), device=series.device)
    row = torch.empty_like(series)
    row[order] = rank - (lengths.cumsum(0) - lengths)[series[order]]
    shape = size, max(1, int(lengths.max()))
    times = observations.times[observations.rows_of_times()].to(series.device)
    values, mask = (
        each.new_zeros(*shape, each.shape[1]).index_put((series, row), each)
        for each in (observations.values, observations.mask)
    )
    table = times.new_zeros(shape).index_put((series, row), times).cummax(1).values
    latest = rows_until_latest(mask)
    return Padded(values, mask, table, lengths, latest, _places(table, latest, values, series, row, times))


def _places(times: Tensor, latest: Tensor, like: Tensor, series: Tensor, rows: Tensor, asked: Tensor) -> Places:
    elapsed = asked - _start_with_zero(times)[series, rows]
    since = asked.unsqueeze(1) - _until(times, latest)[series, rows]
    return Places(series, rows, elapsed.to(like), since.to(like))


def _until(times: Tensor, latest: Tensor) -> Tensor:
    """The time of the latest observation of each feature among the first 0 to S rows, or 0: (batch, S + 1, D)."""
    return _start_with_zero(times).unsqueeze(2).expand(latest.shape).gather(1, latest)


def _start_with_zero(x: Tensor) -> Tensor:
    """(batch, S + 1, ...) of (batch, S, ...)."""
    return torch.cat([torch.zeros_like(x[:, :1]), x], 1)
