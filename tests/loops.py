"""Small trainings by the training loop: a task, a network, their specification, and a task that stops its training."""

import signal

import numpy as np
import torch
from torch import nn

from hidden_dynamics.tasks.task import Task
from hidden_dynamics.training import loop, optimisers
from hidden_dynamics.training.checkpoint import Checkpoint

CPU = torch.device("cpu")
RMSPROP = {"main": {"name": "RMSprop", "lr": 0.01, "alpha": 0.9, "eps": 1e-8}}


class Regression(Task):
    """A task of 10 examples: a linear map with large errors at first. It counts the batches it has given."""

    train_size = 10

    def __init__(self):
        rng = np.random.default_rng(3)
        self.x = torch.from_numpy(rng.normal(size=(self.train_size, 4))).float()
        self.y = 5 * self.x @ torch.from_numpy(rng.normal(size=(4, 3))).float()
        self.batches = 0

    def batch(self, epoch, indices):
        self.batches += 1
        return self.x[torch.from_numpy(indices)], self.y[torch.from_numpy(indices)]

    def loss(self, network, batch):
        return nn.functional.mse_loss(network(batch[0]), batch[1])

    def evaluate(self, network):
        assert not network.training and not torch.is_grad_enabled()
        return {"test_loss": self.loss(network, (self.x, self.y)).item()}


class Linear(nn.Module):
    """A linear map whose weight and bias may be two groups. Its training draws random numbers that the result shows."""

    def __init__(self, groups=("main",), noise=0.0):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.zeros(4, 3)), nn.Parameter(torch.zeros(3))
        self.groups, self.noise = groups, noise

    def forward(self, x):
        jitter = self.noise * torch.randn(3) if self.training and self.noise else 0.0
        return x @ self.weight + self.bias + jitter

    def parameter_groups(self):
        if len(self.groups) == 1:
            return {self.groups[0]: [self.weight, self.bias]}
        return dict(zip(self.groups, ([self.weight], [self.bias]), strict=True))


def spec_of(epochs=3, batch_size=4, clip_norm=1.0, seed=2, optimisers=RMSPROP, **training):
    report = {"metric": "test_loss", "rule": "min"}
    given = {"epochs": epochs, "batch_size": batch_size, "clip_norm": clip_norm, "report": report, **training}
    of_run = {"task": "regression", "network": "my.Network", "task_class": "Regression", "core": None, "seed": seed}
    return of_run | {"training": {**given, "optimisers": optimisers}}


def run_loop(directory, spec=None, task=None, network=None):
    """Train (or continue) in `directory`; gives the history and the network."""
    spec, task = spec or spec_of(), task or Regression()
    torch.manual_seed(spec["seed"])
    network = network or Linear()
    steppers = optimisers.build(network, spec["training"]["optimisers"])
    return loop.train(spec, task, network, steppers, Checkpoint(directory, "this run"), CPU), network


def stopped(task, at, signum=signal.SIGTERM):
    """The task, asking its own process to stop while it computes the loss number `at`, counted from 1."""
    loss, count = task.loss, iter(range(1, 10_000))

    def loss_and_signal(network, *arguments):
        if network.training and next(count) == at:
            signal.raise_signal(signum)
        return loss(network, *arguments)

    task.loss = loss_and_signal
    return task


def state_of(network):
    return {name: tensor.tolist() for name, tensor in network.state_dict().items()}


def assert_same(history, network, whole):
    """Bit for bit, as the history and the network that `whole` is of."""
    expected, expected_network = whole
    for name in ("iteration", "losses", "metrics", "averaged_since", "diverged_at", "failure", "function_evaluations"):
        assert getattr(history, name) == getattr(expected, name), name
    assert all(torch.equal(*pair) for pair in zip(history.gradient_norms, expected.gradient_norms, strict=True))
    assert [row["iteration"] for row in history.clock] == [row["iteration"] for row in history.metrics]
    assert state_of(network) == state_of(expected_network)
