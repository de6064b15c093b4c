"""Latent-ODE and its relatives: closed forms, what is learnt of rows, attention where nothing correlates.

That they are the released loops is held by test_latent_family_in_plain_form.py.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from cases import assert_all_close, noise
from plain_latent_ode import dense_of
from series_cases import ACE, LATENT, batch_for, drawn_rows, gradients_of, shaken, task_of, whole
from torch import nn

from hidden_dynamics.models.latent_family.family import label_loss

D, L, N, K = 3, 4, 5, 2
SMALL = {
    "recognition_size": 5,
    "recognition_layers": 1,
    "generative_layers": 1,
    "units": 6,
    "gru_units": 4,
    "samples": K,
    "solver": {"method": "dopri5", "rtol": 1e-3, "atol": 1e-4, "adjoint": False},
}
TIGHT = SMALL | {"solver": {"method": "dopri5", "rtol": 1e-11, "atol": 1e-12, "adjoint": False}}


def drawn(labels=None, size=N, seed=0):
    """A batch in which one series has a single row, and one never the last feature."""
    lengths = [1, *np.random.default_rng(seed).integers(2, 7, size - 1)]
    rows = drawn_rows(seed, density=0.6, lengths=lengths)
    rows.times[-1], rows.mask[-lengths[-1] :, -1], rows.mask[0, 0] = 1, False, True
    return batch_for("Latent-ODE", whole(rows), labels=labels, weight=0.37)


def made(name, labels=None, seed=0, **options):
    """In float64, its parameters away from where they start."""
    cls, own = LATENT[name]
    torch.manual_seed(seed)
    return shaken(cls(task_of(labels), L, **SMALL | own | options), seed)


def noise_of(network):
    return noise(K, N, network.latent, seed=7)


def test_a_linear_generative_ode_is_the_matrix_exponential():
    network, batch = made("Latent-ODE", "series", **TIGHT), drawn("series")
    linear = nn.Linear(L, L, bias=False).double()
    network.integral.dynamics.network = linear
    prediction = network(batch, noise_of(network))
    mean, deviation = network.encoder(batch.context)
    z = mean + deviation * noise_of(network)
    rows = [
        torch.matrix_exp(linear.weight * time) @ z[:, series].unsqueeze(-1)
        for time, series in zip(batch.targets.times[batch.targets.rows_of_times()], batch.targets.series, strict=True)
    ]
    end = z @ torch.matrix_exp(linear.weight).t()
    expected = [network.decoder(torch.stack(rows, 1).squeeze(-1)), network.classifier(end).squeeze(-1)]
    assert_all_close([prediction.values, prediction.labels], expected, 1e-8)


@pytest.mark.parametrize("unobserved", ["integral", "zero"])
def test_constant_rates_have_the_likelihood_of_a_poisson_process_over_the_targets_time(unobserved):
    """Of n observations in a time T at the rate r: n log r - r T. One of the pairs of series and feature has none."""
    network, batch = made("Poisson", unobserved=unobserved), drawn()
    targets = replace(batch.targets, times=0.4 + 0.6 * batch.targets.times)
    rates, last = torch.tensor([0.5, 2.0, 7.0], dtype=torch.float64), network.integral.dynamics.rate[-1]
    with torch.no_grad():
        last.weight.zero_()
        last.bias.copy_(rates.log())
    prediction = network(replace(batch, targets=targets))
    seen = (dense_of(targets).mask.sum(1) > 0).double() if unobserved == "zero" else torch.ones(N, D).double()
    duration = 1 - targets.times[0].item()
    expected = ((targets.mask * rates.log()).sum() - (seen * rates).sum() * duration) / (N * D)
    assert seen.all() == (unobserved == "integral") and duration < 0.61
    assert prediction.extra.item() == pytest.approx(-0.1 * expected.item())


def test_the_loss_of_rows_is_their_cross_entropy_alone_and_what_the_answer_adds():
    network, batch = made("Latent-ODE", "rows"), drawn("rows")
    prediction = network(batch)
    assert label_loss(prediction.labels, torch.full_like(batch.labels, -1)).item() == 0  # no row has a class
    prediction = prediction._replace(extra=prediction.extra + 3)
    assert network.loss(prediction, batch).item() == pytest.approx(
        label_loss(prediction.labels, batch.labels).item() + 3
    )


@pytest.mark.parametrize("name", ACE)
@pytest.mark.parametrize("case", ["one series", "constant latents"])
def test_gradients_are_finite_where_nothing_correlates(name, case):
    size = 1 if case == "one series" else N
    network, batch = made(name, "series"), drawn("series", size=size)
    if case == "constant latents":
        with torch.no_grad():
            network.encoder.z0[-1].weight.zero_()
    noise = torch.zeros(K, size, network.latent).double() if case == "constant latents" else None
    loss = network.loss(network(batch, noise), batch)
    assert loss.isfinite() and all(gradient.isfinite().all() for gradient in gradients_of(loss, network))


def test_a_random_rate_is_another_at_every_call_whether_training_or_not():
    batch = drawn()
    for training in (True, False):
        for name, same in [("ACE, random", False), ("ACE", True)]:
            network = made(name).train(training)
            first, second = (network(batch, noise_of(network)).values for _ in range(2))
            assert torch.equal(first, second) == same
