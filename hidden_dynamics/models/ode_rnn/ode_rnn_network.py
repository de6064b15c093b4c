"""ODE-RNN as a network of its own (Rubanova et al. 2019; ACE-NODE, Tables 7 and 9)."""

from typing import Protocol

from torch import nn

from hidden_dynamics.models.forecaster import Forecaster
from hidden_dynamics.models.ode_rnn.layers import initialise, perceptron
from hidden_dynamics.models.ode_rnn.ode_rnn_core import ODERNNCore
from hidden_dynamics.models.series_batch import Answer, SeriesBatch

WAYS = {"forwards": "forwards", "backwards": "released"}
CLASSIFIERS = ("linear", "mlp")
CLASSIFIER_UNITS = 300


class LabelledTask(Protocol):
    """
    Attributes:
        features: D, of a row.
        labels: "series" or "rows", what has labels; None where nothing is classified.
        classes: outputs of the classifier.
    """

    features: int
    labels: str | None
    classes: int


class ODERNN(Forecaster):
    """Each row is predicted from the state in which the union time before left its series.

    A series is classified by its last state, a row by the state after it was seen.

    Args:
        task: its rows, and what of it is classified.
        hidden_size: S, of the state's mean, and of its standard deviation.
        layers, units: of the dynamics, which have `layers` + 2 linear maps.
        gru_units: hidden units of the GRU unit's networks.
        decoder_units: hidden units between the state and what is predicted.
        steps: "forwards", by the true gaps; "backwards", as released: those of a passage backwards, one visit late
            (hidden_dynamics.models.ode_rnn.union_times.gaps).
        classifier: of rows: "linear", or "mlp", with two hidden layers of 300 and ReLU; that of series always is an mlp.

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        task: LabelledTask,
        hidden_size: int,
        layers: int = 3,
        units: int = 50,
        gru_units: int = 50,
        decoder_units: int = 100,
        steps: str = "forwards",
        classifier: str = "linear",
    ):
        super().__init__()
        if steps not in WAYS or classifier not in CLASSIFIERS:
            raise ValueError(
                f"the steps must be {' or '.join(WAYS)}, the classifier {' or '.join(CLASSIFIERS)}; found {steps!r} "
                f"and {classifier!r}"
            )
        self.way, self.labels = WAYS[steps], task.labels
        self.core = ODERNNCore(task.features, hidden_size, layers, units, gru_units)
        self.decoder = perceptron(hidden_size, task.features, 0, decoder_units)
        self.classifier = None
        if task.labels is not None:
            linear = task.labels == "rows" and classifier == "linear"
            self.classifier = (nn.Linear if linear else _mlp)(hidden_size, task.classes)
            initialise(self.classifier)

    def forward(self, batch: SeriesBatch) -> Answer:
        """What is predicted of the rows given: at the first union time, what is observed itself, as released.

        Raises:
            ValueError: something else is asked than what is given.
        """
        given = batch.given
        if batch.asked is not given:
            raise ValueError("an ODE-RNN is only asked for what it is given")
        passed = self.core(given, self.way)
        values = self.decoder(passed.before)
        if len(given.times):
            first = int(given.offsets[1])
            values[:first] = given.values[:first]
        labels = None
        if self.labels == "series":
            labels = self.classifier(passed.mean).squeeze(1)[None]
        elif self.labels == "rows":
            labels = self.classifier(passed.after)[None]
        nothing = values.new_zeros(())
        return Answer(values[None], labels, nothing, nothing)


def _mlp(inputs: int, outputs: int) -> nn.Sequential:
    units = CLASSIFIER_UNITS
    return nn.Sequential(
        *(nn.Linear(inputs, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU(), nn.Linear(units, outputs))
    )
