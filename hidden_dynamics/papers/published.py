"""The papers' printed numbers, read from published/: a typed file for each kind of table or figure.

Every kind answers `number(task, model, size, metric, better)`: what the paper prints, or None. Tasks go by their names
in published/ (`published_task`). A metric's unit, direction and decimals are in config/metrics.yaml; here it has at
most the heading that the paper gives it. published/README.md describes the files.
"""

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hidden_dynamics.configuration import Configuration, Entry, known, read_yaml, typed
from hidden_dynamics.configuration.reading import expecting, listed
from hidden_dynamics.configuration.schema import Different, Names, Positive, Size, Text, Whole
from hidden_dynamics.configuration.schema import Number as Numeric
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT

PUBLISHED = ROOT / "published"
NOTHING = 1e-9  # a gap smaller than this is rounding
Deviation = Annotated[int | float, Field(ge=0), expecting("a standard deviation, 0 or more", within=True)]
Coefficient = Annotated[int | float, Field(ge=0), expecting("a number, 0 or more", within=True)]
Share = Annotated[int | float, Field(ge=0, lt=1), expecting("a number from 0 to below 1", within=True)]
Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Number:
    """A published number.

    Attributes:
        quoted: taken from another paper, which this one may name or not; no result of its own runs.
        runs: how many runs its ± is over, where these are not the paper's number of runs.
        maximum: the best of several runs, not their mean.
    """

    value: float
    std: float | None = None
    quoted: bool = False
    runs: int | None = None
    maximum: bool = False


class Source(Entry):
    """The place of the numbers in the paper; a letter is an appendix."""

    paper: str
    section: str
    table: str | None = None
    figure: str | None = None

    @property
    def place(self) -> str:
        """In words: the table, or else the section."""
        return self.table or f"Section {self.section}"


class Published(Entry):
    """A published file.

    Attributes:
        notes: what is known of its numbers.
    """

    kind: str
    source: Source
    caption: str
    notes: list[str]

    def number(self, task: str, model: str, size: int | str | None, metric: str, better: Better) -> Number | None:
        """The paper's number for a model at a size on a task, in the unit of config/metrics.yaml.

        Args:
            better: the direction of the metric, which chooses among numbers that the paper quotes.
        """
        return None

    def heading(self, metric: str) -> str | None:
        """The paper's name for a metric, where that is not its title in config/metrics.yaml."""
        return None


class Value(Entry):
    """A mean and, where the paper prints one, its ±.

    Attributes:
        runs: how many runs the ± is over, where these are not the paper's five.
        maximum: `mean` is none: it is the best of several runs.
        quoted: the paper that printed the number first, where this one, surely or very probably, took it from there,
            although it does not say so; the table's notes give the evidence.
    """

    mean: Numeric
    std: Deviation | None = None
    runs: Whole | None = None
    maximum: Literal[True] | None = None
    quoted: Text | None = None

    @model_validator(mode="after")
    def _runs_are_those_of_a_deviation(self) -> "Value":
        if self.std is None and self.runs is not None:
            raise PydanticCustomError("runs", "expected runs only beside a std, which is over them")
        return self


class Quoted(Entry):
    """A number of other papers; `keys` are their numbers among the paper's references."""

    value: Numeric
    keys: Annotated[list[int], Field(min_length=1)]


class ResultsRow(Entry):
    """A model at a size.

    Attributes:
        parameters: as printed, by task where they differ; of all of a table's own rows, or of none.
        values: by task and metric.
        literature: by task and metric, what the paper quotes from other papers.
        literature_only: the paper prints no number of its own for that model, which it trained all the same.
        only_in: the section that gives a row which the table does not have.
    """

    model: str
    size: Size | None = None
    parameters: str | dict[str, str] | None = None
    values: dict[str, dict[str, Value]]
    literature: dict[str, dict[str, list[Quoted]]] = {}
    literature_only: Literal[True] | None = None
    only_in: str | None = None

    def parameters_on(self, task: str) -> str | None:
        return self.parameters.get(task) if isinstance(self.parameters, dict) else self.parameters


class Column(Entry):
    """A column of metrics.

    Attributes:
        title: its heading, where the paper calls the metric otherwise than config/metrics.yaml.
        tasks: those that have it, where not all of the table's do.
    """

    title: str | None = None
    tasks: Names | None = None


class Results(Published):
    """Numbers by model, size, task and metric.

    Attributes:
        metrics: the columns, in their order.
        baseline: the model that the others are held to, at the same size, or with `across_sizes` whatever their sizes.
        chosen_by: the metric by which a run chooses its reported evaluation, where it is none of `metrics`; several
            where tasks choose by different ones.
        references: the paper's numbers of references, and what they stand for.
    """

    kind: Literal["results"]
    metrics: Annotated[dict[str, Column], Field(min_length=1)]
    baseline: str
    tasks: Annotated[list[str], Field(min_length=1)]
    across_sizes: Literal[True] | None = None
    chosen_by: str | Names | None = None
    references: dict[int, str] = {}
    rows: Annotated[list[ResultsRow], Field(min_length=1)]

    @model_validator(mode="after")
    def _says_the_parameters_of_all_rows_or_of_none(self) -> "Results":
        given = [row.parameters is not None for row in self.rows if row.only_in is None]
        if any(given) and not all(given):
            text = "expected parameters of every row that is not only_in another section, or of none"
            raise PydanticCustomError("parameters", text)
        return self

    @property
    def choosing(self) -> tuple[str, ...]:
        """The metrics that choose, where they are none of those shown."""
        return listed(self.chosen_by)

    def metrics_on(self, task: str) -> list[str]:
        """The columns that a task has."""
        return [metric for metric, column in self.metrics.items() if column.tasks is None or task in column.tasks]

    def row(self, model: str, size: int | str | None) -> ResultsRow | None:
        return _row_of(self.rows, model, size)

    def number(self, task: str, model: str, size: int | str | None, metric: str, better: Better) -> Number | None:
        """The paper's own number, or else the best that it quotes."""
        row = self.row(model, size)
        if row is None:
            return None
        own = row.values.get(task, {}).get(metric)
        quoted = [item.value for item in row.literature.get(task, {}).get(metric, [])]
        if own is not None:
            return Number(own.mean, own.std, bool(own.quoted), own.runs, bool(own.maximum))
        best = max if better == "higher" else min
        return Number(best(quoted), quoted=True) if quoted else None

    def heading(self, metric: str) -> str | None:
        return self.metrics[metric].title if metric in self.metrics else None


class PrintedSettings(Entry):
    """The cells of a row of hyperparameters; `given()` has those that are printed. ∞ is kept as text."""

    learning_rate: Positive
    batch_size: Whole
    epochs: Whole
    optimiser: str | None = None
    orthogonal_optimiser: str | None = None
    orthogonal_learning_rate: Positive | None = None
    mu: Numeric | None = None
    s: Numeric | None = None
    beta: Numeric | None = None
    restart: Whole | None = None
    K: Annotated[Whole | Literal["∞"] | None, expecting("a whole number, 1 or more, or ∞", within=True)] = None
    dropout: Share | None = None
    weight_decay: Coefficient | None = None
    penalty: Coefficient | None = None
    augmented: Whole | None = None
    attention: str | None = None
    recognition_size: Whole | None = None
    units: Whole | None = None
    solver: dict[str, Any] = {}


class ReleasedSettings(Entry):
    """What the authors' scripts set, where the text does not say it or says something else; `given()` has it.

    Attributes:
        rates: as the training's: the learning rate times `factor` after the epochs in `drops`.
    """

    hidden_size: Whole | None = None
    penalty: Coefficient | None = None
    delta: Positive | None = None
    prep: Whole | None = None
    mixing: Coefficient | None = None
    rates: dict[str, Any] = {}
    epochs: Whole | None = None
    layers: Whole | None = None
    recognition_layers: Whole | None = None
    generative_layers: Whole | None = None
    gru_units: Whole | None = None
    samples: Whole | None = None
    solver: dict[str, Any] = {}


class HyperparametersRow(Entry):
    """The hyperparameters of a model on a task; `printed` is the row's label in the paper."""

    printed: str
    task: str
    model: str
    size: Size | None = None
    settings: PrintedSettings
    released: ReleasedSettings = ReleasedSettings()


class Hyperparameters(Published):
    """`by_definition` are values that the model itself fixes, so that the configuration does not name them."""

    kind: Literal["hyperparameters"]
    by_definition: dict[str, Any] = {}
    rows: Annotated[list[HyperparametersRow], Field(min_length=1)]

    def row(self, model: str, size: int | str | None, task: str) -> HyperparametersRow | None:
        return _row_of([row for row in self.rows if row.task == task], model, size)


class LossesRow(Entry):
    """The final value of a model on a task."""

    task: str
    model: str
    size: Size | None = None
    value: Numeric


class Losses(Published):
    """One final value of the metric per task and model."""

    kind: Literal["losses"]
    metric: str
    rows: Annotated[list[LossesRow], Field(min_length=1)]

    def number(self, task: str, model: str, size: int | str | None, metric: str, better: Better) -> Number | None:
        row = _row_of([row for row in self.rows if row.task == task], model, size)
        return Number(row.value) if row is not None and metric == self.metric else None


Axis = Annotated[
    dict[str, Annotated[list[Numeric], Field(min_length=1), Different]],
    Field(min_length=1, max_length=1),
    expecting("one hyperparameter and its values"),
]


class GridRow(Entry):
    """One grid: a hyperparameter and its values along each axis, and the numbers row by row."""

    task: str
    model: str
    size: Size
    metric: str
    title: str
    rows: Axis
    columns: Axis
    values: list[list[Numeric]]
    notes: list[str]

    @model_validator(mode="after")
    def _has_a_number_for_each_place(self) -> "GridRow":
        ((_, rows),), ((_, columns),) = self.rows.items(), self.columns.items()
        if [len(row) for row in self.values] != [len(columns)] * len(rows):
            raise PydanticCustomError("grid", "expected a number for each pair of the axes' values")
        return self

    def places(self) -> dict[tuple[float, float], float]:
        """The numbers by (row value, column value)."""
        ((_, row_values),), ((_, column_values),) = self.rows.items(), self.columns.items()
        return {
            (row, column): value
            for row, values in zip(row_values, self.values, strict=True)
            for column, value in zip(column_values, values, strict=True)
        }

    @property
    def row_name(self) -> str:
        return next(iter(self.rows))

    @property
    def column_name(self) -> str:
        return next(iter(self.columns))


class Grid(Published):
    """Grids of hyperparameters, one per task."""

    kind: Literal["grid"]
    rows: Annotated[list[GridRow], Field(min_length=1)]

    def row(self, task: str, model: str, metric: str) -> GridRow | None:
        return next((row for row in self.rows if (row.task, row.model, row.metric) == (task, model, metric)), None)


class Quantity(Entry):
    """A measured cost: its heading, and its unit as printed, which need not be right."""

    title: str
    unit: str


class CostsRow(Entry):
    """The costs of a model, by quantity."""

    model: str
    size: Size
    values: dict[str, Positive]


class Costs(Published):
    """Values by quantity; of times to an accuracy, the metric and the target."""

    kind: Literal["costs"]
    task: str
    baseline: str
    quantities: Annotated[dict[str, Quantity], Field(min_length=1)]
    metric: str | None = None
    target: Numeric | None = None
    rows: Annotated[list[CostsRow], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_the_metric_of_its_target(self) -> "Costs":
        if self.target is not None and self.metric is None:
            raise PydanticCustomError("target", "expected the metric that the target is of")
        return self

    def number(self, task: str, model: str, size: int | str | None, metric: str, better: Better) -> Number | None:
        row = _row_of(self.rows, model, size) if task == self.task else None
        return Number(row.values[metric]) if row is not None and metric in row.values else None


class SilhouetteRow(Entry):
    """The score of a model, which holds for every size."""

    model: str
    mean: Numeric
    std: Deviation
    size: None = None


class Silhouette(Published):
    """One mean and deviation per model."""

    kind: Literal["silhouette"]
    task: str
    rows: Annotated[list[SilhouetteRow], Field(min_length=1)]

    @property
    def baseline(self) -> str:
        """The model that the others are held to: the first of the paper's table."""
        return self.rows[0].model

    def number(self, task: str, model: str, size: int | str | None, metric: str, better: Better) -> Number | None:
        row = _row_of(self.rows, model, size) if (task, metric) == (self.task, "silhouette") else None
        return Number(row.mean, row.std) if row is not None else None


class TaskSettings(Entry):
    """The settings of a task's training in a paper's text; `given()` has those that it states.

    Attributes:
        penalty: the coefficient lambda.
        tolerance: of the solver, relative and absolute.
        map_size: the side of the hidden state's maps.
    """

    clip_norm: Numeric | None = None
    alpha: Numeric | None = None
    forget_bias: Numeric | None = None
    initialisation: str | None = None
    embedding_size: Whole | None = None
    layers: Whole | None = None
    epochs: Whole | None = None
    batch_size: Whole | None = None
    learning_rate: Positive | None = None
    penalty: Coefficient | None = None
    tolerance: Positive | None = None
    map_size: Whole | None = None


class PaperTask(Entry):
    """A task in a paper's text, outside its tables; `notes` are on its numbers."""

    task: str
    dataset: str
    section: str
    sizes: list[Size] = []
    data: dict[str, Any] = {}
    settings: TaskSettings = TaskSettings()
    notes: list[str] = []


class PaperTasks(Entry):
    """The tasks in a paper's text."""

    kind: Literal["tasks"]
    source: Source
    rows: Annotated[list[PaperTask], Field(min_length=1)]


KINDS: dict[str, type[Entry]] = {
    kind.model_fields["kind"].annotation.__args__[0]: kind
    for kind in (Results, Hyperparameters, Losses, Grid, Costs, Silhouette, PaperTasks)
}


@functools.cache
def load_published(name: str, directory: Path = PUBLISHED) -> Any:
    """The content of one published file, such as "momentumrnn/table1.yaml", as its kind.

    Raises:
        UserError: the file is missing, is not YAML or is not as its kind has it.
    """
    content, origin = read_yaml(directory / name), f"published/{name}"
    if not isinstance(content, Mapping):
        raise UserError(f"{origin}: (top level): expected a mapping", file=origin)
    kind = known(content.get("kind"), KINDS, "kind", f"{origin}: kind")
    return typed(KINDS[kind], content, origin)


def load_tasks(name: str, directory: Path = PUBLISHED) -> dict[str, PaperTask]:
    """The tasks of the paper of file `name`, by name."""
    return {row.task: row for row in load_published(f"{Path(name).parent}/tasks.yaml", directory).rows}


def with_originals(configuration: Configuration, paper: str, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of runs or measurements whose `stand_in_for` is as they say, or else the paper's dataset where theirs is
    another: a task of the user's own may be of any."""
    known_tasks = load_tasks(f"{paper}/tasks.yaml") if (PUBLISHED / paper / "tasks.yaml").exists() else {}

    def original(row: Mapping[str, Any]) -> str:
        task = known_tasks.get(published_task(configuration, row["task"]))
        return task.dataset if task and row["dataset"] not in (None, "", task.dataset) else ""

    return [{**row, "stand_in_for": row["stand_in_for"] or original(row)} for row in rows]


def published_task(configuration: Configuration, task: str) -> str:
    """The name under which published/ has the numbers of a configured task: `published_as`, or its own."""
    return configuration.tasks[task].published_as or task


def within_sentence(heading: str) -> str:
    """A metric's heading as it stands within a sentence: "test accuracy", but "MSE" and "NegLL" as they are."""
    first = heading.split()[0]
    return heading if first[1:] != first[1:].lower() else heading[0].lower() + heading[1:]


def ordering(gap: float, published_gap: float) -> str | None:
    """Our gap to the baseline against the published one, by sign: "holds", "fails" or "tied"; None where nothing is
    comparable."""
    if math.isnan(gap) or math.isnan(published_gap) or abs(published_gap) < NOTHING:
        return None
    if abs(gap) < NOTHING:
        return "tied"
    return "holds" if gap * published_gap > 0 else "fails"


def _row_of(rows: list, model: str, size: int | str | None) -> Any:
    """The row of a model at a size, or None; a row that names no size holds for every size."""
    return next((row for row in rows if row.model == model and row.size in (None, size)), None)
