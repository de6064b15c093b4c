"""GRU-ODE-Bayes and ACE-GRU-ODE-Bayes as the released loops read, in plain form and with a network's parameters.

One union time after another, p of the whole batch wherever it is evaluated, losses added where they arise.
"""

from typing import NamedTuple

import numpy as np
import torch
from plain_latent_ode import fully_connected
from torch.distributions import Normal, kl_divergence


class Walk(NamedTuple):
    """The batch's loss on the way, and events (time, p of the batch) of start, steps and jumps."""

    loss: torch.Tensor
    events: list


def plain_rate(dynamics, x):
    z = torch.sigmoid(x @ dynamics.update.t())
    r = torch.sigmoid(x @ dynamics.reset.t())
    return (1 - z) * (torch.tanh((r * x) @ dynamics.candidate.t()) - x)


def plain_correlation(h, detached):
    """As numpy's, gradients included; 0 beside a constant dimension."""
    if detached:
        h = h.detach()
    centred = h - h.mean(0)
    constant = (h.max(0).values - h.min(0).values).detach() < 1e-14
    deviation = torch.where(constant, 1, torch.where(constant, 1, (centred**2).sum(0)).sqrt())
    unit = torch.where(constant, 0, centred / deviation)
    eye = torch.eye(h.shape[1], dtype=h.dtype)
    return unit.t() @ unit * (1 - eye) + eye


def plain_p(network, h, mask):
    hidden = torch.relu(h @ network.p_in.weight.t() + network.p_in.bias)
    return (hidden if mask is None else hidden * mask) @ network.p_out.weight.t() + network.p_out.bias


def plain_jump(jump, h, p, values, mask):
    mean, logvar = p[:, : values.shape[1]], p[:, values.shape[1] :]
    error = (values - mean) / torch.exp(0.5 * logvar)
    prepared = []
    for feature in range(values.shape[1]):
        seen = torch.stack([each[:, feature] for each in (values, mean, logvar, error)], 1)
        entries = torch.relu(seen @ jump.weight[feature] + jump.bias[feature])
        prepared.append(entries * mask[:, feature : feature + 1])
    return jump.gru(torch.cat(prepared, 1), h)


def normal_of(p):
    mean, logvar = p.chunk(2, 1)
    return Normal(mean, torch.exp(0.5 * logvar))


def gaussian_loss(p, values, mask):
    return -(normal_of(p).log_prob(values) * mask).sum()


def divergence_loss(p, values, mask):
    return (kl_divergence(normal_of(p), Normal(values, 0.01)) * mask).sum()


class Attention:
    """The attention on the way; `at_step` gives h after a step."""

    def __init__(self, network, h):
        self.network, self.kind = network, getattr(network, "attention", None)
        if self.kind == "fc":
            self.a = fully_connected(network.q, h[None])[0]
        elif self.kind is not None:
            self.renew(h)
        self.start = h  # of the released step

    def renew(self, h):
        self.a = plain_correlation(h, self.network.detached)

    def after_jump(self, h):
        self.start = h
        if self.kind == "released" or getattr(self.network, "at_jump", None) == "renewed":
            self.renew(h)

    def step(self, h, delta, last):
        """The released code takes each step before an observation from the state after the last one."""
        if self.kind is None:
            return h + delta * plain_rate(self.network.dynamics, h)
        if self.kind == "released" and not last:
            h = self.start
        if self.kind == "fixed" or (self.kind == "released" and last):
            self.renew(h)
        attended = h @ torch.softmax(self.a, 1).t()
        if self.kind in ("evolving", "fc"):
            rate = plain_rate(self.network.g, attended)
            self.a = self.a + delta * torch.einsum("bi,bj->ij", rate, attended) / len(h)
        return h + delta * plain_rate(self.network.dynamics, attended)


def plain_walk(network, observations, masks=None):
    """The released loop. Masks of rows are spread over the batch where p is evaluated."""
    values, observed, delta = observations.values, observations.mask, network.delta
    covariates = values.new_zeros(observations.size, network.covariates_in.in_features)
    hidden = torch.relu(covariates @ network.covariates_in.weight.t() + network.covariates_in.bias)
    if masks is not None:
        hidden = hidden * masks.start
    h = torch.tanh(hidden @ network.covariates_out.weight.t() + network.covariates_out.bias)
    h = torch.cat([h, h.new_zeros(len(h), network.augmented)], 1)
    attention, now, first, second = Attention(network, h), 0.0, 0.0, 0.0
    events = [(0.0, plain_p(network, h, None))]
    for u, time in enumerate(observations.times.tolist()):
        while now < time - 0.001 * delta:
            if network.solver == "still":
                now += time - now
            else:
                h, now = attention.step(h, delta, last=False), now + delta
            events.append((now, plain_p(network, h, None)))
        rows = slice(int(observations.offsets[u]), int(observations.offsets[u + 1]))
        series, x, m = observations.series[rows], values[rows], observed[rows]
        p = plain_p(network, h[series], None if masks is None else masks.before[rows])
        first = first + gaussian_loss(p, x, m)
        jumped = h.clone()
        jumped[series] = plain_jump(network.jump, h[series], p, x, m)
        h = jumped
        attention.after_jump(h)
        p = plain_p(network, h[series], None if masks is None else masks.after[rows])
        second = second + divergence_loss(p, x, m)
        if getattr(network, "penalised", None) == "correlation":
            second = second + network.weight * torch.linalg.matrix_norm(plain_correlation(h, True))
        events.append((time, plain_p(network, h, None)))
    while now < network.end:
        h, now = (h, network.end) if network.solver == "still" else (attention.step(h, delta, last=True), now + delta)
        events.append((now, plain_p(network, h, None)))
    return Walk((first + network.mixing * second) / observations.size, events)


def plain_prediction(walk, delta, series, times):
    """p at the nearest of the path's rounded times, the first event at each."""
    decimals = len(str(delta).split(".")[1])
    at = np.around([time for time, _ in walk.events], decimals).astype(np.float32)
    distinct, first = np.unique(at, return_index=True)
    found = []
    for place, time in zip(series.tolist(), times, strict=True):
        event = first[np.abs(distinct - np.float32(time)).argmin()]
        found.append(walk.events[event][1][place])
    return torch.stack(found)
