"""What an artifact is drawn from, each file read once."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.errors import UserError
from hidden_dynamics.results import curves, summary
from hidden_dynamics.results.rows import Row, read_rows


@dataclass(frozen=True)
class Sources:
    """The runs and the files of an artifact, as rows of text by column.

    Attributes:
        root: what the paths are relative to.
        verdicts: on its claims, once they are judged (hidden_dynamics.claims.verdict.COLUMNS).
    """

    artifact: Artifact
    root: Path = Path()
    verdicts: tuple[dict[str, str], ...] = ()

    @cached_property
    def summary(self) -> list[dict[str, str]]:
        """A row for each run (hidden_dynamics.results.summary.COLUMNS)."""
        artifact = self.artifact
        return list(summary.rows_of(artifact.configuration, artifact.name, artifact.cell_runs, self.root))

    @cached_property
    def curves(self) -> list[list[curves.Curve]]:
        """The averaged curves of each panel."""
        artifact, runs = self.artifact, self.artifact.cell_runs
        return [curves.curves_of(artifact.configuration, panel, runs, self.root) for panel in artifact.panels]

    @cached_property
    def costs(self) -> list[dict[str, str]]:
        return read_rows(self.path("costs"))

    @cached_property
    def claims(self) -> list[dict[str, str]]:
        """The verdicts on all claims."""
        return read_rows(self.path("claims"))

    @cached_property
    def features(self) -> list[dict[str, str]]:
        return read_rows(self.path("features"))

    def path(self, name: str) -> Path:
        """The path of one of its files; for what is read of its runs, the directory of all runs."""
        runs = dict.fromkeys(("summary", "curves"), self.artifact.configuration.paths.runs)
        return self.root / (self.artifact.inputs() | runs)[name]

    def first_run(self, model: str) -> Row:
        """A model's row of the summary with the first seed.

        Raises:
            UserError: there is none.
        """
        run = next((run for run in self.summary if run["model"] == model), None)
        if run is None:
            raise self.wrong("summary", f"it has no run of {model}")
        return run

    def wrong(self, name: str, why: str, column: str = "") -> UserError:
        """The error of a file that is not what the artifact is made of, to be raised."""
        path = self.path(name)
        if path.suffix:
            why = f"{why}: remove it and run snakemake again, which makes it anew"
        return UserError(f"{path}: {self.artifact.name}: {why}.", path, column)
