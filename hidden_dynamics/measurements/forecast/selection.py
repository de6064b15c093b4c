"""The settings of a forecast (`forecast` in config.yaml), and the runs that it is about."""

from typing import Any

from hidden_dynamics.configuration import Configuration, known
from hidden_dynamics.measurements.costs import KINDS, measured_runs
from hidden_dynamics.configuration.runs import Run, all_runs, runs_of

DEFAULTS = {"calibration": None, "gpus": 1, "seconds": 240, "artifacts": None}


def setting(configuration: Configuration, name: str) -> Any:
    return {**DEFAULTS, **configuration.settings.get("forecast", {})}[name]


def artifacts_to_forecast(configuration: Configuration) -> list[str]:
    """All artifacts, or those that forecast.artifacts names.

    Raises:
        UserError: it names one that is not configured.
    """
    named = setting(configuration, "artifacts")
    origin = "config.yaml: forecast.artifacts"
    return list(
        configuration.artifacts
        if named is None
        else (known(n, configuration.artifacts, "artifact", origin) for n in named)
    )


def runs_to_forecast(configuration: Configuration) -> list[Run]:
    """The runs that these artifacts need: all configured ones, also those that nothing shows, where none are named."""
    if setting(configuration, "artifacts") is None:
        return all_runs(configuration)
    needed: dict[str, Run] = {}
    for artifact in artifacts_to_forecast(configuration):
        measured = configuration.artifacts[artifact]["kind"] in KINDS
        runs = [*runs_of(configuration, artifact), *(measured_runs(configuration, artifact) if measured else [])]
        needed |= {run.id: run for run in runs}
    jobs = {_job(configuration, run) for run in needed.values()}
    return [run for run in all_runs(configuration) if _job(configuration, run) in jobs]


def _job(configuration: Configuration, run: Run) -> tuple[str, str | None, int | None]:
    """The job that trains a run: a scale may let runs of a task share a process (`together`)."""
    together = configuration.scale["together"]
    return run.task, None if "model" in together else run.variant, None if "seed" in together else run.seed
