"""The recurrent networks beside Latent-ODE: with time gaps, imputed values, a decaying state (Rubanova et al. 2019)."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.choices import Whole, one_of, whole
from hidden_dynamics.models.gru import gru_step
from hidden_dynamics.models.latent_family.family import LatentNetwork, LatentTask, Prediction, SeriesBatch
from hidden_dynamics.models.layers import DEVIATION, initialised, tanh_network
from hidden_dynamics.models.series_major import Padded, padded

GAPS = ("to_last", "to_next")
LARGEST = 1000.0  # exponent of a decay


class RNNBaseline(LatentNetwork):
    """A GRU whose state changes at a series' rows, and predicts each row from what the rows before left.

    With a gap it is RNN Delta; with a gap and a mean RNN-Impute; with a decay RNN-Decay; with a decay and a mean GRU-D
    (Che et al. 2018) as the Latent-ODE paper has it. A row at the batch's first union time is predicted to be what it
    is: the released code shifts predictions by one union time and has none there. A series is classified by its last
    state, a row by the state after it. Where nothing is classified, which no table has, the released code puts the
    network's own prediction in the place of half of the input; here, it sees what was observed.

    Args:
        units: of the layer between the state and a prediction.
        gap: the time that the GRU is told beside values and mask, "to_last" or "to_next" (`gaps`); None, none.
        mean: that missing values decay to, "observed" or "union" (`Imputation`); None: they are 0.
        decay: the state decays before a row.
        decay_gaps: "all" or "released", the time by which values and state decay (`decay_gaps`).
    """

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int,
        units: Whole = 50,
        gap: Literal["to_last", "to_next"] | None = None,
        mean: Literal["observed", "union"] | None = None,
        decay: bool = False,
        decay_gaps: Literal["all", "released"] = "all",
    ):
        super().__init__(task)
        whole("hidden_size", hidden_size)
        whole("units", units)
        imputation = None if mean is None else Imputation(task.features, mean)
        rate = Decay(task.features) if decay else None
        self.gap = gap if gap is None else one_of("gap", gap, GAPS)
        self.decay_gaps = one_of("decay_gaps", decay_gaps, ("all", "released"))
        self.cell = nn.GRUCell(2 * task.features + (gap is not None), hidden_size)
        self.decoder = tanh_network(hidden_size, task.features, 0, units)
        self.imputation, self.decay = imputation, rate
        self.classifies(task, hidden_size, hidden_size)

    def forward(self, batch: SeriesBatch) -> Prediction:
        """The prediction of the context's rows; a ValueError where the targets are not the context."""
        context = self.accepted(batch.reconstructed())
        steps = padded(context, first_of_all=True)
        states = self.states(steps, context.times)
        first = context.rows_at_first()
        read = self.decoder(states[context.series[first:], steps.before[first:]])
        last = states[torch.arange(context.size, device=states.device), steps.lengths]
        labels = self.logits(last[None], states[context.series, steps.after][None])
        return Prediction(torch.cat([context.values[:first], read])[None], labels)

    def states(self, steps: Padded, times: Tensor) -> Tensor:
        """The state after the first 0 to S steps: (N, S + 1, H)."""
        if not len(times):
            return steps.values.new_zeros(len(steps.lengths), 1, self.cell.hidden_size)
        values, factors, beside = steps.values, None, [steps.mask]
        if self.imputation is not None or self.decay is not None:
            since = decay_gaps(steps, times, self.decay_gaps)
            values = values if self.imputation is None else self.imputation(steps, since, len(times))
            factors = None if self.decay is None else self.decay(since)
        if self.gap is not None:
            beside.append(gaps(steps, times, self.gap).unsqueeze(2))
        return states_of(self.cell, values, torch.cat(beside, 2), factors)


def states_of(cell: nn.GRUCell, values: Tensor, beside: Tensor, decay: Tensor | None = None) -> Tensor:
    """The states after the first 0 to S steps, from 0: (N, S + 1, H).

    Args:
        cell: its input is a step's values, (N, S, D), and what is seen beside them, (N, S, I - D).
        decay: (N, S, 1), what multiplies the state before each step.
    """
    of_values, of_rest = cell.weight_ih.split_with_sizes([values.shape[2], beside.shape[2]], 1)
    inputs = functional.linear(beside, of_rest, cell.bias_ih) + functional.linear(values, of_values)
    states = [values.new_zeros(len(values), cell.hidden_size)]
    factors = [1.0] * values.shape[1] if decay is None else decay.unbind(1)
    for gates, factor in zip(inputs.unbind(1), factors, strict=True):
        states.append(gru_step(cell, gates, states[-1] if decay is None else states[-1] * factor))
    return torch.stack(states, 1)


def gaps(steps: Padded, times: Tensor, kind: str) -> Tensor:
    """The time that a step is told: (N, S), of visits in the order of time, at `times`, (U,) float64 on the CPU.

    Args:
        kind: "to_last", the time since the step before, 0 at the first (Rubanova et al. 2019, Section 2); "to_next",
            the time from its union time to the next one, whether the series has a row there or not, 0 at the last (the
            released code).
    """
    if kind == "to_next":
        return times.diff(append=times[-1:]).to(steps.times)[steps.visits].to(steps.values)
    return steps.times.diff(dim=1, prepend=steps.times[:, :1]).to(steps.values)


def decay_gaps(steps: Padded, times: Tensor, kind: str) -> Tensor:
    """The time since each feature was last observed, or since the first union time, at each step: (N, S, D), in units
    of the largest in the batch; of visits in the order of time, at `times`, (U,) float64 on the CPU.

    Args:
        kind: "all" (Che et al. 2018, Equation 4, on the union times); "released": the intervals added up are those that
            follow a time, not those before it, and what is missing at the first union time is not carried on.

    Let n(u) be the time that follows union time u, or the last itself. Released is c_0 = n(0) - t_0 and
    c_u = n(u) - n(u - 1) + [missing at u - 1 > 0] c_{u-1}, so c_u = n(u) - n(p) with p the latest union time before u
    where the feature was observed, or 0. The largest may lie where a series has no row, but then at the last time.
    Where no time passed, all are 0; the released code divides by 0.
    """
    t = times.to(steps.lengths.device)
    clock = torch.cat([t[1:], t[-1:]]) if kind == "released" else t
    last = clock[steps.last_visits()]
    since = clock[steps.visits].unsqueeze(2) - last[:, :-1]
    since[:, 0] = clock[0] - t[0]
    since = torch.where(steps.valid().unsqueeze(2), since, 0)
    largest = torch.maximum(since.max(), (t[-1] - last[:, -1]).max())
    return (since / torch.where(largest > 0, largest, 1)).to(steps.values)


class Decay(nn.Module):
    """exp(-min(max(0, W c + b), 1000)), one factor for the whole state, with c the time since each feature was last
    observed (Rubanova et al. 2019, "RNN-Decay"; a factor for each entry in Che et al. 2018, Equation 5)."""

    def __init__(self, features: int):
        super().__init__()
        self.rate = initialised(nn.Linear(features, 1))

    def forward(self, since: Tensor) -> Tensor:
        """(N, S, 1), of c, (N, S, D)."""
        return decayed(self.rate(since))


class Imputation(nn.Module):
    """m x + (1 - m) (gamma x' + (1 - gamma) mean), gamma = exp(-min(max(0, w c + b), 1000)), with x' the last value
    before a step, c as in `Decay` (Che et al. 2018, Equations 5 and 6).

    Ours: w is drawn like all weights of the family, b is 0; the released code leaves both uninitialised.

    Args:
        mean: of what a series observed of a feature, 0 where nothing; "union", as released: what was observed is summed
            and divided by the number of the batch's union times, so it is next to 0 and depends on the other series.
    """

    def __init__(self, features: int, mean: str):
        super().__init__()
        self.mean = one_of("mean", mean, ("observed", "union"))
        self.weight = nn.Parameter(torch.empty(features).normal_(0, DEVIATION))
        self.bias = nn.Parameter(torch.zeros(features))

    def forward(self, steps: Padded, since: Tensor, times: int) -> Tensor:
        """(N, S, D), of c, (N, S, D), and the number of union times."""
        gamma = decayed(self.weight * since + self.bias)
        counts = times if self.mean == "union" else steps.mask.sum(1, keepdim=True).clamp(min=1)
        mean = steps.values.sum(1, keepdim=True) / counts
        return torch.where(steps.mask > 0, steps.values, gamma * steps.last_values() + (1 - gamma) * mean)


def decayed(exponent: Tensor) -> Tensor:
    """exp(-min(max(0, y), 1000)); at a tie, the gradient is that of the released code, one half."""
    lowest, highest = exponent.new_zeros(()), exponent.new_full((), LARGEST)
    return torch.exp(-torch.minimum(torch.maximum(lowest, exponent), highest))
