"""The benchmark of the Latent-ODE family: what it compares answers alike."""

import argparse
import sys

import pytest
from conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import latent_series  # noqa: E402

OPTIONS = argparse.Namespace(series=4, rows=6, mirror=None, batch=None, device="cpu")


@pytest.mark.parametrize("name", latent_series.NETWORKS)
def test_both_forms_of_a_network_have_one_loss_and_take_a_step(name):
    given = latent_series.given_by(OPTIONS)
    latent_series.check_alike(name, given, OPTIONS)
    for form in (name, name + latent_series.PLAIN):
        network = latent_series.network_of(form, OPTIONS)
        latent_series.step(form, network, given)
        assert all(parameter.grad is not None for parameter in network.parameters())
