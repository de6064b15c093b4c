"""Batches of irregular series that are at fault or empty: every network refuses them by name, or means something."""

from dataclasses import replace
from math import e, log
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from hidden_dynamics.errors import ObservationError
from hidden_dynamics.models import latent_ode, mtan, ode_rnn, rnn_series, series
from hidden_dynamics.models.divergence import divergence
from hidden_dynamics.models.gru_ode_bayes import ace_network
from hidden_dynamics.models.latent_family.series_batch import SeriesBatch
from hidden_dynamics.models.observations import Rows, batch_of

ROWS = Rows(
    times=np.float32([0, 1, 2, 0.5, 1]),
    values=np.arange(15, dtype=np.float32).reshape(5, 3) / 15,
    mask=np.arange(15).reshape(5, 3) % 4 > 0,
    lengths=np.array([3, 2]),
)
SOLVER = {"solver": {"adjoint": False}}
FORECASTERS = {
    **{name: {} for name in ("GRUSimple", "GRUD", "TLSTM", "SequentialVAE", "GRUODEBayes")},
    **{"NeuralODEVAE": SOLVER, "ACEGRUODEBayes": {"penalty": {"weight": 0.1}}},
}
RECONSTRUCTING = {name: {} for name in ("RNNDelta", "RNNImpute", "RNNDecay", "RNNGRUD", "ODERNN")}
LATENT = {
    **{"RNNVAE": {}, "LatentODE": {}, "LatentODE, rnn": {"encoder": "rnn"}, "LatentODEPoisson": {}, "ACELatentODE": {}},
    "MTAN": {"recognition_size": 5, "generation_size": 4, "reference_points": 3, "embedding": 4},
}
NETWORKS = FORECASTERS | RECONSTRUCTING | LATENT
every_network = pytest.mark.parametrize("name", NETWORKS)
PACKAGES = (ace_network, latent_ode, mtan, ode_rnn, rnn_series, series)


def made(name, labels="series"):
    task = SimpleNamespace(features=3, covariates=1, until=2.0, end=3.0, labels=labels, classes=1)
    cls = next(getattr(each, name.split(",")[0]) for each in PACKAGES if hasattr(each, name.split(",")[0]))
    torch.manual_seed(0)
    return cls(task, 4, **NETWORKS[name])


def whole(rows=ROWS):
    return batch_of(rows, np.arange(2))


def batch(name, given, asked=None):
    """What the network is called with; `asked` is what is given where it is None."""
    labels = torch.tensor([0.0, 1.0])
    return given if name in FORECASTERS else SeriesBatch(given, given if asked is None else asked, labels, 0.5)


def learnt(network, called):
    """The loss and its gradients."""
    torch.manual_seed(1)
    loss = network.loss(network(called), called)
    return [loss, *torch.autograd.grad(loss, list(network.parameters()), allow_unused=True, materialize_grads=True)]


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


def fault(call, *arguments, **options):
    with pytest.raises(ObservationError) as raised:
        call(*arguments, **options)
    return raised.value.series, raised.value.row, raised.value.feature


@pytest.mark.parametrize(
    ("array", "place", "value", "expected"),
    [
        *(("times", 4, value, (1, 1, None)) for value in (np.nan, np.inf, -1.0, 0.5)),
        ("times", 0, np.nan, (0, 0, None)),
        *(("values", (2, 1), value, (0, 2, 1)) for value in (np.nan, -np.inf)),
    ],
)
def test_a_fault_is_named_by_its_series_row_and_feature(array, place, value, expected):
    wrong = ROWS._replace(**{array: changed(getattr(ROWS, array), place, value)})
    for until in (None, 1.0):
        assert fault(batch_of, wrong, np.array([1, 0]), until) == expected


def test_a_batch_made_by_hand_is_held_to_the_same():
    good, unknown = whole(), torch.full((5, 3), torch.nan)
    values = torch.where(good.mask > 0, good.values, unknown)
    assert torch.equal(replace(good, values=values).values, good.values)
    assert fault(replace, good, values=torch.where(torch.arange(5)[:, None] == 3, unknown, values)) == (1, 1, 1)
    for times, expected in (
        ([0, 0.5, np.nan, 2], (0, 1, None)),
        ([0, -0.5, 1, 2], (1, 0, None)),
        ([0, 0.5, 1, 1], (None, None, None)),
    ):
        assert fault(replace, good, times=torch.tensor(times).double()) == expected
    for wrong in ({"size": 0}, {"mask": good.mask[:, :2]}, {"series": good.series[:4]}, {"offsets": good.offsets[1:]}):
        assert fault(replace, good, **wrong) == (None, None, None)
    assert fault(SeriesBatch, good, batch_of(ROWS, np.arange(1))) == (None, None, None)


@every_network
def test_another_number_of_features_is_refused(name):
    narrow = whole(ROWS._replace(values=ROWS.values[:, :2], mask=ROWS.mask[:, :2]))
    assert fault(made(name), batch(name, narrow)) == (None, None, None)
    if name in FORECASTERS:
        series, times = torch.zeros(1).long(), np.float32([1.0])
        assert fault(made(name).predict, narrow, series, times) == (None, None, None)
        for wrong in (np.nan, np.inf, -1.0):
            assert fault(made(name).predict, whole(), series, times * 0 + wrong) == (None, None, None)


@every_network
def test_what_is_not_observed_may_be_anything(name):
    unknown = ROWS._replace(values=np.where(ROWS.mask, ROWS.values, np.nan))
    found, expected = (learnt(made(name), batch(name, whole(rows))) for rows in (unknown, ROWS))
    assert all(map(torch.equal, found, expected))


@pytest.mark.parametrize(
    ("name", "given", "asked"),
    [(name, None, None) for name in NETWORKS]
    + [(name, *pair) for name in LATENT for pair in ((None, 3.0), (3.0, None))],
)
def test_of_nothing_the_likelihood_is_1_and_what_is_latent_is_inferred_all_the_same(name, given, asked):
    """None: no rows."""
    given, asked = (batch_of(ROWS, np.arange(2), until or -1.0) for until in (given, asked))
    called = batch(name, given, None if len(given.series) == len(asked.series) else asked)
    network = made(name)
    assert all(each.isfinite().all() for each in learnt(network, called))
    if name in FORECASTERS:
        assert network.predict(given, torch.zeros(0).long(), np.float32([])).shape == (0, 6)
        assert network.predict(given, torch.tensor([1]), np.float32([2])).isfinite().all()
        return
    answer = network(called)
    assert answer.values.shape[1:] == (len(asked.series), 3) and answer.labels.shape == (len(answer.values), 2)
    if not len(asked.series):
        bound = replace(called, labels=None)
        expected = called.divergence_weight * answer.divergence + answer.extra
        several = 0.0 if name == "MTAN" else log(len(answer.values))  # its bound has it already
        torch.testing.assert_close(network.loss(answer, bound), expected - several)


# ----------------------------------------------------------------------------------- The divergence at a deviation of 0

ZERO = 43.1685  # nats in float32: -1 / 2 - log of the root of the smallest normal number
ENTRIES = {"NeuralODEVAE": 2 * 4, "SequentialVAE": 5 * 4, "MTAN": 3 * 4 * (1 / 6 + 1 / 5) / 2}  # where none is averaged


@pytest.mark.parametrize("name", [*LATENT, "NeuralODEVAE", "SequentialVAE"])
def test_a_deviation_of_0_is_the_same_event_in_every_family(name):
    """A posterior of mean 0 and deviation 0, and the prior N(0, 1): the run goes on."""
    network, called = made(name), batch(name, whole())
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        if name in ENTRIES:  # which read a logarithm, or softplus
            last = network.posterior[-1] if name == "MTAN" else network.posterior
            last.bias.view(2, -1)[1] = -1000
        if name == "SequentialVAE":
            network.transition.spread.bias.fill_(log(e - 1))
    assert all(each.isfinite().all() for each in learnt(network, called))
    torch.testing.assert_close(network(called).divergence.item() / ENTRIES.get(name, 1), ZERO, rtol=1e-5, atol=0)


def test_the_divergence_is_that_of_torch():
    mean, deviation, other, its = torch.randn(4, 1000, dtype=torch.float64, generator=torch.manual_seed(0)).unbind()
    q, p = (torch.distributions.Normal(*each) for each in ((mean, deviation.abs()), (other, its.abs())))
    found = divergence((mean - other) / p.stddev, q.stddev / p.stddev)
    torch.testing.assert_close(found, torch.distributions.kl_divergence(q, p), rtol=1e-10, atol=1e-10)
