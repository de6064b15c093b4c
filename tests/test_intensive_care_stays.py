"""The generated stays: severity shows, and decides who dies."""

from pathlib import Path

import numpy as np

from hidden_dynamics.data import intensive_care_stays as stays
from hidden_dynamics.data import prepared, stay_records


def test_the_default_stays():
    arrays = stays.prepare(Path("nowhere"), {})
    assert arrays["ids"].tolist() == list(range(1, 201)) and arrays["died"].mean() == 0.25
    assert 10 <= arrays["lengths"].mean() <= 14 and arrays["mask"].any(axis=0).sum() == 18
    # Whole hours, to the quantum of the records: a batch has at most 49 union times.
    whole = np.unique(arrays["times"])
    assert len(whole) <= 49 and np.abs(whole - whole.round()).max() <= stay_records.QUANTUM / 2 + 1e-6
    first = np.cumsum(arrays["lengths"]) - arrays["lengths"]
    assert (arrays["times"][first] == 0).all() and arrays["mask"][first, :5].all()
    unknown = (arrays["values"] == -1) & arrays["mask"]
    assert {stay_records.PARAMETERS[place] for place in np.flatnonzero(unknown.any(axis=0))} == {"Height", "Weight"}


def test_those_who_die_have_a_faster_heart():
    arrays, place = stays.prepare(Path("nowhere"), {"stays": 2000}), stay_records.PARAMETERS.index("HR")
    there, died = arrays["mask"][:, place], np.repeat(arrays["died"], arrays["lengths"])
    means = [arrays["values"][there & (died == which), place].mean() for which in (True, False)]
    assert means[0] > means[1] + 15


def test_the_same_seed_draws_the_same_stays():
    digests = [prepared.digest(stays.prepare(Path("nowhere"), {"stays": 5, "seed": seed})) for seed in (0, 0, 1)]
    assert digests[0] == digests[1] != digests[2]
