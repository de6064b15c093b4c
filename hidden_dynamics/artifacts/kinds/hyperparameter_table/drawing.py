"""A table of hyperparameters: what is configured at a scale, with every departure from the published value marked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy
import pandas

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.artifacts.notes import readings_note, scale_notes
from hidden_dynamics.papers.published import load_published, load_tasks, published_task, row_of
from hidden_dynamics.artifacts.tables import ABSENT, Table
from hidden_dynamics.configuration.runs import resolve

COLUMNS = {
    "mu": "μ",
    "s": "s",
    "beta": "β",
    "restart": "F",
    "K": "K",
    "initialisation": "Initialisation",
    "forget_bias": "Forget bias",
    "optimiser": "Optimiser",
    "learning_rate": "Learning rate",
    "alpha": "α",
    "orthogonal_optimiser": "Orthogonal optimiser",
    "orthogonal_learning_rate": "Orthogonal learning rate",
    "clip_norm": "Clip norm",
    "batch_size": "Batch size",
    "epochs": "Epochs",
    "iterations_per_epoch": "Iterations per epoch",
}
# What few tasks have stands below the table: columns would make it too wide. A mapping has a cell for each entry.
DETAIL = "details."
DETAILS = {
    "embedding_size": "embedding",
    "layers": "layers",
    "dropouts": "dropout",
    "bptt": "steps of backpropagation",
    "activation_regularisation": "activation regularisation",
    "temporal_regularisation": "temporal activation regularisation",
    "weight_decay": "weight decay",
    "averaging": "averaging of the weights",
    "evaluation_batch_sizes": "batch size of the evaluation",
}
OPTIMISERS = {"name": "optimiser", "lr": "learning_rate", "alpha": "alpha", "weight_decay": "weight_decay"}
_MISSING = object()


@dataclass(frozen=True)
class Cell:
    """A configured value and the published one; `_MISSING` where there is none."""

    value: Any = _MISSING
    published: Any = _MISSING

    @property
    def differs(self) -> bool:
        if self.published is _MISSING:
            return False
        left, right = (v.lower() if isinstance(v, str) else v for v in (self.value, self.published))
        return left != right

    @property
    def text(self) -> str:
        return f"{_text(self.value)} (published {_text(self.published)})" if self.differs else _text(self.value)


def hyperparameter_table(configuration: Configuration, artifact: str) -> Table:
    """The configured hyperparameters of the artifact's models, one row per task and size, beside the published ones.

    Raises:
        UserError: the file of published values is missing or malformed.
    """
    entry = configuration.artifacts[artifact]
    published = load_published(entry["published"])
    tasks = load_tasks(entry["published"])
    rows, readings = [], []
    for task, model, size in _configured(configuration, entry["models"]):
        spec = resolve(configuration, task, model, size, configuration.seeds[0]).spec
        readings.append(spec["readings"])
        theirs = published_task(configuration, task)
        row = row_of(published, model, size, theirs)
        cells = _cells(spec, size, row or {}, tasks.get(theirs, {}), published.get("by_definition", {}))
        rows.append({"task": task, "model": model, "paper_size": size, "published": row, "cells": cells})
    departs = any(cell.differs for row in rows for cell in row["cells"].values())
    return Table(
        title=f"{entry['title']} ({entry['source']}): {configuration.scale_name} scale"
        + (", which departs from the paper's settings" if departs else ""),
        notes=_notes(configuration, published, rows, readings),
        frame=_readable(configuration, rows, published["source"]["table"]),
        data=_data(configuration, artifact, rows),
    )


def _configured(configuration: Configuration, models: list[str]) -> list[tuple[str, str, int | str | None]]:
    """(task, model, paper's size) of every row; grids and runs repeated for their gradients are not the paper's."""
    return [
        (task, model, size)
        for model in models
        for task, entry in configuration.tasks.items()
        if model in entry["models"] and "grid" not in entry["models"][model]
        if "record_gradients" not in entry["training"]
        for size in entry["models"][model].get("sizes", [None])
    ]


def _cells(spec: Mapping, paper_size: Any, row: Mapping, task: Mapping, by_definition: Mapping) -> dict[str, Cell]:
    """What is configured for one run beside what the row of a table and the text about the task say."""
    theirs = {**task.get("settings", {}), **row.get("settings", {})}
    ours = {**by_definition, **_settings(spec)}
    size = {"value": spec["hyperparameters"].get("hidden_size", paper_size), "published": paper_size}
    cells = {
        "dataset": Cell(spec["dataset"], task.get("dataset", _MISSING)),
        "size": Cell(**size) if paper_size is not None else Cell(),
    }
    said = task.get("data", {}) if not cells["dataset"].differs else {}
    cells |= {f"data.{key}": Cell(value, said.get(key, _MISSING)) for key, value in spec["data"].items()}
    details = _flat({name: ours[name] for name in DETAILS if name in ours})
    cells |= {f"{DETAIL}{name}": Cell(value, theirs.get(name, _MISSING)) for name, value in details.items()}
    return cells | {name: Cell(ours.get(name, _MISSING), theirs.get(name, _MISSING)) for name in COLUMNS}


def _flat(settings: Mapping) -> dict[str, Any]:
    """Mappings written out: {"dropouts": {"input": 0.4}} becomes {"dropouts.input": 0.4}."""
    flat = {}
    for name, value in settings.items():
        flat |= {f"{name}.{key}": v for key, v in value.items()} if isinstance(value, Mapping) else {name: value}
    return flat


def _settings(spec: Mapping) -> dict[str, Any]:
    """A run's specification under the names of the published tables."""
    training = {key: value for key, value in spec["training"].items() if key != "optimisers"}
    settings = {**spec["task_settings"], **spec["hyperparameters"], **training}
    for optimiser, prefix in (("main", ""), ("orthogonal", "orthogonal_")):
        entry = spec["training"]["optimisers"].get(optimiser, {})
        names = {key: f"{prefix}{name}" for key, name in OPTIMISERS.items()}
        settings |= {names[key]: value for key, value in entry.items() if key in names}
    settings.setdefault("iterations_per_epoch", "one pass")
    return settings


def _readable(configuration: Configuration, rows: list[dict], table: str) -> pandas.DataFrame:
    """The cells as text; a row that the paper's `table` does not have says so."""
    used = [name for name in COLUMNS if any(_present(row["cells"][name]) for row in rows)]
    return pandas.DataFrame(
        [
            {
                "Task": configuration.tasks[row["task"]]["title"] + ("" if row["published"] else f" (not in {table})"),
                "Model": configuration.models[row["model"]]["label"],
                "Data": _data_text(configuration, row["cells"]),
                "N": row["cells"]["size"].text,
                **{COLUMNS[name]: row["cells"][name].text for name in used},
            }
            for row in rows
        ]
    )


def _present(cell: Cell) -> bool:
    return cell.value is not _MISSING or cell.published is not _MISSING


def _data_text(configuration: Configuration, cells: Mapping[str, Cell]) -> str:
    titles = {name: dataset["title"] for name, dataset in configuration.datasets.items()}
    dataset = Cell(*(titles.get(name, name) for name in (cells["dataset"].value, cells["dataset"].published)))
    settings = [f"{name.removeprefix('data.')} {cell.text}" for name, cell in cells.items() if name.startswith("data.")]
    return ": ".join(part for part in (dataset.text, ", ".join(settings)) if part)


def _data(configuration: Configuration, artifact: str, rows: list[dict]) -> pandas.DataFrame:
    records = []
    for row in rows:
        record = {
            "artifact": artifact,
            "scale": configuration.scale_name,
            "task": row["task"],
            "model": row["model"],
            "differs": " ".join(name for name, cell in row["cells"].items() if cell.differs),
        }
        for name, cell in row["cells"].items():
            record[name] = None if cell.value is _MISSING else cell.value
            record[f"published_{name}"] = None if cell.published is _MISSING else cell.published
        records.append(record)
    return pandas.DataFrame(records).dropna(axis="columns", how="all")


def _notes(configuration: Configuration, published: Mapping, rows: list[dict], readings: list[Mapping]) -> list[str]:
    count = sum(cell.differs for row in rows for cell in row["cells"].values())
    notes = [
        *scale_notes(configuration),
        f"Seeds: {', '.join(map(str, configuration.seeds))}. Device: {configuration.settings['device']}. "
        f"Precision: {configuration.settings['precision']}. This table is made from the configuration, not from runs.",
        *_details(configuration, rows),
        readings_note(readings, [configuration.tasks[row["task"]]["title"] for row in rows]),
        f"{count} values differ from the published ones, which stand beside them."
        if count
        else "No value differs from a published one.",
    ]
    if any(isinstance(row["cells"]["iterations_per_epoch"].value, int) for row in rows):
        notes.append(
            "The paper counts epochs of generated data without saying how many iterations one has; it is our choice."
        )
    unstated = _unstated(rows)
    if unstated:
        notes.append(f"Not stated in the paper for some or all rows, and not compared there: {', '.join(unstated)}.")
    for name, value in published.get("by_definition", {}).items():
        notes.append(f"{COLUMNS[name]} = {_text(value)} by definition of the cell.")
    return [
        *notes,
        *published["notes"],
        *_not_configured(configuration, published, rows),
        *_not_published(configuration, rows),
    ]


def _details(configuration: Configuration, rows: list[dict]) -> list[str]:
    """What the columns leave out of a task's settings, in words, once for all models that share it."""
    texts: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        cells = {name.removeprefix(DETAIL): cell for name, cell in row["cells"].items() if name.startswith(DETAIL)}
        if cells:
            place = (configuration.tasks[row["task"]]["title"], _details_text(cells))
            texts.setdefault(place, []).append(configuration.models[row["model"]]["label"])
    titles = [title for title, _ in texts]
    return [
        f"{title if titles.count(title) == 1 else ', '.join([title, *dict.fromkeys(labels)])}: {text}."
        for (title, text), labels in texts.items()
    ]


def _details_text(cells: Mapping[str, Cell]) -> str:
    """For instance "embedding 32 (published 400); dropout: input 0.4, layer 0.25"."""
    groups: dict[str, list[str]] = {}
    for name, cell in cells.items():
        group, dot, key = name.partition(".")
        title = DETAILS[group] + (":" if dot else "")
        groups.setdefault(title, []).append(f"{key.replace('_', ' ')} {cell.text}".strip())
    return "; ".join(f"{title} {', '.join(parts)}" for title, parts in groups.items())


def _unstated(rows: list[dict]) -> list[str]:
    """What is configured and has no published value, in the order of the table."""
    names = [
        _title(name)
        for row in rows
        for name, cell in row["cells"].items()
        if cell.value is not _MISSING and cell.published is _MISSING
    ]
    return list(dict.fromkeys(names))


def _title(name: str) -> str:
    """A cell's name in words."""
    if name.startswith(DETAIL):
        return DETAILS[name.removeprefix(DETAIL).partition(".")[0]]
    return COLUMNS.get(name, name.removeprefix("data."))


def _not_configured(configuration: Configuration, published: Mapping, rows: list[dict]) -> list[str]:
    shown = [row["published"] for row in rows]
    names: dict[str, list[str]] = {}
    for row in published["rows"]:
        if row not in shown:
            size = f", N = {row['size']}" if "size" in row else ""
            names.setdefault(row["model"], []).append(f"{row['printed']}{size}")
    labels = {model: configuration.models.get(model, {}).get("label", model) for model in names}
    listed = "; ".join(f"{labels[model]} on {' / '.join(where)}" for model, where in names.items())
    return [f"Published, and not configured yet: {listed}."] if names else []


def _not_published(configuration: Configuration, rows: list[dict]) -> list[str]:
    names = [
        f"{configuration.models[row['model']]['label']} on {configuration.tasks[row['task']]['title']} "
        f"(N = {row['paper_size']})"
        for row in rows
        if row["published"] is None
    ]
    if not names:
        return []
    return [f"Not in the paper's table, which gives none of their values (ours are a choice): {'; '.join(names)}."]


def _text(value: Any) -> str:
    if value is _MISSING:
        return ABSENT
    if value is None:
        return "none"
    return numpy.format_float_positional(value, trim="0") if isinstance(value, float) else str(value)
