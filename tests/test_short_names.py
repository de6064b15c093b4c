"""hidden_dynamics.nn: its cells in the place of torch's, as docs/library.md says."""

import pytest
import torch
from cases import LSTMS, ORTHOGONAL, assert_all_close, noise
from torch import nn

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
