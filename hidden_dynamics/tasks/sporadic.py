# pyright: reportUnknownMemberType=false
"""Forecasting of sporadically observed series (De Brouwer et al., NeurIPS 2019; ACE-NODE, Section 4.2)."""

import math
from typing import Any, Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.configuration.schema import Positive, Seed, Whole
from hidden_dynamics.data import folds
from hidden_dynamics.data.ragged import after
from hidden_dynamics.errors import UserError
from hidden_dynamics.models.observations import Observations, Rows, batch_of
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.partly_observed import SeriesNetwork, SplitSeries
from hidden_dynamics.tasks.task import Arrays, Metrics, PredictingTask, TaskSettings


class Settings(Entry):
    until: Positive
    targets: Whole
    fold: Seed | Literal["by_seed"]
    series: Literal["by_position", "by_id"]


class ForecastingNetwork(SeriesNetwork[Observations, Any], Protocol):
    def predict(self, observations: Observations, series: Tensor, times: np.ndarray) -> Tensor: ...


class SporadicForecasting(
    SplitSeries[ForecastingNetwork, Observations], PredictingTask[ForecastingNetwork, Observations]
):
    """USHCN and what stands in for it: the next rows of a series after a time, given all of it until then.

    Trained on whole series. Evaluated on series of which only rows until then are given, all of a split as one batch.

    Args:
        arrays: those of hidden_dynamics.data.ragged, D features; where the best possible predictor is known,
            optimal_means and optimal_variances (series, targets, D) of its answers at optimal_times (series, targets).
        settings: `until`, the time of the last rows that are given; `targets`, how many rows of each series after it
            are to be predicted; `fold`, "by_seed", where seed k has the k-th of the random splits
            (hidden_dynamics.data.folds), or the number of one; `series`, whether a split's positions are places of
            series ("by_position") or taken for their ids ("by_id"), as in the released code.
    """

    covariates = 1  # of a series, constantly 0 here

    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device):
        chosen = typed(Settings, settings, "the task", "settings")
        self.ids, self.until = arrays["ids"], chosen.until
        number = seed if chosen.fold == "by_seed" else chosen.fold
        fold = folds.folds(len(self.ids), number + 1)[number]
        fold = folds.released(fold, self.ids) if chosen.series == "by_id" else folds.Fold(*map(np.sort, fold))
        for name, part in fold._asdict().items():
            if not len(part):
                text = f"fold {number}: its part {name} has no series; expected 3 series or more"
                raise UserError(text, key=f"fold {number}")
        super().__init__(Rows(*(arrays[name] for name in Rows._fields)), fold._asdict(), device)
        self.end = float(self.rows.times.max())
        self.after = after(arrays, self.until, chosen.targets)
        self.limits = self._limits(arrays) if "optimal_means" in arrays else None

    def batch(self, epoch: int, indices: np.ndarray) -> Observations:
        """These series of the training part, whole."""
        return batch_of(self.rows, self.parts["train"][indices]).to(self.device)

    def predictions(self, network: ForecastingNetwork) -> dict[str, np.ndarray]:
        """The network's answers on the test part, as `hidden_dynamics.results.run_files.RunFiles.predictions` has them:
        id, time (n,), value, mask, mean and variance (n, D) of the targets, in the order of ids and times."""
        series, rows = self._targets("test")
        times = self.rows.times[rows]
        mean, logvar = self._predicted("test", network, series, times)
        return {
            "id": self.ids[self.parts["test"]][series],
            "time": times,
            "value": self.rows.values[rows],
            "mask": self.rows.mask[rows],
            "mean": mean,
            "variance": np.exp(logvar),
        }

    def _naive(self, part: str) -> naive_scores.Scores:
        """The likelihood is that of the best constant with the best variance, per feature."""
        (series, rows), context = self._targets(part), batch_of(self.rows, self.parts[part], self.until)
        values, mask = self.rows.values[rows], self.rows.mask[rows]
        entries = [torch.from_numpy(array) for array in (series, values, mask / mask.sum())]
        observed = np.ma.array(values, mask=~mask, dtype=np.float64)
        moments = [np.broadcast_to(array.filled(1), mask.shape) for array in (observed.mean(0), observed.var(0))]
        nats = self._scores(part, moments[0], np.log(moments[1]))[f"{part}_negll"]
        return {
            f"{part}_mse": naive_scores.series_errors(context, *entries),
            f"{part}_negll": {naive_scores.BEST_CONSTANT: nats},
        }

    def _targets(self, part: str) -> tuple[np.ndarray, np.ndarray]:
        """Of the rows of a part that are to be predicted, the places (n,) of their series in it, and their own."""
        rows = self.after[self.parts[part]]
        return np.repeat(np.arange(len(rows)), rows.shape[1]), rows.ravel()

    def _predicted(
        self, part: str, network: ForecastingNetwork, series: np.ndarray, times: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and logvar, (n, D) each, of series of a part at times, given what was observed until `until`."""
        context = batch_of(self.rows, self.parts[part], self.until).to(self.device)
        answers = network.predict(context, torch.from_numpy(series).to(self.device), times).float().cpu().numpy()
        return answers[:, : self.features], answers[:, self.features :]

    def measure(self, part: str, network: ForecastingNetwork) -> Metrics:
        """Mean squared error and mean negative log likelihood (nats) of a part's observed targets."""
        series, rows = self._targets(part)
        mean, logvar = self._predicted(part, network, series, self.rows.times[rows])
        if part == "test":
            (square, nats), mask = self._errors(part, mean, logvar), self.rows.mask[rows]
            of_rows, ids = {"squared_error": square, "negll": nats, "observed": mask}, self.ids[self.parts[part]]
            added = {name: np.where(mask, values, 0).reshape(len(ids), -1).sum(1) for name, values in of_rows.items()}
            self.items = {name: values.astype(np.float32) for name, values in added.items()} | {"id": ids}
        return self._scores(part, mean, logvar)

    def _scores(self, part: str, mean: np.ndarray, logvar: np.ndarray) -> Metrics:
        """The scores of `mean` and `logvar` (n, D), on the observed entries of a part's targets."""
        mask, (square, nats) = self.rows.mask[self._targets(part)[1]], self._errors(part, mean, logvar)
        return {f"{part}_mse": float(square[mask].mean()), f"{part}_negll": float(nats[mask].mean())}

    def _errors(self, part: str, mean: np.ndarray, logvar: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The squared error and the negative log likelihood of each entry of a part's targets, (n, D) each."""
        logvar = logvar.astype(np.float64)
        square = (self.rows.values[self._targets(part)[1]] - mean.astype(np.float64)) ** 2
        return square, 0.5 * (math.log(2 * math.pi) + logvar + square / np.exp(logvar))

    def _limits(self, arrays: Arrays) -> Metrics:
        if not np.array_equal(arrays["optimal_times"], self.rows.times[self.after]):
            raise UserError(
                "the task's settings until and targets must be the data's, whose best possible predictor is known",
                key="settings.until",
            )
        test = self.parts["test"]
        mean, variance = (arrays[f"optimal_{name}"][test].reshape(-1, self.features) for name in ("means", "variances"))
        return self._scores("test", mean, np.log(variance))
