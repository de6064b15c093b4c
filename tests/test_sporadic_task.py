"""Forecasting of sporadic series: what is given and what is to be predicted, on which series, how it is scored."""

import math

import numpy as np
import pytest
import torch
from conftest import refused
from series_cases import rows_of
from torch import nn

from hidden_dynamics.data import folds, ornstein_uhlenbeck, ragged
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.tasks.sporadic import SporadicForecasting

CPU = torch.device("cpu")
COUNT, END, UNTIL = 40, 6.0, 4.0
SETTINGS = {"until": UNTIL, "targets": 3, "fold": "by_seed", "series": "by_position"}
ARRAYS = ornstein_uhlenbeck.prepare(None, {"series": COUNT, "end": END, "until": UNTIL, "rate": 1.0})


class Echo(nn.Module):
    """Predicts the time asked for, with the logvar of the series' place; remembers what it was given."""

    def predict(self, observations: Observations, series: torch.Tensor, times: np.ndarray) -> torch.Tensor:
        self.given = observations
        mean = torch.from_numpy(times)[:, None].expand(-1, 2)
        return torch.cat([mean, 0.1 * series[:, None].expand(-1, 2)], dim=1)


def task_of(arrays: dict[str, np.ndarray], seed: int = 0, **settings) -> SporadicForecasting:
    return SporadicForecasting(arrays, SETTINGS | settings, seed, CPU)


def targets_of(place: int) -> list[int]:
    rows = range(*rows_of(ARRAYS, place).indices(len(ARRAYS["times"])))
    return [row for row in rows if ARRAYS["times"][row] > UNTIL][:3]


def test_a_seed_has_its_own_split_and_the_released_code_the_first_one():
    for seed, fold in enumerate(folds.folds(COUNT, 7)):
        parts = task_of(ARRAYS, seed=seed).parts
        for name in folds.Fold._fields:
            assert np.array_equal(parts[name], np.sort(getattr(fold, name)))
        assert np.array_equal(task_of(ARRAYS, seed=seed, fold=0).parts["test"], task_of(ARRAYS).parts["test"])
    assert np.array_equal(task_of(ARRAYS, seed=3, fold=5).parts["train"], task_of(ARRAYS, seed=5).parts["train"])


def test_an_empty_part_is_refused():
    for count in (0, 1, 2):
        few = ragged.selected(ARRAYS, np.arange(count))
        with refused("no series", key="fold 0"):
            task_of(few)
    with refused("no series", key="fold 4"):
        task_of(ARRAYS | {"ids": ARRAYS["ids"] + 10**6}, seed=4, series="by_id")


def test_positions_taken_for_ids_leave_series_out():
    by_id = task_of(ARRAYS, series="by_id")
    for name, positions in folds.folds(COUNT)[0]._asdict().items():
        assert np.array_equal(ARRAYS["ids"][by_id.parts[name]], np.intersect1d(ARRAYS["ids"], positions))
    assert by_id.split["train"] == by_id.train_size < task_of(ARRAYS).train_size
    assert by_id.split["series"] == COUNT <= ARRAYS["ids"][-1]  # which have gaps


def test_trained_on_whole_series_evaluated_on_their_beginning():
    task, network = task_of(ARRAYS), Echo()
    batch = task.batch(0, np.array([2, 0]))
    chosen = task.parts["train"][[2, 0]]
    assert batch.size == 2 and len(batch.values) == ARRAYS["lengths"][chosen].sum()
    assert batch.times[-1] > UNTIL
    task.evaluate(network)
    assert network.given.size == len(task.parts["validation"]) and network.given.times[-1] <= UNTIL
    early = sum((ARRAYS["times"][rows_of(ARRAYS, place)] <= UNTIL).sum() for place in task.parts["validation"])
    assert len(network.given.values) == early


@pytest.mark.parametrize("part", ["validation", "test"])
def test_scores_are_those_of_a_plain_loop(part: str):
    task = task_of(ARRAYS, seed=1)
    measured = (task.evaluate if part == "validation" else task.evaluate_test)(Echo())
    squares, nats = [], []
    for number, place in enumerate(task.parts[part]):
        for row in targets_of(place):
            for value in ARRAYS["values"][row][ARRAYS["mask"][row]].astype(float):
                squares.append((value - float(ARRAYS["times"][row])) ** 2)
                variance = math.exp(0.1 * number)
                nats.append(0.5 * math.log(2 * math.pi * variance) + squares[-1] / (2 * variance))
    assert measured == pytest.approx({f"{part}_mse": np.mean(squares), f"{part}_negll": np.mean(nats)}, rel=1e-5)


def test_the_limits_are_the_best_predictors_scores_on_the_test_part():
    task = task_of(ARRAYS)
    assert set(task.limits) == {"test_mse", "test_negll"} == set(task.evaluate_test(Echo()))
    test = task.parts["test"]
    seen = np.stack([ARRAYS["mask"][targets_of(place)] for place in test])
    values = np.stack([ARRAYS["values"][targets_of(place)] for place in test])
    error = (values - ARRAYS["optimal_means"][test])[seen]
    assert task.limits["test_mse"] == pytest.approx(np.mean(error**2))
    unknown = {name: array for name, array in ARRAYS.items() if not name.startswith("optimal")}
    assert task_of(unknown).limits is None
    with refused("data's", key="settings.until"):
        task_of(ARRAYS, until=3.0)


def test_predictions_are_of_the_targets():
    task, network = task_of(ARRAYS), Echo()
    made, test = task.predictions(network), task.parts["test"]
    rows = np.concatenate([targets_of(place) for place in test])
    assert made["id"].tolist() == np.repeat(ARRAYS["ids"][test], 3).tolist()
    for name in ("time", "value", "mask"):
        assert np.array_equal(made[name], ARRAYS[f"{name}s" if name != "mask" else name][rows])
    assert np.array_equal(made["mean"], np.repeat(made["time"][:, None], 2, axis=1))
    assert made["variance"][:, 0] == pytest.approx(np.exp(0.1 * np.repeat(np.arange(len(test)), 3)), rel=1e-5)


@pytest.mark.parametrize("settings", [{"until": 0}, {"targets": 0}, {"targets": 1.5}, {"fold": -1}])
def test_a_setting_out_of_its_range_is_named(settings: dict):
    with refused(key=f"settings.{next(iter(settings))}"):
        task_of(ARRAYS, **settings)
