"""Imported first by every script: finds the library, and refuses to run in the wrong Python.

Snakemake with `--use-conda` runs a job in its own Python, without a word, where activating the job's environment
failed. The workflow therefore names its own prefix in HIDDEN_DYNAMICS_NOT_IN when it uses conda; a script that finds
itself there stops.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if os.path.realpath(sys.prefix) == os.path.realpath(os.environ.get("HIDDEN_DYNAMICS_NOT_IN") or "/nowhere"):
    sys.exit(
        "error: the conda environment of this step was not activated: it runs in Snakemake's own Python "
        f"({sys.prefix}). Remove the environment under .snakemake/conda and run again, or run without --use-conda."
    )
