"""A table of whether solvers resolve the flows of neural ODEs, by the runs' own checks
(hidden_dynamics.training.solver_check), and what tables of results say of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.artifacts.beside_published import size_text
from hidden_dynamics.artifacts.notes import divergence_notes, runs_note, scale_note, title_of
from hidden_dynamics.artifacts.tables import ABSENT, Table, number
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.papers.deviations import deviations
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


class SolverTable(Artifact[Settings]):
    Settings = Settings
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
    rows = [_row(configuration, evidence.of(case)) for case in dict.fromkeys(run.case for run in runs)]
    whys = Counter(why for check in _checks(runs) for of in ("missing", "failures") for why in check[of].values())
    notes = [
        scale_note(configuration, artifact.tasks(), deviations(configuration, runs)),
        runs_note(runs),
        " ".join(
            [*(f"Without a number, {count} times: {why}." for why, count in whys.items()), *divergence_notes(runs)]
        ),
    ]
    return Table.of(title_of(artifact), notes, [row.texts(configuration) for row in rows], [row.data() for row in rows])


def moves(runs: Sequence[Any], metric: str) -> bool:
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


@dataclass(frozen=True)
class Row:
    """What the checks of a case's runs found.

    Attributes:
        checks: of the runs that have one.
        lost: the largest share of the state that is lost forwards and backwards; None where none was measured.
        metric: that is watched; None without a check.
        means, evaluations: over seeds by share of tolerance or step, of the metric in the unit that is shown, and of
            the evaluations of the dynamics.
        resolved: "yes", `NO`, `UNCHECKED`, or None where the checks cannot say.
    """

    runs: Sequence[RunRecord]
    checks: Sequence[Mapping[str, Any]]
    lost: float | None
    metric: str | None
    means: Mapping[str, float]
    evaluations: Mapping[str, float]
    resolved: str | None

    def data(self) -> dict[str, Any]:
        first, check = self.runs[0], self.checks[0] if self.checks else {}
        levels = {}
        for place, share in enumerate(self.means):
            about = {"share": share, "mean": self.means[share], "nfe": self.evaluations[share]}
            levels |= {f"{name}_{place}": value for name, value in about.items()}
        return {
            **{name: getattr(first, name) for name in ("scale", "task", "task_title", "model", "label", "size")},
            **{"paper_size": first.paper_size, "runs": len(self.runs), "checked": len(self.checks)},
            **{"solver": check.get("solver"), "items": check.get("items"), "lost": self.lost, "metric": self.metric},
            **levels,
            "resolved": self.resolved,
        }

    def texts(self, configuration: Configuration) -> dict[str, str]:
        first, metric = self.runs[0], configuration.metrics[self.metric] if self.metric else None
        means = [f"{share}: {number(mean, metric.decimals)}" for share, mean in self.means.items() if metric]
        evaluations = " / ".join(f"{count:.0f}" for count in self.evaluations.values())
        return {
            "Task": first.task_title,
            "Model": first.label,
            "N": size_text(first.size, first.paper_size),
            "Solver": self.checks[0]["solver"] if self.checks else ABSENT,
            "Lost (%)": number(None if self.lost is None else 100 * self.lost, 2),
            "Metric": metric.title if metric else ABSENT,
            "By share of tolerance or step": "; ".join(means) or ABSENT,
            "Evaluations": f"{evaluations}{'*' * (self.resolved == NO)}" if means else ABSENT,
            "Resolved": self.resolved or ABSENT,
        }


def _row(configuration: Configuration, runs: Sequence[RunRecord]) -> Row:
    checks = _checks(runs)
    if not checks:
        return Row(runs, checks, None, None, {}, {}, UNCHECKED)
    metric, lost = checks[0]["metric"], [check["error"] for check in checks if check["error"] is not None]
    levels, counts = _levels(runs, metric), _levels(runs, "nfe")
    broken = max(lost, default=0) > LIMIT or any(check["failures"] for check in checks) or moves(runs, metric)
    known = bool(levels) and len(lost) == len(runs) and all(len(check["at"]) > 1 for check in checks)
    return Row(
        runs,
        checks,
        max(lost, default=None),
        metric,
        {share: fmean(values) * configuration.metrics[metric].factor for share, values in levels.items()},
        {share: fmean(counts[share]) for share in levels},
        NO if broken else "yes" if known else None,
    )
