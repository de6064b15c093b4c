"""Which runs cost the same: they share one measurement."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from hidden_dynamics.configuration import with_text_keys
from hidden_dynamics.configuration.runs import Run

# Numbers that an equation is evaluated with, and choices between permutations, targets and initial values of the same
# shapes. Everything else, that of a model of one's own included, may change what a run costs.
COSTLESS = {
    "hyperparameters": {"mu", "s", "beta", "eps", "forget_bias", "forget_fill", "initialisation", "restart", "phase"},
    "task_settings": {"permutation", "target"},
    "training": {"epochs", "iterations_per_epoch", "evaluate_every", "rates", "report", "averaging"},
}


def group_of(run: Run) -> dict[str, Any]:
    """What of a run's specification an iteration, an evaluation and the files depend on."""
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
    text = json.dumps(with_text_keys(group_of(run)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def representatives(runs: Iterable[Run]) -> dict[str, Run]:
    """The first run of each group, by the group's key."""
    first: dict[str, Run] = {}
    for run in runs:
        first.setdefault(key_of(run), run)
    return first
