"""The tasks: what a batch holds, the loss of a known answer, and that an evaluation covers the whole test set."""

import numpy as np
import pytest
import torch
from raw import noise_images
from torch import nn
from torch.nn import functional

from hidden_dynamics.data import adding, copying
from hidden_dynamics.models.recurrent.lstm import LSTM
from hidden_dynamics.models.recurrent_network import RecurrentNetwork
from hidden_dynamics.tasks.adding import Adding
from hidden_dynamics.tasks.copying import Copying
from hidden_dynamics.tasks.pixels import PixelClassification

CPU = torch.device("cpu")
PIXELS, LEVELS = 12, 255  # by which a division is not a multiplication by its inverse


def pixel_arrays():
    """Random images; 1,100 of them are not a whole number of any round batch size."""
    return noise_images(PIXELS, levels=LEVELS, train=30, test=1100)


def copying_task(seed=0, test_size=300):
    options = {"blanks": 7, "letters": 3, "alphabet": 8, "test_size": test_size, "seed": 0}
    return Copying(copying.prepare(None, options), {}, seed, CPU)


def adding_task(seed=0, test_size=1001):
    return Adding(adding.prepare(None, {"length": 10, "test_size": test_size, "seed": 0}), {}, seed, CPU)


class Weighted(nn.Module):
    """Some answer that differs from example to example: fixed random weights on the whole sequence, or on each step."""

    def __init__(self, task, steps):
        super().__init__()
        self.every_step = task.every_step
        inputs = task.input_size if self.every_step else steps * task.input_size
        self.weight = torch.randn(inputs, task.output_size, generator=torch.Generator().manual_seed(1))

    def forward(self, x):
        return (x if self.every_step else x.transpose(0, 1).flatten(1)) @ self.weight


def test_a_binary_pixel_is_1_above_a_half_and_else_0():
    arrays = pixel_arrays() | {"levels": np.array(4, np.float32)}
    arrays["train_images"][0] = [0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0]
    task = PixelClassification(arrays, {"permutation": "none", "pixels": "binary"}, 0, CPU)
    x, _ = task.batch(0, np.array([0]))
    assert x[:, 0, 0].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0] + 7 * [0.0]


def test_the_readout_starts_uniform_or_as_in_exprnn():
    def readout(**options):
        torch.manual_seed(0)
        return RecurrentNetwork(copying_task(), LSTM, hidden_size=400, **options).readout

    usual, kaiming = readout(), readout(readout="kaiming")
    for start in (usual.weight, usual.bias):
        assert start.abs().max() <= 1 / 20 and start.std().item() == pytest.approx(1 / 20 / 3**0.5, rel=0.5)
    assert kaiming.weight.std().item() == pytest.approx((2 / 400) ** 0.5, rel=0.05) and not kaiming.bias.any()
    with pytest.raises(ValueError, match="'normal'"):
        readout(readout="normal")


@pytest.mark.parametrize(("permutation", "seed"), [("fixed", 0), ("fixed", 3), ("by_seed", 3)])
def test_training_and_test_images_are_permuted_alike_and_a_pixel_is_its_grey_level_over_their_number(permutation, seed):
    arrays = pixel_arrays()
    order = np.random.RandomState(92916 if permutation == "fixed" else seed).permutation(PIXELS)
    task = PixelClassification(arrays, {"permutation": permutation}, seed, CPU)
    assert np.array_equal(task.train_images.numpy(), arrays["train_images"][:, order])
    assert np.array_equal(task.test_images.numpy(), arrays["test_images"][:, order])
    x, labels = task.batch(0, np.array([9, 4]))
    assert x.shape == (PIXELS, 2, 1)
    expected = arrays["train_images"][np.ix_([9, 4], order)].astype(np.float32) / LEVELS
    assert x.dtype == torch.float32 and np.array_equal(x[:, :, 0].T.numpy(), expected)
    assert labels.tolist() == arrays["train_labels"][[9, 4]].tolist() and labels.dtype == torch.int64


def test_the_evaluation_of_pixels_is_over_the_whole_test_set_at_once():
    arrays = pixel_arrays()
    task = PixelClassification(arrays, {"permutation": "none"}, 0, CPU)
    network = Weighted(task, PIXELS)
    logits = network(torch.from_numpy(arrays["test_images"].T.copy()).float().div(LEVELS).unsqueeze(-1))
    labels = torch.from_numpy(arrays["test_labels"]).long()
    measured = task.evaluate(network)
    assert measured["test_loss"] == pytest.approx(functional.cross_entropy(logits, labels).item(), rel=1e-6)
    assert measured["test_accuracy"] == (logits.argmax(1) == labels).sum().item() / 1100


def test_a_copying_batch_is_one_hot_letters_blanks_and_the_marker():
    task = copying_task()
    x, targets = task.batch(0, (0, 5))
    assert x.shape == (7 + 2 * 3, 5, 10) and x.dtype == torch.float32 and set(x.unique().tolist()) == {0.0, 1.0}
    symbols = x.argmax(2).T.numpy()
    expected = copying.sequences(symbols[:, :3], 7, 8)
    assert torch.equal(x.sum(2), torch.ones(13, 5)) and targets.dtype == torch.int64
    assert np.array_equal(symbols, expected[0]) and np.array_equal(targets.T.numpy(), expected[1])
    assert (task.input_size, task.output_size) == (10, 9)


def test_the_evaluation_of_copying_is_over_the_whole_test_set_at_once():
    task = copying_task()
    network = Weighted(task, steps=13)
    inputs, targets = copying.sequences(task.test_letters, 7, 8)
    logits = network(functional.one_hot(torch.from_numpy(inputs), 10).float())
    expected = functional.cross_entropy(logits.flatten(0, 1), torch.from_numpy(targets).flatten()).item()
    assert task.evaluate(network)["test_loss"] == pytest.approx(expected, rel=1e-6)


def test_an_adding_batch_is_values_and_two_markers_and_the_sum_of_what_they_mark():
    x, targets = adding_task().batch(0, (0, 6))
    assert x.shape == (10, 6, 2) and x.dtype == targets.dtype == torch.float32
    values, markers = x.unbind(2)
    assert set(markers.unique().tolist()) == {0.0, 1.0} and (markers.sum(0) == 2).all()
    assert torch.allclose((values * markers).sum(0), targets, rtol=0, atol=1e-6)


def test_the_evaluation_of_adding_is_over_the_whole_test_set_at_once():
    task = adding_task()
    network = Weighted(task, steps=10)
    arrays = adding.prepare(None, {"length": 10, "test_size": 1001, "seed": 0})
    inputs = adding.inputs(arrays["test_values"], arrays["test_markers"]).astype(np.float64)
    answers = inputs.reshape(1001, -1) @ network.weight.numpy().astype(np.float64)
    expected = np.mean((answers[:, 0] - arrays["test_targets"]) ** 2)
    assert task.evaluate(network)["test_loss"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("make", [copying_task, adding_task])
def test_a_batch_depends_on_the_seed_and_the_iteration_alone(make):
    def batch(seed, iteration, before=(), epoch=0):
        task = make(seed=seed)
        for other in before:
            task.batch(0, (other, 4))
        return task.batch(epoch, (iteration, 4))

    def same(first, second):
        return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))

    plain = batch(2, 11)
    np.random.seed(0)
    torch.manual_seed(0)
    assert same(plain, batch(2, 11, before=[0, 12, 11], epoch=5))
    assert not same(plain, batch(2, 12))
    assert not same(plain, batch(3, 11))


@pytest.mark.parametrize("make", [copying_task, adding_task])
def test_no_training_batch_is_the_test_set_again(make):
    """Seed 0 made the test set, too."""
    task = make(seed=0, test_size=64)
    test = task.test_letters if make is copying_task else task.test[0]
    x, _ = task.batch(0, (0, 64))
    train = x.argmax(2)[:3].T.numpy() if make is copying_task else x[:, :, 0].T.numpy()
    assert train.shape == test.shape and not np.array_equal(train, test)
