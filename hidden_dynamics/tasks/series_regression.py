"""Values of partly observed series between and after the context (ACE-NODE, Section 4.4)."""

from typing import Literal

import numpy as np
import torch
from pydantic import model_validator

from hidden_dynamics.configuration.entries import typed
from hidden_dynamics.errors import UserError
from hidden_dynamics.models.latent_family.family import SeriesBatch, entry_weights, mean_squared_error, squared_errors
from hidden_dynamics.models.observations import Observations, at_times, batch_of
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.partly_observed import IntensiveCare, LatentSeriesNetwork, StaySettings, drawn_anew
from hidden_dynamics.tasks.task import Arrays, Metrics, PredictingTask, TaskSettings

UNTIL = 24.0  # hours, the time of the last rows of the context in extrapolation
BIN = 1.0  # hours of which errors are added up


class Settings(StaySettings):
    targets: Literal["interpolation", "extrapolation"]
    split_at: Literal["time", "index"] | None = None

    @model_validator(mode="after")
    def _split_where_extrapolated(self) -> "Settings":
        if (self.targets == "extrapolation") != (self.split_at is not None):
            raise ValueError("split_at belongs to extrapolation")
        return self


class SeriesRegression(IntensiveCare, PredictingTask[LatentSeriesNetwork, SeriesBatch]):
    """The values of patients between and after the context.

    The settings are those of `IntensiveCare`, and `targets`, "interpolation": all rows are context and targets, or
    "extrapolation": the later ones are the targets; then `split_at`, where these begin: after 24 hours ("time"), or
    with the second half of the batch's union times ("index"), as released.
    """

    labels, classes = None, 0

    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device):
        self.settings = typed(Settings, settings, "the task", "settings")
        super().__init__(arrays, self.settings, seed, device)
        for name in self.parts.keys() - {"train"}:
            batch = self._batch(self.parts[name])
            if not (batch.context.mask.any() and batch.targets.mask.any()):
                raise UserError(f"of the {name} part has no context or no targets.", key="settings.targets")

    def predictions(self, network: LatentSeriesNetwork) -> dict[str, np.ndarray]:
        """Errors over time on the test part: error_time (b + 1,), edges of bins in hours; error_sum and error_count
        (b,), the sum of the squared errors of the targets' observed entries, normalised, averaged over samples, and how
        many there are."""
        targets, end = self.part("test").targets, float(batch_of(self.rows, self.parts["test"]).times[-1])
        with drawn_anew(self.device):
            values = network(self.part("test")).values
        squares = (values - targets.values).square().mean(0).double() * targets.mask
        hours = (targets.times * end)[targets.rows_of_times()].numpy()
        edges = np.arange(float(np.floor(hours.min() / BIN)), float(np.ceil(hours.max() / BIN) + 1)) * BIN
        of_rows = {"sum": squares.sum(1).cpu().numpy(), "count": targets.mask.sum(1).cpu().numpy()}
        added = {name: np.histogram(hours, edges, weights=weights)[0] for name, weights in of_rows.items()}
        return {
            "error_time": edges.astype(np.float32),
            "error_sum": added["sum"],
            "error_count": np.round(added["count"]).astype(np.int64),
        }

    def _context_and_targets(self, whole: Observations) -> tuple[Observations, Observations]:
        if self.settings.targets == "interpolation":
            return whole, whole
        if self.settings.split_at == "index":
            early = torch.arange(len(whole.times)) < len(whole.times) // 2
        else:
            early = whole.times <= UNTIL
        return at_times(whole, early), at_times(whole, ~early)

    def _naive(self, part: str) -> naive_scores.Scores:
        name = f"{part}_{self.settings.targets}_mse"
        return {
            name: self._naive_errors(part, entry_weights),
            f"{name}_observed": self._naive_errors(part, lambda targets: targets.mask.double() / targets.mask.sum()),
        }

    def _measure(self, part: str, network: LatentSeriesNetwork) -> Metrics:
        """Mean squared errors of a part, averaged over samples: as released, over series and all features of the mean
        over what was observed of them, 0 where nothing was; and over all observed entries."""
        batch = self.part(part)
        values, mask = network(batch).values, batch.targets.mask
        if part == "test":
            self.items = {"squared_error": self._errors_of_series(values, batch.targets)}
        observed = squared_errors(values, batch.targets, mask / mask.sum()).mean()
        name = f"{part}_{self.settings.targets}_mse"
        return {name: mean_squared_error(values, batch.targets).item(), f"{name}_observed": observed.item()}
