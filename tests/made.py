"""Made-up results: finished runs as a training leaves them, and what is made of them, without training anything.

A run's evaluations, losses and end are given by keywords (`record_of`); the rest of it follows from its specification.
`make_run` writes the files, `run_record` and `evidence_of` give what is read of them, `costs_of` and `features_of` rows
of measurements, and `write_beside` puts what an artifact shows beside its runs where it is sought.
"""

import functools
import io
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import GRADIENTS, PREDICTIONS, Run
from hidden_dynamics.results.curves import Curve
from hidden_dynamics.results.evidence import Evidence, with_measured
from hidden_dynamics.results.measured import TIMES, Cost, Features, Floor, GradientNorm, Measured
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.rows import csv_text, write_rows
from hidden_dynamics.results.run_files import RECORD, RunFiles, with_checksums
from hidden_dynamics.results.seeds import FEWEST
from hidden_dynamics.training.reported import chosen, of_history

EVERY = 10  # iterations between evaluations, and of an epoch
FAILED = {"status": "failed", "failure": {"error": "ValueError: no"}}  # of a run's record
BASE_COSTS = {"training_time": 3.0, "evaluation_time": 1.0, "training_memory": 4.0, "evaluation_memory": 2.0}

# Runs


def evaluations_of(run: Run, values: Iterable[float], metric: str | None = None) -> list[dict[str, float]]:
    """An evaluation for each value of a metric, by default the one that the run reports, one an epoch."""
    metric = metric or run.spec["training"]["report"]["metric"]
    return [
        {"iteration": EVERY * epoch, "epoch": float(epoch), "train_loss": 1.0, metric: value}
        for epoch, value in enumerate(values, 1)
    ]


def record_of(
    configuration: Configuration,
    run: Run,
    evaluations: Sequence[Mapping[str, float]] | None = None,
    diverged_at: int | None = None,
    failure: Mapping[str, Any] | None = None,
    seconds: float = 60.0,
    **changes: Any,
) -> dict[str, Any]:
    """What run.json says of a run, without its checksum.

    Args:
        evaluations: rows of metrics.csv, `iteration` and `epoch` included; by default one, whose every metric is 0.5.
            Reported is that which the run's rule chooses of them.
        diverged_at: the iteration at which it diverged; None where it finished.
        failure: of a solver, {"cause", "time", "step", "during"}.
        seconds: of training.
        changes: other entries of the record, such as device="A GPU" or reported=None; those of `dataset` are merged in.
    """
    evaluations = _some(run) if evaluations is None else evaluations
    dataset, report = run.spec["dataset"], run.spec["training"]["report"]
    about = {
        "name": dataset,
        "title": configuration.data_title(run.task),
        "stand_in_for": configuration.replaced(run.task),
        "digest": f"digest of {dataset}",
    }
    return {
        "run": run.id,
        "scale": configuration.scale_name,
        "label": configuration.models[run.model].label,
        "paper_size": run.paper_size,
        "spec": json.loads(json.dumps(run.spec)),
        "dataset": about | changes.pop("dataset", {}),
        "naive": {},
        "test_set": {"size": 10000, "positive": None},
        "split": None,
        "limits": None,
        "solver": None,
        "device": "cpu",
        "processor": "A processor",
        "threads": 1,
        "code": f"code of {run.model}",
        "commit": None,
        "peak_memory_mb": 600,
        "fingerprint": f"fingerprint of {run.id}",
        "parameters": 68362,
        "status": "finished" if diverged_at is None else "diverged",
        "diverged_at": diverged_at,
        "failure": failure,
        "averaged_since": None,
        "reported": chosen([row for row in evaluations if report["metric"] in row], report),
        "iterations": diverged_at or max((int(row["iteration"]) for row in evaluations), default=0),
        "seconds": {"training": seconds, "evaluation": seconds / 10},
        "versions": {"python": "3.11.7", "torch": "2.11.0", "numpy": "2.4.6"},
        **changes,
    }


def _some(run: Run) -> list[dict[str, float]]:
    names = {"test_loss": 0.5, "test_accuracy": 0.5}
    return [row | names | row for row in evaluations_of(run, [0.5])]


def make_run(
    root: Path,
    configuration: Configuration,
    run: Run,
    evaluations: Sequence[Mapping[str, float]] | None = None,
    losses: Sequence[float] | None = None,
    clock: Sequence[float] | None = None,
    gradients: Sequence[Sequence[float]] | None = None,
    predictions: Mapping[str, np.ndarray] | None = None,
    weights: Any = None,
    **about: Any,
) -> RunFiles:
    """A run's directory under `root`, with its checksums, as training leaves it.

    Args:
        losses: of the minibatches; by default they fall to the first evaluation's train loss.
        clock: the training seconds at each evaluation; by default equal parts of `seconds`.
        gradients: norms (k, T), recorded where the run's task does so, or where they are given.
        predictions: arrays such as `answer_of` gives, recorded where they are given, or where the run's task does so.
        weights: a state_dict for model.pt, which is not there without.
        about: as for `record_of`.
    """
    record = record_of(configuration, run, evaluations, **about)
    evaluations = _some(run) if evaluations is None else evaluations
    losses = np.linspace(2, 1, record["iterations"]) if losses is None else losses
    times = np.arange(1, len(evaluations) + 1) / max(len(evaluations), 1) * record["seconds"]["training"]
    contents = {
        "metrics.csv": _csv(evaluations),
        "clock.csv": _csv(
            [
                {"iteration": row["iteration"], "training_seconds": time, "evaluation_seconds": 0.0}
                for row, time in zip(evaluations, times if clock is None else clock, strict=True)
            ]
        ),
        "train_loss.npy": _bytes(np.save, np.asarray(losses, np.float64)),
    }
    norms = np.empty((0, 0))
    every = run.spec["training"].get("record_gradients")
    if gradients is not None or every is not None:
        norms = np.asarray(gradients, np.float32) if gradients is not None and len(gradients) else norms
        iterations = np.arange(len(norms)) * (every or 1)
        contents[GRADIENTS] = _bytes(np.savez, iterations=iterations, norms=norms.astype(np.float32))
    if predictions is not None or run.spec["training"].get("record_predictions"):
        contents[PREDICTIONS] = _bytes(np.savez, **answer_of(run) if predictions is None else predictions)
    if record["reported"]:
        record["reported"]["metrics"] |= of_history(evaluations, norms)
    if weights is not None:
        import torch  # most tests of what is shown have no use for it

        contents["model.pt"] = _bytes(lambda handle, content: torch.save(content, handle), weights)
    directory = root / run.directory
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (directory / name).write_bytes(content)
    (directory / RECORD).write_text(json.dumps(with_checksums(record, directory, contents)), encoding="utf-8")
    return RunFiles(directory)


def answer_of(run: Run) -> dict[str, np.ndarray]:
    """The arrays of predictions.npz, as the run's task has them."""
    return errors_of(run) if run.spec["task_class"] == "SeriesRegression" else predictions_of(run)


def predictions_of(run: Run) -> dict[str, np.ndarray]:
    """The arrays of predictions.npz: of sporadically observed series, and of answers that are about right.

    Three rows of each series are to be predicted, after the time `until` of the run's task, 15 where it has none.
    """
    until, data = run.spec["task_settings"].get("until", 15.0), run.spec["data"]
    series, features = data.get("series", 240) // 10, 2 if "series" in data else 5  # of the test set
    shared, own = np.random.default_rng(0), np.random.default_rng([run.seed, *run.model.encode()])
    time = np.sort(shared.uniform(until, 4 * until / 3, (series, 3)), axis=1).ravel()
    value = shared.standard_normal((3 * series, features))
    arrays = {"time": time, "value": value, "mean": value + 0.5 * own.standard_normal(value.shape)}
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    about = {"id": np.repeat(np.arange(series), 3), "mask": shared.random(value.shape) < 0.7}
    return about | arrays | {"variance": np.full(value.shape, 0.25, np.float32)}


def errors_of(run: Run) -> dict[str, np.ndarray]:
    """The arrays of predictions.npz of a run that extrapolates: errors of about 0.05, hour by hour."""
    random = np.random.default_rng([run.seed, *run.task.encode(), *run.model.encode()])
    counts = random.integers(30, 60, 24)
    sums = counts * 0.05**2 * random.uniform(0.5, 1.5, len(counts))
    return {"error_time": np.arange(24, 49, dtype=np.float32), "error_sum": sums, "error_count": counts}


def change_record(files: RunFiles, *more: str, **changes: Any) -> None:
    """Change entries of a run's record, and its checksums, of the files as they are now and of these `more`."""
    record = files.record() | changes
    names = [*record.pop("files"), *more]
    del record["checksum"]
    (files.directory / RECORD).write_text(json.dumps(with_checksums(record, files.directory, names)), encoding="utf-8")


def _csv(rows: Sequence[Mapping[str, float]]) -> bytes:
    names = list(dict.fromkeys(name for row in rows for name in row)) or ["iteration"]
    return csv_text(names, rows).encode()


def _bytes(save: Callable, *content: Any, **arrays: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *content, **arrays)
    return buffer.getvalue()


# What artifacts are made of


def run_record(configuration: Configuration, run: Run, root: Path = Path(), **about: Any) -> RunRecord:
    """The record of a run with `about` it as for `record_of`; nothing is written."""
    record = record_of(configuration, run, **about)
    return RunRecord.of(configuration, run, record, RunFiles(root / run.directory, run.epochs))


def evidence_of(
    artifact: Artifact,
    about: Callable[[Run], Mapping[str, Any]] = lambda run: {},
    runs: Sequence[RunRecord] | None = None,
    floors: Iterable[Floor] = (),
    **measured: Any,
) -> Evidence:
    """The evidence of an artifact; nothing is written.

    Args:
        about: gives the keywords of `record_of` for a run: `lambda run: {"evaluations": evaluations_of(run, [0.9])}`.
        runs: the records themselves, in place of those of all its runs.
        measured: costs, features, gradients, maps.
    """
    configuration = artifact.configuration
    if runs is None:
        asked = artifact.case_runs if artifact.summarised else ()
        runs = [run_record(configuration, run, **about(run)) for run in asked]
    scores = list(floors)
    features = measured.get("features", ())
    records = [with_measured(run, [floor for floor in scores if floor.task == run.task], features) for run in runs]
    return Evidence(configuration, records, **measured)


def floor(task: str, metric: str, score: float, name: str = "logistic regression", seed: int | None = None) -> Floor:
    return Floor(task=task, metric=metric, score=score, name=name, seed=seed)


def curves_of(artifact: Artifact, points: int = 200, seeds: int = 2) -> list[list[Curve]]:
    """The curves of a figure's panels: from far above the rest a slow fall, different for each model."""
    x, panels = np.arange(1.0, points + 1), []
    for panel in artifact.panels:
        cells = [cell for cell in artifact.cases() if (cell.task, cell.size) == (panel.task, panel.size)]
        panels.append([])
        for number, cell in enumerate(cells, 1):
            mean = 0.2 / (1 + number * x / points) + 30 * np.exp(-x / 3)
            around, none = np.array([mean * 0.9, mean * 1.1]), np.full(points, np.nan)
            low, high = around if seeds >= FEWEST else (none, none)
            own = dict(enumerate(around)) if seeds == 2 else {}
            panels[-1].append(Curve(cell.model, x, mean, low, high, own, window=panel.window))
    return panels


def costs_of(
    artifact: Artifact, ratios: Mapping[str, float] = {}, spread: Sequence[float] = (-0.05, 0.0, 0.05), **changes: Any
) -> list[Cost]:
    """What an artifact's models cost.

    Args:
        ratios: by model, to `BASE_COSTS` (ms and MB per sample); 1 for those without.
        spread: of each process, what it adds to the ratio of a time, but to the baseline's.
        changes: of columns, in all rows.
    """
    configuration, rows = artifact.configuration, []
    for process, added in enumerate(spread):
        for run, (quantity, value) in itertools.product(artifact.measured_runs(), BASE_COSTS.items()):
            spreads = quantity in TIMES and run.model != artifact.published.baseline
            ratio = ratios.get(run.model, 1.0) + (added if spreads else 0.0)
            row = {
                "task": run.task,
                "model": run.model,
                "label": configuration.models[run.model].label,
                "size": run.spec["hyperparameters"].get("hidden_size"),
                "paper_size": run.paper_size,
                "quantity": quantity,
                "value": value * ratio,
                "unit": configuration.metrics[quantity].unit,
                "ratio": ratio,
                "process": process,
                **{"rounds": 5, "batch": 128, "steps": 784, "samples_per_epoch": 60000},
                **{"device": "cpu", "processor": "A processor", "threads": 2, "torch": "2.11.0", "date": "2026-11-21"},
                "scale": configuration.scale_name,
                "dataset": run.spec["dataset"],
                "dataset_title": configuration.data_title(run.task),
                "stand_in_for": configuration.replaced(run.task),
                "variants": run.spec["variants"],
                "precision": run.spec["precision"],
            }
            rows.append(Cost(**row | changes))
    return rows


def features_of(artifact: Artifact) -> list[Features]:
    """An artifact's features, with silhouettes of 0.5, 0.6, ... by seed."""
    about = {"status": "measured", "images": 360, "weights": "reported", "measured_on": "cpu"}
    about["settings"] = artifact.settings.features.given()
    return [
        Features(
            **{"task": run.task, "model": run.model, "paper_size": run.paper_size, "seed": run.seed},
            **{"silhouette": 0.5 + run.seed / 10, "dimensions": 13 if run.model == "augmented_ode_net" else 8},
            **about,
        )
        for run in artifact.case_runs
    ]


@functools.cache
def gradients_of() -> list[GradientNorm]:
    """What is measured of untrained cells: it takes no runs."""
    from hidden_dynamics.measurements.jacobian import measure

    return [GradientNorm(**row) for row in measure()]


def write_beside(root: Path, artifact: Artifact, scores: Mapping[str, Mapping[str, Mapping[str, float]]] = {}) -> None:
    """Write what an artifact shows beside its runs: what classical baselines score on its tasks, the same for all
    seeds, and what is measured for it, with maps of 40 points of ten classes.

    Args:
        scores: by task, metric and name; of tasks without nothing.
    """
    columns = ("task", "seed", "name", "metric", "score", "chosen")
    for task, path in artifact.floors().items():
        rows = [
            {"task": task, "seed": "", "name": name, "metric": metric, "score": score, "chosen": "C = 0.01"}
            for metric, own in scores.get(task, {}).items()
            for name, score in own.items()
        ]
        write_rows(root / path, columns, rows)
    measured = {"costs": costs_of, "features": features_of, "jacobian": lambda _: gradients_of()}
    for name, path in artifact.inputs().items():
        if name == "maps":
            maps = {f"{run.model}.embedding": np.arange(80.0).reshape(40, 2) for run in artifact.runs}
            np.savez(root / path, labels=np.arange(40) % 10, **maps)
        else:
            write_measured(root / path, measured[name](artifact))


def write_measured(path: Path, rows: Sequence[Measured]) -> None:
    """Write rows of a measurement."""
    dumped = [row.model_dump().items() for row in rows]
    texts = [{name: json.dumps(of) if isinstance(of, dict) else of for name, of in row} for row in dumped]
    write_rows(path, list(texts[0]), texts)
