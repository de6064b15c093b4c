"""The files of a finished run: run.json, metrics.csv, train_loss.npy, clock.csv, model.pt; items.npz where its task
keeps some; where it recorded gradients or predictions, hidden_gradients.npz and predictions.npz. A run that failed
leaves them empty, and no weights. Until then underway.json.
"""

import contextlib
import io
import json
import os
import platform
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from hidden_dynamics.configuration.runs import GRADIENTS, OUTPUTS, PREDICTIONS, WEIGHTS
from hidden_dynamics.configuration.spec import Training
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.results.run_files import ITEMS, UNDERWAY, with_checksums
from hidden_dynamics.system.files import atomic
from hidden_dynamics.tasks.schedule import AnySchedule
from hidden_dynamics.training.loop import History
from hidden_dynamics.training.reported import chosen, of_history

SECONDS = 20.0  # between two writings of a run that is under way
LOSSES = 50  # the last ones that underway.json tells
MOST = 25_000  # bytes that items.npz may have


def write(
    directory: Path,
    about: Mapping[str, object],
    history: History,
    network: nn.Module | None,
    training: Training,
    predictions: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Write the run's files, run.json last: where it is, the run is whole.

    Args:
        about: what is known of the run besides its history.
        history: of a run that failed, an empty one whose `failure` is {"error": type and message}.
        network: as it was trained; None where it could not be built.
        training: of the run's specification.
    """
    (directory / "run.json").unlink(missing_ok=True)  # of another specification, code or data
    _write_csv(directory / "metrics.csv", history.metrics)
    _write_csv(directory / "clock.csv", history.clock)
    _write_bytes(directory / "train_loss.npy", np.save, np.array(history.losses, dtype=np.float64))
    norms = torch.stack(history.gradient_norms).numpy() if history.gradient_norms else np.empty((0, 0), np.float32)
    every = training.get("record_gradients")
    failed = "error" in (history.failure or {})
    written = [name for name in OUTPUTS if name != "run.json" and not (failed and name == WEIGHTS)]
    if every is not None:
        written.append(GRADIENTS)
        # ||dL/dh_t||_2, (k, T), at each of the iterations (k,), counted from 0
        arrays = {"iterations": np.arange(len(norms), dtype=np.int64) * every, "norms": norms}
        _write_bytes(directory / GRADIENTS, np.savez, **arrays)
    if predictions is not None:
        written.append(PREDICTIONS)
        _write_bytes(directory / PREDICTIONS, np.savez, **predictions)
    (directory / WEIGHTS).unlink(missing_ok=True)
    if network is not None and not failed:
        weights = {name: tensor.cpu() for name, tensor in network.state_dict().items()}
        _write_bytes(directory / WEIGHTS, lambda handle, content: torch.save(content, handle), weights)
    if history.items:
        written.append(ITEMS)
        reported = chosen(history.metrics, training["report"])
        _write_items(directory / ITEMS, history, reported["iteration"] if reported else None)
    status = "failed" if failed else "finished" if history.diverged_at is None else "diverged"
    record = _record(about, history, network, training, status, norms)
    with atomic(directory / "run.json") as handle:
        json.dump(with_checksums(record, directory, written), handle, indent=2)
        handle.write("\n")
    (directory / UNDERWAY).unlink(missing_ok=True)


def _record(
    about: Mapping[str, object],
    history: History,
    network: nn.Module | None,
    training: Training,
    status: str,
    norms: ArrayLike,
) -> dict[str, object]:
    """The content of run.json, or of underway.json before it."""
    reported = chosen(history.metrics, training["report"])
    if reported:
        reported["metrics"] |= of_history(history.metrics, norms)
    return {
        **about,
        "commit": history.commit,
        "peak_memory_mb": history.peak_memory,
        "parameters": None if network is None else sum(parameter.numel() for parameter in network.parameters()),
        "status": status,
        "diverged_at": history.diverged_at,
        "failure": history.failure,
        "averaged_since": history.averaged_since,
        "reported": reported,
        "iterations": history.iteration,
        "seconds": {"training": history.training_seconds, "evaluation": history.evaluation_seconds},
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}
        | preloaded(),
    }


def preloaded() -> dict[str, str]:
    """The libraries that the loader puts before torch's, whose arithmetic they can change; nothing without any."""
    paths = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    return {"preloaded": ", ".join(Path(path).name for path in paths)} if paths else {}


class UnderWayWriter:
    """Writes underway.json, the record and evaluations so far; called after every step and evaluation of a training.

    A run goes on where a disk is full or away: its checkpoint, which matters, says so. Its arguments are those of
    `write`.
    """

    def __init__(self, directory: Path, about: Mapping[str, object], network: nn.Module, training: Training):
        self.directory, self.about, self.network, self.training = directory, about, network, training
        self.began = self.written = time.monotonic()
        self.done_before = -1  # iterations, of a run that is continued
        self.longest_pause = SECONDS

    def __call__(self, history: History, schedule: AnySchedule) -> None:
        now = time.monotonic()
        if self.done_before < 0:
            self.done_before = history.iteration
        if now < self.written + SECONDS:
            return
        self.longest_pause, self.written = max(self.longest_pause, now - self.written), now
        with contextlib.suppress(OSError):
            self._write(history, schedule)

    def _write(self, history: History, schedule: AnySchedule) -> None:
        (self.directory / "run.json").unlink(missing_ok=True)  # of another specification, code or data
        under_way = {
            "iterations": schedule.iterations,  # of the whole run, as are its epochs
            "epochs": schedule.epochs(schedule.iterations),
            "epoch": schedule.epochs(history.iteration),
            "evaluations": history.metrics,
            "losses": history.losses[-LOSSES:],
            "pace": (history.iteration - self.done_before) / (self.written - self.began),  # per second since it began
            "longest_pause": self.longest_pause,  # seconds between two writings
        }
        record = _record(self.about, history, self.network, self.training, "running", [])
        with atomic(self.directory / UNDERWAY) as handle:
            handle.write(json.dumps({**record, "under_way": under_way}))


def _write_items(path: Path, history: History, reported: float | None) -> None:
    """Write the arrays by "<iteration>.<name>". Beyond `MOST` bytes the evaluations' last arrays are left out, those of
    the reported one after the others'."""
    arrays = [
        (rank, iteration != reported, f"{iteration}.{name}", array.numpy())
        for iteration, items in history.items.items()
        for rank, (name, array) in enumerate(items.items())
    ]
    arrays.sort(key=lambda each: each[:3])
    while True:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:  # numpy's own takes a quarter more
            for *_, name, array in arrays:
                with archive.open(f"{name}.npy", "w") as member:
                    np.lib.format.write_array(member, array)
        if buffer.tell() <= MOST or not arrays:
            break
        arrays.pop()
    with atomic(path, "wb") as handle:
        handle.write(buffer.getbuffer())


def _write_bytes(path: Path, save: Callable[..., None], *content: object, **arrays: np.ndarray) -> None:
    """Write a file in one piece: on a full disk, numpy and torch themselves raise errors that do not name the disk."""
    buffer = io.BytesIO()
    save(buffer, *content, **arrays)
    with atomic(path, "wb") as handle:
        handle.write(buffer.getbuffer())


def _write_csv(path: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Write a line per row; a cell is empty where its row has no such number (a test is made once)."""
    write_rows(path, list(dict.fromkeys(name for row in rows for name in row)) or ["iteration"], rows)
