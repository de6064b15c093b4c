"""Pairwise attention where nothing correlates, and the rate of the released code, which is drawn anew.

That it is the attention of the released loops is held by test_latent_family_in_plain_form.py and test_gru_ode_bayes.py.
"""

import numpy as np
import pytest
import torch
from cases import noise
from series_cases import ACE, batch_for, drawn_rows, learnt, made, shaken, whole

from hidden_dynamics.models.continuous.attention import correlation


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


@pytest.mark.parametrize("name", ACE)
@pytest.mark.parametrize("lengths", [[5], [5, 2, 3]], ids=["one series", "constant latents"])
def test_gradients_are_finite_where_nothing_correlates(name, lengths, monkeypatch):
    network = shaken(made(name))
    if len(lengths) > 1:
        monkeypatch.setattr(torch, "randn", lambda *sizes, **options: torch.zeros(*sizes, **options))
        with torch.no_grad():
            network.encoder.z0[-1].weight.zero_()
    assert all(each.isfinite().all() for each in learnt(network, batch_for(name, whole(drawn_rows(lengths=lengths)))))


def test_a_random_rate_is_another_at_every_call_whether_training_or_not(monkeypatch):
    cases = [(shaken(made(name, samples=2)), same) for name, same in (("ACE, random", False), ("ACE", True))]
    called, sample = batch_for("ACE", whole(drawn_rows(lengths=[1, 4, 3]))), noise(2, 3, 4)
    monkeypatch.setattr(torch, "randn", lambda *sizes, **_: sample.view(sizes))  # what z(0) is made of
    for network, same in cases:
        for training in (True, False):
            network.train(training)
            first, second = (network(called).values for _ in range(2))
            assert torch.equal(first, second) == same
