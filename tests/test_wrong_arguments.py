"""Arguments that would be misread are refused by name, as nn.LSTM refuses its own."""

import math

import numpy as np
import pytest
import torch
from cases import CORES, Given, noise
from series_cases import task_of
from torch import nn

import hidden_dynamics.nn as hd

NAN, ROWS = math.nan, hd.Rows(np.float32([0, 0, 1]), np.ones((3, 1)), np.ones((3, 1), bool), np.array([1, 2]))
SEEN = {"times": torch.zeros(1), "offsets": torch.tensor([0, 2]), "values": torch.ones(2, 1), "mask": torch.ones(2, 1)}
SEEN |= {"series": torch.tensor([0, 1]), "size": 2}
FIXED = [hd.Solver(method, adjoint=adjoint) for method in ("rk4", "euler") for adjoint in (True, False)]


def of_state(function):
    return Given(lambda t, y: function(y))


def solved(f, g, solver):
    pair = hd.CoEvolving(of_state(f), of_state(g), lambda h, a: h)
    return hd.Integral(pair, solver)((noise(2, 3), noise(3, 3)))


def at_times(times):
    offsets = torch.zeros(len(times) + 1, dtype=torch.int64)
    return hd.Integral(of_state(torch.sin), hd.Solver()).of_rows(noise(1, 4, 3), times, offsets, offsets[:0])


NUMBERS = {
    "mu": (lambda v: hd.MomentumLSTM(1, 2, mu=v, s=1.0), ["0.5", None, True, NAN, 1.0, -0.1]),
    "s": (lambda v: hd.NAGLSTM(1, 2, s=v), [math.inf, -math.inf, NAN, 0, -1.0, "1", [1.0]]),
    "eps": (lambda v: hd.AdamLSTM(1, 2, mu=0.5, s=1.0, beta=0.5, eps=v), [math.inf, NAN, 0.0, None]),
    "beta": (lambda v: hd.RMSPropDTRIV(1, 2, s=1.0, beta=v), [1.0, NAN, "0", -0.5]),
    "restart": (lambda v: hd.SRLSTM(1, 2, s=1.0, restart=v), [1.5, NAN, True, 0, -1, "6"]),
    "phase": (lambda v: hd.Nesterov(1.0, 6, v), [NAN, 1.5, -1, None]),
    "forget_bias": (lambda v: hd.LSTM(1, 2, forget_bias=v), [NAN, math.inf, "1"]),
    "filter": (lambda v: hd.LSTM(1, 2, filter=v), [5, "momentum", nn.Identity(), hd.Adam]),
    "bidirectional": (lambda v: hd.DTRIV(1, 2, bidirectional=v), [None, "yes", 0.5, 1.0, 2]),
    "K": (lambda v: hd.DTRIV(1, 2, K=v), [0, -1, 1.5, True, "many", None]),
    "initialisation": (lambda v: hd.DTRIV(1, 2, initialisation=v), ["identity"]),
    "backend": (lambda v: hd.LSTM(1, 2, backend=v), ["fast", None]),
    "times": (lambda v: at_times(torch.tensor(v)), [[0.0, 0.5, 0.5], [1.0, 0.5], [0.0, math.inf], []]),
    "method": (hd.Solver, ["dopri6", None]),
    "rtol": (lambda v: hd.Solver(rtol=v), [0.0, -1e-3, NAN]),
    "atol": (lambda v: hd.Solver(atol=v), [0.0, NAN]),
    "max_steps": (lambda v: hd.Solver(max_steps=v), [0, 2.5, True]),
    "min_step": (lambda v: hd.Solver(min_step=v), [-0.1, 0.0, NAN, 2.0]),
    "step_size": (lambda v: hd.Solver("rk4", step_size=v), [-0.1, 1e-19, 1e-320, 1e-9, NAN, 0.0, 2.0]),
    "hidden_size": (lambda v: hd.LatentODE(task_of(), v), [0, -1, 2.5, True, None]),
    "samples": (lambda v: hd.ACELatentODE(task_of(), 2, samples=v), [0, 1.5]),
    "augmented": (lambda v: hd.LatentODE(task_of(), 2, augmented=v), [-1, 0.5]),
    "units": (lambda v: hd.LatentODE(task_of(), 2, units=v), [0]),
    "chosen": (lambda v: hd.batch_of(ROWS, v), [[True, False], [-1], [0.5], ["0"], [2], 0, [[0]], [NAN], [None]]),
    "mask": (lambda v: hd.Observations(**SEEN | {"mask": torch.tensor([[1], [v]])}), [2, 0.5, -1, NAN, math.inf]),
    "series": (lambda v: hd.Observations(**SEEN | {"series": torch.tensor([0, v])}), [2, -1, 0]),
    "offsets": (lambda v: hd.Observations(**SEEN | {"offsets": torch.tensor(v)}), [[], [0, 3], [0, 1, 2]]),
}


@pytest.mark.parametrize(("name", "value"), [(name, each) for name, (_, values) in NUMBERS.items() for each in values])
def test_a_value_out_of_its_range_or_of_another_type_is_refused_by_name(name, value):
    with pytest.raises((ValueError, TypeError), match=rf"\b{name}\b"):
        NUMBERS[name][0](value)


def test_rows_are_of_states_with_a_dimension_of_series():
    integral = hd.Integral(of_state(torch.sin), hd.Solver(adjoint=False))
    with pytest.raises(ValueError, match=r"\(K, N, d\)"):
        integral.of_rows(noise(4, 3), torch.tensor([0.0, 1.0]), torch.tensor([0, 1, 2]), torch.tensor([0, 1]))


def test_a_mask_may_be_a_bool():
    batches = [hd.Observations(**SEEN | {"mask": SEEN["mask"].to(kind)}) for kind in (torch.float32, torch.bool)]
    assert batches[0].mask.dtype == batches[1].mask.dtype == SEEN["values"].dtype
    assert torch.equal(*(each.mask for each in batches))


def test_a_step_size_is_for_fixed_steps_and_a_shortest_step_for_adaptive_ones():
    with pytest.raises(ValueError, match="step_size"):
        hd.Solver(step_size=0.1)
    with pytest.raises(ValueError, match="min_step"):
        hd.Solver("rk4", min_step=0.1)


@pytest.mark.parametrize("solver", [hd.Solver(), hd.Solver(adjoint=False), *FIXED], ids=str)
def test_dynamics_that_are_not_shaped_as_the_state_are_refused(solver):
    def small(y):
        return y.T @ y

    solved(torch.sin, small, solver)
    for f, g in ((small, torch.sin), (lambda y: y.T, small), (lambda y: y[:1], small), (lambda y: y.sum(), small)):
        with pytest.raises(ValueError, match="shapes"):
            solved(f, g, solver)
    for wrong in (lambda y: y[:1], lambda y: y.sum(), lambda y: y[None], lambda y: y.T):
        with pytest.raises(ValueError, match="shapes"):
            hd.Integral(of_state(wrong), solver)(noise(2, 3))


@pytest.mark.parametrize("solver", [hd.Solver(), hd.Solver("rk4", adjoint=False)], ids=str)
@pytest.mark.parametrize(
    ("name", "offsets", "series"),
    [("offsets", each, [0, 1]) for each in ([0, 1, 3], [0, -1, 2], [0, 2, 1], [1, 1, 2], [0, 2], [0, 1, 1, 2])]
    + [("series", [0, 1, 2], each) for each in ([0, -1], [2, 0])],
)
def test_rows_that_are_not_there_are_refused(solver, name, offsets, series):
    y, times = noise(1, 2, 3).requires_grad_(), torch.tensor([0.0, 1.0])
    integral = hd.Integral(of_state(torch.sin), solver)
    with pytest.raises(ValueError, match=name):
        integral.of_rows(y, times, torch.tensor(offsets), torch.tensor(series))
    integral.of_rows(y, times, torch.tensor([0, 1, 2]), torch.tensor([1, 0]))


@pytest.mark.parametrize("name", CORES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_cell_of_half_precision_starts_as_one_of_single_precision(name, dtype):
    cls, given = CORES[name]
    made = []
    for each in (dtype, torch.float32):
        torch.manual_seed(0)
        made.append(cls(3, 5, 2, bidirectional=True, dtype=each, **given))
    for half, single in zip(*(core.named_parameters(recurse=False) for core in made), strict=True):
        if half[0].startswith("weight_ih") and hasattr(made[0], "weight_hh_l0"):
            assert torch.equal(half[1], single[1].to(dtype))
        assert half[1].dtype == dtype and half[1].isfinite().all()
    assert name == "a filter of one's own" or made[0](torch.ones(2, 1, 3, dtype=dtype))[0].dtype == dtype
