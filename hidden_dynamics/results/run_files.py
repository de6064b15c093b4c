"""The files of a finished run, read where their SHA-256 is that of the run's record (run.json).

Nothing else opens them; `results.writing` writes them, and `results.record` types the record.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.equal_code import equals_of
from hidden_dynamics.configuration.runs import GRADIENTS, PREDICTIONS, WEIGHTS, Run, code_of, outputs_of, without_length
from hidden_dynamics.configuration.spec import Spec
from hidden_dynamics.errors import UserError
from hidden_dynamics.results import first_epochs
from hidden_dynamics.results.rows import read_rows

RECORD = "run.json"
UNDERWAY = "underway.json"  # what run.json will be, as far as it is known; it goes when that comes
ITEMS = "items.npz"  # no output that a rule asks for: runs that were published before have none


@dataclass(frozen=True)
class RunFiles:
    """A run's directory, of which the first `epochs` are looked at, as if it had been trained no longer; or all.

    Every method raises `UserError`, which names the file and what to do, where its file is missing or was altered since
    the run wrote it, or where a longer training has left behind what is asked.
    """

    directory: Path
    epochs: float | None = None

    def record(self) -> dict[str, Any]:
        """The content of run.json; of a run that was trained longer, as it would have been."""
        record = verified(self.directory / RECORD)
        if self.epochs is None or record["spec"]["training"]["epochs"] <= self.epochs or self._end is None:
            return record
        norms = self.gradients()[1] if GRADIENTS in record["files"] else ()
        shortened = first_epochs.record_of(record, self.metrics(), self.clock(), norms, self.epochs)
        tested = first_epochs.tested_alone(_reported_in(record), self._evaluations())
        if (record["failure"] or {}).get("during") == "test":
            tested = _reported_in(record)
            shortened |= {name: record[name] for name in ("status", "diverged_at", "failure")}
        if shortened["reported"] and tested not in (None, _reported_in(shortened)):
            raise self._left_behind("the test of their best evaluation was not made")
        if tested is None and "solver" in shortened:  # whose weights are of a later epoch
            shortened["solver"] = None
        return shortened

    def metrics(self) -> list[dict[str, float]]:
        """The evaluations: iteration, epoch and metrics by name; what was not measured at one is not there.

        Empty where the run diverged before its first evaluation.
        """
        end = self._end or math.inf
        return [row for row in self._evaluations() if row["iteration"] <= end]

    def evaluations(self, metric: str, against: str = "iteration") -> tuple[NDArray, NDArray]:
        """(iteration or epoch, metric) of the evaluations that measured it, each (k,) float64; a `UserError` where none
        of them did."""
        rows = self.metrics()
        measured = [(row[against], row[metric]) for row in rows if metric in row]
        if rows and not measured:
            path = self.directory / "metrics.csv"
            raise UserError(f"{path} has no {metric}: its task does not measure it.", file=path)
        x, y = np.array(measured, dtype=np.float64).reshape(-1, 2).T
        return x, y

    def train_loss(self) -> NDArray:
        """(iterations,) float64, the loss of every minibatch, from iteration 1 on."""
        return np.load(self._path("train_loss.npy"))[: self._end]

    def clock(self) -> list[dict[str, float]]:
        """`iteration`, and the `training_seconds` and `evaluation_seconds` until then, of every evaluation."""
        end = self._end or math.inf
        return [row for row in _numbers(self._path("clock.csv")) if row["iteration"] <= end]

    def progress(self, metric: str, target: float) -> tuple[float | None, float | None, float | None]:
        """Epochs and minutes of training until the first evaluation at a target or above, None where there was none;
        the highest value of the metric, None without an evaluation."""
        iterations, values = self.evaluations(metric)
        epochs, _ = self.evaluations(metric, "epoch")
        seconds = {row["iteration"]: row["training_seconds"] for row in self.clock()}
        best = float(values.max()) if values.size else None
        for iteration, epoch, value in zip(iterations, epochs, values, strict=True):
            if value >= target:
                return float(epoch), seconds[iteration] / 60, best
        return None, None, best

    def gradients(self) -> tuple[NDArray, NDArray]:
        """Evenly spaced iterations (k,), counted from 0, and ||dL/dh_t||_2 at each of them, (k, T)."""
        arrays = self._arrays(GRADIENTS)
        there = arrays["iterations"] < (self._end or math.inf)
        return arrays["iterations"][there], arrays["norms"][there]

    def predictions(self) -> dict[str, NDArray]:
        """The reported weights' answers on the test set, as the task's `predictions` gives them.

        Empty where no evaluation gave a finite number, or a solver failed on the test set.
        """
        self.check_weights()
        return self._arrays(PREDICTIONS)

    def check_weights(self) -> None:
        """A `UserError` where the weights that the run left are not those that it would have after its first epochs."""
        self.record()
        reported = _reported_in(verified(self.directory / RECORD))
        if self._end is not None and first_epochs.tested_alone(reported, self._evaluations()) is None:
            raise self._left_behind("their weights are gone")

    @property
    def _end(self) -> int | None:
        """The iterations in the epochs that are looked at; None: all."""
        if self.epochs is None or self._epochs() <= self.epochs:
            return None
        ends = (int(row["iteration"]) for row in self._evaluations() if row["epoch"] == self.epochs)
        return next(ends, None)  # None: it diverged before

    def _epochs(self) -> float:
        return verified(self.directory / RECORD)["spec"]["training"]["epochs"]

    def _evaluations(self) -> list[dict[str, float]]:
        return _numbers(self._path("metrics.csv"))

    def _left_behind(self, what: str) -> UserError:
        path, there = self.directory / RECORD, self._epochs()
        asked = f"{path} is of {there} epochs, of which the first {self.epochs} are asked for, and {what}"
        remedy = f"ask for {there} epochs, or remove it and its checkpoint to train it anew"
        return UserError(f"{asked}: {remedy}.", path, "training.epochs")

    def items(self) -> dict[int, dict[str, NDArray]]:
        """The answers on each item of the test set, by the iteration of the evaluation, then by name; see the task's
        `items`. They are of the reported evaluation, and of the last, where its weights could be tested."""
        path = self.directory / ITEMS
        if ITEMS not in self.record()["files"]:
            text = f"{path} is none of its run's files: its task keeps no items, or it ran before items were kept."
            raise UserError(text, file=path)
        kept: dict[int, dict[str, NDArray]] = {}
        end = self._end or math.inf
        for key, array in self._arrays(ITEMS).items():
            iteration, _, name = key.partition(".")
            if int(iteration) <= end:
                kept.setdefault(int(iteration), {})[name] = array
        return kept

    def _arrays(self, name: str) -> dict[str, NDArray]:
        with np.load(self._path(name)) as arrays:
            return dict(arrays)

    def _path(self, name: str) -> Path:
        path = self.directory / name
        verified(path)
        return path


def _reported_in(record: Mapping[str, Mapping[str, int] | None]) -> int | None:
    return (record["reported"] or {}).get("iteration")


def is_finished(configuration: Configuration, run: Run, data: str | None = None) -> bool:
    """True where a run's files are there, of its specification and code, as long as it is to be, and not of a run that
    failed; and of data of this digest, where one is given."""
    directory = Path(run.directory)
    if not all((directory / name).is_file() for name in outputs_of(configuration, run.task)):
        return False
    try:
        record = verified(directory / RECORD)
        same = not disagreement(run, record) and data in (None, record["dataset"]["digest"])
        return record["status"] != "failed" and same and is_long_enough(run, record)
    except UserError:
        return False


def disagreement(run: Run, record: Mapping[str, Any]) -> str:
    """The part of a record that is not as the run is configured and coded now: "specification", "code", or ""."""
    if _differing(run, record["spec"]):
        return "specification"
    return "" if record["code"] in equals_of(code_of(run)) else "code"


def is_long_enough(run: Run, record: Mapping[str, Any]) -> bool:
    """True where a record of the run has its epochs, or more; or diverged, which a longer training would, too."""
    diverged = record["status"] == "diverged" and (record["failure"] or {}).get("during") != "test"
    return diverged or record["spec"]["training"]["epochs"] >= run.epochs


def is_to_grow(run: Run) -> bool:
    """True where the record that is there is of the first part of the run alone."""
    try:
        record = verified(Path(run.directory, RECORD))
    except (UserError, OSError):  # it is not there; or it was altered, which is said where it is read
        return False
    return not _differing(run, record["spec"]) and not is_long_enough(run, record)


def check_is_of(run: Run, record: Mapping[str, Any], path: Path) -> None:
    """Refuse a record (of `path`) of another run, or of this one specified otherwise than it is configured:
    a `UserError` that says what differs."""
    if record["run"] != run.id:
        raise UserError(f"{path} describes {record['run']}, not {run.id}: {_remedy(path)}", file=path)
    if differing := _differing(run, record["spec"]):
        remedy = f"give the settings that it was trained with, or remove {path} and train it anew"
        text = f"{path}: its run's {', '.join(differing)} differ from what is configured: {remedy}."
        raise UserError(text, file=path, key=", ".join(f"spec.{key}" for key in differing))


def _differing(run: Run, spec: Spec) -> list[str]:
    """The parts of a recorded specification that are not as the run is configured."""
    recorded, configured = without_length(spec), json.loads(json.dumps(without_length(run.spec)))
    return sorted(key for key in {*configured, *recorded} if configured.get(key) != recorded.get(key))


def with_checksums(record: Mapping[str, object], directory: Path, names: Iterable[str]) -> dict[str, Any]:
    """`record` with the SHA-256 of the files `names` in `directory`, and with its own (`checksum`)."""
    record = {**record, "files": {name: _sha256(directory / name) for name in names}}
    return {**record, "checksum": _checksum_of(record)}


def verified(path: Path) -> dict[str, Any]:
    """The record of a run, `path` or the one beside it, where both are what the run left behind; a `UserError` where
    one is missing or was altered."""
    record_path = path.with_name(RECORD)
    try:
        record = json.loads(record_path.read_bytes())
        if _checksum_of({name: value for name, value in record.items() if name != "checksum"}) != record["checksum"]:
            raise _altered(record_path, "its checksum")
        if path != record_path and _sha256(path) != record["files"].get(path.name):
            raise _altered(path, f"its digest in {RECORD}")
        return record
    except FileNotFoundError as error:
        text = f"{error.filename} is missing: its run has not finished, or it was removed; run snakemake again."
        raise UserError(text, file=error.filename) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{record_path} is not readable ({error!r}): {_remedy(record_path)}", record_path) from None


def _remedy(path: Path) -> str:
    """The remedy for a damaged file of a run, in words; nothing is trained while its checkpoint or record is whole."""
    gone = path.with_name(RECORD) if path.name == WEIGHTS else path  # Snakemake does not know of the weights
    how = "which restores it from the run's checkpoint or record, or trains it"
    return f"remove {gone} and run snakemake again (or: snakemake {gone}), {how}."


def _altered(path: Path, what: str) -> UserError:
    return UserError(f"{path} was altered since its run wrote it ({what} differs): {_remedy(path)}", file=path)


def _checksum_of(record: Mapping[str, object]) -> str:
    as_read = json.loads(json.dumps(record))
    return hashlib.sha256(json.dumps(as_read, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _numbers(path: Path) -> list[dict[str, float]]:
    return [{name: float(cell) for name, cell in row.items() if cell != ""} for row in read_rows(path)]
