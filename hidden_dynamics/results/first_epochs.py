"""The first epochs of a run that was trained longer: its record as it would have been, had it ended there."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from hidden_dynamics.training.reported import chosen, of_history

Metrics = Sequence[Mapping[str, float]]


def record_of(
    record: Mapping[str, Any], metrics: Metrics, clock: Metrics, norms: ArrayLike, epochs: float
) -> dict[str, Any]:
    """The record of a run after its first epochs, the last of which was evaluated, from that of the whole run.

    Args:
        metrics, clock: the evaluations in the first epochs.
        norms: of the gradients recorded in them, as `hidden_dynamics.training.reported.of_history` takes them.
    """
    training, since = {**record["spec"]["training"], "epochs": epochs}, record["averaged_since"]
    reported, end = chosen(metrics, training["report"]), int(metrics[-1]["iteration"])
    if reported:
        reported["metrics"] |= of_history(metrics, norms)
    return {
        **record,
        "spec": {**record["spec"], "training": training},
        "status": "finished",
        "diverged_at": None,
        "failure": None,
        "averaged_since": since if since is not None and since <= end else None,
        "reported": reported,
        "iterations": end,
        "seconds": {name: clock[-1][f"{name}_seconds"] for name in record["seconds"]},
    }


def tested_alone(reported: int | None, metrics: Metrics) -> int | None:
    """The iteration that the whole run reports, if its weights were kept and tested at the end; None where each
    evaluation was of the test set."""
    others = {name for row in metrics if row["iteration"] != reported for name in row}
    alone = any(row["iteration"] == reported and row.keys() - others for row in metrics) and bool(others)
    return reported if alone else None
