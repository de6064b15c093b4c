"""A table or figure of a paper: its settings, its cases and files, the paper's numbers, its drawing.

A kind of artifact is the last class derived from `Artifact` in a module of `hidden_dynamics.artifacts.kinds` that is
named as the kind. Rules, page and forecast ask it; it knows nothing of claims. The workflow reads these modules before
it builds its graph, so they import matplotlib and pandas where something is drawn.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from hidden_dynamics.configuration import Configuration, Entry, known, listed, mistake
from hidden_dynamics.configuration.paths import ENDINGS
from hidden_dynamics.configuration.runs import Case, Run, extra_cases, resolve_seeds
from hidden_dynamics.configuration.schema import Size
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.published import Number, Published, load_published
from hidden_dynamics.results.evidence import Evidence

if TYPE_CHECKING:
    from hidden_dynamics.artifacts.sheet import Page
    from hidden_dynamics.artifacts.tables import Table

Models = Annotated[list[str], Field(min_length=1)]
REQUIRED: Any = ...  # the default of a key that has none, where ArtifactSettings gives it one


class ArtifactSettings(Entry):
    """The settings that every artifact has in config/artifacts.yaml.

    Attributes:
        source: paper and place, such as "MomentumRNN, Table 1".
        published: the file of published/ with the paper's numbers.
    """

    kind: str
    title: str
    source: str
    published: str | None = None

    @property
    def heading(self) -> str:
        """Its place and title, "MomentumRNN, Table 1: Best test accuracy ..."."""
        return f"{self.source}: {self.title}"


@dataclass(frozen=True)
class Artifact(ABC):
    """A table or a figure at the configured scale.

    Attributes:
        settings: a kind annotates it with the class of its own.
        form: whether it is a table or a figure (hidden_dynamics.configuration.paths has the files of each).
        summarised: whether it shows runs by their records (hidden_dynamics.results.record).
        run_files: the files of its runs that it reads beside run.json.
        measured: what is measured for it: "costs", "features", "jacobian", or nothing.
        floored: whether it shows what classical baselines score on its tasks.
        alike: the kinds that share a measurement, and the settings in which they have to agree.
        with_extras: whether models of the user's own on the same tasks and sizes are shown, too.
        origin: a sentence on where its numbers come from, where no run and no measurement reports them.
        needed: without what it is not made.
    """

    name: str
    settings: ArtifactSettings
    configuration: Configuration

    form: ClassVar[Literal["table", "figure"]] = "figure"
    summarised: ClassVar[bool] = False
    run_files: ClassVar[tuple[str, ...]] = ()
    measured: ClassVar[Literal["costs", "features", "jacobian"] | None] = None
    floored: ClassVar[bool] = False
    alike: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = ((), ())
    with_extras: ClassVar[bool] = True
    origin: ClassVar[str] = ""
    needed: ClassVar[str] = "data that the user leaves out (leave_out, only)"

    @property
    def configured_at(self) -> str:
        """File and key of its settings: of the scale's or the overrides' where these change some."""
        return self.configuration.artifact_layers[self.name][-1][0]

    # What it shows.

    def shown(self) -> list[Case]:
        """The paper's models, sizes and tasks, in its order; none where it shows no runs."""
        return []

    def draw(self, evidence: Evidence) -> "Table | Page":
        """The table or figure of its evidence, by `draw(artifact, evidence)` of its kind's module.

        That, and the style of all figures, are sought by their modules' names, so that what only lists artifacts is not
        made again where a drawing changes. A `UserError` where a file is missing, damaged, or of something else.
        """
        draw = importlib.import_module(type(self).__module__).draw
        if self.form == "table":
            return draw(self, evidence)
        with importlib.import_module("hidden_dynamics.artifacts.sheet").style():
            return draw(self, evidence)

    def evidence(self, root: Path) -> Evidence:
        """What it is drawn from: its runs' records and its measurements; their files are relative to `root`."""
        runs = self.case_runs if self.summarised else ()
        return Evidence.read(self.configuration, runs, root, self.floors(), self.inputs())

    def cases(self) -> list[Case]:
        """The cases shown: the paper's, then the user's own models on the same tasks and sizes; none left out."""
        shown = self.shown()
        places = {(cell.task, cell.size) for cell in shown}
        extras = extra_cases(self.configuration) if self.with_extras else []
        cells = [*dict.fromkeys(shown), *(cell for cell in extras if (cell.task, cell.size) in places)]
        return [cell for cell in cells if self.configuration.is_run(*cell)]

    @cached_property
    def case_runs(self) -> list[Run]:
        """A run for each case and seed. Two of the paper's sizes that a scale maps to one share theirs."""
        try:
            c = self.configuration
            return [run for cell in self.cases() for run in resolve_seeds(c, cell, c.seeds_of(cell.task))]
        except UserError as error:
            raise mistake(self.configured_at, f"it shows what is not configured: {error}") from None

    @cached_property
    def runs(self) -> list[Run]:
        """The runs that it is made of, each once; none where it does not show their records."""
        return list({run.id: run for run in self.case_runs}.values()) if self.summarised else []

    def tasks(self) -> list[str]:
        return list(dict.fromkeys(cell.task for cell in self.shown()))

    @property
    def is_left_out(self) -> bool:
        """Whether the user leaves out all that it shows (`leave_out`, `only` in config.yaml): it is not made."""
        return bool(self.shown()) and not self.cases()

    def check(self, where: str) -> None:
        """Hold the names in its settings, which stand at `where`, to what is configured."""
        for what, names in (("task", self.configuration.tasks), ("model", self.configuration.models)):
            for key in (what, f"{what}s"):
                for name in listed(getattr(self.settings, key, None)):
                    known(name, names, what, where)
        for task in self.tasks():
            known(task, self.configuration.tasks, "task", where)
        for cell in self.shown():
            known(cell.model, self.configuration.models, "model", where)
        for metric in self.chosen_metrics():
            known(metric, self.configuration.metrics, "metric", where)

    def chosen_metrics(self) -> list[str]:
        """The metrics that its settings name, themselves or in an entry of their rows or panels."""
        parts = [self.settings, *getattr(self.settings, "rows", ()), *getattr(self.settings, "panels", ())]
        return list(dict.fromkeys(part.metric for part in parts if hasattr(part, "metric")))

    def deviations(self) -> list[str]:
        """The deviations of its own settings from the paper, in words, beside those of its runs."""
        return []

    # What it is made of.

    @property
    def measurement(self) -> str:
        """The artifact under whose name its measurement is: the first of those that share it."""
        every, (kinds, keys) = self.configuration.artifacts, self.alike
        same = {name: [one.get(key) for key in keys] for name, one in every.items() if one["kind"] in kinds}
        return next((name for name, settings in same.items() if settings == same.get(self.name)), self.name)

    def inputs(self) -> dict[str, str]:
        """Its files beside those of runs, by name: costs, features, maps, jacobian."""
        if self.measured is None:
            return {}
        paths, name = self.configuration.paths, self.measurement
        maps = {"maps": paths.maps(name)} if self.measured == "features" else {}
        return {self.measured: paths.measured(self.measured, name)} | maps

    def wrong_input(self, name: str, why: str) -> UserError:
        """The error, to be raised, of a measurement, as `inputs` names it, that it cannot be made of."""
        path, remedy = Path(self.inputs()[name]), "remove it and run snakemake again, which makes it anew"
        return UserError(f"{path}: {self.name}: {why}: {remedy}.", path)

    def floors(self) -> dict[str, str]:
        """The files of classical baselines that it shows, by task."""
        cells = self.cases() if self.floored else []
        return {cell.task: self.configuration.paths.measured("floors", cell.task) for cell in cells}

    def details(self) -> list[str]:
        """The files of its runs that it reads."""
        return [f"{run.directory}/{file}" for run in self.runs for file in ("run.json", *self.run_files)]

    def file(self, ending: str) -> str:
        """The path of one of the rendered files."""
        return self.configuration.paths.drawn(self.form, self.name, ending)

    def files(self) -> list[str]:
        """All of their paths."""
        return list(map(self.file, ENDINGS[self.form]))

    # What the paper prints of it.

    @property
    def paper(self) -> str:
        """The paper's short name, such as "momentumrnn"."""
        return self.name.partition("_")[0]

    @property
    def paper_title(self) -> str:
        """The paper's name, such as "MomentumRNN"."""
        return self.settings.source.partition(", ")[0]

    @property
    def position(self) -> tuple[int, int]:
        """Sorts a paper's artifacts: its tables, then its figures, by number; what is not in the paper comes last."""
        place, forms = self.name.partition("_")[2], ("table", "figure")
        form = place.rstrip("0123456789")
        digits = place.removeprefix(form)
        return (forms.index(form), int(digits)) if form in forms and digits else (len(forms), 0)

    @cached_property
    def published(self) -> Published:
        """The paper's numbers; of an artifact that names no file of them none."""
        return load_published(self.settings.published) if self.settings.published else Published({}, ())

    def number(self, cell: Case, metric: str) -> Number | None:
        """The paper's number for a cell; a `UserError` where config/metrics.yaml has no such metric."""
        known(metric, self.configuration.metrics, "metric", self.configured_at)
        return self.published.number(self.configuration, cell, metric)

    def pairs(self) -> Iterator[tuple[Case, Case, str]]:
        """(case, its baseline, metric) of rows that are compared with a baseline, to learn which is better."""
        yield from ()


class InPanels(Artifact):
    """Tasks in panels, which its settings list."""

    settings: Any

    @abstractmethod
    def cases_of(self, panel: Any) -> list[Case]:
        """The cells of one panel."""

    def shown(self) -> list[Case]:
        return [cell for panel in self.settings.panels for cell in self.cases_of(panel)]

    @property
    def panels(self) -> list[Any]:
        """Those that show a cell which is not left out, be it of a user's own model."""
        places, panels = {(cell.task, cell.size) for cell in self.cases()}, self.settings.panels
        return [panel for panel in panels if any((one.task, one.size) in places for one in self.cases_of(panel))]


class SideBySideSettings(ArtifactSettings):
    task: str
    models: Models
    size: Size | None = None


class SideBySide(Artifact):
    """Models of one of the paper's sizes on one task."""

    settings: SideBySideSettings

    def shown(self) -> list[Case]:
        return [Case(self.settings.task, model, self.settings.size) for model in self.settings.models]

    @property
    def is_left_out(self) -> bool:
        """Also where one of the models is left out, or none is shown."""
        are_run = [self.configuration.is_run(*cell) for cell in self.shown()]
        return not are_run or not all(are_run)
