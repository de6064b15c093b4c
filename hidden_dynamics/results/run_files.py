"""The files of a finished run, read and verified; nothing else opens them (`results.writing` writes them)."""

import csv
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import GRADIENTS, PREDICTIONS, Run, outputs_of
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.seals import RECORD, check, remedy

Content = TypeVar("Content")
DAMAGED = (OSError, EOFError, ValueError, KeyError, TypeError, csv.Error, zipfile.BadZipFile)


@dataclass(frozen=True)
class Progress:
    """A run's progress towards an accuracy.

    Attributes:
        epochs, minutes: of training until the first evaluation at the target or above; None where there was none.
        best: the highest value of the metric; None without an evaluation.
    """

    epochs: float | None
    minutes: float | None
    best: float | None


@dataclass(frozen=True)
class RunFiles:
    """A run's directory.

    Every method raises `UserError`, which names the file and what to do, where its file is missing, was altered since
    the run wrote it (run.json vouches for all of them), or is not what it should be.
    """

    directory: Path

    def record(self) -> dict[str, Any]:
        """The content of run.json."""
        return self._read(RECORD, _object)

    def metrics(self) -> list[dict[str, float]]:
        """The evaluations: iteration, epoch and metrics by name; what was not measured at one is not there.

        None where the run diverged before its first evaluation.
        """
        return self._read("metrics.csv", _numbers)

    def evaluations(self, metric: str, against: str = "iteration") -> tuple[NDArray, NDArray]:
        """(iteration or epoch, metric) of the evaluations that measured it, each (k,) float64."""
        rows = self.metrics()
        try:
            measured = [(row[against], row[metric]) for row in rows if metric in row]
        except KeyError:
            raise self._unreadable("metrics.csv", f"an evaluation has no {against}") from None
        if rows and not measured:
            raise self._unreadable("metrics.csv", f"it has no {metric}")
        x, y = np.array(measured, dtype=np.float64).reshape(-1, 2).T
        return x, y

    def train_loss(self) -> NDArray:
        """(iterations,) float64, the loss of every minibatch, from iteration 1 on."""
        losses = self._read("train_loss.npy", _array)
        if losses.ndim != 1 or losses.dtype.kind != "f":
            raise self._unreadable(
                "train_loss.npy", f"expected a row of losses, found shape {losses.shape} of {losses.dtype}"
            )
        return losses.astype(np.float64)

    def clock(self) -> list[dict[str, float]]:
        """`iteration` and the `training_seconds` until then, evaluations left out, of every evaluation."""
        return self._read("clock.csv", _numbers)

    def progress(self, metric: str, target: float) -> Progress:
        """The way to a value of a metric, by the evaluations and their clock."""
        iterations, values = self.evaluations(metric)
        epochs, _ = self.evaluations(metric, "epoch")
        seconds = {row.get("iteration"): row.get("training_seconds") for row in self.clock()}
        best = float(values.max()) if values.size else None
        for iteration, epoch, value in zip(iterations, epochs, values, strict=True):
            if value >= target:
                if seconds.get(iteration) is None:
                    raise self._unreadable("clock.csv", f"it lacks iteration {iteration:.0f}")
                return Progress(float(epoch), seconds[iteration] / 60, best)
        return Progress(None, None, best)

    def gradients(self) -> tuple[NDArray, NDArray]:
        """Evenly spaced iterations (k,), counted from 0, and ||dL/dh_t||_2 at each of them, (k, T)."""
        iterations, norms = self._read(GRADIENTS, _recording)
        if iterations.ndim != 1 or iterations.dtype.kind != "i" or norms.ndim != 2 or norms.dtype.kind != "f":
            found = f"shapes {iterations.shape} and {norms.shape} of {iterations.dtype} and {norms.dtype}"
            raise self._unreadable(GRADIENTS, f"expected iterations (k,) and norms (k, T), found {found}")
        steps = np.diff(iterations)
        if len(iterations) != len(norms) or (steps <= 0).any() or (steps != steps[:1]).any():
            raise self._unreadable(GRADIENTS, "expected a row of norms for each of evenly spaced iterations")
        return iterations, norms

    def predictions(self) -> dict[str, NDArray]:
        """The reported weights' answers on the test set, as the task's `predictions` gives them.

        Empty where no evaluation gave a finite number, or a solver failed on the test set.
        """
        return self._read(PREDICTIONS, _arrays)

    def _read(self, name: str, read: Callable[[Path], Content]) -> Content:
        path = self.directory / name
        check(path)
        try:
            return read(path)
        except FileNotFoundError:
            text = f"{path} is missing: its run has not finished, or it was removed; run snakemake again."
            raise UserError(text, file=path) from None
        except DAMAGED as error:
            raise self._unreadable(name, f"{type(error).__name__}: {error}") from None

    def _unreadable(self, name: str, why: str) -> UserError:
        path = self.directory / name
        return UserError(f"{path} is not readable ({why}): {remedy(path)}", file=path)


def is_finished(configuration: Configuration, run: Run) -> bool:
    """True where a run's files are there, of its specification and code; the record names the data."""
    directory = Path(run.directory)
    if not all((directory / name).is_file() for name in outputs_of(configuration, run.task)):
        return False
    try:
        return not disagreement(run, RunFiles(directory).record())
    except (UserError, KeyError, TypeError):
        return False


def disagreement(run: Run, record: Mapping[str, Any]) -> str:
    """What of a record is not the run's as it is configured and coded now: "specification", "code", or nothing."""
    if record["spec"] != json.loads(json.dumps(run.spec)):
        return "specification"
    return "" if record["fingerprint"] == run.fingerprint(record["dataset"]["digest"]) else "code"


def _object(path: Path) -> dict[str, Any]:
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError("expected an object")
    return content


def _numbers(path: Path) -> list[dict[str, float]]:
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, strict=True))
    return [{name: float(cell) for name, cell in row.items() if cell != ""} for row in rows]


def _arrays(path: Path) -> dict[str, NDArray]:
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def _array(path: Path) -> NDArray:
    return np.load(path, allow_pickle=False)


def _recording(path: Path) -> tuple[NDArray, NDArray]:
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["iterations"], arrays["norms"]
