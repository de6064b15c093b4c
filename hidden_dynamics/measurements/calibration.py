"""The calibration of a forecast, as a file: what each run was measured to cost.

`hidden_dynamics.measurements.forecast_measurement` measures; nothing here imports a numerical library.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from hidden_dynamics.configuration import Configuration, Entry, Run, all_runs, known, typed
from hidden_dynamics.configuration.schema import Whole
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import atomic


class Cost(Entry):
    """The cost of a run: seconds, and bytes of its process at the highest; `measured` is the run that was timed;
    `device` is "cpu", or the GPU's name."""

    measured: str
    device: str
    seconds: Annotated[float, Field(gt=0)]
    memory: Annotated[int, Field(ge=0)]
    gpu_memory: Annotated[int, Field(ge=0)]


class Calibration(Entry):
    """The costs of runs, by their id, and how they were measured: `side_by_side`, so many at a time, by the device."""

    processor: str
    threads: Whole
    side_by_side: dict[str, Whole]
    date: str
    costs: dict[str, Cost]

    def of(self, run: Run) -> Cost:
        """A run's cost; a `UserError` where it is not there."""
        if run.id not in self.costs:
            text = f"the calibration has no measurement of {run.id}: make it anew (scripts/calibrate.py)."
            raise UserError(text, key=run.id)
        return self.costs[run.id]

    def write(self, path: Path) -> None:
        with atomic(path) as handle:
            json.dump(self.model_dump(), handle, indent=1)


def read(path: Path) -> Calibration:
    """A calibration's file; a `UserError` where it is missing, damaged or something else."""
    try:
        return typed(Calibration, json.loads(path.read_text(encoding="utf-8")), str(path))
    except (OSError, ValueError) as error:
        text = f"{path} is no calibration, which scripts/calibrate.py makes (snakemake forecast does): {error}"
        raise UserError(text, file=path) from None


def chosen(
    configuration: Configuration, runs_of: Mapping[str, Sequence[Run]]
) -> tuple[list[Run], dict[str, Sequence[Run]]]:
    """The runs that the forecast is of, and those of each artifact, of `runs_of`: of the artifacts that
    forecast.artifacts names, or all configured runs. A `UserError` where one that it names is not configured."""
    names = configuration.settings.forecast.artifacts
    if names is None:
        return all_runs(configuration), dict(runs_of)
    rows = {known(name, runs_of, "artifact", "config.yaml: forecast.artifacts"): runs_of[name] for name in names}
    return list({run.id: run for runs in rows.values() for run in runs}.values()), rows
