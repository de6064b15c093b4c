"""Images as vectors: logistic regression, and the nearest ones of the training images."""

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from torch import Tensor

from hidden_dynamics.floors import fitted
from hidden_dynamics.floors.fitted import Choice, Fitted, by_part, by_the_last, chosen, measured, probabilities
from hidden_dynamics.models.image_networks import ImageOutput
from hidden_dynamics.tasks.images import ImageClassification
from hidden_dynamics.tasks.pixels import PixelClassification
from hidden_dynamics.tasks.task import Metrics

PENALTIES = (0.001, 0.01, 0.1, 1.0)  # C
COUNTS = (1, 3, 5, 9)  # of neighbours


def logistic_regression(task: PixelClassification, seed: int) -> Fitted:
    name, candidates = fitted.regressions(PENALTIES, max_iter=100, tol=1e-3)
    x, y = _vectors(task)
    how, model = chosen(candidates, x, y, by_the_last(len(y)))

    def answer(sequences: Tensor) -> Tensor:
        shares = probabilities(model, sequences.squeeze(-1).T.numpy(), task.output_size)
        return torch.from_numpy(np.log(shares))

    return Fitted(name, how, f"{len(y)} images of the training set", measured(task, answer))


def neighbours(task: PixelClassification, seed: int) -> Fitted:
    x, y = _vectors(task)
    nearest = Nearest(x, y, task.output_size, by_the_last(len(y)))
    return nearest.fitted(measured(task, lambda sequences: nearest.votes(sequences.squeeze(-1).T.numpy())))


def neighbours_of_crops(task: ImageClassification, seed: int) -> Fitted:
    """The nearest central crops of the training images, without augmentation."""
    side, corner = task.settings.crop, (task.crops.shape[2] - 1) // 2

    def vectors(images: Tensor) -> NDArray:
        top, left = ((size - side) // 2 for size in images.shape[2:])
        return images[:, :, top : top + side, left : left + side].flatten(1).numpy()

    parts = [vectors(task.crops[:, :, corner, corner] / task.levels)]
    if task.validated:
        parts += [vectors(images) for images, _ in task.evaluation_batches("validation")]
    labels = [task.labels[part].numpy() for part in ("train", "validation") if part in task.labels]
    choice = by_part(*map(len, labels)) if task.validated else by_the_last(len(labels[0]))
    nearest = Nearest(np.concatenate(parts), np.concatenate(labels), task.classes, choice)

    def answer(images: Tensor) -> ImageOutput:
        votes = nearest.votes(vectors(images))
        return ImageOutput(votes, votes, votes)

    return nearest.fitted(measured(task, answer))


def _vectors(task: PixelClassification) -> tuple[NDArray, NDArray]:
    """The training images as a network is given them, (n, T) in [0, 1], and their classes."""
    sequences, labels = task.batch(0, np.arange(len(task.train_labels)))
    return sequences.squeeze(-1).T.numpy(), labels.numpy()


class Nearest:
    """The class that most of the nearest images have, by Euclidean distance; of two that as many have, the nearer one.
    The number of neighbours is chosen on x (n, pixels) and y (n,)."""

    def __init__(self, x: NDArray, y: NDArray, classes: int, choice: Choice):
        self.classes = classes
        ((kept, held),) = choice.folds
        self._remember(x[kept], y[kept])
        near = self._classes_near(x[held], max(COUNTS))
        right = {count: (self._votes(near[:, :count]).argmax(1) == y[held]).sum() for count in COUNTS}
        self.count = max(COUNTS, key=lambda count: right[count])
        if len(choice.finally_on) > len(kept):
            self._remember(x[choice.finally_on], y[choice.finally_on])

    def votes(self, x: NDArray) -> Tensor:
        """(n, classes)."""
        return torch.from_numpy(self._votes(self._classes_near(x, self.count)))

    def fitted(self, scores: Metrics) -> Fitted:
        """Without losses, as votes are no probabilities."""
        name = f"{self.count} nearest neighbours" if self.count > 1 else "nearest neighbour"
        accuracies = {metric: score for metric, score in scores.items() if metric.endswith("accuracy")}
        return Fitted(name, f"k = {self.count}", f"{len(self.labels)} images of the training set", accuracies)

    def _remember(self, x: NDArray, y: NDArray) -> None:
        self.index, self.labels = NearestNeighbors(algorithm="brute").fit(x), y

    def _classes_near(self, x: NDArray, count: int) -> NDArray:
        """(n, count), the nearest first."""
        return self.labels[self.index.kneighbors(x, count, return_distance=False)]

    def _votes(self, near: NDArray) -> NDArray:
        weights = 1 - np.arange(near.shape[1]) / near.shape[1] ** 2 / 2  # together less than a vote apart
        return np.stack([(weights * (near == kind)).sum(1) for kind in range(self.classes)], 1)
