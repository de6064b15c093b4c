"""A table of what momentum adds to the scale of the input: a plain core, its control with mu = 0, and the filter.

What s does is the lead of the control over the plain core; what momentum adds, that of the filter over its control.
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.artifacts.comparison import Record, ours_of, ours_text, size_text
from hidden_dynamics.artifacts.notes import figure_notes, reported_note, subtitle_of
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT, Table, probabilities, signed
from hidden_dynamics.claims.verdict import UNLEARNED
from hidden_dynamics.configuration import Entry
from hidden_dynamics.configuration.runs import Case, seeds_are_blocks
from hidden_dynamics.configuration.schema import Size

if TYPE_CHECKING:
    from hidden_dynamics.claims.samples import Runs

DIFFERENCES = {"s": ("control", "plain"), "momentum": ("filter", "control")}  # leads of the first over the second
HEADINGS = {"s": "What s does: lead of control over plain core", "momentum": "What μ adds: lead of filter over control"}
SYMBOLS = {"mu": "μ", "s": "s", "beta": "β", "restart": "F"}
NONE = {**dict.fromkeys(("difference", "low", "high", "p"), math.nan), "gate": ""}


class Contrasts(Entry):
    """The filters of one core on a task.

    Attributes:
        plain: the core without a filter.
        controls: {model with a filter: its control, which has its s and no momentum}. Where s = 1 that is `plain`.
    """

    task: str
    metric: str
    size: Size
    plain: str
    controls: Annotated[dict[str, str], Field(min_length=1)]


class Settings(ArtifactSettings):
    rows: Annotated[list[Contrasts], Field(min_length=1)]


class ContrastTable(Artifact):
    Settings = Settings
    form = "table"
    summarised = True
    with_extras = False  # they have no control

    def contrasts(self) -> Iterator[tuple[str, dict[str, Case]]]:
        """A metric and the cells compared by it, `plain`, `control` and `filter`."""
        for row in self.settings.rows:
            for model, control in row.controls.items():
                sides = {"plain": row.plain, "control": control, "filter": model}
                yield row.metric, {side: Case(row.task, name, row.size) for side, name in sides.items()}

    def shown(self) -> list[Case]:
        models = [
            (row, name) for row in self.settings.rows for pair in row.controls.items() for name in (row.plain, *pair)
        ]
        return list(dict.fromkeys(Case(row.task, name, row.size) for row, name in models))

    def chosen_metrics(self) -> list[str]:
        return [row.metric for row in self.settings.rows]


def draw(artifact: ContrastTable, sources: Sources) -> Table:
    """A row for each filter."""
    configuration, records = artifact.configuration, _records(artifact, sources)
    return Table.of(
        f"{artifact.settings.heading}; {subtitle_of(configuration, sources.summary)}",
        figure_notes(configuration, sources.summary, reported_note(configuration, sources.summary)),
        [_row(artifact, record) for record in records],
        records,
    )


# As data


def _records(artifact: ContrastTable, sources: Sources) -> list[Record]:
    """A record for each filter: each side over seeds, and both differences, oriented so that above 0 is better.

    Each difference has its interval and p, and p by Holm's method over all different ones of the core on the task, run
    or not (`p_adjusted`). `pooled_std` is the root of the mean variance of the sides.
    """
    from hidden_dynamics.claims.statistics import holm  # SciPy

    records, families = [], {}
    for metric, cells in artifact.contrasts():
        core = metric, cells["plain"]
        family = families.setdefault(core, {})  # p by the cells of a test, 1 where none was made
        pairs = {name: (cells[one], cells[other]) for name, (one, other) in DIFFERENCES.items()}
        for pair in pairs.values():
            if pair[0] != pair[1]:
                family.setdefault(pair, 1.0)
        if any(artifact.configuration.is_run(*cell) for cell in cells.values()):
            record = _compared(artifact, sources, metric, cells)
            records.append((record, pairs, core))
            for name, pair in pairs.items():
                if not math.isnan(record[f"{name}_p"]):
                    family[pair] = record[f"{name}_p"]
    adjusted = {core: dict(zip(own, holm(list(own.values())), strict=True)) for core, own in families.items()}
    for record, pairs, core in records:
        for name, pair in pairs.items():
            record[f"{name}_p_adjusted"] = math.nan if math.isnan(record[f"{name}_p"]) else adjusted[core][pair]
    return [record for record, _, _ in records]


def _compared(artifact: ContrastTable, sources: Sources, metric: str, cells: Mapping[str, Case]) -> Record:
    """The sides over seeds, and both differences with interval and p."""
    sides = {side: sources.evidence.number_of(cell, metric) for side, cell in cells.items()}
    record = _sides(artifact, metric, cells, sides)
    blocks = seeds_are_blocks(artifact.configuration, record["task"], record["filter"])
    for name, (one, other) in DIFFERENCES.items():
        found = NONE if cells[one] == cells[other] else _difference(sides[one], sides[other], blocks)
        record |= {f"{name}_{key}": number for key, number in found.items()}
    return record


def _sides(artifact: ContrastTable, metric: str, cells: Mapping[str, Case], sides: Mapping[str, "Runs"]) -> Record:
    """What ran, and each side's numbers over seeds."""
    configuration, filtered = artifact.configuration, cells["filter"]
    different = {cells[side]: runs.values for side, runs in sides.items()}
    variances = [np.var(values, ddof=1) for values in different.values() if len(values) > 1]
    rows = sides["filter"].rows
    record = {
        "artifact": artifact.name,
        "scale": configuration.scale_name,
        "task": filtered.task,
        "task_title": configuration.title_as_run(filtered.task),
        "metric": metric,
        "size": rows[0]["size"] if rows else None,
        "paper_size": filtered.size,
        "pooled_std": float(np.sqrt(np.mean(variances))) if variances else math.nan,
    }
    for side, runs in sides.items():
        settings = json.loads(runs.rows[0]["hyperparameters"]) if runs.rows else {}
        own = {"label": named(configuration.models[cells[side].model].label, settings), "runs": len(runs.rows)}
        own |= ours_of(runs.rows, metric, configuration.metrics[metric])
        record |= {side: cells[side].model, **{f"{side}_{name}": number for name, number in own.items()}}
    return record


def named(label: str, settings: Mapping[str, object]) -> str:
    """A model with the settings of its filter: "MomentumLSTM (μ = 0.6, s = 0.6)"; the label alone without a filter."""
    texts = [f"{symbol} = {settings[key]:g}" for key, symbol in SYMBOLS.items() if settings.get(key) is not None]
    return f"{label} ({', '.join(texts)})" if texts else label


def _difference(one: "Runs", other: "Runs", blocks: bool) -> dict[str, Any]:
    """The lead of `one` over `other`, tested where both have three seeds, and the side ahead has learned and no failed
    runs; NaN where there is none. `gate`: `UNLEARNED` where the side ahead is not shown to have learned; else "".

    Args:
        blocks: whether the runs of a seed are compared with each other alone.
    """
    from hidden_dynamics.claims.kinds import LEARNING, estimates  # SciPy
    from hidden_dynamics.claims.samples import of_shared_seeds
    from hidden_dynamics.claims.statistics import FEWEST

    sides = of_shared_seeds([one, other]) if blocks else [one, other]
    if not all(runs.values for runs in sides):
        return NONE
    lead = one.sign * float(np.mean(sides[0].values) - np.mean(sides[1].values))
    ahead = one if lead > 0 else other
    few = len(ahead.values) < FEWEST
    learned = all(gain > 0 for gain in ahead.gains(ahead.naive)) if few else ahead.learned(LEARNING) is not False
    found = NONE | {"difference": lead, "gate": "" if learned else UNLEARNED}
    if not learned or ahead.failed or any(len(runs.values) < FEWEST for runs in sides):
        return found
    (own, *_), _ = estimates([one, other], blocks, (one.sign, -one.sign))
    if own is None:
        return found
    low, high = own.interval(0.95)
    return found | {"low": low, "high": high, "p": own.p()}


# As text


def _row(artifact: ContrastTable, record: Record) -> dict[str, str]:
    metric = artifact.configuration.metrics[record["metric"]]
    decimals = max(metric.decimals, decimals_of(record["pooled_std"]))
    plain, control, filtered = (_side_text(record, side, decimals) for side in ("plain", "control", "filter"))
    return {
        "Task": record["task_title"],
        "Filter": record["filter_label"],
        "N": size_text(record["size"], record["paper_size"]),
        "Metric": f"{metric.title} (%)" if metric.unit == "percent" else metric.title,
        "Plain core": f"{record['plain_label']}: {plain}",
        "Control": ABSENT if record["control"] == record["plain"] else f"{record['control_label']}: {control}",
        "With the filter": filtered,
        **{heading: difference_text(record, name, decimals) for name, heading in HEADINGS.items()},
    }


def _side_text(record: Record, side: str, decimals: int) -> str:
    own = {name.removeprefix(f"{side}_"): value for name, value in record.items() if name.startswith(f"{side}_")}
    return ours_text(own, decimals, *(["none learned"] if own["learned"] == 0 and own["n"] else []))


def decimals_of(std: float) -> int:
    """As many decimals as show two digits of a deviation between runs."""
    return min(1 - math.floor(math.log10(std)), 6) if std > 0 else 0


def difference_text(record: Record, name: str, decimals: int, adjusted: str = "p_adjusted") -> str:
    """ "+1.20 (+0.40 to +2.00), p = 0.011 [0.14]"."""
    estimate, low, high = (signed(record[f"{name}_{end}"], decimals) for end in ("difference", "low", "high"))
    if math.isnan(record[f"{name}_p"]):
        return ", ".join(filter(None, (estimate, record.get(f"{name}_gate"))))
    return f"{estimate} ({low} to {high}), {probabilities(record[f'{name}_p'], record[f'{name}_{adjusted}'])}"
