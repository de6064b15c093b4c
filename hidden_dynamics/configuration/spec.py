"""The types of a run's specification, as `hidden_dynamics.configuration.runs` makes it of checked entries; and what the
length of its training decides."""

import math
from typing import Any, NotRequired, TypedDict


class Training(TypedDict):
    """`schema.Training` as given: what is left out has its default. schema.py has the keys of its mappings."""

    optimisers: dict[str, dict[str, Any]]
    batch_size: int
    epochs: int
    iterations_per_epoch: NotRequired[int]
    evaluate_every: NotRequired[int]
    clip_norm: NotRequired[float | None]
    averaging: NotRequired[dict[str, Any] | None]
    record_gradients: NotRequired[int | None]
    record_predictions: NotRequired[bool]
    report: dict[str, str]
    drop_last: NotRequired[bool]
    fixed_batches: NotRequired[bool]
    alternating: NotRequired[bool]
    rates: NotRequired[dict[str, Any]]


class Spec(TypedDict):
    """All that determines a run's result, apart from code and data; classes by their names alone."""

    task: str
    model: str
    seed: int
    network: str
    core: str | None
    task_class: str
    hyperparameters: dict[str, Any]
    task_settings: dict[str, Any]
    dataset: str
    data: dict[str, Any]
    training: Training
    precision: str
    variants: dict[str, str]


def length_matters(training: Training) -> bool:
    """Whether a run of so many epochs is not the first part of a longer one: it ends, and is evaluated, within an epoch
    or off `evaluate_every`, or only its data say where. Rates, orders and penalties go by the iteration."""
    every, per_epoch = training.get("evaluate_every"), training.get("iterations_per_epoch")
    epochs = min(training["epochs"], training.get("rates", {}).get("until", math.inf))
    if every is None:
        return epochs != int(epochs)
    return per_epoch is None or epochs * per_epoch % every != 0
