"""Made-up runs of an artifact, as rows of its summary and costs, and the verdicts on them."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from hidden_dynamics.claims.comparisons import Claimed, all_claims
from hidden_dynamics.claims.evidence import Evidence
from made import costs_of, row_of
from numpy.typing import NDArray

from hidden_dynamics.artifacts import Artifact, artifact_named
from hidden_dynamics.claims.claim import BY_CLOCKS, Claim
from hidden_dynamics.claims.judge import Judged, judge, verdicts
from hidden_dynamics.configuration.runs import Cell, Run, resolve
from hidden_dynamics.papers.published import Number

SPREAD = (-0.1, 0.05, 0.0, 0.1, -0.05)
TIMES_TABLE = "momentumrnn_table16"  # of MomentumLSTM and LSTM with 256 hidden units; its target is one of minutes
BLOCKS = {"default": "published", "permutation": "released"}  # readings by which a seed has data of its own
CELLS = [Cell(task, model, 256) for task in ("pmnist", "mnist") for model in ("momentum_lstm", "lstm")]
METRICS = {BY_CLOCKS: BY_CLOCKS, "overfitting": "test_loss"}
PATTERN = (0.0, -1.0, 1.0, -0.9, 0.9, -1.1, 1.1)  # without the first, the deviations from the median are alike, too
Numbers = Sequence[float | None]  # by seed; None of a run that diverged


def times_table(configured: Callable, **settings: Any) -> Artifact:
    """`TIMES_TABLE` at the paper's scale."""
    return artifact_named(configured(scale="paper", **settings), TIMES_TABLE)


def run_of(artifact: Artifact, model="lstm", task="mnist", size=128, seed=0) -> Run:
    return resolve(artifact.configuration, task, model, size, seed)


def evaluation(run: Run, **measured: float) -> list[dict[str, float]]:
    """One, at which the run has the given metrics, and some number of the one that it reports."""
    return [{"iteration": 10, "epoch": 1.0, run.spec["training"]["report"]["metric"]: 0.5} | measured]


def summary_row(artifact: Artifact, run: Run, diverged=False, measured: dict | None = None) -> dict[str, str]:
    """The row of a summary."""
    about = {"evaluations": evaluation(run, **(measured or {})), "diverged_at": 5 if diverged else None}
    return row_of(artifact.configuration, run, artifact.name, **about)


def seeds(
    artifact: Artifact,
    model: str,
    mean: float,
    size=128,
    task="mnist",
    metric="test_accuracy",
    spread: Iterable[float] = SPREAD,
    diverged: Iterable[int] = (),
) -> list[dict[str, str]]:
    """Rows whose metric, in the unit that it is shown in, has a mean."""
    factor = artifact.configuration.metrics[metric].factor
    runs = [run_of(artifact, model, task, size, seed) for seed, _ in enumerate(spread)]
    numbers = [(mean + offset) / factor for offset in spread]
    return [
        summary_row(artifact, run, run.seed in diverged, {metric: number})
        for run, number in zip(runs, numbers, strict=True)
    ]


def claimed(artifact: Artifact) -> Claimed:
    """The claims on an artifact, as if there were no other one."""
    return all_claims({artifact.name: artifact})[artifact.name]


def judged(artifact: Artifact, rows=(), costs=(), root=None) -> dict[str, dict]:
    """The verdicts by their claims' ids; without a root, where the runs' files are, those on numbers alone."""
    claims = claimed(artifact).here
    if root is None:
        claims = [claim for claim in claims if claim.kind not in ("faster", "overfitting", "gradients", "reaches")]
    evidence = Evidence(rows, costs, root) if root else Evidence(rows, costs)
    return {row["id"]: row for row in verdicts(artifact, Claimed(claims, []), evidence)}


def cost(artifact: Artifact, model: str, quantity: str, ratio: float, low="", high="", **changes) -> dict[str, str]:
    about = {"ratio": str(ratio), "ratio_low": str(low), "ratio_high": str(high), "rounds": "20" if low else "1"}
    rows = costs_of(artifact)
    return next(row for row in rows if (row["model"], row["quantity"]) == (model, quantity)) | about | changes


# Two models of whose runs one number each is told


@dataclass(frozen=True)
class Told:
    """The files of a run, of which one number is told."""

    number: float

    def train_loss(self) -> NDArray:
        """It falls like the reciprocal of the iterations, so many times later."""
        return 1 / (1 + np.arange(1000) / self.number)

    def gradients(self) -> tuple[None, NDArray]:
        """The number is the share of the first quarter in the last."""
        return None, np.array([[self.number, 1.0, 1.0, 1.0]])

    def evaluations(self, metric: str) -> tuple[None, NDArray]:
        """The number is the rise above the lowest, which is 1."""
        return None, np.array([1.0, 1.0 + self.number])

    def progress(self, metric: str, target: float) -> SimpleNamespace:
        """The number is the minutes to any target; it is infinite of a run that misses it in its one minute."""
        return SimpleNamespace(minutes=None if math.isinf(self.number) else self.number)


@dataclass(frozen=True)
class OfFiles(Evidence):
    """Evidence whose runs' files are told, by directory."""

    told: dict[str, float] = field(default_factory=dict)

    def _files(self, row: dict[str, str]) -> Told:
        return Told(self.told[row["directory"]])


def claim_of(kind: str, printed: tuple[float, ...] = (), swapped: bool = False, **more) -> Claim:
    """MomentumLSTM against LSTM, or swapped; of a gain, on PMNIST more than on MNIST. One by clocks is of times."""
    two = CELLS[1::-1] if swapped else CELLS[:2]
    numbers = tuple(Number(number, 0.1) for number in printed) + (None,) * (2 - len(printed))
    return Claim(
        **{"id": kind, "artifact": TIMES_TABLE, "source": "here", "says": "so", "statement": "so"},
        kind="ratio" if kind == BY_CLOCKS else kind,
        task="pmnist",
        metric=METRICS.get(kind, "test_accuracy"),
        subject=two[0],
        reference=None if kind in ("value", "reaches") else two[1],
        than=tuple(CELLS[2:]) if kind == "gain" else (),
        printed=numbers,
        **more,
    )


def evidence_of(table: Artifact, *sides: Numbers) -> OfFiles:
    """Of the cells in their order; a number is an accuracy in percent, or what each kind takes from a run's files."""
    rows, told = [], {}
    for cell, numbers in zip(CELLS, sides, strict=False):
        for seed, number in enumerate(numbers):
            run = run_of(table, cell.model, cell.task, cell.size, seed)
            rows.append(summary_row(table, run, number is None, {"test_accuracy": (number or 0.0) / 100}))
            told[rows[-1]["directory"]] = number
    return OfFiles(rows, told=told)


def judged_of(table: Artifact, claim: Claim, *sides: Numbers) -> Judged:
    (found,) = judge(table, [claim], evidence_of(table, *sides))
    return found


def around(mean: float, spread: float) -> list[float]:
    return [mean + spread * offset for offset in PATTERN]


def g_of(one: Sequence[float], other: Sequence[float]) -> float:
    """Hedges' g of two samples of one size, by hand."""
    m = 2 * len(one) - 2
    pooled = math.sqrt((np.var(one, ddof=1) + np.var(other, ddof=1)) / 2)
    return (np.mean(one) - np.mean(other)) / pooled * math.gamma(m / 2) / math.sqrt(m / 2) / math.gamma((m - 1) / 2)
