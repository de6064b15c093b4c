"""A batch with the rows of each series side by side, padded to the longest, for what goes through the rows in turn."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from hidden_dynamics.models.observations import Observations


class Places(NamedTuple):
    """Places in a batch at which something is predicted.

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
        visits: (batch, S) int64, each row's union time, numbered as they are visited; 0 in the padding.
        lengths: (batch,) int64, the rows of each series.
        latest: (batch, S + 1, D) int64, the rows until each feature's latest observation among the first 0 to S, or 0.
        series: (R,) int64, of the rows of the batch.
        before, after: (R,) int64, rows of its series before a row of the batch; those and itself, if it is among them.
    """

    values: Tensor
    mask: Tensor
    times: Tensor
    visits: Tensor
    lengths: Tensor
    latest: Tensor
    series: Tensor
    before: Tensor
    after: Tensor

    def valid(self) -> Tensor:
        """(batch, S) bool, False in the padding."""
        return torch.arange(self.times.shape[1], device=self.lengths.device) < self.lengths.unsqueeze(1)

    def gaps(self) -> Tensor:
        """The time from the row before, or from 0, to each row: (batch, S), 0 in the padding."""
        return self.times.diff(dim=1, prepend=self.times.new_zeros(len(self.times), 1)).to(self.values)

    def since(self) -> Tensor:
        """The time from the latest observation before a row, or from 0, to the row: (batch, S, D)."""
        return (self.times.unsqueeze(2) - self._until()[:, :-1]).to(self.values)

    def last_values(self) -> Tensor:
        """The latest value before each row: (batch, S, D), 0 where there is none."""
        return functional.pad(self.values, (0, 0, 1, 0)).gather(1, self.latest[:, :-1])

    def last_visits(self) -> Tensor:
        """The visit of the latest observation of each feature among the first 0 to S rows, or 0: (batch, S + 1, D)."""
        visits = self.visits.unsqueeze(2).expand_as(self.values)
        return visits.gather(1, (self.latest - 1).clamp(min=0))

    def own(self) -> Places:
        """The place of each row of the batch, as it is before that row is known."""
        return self._places(self.series, self.before, self.times[self.series, self.before])

    def at(self, series: Tensor, times: Tensor) -> Places:
        """The places of these series, (N,) int64, at these times, (N,) float64; a row at a time is not before it."""
        before = (self.times[series] < times.unsqueeze(1)) & self.valid()[series]
        return self._places(series, before.sum(1), times)

    def _places(self, series: Tensor, rows: Tensor, times: Tensor) -> Places:
        elapsed = times - functional.pad(self.times, (1, 0))[series, rows]
        since = times.unsqueeze(1) - self._until()[series, rows]
        return Places(series, rows, elapsed.to(self.values), since.to(self.values))

    def _until(self) -> Tensor:
        """The time of the latest observation of each feature among the first 0 to S rows, or 0: (batch, S + 1, D)."""
        return functional.pad(self.times, (1, 0)).unsqueeze(2).expand(self.latest.shape).gather(1, self.latest)


def padded(observations: Observations, first_of_all: bool = False, backwards: bool = False) -> Padded:
    """The same observations, the rows of each series side by side.

    Args:
        first_of_all: rows without an observation are left out, but every series has one at the union time visited
            first, whatever is observed: there, the released code of the RNNs has no state yet that it could keep.
        backwards: the union times are visited against time; `times` are not ascending then.
    """
    series, size = observations.series, observations.size
    visits = observations.rows_of_times().to(series.device)
    times = observations.times.to(series.device)[visits]
    if backwards:
        visits = len(observations.times) - 1 - visits
    later = observations.mask.any(1) & (visits > 0) if first_of_all else torch.ones_like(visits, dtype=torch.bool)
    rank, first = _rank(series, visits, later, size), int(first_of_all)
    before = torch.where(visits > 0, first + rank, 0) if first_of_all else rank
    lengths = min(len(observations.times), first) + torch.bincount(series[later], minlength=size)
    made = later | (visits == 0)
    place, shape = (series[made], before[made]), (size, max(1 - first, int(lengths.max())))
    values, mask = (
        each.new_zeros(*shape, each.shape[1]).index_put(place, each[made])
        for each in (observations.values, observations.mask)
    )
    visited_first = observations.times[-1 if backwards else 0].item() if first_of_all and len(times) else 0.0
    table = times.new_full(shape, visited_first).index_put(place, times[made])
    numbers = torch.arange(1, shape[1] + 1, device=series.device)[:, None]
    return Padded(
        values=values,
        mask=mask,
        times=table if backwards else table.cummax(1).values,
        visits=visits.new_zeros(shape).index_put(place, visits[made]),
        lengths=lengths,
        latest=functional.pad(torch.where(mask > 0, numbers, 0).cummax(1).values, (0, 0, 1, 0)),
        series=series,
        before=before,
        after=before + made,
    )


def _rank(series: Tensor, visits: Tensor, counted: Tensor, size: int) -> Tensor:
    """The number of rows that are `counted` before each row in the visits of its series: (R,) int64."""
    order = torch.argsort(visits, stable=True)
    order = order[torch.argsort(series[order], stable=True)]
    running = counted[order].cumsum(0) - counted[order].long()
    lengths = torch.bincount(series, minlength=size)
    first = (lengths.cumsum(0) - lengths)[series[order]]
    return torch.empty_like(series).index_put((order,), running - running[first])
