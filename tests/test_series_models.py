"""The baselines of irregular series: held to their papers' equations, one series and one row after another."""

import importlib
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cases import assert_close, randomised
from hypothesis import given
from hypothesis import strategies as st
from series_cases import drawn_rows, whole
from torch import nn

from hidden_dynamics.configuration import read_yaml
from hidden_dynamics.models.observations import Rows, batch_of
from hidden_dynamics.models.series_major import padded
from hidden_dynamics.models.sporadic.sequential_vae import SequentialVAE
from hidden_dynamics.system.files import ROOT

D, N, SERIES = 3, 4, 5
TASK = SimpleNamespace(features=D, until=3.0)
CONFIGURED = read_yaml(ROOT / "config/models.yaml")
EXACT = {"solver": {"rtol": 1e-7, "atol": 1e-7, "adjoint": False}}
ROW_BY_ROW = ["gru_simple", "gru_d", "t_lstm"]
every_one = pytest.mark.parametrize("name", [*ROW_BY_ROW, "neural_ode_vae", "neural_ode_vae_mask", "sequential_vae"])
row_by_row = pytest.mark.parametrize("name", ROW_BY_ROW)
seeds = given(seed=st.integers(0, 10**6))


def made(name, **options):
    """As configured, the parameters drawn anew and the equations solved to many digits; nothing is dropped in eval."""
    about = CONFIGURED[name]
    module, _, cls = about["network"].rpartition(".")
    exact = EXACT if "solver" in about.get("hyperparameters", {}) else {}
    options = about.get("hyperparameters", {}) | exact | options
    return randomised(getattr(importlib.import_module(module), cls)(TASK, N, **options).double()).eval()


def drawn(seed=0, most=5):
    """Series of up to five rows, at tenths, some alike in several series; rows without any feature too."""
    return drawn_rows(seed, SERIES, most, latest=50, unit=10)


def times_of(batch):
    return batch.times[batch.rows_of_times()]


def row_lists(batch):
    """(time, values, mask) of each series' rows, in order."""
    found = [[] for _ in range(batch.size)]
    for series, time, x, m in zip(batch.series, times_of(batch), batch.values, batch.mask, strict=True):
        found[series].append((time.double(), x, m))
    return found


def plain_readout(network, x):
    layer, out = network.readout.hidden, network.readout.out
    return out.weight @ torch.relu(layer.weight @ x + layer.bias) + out.bias


def plain_gru(gru, x, h):
    of_x, of_h = gru.weight_ih_l0 @ x + gru.bias_ih_l0, gru.weight_hh_l0 @ h + gru.bias_hh_l0
    r, z = torch.sigmoid(of_x[:N] + of_h[:N]), torch.sigmoid(of_x[N : 2 * N] + of_h[N : 2 * N])
    return (1 - z) * torch.tanh(of_x[2 * N :] + r * of_h[2 * N :]) + z * h


class PlainGRUSimple:
    def __init__(self, network):
        self.network, self.h = network, torch.zeros(N).double()
        self.seen, self.time = torch.zeros(D).double(), 0.0

    def told(self, time, x, m):
        self.h = plain_gru(self.network.gru, torch.cat([x * m, m, time - self.seen]), self.h)
        self.seen, self.time = torch.where(m > 0, time, self.seen), time

    def at(self, time):
        return plain_readout(self.network, torch.cat([self.h, (time - self.time).reshape(1)]))


class PlainGRUD:
    def __init__(self, network):
        self.network, self.h = network, torch.zeros(N).double()
        self.seen, self.last = torch.zeros(D).double(), torch.zeros(D).double()

    def decayed(self, time):
        map_ = self.network.hidden_decay
        return torch.exp(-torch.clamp(map_.weight @ (time - self.seen) + map_.bias, min=0)) * self.h

    def told(self, time, x, m):
        weight, bias = self.network.input_decay
        gamma = torch.exp(-torch.clamp(weight * (time - self.seen) + bias, min=0))
        given_ = torch.cat([m * x + (1 - m) * (gamma * self.last + (1 - gamma) * 0), m])
        h, inputs = self.decayed(time), self.network.inputs
        of_r, of_z, of_u = (inputs.weight @ given_ + inputs.bias).split(N)
        u_r, u_z = self.network.gates.weight.split(N)
        r, z = torch.sigmoid(of_r + u_r @ h), torch.sigmoid(of_z + u_z @ h)
        self.h = (1 - z) * h + z * torch.tanh(of_u + self.network.candidate.weight @ (r * h))
        self.seen, self.last = torch.where(m > 0, time, self.seen), torch.where(m > 0, x, self.last)

    def at(self, time):
        return plain_readout(self.network, self.decayed(time))


class PlainTLSTM:
    def __init__(self, network):
        self.network, self.time = network, 0.0
        self.c, self.h, self.o = (torch.zeros(N).double() for _ in range(3))

    def adjusted(self, time):
        short = torch.tanh(self.network.short.weight @ self.c + self.network.short.bias)
        return self.c - short + short / math.log(math.e + float(time) - self.time)

    def told(self, time, x, m):
        of_x = self.network.inputs.weight @ torch.cat([x * m, m]) + self.network.inputs.bias
        i, f, o, u = (of_x + self.network.recurrent.weight @ self.h).split(N)
        self.c = torch.sigmoid(f) * self.adjusted(time) + torch.sigmoid(i) * torch.tanh(u)
        self.o, self.time = torch.sigmoid(o), float(time)
        self.h = self.o * torch.tanh(self.c)

    def at(self, time):
        return plain_readout(self.network, self.o * torch.tanh(self.adjusted(time)))


PLAIN = {"gru_simple": PlainGRUSimple, "gru_d": PlainGRUD, "t_lstm": PlainTLSTM}


def plainly(name, network, rows, time):
    """What is predicted at a time after some rows of a series."""
    plain = PLAIN[name](network)
    for row in rows:
        plain.told(*row)
    return plain.at(time)


@row_by_row
@seeds
def test_a_row_is_predicted_by_the_papers_equations_from_those_before_it(name, seed):
    network, batch = made(name), whole(drawn(seed, most=4))
    rows, found = row_lists(batch), network(batch)
    expected, done = [], [0] * SERIES
    for series, time in zip(batch.series, times_of(batch), strict=True):
        expected.append(plainly(name, network, rows[series][: done[series]], time))
        done[series] += 1
    if expected:
        assert_close(found, torch.stack(expected), 1e-10)
    wanted = torch.arange(SERIES)
    after = network.predict(batch, wanted, np.full(SERIES, 6.5, np.float32))
    assert_close(after, torch.stack([plainly(name, network, each, torch.tensor(6.5).double()) for each in rows]), 1e-10)


@row_by_row
def test_at_the_time_of_a_row_what_is_predicted_is_what_was_predicted_of_it(name):
    network, batch = made(name), whole(drawn(3))
    asked = network.predict(batch, batch.series, times_of(batch).numpy().astype(np.float32))
    assert_close(asked, network(batch))


def plain_backward(encoder, inputs):
    """The state after each of some rows and those that follow it, in the order of the rows."""
    h, found = torch.zeros(N).double(), []
    for x in reversed(inputs):
        h = plain_gru(encoder.gru, x, h)
        found.append(h)
    return found[::-1]


def encoder_inputs(rows, with_mask):
    before, found = 0.0, []
    for time, x, m in rows:
        found.append(torch.cat([x * m, *([m] if with_mask else []), (time - before).reshape(1)]))
        before = time
    return found


def plain_flow(flow, z, until, step=0.05):
    """By the Runge-Kutta method, in the time of the data."""
    count = max(1, round(float(until) / step))
    h = float(until) / TASK.until / count
    for _ in range(count):
        k1 = flow(None, z)
        k2 = flow(None, z + h / 2 * k1)
        k3 = flow(None, z + h / 2 * k2)
        z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + flow(None, z + h * k3))
    return z


@pytest.mark.parametrize("name", ["neural_ode_vae", "neural_ode_vae_mask"])
def test_neural_ode_vae_infers_the_start_from_the_given_rows_and_reads_all_from_the_flow(name):
    network, batch = made(name, dropout=0.0).train(), whole(drawn(5))
    torch.manual_seed(2)
    found = network(batch)
    torch.manual_seed(2)
    samples, kl, z = torch.randn(SERIES, N, dtype=torch.float64), 0.0, []
    for rows, sample in zip(row_lists(batch), samples, strict=True):
        states = plain_backward(network.encoder, encoder_inputs([r for r in rows if r[0] <= 3.0], "mask" in name))
        mean, logvar = network.posterior(states[0] if states else torch.zeros(N).double()).split(N)
        q = torch.distributions.Normal(mean, (logvar / 2).exp())
        kl += torch.distributions.kl_divergence(q, torch.distributions.Normal(0.0, 1.0)).sum()
        z.append(mean + (logvar / 2).exp() * sample)
    expected = [
        plain_readout(network, plain_flow(network.integral.dynamics, z[series], time))
        for series, time in zip(batch.series, times_of(batch), strict=True)
    ]
    assert_close(found.p, torch.stack(expected), 1e-6)
    assert_close(found.divergence, kl)
    assert network.function_evaluations.forward > 0


def test_the_encoder_is_given_the_rows_that_a_batch_until_then_has():
    """A row's time is a float32, and may be above the until that it equals."""
    network, values = made("neural_ode_vae"), np.arange(3 * D).reshape(3, D) / 8.0
    network.until = 2.4
    rows = Rows(np.array([1, 2.4, 2.5], np.float32), values, values >= 0, np.array([3]))
    batches = [batch_of(rows, np.zeros(1, dtype=np.int64), until) for until in (None, 2.4, 2.0)]
    assert batches[1].times[-1] > 2.4
    entire, given_, fewer = map(network.encoded, batches)
    assert torch.equal(entire.mean, given_.mean) and not torch.equal(entire.mean, fewer.mean)


def test_the_deep_kalman_filters_bound_is_that_of_its_chain():
    network, batch = made("sequential_vae", dropout=0.0).train(), whole(drawn(5))
    torch.manual_seed(2)
    found = network(batch)
    torch.manual_seed(2)
    rows = row_lists(batch)
    samples = torch.randn(SERIES, max(map(len, rows)), N, dtype=torch.float64)
    kl, p = 0.0, [[] for _ in rows]
    softplus, move = nn.functional.softplus, network.transition
    for k, own in enumerate(rows):
        z, before = network.start, 0.0
        states = plain_backward(network.later, encoder_inputs(own, True))
        for (time, *_), r, sample in zip(own, states, samples[k], strict=False):
            given_ = torch.cat([z, (time - before).reshape(1)])
            gate, proposed = torch.sigmoid(move.gate(given_)), move.proposed(given_)
            mean = (1 - gate) * move.linear(z) + gate * proposed
            prior = torch.distributions.Normal(mean, softplus(move.spread(torch.relu(proposed))).sqrt())
            mean, spread = network.posterior((torch.tanh(network.combiner(z)) + r) / 2).split(N)
            q = torch.distributions.Normal(mean, softplus(spread).sqrt())
            kl += torch.distributions.kl_divergence(q, prior).sum()
            z, before = q.mean + q.stddev * sample, time
            p[k].append(plain_readout(network, z))
    assert_close(found.p, torch.stack([p[series].pop(0) for series in batch.series]))
    assert_close(found.divergence, kl)
    likelihood = network.loss(found._replace(divergence=0), batch)
    assert_close(network.loss(found, batch), likelihood + kl / SERIES)


def test_the_deep_kalman_filter_forecasts_by_the_transition_from_the_last_mean():
    network, batch = made("sequential_vae"), whole(drawn(5))
    z, _ = network.chain(padded(batch), draw=False)
    last = z[torch.arange(SERIES), padded(batch).lengths]
    gap = 6.5 - torch.stack([each[-1][0] if each else torch.zeros(()).double() for each in row_lists(batch)])
    expected = torch.stack([plain_readout(network, each) for each in network.transition(last, gap).mean])
    assert_close(network.predict(batch, torch.arange(SERIES), np.full(SERIES, 6.5, np.float32)), expected)


def test_a_gated_transition_starts_with_the_state_as_it_is():
    linear = SequentialVAE(TASK, N).transition.linear
    assert torch.equal(linear.weight, torch.eye(N)) and not linear.bias.any()


@every_one
def test_an_answer_is_the_same_in_training(name):
    network, batch = made(name), whole(drawn(2), until=3.0)
    asked = batch, torch.arange(SERIES), np.full(SERIES, 4.0, np.float32)
    assert torch.equal(network.predict(*asked), network.train().predict(*asked))


@every_one
def test_an_answer_has_the_precision_of_the_observations(name):
    network, batch = made(name).float(), whole(drawn(2)).to(torch.float32)
    assert network.predict(batch, batch.series, times_of(batch).numpy()).dtype == torch.float32


def test_times_that_are_one_to_the_solver_share_a_state():
    """The neighbour of a time, in single precision, may be the same part of the whole."""
    network, batch = made("neural_ode_vae", solver={"method": "rk4", "adjoint": False}).float(), whole(drawn(2))
    close = np.array([3.3, np.nextafter(np.float32(3.3), np.float32(4))], np.float32)
    one, other = network.predict(batch.to(torch.float32), torch.zeros(2).long(), close)
    assert torch.equal(one, other)
