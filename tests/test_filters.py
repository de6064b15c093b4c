"""The filters over time: against their own step, against closed forms, and as properties."""

from itertools import pairwise

import pytest
import torch
from cases import assert_all_close, assert_close, noise, tensors
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.models.momentum.filters import Adam, Identity, Momentum, Nesterov, RMSProp
from hidden_dynamics.models.momentum.recurrence import BLOCK
from hidden_dynamics.models.recurrent.lstm import MomentumLSTM
from hidden_dynamics.models.recurrent.orthogonal import MomentumDTRIV

lengths = st.one_of(st.sampled_from([1, 2, 31, 32, 33, 63, 64, 65]), st.integers(1, 100))
momenta = st.one_of(st.just(0.0), st.floats(0, 0.99))
steps = st.floats(0.01, 3)
restarts = st.one_of(st.none(), st.integers(1, 70))
filters = st.one_of(
    st.builds(Identity),
    st.builds(Momentum, momenta, steps),
    st.builds(Nesterov, steps, restarts, st.integers(0, 1)),
    st.builds(Adam, momenta, steps, st.floats(0, 0.999), st.sampled_from([1e-8, 1e-16])),
    st.builds(RMSProp, steps, st.floats(0, 0.999), st.sampled_from([1e-8, 1e-16])),
)


@given(filters, lengths, st.lists(st.floats(0, 1), max_size=2))
def test_over_time_whole_or_in_parts_is_step_by_step(filter, length, cuts):
    g, state, expected_end, parts, expected = noise(length, 2, 3), None, None, [], []
    for g_t in g:  # as the paper writes it
        y, expected_end = filter.step(g_t, expected_end)
        expected.append(y)
    for begin, end in pairwise([0, *sorted(round(cut * length) for cut in cuts), length]):
        if begin < end:
            part, state = filter(g[begin:end], state)
            parts.append(part)
    assert_close(torch.cat(parts), torch.stack(expected))
    for part, expected_part in zip(tensors(state), tensors(expected_end), strict=True):
        assert_close(part, expected_part)


@pytest.mark.parametrize(
    "filter",
    [Identity(), Momentum(0.6, 0.5), Nesterov(0.5, 6, 1), Adam(0.6, 0.5, 0.9, 1e-2), RMSProp(0.5, 0.1, 1e-2)],
    ids=str,
)
def test_gradients_with_respect_to_inputs_and_state(filter):
    state = filter(noise(3, 2, seed=1))[1]
    parts = [part.requires_grad_() for part in tensors(state)]
    counts = state[len(parts) :] if isinstance(state, tuple) else ()

    def run(g, *parts):
        y, end = filter(g, (*parts, *counts) if isinstance(state, tuple) else next(iter(parts), None))
        return y, *tensors(end)

    assert torch.autograd.gradcheck(run, (noise(BLOCK + 1, 2).requires_grad_(), *parts))


@pytest.mark.parametrize("eps", [1e-8, 1e-16, 16.0])
def test_adam_of_a_constant(eps):
    """v is the geometric series, and m = g^2 (1 - beta^t): there is no bias correction."""
    y, (v, m) = Adam(0.6, 0.5, 0.9, eps)(torch.full((50, 1), 3.0, dtype=torch.float64))
    t = torch.arange(1, 51, dtype=torch.float64).unsqueeze(1)
    expected_v, expected_m = 3 * 0.5 * (1 - 0.6**t) / 0.4, 9 * (1 - 0.9**t)
    assert_close(y, expected_v / torch.sqrt(expected_m + eps))
    assert_close(v, expected_v[-1])
    assert_close(m, expected_m[-1])


def test_rmsprop_is_adam_without_momentum():
    g = noise(40, 3)
    assert torch.equal(RMSProp(0.5, 0.9)(g)[0], Adam(0.0, 0.5, 0.9)(g)[0])
    assert RMSProp(0.5, 0.9).eps == 1e-8


@given(restarts, st.integers(0, 1), st.integers(1, 200))
def test_gamma_is_the_papers(restart, phase, t):
    """Phase 1 is the paper's text, (t mod F)/(t mod F + 3); phase 0 is a step later. Without restarts they agree."""
    expected = [k if restart is None else (k + phase) % restart for k in range(t - 1, t + 4)]
    assert Nesterov(1.0, restart, phase).gamma(t - 1, 5).tolist() == [j / (j + 3) for j in expected]


@pytest.mark.parametrize("filter", [Momentum(0.5, 1.0), Nesterov(1.0), Adam(0.5, 1.0, 0.9)], ids=str)
def test_no_steps(filter):
    with pytest.raises(ValueError, match="at least one step"):
        filter(torch.zeros(0, 2))


@pytest.mark.parametrize("state", [torch.zeros(3), torch.zeros(2, dtype=torch.float64), torch.zeros(1, 2)], ids=str)
def test_a_state_unlike_the_sequence(state):
    with pytest.raises(ValueError):
        Momentum(0.5, 1.0)(torch.zeros(4, 2), state)


@pytest.mark.parametrize("initial", [None, noise(2, 3, seed=2)])
def test_learned_momentum_is_the_fixed_one_until_it_is_trained_and_knows_its_gradient(initial):
    fixed, learned = Momentum(0.6, 0.5), Momentum(0.6, 0.5, learn=True).double()
    g = noise(70, 2, 3)
    assert_all_close(learned(g, initial), fixed(g, initial), 1e-6)  # `free` was rounded to float32
    assert_all_close(learned.step(g[0], initial), fixed.step(g[0], initial), 1e-6)

    def run(free):
        return torch.func.functional_call(learned, {"free": free}, (g[:40], initial))

    assert torch.autograd.gradcheck(run, learned.free.detach().clone().requires_grad_())
    with pytest.raises(ValueError, match="mu that is learned"):
        Momentum(0.0, 0.5, learn=True)


@pytest.mark.parametrize("cell", [MomentumLSTM, MomentumDTRIV])
def test_a_cell_trains_its_learned_momentum(cell):
    rnn = cell(2, 4, mu=0.6, s=0.5, learn=True, device="cpu", dtype=torch.float64)
    assert {parameter.dtype for parameter in rnn.parameters()} == {torch.float64}
    before = rnn.filter.free.detach().clone()
    optimiser = torch.optim.SGD(rnn.parameters(), lr=0.1)
    rnn(torch.randn(40, 3, 2, dtype=torch.float64))[0].square().mean().backward()
    optimiser.step()
    assert (rnn.filter.free != before).all()
