"""The recurrent networks beside Latent-ODE: with time gaps, imputed values, a decaying state (Rubanova et al. 2019)."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.encode import gru_step
from hidden_dynamics.models.latent_family.family import LatentNetwork, LatentTask
from hidden_dynamics.models.latent_family.layers import classifier, tanh_network
from hidden_dynamics.models.latent_family.series_batch import Prediction, SeriesBatch
from hidden_dynamics.models.rnn_series.decays import GAPS, Decay, Imputation, gaps
from hidden_dynamics.models.series_major import Padded, padded


class RNNBaseline(LatentNetwork):
    """A GRU whose state changes at a series' rows, and predicts each row from what the rows before left.

    With a gap it is RNN Delta; with a gap and a mean RNN-Impute; with a decay RNN-Decay; with a decay and a mean GRU-D
    as the Latent-ODE paper has it. A row at the batch's first union time is predicted to be what it is: the released
    code shifts predictions by one union time and has none there. A series is classified by its last state, a row by the
    state after it. Where nothing is classified, which no table has, the released code puts the network's own prediction
    in the place of half of the input; here, it sees what was observed.

    Args:
        task: gives the features D of a row, and what of it is classified.
        hidden_size: of the state.
        units: of the layer between the state and a prediction.
        gap: the time that the GRU is told beside values and mask, "to_last" or "to_next"
            (hidden_dynamics.models.rnn_series.decays.gaps); None, none.
        mean: that missing values decay to, "observed" or "union" (`Imputation`); None: they are 0.
        decay: the state decays before a row.
        decay_gaps: "all" or "released", the time by which values and state decay
            (hidden_dynamics.models.rnn_series.decays.decay_gaps).

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int,
        units: int = 50,
        gap: str | None = None,
        mean: str | None = None,
        decay: bool = False,
        decay_gaps: str = "all",
    ):
        super().__init__(task)
        imputation = None if mean is None else Imputation(task.features, mean, decay_gaps)
        rate = Decay(task.features, decay_gaps) if decay else None
        self.gap, self.labels = gap if gap is None else one_of("gap", gap, GAPS), task.labels
        self.cell = nn.GRUCell(2 * task.features + (gap is not None), hidden_size)
        self.decoder = tanh_network(hidden_size, task.features, 0, units)
        self.imputation, self.decay = imputation, rate
        self.classifier = None
        if task.labels is not None:
            self.classifier = classifier(hidden_size, task.classes, "linear" if task.labels == "rows" else "mlp")

    def forward(self, batch: SeriesBatch) -> Prediction:
        """What is predicted of the context's rows.

        Raises:
            ValueError: the targets are not the context.
        """
        context = self.accepted(batch.reconstructed())
        steps = padded(context, first_of_all=True)
        states = self.states(steps, context.times)
        first = context.rows_at_first()
        read = self.decoder(states[context.series[first:], steps.before[first:]])
        labels = None
        if self.labels == "series":
            labels = self.classifier(states[torch.arange(context.size, device=states.device), steps.lengths]).t()
        elif self.labels == "rows":
            labels = self.classifier(states[context.series, steps.after])[None]
        return Prediction.certain(torch.cat([context.values[:first], read]), labels)

    def states(self, steps: Padded, times: Tensor) -> Tensor:
        """The state after the first 0 to S steps: (N, S + 1, H)."""
        if not len(times):
            return steps.values.new_zeros(len(steps.lengths), 1, self.cell.hidden_size)
        values = steps.values if self.imputation is None else self.imputation(steps, times)
        beside = [steps.mask]
        if self.gap is not None:
            beside.append(gaps(steps, times, self.gap).unsqueeze(2))
        return states_of(
            self.cell, values, torch.cat(beside, 2), None if self.decay is None else self.decay(steps, times)
        )


def states_of(cell: nn.GRUCell, values: Tensor, beside: Tensor, decay: Tensor | None = None) -> Tensor:
    """The states after the first 0 to S steps, from 0: (N, S + 1, H).

    Args:
        cell: its input is a step's values and what is seen beside them.
        values: (N, S, D).
        beside: (N, S, I - D).
        decay: (N, S, 1), what multiplies the state before each step.
    """
    of_values, of_rest = cell.weight_ih.split([values.shape[2], beside.shape[2]], 1)
    context = functional.linear(beside, of_rest, cell.bias_ih) + functional.linear(values, of_values)
    states = [values.new_zeros(len(values), cell.hidden_size)]
    factors = [1.0] * values.shape[1] if decay is None else decay.unbind(1)
    for gates, factor in zip(context.unbind(1), factors, strict=True):
        states.append(gru_step(cell, gates, states[-1] if decay is None else states[-1] * factor))
    return torch.stack(states, 1)
