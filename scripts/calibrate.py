"""Measure for a few seconds each what the trainings of a scale take on this machine, for a forecast of their cost.

    python scripts/calibrate.py --output results/demo/calibration.json --config '{"scale": "demo"}'

Runs that cost alike (hidden_dynamics.measurements.forecast.groups) are measured once: iterations of the real training loop, its
evaluation, start-up, memory and the bytes of its files (hidden_dynamics.measurements.forecast.probe). As many are measured side by
side as trainings would run here, because they slow each other down, each in a fresh process. Nothing is downloaded or
prepared: a dataset that is there is used, in the place of another there are random arrays of its shapes.

A calibration can be kept for other machines to forecast with: write it to calibrations/<name>.json and set
forecast.calibration to its name.
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
import datetime
import multiprocessing
import os
import platform
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import torch

from hidden_dynamics.system.arguments import positive
from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.system.files import ROOT
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.measurements.forecast import calibration
from hidden_dynamics.measurements.forecast.groups import representatives
from hidden_dynamics.measurements.forecast.probe import CLOCKS, probe
from hidden_dynamics.measurements.forecast.selection import runs_to_forecast, setting
from hidden_dynamics.measurements.forecast.stand_ins import arrays_like
from hidden_dynamics.measurements.interleaved import processor
from hidden_dynamics.configuration.runs import Run, data_file, identity
from hidden_dynamics.training import devices

SECONDS_BETWEEN_LINES = 10.0


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    runs = representatives(runs_to_forecast(configuration))
    device = devices.choose(arguments.device or configuration.settings["device"])
    threads = arguments.threads or configuration.scale.threads
    places = arguments.side_by_side or configuration.settings["runs_per_gpu"]
    clock = "cpu" if device.type == "cpu" and threads == 1 else "wall"
    seconds = arguments.seconds or setting(configuration, "seconds")
    begun = time.monotonic()
    start_up = seconds_to_start(configuration, next(iter(runs.values())), clock) if runs else 1.0
    groups, busy = measure(configuration, runs, device, threads, places, seconds, clock)
    about = {
        "processor": processor(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "threads": threads,
        "side_by_side": places,
        "clock": clock,
        "wall_per_cpu": busy,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
        "code": calibration.code_of_all(runs.values()),
        "seconds": time.monotonic() - begun,
    }
    calibration.write(arguments.output, about, start_up, groups)


def seconds_to_start(configuration: Configuration, run: Run, clock: str) -> float:
    """Of a training's process, until it reads its data: the interpreter, libraries, the configuration and the digest of
    the run's code."""
    loading = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r}); import train, hidden_dynamics.measurements.forecast.first_step"
    )
    command = [sys.executable, "-c", loading]
    times = []
    for _ in range(3):  # the first one reads the libraries from the disk
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        times.append(cpu if clock == "cpu" else wall)
    start = CLOCKS[clock]()
    load(configuration.settings)
    identity(run)
    return min(times) + CLOCKS[clock]() - start


def measure(
    configuration: Configuration,
    runs: dict[str, Run],
    device: torch.device,
    threads: int,
    places: int,
    seconds: float,
    clock: str,
) -> tuple[dict[str, Any], float]:
    """The measurements by the groups' keys, and how many seconds of the wall a second of CPU time took."""
    # A forkserver finds modules there, and not by the path that this script has set.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    context = multiprocessing.get_context("forkserver")
    # Once for all of them: torch takes seconds to import, and at the first step of an optimiser.
    context.set_forkserver_preload(["hidden_dynamics.measurements.forecast.probe", "hidden_dynamics.measurements.forecast.first_step"])
    each = seconds * places / max(len(runs), 1)
    groups, times, said, begun = {}, [], 0.0, time.monotonic()
    with ThreadPoolExecutor(places) as threads_waiting:
        waiting = {
            threads_waiting.submit(in_fresh_process, context, configuration, run, device, threads, each, clock): key
            for key, run in runs.items()
        }
        for place, done in enumerate(as_completed(waiting), 1):
            try:
                found, wall, cpu = done.result()
            except BaseException:
                threads_waiting.shutdown(wait=False, cancel_futures=True)
                raise
            groups[waiting[done]] = found
            times.append((wall, cpu))
            now = time.monotonic()
            if now - said > SECONDS_BETWEEN_LINES or place == len(runs):
                said = now
                print(
                    f"Calibrating: {place} of {len(runs)} configurations after {now - begun:.0f} s; "
                    f"{found['task']}/{found['model']} takes {found['iteration'] * 1e3:.3g} ms "
                    f"{'a row' if found['sizes'].get('rows') else 'an iteration'}",
                    flush=True,
                )
    return groups, sum(wall for wall, _ in times) / max(sum(cpu for _, cpu in times), 1e-9) if times else 1.0


def in_fresh_process(context: Any, configuration: Configuration, run: Run, *how: Any) -> tuple[dict, float, float]:
    """`measure_one` in a process of its own, whose memory is that of this run."""
    file = Path(data_file(configuration, run.spec["dataset"], run.spec["data"]))
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        try:
            return executor.submit(measure_one, configuration.settings["runs_per_gpu"], file, run, *how).result()
        except BrokenProcessPool:
            raise UserError(
                f"{run.id}: the process that measured it was killed; did this machine run out of memory? Give "
                "fewer cores, or forecast fewer artifacts (forecast.artifacts)."
            ) from None


def measure_one(
    runs_per_gpu: int, file: Path, run: Run, device: torch.device, threads: int, seconds: float, clock: str
) -> tuple[dict[str, Any], float, float]:
    """A group's measurement, and the wall and the CPU time that it took."""
    devices.set_arithmetic(threads, run.spec["precision"])
    there = file.is_file()
    arrays = prepared.load(file).arrays if there else arrays_like(run.spec["dataset"], run.spec["data"])
    with devices.turn(device, runs_per_gpu, Path(".snakemake/gpu-places")) as device:
        wall, cpu = time.perf_counter(), time.process_time()
        found = probe(run, arrays, device, seconds, clock)
        took = time.perf_counter() - wall, time.process_time() - cpu
    return {"task": run.task, "model": run.variant, "data": "prepared" if there else "stand-in", **found}, *took


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", required=True, type=Path, help="calibration to write (JSON)")
    parser.add_argument("--seconds", type=positive, help="that it may take, about; default: forecast.seconds")
    parser.add_argument("--side-by-side", type=positive, help="trainings at a time; default: runs_per_gpu")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], help="default: as in config.yaml")
    parser.add_argument("--threads", type=positive, help="CPU threads; default: the scale's")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
