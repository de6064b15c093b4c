"""Measurements beside the runs, typed: costs, features of images, gradients of untrained cells, classical baselines.

Each is a line of a CSV file (`results.rows.read_typed`). An empty cell is None.
"""

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from hidden_dynamics.configuration.runs import Case

Size = Annotated[int | str | None, BeforeValidator(lambda text: int(text) if str(text).isdigit() else text)]
Mapped = Annotated[dict[str, Any], BeforeValidator(lambda text: json.loads(text) if isinstance(text, str) else text)]


class Measured(BaseModel):
    """A row of a measurement; columns that it does not name are left out."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class OfCase(Measured):
    """A measurement of a model; attributes as in `results.record.RunRecord`."""

    task: str
    model: str
    label: str
    size: Size = None
    paper_size: Size = None
    dataset: str
    dataset_title: str
    stand_in_for: str | None = None
    variants: Mapped
    device: str
    precision: str

    @property
    def case(self) -> Case:
        return Case(self.task, self.model, self.paper_size)


class Cost(OfCase):
    """A cost of one model in one process (hidden_dynamics.measurements.costs).

    Attributes:
        value: per sample, in `unit`.
        ratio: to the baseline's in the same process; None of what cannot be divided.
        implementation, reference_implementation: dotted names of the classes.
    """

    quantity: str
    value: float
    unit: str
    process: int
    ratio: float | None = None
    rounds: int
    implementation: str
    reference_implementation: str
    batch: int
    steps: int
    samples_per_epoch: float
    processor: str
    threads: int
    torch: str
    date: str


class Features(OfCase):
    """The features of one run's images (hidden_dynamics.measurements.features).

    Attributes:
        status: "measured", or why there is no silhouette.
        weights: those of the "reported" evaluation, or of the "last".
    """

    seed: int
    task_title: str
    status: str
    silhouette: float | None = None
    images: int | None = None
    dimensions: str | None = None
    weights: str | None = None
    settings: Mapped
    diverged_at: int | None = None
    failure: str | None = None
    measured_on: str | None = None
    directory: str
    commit: str | None = None


class GradientNorm(Measured):
    """‖∂L/∂h_t‖ of an untrained cell at one step (hidden_dynamics.measurements.jacobian), by three ways, and
    ‖∂L/∂v_t‖ (`input`); how far the two products are from autograd, as a share of the longer vector."""

    core: str
    filter: str
    step: int
    autograd: float
    product: float
    claimed: float
    input: float
    product_error: float
    claimed_error: float


class Floor(Measured):
    """The score of a classical baseline, fitted to a task's training part; `seed` is None where all seeds have the same
    data."""

    task: str
    seed: int | None = None
    name: str
    metric: str
    score: float
    chosen: str | None = None
