"""What an iteration does with a batch: all parameters at once or in turn. And the schedule with its rates."""

import math

import loops
import numpy as np
import pytest
import torch
from cases import noise
from conftest import printed_by
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from hidden_dynamics.errors import SolverFailure, UserError
from hidden_dynamics.tasks.schedule import Schedule
from hidden_dynamics.tasks.task import TaskOfParts
from hidden_dynamics.training import loop, optimisers
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.training.optimisers import learn

SGD = {"main": {"name": "SGD", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.05}}
ALTERNATING = {"alternating": True, "clip_norm": None}
PARTS = ("hidden", "attention")


class Gated(nn.Module):
    """(x W) * sigmoid(x V), trained in turn: W is the hidden part, V the attention's; they may be two groups."""

    def __init__(self, groups=("main",)):
        super().__init__()
        self.groups = groups
        self.hidden = nn.Parameter(noise(4, 3, seed=1))
        self.attention = nn.Parameter(noise(4, 3, seed=2))

    def forward(self, x):
        return (x @ self.hidden) * torch.sigmoid(x @ self.attention)

    def parts(self):
        return {"hidden": [self.hidden], "attention": [self.attention]}

    def parameter_groups(self):
        both = [self.hidden, self.attention]
        return dict(zip(self.groups, [both] if len(self.groups) == 1 else [[each] for each in both], strict=True))


class Whole(Gated):
    """It has no parts."""

    parts = property()


class Fitting(TaskOfParts):
    """Of ten examples. `calls` are the parts that a loss was asked for, with the parameters as they were then."""

    train_size = 10

    def __init__(self, broken=None, value=math.nan):
        self.x, self.y, self.calls = noise(10, 4, seed=3), noise(10, 3, seed=4), []
        self.broken, self.value = broken, value

    def batch(self, epoch, indices):
        chosen = torch.from_numpy(indices)
        return self.x[chosen], self.y[chosen]

    def plain(self, network, batch, part=None):
        """The attention's loss has a penalty of its own."""
        penalty = 0.01 * network.attention.square().sum() if part != "hidden" else 0.0
        return (network(batch[0]) - batch[1]).square().mean() + penalty

    def loss(self, network, *arguments):
        self.calls.append((arguments[1:], values_of(network)))
        loss = self.plain(network, *arguments)
        if len(self.calls) == self.broken:
            if self.value is BACKWARD:
                loss.register_hook(self.fail)
            elif isinstance(self.value, Exception):
                raise self.value
            else:
                loss = loss * self.value
        return loss

    def fail(self, gradient):
        raise BACKWARD

    def evaluate(self, network):
        return {"test_loss": self.plain(network, (self.x, self.y)).item()}


def values_of(network):
    return {name: parameter.detach().clone() for name, parameter in network.named_parameters()}


def moved(before, after):
    return [name for name in before if not torch.equal(before[name], after[name])]


@pytest.mark.parametrize("rates", [{"main": 0.1}, {"slow": 0.02, "fast": 0.1}], ids=["one group", "two groups"])
@pytest.mark.parametrize("clip_norm", [None, 0.2, 1000.0])
@pytest.mark.parametrize("alternating", [True, False, None])
def test_an_iteration_is_a_step_of_torchs_sgd_for_each_part_or_for_all(alternating, clip_norm, rates):
    """Clipping is of the norm of the part's gradient. What is given is the first loss."""
    task, network, plain = Fitting(), Gated(tuple(rates)), Gated()
    steppers = optimisers.build(network, {group: SGD["main"] | {"lr": lr} for group, lr in rates.items()})
    lr, about = dict(zip(PARTS, 2 * list(rates.values()), strict=False)), {"momentum": 0.9, "weight_decay": 0.05}
    torchs = {name: torch.optim.SGD([getattr(plain, name)], lr[name], **about) for name in PARTS}
    turns = [(part, [part]) for part in PARTS] if alternating else [(None, PARTS)]
    settings = {"alternating": alternating, "clip_norm": clip_norm} if alternating is not None else {}
    for _ in range(4):
        expected = task.plain(network, (task.x, task.y), turns[0][0]).item()
        assert learn(task, network, steppers, (task.x, task.y), settings) == expected
        for part, names in turns:
            wanted = [getattr(plain, name) for name in names]
            gradients = torch.autograd.grad(task.plain(plain, (task.x, task.y), part), wanted)
            norm = math.hypot(*(gradient.norm().item() for gradient in gradients))
            shrink = min(1.0, (settings.get("clip_norm") or math.inf) / (norm + 1e-6))
            for name, parameter, gradient in zip(names, wanted, gradients, strict=True):
                parameter.grad = shrink * gradient
                torchs[name].step()
        torch.testing.assert_close(values_of(network), values_of(plain), rtol=1e-12, atol=1e-14)
    assert [arguments for arguments, _ in task.calls] == 4 * [(part,) if alternating else () for part, _ in turns]


FORWARD, BACKWARD = (SolverFailure("state not finite", 0.5, 3, during) for during in ("forward", "backward"))


@pytest.mark.parametrize(
    ("broken", "frozen", "value"),
    [
        *(
            (broken, [], value)
            for broken in (1, 2)
            for value in (1.0, math.nan, math.inf, -math.inf, FORWARD, BACKWARD)
        ),
        *((1, [part], value) for part in PARTS for value in (math.nan, FORWARD)),
    ],
    ids=str,
)
def test_a_loss_that_is_not_finite_moves_nothing_and_the_parts_before_it_have_learnt(broken, frozen, value):
    """Afterwards the parameters have gradients that had them before."""
    task, network = Fitting(broken, value), Gated()
    for name in frozen:
        getattr(network, name).requires_grad_(False)
    try:
        outcome = learn(task, network, optimisers.build(network, SGD), (task.x, task.y), ALTERNATING)
    except SolverFailure as failure:
        outcome = failure
    assert [name for name, parameter in network.named_parameters() if not parameter.requires_grad] == frozen
    if value == 1.0:
        return
    assert outcome is value if value in (FORWARD, BACKWARD) else not math.isfinite(outcome)
    assert len(task.calls) == broken and moved(task.calls[-1][1], values_of(network)) == []
    assert moved(task.calls[0][1], values_of(network)) == (["hidden"] if broken == 2 else [])


def spec_of(**training):
    return loops.spec_of(clip_norm=None, optimisers=SGD, seed=0, **training)


def test_a_network_without_parts_cannot_be_trained_in_turn(tmp_path):
    task = Fitting()
    complaint = "task regression: training.alternating: my.Network has no parts to train in turn"
    with pytest.raises(UserError, match=complaint):
        loops.run_loop(tmp_path, spec_of(alternating=True), task, Whole())
    assert task.calls == [] and list(tmp_path.iterdir()) == []
    with pytest.raises(UserError, match="training.alternating: Regression has no loss of a part"):
        loops.run_loop(tmp_path, spec_of(alternating=True), network=Gated())
    history, _ = loops.run_loop(tmp_path, spec_of(alternating=False), Fitting(), Whole())
    assert history.iteration == 9


@given(batch_size=st.integers(1, 40), train_size=st.integers(1, 150), epochs=st.integers(1, 4), seed=st.integers(0, 5))
def test_what_fills_no_batch_is_left_out_of_an_epoch_and_it_is_others_in_another(batch_size, train_size, epochs, seed):
    training = {"epochs": epochs, "batch_size": batch_size, "drop_last": True}
    if train_size < batch_size:
        with pytest.raises(UserError, match=f"{train_size} examples do not fill a batch of {batch_size}"):
            Schedule(training, train_size, seed)
        return
    schedule = Schedule(training, train_size, seed)
    per_epoch = train_size // batch_size
    assert (schedule.per_epoch, schedule.iterations) == (per_epoch, epochs * per_epoch)
    assert schedule.samples_per_epoch == per_epoch * batch_size
    whole = Schedule(training | {"drop_last": False}, train_size, seed)
    for epoch in range(epochs):
        batches = [schedule.indices(epoch * per_epoch + k) for k in range(per_epoch)]
        assert all(number == epoch and len(indices) == batch_size for number, indices in batches)
        assert len(set(np.concatenate([indices for _, indices in batches]).tolist())) == per_epoch * batch_size
        for k, (_, indices) in enumerate(batches):  # only the last batch is gone
            assert np.array_equal(whole.indices(epoch * whole.per_epoch + k)[1], indices)


@given(
    drops=st.lists(st.integers(1, 8), unique=True, max_size=4),
    factor=st.sampled_from([0.1, 0.5]),
    scale=st.sampled_from([None, 2, 10]),
    until=st.one_of(st.none(), st.integers(1, 12)),
    decay=st.sampled_from([{}, {"decay": 0.9}, {"decay": 0.9, "floor": 0.5}]),
    per_epoch=st.integers(1, 7),
)
def test_the_rates_drop_after_the_epochs_named_decay_from_the_first_on_and_end_when_told_to(
    drops, factor, scale, until, decay, per_epoch
):
    rates = {"drops": drops, "factor": factor} | decay
    rates |= ({} if scale is None else {"scale": scale}) | ({} if until is None else {"until": until})
    schedule = Schedule({"epochs": 9, "batch_size": 10, "rates": rates}, 10 * per_epoch, 0)
    assert schedule.iterations == min(9, until or 9) * per_epoch
    evaluated = [iteration for iteration in range(schedule.iterations + 1) if schedule.evaluates(iteration)]
    assert evaluated == list(range(per_epoch, schedule.iterations + 1, per_epoch))
    found = [schedule.rate(iteration) for iteration in range(schedule.iterations)]
    expected = []
    for epoch in range(min(9, until or 9)):  # epochs that are over before this one
        expected += per_epoch * [(scale or 1) * factor ** sum(drop <= epoch for drop in drops)]
    if decay:
        least = decay.get("floor", 0)
        expected = [rate * max(least, 0.9**iteration) for iteration, rate in enumerate(expected, 1)]
    assert found == pytest.approx(expected, rel=1e-12)


OPTIMISERS = {
    "Adam": {"lr": 0.1, "weight_decay": 0.1, "amsgrad": True},
    "Adamax": {"lr": 0.1},
    "RMSprop": {"lr": 0.1, "alpha": 0.9, "momentum": 0.5},
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_an_optimiser_is_torchs_to_the_bit_and_its_state_too(name):
    ours, torchs = Gated(), Gated()
    (stepper,) = optimisers.build(ours, {"main": {"name": name, **OPTIMISERS[name]}}).values()
    plain, x = getattr(torch.optim, name)(torchs.parameters(), **OPTIMISERS[name]), noise(10, 4, seed=3)
    for step in range(6):
        for network, optimiser in ((ours, stepper), (torchs, plain)):
            optimiser.zero_grad()
            network(x).square().sum().backward()
            optimiser.step()
        if step == 2:  # each goes on from the other's state
            state = stepper.state_dict()
            stepper.load_state_dict(plain.state_dict())
            plain.load_state_dict(state)
    assert torch.equal(ours.hidden, torchs.hidden) and torch.equal(ours.attention, torchs.attention)
    assert isinstance(stepper, getattr(torch.optim, name))


def test_a_training_loads_neither_torchs_compiler_nor_what_only_measurements_need():
    code = """
import io, sys, torch
import hidden_dynamics.tasks.activity, hidden_dynamics.tasks.mortality
from hidden_dynamics.training import loop, optimisers

network = torch.nn.Linear(2, 1)
steppers = optimisers.build(network, {"main": {"name": "Adam", "lr": 0.1}})
optimisers.update(network(torch.ones(3, 2)).sum(), network, steppers, 1.0)
torch.save(steppers["main"].state_dict(), io.BytesIO())
steppers["main"].load_state_dict(steppers["main"].state_dict())
print([name for name in ("torch._dynamo", "sklearn", "pandas", "matplotlib") if name in sys.modules])
"""
    assert printed_by(code) == "[]\n"


@pytest.mark.parametrize("own", [False, True], ids=["the loop's", "the task's"])
def test_the_optimisers_step_at_the_rates_of_the_schedule_and_keep_their_own(tmp_path, own):
    class Noting(Fitting):
        def loss(self, network, *arguments):
            used.append(steppers["main"].param_groups[0]["lr"])
            return super().loss(network, *arguments)

    used, network, task = [], Gated(), Noting()
    rates = {"rates": {"drops": [1, 3], "factor": 0.1, "scale": 2, "until": 4}, "drop_last": True}
    spec = spec_of(epochs=4, **({} if own else rates))
    if own:
        task.schedule = lambda training, seed: Schedule(training | rates, task.train_size, seed)
    steppers = optimisers.build(network, SGD)
    history = loop.train(spec, task, network, steppers, Checkpoint(tmp_path, "this run"), loops.CPU)
    assert history.iteration == 8  # two batches of 4 in an epoch of 10
    assert used == pytest.approx(2 * [0.2] + 4 * [0.02] + 2 * [0.002])
    assert steppers["main"].param_groups[0]["initial_lr"] == 0.1


def test_fixed_batches_are_the_same_in_every_epoch_in_the_order_of_the_task():
    schedule = Schedule({"batch_size": 4, "epochs": 2, "fixed_batches": True}, 10, seed=3)
    found = [schedule.indices(iteration) for iteration in range(schedule.iterations)]
    assert [epoch for epoch, _ in found] == [0, 0, 0, 1, 1, 1]
    assert np.concatenate([chosen for _, chosen in found]).tolist() == 2 * list(range(10))
