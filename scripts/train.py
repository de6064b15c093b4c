"""Train one or several runs of a task: one model with one seed each.

    python scripts/train.py --task pmnist --model momentum_lstm-n128 --seed 0 --config '{"scale": "pilot"}'

A run is specified by config.yaml and config/, with --config merged over them; the models' names carry their size as
run, and a wrong name lists the right ones. The prepared data must be there (scripts/fetch.py and scripts/prepare.py
make it). Each run writes run.json, metrics.csv, train_loss.npy, clock.csv, model.pt and its checkpoint to
<results>/<scale>/runs/<task>/<model>/seed<seed>/.

A training that is stopped, by Ctrl-C or any signal, continues from its checkpoint when the same command is given
again, and ends with the same numbers. A run that is already there, of the same specification, code and data, is not
trained again; nor is one whose record of these was put there (scripts/restore.py).
"""

import _bootstrap  # noqa: F401  isort: skip

import signal
import sys
from pathlib import Path

import torch

from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.configuration.runs import GRADIENTS, OUTPUTS, PREDICTIONS, Run, code_of, find
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import run_main
from hidden_dynamics.results import records, writing
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.system.commit import commit_of
from hidden_dynamics.system.files import ROOT, sweep
from hidden_dynamics.system.locks import alone
from hidden_dynamics.training import devices, loop, optimisers
from hidden_dynamics.training.building import build
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.training.interruption import Interrupted
from hidden_dynamics.training.progress import Progress


def main() -> int:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # even under a parent that ignores it
    try:
        train_all()
    except (Interrupted, KeyboardInterrupt) as stop:  # the latter is Ctrl-C outside of the training loop
        signum = getattr(stop, "signum", signal.SIGINT)
        name = signal.Signals(signum).name
        print(f"stopped by {name}; the same command continues from the checkpoint", file=sys.stderr)
        return 128 + signum
    return 0


def train_all() -> None:
    given = parser(__doc__, "--task", "--model", "--seed", "--config", "--device", "--threads").parse_args()
    configuration = load(parse_settings(given.config))
    runs = [find(configuration, given.task, model, seed) for seed in given.seed for model in given.model]
    device = devices.choose(given.device or configuration.settings.device)
    devices.set_arithmetic(given.threads or configuration.scale.threads, configuration.settings.precision)
    with devices.turn(device, configuration.settings.runs_per_gpu) as device:
        for run in runs:
            with alone(Path(run.directory, ".lock"), run.id):
                sweep(Path(run.directory), (*OUTPUTS, GRADIENTS, PREDICTIONS, "checkpoint.pt"))
                train_run(configuration, run, device)


def train_run(configuration: Configuration, run: Run, device: torch.device) -> None:
    path = configuration.paths.prepared(run.spec["dataset"], run.spec["data"])
    data = prepared.load(path, run.spec["dataset"], run.spec["data"])
    fingerprint = run.fingerprint(data.digest)
    if records.put_back(Path(run.directory), fingerprint):
        print(f"{run.id}: put back from its record, not trained again", flush=True)
        return
    task, network = build(run, data.arrays, device)
    history = loop.train(
        run.spec,
        task,
        network,
        optimisers.build(network, run.spec["training"]["optimisers"]),
        Checkpoint(Path(run.directory), fingerprint),
        device,
        Progress(run.id),
        commit_of(ROOT),
    )
    about = {
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
        "naive": getattr(task, "naive", {}),
        "test_set": getattr(task, "test_set", None),
        "split": getattr(task, "split", None),
        "limits": getattr(task, "limits", None),
        "device": devices.name_of(device),
        "threads": torch.get_num_threads(),
        "code": code_of(run),
        "commit": history.commit,
        "fingerprint": fingerprint,
    }
    predictions = loop.predictions(run.spec, task, network, history)
    writing.write(Path(run.directory), about, history, network, run.spec["training"]["report"], predictions)
    outcome = "finished" if history.diverged_at is None else f"diverged at iteration {history.diverged_at}"
    if history.failure:
        outcome += " ({cause} at t = {time:.6g}, step {step}, {during})".format(**history.failure)
    print(
        f"{run.id}: {outcome} after {history.iteration} iterations, {history.training_seconds:.1f} s of training",
        flush=True,
    )


if __name__ == "__main__":
    run_main(main)
