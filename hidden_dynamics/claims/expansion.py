"""From an entry of published/claims.yaml to single claims: one comparison or one number each."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hidden_dynamics.papers.claims import claims_about, several
from hidden_dynamics.configuration import Configuration, known
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.published import NOTHING, load_published, published_task, row_of

Size = int | str | None
FIXED = {"faster": "train_loss", "overfitting": "test_loss", "gradients": "gradient_norm", "smaller": "parameters"}
FEWEST_RANKED = 5  # with four, even the same order has p = 2 / 24


@dataclass(frozen=True)
class Cell:
    """A model at one of the paper's sizes on a task."""

    task: str
    model: str
    size: Size


@dataclass(frozen=True)
class Number:
    """A published number; `quoted` where the paper took it from another one and did not run the model."""

    value: float
    std: float | None = None
    quoted: bool = False


@dataclass(frozen=True)
class Claim:
    """One thing that the paper says and runs can contradict.

    Attributes:
        kind: names its test (hidden_dynamics.claims.judge).
        says: the paper's sentence or table, in other words; `statement` is this claim's share of it.
        printed: the published numbers of subject and reference, None where there is none.
        ranked: of a ranking, the cells and their published numbers.
        against_table: whether the paper's own table contradicts it.
    """

    id: str
    artifact: str
    source: str
    says: str
    kind: str
    statement: str
    task: str
    metric: str
    subject: Cell | None = None
    reference: Cell | None = None
    printed: tuple[Number | None, Number | None] = (None, None)
    ranked: Mapping[Cell, float] = field(default_factory=dict)
    against_table: bool = False

    @property
    def paper(self) -> str:
        return self.artifact.split("_")[0]


def claims_of(configuration: Configuration, artifact: str) -> list[Claim]:
    """All claims that rest on an artifact, in the order of the file; a pair that a sentence has is not repeated.

    Raises:
        UserError: an entry does not fit the artifact.
    """
    claims: list[Claim] = []
    for entry in claims_about(artifact):
        known_pairs = {_pair(claim) for claim in claims if claim.kind == "better" and not claim.against_table}
        new = _expanded(configuration, entry)
        claims += [claim for claim in new if entry["kind"] != "ordering" or _pair(claim) not in known_pairs]
    return claims


def _pair(claim: Claim) -> tuple:
    return claim.kind == "better", claim.task, claim.metric, frozenset((claim.subject, claim.reference))


def _expanded(configuration: Configuration, entry: Mapping) -> list[Claim]:
    artifact = configuration.artifacts[entry["artifact"]]
    published = load_published(artifact["published"]) if "published" in artifact else {}
    make = _Maker(configuration, entry, artifact, published)
    if entry["kind"] == "ordering":
        return [*make.table_pairs(), *make.rankings(), *make.values()]
    if entry["kind"] == "value":
        return list(make.values())
    if entry["kind"] == "ratio":
        return list(make.ratios())
    return list(make.comparisons())


def tasks_of(artifact: Mapping) -> list[str]:
    panels = [panel["task"] for panel in artifact.get("panels", [])]
    return artifact.get("tasks") or ([artifact["task"]] if "task" in artifact else list(dict.fromkeys(panels)))


@dataclass(frozen=True)
class _Maker:
    configuration: Configuration
    entry: Mapping[str, Any]
    artifact: Mapping[str, Any]
    published: Mapping[str, Any]

    def claim(self, kind: str, statement: str, task: str, metric: str, *cells: Cell, **more: Any) -> Claim:
        places = [f"{cell.model}-{cell.size}" if cell.size is not None else cell.model for cell in cells]
        name = ":".join([self.entry["id"], *([kind] if kind != self.entry["kind"] else []), task, metric, *places])
        shared = {key: self.entry[key] for key in ("artifact", "source", "says")}
        shared["against_table"] = self.entry.get("against_table", False)
        pair = dict(zip(("subject", "reference"), cells, strict=False))
        return Claim(id=name, kind=kind, statement=statement, task=task, metric=metric, **shared, **pair, **more)

    def comparisons(self) -> Iterator[Claim]:
        """Every combination of the entry's tasks, metrics, sizes, subjects and references."""
        kind = self.entry["kind"]
        metrics = [FIXED[kind]] if kind in FIXED else self.entry.get("metrics") or list(self.published["metrics"])
        tasks = self.entry.get("tasks") or tasks_of(self.artifact)
        sizes = [(size, size) if not isinstance(size, list) else tuple(size) for size in self.entry["sizes"]]
        models = several(self.entry["subject"]), several(self.entry["reference"])
        for task, metric, size, subject, reference in itertools.product(tasks, metrics, sizes, *models):
            pair = Cell(task, subject, size[0]), Cell(task, reference, size[1])
            printed = self.number(pair[0], metric), self.number(pair[1], metric)
            yield self.claim(kind, self.compared(kind, metric, *pair), task, metric, *pair, printed=printed)

    def table_pairs(self) -> Iterator[Claim]:
        """Every row of a table of results against the baseline of its size, in the printed direction."""
        if self.published["kind"] != "results":
            return
        baseline, rows = self.published["baseline"], self.artifact["rows"]
        for row, task, (metric, about) in itertools.product(
            rows, tasks_of(self.artifact), self.published["metrics"].items()
        ):
            pair = Cell(task, row["model"], row.get("size")), Cell(task, baseline, row.get("size"))
            numbers = self.number(pair[0], metric), self.number(pair[1], metric)
            if row["model"] == baseline or None in numbers or abs(numbers[0].value - numbers[1].value) < NOTHING:
                continue
            ahead = (numbers[0].value > numbers[1].value) == (about["better"] == "higher")
            (subject, reference), printed = (pair, numbers) if ahead else (pair[::-1], numbers[::-1])
            statement = self.compared("better", metric, subject, reference)
            yield self.claim("better", statement, task, metric, subject, reference, printed=printed)

    def rankings(self) -> Iterator[Claim]:
        """Of every task and metric with enough rows, their order."""
        for task, metric, ranked in self.ranked():
            if len(ranked) >= FEWEST_RANKED:
                about = f"{len(ranked)} {self.place()} by {self.title(metric)} on {self.task(task)}"
                statement = f"Our order of the {about} agrees with the printed one, more than by chance."
                yield self.claim("ranking", statement, task, metric, ranked=ranked)

    def place(self) -> str:
        return "cells of the grid" if self.published["kind"] == "grid" else "rows of the table"

    def ranked(self) -> Iterator[tuple[str, str, dict[Cell, float]]]:
        if self.published["kind"] == "grid":
            for panel in self.artifact["panels"]:
                yield panel["task"], panel["metric"], self.grid(panel)
            return
        for task, metric in itertools.product(tasks_of(self.artifact), self.published["metrics"]):
            cells = [Cell(task, row["model"], row.get("size")) for row in self.artifact["rows"]]
            numbers = {cell: self.number(cell, metric) for cell in cells}
            yield task, metric, {cell: number.value for cell, number in numbers.items() if number}

    def grid(self, panel: Mapping) -> dict[Cell, float]:
        """The published numbers of a grid's places that are configured here."""
        task, model = panel["task"], panel["model"]
        paper_task = published_task(self.configuration, task)
        row = next(row for row in self.published["rows"] if (row["task"], row["model"]) == (paper_task, model))
        ((rows, row_values),), ((columns, column_values),) = row["rows"].items(), row["columns"].items()
        places = {
            Cell(task, model, f"{rows}{one}-{columns}{other}"): value
            for one, values in zip(row_values, row["values"], strict=True)
            for other, value in zip(column_values, values, strict=True)
        }
        configured = self.configuration.tasks[task]["models"][model]["sizes"]
        return {cell: value for cell, value in places.items() if cell.size in configured}

    def values(self) -> Iterator[Claim]:
        """Every number that the paper measured itself; those that it quotes are no claims of its own."""
        for cell, metric in self.printed_cells():
            number = self.number(cell, metric)
            if number is not None and not number.quoted:
                spread = "" if number.std is None else f" ± {number.std:g}"
                place = f"on {self.task(cell.task)}{self.size(cell)}"
                statement = f"{self.model(cell)} has a {self.title(metric)} of {number.value:g}{spread} {place}."
                yield self.claim("value", statement, cell.task, metric, cell, printed=(number, None))

    def printed_cells(self) -> Iterator[tuple[Cell, str]]:
        kind = self.published["kind"]
        if kind == "results":
            for row, task in itertools.product(self.artifact["rows"], tasks_of(self.artifact)):
                for metric in self.published["metrics"]:
                    yield Cell(task, row["model"], row.get("size")), metric
        elif kind == "silhouette":
            for model in self.artifact["models"]:
                yield Cell(self.artifact["task"], model, self.artifact.get("size")), "silhouette"
        elif kind == "losses":
            for row, panel in itertools.product(self.published["rows"], self.artifact["panels"]):
                if row["task"] == panel["task"]:
                    yield Cell(row["task"], row["model"], panel.get("size")), self.published["metric"]

    def ratios(self) -> Iterator[Claim]:
        """Every cost against the baseline's: on which side of it, and the printed ratio."""
        task, size = self.artifact["task"], self.artifact.get("size")
        reference = Cell(task, self.published["baseline"], size)
        quantities = [key for key in self.published["quantities"] if key.endswith(self.artifact.get("quantity", ""))]
        for model, quantity in itertools.product(self.artifact["models"], quantities):
            subject = Cell(task, model, size)
            if subject == reference:
                continue
            printed = self.number(subject, quantity), self.number(reference, quantity)
            ratio = printed[0].value / printed[1].value
            about = f"{self.model(subject)}’s {quantity.replace('_', ' ')} on {self.task(task)}"
            statement = f"{about} is {side_of(ratio)} {self.model(reference)}’s{self.size(subject)}."
            yield self.claim("ratio", statement, task, quantity, subject, reference, printed=printed)
            statement = f"{about} is {ratio:.2f} times {self.model(reference)}’s{self.size(subject)}."
            yield self.claim("value", statement, task, quantity, subject, reference, printed=printed)

    def number(self, cell: Cell, metric: str) -> Number | None:
        """What the paper prints for a cell: its own number, or else the best that it quotes."""
        published, kind = self.published, self.published.get("kind")
        task = published_task(self.configuration, cell.task)
        if kind in ("results", "costs", "silhouette"):
            row = row_of(published, cell.model, cell.size) or {}
            if kind == "costs":
                return _number(row.get("values", {}).get(metric))
            if kind == "silhouette":
                return _number(row.get("mean"), row.get("std"))
            own = row.get("values", {}).get(task, {}).get(metric, {})
            quoted = [item["value"] for item in row.get("literature", {}).get(task, {}).get(metric, [])]
            if own or not quoted:
                return _number(own.get("mean"), own.get("std"))
            best = max if published["metrics"][metric]["better"] == "higher" else min
            return Number(best(quoted), quoted=True)
        if kind == "losses" and metric == published["metric"]:
            return _number((row_of(published, cell.model, None, task) or {}).get("value"))
        return None

    def compared(self, kind: str, metric: str, subject: Cell, reference: Cell) -> str:
        """The comparison in words."""
        where = f"on {self.task(subject.task)}"
        one, other = self.model(subject), self.model(reference)
        if subject.size == reference.size:
            where += self.size(subject)
        else:
            one, other = f"{one} (N = {subject.size})", f"{other} (N = {reference.size})"
        metric_text, more = self.title(metric), "higher" if higher_is_better(metric) else "lower"
        return {
            "better": f"{one} has a {more} {metric_text} than {other} {where}.",
            "similar": f"{one} has about the {metric_text} of {other} {where}.",
            "steadier": f"{one}’s {metric_text} varies less between seeds than {other}’s {where}.",
            "faster": f"{one} reaches a train loss in fewer iterations than {other} {where}.",
            "overfitting": f"{one}’s test loss rises less above its lowest than {other}’s {where}.",
            "gradients": f"{one}’s gradients reach the early steps better than {other}’s {where}.",
            "smaller": f"{one} has fewer parameters than {other} {where}.",
        }[kind]

    def title(self, metric: str) -> str:
        about = self.published.get("metrics", {}).get(metric, {})
        title = about.get("title", metric.replace("_", " "))
        return title[0].lower() + title[1:]

    def model(self, cell: Cell) -> str:
        return self.configuration.models[known(cell.model, self.configuration.models, "model", self.origin)]["label"]

    def task(self, task: str) -> str:
        """The paper's name of a task, with the reading where the task stands for one of two."""
        return self.configuration.tasks[known(task, self.configuration.tasks, "task", self.origin)]["title"]

    def size(self, cell: Cell) -> str:
        return f", N = {cell.size}" if isinstance(cell.size, int) else ""

    @property
    def origin(self) -> str:
        return f"published/claims.yaml: {self.entry['id']}"


def _number(value: float | None, std: float | None = None) -> Number | None:
    return None if value is None else Number(value, std)


def higher_is_better(metric: str) -> bool:
    return metric.endswith("accuracy") or metric == "silhouette"


def side_of(ratio: float, margin: float = 0.05) -> str:
    """In words, for statements; the interval is held to the same three regions."""
    return {1: "more than", -1: "less than", 0: "about the same as"}[region_of(ratio, margin)]


def region_of(ratio: float, margin: float) -> int:
    """1 above 1 + margin, -1 below 1 / (1 + margin), 0 between."""
    return int(ratio > 1 + margin) - int(ratio < 1 / (1 + margin))


def check(claims: Sequence[Claim]) -> None:
    """Raises `UserError` where two claims are one."""
    names = [claim.id for claim in claims]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"published/claims.yaml says twice: {', '.join(twice)}.")
