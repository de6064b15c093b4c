"""The Latent-ODE family as the released loops read, in plain form and with a network's parameters: what they have in
common, ODE-RNN, and Latent-ODE with its relatives.

A batch is dense over its union times, and one union time follows another.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torchdiffeq import odeint

NOISE = 0.01  # of an observation


@dataclass
class Dense:
    """A batch: the union's times, (U,); values and mask, (N, U, D), both 0 where nothing was observed."""

    times: Tensor
    values: Tensor
    mask: Tensor


def dense_of(observations):
    """Observations, spread over all series and union times."""
    shape = (observations.size, len(observations.times), observations.values.shape[1])
    values, mask = observations.values.new_zeros(shape), observations.values.new_zeros(shape)
    values[observations.series, observations.rows_of_times()] = observations.values
    mask[observations.series, observations.rows_of_times()] = observations.mask
    return Dense(observations.times.to(values), values, mask)


def rows_of(answers, observations):
    """Of dense answers (K, N, U, ...), those of the rows: (K, R, ...)."""
    return answers[:, observations.series, observations.rows_of_times()]


def likelihood(predicted, targets):
    """(K,): the log-density averaged over a series' observations of a feature, then features, then series."""
    density = torch.distributions.Normal(predicted, NOISE).log_prob(targets.values) * targets.mask
    return (density.sum(2) / targets.mask.sum(1).clamp(min=1)).mean((1, 2))


def divergence(mean, deviation):
    """KL(N(mean, std^2) | N(0, 1)), averaged over series and dimensions."""
    each = -torch.log(deviation) + 0.5 * (deviation**2 + mean**2) - 0.5
    return each.mean()


def bound(likelihoods, divergence, weight):
    return -torch.log(torch.exp(likelihoods - weight * divergence - likelihoods.max().detach()).sum()) - (
        likelihoods.max().detach()
    )


def series_loss(logits, labels):
    """Binary cross-entropy of (K, N), averaged over both and divided by K."""
    p = torch.sigmoid(logits)
    each = -(labels * torch.log(p) + (1 - labels) * torch.log(1 - p))
    return each.mean() / len(logits)


def rows_loss(logits, classes):
    """Cross-entropy of (K, N, U, classes), averaged over samples and those points of (N, U) whose class is not -1."""
    known = classes >= 0
    return functional.cross_entropy(logits[:, known].flatten(0, 1), classes[known].repeat(len(logits)))


def unit(unit, y, s, x):
    """The GRU unit of all series; those without an observation keep what they had."""
    both = torch.cat([y, s, x], 1)
    u, r = torch.sigmoid(unit.update(both)), torch.sigmoid(unit.reset(both))
    n = unit.candidate(torch.cat([y * r, s * r, x], 1))
    size, features = y.shape[1], x.shape[1] // 2
    new_y, new_s = (1 - u) * n[:, :size] + u * y, (1 - u) * torch.abs(n[:, size:]) + u * s
    seen = (x[:, features:].sum(1, keepdim=True) > 0).to(y)
    return seen * new_y + (1 - seen) * y, torch.abs(seen * new_s + (1 - seen) * s)


def rollout(core, dense, way):
    """The means after each visit, (U, N, S) by union time, and the last mean and deviation. The way is "backwards";
    "released", forwards, but by the steps of the way backwards; "forwards", by the true ones."""
    times, size = dense.times.tolist(), len(dense.values)
    y = s = dense.values.new_zeros(size, core.size)
    least, after = (times[-1] - times[0]) / 50, {}
    if way == "forwards":
        start, end, sign = times[0] - 0.01, times[0], -1.0
    else:
        start, end, sign = times[-1] + 0.01, times[-1], 1.0
    visits = list(range(len(times)))
    for i in reversed(visits) if way == "backwards" else visits:
        gap = sign * (start - end)
        if len(times) > 1 or way == "released":
            points = [start, end]
            if gap >= least > 0:
                points = torch.linspace(start, end, max(2, int(gap / least)), dtype=torch.float64).tolist()
            for here, there in pairwise(points):
                y = y + core.flow(y) * (there - here)
        y, s = unit(core.unit, y, s, torch.cat([dense.values[:, i], dense.mask[:, i]], 1))
        after[i] = y
        start, end = times[i], times[i + 1 if way == "forwards" and i + 1 < len(times) else i - 1]
    return torch.stack([after[i] for i in visits]), y, s


def shifted(predicted, values):
    """What is predicted at one union time is compared at the next; at the first stands what was observed there."""
    return torch.cat([values[None, :, :1], predicted[:, :, :-1]], 2)


def ode_rnn(network, dense, way):
    """Predictions (1, N, U, D), the state of each union time (1, N, U, S), and the last one (N, S)."""
    means, last, _ = rollout(network.core, dense, way)
    states = means.permute(1, 0, 2)[None]
    return shifted(network.decoder(states), dense.values), states, last


def ode_encoder(encoder, dense):
    """What z is made of, (N, 2 S), of an ODE-RNN backwards. Where there is but one time, nothing flows."""
    _, y, s = rollout(encoder.core, dense, "backwards")
    return torch.cat([y, s], 1)


def rnn_encoder(encoder, dense):
    """The same of a GRU that sees [time to the one it sees next, values, mask] of every series at every union time."""
    gaps = torch.cat([(dense.times[1:] - dense.times[:-1]).flip(0), dense.times.new_zeros(1)])
    seen = torch.cat([dense.values, dense.mask], 2).permute(1, 0, 2).flip(0)
    states, _ = encoder.gru(torch.cat([gaps[:, None, None].expand(*seen.shape[:2], 1), seen], 2))
    return states[-1]


def correlations(z):
    """Of each sample's dimensions over the series, as numpy gives it: (K, L, L), of (K, N, L)."""
    return torch.stack([torch.from_numpy(np.corrcoef(each.detach().numpy(), rowvar=False)).to(z) for each in z])


def fully_connected(q, z):
    """(K, L, L) of (K, N, L): two maps with ReLU between them, averaged over the series."""
    first, _, second = q
    hidden = torch.relu(z @ first.weight.t() + first.bias)
    return (hidden @ second.weight.t() + second.bias).mean(1).reshape(len(z), z.shape[2], z.shape[2])


def evolving(f, g, mixing, rate):
    """The rate of [z; a], (K, N + L, L), the attention of each sample below its series. f and g see z' = z w^T, where w
    is the "softmax" of a's rows, or a itself, "raw"; a's rate is g(z')^T z' / N, "moments", or "random", a new linear
    map of all series' g(z') in every evaluation."""

    def of(t, state):
        size = state.shape[2]
        z, a = state[:, :-size], state[:, -size:]
        weights = torch.softmax(a, 2) if mixing == "softmax" else a
        attended = torch.einsum("knj,kij->kni", z, weights)
        of_z, of_a = f(attended), g(attended)
        if rate == "random":
            drawn = torch.nn.Linear(of_a.shape[1] * size, size * size, dtype=state.dtype)
            rates = drawn(of_a.reshape(len(of_a), -1)).reshape(-1, size, size)
        else:
            rates = torch.einsum("kni,knj->kij", of_a, attended) / of_a.shape[1]
        return torch.cat([of_z, rates], 1)

    return of


def fixed(f):
    """dz/dt = f(z softmax(corr(z))^T), the attention that of the moment."""
    return lambda t, z: f(torch.einsum("knj,kij->kni", z, torch.softmax(correlations(z), 2)))


def with_process(f, intensity, features):
    """The rate of [z, l, integral], (K, N, 2 L + D): log-rates are of l; the integral, of rates divided by 100."""

    def of(t, state):
        latent = state[..., :-features]
        logs = intensity(latent[..., latent.shape[-1] // 2 :])
        return torch.cat([f(latent), torch.exp(logs - math.log(100))], -1)

    return of


@dataclass
class Walk:
    """What is predicted at the union times of the targets, (K, N, U, D), the states there, (K, N, U, ...), that at the
    time 1, (K, N, ...), and the samples z, (K, N, L), with their mean and deviation, (N, L)."""

    predicted: Tensor
    states: Tensor
    end: Tensor
    z: Tensor
    mean: Tensor
    deviation: Tensor


def latent_ode(network, context, times, noise, rate, below=None, start="zero", beside=0):
    """A Latent-ODE's answer at `times`, (U,): z, drawn from the noise (K, N, L), is the state at the time 0, or at the
    first of the times, with `beside` zeros beside it, and what `below` makes of it, (K, M, L), below it."""
    encode = ode_encoder if hasattr(network.encoder, "core") else rnn_encoder
    mean, deviation = network.encoder.z0(encode(network.encoder, context)).chunk(2, 1)
    deviation = torch.abs(deviation)
    z = mean + deviation * noise
    state = torch.cat([z, z.new_zeros(*z.shape[:2], beside)], 2)
    if below is not None:
        state = torch.cat([state, below(state)], 1)
    grid = times.tolist()
    grid = [*([0.0] if start == "zero" and grid[0] > 0 else []), *grid, *([1.0] if grid[-1] < 1 else [])]
    settings = {"rtol": network.solver.rtol, "atol": network.solver.atol, "method": "dopri5"}
    if len(grid) > 1:
        solution = odeint(rate, state, torch.tensor(grid, dtype=torch.float64).to(times), **settings)
    else:
        solution = state[None]
    solution = solution.permute(1, 2, 0, 3)[:, : len(mean)]
    first = grid.index(times[0].item())
    states = solution[:, :, first : first + len(times)]
    predicted = states[..., : network.decoder.in_features] @ network.decoder.weight.t() + network.decoder.bias
    return Walk(predicted, states, solution[:, :, -1], z, mean, deviation)


def poisson(log_rates, integrals, targets, unobserved):
    """The log-likelihood of the times at which features were observed, averaged over features and series: (K,), of
    log-rates (K, N, U, D) and the rates' integrals (K, N, D); of a feature that a series has not, "zero" is 0."""
    each = (log_rates * targets.mask).sum(2) - integrals
    return (each * targets.mask.any(1) if unobserved == "zero" else each).mean((1, 2))
