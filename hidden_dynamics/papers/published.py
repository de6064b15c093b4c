"""The papers' printed numbers, read from published/, whose README describes the files. Quick to import.

Tasks go by their names in published/ (`published_task`). A metric's unit, direction and decimals are in
config/metrics.yaml; here it has at most the heading that the paper gives it.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hidden_dynamics.configuration import Case, Configuration, listed, mistake, read_yaml
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT

PUBLISHED = ROOT / "published"
WITHOUT_NUMBERS = ("grid", "hyperparameters", "tasks")  # kinds of files whose values are settings
Size = int | str | None


@dataclass(frozen=True)
class Number:
    """A printed number, in the unit of config/metrics.yaml.

    Attributes:
        size: None holds for every size.
        value: a mean, or a single number.
        std: its ±.
        maximum: the best of several runs, not their mean.
        copied_from: the paper that printed it first, where this one, surely or very probably, took it from there
            without saying so.
        references: numbers of the paper's references, where it says that it quotes the number.
    """

    task: str
    model: str
    size: Size
    metric: str
    value: float
    std: float | None = None
    maximum: bool = False
    copied_from: str = ""
    references: tuple[int, ...] = ()

    @property
    def quoted(self) -> bool:
        """Whether it is no result of the paper's own runs."""
        return bool(self.copied_from or self.references)


@dataclass(frozen=True)
class GridRow:
    """Printed numbers for each pair of values of two hyperparameters, {name: values} of the rows and of the columns."""

    task: str
    model: str
    size: Size
    metric: str
    title: str
    rows: Mapping[str, list[float]]
    columns: Mapping[str, list[float]]
    values: list[list[float]]
    notes: list[str]

    @property
    def names(self) -> tuple[str, str]:
        """The hyperparameters of its rows and of its columns."""
        return next(iter(self.rows)), next(iter(self.columns))

    def places(self) -> dict[tuple[float, float], float]:
        (rows,), (columns,) = self.rows.values(), self.columns.values()
        return {
            (row, column): value
            for row, values in zip(rows, self.values, strict=True)
            for column, value in zip(columns, values, strict=True)
        }


@dataclass(frozen=True)
class Published:
    """A published file: its content as YAML has it, and its numbers in one list."""

    content: Mapping[str, Any]
    numbers: tuple[Number, ...]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self.content["rows"]

    @property
    def note(self) -> str:
        """A remark that changes how its numbers are to be read; every table of them shows it."""
        return self.content.get("note", "")

    @property
    def notes(self) -> list[str]:
        """Further remarks on its numbers."""
        return self.content.get("notes", [])

    @property
    def place(self) -> str:
        """The table, or else the section."""
        source = self.content["source"]
        return source.get("table") or f"Section {source['section']}"

    @property
    def baseline(self) -> str:
        """The model that the others are held to; where none is named, that of the first row."""
        return self.content.get("baseline") or self.rows[0]["model"]

    def metrics_on(self, task: str) -> list[str]:
        """The metrics that a table of results shows of a task."""
        columns = self.content["metrics"].items()
        return [name for name, column in columns if "tasks" not in column or task in listed(column["tasks"])]

    def heading(self, metric: str) -> str | None:
        """The paper's name for a metric, where that is not its title in config/metrics.yaml."""
        return (self.content.get("metrics", {}).get(metric) or {}).get("title")

    def row(self, model: str, size: Size, task: str | None = None) -> dict[str, Any] | None:
        """The row of a model at a size and, in files that have rows by task, on a task."""
        rows = (row for row in self.rows if row["model"] == model and row.get("size") in (None, size))
        return next((row for row in rows if task is None or row["task"] == task), None)

    def grid(self, task: str, model: str, metric: str) -> GridRow | None:
        rows = (row for row in self.rows if (row["task"], row["model"], row["metric"]) == (task, model, metric))
        return next((GridRow(**row) for row in rows), None)

    def all_of(self, task: str, model: str, size: Size, metric: str) -> list[Number]:
        """The numbers printed of a case and metric: the paper's own, then those that it quotes."""
        sought = (task, model, metric)
        return [n for n in self.numbers if (n.task, n.model, n.metric) == sought and n.size in (None, size)]

    def number(self, configuration: Configuration, case: Case, metric: str) -> Number | None:
        """The paper's own number for a case, or else the best that it quotes; None where it prints none."""
        numbers = self.all_of(published_task(configuration, case.task), case.model, case.size, metric)
        sign = configuration.metrics[metric].sign
        quoted = max(numbers, key=lambda number: sign * number.value, default=None)
        return next((number for number in numbers if not number.references), quoted)


@functools.cache
def load_published(name: str) -> Published:
    """One published file, such as "momentumrnn/table1.yaml"; a `UserError` where it is missing, is no YAML, or has not
    what a file of its kind has."""
    content = read_yaml(PUBLISHED / name)
    try:
        numbers, _ = tuple(_numbers(content)), (content["source"], content["rows"] or content["baseline"])
    except (AttributeError, KeyError, TypeError) as error:
        raise mistake(f"published/{name}", f"{error!r}: published/README.md says what such a file has.") from None
    return Published(content, numbers)


def _numbers(content: Mapping[str, Any]) -> Iterator[Number]:
    kind = content["kind"]
    for row in content["rows"]:
        model, size = row["model"], row.get("size")
        if kind == "results":
            for task, metric, cell in _by_task_and_metric(row["values"]):
                kind_of_mean = cell.get("maximum", False), cell.get("quoted", "")
                yield Number(task, model, size, metric, cell["mean"], cell.get("std"), *kind_of_mean)
            for task, metric, items in _by_task_and_metric(row.get("literature", {})):
                for item in items:
                    yield Number(task, model, size, metric, item["value"], references=tuple(item["keys"]))
        elif kind == "losses":
            yield Number(row["task"], model, size, content["metric"], row["value"])
        elif kind == "costs":
            for quantity, value in row["values"].items():
                yield Number(content["task"], model, size, quantity, value)
        elif kind == "silhouette":
            yield Number(content["task"], model, size, "silhouette", row["mean"], row["std"])
        elif kind not in WITHOUT_NUMBERS:
            raise UserError(f"published/: unknown kind {kind!r}: say in papers/published.py what its numbers are.")


def _by_task_and_metric(values: Mapping[str, Mapping[str, object]]) -> Iterator[tuple[str, str, Any]]:
    return ((task, metric, value) for task, of in values.items() for metric, value in of.items())


@functools.cache
def load_tasks(paper: str) -> dict[str, dict[str, Any]]:
    """What a paper's text, outside its tables, says of each task, by name: dataset, section and, where it says so,
    sizes, data and settings, with notes on its numbers; nothing of a paper of the user's own."""
    path = PUBLISHED / paper / "tasks.yaml"
    return {row["task"]: row for row in read_yaml(path)["rows"]} if path.exists() else {}


@functools.cache
def datasets_of(task: str) -> list[str]:
    """The datasets on which papers have a task of this name in published/, one for each paper that says."""
    papers = sorted(path.parent.name for path in PUBLISHED.glob("*/tasks.yaml"))
    return [row["dataset"] for paper in papers if (row := load_tasks(paper).get(task))]


def published_task(configuration: Configuration, task: str) -> str:
    """The name under which published/ has the numbers of a configured task: `published_as`, or its own."""
    return configuration.tasks[task].published_as or task


def within_sentence(heading: str) -> str:
    """A metric's heading as it stands within a sentence: "test accuracy", but "MSE" and "NegLL" as they are."""
    first = heading.split()[0]
    return heading if first[1:] != first[1:].lower() else heading[0].lower() + heading[1:]
