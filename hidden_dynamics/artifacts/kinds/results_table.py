"""A table of results: our numbers over seeds beside the published ones, and below them what no network scores: naive
and classical baselines and, where known, the best possible predictor. These are not held to anything or judged."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from hidden_dynamics.artifacts import comparison
from hidden_dynamics.artifacts.base import REQUIRED, ArtifactSettings, BesidePublished
from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.kinds.solver_table import MOVES, moves, notes_of
from hidden_dynamics.artifacts.notes import choices_notes, divergence_notes, reported_note, runs_note
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT, Column, Table, number
from hidden_dynamics.configuration import Entry, known
from hidden_dynamics.configuration.entries import listed
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.configuration.schema import Names, Size
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.deviations import original_of
from hidden_dynamics.papers.published import load_tasks, published_task
from hidden_dynamics.results.seeds import by_seed, classical_of, naive_of

Runs = Sequence[Mapping[str, str]]
LIMIT = "Limit (optimal predictor)"
OTHERS = {  # rows below those of networks, with what is said of them
    "naive": "Naive: predictions that need no network, on the data of the same seeds.",
    "classical": "Classical: fitted without a network, and never to a test part; no verdict depends on it.",
    "limit": "",
}
BEST_OF_ALL = "best of all epochs"
PARAMETERS = {"parameters": "Parameters", "published_parameters": "Published parameters"}  # a record's, as headings


class Row(Entry):
    """A model at one of the paper's sizes.

    Attributes:
        tasks: those that it is shown on, where these are not all of the artifact's.
    """

    model: str
    size: Size | None = None
    tasks: Names | None = None


class Settings(ArtifactSettings):
    """
    Attributes:
        metrics: those that are shown; null: all of the published table.
        extras: whether models of the user's own on the same tasks and sizes are shown, too.
    """

    published: str = REQUIRED
    tasks: Annotated[list[str], Field(min_length=1)]
    rows: Annotated[list[Row], Field(min_length=1)]
    metrics: Names | None = None
    extras: bool = True


class ResultsTable(BesidePublished):
    """Models at sizes of their own, each on all of its tasks."""

    Settings = Settings
    form = "table"
    summarised = True
    floored = True

    def shown(self) -> list[Case]:
        return [
            Case(task, row.model, row.size)
            for row in self.settings.rows
            for task in self.settings.tasks
            if row.tasks is None or task in listed(row.tasks)
        ]

    def tasks(self) -> list[str]:
        return self.settings.tasks

    @property
    def with_extras(self) -> bool:
        return self.settings.extras

    def check(self, where: str) -> None:
        super().check(where)
        for metric in self.metrics():
            known(metric, self.published.content["metrics"], "metric", where)

    def metrics(self) -> list[str]:
        names = self.settings.metrics or list(self.published.content["metrics"])
        return [known(name, self.configuration.metrics, "metric", self.configured_at) for name in names]

    def metrics_on(self, task: str) -> list[str]:
        own = self.published.metrics_on(published_task(self.configuration, task))
        return [metric for metric in own if metric in self.metrics()]

    def printed(self) -> Iterator[tuple[Case, str]]:
        for cell in self.shown():
            for metric in self.metrics_on(cell.task):
                yield cell, metric

    def pairs(self) -> Iterator[tuple[Case, Case, str]]:
        for cell, metric in self.printed():
            baseline = cell._replace(model=self.published.baseline)
            if cell != baseline and None not in (self.number(cell, metric), self.number(baseline, metric)):
                yield cell, baseline, metric

    def rankings(self) -> Iterator[tuple[str, str, Mapping[Case, float]]]:
        for task in self.settings.tasks:
            for metric in self.metrics_on(task):
                cells = [cell for cell in self.shown() if cell.task == task]
                numbers = {cell: self.number(cell, metric) for cell in cells}
                yield task, metric, {cell: number.value for cell, number in numbers.items() if number}


def draw(artifact: ResultsTable, sources: Sources) -> Table:
    """The paper's rows in its order, then the models of the user's own, the baselines, and the limit; a
    `UserError` where tasks have the same title."""
    summary = sources.summary
    records = comparison.compared(artifact, _records(artifact, summary), sources.verdicts)
    others, tasks = _others(artifact, summary), load_tasks(artifact.paper)
    theirs = dict.fromkeys(record["published_task"] for record in records)
    below = [note for task in theirs for note in tasks.get(task, {}).get("notes", ())]
    repeating = _repeating(records)
    rows = _rows(artifact, [record for record in records if record["task"] not in repeating], others)
    notes = _notes(artifact, summary, records, repeating)
    kinds = {record["model"] for record in others}
    notes += [note for kind, note in OTHERS.items() if note and kind in kinds]
    return comparison.table(artifact, records, rows, notes, others=others, below=below)


# As data


def _records(artifact: ResultsTable, summary: Runs) -> list[Record]:
    """A record for each shown cell and metric: our numbers over seeds, and the published ones."""
    found: dict[Case, list[Mapping[str, str]]] = {cell: [] for cell in artifact.shown()}
    for row in summary:
        found.setdefault(Case(row["task"], row["model"], comparison.size_of(row["paper_size"])), []).append(row)
    return [
        {
            **comparison.begun(artifact, cell, metric, runs),
            **_ours(runs),
            **comparison.ours_of(runs, metric, artifact.configuration.metrics[metric]),
            **_theirs(artifact, cell, metric),
            "moves": moves(runs, metric),
        }
        for cell, runs in found.items()
        for metric in artifact.metrics_on(cell.task)
    ]


def _ours(runs: Runs) -> Record:
    """Of the runs, whatever the metric."""
    first = runs[0] if runs else dict.fromkeys(("parameters", "dataset", "dataset_title", "stand_in_for"))
    return {
        "runs": len(runs),
        **{name: first[name] or None for name in ("parameters", "dataset", "dataset_title", "stand_in_for")},
        "chosen_by": " ".join(sorted({row["metric"] for row in runs if row["status"] == "finished"} - {""})),
        "seeds": " ".join(sorted({row["seed"] for row in runs}, key=int)),
        **{name: " | ".join(sorted({row[name] for row in runs})) for name in ("variants", "device", "precision")},
    }


def _theirs(artifact: ResultsTable, cell: Case, metric: str) -> Record:
    task = published_task(artifact.configuration, cell.task)
    row = artifact.published.row(cell.model, cell.size) or {}
    numbers = artifact.published.all_of(task, cell.model, cell.size, metric)
    own = next((each for each in numbers if not each.references), None)
    parameters, decimals = row.get("parameters"), artifact.configuration.metrics[metric].decimals
    quoted = [f"{each.value:.{decimals}f} {list(each.references)}" for each in numbers if each.references]
    return {
        "published_task": task,
        "published_parameters": parameters.get(task) if isinstance(parameters, dict) else parameters,
        "published_mean": own and own.value,
        "published_std": own and own.std,
        "published_quoted": own and own.copied_from or None,
        "published_literature": "; ".join(quoted),
        "published_only_in": row.get("only_in", ""),
    }


def _others(artifact: ResultsTable, summary: Runs) -> list[Record]:
    """A record for each task, metric and baseline, naive or classical, and for the best possible predictor; mean and
    deviation are over the runs' seeds."""
    found = []
    for task in artifact.settings.tasks:
        runs = [row for row in summary if row["task"] == task]
        limits = {row["seed"]: json.loads(row["limits"]) for row in runs if row["limits"]}
        for metric in artifact.metrics_on(task):
            factor = artifact.configuration.metrics[metric].factor
            naive, classical = (by_seed(runs, metric, factor, of) for of in (naive_of, classical_of))
            scores = {("naive", f"Naive: {name}"): of for name, of in naive.items()}
            scores |= {("classical", f"{name[0].upper()}{name[1:]} (classical)"): of for name, of in classical.items()}
            if limits:
                scores["limit", LIMIT] = {seed: limit[metric] * factor for seed, limit in limits.items()}
            for (kind, label), of in scores.items():
                about = {"artifact": artifact.name, "scale": artifact.configuration.scale_name, "task": task}
                about |= {"model": kind, "label": label, "metric": metric}
                found.append(about | {"runs": len(of), **comparison.over_seeds(of.values())})
    return sorted(found, key=lambda record: [*OTHERS].index(record["model"]))


# As text


def _repeating(records: Sequence[Record]) -> set[str]:
    """The tasks without a run whose printed numbers another task, one with runs, shows: of them nothing is left."""
    ran = {record["task"]: record["published_task"] for record in records if record["runs"]}
    return {record["task"] for record in records if record["published_task"] in ran.values()} - {*ran}


def _rows(artifact: ResultsTable, records: Sequence[Record], others: Sequence[Record]) -> list[dict]:
    """A row for each model and size and each of `others`; a group of columns for each task and metric. Where a model's
    size or number of parameters differs between tasks, or it ran on some alone, groups have their own."""
    headings = _headings(artifact, records)
    groups: dict[tuple, list[Record]] = {}
    for record in records:
        groups.setdefault((record["model"], record["paper_size"]), []).append(record)
    about = ("size", *PARAMETERS)
    by_task = any(len({record[name] for record in group}) > 1 for group in groups.values() for name in about)
    rows = []
    for (_, size), group in groups.items():
        row: dict[Column, str] = {"Model": group[0]["label"]}
        row |= {} if by_task else _about(group[0], size)
        for record in group:
            own = _about(record, size) if by_task else {}
            if record["metric"] != artifact.metrics_on(record["task"])[0]:
                own = {name: text for name, text in own.items() if name == "N"}
            texts = own | _texts(artifact, record)
            row |= {(headings[record["task"], record["metric"]], name): text for name, text in texts.items()}
        rows.append(row)
    for label in dict.fromkeys(record["label"] for record in others):
        row = {"Model": label}
        for record in (record for record in others if record["label"] == label):
            decimals, heading = _decimals(artifact, record), headings[record["task"], record["metric"]]
            same = not record["std"] > 1e-9 * abs(record["mean"])  # of all seeds
            row[heading, "ours"] = number(record["mean"], decimals) if same else comparison.ours_text(record, decimals)
        rows.append(row)
    places = ["Model", "N", *PARAMETERS.values(), *headings.values()]
    columns = {column if isinstance(column, tuple) else (column, ""): column for row in rows for column in row}
    columns = [columns[key] for key in sorted(columns, key=lambda key: places.index(key[0]))]
    return [{column: rows[0].get(column, ABSENT) for column in columns}, *rows[1:]]


def _headings(artifact: ResultsTable, records: Sequence[Record]) -> dict[tuple[str, str], str]:
    """By task and metric; the data really used come first."""
    configuration, several = artifact.configuration, len(artifact.metrics()) > 1
    headings = {}
    for task in artifact.settings.tasks:
        text = configuration.tasks[task].title
        data = [record for record in records if record["task"] == task and record["dataset_title"]]
        if data and (original := original_of(configuration, data[0])):
            named = f" (task {text})" if text != original else ""
            text = f"{data[0]['dataset_title']} in place of {original}{named}"
        for metric in artifact.metrics_on(task):
            headings[task, metric] = f"{text}: {artifact.heading(metric)}" if several else text
    if len(set(headings.values())) < len(headings):
        tasks = artifact.settings.tasks
        text = f"config/tasks.yaml: {', '.join(tasks)}: one table shows them; give them titles that differ."
        raise UserError(text, "config/tasks.yaml", f"{tasks[-1]}.title")
    return headings


def _texts(artifact: ResultsTable, record: Record) -> dict[str, str]:
    """A row's cells in one group of columns."""
    decimals = _decimals(artifact, record)
    elsewhere = artifact.published.content.get("chosen_by")  # another number, by which the paper's runs chose theirs
    marks = [BEST_OF_ALL] if elsewhere and record["metric"] in record["chosen_by"].split() else []
    marks += [MOVES] if record["moves"] else []
    quoted = "quoted" if record["published_quoted"] else ""
    about = "; ".join(filter(None, (quoted, record["published_literature"], record["published_only_in"])))
    published = comparison.value_text(record["published_mean"], record["published_std"], decimals)
    if record["published_mean"] is None:
        published, about = record["published_literature"] or ABSENT, ""
    return {
        "ours": comparison.ours_text(record, decimals, *marks),
        "published": f"{published} ({about})" if about else published,
        **comparison.gap_texts(artifact, record, decimals),
    }


def _about(record: Record, size: Size | None) -> dict[str, str]:
    """N as run, and the numbers of parameters, ours and the published, which are those of the paper's size."""
    ours, theirs, run_as = record["parameters"], record["published_parameters"], record["size"]
    at = f" (N = {size})" if run_as not in (size, None) else ""
    texts = (f"{int(ours):,}" if ours else ABSENT, f"{theirs}{at}" if theirs else ABSENT)
    return {"N": comparison.size_text(run_as, size), **dict(zip(PARAMETERS.values(), texts, strict=True))}


def _decimals(artifact: ResultsTable, record: Record) -> int:
    return artifact.configuration.metrics[record["metric"]].decimals


# Notes


def _notes(artifact: ResultsTable, summary: Runs, records: Sequence[Record], repeating: set[str]) -> list[str]:
    configuration, references = artifact.configuration, artifact.published.content.get("references", {})
    titles = [configuration.tasks[task].title for task in artifact.settings.tasks if task in repeating]
    without = f" Without a run, and so without a column: {'; '.join(titles)}." if titles else ""
    data = dict.fromkeys(f"{row['task_title']}: {row['dataset_title']}" for row in summary)
    literature = "; ".join(f"[{key}] {text}" for key, text in references.items())
    return [
        f"Data: {'; '.join(data)}.{without}",
        runs_note(summary),
        reported_note(configuration, summary),
        *divergence_notes(summary),
        *notes_of(configuration, summary, any(record["moves"] for record in records)),
        *([f"Literature: {literature}."] if literature else []),
        *choices_notes(configuration, (record["model"] for record in records)),
    ]
