# pyright: reportUnknownMemberType=false
"""Pixel-by-pixel image classification: an image is a sequence of pixels, its class is read from the last state."""

from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.items import of_classes
from hidden_dynamics.tasks.task import Arrays, Metrics, Task, TaskSettings

FIXED_PERMUTATION = 92916  # the seed of the fixed permutation in expRNN, on which the released code builds
TEST_BATCH = 500


class Settings(Entry):
    permutation: Literal["none", "fixed", "by_seed"]
    pixels: Literal["grey", "binary"] = "grey"


class PixelClassification(Task[nn.Module, tuple[Tensor, Tensor]]):
    """MNIST and PMNIST (MomentumRNN, Section 3.1, Appendix A.1): row by row, or permuted.

    Args:
        arrays: train_images and test_images (n, T) uint8, train_labels and test_labels (n,) uint8, levels: a pixel is
            image / levels, in [0, 1], and not normalised.
        settings: `permutation`: "none"; "fixed", the same for every run (the paper's text); "by_seed" (the released
            code). `pixels`: "grey" (the default), or "binary", 1 above a half and else 0.
    """

    input_size, output_size, every_step = 1, 10, False

    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device):
        chosen = typed(Settings, settings, "the task", "settings")
        self.binary = chosen.pixels == "binary"
        order = torch.from_numpy(pixel_order(chosen.permutation, arrays["train_images"].shape[1], seed)).to(device)
        self.levels = float(arrays["levels"])
        self.train_images = torch.from_numpy(arrays["train_images"]).to(device)[:, order]
        self.test_images = torch.from_numpy(arrays["test_images"]).to(device)[:, order]
        self.train_labels = torch.from_numpy(arrays["train_labels"]).to(device).long()
        self.test_labels = torch.from_numpy(arrays["test_labels"]).to(device).long()
        self.train_size = len(self.train_labels)
        self.test_set = naive_scores.test_set(len(self.test_labels))

    def batch(self, epoch: int, indices: np.ndarray) -> tuple[Tensor, Tensor]:
        """Sequences (T, batch, 1) in [0, 1] and labels (batch,)."""
        chosen = torch.from_numpy(indices).to(self.train_images.device)
        return self._sequences(self.train_images[chosen]), self.train_labels[chosen]

    def loss(self, network: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        """Mean cross-entropy, in nats."""
        x, labels = batch
        return functional.cross_entropy(network(x), labels)

    def evaluate(self, network: nn.Module) -> Metrics:
        """Mean cross-entropy and accuracy (a fraction) over the test set."""
        loss, correct, answers = 0.0, 0, list[Tensor]()
        batches = (torch.split(whole, TEST_BATCH) for whole in (self.test_images, self.test_labels))
        for images, labels in zip(*batches, strict=True):
            logits = network(self._sequences(images))
            loss += functional.cross_entropy(logits, labels, reduction="sum").item()
            correct += (logits.argmax(1) == labels).sum().item()
            answers.append(logits)
        self.items = of_classes(torch.cat(answers), self.test_labels)
        return {"test_loss": loss / len(self.test_labels), "test_accuracy": correct / len(self.test_labels)}

    @property
    def naive(self) -> naive_scores.Scores:
        return naive_scores.of_labels("train", self.train_labels) | naive_scores.of_labels("test", self.test_labels)

    def _sequences(self, images: Tensor) -> Tensor:
        pixels = images.t().float() / self.levels
        return ((pixels > 0.5).float() if self.binary else pixels).unsqueeze(-1)


def pixel_order(permutation: str, pixels: int, seed: int) -> np.ndarray:
    """The pixel that comes at each step: (pixels,), int64."""
    if permutation == "none":
        return np.arange(pixels)
    return np.random.RandomState(FIXED_PERMUTATION if permutation == "fixed" else seed).permutation(pixels)
