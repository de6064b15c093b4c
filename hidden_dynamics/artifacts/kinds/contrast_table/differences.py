"""The numbers of contrasts: what s does (control less plain core) and what momentum adds (filter less control)."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.figure_notes import task_title
from hidden_dynamics.artifacts.kinds.contrast_table import Contrast, ContrastTable
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.claims.statistics import FEWEST, Sample, holm, paired, welch
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Cell, seeds_are_blocks
from hidden_dynamics.results import naive
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.statistics import mean_and_std
from hidden_dynamics.results.summary import measured_of

LEVEL, ALPHA = 0.95, 0.05
SIDES = ("plain", "control", "filter")
DIFFERENCES = {"s": ("control", "plain"), "momentum": ("filter", "control")}  # each of the second side from the first
SYMBOLS = {"mu": "μ", "s": "s", "beta": "β", "restart": "F"}
OF_MOMENTUM = ("mu", "restart", "phase", "cell")  # the settings in which a filter and its control may differ


@dataclass(frozen=True)
class Group:
    """The runs of a cell; by seed, what the finished ones report, and how far they are ahead of the best naive answer.

    Attributes:
        sign: 1 where more is better, else -1.
    """

    cell: Cell
    runs: Sequence[Row]
    values: Mapping[str, float]
    gains: Mapping[str, float]
    sign: int

    @property
    def learned(self) -> int:
        """The number of runs ahead of the naive answer; all, where none is known."""
        return sum(gain > 0 for gain in self.gains.values()) if self.gains else len(self.values)

    @property
    def has_learned(self) -> bool:
        """Whether it beats the naive answer: its seeds by a one-sided t test, fewer than a test takes every one."""
        if not self.gains or self.learned == 0 or len(self.gains) < FEWEST:
            return self.learned == len(self.values)
        test = welch([Sample.of(list(self.gains.values()))], [1])
        return test is None or test.p_above() < ALPHA

    @property
    def settings(self) -> dict[str, Any]:
        return json.loads(self.runs[0]["hyperparameters"]) if self.runs else {}


def records_of(artifact: ContrastTable, sources: Sources) -> list[Record]:
    """A record for each filter, with both differences, oriented so that above 0 is better.

    Each difference has its 95 % interval and p by Welch's t (`low`, `high`, `p`), p by Holm's method over all
    different ones (`p_adjusted`), and p by the paired t (`other_p`); where seeds have data of their own, the paired one
    is `p`, and Welch's `other_p`. None is tested whose side ahead has not learned (`learned`). `deviation` is the root
    of the mean variance of the sides.

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
    configuration, task = artifact.configuration, contrast.filter.task
    groups = {side: _group(configuration, summary, getattr(contrast, side), contrast.metric) for side in SIDES}
    runs = [row for group in groups.values() for row in group.runs]
    record = {
        "artifact": artifact.name,
        "scale": configuration.scale_name,
        "task": task,
        "task_title": task_title(configuration, runs) if runs else configuration.tasks[task].title,
        "metric": contrast.metric,
        "size": runs[0]["size"] if runs else None,
        "paper_size": contrast.filter.size,
        "differing": " ".join(_differing(groups["control"].settings, groups["filter"].settings)),
    }
    for side, group in groups.items():
        mean, std = mean_and_std(group.values.values())
        label = named(configuration.models[group.cell.model].label, group.settings)
        record |= {side: group.cell.model, f"{side}_label": label, f"{side}_runs": len(group.runs)}
        record |= {f"{side}_n": len(group.values), f"{side}_learned": group.learned}
        record |= {f"{side}_mean": mean, f"{side}_std": std}
    different = {group.cell: group.values for group in groups.values()}
    variances = [np.var(list(values.values()), ddof=1) for values in different.values() if len(values) > 1]
    record["deviation"] = float(np.sqrt(np.mean(variances))) if variances else math.nan
    blocks = seeds_are_blocks(configuration, task, contrast.filter.model)
    for name, (one, other) in DIFFERENCES.items():
        found = difference(groups[one], groups[other], blocks)
        record |= {f"{name}_{key}": number for key, number in found.items()}
        record[f"{name}_pair"] = groups[one].cell, groups[other].cell
    return record


def _group(configuration: Configuration, summary: Sequence[Row], cell: Cell, name: str) -> Group:
    wanted, metric = (cell.task, cell.model, str(cell.size)), configuration.metrics[name]
    runs = [row for row in summary if (row["task"], row["model"], row["paper_size"]) == wanted]
    found = {row["seed"]: measured_of(row).get(name, math.nan) for row in runs if row["status"] == "finished"}
    finite = {seed: value for seed, value in found.items() if math.isfinite(value)}
    best = {row["seed"]: naive.best(json.loads(row["naive"] or "{}"), name, metric.sign) for row in runs}
    gains = {seed: metric.sign * (value - best[seed][1]) for seed, value in finite.items() if best[seed]}
    return Group(cell, runs, {seed: value * metric.factor for seed, value in finite.items()}, gains, metric.sign)


def difference(one: Group, other: Group, blocks: bool) -> dict[str, float]:
    """The lead of `one` over `other`, tested where `records_of` says so; NaN where there is none.

    Args:
        blocks: whether the runs of a seed are compared with each other alone.
    """
    found = dict.fromkeys(("difference", "low", "high", "p", "other_p"), math.nan) | {"learned": True}
    shared = [seed for seed in one.values if seed in other.values]
    if one.cell == other.cell or not one.values or not other.values or (blocks and not shared):
        return found
    pairs = [np.array([group.values[seed] for seed in shared]) for group in (one, other)]
    sides = pairs if blocks else [np.array(list(group.values.values())) for group in (one, other)]
    found["difference"] = one.sign * float(sides[0].mean() - sides[1].mean())
    found["learned"] = (one if found["difference"] > 0 else other).has_learned
    if not found["learned"] or len(shared) < FEWEST:
        return found
    weights = (one.sign, -one.sign)
    tests = [welch([Sample.of(list(group.values.values())) for group in (one, other)], weights), paired(pairs, weights)]
    own, another = tests[::-1] if blocks else tests
    if own:
        found |= dict(zip(("low", "high"), own.interval(LEVEL), strict=True)) | {"p": own.p()}
    return found | {"other_p": another.p() if another else math.nan}


def named(label: str, settings: Mapping[str, Any]) -> str:
    """A model with the settings of its filter: "MomentumLSTM (μ = 0.6, s = 0.6)"; the label alone without a filter."""
    texts = [f"{symbol} = {settings[key]:g}" for key, symbol in SYMBOLS.items() if settings.get(key) is not None]
    return f"{label} ({', '.join(texts)})" if texts else label


def _differing(control: Mapping[str, Any], filtered: Mapping[str, Any]) -> list[str]:
    """The settings beside momentum's in which a control is none; a core without a filter has s = 1."""
    one, other = ({"s": 1.0} | settings for settings in (control, filtered))
    return [key for key in sorted({*one, *other} - {*OF_MOMENTUM}) if one.get(key) != other.get(key)]
