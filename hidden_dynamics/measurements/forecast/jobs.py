"""The jobs of a scale as Snakemake runs them (rules/), what each takes, and which of them an artifact needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hidden_dynamics.measurements import costs as cost_tables
from hidden_dynamics.measurements import features
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.measurements.forecast.calibration import Calibration
from hidden_dynamics.measurements.forecast.run_costs import RunCost, cost_of, is_finished
from hidden_dynamics.measurements.forecast.queueing import Job
from hidden_dynamics.measurements.forecast.selection import artifacts_to_forecast, runs_to_forecast, setting
from hidden_dynamics.configuration.runs import Run, data_file, runs_of

# Seconds of the steps that do not train, in start-ups of a training's process: as at demo scale (docs/forecast.md).
STEPS = {"prepare": 0.25, "summarise": 0.12, "table": 0.25, "figure": 0.85, "features": 1.0, "features of a run": 0.33}
SNAKEMAKE = 0.1  # to start one job, likewise
ROUNDS = 22  # of a measurement of costs, with the two that are not timed; and so many iterations is a round:
A_ROUND = 1.4
SUMMARISED = ("results_table", "time_to_accuracy_table", "gradient_norms", "ablation", "function_evaluations", "curves")


@dataclass(frozen=True)
class Machine:
    """What the trainings share: on GPUs, each of them takes one of `places`; on a CPU, `threads` of its `cores`."""

    cores: int
    threads: int
    gpus: int = 0
    runs_per_gpu: int = 1

    @property
    def capacity(self) -> dict[str, int]:
        return {"cores": self.cores, "places": self.gpus * self.runs_per_gpu}

    @property
    def training(self) -> dict[str, int]:
        return {"places": 1} if self.gpus else {"cores": self.threads}

    def device_hours(self, seconds: float) -> float:
        """Of a GPU, or of CPU cores, that trainings take which run for so many seconds, all together."""
        share = 1 / self.runs_per_gpu if self.gpus else min(self.threads, self.cores)
        return seconds * share / 3600


@dataclass
class Plan:
    """All jobs by name, what is left of each, the runs of those that train, and the jobs that artifacts end in."""

    jobs: dict[str, Job] = field(default_factory=dict)
    left: dict[str, Job] = field(default_factory=dict)
    runs: dict[str, list[Run]] = field(default_factory=dict)
    artifacts: dict[str, list[str]] = field(default_factory=dict)
    costs: dict[str, RunCost] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)

    def needed(self, names: Iterable[str]) -> list[str]:
        """These jobs and all that they wait for."""
        found: dict[str, None] = {}
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = None
                waiting += self.jobs[name].after
        return [name for name in self.jobs if name in found]

    def add(self, job: Job, seconds_left: float | None = None, outputs: Iterable[str] = ()) -> None:
        """A job; it is left to do where something that it waits for is, or one of its outputs is missing."""
        self.jobs[job.name] = job
        if seconds_left is None:
            fresh = not any(name in self.left for name in job.after) and all(Path(file).is_file() for file in outputs)
            seconds_left = 0.0 if fresh else job.seconds
        if seconds_left:
            self.left[job.name] = Job(job.name, seconds_left, job.needs, job.after, job.priority)


def plan_of(configuration: Configuration, calibration: Calibration, machine: Machine) -> Plan:
    """
    Raises:
        UserError: the calibration lacks a measurement.
    """
    plan, start_up = Plan(), calibration.start_up
    runs = runs_to_forecast(configuration)
    plan.costs = {run.id: cost_of(run, calibration) for run in runs}
    plan.finished = {run.id for run in runs if is_finished(configuration, run)}
    _add_trainings(plan, configuration, machine, runs, start_up)
    for artifact in artifacts_to_forecast(configuration):
        _add_artifact(plan, configuration, artifact, calibration, machine)
    if setting(configuration, "artifacts") is None:
        everything = [name for name in plan.jobs if name.startswith("train ")]
        seconds = (STEPS["summarise"] + SNAKEMAKE) * start_up
        summary = f"{configuration.results}/summary/runs.csv"
        plan.add(Job("summarise all", seconds, {"cores": 1}, everything, 50), outputs=[summary])
    return plan


def _add_trainings(
    plan: Plan, configuration: Configuration, machine: Machine, runs: Iterable[Run], start_up: float
) -> None:
    together = configuration.together
    models: dict[str, set[str]] = {}
    for run in runs:
        names = [run.task]
        names += [] if "model" in together else [run.variant]
        names += [] if "seed" in together else [f"seed{run.seed}"]
        plan.runs.setdefault(f"train {'/'.join(names)}", []).append(run)
        models.setdefault(run.task, set()).add(run.variant)
    for name, trained in plan.runs.items():
        file = data_file(configuration, trained[0].spec["dataset"], trained[0].spec["data"])
        prepare = f"prepare {Path(file).stem}"
        if prepare not in plan.jobs:
            seconds = (STEPS["prepare"] + SNAKEMAKE) * start_up
            plan.add(Job(prepare, seconds, {"cores": 1}, (), 100), outputs=[file])
        started = (1 + SNAKEMAKE) * start_up
        job = Job(
            name,
            started + sum(plan.costs[run.id].seconds for run in trained),
            machine.training,
            [prepare],
            len(models[trained[0].task]),
        )
        open_ = [run for run in trained if run.id not in plan.finished]
        plan.add(job, started + sum(plan.costs[run.id].seconds for run in open_) if open_ else 0.0)


def _add_artifact(
    plan: Plan, configuration: Configuration, artifact: str, calibration: Calibration, machine: Machine
) -> None:
    kind, start_up, results = configuration.artifacts[artifact]["kind"], calibration.start_up, configuration.results
    jobs_of_runs = {run.id: name for name, runs in plan.runs.items() for run in runs}
    trainings = list(dict.fromkeys(jobs_of_runs[run.id] for run in runs_of(configuration, artifact)))
    waits = []
    if kind in SUMMARISED:
        seconds = (STEPS["summarise"] + SNAKEMAKE) * start_up
        job = Job(f"summarise {artifact}", seconds, {"cores": 1}, trainings, 50)
        plan.add(job, outputs=[f"{results}/summary/{artifact}.csv"])
        waits.append(job.name)
    if kind in cost_tables.KINDS:
        shared = cost_tables.measurement_of(configuration, artifact)
        waits.append(f"measure costs {shared}")
        if waits[-1] not in plan.jobs:
            measured = cost_tables.measured_runs(configuration, artifact)
            seconds = sum(calibration.of(run)["iteration"] * A_ROUND * ROUNDS + start_up / 4 for run in measured)
            # Everything else that could run goes first, and it has all cores.
            job = Job(waits[-1], seconds + 2 * start_up, {"cores": machine.cores, "places": 1}, (), -1)
            plan.add(job, outputs=[f"{results}/costs/{shared}.csv"])
    if kind in features.KINDS:
        shared = features.measurement_of(configuration, artifact)
        waits.append(f"measure features {shared}")
        if waits[-1] not in plan.jobs:
            runs = runs_of(configuration, artifact)
            evaluating = sum(calibration.of(run)["test"] or calibration.of(run)["evaluation"] for run in runs)
            seconds = (STEPS["features"] + STEPS["features of a run"] * len(runs)) * start_up + evaluating
            job = Job(waits[-1], seconds, machine.training, trainings, 50)
            plan.add(job, outputs=[f"{results}/features/{shared}.csv"])
    step, folder = ("table", "tables") if kind.endswith("_table") else ("figure", "figures")
    job = Job(f"render {artifact}", (STEPS[step] + SNAKEMAKE) * start_up, {"cores": 1}, waits, 50)
    plan.add(job, outputs=[f"{results}/{folder}/{artifact}.{'csv' if step == 'table' else 'png'}"])
    plan.artifacts[artifact] = [job.name]


def bytes_of_data(configuration: Configuration, runs: Iterable[Run], calibration: Calibration) -> Mapping[str, int]:
    """Of the downloads and the prepared file of each dataset, as its file's name says it is prepared."""
    sizes: dict[str, int] = {}
    for run in runs:
        dataset = run.spec["dataset"]
        files = configuration.datasets[dataset]["files"].values()
        sizes[f"raw {dataset}"] = sum(file["size"] for file in files)
        sizes[data_file(configuration, dataset, run.spec["data"])] = calibration.of(run)["data_bytes"]
    return sizes
