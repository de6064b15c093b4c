# pyright: reportUnknownMemberType=false
"""The adding task: the squared error of the sum of two marked numbers (MomentumRNN, Appendix A.4)."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.data import adding
from hidden_dynamics.data.streams import generator
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.task import Arrays, Metrics, Task, TaskSettings

TEST_BATCH = 250


class Adding(Task[nn.Module, tuple[Tensor, Tensor]]):
    """Fresh sequences in every iteration; a fixed test set, as hidden_dynamics.data.adding prepares it."""

    input_size, output_size, every_step = 2, 1, False

    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device):
        self.test = arrays["test_values"], arrays["test_markers"], arrays["test_targets"]
        self.length, self.seed, self.device = int(arrays["length"]), seed, device
        self.test_set = naive_scores.test_set(len(self.test[2]))

    def batch(self, epoch: int, indices: tuple[int, int]) -> tuple[Tensor, Tensor]:
        """Values and markers (T, batch, 2), and the sums (batch,)."""
        iteration, size = indices
        return self._tensors(*adding.sample(generator(self.seed, "adding", "train", iteration), size, self.length))

    def loss(self, network: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        """Mean squared error."""
        x, targets = batch
        return functional.mse_loss(network(x).squeeze(1), targets)

    def evaluate(self, network: nn.Module) -> Metrics:
        total, squares = 0.0, list[Tensor]()
        for start in range(0, len(self.test[2]), TEST_BATCH):
            x, targets = self._tensors(*(array[start : start + TEST_BATCH] for array in self.test))
            answers = network(x).squeeze(1)
            total += functional.mse_loss(answers, targets).item() * len(targets)
            squares.append((answers.detach() - targets).square())
        self.items = {"squared_error": torch.cat(squares).cpu().numpy()}
        return {"test_loss": total / len(self.test[2])}

    @property
    def naive(self) -> naive_scores.Scores:
        """The variance of the sum: among all sequences in training, among those of the test set in the test."""
        test = float(self.test[2].astype(np.float64).var())
        return {
            "train_loss": {naive_scores.BEST_CONSTANT: adding.VARIANCE},
            "test_loss": {naive_scores.BEST_CONSTANT: test},
        }

    def _tensors(self, values: np.ndarray, markers: np.ndarray, targets: np.ndarray) -> tuple[Tensor, Tensor]:
        inputs = adding.inputs(values, markers).transpose(1, 0, 2).copy()
        return torch.from_numpy(inputs).to(self.device), torch.from_numpy(targets).to(self.device)
