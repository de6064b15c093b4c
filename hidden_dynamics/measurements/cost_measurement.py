"""The costs of training and evaluation: time and memory of runs side by side, on the machine at hand.

A training step is forward, loss, backward, clipping and optimiser, an evaluation forward and loss; the batch is the
task's first one, and is there already. hidden_dynamics.measurements.interleaved says how time and memory are taken. All
of it is done in several processes, one after another: a process has its own places in memory and its own choice of
kernels, which all its rounds share.
"""

import datetime
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import torch

from hidden_dynamics.configuration import Configuration, Run
from hidden_dynamics.data import prepared
from hidden_dynamics.measurements.interleaved import ACTIONS, first_batch, interleaved, ratios_within_rounds, subject_of
from hidden_dynamics.measurements.processes import allocated_beyond, in_fresh_process, processor, resident_beyond
from hidden_dynamics.results.measured import MEMORIES, TIMES
from hidden_dynamics.training import devices


class Circumstances(NamedTuple):
    """The circumstances of a measurement; `rounds` are those in each process."""

    device: torch.device
    threads: int
    batch_size: int
    processes: int
    rounds: int


class Session(NamedTuple):
    batches: Mapping[str, Mapping[str, int]]  # of each model, its columns on the batch
    times: Sequence[Mapping[tuple[str, str], float]]  # seconds by (model, quantity), round by round
    memory: Mapping[str, Mapping[str, int]]  # peak bytes by model and quantity


def measure(
    configuration: Configuration, runs: Sequence[Run], baseline: str, circumstances: Circumstances
) -> Iterator[dict[str, Any]]:
    """Two times and two memories of every run in every process, by column (hidden_dynamics.results.measured.Cost); of
    runs of one task, a model each, which are held to that of the model `baseline`."""
    path = configuration.paths.prepared(runs[0].spec["dataset"], runs[0].spec["data"])
    provenance = prepared.load(path).provenance
    columns = {  # of the machine and the data
        "device": devices.name_of(circumstances.device),
        "processor": processor(),
        "threads": circumstances.threads,
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
        "scale": configuration.scale_name,
        "dataset": provenance["dataset"],
        "dataset_title": provenance["title"],
        "stand_in_for": configuration.replaced(runs[0].task),
    }
    for process in range(circumstances.processes):
        session = session_of(runs, path, circumstances)
        for run in runs:
            row = {**columns, **session.batches[run.model], "process": process, "task": run.task, "model": run.model}
            row |= {
                "label": configuration.models[run.model].label,
                "size": run.spec["hyperparameters"].get("hidden_size"),
                "paper_size": run.paper_size,
                "variants": json.dumps(run.spec["variants"], sort_keys=True),
                "precision": run.spec["precision"],
            }
            for quantity, value, ratio, rounds in values_of(run.model, session, baseline):
                unit = configuration.metrics[quantity].unit
                yield {**row, "quantity": quantity, "value": value, "unit": unit, "ratio": ratio, "rounds": rounds}


def session_of(runs: Sequence[Run], path: str, circumstances: Circumstances) -> Session:
    """Times, and on a GPU memory, of one process; on a CPU the memory of a process for each model."""
    session = in_fresh_process("spawn", "their costs", timed, runs, path, circumstances)
    if circumstances.device.type == "cuda":
        return session
    memory = {
        run.model: in_fresh_process("forkserver", run.id, resident_memory, run, path, circumstances) for run in runs
    }
    return session._replace(memory=memory)


def timed(runs: Sequence[Run], path: str, circumstances: Circumstances) -> Session:
    """All that this process measures of the runs; for a process that does nothing else."""
    device = circumstances.device
    devices.set_arithmetic(circumstances.threads, runs[0].spec["precision"])
    arrays = prepared.load(path).arrays
    subjects = [subject_of(run, arrays, device, circumstances.batch_size) for run in runs]
    actions = {
        (subject.run.model, kind): functools.partial(step, subject, subject.batch)
        for subject in subjects
        for kind, step in ACTIONS.items()
    }
    wait = functools.partial(torch.cuda.synchronize, device) if device.type == "cuda" else lambda: None
    steps = {(model, f"{kind}_time"): action for (model, kind), action in actions.items()}
    times, memory = interleaved(steps, circumstances.rounds, wait=wait), {}
    for (model, kind), action in actions.items() if device.type == "cuda" else ():
        memory.setdefault(model, {})[f"{kind}_memory"] = allocated_beyond(action, device)
    return Session({subject.run.model: subject.sizes() for subject in subjects}, times, memory)


def values_of(model: str, session: Session, baseline: str) -> Iterator[tuple[str, float, float | None, int]]:
    """(quantity, value per sample in ms or MB, ratio to the baseline, rounds) of one model in one process."""
    samples = session.batches[model]["batch"]
    for quantity in TIMES:
        milliseconds = median(seconds[model, quantity] for seconds in session.times) * 1e3 / samples
        ratio = median(ratios_within_rounds(session.times, (model, quantity), (baseline, quantity)))
        yield quantity, milliseconds, ratio, len(session.times)
    for quantity in MEMORIES:
        held, compared = session.memory[model][quantity], session.memory[baseline][quantity]
        yield quantity, held / 1e6 / samples, held / compared if compared else None, 1


def resident_memory(run: Run, path: str, circumstances: Circumstances) -> dict[str, int]:
    """Peak bytes of a run's steps beyond what this process held before; for a process that did nothing else."""
    devices.set_arithmetic(circumstances.threads, run.spec["precision"])
    subject = subject_of(run, prepared.load(path).arrays, torch.device("cpu"), circumstances.batch_size)
    first = first_batch(run, subject.task, 1)
    for step in ACTIONS.values():  # what the libraries load and the optimisers make at their first use does not count
        step(subject, first)
    kinds = ("evaluation", "training")  # the smaller first: of a process, the system knows the highest peak only
    peaks = resident_beyond([functools.partial(ACTIONS[kind], subject, subject.batch) for kind in kinds])
    return {f"{kind}_memory": peak for kind, peak in zip(kinds, peaks, strict=True)}
