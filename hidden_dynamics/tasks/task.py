"""The contract of tasks: batches, loss, evaluation, and what a task may say of itself beside them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from hidden_dynamics.configuration.spec import Training
from hidden_dynamics.errors import UserError
from hidden_dynamics.models.recurrent.state import FilterState
from hidden_dynamics.tasks.items import Items
from hidden_dynamics.tasks.naive_scores import Scores
from hidden_dynamics.tasks.schedule import AnySchedule, Schedule, SegmentSchedule

Net = TypeVar("Net")
Batch = TypeVar("Batch")
Arrays = Mapping[str, np.ndarray]
TaskSettings = Mapping[str, object]
Metrics = dict[str, float]


class Task(ABC, Generic[Net, Batch]):
    """An experiment for networks of type `Net`, with batches of type `Batch`, which are whatever `loss` understands.

    A network may ask for more: `input_size`, `output_size` and `every_step` of a core, `channels` of images; see the
    Protocol in the network's module. Everything random is drawn from hidden_dynamics.data.streams by seed and counter,
    so that a resumed training sees the same batches.

    Args:
        settings: the task's, of config/tasks.yaml; a `UserError` where they, or the data, cannot be used.
        device: where batches are made.

    Attributes:
        train_size: examples in an epoch; None where data are drawn without end, or `schedule` is the task's own.
        ragged: whether sequences differ in length. A batch is then sorted, the longest first, and `loss` calls
            network(x, lengths), which answers the valid steps alone (hidden_dynamics.models.ragged).
        hidden_state: what a batch hands on to the next one; part of a checkpoint.
        test_set: how many samples the test set has, and how many positive ones, as `naive_scores.test_set` gives it.
        split: how many examples there are, {"series": ..., "train": ...}; None where the dataset's title says it.
        limits: {metric: score} of the best possible predictor, where it is known.
        items: what the last evaluation on the test set, which sets it, said of each item; None where nothing is kept.
    """

    train_size: int | None = None
    ragged: bool = False
    hidden_state: FilterState = None
    test_set: dict[str, int | None] | None = None
    split: dict[str, int] | None = None
    limits: Metrics | None = None
    items: Items | None = None

    @abstractmethod
    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device): ...

    @abstractmethod
    def batch(self, epoch: int, indices: Any) -> Batch:
        """A batch of the training set: of the examples `indices`, (batch,) int64; with train_size None, of an iteration
        and a batch size; with a schedule of its own, of what that gives."""

    @abstractmethod
    def loss(self, network: Net, batch: Batch) -> Tensor:
        """The loss that training makes smaller, ()."""

    @abstractmethod
    def evaluate(self, network: Net) -> Metrics:
        """The metrics of a network in evaluation mode: {"test_loss": ..., ...} over the test set."""

    def schedule(self, training: Training, seed: int) -> AnySchedule:
        """Examples in random order; otherwise where batches are none."""
        return Schedule(training, self.train_size, seed)

    @property
    def naive(self) -> Scores:
        """The naive baselines' scores on the sets that are evaluated."""
        return {}


AnyTask = Task[Any, Any]  # found by its name in the configuration, as the network that fits it is


class ValidatedTask(Task[Net, Batch]):
    """A task that can evaluate on a validation set: where it does (`validated`), a test follows, once, of the reported
    evaluation's weights."""

    validated: bool = True

    def evaluate(self, network: Net) -> Metrics:
        """Over the validation part; over the test part where nothing is held out."""
        return self.measure("validation" if self.validated else "test", network)

    def evaluate_test(self, network: Net) -> Metrics:
        return self.measure("test", network)

    @abstractmethod
    def measure(self, part: str, network: Net) -> Metrics:
        """The metrics of a network over a part, "validation" or "test": {"validation_loss": ..., ...}."""


class PartlyTestedTask(Task[Net, Batch]):
    """A task whose test can be made on a part of its items: whether a network's solver resolves its ODE is asked on it
    (hidden_dynamics.training.solver_check)."""

    @abstractmethod
    def test_on_first(self, items: int, network: Net) -> tuple[int, Metrics]:
        """The test's metrics on the first `items` of the test set, after the number of these."""


class TaskOfParts(Task[Net, Batch]):
    """A task for networks whose parts may be trained in turn (training.alternating)."""

    @abstractmethod
    def loss(self, network: Net, batch: Batch, part: str | None = None) -> Tensor:
        """The loss that this part of the network is trained by; None: the whole."""


class PredictingTask(Task[Net, Batch]):
    """A task whose answers on the test set can be kept (training.record_predictions)."""

    @abstractmethod
    def predictions(self, network: Net) -> dict[str, np.ndarray]:
        """Arrays by name, of the network as training leaves it."""


def as_validated(task: AnyTask) -> "ValidatedTask[Any, Any] | None":
    """The task, if a test follows its evaluations."""
    return task if isinstance(task, ValidatedTask) and task.validated else None


def schedule_of(task: AnyTask, training: Training, seed: int) -> AnySchedule:
    """The task's schedule; a `UserError` where it is of a class of the user's own, or has a setting that it ignores."""
    schedule = task.schedule(training, seed)
    if type(schedule) not in (Schedule, SegmentSchedule):
        text = f"{type(task).__name__}.schedule gives a {type(schedule).__name__}, of which it is unknown whether a "
        raise UserError(f"{text}longer training begins alike: expected is a class of {Schedule.__module__}.")
    endless, key = isinstance(schedule, Schedule) and schedule.train_size is None, "training.iterations_per_epoch"
    if "iterations_per_epoch" in training and not endless:
        raise UserError(f"{key}: it is for data drawn without end: here an epoch is all examples.", key=key)
    return schedule
