# pyright: reportUnknownMemberType=false
"""Activity recognition: what a person with four tags is doing, at every time (ACE-NODE, Section 4.5)."""

from dataclasses import replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from hidden_dynamics.configuration.entries import typed
from hidden_dynamics.data.human_activity import TICKS
from hidden_dynamics.models.latent_family.family import SeriesBatch
from hidden_dynamics.models.observations import Observations, Rows
from hidden_dynamics.tasks import naive_scores, partly_observed
from hidden_dynamics.tasks.items import sums
from hidden_dynamics.tasks.partly_observed import LatentSeriesNetwork, PartlyObserved, split
from hidden_dynamics.tasks.scoring import area_under_roc, of_samples
from hidden_dynamics.tasks.task import Arrays, Metrics, TaskSettings

WINDOW, STRIDE = 50, 25  # rows


class Settings(partly_observed.Settings):
    windows: Literal["by_sequence", "at_random"]
    resampled: bool
    bin_labels: Literal["first", "lowest"]
    classes: Literal[7, 11]
    scores: partly_observed.Scores


class ActivityRecognition(PartlyObserved):
    """Human Activity and what stands in for it: the activity at each row of a window.

    All rows are context and targets. Values are not normalised. Windows are 50 rows long, one every 25 rows while a row
    follows them; their time starts at 0.

    Args:
        arrays: those of hidden_dynamics.data.human_activity, D features.
        settings: `windows`, split "by_sequence", so that no two windows of a sequence are of different parts, or
            "at_random", as released, where they overlap; `resampled`, whether training and test part are drawn from
            themselves with replacement, by the seed, as released; `bin_labels`, the "first" label of a row or, as
            released, the "lowest" class, where rows that have none are trained as of class 0 and are not scored;
            `classes`, outputs of a classifier; `scores`, as in `scoring.of_samples`; and `partly_observed.Settings`.
    """

    labels = "rows"

    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device):
        self.settings = chosen = typed(Settings, settings, "the task", "settings")
        self.classes = chosen.classes
        picked, sequences = windows(arrays["lengths"])
        if chosen.windows == "by_sequence":
            of_sequences = split(len(arrays["lengths"]), chosen.validation, chosen.split_seed(seed))
            places = {name: [np.flatnonzero(sequences == one) for one in part] for name, part in of_sequences.items()}
            parts = {name: np.concatenate(part) for name, part in places.items()}  # one sequence after another
        else:
            parts = split(len(sequences), chosen.validation, chosen.split_seed(seed))
        if chosen.resampled:
            random = np.random.RandomState(seed)
            parts |= {name: random.choice(parts[name], len(parts[name])) for name in ("train", "test")}
        ticks = np.round(arrays["times"].astype(np.float64) * TICKS)[picked]
        rows = Rows(
            ((ticks - ticks[:, :1]) / TICKS).astype(np.float32).ravel(),
            arrays["values"][picked.ravel()],
            arrays["mask"][picked.ravel()],
            np.full(len(picked), WINDOW, np.int64),
        )
        self.activity = arrays["labels" if chosen.bin_labels == "first" else "lowest"][picked]
        super().__init__(rows, parts, "kept", device)
        self.test_set = naive_scores.test_set(len(self._labelled("test")))

    def batch(self, epoch: int, indices: np.ndarray) -> SeriesBatch:
        """These windows of the training part; a row without a class is one of class 0."""
        batch = super().batch(epoch, indices)
        assert batch.labels is not None  # as `_labels` gives them
        return replace(batch, labels=batch.labels.clamp(min=0))

    def _labels(self, chosen: np.ndarray, targets: Observations) -> Tensor:
        """The labels of the targets: of all rows of the chosen windows, in the order of time, then window."""
        within = np.argsort(np.argsort(targets.series.numpy(), kind="stable"), kind="stable")
        return torch.from_numpy(self.activity[chosen].ravel()[within])

    def _labelled(self, part: str) -> Tensor:
        """The classes of a part's rows that have one."""
        labels = torch.from_numpy(self.activity[self.parts[part]]).flatten()
        return labels[labels >= 0]

    def _naive(self, part: str) -> naive_scores.Scores:
        accuracy = naive_scores.majority(self._labelled(part))
        return {
            f"{part}_time_point_accuracy": {naive_scores.MAJORITY: accuracy},
            f"{part}_time_point_auc": {naive_scores.CHANCE: 0.5},
        }

    def _measure(self, part: str, network: LatentSeriesNetwork) -> Metrics:
        """The share of rows whose activity is found, and the area under the ROC curve of one activity against the rest,
        averaged over activities, of a part; rows without a class do not count."""
        batch = self.part(part)
        assert batch.labels is not None
        labelled = batch.labels >= 0
        logits = network(batch).labels
        assert logits is not None
        probabilities = torch.softmax(logits[:, labelled].double(), -1).cpu().numpy()
        if part == "test":
            answers, rows = torch.from_numpy(probabilities.mean(0)), batch.targets.series[labelled]
            of_rows = {"right": answers.argmax(1) == batch.labels[labelled].cpu(), "labelled": torch.ones(len(rows))}
            added = {name: sums(values, rows, batch.targets.size).astype(np.uint8) for name, values in of_rows.items()}
            self.items = added | {"window": self.parts[part].astype(np.int32)}
        truth, scores = of_samples(self.settings.scores, batch.labels[labelled].cpu().numpy(), probabilities)
        met = np.unique(truth)
        areas = [area_under_roc(truth == activity, scores[:, activity]) for activity in met]
        return {
            f"{part}_time_point_accuracy": float((scores.argmax(1) == truth).mean()),
            f"{part}_time_point_auc": float(np.mean(areas)),
        }


def windows(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of each window, (windows, 50) int64 among all rows, and its sequence, (windows,)."""
    starts = np.cumsum(lengths) - lengths
    counts = np.maximum(0, np.ceil((lengths - WINDOW) / STRIDE)).astype(np.int64)
    sequences = np.repeat(np.arange(len(lengths)), counts)
    number = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return (starts[sequences] + STRIDE * number)[:, None] + np.arange(WINDOW), sequences
