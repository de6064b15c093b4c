# pyright: reportUnknownMemberType=false
"""Speech: an utterance's spectrogram, frame by frame, to predict or to recall (MomentumRNN, Section 3.2)."""

import math
from typing import Literal, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data.speech import BINS, FLOOR
from hidden_dynamics.models.ragged import valid_steps
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.items import sums
from hidden_dynamics.tasks.task import Arrays, Metrics, Task, TaskSettings

SILENCE = 10 * math.log10(FLOOR)  # dB, in all bins: -50
SHIFTS = {"next": (0, 1), "previous": (1, 0)}  # frames by which the input and the target are shifted
TEST_BATCH = 128
RIDGE_PENALTY = 1.0  # dB^2, beside the mean squares of the inputs

Batch = tuple[Tensor, Tensor, Tensor]


class Settings(Entry):
    target: Literal["next", "previous"]


class SpeechPrediction(Task[nn.Module, Batch]):
    """TIMIT and its stand-ins: the frame next to the one that is heard.

    An utterance of T frames X_0, ..., X_{T-1} is followed by a silent one, X_T. With "next" the input is X_0, ...,
    X_{T-1} and the target X_1, ..., X_T: prediction, the paper's text. With "previous" the input is X_1, ..., X_T and
    the target X_0, ..., X_{T-1}: the network recalls what it heard one step before, as the released code has it. The
    arrays are those of hidden_dynamics.data.speech.pack, of train, validation and test.
    """

    input_size, output_size, every_step, ragged = BINS, BINS, True, True

    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device):
        target = typed(Settings, settings, "the task", "settings").target
        shifts = SHIFTS[target]
        self.train, self.validation, self.test = (
            Utterances(arrays[f"{split}_frames"], arrays[f"{split}_lengths"], shifts, device)
            for split in ("train", "validation", "test")
        )
        self.train_size = len(self.train.lengths)
        self.test_set = naive_scores.test_set(len(self.test.lengths))
        # The frame before the one at hand is what "previous" asks for: to have it would be memory, and the answer.
        self.seen = 3 if target == "next" else 1

    def batch(self, epoch: int, indices: np.ndarray) -> Batch:
        """These utterances, the longest first: inputs (T, batch, 129), padded with silence; lengths (batch,), on the
        CPU; targets of the valid steps, (sum of lengths, 129), in the order of time, then utterance."""
        return self.train.batch(indices)

    def loss(self, network: nn.Module, batch: Batch) -> Tensor:
        """Mean squared error over all frames and bins, in dB^2 (per bin, not summed over bins)."""
        x, lengths, targets = batch
        return functional.mse_loss(network(x, lengths), targets)

    def evaluate(self, network: nn.Module) -> Metrics:
        """The loss over the whole validation set and over the whole test set."""
        return {
            "validation_loss": self._mean_loss(network, self.validation),
            "test_loss": self._mean_loss(network, self.test),
        }

    @property
    def naive(self) -> naive_scores.Scores:
        """The best constant per bin, the frame at hand, and ridge regression fitted on the training set: on the frame
        at hand and, to predict, on the two before it."""
        moments = {split: getattr(self, split).moments(self.seen) for split in ("train", "validation", "test")}
        weights = moments["train"].ridge()
        ridge = naive_scores.RIDGE if self.seen > 1 else naive_scores.RIDGE_AT_HAND
        answers = {naive_scores.REPEATED: torch.eye(*weights.shape, dtype=weights.dtype), ridge: weights}
        return {
            f"{split}_loss": {naive_scores.BEST_CONSTANT: of_split.error_of_mean()}
            | {name: of_split.error_of(answer) for name, answer in answers.items()}
            for split, of_split in moments.items()
        }

    def _mean_loss(self, network: nn.Module, utterances: "Utterances") -> float:
        """The loss of all utterances as one batch, computed on batches of similar length."""
        by_length = np.argsort(-utterances.lengths, kind="stable")
        total, errors = 0.0, np.empty(len(by_length), np.float32)
        for start in range(0, len(by_length), TEST_BATCH):
            chosen = by_length[start : start + TEST_BATCH]
            x, lengths, targets = utterances.batch(chosen)
            answers, frames = network(x, lengths), torch.arange(len(chosen)).expand(int(lengths[0]), -1)
            total += functional.mse_loss(answers, targets).item() * utterances.lengths[chosen].sum()
            errors[chosen] = sums((answers - targets).square(), valid_steps(frames, lengths), len(chosen))
        if utterances is self.test:
            self.items = {"squared_error": errors / (BINS * utterances.lengths).astype(np.float32)}
        return float(total / utterances.lengths.sum())


class Utterances:
    """One split, each utterance followed by its silent frame, and the batches made of it: of frames (sum of lengths,
    129), input and target shifted by so many each."""

    def __init__(self, frames: np.ndarray, lengths: np.ndarray, shifts: tuple[int, int], device: torch.device):
        ends = lengths.cumsum()
        self.lengths, self.starts = lengths, ends - lengths + np.arange(len(lengths))
        self.input_shift, self.target_shift = shifts
        self.frames = torch.from_numpy(np.insert(frames, ends, SILENCE, axis=0)).to(device)

    def batch(self, indices: np.ndarray) -> Batch:
        """See `SpeechPrediction.batch`. Utterances of the same length stay in the order of `indices`."""
        indices = indices[np.argsort(-self.lengths[indices], kind="stable")]
        starts, lengths = torch.from_numpy(self.starts[indices]), torch.from_numpy(self.lengths[indices])
        times = torch.arange(int(lengths[0])).unsqueeze(1)
        inputs = starts + torch.minimum(times + self.input_shift, lengths)  # past its end, the silent frame
        targets = valid_steps(starts + times + self.target_shift, lengths)
        return self._gather(inputs.flatten()).view(*inputs.shape, BINS), lengths, self._gather(targets)

    def moments(self, frames: int) -> "Moments":
        """The moments of what answers see (frames up to that at hand, and 1) and of the targets."""
        inputs, size = frames * BINS + 1, 0
        products = torch.zeros(inputs + BINS, inputs + BINS, dtype=torch.float64)
        for start, length in zip(self.starts, self.lengths, strict=True):
            times = torch.arange(length)
            places = [torch.where(times < back, length, times + self.input_shift - back) for back in range(frames)]
            rows = [self._gather(start + place).cpu().double() for place in (*places, times + self.target_shift)]
            rows.insert(-1, torch.ones(length, 1, dtype=torch.float64))
            pair = torch.cat(rows, 1)
            products, size = products + pair.T @ pair, size + int(length)
        return Moments(products / size, inputs)

    def _gather(self, rows: Tensor) -> Tensor:
        return self.frames.index_select(0, rows.to(self.frames.device))


class Moments(NamedTuple):
    """Mean products (inputs + 129, inputs + 129) of the inputs, the last of which is 1, and the targets."""

    products: Tensor
    inputs: int

    def ridge(self) -> Tensor:
        """The weights (inputs, 129) of least squares, with a penalty on all but that of the 1."""
        penalty = RIDGE_PENALTY * torch.ones(self.inputs, dtype=torch.float64)
        penalty[-1] = 0
        products = self.products[: self.inputs]
        left, right = products.tensor_split([self.inputs], 1)
        return cast(Tensor, torch.linalg.solve(left + torch.diag(penalty), right))

    def error_of(self, weights: Tensor) -> float:
        """The mean squared error of answers that are linear in the inputs, by weights (inputs, 129)."""
        residual = torch.cat([-weights, torch.eye(BINS, dtype=torch.float64)])  # target less answer
        return torch.einsum("ib,ij,jb->", residual, self.products, residual).item() / BINS

    def error_of_mean(self) -> float:
        """The same of the mean target."""
        means = self.products[self.inputs - 1, self.inputs :]
        return (self.products.diagonal()[self.inputs :] - means.square()).mean().item()
