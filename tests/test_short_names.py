"""hidden_dynamics.nn: its cells in the place of torch's, as docs/library.md says, and its names."""

import inspect

import pytest
import torch
from cases import LSTMS, ORTHOGONAL, assert_all_close, noise
from torch import nn
from torch.nn.utils.rnn import pack_sequence

import hidden_dynamics.nn as hd

D, N, BATCH, STEPS = 3, 5, 4, 7
layouts = pytest.mark.parametrize(
    ("shape", "options", "state"),
    [
        ((STEPS, BATCH, D), {}, (1, BATCH, N)),
        ((BATCH, STEPS, D), {"batch_first": True}, (1, BATCH, N)),
        ((STEPS, D), {}, (1, N)),
        ((STEPS, D), {"batch_first": True}, (1, N)),
    ],
)
ways = pytest.mark.parametrize("given", [False, True])


def made(name, **options):
    cls, given = (LSTMS | ORTHOGONAL)[name]
    return cls(D, N, **given, **options)


@pytest.mark.parametrize("name", LSTMS | ORTHOGONAL)
@layouts
@ways
def test_every_cell_takes_and_gives_the_shapes_of_torchs_but_an_orthogonal_ones_state_is_an_object(
    name, shape, options, state, given
):
    own, of_torch = (2, nn.LSTM) if name in LSTMS else (1, nn.RNN)
    start = [tuple(torch.zeros(state) for _ in range(own)) if own == 2 else torch.zeros(state)] if given else []
    output, end = made(name, **options)(torch.zeros(shape), *start)
    expected, ends = of_torch(D, N, **options)(torch.zeros(shape), *start)
    ends, found = (ends, tuple(end)) if own == 2 else ((ends,), (end.h,))
    assert [output.shape, *(each.shape for each in found)] == [expected.shape, *(each.shape for each in ends)]


@pytest.mark.parametrize("name", list(LSTMS)[1:])
def test_a_state_handed_on_whole_carries_the_filter_and_a_plain_pair_starts_it_anew(name):
    rnn, x = made(name).double(), noise(2 * STEPS, BATCH, D, seed=1)
    _, state = rnn(x[:STEPS])
    on, anew = rnn(x[STEPS:], state)[0], rnn(x[STEPS:], tuple(state))[0]
    assert_all_close([on], [rnn(x)[0][STEPS:]])
    assert (anew - on).abs().max() > 1e-4


def test_ragged_batches_have_a_function_of_their_own_which_gives_the_data_of_a_packed_sequence():
    sequences = [noise(5, D, seed=1), noise(3, D, seed=2)]
    rnn = hd.MomentumLSTM(D, N, mu=0.6, s=0.9).double()
    h = hd.run_ragged(rnn, nn.utils.rnn.pad_sequence(sequences), torch.tensor([5, 3]))
    assert_all_close([h], [pack_sequence([rnn(sequence)[0] for sequence in sequences]).data])


@pytest.mark.parametrize("name", hd.__all__)
def test_every_name_is_documented_and_annotated(name):
    """As py.typed promises."""
    public = getattr(hd, name)
    assert inspect.getdoc(public)
    for function in (public, *(vars(public).get(key) for key in ("__init__", "forward"))):
        if not inspect.isfunction(function):
            continue
        parameters = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
        assert not [one.name for one in parameters if one.annotation is inspect.Parameter.empty], function
