"""The steps at which the states of a batch change: a few of each series, where the union of times has thousands."""

from dataclasses import dataclass

import torch
from torch import Tensor

from hidden_dynamics.models.latest import latest_before, rows_until_latest
from hidden_dynamics.models.observations import Observations


@dataclass(frozen=True)
class Steps:
    """A batch of N series with at most S steps each; what pads a series comes after its steps.

    A network visits the union times one after another. The state of a series changes at the visits where one of its
    features is observed, and at the first, whatever is observed: the released code has no state yet that it could keep.

    Attributes:
        visits: (N, S) int64, the number of each step's visit, from 0; 0 in the padding.
        values, mask: (N, S, D), what is seen there; 0 in the padding.
        latest: (N, S + 1, D) int64, how many steps it took until the latest observation of each feature among the first
            0 to S; 0 where there is none.
        counts: (N,) int64, the steps of each series.
        before, after: (R,) int64, how many steps of a row's series come before the row's visit; those and its own.
    """

    visits: Tensor
    values: Tensor
    mask: Tensor
    latest: Tensor
    counts: Tensor
    before: Tensor
    after: Tensor

    def valid(self) -> Tensor:
        """(N, S) bool, False in the padding."""
        return torch.arange(self.visits.shape[1], device=self.counts.device) < self.counts.unsqueeze(1)

    def last_values(self) -> Tensor:
        """The latest value before each step: (N, S, D), 0 where there is none."""
        return latest_before(self.values, self.latest)

    def last_visits(self) -> Tensor:
        """The visit of the latest observation of each feature among the first 0 to S steps, or 0: (N, S + 1, D)."""
        visits = self.visits.unsqueeze(2).expand_as(self.values)
        return visits.gather(1, (self.latest - 1).clamp(min=0))


def steps_of(observations: Observations, backwards: bool = False) -> Steps:
    """The steps of a batch whose union times are visited in the order of time or `backwards`."""
    series, size = observations.series, observations.size
    visits = observations.rows_of_times().to(series.device)
    if backwards:
        visits = len(observations.times) - 1 - visits
    later = observations.mask.any(1) & (visits > 0)
    rank = _rank(series, series * len(observations.times) + visits, later, size)
    step = torch.where(later, 1 + rank, 0)
    counts = min(len(observations.times), 1) + torch.bincount(series[later], minlength=size)
    made = later | (visits == 0)
    place, shape = (series[made], step[made]), (size, int(counts.max()))
    values, mask = (
        each.new_zeros(*shape, each.shape[1]).index_put(place, each[made])
        for each in (observations.values, observations.mask)
    )
    before = torch.where(visits > 0, 1 + rank, 0)
    return Steps(
        visits=visits.new_zeros(shape).index_put(place, visits[made]),
        values=values,
        mask=mask,
        latest=rows_until_latest(mask),
        counts=counts,
        before=before,
        after=before + made,
    )


def _rank(series: Tensor, place: Tensor, counted: Tensor, size: int) -> Tensor:
    """How many rows that are `counted` come before each row in the visits of its series: (R,) int64; `place` orders
    the rows by series and visit."""
    order = torch.argsort(place)
    running = counted[order].cumsum(0) - counted[order].long()
    lengths = torch.bincount(series, minlength=size)
    first = (lengths.cumsum(0) - lengths)[series[order]]
    return torch.empty_like(series).index_put((order,), running - running[first])
