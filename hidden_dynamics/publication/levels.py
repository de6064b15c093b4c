"""How far the models of a task came: a direction says little where none has learned."""

import json
from collections.abc import Iterable, Mapping, Sequence

from hidden_dynamics.publication.results_read import Results
from hidden_dynamics.publication.sentences import number
from hidden_dynamics.results.rows import Row

NEAR = 0.01  # of the loss of an answer that ignores the input: what ends less below it has learned nothing


def levels(results: Results, task: str) -> list[str]:
    """Sentences on a task's finished runs: the range of the models' means, and how many runs learned nothing."""
    measured = [(row, json.loads(row["measured"])) for row in results.runs if row["task"] == task and row["measured"]]
    finished = [(row, values) for row, values in measured if row["status"] == "finished"]
    if not finished:
        return []
    return [_range(results, finished), *_without_memory(finished)]


def _range(results: Results, runs: Sequence[tuple[Row, Mapping[str, float]]]) -> str:
    """Of the reported metric on the test set, where it was measured there."""
    (row, first), name = runs[0], runs[0][0]["metric"]
    tested = f"test_{name.partition('_')[2]}"
    name = tested if tested in first else name
    metric = results.configuration.metrics[name]
    by_model: dict[str, list[float]] = {}
    for row, values in runs:
        by_model.setdefault(_model(row), []).append(values[name] * metric.factor)
    means = sorted((sum(values) / len(values), model) for model, values in by_model.items())
    unit = {"percent": " %", "one": "", "10⁻³": " · 10⁻³"}.get(metric.unit, f" {metric.unit}")
    (least, low), (most, high) = means[0], means[-1]
    if low == high:
        return f"{metric.title}, mean of {low}: {number(least, 4)}{unit}."
    return f"{metric.title}, means of models: {number(least, 4)} ({low}) to {number(most, 4)}{unit} ({high})."


def _model(row: Row) -> str:
    """Its name, N, and its point in a grid of hyperparameters, which stands for its size in the paper."""
    size = f", N = {row['size']}" if row["size"].isdecimal() else ""
    point = f", {row['paper_size']}" if row["paper_size"] and not row["paper_size"].isdecimal() else ""
    return f"{row['label']}{size}{point}"


def _without_memory(runs: Iterable[tuple[Row, Mapping[str, float]]]) -> list[str]:
    """Of tasks that know the loss of an answer that ignores the input."""
    losses = [(float(row["baseline_loss"]), values["test_loss"]) for row, values in runs if row["baseline_loss"]]
    if not losses:
        return []
    missed = sum(loss > (1 - NEAR) * baseline for baseline, loss in losses)
    ends = (
        f"{missed} of {len(losses)} runs have learned nothing: they end less than 1 % below it"
        if missed
        else f"all {len(losses)} runs end more than 1 % below it"
    )
    return [f"The best answer that ignores the input has a test loss of {number(losses[0][0])}; {ends}."]
