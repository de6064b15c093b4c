"""Mortality by a linear model and by trees, which see of each parameter of a patient the mean, least, greatest and last
value, and how often it was observed."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from hidden_dynamics.floors import fitted
from hidden_dynamics.floors.fitted import Fitted, by_part, chosen, measured, probabilities
from hidden_dynamics.models.latent_family.family import Prediction, SeriesBatch
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.tasks.mortality import Mortality

PENALTIES = (0.001, 0.003, 0.01, 0.03, 0.1, 1.0)  # C, the inverse of the penalty
ITERATIONS = (50, 100, 150, 200)


class Summaries(NamedTuple):
    """Statistics of what was observed of each series and feature, (N, D); NaN where nothing was."""

    mean: NDArray
    least: NDArray
    greatest: NDArray
    last: NDArray
    count: NDArray


def summaries(observations: Observations) -> Summaries:
    values, series = observations.values.double().cpu().numpy(), observations.series.cpu().numpy()
    rows, features = np.nonzero(observations.mask.cpu().numpy())  # in the order of time
    places, seen, shape = (series[rows], features), values[rows, features], (observations.size, values.shape[1])
    count, total, last = np.zeros(shape), np.zeros(shape), np.full(shape, np.nan)
    least, greatest = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.add.at(count, places, 1)
    np.add.at(total, places, seen)
    np.minimum.at(least, places, seen)
    np.maximum.at(greatest, places, seen)
    last[places] = seen
    mean, least, greatest = (
        np.where(count > 0, statistic, np.nan) for statistic in (total / np.maximum(count, 1), least, greatest)
    )
    return Summaries(mean, least, greatest, last, count)


def logistic_regression(task: Mortality, seed: int) -> Fitted:
    """Unknown values are the mean over patients; all are standardised."""
    return _fitted(task, *fitted.regressions(PENALTIES, SimpleImputer(), StandardScaler(), max_iter=1000))


def gradient_boosting(task: Mortality, seed: int) -> Fitted:
    """At each branch, unknown values go where they do best."""
    trees = fitted.boosted(ITERATIONS, learning_rate=0.05, l2_regularization=1.0, random_state=seed)
    return _fitted(task, *trees)


def _fitted(task: Mortality, name: str, candidates: dict[str, Any]) -> Fitted:
    x, y = zip(*(_patients(task.part(part)) for part in ("train", "validation") if part in task.parts), strict=True)
    all_x, choice = np.concatenate(x), by_part(*map(len, y))
    # Trees of scikit-learn's refuse what is known of no patient.
    known = np.all([~np.isnan(all_x[kept]).all(0) for kept, _ in choice.folds], 0)
    how, model = chosen(candidates, all_x[:, known], np.concatenate(y), choice)

    def answer(batch: SeriesBatch) -> Prediction:
        shares = probabilities(model, np.hstack(summaries(batch.context))[:, known], 2)
        unknown = torch.full_like(batch.targets.values, torch.nan)  # it predicts no values
        return Prediction(unknown[None], torch.from_numpy(np.log(shares[:, 1] / shares[:, 0]))[None])

    scores = {metric: score for metric, score in measured(task, answer).items() if "interpolation" not in metric}
    return Fitted(name, how, f"{len(y[0])} patients of the training part", scores)


def _patients(batch: SeriesBatch) -> tuple[NDArray, NDArray]:
    assert batch.labels is not None
    return np.hstack(summaries(batch.context)), batch.labels.cpu().numpy()
