"""What the Latent-ODE family is trained by and judged by (Rubanova et al. 2019, Equation 5 and their released code).

Predictions are (K, R, D): K samples, R target rows, D features. All is an expression over the targets, with one
weight for each observed entry; nothing is padded.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from hidden_dynamics.models.latent_family.series_batch import Prediction, SeriesBatch
from hidden_dynamics.models.observations import Observations

NOISE = 0.01  # standard deviation of an observation, in units of the normalised data
LABEL_WEIGHT = 100.0  # of the cross-entropy of series beside the likelihood


def negative_bound(prediction: Prediction, batch: SeriesBatch) -> Tensor:
    """-log sum_k exp(LL_k - weight * KL), in nats: the importance-weighted bound of the batch's mean, but for log K."""
    likelihoods = log_likelihood(prediction.values, batch.targets)
    return -torch.logsumexp(likelihoods - batch.divergence_weight * prediction.divergence, 0)


def log_likelihood(values: Tensor, targets: Observations) -> Tensor:
    """log N(x; mean, 0.01^2) of each sample, averaged with `entry_weights`, in nats: (K,).

    Where a series has no entry of a feature, 0 is averaged.
    """
    weights = entry_weights(targets)
    constant = (math.log(NOISE) + math.log(2 * math.pi) / 2) * weights.sum()
    return -squared_errors(values, targets, weights) / (2 * NOISE**2) - constant


def mean_squared_error(values: Tensor, targets: Observations) -> Tensor:
    """The released MSE, (): the mean over samples, series and features of the mean over a series' observed entries.

    Where a series has no entry of a feature, 0 is averaged: on PhysioNet a quarter of all pairs.
    """
    return squared_errors(values, targets, entry_weights(targets)).mean()


def squared_errors(values: Tensor, targets: Observations, weights: Tensor) -> Tensor:
    """The weighted sum of each sample's squared errors, (K,); weights (R, D)."""
    return ((values - targets.values).square() * weights).sum((1, 2))


def entry_weights(targets: Observations) -> Tensor:
    """The weight of each entry, (R, D): 1 / (n N D) of one of n observed entries of a feature in one of N series; 0 of
    what was not observed."""
    features = targets.mask.shape[1]
    counts = targets.mask.new_zeros(targets.size, features).index_add_(0, targets.series, targets.mask)
    return targets.mask / (counts.clamp(min=1)[targets.series] * (targets.size * features))


def label_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The cross-entropy of labels, in nats.

    Args:
        logits: (K, N) of series or (K, R, classes) of rows.
        labels: (N,), 0 or 1: the mean over samples and series, divided by K once more as in the released code (the
            paper gives no formula). (R,) int64: the mean over samples and the rows whose label is not -1; 0 where there
            is none.
    """
    if labels.is_floating_point():
        return functional.binary_cross_entropy_with_logits(logits, labels.expand_as(logits)) / len(logits)
    rows = labels.repeat(len(logits))
    summed = functional.cross_entropy(logits.flatten(0, 1), rows, ignore_index=-1, reduction="sum")
    return summed / (rows >= 0).sum().clamp(min=1)
