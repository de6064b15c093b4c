"""The Latent-ODE family: held to the released loops in plain form, in float64, gradients included."""

import functools
from dataclasses import replace

import numpy as np
import plain_latent_ode as released
import pytest
import torch
from cases import assert_all_close, noise
from plain_rnn_series import plain_classic, plain_rnn_vae
from series_cases import RECONSTRUCTING, gradients_of, shaken, task_of

from hidden_dynamics.models.latent_family.ace_latent_ode import ACELatentODE
from hidden_dynamics.models.latent_family.family import SeriesBatch, label_loss
from hidden_dynamics.models.latent_family.latent_ode import SOLVER, LatentODE
from hidden_dynamics.models.latent_family.ode_rnn import ODERNN
from hidden_dynamics.models.latent_family.poisson_latent_ode import LatentODEPoisson
from hidden_dynamics.models.latent_family.rnn_vae import RNNVAE
from hidden_dynamics.models.observations import Rows, at_times, batch_of

D, SERIES = 4, 7
TOLERANCE = 1e-10


def drawn(latest=40, rows=6, labels=None, until=None, early=False):
    """A batch with a series of one row, one whose rows all are late, rows without an entry, and a feature not seen.

    Rows fall on whole units of time up to `latest`; those later than `until` are targets, and the others context;
    where it is `early`, there is no target at the last union time.
    """
    rng = np.random.default_rng(0)
    lengths = np.array([1, rows, *rng.integers(2, rows + 1, SERIES - 2)])
    times = [np.sort(rng.choice(latest + 1, length, replace=False)) for length in lengths]
    times[1] = latest - np.arange(rows)[::-1]
    mask = rng.random((lengths.sum(), D)) < 0.5
    mask[:, 2] = False
    mask[0, 0] = True
    values = rng.random(mask.shape)
    data = Rows(np.concatenate(times).astype(np.float32), values, mask, lengths)
    whole = batch_of(data, np.arange(SERIES))
    last = whole.times[-1]
    targets = context = replace(whole, times=whole.times / last)
    if until is not None:
        given = whole.times <= until
        context, targets = at_times(context, given), at_times(context, ~given)
    if early:
        targets = at_times(targets, targets.times < targets.times[-1])
    if labels == "series":
        labels = torch.from_numpy((rng.random(SERIES) < 0.5).astype(np.float64))
    elif labels == "rows":
        labels = torch.from_numpy(rng.integers(-1, 5, len(targets.values)))
    return SeriesBatch(context, targets, labels, 0.37)


BATCHES = {"wide gaps": {}, "narrow gaps": {"latest": 400, "rows": 8}, "two times": {"latest": 1, "rows": 2}}
every_batch = pytest.mark.parametrize(
    ("form", "labels"),
    [
        ("wide gaps", "series"),
        ("wide gaps", None),
        ("narrow gaps", "rows"),
        ("narrow gaps", None),
        ("two times", "series"),
    ],
)
every_label = pytest.mark.parametrize("labels", [None, "series", "rows"])


def plain_loss(predicted, divergence, logits, batch, extra=0.0):
    """Of dense predictions (K, N, U, D), and of logits (K, N) or (K, N, U, classes)."""
    if batch.labels is not None and not batch.labels.is_floating_point():
        classes = torch.full((batch.targets.size, len(batch.targets.times)), -1)
        classes[batch.targets.series, batch.targets.rows_of_times()] = batch.labels
        return released.rows_loss(logits, classes) + extra
    likelihoods = released.likelihood(predicted, released.dense_of(batch.targets))
    loss = released.bound(likelihoods, divergence, batch.divergence_weight) + extra
    return loss if batch.labels is None else loss + 100 * released.series_loss(logits, batch.labels)


def assert_alike(network, batch, predicted, divergence, of_series, of_rows, extra=0.0, found=None):
    """The network's answer, its loss and all gradients are those of the plain form, where series are classified by
    states (K, N, size) and rows by (K, N, U, size).

    The loss hardly depends on any sample but the likeliest. So the gradient is that of a sum of all answers, too.
    """
    found, logits = network(batch) if found is None else found, None
    pairs = [(found.values, released.rows_of(predicted, batch.targets))]
    if network.labels == "series":
        logits = network.classifier(of_series).squeeze(2)
        pairs.append((found.labels, logits))
    elif network.labels == "rows":
        logits = network.classifier(of_rows)
        pairs.append((found.labels, released.rows_of(logits, batch.targets)))
    pairs.append([torch.as_tensor(each, dtype=torch.float64) for each in (found.divergence, divergence)])
    pairs.append((network.loss(found, batch), plain_loss(predicted, divergence, logits, batch, extra)))
    scale = pairs[-1][1].detach().abs()
    sums = [pairs[-1][which] / scale for which in (0, 1)]
    for place, (ours, plain) in enumerate(pairs[:-1]):
        weights = noise(1, *plain.shape, seed=place)
        sums = [total + (weights * each).sum() for total, each in zip(sums, (ours, plain), strict=True)]
    for ours, plain in pairs:
        assert_all_close([ours.detach()], [plain.detach()], TOLERANCE)
    assert_all_close(*(gradients_of(total, network) for total in sums), TOLERANCE)


def test_where_no_row_has_a_class_the_loss_of_labels_is_0():
    assert label_loss(noise(3, 2, 5), torch.full((2,), -1)).item() == 0


@every_batch
@pytest.mark.parametrize("steps", ["forwards", "backwards"])
def test_an_ode_rnn_is_the_plain_one(form, labels, steps):
    torch.manual_seed(1)
    network = shaken(ODERNN(task_of(labels, D, 5), 3, layers=1, units=4, gru_units=5, decoder_units=6, steps=steps))
    batch = drawn(labels=labels, **BATCHES[form])
    predicted, states, last = released.ode_rnn(
        network, released.dense_of(batch.context), {"forwards": "forwards", "backwards": "released"}[steps]
    )
    assert_alike(network, batch, predicted, 0.0, last[None], states)


@every_batch
@pytest.mark.parametrize("name", [name for name in RECONSTRUCTING if "ODE" not in name])
def test_a_recurrent_network_is_the_plain_one(form, labels, name):
    """At two times the biases are 0 as at first: a decay's exponent is where the clamp begins, with half a gradient."""
    cls, options = RECONSTRUCTING[name]
    torch.manual_seed(1)
    network = cls(task_of(labels, D, 5), 3, units=4, **options).double()
    if form != "two times":
        shaken(network)
    batch = drawn(labels=labels, **BATCHES[form])
    told = {key: options.get(key) for key in ("gap", "mean")} | {"decay_gaps": options.get("decay_gaps", "all")}
    predicted, states = plain_classic(network, released.dense_of(batch.context), **told)
    assert_alike(network, batch, predicted, 0.0, states[:, :, -1], states)


@pytest.mark.parametrize("until", [None, 20])
@every_label
@pytest.mark.parametrize(("order", "gap"), [("time", "to_last"), ("patients", "to_last"), ("time", "to_next")])
def test_an_rnn_vae_is_the_plain_one(until, labels, order, gap):
    torch.manual_seed(1)
    network = shaken(RNNVAE(task_of(labels, D, 5), 3, recognition_size=5, units=4, order=order, gap=gap))
    batch = drawn(labels=labels, until=until)
    torch.manual_seed(2)
    found = network(batch)
    torch.manual_seed(2)
    sample = torch.randn(SERIES, 3, dtype=torch.float64)
    times = batch.targets.times
    predicted, states, mean, deviation = plain_rnn_vae(
        network, released.dense_of(batch.context), times, sample, order, gap
    )
    assert_alike(network, batch, predicted, released.divergence(mean, deviation), mean[None], states, found=found)


LATENT = {"recognition_size": 5, "recognition_layers": 1, "generative_layers": 1, "units": 6, "gru_units": 4}
L, K = 3, 2


def made(cls, labels, **options):
    torch.manual_seed(1)
    return shaken(cls(task_of(labels, D, 5), L, samples=K, **LATENT | options)).train()


def assert_latent(network, batch, rate, extra=None, below=None, **options):
    """The network and the plain form draw the same samples, and what else they draw, from equal generators."""
    torch.manual_seed(2)
    found = network(batch)
    torch.manual_seed(2)
    sample = torch.randn(K, SERIES, network.latent, dtype=torch.float64)
    walk = released.latent_ode(
        network, released.dense_of(batch.context), batch.targets.times, sample, rate, below, **options
    )
    added = 0.0 if extra is None else extra(walk, released.dense_of(batch.targets))
    divergence = released.divergence(walk.mean, walk.deviation)
    of_series = walk.z if network.label_from == "start" else walk.end[..., : network.size]
    of_rows = walk.states[..., : network.size]
    assert_alike(network, batch, walk.predicted, divergence, of_series, of_rows, added, found)


def flow(network):
    return lambda t, z: network.integral.dynamics.network(z)


@pytest.mark.parametrize("encoder", ["ode", "rnn"])
@pytest.mark.parametrize("label_from", ["end", "start"])
@every_batch
def test_a_latent_ode_is_the_plain_one(form, labels, encoder, label_from):
    network = made(LatentODE, labels, encoder=encoder, label_from=label_from)
    assert_latent(network, drawn(labels=labels, **BATCHES[form]), flow(network))


@pytest.mark.parametrize("start", ["zero", "first_target"])
@pytest.mark.parametrize("encoder", ["ode", "rnn"])
@pytest.mark.parametrize("latest", [40, 400])
def test_a_latent_ode_extrapolates_as_the_plain_one(start, encoder, latest):
    network = made(LatentODE, None, encoder=encoder, start=start)
    assert_latent(network, drawn(latest=latest, until=latest / 2), flow(network), start=start)


@pytest.mark.parametrize(("labels", "label_from"), [("series", "end"), ("series", "start"), ("rows", "end")])
def test_an_augmented_latent_ode_is_the_plain_one(labels, label_from):
    network = made(LatentODE, labels, augmented=2, label_from=label_from)
    assert_latent(network, drawn(labels=labels), flow(network), beside=2)


@pytest.mark.parametrize("unobserved", ["integral", "zero"])
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize(
    ("until", "labels", "label_from"),
    [(None, None, "end"), (20, None, "end"), (None, "series", "end"), (None, "series", "start")],
)
def test_a_latent_ode_with_a_poisson_process_is_the_plain_one(until, labels, label_from, early, unobserved):
    network = made(LatentODEPoisson, labels, label_from=label_from, unobserved=unobserved)
    dynamics = network.integral.dynamics
    rate = released.with_process(dynamics.flow.network, dynamics.rate, D)

    def extra(walk, targets):
        integrals = 100 * (walk.states[:, :, -1] - walk.states[:, :, 0])[..., 2 * L :]
        logs = dynamics.rate(walk.states[..., L : 2 * L])
        return -0.1 * released.poisson(logs, integrals, targets, unobserved).mean()

    assert_latent(network, drawn(labels=labels, until=until, early=early), rate, extra=extra, beside=D)


PUBLISHED = {"mixing": "softmax", "rate": "moments", "tied": False}
RELEASED = {"mixing": "raw", "rate": "random", "tied": True, "label_from": "start"}


@pytest.mark.parametrize(("until", "labels"), [(None, "series"), (None, "rows"), (20, None)])
@pytest.mark.parametrize(
    "variant",
    [PUBLISHED, *({**PUBLISHED, name: value} for name, value in RELEASED.items()), RELEASED],
    ids=["published", *RELEASED, "released"],
)
def test_an_ace_latent_ode_is_the_plain_one(variant, until, labels):
    solver = SOLVER | {"rtol": 1e-2, "atol": 1e-2} if variant["rate"] == "random" else SOLVER  # hundreds of steps else
    network = made(ACELatentODE, labels, penalty={"weight": 0.01}, solver=solver, **variant)
    f, g = (each.network for each in (network.integral.dynamics.f, network.integral.dynamics.g.cell))
    rate = released.evolving(f, g, variant["mixing"], variant["rate"])
    assert_latent(network, drawn(labels=labels, until=until), rate, below=released.correlations)


@every_label
def test_ace_latent_odes_with_other_attentions_are_the_plain_ones(labels):
    fixed = made(ACELatentODE, labels, penalty={"weight": 0.01}, attention="fixed")
    assert_latent(fixed, drawn(labels=labels), released.fixed(fixed.integral.dynamics.f.network))
    connected = made(ACELatentODE, labels, penalty={"weight": 0.01}, attention="fc")
    f, g = (each.network for each in (connected.integral.dynamics.f, connected.integral.dynamics.g.cell))
    below = functools.partial(released.fully_connected, connected.q)
    assert_latent(connected, drawn(labels=labels), released.evolving(f, g, "softmax", "moments"), below=below)
