"""The files of a finished run, read and verified; nothing else opens them (`results.writing` writes them)."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import GRADIENTS, PREDICTIONS, Run, outputs_of
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.checksums import RECORD, verified


class Progress(NamedTuple):
    """Epochs and minutes of training until the first evaluation at a target or above, None where there was none; the
    highest value of the metric, None without an evaluation."""

    epochs: float | None
    minutes: float | None
    best: float | None


@dataclass(frozen=True)
class RunFiles:
    """A run's directory.

    Every method raises `UserError`, which names the file and what to do, where its file is missing or was altered since
    the run wrote it: run.json has the digests of all of them.
    """

    directory: Path

    def record(self) -> dict[str, Any]:
        """The content of run.json."""
        return verified(self.directory / RECORD)

    def metrics(self) -> list[dict[str, float]]:
        """The evaluations: iteration, epoch and metrics by name; what was not measured at one is not there.

        None where the run diverged before its first evaluation.
        """
        return _numbers(self._path("metrics.csv"))

    def evaluations(self, metric: str, against: str = "iteration") -> tuple[NDArray, NDArray]:
        """(iteration or epoch, metric) of the evaluations that measured it, each (k,) float64.

        Raises:
            UserError: none of them did.
        """
        rows = self.metrics()
        measured = [(row[against], row[metric]) for row in rows if metric in row]
        if rows and not measured:
            path = self.directory / "metrics.csv"
            raise UserError(f"{path} has no {metric}: its task does not measure it.", file=path)
        x, y = np.array(measured, dtype=np.float64).reshape(-1, 2).T
        return x, y

    def train_loss(self) -> NDArray:
        """(iterations,) float64, the loss of every minibatch, from iteration 1 on."""
        return np.load(self._path("train_loss.npy"))

    def clock(self) -> list[dict[str, float]]:
        """`iteration` and the `training_seconds` until then, evaluations left out, of every evaluation."""
        return _numbers(self._path("clock.csv"))

    def progress(self, metric: str, target: float) -> Progress:
        """The way to a value of a metric, by the evaluations and their clock."""
        iterations, values = self.evaluations(metric)
        epochs, _ = self.evaluations(metric, "epoch")
        seconds = {row["iteration"]: row["training_seconds"] for row in self.clock()}
        best = float(values.max()) if values.size else None
        for iteration, epoch, value in zip(iterations, epochs, values, strict=True):
            if value >= target:
                return Progress(float(epoch), seconds[iteration] / 60, best)
        return Progress(None, None, best)

    def gradients(self) -> tuple[NDArray, NDArray]:
        """Evenly spaced iterations (k,), counted from 0, and ||dL/dh_t||_2 at each of them, (k, T)."""
        arrays = self._arrays(GRADIENTS)
        return arrays["iterations"], arrays["norms"]

    def predictions(self) -> dict[str, NDArray]:
        """The reported weights' answers on the test set, as the task's `predictions` gives them.

        Empty where no evaluation gave a finite number, or a solver failed on the test set.
        """
        return self._arrays(PREDICTIONS)

    def _arrays(self, name: str) -> dict[str, NDArray]:
        with np.load(self._path(name)) as arrays:
            return dict(arrays)

    def _path(self, name: str) -> Path:
        path = self.directory / name
        verified(path)
        return path


def is_finished(configuration: Configuration, run: Run) -> bool:
    """True where a run's files are there, of its specification and code; the record names the data."""
    directory = Path(run.directory)
    if not all((directory / name).is_file() for name in outputs_of(configuration, run.task)):
        return False
    try:
        return not disagreement(run, verified(directory / RECORD))
    except UserError:
        return False


def disagreement(run: Run, record: Mapping[str, Any]) -> str:
    """What of a record is not the run's as it is configured and coded now: "specification", "code", or nothing."""
    if record["spec"] != json.loads(json.dumps(run.spec)):
        return "specification"
    return "" if record["fingerprint"] == run.fingerprint(record["dataset"]["digest"]) else "code"


def _numbers(path: Path) -> list[dict[str, float]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return [{name: float(cell) for name, cell in row.items() if cell != ""} for row in csv.DictReader(handle)]
