"""Irregular series drawn at random, every network of them, and what tests of their tasks share."""

from types import SimpleNamespace

import numpy as np
import torch
from cases import noise

from hidden_dynamics.models.latent_family.ace_latent_ode import ACELatentODE
from hidden_dynamics.models.latent_family.family import SeriesBatch
from hidden_dynamics.models.latent_family.latent_ode import LatentODE
from hidden_dynamics.models.latent_family.ode_rnn import ODERNN
from hidden_dynamics.models.latent_family.poisson_latent_ode import LatentODEPoisson
from hidden_dynamics.models.latent_family.rnn_baselines import RNNBaseline
from hidden_dynamics.models.latent_family.rnn_vae import RNNVAE
from hidden_dynamics.models.observations import Rows, batch_of
from hidden_dynamics.models.sporadic.ace_gru_ode_bayes import ACEGRUODEBayes
from hidden_dynamics.models.sporadic.gru_ode_bayes import GRUODEBayes
from hidden_dynamics.models.sporadic.neural_ode_vae import NeuralODEVAE
from hidden_dynamics.models.sporadic.row_by_row import GRUD, TLSTM, GRUSimple
from hidden_dynamics.models.sporadic.sequential_vae import SequentialVAE

STAYS = {"placeholders": "missing", "normalisation": "range", "zero_times": "kept", "validation": 0.1}
SOLVER = {"solver": {"rtol": 1e-6, "atol": 1e-6, "adjoint": False}}
PENALTY = {"penalty": {"weight": 0.1}}
ROUGH = {"method": "dopri5", "rtol": 1e-1, "atol": 1e-1, "adjoint": False}  # random rates take hundreds of steps
FORECASTERS = {
    **{"GRU-Simple": (GRUSimple, {}), "GRU-D": (GRUD, {}), "T-LSTM": (TLSTM, {}), "GRU-ODE-Bayes": (GRUODEBayes, {})},
    **{"Neural-ODE-VAE": (NeuralODEVAE, SOLVER), "Neural-ODE-VAE-Mask": (NeuralODEVAE, SOLVER | {"mask": True})},
    "Sequential VAE": (SequentialVAE, {}),
}
FORECASTERS |= {
    f"ACE-GRU-ODE-Bayes, {attention}": (ACEGRUODEBayes, PENALTY | {"attention": attention})
    for attention in ("evolving", "fc", "fixed", "released")
}
RNNS = {
    "RNN Delta": {"gap": "to_last"},
    "RNN-Impute": {"gap": "to_last", "mean": "observed"},
    "RNN-Decay": {"decay": True},
    "RNN GRU-D": {"decay": True, "mean": "observed"},
    "RNN Delta, released": {"gap": "to_next"},
    "RNN-Impute, released": {"gap": "to_next", "mean": "union", "decay_gaps": "released"},
    "RNN-Decay, released": {"decay": True, "decay_gaps": "released"},
    "RNN GRU-D, released": {"decay": True, "mean": "union", "decay_gaps": "released"},
}
RECONSTRUCTING = {name: (RNNBaseline, options) for name, options in RNNS.items()}
RECONSTRUCTING |= {"ODE-RNN": (ODERNN, {}), "ODE-RNN, released": (ODERNN, {"steps": "backwards"})}
ACE = {
    **{"ACE": {}, "ACE, raw": {"mixing": "raw"}, "ACE, tied": {"tied": True}, "FC-ACE": {"attention": "fc"}},
    **{"ACE, random": {"rate": "random", "solver": ROUGH}, "Fixed-ACE": {"attention": "fixed"}},
}
LATENT = {
    **{"RNN-VAE": (RNNVAE, {}), "Latent-ODE": (LatentODE, {}), "Latent-ODE, RNN": (LatentODE, {"encoder": "rnn"})},
    **{"Augmented-Latent-ODE": (LatentODE, {"augmented": 2}), "Poisson": (LatentODEPoisson, {})},
    "Poisson, released": (LatentODEPoisson, {"unobserved": "zero"}),
    **{name: (ACELatentODE, options) for name, options in ACE.items()},
}
NETWORKS = FORECASTERS | RECONSTRUCTING | LATENT


def task_of(labels=None, features=3, classes=4):
    classes = classes if labels == "rows" else 1
    return SimpleNamespace(features=features, covariates=1, until=2.0, end=3.0, labels=labels, classes=classes)


def made(name, labels="series", size=4, **options):
    cls, own = NETWORKS[name]
    torch.manual_seed(0)
    return cls(task_of(labels), size, **own | options)


def shaken(network):
    """In float64, its parameters away from where they start: biases, too."""
    network = network.double()
    with torch.no_grad():
        for k, parameter in enumerate(network.parameters()):
            parameter.add_(0.2 * noise(*parameter.shape, seed=k))
    return network


def drawn_rows(seed=0, series=6, most=5, features=3, latest=40, unit=None, density=0.5, lengths=None):
    """Rows at distinct times of 0 to `latest`, in units of `unit`; some at one time in several series, some without an
    observation, and where no lengths are given some series without rows."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, most + 1, series) if lengths is None else np.array(lengths)
    times = [np.sort(rng.choice(latest + 1, length, replace=False)) / (unit or latest) for length in lengths]
    mask = rng.random((lengths.sum(), features)) < density
    return Rows(np.concatenate([*times, []]).astype(np.float32), rng.standard_normal(mask.shape), mask, lengths)


def rows_of(arrays, place):
    """The rows of the series at a place of a dataset's arrays."""
    end = arrays["lengths"][: place + 1].sum()
    return slice(end - arrays["lengths"][place], end)


def whole(rows, chosen=None, until=None):
    return batch_of(rows, np.arange(len(rows.lengths)) if chosen is None else chosen, until)


def batch_for(name, context, targets=None, labels="series"):
    """What the network is called with; `targets` is the context where it is None."""
    if name in FORECASTERS:
        return context
    targets, found = context if targets is None else targets, None
    if labels == "series":
        found = (torch.arange(context.size) % 2).to(context.values)
    elif labels == "rows":
        found = torch.arange(len(targets.series)) % 5 - 1
    return SeriesBatch(context, targets, found, 0.5)


def count(network):
    """Its parameters."""
    return sum(parameter.numel() for parameter in network.parameters())


def gradients_of(value, network):
    """None, where a parameter has no part in it, is 0."""
    return torch.autograd.grad(value, list(network.parameters()), allow_unused=True, materialize_grads=True)


def learnt(network, called):
    """The loss and its gradients."""
    torch.manual_seed(1)
    loss = network.loss(network(called), called)
    return [loss, *gradients_of(loss, network)]
