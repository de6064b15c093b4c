"""Naive baselines: they score what a network scores that answers so, no constant scores better, and runs beat them."""

import math

import numpy as np
import pytest
import torch
from raw import noise_images
from test_series_tasks import CPU, MOVES, PATIENTS, activity, mortality, regression
from test_speech_task import arrays as utterances
from test_sporadic_task import ARRAYS, task_of

from hidden_dynamics.data import adding, copying
from hidden_dynamics.data.speech import BINS
from hidden_dynamics.floors.fitted import Answering
from hidden_dynamics.models.latent_family.family import Prediction
from hidden_dynamics.models.ragged import valid_steps
from hidden_dynamics.results.record import baselines_of
from hidden_dynamics.results.seeds import BY_CHANCE, best, in_two_clusters, margin
from hidden_dynamics.tasks.adding import Adding
from hidden_dynamics.tasks.copying import Copying
from hidden_dynamics.tasks.images import ImageClassification
from hidden_dynamics.tasks.language import LanguageModelling, columns
from hidden_dynamics.tasks.pixels import PixelClassification
from hidden_dynamics.tasks.speech import RIDGE_PENALTY, SILENCE, SpeechPrediction


def test_of_classes_they_are_the_majority_and_the_frequencies():
    labels = {"train_labels": np.repeat([1, 2], 4), "test_labels": np.array([3, 3, 3, 1])}
    images = noise_images(4, train=8, test=4) | labels
    nats = -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    expected = {"test_loss": {"best constant": pytest.approx(nats)}, "test_accuracy": {"majority class": 0.75}}
    pixels = PixelClassification(images, {"permutation": "none"}, 0, CPU)
    assert expected.items() <= pixels.naive.items() and pixels.test_set == {"size": 4, "positive": None}
    frequencies = torch.tensor([-1e9, math.log(0.25), -1e9, math.log(0.75), *[-1e9] * 6])
    measured = pixels.evaluate(Answering(lambda x: frequencies.expand(x.shape[1], -1)))
    assert measured == {metric: pytest.approx(best(pixels.naive, metric, 1)[1]) for metric in measured}
    settings = {"crop": 2, "pad": 0, "evaluate_on": "crop", "validation": 3, "select_on": "validation"}
    task = ImageClassification(images, settings, 0, CPU)
    assert expected.items() <= task.naive.items() and task.test_set == pixels.test_set
    held_out = np.bincount(task.labels["validation"])
    assert task.naive["validation_accuracy"] == {"majority class": held_out.max() / 3}


def test_without_memory_the_letters_are_answered_by_their_frequency_at_each_step():
    options = {"blanks": 7, "letters": 3, "alphabet": 8, "test_size": 40, "seed": 0}
    task = Copying(copying.prepare(None, options), {}, 0, CPU)
    logits = torch.full((13, 9), -1e4)
    logits[:10, 0] = 0
    for step, letters in enumerate(task.test_letters.T):
        logits[10 + step] = torch.from_numpy(np.log(np.maximum(np.bincount(letters, minlength=9) / 40, 1e-300))).float()
    measured = task.evaluate(Answering(lambda x: logits[:, None].expand(-1, x.shape[1], -1)))
    assert task.naive["test_loss"] == {"no memory": pytest.approx(measured["test_loss"], rel=1e-5)}
    assert task.naive["train_loss"] == {"no memory": pytest.approx(3 * math.log(8) / 13)}
    assert task.naive["test_loss"]["no memory"] < task.naive["train_loss"]["no memory"]
    assert task.test_set == {"size": 40, "positive": None}


def test_of_sums_it_is_their_variance():
    arrays = adding.prepare(None, {"length": 4, "test_size": 3, "seed": 0})
    task = Adding(arrays | {"test_targets": np.array([0, 1, 2], np.float32)}, {}, 0, CPU)
    assert task.naive == {"train_loss": {"best constant": 1 / 6}, "test_loss": {"best constant": pytest.approx(2 / 3)}}
    assert task.test_set == {"size": 3, "positive": None}


def seen(x, count):
    """(T, batch, count * 129 + 1): the frame at hand, those before it, silence before the first, and 1."""
    silence = torch.full_like(x[:1], SILENCE)
    before = [torch.cat([*[silence] * back, x])[: len(x)] for back in range(count)]
    return torch.cat([*before, torch.ones_like(x[..., :1])], -1)


@pytest.mark.parametrize(("target", "frames"), [("next", 3), ("previous", 1)])
def test_of_speech_they_are_the_mean_the_frame_at_hand_and_ridge_regression(target, frames):
    task = SpeechPrediction(utterances(), {"target": target}, 0, CPU)
    x, lengths, y = task.batch(0, np.arange(task.train_size))
    inputs = valid_steps(seen(x, frames), lengths)
    penalty = torch.diag(RIDGE_PENALTY * len(inputs) * torch.tensor([*[1.0] * (frames * BINS), 0.0])).double()
    weights = torch.linalg.solve(inputs.T @ inputs + penalty, inputs.T @ y)
    mean = task.test.batch(np.arange(3))[2].mean(0)
    answers = {
        "best constant": lambda x, lengths: mean.expand(int(lengths.sum()), -1),
        "repeating the frame": valid_steps,
        f"ridge on {'three frames' if frames == 3 else 'the frame at hand'}": lambda x, lengths: (
            valid_steps(seen(x, frames), lengths) @ weights
        ),
    }
    measured = {name: task.evaluate(Answering(answer))["test_loss"] for name, answer in answers.items()}
    assert task.naive["test_loss"] == {name: pytest.approx(score, rel=1e-6) for name, score in measured.items()}
    assert [*baselines_of(task.naive)["test_loss"]] == ["best constant", "repeating the frame"]
    assert task.test_set == {"size": 3, "positive": None}


def test_of_a_text_it_is_the_training_texts_frequencies():
    arrays = {"train": [0, 0, 1, 0, 1], "validation": [0, 1, 2], "test": [2, 0, 1, 0], "vocabulary": list("abc")}
    sizes = {"validation": 1, "test": 2}
    settings = {"bptt": 7, "activation_regularisation": 0.0, "temporal_regularisation": 0.0}
    task = LanguageModelling(
        {name: np.array(each, np.int32 if name != "vocabulary" else np.str_) for name, each in arrays.items()},
        settings | {"evaluation_batch_sizes": sizes},
        0,
        CPU,
    )
    shares = np.array([4, 3, 1]) / 8  # each word's count raised by one
    assert columns(task.texts["test"], 2)[1:].tolist() == [[0, 0]]
    for split, targets in (("validation", [1, 2]), ("test", [0, 0])):
        loss = -np.log(shares[targets]).mean()
        assert task.naive[f"{split}_loss"] == {"word frequencies": pytest.approx(loss)}
        assert task.naive[f"{split}_perplexity"] == {"word frequencies": pytest.approx(math.exp(loss))}
    assert task.test_set == {"size": 2, "positive": None}


def test_of_sporadic_series_they_are_moments_the_last_value_and_the_series_own_mean():
    """One feature; two series of the test part are given 1, 3 and 5, and asked for (2, 4, 6) and (7, 7, 7)."""
    task = task_of(ARRAYS)
    assert task.test_set == {"size": len(task.parts["test"]), "positive": None}
    task.parts["test"], lengths = np.array([0, 1]), np.array([5, 4])
    task.rows = task.rows._replace(
        times=np.array([1, 2, 5, 5.5, 6, 3, 5, 5.5, 6], np.float32),
        values=np.array([1, 3, 2, 4, 6, 5, 7, 7, 7], np.float32)[:, None],
        mask=np.ones((9, 1), bool),
        lengths=lengths,
    )
    task.after, task.parts["validation"], task.features = np.array([[2, 3, 4], [6, 7, 8]]), np.array([0]), 1
    targets, mean = np.array([2, 4, 6, 7, 7, 7]), 5.5
    errors = {"best constant": [mean] * 6, "last value": [3] * 3 + [5] * 3, "series' own mean": [2] * 3 + [5] * 3}
    expected = {name: pytest.approx(np.mean((targets - answer) ** 2)) for name, answer in errors.items()}
    assert task.naive["test_mse"] == expected
    nats = 0.5 * (math.log(2 * math.pi * targets.var()) + 1)
    assert task.naive["test_negll"] == {"best constant": pytest.approx(nats)}


@pytest.mark.parametrize("targets", ["interpolation", "extrapolation"])
def test_of_patients_they_are_those_of_a_network_that_answers_so(targets):
    task = regression(PATIENTS, targets)
    batch = task.part("test")
    given, wanted = batch.context, batch.targets
    constant = (wanted.values.sum(0) / wanted.mask.sum(0).clamp(min=1)).expand(given.size, -1)
    own, last = constant.clone(), constant.clone()
    for series in range(given.size):
        for feature in range(task.features):
            rows = (given.series == series) & (given.mask[:, feature] > 0)
            if rows.any():
                own[series, feature] = given.values[rows, feature].mean()
                last[series, feature] = given.values[rows, feature][-1]
    answers = {"best constant": constant, "series' own mean": own}
    answers |= {"last value": last} if targets == "extrapolation" else {}
    name = f"test_{targets}_mse_observed"

    def answering(by):
        return Answering(lambda batch: Prediction(by[batch.targets.series][None], *[None] * 3))

    measured = {label: task.evaluate_test(answering(by)) for label, by in answers.items()}
    assert task.naive[name] == {label: pytest.approx(each[name], rel=1e-5) for label, each in measured.items()}
    released = task.naive[name.removesuffix("_observed")]
    assert released["series' own mean"] == pytest.approx(measured["series' own mean"][f"test_{targets}_mse"], rel=0.1)
    assert released["best constant"] <= measured["best constant"][f"test_{targets}_mse"]  # of other weights


def test_of_deaths_they_are_chance_and_of_activities_the_majority():
    task = mortality(PATIENTS)
    died = PATIENTS["died"][task.parts["test"]]
    assert task.naive["test_auc"] == {"chance": 0.5}
    assert task.naive["test_average_precision"] == {"chance": pytest.approx(died.mean())}
    assert task.naive["test_interpolation_mse"].keys() == {"best constant", "series' own mean"}
    assert task.test_set == {"size": len(died), "positive": died.sum()}
    task = activity(MOVES, bin_labels="lowest")
    truth = task.activity[task.parts["test"]]
    counts = np.bincount(truth[truth >= 0])
    assert task.naive["test_time_point_accuracy"] == {"majority class": counts.max() / counts.sum()}
    assert task.naive["test_time_point_auc"] == {"chance": 0.5}
    assert task.test_set == {"size": counts.sum(), "positive": None}


@pytest.mark.parametrize(
    ("sign", "value", "expected"),
    [(-1, 0.98, True), (-1, 0.995, False), (-1, 1.5, False), (1, 2.1, True), (1, 2.01, False), (1, math.nan, False)],
)
def test_a_run_has_learned_where_it_beats_the_best_baseline_by_more_than_chance(sign, value, expected):
    naive, measured = {"score": {"one": 1.0, "other": 2.0}}, {"score": value, "nfe": 1}
    assert best(naive, "score", sign) == (("one", 1.0) if sign < 0 else ("other", 2.0))
    assert (margin(naive, measured, "score", sign) > BY_CHANCE) is expected
    assert margin(naive, measured, "nfe", sign) is None


@pytest.mark.parametrize(
    ("margins", "expected"),
    [
        ([0.9, 0.97, 0.0], True),
        ([0.9, -0.3], False),  # of two nothing is told apart
        ([0.02, -0.01, -0.03, -0.06], False),  # they straddle the baseline
        ([0.9, 0.8, 0.02], False),  # all learned
        ([0.02, -0.045, -0.045, -0.065, -0.07], False),  # one is ahead, as one of five may be by chance
        ([0.0, -0.5], False),
        ([0.9, -math.inf], False),  # one has no number, which is said otherwise
        ([None, None], False),
    ],
)
def test_two_clusters_are_further_apart_than_twice_their_width(margins, expected):
    assert in_two_clusters(margins) is expected
