"""Naive baselines: the scores of predictions that need no network, by the name that they have everywhere.

Constants are those of the evaluated set itself, so that no constant scores better on it.
"""

from typing import SupportsInt

import torch
from torch import Tensor

from hidden_dynamics.models.observations import Observations

BEST_CONSTANT, MAJORITY, CHANCE = "best constant", "majority class", "chance"
LAST_VALUE, OWN_MEAN = "last value", "series' own mean"
REPEATED, RIDGE, RIDGE_AT_HAND = "repeating the frame", "ridge on three frames", "ridge on the frame at hand"
FREQUENCIES, NO_MEMORY = "word frequencies", "no memory"

Scores = dict[str, dict[str, float]]  # {metric: {name: score}}, the score in the unit of what a run measures


def test_set(size: SupportsInt, positive: SupportsInt | None = None) -> dict[str, int | None]:
    """The number of test samples, and of the positive ones among them where there are two classes."""
    return {"size": int(size), "positive": None if positive is None else int(positive)}


def entropy(labels: Tensor) -> float:
    """The cross-entropy of labels (n,) int64, in nats, under their own frequencies."""
    counts = torch.bincount(labels.flatten()).double()
    return -torch.xlogy(counts, counts / counts.sum()).sum().item() / labels.numel()


def majority(labels: Tensor) -> float:
    """The share of the most frequent of labels (n,) int64."""
    return torch.bincount(labels.flatten()).max().item() / labels.numel()


def of_labels(part: str, labels: Tensor) -> Scores:
    return {f"{part}_loss": {BEST_CONSTANT: entropy(labels)}, f"{part}_accuracy": {MAJORITY: majority(labels)}}


def series_errors(context: Observations, series: Tensor, values: Tensor, weights: Tensor) -> dict[str, float]:
    """The squared errors of the best constant per feature, of a series' last value in the context and of its own mean;
    where the context lacks a feature, of the constant. Of the target rows, `series` (n,) are places in `context`,
    `values` (n, D) the answers, and `weights` (n, D) those of each in the error, 0 where nothing was observed."""
    values, weights, seen = values.double(), weights.double(), context.values.double()
    constant = (weights * values).sum(0) / weights.sum(0).clamp(min=torch.finfo(torch.float64).tiny)
    sums, counts = (seen.new_zeros(context.size, seen.shape[1]) for _ in range(2))
    sums.index_add_(0, context.series, seen)
    counts.index_add_(0, context.series, context.mask.double())
    # The rows are in the order of time: the last one of a feature has the highest number, counted from 1.
    numbers = torch.arange(1, len(seen) + 1, device=seen.device)[:, None] * (context.mask > 0)
    last = torch.zeros_like(sums, dtype=torch.int64)
    last.scatter_reduce_(0, context.series[:, None].expand_as(seen), numbers, "amax")
    answers = {
        BEST_CONSTANT: constant.expand_as(sums),
        LAST_VALUE: torch.where(last > 0, torch.cat([seen[:1], seen]).gather(0, last), constant),
        OWN_MEAN: torch.where(counts > 0, sums / counts.clamp(min=1), constant),
    }
    return {name: ((answer[series] - values).square() * weights).sum().item() for name, answer in answers.items()}
