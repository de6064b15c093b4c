"""Sequences of different lengths: what is run, and that it gives what the padded batch gives, gradients included."""

import itertools
from types import SimpleNamespace

import pytest
import torch
from cases import CORES, assert_all_close, noise, randomised
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from hidden_dynamics.models import ragged
from hidden_dynamics.models.momentum.filters import Momentum
from hidden_dynamics.models.ragged import run_ragged, segments
from hidden_dynamics.models.recurrent.lstm import LSTM, SRLSTM
from hidden_dynamics.models.recurrent.orthogonal import DTRIV
from hidden_dynamics.models.recurrent_network import RecurrentNetwork

descending = st.lists(st.integers(1, 12), min_size=1, max_size=7).map(lambda lengths: sorted(lengths, reverse=True))
D, N = 3, 5
LAST_STEP, EVERY_STEP = (SimpleNamespace(input_size=D, output_size=4, every_step=every) for every in (False, True))
LENGTHS = [23, 19, 19, 18, 7, 6, 1, 1]

VARIANTS = [(*CORES[name], backend) for name in CORES for backend in ("fused", "reference")]
VARIANTS.append((SRLSTM, {"s": 0.7, "restart": 6, "cell": "look_ahead"}, "reference"))


def padded(core, x, lengths):
    """What run_ragged is held to: everything computed, the valid steps taken out."""
    return core(x)[0][torch.arange(len(x)).unsqueeze(1) < torch.tensor(lengths)]


def with_gradients(run, core, x, lengths):
    """The outputs of `run`, and the gradients of a random function of them."""
    x = x.clone().requires_grad_()
    h = run(core, x, lengths)
    return [h, *torch.autograd.grad((h * noise(*h.shape, seed=5)).sum(), [x, *core.parameters()])]


@given(descending, st.integers(0, 3), st.sampled_from([0, 4, 20]), st.sampled_from(VARIANTS))
@example(LENGTHS, 0, 0, (*CORES["Adam"], "fused"))
@example(LENGTHS, 0, 12, (*CORES["Adam"], "fused"))
def test_ragged_is_padded_and_run_in_segments_whatever_the_lengths(lengths, more_padding, segment_rows, variant):
    cls, options, backend = variant
    core = randomised(cls(D, 2, **options, backend=backend).double())
    x, calls = noise(lengths[0] + more_padding, len(lengths), D), []
    core.register_forward_hook(lambda *call: calls.append(call))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "CPU_SEGMENT", segment_rows)
        actual = with_gradients(run_ragged, core, x, torch.tensor(lengths))
    assert len(calls) == len(segments(torch.tensor(lengths), segment_rows))
    assert_all_close(actual, with_gradients(padded, core, x, lengths))


class NoState(nn.Linear):
    """A core that can only be run over whole sequences."""

    def forward(self, x, state=None):
        return torch.cumsum(super().forward(x), dim=0), None


@pytest.mark.parametrize("cls", [nn.LSTM, NoState])  # torch's state is a pair of tensors
def test_a_core_whose_state_cannot_be_cut_is_run_over_the_padded_batch(cls, monkeypatch):
    monkeypatch.setattr(ragged, "CPU_SEGMENT", 0)
    core = randomised(cls(D, N).double())
    x = noise(LENGTHS[0] + 2, len(LENGTHS), D)
    actual = with_gradients(run_ragged, core, x, torch.tensor(LENGTHS))
    assert_all_close(actual, with_gradients(padded, core, x, LENGTHS))


@given(descending, st.integers(0, 40))
def test_segments_cover_every_valid_step_in_order_and_no_other_cuts_are_cheaper(lengths, segment_rows):
    def segmented(cuts):
        pieces = itertools.pairwise([0, *cuts, lengths[0]])
        return [(start, end, sum(length > start for length in lengths)) for start, end in pieces]

    def cost(pieces):
        return sum((end - start) * count + segment_rows for start, end, count in pieces)

    inner, found = range(1, lengths[0]), segments(torch.tensor(lengths), segment_rows)
    assert found == segmented([end for _, end, _ in found[:-1]]) and all(start < end for start, end, _ in found)
    ways = (cuts for k in range(len(inner) + 1) for cuts in itertools.combinations(inner, k))
    assert cost(found) == min(cost(segmented(cuts)) for cuts in ways)


def test_a_network_of_the_last_step_takes_no_lengths():
    network = RecurrentNetwork(LAST_STEP, LSTM, hidden_size=N).double()
    assert network(noise(8, 3, D)).shape == (3, 4)
    with pytest.raises(ValueError, match="every step"):
        network(noise(8, 3, D), torch.tensor([8, 5, 3]))


@pytest.mark.parametrize("core", [LSTM, DTRIV])
def test_the_last_state_is_that_of_the_last_layer(core):
    network, x = RecurrentNetwork(LAST_STEP, core, hidden_size=N, num_layers=2).double(), noise(8, 3, D)
    assert torch.equal(network(x), network.readout(network.core(x)[0][-1]))


def test_the_last_state_of_a_core_of_ones_own_is_the_last_of_its_outputs():
    class Own(nn.Module):
        hidden_size = D

        def __init__(self, d, **_):
            super().__init__()

        def forward(self, x):
            return x, SimpleNamespace(h=x[-1])  # (batch, N): no layers

    network, x = RecurrentNetwork(LAST_STEP, Own).double(), noise(8, 3, D)
    assert torch.equal(network(x), network.readout(x[-1]))


@pytest.mark.parametrize("option", ["batch_first", "bidirectional"])
def test_a_core_that_reads_otherwise_is_refused(option):
    with pytest.raises(ValueError, match=option):
        RecurrentNetwork(LAST_STEP, LSTM, hidden_size=N, **{option: True})


READOUT = ["readout.weight", "readout.bias"]


@pytest.mark.parametrize(
    ("core", "expected"),
    [
        (LSTM, {"main": ["core.weight_ih_l0", "core.weight_hh_l0", "core.bias_ih_l0", "core.bias_hh_l0", *READOUT]}),
        (DTRIV, {"main": ["core.weight_ih_l0", "core.bias_l0", *READOUT], "orthogonal": ["core.orthogonal_l0.skew"]}),
    ],
)
def test_groups_of_the_core_are_kept_or_one_and_the_readout_joins_the_main_one(core, expected):
    network = RecurrentNetwork(EVERY_STEP, core, hidden_size=N, filter=Momentum(0.6, 0.9))
    names, groups = {id(parameter): name for name, parameter in network.named_parameters()}, network.parameter_groups()
    assert {group: [names[id(parameter)] for parameter in groups[group]] for group in groups} == expected
