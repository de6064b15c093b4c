# pyright: reportUnknownMemberType=false
"""The copying task: cross-entropy over every step of recalling K letters after L blanks (MomentumRNN, Appendix A.4)."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.data import copying
from hidden_dynamics.data.streams import generator
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.task import Arrays, Metrics, Task, TaskSettings

TEST_BATCH = 128


class Copying(Task[nn.Module, tuple[Tensor, Tensor]]):
    """Fresh uniform letters in every iteration; a fixed test set, as hidden_dynamics.data.copying prepares it."""

    every_step = True

    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device):
        self.blanks, self.letters, self.alphabet = (int(arrays[name]) for name in ("blanks", "letters", "alphabet"))
        self.input_size = self.alphabet + 2  # the blank, the letters and the start marker, which is never a target
        self.output_size = self.alphabet + 1
        self.test_letters, self.seed, self.device = arrays["test_letters"], seed, device
        self.test_set = naive_scores.test_set(len(self.test_letters))

    def batch(self, epoch: int, indices: tuple[int, int]) -> tuple[Tensor, Tensor]:
        """One-hot inputs (L + 2K, batch, alphabet + 2) and targets (L + 2K, batch)."""
        iteration, size = indices
        rng = generator(self.seed, "copying", "train", iteration)
        return self._tensors(copying.sample_letters(rng, size, self.letters, self.alphabet))

    def loss(self, network: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        """Mean cross-entropy over all L + 2K steps and the batch, in nats."""
        x, targets = batch
        return functional.cross_entropy(network(x).flatten(0, 1), targets.flatten())

    def evaluate(self, network: nn.Module) -> Metrics:
        pieces = np.array_split(self.test_letters, -(-len(self.test_letters) // TEST_BATCH))
        losses, of_words, right = list[float](), list[Tensor](), list[Tensor]()
        for piece in pieces:
            x, targets = self._tensors(piece)
            logits = network(x)
            losses.append(functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).item() * len(piece))
            of_words.append(functional.cross_entropy(logits.movedim(2, 1), targets, reduction="none").detach().sum(0))
            right.append((logits.argmax(2) == targets)[-self.letters :].sum(0).to(torch.uint8))
        of_items = {"loss": of_words, "right": right}  # the sum over a word's steps; of its letters, those recalled
        self.items = {name: torch.cat(parts).cpu().numpy() for name, parts in of_items.items()}
        return {"test_loss": sum(losses) / len(self.test_letters)}

    @property
    def naive(self) -> naive_scores.Scores:
        """Without memory one says "blank" until the marker, then at each step the letters by their frequency there,
        among all words in training, among those of the test set in the test."""
        letters = torch.from_numpy(self.test_letters).long()
        nats = sum(naive_scores.entropy(column) for column in letters.T)
        return {
            "train_loss": {
                naive_scores.NO_MEMORY: copying.loss_without_memory(self.blanks, self.letters, self.alphabet)
            },
            "test_loss": {naive_scores.NO_MEMORY: nats / (self.blanks + 2 * self.letters)},
        }

    def _tensors(self, letters: np.ndarray) -> tuple[Tensor, Tensor]:
        inputs, targets = copying.sequences(letters, self.blanks, self.alphabet)
        inputs = torch.from_numpy(inputs.T.copy()).to(self.device)
        symbols = torch.arange(self.input_size, device=self.device)
        one_hot = (inputs.unsqueeze(-1) == symbols).float()  # functional.one_hot would wait for a GPU
        return one_hot, torch.from_numpy(targets.T.copy()).to(self.device)
