"""A table of what momentum adds to the scale of the input, task by task and filter by filter."""

import math
from collections.abc import Sequence

from hidden_dynamics.artifacts.comparison import Record, ours_text, size_text
from hidden_dynamics.artifacts.figure_notes import made_note, scale_note, subtitle_of
from hidden_dynamics.artifacts.kinds.contrast_table import ContrastTable
from hidden_dynamics.artifacts.kinds.contrast_table.differences import ALPHA, SIDES, records_of
from hidden_dynamics.artifacts.kinds.contrast_table.words import about_contrasts
from hidden_dynamics.artifacts.notes import divergence_notes
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT, Table, number, signed

HEADINGS = {"s": "What s does: control less plain core", "momentum": "What μ adds: filter less control"}


def draw(artifact: ContrastTable, sources: Sources) -> Table:
    """A row for each filter.

    Raises:
        UserError: as `records_of`.
    """
    configuration, summary, records = artifact.configuration, sources.summary, records_of(artifact, sources)
    return Table.of(
        f"{artifact.settings.heading}; {subtitle_of(configuration, summary)}",
        [scale_note(configuration, summary), *_notes(records), *divergence_notes(summary), made_note(summary)],
        [_row(artifact, record) for record in records],
        records,
    )


def _row(artifact: ContrastTable, record: Record) -> dict[str, str]:
    metric = artifact.configuration.metrics[record["metric"]]
    decimals = _decimals(record["deviation"], metric.decimals)
    sides = {name.capitalize(): _side_text(record, name, decimals) for name in SIDES if name != "plain"}
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


def _decimals(deviation: float, fewest: int) -> int:
    """As many as show two digits of a deviation between runs."""
    return max(fewest, min(1 - math.floor(math.log10(deviation)), 6)) if deviation > 0 else fewest


def _side_text(record: Record, side: str, decimals: int) -> str:
    """Mean ± deviation over seeds; where some have learned and others have not, no ±: it would be of neither."""
    own = {name: record[f"{side}_{name}"] for name in ("runs", "n", "mean", "std", "learned")}
    learned = [f"learned {own['learned']} of {own['n']}"] if own["learned"] < own["n"] else []
    if 0 < own["learned"] < own["n"]:
        return f"{number(own['mean'], decimals)} (n = {own['n']}; {learned[0]})"
    return ours_text(own, {"without a number": own["runs"] - own["n"]}, decimals, *learned)


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


def _notes(records: Sequence[Record]) -> list[str]:
    tests = (
        "A seed's runs share their initial weights and the order of the data: where the p of the other test, seed by "
        "seed or not, is on the other side of 0.05, it stands beside. In square brackets: p by Holm's method over the "
        f"{records[0]['tests']} different tests of this table."
    )
    return [
        "Mean ± sample standard deviation (n − 1) over n seeds of what a run reports. Differences are oriented: above "
        "0 the first is better.",
        *about_contrasts(records),
        *([tests] if records[0]["tests"] else []),
    ]
