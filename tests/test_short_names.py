"""hidden_dynamics.nn: its cells in the place of torch's, as docs/library.md says."""

import pytest
from cases import LSTMS, assert_all_close, noise

D, N, BATCH, STEPS = 3, 5, 4, 7


@pytest.mark.parametrize("name", list(LSTMS)[1:])
def test_a_state_handed_on_whole_carries_the_filter_and_a_plain_pair_starts_it_anew(name):
    cls, options = LSTMS[name]
    rnn, x = cls(D, N, **options).double(), noise(2 * STEPS, BATCH, D, seed=1)
    _, state = rnn(x[:STEPS])
    on, anew = rnn(x[STEPS:], state)[0], rnn(x[STEPS:], tuple(state))[0]
    assert_all_close([on], [rnn(x)[0][STEPS:]])
    assert (anew - on).abs().max() > 1e-4
