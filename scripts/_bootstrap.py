"""Imported first by every script: finds the library, and refuses to run in the wrong Python.

With `--use-conda`, where activating a job's environment fails, the job runs on, without a word, in whatever `python`
is found first: Snakemake's own, or the system's. The workflow therefore says in HIDDEN_DYNAMICS_ENVIRONMENTS below
which directory Snakemake makes the environments; a script whose Python is not the activated one of them stops.

Nothing of what is imported is garbage, and to look through it takes a third of a short step's time: the collector is
off until `run_main` turns it on.
"""

import gc
import os
import sys
from pathlib import Path

gc.disable()
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

environments, activated = (os.environ.get(name) for name in ("HIDDEN_DYNAMICS_ENVIRONMENTS", "CONDA_PREFIX"))
if environments:
    here = Path(sys.prefix)
    if here.parent.resolve() != Path(environments).resolve() or here.resolve() != Path(activated or "/").resolve():
        sys.exit(
            f"error: the conda environment of this step was not activated: it runs in the Python of {sys.prefix}, not "
            f"in one of {environments} (CONDA_PREFIX is {activated or 'not set'}). If the environment is gone or "
            "incomplete, delete what is left of it there and run again: it is made anew. If it is there, see what a "
            "plain bash says to `source $(conda info --base)/bin/activate ENVIRONMENT; which python`: nothing that a "
            "shell loads at start-up may put another python first. Or run without --use-conda."
        )
