"""The files from which an artifact is drawn, each read once."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.claims import verdict
from hidden_dynamics.errors import UserError
from hidden_dynamics.measurements import costs, features
from hidden_dynamics.results import curves, summary
from hidden_dynamics.results.rows import read_rows


@dataclass(frozen=True)
class Sources:
    """The files of an artifact (`Artifact.inputs`), and those of its runs.

    Attributes:
        root: what their paths are relative to.
        verdicts: on its claims, once they are judged (hidden_dynamics.claims.verdict.COLUMNS).
    """

    artifact: Artifact
    root: Path = Path()
    verdicts: tuple[dict[str, str], ...] = ()

    def path(self, name: str) -> Path:
        """
        Raises:
            UserError: the artifact is not made of such a file.
        """
        files = self.artifact.inputs()
        if name not in files:
            raise UserError(f"{self.artifact.name} is not made of {name}: its kind is {self.artifact.settings.kind}.")
        return self.root / files[name]

    @cached_property
    def summary(self) -> list[dict[str, str]]:
        """A row for each run, as text by column."""
        return read_rows(self.path("summary"), summary.COLUMNS)

    @cached_property
    def curves(self) -> list[dict[str, str]]:
        """A row for each point of the averaged curves, as text by column."""
        return read_rows(self.path("curves"), curves.COLUMNS)

    @cached_property
    def costs(self) -> list[dict[str, str]]:
        return read_rows(self.path("costs"), costs.COLUMNS)

    @cached_property
    def claims(self) -> list[dict[str, str]]:
        """The verdicts on all claims."""
        return read_rows(self.path("claims"), verdict.COLUMNS)

    @cached_property
    def features(self) -> list[dict[str, str]]:
        return read_rows(self.path("features"), features.COLUMNS)

    def first_run(self, model: str) -> dict[str, str]:
        """A model's row of the summary with the first seed.

        Raises:
            UserError: there is none.
        """
        run = next((run for run in self.summary if run["model"] == model), None)
        if run is None:
            raise self.wrong("summary", f"it has no run of {model}")
        return run

    def check(self, name: str, **expected: Collection[str]) -> None:
        """Hold columns of a file to the values that they may have.

        Raises:
            UserError: a row has another value.
        """
        rows = getattr(self, name)
        for column, values in expected.items():
            other = sorted({row[column] for row in rows} - set(values))
            if other:
                text = f"{column} is {', '.join(other)}, and {' or '.join(filter(None, values)) or 'none'} was expected"
                raise self.wrong(name, text, column)

    def wrong(self, name: str, why: str, column: str = "") -> UserError:
        """The error of a file that is not what the artifact is made of, to be raised."""
        path = self.path(name)
        return UserError(f"{path}: {why}: remove it and run snakemake again, which makes it anew.", path, column)
