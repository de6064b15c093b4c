"""The path of a state through steps and jumps, held to the released loop written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.models.sporadic.path import KINDS, path


def walked(observed, delta, end, way):
    """The released loop: (time, name of the state) of every event, and the steps before each jump.

    A state is named by what made it: the steps and jumps so far, or, where all steps start alike, their start.
    """
    now, state, events, steps, passed, count, jumps, made = 0.0, (0, 0), [(0.0, (0, 0))], [], [], 0, 0, 0
    for time in observed:
        start = made
        while now < time - 0.001 * delta:
            made = start + 1 if way == "once" else made + 1 if way == "euler" else made
            now += time - now if way == "still" else delta
            count += 1
            state = (made, jumps)
            events.append((now, state))
        steps.append(made)
        passed.append(count)
        jumps += 1
        state = (made, jumps)
        events.append((time, state))
    while now < end:
        made += way != "still"
        now += end - now if way == "still" else delta
        events.append((now, (made, jumps)))
    return events, steps, passed, made


def read(events, decimals, time):
    """The state at the nearest rounded time, of equal times the first event, of equally near ones the earlier time."""
    states = {}
    for at, state in events:
        states.setdefault(np.float32(np.around(at, decimals)), state)
    times = np.array(sorted(states), dtype=np.float32)
    return states[times[np.abs(times - np.float32(time)).argmin()]]


@given(seed=st.integers(0, 10**6), count=st.integers(0, 12), delta=st.sampled_from([0.25, 0.1, 0.5, 1.0]))
@pytest.mark.parametrize("way", KINDS)
def test_a_path_is_that_of_the_released_loop(way, seed, count, delta):
    rng = np.random.default_rng(seed)
    observed = np.sort(rng.choice(60, count, replace=False)).astype(np.float32) / np.float32(10)
    observed, end = observed.astype(np.float64), rng.choice([4.0, 5.9, 8.0])
    found = path(observed, delta, end, way)
    events, steps, passed, made = walked(observed, delta, end, way)
    assert found.steps == steps and found.passed.tolist() == passed and found.last == made
    targets = rng.integers(0, 100, 20) / 10
    expected = [read(events, 2 if delta == 0.25 else 1, time) for time in targets]
    assert found.states_at(targets).tolist() == [steps + jumps for steps, jumps in expected]
