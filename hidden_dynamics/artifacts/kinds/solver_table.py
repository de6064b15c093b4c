"""A table of whether solvers resolve the flows of neural ODEs, by the runs' own checks
(hidden_dynamics.training.solver_check), and what tables of results say of it."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.artifacts.comparison import size_text
from hidden_dynamics.artifacts.notes import divergence_notes, runs_note, scale_note, title_of
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT, Table, number
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.papers.deviations import deviations
from hidden_dynamics.results.run_files import measured_of
from hidden_dynamics.results.seeds import mean_and_std

LIMIT = 0.01  # of a state's norm: a flow that loses more forwards and backwards is not resolved
MOVED = 0.5  # of a result's deviation over seeds: one that moves by more, with a finer solver, is not resolved
MOVES, UNCHECKED, NO = "moves with the solver", "not checked", "no"
Rows = Sequence[Mapping[str, str]]


class Settings(ArtifactSettings):
    """`models`: those that integrate an ODE."""

    tasks: Models
    models: Models


class SolverTable(Artifact):
    Settings = Settings
    form = "table"
    summarised = True
    with_extras = False

    def shown(self) -> list[Case]:
        tasks = {name: self.configuration.tasks[name].models for name in self.settings.tasks}
        models = ((name, model) for name in tasks for model in self.settings.models if model in tasks[name])
        return [Case(name, model, size) for name, model in models for size in tasks[name][model].run_sizes]


def draw(artifact: SolverTable, sources: Sources) -> Table:
    """A row for each cell, over its seeds."""
    configuration, summary = artifact.configuration, sources.summary
    cells: dict[tuple[str, str, str], list[Mapping[str, str]]] = {}
    for row in summary:
        cells.setdefault((row["task"], row["model"], row["paper_size"]), []).append(row)
    records = [_record(configuration, rows) for rows in cells.values()]
    whys = Counter(why for check in _checks(summary) for of in ("missing", "failures") for why in check[of].values())
    notes = [
        scale_note(configuration, artifact.tasks(), deviations(configuration, summary)),
        "After training, on the first items of the test set: the share of the state that is lost forwards and "
        "backwards, between two jumps where it jumps, the most of all seeds; the mean over seeds of the metric by the "
        "share of tolerance or step; evaluations of the dynamics. Not resolved: more than "
        f"{LIMIT:.0%} is lost, a finer solution failed, or the metric moves by more than {MOVED:g} of its deviation "
        "over seeds; such evaluations (*) are of a solver that does not solve it.",
        *(f"Without a number, {count} times: {why}." for why, count in whys.items()),
        runs_note(summary),
        *divergence_notes(summary),
    ]
    return Table.of(title_of(artifact), notes, [_texts(configuration, record) for record in records], records)


def moves(rows: Rows, metric: str) -> bool:
    """Whether the mean of a metric moves by more than `MOVED` of its deviation over seeds, where solvers are finer."""
    measured, at = [measured_of(row) for row in rows], _at(rows, metric)
    std = mean_and_std(each[metric] for each in measured if metric in each)[1]
    return any(abs(fmean(of) - fmean(at["1"])) > MOVED * std for of in at.values())


def notes_of(configuration: Configuration, rows: Rows, moving: bool) -> list[str]:
    """What a table of results says of the solvers of its runs: that results move, and that models were not checked."""
    kinds = (one for one in configuration.artifacts.values() if one["kind"] == "solver_table")
    models = {model for one in kinds for model in one["models"]}
    unchecked = dict.fromkeys(row["label"] for row in rows if row["model"] in models and not row["solver"])
    about = f"{MOVES}: by more than {MOVED:g} of the deviation over seeds, where it is finer (acenode_solver)"
    texts = [about] if moving else []
    texts += [f"{UNCHECKED}, whether it resolves the flow: {', '.join(unchecked)}"] if unchecked else []
    return [f"Solver: {'; '.join(texts)}."] if texts else []


def _checks(rows: Rows) -> list[dict[str, Any]]:
    return [json.loads(row["solver"]) for row in rows if row["solver"]]


def _at(rows: Rows, metric: str) -> dict[str, list[float]]:
    """{share of tolerance or step: a metric of the runs that have it at all of them}, as trained ("1") first."""
    found = [{share: of.get(metric) for share, of in check["at"].items()} for check in _checks(rows)]
    shares = sorted(max(found, key=len, default={}), key=float, reverse=True)
    whole = [each for each in found if each.keys() == {*shares} and None not in each.values()]
    return {share: [each[share] for each in whole] for share in shares if whole and "1" in shares}


def _record(configuration: Configuration, rows: Rows) -> dict[str, Any]:
    checks, record = _checks(rows), {name: rows[0][name] for name in ("scale", "task", "task_title", "model", "label")}
    record |= {name: rows[0][name] for name in ("size", "paper_size")} | {"runs": len(rows), "checked": len(checks)}
    if not checks:
        return record | {"solver": None, "lost": None, "metric": None, "resolved": UNCHECKED}
    metric, lost = checks[0]["metric"], [check["error"] for check in checks if check["error"] is not None]
    record |= {name: checks[0][name] for name in ("solver", "items", "metric")} | {"lost": max(lost, default=None)}
    levels = _at(rows, metric)
    for place, (share, of) in enumerate(levels.items()):
        mean, nfe = fmean(of) * configuration.metrics[metric].factor, fmean(_at(rows, "nfe")[share])
        about = {"share": share, "mean": mean, "nfe": nfe}
        record |= {f"{name}_{place}": value for name, value in about.items()}
    broken = max(lost, default=0) > LIMIT or any(check["failures"] for check in checks) or moves(rows, metric)
    known = bool(levels) and len(lost) == len(rows) and all(len(check["at"]) > 1 for check in checks)
    return record | {"resolved": NO if broken else "yes" if known else None}


def _texts(configuration: Configuration, record: dict[str, Any]) -> dict[str, str]:
    metric, levels = configuration.metrics.get(record["metric"]), [n for n in range(3) if f"share_{n}" in record]
    means = [f"{record[f'share_{n}']}: {number(record[f'mean_{n}'], metric.decimals)}" for n in levels if metric]
    evaluations = " / ".join(f"{record[f'nfe_{n}']:.0f}" for n in levels)
    return {
        "Task": record["task_title"],
        "Model": record["label"],
        "N": size_text(record["size"], record["paper_size"]),
        "Solver": record["solver"] or ABSENT,
        "Lost (%)": number(None if record["lost"] is None else 100 * record["lost"], 2),
        "Metric": metric.title if metric else ABSENT,
        "By share of tolerance or step": "; ".join(means) or ABSENT,
        "Evaluations": f"{evaluations}{'*' * (record['resolved'] == NO)}" if levels else ABSENT,
        "Resolved": record["resolved"] or ABSENT,
    }
