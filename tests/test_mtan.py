"""mTAND-Full: held to its paper's equations, one series, one query and one feature after another."""

import math

import numpy as np
import pytest
import torch
from cases import assert_all_close, assert_close, noise, randomised
from series_cases import drawn_rows, gradients_of, whole

from hidden_dynamics.models.latent_family import mtan
from hidden_dynamics.models.latent_family.family import SeriesBatch
from hidden_dynamics.models.latent_family.mtan import MTAN, interpolated

D, L, SERIES = 3, 2, 4
SIZES = {"recognition_size": 5, "generation_size": 3, "reference_points": 4, "embedding": 6}


class Task:
    def __init__(self, labels="series", features=D, classes=1):
        self.features, self.labels, self.classes = features, labels, classes


def batch(seed=0, labels="series"):
    """The last series has no rows; features that were never observed, and rows without features."""
    rng = np.random.default_rng(seed)
    given = whole(drawn_rows(seed, latest=20, density=0.4, lengths=[*rng.integers(1, 7, SERIES - 1), 0]))
    of = {
        "series": lambda: torch.from_numpy(rng.integers(0, 2, given.size)).double(),
        "rows": lambda: torch.from_numpy(rng.integers(-1, 4, len(given.series))),
        None: lambda: None,
    }
    return SeriesBatch(given, given, of[labels](), 0.7)


def made(labels="series", heads=2, **options):
    network = MTAN(Task(labels, classes={"series": 1, "rows": 4, None: 0}[labels]), L, heads=heads, **SIZES | options)
    return randomised(network.double())


def rows_of(observations):
    """(row, time, values, mask) of each series, in order."""
    found = [[] for _ in range(observations.size)]
    times = observations.times[observations.rows_of_times()]
    for row, series in enumerate(observations.series):
        found[series].append((row, times[row], observations.values[row], observations.mask[row]))
    return found


def plain_embedding(attention, t):
    phi = attention.embedding.affine.weight[:, 0] * t + attention.embedding.affine.bias
    return torch.stack([phi[0], *torch.sin(phi[1:])])


def plain_weights(attention, t, times):
    """kappa of each head, (H, times), by Equation 4."""
    q = (attention.query.weight @ plain_embedding(attention, t) + attention.query.bias).chunk(attention.heads)
    keys = [attention.key.weight @ plain_embedding(attention, s) + attention.key.bias for s in times]
    scores = [[q[h] @ key.chunk(attention.heads)[h] / math.sqrt(len(q[h])) for key in keys] for h in range(len(q))]
    return torch.stack([torch.softmax(torch.stack(each), 0) for each in scores])


def plain_observed(attention, t, rows):
    """Interpolated values and masks of each head, mixed."""
    found = []
    for h in range(attention.heads):
        interpolations, known = [], []
        for d in range(D):
            own = [(s, x[d]) for _, s, x, m in rows if m[d]]
            known.append(torch.tensor(float(bool(own)), dtype=torch.float64))
            weights = plain_weights(attention, t, [s for s, _ in own])[h] if own else []
            interpolations.append(
                sum((w * x for w, (_, x) in zip(weights, own, strict=True)), torch.zeros(()).double())
            )
        found += interpolations + known
    return attention.out.weight @ torch.stack(found) + attention.out.bias


def plain(network, given, noises):
    """(predictions, logits, mean, logvar) of noises (K, N, P, L)."""
    at_points = [
        torch.stack([plain_observed(network.to_points, t, rows) for t in network.points]) for rows in rows_of(given)
    ]
    mean, logvar = network.posterior(network.encoder(torch.stack(at_points))[0]).chunk(2, 2)
    values = torch.zeros(len(noises), *given.values.shape, dtype=torch.float64)
    of_rows = torch.zeros(len(noises), len(given.series), 4, dtype=torch.float64)
    of_series = torch.zeros(len(noises), given.size, dtype=torch.float64)
    for k, each in enumerate(noises):
        z = mean + torch.sqrt(torch.exp(logvar)) * each
        for n, rows in enumerate(rows_of(given)):
            states, _ = network.decoder(z[n])
            if network.labels == "series":
                of_series[k, n] = network.classifier(network.reader(z[n])[0][-1])[0]
            for row, t, *_ in rows:
                weights = plain_weights(network.to_rows, t, network.points)
                seen = network.to_rows.out(torch.cat([sum(w[:, None] * states) for w in weights]))
                values[k, row] = network.readout(seen)
                if network.labels == "rows":
                    of_rows[k, row] = network.classifier(seen)
    return values, {"series": of_series, "rows": of_rows, None: None}[network.labels], mean, logvar


def plain_loss(network, given_batch, values, logits, mean, logvar):
    """Equations 12 and 15, series by series."""
    labels, bound = given_batch.labels, []
    for n, rows in enumerate(rows_of(given_batch.targets)):
        count = max(1, sum(m.sum() for *_, m in rows))
        likelihoods = []
        for k in range(len(values)):
            density = torch.zeros(()).double()
            for row, _, x, m in rows:
                normal = torch.distributions.Normal(values[k, row], 0.01)
                density = density + (normal.log_prob(x) * m).sum()
            likelihoods.append(density / count)
        q = torch.distributions.Normal(mean[n], torch.exp(logvar[n] / 2))
        kl = torch.distributions.kl_divergence(q, torch.distributions.Normal(0, 1)).sum() / count
        weighted = torch.stack(likelihoods) - given_batch.divergence_weight * kl
        bound.append(torch.logsumexp(weighted, 0) - math.log(len(values)))
    if labels is None:
        return -torch.stack(bound).mean()
    if network.labels == "rows":
        each = [-torch.log_softmax(of[row], 0)[y] for of in logits for row, y in enumerate(labels) if y >= 0]
        return torch.stack(each).mean()
    died, lived = torch.nn.functional.logsigmoid(logits), torch.nn.functional.logsigmoid(-logits)
    entropy = -(labels * died + (1 - labels) * lived).mean()
    return -torch.stack(bound).mean() + network.label_weight * entropy


@pytest.mark.parametrize(("heads", "samples"), [(1, 1), (2, 3)])
@pytest.mark.parametrize("labels", ["series", "rows", None])
def test_it_is_the_papers_equations_one_after_another(labels, heads, samples):
    network, given = made(labels, heads, samples=samples), batch(labels=labels)
    torch.manual_seed(3)
    prediction = network(given)
    torch.manual_seed(3)
    values, logits, *q = plain(network, given.context, torch.randn(samples, SERIES, 4, L, dtype=torch.float64))
    assert_close(prediction.values, values)
    if labels is not None:
        assert_close(prediction.labels, logits)
    loss, other = network.loss(prediction, given), plain_loss(network, given, values, logits, *q)
    assert_close(loss, other)
    assert_all_close(gradients_of(loss, network), gradients_of(other, network), 1e-10)


def test_scores_far_apart_are_done_feature_by_feature(monkeypatch):
    """Beside a score of 300, one of -300 vanishes; where it is the only one of its feature, its weight is 1."""
    scores = torch.tensor([[[[300.0, -300.0]]]])
    values, mask = torch.tensor([[[2.0, 0.0], [0.0, 3.0]]]), torch.eye(2)[None]
    assert interpolated(scores, values, mask).tolist() == [[[[2.0, 3.0]]]]
    scores, values = 0.1 * noise(2, 2, 4, 5), noise(2, 5, D, seed=1)
    mask = (noise(2, 5, D, seed=2) > 0.3).double()
    mask[1, :, 0] = 0
    together = interpolated(scores, values, mask)
    far = torch.cat([scores, 300 * scores[:1]])
    beside = interpolated(far, *(torch.cat([each, each[:1]]) for each in (values, mask)))
    assert torch.equal(beside[:2], together)
    monkeypatch.setattr(mtan, "SPREAD", 0.0)
    assert_close(together, interpolated(scores, values, mask))


def test_it_has_as_many_parameters_as_the_released_networks():
    def count(network):
        return sum(parameter.numel() for parameter in network.parameters())

    encoder, decoder = 871_722, 72_121
    assert count(MTAN(Task(None, 41))) == encoder + decoder
    # Its classifier has 381,506, 301 of them of a second logit.
    assert count(MTAN(Task("series", 41))) == encoder + decoder + 381_506 - 301
