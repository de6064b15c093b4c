"""Classical baselines: what is fitted is what it says, and a test part changes nothing of it."""

from dataclasses import replace

import fit_floors
import numpy as np
import pytest
import torch
from conftest import ROOT
from sklearn.linear_model import Ridge
from test_every_task import CONFIGURATION, RUNS, made, with_settings
from workplaces import Workplace

from hidden_dynamics.data import prepared
from hidden_dynamics.floors import COLUMNS, FLOORS, activities, code_of, fitted, patients, runs_of, text
from hidden_dynamics.floors.images import Nearest
from hidden_dynamics.floors.ridge import Products, ridge
from hidden_dynamics.models.observations import Rows, batch_of
from hidden_dynamics.results.rows import read_rows
from hidden_dynamics.tasks.task import Task

TASKS = (
    *("mnist", "mnist_images", "copying_1k", "adding", "timit", "timit_recall", "ptb", "ushcn"),
    *("human_activity", "physionet", "physionet_interpolation", "physionet_extrapolation"),
)
HOLDING_OUT_NOTHING = {name: {"validation": 0} for name in ("human_activity", "physionet", "physionet_extrapolation")}
HOLDING_OUT_NOTHING |= {"mnist_images": {"select_on": "test"}}


def other_test(task):
    """The task with another test part: the validation part's, or what its test part is not."""
    kind = type(task).__name__
    if kind == "PixelClassification":
        task.test_images, task.test_labels = task.test_images.flip(0), (task.test_labels + 1) % 10
    elif kind == "ImageClassification":
        task.labels["test"] = (task.labels["test"] + 1) % 10
    elif kind == "SpeechPrediction":
        task.test = task.validation
    elif kind == "LanguageModelling":
        task.texts["test"] = task.texts["validation"]
    elif kind == "Copying":
        task.test_letters = task.test_letters[:7]
    elif kind == "Adding":
        task.test = (*task.test[:2], task.test[2] + 1)
    else:
        task.parts["test"] = task.parts["test"][::2]


def fit(name, settings, change=lambda task: None):
    run = with_settings(RUNS[name], RUNS[name].spec["task_settings"] | settings)
    task, _ = made(run)
    change(task)
    return fitted.fit(task, run.classes["task_class"], run.seed)


@pytest.mark.parametrize(("name", "settings"), [*((name, {}) for name in TASKS), *HOLDING_OUT_NOTHING.items()])
def test_it_scores_what_its_task_reports_and_no_test_part_changes_what_is_fitted(name, settings, monkeypatch):
    for module in (patients, activities):
        monkeypatch.setattr(module, "ITERATIONS", (5, 10))
    floors, others = fit(name, settings), fit(name, settings, other_test)
    metric = CONFIGURATION.tasks[name].training.report.metric
    assert floors and all(np.isfinite([*floor.scores.values()]).all() for floor in floors)
    for floor, other in zip(floors, others, strict=True):
        assert settings or metric in floor.scores
        assert set(floor.scores) <= set(CONFIGURATION.metrics) and any("test" in metric for metric in floor.scores)
        untouched = [{k: v for k, v in each.scores.items() if "test" not in k} for each in (floor, other)]
        assert floor[:3] == other[:3] and untouched[0] == untouched[1]
        assert floor.scores != other.scores or name == "copying_1k" or floor.name == "linear interpolation"
    if name == "physionet_interpolation":
        assert set(floors[0].scores.values()) == {0.0}


def test_every_task_class_that_is_configured_has_floors():
    assert {run.classes["task_class"] for run in RUNS.values()} == FLOORS.keys()
    assert len({code_of(RUNS[name]) for name in ("mnist", "physionet", "ushcn")}) == 3


def test_all_seeds_share_them_where_they_share_their_data(configured):
    seeds = {name: [*runs_of(configured(scale="paper"), name)] for name in ("pmnist", "ushcn", "physionet_splits")}
    assert seeds == {"pmnist": [""], "ushcn": [*"01234"], "physionet_splits": [str(seed) for seed in range(15)]}
    assert [*runs_of(configured(variants={"permutation": "released"}, seeds=[3, 1]), "pmnist")] == ["1", "3"]


def test_what_is_held_out_is_a_part_five_folds_or_the_last_sixth():
    given = fitted.by_part(3, 2)
    assert [each.tolist() for each in (*given.folds[0], given.finally_on)] == [[0, 1, 2], [3, 4], [0, 1, 2]]
    folds = fitted.by_part(10)
    assert sorted(np.concatenate([held for _, held in folds.folds])) == [*range(10)] == [*folds.finally_on]
    assert all(sorted([*kept, *held]) == [*range(10)] for kept, held in folds.folds) and len(folds.folds) == 5
    last = fitted.by_the_last(12)
    assert [each.tolist() for each in last.folds[0]] == [[*range(10)], [10, 11]] and len(last.finally_on) == 12


def test_ridge_regression_is_that_of_standardised_inputs_by_the_error_on_what_is_held_out():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(3, [1, 5, 20], (60, 3)), rng.normal(0, 30, (60, 1))
    y, weights = x @ [[1.0], [2.0], [0.1]] + noise, rng.uniform(1, 2, 60)
    own = Products.of(x, y, weights)
    means = np.average(x, 0, weights)
    scale = np.sqrt(np.average((x - means) ** 2, 0, weights))
    expected = Ridge(0.5 * weights.sum()).fit((x - means) / scale, y[:, 0], weights)
    found = own.solve(0.5)
    assert found[:-1, 0] == pytest.approx(expected.coef_ / scale)
    residuals = y[:, 0] - expected.predict((x - means) / scale)
    assert own.error(found) == pytest.approx((weights * residuals**2).sum())
    held = Products.of(x[:20], y[:20] - noise[:20])
    how, (chosen,) = ridge([own], [held])
    assert held.error(chosen) == min(held.error(own.solve(p)) for p in (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0))
    again = ridge([own], [held], again=True)
    assert again[0] == how and not np.allclose(again[1][0], chosen)


def test_of_classes_that_as_many_neighbours_have_the_nearer_one_counts():
    x, y = np.array([[0.0], [1.0], [2.0], [10.0], [10.5], [11.0]]), np.array([0, 1, 2, 1, 1, 1])
    nearest = Nearest(np.repeat(x, 3, 0), np.repeat(y, 3), 3, fitted.by_the_last(18))
    nearest._remember(x, y)
    nearest.count = 3
    assert nearest.votes(np.array([[0.1], [1.9], [10.4]])).argmax(1).tolist() == [0, 2, 1]


def test_of_a_series_they_see_mean_least_greatest_last_and_count():
    values, mask = np.array([[4.0, 0], [1, 7], [3, 0], [9, 9]]), np.array([[1, 0], [1, 1], [1, 0], [0, 0]], bool)
    rows = Rows(np.array([0.0, 1, 2, 5]), values, mask, np.array([3, 1]))
    found = patients.summaries(batch_of(rows, np.array([0, 1])))
    assert [each[0].tolist() for each in found] == [[8 / 3, 7], [1, 7], [4, 7], [3, 7], [3, 1]]
    assert np.isnan(found[:4]).all((0, 2)).tolist() == [False, True] and found.count[1].tolist() == [0, 0]


def test_of_a_row_they_see_its_neighbours_with_what_was_last_observed():
    values = np.arange(200.0).reshape(100, 2)
    mask = np.stack([np.arange(100) % 50 == 2, np.ones(100, bool)], 1)
    rows = Rows(np.tile(np.arange(50.0), 2), values, mask, np.array([50, 50]))
    batch = batch_of(rows, np.array([1, 0]))
    seen = activities.neighbourhoods(batch).reshape(100, len(activities.NEIGHBOURS), 2)
    window = batch.series.numpy() == 1  # the first one of the rows
    assert (seen[window][:, :, 0] == 4).all() and (seen[~window][:, :, 0] == 104).all()
    places = np.clip(np.arange(50)[:, None] + activities.NEIGHBOURS, 0, 49)
    assert np.array_equal(seen[window][:, :, 1], 2 * places + 1)


def test_a_trigram_is_that_of_a_case_counted_by_hand_and_sums_to_one():
    """Of "a b a b b": after "a b" once each a and b; after b once a, once b by kinds; after a once b."""
    model = text.Trigram(np.array([0, 1, 0, 1, 1]), 3, 0.5)
    lowest = np.array([0.5, 1.5, 0]) / 3 + 0.5 * 2 / 3 / 3  # kinds of words before each: a 1, b 2
    after_b = np.array([0.5, 0.5, 0]) / 2 + 0.5 * 2 / 2 * lowest
    after_ab = np.array([0.5, 0.5, 0]) / 2 + 0.5 * 2 / 2 * after_b
    output = model.answer(torch.tensor([[0, 1], [1, 2]]), None)
    found = output.logits.exp().numpy()
    assert found.sum(2) == pytest.approx(1) and output.hidden_state.tolist() == [[1, 2]]
    assert found[1, 0] == pytest.approx(after_ab) and found[0, 1] == pytest.approx(after_b)  # no word before
    assert found[1, 1] == pytest.approx(lowest)  # of c nothing is known
    following = model.answer(torch.tensor([[1]]), torch.tensor([[0]]))
    assert following.logits[0, 0].exp().numpy() == pytest.approx(after_ab)


class Sums(Task):
    """One of the user's own, without classical baselines."""

    def __init__(self, *given): ...

    def batch(self, *given): ...

    loss = evaluate = batch


class WithFloors(Sums):
    def classical(self):
        return [fitted.Fitted("a rule", "nothing", "nothing", {"test_loss": 0.5, "train_loss": float("nan")})]


def test_a_file_has_a_row_for_each_metric_that_is_a_number(ended, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT / "tests")  # where the classes above are
    run = RUNS["ushcn"]
    workplace = Workplace(tmp_path, "ushcn", run.sized_model)
    settings, paths = workplace.settings("results"), workplace.configuration("results").paths
    assert ended(fit_floors.main, "--task", "ushcn", settings=settings).code == 0
    file = paths.measured("floors", "ushcn")
    rows = read_rows(file)
    assert tuple(rows[0]) == COLUMNS and {row["seed"] for row in rows} == {"0", "1"}
    data = prepared.load(paths.prepared(run.spec["dataset"], run.spec["data"]))
    assert {row["data_digest"] for row in rows} == {data.digest}
    assert ended(fit_floors.main, "--task", "ushcn", settings=settings).code == 0
    assert [row | {"seconds": ""} for row in read_rows(file)] == [row | {"seconds": ""} for row in rows]
    for own, expected in (("Sums", []), ("WithFloors", [("a rule", "test_loss", "0.5")])):
        one = {"": replace(run, classes=run.classes | {"task_class": f"test_floors.{own}"})}
        monkeypatch.setattr(fit_floors, "runs_of", lambda *given, one=one: one)
        assert ended(fit_floors.main, "--task", "ushcn", settings=settings).code == 0
        assert [(row["name"], row["metric"], row["score"]) for row in read_rows(file)] == expected
