"""ODE-RNN as a network of its own (Rubanova et al. 2019; ACE-NODE, Tables 7 and 9)."""

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.latent_family.family import LatentNetwork, LatentTask
from hidden_dynamics.models.latent_family.layers import classifier as labeller
from hidden_dynamics.models.latent_family.layers import tanh_network
from hidden_dynamics.models.latent_family.series_batch import Prediction, SeriesBatch
from hidden_dynamics.models.ode_rnn.core import ODERNNCore

WAYS = {"forwards": "forwards", "backwards": "released"}


class ODERNN(LatentNetwork):
    """Each row is predicted from the state in which the union time before left its series.

    A series is classified by its last state, a row by the state after it was seen.

    Args:
        task: its rows, and what of it is classified.
        hidden_size: S, of the state's mean, and of its standard deviation.
        layers, units: of the dynamics, which have `layers` + 2 linear maps.
        gru_units: hidden units of the GRU unit's networks.
        decoder_units: hidden units between the state and what is predicted.
        steps: "forwards", by the true gaps; "backwards", as released: those of a rollout backwards, one visit late
            (hidden_dynamics.models.ode_rnn.union_times.gaps).
        classifier: of rows, "linear" or "mlp" (hidden_dynamics.models.latent_family.layers.classifier); of series,
            always the latter.

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int,
        layers: int = 3,
        units: int = 50,
        gru_units: int = 50,
        decoder_units: int = 100,
        steps: str = "forwards",
        classifier: str = "linear",
    ):
        super().__init__(task)
        self.way, self.labels = WAYS[one_of("steps", steps, WAYS)], task.labels
        self.core = ODERNNCore(task.features, hidden_size, layers, units, gru_units)
        self.decoder = tanh_network(hidden_size, task.features, 0, decoder_units)
        kind = "mlp" if task.labels == "series" else classifier
        self.classifier = None if task.labels is None else labeller(hidden_size, task.classes, kind)

    def forward(self, batch: SeriesBatch) -> Prediction:
        """What is predicted of the context's rows: at the first union time, what is observed itself, as released.

        Raises:
            ValueError: the targets are not the context.
        """
        context = self.accepted(batch.reconstructed())
        passed = self.core(context, self.way)
        values = self.decoder(passed.before)
        first = context.rows_at_first()
        values[:first] = context.values[:first]
        labels = None
        if self.labels == "series":
            labels = self.classifier(passed.mean).squeeze(1)[None]
        elif self.labels == "rows":
            labels = self.classifier(passed.after)[None]
        return Prediction.certain(values, labels)
