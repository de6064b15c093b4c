"""Linear maps of what is heard, of sums and of letters: of the last two, of the whole sequence."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from torch import Tensor

from hidden_dynamics.floors import fitted
from hidden_dynamics.floors.fitted import LEAST, Answering, Fitted, by_the_last, chosen, measured, probabilities
from hidden_dynamics.floors.ridge import Products, ridge
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.adding import Adding
from hidden_dynamics.tasks.copying import Copying
from hidden_dynamics.tasks.speech import BINS, SpeechPrediction
from hidden_dynamics.tasks.task import AnyTask, Metrics

DRAWN = 6  # sequences for each entry of a sequence of sums, so that there are more than coefficients
WORDS = 3000
PENALTIES = (1.0, 100.0, 1e4)  # C


def of_frames(task: SpeechPrediction, seed: int) -> Fitted:
    """Ridge regression on the frame at hand and, to predict, on the two before it."""
    train, *others = [
        Products(moments.products.numpy(), moments.inputs)
        for part in (task.train, task.validation, task.test)
        for moments in [part.moments(task.seen)]
    ]
    how, (coefficients,) = ridge([train], others[:1])  # the validation part
    validation, test = (products.error(coefficients) / products.size / BINS for products in others)
    scores = {"validation_loss": validation, "test_loss": test}
    name = naive_scores.RIDGE if task.seen > 1 else naive_scores.RIDGE_AT_HAND
    return Fitted(name, how, f"{task.train_size} utterances of the training part", scores)


def of_sums(task: Adding, seed: int) -> Fitted:
    """A linear map of numbers and marks knows no products of them: it is hardly better than a constant."""
    count = DRAWN * 2 * task.length
    drawn = [task.batch(0, (number, count)) for number in range(2)]
    fitted_on, held_out = (Products.of(_whole(x), y.numpy()[:, None]) for x, y in drawn)
    how, (coefficients,) = ridge([fitted_on], [held_out])

    def answer(x: Tensor) -> Tensor:
        return torch.from_numpy(_whole(x) @ coefficients[:-1] + coefficients[-1]).float()

    return Fitted("ridge on the whole sequence", how, f"{count} drawn sequences", _scores(task, answer, count))


def of_letters(task: Copying, seed: int) -> Fitted:
    """A linear map of the whole sequence for each step: it solves the task, which asks for memory and for nothing else.
    What never differs from sequence to sequence is left out of what it sees, and is answered where it is the answer."""
    inputs, targets = task.batch(0, (0, WORDS))
    x, y = _whole(inputs), targets.numpy()
    varying = np.flatnonzero(x.std(0))
    x, steps = x[:, varying], np.flatnonzero(y.std(1))
    name, candidates = fitted.regressions(PENALTIES, max_iter=1000)
    how, model = chosen(candidates, x, y[steps[0]], by_the_last(WORDS))
    models = [cast(Any, clone(model)).fit(x, y[step]) for step in steps]
    always = np.log(np.maximum(np.eye(task.output_size)[y[:, 0]], LEAST))

    def answer(x: Tensor) -> Tensor:
        logits, seen = np.repeat(always[:, None], x.shape[1], 1), _whole(x)[:, varying]
        logits[steps] = np.log([probabilities(model, seen, task.output_size) for model in models])
        return torch.from_numpy(logits)

    scores = _scores(task, answer, WORDS)
    return Fitted(f"{name} on the whole sequence", how, f"{WORDS} drawn sequences", scores)


def _whole(x: Tensor) -> NDArray:
    """(T, batch, d) as (batch, T * d)."""
    return x.transpose(0, 1).flatten(1).numpy()


def _scores(task: Adding | Copying, answer: Callable[[Tensor], Tensor], count: int) -> Metrics:
    """Scores on the test set, and on sequences of training on which nothing was fitted, as a network's are new, too."""
    any_task: AnyTask = task
    train_loss = any_task.loss(Answering(answer), task.batch(0, (2, count))).item()
    return {"train_loss": train_loss} | measured(task, answer)
