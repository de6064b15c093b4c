"""Tasks of partly observed series: what is context, what is target, on which series, how it is scored."""

import math

import numpy as np
import pytest
import torch
from conftest import refused
from series_cases import STAYS, rows_of
from sklearn import metrics
from sklearn.model_selection import train_test_split

from hidden_dynamics.configuration.runs import runs_on
from hidden_dynamics.data import intensive_care_stays, tagged_movements
from hidden_dynamics.models.latent_family.family import LatentNetwork, Prediction, SeriesBatch
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.tasks.activity import WINDOW, ActivityRecognition, windows
from hidden_dynamics.tasks.mortality import Mortality
from hidden_dynamics.tasks.partly_observed import divergence_weight, split
from hidden_dynamics.tasks.scoring import area_under_roc, average_precision, calibration_error
from hidden_dynamics.tasks.series_regression import UNTIL, SeriesRegression
from hidden_dynamics.training import optimisers
from hidden_dynamics.training.building import build
from hidden_dynamics.training.optimisers import learn

CPU = torch.device("cpu")
PATIENTS, MOVES = intensive_care_stays.prepare(None, {"stays": 50}), tagged_movements.prepare(None, {})
TAGS = {
    **{"windows": "by_sequence", "resampled": False, "bin_labels": "first"},
    **{"classes": 7, "validation": 0.1, "scores": "averaged"},
}


class Echo(LatentNetwork):
    """Two samples: the target's time and its half for each feature, and logits that depend on the place; remembers."""

    def __init__(self):
        torch.nn.Module.__init__(self)  # of any task

    def forward(self, batch: SeriesBatch) -> Prediction:
        self.batch, targets = batch, batch.targets
        times = targets.times[targets.rows_of_times()].float()[:, None].expand_as(targets.values)
        places = torch.linspace(-2, 2, len(batch.labels)) if batch.labels is not None else None
        labels = None
        if places is not None and batch.labels.is_floating_point():
            labels = torch.stack([places, (places - 0.3).square()])
        elif places is not None:
            labels = torch.stack([places[:, None] * (torch.arange(7) - 3), places[:, None].cos() * torch.arange(7)])
        return Prediction(torch.stack([times, times / 2]), labels, torch.zeros(()), torch.zeros(()))


def mortality(arrays: dict[str, np.ndarray], seed: int = 0, **settings: object) -> Mortality:
    return Mortality(arrays, STAYS | {"scores": "averaged"} | settings, seed, CPU)


def regression(arrays: dict[str, np.ndarray], targets: str = "interpolation", **settings: object) -> SeriesRegression:
    split_at = {"split_at": "time"} if targets == "extrapolation" else {}
    return SeriesRegression(arrays, STAYS | {"targets": targets} | split_at | settings, 0, CPU)


def activity(arrays: dict[str, np.ndarray], seed: int = 0, **settings: object) -> ActivityRecognition:
    return ActivityRecognition(arrays, TAGS | settings, seed, CPU)


def entries_of(observations: Observations, series: int) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """(time, values, mask) of each row of a series in a batch."""
    rows = observations.series == series
    times = observations.times[observations.rows_of_times()][rows]
    return list(zip(times.tolist(), observations.values[rows].numpy(), observations.mask[rows].numpy(), strict=True))


@pytest.mark.parametrize("count", [7, 50, 401])
def test_the_split_is_that_of_the_released_code(count: int):
    train, test = train_test_split(np.arange(count), train_size=0.8, random_state=42, shuffle=True)
    parts = split(count, 0)
    assert list(parts) == ["train", "test"]
    assert parts["train"].tolist() == train.tolist() and parts["test"].tolist() == test.tolist()
    held = split(count, 0.1)
    assert held["train"].tolist() + held["validation"].tolist() == train.tolist()
    assert len(held["validation"]) == max(1, round(0.1 * len(train)))
    _, other = train_test_split(np.arange(count), random_state=3, test_size=len(test))
    assert split(count, 0, 3)["test"].tolist() == other.tolist()


@pytest.mark.parametrize("moved", [lambda times: times / 3, lambda times: times + 25])
def test_a_part_without_context_or_targets_is_refused(moved):
    with refused("no context"):
        regression(PATIENTS | {"times": moved(PATIENTS["times"])}, "extrapolation")


@pytest.mark.parametrize("asked", [{}, {"split": "by_seed"}])
def test_the_split_is_the_same_for_all_seeds_or_where_that_is_asked_one_of_each(asked):
    for seed in (0, 3):
        task = mortality(PATIENTS, seed, **asked)
        np.testing.assert_equal(task.parts, split(50, 0.1, seed) if asked else split(50, 0.1))
        assert task.split == {"series": 50, "train": 36, "validation": 4, "test": 10} and task.train_size == 36
    apart = [set(activity(MOVES, seed, **asked).parts["test"]) for seed in (0, 3)]
    assert (apart[0] != apart[1]) == bool(asked)


def test_the_divergence_counts_after_the_first_epochs():
    assert [divergence_weight(epoch) for epoch in (0, 9, 10)] == [0, 0, 0]
    assert divergence_weight(13) == pytest.approx(1 - 0.99**3)


@pytest.mark.parametrize("placeholders", ["missing", "values"])
@pytest.mark.parametrize("normalisation", ["range", "maximum"])
def test_a_batch_has_all_rows_of_its_series_normalised(placeholders: str, normalisation: str):
    task = mortality(PATIENTS, placeholders=placeholders, normalisation=normalisation)
    mask = PATIENTS["mask"] & (PATIENTS["values"] != -1) if placeholders == "missing" else PATIENTS["mask"]
    assert (PATIENTS["values"][PATIENTS["mask"]] == -1).any()
    batch = task.batch(12, np.array([3, 0]))
    assert batch.targets is batch.context and batch.divergence_weight == divergence_weight(12)
    chosen = task.parts["train"][[3, 0]]
    assert batch.labels.tolist() == PATIENTS["died"][chosen].tolist() and batch.labels.dtype == torch.float32
    end = max(PATIENTS["times"][rows_of(PATIENTS, place)].max() for place in chosen)
    for number, place in enumerate(chosen):
        rows = rows_of(PATIENTS, place)
        found = entries_of(batch.context, number)
        assert len(found) == PATIENTS["lengths"][place]
        for (time, values, seen), row in zip(found, range(rows.start, rows.stop), strict=True):
            assert time == pytest.approx(PATIENTS["times"][row] / end)
            assert np.array_equal(seen, mask[row])
            for feature in np.flatnonzero(mask[row]):
                column = PATIENTS["values"][:, feature][mask[:, feature]].astype(float)
                width = column.max() - (column.min() if normalisation == "range" else 0)
                expected = (PATIENTS["values"][row, feature] - column.min()) / (width or 1)
                assert values[feature] == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert batch.context.times[-1] == 1


def test_minus_one_is_a_placeholder_in_descriptors_alone():
    values, mask = np.full_like(PATIENTS["values"], -1), np.ones_like(PATIENTS["mask"])
    seen = mortality(PATIENTS | {"values": values, "mask": mask}).rows.mask
    assert not seen[:, :5].any() and seen[:, 5:].all()


def test_times_whose_values_add_up_to_0_are_dropped_as_released():
    values, mask = np.zeros((4, 2), np.float32), np.ones((4, 2), bool)
    values[[0, 1], 0] = 1, 3
    mask[2] = False
    arrays = {
        "times": np.array([0, 2, 4, 0], np.float32),
        **{"values": values, "mask": mask, "lengths": np.array([3, 1])},
        **{"ids": np.arange(2), "died": np.array([True, False])},
    }
    longer = {name: np.concatenate([part] * 5) if name != "ids" else np.arange(10) for name, part in arrays.items()}
    context = {kind: mortality(longer, zero_times=kind).part("test").context for kind in ("kept", "dropped")}
    assert context["kept"].times.tolist() == [0, 0.5, 1] and context["dropped"].times.tolist() == [0, 0.5]
    assert len(context["kept"].values) - len(context["dropped"].values) == (context["kept"].offsets.diff()[2])
    assert context["dropped"].offsets[-1] == len(context["dropped"].values) == len(context["dropped"].series)


def test_later_rows_are_targets_after_half_of_the_time():
    batch = regression(PATIENTS, "extrapolation").part("test")
    end = max(PATIENTS["times"][rows_of(PATIENTS, place)].max() for place in split(50, 0.1)["test"])
    assert batch.context.times[-1] <= UNTIL / end < batch.targets.times[0] and batch.targets.times[-1] == 1
    assert batch.labels is None and batch.context.size == batch.targets.size == 10
    for number, place in enumerate(split(50, 0.1)["test"]):
        early = PATIENTS["times"][rows_of(PATIENTS, place)] <= UNTIL
        assert len(entries_of(batch.context, number)) == early.sum()
        assert len(entries_of(batch.targets, number)) == (~early).sum()


@pytest.mark.parametrize("zero_times", ["kept", "dropped"])
def test_later_rows_are_targets_after_half_of_the_union_times_as_released(zero_times: str):
    """Half of all of them, before some early ones, at which nothing was observed, are dropped. Nobody has feature 3."""
    times, mask = PATIENTS["times"], PATIENTS["mask"]
    unseen = np.isin(times, np.unique(times)[1:7])[:, None] | (np.arange(mask.shape[1]) == 3)
    arrays = PATIENTS | {"mask": mask & ~unseen}
    batch = regression(arrays, "extrapolation", split_at="index", zero_times=zero_times).part("test")
    whole, kept = (regression(arrays, zero_times=kind).part("test").context for kind in (zero_times, "kept"))
    half = int((whole.times < kept.times[len(kept.times) // 2]).sum())
    assert (half == len(whole.times) // 2) == (zero_times == "kept")
    assert torch.equal(batch.context.times, whole.times[:half]) and torch.equal(batch.targets.times, whole.times[half:])
    assert torch.equal(torch.cat([batch.context.values, batch.targets.values]), whole.values)


def test_scores_of_probabilities_are_scikit_learns_and_the_calibration_error_that_of_a_plain_loop():
    random = np.random.default_rng(1)
    scores, truth = random.random(43).round(1), random.integers(0, 2, 43)  # many scores are equal
    assert area_under_roc(truth, scores) == pytest.approx(metrics.roc_auc_score(truth, scores))
    assert average_precision(truth, scores) == pytest.approx(metrics.average_precision_score(truth, scores))
    order = np.argsort(scores, kind="stable")
    bins = [order[5 * i : 5 * i + 5] for i in range(3)] + [order[15 + 4 * i : 19 + 4 * i] for i in range(7)]
    gaps = [len(each) / 43 * abs(scores[each].mean() - truth[each].mean()) for each in bins]
    assert calibration_error(truth, scores) == pytest.approx(sum(gaps))


@pytest.mark.parametrize(("truth", "scores"), [([1, 1], [0.2, 0.3]), ([0, 1], [0.2, math.nan])])
def test_scores_that_are_not_defined_are_not_a_number(truth: list, scores: list):
    assert math.isnan(area_under_roc(np.array(truth), np.array(scores)))
    assert math.isnan(average_precision(np.array(truth), np.array(scores)))


@pytest.mark.parametrize("kind", ["averaged", "pooled"])
def test_mortality_is_scored_by_averaged_or_pooled_samples(kind: str):
    task = mortality(PATIENTS, scores=kind)
    died, places = PATIENTS["died"][task.parts["test"]].astype(float), np.linspace(-2, 2, 10)
    samples = 1 / (1 + np.exp(-np.stack([places, (places - 0.3) ** 2])))
    scores, truth = (samples.mean(0), died) if kind == "averaged" else (samples.ravel(), np.tile(died, 2))
    expected = {
        "test_auc": area_under_roc(truth, scores),
        "test_average_precision": average_precision(truth, scores),
        "test_calibration_error": calibration_error(truth, scores),
        "test_interpolation_mse": regression(PATIENTS).evaluate_test(Echo())["test_interpolation_mse"],
    }
    assert task.evaluate_test(Echo()) == pytest.approx(expected, rel=1e-5)
    assert set(task.evaluate(Echo())) == {name.replace("test", "validation") for name in expected}


@pytest.mark.parametrize("targets", ["interpolation", "extrapolation"])
def test_errors_are_those_of_a_plain_loop(targets: str):
    task = regression(PATIENTS, targets)
    batch, squares = task.part("test"), {}
    for series in range(batch.targets.size):
        for time, values, mask in entries_of(batch.targets, series):
            for feature in np.flatnonzero(mask):
                both = [(values[feature] - sample) ** 2 for sample in (time, time / 2)]
                squares.setdefault((series, feature), []).append(np.mean(both))
    expected = {
        f"test_{targets}_mse": sum(map(np.mean, squares.values())) / (10 * 41),
        f"test_{targets}_mse_observed": np.mean(np.concatenate(list(squares.values()))),
    }
    assert task.evaluate_test(Echo()) == pytest.approx(expected, rel=1e-4)
    assert set(task.evaluate(Echo())) == {name.replace("test", "validation") for name in expected}


class Drawing(Echo):
    """What is predicted is drawn anew in every call."""

    def forward(self, batch: SeriesBatch) -> Prediction:
        prediction = super().forward(batch)
        return prediction._replace(values=torch.randn_like(prediction.values))


def test_what_is_latent_is_drawn_alike_in_every_evaluation_and_training_does_not_notice():
    task = regression(PATIENTS)
    found = []
    for seed in (5, 6):
        torch.manual_seed(seed)
        before = torch.get_rng_state()
        measured = task.evaluate(Drawing()) | task.evaluate_test(Drawing())
        found.append((measured, task.predictions(Drawing())))
        assert torch.equal(torch.get_rng_state(), before)
    (measured, first), (again, second) = found
    assert measured == again and all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("targets", ["interpolation", "extrapolation"])
def test_predictions_are_errors_over_time(targets: str):
    task, network = regression(PATIENTS, targets), Echo()
    made, batch = task.predictions(network), task.part("test")
    measured = task.evaluate_test(network)[f"test_{targets}_mse_observed"]
    assert made["error_sum"].sum() / made["error_count"].sum() == pytest.approx(measured, rel=1e-5)
    assert made["error_count"].sum() == batch.targets.mask.sum() and made["error_count"].dtype == np.int64
    assert np.diff(made["error_time"]).tolist() == [1] * len(made["error_sum"])


def test_windows_are_fifty_rows_every_twenty_five_while_a_row_follows():
    lengths = np.array([49, 50, 51, 75, 76, 130])
    found, sequences = windows(lengths)
    expected, start = [], 0
    for sequence, length in enumerate(lengths):
        offset = 0
        while offset + WINDOW < length:
            expected.append((sequence, start + offset))
            offset += WINDOW // 2
        start += length
    assert list(zip(sequences.tolist(), found[:, 0].tolist(), strict=True)) == expected
    assert (np.diff(found) == 1).all() and found.shape[1] == WINDOW


def test_a_window_begins_at_0_and_windows_share_their_times():
    task = activity(MOVES)
    batch = task.batch(0, np.arange(8))
    assert batch.context.times[0] == 0 and batch.context.times[-1] == 1 and batch.targets is batch.context
    ticks = np.round(100 * MOVES["times"].astype(float))[windows(MOVES["lengths"])[0][task.parts["train"][:8]]]
    union = np.unique(ticks - ticks[:, :1])
    assert np.allclose(batch.context.times, union / union[-1]) and len(batch.context.values) == 8 * WINDOW


@pytest.mark.parametrize("kind", ["first", "lowest"])
def test_every_row_has_the_label_of_its_own(kind: str):
    changed = MOVES | {"lowest": np.where(np.arange(len(MOVES["labels"])) % 3, MOVES["labels"], -1)}
    task, truth = activity(changed, bin_labels=kind), changed["labels" if kind == "first" else "lowest"]
    batch, (rows, _) = task.batch(0, np.array([4, 1])), windows(MOVES["lengths"])
    assert (truth[rows[task.parts["train"][[4, 1]]]].min() < 0) == (kind == "lowest")
    for number, place in enumerate(task.parts["train"][[4, 1]]):
        labels = batch.labels[batch.targets.series == number]
        assert labels.tolist() == np.maximum(truth[rows[place]], 0).tolist()  # without a class: trained as of class 0
    assert batch.labels.dtype == torch.int64


def test_no_two_parts_share_a_sequence_unless_windows_are_split_at_random():
    _, sequences = windows(MOVES["lengths"])
    apart, released = activity(MOVES), activity(MOVES, windows="at_random")
    assert sum(len(part) for part in apart.parts.values()) == len(sequences) == apart.split["series"]
    of = {name: set(sequences[part]) for name, part in apart.parts.items()}
    assert not of["train"] & of["test"] and not of["train"] & of["validation"] and not of["test"] & of["validation"]
    assert of == {name: set(part) for name, part in split(len(MOVES["lengths"]), 0.1).items()}
    assert set(sequences[released.parts["train"]]) & set(sequences[released.parts["test"]])
    assert released.parts["test"].tolist() == split(len(sequences), 0.1)["test"].tolist()


def test_the_released_parts_are_drawn_from_themselves_by_the_seed():
    whole = activity(MOVES, validation=0, windows="at_random").parts
    drawn = [activity(MOVES, seed, validation=0, windows="at_random", resampled=True).parts for seed in (1, 1, 2)]
    random = np.random.RandomState(1)
    for name in ("train", "test"):
        chosen = random.choice(len(whole[name]), len(whole[name]))
        assert drawn[0][name].tolist() == whole[name][chosen].tolist() == drawn[1][name].tolist()
        assert drawn[2][name].tolist() != drawn[0][name].tolist()


@pytest.mark.parametrize("kind", ["averaged", "pooled"])
def test_activities_are_scored_time_by_time(kind: str):
    unread = {"lowest": np.where(MOVES["labels"] == 4, -1, MOVES["labels"])}
    task = activity(MOVES | unread, scores=kind, bin_labels="lowest")
    truth = task.part("test").labels.numpy()
    places, classified = np.linspace(-2, 2, len(truth))[:, None], truth >= 0
    logits = np.stack([places * (np.arange(7) - 3), np.cos(places) * np.arange(7)])[:, classified]
    samples, truth = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True), truth[classified]
    assert 0 < len(truth) < len(places)
    scores = samples.mean(0) if kind == "averaged" else np.concatenate(samples)
    truth = truth if kind == "averaged" else np.tile(truth, 2)
    areas = [area_under_roc(truth == each, scores[:, each]) for each in set(truth.tolist())]
    expected = {"test_time_point_accuracy": np.mean(scores.argmax(1) == truth), "test_time_point_auc": np.mean(areas)}
    assert task.evaluate_test(Echo()) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", ["physionet", "physionet_interpolation", "physionet_extrapolation", "human_activity"])
def test_every_network_learns_and_is_measured_on_its_task(configured, name: str):
    """As released. As published it is made, and one of each kind is trained by tests/test_on_a_gpu.py."""
    arrays = MOVES if name == "human_activity" else PATIENTS
    published, configuration = (configured(variants={"default": which}) for which in ("published", "released"))
    for run in runs_on(published, name, [0]):
        build(run, arrays, CPU)
    for run in runs_on(configuration, name, [0]):
        task, network = build(run, arrays, CPU)
        settings = run.spec["training"]
        updating = optimisers.build(network, settings["optimisers"])
        value = learn(task, network, updating, task.batch(0, np.arange(9)), settings)
        assert math.isfinite(value), run.id
        with torch.no_grad():
            measured = task.evaluate(network.eval())
        assert np.isfinite(list(measured.values())).all() or name == "physionet", run.id  # a few, who may all survive
        report = settings["report"]["metric"]
        assert report in measured or report == "train_loss"
        assert set(measured) <= set(configuration.metrics)


def test_a_setting_that_does_not_fit_is_named():
    with refused("validation", key="settings.validation"):
        mortality(PATIENTS, validation=1)
    with refused("split_at"):  # which is of extrapolation alone
        regression(PATIENTS, split_at="time")
    with refused("too few"):
        split(2, 0.1)
