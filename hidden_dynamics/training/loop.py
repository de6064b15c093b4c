# pyright: reportUnknownMemberType=false
"""The training loop: one run from its first iteration or its checkpoint to its end."""

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.spec import Spec
from hidden_dynamics.configuration.spec import Training as Settings
from hidden_dynamics.errors import SolverFailure, UserError
from hidden_dynamics.models.recurrent.state import map_tensors
from hidden_dynamics.system import memory
from hidden_dynamics.tasks.schedule import AnySchedule
from hidden_dynamics.tasks.task import AnyTask, PredictingTask, TaskOfParts, as_validated, schedule_of
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.training.devices import generators_kept
from hidden_dynamics.training.interruption import Interrupted, Interruption
from hidden_dynamics.training.optimisers import Network, groups_of, learn, set_rate
from hidden_dynamics.training.reported import averaging_is_due, place_of


@dataclass
class History:
    """The course of a run so far.

    Attributes:
        iteration: optimiser steps done.
        losses: the minibatch loss of each.
        metrics: one entry per evaluation.
        clock: training and evaluation seconds at each evaluation.
        diverged_at: the iteration, from 1, whose loss was not finite, or in or after which a solver failed; or None.
        failure: of a solver, if that was it: its `cause`, the `time` and the `step` that it had come to, and what it
            was `during`: the "forward" or "backward" of the iteration, the "evaluation" after it, or the "test".
        function_evaluations: of each iteration, (forward, backward), where the network counts them.
        averaged_since: the iterations after which the averaging of the weights began, or None.
        gradient_norms: ||dL/dh_t|| for every t, (T,) each, at iterations 0, n, 2n, ... where `record_gradients` is n.
        commit: of the code that it began with.
        tested: the test at the end, its `metrics`, `failure` of a solver, `seconds`; None before, and again where the
            training goes on. It is kept apart, since a longer training would not have made it.
        peak_memory: the MB that its process had at most, until its last evaluation; runs of one process share it.
        items: what was said of each item of the test set (`Task.items`), by the iteration of the evaluation: of the
            one that is reported so far, and of the last.
    """

    iteration: int = 0
    losses: list[float] = field(default_factory=list)
    metrics: list[dict[str, float]] = field(default_factory=list)
    clock: list[dict[str, float]] = field(default_factory=list)
    diverged_at: int | None = None
    failure: dict[str, Any] | None = None
    function_evaluations: list[tuple[int, int]] = field(default_factory=list)
    averaged_since: int | None = None
    gradient_norms: list[torch.Tensor] = field(default_factory=list)
    training_seconds: float = 0.0
    evaluation_seconds: float = 0.0
    commit: str | None = None
    tested: dict[str, Any] | None = None
    peak_memory: int = 0
    items: dict[int, dict[str, torch.Tensor]] = field(default_factory=dict)


@dataclass
class Training:
    """A run in training.

    Attributes:
        average: of the weights since `history.averaged_since`, or None.
        best: the weights of the evaluation reported so far, where the task has a test; or None.
        last: those after the last iteration, where the network has the tested ones; or None.
    """

    spec: Spec
    task: AnyTask
    network: Network
    optimisers: dict[str, torch.optim.Optimizer]
    device: torch.device
    schedule: AnySchedule
    history: History = field(default_factory=History)
    average: AveragedModel | None = None
    best: dict[str, torch.Tensor] | None = None
    last: dict[str, torch.Tensor] | None = None

    @property
    def settings(self) -> Settings:
        return self.spec["training"]

    @property
    def evaluated(self) -> nn.Module:
        """The network with the weights that evaluations are made on."""
        return self.network if self.average is None else self.average.module


def train(
    spec: Spec,
    task: AnyTask,
    network: Network,
    optimisers: dict[str, torch.optim.Optimizer],
    checkpoint: Checkpoint,
    device: torch.device,
    report: Callable[[History, AnySchedule], None] = lambda history, schedule: None,
    commit: str | None = None,
) -> History:
    """Train until the schedule ends, the loss is not finite or a solver fails; then make the task's test, if it has
    one.

    The checkpoint at the end holds what a longer training goes on from, which ends as if it had been one: the test is
    taken back, and made anew at the new end.

    To be called in the main thread, where Python sets handlers of signals: SIGTERM and SIGINT are caught meanwhile, on
    a stack of their own (`interruption.give_handlers_a_stack`), and end the training after the step at hand.

    The network is left with the weights that the test was made on, those of the reported evaluation; where there is no
    test, with those that the last evaluation was made on.

    Raises:
        Interrupted: SIGTERM or SIGINT came; the checkpoint holds everything done so far.
        UserError: the metric to be reported, or to decide on averaging, is none that the evaluation gives.
    """
    _check(spec, task, network)
    schedule, history = schedule_of(task, spec["training"], spec["seed"]), History(commit=commit)
    run = Training(spec, task, network, optimisers, device, schedule, history)
    _resume(run, checkpoint)
    with Interruption() as interruption:
        try:
            while not _finished(run):
                evaluating = _evaluation_due(run)
                if evaluating:
                    _evaluate(run, interruption)
                else:
                    _step(run)
                report(run.history, run.schedule)
                interruption.check()
                if checkpoint.due(after_evaluation=evaluating):
                    _save(run, checkpoint)
            _save(run, checkpoint)
            if run.best is not None:
                _test_last(run, interruption)
                _test(run, run.best, checkpoint, interruption)
            interruption.check()
        except Interrupted:
            _save(run, checkpoint)
            raise
    checkpoint.drop_previous()
    if run.best is None and run.average is not None:
        network.load_state_dict(run.evaluated.state_dict())
    return _with_the_test(run.history, spec["training"]["report"])


def predictions(spec: Spec, task: AnyTask, network: nn.Module, history: History) -> dict[str, np.ndarray] | None:
    """The task's predictions by the network as `train` left it; {} where no evaluation gave a finite number, or a
    solver fails; None where the run is to record none. A UserError where the task makes none."""
    if not spec["training"].get("record_predictions"):
        return None
    if not isinstance(task, PredictingTask):
        raise UserError(f"task {spec['task']}: training.record_predictions: {spec['task_class']} makes none.")
    if place_of(history.metrics, spec["training"]["report"]) is None:
        return {}
    network.eval()
    try:
        with torch.no_grad():
            return task.predictions(network)
    except SolverFailure:  # the test, which came before, has recorded it
        return {}


def _step(run: Training) -> None:
    """One iteration: a batch, its loss and gradients, clipping over all parameters, one step of every optimiser."""
    start, history = time.perf_counter(), run.history
    run.network.train()
    batch = run.task.batch(*run.schedule.indices(history.iteration))
    core = _recording_core(run)
    counts: Any = getattr(run.network, "function_evaluations", None)
    if counts is not None:
        counts.forward = counts.backward = 0
    set_rate(run.optimisers, run.schedule.rate(history.iteration))
    try:
        value = learn(run.task, run.network, run.optimisers, batch, run.settings)
    except SolverFailure as failure:
        history.diverged_at = history.iteration + 1
        history.failure = _told(failure, failure.during)
        return
    if not math.isfinite(value):
        history.diverged_at = history.iteration + 1
        return
    if run.average is not None:
        run.average.update_parameters(run.network)
    if core is not None:
        history.gradient_norms.append(core.gradient_norms.detach().float().cpu())
    if counts is not None:
        history.function_evaluations.append((counts.forward, counts.backward))
    history.losses.append(value)
    history.iteration += 1
    history.training_seconds += time.perf_counter() - start


def _told(failure: SolverFailure, during: str) -> dict[str, Any]:
    return {"cause": failure.cause, "time": failure.time, "step": failure.step, "during": during}


def _recording_core(run: Training) -> Any:
    """The core, told to record this iteration's `gradient_norms` with respect to the hidden states; None where it is
    not."""
    every, spec = run.settings.get("record_gradients"), run.spec
    if every is None:
        return None
    if run.task.ragged:
        raise UserError(f"task {spec['task']}: training.record_gradients: its sequences differ in length.")
    core: Any = getattr(run.network, "core", None)
    if not hasattr(core, "record_gradients"):
        name = spec["core"] or spec["network"]
        raise UserError(f"task {spec['task']}: training.record_gradients: {name} cannot record its gradients.")
    core.record_gradients = run.history.iteration % every == 0
    return core if core.record_gradients else None


def _evaluate(run: Training, interruption: Interruption) -> None:
    start, history = time.perf_counter(), run.history
    run.evaluated.eval()
    try:
        with interruption.immediate(), torch.no_grad():
            measured = run.task.evaluate(run.evaluated)
    except SolverFailure as failure:
        history.diverged_at, history.failure = history.iteration, _told(failure, "evaluation")
        return
    before = int(history.metrics[-1]["iteration"]) if history.metrics else 0
    counts = history.function_evaluations[before:]
    averages: list[float] = np.mean(counts, axis=0).tolist() if counts else []
    row = {
        "iteration": history.iteration,
        "epoch": run.schedule.epochs(history.iteration),
        "train_loss": float(np.mean(history.losses[before:])),
        **dict(zip(("nfe_forward", "nfe_backward"), averages, strict=False)),
        **measured,
    }
    report = run.settings["report"]
    known(report["metric"], row, "metric", f"task {run.spec['task']}: training.report.metric")
    history.metrics.append(row)
    if not as_validated(run.task):
        _keep_items(run, history.iteration)
    elif place_of(history.metrics, report) == len(history.metrics) - 1:
        run.best = _copy_of(run.evaluated)
    _average_if_due(run)
    history.peak_memory = max(history.peak_memory, memory.peak())
    history.evaluation_seconds += time.perf_counter() - start
    seconds = {"training_seconds": history.training_seconds, "evaluation_seconds": history.evaluation_seconds}
    history.clock.append({"iteration": history.iteration, **seconds})


def _check(spec: Spec, task: AnyTask, network: Network) -> None:
    """Refuse to average orthogonal matrices, whose mean is none, and to train parts in turn where there are none."""
    training = spec["training"]
    if training.get("averaging") is not None and set(groups_of(network)) != {"main"}:
        raise UserError(
            f"task {spec['task']}: training.averaging: {spec['core'] or spec['network']} has weights that cannot be "
            "averaged (an orthogonal matrix): set it to null."
        )
    if training.get("alternating") and not hasattr(network, "parts"):
        raise UserError(f"task {spec['task']}: training.alternating: {spec['network']} has no parts to train in turn.")
    if training.get("alternating") and not isinstance(task, TaskOfParts):
        raise UserError(f"task {spec['task']}: training.alternating: {spec['task_class']} has no loss of a part.")


def _average_if_due(run: Training) -> None:
    """Begin to average the weights where the settings ask for it and the last evaluation triggers it."""
    settings = run.settings.get("averaging")
    if settings is None or run.average is not None:
        return
    metric = settings["metric"]
    known(metric, run.history.metrics[-1], "metric", f"task {run.spec['task']}: training.averaging.metric")
    if averaging_is_due([row[metric] for row in run.history.metrics], settings["nonmonotone"]):
        run.average = AveragedModel(run.network)
        run.history.averaged_since = run.history.iteration


def _keep_items(run: Training, iteration: int) -> None:
    """Keep the items of the reported evaluation and of the last alone."""
    history, place = run.history, place_of(run.history.metrics, run.settings["report"])
    if run.task.items is not None:
        history.items[iteration] = {name: torch.from_numpy(array) for name, array in run.task.items.items()}
    wanted = {int(row["iteration"]) for row in (history.metrics[-1], history.metrics[-1 if place is None else place])}
    history.items = {at: items for at, items in history.items.items() if at in wanted}


def _test_last(run: Training, interruption: Interruption) -> None:
    """Test the weights of the last evaluation, for their items, where the test will be of other weights."""
    history, task, start = run.history, as_validated(run.task), time.perf_counter()
    last = int(history.metrics[-1]["iteration"])
    moved_on = history.iteration != last or history.diverged_at is not None
    tested = place_of(history.metrics, run.settings["report"]) == len(history.metrics) - 1 or last in history.items
    if task is None or task.items is None or moved_on or tested or history.tested is not None:
        return
    run.evaluated.eval()
    task.items = {}  # which they are where a solver fails
    with contextlib.suppress(SolverFailure), interruption.immediate(), torch.no_grad(), generators_kept(run.device):
        task.evaluate_test(run.evaluated)
    _keep_items(run, last)
    history.evaluation_seconds += time.perf_counter() - start


def _test(run: Training, weights: dict[str, torch.Tensor], checkpoint: Checkpoint, interruption: Interruption) -> None:
    """Give the network the weights of the reported evaluation, which it keeps, and measure it on the test set, once."""
    start, run.last = time.perf_counter(), _copy_of(run.network)
    run.network.load_state_dict(weights)
    if run.history.tested is not None:
        return
    run.network.eval()
    tested: dict[str, Any] = {"metrics": {}, "failure": None}
    task, place = as_validated(run.task), place_of(run.history.metrics, run.settings["report"])
    assert task is not None and place is not None  # else no weights were kept for it
    try:  # a longer training draws as if there were no test
        with interruption.immediate(), torch.no_grad(), generators_kept(run.device):
            tested["metrics"] = task.evaluate_test(run.network)
    except SolverFailure as failure:
        tested["failure"] = _told(failure, "test")
    else:
        _keep_items(run, int(run.history.metrics[place]["iteration"]))
    run.history.tested = tested | {"seconds": time.perf_counter() - start}
    _save(run, checkpoint)


def _with_the_test(history: History, report: Mapping[str, str]) -> History:
    """The history, and the numbers of the test among those of the evaluation whose weights were tested."""
    tested, metrics = history.tested, list(history.metrics)
    if tested is None:
        return history
    place = place_of(metrics, report)
    assert place is not None  # of the evaluation whose weights these are
    metrics[place] = metrics[place] | tested["metrics"]
    seconds = history.evaluation_seconds + tested["seconds"]
    whole = replace(history, metrics=metrics, evaluation_seconds=seconds)
    if tested["failure"] is not None and history.diverged_at is None:  # else the training had failed before
        whole.diverged_at, whole.failure = history.iteration, tested["failure"]
    return whole


def _copy_of(network: nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}


def _evaluation_due(run: Training) -> bool:
    done = run.history.metrics[-1]["iteration"] if run.history.metrics else 0
    return run.schedule.evaluates(run.history.iteration) and done != run.history.iteration


def _finished(run: Training) -> bool:
    if run.history.diverged_at is not None:
        return True
    return run.history.iteration >= run.schedule.iterations and not _evaluation_due(run)


def _resume(run: Training, checkpoint: Checkpoint) -> None:
    state = checkpoint.load()
    if state is None:
        return
    run.network.load_state_dict(state["network"])
    for name, optimiser in run.optimisers.items():
        optimiser.load_state_dict(state["optimisers"][name])
    torch.set_rng_state(state["rng"])
    if run.device.type == "cuda" and state["cuda_rng"] is not None:  # None: so far it ran on a CPU
        torch.cuda.set_rng_state(state["cuda_rng"], run.device)
    run.history, run.best = History(**state["history"]), state["best"]
    if state["average"] is not None:
        run.average = AveragedModel(run.network)
        run.average.load_state_dict(state["average"])
    if state["hidden_state"] is not None:
        run.task.hidden_state = map_tensors(lambda tensor: tensor.to(run.device), state["hidden_state"])
    if not _finished(run) and as_validated(run.task):
        run.history.tested, run.history.items = None, {}


def _save(run: Training, checkpoint: Checkpoint) -> None:
    checkpoint.save(
        {
            "epochs": run.schedule.epochs(run.history.iteration),
            "network": run.network.state_dict() if run.last is None else run.last,
            "optimisers": {name: optimiser.state_dict() for name, optimiser in run.optimisers.items()},
            "average": None if run.average is None else run.average.state_dict(),
            "best": run.best,
            "hidden_state": run.task.hidden_state,
            "history": vars(run.history),
            "rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state(run.device) if run.device.type == "cuda" else None,
        }
    )
