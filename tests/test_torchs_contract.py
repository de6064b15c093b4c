"""The contract of nn.LSTM: what torch's tests of its RNNs check, on it and on ours, and on every cell and filter."""

import copy
import io
import itertools
import os
import pickle
import subprocess
import sys

import pytest
import torch
from cases import CORES, LSTMS, ORTHOGONAL, LearntFilter, assert_all_close, noise, randomised, tensors
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call
from torch.nn.utils import parametrizations, prune
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, unpack_sequence
from torch.utils.checkpoint import checkpoint

import hidden_dynamics.nn as hd
from hidden_dynamics.models.momentum.recurrence import _kept_products
from hidden_dynamics.system.files import ROOT

D, N, BATCH, STEPS = 3, 5, 4, 11
LENGTHS = [5, 11, 1, 5]
every_core = pytest.mark.parametrize("name", CORES)
either_backend = pytest.mark.parametrize("backend", ["fused", "reference"])


def made(name, *sizes, **options):
    cls, given = CORES[name]
    return randomised(cls(D, N, *sizes, **given, **options, dtype=torch.float64))


def outcome(model, *arguments):
    """Outputs, state and the gradients of a random function of them, with respect to inputs, too."""
    leaves = [one for one in tensors(arguments) if one.requires_grad] + list(model.parameters())
    output, end = model(*arguments)
    results = [output if isinstance(output, torch.Tensor) else output.data, *end]
    value = sum((result * noise(*result.shape, seed=i).to(result.dtype)).sum() for i, result in enumerate(results))
    return results, torch.autograd.grad(value, leaves)


@pytest.mark.gpu
def test_a_cell_made_from_torchs_is_on_its_device():
    assert {part.device.type for part in hd.LSTM.from_torch(nn.LSTM(2, 3).to("cuda")).parameters()} == {"cuda"}


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize(("bias", "batch_first", "bidirectional"), [*itertools.product([False, True], repeat=3)])
@pytest.mark.parametrize("form", ["plain", "batch of none", "not contiguous", "sorted", "unsorted"])
def test_layers_directions_and_packed_sequences_are_torchs(layers, bias, batch_first, bidirectional, form):
    batch = 0 if form == "batch of none" else BATCH
    x = noise(STEPS, batch, 2 * D, seed=1)[..., ::2].requires_grad_()
    hidden = tuple(noise(layers * (1 + bidirectional), batch, N, seed=seed).requires_grad_() for seed in (2, 3))
    if form in ("sorted", "unsorted"):
        lengths = sorted(LENGTHS, reverse=True) if form == "sorted" else LENGTHS
        x = pack_padded_sequence(x, torch.tensor(lengths), enforce_sorted=form == "sorted")
    else:
        x = (x if form == "not contiguous" else x.contiguous()).transpose(0, int(batch_first))
    torchs = nn.LSTM(D, N, layers, bias, batch_first, 0.0, bidirectional, dtype=torch.float64)
    ours = hd.LSTM.from_torch(torchs)
    assert repr(ours) == repr(torchs)
    for arguments in ((x,), (x, hidden)):
        (expected, of_torch), (found, of_ours) = (outcome(model, *arguments) for model in (torchs, ours))
        assert_all_close(found, expected)
        assert_all_close(of_ours, of_torch)


def test_what_torch_refuses():
    for wrong in ({"num_layers": 0}, {"hidden_size": 0}, {"dropout": 2.0}, {"dropout": True}, {"hidden_size": 2.5}):
        raised = []
        for cls in (nn.LSTM, hd.LSTM, hd.DTRIV):
            with pytest.raises((ValueError, TypeError)) as error:
                cls(**{"input_size": D, "hidden_size": N, **wrong})
            raised.append(error.type)
        assert len(set(raised)) == 1, wrong
    with pytest.raises(ValueError, match="proj_size"):  # which torch takes
        hd.LSTM(D, N, proj_size=2)
    for cls in (nn.LSTM, hd.LSTM, hd.DTRIV):
        with pytest.warns(UserWarning, match="dropout"):
            cls(D, N, dropout=0.5)


def part_of(model, name, suffix, input_size):
    """The cell of one layer in one direction, with the weights of the model's."""
    cls, given = CORES[name]
    part = cls(input_size, N, **given, backend=model.backend, dtype=torch.float64)
    own = model.state_dict()
    part.load_state_dict({key: own[key.replace("_l0", suffix)] for key in part.state_dict()})
    return part


@every_core
@either_backend
def test_two_layers_in_two_directions_are_four_cells(name, backend):
    model, x = made(name, 2, bidirectional=True, backend=backend), noise(STEPS, BATCH, D, seed=1)
    start = model(noise(3, BATCH, D))[1].detach()
    expected, ends = x, []
    for layer in range(2):
        both = []
        for way, suffix in enumerate((f"_l{layer}", f"_l{layer}_reverse")):
            part, index = part_of(model, name, suffix, expected.shape[2]), 2 * layer + way
            own = type(start)([each[index : index + 1] for each in start], start.filter[index : index + 1])
            h, end = part(expected.flip(0) if way else expected, own)
            both.append(h.flip(0) if way else h)
            ends.append(end)
        expected = torch.cat(both, -1)
    found, end = model(x, start)
    assert_all_close([found], [expected])
    assert_all_close(end, [torch.cat(each) for each in zip(*ends, strict=True)])
    assert_all_close(tensors(end.filter) or [found], [each for one in ends for each in tensors(one.filter)] or [found])


@every_core
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_packed_sequence_is_each_sequence_alone(name, bidirectional):
    """Outputs and states, in the order given; from a state, and from one after unequal lengths."""
    model, x = made(name, 2, bidirectional=bidirectional), noise(STEPS, BATCH, D, seed=1)
    alone = [x[:length, i : i + 1] for i, length in enumerate(LENGTHS)]
    packed = pack_sequence([each.squeeze(1) for each in alone], enforce_sorted=False)
    output, end = model(packed, model(packed, model(x)[1])[1])
    starts = [model(each, model(x[:, i : i + 1])[1])[1] for i, each in enumerate(alone)]
    pairs = [model(each, start) for each, start in zip(alone, starts, strict=True)]
    assert_all_close(unpack_sequence(output), [h.squeeze(1) for h, _ in pairs])
    assert_all_close(tensors(end), [torch.cat(each, -2) for each in zip(*(tensors(e) for _, e in pairs), strict=True)])
    padded, lengths = pad_packed_sequence(packed)
    order = lengths.argsort(descending=True)
    ragged = hd.run_ragged(model, padded[:, order], lengths[order])
    assert_all_close([ragged], [model(pack_padded_sequence(padded[:, order], lengths[order]))[0].data])


class Discount(LearntFilter):
    """A linear filter of a user's own, whose rate is learned: v_t = a v_{t-1} + g_t; its state is (v, steps done)."""

    linear = True

    def step(self, g, state=None):
        v, done = (torch.zeros_like(g), 0) if state is None else state
        v = self.decay * v + g
        return v, (v, done + 1)


LINEAR = {
    "none": lambda: None,
    "momentum": lambda: hd.Momentum(0.6, 0.9),
    "learned": lambda: hd.Momentum(0.6, 0.9, learn=True).double(),
    "Nesterov": lambda: hd.Nesterov(0.7),
    "restarted": lambda: hd.Nesterov(0.7, 4, 1),
    "one's own": Discount,
}


@pytest.mark.gpu
@pytest.mark.parametrize("filter", LINEAR)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_many_lengths_on_a_gpu_are_one_call_for_each_layer_and_direction(filter, bidirectional, monkeypatch):
    """From a state of unequal lengths, too, whose filter's part is held by what follows it."""
    calls, lstm = [], torch.lstm
    monkeypatch.setattr(torch, "lstm", lambda *given: calls.append(given) or lstm(*given))
    lengths, found = [[5, 11, 1, 7, 3], [2, 1, 9, 4, 6]], {}
    for backend in ("fused", "reference"):
        options = {"bidirectional": bidirectional, "backend": backend, "device": "cuda", "dtype": torch.float64}
        model = randomised(hd.LSTM(D, N, 2, filter=LINEAR[filter](), **options).cuda())
        own = [noise(2 * (1 + bidirectional), 5, N, seed=seed).cuda().requires_grad_() for seed in (1, 2)]
        x = [noise(11, 5, D, seed=seed).cuda().requires_grad_() for seed in (3, 4)]
        packed = [pack_padded_sequence(*each, enforce_sorted=False) for each in zip(x, lengths, strict=True)]
        first, state = model(packed[0], tuple(own))
        second, end = model(packed[1], state)
        results = [first.data, second.data, *state, *end]
        value = sum((each * noise(*each.shape, seed=i).cuda()).sum() for i, each in enumerate(results))
        found[backend] = [*results, *torch.autograd.grad(value, [*x, *own, *model.parameters()])]
    assert_all_close(found["fused"], found["reference"])
    assert len(calls) == 2 * 2 * (1 + bidirectional)


@every_core
def test_dropout_is_between_layers_and_in_training_alone(name):
    model, x = made(name, 2), noise(STEPS, BATCH, D)
    usual = model(x)[0]
    model.dropout = 0.5  # as with torch's, it may be changed
    dropped = [model(x)[0] for _ in range(2)]
    assert not torch.equal(*dropped) and torch.equal(model.eval()(x)[0], usual)
    model.train().dropout = 1.0
    cut = part_of(model, name, "_l1", N)(torch.zeros(STEPS, BATCH, N, dtype=torch.float64))[0]
    assert_all_close([model(x)[0]], [cut])


def saved_and_loaded(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@every_core
@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda state: pickle.loads(pickle.dumps(state)), saved_and_loaded],
    ids=["copy", "deepcopy", "pickle", "torch"],
)
def test_a_copied_state_goes_on(name, copied):
    model, x = made(name, 2), noise(2 * STEPS, BATCH, D, seed=1)
    first, state = model(x[:STEPS])
    again = copied(state.detach())
    assert type(again) is type(state) and again.maker == state.maker
    second, end = model(x[STEPS:], again.to("cpu", torch.float64))
    whole, end_of_whole = model(x)
    assert_all_close([torch.cat([first, second]), *tensors(end)], [whole, *tensors(end_of_whole)])
    assert not any(part.requires_grad for part in tensors(again))
    if name in LSTMS and name != "LSTM":  # a plain pair starts the filter anew
        assert (model(x[STEPS:], tuple(state))[0] - second).abs().max() > 1e-4


def test_a_saved_state_in_a_fresh_process(tmp_path):
    """Its plain tensors wherever torch is; whole where `hidden_dynamics.nn` is imported."""
    model = made("NAG", 2)
    state = model(pack_sequence([noise(5, D), noise(2, D)]))[1].detach()
    torch.save([state, state.plain], tmp_path / "both")
    torch.save(state.plain, tmp_path / "plain")
    code = """import torch
plain = torch.load("plain", weights_only=True)
try:
    torch.load("both", weights_only=True)
except Exception as refused:
    assert "LSTMState" in str(refused)
    import hidden_dynamics.nn
    torch.save([torch.load("both", weights_only=True)[0], plain], "again")
"""
    there = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    subprocess.run([sys.executable, "-c", code], **there, check=True)
    whole, plain = torch.load(tmp_path / "again", weights_only=True)
    for again in (whole, model.State(*plain)):
        assert_all_close([model(noise(3, 2, D), again)[0]], [model(noise(3, 2, D), state)[0]], 0)


@pytest.mark.parametrize("place", ["cpu", "cuda"])  # as `State.to` leaves counts, and as `torch.load` may put them
def test_counts_of_steps_are_on_the_cpu_of_sequences_on_a_gpu(place):
    with FakeTensorMode():  # which knows devices that are not there
        model, x = hd.NAGLSTM(D, N, s=0.7, device="cuda"), torch.zeros(1, 2, D, device="cuda")
        h, v, counts = x.new_zeros(1, 2, N), x.new_zeros(2, D + 1), torch.zeros(2, 1, dtype=torch.int64, device=place)
        state = model._checked_state(x, (2,), model.State((h, h), ((v, counts),), model.maker))
        ((v, counts),) = state.reordered(torch.tensor([1, 0], device="cuda")).filter
    assert (v.device.type, counts.device.type) == ("cuda", "cpu")


@pytest.mark.parametrize("name", LSTMS)
def test_the_weights_are_torchs(name):
    torchs = nn.LSTM(D, N, 2, bidirectional=True)
    ours = CORES[name][0].from_torch(torchs, **CORES[name][1])
    assert [*torchs.state_dict()] == [*ours.state_dict()] == [name for name, _ in ours.named_parameters()]
    assert all(map(torch.equal, torchs.parameters(), ours.parameters()))
    shapes = [[[one.shape for one in layer] for layer in model.all_weights] for model in (torchs, ours)]
    assert shapes[0] == shapes[1]
    assert ours.flatten_parameters() is None


@pytest.mark.parametrize("name", LSTMS | ORTHOGONAL)
def test_device_and_type(name):
    cls, given = CORES[name]
    on_meta = cls(D, N, 2, bidirectional=True, device="meta", dtype=torch.float64, **given)
    assert {(each.device.type, each.dtype) for each in on_meta.parameters()} == {("meta", torch.float64)}
    usual, placed = cls(D, N, 2, bidirectional=True, **given), on_meta.to_empty(device="cpu").float()
    for model in (usual, placed):
        torch.manual_seed(0)
        model.reset_parameters()
    assert all(map(torch.equal, usual.parameters(), placed.parameters()))
    x = torch.rand(STEPS, BATCH, D)
    assert torch.equal(usual(x)[0], placed(x)[0]) and torch.isfinite(placed(x)[0]).all()
    with torch.device("meta"):
        empty = cls(D, N, 2, bidirectional=True, **given)
    empty.load_state_dict(usual.state_dict(), assign=True)
    assert torch.equal(usual(x)[0], empty(x)[0])


@every_core
def test_under_autocast_in_its_own_type(name):
    cls, given = CORES[name]
    model, x = randomised(cls(D, N, **given)), torch.randn(STEPS, BATCH, D)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        h, end = model(x)
        again, _ = model(x.bfloat16(), end)
        of_list = model(x, [*end][: model.own])[0]
        assert torch.equal(of_list, model(x, tuple(end)[: model.own])[0])
    again.sum().backward()
    assert torch.equal(h, model(x)[0])
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@either_backend
@every_core
def test_some_sequences_of_a_batch_begin_anew(name, backend):
    model, x = made(name, 2, backend=backend), noise(2, STEPS, BATCH, D, seed=1)
    rows = torch.tensor([True, False, False, True])
    end = model(x[0])[1]
    h = model(x[1], end.restarted(rows))[0]
    assert_all_close([h[:, rows], h[:, ~rows]], [model(x[1])[0][:, rows], model(x[1], end)[0][:, ~rows]])
    assert_all_close([model(x[1], end.restarted(~rows & rows))[0]], [model(x[1], end)[0]])
    for wrong in (rows[:3], rows[None], rows.long(), [True, False, False, True]):
        with pytest.raises(ValueError, match="the rows"):
            end.restarted(wrong)


@every_core
def test_functional_frozen_retained_checkpointed_and_after_inference(name):
    model, x = made(name), noise(STEPS, BATCH, D, seed=1).requires_grad_()
    _kept_products.cache_clear()
    with torch.inference_mode():
        inferred, of_inferred = model(x)[0], copy.deepcopy(model)(x)[0]
    h = model(x)[0]
    assert torch.equal(inferred, h) and torch.equal(of_inferred, h)
    usual = torch.autograd.grad(h.square().sum(), [x, *model.parameters()], retain_graph=True)
    assert all(map(torch.equal, usual, torch.autograd.grad(h.square().sum(), [x, *model.parameters()])))
    again = checkpoint(lambda x: model(x)[0], x, use_reentrant=False)
    assert_all_close(torch.autograd.grad(again.square().sum(), [x, *model.parameters()]), usual)
    weights = {key: 2 * value for key, value in model.named_parameters()}
    doubled = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in doubled.parameters():
            parameter.mul_(2)
    assert_all_close([functional_call(model, weights, (x,))[0]], [doubled(x)[0]])
    model.requires_grad_(False)
    assert_all_close(torch.autograd.grad(model(x)[0].square().sum(), [x]), usual[:1])


@every_core
@either_backend
def test_second_derivatives_and_torchs_transforms(name, backend):
    """jacrev, grad and vmap of torch.func, each against autograd over the cell as it runs without them."""
    model, x = made(name, backend=backend).eval(), noise(2, 3, 1, D)
    for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
        assert check(lambda x: model(x)[0], (x[0].requires_grad_(),))
    weights = dict(model.named_parameters())

    def loss(weights, x):
        return functional_call(model, weights, (x,))[0].square().sum()

    expected = torch.autograd.functional.hessian(lambda x: loss(weights, x), x[0])
    assert_all_close([torch.func.jacrev(torch.func.grad(loss, 1), 1)(weights, x[0])], [expected], 1e-10)
    found = torch.func.vmap(torch.func.grad(loss), (None, 0))(weights, x)
    usual = [torch.autograd.grad(loss(weights, each), [*weights.values()]) for each in x]
    assert_all_close(found.values(), [*map(torch.stack, zip(*usual, strict=True))], 1e-10)


@pytest.mark.parametrize(("K", "named"), [(1, "K must be infinity"), ("inf", "record_gradients must be False")])
def test_what_orthogonal_cells_cannot_do_under_torchs_transforms(K, named):
    model = hd.DTRIV(D, N, K=K)
    model.record_gradients = K == "inf"
    with pytest.raises(RuntimeError, match=named):
        torch.func.grad(lambda x: model(x)[0].sum())(torch.randn(STEPS, BATCH, D))


@pytest.mark.parametrize("name", ["LSTM", "Momentum", "NAG", "Adam", "Momentum, orthogonal"])
def test_exported_and_compiled(name):
    """Exported programs are saved, loaded and given another batch and a state; a compiler leaves the cell as it is."""
    model = made(name, 2).eval()
    x, y = noise(3, BATCH, D), noise(3, BATCH + 1, D)
    for first, given in (((x,), (y,)), ((x, model(x)[1]), (x, model(y[:, 1:])[1]))):
        shapes = ({1: torch.export.Dim("batch", min=2, max=9)},) if len(first) == 1 else None
        file = io.BytesIO()
        with torch.no_grad():
            torch.export.save(torch.export.export(model, first, dynamic_shapes=shapes), file)
        file.seek(0)
        h, end = torch.export.load(file).module()(*given)
        expected, expected_end = model(*given)
        assert_all_close([h, *tensors(end)], [expected, *tensors(expected_end)])
    compiled = torch.compile(model, backend="eager")
    assert_all_close([compiled(x, compiled(x)[1])[0]], [model(x, model(x)[1])[0]], 0)


@pytest.mark.parametrize("name", LSTMS)
def test_pruned_and_parametrised(name):
    model, x = made(name), noise(STEPS, BATCH, D)
    prune.l1_unstructured(model, "weight_hh_l0", amount=0.5)
    assert (model.weight_hh_l0 == 0).float().mean() == 0.5
    model(x)[0].sum().backward()
    gradient = model.weight_hh_l0_orig.grad
    assert gradient.any() and not gradient[model.weight_hh_l0 == 0].any()
    other = made(name)
    parametrizations.weight_norm(other, "weight_hh_l0")
    assert_all_close([other(x)[0]], [made(name)(x)[0]])
    other(x)[0].sum().backward()
