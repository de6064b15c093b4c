"""A table of our losses beside those that the authors logged after as many epochs: is the implementation faithful?

It says nothing of what the paper claims.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.artifacts.comparison import Record, begun, ours_text, over_seeds, size_text
from hidden_dynamics.artifacts.notes import figure_notes, subtitle_of
from hidden_dynamics.artifacts.tables import ABSENT, Table, number
from hidden_dynamics.claims.verdict import UNDECIDED
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.runs import Cell, resolve
from hidden_dynamics.configuration.schema import Size
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.papers.logs import Log, Point, files_of, load_logs
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seeds import FEWEST

if TYPE_CHECKING:
    from hidden_dynamics.artifacts.sources import Sources
    from hidden_dynamics.claims.statistics import Estimate, Sample

AGREE, DIFFER = "agree", "differ"
DECIMALS = 4
NOTES = (
    "This table asks whether the implementation is faithful: whether our losses are those that the authors logged in "
    "their own runs. It is no verdict on what the paper claims. Compared are runs that share all settings of a log but "
    "the number of epochs, after the last epoch that both have (with three seeds a side), and after no other one. The "
    "loss is the test loss, on the Penn Treebank the validation loss; ±: sample standard deviation (n − 1) over seeds.",
    "Agree: the ratio of the two (of geometric means) lies between 1/{margin:g} and {margin:g}, by two one-sided tests "
    "on the logarithm of the loss (Welch’s t; in brackets their interval, of 90 %); differ: it lies outside. Either "
    "needs p < {alpha:g} after Holm’s adjustment over the cells tested here; three seeds a side, or nothing is tested; "
    "and of our runs none that failed, or they do not agree. Of the authors’ seeds, mean m and "
    "deviation s are known; those of the logarithm are taken as of a log-normal loss: σ² = ln(1 + s²/m²), ln m − σ²/2. "
    "Power: the chance with which two that are alike would be found to agree at this spread of the seeds, by the first "
    "test of Holm’s; where it is low, so few seeds cannot decide.",
)


class Settings(ArtifactSettings):
    """
    Attributes:
        rows: of which tasks, at which of the paper's sizes, all its models are compared.
        logs: the file of published/ with the authors' losses, and the margin.
    """

    rows: list[dict[str, list[Size]]]
    logs: str


class Course(Artifact):
    Settings = Settings
    form = "table"
    summarised = True
    run_files = ("metrics.csv",)
    with_extras = False  # the authors have no logs of them

    @cached_property
    def found(self) -> dict[Cell, tuple[Log | None, str]]:
        """Of each cell the log that speaks to its runs, or why none does."""
        configuration, logs = self.configuration, load_logs(self.settings.logs)
        where = configuration.tasks, "task", f"{self.configured_at}.rows"
        cells = [
            Cell(task, model, size)
            for row in self.settings.rows
            for task, sizes in row.items()
            for size in sizes
            for model, entry in configuration.tasks[known(task, *where)].models.items()
            if size in entry.run_sizes and not entry.extra
        ]
        return {cell: logs.of(configuration, resolve(configuration, *cell, 0)) for cell in cells}

    @cached_property
    def logs(self) -> dict[Cell, Log]:
        """The logs that speak."""
        return {cell: log for cell, (log, _) in self.found.items() if log}

    def shown(self) -> list[Cell]:
        return list(self.logs)

    @property
    def is_left_out(self) -> bool:
        """Also where no run has the settings of a log."""
        return not self.cells()

    def printed_files(self) -> list[str]:
        return files_of(self.settings.logs)


KIND = Course


def draw(artifact: Course, sources: "Sources") -> Table:
    """A row for each cell to whose runs a log speaks; of the others, a note says why none does."""
    configuration, about = artifact.configuration, load_logs(artifact.settings.logs).about
    records = _records(artifact, sources, math.log(about.margin))
    others = [
        f"{configuration.tasks[task].title} {configuration.models[model].label}, N = {size} ({reason})"
        for (task, model, size), (log, reason) in artifact.found.items()
        if not log
    ]
    notes = [note.format(margin=about.margin, alpha=load_claims().definitions.alpha) for note in NOTES]
    notes += [f"Not compared, because no log has all their settings: {'; '.join(others)}."] if others else []
    return Table.of(
        f"{artifact.settings.heading}; {subtitle_of(configuration, sources.summary)}",
        [*figure_notes(configuration, sources.summary, *notes), *about.notes],
        [_row(artifact, record) for record in records],
        records,
    )


# As data


def _records(artifact: Course, sources: "Sources", width: float) -> list[Record]:
    """A record for each cell: both losses, their ratio with its interval, p, power and the verdict.

    Args:
        width: the logarithm of the margin.
    """
    from hidden_dynamics.claims.statistics import equivalence, holm, power_within  # SciPy

    definitions = load_claims().definitions
    compared = [_compared(artifact, sources, cell, artifact.logs[cell]) for cell in artifact.cells()]
    tested = [(record, estimate, *equivalence(estimate, width)) for record, estimate in compared if estimate]
    adjusted = holm([p for *_, p in tested])
    for (record, estimate, within, p), p_adjusted in zip(tested, adjusted, strict=True):
        ends = estimate.value, *estimate.interval(round(2 * definitions.level - 1, 12))
        power = power_within(estimate, width, definitions.alpha / len(tested))
        record |= dict(zip(("ratio", "low", "high"), map(math.exp, ends), strict=True))
        record |= {"p": p, "p_adjusted": p_adjusted, "tests": len(tested), "power": power}
        if p_adjusted < definitions.alpha and not (within and record["diverged"]):
            record["verdict"] = AGREE if within else DIFFER
    return [record for record, _ in compared]


def _compared(artifact: Course, sources: "Sources", cell: Cell, log: Log) -> "tuple[Record, Estimate | None]":
    """Both losses after the last epoch that both have, and the difference of their logarithms; None untested."""
    from hidden_dynamics.claims.statistics import Sample, welch  # SciPy

    runs = {run.directory for run in artifact.cell_runs if run.cell == cell}
    rows = [row for row in sources.summary if row["directory"] in runs]
    losses = [losses_after(RunFiles(sources.root / row["directory"]), log[0].split) for row in rows]
    point = last_common(losses, log)
    ours = [own[point.epoch] for own in losses if point.epoch in own]
    record = {
        **begun(artifact, cell, f"{point.split}_loss", rows),
        **{"epoch": point.epoch, "runs": len(rows), "diverged": len(rows) - len(ours), **over_seeds(ours)},
        **{f"published_{name}": getattr(point, name) for name in ("n", "mean", "sd")},
        **dict.fromkeys(("ratio", "low", "high", "p", "p_adjusted", "tests", "power"), math.nan),
        "verdict": UNDECIDED,
    }
    if min(len(ours), point.n) < FEWEST:
        return record, None
    return record, welch([Sample.of([math.log(loss) for loss in ours]), of_logarithm(point)])


def losses_after(files: RunFiles, split: str) -> dict[int, float]:
    """The finite losses of a run after whole epochs, by epoch."""
    epochs, losses = files.evaluations(f"{split}_loss", "epoch")
    found = zip(epochs.tolist(), losses.tolist(), strict=True)
    return {round(epoch): loss for epoch, loss in found if epoch == round(epoch) and 0 < loss < math.inf}


def last_common(losses: Sequence[dict[int, float]], log: Log) -> Point:
    """A log's point after the last epoch that both have, with three seeds a side where there is one; else its first."""
    counts = {point.epoch: min(point.n, sum(point.epoch in own for own in losses)) for point in log}
    return max(log, key=lambda point: (min(counts[point.epoch], FEWEST), point.epoch if counts[point.epoch] else 0))


def of_logarithm(point: Point) -> "Sample":
    """The logarithm of a loss of which mean and deviation are known, as if it were log-normal."""
    from hidden_dynamics.claims.statistics import Sample

    variance = math.log1p((point.sd / point.mean) ** 2)
    return Sample(math.log(point.mean) - variance / 2, math.sqrt(variance), point.n)


# As text


def _row(artifact: Course, record: Record) -> dict[str, str]:
    ratio, low, high = (number(record[name], 3) for name in ("ratio", "low", "high"))
    theirs = f"{number(record['published_mean'], DECIMALS)} ± {number(record['published_sd'], DECIMALS)}"
    return {
        "Task": artifact.configuration.tasks[record["task"]].title,
        "Model": record["label"],
        "N": size_text(record["size"], record["paper_size"]),
        "Epoch": str(record["epoch"]),
        "Ours": ours_text(record, DECIMALS),
        "The authors’": f"{theirs} (n = {record['published_n']})",
        "Ours ÷ theirs": ABSENT if math.isnan(record["ratio"]) else f"{ratio} ({low} to {high})",
        "Power": ABSENT if math.isnan(record["power"]) else f"{100 * record['power']:.0f} %",
        "Verdict": record["verdict"],
    }
