"""A table of whether the solvers resolve the flows of neural ODEs, by the runs' own checks
(hidden_dynamics.training.solver_check), and what other tables say of it."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.artifacts.comparison import size_of, size_text
from hidden_dynamics.artifacts.notes import divergence_notes, runs_note, scale_note, title_of
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT, Table, number
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Cell
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

    def shown(self) -> list[Cell]:
        tasks = {name: self.configuration.tasks[name].models for name in self.settings.tasks}
        models = ((name, model) for name in tasks for model in self.settings.models if model in tasks[name])
        return [Cell(name, model, size) for name, model in models for size in tasks[name][model].run_sizes]


def draw(artifact: SolverTable, sources: Sources) -> Table:
    """A row for each cell, over its seeds."""
    configuration, summary, places = artifact.configuration, sources.summary, ("task", "model", "paper_size")
    cells: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for row in summary:
        cells.setdefault(tuple(row[name] for name in places), []).append(row)
    records = [_record(configuration, rows) for rows in cells.values()]
    checks = [_check_of(row) for row in summary]
    missing = Counter(
        why for check in checks for name in ("missing", "failures") for why in check.get(name, {}).values()
    )
    notes = [
        scale_note(configuration, artifact.tasks(), deviations(configuration, summary)),
        "After training, on the first items of the test set: the share of the state that is lost forwards and "
        "backwards, between two jumps where it jumps, the most of all seeds; the mean over seeds of the metric by the "
        "share of tolerance or step; evaluations of the dynamics. Not resolved: more than "
        f"{LIMIT:.0%} is lost, a finer solution failed, or the metric moves by more than {MOVED:g} of its deviation "
        "over seeds; such evaluations (*) are of a solver that does not solve it.",
        *(f"Without a number, {count} times: {why}." for why, count in missing.items()),
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
    unchecked = dict.fromkeys(row["label"] for row in rows if row["model"] in models and not row.get("solver"))
    about = f"{MOVES}: by more than {MOVED:g} of the deviation over seeds, where it is finer (acenode_solver)"
    texts = [about] if moving else []
    texts += [f"{UNCHECKED}, whether it resolves the flow: {', '.join(unchecked)}"] if unchecked else []
    return [f"Solver: {'; '.join(texts)}."] if texts else []


def _check_of(row: Mapping[str, str]) -> dict[str, Any]:
    return json.loads(row.get("solver") or "{}")


def _at(rows: Rows, metric: str) -> dict[str, list[float]]:
    """{share of tolerance or step: a metric of the runs that have it at all of them}, as trained ("1") first."""
    found = [{share: of.get(metric) for share, of in _check_of(row).get("at", {}).items()} for row in rows]
    shares = max(found, key=len, default={})
    whole = [each for each in found if each.keys() == shares.keys() and None not in each.values()]
    return {share: [each[share] for each in whole] for share in shares if whole} if "1" in shares else {}


def _record(configuration: Configuration, rows: Rows) -> dict[str, Any]:
    first, checks = rows[0], [check for row in rows if (check := _check_of(row))]
    known = checks[0] if checks else dict.fromkeys(("solver", "items", "metric"))
    metric, lost = known["metric"], [check["error"] for check in checks if check["error"] is not None]
    record = {name: first[name] for name in ("scale", "task", "task_title", "model", "label")}
    record |= {"size": size_of(first["size"]), "paper_size": size_of(first["paper_size"]), "runs": len(rows)}
    record |= {"checked": len(checks), **{name: known[name] for name in ("solver", "items", "metric")}}
    record |= {"lost": max(lost, default=None)}
    levels = _at(rows, metric) if checks else {}
    for place, (share, of) in enumerate(levels.items()):
        factor = configuration.metrics[metric].factor
        nfe = fmean(check["at"][share]["nfe"] for check in checks if share in check["at"])
        record |= {f"share_{place}": share, f"mean_{place}": fmean(of) * factor, f"nfe_{place}": nfe}
    broken = max(lost, default=0) > LIMIT or any(check["failures"] for check in checks) or moves(rows, metric)
    resolved = NO if broken else "yes" if lost and len(levels) > 1 else None
    return record | {"resolved": resolved if checks else UNCHECKED}


def _texts(configuration: Configuration, record: dict[str, Any]) -> dict[str, str]:
    levels = [place for place in range(3) if f"share_{place}" in record]
    decimals = configuration.metrics[record["metric"]].decimals if levels else 0
    mark = "*" if record["resolved"] == NO else ""
    return {
        "Task": record["task_title"],
        "Model": record["label"],
        "N": size_text(record["size"], record["paper_size"]),
        "Solver": record["solver"] or ABSENT,
        "Lost, %": number(record["lost"] and 100 * record["lost"], 2),
        "Metric": configuration.metrics[record["metric"]].title if levels else ABSENT,
        "By share of tolerance or step": "; ".join(
            f"{record[f'share_{place}']}: {number(record[f'mean_{place}'], decimals)}" for place in levels
        ),
        "Evaluations": " / ".join(f"{record[f'nfe_{place}']:.0f}" for place in levels) + mark,
        "Resolved": record["resolved"] or ABSENT,
    }
