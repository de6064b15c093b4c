"""The costs of training and evaluation: time and memory of runs side by side, on the machine at hand.

A training step is forward, loss, backward, clipping and optimiser, an evaluation forward and loss; the batch is the
task's first one, and is there already. hidden_dynamics.measurements.interleaved says how time and memory are taken.
"""

import datetime
import functools
import json
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError
from hidden_dynamics.measurements.costs import MEMORIES, TIMES
from hidden_dynamics.measurements.interleaved import (
    Subject,
    allocated_beyond,
    evaluation_step,
    first_batch,
    interleaved,
    processor,
    ratios_within_rounds,
    resident_beyond,
    subject_of,
    training_step,
)
from hidden_dynamics.measurements.rounds import Ratio, median_with_interval
from hidden_dynamics.training import devices

ACTIONS = {"training": training_step, "evaluation": evaluation_step}


@dataclass(frozen=True)
class Circumstances:
    """The circumstances of a measurement: device, CPU threads, samples in a batch, rounds of timing."""

    device: torch.device
    threads: int
    batch_size: int
    rounds: int


def measure(
    configuration: Configuration, runs: Sequence[Run], baseline: str, circumstances: Circumstances
) -> Iterator[dict[str, Any]]:
    """Two times and two memories of every run, by column (hidden_dynamics.measurements.costs.COLUMNS).

    Args:
        runs: of one task, a model each.
        baseline: the model among them that the others are held to.
    """
    path = configuration.paths.prepared(runs[0].spec["dataset"], runs[0].spec["data"])
    data = prepared.load(path)
    subjects = [subject_of(run, data.arrays, circumstances.device, circumstances.batch_size) for run in runs]
    times = time_of(subjects, circumstances.device, circumstances.rounds)
    memory = memory_of(subjects, path, circumstances)
    about = describe_machine(circumstances) | describe_data(configuration, runs[0].task, data.provenance)
    for subject in subjects:
        row = {**describe(configuration, subject), **about}
        for quantity, value, ratio, rounds in values_of(subject, times, memory, baseline):
            unit = configuration.metrics[quantity].unit
            ratios = {"ratio": ratio.median, "ratio_low": ratio.low, "ratio_high": ratio.high}
            yield {**row, "quantity": quantity, "value": value, "unit": unit, **ratios, "rounds": rounds}


def values_of(
    subject: Subject, times: Sequence[Mapping], memory: Mapping[str, Mapping[str, int]], baseline: str
) -> Iterator[tuple[str, float, Ratio, int]]:
    """(quantity, value per sample in ms or MB, ratio to the baseline, rounds) of one model."""
    model = subject.run.model
    for quantity in TIMES:
        milliseconds = median(seconds[model, quantity] for seconds in times) * 1e3 / subject.samples
        ratios = ratios_within_rounds(times, (model, quantity), (baseline, quantity))
        yield quantity, milliseconds, median_with_interval(ratios), len(times)
    for quantity in MEMORIES:
        held, compared = memory[model][quantity], memory[baseline][quantity]
        ratio = Ratio(held / compared, None, None) if compared else Ratio(None, None, None)
        yield quantity, held / 1e6 / subject.samples, ratio, 1


def time_of(subjects: Sequence[Subject], device: torch.device, rounds: int) -> list[dict[tuple[str, str], float]]:
    """Seconds of each model's steps, by (model, quantity), round by round."""
    actions = {
        (subject.run.model, f"{kind}_time"): functools.partial(step, subject, subject.batch)
        for subject in subjects
        for kind, step in ACTIONS.items()
    }
    if device.type == "cuda":
        return interleaved(actions, rounds, wait=functools.partial(torch.cuda.synchronize, device))
    return interleaved(actions, rounds)


def memory_of(subjects: Sequence[Subject], path: str, circumstances: Circumstances) -> dict[str, dict[str, int]]:
    """Peak bytes of each model's steps beyond what was held before, by model and quantity.

    Args:
        path: of the prepared data, for the processes that measure on a CPU.
    """
    if circumstances.device.type == "cuda":
        return {
            subject.run.model: {
                f"{kind}_memory": allocated_beyond(
                    functools.partial(step, subject, subject.batch), circumstances.device
                )
                for kind, step in ACTIONS.items()
            }
            for subject in subjects
        }
    return {subject.run.model: in_fresh_process(subject.run, path, circumstances) for subject in subjects}


def in_fresh_process(run: Run, path: str, circumstances: Circumstances) -> dict[str, int]:
    """`resident_memory` in a process that has done nothing but import torch."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch"])  # once for all of them: it takes longer than the measurement
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        try:
            job = executor.submit(resident_memory, run, path, circumstances.batch_size, circumstances.threads)
            return job.result()
        except BrokenProcessPool:
            raise UserError(
                f"{run.id}: the process that measured its memory was killed; did this machine run out of memory? "
                "--batch takes fewer samples."
            ) from None


def resident_memory(run: Run, path: str, batch_size: int, threads: int) -> dict[str, int]:
    """Peak bytes of a run's steps beyond what this process held before; for a process that did nothing else."""
    devices.set_arithmetic(threads, run.spec["precision"])
    subject = subject_of(run, prepared.load(path).arrays, torch.device("cpu"), batch_size)
    one = first_batch(run, subject.task, 1)
    for step in ACTIONS.values():  # what the libraries load and the optimisers make at their first use does not count
        step(subject, one)
    kinds = ("evaluation", "training")  # the smaller first: of a process, the system knows the highest peak only
    peaks = resident_beyond([functools.partial(ACTIONS[kind], subject, subject.batch) for kind in kinds])
    return {f"{kind}_memory": peak for kind, peak in zip(kinds, peaks, strict=True)}


def describe(configuration: Configuration, subject: Subject) -> dict[str, Any]:
    run = subject.run
    return {
        "task": run.task,
        "model": run.model,
        "label": configuration.models[run.model].label,
        "size": run.spec["hyperparameters"].get("hidden_size"),
        "paper_size": run.paper_size,
        "batch": subject.samples,
        "steps": subject.steps,
        "samples_per_epoch": subject.samples_per_epoch,
        "readings": json.dumps(run.spec["readings"], sort_keys=True),
        "precision": run.spec["precision"],
    }


def describe_machine(circumstances: Circumstances) -> dict[str, Any]:
    return {
        "device": devices.name_of(circumstances.device),
        "processor": processor(),
        "threads": circumstances.threads,
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
    }


def describe_data(configuration: Configuration, task: str, provenance: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "scale": configuration.scale_name,
        "dataset": provenance["dataset"],
        "dataset_title": provenance["title"],
        "stand_in_for": configuration.replaced(task),
    }
