"""A table of losses that authors logged: each model against its baseline, over their seeds, in which no run of ours
enters; or, of the cases that its settings name, our losses beside the authors' after as many epochs.

The latter asks whether the implementation is faithful. It says nothing of what the paper claims.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import scipy

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.artifacts.beside_published import beside, data_of, value_text
from hidden_dynamics.artifacts.notes import subtitle_of, table_notes
from hidden_dynamics.artifacts.tables import ABSENT, Column, Record, Table, decimals_of, interval_text, p_text, signed
from hidden_dynamics.claims.words import difference_of, named
from hidden_dynamics.configuration import Case, known, resolve
from hidden_dynamics.configuration.schema import Size
from hidden_dynamics.papers.deviations import deviations
from hidden_dynamics.papers.logs import NAMED, Log, Point, load_logs, whole
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seeds import FEWEST, mean_and_std

GROUPS = {"last": "At the last epoch", "best": "At each side’s best epoch, chosen by the same loss"}
DECIMALS = 4


class Settings(ArtifactSettings):
    """
    Attributes:
        logs: the file of published/ with the authors' losses.
        baselines: models that the others of the same task and size are held to.
        rows: of which tasks, at which of the paper's sizes, our losses stand beside the authors'.
    """

    logs: str
    baselines: list[str] = []
    rows: dict[str, list[Size]] = {}


class LogsTable(Artifact):
    settings: Settings
    form = "table"
    summarised = True
    run_files = ("metrics.csv",)
    with_extras = False  # the authors have no logs of them
    origin = "The losses are those that the authors logged and released."
    needed = "runs that share the settings of an authors' log, as scales pilot and paper have"

    @cached_property
    def logs(self) -> dict[Case, Log]:
        """The logs that speak to runs of `rows`, by case."""
        configuration, logs = self.configuration, load_logs(self.settings.logs)
        where = configuration.tasks, "task", f"{self.configured_at}.rows"
        cases = [
            Case(task, model, size)
            for task, sizes in self.settings.rows.items()
            for size in sizes
            for model, entry in configuration.tasks[known(task, *where)].models.items()
            if size in entry.run_sizes and not entry.extra
        ]
        speaking = {case: logs.of(configuration, resolve(configuration, *case, 0)) for case in cases}
        return {case: log for case, log in speaking.items() if log}

    def shown(self) -> list[Case]:
        return list(self.logs)

    @property
    def is_left_out(self) -> bool:
        """Where its settings name rows and no run has the settings of a log."""
        return bool(self.settings.rows) and not self.cases()

    def check(self, where: str) -> None:
        super().check(where)
        for model in self.settings.baselines:
            known(model, self.configuration.models, "model", where)

    def against(self) -> Iterator[tuple[Log, Log]]:
        """Each model's log and its baseline's; by task, size, clipping and model."""
        logs, names = load_logs(self.settings.logs), self.settings.baselines
        tasks, models = list(logs.about.tasks.values()), list(self.configuration.models)
        order = {log: (tasks.index(log[0].task), _place(log), models.index(log[0].model)) for log in logs.logs}
        baselines = {_place(log): log for log in order if log[0].model in names}
        for log in sorted(order, key=order.__getitem__):
            if log[0].model not in names and _place(log) in baselines:
                yield log, baselines[_place(log)]


def draw(artifact: LogsTable, evidence: Evidence) -> Table:
    return beside_ours(artifact, evidence) if artifact.settings.rows else against_baselines(artifact)


def against_baselines(artifact: LogsTable) -> Table:
    """A row for each model that has a baseline."""
    rows = [_compared(artifact, *pair) for pair in artifact.against()]
    for at in GROUPS:
        tested = [row for row in rows if not math.isnan(row[f"{at}_p"])]
        adjusted = scipy.stats.false_discovery_control([row[f"{at}_p"] for row in tested])
        for row, q in zip(tested, adjusted.tolist(), strict=True):
            row[f"{at}_q"] = q
    note = load_logs(artifact.settings.logs).about.notes[0]
    return Table.of(artifact.settings.heading, [note], [_texts(artifact, row) for row in rows], rows)


def _place(log: Log) -> tuple[str, int, bool, str]:
    """What a model's log shares with its baseline's."""
    return log[0].task, log[0].size, log[0].clipped, log[0].split


def _compared(artifact: LogsTable, log: Log, baseline: Log) -> dict[str, Any]:
    """What was logged of both after the last epoch that all seeds of both reached and at each side's best, and the
    differences."""
    sides = [whole(log), whole(baseline)]
    last = max(sides[0].keys() & sides[1].keys())
    chosen = {"last": [side[last] for side in sides]}
    chosen["best"] = [min(side.values(), key=lambda point: point.mean) for side in sides]
    about = {name: getattr(log[0], name) for name in ("task", "model", "size", *NAMED, "clipped", "split")}
    row = {"artifact": artifact.name, **about, "baseline": baseline[0].model}
    for at, (point, other) in chosen.items():
        row |= {f"{at}_{name}": getattr(point, name) for name in ("epoch", "n", "mean", "sd")}
        row |= {f"{at}_baseline_{name}": getattr(other, name) for name in ("epoch", "n", "mean", "sd")}
        numbers = difference_of(point, other)
        row |= {f"{at}_{name}": numbers.get(name, math.nan) for name in ("difference", "low", "high", "p", "q")}
    return row


def _texts(artifact: LogsTable, row: Record) -> dict[Column, str]:
    configuration, about = artifact.configuration, load_logs(artifact.settings.logs).about
    task = next(name for name, logged in about.tasks.items() if logged == row["task"])
    validation = "" if row["split"] == "test" else f"{row['split']} loss"
    clipped = "clipped" if row["clipped"] else ""
    decimals = decimals_of(row["last_baseline_sd"])
    texts: dict[Column, str] = {
        "Task": ", ".join(filter(None, (configuration.papers_tasks[task].title, validation, clipped))),
        "N": str(row["size"]),
        "Model": named(configuration.models[row["model"]].label, row),
        "Baseline": configuration.models[row["baseline"]].label,
    }
    for at, group in GROUPS.items():
        epochs = dict.fromkeys((row[f"{at}_epoch"], row[f"{at}_baseline_epoch"]))
        difference, low, high, p, q = (row[f"{at}_{name}"] for name in ("difference", "low", "high", "p", "q"))
        interval = f"{signed(difference, decimals)} {interval_text(low, high, decimals)}".strip()
        texts |= {
            (group, "Epoch"): "; ".join(map(str, epochs)),
            (group, "Loss"): _loss_text(row, at, decimals),
            (group, "Baseline’s"): _loss_text(row, f"{at}_baseline", decimals),
            (group, "Difference (95 %), p [q]"): ", ".join(filter(None, (interval, p_text(p, q)))),
        }
    return texts


def _loss_text(row: Record, side: str, decimals: int) -> str:
    mean, sd, n = (row[f"{side}_{name}"] for name in ("mean", "sd", "n"))
    return f"{value_text(mean, sd if n > 1 else None, decimals)} (n = {n})" if n else ABSENT


def beside_ours(artifact: LogsTable, evidence: Evidence) -> Table:
    """A row for each case to whose runs a log speaks: both losses after the last epoch that both have."""
    configuration, runs = artifact.configuration, evidence.runs
    rows = [_beside(artifact, evidence, case, artifact.logs[case]) for case in artifact.cases()]
    texts = [
        {
            "Task": configuration.tasks[row["task"]].title,
            "Model": row["label"],
            "N": beside(row["size"], row["paper_size"]),
            "Epoch": str(row["epoch"] or ABSENT),
            "Ours": f"{value_text(row['mean'], row['std'], DECIMALS)} (n = {row['n']} of {row['runs']})",
            "The authors’": _loss_text(row, "published", DECIMALS),
        }
        for row in rows
    ]
    notes = [*table_notes(artifact, runs), load_logs(artifact.settings.logs).about.notes[1]]
    return Table.of(f"{artifact.settings.heading}; {subtitle_of(configuration, runs)}", notes, texts, rows)


def _beside(artifact: LogsTable, evidence: Evidence, case: Case, log: Log) -> dict[str, Any]:
    """Ours over seeds beside the authors'; nan where no epoch is common."""
    runs, split = evidence.of(case), log[0].split
    losses = [losses_after(run.files, split) for run in runs]
    point = last_common(losses, log)
    ours = [loss for of in losses if point and 0 < (loss := of.get(point.epoch, math.nan)) < math.inf]
    mean, std = mean_and_std(ours)
    return {
        **data_of(artifact, case, f"{split}_loss", runs, deviations(artifact.configuration, runs)),
        **{"epoch": point.epoch if point else None, "runs": len(runs), "n": len(ours), "mean": mean, "std": std},
        **{f"published_{name}": getattr(point, name, math.nan) for name in ("mean", "sd")},
        "published_n": point.n if point else 0,
    }


def losses_after(files: RunFiles, split: str) -> dict[int, float]:
    """The losses of a run after whole epochs, by epoch."""
    epochs, losses = files.evaluations(f"{split}_loss", "epoch")
    evaluations = zip(epochs.tolist(), losses.tolist(), strict=True)
    return {round(epoch): loss for epoch, loss in evaluations if epoch == round(epoch)}


def last_common(losses: Sequence[Mapping[int, float]], log: Log) -> Point | None:
    """A log's point after the last epoch that both have, with three seeds a side where there is one; None without."""
    counts = {point.epoch: min(point.n, sum(point.epoch in of for of in losses)) for point in log}
    common = [point for point in log if counts[point.epoch]]
    return max(common, key=lambda point: (min(counts[point.epoch], FEWEST), point.epoch), default=None)
