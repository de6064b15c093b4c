# pyright: reportUnknownMemberType=false
"""Image classification (ACE-NODE, Section 4.1): random crops to train on, a part held out to choose by."""

import copy
import functools
import math
from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.configuration.schema import Whole
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError
from hidden_dynamics.models.image_networks import ImageNetwork, output_of
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.items import of_classes
from hidden_dynamics.tasks.task import Arrays, Metrics, PartlyTestedTask, TaskOfParts, TaskSettings, ValidatedTask

EVALUATION_BATCH = 1000  # images whose solver shares its steps
HELD_OUT_SEED = 0  # which images are held out is the same for all runs

Images = tuple[Tensor, Tensor]


class Settings(Entry):
    crop: Whole
    pad: Annotated[int, Field(ge=0)]
    evaluate_on: Literal["crop", "image"]
    validation: Whole
    select_on: Literal["validation", "test"]


class ImageClassification(
    ValidatedTask[ImageNetwork, Images], PartlyTestedTask[ImageNetwork, Images], TaskOfParts[ImageNetwork, Images]
):
    """MNIST, SVHN, CIFAR-10 and what stands in for them.

    Args:
        arrays: train_images and test_images, (n, H, W, channels) or (n, H * H) uint8, train_labels and test_labels (n,)
            uint8, levels: a value is image / levels, in [0, 1], not normalised.
        settings: `crop`, side of the squares cut from the training images at random places, after `pad` rows and
            columns of zeros were put around them; `evaluate_on`: "crop", central squares of the same size, or the whole
            "image"; `validation`, images of the training set that are held out; `select_on`: "validation", or "test" as
            the released code, for which nothing is held out.
    """

    classes = 10
    items = {}

    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device):
        self.seed, self.levels = seed, float(arrays["levels"])
        images = {split: _maps(arrays[f"{split}_images"]) for split in ("train", "test")}
        labels = {split: arrays[f"{split}_labels"].astype(np.int64) for split in ("train", "test")}
        self.settings = typed(Settings, settings, "the task", "settings")
        _check_room(self.settings, images["train"].shape)
        self.channels = images["train"].shape[1]
        self.validated = self.settings.select_on == "validation"
        if self.validated:
            order = generator(HELD_OUT_SEED, "held out").permutation(len(images["train"]))
            for parts in (images, labels):
                parts["validation"] = parts["train"][np.sort(order[: self.settings.validation])]
                parts["train"] = parts["train"][np.sort(order[self.settings.validation :])]
        self.labels = {split: torch.from_numpy(part).to(device) for split, part in labels.items()}
        self.images = {split: torch.from_numpy(part).to(device) for split, part in images.items() if split != "train"}
        self.train_size = len(images["train"])
        self.test_set = naive_scores.test_set(len(self.labels["test"]))
        # Every place that a crop can be at, as a view: (n, channels, places, places, crop, crop).
        padded = functional.pad(torch.from_numpy(images["train"]).to(device), (self.settings.pad,) * 4)
        self.crops = padded.unfold(2, self.settings.crop, 1).unfold(3, self.settings.crop, 1)

    def batch(self, epoch: int, indices: np.ndarray) -> Images:
        """Crops (batch, channels, crop, crop) in [0, 1] and labels (batch,)."""
        rows, columns = _places(self.seed, epoch, self.train_size, self.crops.shape[2], self.crops.shape[3])[indices].T
        chosen, *corner = (torch.from_numpy(array).to(self.crops.device) for array in (indices, rows, columns))
        return self._values(self.crops[chosen, :, *corner]), self.labels["train"][chosen]

    def loss(self, network: ImageNetwork, batch: Images, part: str | None = None) -> Tensor:
        """Mean cross-entropy, in nats, and the network's penalty; `part` names what alternating training trains."""
        images, labels = batch
        output = output_of(network, images)
        return functional.cross_entropy(output.logits, labels) + network.penalty(output, part)

    def test_on_first(self, items: int, network: nn.Module) -> tuple[int, Metrics]:
        fewer = copy.copy(self)
        fewer.images, fewer.labels = (of | {"test": of["test"][:items]} for of in (self.images, self.labels))
        return len(fewer.labels["test"]), fewer.measure("test", network)

    @property
    def naive(self) -> naive_scores.Scores:
        scores = [naive_scores.of_labels(split, labels) for split, labels in self.labels.items()]
        return {metric: baselines for metrics in scores for metric, baselines in metrics.items()}

    def evaluation_batches(self, split: str) -> Iterator[Images]:
        """Images or their central crops, (batch, channels, H, W) in [0, 1], and labels (batch,) of "validation" or
        "test"."""
        images, side = self.images[split], self.settings.crop
        if self.settings.evaluate_on == "crop":
            top, left = ((size - side) // 2 for size in images.shape[2:])
            images = images[:, :, top : top + side, left : left + side]
        batches = zip(*(torch.split(whole, EVALUATION_BATCH) for whole in (images, self.labels[split])), strict=True)
        return ((self._values(part), labels) for part, labels in batches)

    def measure(self, part: str, network: nn.Module) -> Metrics:
        """Mean cross-entropy and accuracy (a fraction)."""
        loss, correct, total, answers = 0.0, 0, len(self.labels[part]), list[Tensor]()
        for images, labels in self.evaluation_batches(part):
            logits = output_of(network, images).logits
            loss += functional.cross_entropy(logits, labels, reduction="sum").item()
            correct += (logits.argmax(1) == labels).sum().item()
            answers.append(logits)
        if part == "test":
            self.items = of_classes(torch.cat(answers), self.labels[part])
        return {f"{part}_loss": loss / total, f"{part}_accuracy": correct / total}

    def _values(self, images: Tensor) -> Tensor:
        return images.float() / self.levels


@functools.lru_cache(maxsize=1)
def _places(seed: int, epoch: int, images: int, rows: int, columns: int) -> np.ndarray:
    """The corner at which each training image is cut in an epoch: (images, 2), int64."""
    return generator(seed, "crops", epoch).integers((0, 0), (rows, columns), (images, 2))


def _maps(images: np.ndarray) -> np.ndarray:
    """(n, channels, H, W) of (n, H, W, channels) or of square grey images row by row, (n, H * H)."""
    if images.ndim == 2:
        side = math.isqrt(images.shape[1])
        return images.reshape(len(images), 1, side, side)
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2))


def _check_room(settings: Settings, shape: tuple[int, ...]) -> None:
    for name, most in {"crop": min(shape[2:]), "pad": min(shape[2:]), "validation": shape[0] - 1}.items():
        if (value := getattr(settings, name)) > most:
            key = f"settings.{name}"
            raise UserError(f"the task: {key}: found {value}, expected at most {most} with these images", key=key)
