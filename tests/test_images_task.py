"""Image classification: the crops to train on, what is held out, what is measured."""

import numpy as np
import pytest
import torch
from cases import Watching
from conftest import refused
from raw import noise_images
from scipy import stats
from torch import nn
from torch.nn import functional

from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError
from hidden_dynamics.floors.fitted import Answering
from hidden_dynamics.models.image_networks import ImageOutput
from hidden_dynamics.tasks import images
from hidden_dynamics.tasks.images import ImageClassification

CPU = torch.device("cpu")
SIDE, CROP, PAD = 6, 5, 2
PLACES = SIDE + 2 * PAD - CROP + 1
COUNT, TESTED, HELD_OUT = 60, 33, 20
SETTINGS = {"crop": CROP, "pad": PAD, "evaluate_on": "crop", "validation": HELD_OUT, "select_on": "validation"}


def noise(channels: int = 3) -> dict[str, np.ndarray]:
    """Images of noise, as CIFAR-10's."""
    return noise_images(SIDE, SIDE, channels, train=COUNT, test=TESTED)


def task_of(arrays: dict[str, np.ndarray] | None = None, seed: int = 0, **settings) -> ImageClassification:
    return ImageClassification(arrays or noise(), SETTINGS | settings, seed, CPU)


def numbered(count: int) -> dict[str, np.ndarray]:
    """Images that tell where they are cut and which they are: places from 1 in red, the number in green."""
    places = np.broadcast_to(np.arange(1, SIDE * SIDE + 1).reshape(SIDE, SIDE), (count, SIDE, SIDE))
    numbers = np.broadcast_to(np.arange(count)[:, None, None], places.shape)
    train = np.stack([places, numbers % 256, numbers // 256], axis=3).astype(np.uint8)
    labels = generator(0, "labels").integers(0, 10, count).astype(np.uint8)
    return noise() | {"train_images": train, "train_labels": labels, "levels": np.array(1, np.float32)}


def cut_at(crops: torch.Tensor) -> np.ndarray:
    """The row and column of the padded image that each crop of `numbered` begins at."""
    red = crops[:, 0].numpy().astype(int)
    values = red.reshape(len(red), -1).max(1)
    rows, columns = np.divmod(np.argmax(red.reshape(len(red), -1), axis=1), CROP)
    return np.stack([(values - 1) // SIDE + PAD - rows, (values - 1) % SIDE + PAD - columns], axis=1)


def everything(task: ImageClassification, epoch: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    return task.batch(epoch, np.arange(task.train_size))


@pytest.mark.parametrize(("channels", "pad", "crop"), [(3, 2, 5), (1, 0, 6), (1, 3, 6), (3, 0, 1), (3, 6, 4)])
def test_the_crops_are_those_of_the_padded_image_at_every_place(channels: int, pad: int, crop: int):
    arrays = noise(channels)
    task = task_of(arrays, select_on="test", pad=pad, crop=crop)
    padded = np.pad(arrays["train_images"], ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (crop, crop), axis=(1, 2))
    assert np.array_equal(task.crops.numpy(), windows.transpose(0, 3, 1, 2, 4, 5))


def test_the_places_are_uniform_and_rows_and_columns_independent():
    task = task_of(numbered(2000), select_on="test")
    drawn = np.concatenate([cut_at(everything(task, epoch)[0]) for epoch in range(1, 6)])
    assert drawn.min() == 0 and drawn.max() == PLACES - 1
    counts = np.bincount(drawn[:, 0] * PLACES + drawn[:, 1], minlength=PLACES**2)
    degrees = PLACES**2 - 1
    assert abs(stats.chisquare(counts).statistic - degrees) < 4 * np.sqrt(2 * degrees)


def test_the_places_are_drawn_anew_each_epoch_and_repeat_by_seed_and_epoch():
    def drawn(seed: int, epoch: int) -> np.ndarray:
        return cut_at(everything(task_of(numbered(500), seed, select_on="test"), epoch)[0])

    first = drawn(0, 1)
    assert np.array_equal(drawn(0, 1), first)
    for other in (drawn(0, 2), drawn(1, 1), drawn(0, 0)):
        # Two independent draws agree at one place in 36.
        assert (other == first).all(1).mean() < 0.08


def test_a_crop_does_not_depend_on_the_batch_it_is_in_nor_on_what_was_drawn_before():
    task, other = task_of(), task_of()
    crops, labels = everything(task, 3)
    other.batch(7, np.array([1, 2]))
    chosen = np.array([11, 5, 39])
    again, their_labels = other.batch(3, chosen)
    assert torch.equal(again, crops[chosen]) and torch.equal(their_labels, labels[chosen])


def test_the_levels_map_values_to_0_to_1():
    arrays = noise() | {"levels": np.array(16, np.float32)}
    arrays["train_images"], arrays["test_images"] = (arrays[f"{split}_images"] % 17 for split in ("train", "test"))
    task = task_of(arrays, select_on="test", crop=SIDE, pad=0)
    assert np.array_equal(everything(task)[0].numpy(), arrays["train_images"].transpose(0, 3, 1, 2) / np.float32(16))
    ((images_, _),) = task.evaluation_batches("test")
    assert np.array_equal(images_.numpy(), arrays["test_images"].transpose(0, 3, 1, 2) / np.float32(16))
    assert images_.dtype == torch.float32 and images_.max() == 1 and images_.min() == 0


def test_grey_images_come_row_by_row():
    arrays = noise(1)
    flat = arrays | {f"{split}_images": arrays[f"{split}_images"].reshape(-1, SIDE**2) for split in ("train", "test")}
    task, other = task_of(arrays), task_of(flat)
    assert task.channels == other.channels == 1 and task_of().channels == 3
    assert torch.equal(task.crops, other.crops)
    assert torch.equal(task.images["test"], other.images["test"])


def test_a_batch_is_taken_in_bulk():
    def operations(size: int) -> int:
        names = []
        with Watching(lambda name, result: names.append(name)):
            task.batch(1, np.arange(size))
        return len(names)

    task = task_of()
    assert operations(40) == operations(2) < 30
    # Nor are all places of an image written out: the crops are a view of the padded images.
    assert task.crops.untyped_storage().nbytes() == task.train_size * 3 * (SIDE + 2 * PAD) ** 2


def numbers_of(parts: torch.Tensor) -> np.ndarray:
    """Which image of `numbered` each of `parts`, (n, 3, H, W), is."""
    return (parts[:, 1].int() + 256 * parts[:, 2].int()).amax((1, 2)).numpy()


def test_held_out_images_are_not_trained_on_and_the_same_for_all_seeds():
    arrays = numbered(300)
    held_out = []
    for seed in (0, 1, 12345):
        task = task_of(arrays, seed)
        assert task.train_size == 280 and len(task.images["validation"]) == HELD_OUT
        crops, labels = everything(task)
        validation, trained = numbers_of(task.images["validation"]), numbers_of(crops)
        assert sorted([*validation, *trained]) == list(range(300))
        for numbers, found in ((validation, task.labels["validation"]), (trained, labels)):
            assert found.tolist() == arrays["train_labels"][numbers].tolist()
        held_out.append(set(validation))
    assert held_out[0] == held_out[1] == held_out[2]
    assert held_out[0] != set(range(HELD_OUT)) and held_out[0] != set(range(280, 300))  # from all over


@pytest.mark.parametrize("crop", [1, 2, 3, 4, 5, 6])
def test_what_is_evaluated_on_is_the_central_crop_or_the_whole_image(crop: int):
    arrays = noise()
    expected = arrays["test_images"].transpose(0, 3, 1, 2) / np.float32(255)
    ((whole, labels),) = task_of(arrays, evaluate_on="image", crop=crop).evaluation_batches("test")
    assert np.array_equal(whole.numpy(), expected) and labels.tolist() == arrays["test_labels"].tolist()
    ((central, labels),) = task_of(arrays, crop=crop).evaluation_batches("test")
    begin = (SIDE - crop) // 2
    assert np.array_equal(central.numpy(), expected[:, :, begin : begin + crop, begin : begin + crop])
    assert labels.tolist() == arrays["test_labels"].tolist()


@pytest.mark.parametrize("select_on", ["validation", "test"])
@pytest.mark.parametrize("evaluate_on", ["crop", "image"])
@pytest.mark.parametrize("size", [1, 7, 11, 1000])
def test_loss_and_accuracy_are_those_of_the_whole_set(monkeypatch, select_on: str, evaluate_on: str, size: int):
    monkeypatch.setattr(images, "EVALUATION_BATCH", size)
    task = task_of(select_on=select_on, evaluate_on=evaluate_on)
    torch.manual_seed(0)
    readout = nn.Linear(3 * (CROP if evaluate_on == "crop" else SIDE) ** 2, 10)
    network = Answering(lambda batch: ImageOutput(readout(batch.flatten(1)), batch.flatten(1), batch))
    measured = task.evaluate(network)
    if select_on == "validation":
        measured |= task.evaluate_test(network)
    splits = {select_on, "test"}
    assert set(measured) == {f"{split}_{what}" for split in splits for what in ("loss", "accuracy")}
    for split in splits:
        batches = list(task.evaluation_batches(split))
        assert max(len(labels) for _, labels in batches) <= size
        whole, labels = (torch.cat(parts) for parts in zip(*batches, strict=True))
        assert len(whole) == len(task.images[split])
        logits = network(whole).logits
        assert measured[f"{split}_loss"] == pytest.approx(functional.cross_entropy(logits.double(), labels).item())
        correct = [int(row.argmax()) == int(label) for row, label in zip(logits, labels, strict=True)]
        assert measured[f"{split}_accuracy"] == pytest.approx(np.mean(correct))


@pytest.mark.parametrize(
    "use", [lambda task, net: task.loss(net, task.batch(0, np.arange(3))), lambda task, net: task.evaluate(net)]
)
def test_a_network_that_gives_something_else_is_named(use):
    with pytest.raises(UserError, match="Flatten: .*ImageOutput, and this one gives a Tensor.*ImageNetwork"):
        use(task_of(), nn.Flatten())


@pytest.mark.parametrize("changes", [{"crop": 7}, {"pad": 7}, {"validation": 60}])
def test_settings_that_do_not_fit_the_images_are_refused(changes: dict):
    with refused(key=f"settings.{next(iter(changes))}"):
        task_of(**changes)


def test_the_widest_settings_are_right():
    task = task_of(crop=SIDE, pad=SIDE, validation=COUNT - 1)
    assert task.train_size == 1 and everything(task)[0].shape == (1, 3, SIDE, SIDE)
