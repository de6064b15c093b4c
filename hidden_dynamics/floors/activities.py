"""The activity at a row of a window by what was observed at that row and at its neighbours."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from hidden_dynamics.floors import fitted
from hidden_dynamics.floors.fitted import Fitted, by_part, by_the_last, chosen, measured, probabilities
from hidden_dynamics.models.latent_family.family import Prediction, SeriesBatch
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.tasks.activity import WINDOW, ActivityRecognition

NEIGHBOURS = (-8, -4, -2, -1, 0, 1, 2, 4, 8)  # rows from the one at hand; past its window's end, the last one
PENALTIES = (0.0001, 0.001, 0.01, 0.1)  # C
ITERATIONS = (25, 50, 100)


def logistic_regression(task: ActivityRecognition, seed: int) -> Fitted:
    return _fitted(task, *fitted.regressions(PENALTIES, StandardScaler(), max_iter=300, tol=1e-3))


def gradient_boosting(task: ActivityRecognition, seed: int) -> Fitted:
    return _fitted(task, *fitted.boosted(ITERATIONS, random_state=seed))


def _fitted(task: ActivityRecognition, name: str, candidates: dict[str, Any]) -> Fitted:
    x, y = zip(*(_labelled(task.part(part)) for part in ("train", "validation") if part in task.parts), strict=True)
    choice = by_part(*map(len, y)) if task.validated else by_the_last(len(y[0]))
    how, model = chosen(candidates, np.concatenate(x), np.concatenate(y), choice)

    def answer(batch: SeriesBatch) -> Prediction:
        logits = np.log(probabilities(model, neighbourhoods(batch.targets), task.classes))
        return Prediction(batch.targets.values[None], torch.from_numpy(logits)[None])

    return Fitted(name, how, f"{len(y[0])} rows of the training part", measured(task, answer))


def _labelled(batch: SeriesBatch) -> tuple[NDArray, NDArray]:
    assert batch.labels is not None
    labels = batch.labels.cpu().numpy()
    return neighbourhoods(batch.targets)[labels >= 0], labels[labels >= 0]


def neighbourhoods(observations: Observations) -> NDArray:
    """What was observed of each feature at a row's neighbours, (R, neighbours * D) float32; where it was not, what was
    last, or else is next, in the window; 0 where it never is. All rows of all windows, in any order."""
    order = np.argsort(observations.series.cpu().numpy(), kind="stable")  # by window, then time
    values, mask = (array.cpu().numpy()[order] for array in (observations.values, observations.mask > 0))
    shape = (observations.size, WINDOW, values.shape[1])
    values, mask, rows = values.reshape(shape), mask.reshape(shape), np.arange(WINDOW)[:, None]
    last = np.maximum.accumulate(np.where(mask, rows, -1), 1)
    following = np.minimum.accumulate(np.where(mask, rows, WINDOW)[:, ::-1], 1)[:, ::-1]
    known = np.take_along_axis(values, np.where(last >= 0, last, np.minimum(following, WINDOW - 1)), 1)
    places = np.clip(rows + np.array(NEIGHBOURS), 0, WINDOW - 1)
    return known[:, places].reshape(len(order), -1)[np.argsort(order)]
