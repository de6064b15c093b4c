"""How far a run got on the way to an accuracy, by its evaluations and its clock."""

from dataclasses import dataclass

from hidden_dynamics.errors import UserError
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seals import remedy


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


def progress_of(files: RunFiles, metric: str, target: float) -> Progress:
    """What a run's metrics.csv and clock.csv say of its way to the target.

    Raises:
        UserError: a file is missing or cannot be read, or they do not belong together.
    """
    iterations, values = files.evaluations(metric)
    epochs, _ = files.evaluations(metric, "epoch")
    seconds = {row.get("iteration"): row.get("training_seconds") for row in files.clock()}
    best = float(values.max()) if values.size else None
    for iteration, epoch, value in zip(iterations, epochs, values, strict=True):
        if value >= target:
            if seconds.get(iteration) is None:
                path = files.directory / "clock.csv"
                raise UserError(f"{path} lacks iteration {iteration:.0f}: {remedy(path)}", file=path)
            return Progress(float(epoch), seconds[iteration] / 60, best)
    return Progress(None, None, best)
