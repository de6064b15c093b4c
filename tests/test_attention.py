"""Pairwise attention: its rule, the correlation that it starts from, and its rate of change."""

import numpy as np
import pytest
import torch
from cases import assert_all_close, noise
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.models.continuous.attention import PairwiseRate, correlation, pairwise
from hidden_dynamics.models.continuous.co_evolving import CoEvolving
from hidden_dynamics.models.continuous.integral import Integral
from hidden_dynamics.models.solver import Solver
from hidden_dynamics.models.sporadic.gru_ode_bayes_parts import GRUODE


@given(seed=st.integers(0, 10**6), scale=st.floats(0.01, 30))
def test_a_dimension_attends_to_all_by_the_weights_of_its_row(seed, scale):
    h, a = noise(4, 3, seed=seed), scale * noise(3, 3, seed=seed + 1)
    expected = np.zeros((4, 3))
    for i in range(3):
        weights = np.exp(a[i].numpy() - a[i].max().item())
        for j in range(3):
            expected[:, i] += weights[j] / weights.sum() * h[:, j].numpy()
    assert_all_close([pairwise(h, a)], [torch.from_numpy(expected)], 1e-14)
    assert_all_close([pairwise(torch.ones(1, 3).double(), a)], [torch.ones(1, 3).double()], 1e-14)  # rows sum to 1


@given(seed=st.integers(0, 10**6), batch=st.integers(3, 9))
def test_the_correlation_is_that_of_numpy(seed, batch):
    """A deviation from a mean is rounded as the values are, so that the error is the larger, the smaller the spread."""
    h = noise(batch, 4, seed=seed)
    tolerance = 4 * batch * torch.finfo(h.dtype).eps * h.abs().max() / h.std(0).min()
    assert_all_close([correlation(h)], [torch.from_numpy(np.corrcoef(h.numpy(), rowvar=False))], tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e6])
def test_a_constant_dimension_is_correlated_with_itself_alone_and_has_no_gradient(value, dtype):
    h = noise(5, 3).to(dtype)
    h[:, 1] = value * (1 + torch.finfo(dtype).eps * torch.arange(5) / 4).to(dtype)  # but for rounding
    h.requires_grad_()
    found = correlation(h)
    assert found[1].tolist() == found[:, 1].tolist() == [0, 1, 0]
    assert found[0, 2].item() == pytest.approx(np.corrcoef(h.detach()[:, [0, 2]].T)[0, 1], abs=1e-6)
    (gradient,) = torch.autograd.grad((found * noise(3, 3, seed=1).to(dtype)).sum(), h)
    assert gradient.isfinite().all() and gradient[:, 1].count_nonzero() == 0 and gradient[:, 0].count_nonzero() > 0


def test_one_row_has_no_correlations():
    assert torch.equal(correlation(noise(1, 3)), torch.eye(3).double())


def test_the_adjoint_of_a_pair_with_pairwise_attention_is_that_of_its_steps():
    """Small Euler steps, written out from the correlation on."""
    torch.manual_seed(0)
    f, g = GRUODE(3).double(), GRUODE(3).double()
    h = noise(5, 3).requires_grad_()
    integral = Integral(CoEvolving(f, PairwiseRate(g), pairwise), Solver("euler", step_size=1 / 200))
    ends = integral((h, correlation(h)))
    plain, a = h, correlation(h)
    for _ in range(200):
        attended = plain @ torch.softmax(a, 1).t()
        a = a + g(None, attended).t() @ attended / 5 / 200
        plain = plain + f(None, attended) / 200
    wanted = [h, *f.parameters(), *g.parameters()]
    assert_all_close([ends[0]], [plain], 1e-11)
    assert_all_close(*(torch.autograd.grad(end.sum(), wanted) for end in (ends[0], plain)), 1e-2)
