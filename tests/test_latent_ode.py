"""Latent-ODE and its relatives: closed forms, properties, attention and its released errors.

That they are the released loops is held by test_latent_family_in_plain_form.py.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from cases import assert_all_close, noise
from plain_latent_ode import dense_of
from series_cases import LATENT, batch_for, drawn_rows, gradients_of, shaken, task_of, whole
from torch import nn

from hidden_dynamics.models.latent_family.family import (
    Prediction,
    SeriesBatch,
    label_loss,
    log_likelihood,
    mean_squared_error,
    negative_bound,
)
from hidden_dynamics.models.observations import Rows, batch_of

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
every_network = pytest.mark.parametrize("name", [name for name in LATENT if name != "RNN-VAE"])


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


def noise_of(network, size=N):
    return noise(K, size, network.latent, seed=7)


# Numbers that are known


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


def by_hand():
    """Two series and two features, of which series 1 has one alone; errors of 0.01 and 0.02 in sample 0."""
    times, mask = np.float32([0, 1, 0]), np.array([[True, True], [True, False], [False, True]])
    values = np.array([[0.5, 0.2], [0.3, 9.0], [9.0, 0.1]])
    targets = batch_of(Rows(times, values, mask, np.array([2, 1])), np.arange(2))
    predicted = targets.values.clone()[None].repeat(2, 1, 1)
    predicted[0, 0, 0] += 0.01  # of series 0 at time 0; its feature 0 was observed twice
    predicted[0, 1, 1] += 0.02  # of series 1
    predicted[:, 1, 0] = 77.0  # was not observed
    return SeriesBatch(targets, targets, None, 0.5), predicted


def test_the_likelihood_bound_and_error_by_hand():
    batch, predicted = by_hand()
    density = -math.log(0.01) - 0.5 * math.log(2 * math.pi)
    exact = 3 * density / 4  # of four pairs of series and feature, three were observed
    expected = torch.tensor([exact - (0.5 / 2 + 2.0) / 4, exact], dtype=torch.float64)
    assert_all_close([log_likelihood(predicted, batch.targets)], [expected])
    error = mean_squared_error(predicted, batch.targets).item()
    assert error == pytest.approx((1e-4 / 2 + 4e-4) / 4 / 2)
    prediction = Prediction(predicted, None, torch.tensor(0.6), torch.tensor(0.0))
    bound = -math.log(sum(math.exp(each - 0.5 * 0.6) for each in expected.tolist()))
    assert negative_bound(prediction, batch).item() == pytest.approx(bound)


def test_labels_of_series_and_of_rows_by_hand():
    logits, labels = torch.tensor([[0.0, 1.0], [2.0, -1.0]]), torch.tensor([1.0, 0.0])
    softplus = [math.log1p(math.exp(x)) for x in (0.0, 1.0, -2.0, -1.0)]
    assert label_loss(logits, labels).item() == pytest.approx(sum(softplus) / 4 / 2)
    logits, labels = torch.tensor([[[0.0, 1.0], [3.0, 3.0], [9.0, 0.0]]]), torch.tensor([0, 1, -1])
    assert label_loss(logits, labels).item() == pytest.approx((math.log1p(math.e) + math.log(2)) / 2)
    assert label_loss(logits, torch.tensor([-1, -1, -1])).item() == 0


def test_the_loss_of_rows_is_their_cross_entropy_alone_and_what_the_answer_adds():
    network, batch = made("Latent-ODE", "rows"), drawn("rows")
    prediction = network(batch)
    prediction = prediction._replace(extra=prediction.extra + 3)
    assert network.loss(prediction, batch).item() == pytest.approx(
        label_loss(prediction.labels, batch.labels).item() + 3
    )


# Properties


@every_network
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


# Attention


def test_the_end_is_where_attention_reaches_a_label_and_the_start_is_not():
    batch = drawn("series")
    for label_from, reached in [("end", True), ("start", False)]:
        network = made("ACE", "series", label_from=label_from)
        (gradient,) = torch.autograd.grad(
            label_loss(network(batch, noise_of(network)).labels, batch.labels),
            [network.integral.dynamics.f.network[0].weight],
            allow_unused=True,
        )
        assert (gradient is not None) == reached


def test_a_random_rate_is_another_at_every_call_whether_training_or_not():
    batch = drawn()
    for training in (True, False):
        for name, same in [("ACE, random", False), ("ACE", True)]:
            network = made(name).train(training)
            first, second = (network(batch, noise_of(network)).values for _ in range(2))
            assert torch.equal(first, second) == same
