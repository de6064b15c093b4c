"""The numbers of contrasts: what s does (control less plain core) and what momentum adds (filter less control)."""

import json
import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.kinds.contrast_table import Contrast, ContrastTable
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.claims.samples import Evidence, Runs, of_shared_seeds
from hidden_dynamics.claims.statistics import FEWEST, holm, paired, welch
from hidden_dynamics.configuration.runs import seeds_are_blocks
from hidden_dynamics.results import naive
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.statistics import mean_and_std

LEVEL, ALPHA = 0.95, 0.05
SIDES = ("plain", "control", "filter")
DIFFERENCES = {"s": ("control", "plain"), "momentum": ("filter", "control")}  # each of the second side from the first
SYMBOLS = {"mu": "μ", "s": "s", "beta": "β", "restart": "F"}
NONE = {"difference": math.nan, "low": math.nan, "high": math.nan, "p": math.nan, "other_p": math.nan, "learned": True}
OF_MOMENTUM = ("mu", "restart", "phase", "cell")  # the settings in which a filter and its control may differ


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
    cells = {side: getattr(contrast, side) for side in SIDES}
    evidence = Evidence(artifact, summary)
    sides = {side: evidence.number_of(cell, contrast.metric) for side, cell in cells.items()}
    settings = {side: json.loads(runs.rows[0]["hyperparameters"]) if runs.rows else {} for side, runs in sides.items()}
    rows = [row for runs in sides.values() for row in runs.rows]
    record = {
        "artifact": artifact.name,
        "scale": configuration.scale_name,
        "task": task,
        "task_title": rows[0]["task_title"] if rows else configuration.tasks[task].title,
        "metric": contrast.metric,
        "size": rows[0]["size"] if rows else None,
        "paper_size": contrast.filter.size,
        "differing": " ".join(_differing(settings["control"], settings["filter"])),
    }
    for side, runs in sides.items():
        label = named(configuration.models[cells[side].model].label, settings[side])
        record |= {side: cells[side].model, f"{side}_label": label, f"{side}_runs": len(runs.rows)}
        record |= {f"{side}_{name}": number for name, number in _summarised(runs, contrast.metric).items()}
    different = {cells[side]: runs.values for side, runs in sides.items()}
    variances = [np.var(values, ddof=1) for values in different.values() if len(values) > 1]
    record["deviation"] = float(np.sqrt(np.mean(variances))) if variances else math.nan
    blocks = seeds_are_blocks(configuration, task, contrast.filter.model)
    for name, (one, other) in DIFFERENCES.items():
        pair = cells[one], cells[other]
        found = NONE if pair[0] == pair[1] else difference(sides[one], sides[other], blocks)
        record |= {f"{name}_{key}": number for key, number in found.items()} | {f"{name}_pair": pair}
    return record


def _summarised(runs: Runs, metric: str) -> Record:
    """Mean and deviation, and how many have learned; where others have not, the median of those that have."""
    mean, std = mean_and_std(runs.values)
    beaten = [row["seed"] for row in runs.rows if naive.learned(row, metric, runs.sign) is not False]
    learned = [value for seed, value in runs.by_seed.items() if seed in beaten]
    apart = naive.in_two_clusters([naive.margin_of(row, metric, runs.sign) for row in runs.rows])
    middle = median(learned) if learned and apart else None
    return {"n": len(runs.values), "mean": mean, "std": std, "learned": len(learned), "median": middle}


def has_learned(runs: Runs) -> bool:
    """Whether they beat the naive answer, as the claims ask it; too few for a test, whether each run does."""
    if len(runs.values) < FEWEST:
        return all(
            runs.sign * (value - runs.naive.get(seed, -math.inf * runs.sign)) > 0 for seed, value in runs.scores.items()
        )
    return runs.learned(ALPHA) is not False


def difference(one: Runs, other: Runs, blocks: bool) -> dict[str, float]:
    """The lead of `one` over `other`, tested where `records_of` says so; NaN where there is none.

    Args:
        blocks: whether the runs of a seed are compared with each other alone.
    """
    pairs = of_shared_seeds([one, other])
    sides = pairs if blocks else [one, other]
    if not all(runs.values for runs in sides):
        return NONE
    lead = one.sign * float(np.mean(sides[0].values) - np.mean(sides[1].values))
    ahead = one if lead > 0 else other
    found = NONE | {"difference": lead, "learned": has_learned(ahead)}
    if not found["learned"] or ahead.failed or len(pairs[0].values) < FEWEST:
        return found
    weights = (one.sign, -one.sign)
    unpaired = welch([runs.sample for runs in (one, other)], weights)
    by_pairs = paired([np.array(runs.values) for runs in pairs], weights)
    own, another = (by_pairs, unpaired) if blocks else (unpaired, by_pairs)
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
