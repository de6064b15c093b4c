"""What an artifact is drawn from and its claims are judged by, each file read once."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hidden_dynamics.artifacts.base import Artifact, InPanels
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.papers.deviations import with_originals
from hidden_dynamics.results.curves import Curve, curves_of
from hidden_dynamics.results.rows import Row, read_rows
from hidden_dynamics.results.run_files import rows_of
from hidden_dynamics.results.seeds import with_floors

if TYPE_CHECKING:
    from hidden_dynamics.claims.samples import Evidence


@dataclass(frozen=True)
class Sources:
    """The runs and the files of an artifact, as rows of text by column; none of a file that it does not have.

    Attributes:
        root: what the paths are relative to.
    """

    artifact: Artifact
    root: Path = Path()

    @cached_property
    def summary(self) -> list[dict[str, str]]:
        """A row for each run (hidden_dynamics.results.run_files.COLUMNS), with the paper's dataset where a task of the
        user's own has another, and with the classical baselines of its task."""
        artifact, configuration = self.artifact, self.artifact.configuration
        rows = rows_of(configuration, artifact.case_runs, self.root) if artifact.summarised else []
        rows = [with_floors(row, self.floors.get(row["task"], ())) for row in rows]
        return with_originals(configuration, artifact.paper, rows)

    @cached_property
    def floors(self) -> dict[str, list[dict[str, str]]]:
        """By task, a row for each classical baseline, metric and seed; "" for all seeds."""
        return {task: read_rows(self.root / path) for task, path in self.artifact.floors().items()}

    @cached_property
    def curves(self) -> list[list[Curve]]:
        """The averaged curves of each panel."""
        artifact, runs = self.artifact, self.artifact.case_runs
        panels = artifact.panels if isinstance(artifact, InPanels) else []
        return [curves_of(artifact.configuration, panel, runs, self.root) for panel in panels]

    @cached_property
    def costs(self) -> list[dict[str, str]]:
        return self._rows("costs")

    @cached_property
    def claims(self) -> list[dict[str, str]]:
        """The verdicts on all claims."""
        return self._rows("claims")

    @cached_property
    def features(self) -> list[dict[str, str]]:
        return self._rows("features")

    @cached_property
    def jacobian(self) -> list[dict[str, str]]:
        return self._rows("jacobian")

    @cached_property
    def verdicts(self) -> list[dict[str, str]]:
        """The verdicts that are judged with the artifact (hidden_dynamics.claims.verdict.COLUMNS)."""
        claimed = load_claims().about(self.artifact.name)
        return read_rows(self.root / self.artifact.configuration.paths.verdicts(self.artifact.name)) if claimed else []

    @property
    def evidence(self) -> "Evidence":
        """What its claims are judged by: nothing where it is left out."""
        from hidden_dynamics.claims.samples import Evidence  # SciPy

        if self.artifact.is_left_out:
            return Evidence(self.artifact)
        return Evidence(self.artifact, [*self.summary, *self.features], self.costs, self.root, jacobian=self.jacobian)

    def first_run(self, model: str) -> Row:
        """A model's row of the summary with the first seed; a `UserError` where there is none."""
        run = next((run for run in self.summary if run["model"] == model), None)
        if run is None:
            raise self.wrong("runs", f"there is no run of {model}")
        return run

    def wrong(self, name: str, why: str) -> UserError:
        """The error of an input, or of the runs, that the artifact cannot be made of; to be raised."""
        path = self.root / self.artifact.inputs().get(name, self.artifact.configuration.paths.runs)
        if path.suffix:
            why = f"{why}: remove it and run snakemake again, which makes it anew"
        return UserError(f"{path}: {self.artifact.name}: {why}.", path)

    def _rows(self, name: str) -> list[dict[str, str]]:
        files = self.artifact.inputs()
        return read_rows(self.root / files[name]) if name in files else []
