"""The schema of config.yaml and the files of config/, entry by entry.

An artifact's settings are its kind's (hidden_dynamics.artifacts); here it has a kind, and is else left as it is.
"""

import shlex
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    model_validator,
)

from hidden_dynamics.configuration.entries import Entry, listed, value_text


def _different(values: list) -> list:
    if len(set(values)) < len(values):
        raise ValueError("two are the same")
    return values


def _instead(example: str, *refused: str) -> BeforeValidator:
    """Refuses a text or number where a key takes more, or one of `refused`, and says what to type: `example`, with the
    value in the place of {}."""

    def check(value: object, about: ValidationInfo) -> Any:
        if value in refused if refused else isinstance(value, str | int):
            meant = example.format(value)
            text = f"expected {meant}; on the command line: {about.field_name}={shlex.quote(meant)}"
            raise ValueError(text)
        return value

    return BeforeValidator(check)


Different = AfterValidator(_different)
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
ArtifactName = Annotated[str, Field(pattern=r"^[a-z0-9]+_[a-z]+[0-9]*$")]  # a paper, what is shown, its number
Text = Annotated[str, Field(pattern=r"\S")]
Whole = Annotated[int, Field(ge=1)]
Number = int | float
Positive = Annotated[Number, Field(gt=0)]
NotNegative = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, lt=1)]
Units = Annotated[int, Field(ge=1, le=100_000)]  # weights grow with their square
Size = Units | Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]  # in names of directories and jobs
Directory = Annotated[str, Field(min_length=1)]
Seed = Annotated[int, Field(ge=0)]
Seeds = Annotated[list[Annotated[Seed, Field(lt=2**32)]], Field(min_length=1), Different]
Together = Annotated[list[Literal["model", "seed"]], Different]
Numbers = Annotated[list[Number], Field(min_length=1), Different]
Names = Annotated[list[str], Field(min_length=1), Different]
ClassName = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$")]  # with its module
Device = Literal["auto", "cpu", "cuda"]
Devices = Annotated[  # told apart, so that a mistake is named by its place in the mapping
    Annotated[Device, Tag("all")] | Annotated[dict[str, Device], Tag("by name")],
    Discriminator(lambda value: "by name" if isinstance(value, Mapping) else "all"),
]
Variants = dict[str, str]
FOR_ALL = ("published", "released")  # what may be chosen for all variants at once
Free = dict[Any, Any]
Changes = Free  # validated once merged into what they change


class Overrides(Entry):
    """Changes that the user makes to tasks and artifacts, key by key."""

    tasks: dict[str, Changes] = {}
    artifacts: dict[str, Changes] = {}


class DataSettings(Entry):
    directory: Directory
    mirror: str | None
    copies: dict[str, Directory] = {}


class ForecastSettings(Entry):
    gpus: Whole = 1
    artifacts: Names | None = None


class Settings(Entry):
    """config.yaml, with what the command line changed."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    scale: str
    """How much of the papers is run: `demo`, `evening`, `pilot`, `paper`, or a scale of your own in `scales.yaml`."""
    seeds: Annotated[Seeds | None, _instead("[0, 1, 2]")]
    """A list of seeds; `null`: the task's own, else the scale's. Seeds that are added train their own runs alone."""
    device: Annotated[Devices, _instead("cuda", "gpu")]
    """`auto`, `cpu` or `cuda`; on a cluster it must be one of the last two. For all, or by task or dataset:
    `{default: cuda, ushcn: cpu, physionet2012: cpu}`; without `default`, the others have `auto`."""
    precision: Literal["fp32", "tf32"]
    """`fp32` or `tf32` (NVIDIA GPUs only)."""
    runs_per_gpu: Whole | None
    """Runs that are trained side by side on one GPU; `null`: the scale's (`pilot`: 2, else 1)."""
    together: Annotated[Together | None, _instead("[{}]")] = None
    """Runs of a task that share a job: a list of `model` and `seed`; `null`: as the scale says, for its own seeds."""
    time_limit: Whole | None = None
    """The longest time limit, in minutes, that a training job asks a cluster for; `null`: the scale's."""
    keep_checkpoints: Literal["all", "none"] = "all"
    """Of finished runs, `all` or `none`. They are most of a scale's bytes; without, a run cannot grow, and is
    trained anew where its job is done again."""
    data: DataSettings
    """`directory` of downloads and prepared data; `mirror`, tried before the network; `copies` of licensed data."""
    leave_out: Annotated[list[str], Different, _instead("[{}]")] = []
    """Datasets of the scale whose tasks are not run, such as `[svhn]`; tables and figures say so."""
    only: Annotated[list[str], Different, _instead("[{}]")] = []
    """Tasks, `task/model` or `task/model/128` (the paper's size) that alone are run; none: all."""
    results: Directory
    """The directory of all results."""
    evidence: Directory = "docs/evidence"
    """The directory where `snakemake --cores all evidence` publishes a scale's results, in `<scale>`."""
    variants: Annotated[Variants, _instead("{{default: {}}}")]
    """Where a paper and its code differ, for all (`default`) or by name (docs/variants.md)."""
    overrides: Overrides
    """Changes to `tasks` and `artifacts`, key by key."""
    forecast: ForecastSettings = ForecastSettings()
    """Settings of the forecast (docs/forecast.md)."""


class Metric(Entry):
    """The meaning of a measured number, however a table prints it. `unit`: "percent" where a measured fraction is shown
    as percent, "10⁻³" where a pure number is shown in thousandths, "one" for a pure number, else the unit."""

    title: Text
    unit: Text
    better: Literal["higher", "lower"]
    decimals: Annotated[int, Field(ge=0)]

    @property
    def factor(self) -> float:
        """The factor from a measured value to the one shown."""
        return {"percent": 100.0, "10⁻³": 1000.0}.get(self.unit, 1.0)

    @property
    def sign(self) -> int:
        """1 where higher is better, else -1."""
        return 1 if self.better == "higher" else -1


class Optimiser(Entry):
    """One of torch.optim, and its arguments."""

    name: Literal["RMSprop", "Adam", "Adamax", "SGD"]
    lr: Positive
    weight_decay: NotNegative = 0
    foreach: bool | None = None
    eps: NotNegative | None = None
    alpha: NotNegative | None = None
    betas: Annotated[list[Share], Field(min_length=2, max_length=2)] | None = None
    momentum: NotNegative = 0
    centered: bool = False
    amsgrad: bool = False
    nesterov: bool = False

    @model_validator(mode="after")
    def _takes_its_arguments(self) -> "Optimiser":
        takes = {
            "RMSprop": ("eps", "alpha", "momentum", "centered"),
            "Adam": ("eps", "betas", "amsgrad"),
            "Adamax": ("eps", "betas"),
            "SGD": ("momentum", "nesterov"),
        }[self.name]
        if wrong := self.given().keys() - {"name", "lr", "weight_decay", "foreach", *takes}:
            raise ValueError(f"{self.name} takes no {min(wrong)}; it takes {', '.join(takes)}")
        return self


class Report(Entry):
    """The rule for the evaluation of a run that tables show."""

    metric: str
    rule: Literal["max", "min", "last"]


class Averaging(Entry):
    """NT-ASGD: begins once `metric` is above its best of all but the last `nonmonotone` evaluations."""

    metric: str
    nonmonotone: Whole


class Rates(Entry):
    """Factors on the learning rates; `drops` and `until` in epochs (hidden_dynamics.tasks.schedule.Schedule)."""

    drops: list[Whole] | None = None
    factor: Positive | None = None
    scale: Positive | None = None
    until: Positive | None = None
    decay: Positive | None = None
    floor: Positive | None = None

    @model_validator(mode="after")
    def _drops_by_a_factor(self) -> "Rates":
        if self.drops and self.factor is None:
            raise ValueError("expected a factor beside drops: without one nothing drops")
        return self


class Training(Entry):
    optimisers: dict[str, Optimiser]
    batch_size: Whole
    epochs: Whole
    iterations_per_epoch: Whole | None = None
    evaluate_every: Whole | None = None
    clip_norm: Positive | None = None
    averaging: Averaging | None = None
    record_gradients: Whole | None = None
    record_predictions: bool = False
    report: Report
    drop_last: bool = False
    fixed_batches: bool = False
    alternating: bool = False
    rates: Rates | None = None


class BySize(Entry):
    hyperparameters: Free = {}
    training: Changes = {}


class TaskModel(Entry):
    """A model on a task. `extra`: it joined the task in config/models.yaml: it is the user's own, not the paper's."""

    sizes: Annotated[list[Size], Field(min_length=1), Different] | None = None
    grid: Annotated[dict[str, Numbers], Field(min_length=1)] | None = None
    hyperparameters: Free = {}
    training: Changes = {}
    variants: Variants = {}
    by_size: dict[int | str, BySize] = {}
    extra: Literal[True] | None = None

    @property
    def run_sizes(self) -> list[int | str | None]:
        """The paper's sizes; [None] for a model that has no size."""
        return list(self.sizes) if self.sizes else [None]


class Task(Entry):
    """An experiment: data, a task class, settings of training, and the models that are trained.

    Attributes:
        seeds: where it is not the scale's: an experiment over random splits needs more of them.
        by_name: nothing shows its results: it is trained where `only` names it, or a file of a run is asked for.
    """

    title: str
    task_class: ClassName = Field(alias="class")
    dataset: str
    data: Free = {}
    settings: Free = {}
    hyperparameters: Free = {}
    sizes: dict[int | str, Size] = {}
    variants: Variants = {}
    network: ClassName | None = None
    published_as: str | None = None
    seeds: Seeds | None = None
    by_name: bool = False
    training: Training
    models: dict[str, TaskModel]


class Joining(TaskModel):
    """A model of the user's own on a task that is configured already."""

    grid: None = None
    extra: None = None


class Model(Entry):
    """A model and how it is shown. `control_of`: the model whose settings it has on each of its tasks, but for its own
    `hyperparameters`, which win. It is shown where an artifact names it, and nowhere else."""

    label: str
    colour: str
    network: ClassName | None = None
    core: ClassName | None = None
    control_of: str | None = None
    hyperparameters: Free = {}
    tasks: dict[str, Joining] = {}

    @model_validator(mode="after")
    def _is_a_model_or_a_control(self) -> "Model":
        if not (self.network or self.core):
            raise ValueError("expected an entry with a core, or a network of its own")
        own = [key for joined in self.tasks.values() for key in joined.given() if key != "sizes"]
        if self.control_of and own:
            raise ValueError("expected of a control its sizes alone: other settings are its model’s")
        return self


class Effect(Entry):
    """The effect of a variant's value on a run's specification.

    Attributes:
        data: settings with which a task's data are prepared: all models of a task have the same.
        blocks: data differ from seed to seed, so that runs are comparable within a seed only; no specification has it.
        resampled: where a seed's data are a random part of the same data, examples tested over examples trained on,
            n_test / n_train: what blocks share makes their mean less sure than as many blocks of data of their own.
    """

    text: str
    blocks: bool = False
    resampled: Positive | None = None
    hyperparameters: Free = {}
    settings: Free = {}
    training: Free = {}
    data: Free = {}

    @model_validator(mode="after")
    def _resamples_blocks(self) -> "Effect":
        if self.resampled is not None and not self.blocks:
            raise ValueError("expected blocks: true beside resampled, which is of blocks")
        return self


class Variant(Entry):
    """A place where a paper's text can be read in more than one way, with what each way sets.

    Attributes:
        published: the paper's text, taken unless another is chosen.
        released: the authors' code, where it differs. Without it, `released` for all falls back to `published`.
        others: what can reasonably be run beside these, by name alone, even where the name is `released`.
        later: it was added after runs had been published: the specification of a run that takes the text does not name
            it, so that these are still the same.
    """

    about: str
    models: Annotated[list[str], Field(min_length=1)] | None = None
    tasks: Annotated[list[str], Field(min_length=1)] | None = None
    published: Effect
    released: Effect | None = None
    others: dict[Name, Effect] = {}
    later: bool = False

    @model_validator(mode="after")
    def _has_two_values(self) -> "Variant":
        if len(self.values) < 2:
            raise ValueError("expected another value beside published: released, or in others")
        return self

    @property
    def values(self) -> dict[str, Effect]:
        """The effects, by the name of the value that chooses each."""
        return {"published": self.published, **({"released": self.released} if self.released else {}), **self.others}

    @property
    def prepares(self) -> bool:
        """Whether a value of it changes how data are prepared."""
        return any(effect.data for effect in self.values.values())

    def concerns(self, task: str, model: str) -> bool:
        return (self.models is None or model in self.models) and (self.tasks is None or task in self.tasks)

    def taken(self, name: str, choices: Iterable[Variants]) -> str:
        """Its value by the first of these choices that names it, or a default. By default `released` is the code alone,
        and `published` where that says nothing else."""
        for choice in choices:
            if name in choice or "default" in choice:
                default = "released" if choice.get("default") == "released" and self.released else "published"
                return choice.get(name, default)
        return "published"


class RemoteFile(Entry):
    """One file to download, where data are prepared with the settings `where`; without `urls`, it is in a mirror alone.

    `size` (bytes) and `sha256` are those of its content once decompressed; None where no source states them. A sum that
    none states is recorded at the first download.

    An archive is known by its members, because the same files are packed differently from place to place. `members` is
    a pattern on base names, `count` says how many files match it, `size` is the sum of their bytes, and `sha256` is
    that of the list which `sha256sum <members>` prints (a line "<SHA-256>  <base name>" each, in the order of names).
    """

    size: Whole | None
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None
    urls: list[Annotated[str, Field(pattern=r"^https?://")]]
    archive: Literal["tar"] | None = None
    members: Annotated[str, Field(min_length=1)] | None = None
    count: Whole | None = None
    where: Free = {}

    @model_validator(mode="after")
    def _archives_are_complete(self) -> "RemoteFile":
        if len({self.archive is None, self.members is None, self.count is None}) > 1:
            raise ValueError("expected archive, members and count together, or none of them")
        if self.archive and self.size is None:
            raise ValueError("expected the size of an archive's members")
        return self


FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$")]


class Dataset(Entry):
    """A dataset: its origin, the module that prepares it, the datasets for which it may stand in.

    Attributes:
        classes: what its classes are called, from class 0 on; none where their numbers say it.
        in_title: by the name of a setting of a task's `data`, what it adds to the title, with {} in place of its value.
    """

    title: Text
    classes: list[Text] = []
    in_title: dict[Name, Text] = {}
    module: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")]
    stand_in_for: str | Names | None = None
    licence: Text
    citation: Text
    files: dict[FileName, RemoteFile]
    own_copy: bool = False
    environment: Literal["light", "torch"] = "light"

    @property
    def originals(self) -> tuple[str, ...]:
        """The datasets that this one may replace; none for the real thing."""
        return listed(self.stand_in_for)

    def files_for(self, data: Mapping[str, object]) -> dict[str, RemoteFile]:
        """The files that it is prepared of with these settings."""
        return {name: file for name, file in self.files.items() if file.where.items() <= data.items()}

    def titled(self, data: Mapping[str, object]) -> str:
        """Its title where it is prepared with these settings: "MNIST averaged to 14 × 14"."""
        added = [text.replace("{}", value_text(data[name])) for name, text in self.in_title.items() if name in data]
        return " ".join([self.title, *added])


class Scale(Entry):
    """How much of the papers is run: on which data, in which sizes and for how long.

    Attributes:
        processes: in which costs are measured, one after another.
        directions: whether claims are judged for their direction under this scale's own conditions, where these deviate
            from the paper's.
        beside: the scale whose published verdicts stand beside this one's; none of them where it is not published.
    """

    about: str
    seeds: Seeds
    threads: Whole
    runtime: Whole
    mem_mb: Whole
    together: Together
    runs_per_gpu: Whole = 1
    tasks: dict[str, Changes] = {}
    artifacts: dict[str, Free] = {}
    processes: Whole = 3
    directions: bool = False
    beside: str | None = None
