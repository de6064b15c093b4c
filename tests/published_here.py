"""The demo's runs made up, as finished results of some artifacts, drawn and judged; and their publication."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import restore
from made import make_run, write_beside

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run, all_runs, code_of
from hidden_dynamics.publication import publishing

TABLE, COSTS, GRADIENTS = "momentumrnn_table11", "momentumrnn_table14", "momentumrnn_figure2"
IMAGES, PATIENT = "acenode_table5", "acenode_figure6"
JACOBIAN = "momentumrnn_jacobian"  # without runs
ARTIFACTS = (TABLE, COSTS, GRADIENTS, IMAGES, PATIENT, "momentumrnn_table7", JACOBIAN)
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


def with_few(configuration: Configuration, names: Sequence[str] = ARTIFACTS) -> Configuration:
    """The configuration with these artifacts alone."""
    layers = configuration.artifact_layers
    return replace(configuration, artifact_layers={name: layers[name] for name in names if name in layers})


def results_of(whole: Configuration, root: Path, names: Sequence[str] = ARTIFACTS) -> Published:
    """Results of the configured runs of artifacts of these names under `root`, drawn, judged and published there."""
    configuration = with_few(whole, names)
    for run in all_runs(configuration):
        make_run(root, configuration, run, **about(run))
    for artifact in load_artifacts(configuration).values():
        write_beside(root, artifact, FLOORS)
    restore.draw_all(configuration, root)
    files = publishing.publication(configuration, root)
    publishing.publish(files, root / configuration.published_in)
    return Published(root, configuration, files)


def about(run: Run) -> dict:
    """What a run reports, around the level of its model; by the code and the data that are there."""
    value, report = LEVELS.get(run.model, 0.5) + run.seed / 100, run.spec["training"]["report"]["metric"]
    numbers = dict.fromkeys((*METRICS, report), round(value, 6))
    return {
        "evaluations": [{"iteration": 10, "epoch": 1.0} | numbers],
        "gradients": np.full((5, 20), value) if run.spec["training"].get("record_gradients") else None,
        "commit": COMMIT,
        "code": code_of(run),
        "fingerprint": run.fingerprint(f"digest of {run.spec['dataset']}"),
    }
