"""The ODE-RNN: held to the released loop in plain form, in float64, gradients included."""

import gc
import weakref

import pytest
import torch
from cases import assert_all_close, noise, randomised
from hypothesis import assume, example, given
from hypothesis import strategies as st
from plain_latent_ode import dense_of, rollout
from series_cases import drawn_rows, gradients_of, whole

from hidden_dynamics.models.latent_family.lockstep import gaps, lockstep
from hidden_dynamics.models.latent_family.ode_rnn import ODERNNCore
from hidden_dynamics.models.latent_family.ode_rnn_rollout import CHUNK, Run

WAYS = ["forwards", "backwards", "released"]


def drawn(seed=0, series=5, rows=4, features=3, latest=40, density=0.4):
    """Some series without rows, some rows without an observation; times in [0, 1], some alike in several series."""
    return whole(drawn_rows(seed, series, rows, features, latest, density=density))


def made(layers=1, size=3, features=3):
    torch.manual_seed(0)
    return randomised(ODERNNCore(features, size, layers, 5, 4).double())


def of_all(core, passed, weights):
    """A function of all that a rollout gives, and its gradients."""
    return gradients_of(sum((each * weight).sum() for each, weight in zip(passed, weights, strict=True)), core)


def hold_to_plain(core, observations, way, tolerance=1e-12):
    """What `ODERNNCore` gives, and its gradients, are those of the released loop over dense arrays."""
    means, mean, deviation = rollout(core, dense_of(observations), way)
    nothing = torch.zeros_like(means[:1])
    found = torch.cat([means[1:], nothing] if way == "backwards" else [nothing, means[:-1]])
    place = observations.rows_of_times(), observations.series
    passed, plain = core(observations, way), (mean, deviation, found[place], means[place])
    assert_all_close(passed, plain, tolerance)
    weights = [noise(*each.shape, seed=7 + k) for k, each in enumerate(plain)]
    assert_all_close(*(of_all(core, each, weights) for each in (passed, plain)), tolerance)


@pytest.mark.parametrize("way", ["forwards", "backwards"])
def test_a_long_rollout_adds_its_gradients_up_in_chunks(way):
    observations = drawn(series=7, rows=60, latest=400)
    assert sum(gaps(observations.times, way).steps) > 2 * CHUNK
    core = made()
    with torch.no_grad():  # or rounding errors would grow over so many steps
        for parameter in core.parameters():
            parameter.mul_(0.5)
    hold_to_plain(core, observations, way)


def test_in_single_precision_no_gradient_is_a_small_difference_of_large_sums():
    torch.manual_seed(0)
    observations, core = drawn(series=20, rows=40, latest=400).to(torch.float32), ODERNNCore(3, 10, 3, 50, 8)
    found = of_all(core, core(observations, "forwards"), [1.0] * 4)
    expected = of_all(core.double(), core(observations.to(torch.float64), "forwards"), [1.0] * 4)
    for one, other in zip(found, expected, strict=True):
        assert torch.linalg.vector_norm(one - other) < 1e-4 * torch.linalg.vector_norm(other)


@given(
    seed=st.integers(0, 10**6),
    series=st.integers(1, 4),
    rows=st.integers(0, 5),
    latest=st.sampled_from([5, 13, 80]),
    density=st.sampled_from([0.0, 0.3, 1.0]),
    way=st.sampled_from(WAYS),
    layers=st.integers(0, 3),
)
@example(seed=0, series=1, rows=1, latest=5, density=1.0, way="backwards", layers=1).via("one union time")
def test_the_rollout_is_the_plain_loop_whatever_the_shape(seed, series, rows, latest, density, way, layers):
    observations = drawn(seed, series, rows, 2, latest, density)
    assume(way != "released" or len(observations.times) != 1)  # the released loop divides by 0 then
    core = made(layers, 2, 2)
    if len(observations.times):
        hold_to_plain(core, observations, way, 1e-11)
        return
    passed = core(observations, way)
    assert not passed.mean.any() and not passed.std.any() and passed.before.shape == (0, 2)
    assert not any(gradient.any() for gradient in of_all(core, passed, [1.0] * 4))


@pytest.mark.parametrize("way", WAYS)
def test_without_gradients_the_rollout_is_the_same_to_the_last_bit_and_keeps_no_event(way, monkeypatch):
    tapes, forward = [], Run.forward
    monkeypatch.setattr(Run, "forward", lambda run, weights: tapes.append(run.tape) or forward(run, weights))
    observations, core = drawn(), made()
    with torch.no_grad():
        passed = core(observations, way)
        wanted = core(observations, way, rows=False)
    assert all(torch.equal(one, other) for one, other in zip(passed, core(observations, way), strict=True))
    assert torch.equal(wanted.mean, passed.mean) and wanted.before.shape == wanted.after.shape == (0, 3)
    assert [bool(tape) for tape in tapes] == [False, False, True]


def test_jumps_come_together_where_rows_are_few_and_each_by_itself_where_they_are_many():
    few, many = drawn(series=3, rows=30, latest=200), drawn(series=60, rows=10, latest=20)
    for observations, alone in ((few, False), (many, True)):
        plan = lockstep(observations, gaps(observations.times, "forwards"))
        assert (len(plan.jumps.times) == len(observations.times)) is alone
        assert (len(plan.lengths) == sum(gaps(observations.times, "forwards").steps)) is alone


def test_backward_runs_once_and_what_is_not_run_is_freed():
    core, observations = made(), drawn()
    value = core(observations, "forwards").mean.sum()
    value.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="once"):
        value.backward()
    passed = core(observations, "forwards")
    gone = weakref.ref(passed.mean.grad_fn.next_functions[0][0])
    del passed
    gc.collect()
    assert gone() is None
