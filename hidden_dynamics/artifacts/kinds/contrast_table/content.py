"""The numbers of contrasts: what s does (control less plain core) and what momentum adds (filter less control)."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.figure_notes import task_title
from hidden_dynamics.artifacts.kinds.contrast_table import Contrast, ContrastTable
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration.runs import Cell, seeds_are_blocks
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.statistics import FEWEST, mean_and_std
from hidden_dynamics.results.summary import measured_of

LEVEL = 0.95
SIDES = ("plain", "control", "filter")
DIFFERENCES = {"s": ("control", "plain"), "momentum": ("filter", "control")}  # each of the second side from the first
SYMBOLS = {"mu": "μ", "s": "s", "beta": "β", "restart": "F"}
OF_MOMENTUM = ("mu", "restart", "phase", "cell")  # the settings in which a filter and its control may differ
NOTHING = {"difference": math.nan, "low": math.nan, "high": math.nan, "p": math.nan, "other_p": math.nan}


def records_of(artifact: ContrastTable, sources: Sources) -> list[Record]:
    """A record for each filter, with both differences, oriented so that above 0 is better.

    Each difference has its 95 % interval and p by Welch's t (`low`, `high`, `p`), p by Holm's method over all
    different ones (`p_adjusted`), and p by the t of the differences seed by seed (`other_p`); where seeds have data of
    their own, that one is `p`, and Welch's `other_p`. `deviation` is the root of the sides' mean variance.

    Raises:
        UserError: the summary is missing or damaged, is of another artifact or scale, or has no runs.
    """
    if not sources.summary:
        raise sources.wrong("summary", f"{artifact.name} has no runs")
    sources.check("summary", artifact=[artifact.name], scale=[artifact.configuration.scale_name])
    records = [_record(artifact, sources.summary, contrast) for contrast in artifact.contrasts()]
    found = {record[f"{name}_pair"]: record[f"{name}_p"] for record in records for name in DIFFERENCES}
    tested = {pair: p for pair, p in found.items() if not math.isnan(p)}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    for record in records:
        for name in DIFFERENCES:
            record[f"{name}_p_adjusted"] = adjusted.get(record.pop(f"{name}_pair"), math.nan)
        record["tests"] = len(tested)
    return records


def _record(artifact: ContrastTable, summary: Sequence[Row], contrast: Contrast) -> Record:
    configuration, metric = artifact.configuration, artifact.configuration.metrics[contrast.metric]
    runs = {side: _runs_of(summary, getattr(contrast, side)) for side in SIDES}
    values = {side: _values(of_side, contrast.metric, metric.factor) for side, of_side in runs.items()}
    settings = {side: json.loads(of_side[0]["hyperparameters"]) if of_side else {} for side, of_side in runs.items()}
    record = {
        "artifact": artifact.name,
        "scale": configuration.scale_name,
        "task": contrast.filter.task,
        "task_title": task_title(configuration, found) if (found := sum(runs.values(), [])) else contrast.filter.task,
        "metric": contrast.metric,
        "size": runs["filter"][0]["size"] if runs["filter"] else None,
        "paper_size": contrast.filter.size,
        "differing": " ".join(_differing(settings["control"], settings["filter"])),
    }
    for side, of_side in runs.items():
        mean, std = mean_and_std(values[side].values())
        model = getattr(contrast, side).model
        record |= {side: model, f"{side}_label": named(configuration.models[model].label, settings[side])}
        record |= {f"{side}_runs": len(of_side), f"{side}_n": len(values[side])}
        record |= {f"{side}_mean": mean, f"{side}_std": std}
    different = {getattr(contrast, side): values[side] for side in SIDES}
    variances = [np.var(list(own.values()), ddof=1) for own in different.values() if len(own) > 1]
    record["deviation"] = float(np.sqrt(np.mean(variances))) if variances else math.nan
    blocks = seeds_are_blocks(configuration, contrast.filter.task, contrast.filter.model)
    for name, (one, other) in DIFFERENCES.items():
        pair = getattr(contrast, one), getattr(contrast, other)
        found = compared(values[one], values[other], metric.sign, blocks) if pair[0] != pair[1] else NOTHING
        record |= {f"{name}_{key}": number for key, number in found.items()} | {f"{name}_pair": pair}
    return record


def compared(one: Mapping[str, float], other: Mapping[str, float], sign: int, blocks: bool) -> dict[str, float]:
    """`sign` times the mean of `one` less that of `other`, each a number by seed; NaN where it cannot be tested.

    Args:
        blocks: whether the runs of a seed are compared with each other alone.
    """
    a, b = (np.array(list(side.values())) for side in (one, other))
    d = sign * np.array([one[seed] - other[seed] for seed in one if seed in other])
    estimate = (
        (d.mean() if d.size else math.nan) if blocks else sign * (a.mean() - b.mean()) if a.size * b.size else math.nan
    )
    if min(a.size, b.size, d.size) < FEWEST:
        return NOTHING | {"difference": float(estimate)}
    parts = np.array([a.var(ddof=1) / a.size, b.var(ddof=1) / b.size])
    with np.errstate(invalid="ignore", divide="ignore"):  # of samples that do not vary
        degrees = parts.sum() ** 2 / (parts**2 / [a.size - 1, b.size - 1]).sum()
        tests = [(np.sqrt(parts.sum()), degrees), (d.std(ddof=1) / np.sqrt(d.size), d.size - 1)]
        own, another = tests[::-1] if blocks else tests
        half = stdtrit(own[1], (1 + LEVEL) / 2) * own[0]
        centres = (estimate, d.mean() if not blocks else sign * (a.mean() - b.mean()))
        ps = [2 * stdtr(df, -abs(centre / se)) for centre, (se, df) in zip(centres, (own, another), strict=True)]
    found = {"difference": estimate, "low": estimate - half, "high": estimate + half, "p": ps[0], "other_p": ps[1]}
    return {name: float(number) for name, number in found.items()}


def holm(ps: Sequence[float]) -> list[float]:
    """p values adjusted for their number by Holm's method, in their order."""
    order = np.argsort(ps)
    steps = np.sort(ps) * np.arange(len(ps), 0, -1)
    adjusted = np.empty(len(ps))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted.tolist()


def named(label: str, settings: Mapping[str, Any]) -> str:
    """A model with the settings of its filter: "MomentumLSTM (μ = 0.6, s = 0.6)"; the label alone without a filter."""
    texts = [f"{symbol} = {settings[key]:g}" for key, symbol in SYMBOLS.items() if settings.get(key) is not None]
    return f"{label} ({', '.join(texts)})" if texts else label


def _differing(control: Mapping[str, Any], filtered: Mapping[str, Any]) -> list[str]:
    """The settings beside momentum's in which a control is none; a core without a filter has s = 1."""
    one, other = ({"s": 1.0} | settings for settings in (control, filtered))
    return [key for key in sorted({*one, *other} - {*OF_MOMENTUM}) if one.get(key) != other.get(key)]


def _runs_of(summary: Sequence[Row], cell: Cell) -> list[Row]:
    wanted = (cell.task, cell.model, str(cell.size))
    return [row for row in summary if (row["task"], row["model"], row["paper_size"]) == wanted]


def _values(runs: Sequence[Row], metric: str, factor: float) -> dict[str, float]:
    """By seed, what the finished runs report; without what is not finite."""
    found = {row["seed"]: measured_of(row).get(metric, math.nan) for row in runs if row["status"] == "finished"}
    return {seed: value * factor for seed, value in found.items() if math.isfinite(value)}
