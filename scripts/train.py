"""Train one or several runs of a task: one model with one seed each.

    python scripts/train.py --task pmnist --model momentum_lstm-n128 --seed 0 --config '{"scale": "pilot"}'

A run is specified by config.yaml and config/, with --config merged over them; the models' names carry their size as
run, and a wrong name lists the right ones. The prepared data must be there (scripts/fetch.py and scripts/prepare.py
make it). Each run writes run.json, metrics.csv, train_loss.npy, clock.csv, model.pt and its checkpoint to
<results>/<scale>/runs/<task>/<model>/seed<seed>/.

A training that is stopped, by Ctrl-C or any signal, continues from its checkpoint when the same command is given
again, and ends with the same numbers. A run that is already there, of the same specification, code and data, is not
trained again; nor is one whose record of these was put there (scripts/restore.py). One that is asked for more epochs
than it has goes on from its checkpoint, to the numbers of one training; asked for fewer, it stays as it is.

A run that fails, by an error of its model's, leaves the others alone: its run.json names the error, its other files are
empty, and the exit code is 1. The same command tries it again. What concerns all of them (data, disk) ends them all.
"""

import _bootstrap  # noqa: F401  isort: skip

import contextlib
import gc
import itertools
import math
import re
import signal
import sys
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.configuration.checks import places_of
from hidden_dynamics.configuration.jobs import TrainingJobs
from hidden_dynamics.configuration.runs import FAILURES, GRADIENTS, OUTPUTS, PREDICTIONS, Run, find
from hidden_dynamics.configuration.spec import Training, length_matters
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.measurements.processes import processor
from hidden_dynamics.results import archives, writing
from hidden_dynamics.results.run_files import ITEMS, UNDERWAY, is_finished
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.system.commit import commit_of
from hidden_dynamics.system.files import ROOT, sweep
from hidden_dynamics.system.locks import alone
from hidden_dynamics.tasks.task import AnyTask
from hidden_dynamics.training import devices, loop, optimisers, solver_check
from hidden_dynamics.training.building import build, task_of
from hidden_dynamics.training.checkpoint import Checkpoint, checkpoint_of
from hidden_dynamics.training.interruption import Interrupted
from hidden_dynamics.training.progress import Progress


def main() -> int:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # even under a parent that ignores it
    try:
        return train_all()
    except (Interrupted, KeyboardInterrupt) as stop:  # the latter is Ctrl-C outside of the training loop
        signum = getattr(stop, "signum", signal.SIGINT)
        name = signal.Signals(signum).name
        print(f"stopped by {name}; the same command continues from the checkpoint", file=sys.stderr)
        return 128 + signum


def train_all() -> int:
    """The exit code."""
    options = parser(__doc__, "--task", "--model", "--seed", "--config", "--device", "--threads")
    options.add_argument("--job", action="store_true", help="of a workflow's, which itself tells of runs that failed")
    given = options.parse_args()
    configuration = load(parse_settings(given.config))
    models, seeds = TrainingJobs(configuration, given.task).chosen(given.model, given.seed)
    runs = [find(configuration, given.task, model, seed) for seed in seeds for model in models]
    device = devices.choose(given.device or configuration.device_of(given.task))
    devices.set_arithmetic(given.threads or configuration.scale.threads, configuration.settings.precision)
    done = []
    gc.freeze()  # a training leaves thousands of objects a step: to look through all modules for them takes 7 % of it
    with devices.turn(device, configuration.runs_per_gpu) as device:
        for run in runs:
            with alone(Path(run.directory, ".lock"), run.id):
                sweep(Path(run.directory), (*OUTPUTS, GRADIENTS, PREDICTIONS, ITEMS, UNDERWAY, "checkpoint.pt"))
                done.append(train_run(configuration, run, device))
    if configuration.settings.keep_checkpoints == "none":  # at the end: of a job that is killed, all runs go on
        for run in itertools.compress(runs, done):
            Checkpoint(Path(run.directory), run.identity).remove()
    return int(not (given.job or all(done)))


def train_run(configuration: Configuration, run: Run, device: torch.device) -> bool:
    """Whether the run is there now; it failed if not, and is recorded so.

    Raises:
        UserError: its data cannot be used, or its record was altered.
        OSError: the disk is full or cannot be written.
    """
    data = prepared.load(configuration.paths.prepared(run.spec["dataset"], run.spec["data"]))
    checkpoint = checkpoint_of(run, data.digest)
    begun, how = checkpoint.epochs(), ""
    if begun is None and is_finished(configuration, run, data.digest):
        how = "there already"
    elif (begun is None or begun <= run.epochs) and archives.put_back(run, data.digest):
        how = "put back from its record"
    if how:
        Path(run.directory, UNDERWAY).unlink(missing_ok=True)  # of a training that was killed
        print(f"{run.id}: {how}, not trained again", flush=True)
        return True
    if begun is None and checkpoint.path.exists():
        print(f"{run.id}: no checkpoint is of its specification, code and data: it begins at iteration 1", flush=True)
    run = as_long_as_it_is(run, begun, data.digest)
    content, task, network, history, predictions = trained(configuration, run, data, device, checkpoint)
    content["code"] = checkpoint.code  # of a run that went on, that by which it was begun
    if task is not None and network is not None:
        content["solver"] = solver_check.check(run.spec, task, network, history)
    writing.write(Path(run.directory), content, history, network, run.spec["training"], predictions)
    if "error" in (history.failure or {}):
        return False
    outcome = "finished" if history.diverged_at is None else f"diverged at iteration {history.diverged_at}"
    if history.failure:
        outcome += " ({cause} at t = {time:.6g}, step {step}, {during})".format(**history.failure)
    print(
        f"{run.id}: {outcome} after {history.iteration} iterations, {history.training_seconds:.1f} s of training",
        flush=True,
    )
    return True


def about_of(
    configuration: Configuration,
    run: Run,
    data: prepared.Prepared,
    task: AnyTask | None,
    device: torch.device,
    code: str,
) -> dict[str, Any]:
    """What a run's record says of it before it is trained; `task` is None where it could not be built, `code` the
    digest of that by which it was begun. Some naive baselines take as long as a short training."""
    return {
        "run": run.id,
        "scale": configuration.scale_name,
        "label": configuration.models[run.model].label,
        "paper_size": run.paper_size,
        "spec": run.spec,
        "dataset": {
            "name": data.provenance["dataset"],
            "title": data.provenance["title"],
            "stand_in_for": configuration.replaced(run.task),
            "digest": data.digest,
        },
        "naive": task.naive if task else {},
        "test_set": task.test_set if task else None,
        "split": task.split if task else None,
        "limits": task.limits if task else None,
        "device": devices.name_of(device),
        "processor": processor(),
        "threads": torch.get_num_threads(),
        "code": code,
        "fingerprint": run.fingerprint(data.digest),
    }


def as_long_as_it_is(run: Run, begun: float | None, data: str) -> Run:
    """The run, or, where its checkpoint is further than asked for, the run of the epochs that are begun."""
    if begun is None and (record := archives.restored(run, data)):
        epochs = record["spec"]["training"]["epochs"]
        text = f"{run.id}: its record has {epochs} of {run.epochs} epochs, and no checkpoint is there: it cannot go on"
        print(f"{text}, and is trained from iteration 1", flush=True)
    if begun is None or begun <= run.epochs:
        return run
    longer: Iterator[Training] = (
        {**run.spec["training"], "epochs": epochs} for epochs in itertools.count(math.ceil(begun))
    )
    return replace(run, spec={**run.spec, "training": next(itertools.filterfalse(length_matters, longer))})


def trained(
    configuration: Configuration, run: Run, data: prepared.Prepared, device: torch.device, checkpoint: Checkpoint
) -> tuple[dict[str, Any], AnyTask | None, optimisers.Network | None, loop.History, dict[str, Any] | None]:
    """What the record says of the run, its task and network, its history and its predictions; of one that failed, the
    history names the error."""
    commit, about, task, network = commit_of(ROOT), None, None, None
    try:
        task, network = build(run, data.arrays, device)
        updating = optimisers.build(network, run.spec["training"]["optimisers"])
        about = about_of(configuration, run, data, task, device, checkpoint.code)
        writer = writing.UnderWayWriter(Path(run.directory), about, network, run.spec["training"])
        history = loop.train(run.spec, task, network, updating, checkpoint, device, Progress(run.id, writer), commit)
        return about, task, network, history, loop.predictions(run.spec, task, network, history)
    except OSError:  # of the disk, which the other runs need too
        raise
    except Exception as raised:
        error = devices.out_of_memory(device) if isinstance(raised, torch.OutOfMemoryError) else raised
        history = loop.History(commit=commit, failure={"error": told(configuration, run, error)})
    with contextlib.suppress(Exception):  # it knows the naive baselines, where it is not what failed
        if task is None:
            task = task_of(run, data.arrays, device)
    about = about or about_of(configuration, run, data, task, device, checkpoint.code)
    return about, task, network, history, {} if run.spec["training"].get("record_predictions") else None


def told(configuration: Configuration, run: Run, error: Exception) -> str:
    """Tell of a run's failure on stderr, and in the run's list of failures; its error as one line."""
    text = " ".join(str(error).split())
    if isinstance(error, UserError) and error.key == "hyperparameters":
        every = run.spec["hyperparameters"]
        names = every.keys() & set(re.findall(r"\w+", str(error.__cause__))) or every
        places = " and ".join(places_of(configuration, run, names)) or "config/tasks.yaml"
        text += f" Check them in {places}."
    elif not isinstance(error, UserError):
        traceback.print_exception(error)
        text = f"{type(error).__name__}: {text}"
    print(f"error: {run.id} failed: {text.removeprefix(f'{run.id}: ')}", file=sys.stderr, flush=True)
    with Path(run.directory, FAILURES).open("a", encoding="utf-8") as failures:  # for Snakemake to try it again
        print(text, file=failures)
    return text


if __name__ == "__main__":
    run_main(main)
