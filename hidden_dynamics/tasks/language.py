# pyright: reportUnknownMemberType=false
"""Language modelling: the next word of a text (MomentumRNN, Sections 3.4 and A.3, after AWD-LSTM)."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.configuration.schema import NotNegative, Whole
from hidden_dynamics.configuration.spec import Training
from hidden_dynamics.errors import UserError
from hidden_dynamics.models.recurrent.state import map_tensors
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.schedule import SegmentSchedule
from hidden_dynamics.tasks.task import Arrays, Metrics, TaskSettings, ValidatedTask

Batch = tuple[Tensor, Tensor, bool]


class BatchSizes(Entry):
    validation: Whole
    test: Whole


class Settings(Entry):
    bptt: Whole  # mean length of a segment in words
    activation_regularisation: NotNegative  # AR, in the training loss
    temporal_regularisation: NotNegative  # TAR
    evaluation_batch_sizes: BatchSizes


class LanguageModelling(ValidatedTask[nn.Module, Batch]):
    """Word-level Penn Treebank and its stand-ins, as hidden_dynamics.data.ptb numbers their words.

    A text is cut into as many columns as a batch has, and read in segments that follow one another: the network's state
    is carried from one to the next, without gradients (truncated backpropagation through time).
    """

    items = {}

    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device):
        self.vocabulary_size = len(arrays["vocabulary"])
        self.settings = typed(Settings, settings, "the task", "settings")
        self.batch_sizes = self.settings.evaluation_batch_sizes.given()
        self.texts = {
            split: torch.from_numpy(arrays[split]).to(device).long() for split in ("train", "validation", "test")
        }
        for split, batch_size in self.batch_sizes.items():
            if len(self.texts[split]) // batch_size < 2:
                raise UserError(f"the {split} text is too short for evaluation_batch_sizes.{split} {batch_size}.")
        self.test_set = naive_scores.test_set(self._asked("test").numel())

    def schedule(self, training: Training, seed: int) -> SegmentSchedule:
        return SegmentSchedule(training, len(self.texts["train"]), self.settings.bptt, seed)

    def batch(self, epoch: int, indices: tuple[int, int, int]) -> Batch:
        """A segment (first row, rows, batch size) of the training text: words and the words that follow them, both
        (T, batch) int64, and whether the text begins here."""
        start, length, batch_size = indices
        rows = columns(self.texts["train"], batch_size)
        return rows[start : start + length], rows[start + 1 : start + length + 1], start == 0

    def loss(self, network: nn.Module, batch: Batch) -> Tensor:
        """Mean cross-entropy in nats, with AR, the mean square of the dropped last states, and TAR, the mean square of
        the differences of the last states from step to step."""
        words, targets, begins = batch
        output = network(words, None if begins else self.hidden_state)
        # Copies, because views would keep what was computed for the whole segment.
        self.hidden_state = map_tensors(lambda tensor: tensor.detach().clone(), output.hidden_state)
        entropy = functional.cross_entropy(output.logits.flatten(0, 1), targets.flatten())
        activation = self.settings.activation_regularisation * output.dropped.square().mean()
        temporal = self.settings.temporal_regularisation * output.states.diff(dim=0).square().mean()
        return entropy + activation + temporal

    @property
    def naive(self) -> naive_scores.Scores:
        """The frequencies of the training text, each word's count raised by one: none is impossible."""
        counts = torch.bincount(self.texts["train"], minlength=self.vocabulary_size).double() + 1
        scores: naive_scores.Scores = {}
        for split in self.batch_sizes:
            loss = -(counts / counts.sum()).log()[self._asked(split)].mean()
            scores[f"{split}_loss"] = {naive_scores.FREQUENCIES: loss.item()}
            scores[f"{split}_perplexity"] = {naive_scores.FREQUENCIES: loss.exp().item()}
        return scores

    def _asked(self, split: str) -> Tensor:
        """The words that are to be predicted of a text."""
        return columns(self.texts[split], self.batch_sizes[split])[1:]

    def measure(self, part: str, network: nn.Module) -> Metrics:
        """Cross-entropy (nats per word) and perplexity, its exponential, of a text."""
        rows = columns(self.texts[part], self.batch_sizes[part])
        total, of_segments, hidden_state = 0.0, list[float](), None
        for start in range(0, len(rows) - 1, self.settings.bptt):
            targets = rows[start + 1 : start + 1 + self.settings.bptt]
            output = network(rows[start : start + len(targets)], hidden_state)
            hidden_state = output.hidden_state
            logits = output.logits.flatten(0, 1)
            of_segments.append(functional.cross_entropy(logits, targets.flatten(), reduction="sum").item())
            total += of_segments[-1]
        if part == "test":  # words are too many
            self.items = {"loss": np.array(of_segments, np.float32)}
        loss = total / rows[1:].numel()
        return {f"{part}_loss": loss, f"{part}_perplexity": torch.tensor(loss, dtype=torch.float64).exp().item()}


def columns(text: Tensor, batch_size: int) -> Tensor:
    """A text (words,) as columns that are read side by side, (words // batch_size, batch_size), a view: each continues
    where the one before ends. The words left over are not read."""
    rows = len(text) // batch_size
    return text[: rows * batch_size].view(batch_size, rows).t()
