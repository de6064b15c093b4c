"""Values of irregular series: by what is given of them, interpolated; by a linear map of it, extrapolated."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hidden_dynamics.floors.fitted import HELD_OUT, LEAST, Fitted, measured
from hidden_dynamics.floors.patients import summaries
from hidden_dynamics.floors.ridge import Products, ridge
from hidden_dynamics.models.latent_family.family import Prediction, SeriesBatch, entry_weights
from hidden_dynamics.models.observations import Observations, batch_of
from hidden_dynamics.tasks.series_regression import SeriesRegression
from hidden_dynamics.tasks.sporadic import SporadicForecasting

NAME = "ridge on last values, means and time"


def interpolated(task: SeriesRegression, seed: int) -> Fitted | None:
    """A line from each observation to the next is where it has to be at their times, and no others are asked for."""
    if task.settings.targets != "interpolation":
        return None

    def answer(batch: SeriesBatch) -> Prediction:
        return Prediction(batch.reconstructed().values[None], None)

    how = "nothing: its error is 0, because every target is given"
    return Fitted("linear interpolation", how, "nothing", measured(task, answer))


def extrapolated(task: SeriesRegression, seed: int) -> Fitted | None:
    """Each entry counts as it does in the released error (`entry_weights`)."""
    if task.settings.targets != "extrapolation":
        return None
    inputs, parts = Inputs(task.part("train").context), []
    for name in ("train", "validation") if task.validated else ("train",):
        batch = task.part(name)
        rows = inputs(batch.context, batch.targets.series.cpu().numpy(), _times(batch.targets))
        parts.append((rows, *(array.cpu().numpy() for array in (batch.targets.values, entry_weights(batch.targets)))))
    if not task.validated:
        count = len(task.parts["train"])
        last = task.part("train").targets.series.cpu().numpy() >= count - count // HELD_OUT
        parts = [tuple(array[rows] for array in parts[0]) for rows in (~last, last)]
    how, coefficients = ridge(*(_products(*part) for part in parts), again=not task.validated)

    def answer(batch: SeriesBatch) -> Prediction:
        x = inputs(batch.context, batch.targets.series.cpu().numpy(), _times(batch.targets))
        return Prediction(torch.from_numpy(_linear(x, coefficients))[None], None)

    return Fitted(NAME, how, f"{task.train_size} patients of the training part", measured(task, answer))


def of_next_rows(task: SporadicForecasting, seed: int) -> Fitted:
    """The variance of a feature is that of the residuals in training and validation part."""
    inputs = Inputs(batch_of(task.rows, task.parts["train"], task.until))

    def seen(context: Observations, series: NDArray, times: NDArray) -> NDArray:
        return inputs(context, series, (times - task.until) / (task.end - task.until))

    parts = []
    for name in ("train", "validation"):
        rows = task.after[task.parts[name]]
        series, rows = np.repeat(np.arange(len(rows)), rows.shape[1]), rows.ravel()
        x = seen(batch_of(task.rows, task.parts[name], task.until), series, task.rows.times[rows])
        parts.append(_products(x, task.rows.values[rows], task.rows.mask[rows].astype(np.float64)))
    how, coefficients = ridge(*parts)
    errors = [sum(part.error(c) for part in pair) for *pair, c in zip(*parts, coefficients, strict=True)]
    variances = np.array(errors) / [max(sum(part.size for part in pair), 1) for pair in zip(*parts, strict=True)]

    def answer(context: Observations, series: Tensor, times: NDArray) -> Tensor:
        means = _linear(seen(context, series.cpu().numpy(), times), coefficients)
        logvar = np.broadcast_to(np.log(np.maximum(variances, LEAST)), means.shape)
        return torch.from_numpy(np.concatenate([means, logvar], 1))

    return Fitted(NAME, how, f"{task.train_size} series of the training part", measured(task, answer))


class Inputs:
    """What a linear map sees for a row of targets: of each feature of its series the last value, alone and times the
    time, the mean, and whether there is one; and the time. What a series lacks is the mean over those of `context`."""

    def __init__(self, context: Observations):
        known = _last_and_mean(context)
        self.usual = np.ma.masked_invalid(known).mean(1, keepdims=True).filled(0)

    def __call__(self, context: Observations, series: NDArray, times: NDArray) -> NDArray:
        """(R, inputs), of the series (R,) and times (R,) of rows."""
        known = _last_and_mean(context)[:, series]
        last, mean = np.where(np.isnan(known), self.usual, known)
        return np.hstack([last, last * times[:, None], mean, ~np.isnan(known[0]), times[:, None]])


def _last_and_mean(context: Observations) -> NDArray:
    """(2, N, D), of each series and feature; NaN where nothing was observed."""
    known = summaries(context)
    return np.stack([known.last, known.mean])


def _times(targets: Observations) -> NDArray:
    return targets.times[targets.rows_of_times()].numpy()


def _products(x: NDArray, values: NDArray, weights: NDArray) -> list[Products]:
    """The products of each feature of the values (R, D), by its weights."""
    rows = [(weights[:, feature] > 0, feature) for feature in range(values.shape[1])]
    return [Products.of(x[seen], values[seen, feature, None], weights[seen, feature]) for seen, feature in rows]


def _linear(x: NDArray, coefficients: list[NDArray]) -> NDArray:
    """The answers (R, D) of a linear model for each feature, whose coefficients are (p, 1)."""
    weights = np.hstack(coefficients)
    return x @ weights[:-1] + weights[-1]
