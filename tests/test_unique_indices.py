"""Index operations without a sort on a GPU: the same, in one kernel, and that the indices are unique."""

import pytest
import torch
from cases import noise
from hypothesis import given
from hypothesis import strategies as st
from series_cases import drawn_rows, whole

from hidden_dynamics.models.latent_family.lockstep import gaps, lockstep
from hidden_dynamics.models.latent_family.ode_rnn_rollout import Run
from hidden_dynamics.models.unique_indices import plain_kernels, put, take
from hidden_dynamics.training import devices


def are_unique(*indices):
    return len(torch.stack(indices).unique(dim=1).t()) == len(indices[0])


@given(
    st.integers(0, 999), st.integers(1, 7), st.integers(1, 9), st.sampled_from(["forwards", "backwards", "released"])
)
def test_no_place_is_written_twice(seed, series, rows, way):
    observations = whole(drawn_rows(seed, series, rows, latest=12))
    plan = lockstep(observations, gaps(observations.times, way))
    run = Run(plan, observations.series, True, False)
    assert all(are_unique(pairs) for pairs in run.pairs)  # of the jumps of an iteration
    assert are_unique(*run.place) and are_unique(plan.order)  # of all rows
    assert all(map(are_unique, observations.series.split(observations.offsets.diff().tolist())))  # GRU-ODE-Bayes' jumps


@pytest.mark.gpu
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_they_take_and_put_as_torch_does_with_its_gradients(device, gpu):
    devices.set_arithmetic(1, "fp32")
    before = torch.get_deterministic_debug_mode()
    rows, indices = noise(6, 2, seed=1).to(device), torch.tensor([4, 0, 3], device=device)
    found, expected = [], []
    for results, taking, putting in (
        (found, take, put),
        (expected, lambda rows, at: rows.index_select(0, at), lambda rows, at, values: rows.index_copy(0, at, values)),
    ):
        leaf = rows.clone().requires_grad_()
        if gpu is not None:
            gpu.reset()
        taken = taking(leaf, indices)
        placed = putting(leaf * 2, indices, taken.square())
        results += [taken, placed, *torch.autograd.grad((placed * rows).sum(), leaf)]
        if gpu is not None and device == "cuda":
            assert (gpu.kernels["index_copy"] == 2) == (taking is take) and gpu.kernels["index_copy"] in (2, 13)
            assert ("index_add" in gpu.kernels) == (taking is not take)
    assert all(map(torch.equal, found, expected)) and torch.get_deterministic_debug_mode() == before


@pytest.mark.gpu
def test_the_mode_is_as_before_after_an_error():
    torch.set_deterministic_debug_mode("warn")
    with pytest.raises(ZeroDivisionError), plain_kernels(torch.device("cuda")):
        assert torch.get_deterministic_debug_mode() == 0
        raise ZeroDivisionError
    assert torch.get_deterministic_debug_mode() == 1
