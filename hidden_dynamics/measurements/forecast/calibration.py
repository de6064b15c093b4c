"""A calibration on disk: what was measured, on which machine, with which code."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration import validate
from hidden_dynamics.system.files import ROOT
from hidden_dynamics.system.digest import code_digest
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import atomic
from hidden_dynamics.measurements.forecast.groups import key_of, representatives
from hidden_dynamics.configuration.runs import Run, code_of

STORED = ROOT / "calibrations"


@dataclass(frozen=True)
class Calibration:
    """Attributes as in config/schemas/calibration.json; `name` is that of a stored one, or None."""

    name: str | None
    about: dict[str, Any]
    start_up: float
    groups: dict[str, dict[str, Any]]

    def of(self, run: Run) -> dict[str, Any]:
        """The measurement of a run's group.

        Raises:
            UserError: there is none.
        """
        try:
            return self.groups[key_of(run)]
        except KeyError:
            what = f"the calibration {self.name}" if self.name else "this calibration"
            raise UserError(
                f"{what} has no measurement of {run.id}: its model, size, data or batch were not configured like this "
                "when it was made. Measure on this machine instead (forecast.calibration: null, the default), or run "
                "scripts/calibrate.py on the other one with this configuration."
            ) from None


def path_of(name: str) -> Path:
    """The file of a stored calibration.

    Raises:
        UserError: there is none of this name.
    """
    path = STORED / f"{name}.json"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in STORED.glob("*.json"))) or "none"
        raise UserError(
            f"config.yaml: forecast.calibration: there is no {path.relative_to(ROOT)}. Stored: {known}. "
            "null measures on this machine."
        )
    return path


def read(path: Path, name: str | None = None) -> Calibration:
    """Read and check a calibration.

    Raises:
        UserError: it is missing, damaged or something else; the message names it and says what to do.
    """
    mend = f"Restore {path} with git." if name else f"Remove {path} and give the same command again: it is made anew."
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path} is missing: scripts/calibrate.py makes it (snakemake forecast does).") from None
    except ValueError as error:
        raise UserError(f"{path} is no calibration ({error}). {mend}") from None
    try:
        validate(content, "calibration", str(path))
    except UserError as error:
        raise UserError(f"{error} {mend}") from None
    return Calibration(name, **content)


def write(path: Path, about: dict[str, Any], start_up: float, groups: dict[str, Any]) -> None:
    content = {"about": about, "start_up": start_up, "groups": groups}
    validate(content, "calibration", str(path))
    with atomic(path) as handle:
        json.dump(content, handle, indent=1, sort_keys=True)
        handle.write("\n")


def code_of_all(runs: Iterable[Run]) -> str:
    """Digest of what a calibration of these runs measures and how: where it changes, they are measured again."""
    measured = sorted(f"{key} {code_of(run)}" for key, run in representatives(runs).items())
    text = "\n".join([code_digest(["scripts.calibrate.main"]), *measured])
    return hashlib.sha256(text.encode()).hexdigest()
