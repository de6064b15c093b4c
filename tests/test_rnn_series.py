"""The recurrent baselines of the Latent-ODE family: what each choice changes, and what a row's prediction knows.

That they are the released loops is held by test_latent_family_in_plain_form.py.
"""

import numpy as np
import pytest
import torch
from cases import assert_all_close, randomised
from series_cases import LATENT, RECONSTRUCTING, batch_for, drawn_rows, gradients_of, task_of, whole

from hidden_dynamics.models.latent_family.family import SeriesBatch
from hidden_dynamics.models.observations import Rows

D, SERIES = 3, 5
NETWORKS = {name: network for name, network in RECONSTRUCTING.items() if "ODE" not in name}
NETWORKS |= {"RNN-VAE": LATENT["RNN-VAE"], "RNN-VAE, released": (LATENT["RNN-VAE"][0], {"order": "patients"})}
every_network = pytest.mark.parametrize("name", NETWORKS)
recurrent = pytest.mark.parametrize("name", [name for name in NETWORKS if "VAE" not in name])


def drawn(seed=0):
    """Series of up to six rows, some at the same times, the first seldom among them; rows without any feature too."""
    return drawn_rows(seed, latest=19, lengths=[7, *np.random.default_rng(seed).integers(0, 7, SERIES - 1)])


def made(name, labels="series", **options):
    cls, own = NETWORKS[name]
    return randomised(cls(task_of(labels), 4, units=6, **own | options).double())


def answered(network, called, seed=0):
    torch.manual_seed(seed)
    prediction = network(called)
    return [prediction.values] if prediction.labels is None else [prediction.values, prediction.labels]


def changes_of(name):
    """The options in which the released network differs."""
    (_, own), (_, released) = NETWORKS[name], NETWORKS[f"{name}, released"]
    return [{key: value} for key, value in released.items() if own.get(key) != value]


@pytest.mark.parametrize(
    ("name", "change"),
    [(name, each) for name in NETWORKS if "released" not in name for each in changes_of(name)],
)
def test_each_released_value_changes_the_answer(name, change):
    """By itself: it is no other name for the published one."""
    network, given = made(name), batch_for(name, whole(drawn()))
    released = made(name, **change)
    released.load_state_dict(network.state_dict())
    one, other = answered(network, given), answered(released, given)
    assert all((each - its).abs().max() > 1e-3 for each, its in zip(one, other, strict=True))


@every_network
def test_one_union_time_suffices(name):
    """Where the released code divides by the longest gap, which is 0."""
    mask = np.ones((2, D), dtype=bool)
    mask[1] = False
    rows = Rows(np.zeros(2), np.ones(mask.shape), mask, np.ones(2, dtype=int))
    network = made(name)
    outputs = answered(network, batch_for(name, whole(rows)))
    total = sum(each.sum() for each in outputs)
    assert all(torch.isfinite(each).all() for each in (*outputs, *gradients_of(total, network)))


@every_network
def test_a_row_without_observations_changes_nothing(name):
    """At a union time that the batch has anyway, but for the first and last."""
    rows = drawn(4)
    times, lengths = rows.times[: rows.lengths[0]], rows.lengths.copy()
    new = next(t for t in np.unique(rows.times)[1:-1] if t not in times)
    place = int(np.searchsorted(times, new))
    lengths[0] += 1
    more = Rows(
        *(np.insert(each, place, row, 0) for each, row in zip(rows[:3], (new, 7.0, False), strict=True)), lengths
    )
    network, given, beside = made(name, "rows"), whole(rows), whole(more)
    kept = ~((beside.series == 0) & (beside.times[beside.rows_of_times()] == new))
    one, other = (answered(network, batch_for(name, each, labels="rows")) for each in (given, beside))
    assert_all_close([each[:, kept] for each in other], one)


def test_rnn_vae_as_released_encodes_the_series_from_the_other_end_of_the_batch():
    """Whatever a series but the middle one observed, its label is that of another: chance."""
    network, rows = made("RNN-VAE, released"), drawn(3)
    changed = rows._replace(values=np.where(np.arange(len(rows.values))[:, None] < rows.lengths[0], 1.0, rows.values))
    labels, others = (answered(network, batch_for("RNN-VAE", whole(each)))[1][0] for each in (rows, changed))
    assert (labels != others).tolist() == [False] * (SERIES - 1) + [True]


@recurrent
def test_a_recurrent_network_is_told_a_row_after_it_was_predicted(name):
    rows = drawn(5)
    last = rows.lengths[0] - 1
    changed = rows._replace(values=rows.values + 3.0 * (np.arange(len(rows.values)) == last)[:, None])
    network = made(name)
    if network.imputation is not None:
        network.imputation.weight.data.zero_()  # otherwise all rows know the mean of all
        network.imputation.bias.data.zero_()
    given = whole(rows)
    first, second = (answered(network, batch_for(name, whole(each)))[0] for each in (rows, changed))
    at_first = given.rows_of_times() == 0
    assert torch.equal(first[:, ~at_first], second[:, ~at_first])
    assert torch.equal(first[0, at_first], given.values[at_first])


@recurrent
def test_targets_other_than_the_context_are_refused(name):
    with pytest.raises(ValueError, match="context only"):
        made(name)(SeriesBatch(whole(drawn()), whole(drawn(), until=0.5)))
