"""A table of what momentum adds to the scale of the input: a plain core, its control with mu = 0, and the filter."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.artifacts.comparison import Record, ours_text, size_text
from hidden_dynamics.artifacts.figure_notes import figure_notes, subtitle_of
from hidden_dynamics.artifacts.tables import ABSENT, Table, signed
from hidden_dynamics.configuration import Entry
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.configuration.schema import Size

if TYPE_CHECKING:
    from hidden_dynamics.artifacts.sources import Sources

ALPHA = 0.05
HEADINGS = {"s": "What s does: control less plain core", "momentum": "What μ adds: filter less control"}


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

    def contrasts(self) -> Iterator[tuple[str, dict[str, Cell]]]:
        """A metric and the cells compared by it, `plain`, `control` and `filter`; not of tasks that are left out."""
        for row in self.settings.rows:
            if row.task not in self.configuration.left_out:
                for model, control in row.controls.items():
                    sides = {"plain": row.plain, "control": control, "filter": model}
                    yield row.metric, {side: Cell(row.task, name, row.size) for side, name in sides.items()}

    def shown(self) -> list[Cell]:
        models = [
            (row, name) for row in self.settings.rows for pair in row.controls.items() for name in (row.plain, *pair)
        ]
        return list(dict.fromkeys(Cell(row.task, name, row.size) for row, name in models))

    def chosen_metrics(self) -> list[str]:
        return [row.metric for row in self.settings.rows]


KIND = ContrastTable


def draw(artifact: ContrastTable, sources: "Sources") -> Table:
    """A row for each filter.

    Raises:
        UserError: as `contrasts.records_of`.
    """
    from hidden_dynamics.artifacts import contrasts  # SciPy

    configuration, summary, records = artifact.configuration, sources.summary, contrasts.records_of(artifact, sources)
    about = (
        "Mean ± sample standard deviation (n − 1) over n seeds of what a run reports; “k of n learned”: only k beat "
        "the best naive baseline, and the median is theirs. Differences are oriented: above 0 the first is "
        "better. A seed's runs share their initial weights and the order of the data: where the p of the other test, "
        "seed by seed or not, is on the other side of 0.05, it stands beside. In square brackets: p by Holm's method "
        f"over the {records[0]['tests']} different tests of this table."
    )
    return Table.of(
        f"{artifact.settings.heading}; {subtitle_of(configuration, summary)}",
        figure_notes(configuration, summary, about, *contrasts.notes(records)),
        [_row(artifact, record) for record in records],
        records,
    )


def _row(artifact: ContrastTable, record: Record) -> dict[str, str]:
    metric = artifact.configuration.metrics[record["metric"]]
    decimals = _decimals(record["pooled_std"], metric.decimals)
    sides = {name.capitalize(): _side_text(record, name, decimals) for name in ("control", "filter")}
    return {
        "Task": record["task_title"],
        "Filter": record["filter_label"],
        "N": size_text(record["size"], record["paper_size"]),
        "Metric": f"{metric.title} (%)" if metric.unit == "percent" else metric.title,
        "Plain core": f"{record['plain_label']}: {_side_text(record, 'plain', decimals)}",
        "Control": ABSENT if record["control"] == record["plain"] else f"{record['control_label']}: {sides['Control']}",
        "With the filter": sides["Filter"],
        **{heading: _difference_text(record, name, decimals) for name, heading in HEADINGS.items()},
    }


def _decimals(pooled_std: float, fewest: int) -> int:
    """As many as show two digits of a deviation between runs."""
    return max(fewest, min(1 - math.floor(math.log10(pooled_std)), 6)) if pooled_std > 0 else fewest


def _side_text(record: Record, side: str, decimals: int) -> str:
    own = {name: record[f"{side}_{name}"] for name in ("runs", "n", "mean", "std", "learned", "median")}
    remarks = ["none learned"] if own["n"] and not own["learned"] else []
    return ours_text(own, {"without a number": own["runs"] - own["n"]}, decimals, *remarks)


def _difference_text(record: Record, name: str, decimals: int) -> str:
    """ "+1.20 (+0.40 to +2.00), p = 0.011 [0.14]", with the other test's p where that is beyond 0.05 and this not."""
    estimate, low, high = (signed(record[f"{name}_{end}"], decimals) for end in ("difference", "low", "high"))
    p, other, adjusted = (record[f"{name}_{key}"] for key in ("p", "other_p", "p_adjusted"))
    if math.isnan(p):
        return estimate if record[f"{name}_learned"] else f"{estimate}, nothing learned"
    differs = f"; by the other test {_p(other)}" if (p < ALPHA) != (other < ALPHA) else ""
    return f"{estimate} ({low} to {high}), {_p(p)} [{_p(adjusted).removeprefix('p ').removeprefix('= ')}]{differs}"


def _p(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
