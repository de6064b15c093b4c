"""A table of whether solvers resolve the flows of neural ODEs, by the runs' own checks
(hidden_dynamics.training.solver_check), and what tables of results say of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.artifacts.beside_published import beside
from hidden_dynamics.artifacts.notes import table_notes, title_of
from hidden_dynamics.artifacts.tables import ABSENT, Record, Table, number
from hidden_dynamics.configuration import Case, Configuration
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.seeds import mean_and_std

LIMIT = 0.01  # of a state's norm: a flow that loses more forwards and backwards is not resolved
MOVED = 0.5  # of a result's deviation over seeds: one that moves by more, with a finer solver, is not resolved
MOVES, UNCHECKED, NO = "moves with the solver", "not checked", "no"


class Settings(ArtifactSettings):
    """`models`: those that integrate an ODE."""

    tasks: Models
    models: Models


class SolverTable(Artifact):
    settings: Settings
    form = "table"
    summarised = True
    with_extras = False

    def shown(self) -> list[Case]:
        tasks = {name: self.configuration.tasks[name].models for name in self.settings.tasks}
        models = ((name, model) for name in tasks for model in self.settings.models if model in tasks[name])
        return [Case(name, model, size) for name, model in models for size in tasks[name][model].run_sizes]


def draw(artifact: SolverTable, evidence: Evidence) -> Table:
    """A row for each case, over its seeds."""
    configuration, runs = artifact.configuration, evidence.runs
    lines = [_line(configuration, evidence.of(case)) for case in dict.fromkeys(run.case for run in runs)]
    whys = Counter(why for check in _checks(runs) for of in ("missing", "failures") for why in check[of].values())
    notes = table_notes(artifact, runs, lost=[f"Without a number, {n} times: {why}." for why, n in whys.items()])
    return Table.of(title_of(artifact), notes, [_texts(configuration, line) for line in lines], lines)


def moves(runs: Sequence[RunRecord], metric: str) -> bool:
    """Whether the mean of a metric moves by more than `MOVED` of its deviation over seeds, where solvers are finer."""
    levels = _levels(runs, metric)
    std = mean_and_std(run.metrics[metric] for run in runs if metric in run.metrics)[1] if levels else 0.0
    return any(abs(fmean(values) - fmean(levels["1"])) > MOVED * std for values in levels.values())


def is_unchecked(configuration: Configuration, run: RunRecord) -> bool:
    """Whether a run's solver was not checked, although its model is one of a table of solvers."""
    tables = (settings for settings in configuration.artifacts.values() if settings["kind"] == "solver_table")
    return run.solver is None and any(run.model in settings["models"] for settings in tables)


def _checks(runs: Sequence[RunRecord]) -> list[Mapping[str, Any]]:
    return [run.solver for run in runs if run.solver]


def _levels(runs: Sequence[RunRecord], metric: str) -> dict[str, list[float]]:
    """{share of tolerance or step: a metric of the runs that have it at all of them}, as trained ("1") first."""
    measured = [{share: of.get(metric) for share, of in check["at"].items()} for check in _checks(runs)]
    shares = sorted(max(measured, key=len, default={}), key=float, reverse=True)
    whole = [of for of in measured if of.keys() == {*shares} and None not in of.values()]
    return {share: [of[share] for of in whole] for share in shares if whole and "1" in shares}


def _line(configuration: Configuration, runs: Sequence[RunRecord]) -> dict[str, Any]:
    """The row for programs of a case's runs; a share, a mean and the evaluations of the dynamics for each level."""
    checks, first = _checks(runs), runs[0]
    names = ("scale", "task", "task_title", "model", "label", "size", "paper_size")
    line = {name: getattr(first, name) for name in names} | {"runs": len(runs), "checked": len(checks)}
    if not checks:
        return line | {"solver": None, "lost": None, "metric": None, "resolved": UNCHECKED}
    metric, lost = checks[0]["metric"], [check["error"] for check in checks if check["error"] is not None]
    line |= {name: checks[0][name] for name in ("solver", "items")}
    line |= {"lost": max(lost, default=None), "metric": metric}
    levels, counts = _levels(runs, metric), _levels(runs, "nfe")
    for place, (share, values) in enumerate(levels.items()):
        mean = fmean(values) * configuration.metrics[metric].factor
        line |= {f"share_{place}": share, f"mean_{place}": mean, f"nfe_{place}": fmean(counts[share])}
    broken = max(lost, default=0) > LIMIT or any(check["failures"] for check in checks) or moves(runs, metric)
    known = bool(levels) and len(lost) == len(runs) and all(len(check["at"]) > 1 for check in checks)
    return line | {"resolved": NO if broken else "yes" if known else None}


def _texts(configuration: Configuration, line: Record) -> dict[str, str]:
    metric, levels = configuration.metrics.get(line["metric"]), [n for n in range(3) if f"share_{n}" in line]
    means = [f"{line[f'share_{n}']}: {number(line[f'mean_{n}'], metric.decimals)}" for n in levels if metric]
    evaluations = " / ".join(f"{line[f'nfe_{n}']:.0f}" for n in levels)
    return {
        "Task": line["task_title"],
        "Model": line["label"],
        "N": beside(line["size"], line["paper_size"]),
        "Solver": line["solver"] or ABSENT,
        "Lost (%)": number(None if line["lost"] is None else 100 * line["lost"], 2),
        "Metric": metric.title if metric else ABSENT,
        "By share of tolerance or step": "; ".join(means) or ABSENT,
        "Evaluations": f"{evaluations}{'*' * (line['resolved'] == NO)}" if levels else ABSENT,
        "Resolved": line["resolved"] or ABSENT,
    }
