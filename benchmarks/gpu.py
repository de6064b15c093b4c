"""All that is measured on a GPU, by one command, within ten minutes, in order of worth.

    python benchmarks/gpu.py
    python benchmarks/gpu.py --device cpu --small  # a dry run without a GPU: every part, in tiny sizes

Each part is a process of its own with a time limit of its own. Its rows are in `--output` as they come, what it prints
in log.txt, how it ended in parts.jsonl. The exit code is 1 where a part failed or ran past its limit.

Outside of its parts this file imports the standard library alone: a machine may lack packages that `--wheels` brings.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
LIMITS = {"about": 30, "tests": 150, "accuracy": 40, "steps": 185, "cells": 75, "side_by_side": 60}  # seconds
STEPS = 170  # seconds after which `steps` begins no other group
TOLERANCE = 1e-3  # of float32 against float64, relative


def main() -> int:
    options = parse_arguments()
    if options.within:
        parts = {part.__name__: part for part in (about, accuracy, steps, side_by_side)}
        return parts[options.within](options)
    begun = time.monotonic()
    options.output.mkdir(parents=True, exist_ok=True)
    for name in (*(f"{part}.jsonl" for part in (*LIMITS, "parts")), "cells.csv", "tests.xml", "log.txt"):
        (options.output / name).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as site:
        if options.wheels:
            install = "-m pip install --quiet --no-index --no-deps --no-compile --no-cache-dir --target"
            subprocess.run([sys.executable, *install.split(), site, *options.wheels.glob("*.whl")], check=True)
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # the CPU has little to compute
        os.environ["PYTHONPATH"] = os.pathsep.join([site, str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        for part in options.parts:
            fits = time.monotonic() - begun + LIMITS[part] <= 60 * options.minutes
            ended = run(command_of(part, options), LIMITS[part], options.output / "log.txt") if fits else {"exit": None}
            write(options.output / "parts.jsonl", part=part, **ended)
    return summarise(options.output)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--minutes", type=float, default=8, help="no part begins whose limit is later (default: 8)")
    parser.add_argument("--parts", nargs="+", choices=LIMITS, default=list(LIMITS))
    parser.add_argument("--wheels", type=Path, help="folder of wheels that this run finds packages in")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    parser.add_argument("--small", action="store_true", help="tiny sizes, few groups of runs, those of `demo`")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "results" / "gpu")
    parser.add_argument("--within", choices=LIMITS, help=argparse.SUPPRESS)  # the part that this process is
    options = parser.parse_args()
    options.output = options.output.resolve()  # parts run in ROOT
    return options


def command_of(part: str, options: argparse.Namespace) -> list[object]:
    if part == "tests":  # in these files alone: others import packages that no such test needs
        files = (path for path in sorted(ROOT.glob("tests/test_*.py")) if "mark.gpu" in path.read_text("utf-8"))
        report, marks = options.output / "tests.xml", "gpu and not (slow or every)" if options.small else "gpu"
        given = "-n", "0", "-v", "-m", marks, "-p", "no:cacheprovider", f"--junitxml={report}"
        return [sys.executable, "-m", "pytest", *given, *files]
    if part == "cells":
        sizes = "--sizes 8 --steps 5 --batch 2 --rounds 1" if options.small else "--sizes 128 256 512 --rounds 3"
        memory = "--process kept" if options.device == "cpu" else ""  # of a CPU it would take a process for each cell
        given = *sizes.split(), *memory.split(), "--device", options.device, "--output", options.output / "cells.csv"
        return [sys.executable, ROOT / "benchmarks" / "train_step.py", *given]
    given = "--within", part, "--device", options.device, "--output", options.output
    return [sys.executable, __file__, *given, *["--small"] * options.small]


def run(command: list[Any], limit: float, log: Path) -> dict[str, Any]:
    """A process's exit code, 124 where it ran past its limit in seconds, and its seconds."""
    begun = time.monotonic()
    # Interrupted, pytest still writes its report. An interrupt that comes while a module is imported may be lost: then
    # `timeout` kills, and exits with 137.
    limited = ["timeout", "--foreground", "--signal=INT", "--kill-after=5", str(limit), *command]
    with log.open("a", encoding="utf-8") as out:
        code = subprocess.run(limited, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT).returncode
    return {"exit": 124 if code == 137 else code, "seconds": round(time.monotonic() - begun, 1)}


def write(file: Path, **row: Any) -> None:
    """Append a row, which stays whatever happens after."""
    with file.open("a", encoding="utf-8") as rows:
        rows.write(json.dumps(row) + "\n")
    print(row, flush=True)


def summarise(output: Path) -> int:
    """Print what is to be looked at first; 1 where a part failed."""
    files = (output / f"{part}.jsonl" for part in ("accuracy", "steps", "parts"))
    texts = (file.read_text("utf-8") if file.exists() else "" for file in files)
    cells, groups, ends = ([json.loads(row) for row in text.splitlines()] for text in texts)
    if (output / "tests.xml").exists():
        cases = list(ElementTree.parse(output / "tests.xml").iter("testcase"))
        failed = [case.get("name") for case in cases if {part.tag for part in case} & {"failure", "error"}]
        print(f"{len(cases)} tests; failed: {failed}")
    print("inaccurate:", [(row["cell"], row["N"]) for row in cells if not row["ok"]])
    print(f"{len(groups)} groups; failed:", {row["group"]: row["error"] for row in groups if "error" in row})
    print("not repeated to the bit:", [row["group"] for row in groups if row.get("repeats") is False])
    slowest = sorted(((row["seconds"], row["group"]) for row in groups if "seconds" in row), reverse=True)
    print("slowest steps, in seconds:", slowest[:10])
    print(*(f"{row['part']}: exit {row['exit']}, {row.get('seconds', 'no time for it')}" for row in ends), sep="\n")
    return int(any(row["exit"] for row in ends))


def about(options: argparse.Namespace) -> int:
    """The machine, and what a launch, a wait, a matrix product and determinism cost on it."""
    import torch

    from hidden_dynamics.training import devices

    device, file = devices.choose(options.device), options.output / "about.jsonl"
    machine: dict[str, Any] = {"device": devices.name_of(device), "torch": torch.__version__, "python": sys.version}
    if device.type == "cuda":
        machine |= {"capability": torch.cuda.get_device_capability(), "cudnn": torch.backends.cudnn.version()}
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=driver_version,memory.total", "--format=csv,noheader"]
        machine["driver"] = subprocess.run(query, stdout=subprocess.PIPE, text=True).stdout.strip()
    write(file, **machine)

    def timed(what: str, action: Callable[[], object], count: int, flop: int = 0) -> None:
        def many() -> None:
            for _ in range(count):
                action()
            torch.cuda.synchronize() if device.type == "cuda" else None

        seconds = min(timeit.repeat(many, number=1, repeat=3)) / count
        write(file, what=what, microseconds=round(seconds * 1e6, 2), tflop_per_second=flop / seconds / 1e12)

    n = 256 if options.small else 4096
    x, a, h = torch.zeros(1, device=device), torch.rand(n, n, device=device), torch.rand(300, 50, device=device)
    timed("launch", lambda: x.add_(1.0), 5000)
    timed("launch and item()", lambda: x.add_(1.0).item(), 1000)
    timed(f"float32 product of {n} x {n}", lambda: a @ a, 10, 2 * n**3)  # without TF32, as torch has it
    rows, values = torch.arange(8, device=device), torch.rand(8, 50, device=device)
    for mode in ("default", "warn"):
        torch.set_deterministic_debug_mode(mode)
        timed(f"index_copy_, determinism: {mode}", lambda: h.index_copy_(0, rows, values), 500)
    return 0


def accuracy(options: argparse.Namespace) -> int:
    """States and gradients in float32 on the device against float64 on the CPU; cuDNN's algorithm depends on N."""
    import copy

    import torch
    from train_step import VARIANTS

    from hidden_dynamics.training import devices

    devices.set_arithmetic(1, "fp32")
    accurate = True
    for n in (8, 12) if options.small else (84, 120, 128, 158, 190, 192, 256):
        for name in ("nn.LSTM", "LSTM", "MomentumLSTM", "AdamLSTM", "DTRIV"):
            torch.manual_seed(0)
            cell, x, found = VARIANTS[name](n), torch.randn(60, 32, 1), []
            for device, dtype in (("cpu", torch.float64), (options.device, torch.float32)):
                here = copy.deepcopy(cell).to(device, dtype)
                h = here(x.to(device, dtype))[0]
                gradients = torch.autograd.grad(h.square().mean(), list(here.parameters()))
                found.append([each.detach().cpu().double() for each in (h, *gradients)])
            errors = [((b - a).norm() / a.norm()).item() for a, b in zip(*found, strict=True) if a.norm() > 1e-12]
            ok = all(error < TOLERANCE for error in errors)
            write(options.output / "accuracy.jsonl", cell=name, N=n, largest_relative_error=max(errors), ok=ok)
            accurate &= ok
    return int(not accurate)


def steps(options: argparse.Namespace) -> int:
    """Training steps of one of all runs that cost alike, for each such group."""
    import traceback

    from hidden_dynamics.configuration import load, parse_settings
    from hidden_dynamics.configuration.runs import all_runs
    from hidden_dynamics.measurements.forecast_measurement import alike, arrays_of

    end, failed, arrays = time.monotonic() + STEPS, False, {}
    configuration = load(parse_settings(json.dumps({"scale": "demo" if options.small else "paper"})))
    groups = {alike(run): run for run in all_runs(configuration)}.values()
    networks = {(run.spec["network"], run.spec["core"]): run for run in groups}.values()
    runs = sorted(groups, key=lambda run: run not in networks)  # one of every network comes before their other tasks
    for number, run in enumerate(runs[:: len(runs) // 5] if options.small else runs):
        if time.monotonic() > end:
            print(f"{number} of {len(runs)} groups: there is no time for others", flush=True)
            break
        row, data = {"group": f"{run.task}/{run.sized_model}"}, json.dumps([run.spec["dataset"], run.spec["data"]])
        try:
            if data not in arrays:
                arrays[data] = arrays_of(configuration, run)
            row |= steps_of(run, arrays[data], options.device)
        except Exception as error:  # of any kind: the others are measured all the same
            traceback.print_exc()
            row["error"], failed = f"{type(error).__name__}: {error}"[:300], True
        write(options.output / "steps.jsonl", **row)
    return int(failed)


def steps_of(run: Any, arrays: Any, device: str) -> dict[str, Any]:
    """Two training steps, taken twice from the run's start: the seconds of the first and of the fastest, the peak of
    GPU memory, what was warned of, and whether both gave the same to the bit; None where a step took a second."""
    import copy
    import warnings

    import torch

    from hidden_dynamics.training import devices, optimisers
    from hidden_dynamics.training.building import build

    devices.set_arithmetic(1, run.spec["precision"])
    cuda, training, seconds, found = device == "cuda", run.spec["training"], list[float](), list[list[torch.Tensor]]()
    wait = torch.cuda.synchronize if cuda else lambda: None
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats() if cuda else None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        task, network = build(run, arrays, torch.device(device))
        schedule, start = task.schedule(training, run.seed), copy.deepcopy(network.train().state_dict())
        while len(found) < 2 and min(seconds, default=0) < 1:
            torch.manual_seed(run.seed)
            network.load_state_dict(start)
            updating, task.hidden_state = optimisers.build(network, training["optimisers"]), None
            for iteration in range(2):
                wait()
                begun = time.perf_counter()
                optimisers.set_rate(updating, schedule.rate(iteration))
                batch = task.batch(*schedule.indices(iteration))
                loss = optimisers.learn(task, network, updating, batch, training)
                wait()
                seconds.append(round(time.perf_counter() - begun, 5))
            found.append([torch.tensor(loss), *copy.deepcopy(network.state_dict()).values()])
    return {
        **{"loss": loss, "first_step": seconds[0], "seconds": min(seconds), "iterations": schedule.iterations},
        "peak_mib": round(torch.cuda.max_memory_allocated() / 2**20, 1) if cuda else None,
        "repeats": all(map(torch.equal, *found)) if len(found) == 2 else None,
        "warnings": sorted({str(each.message).split("\n")[0][:120] for each in warned}),
    }


def side_by_side(options: argparse.Namespace) -> int:
    """Training steps per second of several processes that share the GPU, together."""
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    for count in (1, 2) if options.small else (1, 2, 4, 8):
        with context.Manager() as manager, context.Pool(count) as pool:
            given = options.device, options.small, manager.Barrier(count)
            found = pool.starmap(steps_per_second, [given] * count, chunksize=1)
        for cell in found[0]:
            together = round(sum(each[cell] for each in found), 2)
            write(options.output / "side_by_side.jsonl", cell=cell, processes=count, steps_per_second=together)
    return 0


def steps_per_second(device: str, small: bool, barrier: Any) -> dict[str, float]:
    """By cell, this process's, while the others at the barrier take theirs."""
    import torch
    from train_step import VARIANTS, training_step

    torch.set_num_threads(1)
    wait, found = torch.cuda.synchronize if device == "cuda" else lambda: None, {}
    steps, batch, seconds = (10, 2, 0.1) if small else (784, 128, 3.0)
    for name, size in (("LSTM", 128), ("MomentumDTRIV", 170)):
        cell, x = VARIANTS[name](size).to(device), torch.rand(steps, batch, 1, device=device)
        for limit in (seconds / 6, seconds):  # the first to warm up
            wait()
            barrier.wait()
            begun, count = time.perf_counter(), 0
            while time.perf_counter() < begun + limit:
                training_step(cell, x)
                wait()
                count += 1
        found[f"{name} {size}"] = count / (time.perf_counter() - begun)
    return found


if __name__ == "__main__":
    sys.exit(main())
