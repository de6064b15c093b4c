"""Where faults are made: a small workflow, its processes, and a disk that can be filled."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from repository import PARITY, Workflow, add_what_a_user_adds, copy_repository

TINY = {"sizes": {128: 4, 256: 6}, "training": {"epochs": 1, "batch_size": 360}}
OVERRIDES = {"tasks": {"mnist": TINY, "pmnist": TINY, "parity": {"training": {"epochs": 500}}}}
SETTINGS = {"results": "out", "seeds": [0], "device": "cpu", "overrides": OVERRIDES}
TARGETS = ["momentumrnn_table11", "momentumrnn_figure9", f"{PARITY}/run.json"]
RUN_FILES = ("metrics.csv", "train_loss.npy", "model.pt")


def new_workflow(root: Path) -> Workflow:
    """A copy of the repository with a user's additions; checkpoints are written more often than every minute."""
    root.mkdir(exist_ok=True)
    copy_repository(root)
    add_what_a_user_adds(root)
    workflow = Workflow(root)
    workflow.edit("hidden_dynamics/training/checkpoint.py", "SECONDS = 60.0", "SECONDS = 0.2")
    workflow.edit("hidden_dynamics/training/checkpoint.py", "AN_EVALUATION = 5.0", "AN_EVALUATION = 0.1")
    return workflow


def results_of(workflow: Workflow) -> dict[str, bytes]:
    """All that must be the same after any fault, by path: what holds no times.

    A step that was killed in a writing leaves a hidden file beside the table or figure, which is no result.
    """
    folder = workflow.root / "out/demo"
    found = [folder.glob(f"runs/*/*/*/{name}") for name in RUN_FILES]
    found += [folder.glob(f"{kind}/[!.]*") for kind in ("tables", "figures")]
    return {str(path.relative_to(folder)): path.read_bytes() for paths in found for path in paths}


def records_of(workflow: Workflow) -> dict[str, dict]:
    """run.json of every run, without its times and what depends on them."""
    records = {}
    for path in workflow.root.glob("out/demo/runs/*/*/*/run.json"):
        record = json.loads(path.read_text())
        del record["files"]["clock.csv"]
        for name in ("seconds", "checksum", "peak_memory_mb", "solver"):  # of times, too
            record.pop(name, None)
        records[str(path.relative_to(workflow.root))] = record
    return records


def left_on_the_way(workflow: Workflow) -> list[str]:
    """Files of runs that were on the way to their final names, and locks."""
    return [str(path) for path in (workflow.root / "out/demo/runs").glob("*/*/*/.*")]


def start(workflow: Workflow, *targets: str) -> subprocess.Popen:
    """Snakemake, started as in a terminal."""
    return workflow.start(*targets, **SETTINGS)


def processes_in(root: Path, program: str = "") -> list[int]:
    """The processes at work in a directory whose command line has `program`."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (path / "cwd").resolve() == root and program in (path / "cmdline").read_bytes().decode(errors="replace"):
                found.append(int(path.name))
    return found


def trainings_in(root: Path) -> list[int]:
    """The processes that train, not the shells that started them."""
    found = []
    for pid in processes_in(root, "scripts/train.py"):
        with contextlib.suppress(OSError):
            if os.path.basename(Path(f"/proc/{pid}/exe").readlink()).startswith("python"):
                found.append(pid)
    return found


def kill_all_in(root: Path) -> None:
    for pid in processes_in(root):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def small_disk(point: Path, size: str) -> Iterator[Path]:
    """A file system in memory; the test is skipped where it cannot be mounted."""
    point.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(point)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here (that takes root)")
    try:
        yield point
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=True)


def outputs_of(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in RUN_FILES}


_finished: list[tuple[Workflow, float]] = []


def finished_workflow(factory: pytest.TempPathFactory) -> tuple[Workflow, float]:
    """A workflow that ran undisturbed, to be copied and not to be changed, and the seconds it took; made once."""
    if not _finished:
        workflow, began = new_workflow(factory.mktemp("finished") / "repository"), time.monotonic()
        assert start(workflow, *TARGETS).wait() == 0, (workflow.root / "said").read_text()[-3000:]
        _finished.append((workflow, time.monotonic() - began))
    return _finished[0]
