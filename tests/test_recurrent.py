"""The LSTMs: against torch's, against the equations, the blocks of the fused backend, precision and memory."""

import pytest
import torch
from cases import LearntFilter, assert_all_close, assert_close, assert_same, make_core, noise, randomised, run
from torch import nn

from hidden_dynamics.models.momentum.filters import Adam
from hidden_dynamics.models.recurrent import adam_lstm, projection
from hidden_dynamics.models.recurrent.lstm import LSTM, SRLSTM, MomentumLSTM

D, N, BATCH, STEPS = 3, 5, 4, 37
BACKENDS = ["fused", "reference"]


class DoubledAdam(Adam):
    """A subclass that filters otherwise than Adam does."""

    def forward(self, g, state=None):
        y, state = super().forward(g, state)
        return 2 * y, state

    def step(self, g, state=None):
        y, state = super().step(g, state)
        return 2 * y, state


@pytest.mark.parametrize("name", ["Adam", "Adam, slow, eps 1e-16", "RMSProp"])
@pytest.mark.parametrize("block", [1, 7, STEPS - 1, STEPS])
def test_blocks_of_adam(name, block, monkeypatch):
    """Of one step, of a few, and of all; from a state that is not 0."""
    monkeypatch.setattr(adam_lstm, "BLOCK", block * 4 * N * BATCH)
    start, x = noise(9, BATCH, D, seed=5), noise(STEPS, BATCH, D, seed=7)
    models = [make_core(name, D, N, backend) for backend in BACKENDS]
    assert_same(*(run(model, x, model(start)[1]) for model in models))


@pytest.mark.parametrize(
    "filter", [LearntFilter(), DoubledAdam(0.6, 0.9, 0.1)], ids=lambda filter: type(filter).__name__
)
@pytest.mark.parametrize("elements", [projection.CPU_BLOCK, 3 * BATCH * 4 * N])
def test_a_filter_of_ones_own(filter, elements, monkeypatch):
    monkeypatch.setattr(projection, "CPU_BLOCK", elements)  # the second makes blocks of 3 steps
    start, x = noise(9, BATCH, D, seed=5), noise(STEPS, BATCH, D, seed=7)
    fused, reference = (randomised(LSTM(D, N, filter=filter, backend=backend).double()) for backend in BACKENDS)
    assert_same(*(run(model, x, model(start)[1]) for model in (fused, reference)))
    assert_same(run(fused, x, cut=11), run(reference, x))


@pytest.mark.parametrize("backend", BACKENDS)
def test_momentum_is_appendix_f(backend):
    """v = mu v + s (W x + b_ih); gates = v + U h + b_hh; i, f, o by sigmoid, g by tanh; c = f c + i g; h = o tanh c."""
    model, x = make_core("Momentum", D, N, backend), noise(STEPS, BATCH, D, seed=7)
    h = c = torch.zeros(BATCH, N, dtype=torch.float64)
    v = torch.zeros(BATCH, 4 * N, dtype=torch.float64)
    outputs = []
    for x_t in x:
        v = 0.6 * v + 0.9 * nn.functional.linear(x_t, model.weight_ih_l0, model.bias_ih_l0)
        i, f, g, o = (v + nn.functional.linear(h, model.weight_hh_l0, model.bias_hh_l0)).split(N, dim=1)
        c = c * torch.sigmoid(f) + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        outputs.append(h)
    actual, end = model(x)
    assert_all_close([actual, *end], [torch.stack(outputs), h.unsqueeze(0), c.unsqueeze(0)])


@pytest.mark.parametrize("restart", [None, 1, 2, 6])
def test_look_ahead_is_the_released_cell(restart):
    """The counter goes up before each step and back to 0 after every restart-th; gamma = (k - 1)/(k + 2)."""
    model = randomised(SRLSTM(D, N, s=0.7, restart=restart, cell="look_ahead").double())
    x, s = noise(STEPS, BATCH, D, seed=7), 0.7
    h = c = torch.zeros(BATCH, N, dtype=torch.float64)
    q, k, outputs = torch.zeros(BATCH, 4 * N, dtype=torch.float64), 0, []
    for x_t in x:
        k += 1
        gamma = (k - 1) / (k + 2)
        q_new = h @ model.weight_hh_l0.T + model.bias_hh_l0 - s * (x_t @ model.weight_ih_l0.T + model.bias_ih_l0)
        a, q = q_new + gamma * (q_new - q), q_new
        i, f, g, o = a.split(N, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        outputs.append(h)
        if restart is not None and k % restart == 0:
            k = 0
    expected = torch.stack(outputs)
    assert_close(model(x)[0], expected)
    first, state = model(x[:13])
    assert_close(torch.cat([first, model(x[13:], state)[0]]), expected)


def test_srlstm_makes_either_cell():
    assert SRLSTM(D, N, s=1.0, restart=2).filtered() == SRLSTM(D, N, s=1.0, restart=2, cell="filter").filtered()
    ahead = SRLSTM(D, N, s=1.0, restart=4, phase=1, cell="look_ahead", batch_first=True, forget_bias=-4.0)
    assert isinstance(ahead, SRLSTM) and ahead.filtered() != SRLSTM(D, N, s=1.0).filtered()
    assert (ahead.filter.restart, ahead.filter.phase, ahead.batch_first, ahead.forget_bias) == (4, 1, True, -4.0)
    assert SRLSTM(D, N, s=1.0, cell="look_ahead").backend == ahead.backend == "reference"
    for wrong in ({"cell": "other"}, {"cell": "look_ahead", "backend": "fused"}, {"forget_fill": "twice"}):
        with pytest.raises(ValueError, match=list(wrong)[-1]):
            SRLSTM(D, N, s=1.0, **wrong)
    with pytest.raises(TypeError, match="filter"):
        SRLSTM(D, N, s=1.0, filter=Adam(0.6, 0.9, 0.1))


@pytest.mark.parametrize("d", [1, 10])
@pytest.mark.parametrize("forget_fill", ["both", "once"])
def test_initialisation(d, forget_fill):
    n = 6
    model = MomentumLSTM(d, n, mu=0.6, s=0.6, forget_bias=-4.0, forget_fill=forget_fill)
    torch.testing.assert_close(model.weight_ih_l0.T @ model.weight_ih_l0, torch.eye(d), atol=1e-5, rtol=0)
    i, f, g, o = model.weight_hh_l0.split(n)
    assert torch.equal(i, torch.eye(n))
    assert not any(block.any() for block in (f, g, o))
    filled = torch.zeros(4 * n)
    filled[n : 2 * n] = -4.0
    assert torch.equal(model.bias_hh_l0, filled)
    assert torch.equal(model.bias_ih_l0, filled if forget_fill == "both" else torch.zeros(4 * n))
    with_own = LSTM.from_torch(nn.LSTM(d, n), filter=LearntFilter(), forget_fill=forget_fill)
    assert with_own.filter.decay == 0.5


@pytest.mark.parametrize("name", ["Adam", "RMSProp"])
def test_what_is_kept_for_backward(name, monkeypatch):
    """The gates (4N), h and c (N each) of every step, and the filter's state once per block."""
    blocks, of_block = 8, 5
    monkeypatch.setattr(adam_lstm, "BLOCK", of_block * 4 * N * BATCH)
    model, x, sizes = make_core(name, D, N), noise(blocks * of_block, BATCH, D), {}

    def keep(tensor):
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // 8
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(x)
    of_sequence = BATCH * (6 * N + D + 1) * blocks * of_block
    small = BATCH * 6 * 4 * N + 8 * N * (N + D + 3)  # a few states and weights
    assert of_sequence <= sum(sizes.values()) <= of_sequence + 2 * BATCH * 4 * N * blocks + small
