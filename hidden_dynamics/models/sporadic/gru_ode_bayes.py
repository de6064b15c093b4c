"""GRU-ODE-Bayes (De Brouwer et al. 2019), and augmented with zeros (ACE-NODE, Section 4.2)."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.choices import Positive, Share, Whole, number, one_of, whole
from hidden_dynamics.models.forecaster import Forecaster, SeriesTask
from hidden_dynamics.models.gaussian import negative_log_likelihood
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.sporadic.gru_ode_bayes_parts import GRUODE, BayesJump, divergence
from hidden_dynamics.models.sporadic.path import Path, path

BIAS = 0.05  # of every linear map, at first
State = tuple[Tensor, Tensor | None]  # h, and the attention where there is one


class Masks(NamedTuple):
    """Factors by which dropout multiplies hidden layers; None is 1.

    Attributes:
        start: (batch, C), of the map that h(0) is made by.
        before, after: (R, P), of the p-model before and after the jump of each row.
    """

    start: Tensor | None = None
    before: Tensor | None = None
    after: Tensor | None = None


class Filtered(NamedTuple):
    """Predictions right before and right after each observation, and what the loss needs beside them.

    Attributes:
        before, after: (R, 2 D), mean and logvar.
        norms: (U,), the norms of the correlation of h after each union time's jumps, where they are penalised.
    """

    before: Tensor
    after: Tensor
    norms: Tensor


class GRUODEBayes(Forecaster):
    """h flows by a GRU-ODE between observations and jumps at them; p(t), mean and logvar, is read from h.

    h(0) = tanh(W_2 drop(ReLU(W_1 c + b_1)) + b_2) of covariates c, which are 0 here; p = V_2 drop(ReLU(V_1 h + b_1)) +
    b_2. All linear maps but the jump's start Xavier-uniform with biases of 0.05.

    Args:
        task: gives the features D of an observation, the covariates of a series and the end of the time.
        hidden_size, prep: of h, without what augments it; entries of the jump's input for each feature.
        delta: of a Euler step, in units of time.
        dropout: share of the hidden units of both maps that are dropped when training, redrawn wherever p is.
        mixing: weight of the loss after the jumps.
        p_hidden, covariates_hidden: hidden units of the two maps.
        solver: "euler", by steps of delta as the original; "still", where nothing happens between observations: the
            released ACE-NODE baseline takes y(t_0) from a solution of dopri5 for its end.
        augmented: zeros added to h(0) (Dupont et al. 2019; ACE-NODE, Section 4.2). All that h enters sees them.
    """

    def __init__(
        self,
        task: SeriesTask,
        hidden_size: int,
        prep: Whole = 10,
        delta: Positive = 0.1,
        dropout: Share = 0.2,
        mixing: float = 1e-4,
        p_hidden: Whole = 25,
        covariates_hidden: Whole = 50,
        solver: Literal["euler", "still"] = "euler",
        augmented: int = 0,
    ):
        super().__init__(task)
        one_of("solver", solver, ("euler", "still"))
        number("delta", delta, above=0)
        number("dropout", dropout, 0, below=1)
        sizes = {"hidden_size": hidden_size, "prep": prep, "p_hidden": p_hidden, "covariates_hidden": covariates_hidden}
        for name, value in sizes.items():
            whole(name, value)
        whole("augmented", augmented, 0)
        self.delta, self.end, self.dropout, self.mixing = delta, task.end, dropout, mixing
        self.solver, self.kind, self.augmented = solver, solver, augmented
        size = hidden_size + augmented
        self.covariates_in = nn.Linear(task.covariates, covariates_hidden)
        self.covariates_out = nn.Linear(covariates_hidden, hidden_size)
        self.p_in, self.p_out = nn.Linear(size, p_hidden), nn.Linear(p_hidden, 2 * task.features)
        self.dynamics = GRUODE(size)
        self.jump = BayesJump(task.features, size, prep)
        for layer in self.children():
            if isinstance(layer, nn.Linear):
                nn.init.xavier_uniform_(layer.weight)
                nn.init.constant_(layer.bias, BIAS)

    def forward(self, observations: Observations) -> Filtered:
        """Predictions right before and after all observations, none of which may come after the end."""
        way = self.path(self.accepted(observations))
        masks = self.masks(observations, way)
        before, after, norms, _ = self._passed(observations, masks, way.steps[:-1])
        return Filtered(before, self.p(after, masks.after), norms)

    def loss(self, filtered: Filtered, observations: Observations) -> Tensor:
        """(loss before the jumps + mixing * loss after them) / batch, in nats per series."""
        first = negative_log_likelihood(filtered.before, observations.values, observations.mask)
        second = divergence(filtered.after, observations.values, observations.mask)
        return (first + self.mixing * second) / observations.size

    def predict(self, observations: Observations, series: Tensor, times: np.ndarray) -> Tensor:
        """p, (N, 2 D), mean and logvar, of these series, (N,) int64, at the times of the path next to these, (N,).
        Nothing is dropped, whether training or not."""
        way = self.path(self.accepted(observations, times))
        wanted, which = np.unique(np.append(way.states_at(times), 0), return_inverse=True)  # there is at least one
        *_, states = self._passed(observations, Masks(), way.steps, wanted.tolist())
        return self.p(torch.stack(states)[torch.as_tensor(which[:-1]).to(series.device), series])

    def p(self, h: Tensor, mask: Tensor | None = None) -> Tensor:
        """Mean and logvar, (..., 2 D), of h, (..., d)."""
        hidden = torch.relu(self.p_in(h))
        return self.p_out(hidden if mask is None else hidden * mask)

    def path(self, observations: Observations) -> Path:
        times = observations.times.numpy()
        if len(times) and times[-1] > np.float32(self.end):  # times were read in single precision
            raise ValueError(f"an observation at {times[-1]} lies after the end, {self.end}")
        return path(times, self.delta, self.end, self.kind)

    def masks(self, observations: Observations, way: Path) -> Masks:
        """Masks drawn from torch's generator; none where nothing is dropped.

        p(t) of the whole batch is redrawn after each step and at each union time: where neither came between two
        observations of a series, what the second finds is what the first left.
        """
        if not (self.training and self.dropout):
            return Masks()
        like, rows = observations.values, len(observations.values)
        of_start = self._drawn(like.new_empty(observations.size, self.covariates_in.out_features))
        before, after = (self._drawn(like.new_empty(rows, self.p_in.out_features)) for _ in range(2))
        union, series = observations.rows_of_times().to(like.device), observations.series
        passed = torch.as_tensor(way.passed).to(like.device)[union]
        order = torch.sort(series, stable=True).indices
        earlier, later = order[:-1], order[1:]
        same = (series[earlier] == series[later]) & (passed[earlier] == passed[later])
        same &= union[earlier] + 1 == union[later]
        return Masks(of_start, before.index_copy(0, later[same], after[earlier[same]]), after)

    def _drawn(self, like: Tensor) -> Tensor:
        kept = 1 - self.dropout
        return torch.empty_like(like).uniform_().lt_(kept).div_(kept)  # in half the time of bernoulli_

    def _start(self, observations: Observations, mask: Tensor | None) -> Tensor:
        """h(0), (batch, d)."""
        covariates = observations.values.new_zeros(observations.size, self.covariates_in.in_features)
        hidden = torch.relu(self.covariates_in(covariates))
        h = torch.tanh(self.covariates_out(hidden if mask is None else hidden * mask))
        return functional.pad(h, (0, self.augmented))

    def _passed(
        self, observations: Observations, masks: Masks, ends: list[int], wanted: Sequence[int] = ()
    ) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
        """The way of the state: `before` as in `Filtered`; the state of each row's series after its jump, (R, d);
        `norms`; the states that are wanted, (batch, d) each.

        Args:
            ends: the steps before each jump, all of them together, and those before the end where it is gone to.
            wanted: numbers of states; state k is that after k events, which are steps and jumps.
        """
        counts: list[int] = observations.offsets.diff().numpy().tolist()
        rows = [torch.split(part, counts) for part in (observations.series, observations.values, observations.mask)]
        drops = [None] * len(counts) if masks.before is None else torch.split(masks.before, counts)
        each = list(zip(*rows, drops, strict=True))
        preparing, gates = self.jump.preparing_matrix(), [dynamics.gates() for dynamics in self._dynamics()]
        before, after, norms = list[Tensor](), list[Tensor](), list[Tensor]()
        h = self._start(observations, masks.start)
        a, states, chosen, done = self._initial_attention(h), [h if 0 in wanted else None], set(wanted), 0
        for end, at_once in zip(ends, [*each, None], strict=False):
            for _ in range(done, end):
                h, a = self._stepped(h, a, gates)
                states.append(h if len(states) in chosen else None)
            done = end
            if at_once is not None:
                series, values, mask, drop = at_once
                jumping = h.index_select(0, series)
                before.append(self.p(jumping, drop))
                after.append(self.jump(jumping, before[-1], values, mask, preparing))
                h = h.index_copy(0, series, after[-1])  # a series has one row at a time
                states.append(h if len(states) in chosen else None)
                a = self._attention_after_jump(h, a, norms)
        before.append(h.new_empty(0, self.p_out.out_features))
        after.append(h[:0])
        found = [state for state in states if state is not None]
        return torch.cat(before), torch.cat(after), torch.stack(norms) if norms else h.new_empty(0), found

    def _dynamics(self) -> list[GRUODE]:
        """The dynamics of h, and of the attention where that evolves."""
        return [self.dynamics]

    def _stepped(self, h: Tensor, a: Tensor | None, gates: list[Tensor]) -> State:
        """h and a, the attention where there is one, after a step."""
        return torch.add(h, self.dynamics.rate(h, gates[0]), alpha=self.delta), None

    def _attention_after_jump(self, h: Tensor, a: Tensor | None, norms: list[Tensor]) -> Tensor | None:
        """The attention given h after a jump; a norm that is penalised is added to those of the jumps before."""
        return None

    def _initial_attention(self, h: Tensor) -> Tensor | None:
        return None
