"""A table of losses that authors logged: each cell against its baseline, over their seeds.

No run of ours enters it, so it is the same at every scale.
"""

import math
from collections.abc import Iterator

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.artifacts.comparison import Record, value_text
from hidden_dynamics.artifacts.kinds.contrast_table import decimals_of, difference_text, named
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import Column, Table
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.papers.logs import NAMED, Log, Point, load_logs

GROUPS = {"last": "At the last epoch", "best": "At each side’s best epoch, chosen by the same loss"}
NOTES = (
    "These are the authors’ own runs: losses that they logged in training and released, mean ± sample deviation over "
    "their seeds. No run of this pipeline enters, and nothing was trained again.",
    "A difference is the cell’s mean loss less its baseline’s: below 0 the cell is ahead. In round brackets stands its "
    "95 % interval by Welch’s t (degrees of freedom rounded down; of samples that differ in size, those of the smaller "
    "alone), then p, not adjusted, and in square brackets q by Benjamini and Hochberg over what is tested at these "
    "epochs. A side of fewer than three seeds is not tested. All of it is exploratory: no verdict rests on it. A "
    "difference is the whole cell’s, its s included: none says what momentum alone does.",
    "The last epoch is the last logged one that all seeds of both sides reached. The best epochs (the cell’s; its "
    "baseline’s) are those of the lowest mean among the epochs that published/ has, chosen by the very loss that is "
    "compared: the lowest of many flatters the side that is noisier, so p and q are not to be relied on there.",
    "Losses are in nats, of speech in dB². “Clipped”: the log’s name says that gradients were.",
)


class Settings(ArtifactSettings):
    """
    Attributes:
        logs: the file of published/ with the authors' losses.
        baselines: models that the others of the same task and size are held to.
    """

    logs: str
    baselines: Models


class LogsTable(Artifact):
    Settings = Settings
    form = "table"
    origin = "The losses are those that the authors logged and released; no run of ours enters."

    def shown(self) -> list[Case]:
        return []

    def check(self, where: str) -> None:
        for model in self.settings.baselines:
            known(model, self.configuration.models, "model", where)

    def against(self) -> Iterator[tuple[Log, Log]]:
        """Each cell's log and its baseline's; by task, size, clipping and cell."""
        found, names = load_logs(self.settings.logs), self.settings.baselines
        tasks, models = list(found.about.tasks.values()), list(self.configuration.models)
        order = {log: (tasks.index(log[0].task), _place(log), models.index(log[0].model)) for log in found.logs}
        baselines = {_place(log): log for log in order if log[0].model in names}
        for log in sorted(order, key=order.__getitem__):
            if log[0].model not in names and _place(log) in baselines:
                yield log, baselines[_place(log)]


def draw(artifact: LogsTable, sources: Sources) -> Table:
    """A row for each cell that has a baseline."""
    from scipy.stats import false_discovery_control

    records = [_compared(artifact, *pair) for pair in artifact.against()]
    for at in GROUPS:
        tested = [record for record in records if not math.isnan(record[f"{at}_p"])]
        adjusted = false_discovery_control([record[f"{at}_p"] for record in tested])
        for record, q in zip(tested, adjusted.tolist(), strict=True):
            record[f"{at}_q"] = q
    notes = [*NOTES, *load_logs(artifact.settings.logs).about.notes]
    return Table.of(artifact.settings.heading, notes, [_row(artifact, record) for record in records], records)


def _place(log: Log) -> tuple[str, int, bool, str]:
    """What a cell shares with its baseline."""
    return log[0].task, log[0].size, log[0].clipped, log[0].split


def _compared(artifact: LogsTable, log: Log, baseline: Log) -> Record:
    """What was logged of both after the last epoch and at each side's best, and the differences."""
    sides = [{point.epoch: point for point in log if point.n == max(one.n for one in log)} for log in (log, baseline)]
    last = max(sides[0].keys() & sides[1].keys())
    chosen = {
        "last": [side[last] for side in sides],
        "best": [min(side.values(), key=lambda point: point.mean) for side in sides],
    }
    cell = {name: getattr(log[0], name) for name in ("task", "model", "size", *NAMED, "clipped", "split")}
    record = {"artifact": artifact.name, **cell, "baseline": baseline[0].model}
    for at, (own, other) in chosen.items():
        record |= {f"{at}_{name}": getattr(own, name) for name in ("epoch", "n", "mean", "sd")}
        record |= {f"{at}_baseline_{name}": getattr(other, name) for name in ("epoch", "n", "mean", "sd")}
        record |= {f"{at}_{name}": number for name, number in _difference(own, other).items()}
    return record


def _difference(own: Point, other: Point) -> dict[str, float]:
    """Of the means, with its interval and p; NaN for these where a side has fewer than three seeds."""
    from hidden_dynamics.claims.statistics import FEWEST, Sample, welch  # SciPy

    found = {"difference": own.mean - other.mean, **dict.fromkeys(("low", "high", "p", "q"), math.nan)}
    estimate = welch([Sample(point.mean, point.sd, point.n) for point in (own, other)])
    if estimate is None or min(own.n, other.n) < FEWEST:
        return found
    low, high = estimate.interval(0.95)
    return found | {"low": low, "high": high, "p": estimate.p()}


def _row(artifact: LogsTable, record: Record) -> dict[Column, str]:
    configuration, about = artifact.configuration, load_logs(artifact.settings.logs).about
    task = next(name for name, logged in about.tasks.items() if logged == record["task"])
    validation = "" if record["split"] == "test" else f"{record['split']} loss"
    clipped = "clipped" if record["clipped"] else ""
    label, baseline = (configuration.models[record[side]].label for side in ("model", "baseline"))
    decimals = decimals_of(record["last_baseline_sd"])
    row: dict[Column, str] = {
        "Task": ", ".join(filter(None, (configuration.papers_tasks[task].title, validation, clipped))),
        "N": str(record["size"]),
        "Case": named(label, record),
        "Baseline": baseline,
    }
    for at, group in GROUPS.items():
        epochs = dict.fromkeys((record[f"{at}_epoch"], record[f"{at}_baseline_epoch"]))
        row |= {
            (group, "Epoch"): "; ".join(map(str, epochs)),
            (group, "Loss"): _loss_text(record, at, decimals),
            (group, "Baseline’s"): _loss_text(record, f"{at}_baseline", decimals),
            (group, "Difference (95 %), p [q]"): difference_text(record, at, decimals, "q"),
        }
    return row


def _loss_text(record: Record, side: str, decimals: int) -> str:
    mean, sd, n = (record[f"{side}_{name}"] for name in ("mean", "sd", "n"))
    return f"{value_text(mean, sd if n > 1 else None, decimals)} (n = {n})"
