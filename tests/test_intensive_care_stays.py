"""The generated stays: the severity is the process it says, it decides who dies, and the records show it."""

from pathlib import Path

import numpy as np
import pytest

from hidden_dynamics.data import intensive_care_stays as stays
from hidden_dynamics.data import prepared, stay_records
from hidden_dynamics.data.streams import generator


def separation(scores: np.ndarray, died: np.ndarray) -> float:
    """The area under the ROC curve: how often one who dies scores above one who does not."""
    return float((scores[died][:, None] > scores[~died]).mean())


def test_severity_has_the_covariance_of_its_equation():
    severity = stays.severities(generator(0), 20_000)
    assert severity.shape == (20_000, 49)
    assert severity.mean(axis=0) == pytest.approx(np.zeros(49), abs=0.05)
    for later in (0, 12, 48):  # the stay's own level, and what decays about it
        expected = 1 + stays.SPREAD * np.exp(-later / stays.HOLD)
        assert (severity[:, 0] * severity[:, later]).mean() == pytest.approx(expected, abs=0.05)
    assert (severity[:, 48] ** 2).mean() == pytest.approx(1 + stays.SPREAD, abs=0.05)


@pytest.mark.parametrize("deaths", [0.1, 0.25, 0.6])
@pytest.mark.parametrize("unknown", [0.0, 0.8])
def test_the_share_of_deaths_is_as_chosen_and_severity_tells_more_the_less_is_unknown(deaths: float, unknown: float):
    random = generator(1)
    severity = stays.severities(random, 10_000)
    died = stays.outcomes(random, severity, stays.Settings(deaths=deaths, unknown=unknown))
    assert died.mean() == pytest.approx(deaths, abs=0.02)
    found = separation(severity.mean(axis=1), died)
    assert found == 1 if unknown == 0 else 0.85 < found < 0.95


def test_the_default_stays():
    arrays = stays.prepare(Path("nowhere"), {})
    assert arrays["ids"].tolist() == list(range(1, 201)) and arrays["values"].shape[1] == 41
    assert 10 <= arrays["lengths"].mean() <= 14 and 0.2 <= arrays["died"].mean() <= 0.3
    # Whole hours, to the quantum of the records: a batch has at most 49 union times.
    whole = np.unique(arrays["times"])
    assert len(whole) <= 49 and np.abs(whole - whole.round()).max() <= stay_records.QUANTUM / 2 + 1e-6
    first = np.cumsum(arrays["lengths"]) - arrays["lengths"]
    described = [stay_records.PARAMETERS.index(name) for name in ("Age", "Gender", "Height", "ICUType", "Weight")]
    assert arrays["mask"][np.ix_(first, described)].all() and (arrays["times"][first] == 0).all()
    often = arrays["mask"].mean(axis=0) > 0.1
    assert often.sum() == pytest.approx(13, abs=3) and arrays["mask"].any(axis=0).sum() == 18


def test_few_measurements_tell_who_dies():
    arrays = stays.prepare(Path("nowhere"), {"stays": 2000})
    first = np.cumsum(arrays["lengths"]) - arrays["lengths"]
    score = np.zeros(len(first))
    for name, measure in stays.MEASURES.items():
        place = stay_records.PARAMETERS.index(name)
        counts = np.add.reduceat(arrays["mask"][:, place], first, dtype=np.int64)
        sums = np.add.reduceat(arrays["values"][:, place], first, dtype=np.float64)
        score += (sums - counts * measure.normal) * measure.effect / (measure.stays**2 + measure.noise**2)
    assert 0.85 < separation(score / arrays["lengths"], arrays["died"]) < 0.92
    assert separation(arrays["lengths"].astype(float), arrays["died"]) > 0.55  # the sicker are visited more often


def test_what_is_measured_is_possible():
    arrays = stays.prepare(Path("nowhere"), {"stays": 500})

    def measured(name: str) -> np.ndarray:
        place = stay_records.PARAMETERS.index(name)
        return arrays["values"][arrays["mask"][:, place], place]

    (least, _), (most, _) = stays.BOUNDS
    assert all(measured(name).min() >= np.float32(bound) for name, bound in least.items())
    assert all(measured(name).max() <= bound for name, bound in most.items())
    unknown = (arrays["values"] == -1) & arrays["mask"]
    assert {stay_records.PARAMETERS[place] for place in np.flatnonzero(unknown.any(axis=0))} == {"Height", "Weight"}


def test_the_same_seed_draws_the_same_stays():
    digests = [prepared.digest(stays.prepare(Path("nowhere"), {"stays": 5, "seed": seed})) for seed in (0, 0, 1)]
    assert digests[0] == digests[1] != digests[2]
