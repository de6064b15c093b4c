"""Multi-time attention (Shukla and Marlin, ICLR 2021): attention over times alone, to and from reference points, and
mTAND-Full, a variational autoencoder between irregular times and latent variables at these points."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.gaussian import divergence
from hidden_dynamics.models.latent_family.family import (
    NOISE,
    LatentNetwork,
    LatentTask,
    Prediction,
    SeriesBatch,
    label_loss,
)
from hidden_dynamics.models.series_major import padded

BETWEEN = 50  # units of the layer between states and z, and between states and a prediction
CLASSIFYING = 300
# Of the scores of one query, beyond which a feature's weights are divided by their own largest before they are added:
# up to there, exp(-SPREAD) of the largest is a number of float32 with all its digits.
SPREAD = 60.0


class TimeEmbedding(nn.Module):
    """phi(t) = [w_0 t + b_0, sin(w_1 t + b_1), ..., sin(w_{E-1} t + b_{E-1})], w and b learnt (Equation 1).

    Args:
        size: E.
    """

    def __init__(self, size: int):
        super().__init__()
        self.affine = nn.Linear(1, size)

    def forward(self, times: Tensor) -> Tensor:
        """Of times (...,): (..., E)."""
        phi = self.affine(times.unsqueeze(-1))
        return torch.cat([phi[..., :1], torch.sin(phi[..., 1:])], -1)


class TimeAttention(nn.Module):
    """mTAN: where time t' is known of a feature d, kappa(t, t') = softmax over t' of phi(t) W V^T phi(t')^T / sqrt(k);
    the answer at t is linear in all features' sum over t' of kappa(t, t') x_d(t') (Equations 2 to 4).

    As in the released code, heads share an embedding, of which each has k = E / H projected entries, and W and V have a
    bias.

    Args:
        features: of what is known.
        size: entries of an answer.
        embedding: E.
        heads: H.

    Raises:
        ValueError: E is no multiple of H.
    """

    def __init__(self, features: int, size: int, embedding: int, heads: int):
        super().__init__()
        if embedding % heads:
            raise ValueError(f"a time embedding of {embedding} entries cannot be divided among {heads} heads")
        self.heads = heads
        self.embedding = TimeEmbedding(embedding)
        self.query, self.key = nn.Linear(embedding, embedding), nn.Linear(embedding, embedding)
        self.out = nn.Linear(heads * features, size)

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Before the softmax, (..., H, Q, S), of times (..., Q) and (..., S)."""
        q, k = (
            torch.unflatten(each(self.embedding(times)), -1, (self.heads, -1)).transpose(-2, -3)
            for each, times in ((self.query, queries), (self.key, keys))
        )
        return q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])

    def observed(self, queries: Tensor, times: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """From observations to queries: (N, Q, size).

        Beside each feature's interpolated value, the answer is linear in whether any was observed: what the released
        code gets where it interpolates the mask.

        Args:
            queries: (Q,) times.
            times: (N, S).
            values, mask: (N, S, D); the layer has 2 D features.
        """
        found = interpolated(self.scores(queries, times), values, mask)  # (N, H, Q, D)
        known = (mask.sum(1) > 0).to(values)[:, None, None].expand_as(found)
        return self.out(torch.cat([found, known], -1).transpose(1, 2).flatten(2))

    def known(self, queries: Tensor, times: Tensor, values: Tensor) -> Tensor:
        """From values that are known at all times to queries of each series: (K, N, Q, size).

        Args:
            queries: (N, Q).
            times: (S,).
            values: (K, N, S, features).
        """
        weights = torch.softmax(self.scores(queries, times), -1)
        found = torch.unflatten(weights.flatten(1, 2) @ values, 2, weights.shape[1:3])  # (K, N, H, Q, features)
        return self.out(found.transpose(2, 3).flatten(3))


def interpolated(scores: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Of each feature, the values weighted with a softmax over its own observations, 0 without any: (N, H, Q, D).

    Weights of all features are exponentials of the same scores, so both the sums and what they are divided by are a
    product of matrices, (Q, S) by (S, D), and no (Q, S, D) is ever held. Where scores lie so far apart that those of a
    feature might vanish beside the largest of all, that series is done feature by feature.

    Args:
        scores: (N, H, Q, S).
        values, mask: (N, S, D).
    """
    seen = (mask.sum(2) > 0)[:, None, None]  # (N, 1, 1, S)
    largest = scores.detach().masked_fill(~seen, -math.inf).amax(3, keepdim=True)
    smallest = scores.detach().masked_fill(~seen, math.inf).amin(3, keepdim=True)
    wide = (largest - smallest > SPREAD).flatten(1).any(1).nonzero().flatten()  # a GPU waits for it
    shift = torch.where(torch.isfinite(largest), largest, 0)
    weights = torch.exp((scores - shift).masked_fill(~seen, -math.inf))
    sums, total = weights @ (values * mask).unsqueeze(1), weights @ mask.unsqueeze(1)
    found = sums / torch.where(total > 0, total, 1)
    if not len(wide):
        return found
    alone = [_one_by_one(*each) for each in zip(scores[wide], values[wide], mask[wide], strict=True)]
    return found.index_copy(0, wide, torch.stack(alone))


def _one_by_one(scores: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """`interpolated` of one series: (H, Q, D)."""
    seen = mask > 0
    each = scores.unsqueeze(3).masked_fill(~seen, -math.inf)
    weights = torch.softmax(torch.where(seen.any(0), each, 0), 2)
    return (weights * (values * mask)).sum(2)


class MTAN(LatentNetwork):
    """mTAND-Full of Shukla and Marlin (2021), Section 3; an extra of ours, in neither of ACE-NODE's tables.

    Encoder: observations are interpolated to the reference points by attention over times, a bidirectional GRU reads
    them, and each point has a Gaussian z (Equations 9 to 11). Decoder: a bidirectional GRU reads all z, and a row is
    predicted from what attention makes of its states at the row's time (Equations 5 to 8). A series is classified by a
    GRU that reads all z, with two hidden layers of 300 ReLU units behind it.

    Ours: a series has one logit, where the released code has two. A row is classified, by layers of the same sizes,
    from what the decoder's attention makes of its time: of mTAND-Full on Human Activity nothing is released.

    Args:
        task: gives the features D of a row, and what of it is classified.
        hidden_size: of z at a reference point: 20 on PhysioNet (the authors' README); 15 on Human Activity, as
            that of the other networks.
        recognition_size: of the encoder's and the classifier's GRU, in each direction: 256 on PhysioNet; 512 on Human
            Activity, where the README has the encoder alone.
        generation_size: of the decoder's GRU, in each direction.
        reference_points: at equal distances from 0 to 1.
        embedding: entries of a time's embedding.
        heads: of each attention.
        samples: of z.
        label_weight: of the cross-entropy of series beside the bound.

    Raises:
        ValueError: the embedding cannot be divided among the heads.
    """

    points: Tensor

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int = 20,
        recognition_size: int = 256,
        generation_size: int = 50,
        reference_points: int = 128,
        embedding: int = 128,
        heads: int = 1,
        samples: int = 1,
        label_weight: float = 100.0,
    ):
        super().__init__(task)
        self.labels, self.samples, self.label_weight = task.labels, samples, label_weight
        self.register_buffer("points", torch.linspace(0, 1, reference_points), persistent=False)
        both, states = 2 * recognition_size, 2 * generation_size
        self.to_points = TimeAttention(2 * task.features, recognition_size, embedding, heads)
        self.encoder = nn.GRU(recognition_size, recognition_size, batch_first=True, bidirectional=True)
        self.posterior = nn.Sequential(nn.Linear(both, BETWEEN), nn.ReLU(), nn.Linear(BETWEEN, 2 * hidden_size))
        self.decoder = nn.GRU(hidden_size, generation_size, batch_first=True, bidirectional=True)
        self.to_rows = TimeAttention(states, states, embedding, heads)
        self.readout = nn.Sequential(nn.Linear(states, BETWEEN), nn.ReLU(), nn.Linear(BETWEEN, task.features))
        if task.labels == "series":
            self.reader = nn.GRU(hidden_size, recognition_size, batch_first=True)
        if task.labels is not None:
            size = recognition_size if task.labels == "series" else states
            self.classifier = nn.Sequential(
                *(nn.Linear(size, CLASSIFYING), nn.ReLU(), nn.Linear(CLASSIFYING, CLASSIFYING), nn.ReLU()),
                nn.Linear(CLASSIFYING, task.classes),
            )

    def forward(self, batch: SeriesBatch) -> Prediction:
        """What is predicted of the targets.

        Its divergence is that of a series, summed over all z and divided by its observations, averaged over the
        series (Equation 12).
        """
        mean, std = self.encoded(batch)
        noise = torch.randn(self.samples, *mean.shape, dtype=mean.dtype, device=mean.device)
        z = mean + std * noise
        states = self.decoder(z.flatten(0, 1))[0].unflatten(0, z.shape[:2])
        targets = padded(batch.targets)
        seen = self.to_rows.known(targets.times.to(z), self.points, states)[:, targets.series, targets.before]
        labels = None
        if self.labels == "series":
            labels = self.classifier(self.reader(z.flatten(0, 1))[1][0]).view(z.shape[:2])
        elif self.labels == "rows":
            labels = self.classifier(seen)
        of_series = divergence(mean, std).sum((1, 2)) / _observed(batch)
        return Prediction(self.readout(seen), labels, of_series.mean(), of_series.new_zeros(()))

    def encoded(self, batch: SeriesBatch) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of z, (N, points, size) each."""
        context = padded(self.accepted(batch.context))
        at_points = self.to_points.observed(self.points, context.times.to(context.values), context.values, context.mask)
        mean, logvar = self.posterior(self.encoder(at_points)[0]).chunk(2, 2)
        return mean, torch.exp(logvar / 2)

    def loss(self, prediction: Prediction, batch: SeriesBatch) -> Tensor:
        """What is minimised, (): the negative bound of each series divided by its observations, averaged over the
        series (Equation 12, with the importance weights of the released code), and where series have labels,
        `label_weight` times their cross-entropy with it (Equation 15). Where rows have labels, their cross-entropy
        alone, which is ours: of mTAND-Full on Human Activity no code was released, and mTAND-Enc has no bound.
        """
        if batch.labels is None:
            return self.bound(prediction, batch)
        assert prediction.labels is not None  # a network of a task with labels predicts them
        if not batch.labels.is_floating_point():
            return label_loss(prediction.labels, batch.labels)
        labels = batch.labels.expand_as(prediction.labels)
        entropy = functional.binary_cross_entropy_with_logits(prediction.labels, labels)
        return self.bound(prediction, batch) + self.label_weight * entropy

    def bound(self, prediction: Prediction, batch: SeriesBatch) -> Tensor:
        """The negative bound, ()."""
        targets = batch.targets
        density = -(prediction.values - targets.values).square() / (2 * NOISE**2) - math.log(
            NOISE * math.sqrt(2 * math.pi)
        )
        of_rows = (density * targets.mask).sum(2)  # (K, R)
        likelihood = of_rows.new_zeros(len(of_rows), targets.size).index_add_(1, targets.series, of_rows) / _observed(
            batch
        )
        weighted = torch.logsumexp(likelihood, 0).mean() - math.log(len(likelihood))
        return batch.divergence_weight * prediction.divergence - weighted


def _observed(batch: SeriesBatch) -> Tensor:
    """How many target entries each series has, at least 1: (N,)."""
    targets = batch.targets
    return targets.mask.new_zeros(targets.size).index_add_(0, targets.series, targets.mask.sum(1)).clamp(min=1)
