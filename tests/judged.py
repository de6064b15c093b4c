"""Made-up runs of an artifact, as rows of its summary and costs, and the verdicts on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from made import costs_of, row_of

from hidden_dynamics.artifacts import Artifact, artifact_named
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.expand import all_claims
from hidden_dynamics.claims.judge import verdicts
from hidden_dynamics.claims.samples import Evidence
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run, resolve

SPREAD = (-0.1, 0.05, 0.0, 0.1, -0.05)
TABLE = "momentumrnn_table11"  # of five LSTMs with 128 hidden units, on MNIST and PMNIST
PAIR = "mnist:test_accuracy:momentum_lstm-128:lstm-128"
NAIVE = {"test_accuracy": {"majority class": 0.1135}}


def asking(configuration: Configuration) -> Configuration:
    """A scale that asks for directions where its runs deviate from the paper's."""
    return replace(configuration, scale=configuration.scale.model_copy(update={"directions": True}))


def run_of(artifact: Artifact, model="lstm", task="mnist", size=128, seed=0) -> Run:
    return resolve(artifact.configuration, task, model, size, seed)


def evaluation(run: Run, **measured: float) -> list[dict[str, float]]:
    """One, at which the run has the given metrics, and some number of the one that it reports."""
    return [{"iteration": 10, "epoch": 1.0, run.spec["training"]["report"]["metric"]: 0.5} | measured]


def seeds(
    artifact: Artifact,
    model: str,
    mean: float,
    size=128,
    task="mnist",
    metric="test_accuracy",
    spread: Iterable[float] = SPREAD,
    diverged: Iterable[int] = (),
    naive: Mapping[str, Mapping[str, float]] = NAIVE,
) -> list[dict[str, str]]:
    """Rows whose metric, in the unit that it is shown in, has a mean."""
    factor, rows = artifact.configuration.metrics[metric].factor, []
    for seed, offset in enumerate(spread):
        run = run_of(artifact, model, task, size, seed)
        measured = evaluation(run, **{metric: (mean + offset) / factor})
        about = {"evaluations": measured, "diverged_at": 5 if seed in diverged else None, "naive": naive}
        rows.append(row_of(artifact.configuration, run, **about))
    return rows


def claimed(artifact: Artifact) -> list[Claim]:
    """The claims on an artifact, as if there were no other one."""
    return all_claims({artifact.name: artifact})[artifact.name]


def judged(
    artifact: Artifact, rows: Sequence = (), costs: Sequence = (), root: Path | None = None
) -> dict[str, dict[str, Any]]:
    """The verdicts by their claims' ids; without a root, where the runs' files are, those on numbers alone."""
    claims = [claim for claim in claimed(artifact) if root or claim.kind != "faster"]
    return {row["id"]: row for row in verdicts(Evidence(artifact, rows, costs, root or Path()), claims)}


def against_lstm(artifact: Artifact, *rows: Sequence) -> dict[str, Any]:
    """The verdict on MomentumLSTM's accuracy on MNIST."""
    found = judged(artifact, [row for some in rows for row in some])
    return next(row for name, row in found.items() if row["kind"] == "better" and name.endswith(PAIR))


def cost(artifact: Artifact, model: str, quantity: str, ratios: Sequence[float], **changes: str) -> list[dict]:
    """A row for each process."""
    rows = costs_of(artifact)
    row = next(row for row in rows if (row["model"], row["quantity"]) == (model, quantity))
    timed = {"implementation": row["label"], "reference_implementation": "LSTM"}
    return [row | timed | {"process": str(i), "ratio": str(ratio)} | changes for i, ratio in enumerate(ratios)]


def at(configured: Callable, name: str = TABLE, scale: str = "paper", **settings: Any) -> Artifact:
    return artifact_named(configured(scale=scale, **settings), name)
