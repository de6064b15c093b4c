"""The demo's runs made up, as finished results of some artifacts, drawn and judged; and their publication."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import render_claims
import restore
from judged import SPREAD
from made import costs_of, features_of, jacobian_of, make_run, write_floors, write_inputs

from hidden_dynamics.artifacts import Artifact, load_artifacts, load_claimed
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run, all_runs, code_of
from hidden_dynamics.pages import index
from hidden_dynamics.publication import publishing

TABLE, COSTS, GRADIENTS = "momentumrnn_table11", "momentumrnn_table14", "momentumrnn_figure2"
IMAGES, PATIENT = "acenode_table5", "acenode_figure6"
JACOBIAN = "momentumrnn_jacobian"  # without runs
UNANSWERED = "acenode_attention"  # a question, with one seed: no picture
ARTIFACTS = (TABLE, COSTS, GRADIENTS, IMAGES, PATIENT, UNANSWERED, "momentumrnn_table7", JACOBIAN)
LEVELS = {"momentum_lstm": 0.9, "adam_lstm": 0.1, "ace_latent_ode": 0.8}  # of the others, 0.5
FLOORS = {"pmnist": {"test_accuracy": {"logistic regression": 0.9209}}}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
METRICS = ("train_loss", "test_loss", "test_accuracy", "test_auc", "test_average_precision", "test_calibration_error")


@dataclass(frozen=True)
class Published:
    """Finished results under `root`, their publication there, and its files."""

    root: Path
    configuration: Configuration
    files: dict[str, bytes]

    @property
    def directory(self) -> Path:
        return self.root / self.configuration.published_in

    @property
    def results(self) -> Path:
        return self.root / self.configuration.results


@contextmanager
def few_artifacts(names: Sequence[str] = ARTIFACTS) -> Iterator[None]:
    """These artifacts alone are drawn and published, and the claims on them alone are judged."""

    def few(configuration: Configuration) -> dict[str, Artifact]:
        return {name: artifact for name, artifact in load_artifacts(configuration).items() if name in names}

    def few_claimed(configuration: Configuration) -> dict[str, Artifact]:
        return {name: artifact for name, artifact in load_claimed(configuration).items() if name in names}

    with pytest.MonkeyPatch.context() as patch:
        for module in (restore, publishing, index):
            patch.setattr(module, "load_artifacts", few)
        for script in (restore, render_claims):
            patch.setattr(script, "load_claimed", few_claimed)
        yield


def results_of(
    configuration: Configuration,
    root: Path,
    names: Sequence[str] = ARTIFACTS,
    more: Callable[[Run], dict[str, Any]] = lambda run: {},
    ratios: Mapping[str, float] | None = None,
) -> Published:
    """Results of the configured runs under `root`, drawn, judged and published there.

    Args:
        names: of the artifacts.
        more: what else a run reports, or otherwise than `about` has it.
        ratios: of costs, by model, as `costs_of` takes them.
    """
    for run in all_runs(configuration):
        make_run(root, configuration, run, **(about(run) | more(run)))
    artifacts = load_artifacts(configuration)
    write_inputs(root, artifacts[COSTS], costs=costs_of(artifacts[COSTS], ratios))
    write_inputs(root, artifacts[JACOBIAN], jacobian=jacobian_of())
    write_floors(root, artifacts[TABLE], FLOORS)
    if IMAGES in artifacts:
        silhouettes = {run.model: [0.3 + value for value in SPREAD] for run in artifacts[IMAGES].runs}
        write_inputs(root, artifacts[IMAGES], features=features_of(artifacts[IMAGES], silhouettes, commit=COMMIT))
        np.savez(root / artifacts[IMAGES].inputs()["maps"])
    with few_artifacts(names):
        restore.draw_all(configuration, root)
        files = publishing.publication(configuration, root)
    publishing.publish(files, root / configuration.published_in)
    return Published(root, configuration, files)


def about(run: Run) -> dict:
    """What a run reports, around the level of its model; by the code and the data that are there."""
    value, report = LEVELS.get(run.model, 0.5) + SPREAD[run.seed] / 10, run.spec["training"]["report"]["metric"]
    numbers = dict.fromkeys((*METRICS, report), round(value, 6))
    data = f"digest of {run.spec['dataset']}"
    return {
        "evaluations": [{"iteration": 10, "epoch": 1.0} | numbers],
        "gradients": np.full((5, 20), value) if run.spec["training"].get("record_gradients") else None,
        "commit": COMMIT,
        "code": code_of(run),
        "fingerprint": run.fingerprint(data),
    }
