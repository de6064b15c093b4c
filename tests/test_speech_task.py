"""The speech task: what a batch holds for either target, its loss, and that an evaluation covers the whole splits."""

import numpy as np
import pytest
import torch
from cases import assert_all_close

from hidden_dynamics.data.speech import BINS
from hidden_dynamics.models.recurrent.lstm import MomentumLSTM
from hidden_dynamics.models.recurrent_network import RecurrentNetwork
from hidden_dynamics.tasks import speech
from hidden_dynamics.tasks.speech import SILENCE, SpeechPrediction

CPU = torch.device("cpu")
LENGTHS = {"train": [5, 9, 4, 9, 7, 4, 6], "validation": [4, 8, 6, 6, 11], "test": [10, 4, 5]}
TARGETS = ["next", "previous"]
targets = pytest.mark.parametrize("target", TARGETS)


def arrays(dtype=np.float64):
    """Random frames between silent ones, as an utterance's first and last are."""
    rng, made = np.random.default_rng(3), {}
    for split, each in LENGTHS.items():
        utterances = [rng.uniform(-50, 60, (length, BINS)) for length in each]
        for utterance in utterances:
            utterance[[0, -1]] = SILENCE
        made[f"{split}_frames"] = np.concatenate(utterances).astype(dtype)
        made[f"{split}_lengths"] = np.array(each)
    return made


def make(target, given=None):
    return SpeechPrediction(given or arrays(), {"target": target}, 0, CPU)


def utterances(given, split):
    return np.split(given[f"{split}_frames"], given[f"{split}_lengths"].cumsum()[:-1])


def pair(frames, target):
    """Input and target of one utterance, by hand."""
    extended = np.concatenate([frames, np.full((1, BINS), -50.0)])
    return (extended[:-1], extended[1:]) if target == "next" else (extended[1:], extended[:-1])


def network_of(task):
    torch.manual_seed(0)
    return RecurrentNetwork(task, MomentumLSTM, hidden_size=6, mu=0.3, s=0.1).double()


def padded_loss(network, given, split, target, chosen):
    """Every utterance padded to the longest with silence, a mask, and the loop that reads as the equations do."""
    pairs = [pair(utterances(given, split)[i], target) for i in chosen]
    steps = max(len(x) for x, _ in pairs)
    x, y = (np.full((steps, len(pairs), BINS), SILENCE) for _ in range(2))
    mask = np.zeros((steps, len(pairs)), dtype=bool)
    for i, (inputs, outputs) in enumerate(pairs):
        x[: len(inputs), i], y[: len(inputs), i], mask[: len(inputs), i] = inputs, outputs, True
    core = network.core
    reference = type(core)(BINS, 6, mu=0.3, s=0.1, backend="reference").double()
    reference.load_state_dict(core.state_dict())
    answers = network.readout(reference(torch.from_numpy(x))[0])
    chosen_errors = (answers - torch.from_numpy(y))[torch.from_numpy(mask)]
    return chosen_errors.square().mean(), reference


def test_a_batch_is_sorted_by_length_padded_with_silence_and_as_precise_as_the_frames():
    """What it holds of either target is shown by its loss."""
    x, lengths, y = make("next", arrays(np.float32)).batch(0, np.array([0, 1]))
    assert lengths.tolist() == [9, 5] and x.shape == (9, 2, BINS) and (x[5:, 1] == SILENCE).all()
    assert x.dtype == y.dtype == torch.float32 and lengths.dtype == torch.int64


def test_a_batch_depends_on_its_indices_alone():
    """So a training that is resumed sees the batches it would have seen; what came before has no influence."""
    fresh, used = make("next"), make("next")
    for indices in ([0, 1], [6, 5, 4, 3]):
        used.batch(0, np.array(indices))
    np.random.seed(0)
    torch.manual_seed(0)
    for one, other in zip(fresh.batch(1, np.array([3, 0, 1])), used.batch(7, np.array([3, 0, 1])), strict=True):
        assert torch.equal(one, other)
    x, _, _ = fresh.batch(0, np.array([3, 1]))
    swapped, _, _ = fresh.batch(0, np.array([1, 3]))
    assert not torch.equal(x, swapped) and torch.equal(x.flip(1), swapped)  # of the same length


@targets
@pytest.mark.parametrize("chosen", [[4, 1, 2, 3], [6], [0, 1, 2, 3, 4, 5, 6]])
def test_the_loss_is_the_padded_masked_one_of_the_reference_cell(target, chosen, monkeypatch):
    monkeypatch.setattr(
        "hidden_dynamics.models.ragged.CPU_SEGMENT", 2
    )  # so that some segments are made, some padding kept
    given = arrays()
    task = make(target, given)
    network = network_of(task)
    loss = task.loss(network, task.batch(0, np.array(chosen)))
    expected, reference = padded_loss(network, given, "train", target, chosen)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-12)
    gradients = torch.autograd.grad(loss, network.parameters())
    expected_gradients = torch.autograd.grad(expected, [*reference.parameters(), *network.readout.parameters()])
    assert_all_close(gradients, expected_gradients)


@targets
@pytest.mark.parametrize("size", [1, 2, 128])
def test_an_evaluation_is_over_the_whole_splits_at_once(target, size, monkeypatch):
    monkeypatch.setattr(speech, "TEST_BATCH", size)
    given = arrays()
    task = make(target, given)
    network = network_of(task)
    measured = task.evaluate(network)
    assert list(measured) == ["validation_loss", "test_loss"]
    for split in ("validation", "test"):
        expected, _ = padded_loss(network, given, split, target, range(len(LENGTHS[split])))
        assert measured[f"{split}_loss"] == pytest.approx(expected.item(), rel=1e-12)
        assert type(measured[f"{split}_loss"]) is float
