"""A table of our losses beside those that the authors logged after as many epochs: is the implementation faithful?

It says nothing of what the paper claims.
"""

import math
from collections.abc import Sequence
from functools import cached_property

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.artifacts.comparison import Record, begun, ours_text, over_seeds, size_text
from hidden_dynamics.artifacts.notes import figure_notes, subtitle_of
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT, Table, number
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.runs import Case, resolve
from hidden_dynamics.configuration.schema import Size
from hidden_dynamics.papers.logs import Log, Point, load_logs
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seeds import FEWEST

DECIMALS = 4


class Settings(ArtifactSettings):
    """
    Attributes:
        rows: of which tasks, at which of the paper's sizes, all its models are compared.
        logs: the file of published/ with the authors' losses.
    """

    rows: dict[str, list[Size]]
    logs: str


class Course(Artifact):
    Settings = Settings
    form = "table"
    summarised = True
    run_files = ("metrics.csv",)
    with_extras = False  # the authors have no logs of them
    needed = "runs that share the settings of an authors' log, as scales pilot and paper have"

    @cached_property
    def logs(self) -> dict[Case, Log]:
        """The logs that speak to runs, by cell."""
        configuration, logs = self.configuration, load_logs(self.settings.logs)
        where = configuration.tasks, "task", f"{self.configured_at}.rows"
        cells = [
            Case(task, model, size)
            for task, sizes in self.settings.rows.items()
            for size in sizes
            for model, entry in configuration.tasks[known(task, *where)].models.items()
            if size in entry.run_sizes and not entry.extra
        ]
        found = {cell: logs.of(configuration, resolve(configuration, *cell, 0)) for cell in cells}
        return {cell: log for cell, log in found.items() if log}

    def shown(self) -> list[Case]:
        return list(self.logs)

    @property
    def is_left_out(self) -> bool:
        """Also where no run has the settings of a log."""
        return not self.cases()


def draw(artifact: Course, sources: Sources) -> Table:
    """A row for each cell to whose runs a log speaks."""
    configuration = artifact.configuration
    records = [_compared(artifact, sources, cell, artifact.logs[cell]) for cell in artifact.cases()]
    about = load_logs(artifact.settings.logs).about
    return Table.of(
        f"{artifact.settings.heading}; {subtitle_of(configuration, sources.summary)}",
        [*figure_notes(configuration, sources.summary), *about.notes],
        [_row(artifact, record) for record in records],
        records,
    )


def _compared(artifact: Course, sources: Sources, cell: Case, log: Log) -> Record:
    """Both losses of a cell after the last epoch that both have; NaN without one."""
    runs = {run.directory for run in artifact.case_runs if run.case == cell}
    rows = [row for row in sources.summary if row["directory"] in runs]
    losses = [losses_after(RunFiles.of_row(row, sources.root), log[0].split) for row in rows]
    point = last_common(losses, log)
    found = [own.get(point.epoch) if point else None for own in losses]
    ours = [loss for loss in found if loss is not None and 0 < loss < math.inf]
    failed = [row["status"] != "finished" for row in rows]
    return {
        **begun(artifact, cell, f"{log[0].split}_loss", rows),
        **{"epoch": point.epoch if point else None, "runs": len(rows)},
        **{how: sum(row["status"] == how for row in rows) for how in ("diverged", "failed")},
        "not_finite": sum(loss is not None for loss in found) - len(ours),
        "not_so_far": sum(loss is None and not fails for loss, fails in zip(found, failed, strict=True)),
        **over_seeds(ours),
        **{f"published_{name}": getattr(point, name, math.nan) for name in ("n", "mean", "sd")},
    }


def losses_after(files: RunFiles, split: str) -> dict[int, float]:
    """The losses of a run after whole epochs, by epoch."""
    epochs, losses = files.evaluations(f"{split}_loss", "epoch")
    found = zip(epochs.tolist(), losses.tolist(), strict=True)
    return {round(epoch): loss for epoch, loss in found if epoch == round(epoch)}


def last_common(losses: Sequence[dict[int, float]], log: Log) -> Point | None:
    """A log's point after the last epoch that both have, with three seeds a side where there is one; None without."""
    counts = {point.epoch: min(point.n, sum(point.epoch in own for own in losses)) for point in log}
    common = [point for point in log if counts[point.epoch]]
    return max(common, key=lambda point: (min(counts[point.epoch], FEWEST), point.epoch), default=None)


def _row(artifact: Course, record: Record) -> dict[str, str]:
    theirs = f"{number(record['published_mean'], DECIMALS)} ± {number(record['published_sd'], DECIMALS)}"
    return {
        "Task": artifact.configuration.tasks[record["task"]].title,
        "Model": record["label"],
        "N": size_text(record["size"], record["paper_size"]),
        "Epoch": str(record["epoch"] or ABSENT),
        "Ours": ours_text(record, DECIMALS),
        "The authors’": f"{theirs} (n = {record['published_n']})" if record["epoch"] else ABSENT,
    }
