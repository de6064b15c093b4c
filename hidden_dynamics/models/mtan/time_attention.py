"""Attention whose queries and keys are embeddings of times, and whose values are what was observed (mTAN)."""

import math

import torch
from torch import Tensor, nn

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
            each(self.embedding(times)).unflatten(-1, (self.heads, -1)).transpose(-2, -3)
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
        found = (weights.flatten(1, 2) @ values).unflatten(2, weights.shape[1:3])  # (K, N, H, Q, features)
        return self.out(found.transpose(2, 3).flatten(3))


def interpolated(scores: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Of each feature, the values weighted with a softmax over its own observations, 0 without any: (N, H, Q, D).

    Weights of all features are exponentials of the same scores, so both the sums and what they are divided by are a
    product of matrices, (Q, S) by (S, D), and no (Q, S, D) is ever held. Where scores lie so far apart that those of a
    feature might vanish beside the largest of all, one series after another is done feature by feature.

    Args:
        scores: (N, H, Q, S).
        values, mask: (N, S, D).
    """
    seen = (mask.sum(2) > 0)[:, None, None]  # (N, 1, 1, S)
    largest = scores.detach().masked_fill(~seen, -math.inf).amax(3, keepdim=True)
    smallest = scores.detach().masked_fill(~seen, math.inf).amin(3, keepdim=True)
    if bool((largest - smallest > SPREAD).any()):
        return torch.stack([_one_by_one(*each) for each in zip(scores, values, mask, strict=True)])
    shift = torch.where(torch.isfinite(largest), largest, 0)
    weights = torch.exp((scores - shift).masked_fill(~seen, -math.inf))
    sums, total = weights @ (values * mask).unsqueeze(1), weights @ mask.unsqueeze(1)
    return sums / torch.where(total > 0, total, 1)


def _one_by_one(scores: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """`interpolated` of one series: (H, Q, D)."""
    seen = mask > 0
    each = scores.unsqueeze(3).masked_fill(~seen, -math.inf)
    weights = torch.softmax(torch.where(seen.any(0), each, 0), 2)
    return (weights * (values * mask)).sum(2)
