"""A table of effects: our numbers without and with each departure, and their difference seed by seed."""

import json
import math
from collections.abc import Sequence

from hidden_dynamics.artifacts.comparison import Record, ours_text
from hidden_dynamics.artifacts.departure_notes import departures_in_title, departures_of
from hidden_dynamics.artifacts.kinds.effect_table import Departure, EffectTable
from hidden_dynamics.artifacts.notes import LAST, RULES, divergence_notes, runs_notes, scale_notes, title_of
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT, Table, number, signed
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.results.departures import listed
from hidden_dynamics.results.statistics import mean_and_std
from hidden_dynamics.results.summary import measured_of

Rows = Sequence[dict[str, str]]


def draw(artifact: EffectTable, sources: Sources) -> Table:
    """A row for each departure and model.

    Raises:
        UserError: the summary is missing or damaged, is of another artifact or scale, or has no runs.
    """
    if not sources.summary:
        raise sources.wrong("summary", f"{artifact.name} has no runs")
    sources.check("summary", artifact=[artifact.name], scale=[artifact.configuration.scale_name])
    records = [_record(artifact, sources.summary, *pair) for pair in artifact.pairs_shown()]
    title = artifact.heading(artifact.settings.metric)
    return Table.of(
        title_of(artifact) + departures_in_title(artifact, sources.summary, records),
        notes(artifact, sources.summary, records),
        [_texts(artifact, record, title) for record in records],
        records,
    )


def _record(artifact: EffectTable, summary: Rows, departure: Departure, without: Cell, having: Cell) -> Record:
    """Both means over seeds, and the mean of the differences over the seeds of which both runs have a number."""
    sides = {name: _runs_of(summary, cell) for name, cell in (("without", without), ("with", having))}
    values = {name: _values(artifact, runs) for name, runs in sides.items()}
    both = [seed for seed in values["with"] if seed in values["without"]]
    difference, spread = mean_and_std(values["with"][seed] - values["without"][seed] for seed in both)
    runs = [*sides["without"], *sides["with"]]
    record = {
        "artifact": artifact.name,
        "scale": artifact.configuration.scale_name,
        "departs": departure.departs,
        "readings": " ".join(_differing(*sides.values())),
        "without": without.task,
        "task": having.task,
        "model": having.model,
        "label": artifact.configuration.models[having.model].label,
        "size": runs[0]["size"] if runs else None,
        "paper_size": having.size,
        "metric": artifact.settings.metric,
        "runs": len(runs),
    }
    for name, own in sides.items():
        mean, std = mean_and_std(values[name].values())
        record |= {f"{name}_runs": len(own), f"{name}_n": len(values[name]), f"{name}_mean": mean, f"{name}_std": std}
    paired = {"pairs": len(both), "difference": difference, "difference_std": spread}
    return record | paired | {"departures": departures_of(artifact, runs)}


def _runs_of(summary: Rows, cell: Cell) -> list[dict[str, str]]:
    wanted = (cell.task, cell.model, "" if cell.size is None else str(cell.size))
    return [row for row in summary if (row["task"], row["model"], row["paper_size"]) == wanted]


def _values(artifact: EffectTable, runs: Rows) -> dict[str, float]:
    """By seed, what the finished runs report; without what is not finite."""
    name = artifact.settings.metric
    factor = artifact.configuration.metrics[name].factor
    found = {row["seed"]: measured_of(row).get(name, math.nan) for row in runs if row["status"] == "finished"}
    return {seed: value * factor for seed, value in found.items() if math.isfinite(value)}


def _differing(without: Rows, having: Rows) -> list[str]:
    """The readings in which the runs of both sides differ."""
    if not (without and having):
        return []
    one, other = (json.loads(rows[0]["readings"]) for rows in (without, having))
    return sorted(name for name in {**one, **other} if one.get(name) != other.get(name))


def _texts(artifact: EffectTable, record: Record, title: str) -> dict[str, str]:
    decimals = artifact.configuration.metrics[artifact.settings.metric].decimals
    return {
        "Model": record["label"],
        "What departs": record["departs"],
        f"{title} without it": _side_text(record, "without", decimals),
        f"{title} with it": _side_text(record, "with", decimals),
        "Difference": _difference_text(record, decimals),
    }


def _side_text(record: Record, side: str, decimals: int) -> str:
    own = {name: record[f"{side}_{name}"] for name in ("runs", "n", "mean", "std")}
    return ours_text(own, {"without a number": own["runs"] - own["n"]}, decimals)


def _difference_text(record: Record, decimals: int) -> str:
    if not record["pairs"]:
        return ABSENT
    text = f"{signed(record['difference'], decimals)} ± {number(record['difference_std'], decimals)}"
    pairs = record["pairs"]
    return f"{text} (of {pairs} {'pair' if pairs == 1 else 'pairs'})"


def notes(artifact: EffectTable, summary: Rows, records: Sequence[Record]) -> list[str]:
    """Sentences on runs, differences, departures from the paper and the readings behind each row."""
    configuration, metric = artifact.configuration, artifact.configuration.metrics[artifact.settings.metric]
    departures = list(dict.fromkeys(part for record in records for part in (record["departures"] or "").split("; ")))
    data = dict.fromkeys(row["dataset_title"] for row in summary)
    title = within_sentence(artifact.heading(artifact.settings.metric))
    texts = [
        *scale_notes(configuration),
        f"Data: {'; '.join(data)}.",
        *([f"Departs from the paper: {'; '.join(filter(None, departures))}."] if any(departures) else []),
        *_about_runs(artifact, summary),
        f"{title}, mean ± sample standard deviation (n − 1) over n seeds of what a run reports{_reported(summary)}. A "
        f"{metric.better} one is better.",
        "Difference: with less without, of the runs of each seed, then mean ± sample standard deviation over these "
        "pairs. Nothing is tested: a mean within its ± says little, and one of two pairs next to nothing.",
        *_readings_notes(records),
        *divergence_notes(summary),
    ]
    return list(dict.fromkeys(texts))


def _about_runs(artifact: EffectTable, summary: Rows) -> list[str]:
    """Seeds and devices of all runs, and the readings of those without a departure."""
    without = [row for row in summary if row["task"] == artifact.settings.without]
    return [runs_notes(summary)[0], f"Without departures: {runs_notes(without)[1]}"] if without else []


def _reported(summary: Rows) -> str:
    """Which evaluation runs report; those with a departure may report another one, and are named."""
    tasks: dict[str, dict[str, None]] = {}
    for row in summary:
        if row["metric"]:
            which = "its last one" if row["rule"] == LAST else f"that of the {RULES[row['rule']]} {row['metric']}"
            tasks.setdefault(which, {})[row["task_title"]] = None
    first, *others = tasks or [""]
    texts = [first, *(f"on {listed([f'“{title}”' for title in tasks[which]])} {which}" for which in others)]
    return f" (of its evaluations {', but '.join(texts)})" if tasks else ""


def _readings_notes(records: Sequence[Record]) -> list[str]:
    """The readings behind each departure: “raw attention”: latent_mixing."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        found.setdefault(record["departs"], {}).update(dict.fromkeys(record["readings"].split()))
    texts = [f"“{departs}”: {listed(sorted(names))}" for departs, names in found.items() if names]
    return [f"Readings that are released with it and published without it: {'; '.join(texts)}."] if texts else []
