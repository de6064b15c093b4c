"""Measurements beside the runs, typed: costs, features of images, gradients of untrained cells, classical baselines.

Each is a line of a CSV file (`results.rows.read_typed`). An empty cell is None.
"""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hidden_dynamics.configuration import Entry
from hidden_dynamics.configuration.schema import Positive, Whole

TIMES = ("training_time", "evaluation_time")  # of costs; per sample, in the units of config/metrics.yaml
MEMORIES = ("training_memory", "evaluation_memory")
Size = Annotated[int | str | None, BeforeValidator(lambda text: int(text) if str(text).isdigit() else text)]
Mapped = Annotated[dict[str, Any], BeforeValidator(lambda text: json.loads(text) if isinstance(text, str) else text)]


class Measured(BaseModel):
    """A row of a measurement; columns that it does not name are left out."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class Cost(Measured):
    """A cost of one model in one process (hidden_dynamics.measurements.cost_measurement); the model's attributes as in
    `results.record.RunRecord`.

    Attributes:
        quantity: one of TIMES and MEMORIES.
        value: per sample, in `unit`.
        ratio: to the baseline's in the same process; None of what cannot be divided.
    """

    scale: str
    task: str
    model: str
    label: str
    size: Size = None
    paper_size: Size = None
    quantity: str
    value: float
    unit: str
    process: int
    ratio: float | None = None
    rounds: int
    batch: int
    steps: int
    samples_per_epoch: float
    device: str
    processor: str
    threads: int
    torch: str
    date: str
    dataset: str
    dataset_title: str
    stand_in_for: str | None = None
    variants: Mapped
    precision: str


class FeatureSettings(Entry):
    """The features of the first `images` of a split; their k-means; a t-SNE of the first `embedded` of them."""

    layer: Literal["pooled", "state"]
    split: Literal["test", "validation"]
    images: Whole
    standardise: bool
    clusters: Annotated[int, Field(ge=2)]
    initialisations: Whole
    perplexity: Positive
    iterations: Annotated[int, Field(ge=250)]
    embedded: Whole
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)]


class Features(Measured):
    """The features of one run's images (hidden_dynamics.measurements.feature_measurement).

    Attributes:
        status: "measured", or why there is no silhouette: "diverged" or "failed" (in training), "solver failed" (on
            these images), "not finite" or "collapsed" (fewer features differ than there are to be clusters).
        weights: those of the "reported" evaluation, where the training keeps them, or of the "last".
    """

    task: str
    model: str
    paper_size: Size = None
    seed: int
    status: str
    silhouette: float | None = None
    images: int | None = None
    dimensions: str | None = None
    weights: str | None = None
    failure: str | None = None
    measured_on: str | None = None
    settings: Mapped


EQUAL = 1e-10  # of the vectors' length: what rounding in float64 may make of an identity


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
