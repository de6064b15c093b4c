"""The generated series of the demo: each process is the one it says, the optimal predictor is optimal, heights tell
activities apart, and severity decides who dies."""

from pathlib import Path

import numpy as np
import pytest

from hidden_dynamics.data import (
    adding,
    copying,
    intensive_care_stays,
    ornstein_uhlenbeck,
    prepared,
    ragged,
    stay_records,
    tag_reports,
    tagged_movements,
)

FEW = {"series": 12, "end": 12.0, "until": 8.0}


def made(**changes) -> tuple[dict[str, np.ndarray], ornstein_uhlenbeck.Settings]:
    """Arrays, and all settings with which they were made."""
    return ornstein_uhlenbeck.prepare(Path("nowhere"), FEW | changes), ornstein_uhlenbeck.Settings(**FEW | changes)


def covariance(times: np.ndarray, features: np.ndarray, settings: ornstein_uhlenbeck.Settings) -> np.ndarray:
    """Of the processes at these times: entry by entry, from the solution of the equation.

    For s <= t, Cov(x_i(s), x_j(t)) = exp(-theta_j (t - s)) Cov(x_i(s), x_j(s)).
    """
    theta, rho = settings.speeds, settings.correlation
    whole = np.empty((len(times), len(times)))
    for row, (s, i) in enumerate(zip(times, features, strict=True)):
        for column, (t, j) in enumerate(zip(times, features, strict=True)):
            together = 1.0 if i == j else 2 * rho * np.sqrt(theta[0] * theta[1]) / (theta[0] + theta[1])
            later = j if t >= s else i
            whole[row, column] = together * np.exp(-theta[later] * abs(float(t) - float(s)))
    return whole


@pytest.mark.parametrize("changes", [{}, {"noise": 0.4, "correlation": -0.6, "speeds": [1.5, 0.2]}, {"rate": 3.0}])
def test_the_predictor_is_the_conditional_gaussian(changes: dict):
    arrays, settings = made(**changes)
    targets = ragged.after(arrays, settings.until, 3)
    for place, first in enumerate(ragged.starts(arrays["lengths"])):
        rows = np.arange(first, targets[place, 0])
        seen, seen_feature = np.nonzero(arrays["mask"][rows])
        times = np.concatenate([arrays["times"][rows][seen], np.repeat(arrays["times"][targets[place]], 2)])
        whole = covariance(times, np.concatenate([seen_feature, [0, 1] * 3]), settings)
        whole += settings.noise**2 * np.eye(len(whole))
        known = len(seen)
        weights = np.linalg.solve(whole[:known, :known], whole[:known, known:]).T
        mean = weights @ arrays["values"][rows][seen, seen_feature].astype(float)
        variance = np.diag(whole[known:, known:] - weights @ whole[:known, known:])
        np.testing.assert_allclose(arrays["optimal_means"][place].ravel(), mean, rtol=0, atol=1e-10)
        np.testing.assert_allclose(arrays["optimal_variances"][place].ravel(), variance, rtol=0, atol=1e-10)


def test_many_draws_have_the_stationary_variances_and_correlation():
    settings = {"series": 4000, "end": 4.0, "until": 1.0, "rate": 10.0, "speeds": [0.5, 2.0]}
    arrays = ornstein_uhlenbeck.draw(ornstein_uhlenbeck.Settings(**settings))
    paths = arrays["values"].reshape(4000, -1, 2)  # at this rate every tenth is observed
    assert paths.shape == (4000, 41, 2)
    expected = 2 * 0.9 * np.sqrt(0.5 * 2.0) / (0.5 + 2.0)
    for place in (0, 10, 40):
        assert paths[:, place].mean(axis=0) == pytest.approx([0, 0], abs=0.06)
        assert paths[:, place].var(axis=0) == pytest.approx([1, 1], abs=0.08)
        assert np.corrcoef(paths[:, place].T)[0, 1] == pytest.approx(expected, abs=0.03)
    later = (paths[:, 10] * paths[:, 20]).mean(axis=0)
    assert later == pytest.approx(np.exp([-0.5, -2.0]), abs=0.06)


def test_each_feature_is_observed_by_itself_at_tenths():
    arrays, settings = made(series=300)
    assert arrays["mask"].any(axis=1).all() and (arrays["values"][~arrays["mask"]] == 0).all()
    assert np.allclose(arrays["times"] * 10, np.round(arrays["times"] * 10), atol=1e-4)
    assert arrays["mask"].sum(axis=0) / 300 / 12 == pytest.approx([1, 1], rel=0.05)
    assert arrays["mask"].all(axis=1).mean() < 0.1
    assert len(arrays["ids"]) == 300 and (np.diff(arrays["ids"]) > 0).all()
    assert arrays["ids"][-1] > 299  # some had too few rows
    assert ragged.after(arrays, settings.until, 4).shape == (300, 4)


CHEST, BELT = 2, 3


@pytest.fixture(scope="module")
def movements() -> dict[str, np.ndarray]:
    return tagged_movements.prepare(Path("nowhere"), {})


def test_the_default_movements(movements):
    assert movements["ids"].tolist() == [100 * person + take for person in range(1, 5) for take in range(1, 6)]
    assert (movements["lengths"] == 200).all() and (movements["mask"].sum(axis=1) == 3).all()  # one tag reports
    np.testing.assert_allclose(
        movements["times"] * 10, (movements["times"] * 10).round(), atol=1e-3
    )  # tenths of a second
    shares = np.bincount(movements["labels"], minlength=7) / len(movements["labels"])
    assert shares.min() > 0.01 and shares.max() < 0.4


def test_a_tag_is_at_the_height_of_the_activity(movements):
    for tag, place in ((CHEST, 0), (BELT, 1)):
        for activity in ("walking", "on all fours", "sitting on the ground"):
            there = movements["mask"][:, 3 * tag] & (movements["labels"] == tag_reports.CLASSES.index(activity))
            height = movements["values"][there, 3 * tag + 2].mean()
            assert height == pytest.approx(tagged_movements.MOTIONS[activity][place], abs=0.02)


def test_silence_is_a_gap_in_time():
    whole = tagged_movements.prepare(Path("nowhere"), {"sequences": 2, "reports": 100, "silent": 0.0})
    np.testing.assert_allclose(np.diff(whole["times"][:100]), 0.1, atol=1e-5)
    half = tagged_movements.prepare(Path("nowhere"), {"sequences": 2, "reports": 100, "silent": 0.5})
    assert len(half["times"]) == 200 and half["times"][99] == pytest.approx(20, abs=4)


def test_the_default_stays():
    arrays = intensive_care_stays.prepare(Path("nowhere"), {})
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
    arrays, place = intensive_care_stays.prepare(Path("nowhere"), {"stays": 2000}), stay_records.PARAMETERS.index("HR")
    there, died = arrays["mask"][:, place], np.repeat(arrays["died"], arrays["lengths"])
    means = [arrays["values"][there & (died == which), place].mean() for which in (True, False)]
    assert means[0] > means[1] + 15


@pytest.mark.parametrize(
    ("module", "settings"),
    [
        (ornstein_uhlenbeck, FEW),
        (tagged_movements, {"sequences": 2, "reports": 30}),
        (intensive_care_stays, {"stays": 5}),
        (copying, {"blanks": 30, "letters": 10, "alphabet": 8, "test_size": 50}),
        (adding, {"length": 12, "test_size": 5}),
    ],
)
def test_what_is_generated_depends_on_the_settings_alone(module, settings):
    made = [module.prepare(Path("nowhere"), settings | {"seed": seed}) for seed in (0, 0, 1)]
    digests = [prepared.digest(arrays) for arrays in made]
    assert digests[0] == digests[1] != digests[2]
    if module is tagged_movements:  # a sequence depends on no other
        assert np.array_equal(
            module.prepare(Path("nowhere"), settings | {"sequences": 1})["values"], made[0]["values"][:30]
        )
