"""What is generated: the same for a seed; kinds can be told apart; the optimal predictor of a process is optimal."""

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
    synthetic_speech,
    tagged_movements,
)
from hidden_dynamics.data.generated import LIKE, held

FEW = {"series": 12, "end": 12.0, "until": 8.0}


def made(**changes) -> tuple[dict[str, np.ndarray], ornstein_uhlenbeck.Settings]:
    """Arrays, and all settings with which they were made."""
    return ornstein_uhlenbeck.prepare(Path("nowhere"), FEW | changes), ornstein_uhlenbeck.Settings(**FEW | changes)


def covariance(times: np.ndarray, features: np.ndarray, settings: ornstein_uhlenbeck.Settings) -> np.ndarray:
    """Of the processes at these times, from the solution of the equation.

    For s <= t, Cov(x_i(s), x_j(t)) = exp(-theta_j (t - s)) Cov(x_i(s), x_j(s)).
    """
    theta, gaps = np.array(settings.speeds), np.subtract.outer(times, times, dtype=float)
    apart = 2 * settings.correlation * np.sqrt(theta[0] * theta[1]) / (theta[0] + theta[1])
    together = np.where(np.equal.outer(features, features), 1, apart)
    later = np.where(gaps > 0, features[:, None], features)
    return together * np.exp(-theta[later] * np.abs(gaps))


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


@pytest.mark.parametrize(
    ("module", "settings"),
    [
        (ornstein_uhlenbeck, FEW),
        (copying, {"blanks": 30, "letters": 10, "alphabet": 8, "test_size": 50}),
        (adding, {"length": 12, "test_size": 5}),
        (intensive_care_stays, {"stays": 9}),
        (tagged_movements, {"reports": 60}),
        (synthetic_speech, {"train": 6, "validation": 2, "test": 3, "shortest": 300, "longest": 700}),
    ],
)
def test_what_is_generated_depends_on_the_settings_alone(module, settings):
    made = [module.prepare(Path("nowhere"), settings | {"seed": seed}) for seed in (0, 0, 1)]
    digests = [prepared.digest(arrays) for arrays in made]
    assert digests[0] == digests[1] != digests[2]
    if module in (intensive_care_stays, tagged_movements):
        assert (made[0]["times"][ragged.starts(made[0]["lengths"])] == 0).all() and made[0]["mask"].any(1).all()


def test_a_kind_holds_until_another_is_drawn():
    new = np.array([False, False, True, False, True, True])
    kinds = held(np.random.default_rng(0), new, 10**6)
    assert (np.diff(kinds) != 0).tolist() == new[1:].tolist() and kinds.max() < 10**6


def test_what_is_observed_tells_who_dies_and_what_is_done():
    stays, moves = intensive_care_stays.prepare(Path(), {"stays": 2000}), tagged_movements.prepare(Path(), {})
    assert 0.2 < stays["died"].mean() < 0.3 and (stays["values"][:, :5] == -1).any()
    assert set(moves["labels"]) == set(range(7)) and set(moves["lowest"]) == {-1, *range(7)}
    for arrays, kinds in ((stays, np.repeat(stays["died"], stays["lengths"])), (moves, moves["labels"] == 1)):
        apart = [
            [column[seen & (kinds == which)].mean() for which in (True, False)]
            for column, seen in zip(arrays["values"].T, arrays["mask"].T, strict=True)
        ]
        assert np.abs(np.diff(apart)).max() > 1


def test_images_have_the_side_that_is_asked_and_are_alike_within_a_class():
    for name, side, shape in (("mnist", 14, (196,)), ("cifar10", 16, (16, 16, 3))):
        arrays = LIKE[name].model_copy(update={"side": side, "train": 50}).drawn(np.random.default_rng(0))
        assert arrays["train_images"].shape == (50, *shape)
        of_one = arrays["train_images"][arrays["train_labels"] == arrays["train_labels"][0]]
        assert (of_one == of_one[0]).all()
