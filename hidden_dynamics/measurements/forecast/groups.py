"""Groups of runs that cost the same and share one measurement."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hidden_dynamics.configuration import Configuration, known
from hidden_dynamics.configuration.runs import Run, all_runs

# Numbers that an equation is evaluated with, and choices between permutations, pixels, targets and initial values of
# the same shapes. Everything else, that of a model of one's own included, may change what a run costs.
NUMBERS, STARTS = {"mu", "s", "beta", "eps", "restart", "phase"}, {"forget_bias", "forget_fill", "initialisation"}
COSTLESS = {
    "hyperparameters": NUMBERS | STARTS | {"readout"},
    "task_settings": {"permutation", "pixels", "target"},
    "training": {"epochs", "iterations_per_epoch", "evaluate_every", "rates", "report", "averaging"},
}


def group_of(run: Run) -> dict[str, Any]:
    """The part of a run's specification on which an iteration, an evaluation and the files depend."""
    spec = run.spec
    kept = {
        part: {key: value for key, value in spec[part].items() if key not in costless}
        for part, costless in COSTLESS.items()
    }
    kept["training"]["clip_norm"] = spec["training"].get("clip_norm") is not None
    kept["training"]["optimisers"] = {
        group: {key: value for key, value in optimiser.items() if key != "lr"}
        for group, optimiser in spec["training"]["optimisers"].items()
    }
    return {**kept, **{key: spec[key] for key in ("network", "core", "task_class", "dataset", "data", "precision")}}


def key_of(run: Run) -> str:
    """Name of a run's group in a calibration: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(group_of(run), sort_keys=True).encode()).hexdigest()[:16]


def grouped(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """The runs of each group, by the group's key."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(key_of(run), []).append(run)
    return groups


def chosen(
    configuration: Configuration, runs_of: Mapping[str, Sequence[Run]]
) -> tuple[list[Run], dict[str, Sequence[Run]]]:
    """The runs that the forecast is about, and those of each artifact.

    All configured runs, also those that nothing shows; or where forecast.artifacts names artifacts, what they show.

    Args:
        runs_of: the runs of every artifact.

    Raises:
        UserError: forecast.artifacts names one that is not configured.
    """
    names = configuration.settings.forecast.artifacts
    if names is None:
        return all_runs(configuration), dict(runs_of)
    rows = {known(name, runs_of, "artifact", "config.yaml: forecast.artifacts"): runs_of[name] for name in names}
    return list({run.id: run for runs in rows.values() for run in runs}.values()), rows
