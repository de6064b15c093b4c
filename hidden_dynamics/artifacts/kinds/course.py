"""A table of our losses beside those that the authors logged after as many epochs: is the implementation faithful?

It says nothing of what the paper claims.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.artifacts.comparison import Record, begun, ours_text, over_seeds, size_text
from hidden_dynamics.artifacts.notes import figure_notes, subtitle_of
from hidden_dynamics.artifacts.tables import ABSENT, Table, number, probabilities
from hidden_dynamics.claims.verdict import UNDECIDED
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.runs import Cell, resolve
from hidden_dynamics.configuration.schema import Size
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.papers.logs import Log, Logs, Point, load_logs
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seeds import FEWEST, mean_scores

if TYPE_CHECKING:
    from hidden_dynamics.artifacts.sources import Sources
    from hidden_dynamics.claims.statistics import Estimate, Sample

AGREE, DIFFER = "agree", "differ"
DECIMALS = 4
NOTES = (
    "This table asks whether the implementation is faithful: whether our losses are those that the authors logged in "
    "their own runs. It is no verdict on what the paper claims. Compared are runs that share all settings of a log but "
    "the number of epochs, after the last epoch that both have (with three seeds a side), and after no other one. The "
    "loss is the test loss, on the Penn Treebank the validation loss; ±: sample standard deviation (n − 1) over seeds; "
    "not so far: runs without a loss after that epoch.",
    "Agree: the ratio of the two (of geometric means) lies between 1/{margin:g} and {margin:g}, by two one-sided tests "
    "on the logarithm of the loss (Welch’s t; in brackets its interval, of 90 %, or of 95 % where it lies outside); "
    "differ: it lies outside (this p is doubled). Either needs p < {alpha:g} after Holm’s adjustment over the cells of "
    "the task and size that have a log, and three seeds a side (else p is 1). A cell with a failed run is not called "
    "agreeing. Of the authors’ runs only mean m and deviation s are known; we take the loss as log-normal, so "
    "the logarithm has the variance σ² = ln(1 + s²/m²) and the mean ln m − σ²/2.",
    "Other logs: the factors between this log and those of the other cells of its task and size after this epoch, the "
    "smallest to the largest. One within the margin is of a cell that would agree as well; where all are, none is "
    "called agreeing; nor is one whose log is not better than the best naive baseline by the margin. Power: the "
    "chance that two that are alike are found to agree by the first test of Holm’s, if the standard error is the one "
    "seen; where it is low, so few seeds cannot decide.",
)


class Settings(ArtifactSettings):
    """
    Attributes:
        rows: of which tasks, at which of the paper's sizes, all its models are compared.
        logs: the file of published/ with the authors' losses, and the margin.
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
    def found(self) -> dict[Cell, tuple[Log | None, str]]:
        """Of each cell the log that speaks to its runs, or why none does."""
        configuration, logs = self.configuration, load_logs(self.settings.logs)
        where = configuration.tasks, "task", f"{self.configured_at}.rows"
        cells = [
            Cell(task, model, size)
            for task, sizes in self.settings.rows.items()
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


KIND = Course


def draw(artifact: Course, sources: "Sources") -> Table:
    """A row for each cell to whose runs a log speaks; of the others, a note says why none does."""
    configuration, about = artifact.configuration, load_logs(artifact.settings.logs).about
    records = _records(artifact, sources, about.margin)
    others = [
        f"{configuration.tasks[task].title} {configuration.models[model].label}, N = {size} ({reason})"
        for (task, model, size), (log, reason) in artifact.found.items()
        if not log and task not in configuration.left_out
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


def _records(artifact: Course, sources: "Sources", margin: float) -> list[Record]:
    """A record for each cell: both losses, their ratio with its interval, p, power and the verdict.

    Holm's families are the cells of a task and size that have a log, run or not: no choice of rows changes them.
    """
    from hidden_dynamics.claims.statistics import equivalence, holm  # SciPy

    families: dict[tuple[str, Any], list[tuple[Record, Estimate | None]]] = {}
    for cell in artifact.cells():
        families.setdefault((cell.task, cell.size), []).append(_compared(artifact, sources, cell, artifact.logs[cell]))
    for (task, size), family in families.items():
        left_out = sum((cell.task, cell.size) == (task, size) for cell in artifact.logs) - len(family)
        tests = [equivalence(estimate, math.log(margin)) if estimate else (False, 1.0) for _, estimate in family]
        adjusted = holm([p for _, p in tests] + left_out * [1.0])[: len(tests)]
        for (record, estimate), (within, p), p_adjusted in zip(family, tests, adjusted, strict=True):
            record |= {"apart": record["farthest"] > margin, "learned": not record["naive"] <= margin}
            if estimate:
                record |= {"p": p, "p_adjusted": p_adjusted, "tests": len(family) + left_out}
                record |= _judged(record, estimate, within, margin)
    return [record for family in families.values() for record, _ in family]


def _judged(record: Record, estimate: "Estimate", within: bool, margin: float) -> Record:
    """Ratio, interval, power and verdict of a cell that is tested."""
    from hidden_dynamics.claims.statistics import power_within  # SciPy

    definitions = load_claims().definitions
    ends = estimate.value, *estimate.interval(definitions.level_beside(within))
    lost = record["diverged"] or record["failed"] or record["not_finite"]
    may_agree = record["apart"] and record["learned"] and not lost
    decided = record["p_adjusted"] < definitions.alpha and (may_agree or not within)
    return {
        **dict(zip(("ratio", "low", "high"), map(math.exp, ends), strict=True)),
        "power": power_within(estimate, math.log(margin), definitions.alpha / record["tests"]),
        "verdict": (AGREE if within else DIFFER) if decided else UNDECIDED,
    }


def _compared(artifact: Course, sources: "Sources", cell: Cell, log: Log) -> "tuple[Record, Estimate | None]":
    """Both losses after the last epoch that both have, and the difference of their logarithms; None untested."""
    from hidden_dynamics.claims.statistics import Sample, welch  # SciPy

    runs = {run.directory for run in artifact.cell_runs if run.cell == cell}
    rows = [row for row in sources.summary if row["directory"] in runs]
    losses = [losses_after(RunFiles(sources.root / row["directory"]), log[0].split) for row in rows]
    point = last_common(losses, log)
    found = [own.get(point.epoch) if point else None for own in losses]
    ours = [loss for loss in found if loss is not None and 0 < loss < math.inf]
    failed = [row["status"] != "finished" for row in rows]
    factors = others_of(load_logs(artifact.settings.logs), point) if point else []
    naive = min(mean_scores(rows, f"{log[0].split}_loss").values(), default=math.nan)
    record = {
        **begun(artifact, cell, f"{log[0].split}_loss", rows),
        **{"epoch": point.epoch if point else None, "runs": len(rows)},
        **{how: sum(row["status"] == how for row in rows) for how in ("diverged", "failed")},
        "not_finite": sum(loss is not None for loss in found) - len(ours),
        "not_so_far": sum(loss is None and not fails for loss, fails in zip(found, failed, strict=True)),
        **over_seeds(ours),
        **{f"published_{name}": getattr(point, name, math.nan) for name in ("n", "mean", "sd")},
        **{"nearest": min(factors, default=math.nan), "farthest": max(factors, default=math.nan)},
        "naive": naive / math.exp(of_logarithm(point).mean) if point else math.nan,
        **dict.fromkeys(("ratio", "low", "high", "p", "p_adjusted", "tests", "power"), math.nan),
        "verdict": UNDECIDED,
    }
    if point is None or min(len(ours), point.n) < FEWEST:
        return record, None
    return record, welch([Sample.of([math.log(loss) for loss in ours]), of_logarithm(point)])


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


def others_of(logs: Logs, point: Point) -> list[float]:
    """The factors, 1 or above, between a point's geometric mean and those of the other logs beside it."""
    beside = (point.task, point.size, point.epoch)
    others = [one for log in logs.logs for one in log if (one.task, one.size, one.epoch) == beside and one != point]
    return [math.exp(abs(of_logarithm(one).mean - of_logarithm(point).mean)) for one in others]


def of_logarithm(point: Point) -> "Sample":
    """The logarithm of a loss of which mean and deviation are known, as if it were log-normal."""
    from hidden_dynamics.claims.statistics import Sample

    variance = math.log1p((point.sd / point.mean) ** 2)
    return Sample(math.log(point.mean) - variance / 2, math.sqrt(variance), point.n)


# As text


def _row(artifact: Course, record: Record) -> dict[str, str]:
    columns = ("ratio", "low", "high", "nearest", "farthest")
    ratio, low, high, nearest, farthest = (number(record[name], 3) for name in columns)
    theirs = f"{number(record['published_mean'], DECIMALS)} ± {number(record['published_sd'], DECIMALS)}"
    failed = {how: how.replace(" ", "_") for how in ("diverged", "failed", "not finite", "not so far")}
    return {
        "Task": artifact.configuration.tasks[record["task"]].title,
        "Model": record["label"],
        "N": size_text(record["size"], record["paper_size"]),
        "Epoch": str(record["epoch"] or ABSENT),
        "Ours": ours_text(record, DECIMALS, failed={way: record[name] for way, name in failed.items()}),
        "The authors’": f"{theirs} (n = {record['published_n']})" if record["epoch"] else ABSENT,
        "Ours ÷ theirs": ABSENT if math.isnan(record["ratio"]) else f"{ratio} ({low} to {high})",
        "p [Holm]": ABSENT if math.isnan(record["p"]) else probabilities(record["p"], record["p_adjusted"]),
        "Other logs": ABSENT if math.isnan(record["nearest"]) else f"{nearest} to {farthest}",
        "Power": ABSENT if math.isnan(record["power"]) else f"{100 * record['power']:.0f} %",
        "Verdict": record["verdict"] + _doubt(record),
    }


def _doubt(record: Record) -> str:
    """Why a cell that is tested cannot be called agreeing, whatever its p."""
    if math.isnan(record["p"]) or record["verdict"] != UNDECIDED:
        return ""
    if not record["learned"]:
        return ": the log is no better than a naive baseline"
    return "" if record["apart"] or math.isnan(record["nearest"]) else ": the logs are alike here"
