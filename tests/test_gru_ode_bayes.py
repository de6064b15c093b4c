"""GRU-ODE-Bayes and its relatives: held to the released loops in plain form, in float64, gradients included."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cases import assert_all_close
from plain_gru_ode_bayes import plain_prediction, plain_walk
from series_cases import count, drawn_rows, gradients_of, shaken, whole

from hidden_dynamics.models.observations import Rows, batch_of
from hidden_dynamics.models.sporadic.ace_gru_ode_bayes import ACEGRUODEBayes
from hidden_dynamics.models.sporadic.gru_ode_bayes import GRUODEBayes, Masks

TASK = SimpleNamespace(features=3, covariates=2, end=4.1)
CLIMATE = SimpleNamespace(features=5, covariates=1, end=200.0)
SMALL = {"prep": 4, "delta": 0.25, "p_hidden": 6, "covariates_hidden": 5, "mixing": 1e-2}
PENALTY = {"weight": 0.3}
GRU = {"full": {}, "delta 0.1": {"delta": 0.1}, "still": {"solver": "still"}, "augmented": {"augmented": 2}}
ACE = {
    "evolving, kept": {"attention": "evolving", "at_jump": "kept"},
    "evolving, renewed": {"attention": "evolving", "at_jump": "renewed"},
    "fixed": {"attention": "fixed"},
}
ACE |= {f"{name}, attached": options | {"detached": False} for name, options in ACE.items()}
ACE |= {
    "fc": {"attention": "fc"},
    "released": {"attention": "released", "penalty": PENALTY | {"of": "correlation"}},
    "released, small steps": {"attention": "released", "delta": 0.1},
}
CASES = {name: (GRUODEBayes, options) for name, options in GRU.items()}
CASES |= {name: (ACEGRUODEBayes, {"penalty": PENALTY} | options) for name, options in ACE.items()}
every_case = pytest.mark.parametrize("case", CASES)


def made(case):
    cls, options = CASES[case]
    torch.manual_seed(1)
    return shaken(cls(TASK, 5, **SMALL | options)).eval()


def drawn(seed=0, rows=5, until=None, latest=40):
    """Some series without rows; times in tenths, some alike in several series."""
    return whole(drawn_rows(seed, most=rows, latest=latest, unit=10, density=0.6), until=until)


def ours(network, observations):
    return network.loss(network(observations), observations)


def masks_of(network, observations):
    return network.masks(observations, network.path(observations))


def assert_alike(network, found, expected):
    """Values, and the gradients of what they add up to."""
    assert_all_close(*([each.detach(), *gradients_of(each.sum(), network)] for each in (found, expected)), 1e-11)


@every_case
def test_the_loss_and_all_gradients_are_those_of_the_plain_loop(case):
    network, observations = made(case), drawn()
    found, expected = ours(network, observations), plain_walk(network, observations).loss
    assert_alike(network, found, expected)
    assert case != "released" or network.penalty(None) == 0.0  # that of the correlation is in the loss


@every_case
def test_with_dropout_they_are_those_of_the_plain_loop_with_the_same_masks(case):
    network, observations = made(case).train(), drawn(2)
    torch.manual_seed(3)
    expected = plain_walk(network, observations, masks_of(network, observations)).loss
    torch.manual_seed(3)
    found = ours(network, observations)
    assert_alike(network, found, expected)
    assert not torch.equal(ours(network, observations), found)


@pytest.mark.parametrize(
    ("case", "until"),
    [(case, 2.0) for case in CASES] + [(case, -1.0) for case in ("full", "evolving, kept", "released")],
)
def test_predictions_are_read_from_the_path_as_in_the_plain_loop(case, until):
    """Until -1 nothing is observed, and what is learnt from it is nothing."""
    network, observations = made(case), drawn(4, until=until)
    rng = np.random.default_rng(0)
    series, times = torch.from_numpy(rng.integers(0, 6, 90)), rng.integers(0, 60, 90).astype(np.float32) / 10
    found = network.predict(observations, series, times)
    expected = plain_prediction(plain_walk(network, observations), network.delta, series, times)
    assert_alike(network, found, expected)
    with torch.no_grad():
        assert torch.equal(network.predict(observations, series, times), found)
    assert ours(network, observations) == 0 or until > 0


def test_an_observation_after_the_end_is_refused():
    with pytest.raises(ValueError, match="end"):
        made("full")(drawn(latest=80, rows=8))


def test_networks_have_the_parameters_that_the_released_ones_use():
    """The released classes also have a second GRUCell and a classifier, which nothing reads: 15,405 and 22,905."""
    ten, twenty = (GRUODEBayes(CLIMATE, 50, prep=prep) for prep in (10, 20))
    attentive = ACEGRUODEBayes(CLIMATE, 50, {"weight": 0.1}, attention="released", prep=20)
    assert (count(ten), count(twenty)) == (27_235, 34_985) == (42_640 - 15_405, 57_890 - 22_905)
    assert count(attentive) == 34_985 + 7_500 == 65_390 - 22_905
    assert count(ACEGRUODEBayes(CLIMATE, 50, {"weight": 0.1}, attention="fixed", prep=20)) == 34_985
    augmented = GRUODEBayes(CLIMATE, 50, prep=20, augmented=5)
    assert (augmented.dynamics.size, augmented.covariates_out.out_features) == (55, 50)


def test_initial_weights_are_those_of_the_released_code():
    torch.manual_seed(0)
    network = GRUODEBayes(CLIMATE, 400, prep=300)
    for layer in (network.covariates_out, network.p_in, network.p_out):
        bound = (6 / sum(layer.weight.shape)) ** 0.5
        assert layer.weight.abs().max().item() == pytest.approx(bound, rel=0.02) and (layer.bias == 0.05).all()
    assert network.dynamics.reset.abs().max().item() == pytest.approx((6 / 800) ** 0.5, rel=0.01)
    assert network.jump.weight.std().item() == pytest.approx((2 / 304) ** 0.5, rel=0.05)
    assert (network.jump.bias == 0.1).all()
    assert network.jump.gru.weight_hh.abs().max().item() == pytest.approx(400**-0.5, rel=0.01)


@pytest.mark.parametrize(("solver", "alike"), [("euler", [False, True, False]), ("still", [False, False, False])])
def test_dropout_is_drawn_anew_wherever_p_is(solver, alike):
    """A mask after a jump is the one before the next of that series where neither a step, of 0.25, nor another series'
    jump lies between."""
    times = np.float32([0.5, 0.6, 0.7, 2.0, 0.65])
    rows = Rows(times, np.ones((5, 3)), np.ones((5, 3), bool), np.array([4, 1]))
    network = GRUODEBayes(TASK, 5, **SMALL | {"p_hidden": 50, "solver": solver}).double().train()
    masks = masks_of(network, batch_of(rows, np.array([0])))
    same = [torch.equal(masks.before[k], masks.after[k - 1]) for k in (1, 2, 3)]
    assert same == alike
    both = masks_of(network, batch_of(rows, np.array([0, 1])))  # its rows are 0, 1, 3 and 4, the other's is 2
    assert not torch.equal(both.before[3], both.after[1])
    values = torch.cat([masks.start.flatten(), masks.before.flatten()])
    assert set(values.unique().tolist()) == {0.0, 1.25} and 0.6 < (values > 0).double().mean() < 0.95
    assert masks_of(network.eval(), batch_of(rows, np.array([0]))) == Masks()
