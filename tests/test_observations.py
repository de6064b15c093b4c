"""Irregular series: batches over the union of times, held to loops over the observations."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from series_cases import drawn_rows

from hidden_dynamics.models.observations import batch_of


def drawn(seed):
    rows = drawn_rows(seed, series=5, most=7, unit=4)
    return rows._replace(values=np.where(rows.mask, rows.values, np.nan).astype(np.float32))


def listed(rows, chosen, until):
    """(time, series, its values and mask), in order, one by one."""
    found, starts = [], np.concatenate([[0], np.cumsum(rows.lengths)])
    for place, series in enumerate(chosen):
        for row in range(starts[series], starts[series + 1]):
            if until is None or rows.times[row] <= until:
                values = [value if seen else 0.0 for value, seen in zip(rows.values[row], rows.mask[row], strict=True)]
                found.append((float(rows.times[row]), place, values, list(rows.mask[row])))
    return sorted(found, key=lambda item: item[:2])


@given(seed=st.integers(0, 10**6), until=st.sampled_from([None, 5.0, 2.25, -1.0]))
def test_a_batch_holds_the_rows_of_its_series_by_time_and_series(seed, until):
    rows = drawn(seed)
    chosen = np.random.default_rng(seed).integers(0, 5, 4)
    batch, expected = batch_of(rows, chosen, until), listed(rows, chosen, until)
    assert batch.size == 4 and batch.times.tolist() == sorted({time for time, *_ in expected})
    assert batch.times[batch.rows_of_times()].tolist() == [time for time, *_ in expected]
    assert batch.offsets.tolist() == [0, *np.cumsum([sum(t == time for t, *_ in expected) for time in batch.times])]
    assert batch.series.tolist() == [place for _, place, *_ in expected]
    assert batch.values.tolist() == [values for *_, values, _ in expected]
    assert batch.mask.tolist() == [mask for *_, mask in expected]
