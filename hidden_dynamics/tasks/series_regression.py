"""Values of partly observed series between and after those that are given (ACE-NODE, Section 4.4)."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from pydantic import model_validator
from torch import Tensor, nn

from hidden_dynamics.configuration.reading import typed
from hidden_dynamics.errors import UserError
from hidden_dynamics.models.latent_family.objective import entry_weights, mean_squared_error, squared_errors
from hidden_dynamics.models.latent_family.series_batch import SeriesBatch
from hidden_dynamics.models.observations import Observations, at_times, batch_of
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.partly_observed import IntensiveCare, StaySettings, drawn_anew
from hidden_dynamics.tasks.rounding import rounded

UNTIL = 24.0  # hours, the time of the last rows given where later ones are asked
SHOWN = 3  # test series of which the whole course is recorded
GRID = 96  # steps of the times at which it is predicted
SAMPLES = 20  # of its predictions
BAND = (2.5, 97.5)  # percentiles of these
BIN = 1.0  # hours of which errors are added up


class Settings(StaySettings):
    asked: Literal["interpolation", "extrapolation"]
    split_at: Literal["time", "index"] | None = None

    @model_validator(mode="after")
    def _split_where_extrapolated(self) -> "Settings":
        if (self.asked == "extrapolation") != (self.split_at is not None):
            raise ValueError("split_at belongs to extrapolation")
        return self


class SeriesRegression(IntensiveCare):
    """The values of patients between and after those that are given.

    Args:
        settings: those of `IntensiveCare`, and `asked`, "interpolation": all rows are given and asked for again, or
            "extrapolation": the first ones are given, the later ones asked; then `split_at`, where these begin: after
            24 hours ("time"), or with the second half of the batch's union times ("index"), as released.
        seed: the run's; here without effect.

    Raises:
        UserError: a setting is missing, unknown or out of its range, the series are too few, or of a part nothing is
            given or nothing asked.
    """

    settings: Settings
    labels, classes = None, 0

    def __init__(self, arrays: Mapping[str, np.ndarray], settings: Mapping[str, Any], seed: int, device: torch.device):
        super().__init__(arrays, typed(Settings, settings, "the task", "settings"), device)
        self.ids = arrays["ids"]
        for name in self.parts.keys() - {"train"}:
            batch = self._batch(self.parts[name])
            if not (batch.given.mask.any() and batch.asked.mask.any()):
                raise UserError(f"of the {name} part nothing is given or nothing is asked.", key="settings.asked")

    def predictions(self, network: nn.Module) -> dict[str, np.ndarray]:
        """Errors over time on the test part, and the course of its first series.

        Returns:
            error_time (b + 1,), edges of bins in hours; error_sum and error_count (b,), the sum of the squared errors
            of observed entries asked for, normalised, averaged over samples, and how many there are. Of the first
            series, row_id, row_time (r,) in hours, row_value, row_mask (r, D), all rows; grid (g,), hours, from the
            first that is asked for to the end; grid_mean, grid_low, grid_high (series, g, D), the mean of 20 samples
            and their 2.5th and 97.5th percentiles, to three digits; values in their own units. until, the hour of the
            last rows given.
        """
        batch, whole = self.part("test"), batch_of(self.rows, self.parts["test"])
        end, until = float(whole.times[-1]), float(self._given_and_asked(whole)[0].times[-1])
        with drawn_anew(self.device):
            return {
                **self._errors(network, batch, end),
                **self._first_rows(),
                **self._courses(network, batch, end),
                "until": np.float64(until),
            }

    def _given_and_asked(self, whole: Observations) -> tuple[Observations, Observations]:
        if self.settings.asked == "interpolation":
            return whole, whole
        if self.settings.split_at == "index":
            early = torch.arange(len(whole.times)) < len(whole.times) // 2
        else:
            early = whole.times <= UNTIL
        return at_times(whole, early), at_times(whole, ~early)

    def _naive(self, part: str) -> naive_scores.Scores:
        name = f"{part}_{self.settings.asked}_mse"
        return {
            name: self._naive_errors(part, entry_weights),
            f"{name}_observed": self._naive_errors(part, lambda asked: asked.mask.double() / asked.mask.sum()),
        }

    def _measure(self, part: str, network: nn.Module) -> dict[str, float]:
        """Mean squared errors of a part, averaged over samples: as released, over series and all features of the mean
        over what was observed of them, 0 where nothing was; and over all observed entries."""
        batch = self.part(part)
        values, mask = network(batch).values, batch.asked.mask
        observed = squared_errors(values, batch.asked, mask / mask.sum()).mean()
        name = f"{part}_{self.settings.asked}_mse"
        return {name: mean_squared_error(values, batch.asked).item(), f"{name}_observed": observed.item()}

    def _errors(self, network: nn.Module, batch: SeriesBatch, end: float) -> dict[str, np.ndarray]:
        asked = batch.asked
        squares = (network(batch).values - asked.values).square().mean(0).double() * asked.mask
        hours = (asked.times * end)[asked.rows_of_times()].numpy()
        edges = np.arange(np.floor(hours.min() / BIN), np.ceil(hours.max() / BIN) + 1) * BIN
        of_rows = {"sum": squares.sum(1).cpu().numpy(), "count": asked.mask.sum(1).cpu().numpy()}
        added = {name: np.histogram(hours, edges, weights=each)[0] for name, each in of_rows.items()}
        return {
            "error_time": edges.astype(np.float32),
            "error_sum": added["sum"],
            "error_count": np.round(added["count"]).astype(np.int64),
        }

    def _first_rows(self) -> dict[str, np.ndarray]:
        """In the order of the test part."""
        starts = np.cumsum(self.original.lengths) - self.original.lengths
        shown = [np.arange(starts[one], starts[one] + self.original.lengths[one]) for one in self.parts["test"][:SHOWN]]
        rows = np.concatenate(shown)
        return {
            "row_id": np.repeat(self.ids[self.parts["test"][:SHOWN]], [len(each) for each in shown]),
            "row_time": self.original.times[rows],
            "row_value": np.where(self.original.mask[rows], self.original.values[rows], 0),
            "row_mask": self.original.mask[rows],
        }

    def _courses(self, network: nn.Module, batch: SeriesBatch, end: float) -> dict[str, np.ndarray]:
        times = torch.linspace(float(batch.asked.times[0]), 1, GRID + 1, dtype=torch.float64)
        shown = min(SHOWN, batch.given.size)
        samples = network.drawn(SeriesBatch(batch.given, _at(times, batch.given, shown)), SAMPLES)
        courses = samples.double().cpu().numpy().reshape(SAMPLES, GRID + 1, shown, self.features).swapaxes(1, 2)
        courses = courses * self.affine.width + self.affine.shift
        low, high = np.percentile(courses, BAND, axis=0)
        about = {"grid_mean": rounded(courses.mean(0)), "grid_low": rounded(low), "grid_high": rounded(high)}
        return about | {"grid": (times * end).numpy().astype(np.float32)}


def _at(times: Tensor, given: Observations, shown: int) -> Observations:
    """The first series of a batch, all asked at all of these times."""
    unknown = given.values.new_zeros(len(times) * shown, given.values.shape[1])
    return Observations(
        times=times,
        offsets=torch.arange(len(times) + 1) * shown,
        values=unknown,
        mask=unknown,
        series=torch.arange(shown, device=unknown.device).repeat(len(times)),
        size=given.size,
    )
