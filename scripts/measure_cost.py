"""Measure what a training and an evaluation of each model cost on this machine, in time and memory per sample.

    python scripts/measure_cost.py --artifact momentumrnn_table14 --output results/demo/costs/momentumrnn_table14.csv

The models, the task and the size are the artifact's, as run at the scale; the prepared data must be there. A training
step is forward, loss, backward, clipping and optimiser, an evaluation forward and loss; the batch is the task's first
one, and is there already. Times are taken in rounds, every model once in each, in an order that rotates: a ratio to the
baseline is the median of the ratios within the rounds. Memory is the peak beyond what was held before: on a GPU what
torch allocated, on the CPU the resident memory of a fresh process for each model.

Writes one row per model and quantity (hidden_dynamics.measurements.costs.COLUMNS); an empty cell means "none".
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
import csv
import datetime
import functools
import json
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from statistics import median
from typing import Any

import torch

from hidden_dynamics.system.arguments import positive
from hidden_dynamics.configuration import Configuration, known, load, parse_settings
from hidden_dynamics.measurements.costs import COLUMNS, MEMORIES, TIMES, UNITS, measured_runs
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.measurements.interleaved import (
    Ratio,
    Subject,
    allocated_beyond,
    evaluation_step,
    first_batch,
    interleaved,
    processor,
    ratio_within_rounds,
    resident_beyond,
    subject_of,
    training_step,
)
from hidden_dynamics.results.seals import vouched
from hidden_dynamics.papers.published import load_published
from hidden_dynamics.configuration.runs import Run, data_file
from hidden_dynamics.training import devices

ACTIONS = {"training": training_step, "evaluation": evaluation_step}


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    artifact = known(arguments.artifact, configuration.artifacts, "artifact", "--artifact")
    runs = measured_runs(configuration, artifact)
    baseline = load_published(configuration.artifacts[artifact]["published"])["baseline"]
    if baseline not in [run.model for run in runs]:
        raise UserError(f"config/artifacts.yaml: {artifact} must have {baseline}: the others are held to it.")
    batch_size = arguments.batch or runs[0].spec["training"]["batch_size"]
    threads = arguments.threads or configuration.scale["threads"]
    device = devices.choose(arguments.device or configuration.settings["device"])
    devices.set_arithmetic(threads, configuration.settings["precision"])
    with devices.turn(device, configuration.settings["runs_per_gpu"], Path(".snakemake/gpu-places")) as device:
        rows = list(measure(configuration, runs, baseline, device, arguments.rounds, batch_size, threads))
    with vouched(arguments.output) as handle:
        writer = csv.DictWriter(handle, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(f"{row['model']:16} {row['quantity']:18} {row['value']:10.4g} {row['unit']}, ratio {row['ratio']}")


def measure(
    configuration: Configuration,
    runs: Sequence[Run],
    baseline: str,
    device: torch.device,
    rounds: int,
    batch_size: int,
    threads: int,
) -> Iterator[dict[str, Any]]:
    """The rows of the output: for every run, two times and two memories."""
    path = data_file(configuration, runs[0].spec["dataset"], runs[0].spec["data"])
    data = prepared.load(path)
    subjects = [subject_of(run, data.arrays, device, batch_size) for run in runs]
    times = time_of(subjects, device, rounds)
    memory = memory_of(subjects, path, device, batch_size, threads)
    about = circumstances(configuration, runs[0].task, data.provenance, device, threads)
    for subject in subjects:
        row = {**describe(configuration, subject), **about}
        model = subject.run.model
        for quantity in TIMES:
            milliseconds = median(seconds[model, quantity] for seconds in times) * 1e3 / subject.samples
            ratio = ratio_within_rounds(times, (model, quantity), (baseline, quantity))
            yield row | value_of(quantity, milliseconds, ratio, rounds)
        for quantity in MEMORIES:
            held, compared = memory[model][quantity], memory[baseline][quantity]
            ratio = Ratio(held / compared, None, None) if compared else Ratio(None, None, None)
            yield row | value_of(quantity, held / 1e6 / subject.samples, ratio, 1)


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


def memory_of(
    subjects: Sequence[Subject], path: str, device: torch.device, batch_size: int, threads: int
) -> dict[str, dict[str, int]]:
    """Peak bytes of each model's steps beyond what was held before, by model and quantity."""
    if device.type == "cuda":
        return {
            subject.run.model: {
                f"{kind}_memory": allocated_beyond(functools.partial(step, subject, subject.batch), device)
                for kind, step in ACTIONS.items()
            }
            for subject in subjects
        }
    return {subject.run.model: in_fresh_process(subject.run, path, batch_size, threads) for subject in subjects}


def in_fresh_process(run: Run, path: str, batch_size: int, threads: int) -> dict[str, int]:
    """`resident_memory` in a process that has done nothing but import torch."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch"])  # once for all of them: it takes longer than the measurement
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        try:
            return executor.submit(resident_memory, run, path, batch_size, threads).result()
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
        "label": configuration.models[run.model]["label"],
        "size": run.spec["hyperparameters"].get("hidden_size"),
        "paper_size": run.paper_size,
        "batch": subject.samples,
        "steps": subject.steps,
        "samples_per_epoch": subject.samples_per_epoch,
        "readings": json.dumps(run.spec["readings"], sort_keys=True),
        "precision": run.spec["precision"],
    }


def circumstances(
    configuration: Configuration, task: str, provenance: Mapping[str, Any], device: torch.device, threads: int
) -> dict[str, Any]:
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "processor": processor(),
        "threads": threads,
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
        "scale": configuration.scale_name,
        "dataset": provenance["dataset"],
        "dataset_title": provenance["title"],
        "stand_in_for": configuration.replaced(task),
    }


def value_of(quantity: str, value: float, ratio: Ratio, rounds: int) -> dict[str, Any]:
    unit = UNITS[quantity]
    ratios = {"ratio": ratio.median, "ratio_low": ratio.low, "ratio_high": ratio.high}
    return {"quantity": quantity, "value": value, "unit": unit, **ratios, "rounds": rounds}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifact", required=True, help="a table of costs, such as momentumrnn_table14")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", required=True, type=Path, help="CSV to write, one row per model and quantity")
    parser.add_argument("--rounds", type=positive, default=20, help="timed rounds (default: 20)")
    parser.add_argument("--batch", type=positive, help="samples in a batch; default: the task's")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], help="default: as in config.yaml")
    parser.add_argument("--threads", type=positive, help="CPU threads; default: the scale's, as in training")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
