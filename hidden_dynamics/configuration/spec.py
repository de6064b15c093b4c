"""The types of a run's specification, as `hidden_dynamics.configuration.runs` makes it of checked entries."""

from typing import Any, Literal, NotRequired, TypedDict


class Report(TypedDict):
    metric: str
    rule: Literal["max", "min", "last"]


class Averaging(TypedDict):
    metric: str
    nonmonotone: int


class Rates(TypedDict, total=False):
    drops: list[int]
    factor: float
    scale: float
    until: float
    decay: float
    floor: float


class Training(TypedDict):
    """`schema.Training` as given: what is left out has its default."""

    optimisers: dict[str, dict[str, Any]]
    batch_size: int
    epochs: int
    iterations_per_epoch: NotRequired[int]
    evaluate_every: NotRequired[int]
    clip_norm: NotRequired[float | None]
    averaging: NotRequired[Averaging | None]
    record_gradients: NotRequired[int | None]
    record_predictions: NotRequired[bool]
    report: Report
    drop_last: NotRequired[bool]
    fixed_batches: NotRequired[bool]
    alternating: NotRequired[bool]
    rates: NotRequired[Rates]


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
