"""How far a run got on the way to an accuracy, from its metrics.csv and clock.csv; quick to import: no pandas."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.errors import UserError
from hidden_dynamics.results.seals import check

AGAIN = "remove its run.json and run snakemake again"


@dataclass(frozen=True)
class Progress:
    """How far one run got.

    Attributes:
        epochs, minutes: of training until the first evaluation at the target or above; None where there was none.
        best: the highest value of the metric; None without an evaluation.
    """

    epochs: float | None
    minutes: float | None
    best: float | None


def progress_of(directory: Path, metric: str, target: float) -> Progress:
    """What a run's metrics.csv and clock.csv say of its way to the target.

    Raises:
        UserError: a file is missing or cannot be read, or they do not belong together.
    """
    metrics = _read(directory / "metrics.csv", ("iteration", "epoch", metric))
    clock = _read(directory / "clock.csv", ("iteration", "training_seconds"))
    seconds = {row["iteration"]: row["training_seconds"] for row in clock}
    for row in metrics:
        if row[metric] >= target:
            if row["iteration"] not in seconds:
                raise UserError(f"{directory / 'clock.csv'} lacks iteration {row['iteration']:.0f}: {AGAIN}.")
            best = max(row[metric] for row in metrics)
            return Progress(row["epoch"], seconds[row["iteration"]] / 60, best)
    return Progress(None, None, max((row[metric] for row in metrics), default=None))


def _read(path: Path, columns: Sequence[str]) -> list[dict[str, float]]:
    """Rows of numbers; none where the run diverged before its first evaluation."""
    check(path)
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            return [{column: float(row[column]) for column in columns} for row in csv.DictReader(handle)]
    except FileNotFoundError:
        raise UserError(f"{path} is missing: {AGAIN}.") from None
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({type(error).__name__}: {error}): {AGAIN}.") from None
