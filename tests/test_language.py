"""The language model, its task, and the text in segments: closed forms, and the model as torch's own parts give it."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cases import LSTMS, noise
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from hidden_dynamics.errors import UserError
from hidden_dynamics.models.language_model import LanguageModel
from hidden_dynamics.models.recurrent.lstm import LSTM, MomentumLSTM
from hidden_dynamics.models.recurrent.orthogonal import DTRIV
from hidden_dynamics.models.recurrent.state import map_tensors
from hidden_dynamics.tasks.language import LanguageModelling, columns
from hidden_dynamics.tasks.schedule import Schedule, SegmentSchedule
from hidden_dynamics.tasks.task import schedule_of

CPU = torch.device("cpu")
WORDS, E, N = 11, 5, 7
TASK = SimpleNamespace(vocabulary_size=WORDS)
DROPOUTS = {"embedding": 0.1, "input": 0.4, "layer": 0.25, "output": 0.4, "weight": 0.5}


def model(name="LSTM", **options):
    core, hyperparameters = LSTMS[name]
    torch.manual_seed(0)
    given = {"hidden_size": N, "embedding_size": E, **hyperparameters, **options}
    return LanguageModel(TASK, core, **given).double()


def words(steps, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).integers(0, WORDS, (steps, 3)))


def test_the_papers_model_has_24_221_600_parameters():
    task = SimpleNamespace(vocabulary_size=10_000)
    network = LanguageModel(task, LSTM, hidden_size=1150, embedding_size=400, dropouts=DROPOUTS)
    assert sum(parameter.numel() for parameter in network.parameters()) == 24_221_600
    assert [tuple(layer.weight_ih_l0.shape) for layer in network.layers] == [(4600, 400), (4600, 1150), (1600, 1150)]


def test_without_dropout_it_is_an_embedding_stock_layers_and_the_embedding_once_more():
    network, given = model().train(), words(9)
    stock = [nn.LSTM(layer.input_size, layer.hidden_size).double() for layer in network.layers]
    for ours, theirs in zip(network.layers, stock, strict=True):
        theirs.load_state_dict(ours.state_dict())
    x = functional.embedding(given, network.embedding)
    for layer in stock:
        x, _ = layer(x)
    expected = x @ network.embedding.t() + network.bias
    output = network(given)
    torch.testing.assert_close(output.logits, expected, rtol=0, atol=1e-14)
    torch.testing.assert_close(output.states, x, rtol=0, atol=1e-14)
    assert output.dropped is output.states
    found, tied = (torch.autograd.grad(each.square().sum(), network.embedding)[0] for each in (output.logits, expected))
    torch.testing.assert_close(found, tied, rtol=1e-12, atol=1e-12)


def test_filters_that_are_not_carried_start_anew_while_h_and_c_go_on():
    carrying, anew = (model("SR", carry_filter=carry).eval() for carry in (True, False))
    start = carrying(words(4)).hidden_state
    without = tuple((h, c, None) for h, c, _ in start)
    assert torch.equal(anew(words(3, seed=1), start).logits, carrying(words(3, seed=1), without).logits)
    assert not torch.equal(anew(words(3, seed=1), start).logits, carrying(words(3, seed=1), start).logits)


@pytest.mark.parametrize("initialisation", ["uniform", "orthogonal"])
def test_initial_weights(initialisation):
    network = model(initialisation=initialisation, hidden_size=64, embedding_size=48, forget_fill="both")
    embedding = network.embedding.detach()
    assert embedding.abs().max() <= 0.1 and embedding.std().item() == pytest.approx(0.2 / 12**0.5, rel=0.1)
    assert not network.bias.any()
    for layer in network.layers:
        bound, n = layer.hidden_size**-0.5, layer.hidden_size
        if initialisation == "uniform":
            values = torch.cat([parameter.detach().flatten() for parameter in layer.parameters()])
            assert values.abs().max() <= bound and values.std().item() == pytest.approx(2 * bound / 12**0.5, rel=0.02)
        else:
            product = layer.weight_ih_l0.t() @ layer.weight_ih_l0
            torch.testing.assert_close(product, torch.eye(len(product), dtype=torch.float64), rtol=0, atol=1e-5)
            assert torch.equal(layer.weight_hh_l0, torch.eye(4 * n, n, dtype=torch.float64))
            assert layer.bias_ih_l0.sum() == layer.bias_hh_l0.sum() == n


@pytest.mark.parametrize("initialisation", ["uniform", "orthogonal"])
def test_a_learned_filter_starts_as_it_is_given(initialisation):
    given = {"hidden_size": 5, "embedding_size": 4, "layers": 1, "initialisation": initialisation}
    network = LanguageModel(TASK, MomentumLSTM, mu=0.9, s=0.1, learn=True, **given)
    logit, log = network.layers[0].filter.free.tolist()
    assert (1 / (1 + math.exp(-logit)), math.exp(log)) == pytest.approx((0.9, 0.1))


@pytest.mark.parametrize(
    ("options", "error", "complaint"),
    [
        ({"initialisation": "zero"}, ValueError, "initialisation .*'zero'"),
        ({"layers": 0}, ValueError, "layers must be at least 1"),
        ({"dropouts": {"weight": 1.0}}, ValueError, r"must lie in \[0, 1\)"),
        ({"dropouts": {"wieght": 0.5}}, TypeError, "wieght"),
        ({"num_layers": 2}, ValueError, "num_layers"),
        *(({name: True}, ValueError, name) for name in ("bidirectional", "batch_first")),
    ],
)
def test_impossible_arguments_are_refused(options, error, complaint):
    with pytest.raises(error, match=complaint):
        model(**options)


def test_a_core_that_is_no_lstm_is_refused():
    with pytest.raises(TypeError, match="must derive from recurrent.LSTM"):
        LanguageModel(TASK, DTRIV, hidden_size=8, embedding_size=8, K=1, initialisation="orthogonal")


def only(**dropouts):
    return model(dropouts=dropouts, hidden_size=40, embedding_size=50).train()


def test_words_are_dropped_wherever_they_stand_and_the_others_grow():
    network, text = only(embedding=0.4), words(30)
    given = functional.embedding(text, network.embedding)
    ratio = network._embed(text) / given
    for word in range(WORDS):
        (value,) = ratio[text == word].unique().round(decimals=6).unique().tolist()
        assert value in (0.0, pytest.approx(1 / 0.6, abs=1e-6))


def test_entries_are_dropped_at_all_steps_alike():
    x = noise(25, 40, 50)
    ratio = only()._drop_throughout(x, 0.25) / x
    assert torch.equal(ratio.round(decimals=9), ratio[:1].expand_as(ratio).round(decimals=9))
    assert ratio.round(decimals=6).unique().tolist() == pytest.approx([0, 1 / 0.75], abs=1e-6)
    assert (ratio[0] == 0).double().mean().item() == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / 2000) ** 0.5)


def test_recurrent_weights_are_dropped_and_no_others_and_stay_as_they_are():
    """An entry whose weight was dropped has no gradient; about half of them have none."""
    network = only(weight=0.5)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    network(words(12)).logits.square().sum().backward()
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())
    for layer in network.layers:
        share = (layer.weight_hh_l0.grad == 0).double().mean().item()
        assert share == pytest.approx(0.5, abs=4 * 0.5 / layer.weight_hh_l0.numel() ** 0.5)
        assert all((kept.grad != 0).all() for kept in (layer.weight_ih_l0, layer.bias_ih_l0, layer.bias_hh_l0))


def test_what_enters_the_layers_and_the_readout_is_dropped_at_the_rate_of_its_place(monkeypatch):
    network, rates = model(dropouts=DROPOUTS).train(), []
    monkeypatch.setattr(network, "_drop_throughout", lambda x, rate: rates.append(rate) or x)
    network(words(4))
    assert rates == [0.4, 0.25, 0.25, 0.4]


def test_nothing_is_dropped_in_evaluation():
    dropping, plain = model(dropouts=DROPOUTS).eval(), model().train()
    assert torch.equal(dropping(words(9)).logits, plain(words(9)).logits)
    assert not torch.equal(dropping.train()(words(9)).logits, plain(words(9)).logits)


def task_of(validation=60, test=33, bptt=7, **regularisation):
    random = np.random.default_rng(2)
    sizes = {"train": 200, "validation": validation, "test": test}
    arrays = {split: random.integers(0, WORDS, size).astype(np.int32) for split, size in sizes.items()}
    arrays["vocabulary"] = np.array([f"word{k}" for k in range(WORDS)])
    settings = {
        "bptt": bptt,
        "activation_regularisation": 0.0,
        "temporal_regularisation": 0.0,
        "evaluation_batch_sizes": {"validation": 4, "test": 1},
        **regularisation,
    }
    return LanguageModelling(arrays, settings, 0, CPU)


def test_a_batch_is_a_segment_and_the_words_that_follow():
    task = task_of()
    text = task.texts["train"]
    x, y, begins = task.batch(0, (0, 6, 4))
    assert begins and torch.equal(x[:, 1], text[50:56]) and torch.equal(y[:, 1], text[51:57])
    x, y, begins = task.batch(3, (6, 43, 4))
    assert not begins and torch.equal(x[:, 3], text[156:199]) and torch.equal(y[-1], text[[49, 99, 149, 199]])


def test_the_loss_is_the_cross_entropy_with_both_regularisers():
    task = task_of(activation_regularisation=2.0, temporal_regularisation=1.5)
    network = model(dropouts=DROPOUTS).train()
    batch = task.batch(0, (0, 10, 4))
    torch.manual_seed(1)
    loss = task.loss(network, batch)
    torch.manual_seed(1)
    output = network(batch[0])
    torch.testing.assert_close(output.logits, output.dropped @ network.embedding.t() + network.bias)
    log_p = output.logits.log_softmax(-1).gather(-1, batch[1].unsqueeze(-1))
    activation = 2.0 * (output.dropped**2).mean()
    temporal = 1.5 * ((output.states[1:] - output.states[:-1]) ** 2).mean()
    torch.testing.assert_close(loss, -log_p.mean() + activation + temporal, rtol=1e-12, atol=0)
    assert activation > 0 and temporal > 0


@pytest.mark.parametrize("name", LSTMS)
def test_a_segment_continues_the_one_before_without_its_gradients(name):
    task, network = task_of(), model(name).train()
    first, second = task.batch(0, (0, 6, 4)), task.batch(0, (6, 9, 4))
    task.loss(network, first)
    hidden_state = task.hidden_state
    for layer in hidden_state:
        map_tensors(lambda tensor: pytest.fail("a gradient goes back") if tensor.requires_grad else tensor, layer)
    expected = functional.cross_entropy(network(second[0], hidden_state).logits.flatten(0, 1), second[1].flatten())
    torch.testing.assert_close(task.loss(network, second), expected, rtol=0, atol=0)
    assert task.hidden_state is not hidden_state
    kept = []
    for layer in task.hidden_state:
        map_tensors(kept.append, layer)
    for tensor in kept:
        assert tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()  # no view of a segment
    task.loss(network, first)  # the next epoch: it begins with nothing
    assert all(torch.equal(h, g) for (h, *_), (g, *_) in zip(task.hidden_state, hidden_state, strict=True))


@pytest.mark.parametrize("bptt", [1, 4, 7, 500])
def test_evaluation_reads_the_whole_text_whatever_the_segments_are(bptt):
    task, network = task_of(bptt=bptt), model("Momentum").eval()
    with torch.no_grad():
        measured = {**task.evaluate(network), **task.evaluate_test(network)}
        for split, batch_size in (("validation", 4), ("test", 1)):
            rows = columns(task.texts[split], batch_size)
            loss = functional.cross_entropy(network(rows[:-1]).logits.flatten(0, 1), rows[1:].flatten()).item()
            assert measured[f"{split}_loss"] == pytest.approx(loss, rel=1e-12)
            assert measured[f"{split}_perplexity"] == pytest.approx(math.exp(loss), rel=1e-12)
    assert task.hidden_state is None


@pytest.mark.parametrize(("bias", "perplexity"), [(0.0, pytest.approx(WORDS)), (1e6, math.inf)])
def test_a_network_that_knows_nothing_has_the_vocabularys_size_as_perplexity_and_one_beyond_all_numbers_is_infinite(
    bias, perplexity
):
    network = model().eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.bias[0] = bias
        assert task_of().evaluate(network)["validation_perplexity"] == perplexity


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"validation": 7}, "the validation text is too short for evaluation_batch_sizes.validation"),
        ({"test": 1}, "the test text is too short for evaluation_batch_sizes.test"),
    ],
)
def test_settings_and_texts_that_do_not_fit_them_are_refused(changes, complaint):
    with pytest.raises(UserError, match=complaint):
        task_of(**changes)


@given(st.integers(12, 3000), st.integers(1, 4), st.integers(2, 80), st.integers(1, 4), st.integers(0, 5))
def test_segments_follow_one_another_through_the_whole_text(size, batch_size, bptt, epochs, seed):
    schedule = SegmentSchedule({"epochs": epochs, "batch_size": batch_size}, size, bptt, seed)
    position, epoch, rows = 0, 0, size // batch_size
    for iteration in range(schedule.iterations):
        now, (start, length, given) = schedule.indices(iteration)
        if now > epoch:
            assert rows - 2 <= position <= rows - 1  # a segment of one row would be none
            assert schedule.evaluates(iteration) and schedule.epochs(iteration) == now
            position, epoch = 0, now
        else:
            assert iteration == 0 or not schedule.evaluates(iteration)
            assert now <= schedule.epochs(iteration) < now + 1
        assert (start, given) == (position, batch_size) and length >= 2
        last = position + length >= rows - 2
        assert schedule.rate(iteration) == length / bptt or (last and schedule.rate(iteration) > length / bptt)
        position += length
    assert epoch == epochs - 1 and rows - 2 <= position <= rows - 1
    assert schedule.evaluates(schedule.iterations) and schedule.epochs(schedule.iterations) == epochs


def test_lengths_are_those_of_awd_lstm():
    """Rounded down from a normal distribution about 70, or 35 for one in twenty; some 46,479 / 67.75 in an epoch."""
    schedule = SegmentSchedule({"epochs": 20, "batch_size": 20}, 929_589, 70, 0)
    lengths = np.array([schedule.rate(iteration) * 70 for iteration in range(schedule.iterations)])
    assert schedule.iterations / 20 == pytest.approx(687, abs=6)
    short = lengths < 52
    assert short.mean() == pytest.approx(0.05, abs=0.01)
    assert lengths[~short].mean() == pytest.approx(69.5, abs=0.3) and lengths[~short].std() == pytest.approx(5, abs=0.3)
    assert lengths[short].mean() == pytest.approx(34.5, abs=1)


def test_segments_differ_between_epochs_and_seeds_and_are_otherwise_the_same():
    def lengths(seed, epochs=2):
        schedule = SegmentSchedule({"epochs": epochs, "batch_size": 4}, 4000, 35, seed)
        return [schedule.indices(iteration) for iteration in range(schedule.iterations)]

    first, second = ([segment for epoch, segment in lengths(0) if epoch == k] for k in (0, 1))
    assert first != second and lengths(0) == lengths(0, epochs=3)[: len(lengths(0))] and lengths(0) != lengths(1)


def test_a_text_too_short_for_the_batch_is_refused():
    with pytest.raises(UserError, match="11 words is too short for a batch_size of 4"):
        SegmentSchedule({"epochs": 1, "batch_size": 4}, 11, 70, 0)


@pytest.mark.parametrize(("kind", "sizes"), [(Schedule, [30]), (SegmentSchedule, [400, 10])])
def test_data_with_an_end_have_no_iterations_per_epoch(kind, sizes):
    task = SimpleNamespace(schedule=lambda training, seed: kind(training, *sizes, seed))
    training = {"epochs": 2, "batch_size": 4}
    assert schedule_of(task, training, 0).iterations >= 2
    with refused(key="training.iterations_per_epoch"):
        schedule_of(task, training | {"iterations_per_epoch": 7}, 0)


def test_evaluations_may_come_within_an_epoch():
    schedule = SegmentSchedule({"epochs": 2, "batch_size": 4, "evaluate_every": 3}, 400, 10, 0)
    evaluated = [k for k in range(schedule.iterations + 1) if schedule.evaluates(k)]
    assert evaluated == sorted({*range(3, schedule.iterations, 3), schedule.iterations})
