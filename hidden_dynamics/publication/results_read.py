"""Everything that a publication is made of, read and verified once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hidden_dynamics.artifacts import Artifact, load_artifacts
from hidden_dynamics.claims.verdict import COLUMNS, OF_THE_DIRECTION, OF_THE_PAPER, Words
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.jobs import training_jobs
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.measurements.costs import COLUMNS as OF_COSTS
from hidden_dynamics.publication.questions import verdict_of
from hidden_dynamics.publication.run_rows import commits_of, numbered, run_id, run_rows
from hidden_dynamics.publication.source_state import SourceState
from hidden_dynamics.publication.working_time import WorkingTime, working_time
from hidden_dynamics.results import summary
from hidden_dynamics.results.rows import Row, read_rows
from hidden_dynamics.results.run_files import RunFiles


@dataclass(frozen=True)
class Results:
    """A scale's finished results.

    Attributes:
        artifacts: all that are configured, in the papers' order.
        summary: the summary of all runs.
        claims: the rows of verdicts.csv.
        records: of the runs, by id.
        forecast: the row of all runs in the forecast, where one was made before; else None.
        processors: on which costs were measured.
    """

    configuration: Configuration
    source: SourceState
    artifacts: Mapping[str, Artifact]
    summary: Sequence[Row]
    claims: Sequence[Row]
    records: Mapping[str, Mapping[str, Any]]
    time: WorkingTime
    forecast: Row | None
    processors: Sequence[str]

    @cached_property
    def runs(self) -> list[Row]:
        """The rows of runs.csv."""
        runs = [run for run in all_runs(self.configuration) if run.id in self.records]
        commit = "" if self.source.changed else self.source.commit
        return run_rows(self.summary, self.records, commits_of(runs, self.records, commit))

    def lacking(self, artifact: Artifact) -> dict[str, str]:
        """{task of an artifact that has no run: the title of its data}."""
        tried = {row["task"] for row in self.summary}
        tasks = dict.fromkeys(cell.task for cell in artifact.shown() if cell.task not in tried)
        of = {task: self.configuration.tasks[task].dataset for task in tasks}
        return {task: self.configuration.title_of(dataset) for task, dataset in of.items()}

    @property
    def words(self) -> list[Words]:
        """The kinds of verdicts that any claim has."""
        kinds = (OF_THE_PAPER, OF_THE_DIRECTION)
        return [words for words in kinds if any(verdict_of(claim, words) for claim in self.claims)]


def read_results(configuration: Configuration, source: SourceState, root: Path) -> Results:
    """
    Args:
        source: the state of the code.
        root: where the results directory is.

    Raises:
        UserError: a result is missing or damaged.
    """
    paths = configuration.paths
    rows = read_rows(root / paths.summary("all"), summary.COLUMNS)
    directories = {run_id(row): root / row["directory"] for row in rows}
    records = {name: RunFiles(directory).record() for name, directory in directories.items()}
    settings, jobs = configuration.settings, by_job(configuration, rows, records)
    artifacts = load_artifacts(configuration)
    papers = list(dict.fromkeys(artifact.paper for artifact in artifacts.values()))
    ordered = sorted(artifacts.values(), key=lambda artifact: (papers.index(artifact.paper), artifact.position))
    return Results(
        configuration=configuration,
        source=source,
        artifacts={artifact.name: artifact for artifact in ordered},
        summary=rows,
        claims=numbered(read_rows(root / paths.all_verdicts("csv"), COLUMNS), configuration.results),
        records=records,
        time=working_time(root / paths.logs, jobs, settings.runs_per_gpu),
        forecast=_forecast(root / configuration.results / "forecast.csv"),
        processors=_processors(artifacts, root),
    )


def by_job(
    configuration: Configuration, rows: Iterable[Row], records: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[Mapping[str, Any]]]:
    """The records of the runs of each training job, by its name."""
    tasks = dict.fromkeys(row["task"] for row in rows)
    every = {task: list(training_jobs(configuration, task).values()) for task in tasks}
    found: dict[str, list[Mapping[str, Any]]] = {}
    for name, row in {run_id(row): row for row in rows}.items():
        jobs = next(jobs for jobs in every[row["task"]] if jobs.trains(int(row["seed"])))
        found.setdefault(jobs.name.format(model=row["variant"], seed=row["seed"]), []).append(records[name])
    return found


def _forecast(path: Path) -> Row | None:
    return read_rows(path)[-1] if path.is_file() else None


def _processors(artifacts: Mapping[str, Artifact], root: Path) -> list[str]:
    """Those that costs were measured on: a run's record names its device, a CPU by that word alone."""
    files = {root / one.inputs()["costs"] for one in artifacts.values() if "costs" in one.inputs()}
    return sorted({row["processor"] for path in files if path.is_file() for row in read_rows(path, OF_COSTS)})
