"""A classical baseline as it was fitted, how it answers a task as a network does, and what it is chosen by."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits
from torch import nn

from hidden_dynamics.floors import FLOORS
from hidden_dynamics.tasks.task import AnyTask, Metrics, as_validated
from hidden_dynamics.training.building import imported

FOLDS = 5
HELD_OUT = 6  # the share 1 / 6 of MNIST's training images are 10,000
LEAST = 1e-9  # probability: of none is the logarithm infinite


class Fitted(NamedTuple):
    """A classical baseline as it was fitted."""

    name: str
    chosen: str  # its regularisation in words, such as "C = 0.01"
    fitted_on: str  # what the model that is scored was fitted on, in words
    scores: Metrics  # by a run's metrics, in their units
    seconds: float = 0.0  # of a core, to choose, to fit and to score it


class Answering(nn.Module):
    """A function in the place of a network."""

    def __init__(self, answer: Callable[..., Any]):
        super().__init__()
        self.answer = answer

    def forward(self, *given: Any) -> Any:
        return self.answer(*given)

    def predict(self, *given: Any) -> Any:
        """The answer to a task of forecasts."""
        return self.answer(*given)


@threadpool_limits.wrap(limits=1)  # in several threads, sums depend on which of them ends first
def fit(task: AnyTask, task_class: str, seed: int) -> list[Fitted]:
    """The classical baselines of a task; of a class that is the user's own, those that its method `classical` gives, if
    it has one."""
    own: Callable[[], Iterable[Fitted]] = getattr(task, "classical", tuple)
    fitted = (imported(name)(task, seed) for name in FLOORS[task_class]) if task_class in FLOORS else own()
    floors, begun = list[Fitted](), time.process_time()
    for floor in fitted:
        ended = time.process_time()
        floors += [floor._replace(seconds=round(ended - begun, 1))] if floor is not None else []
        begun = ended
    return floors


@torch.no_grad()
def measured(task: AnyTask, answer: Callable[..., Any]) -> Metrics:
    """The metrics of a network that answers so: of the validation part, where there is one, and of the test."""
    network = Answering(answer)
    metrics = task.evaluate(network)
    return metrics | (validated.evaluate_test(network) if (validated := as_validated(task)) else {})


class Choice(NamedTuple):
    """What of n examples a model is fitted on to be chosen, and what it is then scored on; and on what the one that is
    chosen is fitted: arrays of places."""

    folds: Sequence[tuple[NDArray, NDArray]]
    finally_on: NDArray


def by_part(train: int, validation: int = 0) -> Choice:
    """Of examples of the training part, and after them those of the validation part; without any, in five parts of the
    training part, each held out in its turn."""
    places = np.arange(train + validation)
    if validation:
        return Choice([(places[:train], places[train:])], places[:train])
    return Choice([(np.setdiff1d(places, held), held) for held in np.array_split(places, FOLDS)], places)


def by_the_last(count: int) -> Choice:
    """The last sixth is held out, and what is chosen then fitted on all."""
    places = np.arange(count)
    kept = count - count // HELD_OUT
    return Choice([(places[:kept], places[kept:])], places)


def regressions(penalties: Sequence[float], *before: Any, **settings: Any) -> tuple[str, dict[str, Any]]:
    """Logistic regressions after these steps of scikit-learn's: their name, and one for each C."""
    models = {c: LogisticRegression(C=c, **settings) for c in penalties}
    return "logistic regression", {f"C = {c:g}": make_pipeline(*map(clone, before), models[c]) for c in models}


def boosted(iterations: Sequence[int], **settings: Any) -> tuple[str, dict[str, Any]]:
    """Boosted trees: their name, and some for each number of iterations."""
    settings |= {"max_leaf_nodes": 15, "max_features": 0.3, "early_stopping": False}
    trees = {f"{n} iterations": HistGradientBoostingClassifier(max_iter=n, **settings) for n in iterations}
    return "gradient boosting", trees


def chosen(candidates: Mapping[str, Any], x: NDArray, y: NDArray, choice: Choice) -> tuple[str, Any]:
    """The classifier to which what is held out is most probable, and what it is called; of scikit-learn's `candidates`,
    the simplest first, on x (n, d) and y (n,)."""

    def likelihood(model: Any) -> float:
        return sum(_likelihood(model.fit(x[kept], y[kept]), x[held], y[held]) for kept, held in choice.folds)

    best = max(candidates, key=lambda name: likelihood(candidates[name]))
    (kept, _), *others = choice.folds
    same = not others and len(kept) == len(choice.finally_on)
    last = choice.finally_on
    return best, candidates[best] if same else candidates[best].fit(x[last], y[last])


def _likelihood(model: Any, x: NDArray, y: NDArray) -> float:
    return float(np.log(probabilities(model, x, int(y.max()) + 1)[np.arange(len(y)), y.astype(int)]).mean())


def probabilities(model: Any, x: NDArray, classes: int) -> NDArray:
    """The probabilities (n, classes or more) of the classes 0, ..., of which the model may know some; none is 0."""
    known = model.classes_.astype(int)
    shares = np.full((len(x), max(classes, known.max() + 1)), LEAST)
    shares[:, known] = np.maximum(model.predict_proba(x), LEAST)
    return shares
