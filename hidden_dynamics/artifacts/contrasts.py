"""What a filter does to its core: what s does (control less plain core), and what momentum adds (filter less control).

SciPy comes with this module: import it where something is drawn.
"""

import json
import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.artifacts.comparison import Record, over_seeds
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.claims.kinds import LEARNING, estimates
from hidden_dynamics.claims.samples import Evidence, Runs, of_shared_seeds
from hidden_dynamics.claims.statistics import FEWEST, holm
from hidden_dynamics.configuration.runs import Cell, seeds_are_blocks
from hidden_dynamics.results import naive

LEVEL = 0.95
DIFFERENCES = {"s": ("control", "plain"), "momentum": ("filter", "control")}  # each of the second side from the first
SYMBOLS = {"mu": "μ", "s": "s", "beta": "β", "restart": "F"}
NONE = {"difference": math.nan, "low": math.nan, "high": math.nan, "p": math.nan, "other_p": math.nan, "learned": True}
OF_MOMENTUM = ("mu", "restart", "phase", "cell")  # the settings in which a filter and its control may differ
NOTES = (
    "What s does: the control, whose input is scaled by the filter's s and which has no momentum, less the plain core; "
    "none where s = 1, because then the plain core is the control. What μ adds: the filter less its control, which "
    "differ in momentum alone (μ = 0; F = 1 is a restart at every step). A μ also multiplies what stays constant by "
    "1 / (1 − μ): that gain is part of what it adds. A filter with β has a control that also divides by the root of "
    "the mean square: what s does is there what both do.",
    "Intervals (95 %) and tests are of Welch's t; of the differences seed by seed where a seed has data of its own. "
    f"Fewer than {FEWEST} seeds are not tested. Nothing learned (pale in the figure): the side that is ahead does not "
    "beat the best naive baseline (one-sided t test of its seeds, 5 %; of two seeds, each has to), and the "
    "difference is not tested.",
)


def records_of(artifact: Artifact, sources: Sources) -> list[Record]:
    """A record for each filter, with both differences, oriented so that above 0 is better.

    Each difference has its 95 % interval and p by Welch's t (`low`, `high`, `p`), p by Holm's method over all
    different ones (`p_adjusted`), and p by the paired t (`other_p`); where seeds have data of their own, the paired one
    is `p`, and Welch's `other_p`. None is tested whose side ahead has not learned (`learned`) or has failed runs.
    `pooled_std` is the root of the mean variance of the sides.

    Raises:
        UserError: there are no runs.
    """
    if not sources.summary:
        raise sources.wrong("summary", f"{artifact.name} has no runs")
    evidence, records, p = Evidence(artifact, sources.summary), [], {}
    for metric, cells in artifact.contrasts():
        sides = {side: evidence.number_of(cell, metric) for side, cell in cells.items()}
        record = _about(artifact, metric, cells, sides)
        blocks = seeds_are_blocks(artifact.configuration, record["task"], record["filter"])
        for name, (one, other) in DIFFERENCES.items():
            found = NONE if cells[one] == cells[other] else difference(sides[one], sides[other], blocks)
            record |= {f"{name}_{key}": number for key, number in found.items()}
            if not math.isnan(found["p"]):
                p[cells[one], cells[other]] = found["p"]
        records.append((record, cells))
    adjusted = dict(zip(p, holm(list(p.values())), strict=True))
    for record, cells in records:
        for name, (one, other) in DIFFERENCES.items():
            record[f"{name}_p_adjusted"] = adjusted.get((cells[one], cells[other]), math.nan)
        record["tests"] = len(p)
    return [record for record, _ in records]


def _about(artifact: Artifact, metric: str, cells: Mapping[str, Cell], sides: Mapping[str, Runs]) -> Record:
    """What ran, and each side's numbers over seeds."""
    configuration, task = artifact.configuration, cells["filter"].task
    settings = {side: json.loads(runs.rows[0]["hyperparameters"]) if runs.rows else {} for side, runs in sides.items()}
    rows = [row for runs in sides.values() for row in runs.rows]
    different = {cells[side]: runs.values for side, runs in sides.items()}
    variances = [np.var(values, ddof=1) for values in different.values() if len(values) > 1]
    record = {
        "artifact": artifact.name,
        "scale": configuration.scale_name,
        "task": task,
        "task_title": rows[0]["task_title"] if rows else configuration.tasks[task].title,
        "metric": metric,
        "size": rows[0]["size"] if rows else None,
        "paper_size": cells["filter"].size,
        "differing": " ".join(_differing(settings["control"], settings["filter"])),
        "pooled_std": float(np.sqrt(np.mean(variances))) if variances else math.nan,
    }
    for side, runs in sides.items():
        label = named(configuration.models[cells[side].model].label, settings[side])
        record |= {side: cells[side].model, f"{side}_label": label, f"{side}_runs": len(runs.rows)}
        record |= {f"{side}_{name}": number for name, number in _summarised(runs, metric).items()}
    return record


def _summarised(runs: Runs, metric: str) -> Record:
    """Mean and deviation, and how many have learned; where others have not, the median of those that have."""
    beaten = [row["seed"] for row in runs.rows if naive.learned(row, metric, runs.sign) is not False]
    learned = [value for seed, value in runs.by_seed.items() if seed in beaten]
    apart = naive.in_two_clusters([naive.margin_of(row, metric, runs.sign) for row in runs.rows])
    return over_seeds(runs.values) | {"learned": len(learned), "median": median(learned) if learned and apart else None}


def has_learned(runs: Runs) -> bool:
    """Whether they beat the naive baseline, as the claims ask it; too few for a test, whether each run does."""
    if len(runs.values) >= FEWEST:
        return runs.learned(LEARNING) is not False
    known = [seed for seed in runs.scores if seed in runs.naive]
    return all(runs.sign * (runs.scores[seed] - runs.naive[seed]) > 0 for seed in known)


def difference(one: Runs, other: Runs, blocks: bool) -> dict[str, Any]:
    """The lead of `one` over `other`, tested where `records_of` says so; NaN where there is none.

    Args:
        blocks: whether the runs of a seed are compared with each other alone.
    """
    sides = of_shared_seeds([one, other]) if blocks else [one, other]
    if not all(runs.values for runs in sides):
        return NONE
    lead = one.sign * float(np.mean(sides[0].values) - np.mean(sides[1].values))
    ahead = one if lead > 0 else other
    found = NONE | {"difference": lead, "learned": has_learned(ahead)}
    if not found["learned"] or ahead.failed or any(len(runs.values) < FEWEST for runs in sides):
        return found
    (own, *_), another = estimates([one, other], blocks, (one.sign, -one.sign))
    if own:
        found |= dict(zip(("low", "high"), own.interval(LEVEL), strict=True)) | {"p": own.p()}
    return found | {"other_p": another[0].p() if another else math.nan}


def named(label: str, settings: Mapping[str, Any]) -> str:
    """A model with the settings of its filter: "MomentumLSTM (μ = 0.6, s = 0.6)"; the label alone without a filter."""
    texts = [f"{symbol} = {settings[key]:g}" for key, symbol in SYMBOLS.items() if settings.get(key) is not None]
    return f"{label} ({', '.join(texts)})" if texts else label


def _differing(control: Mapping[str, Any], filtered: Mapping[str, Any]) -> list[str]:
    """The settings beside momentum's in which a control is none; a core without a filter has s = 1."""
    one, other = ({"s": 1.0} | settings for settings in (control, filtered))
    return [key for key in sorted({*one, *other} - {*OF_MOMENTUM}) if one.get(key) != other.get(key)]


def notes(records: Sequence[Record]) -> list[str]:
    """The contrasts and their tests, and where user or scale changed a model so that its control is none any more."""
    texts = [f"{r['task_title']}, {r['filter_label']}: {r['differing']}" for r in records if r["differing"]]
    none = [f"Not of momentum alone, because filter and control differ in more: {'; '.join(texts)}."] if texts else []
    return [*NOTES, *none]
