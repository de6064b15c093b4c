"""RNN with time gaps, with imputed values, with a decaying state, and GRU-D."""

import torch
from torch import Tensor, nn

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.latent_family.family import LatentNetwork, LatentTask
from hidden_dynamics.models.latent_family.layers import classifier, tanh_network
from hidden_dynamics.models.latent_family.series_batch import Answer, SeriesBatch
from hidden_dynamics.models.rnn_series.decaying_gru import Feedback, passed
from hidden_dynamics.models.rnn_series.decays import Decay, Imputation
from hidden_dynamics.models.rnn_series.elapsed import GAPS, gaps
from hidden_dynamics.models.rnn_series.steps import Steps, steps_of

FED_BACK = 0.5  # share of the union times at which a network that classifies nothing sees its own prediction


class Recurrent(LatentNetwork):
    """A GRU whose state changes at a series' rows, and predicts each row from what the rows before left.

    A row at the batch's first union time is predicted to be what it is: the released code shifts predictions by one
    union time and has none there. A series is classified by its last state, a row by the state after it. Where nothing
    is classified, the input at a union time is the network's own prediction with probability 1/2, for the whole batch,
    when it is trained and when it is tested (the released code; the paper says nothing of it).

    Args:
        task: gives the features D of a row, and what of it is classified.
        hidden_size: of the state.
        units: of the layer between the state and a prediction.
        gap: the time that the GRU is told beside values and mask: "to_last" or "to_next"; None, none.
        imputation: what takes the place of values that are missing; None, 0.
        decay: of the state before a row; None, none.
    """

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int,
        units: int,
        gap: str | None = None,
        imputation: Imputation | None = None,
        decay: Decay | None = None,
    ):
        super().__init__(task)
        self.gap, self.labels = gap, task.labels
        self.cell = nn.GRUCell(2 * task.features + (gap is not None), hidden_size)
        self.decoder = tanh_network(hidden_size, task.features, 0, units)
        self.imputation, self.decay = imputation, decay
        self.classifier = None
        if task.labels is not None:
            self.classifier = classifier(hidden_size, task.classes, "linear" if task.labels == "rows" else "mlp")

    def forward(self, batch: SeriesBatch) -> Answer:
        """What is predicted of the rows given.

        Raises:
            ValueError: something else is asked than what is given.
        """
        given = self.accepted(batch.reconstructed())
        steps = steps_of(given)
        states = self.states(steps, given.times)
        first = given.rows_at_first()
        read = self.decoder(states[given.series[first:], steps.before[first:]])
        labels = None
        if self.labels == "series":
            labels = self.classifier(states[torch.arange(given.size, device=states.device), steps.counts]).t()
        elif self.labels == "rows":
            labels = self.classifier(states[given.series, steps.after])[None]
        return Answer.certain(torch.cat([given.values[:first], read]), labels)

    def states(self, steps: Steps, times: Tensor) -> Tensor:
        """The state after the first 0 to S steps: (N, S + 1, H)."""
        if not len(times):
            return steps.values.new_zeros(len(steps.counts), 1, self.cell.hidden_size)
        values = steps.values if self.imputation is None else self.imputation(steps, times)
        beside = [steps.mask]
        if self.gap is not None:
            beside.append(gaps(steps, times, self.gap).unsqueeze(2))
        decay = None if self.decay is None else self.decay(steps, times)
        feedback = None
        if self.labels is None:
            own = torch.rand(len(times)) < FED_BACK
            own[0] = False
            feedback = Feedback(self.decoder, own.to(steps.visits.device)[steps.visits].unsqueeze(2))
        return passed(self.cell, values, torch.cat(beside, 2), decay, feedback)


class RNNDelta(Recurrent):
    """RNN with time gaps: the GRU sees [values, mask, gap].

    Args:
        task, hidden_size, units: as for `Recurrent`.
        gap: "to_last", the time since the state last changed; "to_next", as released (`gaps`).

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(self, task: LatentTask, hidden_size: int, units: int = 50, gap: str = "to_last"):
        super().__init__(task, hidden_size, units, one_of("gap", gap, GAPS))


class RNNImpute(Recurrent):
    """RNN-Impute: the GRU sees [values, mask, gap], where missing values are imputed.

    Args:
        task, hidden_size, units, gap: as for `RNNDelta`.
        mean, carried: as for `Imputation`.

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int,
        units: int = 50,
        gap: str = "to_last",
        mean: str = "observed",
        carried: str = "all",
    ):
        imputation = Imputation(task.features, mean, carried)
        super().__init__(task, hidden_size, units, one_of("gap", gap, GAPS), imputation)


class RNNDecay(Recurrent):
    """RNN-Decay: the state decays before the GRU sees [values, mask].

    Args:
        task, hidden_size, units: as for `Recurrent`.
        carried: as for `Decay`.

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(self, task: LatentTask, hidden_size: int, units: int = 50, carried: str = "all"):
        super().__init__(task, hidden_size, units, decay=Decay(task.features, carried))


class RNNGRUD(Recurrent):
    """GRU-D as the Latent-ODE paper has it: missing values are imputed, and the state decays.

    Args:
        task, hidden_size, units: as for `Recurrent`.
        mean, carried: as for `Imputation` and `Decay`.

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int,
        units: int = 50,
        mean: str = "observed",
        carried: str = "all",
    ):
        imputation, decay = Imputation(task.features, mean, carried), Decay(task.features, carried)
        super().__init__(task, hidden_size, units, imputation=imputation, decay=decay)
