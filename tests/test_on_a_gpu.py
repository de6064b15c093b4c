"""Every model on every task of the demonstration on an NVIDIA GPU, or an emulated one, which counts what is slow."""

from dataclasses import replace

import pytest
import torch
from loops import stopped
from test_every_task import CONFIGURATION, made

from hidden_dynamics.configuration import merge
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.training import devices, loop, optimisers, solver_check
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.training.interruption import Interrupted

RUNS = {f"{run.task}/{run.model}": run for run in reversed(all_runs(CONFIGURATION))}
ITERATIONS = 2
# The most waits of the CPU for the GPU, and transfers, of a training step: none of them in each time step of a network.
AT_MOST = {"RecurrentNetwork": (1, 3), "LanguageModel": (1, 3), "ResNet": (1, 3), "ODERNN": (1, 8)}
AT_MOST |= {"GRUODEBayes": (3, 5), "ACEGRUODEBayes": (6, 7)}
AT_MOST |= dict.fromkeys(("GRUSimple", "GRUD", "TLSTM", "SequentialVAE", "RNNBaseline", "RNNVAE"), (11, 11))
OF_A_MATRIX = 6  # waits beside, where an orthogonal matrix moves
# torchdiffeq's adaptive methods: 12 waits in a step of 6 evaluations; at the beginning and end of a solution and of its
# adjoint problem, 64 at most. (waits, transfers)
OF_A_SOLUTION, OF_AN_EVALUATION = (66, 28), (2, 0.5)


def kind_of(run):
    """Of sums and of letters the cores know as little as of pixels."""
    task = run.spec["task_class"]
    return run.spec["network"], None if task in ("Adding", "Copying") else run.spec["core"], task


FIRST = {kind_of(run): name for name, run in RUNS.items()}
EVERY = [pytest.param(name, marks=[] if name in FIRST.values() else pytest.mark.every) for name in [*RUNS][::-1]]


@pytest.mark.gpu
@pytest.mark.parametrize("name", FIRST.values())
def test_a_step_waits_for_the_gpu_and_moves_data_no_more_than_stated(name, gpu):
    if gpu is None:
        pytest.skip("a real GPU counts nothing")
    run = RUNS[name]
    devices.set_arithmetic(1, "fp32")
    torch.manual_seed(0)
    task, network = made(run, torch.device("cuda"))
    training = run.spec["training"]
    updating, schedule = optimisers.build(network, training["optimisers"]), task.schedule(training, 0)
    for iteration in range(2):  # the first one fills what is kept
        gpu.reset()
        if counts := getattr(network, "function_evaluations", None):
            counts.forward = counts.backward = 0
        batch = task.batch(*schedule.indices(iteration))
        optimisers.learn(task, network.train(), updating, batch, training)
    if counts is None:
        waits, transfers = AT_MOST[run.spec["network"]]
        waits += OF_A_MATRIX * ("DTRIV" in (run.spec["core"] or ""))
    else:
        parts = len(network.parts()) if training.get("alternating") else 1
        evaluations = counts.forward + counts.backward
        per_evaluation = zip(OF_A_SOLUTION, OF_AN_EVALUATION, strict=True)
        waits, transfers = (parts * fixed + evaluations * each for fixed, each in per_evaluation)
    assert sum(gpu.waits.values()) <= waits, gpu.waits
    assert sum(gpu.transfers.values()) <= transfers, gpu.transfers


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_it_trains_is_evaluated_and_goes_on_from_its_checkpoint_to_the_bit(name, tmp_path, monkeypatch):
    run, device = RUNS[name], torch.device("cuda")
    run = replace(run, spec=merge(run.spec, {"training": {"batch_size": 2}}))
    devices.set_arithmetic(1, "fp32")

    def trained(directory, seed, evaluated=True, stop=False):
        def schedule_of(task, training, seed):
            schedule = task.schedule(training, seed)
            schedule.iterations, schedule.evaluates = ITERATIONS, lambda count: evaluated and count == ITERATIONS
            return schedule

        monkeypatch.setattr(loop, "schedule_of", schedule_of)
        torch.manual_seed(seed)
        task, network = made(run, device)
        assert {part.device.type for part in network.parameters()} == {"cuda"}
        updating = optimisers.build(network, run.spec["training"]["optimisers"])
        task = stopped(task, at=1) if stop else task
        history = loop.train(run.spec, task, network, updating, Checkpoint(tmp_path / directory, name), device)
        if evaluated:
            loop.predictions(run.spec, task, network, history)
            solver_check.check(run.spec, task, network, history)
        return history, network.state_dict()

    whole, weights = trained("whole", run.seed, evaluated=False)
    with pytest.raises(Interrupted):
        trained("parts", run.seed, stop=True)
    parts, continued = trained("parts", run.seed + 1)
    assert parts.iteration == ITERATIONS and len(parts.metrics) == 1 and parts.failure is None
    assert parts.losses == whole.losses
    assert all(torch.equal(continued[key].cpu(), weights[key].cpu()) for key in weights)
