"""The files of a run that is under way: metrics.csv, clock.csv and train_loss.npy so far, and underway.json, which is
what run.json will be, as far as it is known, and goes when that comes: it alone says that a run is whole."""

import json
import time
from pathlib import Path
from typing import Any

from hidden_dynamics.errors import UserError
from hidden_dynamics.results.run_files import RunFiles

UNDERWAY = "underway.json"


class UnderWay(RunFiles):
    """The directory of a run that is under way, read as that of a finished one; it has no checksums yet.

    Its files are replaced one by one: they may be of different moments, clock.csv never of an earlier one than
    metrics.csv. Every method raises a `UserError` where its file is not there yet, or no longer.
    """

    def record(self) -> dict[str, Any]:
        """The content of underway.json: "iterations" and the rest as in run.json, and "under_way"."""
        path = self._path(UNDERWAY)
        try:
            return json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise UserError(f"{path} is not readable: {error}.", file=path) from None

    def silent_for(self) -> float:
        """Seconds since the run last wrote."""
        return time.time() - self._path(UNDERWAY).stat().st_mtime

    def _path(self, name: str) -> Path:
        path = self.directory / name
        if not path.is_file():
            raise UserError(f"{path} is not there: its run has not begun to write it, or has ended.", file=path)
        return path
